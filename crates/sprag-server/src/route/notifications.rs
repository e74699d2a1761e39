//! Who is notified of stops and questions, what became of the last notifications, and a test.

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::caller::{Operator, Reader};
use crate::notify::{Attempt, Channel};
use crate::problem::{Problem, ProblemKind};
use crate::wire;

/// Who is notified.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Notifications {
    /// The ways to a person; none if nobody is notified.
    channels: Vec<NotifyChannel>,
    /// The last notifications, the newest first; at most 50.
    attempts: Vec<Attempt>,
}

/// One way to a person.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NotifyChannel {
    /// `webhook` or `command`.
    #[schema(value_type = String, example = "webhook")]
    channel: &'static str,
    /// The host of the webhook, or the name of the program. Its path may be a password and is not told.
    to: String,
}

/// A test was sent.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NotifyTest {
    /// Over which ways.
    #[schema(value_type = Vec<String>)]
    channels: Vec<&'static str>,
}

/// Who is notified
#[utoipa::path(
    get,
    path = "/v1/notifications",
    tag = "server",
    responses((status = 200, description = "The ways, and what became of the last notifications", body = Notifications), wire::OperatorOnly),
)]
pub(crate) async fn show(State(app): State<App>, _: Reader) -> axum::Json<Notifications> {
    let Some(notify) = app.notifications() else {
        return axum::Json(Notifications {
            channels: Vec::new(),
            attempts: Vec::new(),
        });
    };
    let channel = |(channel, to): &(Channel, String)| NotifyChannel {
        channel: channel.as_str(),
        to: to.clone(),
    };
    axum::Json(Notifications {
        channels: notify.channels().iter().map(channel).collect(),
        attempts: notify.attempts(),
    })
}

/// Send a test notification
///
/// It goes every way that a stop would go. What became of it is in `GET /v1/notifications` a moment later.
#[utoipa::path(
    post,
    path = "/v1/notifications/test",
    tag = "server",
    responses(
        (status = 200, description = "It was sent", body = NotifyTest),
        wire::Conflicting,
        wire::OperatorOnly,
    ),
)]
pub(crate) async fn test(
    State(app): State<App>,
    operator: Operator,
) -> Result<axum::Json<NotifyTest>, Problem> {
    let Some(notify) = app.notifications() else {
        return Err(Problem::new(
            ProblemKind::Conflict,
            "nobody is notified: start `sprag serve` with --notify-webhook or --notify-command",
        ));
    };
    let channels = notify.test(operator.name(), app.guard().now());
    Ok(axum::Json(NotifyTest { channels }))
}
