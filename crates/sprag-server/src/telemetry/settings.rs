//! What the standard `OTEL_*` variables ask for.
//!
//! Where decisions go is read here, so that it is known whether to export at all; headers, timeouts, resource
//! attributes, samplers and batch sizes are read by the exporter itself, as its documentation says.

/// Where decisions go.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TelemetrySettings {
    /// Where spans go; none where they are not exported.
    pub traces: Option<String>,
    /// Where log records go; none where they are not exported.
    pub logs: Option<String>,
    /// The name of this service; none where the variables name it.
    pub service: Option<String>,
    /// Headers besides those that the variables name.
    pub headers: Vec<(String, String)>,
}

/// Why nothing can be exported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TelemetryError {
    /// A protocol that this build does not speak.
    #[error("{variable} is `{protocol}`; only `http/protobuf` can be spoken")]
    Protocol {
        /// Which variable says so.
        variable: &'static str,
        /// What it says.
        protocol: String,
    },
    /// This build has no exporter.
    #[error(
        "the OTEL_* variables ask for an export, but this build has no exporter; build with the feature `otlp` or unset them"
    )]
    NotBuilt,
    /// The exporter can't be made.
    #[error("decisions can't be exported to {endpoint}: {why}")]
    Exporter {
        /// Where to.
        endpoint: String,
        /// What is wrong.
        why: String,
    },
    /// The thread that exports can't be started.
    #[error("the thread that exports decisions can't be started: {0}")]
    Thread(std::io::Error),
}

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const LOCAL: &str = "http://localhost:4318";

/// One kind of telemetry and the variables that rule it.
struct Signal {
    endpoint: &'static str,
    exporter: &'static str,
    protocol: &'static str,
    path: &'static str,
}

const TRACES: Signal = Signal {
    endpoint: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    exporter: "OTEL_TRACES_EXPORTER",
    protocol: "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
    path: "v1/traces",
};

const LOGS: Signal = Signal {
    endpoint: "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
    exporter: "OTEL_LOGS_EXPORTER",
    protocol: "OTEL_EXPORTER_OTLP_LOGS_PROTOCOL",
    path: "v1/logs",
};

impl Signal {
    fn endpoint(
        &self,
        variable: &impl Fn(&str) -> Option<String>,
    ) -> Result<Option<String>, TelemetryError> {
        let exporter = variable(self.exporter);
        let wanted = exporter.as_deref().map(|names| {
            let mut names = names.split(',').map(str::trim);
            names.any(|name| name == "otlp")
        });
        let joined = |base: &str| format!("{}/{}", base.trim_end_matches('/'), self.path);
        let place = variable(self.endpoint)
            .or_else(|| variable(ENDPOINT).map(|base| joined(&base)))
            .or_else(|| (wanted == Some(true)).then(|| joined(LOCAL)));
        let place = place.filter(|_| wanted != Some(false));
        if place.is_some() {
            self.check_protocol(variable)?;
        }
        Ok(place)
    }

    fn check_protocol(
        &self,
        variable: &impl Fn(&str) -> Option<String>,
    ) -> Result<(), TelemetryError> {
        for name in [self.protocol, "OTEL_EXPORTER_OTLP_PROTOCOL"] {
            match variable(name) {
                None => {}
                Some(protocol) if protocol == "http/protobuf" => return Ok(()),
                Some(protocol) => {
                    return Err(TelemetryError::Protocol {
                        variable: name,
                        protocol,
                    });
                }
            }
        }
        Ok(())
    }
}

impl TelemetrySettings {
    /// Reads the variables; `variable` answers one of them, and none for one that is empty.
    ///
    /// # Errors
    /// Returns an error if they ask for a protocol that this build does not speak.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, TelemetryError> {
        let disabled = variable("OTEL_SDK_DISABLED");
        if disabled.is_some_and(|word| word.eq_ignore_ascii_case("true")) {
            return Ok(Self::default());
        }
        let attributes = variable("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default();
        let named = variable("OTEL_SERVICE_NAME").is_some()
            || attributes
                .split(',')
                .any(|pair| pair.trim().starts_with("service.name="));
        Ok(Self {
            traces: TRACES.endpoint(&variable)?,
            logs: LOGS.endpoint(&variable)?,
            service: (!named).then(|| "sprag".to_owned()),
            headers: Vec::new(),
        })
    }

    /// Whether anything is exported.
    #[must_use]
    pub const fn is_on(&self) -> bool {
        self.traces.is_some() || self.logs.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<TelemetrySettings, String> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        TelemetrySettings::read(variable).map_err(|error| error.to_string())
    }

    fn places(variables: &[(&str, &str)]) -> (Option<String>, Option<String>) {
        let settings = read(variables).unwrap();
        (settings.traces, settings.logs)
    }

    #[test]
    fn nothing_is_exported_unless_somebody_says_where_to() {
        assert_eq!(places(&[]), (None, None));
        assert_eq!(places(&[("OTEL_SERVICE_NAME", "x")]), (None, None));
    }

    #[test]
    fn one_endpoint_serves_both_and_each_may_have_its_own() {
        let (traces, logs) = places(&[(ENDPOINT, "http://c:4318/")]);
        assert_eq!(traces.as_deref(), Some("http://c:4318/v1/traces"));
        assert_eq!(logs.as_deref(), Some("http://c:4318/v1/logs"));
        let own = "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT";
        let (traces, logs) = places(&[(own, "http://l/x")]);
        assert_eq!((traces, logs.as_deref()), (None, Some("http://l/x")));
    }

    #[test]
    fn none_and_disabled_are_obeyed_and_otlp_alone_means_this_machine() {
        let (traces, logs) = places(&[(ENDPOINT, "http://c"), ("OTEL_TRACES_EXPORTER", "none")]);
        assert_eq!((traces, logs.as_deref()), (None, Some("http://c/v1/logs")));
        let off = [(ENDPOINT, "http://c"), ("OTEL_SDK_DISABLED", "True")];
        assert_eq!(places(&off), (None, None));
        let (traces, logs) = places(&[("OTEL_TRACES_EXPORTER", "otlp")]);
        assert_eq!(traces.as_deref(), Some("http://localhost:4318/v1/traces"));
        assert_eq!(logs, None);
    }

    #[test]
    fn a_protocol_that_is_not_spoken_is_refused() {
        let asked = [
            (ENDPOINT, "http://c"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        ];
        assert_eq!(
            read(&asked).unwrap_err(),
            "OTEL_EXPORTER_OTLP_PROTOCOL is `grpc`; only `http/protobuf` can be spoken"
        );
    }

    #[test]
    fn the_service_is_sprag_unless_it_was_named() {
        let name = |variables: &[(&str, &str)]| read(variables).unwrap().service;
        assert_eq!(name(&[]).as_deref(), Some("sprag"));
        assert_eq!(name(&[("OTEL_SERVICE_NAME", "guard")]), None);
        let named = "deployment.environment=x, service.name=y";
        assert_eq!(name(&[("OTEL_RESOURCE_ATTRIBUTES", named)]), None);
    }
}
