//! A verdict above `allow` as a log record, with the words of the human log line.

use opentelemetry::logs::{AnyValue, LogRecord as _, Logger as _, Severity};
use opentelemetry::trace::SpanContext;
use opentelemetry::{Array, Value};
use opentelemetry_sdk::logs::SdkLogger;
use sprag_core::Decision;
use sprag_store::Record;
use tracing::Level;

use super::spans::{attributes, started};
use crate::log_lines::line;

/// Hands a verdict to the logger, tied to the span that it belongs to.
pub(super) fn export(record: &Record, span: Option<&SpanContext>, logger: &SdkLogger) {
    if record.verdict.decision == Decision::Allow {
        return;
    }
    let (Some(line), Some(observation)) = (line(record), record.observation()) else {
        return;
    };
    let mut log = logger.create_log_record();
    log.set_timestamp(started(record));
    let (number, word) = match line.level {
        Level::ERROR => (Severity::Error, "ERROR"),
        Level::WARN => (Severity::Warn, "WARN"),
        _ => (Severity::Info, "INFO"),
    };
    log.set_severity_number(number);
    log.set_severity_text(word);
    log.set_body(AnyValue::from(line.text));
    for pair in attributes(record, &observation.what) {
        log.add_attribute(pair.key, any(pair.value));
    }
    if let Some(span) = span {
        log.set_trace_context(span.trace_id(), span.span_id(), Some(span.trace_flags()));
    }
    logger.emit(log);
}

fn any(value: Value) -> AnyValue {
    match value {
        Value::Bool(value) => value.into(),
        Value::I64(value) => value.into(),
        Value::F64(value) => value.into(),
        Value::Array(Array::String(values)) => {
            AnyValue::ListAny(Box::new(values.into_iter().map(AnyValue::from).collect()))
        }
        other => AnyValue::from(other.as_str().into_owned()),
    }
}
