//! A gateway on a free port, before a test upstream.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use sprag::{Event, Guard, Policy, Role};
use sprag_gateway::{Gateway, GatewayOptions, Upstreams};
use sprag_http::{Hosts, Listener, ListenerOptions};

use crate::upstream::{Answer, Asked, Upstream};

/// A gateway and everything around it.
pub(crate) struct Place {
    pub(crate) guard: Guard,
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) address: SocketAddr,
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) direct: SocketAddr,
    pub(crate) log: Arc<Mutex<Vec<String>>>,
    pub(crate) client: reqwest::Client,
}

impl Place {
    pub(crate) fn new(script: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Self {
        Self::with(script, "", |_| {})
    }

    pub(crate) fn with(
        script: impl Fn(&Asked) -> Answer + Send + Sync + 'static,
        policy: &str,
        set: impl FnOnce(&mut GatewayOptions),
    ) -> Self {
        let (upstream, direct) = Upstream::start(script);
        let mut upstreams = Upstreams::real().expect("real addresses");
        for mount in ["anthropic", "openai", "gemini"] {
            upstreams
                .set(mount, &format!("http://{direct}"))
                .expect("an address");
        }
        let guard = Guard::builder().policy(Policy::from_toml(policy).expect("a policy"));
        let guard = guard.build().expect("a guard");
        let mut options = GatewayOptions::new(upstreams);
        options.hosts = Some(Hosts::new([127, 0, 0, 1].into(), &[]));
        set(&mut options);
        let log: Arc<Mutex<Vec<String>>> = Arc::default();
        let sink = Arc::clone(&log);
        let gateway = Gateway::new(
            options,
            Box::new(guard.clone()),
            Box::new(move |what| sink.lock().expect("no panic").push(what.to_string())),
        );
        let gateway = Arc::new(gateway.expect("a gateway"));
        let listener = Listener::bind(&ListenerOptions {
            address: ([127, 0, 0, 1], 0).into(),
            behind_tls_proxy: false,
            connections: 1024,
        });
        let listener = listener.expect("a free port");
        let address = listener.address();
        tokio::spawn(listener.run(Arc::clone(&gateway), std::future::pending()));
        Self {
            guard,
            gateway,
            address,
            upstream,
            direct,
            log,
            client: reqwest::Client::builder()
                .no_proxy()
                .build()
                .expect("a client"),
        }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// An operator's order.
    pub(crate) fn order(&self, event: Event) {
        self.guard
            .check_as(Role::Operator, event)
            .expect("an order");
    }
}
