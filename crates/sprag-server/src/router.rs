//! Every route of the server, in one place; the OpenAPI document comes from the same list.

use axum::Router;
use axum::handler::Handler as _;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::from_fn;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use utoipa::OpenApi as _;
use utoipa::openapi::OpenApi;
use utoipa::openapi::security::SecurityRequirement;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::edge;
use crate::problem::{Problem, ProblemKind};
use crate::relay::{self, Relay};
use crate::route;
use crate::wire;

/// The routes, and the document that tells what they are. Those inside of [`edge::own`] are this server's own; what is
/// merged outside of it is mounted: it sees no credentials, and its answers are not trusted.
pub(crate) fn routes(app: App, relay: Option<Relay>) -> Router {
    let (routes, api) = documented(relay.is_some()).split_for_parts();
    let api = secured(api);
    let document = route::openapi::OpenApiDocument::new(&api);
    let page = route::docs::DocsPage::new(&api);
    let own = routes
        .route("/openapi.json", get(move || document.answer()))
        .route("/docs", get(move || page.answer()))
        .route("/docs/style.css", get(route::docs::style))
        .merge(crate::dashboard::routes())
        .merge(crate::approval_page::routes())
        .layer(from_fn(edge::own));
    let mounted = relay.map(|relay| relay.routes(&app)).unwrap_or_default();
    own.merge(mounted)
        .fallback(nothing_here.layer(from_fn(edge::own)))
        .method_not_allowed_fallback(|| async {
            Problem::new(
                ProblemKind::MethodNotAllowed,
                "not with this method; the Allow header names those that work",
            )
            .into_response()
        })
        .with_state(app)
}

/// An unknown address: a browser gets the dashboard's page, which says so, a program gets a problem.
async fn nothing_here(method: Method, headers: HeaderMap) -> Response {
    let accepts = headers.get_all(header::ACCEPT).iter();
    let mut accepts = accepts.filter_map(|value| value.to_str().ok());
    if method == Method::GET && accepts.any(|types| types.contains("text/html")) {
        let mut page = crate::dashboard::index(&headers);
        if page.status().is_success() {
            *page.status_mut() = StatusCode::NOT_FOUND;
        }
        return page;
    }
    Problem::new(
        ProblemKind::NotFound,
        "there is nothing here; /docs lists what there is",
    )
    .into_response()
}

/// What the API is, for whoever wants only the document.
#[must_use]
pub fn openapi() -> OpenApi {
    secured(documented(true).into_openapi())
}

/// Notes that a route takes a token where it may ask for one, unless it says itself how.
fn secured(mut api: OpenApi) -> OpenApi {
    for path in api.paths.paths.values_mut() {
        let methods = [
            &mut path.get,
            &mut path.put,
            &mut path.post,
            &mut path.patch,
            &mut path.delete,
        ];
        for operation in methods.into_iter().flatten() {
            if operation.responses.responses.contains_key("401") {
                let token = || vec![SecurityRequirement::new("token", [""; 0])];
                operation.security.get_or_insert_with(token);
            }
        }
    }
    api
}

fn documented(has_relay: bool) -> OpenApiRouter<App> {
    let mut document = wire::ApiDoc::openapi();
    if has_relay {
        document.merge(relay::RelayApi::openapi());
    }
    OpenApiRouter::with_openapi(document)
        .routes(routes!(route::check::check))
        .routes(routes!(route::batch::batch))
        .routes(routes!(route::hooks::hook))
        .routes(routes!(route::guardrail::guardrail))
        .routes(routes!(route::sessions::list))
        .routes(routes!(route::sessions::show))
        .routes(routes!(route::events::events))
        .routes(routes!(route::replay::replay, route::replay::replay_under))
        .routes(routes!(route::orders::kill))
        .routes(routes!(route::orders::reset))
        .routes(routes!(route::approvals::list))
        .routes(routes!(route::approvals::show, route::approvals::answer))
        .routes(routes!(route::links::answer))
        .routes(routes!(route::bulk_orders::order))
        .routes(routes!(route::stops::list))
        .routes(routes!(route::stops::show))
        .routes(routes!(route::cases::list, route::cases::mark))
        .routes(routes!(route::cases::show))
        .routes(routes!(route::agents::list))
        .routes(routes!(route::agents::show))
        .routes(routes!(route::spend::spend))
        .routes(routes!(route::flows::list))
        .routes(routes!(route::flows::show))
        .routes(routes!(route::policy::show, route::policy::replace))
        .routes(routes!(route::policy::history))
        .routes(routes!(route::policy::once))
        .routes(routes!(route::policy::schema))
        .routes(routes!(route::policy_draft::check))
        .routes(routes!(route::policy_draft::edit))
        .routes(routes!(route::policy_draft::defaults))
        .routes(routes!(route::try_policy::try_policy))
        .routes(routes!(route::pause::show, route::pause::pause))
        .routes(routes!(route::pause::resume))
        .routes(routes!(route::panic::show, route::panic::panic))
        .routes(routes!(route::panic::calm))
        .routes(routes!(route::log::search))
        .routes(routes!(route::log::show))
        .routes(routes!(route::log::status))
        .routes(routes!(route::log::verify))
        .routes(routes!(route::export::export))
        .routes(routes!(route::stats::stats))
        .routes(routes!(route::notifications::show))
        .routes(routes!(route::notifications::test))
        .routes(routes!(route::stream::stream))
        .routes(routes!(route::metrics::metrics))
        .routes(routes!(route::health::healthz))
        .routes(routes!(route::health::readyz))
        .routes(routes!(route::login::login, route::login::logout))
        .routes(routes!(route::login::code))
        .routes(routes!(route::me::me))
        .routes(routes!(route::page::index))
}
