//! Where recorded runs are: plain or packed JSON lines, by file or by folder.
//!
//! Recordings are large and compress well, so `.gz` is read as it is. What unpacks without end is
//! cut off, so that a broken or hostile file costs an error and not the machine's memory.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use super::error::EvalError;

/// The most that one file may unpack to.
const MAX_BYTES: u64 = 2 * 1024 * 1024 * 1024;
/// The labels in a folder of traces.
const LABELS: &str = "labels.jsonl";

/// A file of recorded runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TraceFile {
    /// Its size as it lies there: what takes longest is begun first.
    pub size: u64,
    /// Where it is.
    pub path: PathBuf,
}

impl TraceFile {
    /// The name without `.jsonl` and `.gz`: the source, where no label says so.
    #[must_use]
    pub fn stem(&self) -> String {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        name.strip_suffix(".jsonl").unwrap_or(name).to_owned()
    }
}

/// The trace files that `paths` (files and folders) name, the largest first, and the label files
/// that lie beside them.
///
/// # Errors
/// Returns an error if a path can't be read, or a folder holds no traces.
pub fn trace_files(paths: &[PathBuf]) -> Result<(Vec<TraceFile>, Vec<PathBuf>), EvalError> {
    let mut files = Vec::new();
    let mut labels = Vec::new();
    for path in paths {
        let folder = if path.is_dir() {
            let inside = inside(path)?;
            if inside.is_empty() {
                return Err(EvalError::NoTraces { path: path.clone() });
            }
            files.extend(inside);
            path.as_path()
        } else {
            files.push(trace_file(path.clone())?);
            path.parent().unwrap_or(Path::new(""))
        };
        let beside = folder.join(LABELS);
        if beside.exists() && !labels.contains(&beside) {
            labels.push(beside);
        }
    }
    files.sort_by(|a, b| b.cmp(a));
    files.dedup();
    Ok((files, labels))
}

fn inside(folder: &Path) -> Result<Vec<TraceFile>, EvalError> {
    let unreadable = |source| EvalError::Unreadable {
        path: folder.to_owned(),
        source,
    };
    let mut files = Vec::new();
    for entry in folder.read_dir().map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_trace = name.ends_with(".jsonl") || name.ends_with(".jsonl.gz");
        if is_trace && name != LABELS {
            files.push(trace_file(path)?);
        }
    }
    Ok(files)
}

fn trace_file(path: PathBuf) -> Result<TraceFile, EvalError> {
    match path.metadata() {
        Ok(metadata) => Ok(TraceFile {
            size: metadata.len(),
            path,
        }),
        Err(source) => Err(EvalError::Unreadable { path, source }),
    }
}

/// What a file holds, unpacked where it is packed.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, EvalError> {
    read_at_most(path, MAX_BYTES)
}

fn read_at_most(path: &Path, max: u64) -> Result<Vec<u8>, EvalError> {
    let unreadable = |source| EvalError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let file = BufReader::new(File::open(path).map_err(unreadable)?);
    let packed = path.extension().is_some_and(|extension| extension == "gz");
    let mut bytes = Vec::new();
    let taken = if packed {
        let reader = MultiGzDecoder::new(file);
        reader.take(max.saturating_add(1)).read_to_end(&mut bytes)
    } else {
        file.take(max.saturating_add(1)).read_to_end(&mut bytes)
    };
    taken.map_err(unreadable)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > max {
        let path = path.to_owned();
        return Err(EvalError::TooLong { path, max });
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn what_unpacks_without_end_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bomb.jsonl.gz");
        let mut packer = flate2::write::GzEncoder::new(
            File::create(&path).unwrap(),
            flate2::Compression::default(),
        );
        packer.write_all(&vec![b' '; 100_000]).unwrap();
        packer.finish().unwrap();
        assert_eq!(read_at_most(&path, 100_000).unwrap().len(), 100_000);
        let error = read_at_most(&path, 99_999).unwrap_err();
        assert!(matches!(error, EvalError::TooLong { max: 99_999, .. }));
    }

    #[test]
    fn a_folder_gives_its_traces_the_largest_first_and_its_labels() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("a.jsonl", "1"),
            ("b.jsonl", "333"),
            ("labels.jsonl", ""),
            ("README.md", ""),
        ] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let (files, labels) = trace_files(&[folder.path().to_owned()]).unwrap();
        let stems: Vec<String> = files.iter().map(TraceFile::stem).collect();
        assert_eq!(stems, ["b", "a"]);
        assert_eq!(labels, [folder.path().join("labels.jsonl")]);
    }
}
