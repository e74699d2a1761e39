//! `sprag mcp --listen`: the proxy before servers that are reached over HTTP.

use std::io::Write;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use sprag::Id;
use sprag_http::limits::CONNECTIONS;
use sprag_http::{ForwarderError, Hosts, Listener, ListenerError, ListenerOptions};
use sprag_mcp::http::{Proxy, ProxyConfig, ProxyConfigError, ProxyOptions};
use sprag_mcp::{LogSink, VerdictSource};
use sprag_server::asked_to_end;

use super::wrap;
use crate::args::WrapArgs;
use crate::failure::{Failure, Run};
use crate::settings::Settings;

/// Answers until it is asked to end.
pub(super) fn run(
    address: SocketAddr,
    args: &WrapArgs,
    settings: &Settings,
    out: &mut dyn Write,
) -> Run {
    let source: Arc<dyn VerdictSource> = Arc::from(wrap::source(args, settings)?);
    let log: Arc<LogSink> = Arc::new(Box::new(wrap::log));
    let options = options(address, args)?;
    let paths: Vec<String> = options
        .config
        .upstreams
        .iter()
        .map(|upstream| upstream.path.clone())
        .collect();
    let proxy = Arc::new(Proxy::new(options, &source, &log)?);
    let listener = Listener::bind(&ListenerOptions {
        address,
        behind_tls_proxy: args.http.behind_tls_proxy,
        connections: CONNECTIONS,
    })?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("sprag-mcp")
        .build()?;
    for path in paths {
        writeln!(out, "listening on http://{}{path}", listener.address())?;
    }
    out.flush()?;
    runtime.block_on(listener.run(proxy, asked_to_end()))?;
    // What still runs is cut off.
    runtime.shutdown_background();
    Ok(ExitCode::SUCCESS)
}

fn options(address: SocketAddr, args: &WrapArgs) -> Result<ProxyOptions, Failure> {
    let http = &args.http;
    let mut config = match (&http.upstream, &http.config) {
        (Some(url), _) => ProxyConfig::single(url)?,
        (None, Some(file)) => ProxyConfig::read(file)?,
        (None, None) => return Err(ProxyConfigError::None.into()),
    };
    let id = |what: &str, text: &Option<String>| {
        let id = text.as_ref().map(|text| Id::new(text)).transpose();
        id.map_err(|error| Failure::new(format!("--{what}: {error}")))
    };
    if let Some(name) = id("name", &args.name)? {
        for upstream in &mut config.upstreams {
            upstream.name = Some(name.clone());
        }
    }
    let public = http.public_url.as_deref().map(public).transpose()?;
    let mut names = http.host.clone();
    names.extend(public.as_ref().and_then(|url| Some(url.host()?.to_owned())));
    Ok(ProxyOptions {
        hosts: Some(Hosts::new(address.ip(), &names)),
        origins: http.allow_origin.clone(),
        public: public.map(|url| url.to_string().trim_end_matches('/').to_owned()),
        agent: id("agent", &args.agent)?,
        fail: args.fail,
        shared: args.shared_identity,
        principal_is_session: http.principal_is_session,
        guard_waits: !args.private,
        body_bytes: usize::try_from(http.max_body).unwrap_or(usize::MAX),
        streams: http.max_streams,
        ..ProxyOptions::new(config, wrap::mark())
    })
}

/// The address as clients see it.
fn public(url: &str) -> Result<sprag_mcp::http::Uri, Failure> {
    let wrong = || {
        Failure::new(format!(
            "--public-url {url:?} is not an address without a path"
        ))
        .next("write only scheme and host, as in https://mcp.example.com")
    };
    let uri: sprag_mcp::http::Uri = url.parse().map_err(|_| wrong())?;
    let is_origin = uri.path().len() <= 1 && uri.query().is_none();
    let has_scheme = matches!(uri.scheme_str(), Some("http" | "https"));
    if is_origin && has_scheme {
        Ok(uri)
    } else {
        Err(wrong())
    }
}

impl From<ProxyConfigError> for Failure {
    fn from(error: ProxyConfigError) -> Self {
        let advice = matches!(error, ProxyConfigError::None)
            .then_some("write [[upstream]] and url = \"https://HOST/PATH\" for each server");
        match (Self::new(error.to_string()), advice) {
            (failure, Some(advice)) => failure.next(advice),
            (failure, None) => failure,
        }
    }
}

impl From<ForwarderError> for Failure {
    fn from(error: ForwarderError) -> Self {
        Self::new(error.to_string())
    }
}

impl From<ListenerError> for Failure {
    fn from(error: ListenerError) -> Self {
        let is_naked = matches!(error, ListenerError::Naked(_));
        let failure = Self::new(error.to_string());
        if is_naked {
            failure.next("listen on 127.0.0.1, or put something that does TLS in front and say --behind-tls-proxy")
        } else {
            failure
        }
    }
}
