//! What a tool printed, without what the client wrapped around it.
//!
//! The same command with the same output must look the same twice. Clients add process ids, shell
//! numbers and wall times of their own; they come off here. What the tool itself printed stays as
//! it is: telling noise from news in that is the engine's part.

/// A text and whether its client says that the command failed.
#[derive(Debug, PartialEq, Eq)]
pub struct ToolOutput {
    /// What the tool printed.
    pub text: String,
    /// Whether an exit code says that it failed.
    pub failed: bool,
}

/// Lines that Gemini CLI and Codex put around an output.
const CLIENT_LINES: [&str; 5] = [
    "Process Group PGID:",
    "Wall time:",
    "Chunk ID:",
    "<untrusted_context>",
    "</untrusted_context>",
];

/// Without the lines that only the client knows of. `Exit Code: 3` stays and means a failure.
#[must_use]
pub fn without_client_lines(text: &str) -> ToolOutput {
    let mut failed = false;
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !CLIENT_LINES.iter().any(|start| line.starts_with(start)))
        .inspect(|line| failed |= is_bad_exit(line))
        .collect();
    let text = lines.join("\n");
    let text = text.strip_prefix("Output: ").unwrap_or(&text);
    let text = text.strip_prefix("(empty)").unwrap_or(text).to_owned();
    ToolOutput { text, failed }
}

fn is_bad_exit(line: &str) -> bool {
    line.strip_prefix("Exit Code: ")
        .is_some_and(|code| code.trim() != "0")
}

/// Without Copilot's last line, `<shellId: 4 completed with exit code 3>`; a bad code is kept as text.
#[must_use]
pub fn without_shell_tag(text: &str) -> ToolOutput {
    let (body, tag) = match text.rfind("<shellId: ") {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let code = tag
        .trim_end()
        .strip_suffix('>')
        .and_then(|tag| tag.rsplit_once("completed with exit code "))
        .map(|(_, code)| code);
    match code {
        None => ToolOutput {
            text: text.to_owned(),
            failed: false,
        },
        Some("0") => ToolOutput {
            text: body.to_owned(),
            failed: false,
        },
        Some(code) => ToolOutput {
            text: format!("{body}exit code {code}"),
            failed: true,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str, failed: bool) -> ToolOutput {
        ToolOutput {
            text: text.to_owned(),
            failed,
        }
    }

    #[test]
    fn process_ids_and_wrappers_come_off() {
        let text =
            "<untrusted_context>\nOutput: hi\nProcess Group PGID: 21683\n</untrusted_context>";
        assert_eq!(without_client_lines(text), printed("hi", false));
        assert_eq!(
            without_client_lines("Output: (empty)\nProcess Group PGID: 1"),
            printed("", false)
        );
        assert_eq!(
            without_client_lines("Wall time: 0.0024 seconds\nhi\nthere"),
            printed("hi\nthere", false)
        );
    }

    #[test]
    fn an_exit_code_means_a_failure_and_stays() {
        assert_eq!(
            without_client_lines("Output: oops\nExit Code: 3\nProcess Group PGID: 9"),
            printed("oops\nExit Code: 3", true)
        );
        assert_eq!(
            without_client_lines("Exit Code: 0"),
            printed("Exit Code: 0", false)
        );
    }

    #[test]
    fn shell_numbers_come_off() {
        assert_eq!(
            without_shell_tag("hi\n<shellId: 0 completed with exit code 0>"),
            printed("hi\n", false)
        );
        assert_eq!(
            without_shell_tag("oops\n<shellId: 17 completed with exit code 3>"),
            printed("oops\nexit code 3", true)
        );
        assert_eq!(
            without_shell_tag("<shellId: is not the end"),
            printed("<shellId: is not the end", false)
        );
    }
}
