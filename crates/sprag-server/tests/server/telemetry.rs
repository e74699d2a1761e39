//! Decisions reach a real OTLP receiver, which reads the protobuf.

use std::sync::Arc;
use std::time::Duration;

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value::Value};
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use serde_json::json;
use sprag_server::metrics::Metrics;
use sprag_server::telemetry::{Telemetry, TelemetrySettings};

use crate::guard_fixture::GuardFixture;
use crate::receiver::Receiver;

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

fn settings(traces: &Receiver, logs: &Receiver) -> TelemetrySettings {
    TelemetrySettings {
        traces: Some(traces.url("/v1/traces")),
        logs: Some(logs.url("/v1/logs")),
        service: Some("sprag".to_owned()),
        headers: vec![("x-key".to_owned(), "k".to_owned())],
    }
}

fn text(value: Option<&AnyValue>) -> String {
    match value.and_then(|value| value.value.as_ref()) {
        Some(Value::StringValue(text)) => text.clone(),
        Some(Value::IntValue(number)) => number.to_string(),
        other => format!("{other:?}"),
    }
}

fn attributes(all: &[KeyValue]) -> Vec<String> {
    let mut lines: Vec<_> = all
        .iter()
        .map(|pair| format!("  {} = {}", pair.key, text(pair.value.as_ref())))
        .collect();
    lines.sort();
    lines
}

fn shown(span: &Span) -> String {
    let took = span.end_time_unix_nano - span.start_time_unix_nano;
    let head = format!("{} (kind {}, {took} ns)", span.name, span.kind);
    let mut lines = vec![head];
    lines.extend(attributes(&span.attributes));
    lines.join("\n")
}

fn shown_log(log: &LogRecord) -> String {
    let mut lines = vec![format!(
        "{}: {}",
        log.severity_text,
        text(log.body.as_ref())
    )];
    lines.extend(attributes(&log.attributes));
    lines.join("\n")
}

#[test]
fn a_decision_is_a_span_and_a_refusal_a_log_record_within_it() {
    let (traces, logs) = (Receiver::answering(&[]), Receiver::answering(&[]));
    let fixture = GuardFixture::new("rules = { \"call.repeat\" = \"shadow\" }\ncall.repeat = 1");
    let metrics = Arc::new(Metrics::new());
    let telemetry = Telemetry::start(&settings(&traces, &logs), metrics)
        .unwrap()
        .unwrap();
    fixture.tell(json!({"type": "message", "to": "s1", "flow": "f"}));
    fixture.tell(json!({"type": "message", "from": "s1", "to": "s1", "flow": "f"}));
    for n in 1..=3 {
        fixture.tell(json!({"type": "call", "session": "s1", "agent": "cleaner", "server": "catalog",
            "tool": "delete_asset", "use_id": format!("toolu_0{n}"), "id": format!("t{n}"), "args": {"asset_id": "fact_sales"}}));
    }
    fixture.tell(json!({"type": "step", "session": "s1", "id": "t1", "result": "x"}));
    let parents = [Some(PARENT), Some("nonsense"), None].into_iter().cycle();
    for (record, parent) in fixture.records().iter().zip(parents) {
        telemetry.decided(record, Duration::from_micros(12), parent);
    }
    telemetry.stop();

    let request = traces.next();
    assert_eq!(request.path, "/v1/traces");
    assert_eq!(request.headers["content-type"], "application/x-protobuf");
    assert_eq!(request.headers["x-key"], "k");
    let got = ExportTraceServiceRequest::decode(&*request.body).unwrap();
    let resource = got.resource_spans[0].resource.as_ref().unwrap();
    assert!(attributes(&resource.attributes).contains(&"  service.name = sprag".to_owned()));
    let spans = &got.resource_spans[0].scope_spans[0].spans;
    let all: Vec<_> = spans.iter().map(shown).collect();
    insta::assert_snapshot!("spans", all.join("\n"));

    let trace = u128::from_str_radix("0af7651916cd43dd8448eb211c80319c", 16)
        .unwrap()
        .to_be_bytes();
    let parent = u64::from_str_radix("b7ad6b7169203331", 16)
        .unwrap()
        .to_be_bytes();
    let under = |span: &&Span| span.trace_id == trace && span.parent_span_id == parent;
    assert_eq!(spans.iter().filter(under).count(), spans.len().div_ceil(3));
    let roots = spans.iter().filter(|span| span.parent_span_id.is_empty());
    assert_eq!(roots.count(), spans.len() - spans.len().div_ceil(3));

    let got = ExportLogsServiceRequest::decode(&*logs.next().body).unwrap();
    let records = &got.resource_logs[0].scope_logs[0].log_records;
    let all: Vec<_> = records.iter().map(shown_log).collect();
    insta::assert_snapshot!("logs", all.join("\n"));
    for log in records {
        let span = spans.iter().find(|span| span.span_id == log.span_id);
        assert_eq!(span.unwrap().trace_id, log.trace_id);
    }
}

#[test]
fn a_receiver_that_does_not_answer_holds_no_decision_up() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let traces = format!("http://{}/v1/traces", silent.local_addr().unwrap());
    let settings = TelemetrySettings {
        traces: Some(traces),
        ..TelemetrySettings::default()
    };
    let metrics = Arc::new(Metrics::new());
    let telemetry = Telemetry::start(&settings, Arc::clone(&metrics))
        .unwrap()
        .unwrap();
    let fixture = GuardFixture::new("");
    fixture.tell(json!({"type": "call", "session": "s", "tool": "look"}));
    let record = fixture.records().remove(0);
    for _ in 0..100_000 {
        telemetry.decided(&record, Duration::ZERO, None);
    }
}

#[test]
fn nothing_is_started_where_nothing_is_asked_for() {
    let metrics = Arc::new(Metrics::new());
    let off = Telemetry::start(&TelemetrySettings::default(), metrics);
    assert!(off.unwrap().is_none());
}
