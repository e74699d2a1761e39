//! What stands in the address of a request: ids in its path, choices in its query.

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;
use sprag::Id;

use crate::app::App;
use crate::limits;
use crate::problem::{Problem, ProblemKind};

/// The id in a path. A sub-agent's holds a slash, which is written `%2F` there.
#[derive(Debug)]
pub(crate) struct PathId(pub(crate) Id);

impl FromRequestParts<App> for PathId {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let path = Path::<String>::from_request_parts(parts, app).await;
        let Path(text) = path.map_err(|error| bad("the path", error.body_text()))?;
        let id = Id::new(&text).map_err(|error| bad("id", error))?;
        Ok(Self(id))
    }
}

/// The number of a record in a path.
#[derive(Debug)]
pub(crate) struct PathSeq(pub(crate) u64);

impl FromRequestParts<App> for PathSeq {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let path = Path::<u64>::from_request_parts(parts, app).await;
        let Path(seq) = path.map_err(|error| bad("seq", error.body_text()))?;
        Ok(Self(seq))
    }
}

/// The choices in a query.
#[derive(Debug)]
pub(crate) struct ApiQuery<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<App> for ApiQuery<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        let query = Query::<T>::try_from_uri(&parts.uri);
        let Query(choices) = query.map_err(|error| bad("the query", error.body_text()))?;
        Ok(Self(choices))
    }
}

/// The size of a page that `limit` asks for.
pub(crate) fn page(limit: Option<usize>) -> Result<usize, Problem> {
    match limit {
        None => Ok(limits::PAGE),
        Some(limit) if (1..=limits::MAX_PAGE).contains(&limit) => Ok(limit),
        Some(limit) => {
            let most = limits::MAX_PAGE;
            Err(bad(
                "limit",
                format!("a page has 1 to {most} items, not {limit}"),
            ))
        }
    }
}

/// An id that stands in a query or a body.
pub(crate) fn id(field: &str, text: &str) -> Result<Id, Problem> {
    Id::new(text).map_err(|error| bad(field, error))
}

/// Something in the address that can't be used.
pub(crate) fn bad(field: &str, why: impl std::fmt::Display) -> Problem {
    Problem::new(ProblemKind::BadRequest, format!("{field}: {why}")).field(field)
}
