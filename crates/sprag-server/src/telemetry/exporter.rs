//! The thread that turns decisions into spans and log records, and owns the exporters.
//!
//! The exporters block and hold a runtime of their own, so they live and end on this thread and never inside
//! anybody's async code.

use std::collections::HashMap;
use std::sync::mpsc::Receiver;
use std::thread::JoinHandle;
use std::time::Duration;

use opentelemetry::logs::LoggerProvider as _;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{
    ExporterBuildError, LogExporter, SpanExporter, WithExportConfig as _, WithHttpConfig as _,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::logs::SdkLoggerProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;
use sprag_http::outbound;

use super::settings::{TelemetryError, TelemetrySettings};
use super::{ExportedDecision, log_records, spans};

/// How long the end waits for what is still to be sent.
const LAST_CALL: Duration = Duration::from_millis(500);
const SCOPE: &str = "sprag";

/// Where things go.
struct Exporters {
    traces: Option<SdkTracerProvider>,
    logs: Option<SdkLoggerProvider>,
}

/// Starts the thread. It ends when the queue does.
pub(super) fn run(
    settings: &TelemetrySettings,
    decisions: Receiver<ExportedDecision>,
) -> Result<JoinHandle<()>, TelemetryError> {
    outbound::choose_tls();
    let exporters = Exporters::new(settings)?;
    std::thread::Builder::new()
        .name("sprag-otlp".to_owned())
        .spawn(move || exporters.work(&decisions))
        .map_err(TelemetryError::Thread)
}

impl Exporters {
    fn new(settings: &TelemetrySettings) -> Result<Self, TelemetryError> {
        let headers: HashMap<_, _> = settings.headers.iter().cloned().collect();
        let refused = |endpoint: &str, error: ExporterBuildError| TelemetryError::Exporter {
            endpoint: endpoint.to_owned(),
            why: error.to_string(),
        };
        let traces = settings.traces.as_deref().map(|endpoint| {
            let exporter = SpanExporter::builder()
                .with_http()
                .with_endpoint(endpoint)
                .with_headers(headers.clone())
                .build()
                .map_err(|error| refused(endpoint, error))?;
            Ok(SdkTracerProvider::builder()
                .with_batch_exporter(exporter)
                .with_resource(resource(settings))
                .build())
        });
        let logs = settings.logs.as_deref().map(|endpoint| {
            let exporter = LogExporter::builder()
                .with_http()
                .with_endpoint(endpoint)
                .with_headers(headers.clone())
                .build()
                .map_err(|error| refused(endpoint, error))?;
            Ok(SdkLoggerProvider::builder()
                .with_batch_exporter(exporter)
                .with_resource(resource(settings))
                .build())
        });
        Ok(Self {
            traces: traces.transpose()?,
            logs: logs.transpose()?,
        })
    }

    fn work(&self, decisions: &Receiver<ExportedDecision>) {
        let tracer = self.traces.as_ref().map(|traces| traces.tracer(SCOPE));
        let logger = self.logs.as_ref().map(|logs| logs.logger(SCOPE));
        for decided in decisions {
            let span = tracer
                .as_ref()
                .and_then(|tracer| spans::export(&decided, tracer));
            if let Some(logger) = &logger {
                log_records::export(&decided.record, span.as_ref(), logger);
            }
        }
        self.end();
    }

    fn end(&self) {
        let traces = self
            .traces
            .as_ref()
            .map(|traces| traces.shutdown_with_timeout(LAST_CALL));
        let logs = self
            .logs
            .as_ref()
            .map(|logs| logs.shutdown_with_timeout(LAST_CALL));
        for error in [traces, logs].into_iter().flatten().filter_map(Result::err) {
            tracing::warn!(target: "sprag", "the last decisions were not exported: {error}");
        }
    }
}

fn resource(settings: &TelemetrySettings) -> Resource {
    let builder = Resource::builder();
    match &settings.service {
        Some(name) => builder.with_service_name(name.clone()).build(),
        None => builder.build(),
    }
}
