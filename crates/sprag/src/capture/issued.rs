//! Secrets that start with a prefix that their issuer chose.

/// What follows a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tail {
    /// Letters, digits and the characters that join them.
    Joined,
    /// Letters and digits only: the prefix is too short to mean anything alone.
    Plain,
    /// Hexadecimal digits only, for the same reason.
    Hex,
}

use Tail::{Hex, Joined, Plain};

/// A prefix, what follows it, and how many characters must follow.
const PREFIXES: [(&str, Tail, usize); 104] = [
    ("ghp_", Joined, 20),
    ("gho_", Joined, 20),
    ("ghu_", Joined, 20),
    ("ghs_", Joined, 20),
    ("ghr_", Joined, 20),
    ("github_pat_", Joined, 20),
    ("glpat-", Joined, 16),
    ("glptt-", Joined, 16),
    ("gldt-", Joined, 16),
    ("glrt-", Joined, 16),
    ("glcbt-", Joined, 16),
    ("glsoat-", Joined, 16),
    ("glimt-", Joined, 16),
    ("glagent-", Joined, 16),
    ("glft-", Joined, 16),
    ("GR1348941", Joined, 16),
    ("sk-", Joined, 16),
    ("sk_live_", Joined, 10),
    ("sk_test_", Joined, 10),
    ("rk_live_", Joined, 10),
    ("rk_test_", Joined, 10),
    ("pk_live_", Joined, 10),
    ("whsec_", Joined, 16),
    ("xoxa-", Joined, 8),
    ("xoxb-", Joined, 8),
    ("xoxc-", Joined, 8),
    ("xoxd-", Joined, 8),
    ("xoxe-", Joined, 8),
    ("xoxe.", Joined, 8),
    ("xoxo-", Joined, 8),
    ("xoxp-", Joined, 8),
    ("xoxr-", Joined, 8),
    ("xoxs-", Joined, 8),
    ("xapp-", Joined, 8),
    ("AKIA", Plain, 12),
    ("ASIA", Plain, 12),
    ("AROA", Plain, 12),
    ("ABIA", Plain, 12),
    ("ABSK", Plain, 32),
    ("AIza", Joined, 30),
    ("ya29.", Joined, 16),
    ("1//0", Joined, 30),
    ("GOCSPX-", Joined, 16),
    ("npm_", Joined, 20),
    ("pypi-", Joined, 20),
    ("rubygems_", Joined, 20),
    ("oy2", Plain, 43),
    ("cio", Plain, 32),
    ("dckr_pat_", Joined, 16),
    ("dckr_oat_", Joined, 16),
    ("hf_", Joined, 20),
    ("r8_", Joined, 20),
    ("gsk_", Joined, 20),
    ("pplx-", Joined, 20),
    ("xai-", Joined, 20),
    ("nvapi-", Joined, 20),
    ("lsv2_pt_", Joined, 20),
    ("lsv2_sk_", Joined, 20),
    ("SG.", Joined, 20),
    ("key-", Hex, 32),
    ("SK", Hex, 32),
    ("shpat_", Joined, 16),
    ("shpss_", Joined, 16),
    ("shpca_", Joined, 16),
    ("shppa_", Joined, 16),
    ("dop_v1_", Joined, 20),
    ("doo_v1_", Joined, 20),
    ("dor_v1_", Joined, 20),
    ("dapi", Hex, 32),
    ("HRKU-", Joined, 20),
    ("glsa_", Joined, 20),
    ("glc_", Joined, 20),
    ("sntrys_", Joined, 20),
    ("sntryu_", Joined, 20),
    ("NRAK-", Joined, 20),
    ("NRII-", Joined, 20),
    ("NRJS-", Joined, 16),
    ("dt0c01.", Joined, 20),
    ("hcaik_", Joined, 20),
    ("lin_api_", Joined, 16),
    ("secret_", Plain, 40),
    ("ntn_", Joined, 20),
    ("figd_", Joined, 20),
    ("ATATT3", Joined, 20),
    ("ATCTT3", Joined, 20),
    ("ATBB", Plain, 28),
    ("tskey-", Joined, 12),
    ("nfp_", Joined, 20),
    ("sbp_", Joined, 20),
    ("sb_secret_", Joined, 16),
    ("pscale_tkn_", Joined, 20),
    ("pscale_pw_", Joined, 20),
    ("napi_", Joined, 32),
    ("hvs.", Joined, 20),
    ("hvb.", Joined, 20),
    ("dp.pt.", Joined, 20),
    ("dp.st.", Joined, 20),
    ("pul-", Hex, 40),
    ("ops_eyJ", Joined, 20),
    ("v2.local.", Joined, 30),
    ("v4.local.", Joined, 30),
    ("AGE-SECRET-KEY-", Joined, 20),
    ("eyJ", Joined, 24),
    ("v1.0-", Joined, 40),
];

/// What is shorter is none of them.
const SHORTEST: usize = 13;
/// No word that people write is as long.
const LONG_WORD: usize = 20;

/// Whether `word` starts as a secret of one of the issuers does.
pub(super) fn is_issued(word: &str) -> bool {
    // Nearly every word is shorter than that, or starts with other letters.
    word.len() >= SHORTEST
        && may_start(word.as_bytes())
        && PREFIXES.iter().any(|(prefix, tail, least)| {
            word.strip_prefix(prefix)
                .is_some_and(|rest| tail.length(rest) >= *least && is_drawn(rest))
        })
}

/// The first two bytes of all prefixes, as bits; words with other first bytes may share one.
#[expect(
    clippy::indexing_slicing,
    reason = "worked out by the compiler, which refuses an index that misses"
)]
const STARTS: [u64; 64] = {
    let mut starts = [0; 64];
    let mut at = 0;
    while at < PREFIXES.len() {
        if let [first, second, ..] = PREFIXES[at].0.as_bytes() {
            starts[(*first & 63) as usize] |= 1 << (*second & 63);
        }
        at += 1;
    }
    starts
};

fn may_start(word: &[u8]) -> bool {
    let [first, second, ..] = word else {
        return false;
    };
    let seconds = STARTS.get(usize::from(*first & 63));
    seconds.is_some_and(|seconds| seconds >> (second & 63) & 1 == 1)
}

impl Tail {
    fn length(self, rest: &str) -> usize {
        let is_part = |c: char| match self {
            Self::Joined => true,
            Self::Plain => c.is_ascii_alphanumeric(),
            Self::Hex => c.is_ascii_hexdigit(),
        };
        rest.find(|c| !is_part(c)).unwrap_or(rest.len())
    }
}

/// Words that people join (`sk-learn-contrib-examples`) have neither digits nor capitals in them, and
/// none of them is this long.
fn is_drawn(rest: &str) -> bool {
    let drawn = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_uppercase();
    rest.bytes().any(drawn) || rest.split(['-', '_']).any(|word| word.len() >= LONG_WORD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_of_every_issuer_is_found_from_its_least_length_on() {
        let shortest = PREFIXES
            .iter()
            .map(|(prefix, _, least)| prefix.len() + least)
            .min();
        assert_eq!(shortest, Some(SHORTEST));
        for (prefix, _, least) in PREFIXES {
            assert!(is_issued(&format!("{prefix}{}", "1".repeat(least))));
            assert!(!is_issued(&format!("{prefix}{}", "1".repeat(least - 1))));
        }
        assert!(!is_issued("sk-learn-contrib-examples"));
    }
}
