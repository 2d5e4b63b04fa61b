use std::string::FromUtf8Error;

const BYTE_ORDER_MARK: &[u8] = "\u{FEFF}".as_bytes();

/// Parses server-sent events, as defined by the HTML standard.
///
/// The crate `eventsource-stream` takes quadratic time in the line length and panics on a byte order mark. Only the data is used, because
/// both protocols repeat the event's name there. Lines end with a line feed; nobody sends bare carriage returns.
#[derive(Debug, Default)]
pub(super) struct Events {
    buffer: Vec<u8>,
    /// The start of the first unread line.
    line: usize,
    /// No line feed before this position.
    searched: usize,
    data: Vec<u8>,
    begun: bool,
}

impl Events {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.line);
        self.searched -= self.line;
        self.line = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// Whether nothing has come yet.
    pub(super) fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// The data of the next complete event. An event cut off by the end of the stream is dropped.
    pub(super) fn next_event(&mut self) -> Option<Result<String, FromUtf8Error>> {
        while let Some(length) = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n') {
            let end = self.searched + length;
            let mut line = &self.buffer[self.line..end];
            (self.line, self.searched) = (end + 1, end + 1);
            if !self.begun {
                self.begun = true;
                line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
            }
            line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.is_empty() && !self.data.is_empty() {
                return Some(String::from_utf8(std::mem::take(&mut self.data)));
            }
            if let Some(data) = line.strip_prefix(b"data:") {
                if !self.data.is_empty() {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(data.strip_prefix(b" ").unwrap_or(data));
            }
        }
        self.searched = self.buffer.len();
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Parses a text that arrives in parts of this size.
    fn read(text: &[u8], size: usize) -> Vec<String> {
        let mut events = Events::default();
        let mut found = Vec::new();
        for piece in text.chunks(size) {
            events.push(piece);
            while let Some(event) = events.next_event() {
                found.push(event.expect("text"));
            }
        }
        found
    }

    #[test]
    fn names_comments_and_an_unfinished_event_are_left_out() {
        let text = "\u{FEFF}: keep-alive\r\n\r\nevent: ping\r\ndata: {\"a\":\r\ndata:1}\r\n\r\nid: 7\n\ndata:  two\n\ndata: half";
        for size in [1, 3, 1000] {
            assert_eq!(read(text.as_bytes(), size), ["{\"a\":\n1}", " two"]);
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_told() {
        let mut events = Events::default();
        events.push(b"data: \xFF\xFE\n\ndata: fine\n\n");
        assert!(events.next_event().expect("an event").is_err());
        assert_eq!(events.next_event().expect("an event").expect("text"), "fine");
        assert!(events.next_event().is_none());
    }

    proptest! {
        #[test]
        fn events_come_out_as_they_went_in_however_the_bytes_are_cut(
            events in proptest::collection::vec("[^\r\n \u{FEFF}][^\r\n]{0,40}", 0..20),
            size in 1_usize..50,
        ) {
            let text = events.iter().map(|event| format!("event: x\ndata: {event}\n\n")).collect::<Vec<_>>().concat();
            prop_assert_eq!(read(text.as_bytes(), size), events);
        }
    }
}
