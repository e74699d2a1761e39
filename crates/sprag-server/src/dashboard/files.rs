//! The files of the dashboard, listed by the build script.

use axum::http::HeaderValue;
use sha2::{Digest as _, Sha256};

include!(concat!(env!("OUT_DIR"), "/dashboard_files.rs"));

/// A file with its compressed twins.
#[derive(Debug)]
pub(super) struct Asset {
    pub(super) name: &'static str,
    pub(super) plain: &'static [u8],
    pub(super) gzip: Option<&'static [u8]>,
    pub(super) brotli: Option<&'static [u8]>,
}

/// The file of this name.
pub(super) fn find(name: &str) -> Option<&'static Asset> {
    FILES.iter().find(|asset| asset.name == name)
}

/// What stands in the place of the page where it was not built in.
pub(super) fn plain_page() -> String {
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Sprag</title>\
         <h1>The dashboard is not built in</h1>\
         <p>This server answers at <code>/v1</code>, but its dashboard was left out when it was built: {MISSING}.</p>\
         <p>Install Node 20.19 or newer and build again without <code>SPRAG_SKIP_WEB</code>. \
         Until then <code>sprag sessions list</code> and <code>sprag log tail</code> show the same in a terminal.</p>\
         <p><a href=\"/docs\">The API</a></p></html>\n"
    )
}

impl Asset {
    /// The smallest form that the asker reads.
    pub(super) fn encoded(&self, accepted: &str) -> (&'static [u8], Option<&'static str>) {
        let twins = [(self.brotli, "br"), (self.gzip, "gzip")];
        twins
            .into_iter()
            .filter(|(_, encoding)| reads(accepted, encoding))
            .find_map(|(bytes, encoding)| Some((bytes?, Some(encoding))))
            .unwrap_or((self.plain, None))
    }

    /// The entity tag of one form of it.
    pub(super) fn tag(&self, encoding: Option<&str>) -> String {
        let hash = Sha256::digest(self.plain);
        let start = hash.iter().take(12).map(|byte| format!("{byte:02x}"));
        let encoding = encoding.unwrap_or("plain");
        format!("\"{}-{encoding}\"", start.collect::<String>())
    }

    pub(super) fn media_type(&self) -> HeaderValue {
        let extension = self.name.rsplit('.').next().unwrap_or_default();
        HeaderValue::from_static(match extension {
            "html" => "text/html; charset=utf-8",
            "js" => "text/javascript; charset=utf-8",
            "css" => "text/css; charset=utf-8",
            "svg" => "image/svg+xml",
            _ => "application/octet-stream",
        })
    }
}

/// Whether `encoding` is in the list of an `Accept-Encoding`, and not with a weight of zero.
fn reads(accepted: &str, encoding: &str) -> bool {
    accepted.split(',').any(|entry| {
        let mut parts = entry.split(';').map(str::trim);
        let named = parts
            .next()
            .is_some_and(|name| name.eq_ignore_ascii_case(encoding));
        named && !parts.any(|weight| weight.strip_prefix("q=").is_some_and(is_zero))
    })
}

fn is_zero(weight: &str) -> bool {
    weight.parse::<f32>().is_ok_and(|weight| weight <= 0.0)
}
