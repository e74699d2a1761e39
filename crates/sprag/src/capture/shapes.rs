//! Secrets that can be told by their looks: prefixes that issuers chose, and plain randomness.

use super::spans::Spans;

/// A prefix and how many characters must follow for it to be a secret.
const PREFIXES: [(&str, usize); 52] = [
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("glptt-", 16),
    ("gldt-", 16),
    ("sk-", 16),
    ("sk_live_", 10),
    ("sk_test_", 10),
    ("rk_live_", 10),
    ("rk_test_", 10),
    ("pk_live_", 10),
    ("whsec_", 16),
    ("xoxa-", 8),
    ("xoxb-", 8),
    ("xoxe-", 8),
    ("xoxo-", 8),
    ("xoxp-", 8),
    ("xoxr-", 8),
    ("xoxs-", 8),
    ("xapp-", 8),
    ("AKIA", 12),
    ("ASIA", 12),
    ("AROA", 12),
    ("ABIA", 12),
    ("AIza", 30),
    ("ya29.", 16),
    ("GOCSPX-", 16),
    ("npm_", 20),
    ("pypi-", 20),
    ("hf_", 20),
    ("SG.", 20),
    ("shpat_", 16),
    ("shpss_", 16),
    ("dop_v1_", 20),
    ("dapi", 32),
    ("glsa_", 20),
    ("nvapi-", 20),
    ("gsk_", 20),
    ("pplx-", 20),
    ("r8_", 20),
    ("tskey-", 12),
    ("lin_api_", 16),
    ("sntrys_", 20),
    ("AGE-SECRET-KEY-", 20),
    ("eyJ", 24),
    ("xai-", 20),
    ("rubygems_", 20),
    ("v1.0-", 40),
];

/// What is shorter is none of them.
const SHORTEST: usize = 13;
/// From this length on a mix of letters and digits is taken for a secret.
const RANDOM_CHARS: usize = 32;
/// A secret key of AWS has this length, and slashes.
const AWS_CHARS: usize = 40;

/// Finds secrets by their looks.
pub(super) fn find(text: &str, spans: &mut Spans) {
    for (start, word) in runs(text, is_token) {
        for (at, rest) in inner_starts(word) {
            if is_issued(rest) {
                spans.add(start + at..start + word.len());
                break;
            }
        }
    }
    for (start, word) in runs(text, |c| is_token(c) && c != '.' && c != '/') {
        if word.len() >= RANDOM_CHARS && looks_random(word) {
            spans.add(start..start + word.len());
        }
    }
    for (start, word) in runs(text, |c| c.is_ascii_alphanumeric() || c == '/' || c == '+') {
        if word.len() == AWS_CHARS && looks_random(word) {
            spans.add(start..start + word.len());
        }
    }
    slack_hooks(text, spans);
}

fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+' | '/' | '=' | '~')
}

/// Places in a run where a prefix may start: its beginning, and after a character that joins.
fn inner_starts(word: &str) -> impl Iterator<Item = (usize, &str)> {
    let joined = word.match_indices(['=', '/', '.', '-', '_', '+']);
    let starts = std::iter::once(0).chain(joined.map(|(at, _)| at + 1));
    starts.filter_map(|at| Some((at, word.get(at..)?)))
}

fn is_issued(word: &str) -> bool {
    // Nearly every word is shorter than that.
    word.len() >= SHORTEST
        && PREFIXES.iter().any(|(prefix, least)| {
            word.strip_prefix(prefix)
                .is_some_and(|rest| rest.len() >= *least)
        })
}

/// The longest runs of characters that are `wanted`, with their places.
fn runs(text: &str, wanted: impl Fn(char) -> bool) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text.get(at..)?.find(&wanted)?;
        let rest = text.get(start..)?;
        let length = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        at = start + length;
        Some((start, rest.get(..length)?))
    })
}

/// Capitals, small letters and digits that change about as often as in random text. Words joined in
/// camel case change less often; hex digests have no capitals.
fn looks_random(word: &str) -> bool {
    let class = |byte: u8| match byte {
        b'A'..=b'Z' => 1_u8,
        b'a'..=b'z' => 2,
        b'0'..=b'9' => 3,
        _ => 0,
    };
    let classes: Vec<u8> = word.bytes().map(class).filter(|class| *class > 0).collect();
    let all = [1, 2, 3].iter().all(|class| classes.contains(class));
    let pairs = classes.iter().zip(classes.iter().skip(1));
    let changes = pairs.filter(|(one, next)| one != next).count();
    all && changes * 5 >= classes.len() * 2
}

/// The address of a Slack web hook is its secret.
fn slack_hooks(text: &str, spans: &mut Spans) {
    let hook = "hooks.slack.com/";
    let mut done = 0;
    for (at, _) in text.match_indices(hook) {
        let start = at + hook.len();
        if start < done {
            continue;
        }
        let rest = text.get(start..).unwrap_or_default();
        done = start + rest.find(|c| !is_token(c)).unwrap_or(rest.len());
        spans.add(start..done);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_of_every_issuer_is_found_from_its_least_length_on() {
        let shortest = PREFIXES
            .iter()
            .map(|(prefix, least)| prefix.len() + least)
            .min();
        assert_eq!(shortest, Some(SHORTEST));
        for (prefix, least) in PREFIXES {
            assert!(is_issued(&format!("{prefix}{}", "x".repeat(least))));
            assert!(!is_issued(&format!("{prefix}{}", "x".repeat(least - 1))));
        }
    }

    #[test]
    fn digests_names_and_paths_are_no_secrets() {
        for text in [
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "550e8400-e29b-41d4-a716-446655440000",
            "TestUserServiceShouldReturn404WhenMissing",
            "crates/sprag-core/src/rules/progress/Recurrence.rs:17",
            "sk-learn and hf_hub and the AKIA of old",
            "toolu_01 call_abc123 gpt-4.1-mini-2025-04-14",
        ] {
            let mut spans = Spans::default();
            find(text, &mut spans);
            assert_eq!(spans.replace(text, "*"), text);
        }
    }
}
