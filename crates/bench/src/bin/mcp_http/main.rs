//! What the proxy costs against a bare hyper reverse proxy, in the same run: time and CPU of a round trip.
//!
//! `cargo run --release -p sprag-bench --features adapters --bin mcp_http [ROUND TRIPS]`
//!
//! `… mcp_http streams [COUNT]` holds so many streams open at once, and tells what the proxy needs for them and
//! what is left of it when they are gone.
//!
//! The server, both proxies and this client are processes of their own, so that the CPU of each can be read. Rounds
//! alternate, so that what else the machine does meets both alike. The guard keeps everything in memory, as in
//! `sprag serve`; each call is a new one, as in honest work.

mod streams;

use std::convert::Infallible;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::pin::Pin;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::{BodyExt as _, Either, Full};
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo};
use sprag::Guard;
use sprag_http::{Hosts, Listener, ListenerOptions, limits};
use sprag_mcp::http::{Proxy, ProxyConfig, ProxyOptions};
use sprag_mcp::{LogSink, VerdictSource};
use tokio::net::TcpListener;

/// All processes have what the `sprag` binary has.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        ["server"] => serve(),
        ["bare", url] => bare(url.parse()?),
        ["ours", url] => ours(url),
        ["streams"] => streams::hold(9_900),
        ["streams", count] => streams::hold(count.parse()?),
        [] => measure(20_000),
        [trips] => measure(trips.parse()?),
        _ => Err("mcp_http [ROUND TRIPS | streams [COUNT]]".into()),
    }
}

fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    Ok(builder.worker_threads(2).enable_all().build()?)
}

fn tell(address: SocketAddr) -> Result<(), Failure> {
    let mut out = std::io::stdout();
    writeln!(out, "{address}")?;
    Ok(out.flush()?)
}

/// A server that answers each call with a result of its own, as JSON or as an event.
fn serve() -> Result<(), Failure> {
    runtime()?.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        tell(listener.local_addr()?)?;
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            tokio::spawn(
                http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer)),
            );
        }
    })
}

/// An event, and then nothing for as long as the other side waits.
struct Held(Option<Bytes>);

impl Body for Held {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.0.take() {
            Some(event) => Poll::Ready(Some(Ok(Frame::data(event)))),
            None => Poll::Pending,
        }
    }
}

type HeldResponse = Response<Either<Full<Bytes>, Held>>;

async fn answer(request: Request<Incoming>) -> Result<HeldResponse, hyper::Error> {
    let as_event = request.headers().contains_key("x-event");
    let is_held = request.headers().contains_key("x-hold");
    let body = request.into_body().collect().await?.to_bytes();
    let call: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
    let id = call
        .get("id")
        .and_then(serde_json::Value::as_u64)
        .unwrap_or_default();
    let text = "word ".repeat(100);
    let message = format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"result {id}: {text}"}}]}}}}"#
    );
    let (kind, message) = if as_event || is_held {
        (
            "text/event-stream",
            format!("event: message\ndata: {message}\n\n"),
        )
    } else {
        ("application/json", message)
    };
    let body = if is_held {
        Either::Right(Held(Some("data: {\"begun\":true}\n\n".into())))
    } else {
        Either::Left(Full::from(message))
    };
    let mut response = Response::new(body);
    let kind = hyper::header::HeaderValue::from_static(kind);
    response
        .headers_mut()
        .insert(hyper::header::CONTENT_TYPE, kind);
    Ok(response)
}

/// A reverse proxy that does nothing but pass on.
fn bare(url: Uri) -> Result<(), Failure> {
    runtime()?.block_on(async {
        let client = Client::builder(TokioExecutor::new()).build_http::<Incoming>();
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        tell(listener.local_addr()?)?;
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let (client, url) = (client.clone(), url.clone());
            let service = service_fn(move |mut request: Request<Incoming>| {
                *request.uri_mut() = url.clone();
                request.headers_mut().remove(hyper::header::HOST);
                client.request(request)
            });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    })
}

/// The proxy.
fn ours(url: &str) -> Result<(), Failure> {
    let options = ProxyOptions {
        hosts: Some(Hosts::new("127.0.0.1".parse()?, &[])),
        guard_waits: false,
        ..ProxyOptions::new(ProxyConfig::single(url)?, "measure".to_owned())
    };
    let source: Arc<dyn VerdictSource> = Arc::new(Guard::in_memory()?);
    let quiet: Arc<LogSink> = Arc::new(Box::new(|_| {}));
    let proxy = Arc::new(Proxy::new(options, &source, &quiet)?);
    let listener = Listener::bind(&ListenerOptions {
        address: "127.0.0.1:0".parse()?,
        behind_tls_proxy: false,
        connections: limits::CONNECTIONS,
    })?;
    tell(listener.address())?;
    Ok(runtime()?.block_on(listener.run(proxy, std::future::pending()))?)
}

/// One of the processes.
struct Process {
    child: Child,
    address: SocketAddr,
}

impl Process {
    fn start(args: &[&str]) -> Result<Self, Failure> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(args)
            .stdout(Stdio::piped())
            .spawn()?;
        let out = child.stdout.take().ok_or("no output")?;
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line)?;
        let address = line.trim().parse()?;
        Ok(Self { child, address })
    }

    /// CPU time so far, in hundredths of a second.
    fn cpu(&self) -> Result<u64, Failure> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let (_, rest) = stat.rsplit_once(") ").ok_or("no such process")?;
        let mut fields = rest.split(' ').skip(11);
        let mut next = || fields.next().unwrap_or_default().parse::<u64>();
        Ok(next()? + next()?)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A caller with a connection of its own, who waits for each answer.
#[expect(clippy::disallowed_methods, reason = "this measures time")]
fn call(
    address: SocketAddr,
    who: u64,
    trips: u64,
    as_event: bool,
) -> Result<Vec<Duration>, Failure> {
    let mut to = TcpStream::connect(address)?;
    to.set_nodelay(true)?;
    let mut from = BufReader::new(to.try_clone()?);
    let event = if as_event { "x-event: 1\r\n" } else { "" };
    let mut times = Vec::new();
    for n in 0..trips {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":{n},"method":"tools/call","params":{{"name":"read_file","arguments":{{"path":"src/{who}/{n}.rs","lines":40}}}}}}"#
        );
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer t{who}\r\ncontent-type: application/json\r\n{event}content-length: {}\r\n\r\n",
            body.len()
        );
        let request = format!("{head}{body}");
        let start = std::time::Instant::now();
        to.write_all(request.as_bytes())?;
        read_answer(&mut from)?;
        times.push(start.elapsed());
    }
    Ok(times)
}

fn read_answer(from: &mut BufReader<TcpStream>) -> Result<(), Failure> {
    let (mut length, mut is_chunked) = (0, false);
    loop {
        let mut line = String::new();
        from.read_line(&mut line)?;
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.parse()?;
        }
        is_chunked |= line == "transfer-encoding: chunked";
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body)?;
    while is_chunked {
        let mut line = String::new();
        from.read_line(&mut line)?;
        let size = usize::from_str_radix(line.trim_end(), 16)?;
        let mut chunk = vec![0; size + 2];
        from.read_exact(&mut chunk)?;
        is_chunked = size > 0;
    }
    Ok(())
}

/// The ratios for the script that records them.
fn figures(as_event: bool, p50: f64, cpu: f64) -> Result<(), Failure> {
    let form = if as_event { ".events" } else { "" };
    let mut out = std::io::stdout();
    Ok(writeln!(
        out,
        "figure mcp-http{form}.p50_ratio {p50:.3}\nfigure mcp-http{form}.cpu_ratio {cpu:.3}"
    )?)
}

fn measure(trips: u64) -> Result<(), Failure> {
    const ROUNDS: u64 = 5;
    const CALLERS: u64 = 4;
    let server = Process::start(&["server"])?;
    let url = format!("http://{}/mcp", server.address);
    let proxies = [
        Process::start(&["bare", &url])?,
        Process::start(&["ours", &url])?,
    ];
    let mut out = std::io::stdout();
    for as_event in [false, true] {
        let mut told = Vec::new();
        for proxy in &proxies {
            call(proxy.address, 1_000_000, 500, as_event)?;
        }
        let mut times: [Vec<Duration>; 2] = [Vec::new(), Vec::new()];
        let mut ticks = [0, 0];
        for round in 0..ROUNDS {
            for ((proxy, times), ticks) in proxies.iter().zip(&mut times).zip(&mut ticks) {
                let before = proxy.cpu()?;
                times.extend(call(proxy.address, round, trips / ROUNDS, as_event)?);
                let callers: Vec<_> = (0..CALLERS)
                    .map(|caller| {
                        let (address, who) = (proxy.address, 100 + round * CALLERS + caller);
                        std::thread::spawn(move || {
                            call(address, who, trips / ROUNDS / CALLERS, as_event)
                        })
                    })
                    .collect();
                for caller in callers {
                    caller.join().map_err(|_| "a caller broke")??;
                }
                *ticks += proxy.cpu()? - before;
            }
        }
        for (times, ticks) in times.iter_mut().zip(ticks) {
            times.sort();
            let p50 = times.get(times.len() / 2).copied().unwrap_or_default();
            told.push((
                p50,
                Duration::from_millis(ticks * 10) / u32::try_from(trips * 2)?,
            ));
        }
        let form = if as_event { "events" } else { "json" };
        if let [(bare, bare_cpu), (ours, ours_cpu)] = told.as_slice() {
            let ratio = |a: &Duration, b: &Duration| a.as_secs_f64() / b.as_secs_f64();
            writeln!(
                out,
                "{form:6} p50 bare {bare:?} ours {ours:?} = {:.2}x; CPU a request bare {bare_cpu:?} ours {ours_cpu:?} = {:.2}x",
                ratio(ours, bare),
                ratio(ours_cpu, bare_cpu)
            )?;
            figures(as_event, ratio(ours, bare), ratio(ours_cpu, bare_cpu))?;
        }
    }
    Ok(())
}
