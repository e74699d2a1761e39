//! The way to the guard of this machine, with the other side missing, mute and rude. The way through a
//! real server is tried where the server is.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixListener;
use std::time::Duration;

use sprag::link::ServerClient;
use sprag::{Decision, Event, Guard, Id, LazyLink, Link, LinkError, LinkOptions, Reached, Role};

fn delete(n: u32) -> Event {
    let call = Event::call("s1", "delete_asset").unwrap();
    call.args(serde_json::json!({ "id": n })).into()
}

fn options(folder: &tempfile::TempDir) -> LinkOptions {
    let mut options = LinkOptions::new(folder.path().join("sprag.db"));
    options.socket = Some(folder.path().join("sprag.sock"));
    options.deadline = Duration::from_millis(100);
    options
}

#[test]
fn without_a_server_the_link_goes_to_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let link = Link::open(options(&folder)).unwrap();
    assert_eq!(link.reached(), Reached::File);
    for (n, expected) in [(0, Decision::Allow), (1, Decision::Warn)] {
        let verdict = link.check_as(Role::Agent, delete(n)).unwrap();
        assert_eq!(verdict.decision, expected);
    }
    // Another link to the same store counts on.
    let other = Link::open(options(&folder)).unwrap();
    let verdict = other.check_as(Role::Agent, delete(2)).unwrap();
    assert_eq!(verdict.decision, Decision::Kill);
    let session = Id::new("s1").unwrap();
    assert!(link.marks(&session).killed.is_some());
}

#[test]
fn a_socket_that_nobody_listens_on_is_no_server() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(&folder);
    drop(UnixListener::bind(options.socket.as_ref().unwrap()).unwrap());
    assert_eq!(Link::open(options).unwrap().reached(), Reached::File);
}

#[test]
fn an_owner_that_does_not_listen_leaves_no_way() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(&folder);
    let link = Link::open(options.clone()).unwrap();
    let owner = Guard::builder().owned_file(&options.db).build().unwrap();
    let error = link.check_as(Role::Agent, delete(1)).unwrap_err();
    assert!(error.is_no_answer(), "{error}");
    owner.kill("s1", "ops", "it runs").unwrap();
    let session = Id::new("s1").unwrap();
    assert!(
        link.marks(&session).killed.is_some(),
        "the mark is read past the owner"
    );
    drop(owner);
    let verdict = link.check_as(Role::Agent, delete(1)).unwrap();
    assert_eq!(verdict.decision, Decision::Kill);
}

#[test]
fn a_question_before_the_first_token_was_made_is_asked_again_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(&folder);
    let listener = UnixListener::bind(options.socket.as_ref().unwrap()).unwrap();
    let token = folder.path().join("hook.token");
    let server = std::thread::spawn(move || {
        let mut asked = Vec::new();
        for stream in listener.incoming().take(2) {
            let mut stream = stream.unwrap();
            let mut bytes = [0; 4096];
            let read = stream.read(&mut bytes).unwrap();
            let shown = String::from_utf8_lossy(&bytes[..read]).contains("Bearer first");
            asked.push(shown);
            std::fs::write(&token, "first").unwrap();
            let status = if shown { "200 OK" } else { "403 Forbidden" };
            write!(
                stream,
                "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{{}}"
            )
            .unwrap();
        }
        asked
    });
    let client = ServerClient::new(
        options.socket.as_ref().unwrap(),
        &options.db,
        Duration::from_secs(30),
    );
    let answer = client.request(Role::Hook, "GET", "/v1/me", b"").unwrap();
    assert_eq!(answer.status, 200);
    assert_eq!(server.join().unwrap(), [false, true]);
}

/// Somebody who listens and answers every connection with `answer`.
fn rude(options: &LinkOptions, answer: Option<&'static [u8]>) {
    let listener = UnixListener::bind(options.socket.as_ref().unwrap()).unwrap();
    std::thread::spawn(move || {
        let mut held = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            match answer {
                Some(bytes) => {
                    let _ = stream.read(&mut [0; 4096]);
                    let _ = stream.write_all(bytes);
                }
                None => held.push(stream),
            }
        }
    });
}

fn told(answer: Option<&'static [u8]>) -> LinkError {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(&folder);
    if answer.is_some() {
        // Whoever answers may be slow to.
        options.deadline = Duration::from_secs(30);
    }
    rude(&options, answer);
    let link = Link::open(options).unwrap();
    assert_eq!(link.reached(), Reached::Server);
    link.check_as(Role::Agent, delete(1)).unwrap_err()
}

fn why(error: &LinkError) -> String {
    let text = error.to_string();
    let (_, why) = text.split_once("gave no answer: ").unwrap();
    assert!(error.is_no_answer());
    why.to_owned()
}

#[test]
fn a_server_that_never_answers_is_waited_for_no_longer_than_the_deadline() {
    assert_eq!(why(&told(None)), "nothing came within 100 ms");
}

#[test]
fn a_server_that_closes_or_babbles_gives_no_verdict() {
    assert_eq!(why(&told(Some(b""))), "it closed the connection");
    assert_eq!(
        why(&told(Some(b"hello there\r\n\r\n"))),
        "invalid HTTP version"
    );
    let cut = b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{}";
    assert_eq!(
        why(&told(Some(cut))),
        "it ended in the middle of its answer"
    );
    let broken = b"HTTP/1.1 503 x\r\ncontent-length: 2\r\n\r\n{}";
    assert_eq!(why(&told(Some(broken))), "status 503: {}");
}

#[test]
fn a_refused_request_is_the_events_fault() {
    let refused = b"HTTP/1.1 400 x\r\ncontent-length: 20\r\n\r\n{\"detail\":\"no type\"}";
    let error = told(Some(refused));
    assert!(!error.is_no_answer());
    assert_eq!(error.to_string(), "the server refused it (400): no type");
}

#[test]
fn a_hook_went_unchecked_while_a_server_was_starting_or_ending() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(&folder);
    options.deadline = Duration::from_secs(30);
    // The owner does not listen, as at its start and at its end; then it is gone.
    let owner = Guard::builder().owned_file(&options.db).build().unwrap();
    let link = LazyLink::new(options);
    let asked = std::thread::spawn(move || link.check_as(Role::Hook, delete(1)));
    #[expect(
        clippy::disallowed_methods,
        reason = "the hook has to find the store taken first"
    )]
    std::thread::sleep(Duration::from_millis(100));
    drop(owner);
    let verdict = asked.join().unwrap().unwrap();
    assert_eq!(verdict.decision, Decision::Allow);
}
