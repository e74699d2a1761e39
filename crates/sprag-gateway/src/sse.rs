//! The events of a stream, each with the bytes that it came as.

/// One whole event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SseEvent {
    /// Its bytes, the empty line at its end among them.
    pub(crate) raw: Vec<u8>,
    /// Its data, joined over lines; none for comments.
    pub(crate) data: Option<Vec<u8>>,
}

/// Cuts a stream into events. Holds at most one event that is not whole yet.
#[derive(Debug, Default)]
pub(crate) struct SseSplitter {
    held: Vec<u8>,
    /// Where the line that is being read begins.
    line: usize,
    /// How far it was looked at.
    read: usize,
}

impl SseSplitter {
    /// Takes what has come.
    pub(crate) fn push(&mut self, chunk: &[u8]) {
        self.held.extend_from_slice(chunk);
    }

    /// The next whole event.
    pub(crate) fn next(&mut self) -> Option<SseEvent> {
        while let Some(&byte) = self.held.get(self.read) {
            self.read += 1;
            if byte != b'\n' {
                continue;
            }
            let line = self.held.get(self.line..self.read).unwrap_or_default();
            let is_empty = matches!(line, b"\n" | b"\r\n");
            self.line = self.read;
            if is_empty {
                return Some(self.cut());
            }
        }
        None
    }

    /// How much is held of an event that is not whole.
    pub(crate) fn held(&self) -> usize {
        self.held.len()
    }

    /// What is left when the stream ends, or when an event is too long.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        self.line = 0;
        self.read = 0;
        std::mem::take(&mut self.held)
    }

    fn cut(&mut self) -> SseEvent {
        let rest = self.held.split_off(self.read);
        let raw = std::mem::replace(&mut self.held, rest);
        self.line = 0;
        self.read = 0;
        let data = data(&raw);
        SseEvent { raw, data }
    }
}

fn data(raw: &[u8]) -> Option<Vec<u8>> {
    let mut data: Option<Vec<u8>> = None;
    for line in raw.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let Some(value) = line.strip_prefix(b"data:") else {
            continue;
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &mut data {
            Some(data) => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
            None => data = Some(value.to_vec()),
        }
    }
    data
}

/// Sets a field of an object.
pub(crate) fn put(object: &mut serde_json::Value, name: &str, value: serde_json::Value) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(name.to_owned(), value);
    }
}

/// One event of ours.
pub(crate) fn event(name: Option<&str>, data: &serde_json::Value) -> Vec<u8> {
    match name {
        Some(name) => format!("event: {name}\ndata: {data}\n\n").into_bytes(),
        None => format!("data: {data}\n\n").into_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_keep_their_bytes_however_they_are_cut() {
        let stream = b": hi\n\nevent: a\r\ndata: {\"x\":\r\ndata: 1}\r\n\r\ndata:[DONE]\n\nrest";
        for piece in 1..stream.len() {
            let mut splitter = SseSplitter::default();
            let (mut raw, mut data) = (Vec::new(), Vec::new());
            for part in stream.chunks(piece) {
                splitter.push(part);
                while let Some(event) = splitter.next() {
                    raw.extend(event.raw);
                    data.push(event.data.map(|data| String::from_utf8(data).unwrap()));
                }
            }
            raw.extend(splitter.rest());
            assert_eq!(raw, stream);
            let expected = [
                None,
                Some("{\"x\":\n1}".to_owned()),
                Some("[DONE]".to_owned()),
            ];
            assert_eq!(data, expected);
        }
    }
}
