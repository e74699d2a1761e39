//! Transcripts of agent CLIs, of whatever format.

use std::io::Write as _;

use sprag_core::Timestamp;
use sprag_scan::{Options, named, page, scan};

/// A file is read to its end or passed over with a reason, and what was found in it can be shown.
pub(crate) fn transcript(data: &[u8]) {
    let mut file = tempfile::NamedTempFile::new().expect("there is room for a file");
    file.write_all(data).expect("a file can be written");
    let transcripts = named(&[file.path().to_owned()]).expect("a file that is there is found");
    let options = Options {
        threads: Some(1),
        ..Options::default()
    };
    let (report, _) = scan(&transcripts, &options, &|_| {});
    assert!(page(&report, Timestamp(1_760_000_000_000)).len() > 100);
}
