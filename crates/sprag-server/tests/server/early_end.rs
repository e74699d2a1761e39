//! A server that is asked to end right after its first answer.

use std::future::poll_fn;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use sprag_server::Server;

use crate::test_server::config;

#[test]
fn a_server_once_answered_before_it_could_hear_that_it_has_to_end() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::bind(config(home.path())).unwrap();
    let address = server.address();
    let listens = Arc::new(AtomicBool::new(false));
    let ends = Arc::new(AtomicBool::new(false));
    let (listening, ending) = (Arc::clone(&listens), Arc::clone(&ends));
    let until = poll_fn(move |context| {
        // Setting up signal handlers, slowly.
        if !listening.load(Ordering::SeqCst) {
            std::thread::park_timeout(Duration::from_millis(200));
            listening.store(true, Ordering::SeqCst);
        }
        context.waker().wake_by_ref();
        if ending.load(Ordering::SeqCst) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    });
    let thread = std::thread::spawn(move || server.run(until));
    let mut client = TcpStream::connect(address).unwrap();
    client
        .write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(listens.load(Ordering::SeqCst));
    ends.store(true, Ordering::SeqCst);
    thread.join().unwrap().unwrap();
}
