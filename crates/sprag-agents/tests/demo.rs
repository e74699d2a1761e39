//! The demo, played for real until every verdict was given.

use std::collections::BTreeSet;
use std::time::Duration;

use sprag::FeedItem;
use sprag_agents::Demo;
use sprag_server::{Server, ServerConfig};
use tokio::sync::oneshot;

#[test]
fn a_newcomer_sees_every_verdict_and_nothing_is_left_behind() {
    let demo = Demo::prepare().unwrap();
    let folder = demo.folder().to_owned();
    let config = ServerConfig {
        listen: "127.0.0.1:0".parse().unwrap(),
        ..demo.config()
    };
    let server = Server::bind(config).unwrap();
    let (address, feed) = (server.address(), server.guard().subscribe());
    let (end, ended) = oneshot::channel::<()>();
    let playing = std::thread::spawn(move || {
        server.run(async {
            tokio::select! {
                played = demo.play(address) => played.unwrap(),
                _ = ended => {}
            }
        })
    });
    let mut seen = BTreeSet::new();
    let wanted: BTreeSet<&str> = ["allow", "warn", "deny", "block", "kill"].into();
    // A minute is what the demo promises; a machine that does much else may take longer.
    let patience = Duration::from_secs(120);
    let mut told_so_far = 0;
    while seen != wanted {
        told_so_far += 1;
        assert!(told_so_far < 2_000, "only {seen:?} so far");
        let told = feed.wait_for(patience);
        let told = told.unwrap_or_else(|| panic!("nothing happens any more; seen: {seen:?}"));
        if let FeedItem::Record(record) = told {
            seen.insert(record.verdict.decision.as_str());
        }
    }
    drop(end);
    playing.join().unwrap().unwrap();
    assert!(!folder.exists(), "{} is still there", folder.display());
}
