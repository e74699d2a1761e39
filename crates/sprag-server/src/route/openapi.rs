//! The OpenAPI document, made from the routes themselves.

use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use utoipa::openapi::OpenApi;

/// The document as it is sent.
#[derive(Debug, Clone)]
pub(crate) struct OpenApiDocument(Bytes);

impl OpenApiDocument {
    pub(crate) fn new(api: &OpenApi) -> Self {
        Self(api.to_json().unwrap_or_default().into())
    }

    pub(crate) fn answer(&self) -> std::future::Ready<Response> {
        let json = [(header::CONTENT_TYPE, "application/json")];
        std::future::ready((json, self.0.clone()).into_response())
    }
}
