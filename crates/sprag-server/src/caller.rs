//! Who asks, and what that lets them do.
//!
//! A handler says by its arguments whom it serves: [`Caller`] is anyone with a role, [`Operator`] an operator.
//! So the right stands in the handler's own signature, and a route that forgot it is found by the
//! test that asks every route as everyone.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use sprag::{Id, Role, Sender, Timestamp};

use crate::app::App;
use crate::problem::{Problem, ProblemKind};
use crate::tokens::{Holder, TokenProof};

/// From where a request came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    /// Over the Unix socket: a user of this machine.
    Socket,
    /// From this machine, where that is worth something.
    Loopback,
    /// From anywhere.
    Remote,
}

/// Anyone with a role.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) role: Role,
    pub(crate) name: Arc<str>,
    /// The name again, if a token proved it.
    token: Option<Id>,
    proof: Option<TokenProof>,
    /// When its token ends; only those of the dashboard do.
    pub(crate) expires: Option<Timestamp>,
    /// Came over the Unix socket: whoever reaches it could read the hooks' token as well.
    pub(crate) over_socket: bool,
}

/// An operator.
#[derive(Debug, Clone)]
pub(crate) struct Operator {
    name: Arc<str>,
    sender: Sender,
    proof: Option<TokenProof>,
    /// Holds a token of the dashboard, which ends by itself.
    pub(crate) is_dashboard: bool,
}

impl Operator {
    /// Whether its token is still good: for answers that go on for hours.
    pub(crate) fn is_still_one(&self, app: &App) -> bool {
        let holder = self
            .proof
            .and_then(|proof| app.tokens().holder_by(proof, app.guard().now()));
        holder.is_some_and(|holder| holder.role == Role::Operator)
    }

    /// What it is to the guard.
    pub(crate) fn sender(&self) -> Sender {
        self.sender.clone()
    }

    /// Who gave an order, for the log: the name that was given, and that of the token that proves it. The word "token"
    /// before it would have it redacted as one.
    pub(crate) fn signs(&self, by: Option<&str>) -> String {
        signed(by, &self.name)
    }
}

impl Caller {
    /// Who gave an answer, for the log.
    pub(crate) fn signs(&self, by: Option<&str>) -> String {
        signed(by, &self.name)
    }
}

/// The name that was given, and that of the token that proves it.
fn signed(by: Option<&str>, token: &str) -> String {
    match by.map(str::trim).filter(|by| !by.is_empty()) {
        Some(by) => format!("{by} (as {token})"),
        None => token.to_owned(),
    }
}

impl Caller {
    /// What it is to the guard.
    pub(crate) fn sender(&self) -> Sender {
        Sender {
            role: self.role,
            name: self.token.clone(),
        }
    }
}

impl FromRequestParts<App> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let holder = match bearer(&parts.headers)? {
            Some(token) => match app.tokens().holder(token, app.guard().now()) {
                Some(holder) => holder,
                None => return Err(app.wrong_token().await),
            },
            None => by_place(parts)?,
        };
        let token = holder.proof.and_then(|_| Id::new(&holder.name).ok());
        // Whoever reads the body reads it in the room of this role.
        parts.extensions.insert(holder.role);
        Ok(Self {
            role: holder.role,
            proof: holder.proof,
            token,
            name: holder.name,
            expires: holder.expires,
            over_socket: parts.extensions.get() == Some(&Peer::Socket),
        })
    }
}

impl FromRequestParts<App> for Operator {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let named = parts.headers.contains_key(header::AUTHORIZATION);
        let caller = Caller::from_request_parts(parts, app).await?;
        match caller.role {
            Role::Operator => Ok(Self {
                sender: caller.sender(),
                proof: caller.proof,
                name: caller.name,
                is_dashboard: caller.expires.is_some(),
            }),
            role if named => Err(Problem::new(
                ProblemKind::Forbidden,
                format!(
                    "this is for operators; the token {:?} is for {role}s",
                    caller.name
                ),
            )),
            _ => Err(Problem::new(
                ProblemKind::Unauthorized,
                "this is for operators: send `Authorization: Bearer` with the operator token",
            )),
        }
    }
}

/// The token of the `Authorization` header.
fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let Some(value) = headers.get(header::AUTHORIZATION) else {
        return Ok(None);
    };
    let token = value.to_str().ok().and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        scheme
            .eq_ignore_ascii_case("bearer")
            .then_some(token.trim())
    });
    match token {
        Some(token) => Ok(Some(token)),
        None => Err(Problem::new(
            ProblemKind::Unauthorized,
            "the Authorization header must be `Bearer` and a token",
        )),
    }
}

/// What the place that a request comes from is worth.
fn by_place(parts: &Parts) -> Result<Holder, Problem> {
    let name = match parts.extensions.get::<Peer>() {
        Some(Peer::Socket) => "socket",
        Some(Peer::Loopback) => "loopback",
        Some(Peer::Remote) | None => {
            return Err(Problem::new(
                ProblemKind::Unauthorized,
                "send `Authorization: Bearer` with a token; `sprag token add` makes one",
            ));
        }
    };
    Ok(Holder {
        role: Role::Agent,
        name: name.into(),
        expires: None,
        proof: None,
    })
}
