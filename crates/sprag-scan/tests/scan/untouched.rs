//! A scan leaves no trace: not a byte, not a file.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use sprag_hooks::Client;
use sprag_scan::{Options, scan};

use crate::filters::home;

/// Every file below a folder, with a fingerprint of what it holds and when it was written.
fn everything(folder: &Path) -> BTreeMap<PathBuf, (u64, std::time::SystemTime)> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            all.extend(everything(&path));
            continue;
        }
        let modified = entry.metadata().unwrap().modified().unwrap();
        let mut hasher = DefaultHasher::new();
        fs::read(&path).unwrap().hash(&mut hasher);
        all.insert(path, (hasher.finish(), modified));
    }
    all
}

#[test]
fn a_home_is_the_same_before_and_after() {
    let folder = tempfile::tempdir().unwrap();
    let places = home(folder.path());
    let before = everything(folder.path());
    let report = scan(&places.find(&Client::ALL), &Options::default(), &|_| {}).0;
    assert_eq!(report.total.loops, 5);
    assert_eq!(everything(folder.path()), before);
}
