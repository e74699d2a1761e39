//! Secrets that nobody ever issued, put together in code so that no scanner mistakes this file.

/// Letters and digits that look drawn, the same every time.
pub(crate) fn drawn(seed: u64, length: usize) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut letter = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        char::from(LETTERS[usize::try_from(state >> 33).unwrap() % LETTERS.len()])
    };
    (0..length).map(|_| letter()).collect()
}

fn issued(prefix: &[&str], seed: u64, length: usize) -> String {
    format!("{}{}", prefix.concat(), drawn(seed, length))
}

/// Secrets that give themselves away, wherever they stand.
pub(crate) fn shaped() -> Vec<String> {
    let capitals = drawn(9, 16).to_uppercase();
    let mut all = vec![
        issued(&["gh", "p_"], 1, 36),
        issued(&["gh", "s_"], 2, 36),
        issued(&["github", "_pat_"], 3, 60),
        issued(&["glp", "at-"], 4, 20),
        issued(&["s", "k-"], 5, 48),
        issued(&["s", "k-proj-"], 6, 48),
        issued(&["s", "k-ant-api03-"], 7, 80),
        issued(&["s", "k_live_"], 8, 24),
        issued(&["xo", "xb-123456789012-"], 10, 24),
        issued(&["xo", "xp-123456789012-"], 11, 24),
        format!("{}{capitals}", ["AK", "IA"].concat()),
        format!("{}{capitals}", ["AS", "IA"].concat()),
        issued(&["AI", "za"], 12, 35),
        issued(&["np", "m_"], 13, 36),
        issued(&["hf", "_"], 14, 34),
        issued(&["S", "G."], 15, 60),
        issued(&["ya", "29."], 16, 60),
        format!(
            "{}.{}.{}",
            issued(&["ey", "J"], 17, 30),
            issued(&["ey", "J"], 18, 60),
            drawn(19, 43)
        ),
        drawn(20, 40),
        drawn(21, 64),
        format!("{}/{}", drawn(22, 19), drawn(23, 20)),
    ];
    for kind in ["RSA ", "EC ", "OPENSSH ", ""] {
        let lines: Vec<String> = (0..6).map(|n| drawn(30 + n, 64)).collect();
        all.push(format!(
            "-----BEGIN {kind}PRIVATE KEY-----\n{}\n-----END {kind}PRIVATE KEY-----",
            lines.join("\n")
        ));
    }
    all
}

/// Short secrets that only their surroundings give away, without blanks and quotes.
pub(crate) fn plain() -> Vec<String> {
    ["hunter", "S3cr", "p4ss-", "tr0ub4dor"]
        .iter()
        .zip(40..)
        .map(|(word, seed)| format!("{word}{}", drawn(seed, 5)))
        .collect()
}

/// The ways in which a plain secret is announced.
pub(crate) const ANNOUNCED: [&str; 30] = [
    "password={}",
    "password: {}",
    "PASSWORD = \"{}\"",
    "'password': '{}'",
    "{\"password\": \"{}\"}",
    "{\"db\": {\"password\": \"{}\", \"port\": 1}",
    "\\\"api_key\\\": \\\"{}\\\"",
    "export OPENAI_API_KEY={}",
    "AWS_SECRET_ACCESS_KEY={} aws s3 ls",
    "PGPASSWORD={} psql -h db",
    "mysql --password={} -u root",
    "tool --token {} --verbose",
    "tool --api-key \"{}\"",
    "curl -u admin:{} https://example.org",
    "curl --user 'admin:{}' https://example.org",
    "curl -H 'Authorization: Bearer {}xxxxxxxx' https://example.org",
    "curl -H \"X-Api-Key: {}\" https://example.org",
    "Authorization: Basic {}==",
    "authorization: token {}\nAccept: */*",
    "Cookie: session={}; theme=dark",
    "Set-Cookie: sid={}; HttpOnly",
    "postgres://admin:{}@db.example.org:5432/x",
    "https://{}@github.com/a/b.git",
    "redis://:{}@localhost",
    "https://example.org/x?access_token={}&y=1",
    "client_secret: {}",
    "sshpass -p {} ssh host",
    "the password is {}",
    "Server=db;User Id=sa;Password={};",
    "secret => '{}',",
];
