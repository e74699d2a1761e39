//! Calls in a short script of another language: `shutil.rmtree("x")`, `db.dropDatabase()`.
//!
//! Not a parser of that language. Text in quotes and comments is skipped, and a call is a dotted name
//! right before a parenthesis. What the argument is, is known only if it is one string, or a variable that is
//! set to one.

/// The most calls of one script.
const MAX_CALLS: usize = 256;

/// The calls in `text`: the dotted name, and what stands between its parentheses.
pub(crate) fn calls(text: &str) -> Vec<(String, String)> {
    let mut calls = Vec::new();
    let mut name = String::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        if calls.len() >= MAX_CALLS {
            break;
        }
        match next {
            '\'' | '"' | '`' => {
                rest = after_string(rest);
                name.clear();
                continue;
            }
            '#' => {
                rest = after_line(rest);
                continue;
            }
            '/' if rest.starts_with("//") => {
                rest = after_line(rest);
                continue;
            }
            '(' => {
                if !name.is_empty() {
                    calls.push((std::mem::take(&mut name), arguments(rest)));
                }
            }
            c if c.is_alphanumeric() || matches!(c, '_' | '.' | '$' | ':') => name.push(c),
            // `File.rm_rf!("x")` of Elixir and Ruby.
            '!' if rest.starts_with("!(") => {}
            _ => name.clear(),
        }
        rest = rest.get(next.len_utf8()..).unwrap_or_default();
    }
    calls
}

/// Where `word` stands in `text`, outside of strings and comments.
pub(crate) fn positions(text: &str, word: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        rest = match next {
            '\'' | '"' | '`' => after_string(rest),
            '#' => after_line(rest),
            _ => {
                if rest.starts_with(word) {
                    found.push(text.len() - rest.len());
                }
                rest.get(next.len_utf8()..).unwrap_or_default()
            }
        };
    }
    found
}

fn after_line(text: &str) -> &str {
    text.find('\n')
        .and_then(|at| text.get(at..))
        .unwrap_or_default()
}

/// What follows the string at the start of `text`.
fn after_string(text: &str) -> &str {
    string(text).map_or("", |(_, rest)| rest)
}

/// The string at the start of `text`, and what follows it.
fn string(text: &str) -> Option<(String, &str)> {
    for mark in ["\"\"\"", "'''"] {
        if let Some(rest) = text.strip_prefix(mark) {
            let (inside, rest) = rest.split_once(mark)?;
            return Some((inside.to_owned(), rest));
        }
    }
    let quote = text
        .chars()
        .next()
        .filter(|quote| matches!(quote, '\'' | '"' | '`'))?;
    let mut inside = String::new();
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if escaped => {
                inside.push(character);
                escaped = false;
            }
            '\\' => escaped = true,
            _ if character == quote => return Some((inside, text.get(at + 1..)?)),
            _ => inside.push(character),
        }
    }
    None
}

/// `text` with empty quotes for its strings, and without comments.
pub(crate) fn without_strings(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        rest = match next {
            '\'' | '"' | '`' => {
                code.push_str("''");
                after_string(rest)
            }
            '#' => after_line(rest),
            '/' if rest.starts_with("//") => after_line(rest),
            _ => {
                code.push(next);
                rest.get(next.len_utf8()..).unwrap_or_default()
            }
        };
    }
    code
}

/// What the variable `name` is set to, up to the end of that statement.
pub(crate) fn assigned<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.split(['\n', ';']).find_map(|statement| {
        let (left, right) = statement.split_once('=')?;
        let left = left.trim();
        let left = ["const ", "let ", "var ", "my "]
            .iter()
            .find_map(|word| left.strip_prefix(word))
            .unwrap_or(left);
        (left.trim_start_matches('$') == name.trim_start_matches('$')).then(|| right.trim())
    })
}

/// What stands between the parenthesis at the start of `text` and the one that closes it.
fn arguments(text: &str) -> String {
    let mut level = 0_usize;
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        match next {
            '\'' | '"' | '`' => {
                rest = after_string(rest);
                continue;
            }
            '(' | '[' | '{' => level += 1,
            ')' | ']' | '}' => {
                level = level.saturating_sub(1);
                if level == 0 {
                    let end = text.len() - rest.len();
                    return text.get(1..end).unwrap_or_default().to_owned();
                }
            }
            _ => {}
        }
        rest = rest.get(next.len_utf8()..).unwrap_or_default();
        // A long argument is no path and no command.
        if text.len() - rest.len() > 4096 {
            break;
        }
    }
    String::new()
}

/// Every string in `text`, at most [`MAX_CALLS`].
pub(crate) fn strings(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['\'', '"', '`']) {
        let Some((inside, after)) = rest.get(at..).and_then(string) else {
            break;
        };
        if all.len() >= MAX_CALLS {
            break;
        }
        all.push(inside);
        rest = after;
    }
    all
}

/// The first argument, if it is one string in plain quotes.
pub(crate) fn first_string(arguments: &str) -> Option<String> {
    let text = arguments.trim_start();
    let text = text
        .strip_prefix('r')
        .filter(|rest| rest.starts_with(['\'', '"']))
        .unwrap_or(text);
    let (inside, rest) = string(text)?;
    let ends = rest.trim_start();
    let plain = ends.is_empty() || ends.starts_with([',', ';']);
    (plain && !inside.contains("${")).then_some(inside)
}

/// The strings of the list at the start of `arguments`: `["rm", "-rf", "x"]`.
pub(crate) fn strings_of_list(arguments: &str) -> Option<Vec<String>> {
    let mut rest = arguments.trim_start().strip_prefix('[')?.trim_start();
    let mut all = Vec::new();
    while !rest.starts_with(']') {
        let (inside, after) = string(rest)?;
        all.push(inside);
        rest = after.trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
        if all.len() > 64 {
            return None;
        }
    }
    Some(all)
}

/// Calls without parentheses, as Ruby and Perl write them: `FileUtils.rm_r "x"`, `system "rm", "-r", "x"`.
pub(crate) fn bare_calls(text: &str) -> Vec<(String, String)> {
    let mut calls = Vec::new();
    let mut name = String::new();
    let mut blank = false;
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        if calls.len() >= MAX_CALLS {
            break;
        }
        match next {
            '\'' | '"' | '`' => {
                if blank && !name.is_empty() {
                    let end = rest.find(['\n', ';', '}']).unwrap_or(rest.len());
                    let arguments = rest.get(..end).unwrap_or_default();
                    calls.push((std::mem::take(&mut name), arguments.to_owned()));
                }
                rest = after_string(rest);
                name.clear();
                continue;
            }
            '#' => {
                rest = after_line(rest);
                continue;
            }
            ' ' => blank = true,
            c if c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '!') => {
                if blank {
                    name.clear();
                    blank = false;
                }
                name.push(c);
            }
            _ => name.clear(),
        }
        rest = rest.get(next.len_utf8()..).unwrap_or_default();
    }
    calls
}

/// Commands in templates that a shell runs: `` $`rm -rf x` `` of Bun and zx.
pub(crate) fn shell_templates(text: &str) -> Vec<String> {
    text.match_indices("$`")
        .take(MAX_CALLS)
        .filter_map(|(at, _)| string(text.get(at + 1..)?))
        .map(|(inside, _)| inside)
        .filter(|inside| !inside.contains("${"))
        .collect()
}
