//! Kinds of secrets, made up and put together in code so that no scanner mistakes this file.
//!
//! Each kind stands in a text of the sort that agents really read and write. The kinds that have a
//! form of their own stand in a sentence; the others stand where their users keep them.

use crate::corpus::drawn;
use crate::secret_places::{SAID, SURROUNDED};

/// A kind of secret: its name, the secret, and a text that holds it.
pub(crate) struct SecretKind {
    pub(crate) name: String,
    pub(crate) secret: String,
    pub(crate) text: String,
}

/// Letters that look drawn, from `alphabet`.
fn from(alphabet: &str, seed: u64, length: usize) -> String {
    let letters: Vec<char> = alphabet.chars().collect();
    drawn(seed, length)
        .bytes()
        .map(|byte| letters[usize::from(byte) * 7 % letters.len()])
        .collect()
}

fn hex(seed: u64, length: usize) -> String {
    from("0123456789abcdef", seed, length)
}

fn base64(seed: u64, length: usize) -> String {
    let half = length / 2;
    format!(
        "{}+/{}=",
        drawn(seed, half),
        drawn(seed + 1, length - half - 3)
    )
}

/// Prefix (in two parts), what follows, and how much of it.
const ISSUED: [(&str, &str, Alphabet, usize); 92] = {
    use Alphabet::{Any, Capital, Hex, Small};
    [
        ("gh", "p_", Any, 36),
        ("gh", "o_", Any, 36),
        ("gh", "u_", Any, 36),
        ("gh", "s_", Any, 36),
        ("gh", "r_", Any, 36),
        ("github", "_pat_", Any, 60),
        ("glp", "at-", Any, 20),
        ("glp", "tt-", Hex, 40),
        ("gl", "dt-", Any, 20),
        ("gl", "rt-", Any, 20),
        ("glc", "bt-", Any, 20),
        ("gls", "oat-", Any, 20),
        ("gli", "mt-", Any, 25),
        ("glag", "ent-", Any, 50),
        ("gl", "ft-", Any, 20),
        ("GR13", "48941", Any, 20),
        ("s", "k-", Any, 48),
        ("s", "k-proj-", Any, 48),
        ("s", "k-svcacct-", Any, 48),
        ("s", "k-ant-api03-", Any, 80),
        ("s", "k-ant-admin01-", Any, 80),
        ("s", "k-or-v1-", Hex, 64),
        ("s", "k-lf-", Hex, 36),
        ("s", "k_live_", Any, 24),
        ("s", "k_test_", Any, 24),
        ("r", "k_live_", Any, 24),
        ("wh", "sec_", Any, 32),
        ("xo", "xb-123456789012-", Any, 24),
        ("xo", "xp-123456789012-", Any, 24),
        ("xo", "xe.xoxp-1-", Any, 40),
        ("xo", "xc-123456789012-", Hex, 64),
        ("xo", "xd-", Any, 40),
        ("xa", "pp-1-A0123-", Any, 64),
        ("AK", "IA", Capital, 16),
        ("AS", "IA", Capital, 16),
        ("AB", "SK", Any, 60),
        ("AI", "za", Any, 35),
        ("ya", "29.", Any, 60),
        ("1", "//0g", Any, 60),
        ("GOC", "SPX-", Any, 28),
        ("np", "m_", Any, 36),
        ("py", "pi-", Any, 80),
        ("ruby", "gems_", Hex, 48),
        ("oy", "2", Small, 43),
        ("ci", "o", Any, 32),
        ("dckr", "_pat_", Any, 27),
        ("dckr", "_oat_", Any, 32),
        ("h", "f_", Any, 34),
        ("r", "8_", Any, 37),
        ("gs", "k_", Any, 52),
        ("pp", "lx-", Any, 48),
        ("xa", "i-", Any, 80),
        ("nv", "api-", Any, 64),
        ("lsv2", "_pt_", Hex, 42),
        ("S", "G.", Any, 60),
        ("ke", "y-", Hex, 32),
        ("S", "K", Hex, 32),
        ("shp", "at_", Hex, 32),
        ("shp", "ss_", Hex, 32),
        ("shp", "ca_", Hex, 32),
        ("shp", "pa_", Hex, 32),
        ("dop", "_v1_", Hex, 64),
        ("doo", "_v1_", Hex, 64),
        ("dor", "_v1_", Hex, 64),
        ("da", "pi", Hex, 32),
        ("HR", "KU-AA", Any, 58),
        ("gls", "a_", Any, 41),
        ("gl", "c_", Any, 60),
        ("sntr", "ys_", Any, 60),
        ("sntr", "yu_", Hex, 64),
        ("NR", "AK-", Capital, 27),
        ("NR", "II-", Any, 32),
        ("dt0", "c01.", Capital, 64),
        ("hca", "ik_", Small, 58),
        ("lin", "_api_", Any, 40),
        ("sec", "ret_", Any, 43),
        ("nt", "n_", Any, 46),
        ("fi", "gd_", Any, 40),
        ("AT", "ATT3xFfGF0", Any, 60),
        ("AT", "CTT3xFfGF0", Any, 60),
        ("AT", "BB", Any, 32),
        ("tsk", "ey-auth-", Any, 20),
        ("nf", "p_", Any, 36),
        ("sb", "p_", Hex, 40),
        ("sb_", "secret_", Any, 31),
        ("psc", "ale_tkn_", Any, 43),
        ("psc", "ale_pw_", Any, 43),
        ("na", "pi_", Small, 64),
        ("hv", "s.", Any, 90),
        ("hv", "b.", Any, 90),
        ("dp.", "pt.", Any, 43),
        ("pu", "l-", Hex, 40),
    ]
};

#[derive(Clone, Copy)]
enum Alphabet {
    Any,
    Capital,
    Hex,
    Small,
}

impl Alphabet {
    fn draw(self, seed: u64, length: usize) -> String {
        match self {
            Self::Any => drawn(seed, length),
            Self::Capital => from("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", seed, length),
            Self::Hex => hex(seed, length),
            Self::Small => from("abcdefghijklmnopqrstuvwxyz234567", seed, length),
        }
    }
}

/// Tokens and keys whose form gives them away.
fn formed(seed: u64) -> Vec<(&'static str, String)> {
    let long = |n: u64, length: usize| drawn(seed + n, length);
    let json = |n: u64, length: usize| format!("{}{}", ["ey", "J"].concat(), long(n, length));
    let jwt = [json(1, 30), json(2, 60), long(3, 43)].join(".");
    let age = [
        "AGE",
        "SECRET",
        "KEY",
        &Alphabet::Capital.draw(seed + 19, 58),
    ]
    .join("-");
    let base58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    let telegram = format!("123456789:AA{}", long(10, 33));
    let discord = ["M".to_owned() + &long(11, 25), long(12, 6), long(13, 38)].join(".");
    let terraform = [long(14, 14), "atlasv1".to_owned(), long(15, 60)].join(".");
    let airtable = format!("pat{}.{}", long(16, 14), hex(seed + 17, 64));
    vec![
        ("JWT", jwt),
        (
            "AWS secret access key",
            [long(4, 19), long(5, 20)].join("/"),
        ),
        ("AWS session token", base64(seed + 6, 300)),
        ("Azure storage key", base64(seed + 7, 86) + "=="),
        ("Azure client secret", long(8, 3) + "8Q~" + &long(9, 34)),
        ("Telegram bot token", telegram),
        ("Discord bot token", discord),
        ("Terraform Cloud token", terraform),
        ("Airtable token", airtable),
        ("Mailchimp key", hex(seed + 18, 32) + "-us12"),
        ("age key", age),
        ("PASETO token", format!("v2.local.{}", long(20, 90))),
        (
            "1Password service account",
            format!("ops_{}", json(21, 200)),
        ),
        (
            "Fly.io token",
            format!("FlyV1 fm2_{}", base64(seed + 22, 120)),
        ),
        (
            "Bitcoin WIF key",
            format!("5K{}", from(base58, seed + 30, 49)),
        ),
        (
            "extended private key",
            format!("xprv9s21ZrQH{}", long(31, 97)),
        ),
    ]
}

/// Hashes of passwords and blocks of private keys.
fn hashes_and_blocks(seed: u64) -> Vec<(&'static str, String)> {
    let long = |n: u64, length: usize| drawn(seed + n, length);
    let argon2 = format!("v=19$m=65536,t=3,p=4${}${}", long(28, 22), long(29, 43));
    let mut all = vec![
        ("bcrypt hash", format!("$2b$12${}", long(23, 53))),
        (
            "sha512crypt hash",
            format!("$6$rounds=5000${}${}", long(24, 12), long(25, 86)),
        ),
        (
            "apr1 hash",
            format!("$apr1${}${}", long(26, 8), long(27, 22)),
        ),
        ("argon2 hash", format!("$argon2id${argon2}")),
    ];
    let kinds = ["RSA ", "EC ", "DSA ", "OPENSSH ", "", "ENCRYPTED "];
    all.extend(kinds.map(|kind| (kind, block(seed, &format!("{kind}PRIVATE KEY")))));
    all.push(("PGP ", block(seed, "PGP PRIVATE KEY BLOCK")));
    all
}

fn block(seed: u64, kind: &str) -> String {
    let lines: Vec<String> = (0..4).map(|n| drawn(seed + 50 + n, 64)).collect();
    let dashes = "-".repeat(5);
    let lines = lines.join("\n");
    format!("{dashes}BEGIN {kind}{dashes}\n{lines}\n{dashes}END {kind}{dashes}")
}

/// Every kind, each with a secret of its own.
pub(crate) fn kinds() -> Vec<SecretKind> {
    let kind = |name: &str, secret: String, text: String| SecretKind {
        name: name.to_owned(),
        secret,
        text,
    };
    let issued = (1000..)
        .zip(ISSUED)
        .map(|(seed, (a, b, alphabet, length))| {
            let secret = format!("{a}{b}{}", alphabet.draw(seed, length));
            let text = format!("Created it: {secret} (keep it)");
            kind(&format!("{a}{b}"), secret, text)
        });
    let formed = formed(2000).into_iter().chain(hashes_and_blocks(2000));
    let formed = formed.map(|(name, secret)| {
        let text = format!("cat it\n{secret}\ndone");
        kind(name, secret, text)
    });
    let surrounded = (3000..).zip(SURROUNDED.into_iter().chain(SAID));
    let surrounded = surrounded.map(|(seed, (name, text))| {
        let secret = format!("tr0ub{}", drawn(seed, 9));
        let text = text.replace("{}", &secret);
        kind(name, secret, text)
    });
    issued.chain(formed).chain(surrounded).collect()
}

/// The kinds that nothing gives away: docs/capture.md names them. Secret and text.
pub(crate) fn known_leaks() -> Vec<SecretKind> {
    let kind = |name: &str, secret: String, text: &str| SecretKind {
        name: name.to_owned(),
        text: text.replace("{}", &secret),
        secret,
    };
    vec![
        kind(
            "hex key without a name",
            hex(1, 40),
            "it printed {} and ended",
        ),
        kind(
            "UUID as a key without a name",
            "5f0c3a9e-7c1d-4b52-9d3e-2a6b8c4d1e0f".to_owned(),
            "use {} there",
        ),
        kind(
            "seed phrase without a name",
            "ripple canyon velvet orbit mango lunar".to_owned(),
            "{}",
        ),
        kind(
            "password in a sentence without a name",
            "hunter2".to_owned(),
            "log in as me with {}",
        ),
        kind(
            "random text of small letters only",
            Alphabet::Small.draw(5, 52),
            "it printed {} and ended",
        ),
    ]
}
