//! What the gateway adds to a streamed answer, against a bare proxy over the same client library, and
//! how it stands many streams at once. Everything runs in this process, so that one clock measures.
//!
//! `cargo run --release -p sprag-bench --features adapters --bin gateway_load [ANSWERS] [STREAMS]`

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it measures, and prints what it measured"
)]

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::{Request, Response};
use sprag::Guard;
use sprag_gateway::{Gateway, GatewayOptions, Upstreams};
use sprag_http::{Handler, Listener, ListenerOptions};
use tokio::time::{Interval, interval};

/// Events of an answer.
const EVENTS: u32 = 40;
/// The time between two of them.
const PACE: Duration = Duration::from_millis(5);

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A model that says the time.
struct Model {
    start: Instant,
}

struct WordsBody {
    start: Instant,
    pace: Interval,
    said: u32,
}

impl Body for WordsBody {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        if self.said >= EVENTS {
            return Poll::Ready(None);
        }
        if self.pace.poll_tick(context).is_pending() {
            return Poll::Pending;
        }
        self.said += 1;
        let now = self.start.elapsed().as_micros();
        let event = match self.said {
            1 => r#"{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"usage":{"input_tokens":1}}}"#.to_owned(),
            n if n == EVENTS => r#"{"type":"message_stop"}"#.to_owned(),
            _ => format!(r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"at {now} "}}}}"#),
        };
        // A comment carries the time, so that no reader has to know the API.
        let bytes = format!(": {now}\ndata: {event}\n\n");
        Poll::Ready(Some(Ok(Frame::data(bytes.into()))))
    }
}

impl Handler for Model {
    type Body = WordsBody;

    async fn answer(self: Arc<Self>, _: Request<Incoming>) -> Response<WordsBody> {
        let words = WordsBody {
            start: self.start,
            pace: interval(PACE),
            said: 0,
        };
        let mut response = Response::new(words);
        let media = hyper::header::HeaderValue::from_static("text/event-stream");
        response
            .headers_mut()
            .insert(hyper::header::CONTENT_TYPE, media);
        response
    }
}

/// A proxy that does nothing else.
struct Bare {
    client: reqwest::Client,
    upstream: String,
}

impl Handler for Bare {
    type Body = reqwest::Body;

    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Response<reqwest::Body> {
        let (head, body) = request.into_parts();
        let path = head.uri.path().trim_start_matches("/anthropic").to_owned();
        let asked = self
            .client
            .post(format!("{}{path}", self.upstream))
            .body(reqwest::Body::wrap(body));
        match asked.send().await {
            Ok(answer) => answer.into(),
            Err(_) => Response::new(reqwest::Body::from("broken")),
        }
    }
}

fn serve<H: Handler + 'static>(handler: Arc<H>) -> Result<SocketAddr, Failure> {
    let listener = Listener::bind(&ListenerOptions {
        address: ([127, 0, 0, 1], 0).into(),
        behind_tls_proxy: false,
        connections: 8192,
    })?;
    let address = listener.address();
    tokio::spawn(listener.run(handler, std::future::pending()));
    Ok(address)
}

/// What one answer took: until its first byte, and for each event from the model to the client.
async fn ask(
    client: reqwest::Client,
    url: String,
    session: usize,
    start: Instant,
) -> Result<(u128, Vec<u128>), Failure> {
    let body = r#"{"model":"m","stream":true,"tools":[{"name":"Bash"}],"messages":[{"role":"user","content":"go"}]}"#;
    let asked = Instant::now();
    let request = client
        .post(url)
        .header("x-sprag-session", session.to_string());
    let mut answer = request.body(body).send().await?;
    let (mut first, mut late, mut text) = (None, Vec::new(), String::new());
    while let Some(piece) = answer.chunk().await? {
        let now = start.elapsed().as_micros();
        first.get_or_insert_with(|| asked.elapsed().as_micros());
        text.push_str(&String::from_utf8_lossy(&piece));
        while let Some(end) = text.find("\n\n") {
            let event: String = text.drain(..end + 2).collect();
            let sent = event
                .strip_prefix(": ")
                .and_then(|rest| rest.split('\n').next());
            let sent: u128 = sent.unwrap_or_default().parse()?;
            late.push(now.saturating_sub(sent));
        }
    }
    Ok((first.ok_or("no answer")?, late))
}

/// The value below which this many of a thousand are.
fn at(values: &mut [u128], of_thousand: usize) -> u128 {
    values.sort_unstable();
    let index = values.len().saturating_sub(1).saturating_mul(of_thousand) / 1000;
    values.get(index).copied().unwrap_or_default()
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut numbers = std::env::args()
        .skip(1)
        .filter_map(|word| word.parse().ok());
    let (answers, streams): (usize, usize) =
        (numbers.next().unwrap_or(50), numbers.next().unwrap_or(1000));
    let start = Instant::now();
    let model = serve(Arc::new(Model { start }))?;
    let client = sprag_http::outbound::client().no_proxy().build()?;
    let bare = serve(Arc::new(Bare {
        client: client.clone(),
        upstream: format!("http://{model}"),
    }))?;
    let mut upstreams = Upstreams::real()?;
    upstreams.set("anthropic", &format!("http://{model}"))?;
    let guard = Guard::builder().build()?;
    let log = Box::new(|what: std::fmt::Arguments<'_>| eprintln!("gateway: {what}"));
    let gateway = Gateway::new(GatewayOptions::new(upstreams), Box::new(guard), log)?;
    let gateway = serve(Arc::new(gateway))?;
    let ways = [
        ("past it", model, ""),
        ("bare proxy", bare, "/anthropic"),
        ("gateway", gateway, "/anthropic"),
    ];
    one_by_one(&client, &ways, answers, start).await?;
    for way in ways.into_iter().skip(1) {
        at_once(&client, way, streams, start).await?;
    }
    Ok(())
}

type Way = (&'static str, SocketAddr, &'static str);

async fn one_by_one(
    client: &reqwest::Client,
    ways: &[Way],
    answers: usize,
    start: Instant,
) -> Result<(), Failure> {
    println!("microseconds                 first byte p50    p99   each event p50    p99");
    let mut session = 0;
    let mut found: Vec<(Vec<u128>, Vec<u128>)> = vec![Default::default(); ways.len()];
    // Each in turn, so that a slow moment of the machine meets all of them.
    for _ in 0..answers {
        for ((_, address, mount), (firsts, all)) in ways.iter().zip(&mut found) {
            session += 1;
            let url = format!("http://{address}{mount}/v1/messages");
            let (first, late) = ask(client.clone(), url, session, start).await?;
            firsts.push(first);
            all.extend(late);
        }
    }
    for ((name, ..), (firsts, all)) in ways.iter().zip(&mut found) {
        println!(
            "{name:<28} {:>14} {:>6} {:>16} {:>6}",
            at(firsts, 500),
            at(firsts, 990),
            at(all, 500),
            at(all, 990)
        );
    }
    Ok(())
}

async fn at_once(
    client: &reqwest::Client,
    (name, address, mount): Way,
    streams: usize,
    start: Instant,
) -> Result<(), Failure> {
    let began = Instant::now();
    let tasks: Vec<_> = (0..streams)
        .map(|stream| {
            let url = format!("http://{address}{mount}/v1/messages");
            tokio::spawn(ask(client.clone(), url, 1_000_000 + stream, start))
        })
        .collect();
    let (mut whole, mut all) = (0, Vec::new());
    for task in tasks {
        let (_, late) = task.await??;
        whole += usize::from(late.len() == usize::try_from(EVENTS)?);
        all.extend(late);
    }
    println!(
        "{streams} at once, {name}: {whole} whole in {} ms; each event p50 {} us, p99 {} us",
        began.elapsed().as_millis(),
        at(&mut all, 500),
        at(&mut all, 990)
    );
    Ok(())
}
