//! What the page behind a notification's link shows and answers.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use sprag::{AnswerEvent, Event, Id, Role, Sender};
use utoipa::ToSchema;

use super::approvals::{Answer, ApprovalBody};
use crate::app::App;
use crate::approval_link::ApprovalLinkError;
use crate::body::JsonBody;
use crate::param::PathId;
use crate::problem::{Problem, ProblemKind};
use crate::wire;

/// The secret of a link, and what is answered.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct LinkRequest {
    /// What stands behind the `#` of the link.
    #[schema(max_length = 256)]
    secret: String,
    /// The answer; without one the question is only shown.
    answer: Option<Answer>,
}

/// Show or answer the question of a link
///
/// For the page that a link in a notification opens. The link is for one question, once, until it expires. Without
/// `answer` nothing changes. Needs no token; only with `--public-url`.
#[utoipa::path(
    post,
    path = "/v1/links/{code}",
    tag = "approvals",
    params(("code" = String, Path, description = "The code of the question", min_length = 1, max_length = 256)),
    request_body = LinkRequest,
    responses(
        (status = 200, description = "Where it stands", body = ApprovalBody),
        wire::Public,
        wire::Bodied,
        wire::Missing,
        wire::Conflicting,
    ),
)]
pub(crate) async fn answer(
    State(app): State<App>,
    PathId(code): PathId,
    JsonBody(request): JsonBody<LinkRequest>,
) -> Result<Json<ApprovalBody>, Problem> {
    let Some(links) = app.links() else {
        let detail = "this server makes no links; start it with --public-url";
        return Err(Problem::new(ProblemKind::NotFound, detail));
    };
    let channel = match links.check(&request.secret, &code, app.guard().now()) {
        Ok(link) => link.channel,
        Err(error @ ApprovalLinkError::Expired) => {
            return Err(Problem::new(ProblemKind::Conflict, error.to_string()));
        }
        Err(error @ ApprovalLinkError::Wrong) => {
            // Guessing must not be quick.
            let _ = app.wrong_token().await;
            return Err(Problem::new(ProblemKind::Forbidden, error.to_string()));
        }
    };
    let (session, _) = look(&app, &code).await?;
    if let Some(answer) = request.answer {
        let by = format!("link to {channel}");
        let event = AnswerEvent::new(session, code.clone()).by(&by);
        let event = match answer {
            Answer::Approve => Event::Approve(event),
            Answer::Decline => Event::Decline(event),
        };
        let sender = Sender {
            role: Role::Operator,
            name: None,
        };
        app.decide(sender, event, None).await?;
    }
    look(&app, &code).await.map(|(_, body)| Json(body))
}

async fn look(app: &App, code: &Id) -> Result<(Id, ApprovalBody), Problem> {
    let asked = code.clone();
    let found = app.blocking(move |app| Ok(app.questions().find(app.guard(), &asked)?));
    match found.await? {
        None => {
            let detail = format!("there is no approval {code}");
            Err(Problem::new(ProblemKind::NotFound, detail))
        }
        Some((session, question)) => {
            let body = ApprovalBody::of(code, &session, question);
            Ok((session, body))
        }
    }
}
