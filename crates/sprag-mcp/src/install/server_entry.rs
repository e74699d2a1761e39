//! One server in a client's settings: what starts it, and where in the text that stands.

use std::ops::Range;
use std::path::Path;

use serde_json::Value;

use super::Wrapper;
use super::mcp_client::Format;
use crate::splice::Splice;

/// A server in a client's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerEntry {
    /// What the client calls it.
    pub name: String,
    /// How it is started; none where it is reached over the network.
    pub launch: Option<ServerLaunch>,
}

/// How a server is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerLaunch {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// What is added to its environment.
    pub env: Vec<(String, String)>,
    pub(crate) program_at: Range<usize>,
    /// The list of arguments, brackets included.
    pub(crate) args_at: Option<Range<usize>>,
    /// Each argument.
    pub(crate) each_at: Vec<Range<usize>>,
    /// Whether program and arguments are one list.
    pub(crate) is_list: bool,
    /// What a new member of the same table starts with: a comma, a line end, blanks.
    pub(crate) before_member: String,
}

impl ServerEntry {
    /// The changes that put the wrapper before it; none where it is there already.
    pub(crate) fn wrapped(
        &self,
        text: &str,
        launch: &ServerLaunch,
        wrapper: &Wrapper,
        format: Format,
    ) -> Vec<Splice> {
        if launch.is_wrapped() {
            return Vec::new();
        }
        // The program is taken over as it is written, so that taking it out again is exact.
        let program = text.get(launch.program_at.clone()).unwrap_or_default();
        let fixed = ["mcp", "--name", &self.name].map(str::to_owned);
        let dashes = ["--".to_owned()];
        let added = fixed.iter().chain(&wrapper.options).chain(&dashes);
        let added = added.map(|arg| quoted(arg)).chain([program.to_owned()]);
        let added = added.collect::<Vec<_>>().join(", ");
        let program = Splice::replace(launch.program_at.clone(), quoted(&wrapper.program));
        let args = match (&launch.args_at, launch.each_at.first()) {
            (_, Some(first)) => Splice::insert(first.start, format!("{added}, ")),
            _ if launch.is_list => Splice::insert(launch.program_at.end, format!(", {added}")),
            (Some(list), None) => Splice::insert(list.start + 1, added),
            (None, None) => {
                let key = match format {
                    Format::Json => "\"args\": ",
                    Format::Toml => "args = ",
                };
                let text = format!("{}{key}[{added}]", launch.before_member);
                Splice::insert(launch.program_at.end, text)
            }
        };
        vec![program, args]
    }
}

impl ServerLaunch {
    /// Whether the wrapper is before it.
    #[must_use]
    pub fn is_wrapped(&self) -> bool {
        self.inner_at().is_some()
    }

    /// The program and arguments of the server itself.
    #[must_use]
    pub fn inner(&self) -> (&str, &[String]) {
        let inner = self
            .inner_at()
            .and_then(|at| self.args.get(at..)?.split_first());
        inner.map_or((&self.program, &self.args), |(program, args)| {
            (program, args)
        })
    }

    /// Which argument is the server's program.
    fn inner_at(&self) -> Option<usize> {
        let stem = Path::new(&self.program).file_stem()?;
        if stem != "sprag" || self.args.first()? != "mcp" {
            return None;
        }
        let at = self.args.iter().position(|arg| arg == "--")? + 1;
        (at < self.args.len()).then_some(at)
    }

    /// The changes that take the wrapper out; none where it is not there.
    pub(crate) fn unwrapped(&self, text: &str) -> Vec<Splice> {
        let Some(at) = self.inner_at() else {
            return Vec::new();
        };
        let program = self.each_at.get(at).and_then(|at| text.get(at.clone()));
        let program = program.unwrap_or_default().to_owned();
        let mut splices = vec![Splice::replace(self.program_at.clone(), program)];
        let (Some(first), Some(last)) = (self.each_at.first(), self.each_at.last()) else {
            return splices;
        };
        let args = match (self.each_at.get(at + 1), &self.args_at) {
            (Some(next), _) => first.start..next.start,
            (None, _) if self.is_list => self.program_at.end..last.end,
            // We wrote the whole member, so it goes with what is in it.
            (None, Some(list))
                if text
                    .get(self.program_at.end..list.start)
                    .is_some_and(|between| {
                        let key = between.strip_prefix(self.before_member.as_str());
                        matches!(key, Some("\"args\": " | "args = "))
                    }) =>
            {
                self.program_at.end..list.end
            }
            (None, _) => first.start..last.end,
        };
        splices.push(Splice::replace(args, String::new()));
        splices
    }
}

/// A text in quotes, as JSON and TOML both read it.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
