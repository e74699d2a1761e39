//! Redis behind Sentinels, in a cluster, with users and with TLS.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use sprag_core::Decision;
use sprag_store::{RedisOptions, RedisStore, Store};

use crate::observations::{call, draft, kill, policy};
use crate::processes::times;
use crate::redis::verified;
use crate::redis_server::{Server, ask, free_port, is_there, program, wait_for};

const START: u64 = 1_700_000_000_000;

fn decides(store: &RedisStore, at: u64, session: &str) -> Decision {
    let record = store
        .decide(draft(call(at, session, at), &policy()))
        .unwrap();
    record.verdict.decision
}

fn is_back(store: &RedisStore) -> bool {
    let status = store.status();
    status.degraded.is_none() && status.pending == 0
}

/// A Sentinel that looks after one primary.
struct Sentinel {
    child: Child,
    port: u16,
}

impl Sentinel {
    fn start(primary: &Server) -> Self {
        let port = free_port();
        let file = primary.folder().join("sentinel.conf");
        let text = format!(
            "port {port}\nbind 127.0.0.1\ndir {}\nsentinel monitor main 127.0.0.1 {} 1\n\
             sentinel down-after-milliseconds main 500\nsentinel failover-timeout main 2000\n",
            primary.folder().display(),
            primary.port
        );
        std::fs::write(&file, text).unwrap();
        let child = Command::new(program())
            .arg(&file)
            .arg("--sentinel")
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        wait_for("the Sentinel", || {
            ask(port, "PING").is_some_and(|answer| answer.starts_with("+PONG"))
        });
        Self { child, port }
    }
}

impl Drop for Sentinel {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn after_a_failover_by_sentinel_kills_still_hold() {
    if !is_there() {
        return;
    }
    for _ in 0..times("SPRAG_REDIS_FAULTS", 1) {
        fail_over();
    }
}

fn fail_over() {
    let mut primary = Server::start();
    let of_primary = primary.port.to_string();
    let replica = Server::start_with(&["--replicaof", "127.0.0.1", &of_primary]);
    let sentinel = Sentinel::start(&primary);
    let knows_replica = || {
        let told = ask(sentinel.port, "SENTINEL REPLICAS main");
        told.is_some_and(|told| {
            told.contains(&replica.port.to_string()) && !told.contains("s_down")
        })
    };
    wait_for("the replica to be known", knows_replica);
    let mut options =
        RedisOptions::new(format!("redis+sentinel://127.0.0.1:{}/main", sentinel.port));
    options.replicas = 1;
    // How soon a replica answers is the machine's business, not this test's.
    options.deadline = std::time::Duration::from_secs(10);
    let store = RedisStore::open(options.clone()).unwrap();
    wait_for("a replica that keeps up", || {
        let told = replica.ask("INFO replication").unwrap();
        told.contains("master_link_status:up")
    });
    let policy = policy();
    decides(&store, START, "s1");
    store.decide(draft(kill(START, "s1"), &policy)).unwrap();
    assert_eq!(store.counts().unreplicated, 0, "the replica has the kill");
    primary.kill();
    assert_eq!(decides(&store, START + 1, "s1"), Decision::Kill);
    decides(&store, START + 2, "s2");
    wait_for("the failover", || is_back(&store));
    let other = RedisStore::open(options).unwrap();
    assert_eq!(decides(&other, START + 3, "s1"), Decision::Kill);
    assert!(verified(&other).is_sound());
    assert_eq!(store.counts().kills_restored, 0, "it was not lost");
}

/// Three nodes that share the slots.
fn cluster() -> Vec<Server> {
    let nodes: Vec<Server> = (0..3)
        .map(|_| {
            // The bus of a node is ten thousand ports above, which must be a port too.
            let port = loop {
                let port = free_port();
                if port < 55_000 {
                    break port;
                }
            };
            Server::start_on(
                port,
                &["--cluster-enabled", "yes", "--cluster-node-timeout", "2000"],
            )
        })
        .collect();
    let first = nodes[0].port;
    for (node, slots) in nodes.iter().zip(["0 5460", "5461 10922", "10923 16383"]) {
        node.ask(&format!("CLUSTER ADDSLOTSRANGE {slots}")).unwrap();
        node.ask(&format!("CLUSTER MEET 127.0.0.1 {first}"))
            .unwrap();
    }
    for node in &nodes {
        wait_for("the cluster", || {
            node.ask("CLUSTER INFO").is_some_and(|told| {
                told.contains("cluster_state:ok") && told.contains("cluster_known_nodes:3")
            })
        });
    }
    nodes
}

fn node_id(node: &Server) -> String {
    let told = node.ask("CLUSTER MYID").unwrap();
    told.lines().nth(1).unwrap().to_owned()
}

#[test]
fn a_namespace_lives_on_one_node_of_a_cluster_and_may_move() {
    if !is_there() {
        return;
    }
    for _ in 0..times("SPRAG_REDIS_FAULTS", 1) {
        move_slot();
    }
}

fn move_slot() {
    let nodes = cluster();
    let hosts: Vec<String> = nodes
        .iter()
        .map(|node| format!("127.0.0.1:{}", node.port))
        .collect();
    let url = format!("redis+cluster://{}", hosts.join(","));
    let mut options = RedisOptions::new(url);
    options.deadline = Duration::from_secs(2);
    let store = RedisStore::open(options.clone()).unwrap();
    let policy = policy();
    for n in 0..5 {
        decides(&store, START + n, "s1");
    }
    store.decide(draft(kill(START, "s2"), &policy)).unwrap();
    let slot = nodes[0].ask("CLUSTER KEYSLOT {sprag}").unwrap();
    let slot = slot.trim_start_matches(':').trim().to_owned();
    let holds = |node: &Server| {
        let told = node
            .ask(&format!("CLUSTER COUNTKEYSINSLOT {slot}"))
            .unwrap();
        told.trim() != ":0"
    };
    let from = nodes.iter().position(holds).unwrap();
    let to = (from + 1) % nodes.len();
    let (from, to) = (&nodes[from], &nodes[to]);
    to.ask(&format!(
        "CLUSTER SETSLOT {slot} IMPORTING {}",
        node_id(from)
    ))
    .unwrap();
    from.ask(&format!("CLUSTER SETSLOT {slot} MIGRATING {}", node_id(to)))
        .unwrap();
    while holds(from) {
        // In the middle of the move no script may run: the pod decides alone.
        decides(&store, START + 100, "s1");
        let keys = from
            .ask(&format!("CLUSTER GETKEYSINSLOT {slot} 1"))
            .unwrap();
        let key = keys.lines().nth(2).unwrap();
        from.ask(&format!("MIGRATE 127.0.0.1 {} {key} 0 2000", to.port))
            .unwrap();
    }
    for node in [to, from] {
        node.ask(&format!("CLUSTER SETSLOT {slot} NODE {}", node_id(to)))
            .unwrap();
    }
    wait_for("the new place", || is_back(&store));
    assert_eq!(decides(&store, START + 200, "s2"), Decision::Kill);
    let other = RedisStore::open(options).unwrap();
    assert_eq!(decides(&other, START + 300, "s2"), Decision::Kill);
    let found = verified(&other);
    assert!(found.is_sound(), "{found:?}");
}

#[test]
fn a_user_who_may_only_touch_the_namespace_is_enough() {
    if !is_there() {
        return;
    }
    let server = Server::start();
    server.ask("ACL SETUSER pod on >secret ~{mine}:* +@all -@admin -@dangerous +info");
    let mut options = RedisOptions::new(format!("redis://pod:secret@127.0.0.1:{}/3", server.port));
    options.namespace = "mine".to_owned();
    let store = RedisStore::open(options).unwrap();
    decides(&store, START, "s1");
    assert!(verified(&store).is_sound());
    let wrong = format!("redis://pod:wrong@127.0.0.1:{}", server.port);
    let refused = RedisStore::open(RedisOptions::new(wrong))
        .unwrap_err()
        .to_string();
    assert!(!refused.contains("wrong@"), "{refused}");
    assert_eq!(
        server.ask("DBSIZE").unwrap(),
        ":0\r\n",
        "database 3 is another"
    );
}

/// A certificate for 127.0.0.1 and the authority that signed it, made by `openssl`.
fn certificates(folder: &std::path::Path) -> bool {
    let openssl = |words: &str| {
        let ran = Command::new("openssl")
            .args(words.split(' '))
            .current_dir(folder)
            .stderr(Stdio::null())
            .status();
        ran.is_ok_and(|status| status.success())
    };
    openssl(
        "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout ca.key -out ca.pem",
    ) && openssl(
        "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=redis -CA ca.pem -CAkey ca.key \
             -addext subjectAltName=IP:127.0.0.1 -addext basicConstraints=CA:FALSE \
             -keyout redis.key -out redis.pem",
    )
}

#[test]
fn over_tls_only_a_server_with_a_trusted_certificate_will_do() {
    if !is_there() {
        return;
    }
    let place = crate::place::Place::new();
    let folder = place.db().parent().unwrap().to_owned();
    if !certificates(&folder) {
        let is_ci = std::env::var_os("CI").is_some_and(|ci| ci == "true");
        assert!(!is_ci, "openssl 3 is missing: apt-get install openssl");
        println!("SKIPPED: openssl 3 is not installed (apt-get install openssl)");
        return;
    }
    let file = |name: &str| folder.join(name).display().to_string();
    let port = free_port().to_string();
    let _server = Server::start_with(&[
        "--tls-port",
        &port,
        "--tls-cert-file",
        &file("redis.pem"),
        "--tls-key-file",
        &file("redis.key"),
        "--tls-ca-cert-file",
        &file("ca.pem"),
        "--tls-auth-clients",
        "no",
    ]);
    let mut options = RedisOptions::new(format!("rediss://127.0.0.1:{port}"));
    let stranger = RedisStore::open(options.clone());
    assert!(stranger.is_err(), "nobody signed for it");
    options.ca = Some(std::fs::read(file("ca.pem")).unwrap());
    let store = RedisStore::open(options).unwrap();
    assert_eq!(decides(&store, START, "s1"), Decision::Allow);
    assert!(verified(&store).is_sound());
}
