//! The API as a page that people read: made from the OpenAPI document, without a script or anything from elsewhere.

use std::fmt::Write as _;

use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use bytes::Bytes;
use serde_json::{Map, Value};
use utoipa::openapi::OpenApi;

/// The page as it is sent.
#[derive(Debug, Clone)]
pub(crate) struct DocsPage(Bytes);

impl DocsPage {
    pub(crate) fn new(api: &OpenApi) -> Self {
        let api = serde_json::to_value(api).unwrap_or_default();
        Self(page(&api).into())
    }

    pub(crate) fn answer(&self) -> std::future::Ready<Response> {
        std::future::ready(Html(self.0.clone()).into_response())
    }
}

/// How the page looks.
pub(crate) async fn style() -> Response {
    let css = [(header::CONTENT_TYPE, "text/css; charset=utf-8")];
    (css, include_str!("../../pages/style.css")).into_response()
}

fn page(api: &Value) -> String {
    let mut out = String::from(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>Sprag API</title>\n\
         <link rel=\"stylesheet\" href=\"/docs/style.css\">\n</head>\n<body>\n<h1>Sprag API</h1>\n",
    );
    let about = text(api.pointer("/info/description"));
    let _ = writeln!(out, "<p>{about}</p>");
    out += "<p>For programs: <a href=\"/openapi.json\">openapi.json</a>.</p>\n";
    for tag in items(api.get("tags")) {
        let name = tag.get("name").and_then(Value::as_str).unwrap_or_default();
        let _ = writeln!(
            out,
            "<h2>{}</h2>\n<p>{}</p>",
            escape(name),
            text(tag.get("description"))
        );
        for (path, methods) in entries(api.get("paths")) {
            for (method, operation) in entries(Some(methods)) {
                let tags = items(operation.get("tags"));
                if tags.iter().any(|tag| tag.as_str() == Some(name)) {
                    show(&mut out, path, method, operation);
                }
            }
        }
    }
    out += "</body>\n</html>\n";
    out
}

fn show(out: &mut String, path: &str, method: &str, operation: &Value) {
    let _ = writeln!(
        out,
        "<section>\n<h3><code>{} {}</code></h3>\n<p>{}. {}</p>",
        escape(&method.to_uppercase()),
        escape(path),
        text(operation.get("summary")),
        text(operation.get("description")),
    );
    let parameters = items(operation.get("parameters"));
    if !parameters.is_empty() {
        out.push_str("<table>\n");
        for parameter in parameters {
            let _ = writeln!(
                out,
                "<tr><td><code>{}</code></td><td>{}</td><td>{}</td></tr>",
                text(parameter.get("name")),
                text(parameter.get("in")),
                text(parameter.get("description")),
            );
        }
        out.push_str("</table>\n");
    }
    out.push_str("<table>\n");
    for (status, response) in entries(operation.get("responses")) {
        let _ = writeln!(
            out,
            "<tr><td><code>{}</code></td><td>{}</td></tr>",
            escape(status),
            text(response.get("description"))
        );
    }
    out.push_str("</table>\n</section>\n");
}

fn items(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn entries(value: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    value
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(Map::iter)
}

fn text(value: Option<&Value>) -> String {
    escape(value.and_then(Value::as_str).unwrap_or_default())
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
