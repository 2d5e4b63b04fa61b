use serde::Serialize;

use kernel::chat::outbound::{FileContent, OutboundFile};

/// A file that an item made, with its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artefact {
    pub facts: ArtefactFacts,
    pub content: Vec<u8>,
}

/// A file that an item made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ArtefactFacts {
    /// Its path in the workspace, with `/` as separator.
    pub name: String,
    /// `text/markdown`.
    pub media_type: String,
    pub bytes: u64,
    /// Of the content as stored, in hexadecimal.
    pub sha256: String,
}

impl Artefact {
    /// The content as text. None for other files.
    pub fn text(&self) -> Option<&str> {
        if self.facts.is_text() { std::str::from_utf8(&self.content).ok() } else { None }
    }

    /// The artefact as a file of a message. Platforms do not take folders.
    pub fn to_file(&self) -> OutboundFile {
        let content = match self.text() {
            Some(text) => FileContent::Text(text.to_owned()),
            None => FileContent::Bytes(self.content.clone()),
        };
        OutboundFile { name: self.facts.name.replace('/', "-"), content }
    }
}

impl ArtefactFacts {
    pub fn is_text(&self) -> bool {
        self.media_type.starts_with("text/") || self.media_type == "application/json"
    }

    pub fn is_picture(&self) -> bool {
        self.media_type.starts_with("image/")
    }

    /// `12 KB`.
    pub fn size(&self) -> String {
        describe_size(self.bytes)
    }
}

/// `812 bytes`, `12 KB`, `1.4 MB`.
pub fn describe_size(bytes: u64) -> String {
    match bytes {
        1 => "1 byte".to_owned(),
        0..1000 => format!("{bytes} bytes"),
        1000..999_500 => format!("{} KB", (bytes + 500) / 1000),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

/// The type of a file. Pictures are recognised by their content, because a name proves nothing. Whatever a browser might execute, such as HTML and
/// SVG, is plain text.
pub fn media_type_of(name: &str, content: &[u8]) -> &'static str {
    const PICTURES: [(&[u8], &str); 4] =
        [(b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF87a", "image/gif"), (b"GIF89a", "image/gif")];
    if let Some((_, picture)) = PICTURES.iter().find(|(magic, _)| content.starts_with(magic)) {
        return picture;
    }
    if content.starts_with(b"RIFF") && content.get(8..12) == Some(b"WEBP") {
        return "image/webp";
    }
    if std::str::from_utf8(content).is_err() {
        return "application/octet-stream";
    }
    match name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).as_deref() {
        Some("md" | "markdown") => "text/markdown",
        Some("csv") => "text/csv",
        Some("json") => "application/json",
        Some("patch" | "diff") => "text/x-patch",
        _ => "text/plain",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_told_by_the_content_and_never_executable() {
        for (name, content, expected) in [
            ("plan.md", &b"# Plan"[..], "text/markdown"),
            ("a.CSV", b"a,b", "text/csv"),
            ("a.json", b"{}", "application/json"),
            ("a1b2c3.patch", b"diff", "text/x-patch"),
            ("page.html", b"<script>", "text/plain"),
            ("drawing.svg", b"<svg onload='x'>", "text/plain"),
            ("script.png", b"alert(1)", "text/plain"),
            ("no-name", b"\x89PNG\r\n\x1a\nrest", "image/png"),
            ("a.md", b"\xff\x00", "application/octet-stream"),
        ] {
            assert_eq!(media_type_of(name, content), expected, "{name}");
        }
    }

    #[test]
    fn sizes_are_short() {
        let sizes = [0, 1, 999, 1000, 12_345, 999_499, 1_048_576].map(describe_size);
        assert_eq!(sizes, ["0 bytes", "1 byte", "999 bytes", "1 KB", "12 KB", "999 KB", "1.0 MB"]);
    }
}
