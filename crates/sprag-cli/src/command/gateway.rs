//! `sprag gateway` and `sprag run`: a guard between an agent and its model API.

mod run;
mod surroundings;

use std::io::Write;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use sprag_gateway::{
    Gateway, GatewayClient, GatewayError, GatewayOptions, Launch, LaunchError, Upstreams,
};
use sprag_http::{Hosts, Listener, ListenerOptions, limits};
use sprag_server::asked_to_end;

use super::mcp::verdict_source;
use crate::args::{GatewayArgs, GatewayCommand, GatewayGuardArgs, MountedGatewayArgs};
use crate::failure::{Failure, Run};
use crate::settings::Settings;

pub(crate) use run::run as run_client;

/// Answers until it is asked to end, or prints a client's settings.
pub(crate) fn run(args: &GatewayArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    if let Some(GatewayCommand::Env { client, listen }) = &args.command {
        return env(*client, *listen, settings, out);
    }
    let token = settings.text("SPRAG_GATEWAY_TOKEN");
    let is_local = args.listen.ip().is_loopback();
    if (!is_local || args.behind_tls_proxy) && token.is_none() {
        let why = "a gateway that others can reach needs a token";
        return Err(Failure::new(why)
            .next("set $SPRAG_GATEWAY_TOKEN; clients show it in the header x-sprag-token"));
    }
    let mut options = options(&args.guard, &[])?;
    options.hosts = Some(Hosts::new(args.listen.ip(), &args.host));
    options.token = token;
    let gateway = Arc::new(gateway(options, &args.guard, settings)?);
    let listener = listener(args.listen, args.behind_tls_proxy)?;
    let runtime = runtime()?;
    let address = listener.address();
    writeln!(out, "listening on http://{address}")?;
    writeln!(
        out,
        "for its settings: sprag gateway env CLIENT --listen {address}"
    )?;
    out.flush()?;
    runtime.block_on(listener.run(gateway, asked_to_end()))?;
    // What still runs is cut off.
    runtime.shutdown_background();
    Ok(ExitCode::SUCCESS)
}

fn env(client: GatewayClient, listen: SocketAddr, settings: &Settings, out: &mut dyn Write) -> Run {
    let around = surroundings::of(settings, &[]);
    let launch = Launch::of(client, &format!("http://{listen}"), &around)?;
    // Only Codex is pointed by arguments.
    write!(out, "{}", launch.shown("codex"))?;
    for (mount, base) in &launch.upstreams {
        writeln!(out, "# start the gateway with --upstream {mount}={base}")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The options of a gateway; `instead` are upstreams that the surroundings name.
fn options(
    args: &GatewayGuardArgs,
    instead: &[(&'static str, String)],
) -> Result<GatewayOptions, Failure> {
    let mut upstreams = Upstreams::real()?;
    for (mount, base) in instead {
        upstreams.set(mount, base)?;
    }
    set_upstreams(&mut upstreams, &args.upstream)?;
    let mut options = GatewayOptions::new(upstreams);
    options.stop = args.stop;
    options.warn = args.warn;
    options.fail = args.fail;
    Ok(options)
}

/// Sets what a person named as NAME=URL.
fn set_upstreams(upstreams: &mut Upstreams, named: &[String]) -> Result<(), Failure> {
    for named in named {
        let Some((mount, base)) = named.split_once('=') else {
            return Err(
                Failure::new(format!("the upstream {named:?} names no address"))
                    .next("write it as anthropic=https://HOST"),
            );
        };
        upstreams.set(mount, base)?;
    }
    Ok(())
}

/// The gateway of `sprag serve --gateway`. The server itself is the guard.
pub(crate) fn mounted(args: &MountedGatewayArgs) -> Result<Option<GatewayOptions>, Failure> {
    if !args.gateway {
        return Ok(None);
    }
    let mut upstreams = Upstreams::real()?;
    set_upstreams(&mut upstreams, &args.gateway_upstream)?;
    let mut options = GatewayOptions::new(upstreams);
    options.stop = args.gateway_stop;
    options.warn = args.gateway_warn;
    Ok(Some(options))
}

fn gateway(
    options: GatewayOptions,
    args: &GatewayGuardArgs,
    settings: &Settings,
) -> Result<Gateway, Failure> {
    let policy = args.policy.policy.as_deref();
    let source = verdict_source(&args.place, policy, args.private, args.capture, settings)?;
    Ok(Gateway::new(options, source, Box::new(log))?)
}

fn listener(address: SocketAddr, behind_tls_proxy: bool) -> Result<Listener, Failure> {
    let listener = Listener::bind(&ListenerOptions {
        address,
        behind_tls_proxy,
        connections: limits::CONNECTIONS,
    });
    Ok(listener?)
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("sprag-gateway")
        .build()
}

fn log(what: std::fmt::Arguments<'_>) {
    // Where nobody reads it there is nobody left to tell.
    let _ = writeln!(anstream::stderr(), "sprag gateway: {what}");
}

impl From<GatewayError> for Failure {
    fn from(error: GatewayError) -> Self {
        Self::new(error.to_string())
    }
}

impl From<LaunchError> for Failure {
    fn from(error: LaunchError) -> Self {
        Self::new(error.to_string())
            .next("see docs/gateway.md for the logins that it can stand before")
    }
}
