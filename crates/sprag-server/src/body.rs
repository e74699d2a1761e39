//! Reading what a client sends: of the right kind, within bounds, in time.

use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use bytes::Bytes;
use serde::de::DeserializeOwned;
use sprag::Role;
use sprag_http::headers::has_type;
use sprag_http::{BodyError, BodyReader};

use crate::app::App;
use crate::limits;
use crate::problem::{Problem, ProblemKind};

/// Refuses a body that does not say it is `wanted`, or one of its other names.
pub(crate) fn expect_type(headers: &HeaderMap, wanted: &[&str]) -> Result<(), Problem> {
    if wanted.iter().any(|name| has_type(headers, name)) {
        return Ok(());
    }
    let told = headers.get(header::CONTENT_TYPE);
    let told = told.and_then(|value| value.to_str().ok()).unwrap_or("");
    let wanted = wanted.first().copied().unwrap_or_default();
    let detail = match told {
        "" => format!("send `Content-Type: {wanted}`"),
        told => format!("send `Content-Type: {wanted}`, not {told:?}"),
    };
    Err(Problem::new(ProblemKind::UnsupportedMediaType, detail))
}

/// The rooms in which large bodies are read. What agents send takes nothing from what hooks and operators send.
#[derive(Debug)]
pub(crate) struct BodyRooms {
    agents: BodyReader,
    others: BodyReader,
}

impl BodyRooms {
    pub(crate) fn new(room_kib: u32, time: Duration) -> Self {
        let room = || BodyReader::new(room_kib, limits::SMALL_BODY_BYTES, time);
        Self {
            agents: room(),
            others: room(),
        }
    }

    fn of(&self, role: Role) -> &BodyReader {
        match role {
            Role::Agent => &self.agents,
            Role::Relay | Role::Hook | Role::Operator | Role::Viewer => &self.others,
        }
    }
}

/// Reads a body of at most `most` bytes from a caller of this role.
pub(crate) async fn read(app: &App, role: Role, body: Body, most: usize) -> Result<Bytes, Problem> {
    let read = app.body_rooms().of(role).read(body, most).await;
    let (bytes, _room) = read.map_err(|error| {
        let kind = match &error {
            BodyError::TooLarge { .. } => ProblemKind::TooLarge,
            BodyError::Late { .. } => ProblemKind::TooSlow,
            BodyError::NoRoom => ProblemKind::TooMany,
            _ => ProblemKind::BadRequest,
        };
        Problem::new(kind, error.to_string())
    })?;
    Ok(bytes)
}

/// A JSON document from the body, for operators' orders and questions.
#[derive(Debug)]
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<App> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        expect_type(request.headers(), &["application/json"])?;
        let most = limits::POLICY_BODY_BYTES;
        // Who has not been asked who they are may be anyone.
        let role = request.extensions().get().copied().unwrap_or(Role::Agent);
        let bytes = read(app, role, request.into_body(), most).await?;
        let read = serde_json::from_slice(&bytes);
        read.map(Self).map_err(|error| Problem::json(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn bodies_of_agents_take_no_room_from_those_of_hooks_and_operators() {
        let rooms = BodyRooms::new(64, Duration::from_secs(30));
        let large = || Body::from(vec![b'x'; 60_000]);
        let agents = rooms.of(Role::Agent).read(large(), 1 << 20).await;
        let (_, held) = agents.unwrap();
        assert!(held.is_some());
        for role in [Role::Hook, Role::Relay, Role::Operator] {
            assert!(
                rooms.of(role).read(large(), 1 << 20).await.is_ok(),
                "{role}"
            );
        }
    }
}
