//! Secrets behind the short flags of well-known programs: `mysql -p…`, `redis-cli -a …`.
//!
//! A short flag means something else to every program, so it counts only after the name of one that
//! takes a secret there.

use super::spans::{Spans, place_in};

/// Programs (the beginning of their name), the flag, and whether the secret may be joined to it or
/// follow as the next word.
const FLAGS: [(&str, &str, Joined, Next); 19] = [
    ("mysql", "-p", true, false),
    ("mariadb", "-p", true, false),
    ("sshpass", "-p", true, true),
    ("7z", "-p", true, false),
    ("zip", "-P", false, true),
    ("unzip", "-P", false, true),
    ("redis-cli", "-a", false, true),
    ("docker", "-p", false, true),
    ("podman", "-p", false, true),
    ("helm", "-p", false, true),
    ("mongo", "-p", true, true),
    ("openssl", "-k", false, true),
    ("openssl", "-K", false, true),
    ("ldap", "-w", false, true),
    ("http", "-a", false, true),
    ("https", "-a", false, true),
    ("xh", "-a", false, true),
    ("curl", "-u", true, false),
    ("curl", "-b", false, true),
];

type Joined = bool;
type Next = bool;

/// Finds secrets behind short flags.
pub(super) fn find(text: &str, spans: &mut Spans) {
    for (start, command) in commands(text) {
        // Most lines are no commands with flags.
        if command.contains(" -") {
            one(start, command, spans);
        }
    }
}

/// The commands of a text with their places: lines, and what pipes and `;` join.
fn commands(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split(['\n', '|', ';', '&']).map(move |command| {
        let start = at;
        at += command.len() + 1;
        (start, command)
    })
}

fn one(start: usize, command: &str, spans: &mut Spans) {
    let mut words = words(command).peekable();
    let name = words.find_map(|(_, word)| program(word));
    let Some(name) = name else {
        return;
    };
    let args: Vec<(usize, &str)> = words.collect();
    // `docker run -p 80:80` is a port, and `-p` of `docker login` is not.
    let is_login = args.iter().any(|(_, word)| *word == "login");
    if matches!(name, "docker" | "podman" | "helm") && !is_login {
        return;
    }
    for (n, (at, word)) in args.iter().enumerate() {
        for (_, flag, joined, next) in FLAGS.iter().filter(|(program, ..)| is_named(name, program))
        {
            match word.strip_prefix(flag) {
                Some("") if *next => {
                    if let Some((at, secret)) = args.get(n + 1) {
                        spans.add(start + at..start + at + secret.len());
                    }
                }
                Some(secret) if *joined && !secret.is_empty() => {
                    let at = start + at + flag.len();
                    spans.add(at..at + secret.len());
                }
                _ => {}
            }
        }
    }
    if name == "htpasswd"
        && args
            .iter()
            .any(|(_, word)| word.starts_with("-b") || *word == "-cb")
    {
        spans_of_last(start, &args, spans);
    }
}

fn spans_of_last(start: usize, args: &[(usize, &str)], spans: &mut Spans) {
    if let Some((at, secret)) = args.last().filter(|(_, word)| !word.starts_with('-')) {
        spans.add(start + at..start + at + secret.len());
    }
}

/// The name of a program that takes secrets, from a word that may be a path to it or quoted.
fn program(word: &str) -> Option<&str> {
    let word = word.trim_start_matches(['"', '\'', '`', '(', '$', '{']);
    let name = word.rsplit('/').next().unwrap_or(word);
    let is_known = name == "htpasswd" || FLAGS.iter().any(|(program, ..)| is_named(name, program));
    is_known.then_some(name)
}

/// `mysqldump` is one of `mysql`'s; `httpd` is not `http`.
fn is_named(name: &str, program: &str) -> bool {
    match name.strip_prefix(program) {
        Some("") => true,
        Some(_) => matches!(program, "mysql" | "mariadb" | "mongo" | "ldap" | "7z"),
        None => false,
    }
}

/// The words of a command with their places; quotes around a word stay outside.
fn words(command: &str) -> impl Iterator<Item = (usize, &str)> {
    command.split_whitespace().map(move |word| {
        let bare = word.trim_start_matches(['"', '\'']);
        let start = place_in(command, bare);
        (start, bare.trim_end_matches(['"', '\'']))
    })
}
