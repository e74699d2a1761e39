//! A decision as a span.

use std::collections::HashMap;
use std::time::{Duration, SystemTime};

use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::{Span as _, SpanBuilder, SpanContext, SpanKind, Tracer as _};
use opentelemetry::{Array, Context, KeyValue, StringValue, Value};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracer;
use sprag_core::{Id, Observed};
use sprag_store::Record;

use super::{ExportedDecision, names};

/// Hands a decision to the tracer, and answers which span it became.
pub(super) fn export(decided: &ExportedDecision, tracer: &SdkTracer) -> Option<SpanContext> {
    let record = &decided.record;
    let what = &record.observation()?.what;
    let start = started(record);
    let builder = SpanBuilder::from_name(name(what))
        .with_kind(SpanKind::Internal)
        .with_start_time(start)
        .with_attributes(attributes(record, what));
    let parent = context(decided.parent.as_deref());
    let mut span = tracer.build_with_context(builder, &parent);
    let context = span.span_context().clone();
    span.end_with_timestamp(start + decided.took);
    Some(context)
}

pub(super) fn started(record: &Record) -> SystemTime {
    let since_epoch = Duration::from_millis(record.at.0);
    SystemTime::UNIX_EPOCH
        .checked_add(since_epoch)
        .unwrap_or(SystemTime::UNIX_EPOCH)
}

/// The caller's span; the root where there is none, or it can't be read.
fn context(traceparent: Option<&str>) -> Context {
    let Some(traceparent) = traceparent else {
        return Context::new();
    };
    let headers = HashMap::from([("traceparent".to_owned(), traceparent.to_owned())]);
    TraceContextPropagator::new().extract_with_context(&Context::new(), &headers)
}

fn tool(what: &Observed) -> Option<&Id> {
    match what {
        Observed::Call(call) => call.approach.tool.as_ref(),
        Observed::Step(step) => step.approach.as_ref()?.tool.as_ref(),
        _ => None,
    }
}

/// Only the call is the tool call; everything else keeps out of its name.
fn name(what: &Observed) -> String {
    match (what, tool(what)) {
        (Observed::Call(_), Some(tool)) => format!("{} {tool}", names::EXECUTE_TOOL),
        _ => format!("sprag {}", what.kind()),
    }
}

pub(super) fn attributes(record: &Record, what: &Observed) -> Vec<KeyValue> {
    let verdict = &record.verdict;
    let mut all = vec![
        KeyValue::new(names::CONVERSATION, what.session().to_string()),
        KeyValue::new(names::EVENT, what.kind()),
        KeyValue::new(names::VERDICT, verdict.decision.as_str()),
        KeyValue::new(names::GENERATION, i64::from(verdict.generation)),
        KeyValue::new(names::SEQ, i64::try_from(record.seq).unwrap_or(i64::MAX)),
    ];
    let mut put = |name: &'static str, value: Option<Value>| {
        all.extend(value.map(|value| KeyValue::new(name, value)));
    };
    let text = |id: Option<&Id>| id.map(|id| Value::from(id.to_string()));
    if matches!(what, Observed::Call(_)) {
        put(names::OPERATION, Some(names::EXECUTE_TOOL.into()));
    }
    put(names::AGENT, text(what.agent()));
    put(names::TOOL, text(tool(what)));
    match what {
        Observed::Call(call) => {
            put(names::SERVER, text(call.approach.server.as_ref()));
            put(
                names::TOOL_CALL,
                text(call.use_id.as_ref().or(call.id.as_ref())),
            );
        }
        Observed::Step(step) => {
            put(
                names::TOOL_CALL,
                text(step.use_id.as_ref().or(step.id.as_ref())),
            );
        }
        Observed::Message(message) => put(names::TO, text(Some(&message.to))),
        _ => {}
    }
    put(names::FLOW, text(verdict.flow.as_ref()));
    put(
        names::DEPTH,
        verdict.depth.map(|depth| i64::from(depth).into()),
    );
    put(names::RULE, verdict.rule.map(|rule| rule.as_str().into()));
    let also = verdict
        .also
        .iter()
        .map(|rule| StringValue::from(rule.as_str()));
    let also: Vec<StringValue> = also.collect();
    put(
        names::ALSO,
        (!also.is_empty()).then_some(Value::Array(Array::String(also))),
    );
    if let Some(would) = &verdict.would {
        put(names::SHADOW_VERDICT, Some(would.decision.as_str().into()));
        put(names::SHADOW_RULE, Some(would.rule.as_str().into()));
    }
    all
}
