//! Every target over its corpus, and over many small changes of it, with the compiler of every day.

#![cfg(test)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use sprag_fuzz_targets::{TARGETS, Target, run};

/// How many changes of each example are tried; `SPRAG_FUZZ_CHANGES` sets another number for the long run.
const CHANGES: usize = 40;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// The examples of a target, in the order of their names.
fn examples(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(corpus().join(name));
    let entries = entries.unwrap_or_else(|error| panic!("corpus/{name}: {error}"));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let bytes = fs::read(&path).unwrap();
        (path, bytes)
    };
    paths.into_iter().map(read).collect()
}

/// A small generator: the same numbers in every run.
struct SeededRng(u64);

impl SeededRng {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(most.max(1)).unwrap()).unwrap()
    }

    /// A few changes of the kinds that break readers.
    fn change(&mut self, example: &[u8]) -> Vec<u8> {
        const PARTS: [&[u8]; 14] = [
            b"\"",
            b"\\",
            b"{",
            b"}",
            b"[",
            b"]",
            b",",
            b"\n",
            b"null",
            b"\\u0061",
            b"\0",
            b"\xff",
            b"$(",
            b"-9223372036854775808",
        ];
        let mut bytes = example.to_vec();
        for _ in 0..=self.below(3) {
            let at = self.below(bytes.len());
            match self.below(5) {
                0 => drop(bytes.drain(at..(at + self.below(20)).min(bytes.len()))),
                1 => drop(bytes.splice(at..at, PARTS[self.below(PARTS.len())].iter().copied())),
                2 => {
                    let end = (at + self.below(60)).min(bytes.len());
                    let copy = bytes[at..end].to_vec();
                    drop(bytes.splice(end..end, copy));
                }
                3 => bytes.truncate(at),
                _ if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
                _ => {}
            }
        }
        bytes
    }
}

/// Runs a target; a panic says which input it was, so that it can be put into the corpus.
fn tried(name: &str, what: &str, data: &[u8]) {
    let result = std::panic::catch_unwind(|| run(name, data));
    assert!(
        result.is_ok(),
        "{name} breaks a promise with {what}: {:?}",
        String::from_utf8_lossy(data)
    );
}

fn run_all(targets: &[Target]) {
    let changes = std::env::var_os("SPRAG_FUZZ_CHANGES");
    let changes = changes.map_or(CHANGES, |number| number.to_str().unwrap().parse().unwrap());
    for (name, _) in targets {
        for (path, data) in examples(name) {
            tried(name, &path.display().to_string(), &data);
            let mut rng = SeededRng(0x5eed_5eed);
            for number in 0..changes {
                let changed = rng.change(&data);
                tried(
                    name,
                    &format!("change {number} of {}", path.display()),
                    &changed,
                );
            }
        }
        tried(name, "nothing", b"");
    }
}

// Two halves, which run at the same time.

#[test]
fn the_first_half_of_the_targets_keeps_its_promises() {
    run_all(&TARGETS[..TARGETS.len() / 2]);
}

#[test]
fn the_second_half_of_the_targets_keeps_its_promises() {
    run_all(&TARGETS[TARGETS.len() / 2..]);
}

#[test]
fn every_target_has_examples_and_a_program() {
    let names: BTreeSet<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    assert_eq!(names.len(), TARGETS.len());
    let folders: BTreeSet<String> = fs::read_dir(corpus())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(folders.iter().map(String::as_str).eq(names.iter().copied()));
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/Cargo.toml");
    let programs = fs::read_to_string(programs).unwrap();
    for name in names {
        assert!(!examples(name).is_empty(), "{name} has no example");
        let line = format!("name = \"{name}\"");
        assert!(
            programs.lines().any(|own| own == line),
            "fuzz/Cargo.toml has no {name}"
        );
    }
}
