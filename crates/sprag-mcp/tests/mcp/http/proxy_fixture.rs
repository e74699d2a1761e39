//! A proxy on a port of its own, with a guard of its own.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use sprag::{Guard, Policy};
use sprag_http::{Hosts, Listener, ListenerOptions};
use sprag_mcp::http::{Proxy, ProxyConfig, ProxyOptions};
use sprag_mcp::{LogSink, VerdictSource};
use tokio::runtime::Runtime;

use super::raw_http::{HttpClient, ScriptedServer};

pub(crate) struct ProxyFixture {
    pub(crate) address: SocketAddr,
    pub(crate) guard: Guard,
    pub(crate) told: Arc<Mutex<Vec<String>>>,
    runtime: Option<Runtime>,
}

impl ProxyFixture {
    /// A proxy before one server.
    pub(crate) fn before(server: &ScriptedServer) -> Self {
        Self::new(&server.url(), "", |_| {})
    }

    pub(crate) fn new(url: &str, policy: &str, set: impl FnOnce(&mut ProxyOptions)) -> Self {
        Self::over(ProxyConfig::single(url).unwrap(), policy, set)
    }

    pub(crate) fn over(
        config: ProxyConfig,
        policy: &str,
        set: impl FnOnce(&mut ProxyOptions),
    ) -> Self {
        let policy = Policy::from_toml(policy).unwrap();
        let guard = Guard::builder().policy(policy).build().unwrap();
        let mut options = ProxyOptions {
            hosts: Some(Hosts::new("127.0.0.1".parse().unwrap(), &[])),
            guard_waits: false,
            ..ProxyOptions::new(config, "m".to_owned())
        };
        set(&mut options);
        let told = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&told);
        let log: Arc<LogSink> = Arc::new(Box::new(move |what| {
            heard.lock().unwrap().push(what.to_string());
        }));
        let source: Arc<dyn VerdictSource> = Arc::new(guard.clone());
        let proxy = Arc::new(Proxy::new(options, &source, &log).unwrap());
        let listener = Listener::bind(&ListenerOptions {
            address: "127.0.0.1:0".parse().unwrap(),
            behind_tls_proxy: false,
            connections: 16_384,
        })
        .unwrap();
        let address = listener.address();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        runtime.spawn(listener.run(proxy, std::future::pending()));
        Self {
            address,
            guard,
            told,
            runtime: Some(runtime),
        }
    }

    pub(crate) fn client(&self) -> HttpClient {
        HttpClient::connect(self.address)
    }

    /// What the guard judged.
    pub(crate) fn records(&self) -> Vec<Value> {
        let page = self.guard.records(&sprag::LogQuery::default()).unwrap();
        let records = page.items.iter().map(sprag::record_json);
        records
            .filter(|record| !record["event"].is_null())
            .collect()
    }

    /// Waits until the guard has judged as many events of this kind.
    pub(crate) fn wait_for(&self, kind: &str, count: usize) -> Vec<Value> {
        for _ in 0..500 {
            let records = self.records();
            let of_kind = |record: &&Value| record["event"]["type"] == kind;
            let found: Vec<Value> = records.iter().filter(of_kind).cloned().collect();
            if found.len() >= count {
                return found;
            }
            std::thread::park_timeout(std::time::Duration::from_millis(20));
        }
        panic!("not {count} events {kind:?}: {:?}", self.records());
    }
}

impl Drop for ProxyFixture {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
