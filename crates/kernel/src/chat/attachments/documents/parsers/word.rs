//! Word documents.

use std::collections::HashMap;
use std::time::Instant;

use super::archive::Archive;
use super::dialects::Microsoft;
use super::xml::{Dialect, Element};
use super::{Read, Unreadable, one_line, tidy};

/// The limit of headers, and of footers.
const MARGINS: usize = 30;

pub(super) fn read_docx(bytes: &[u8], until: Instant) -> Result<Read, Unreadable> {
    let mut archive = Archive::open(bytes, until)?;
    let mut notes = Notes::default();
    for part in ["comments", "footnotes", "endnotes"] {
        archive.walk_extra(&format!("word/{part}.xml"), &mut notes)?;
    }
    let body = archive.walk("word/document.xml", &mut Microsoft::with_notes(&notes))?;
    let headers = read_margins(&mut archive, "Header")?;
    let footers = read_margins(&mut archive, "Footer")?;
    let parts: Vec<String> = headers.into_iter().chain([tidy(&body)]).chain(footers).collect();
    Ok(Read { text: parts.join("\n\n").trim().to_owned(), ..Read::default() })
}

/// The headers or footers, each once. A document has several for its first, left and right pages. Page numbers are left out.
fn read_margins(archive: &mut Archive<'_>, kind: &str) -> Result<Vec<String>, Unreadable> {
    let mut found: Vec<String> = Vec::new();
    for part in archive.list_numbered(&format!("word/{}", kind.to_lowercase())).iter().take(MARGINS) {
        let text = one_line(&archive.walk_extra(part, &mut Microsoft::default())?);
        let line = format!("{kind}: {text}");
        if text.contains(char::is_alphabetic) && !found.contains(&line) {
            found.push(line);
        }
    }
    Ok(found)
}

/// Comments, footnotes and endnotes, each as it is shown where the text refers to it.
#[derive(Default)]
pub(super) struct Notes {
    /// By kind and id.
    found: HashMap<String, String>,
    /// The present one: kind, id and author.
    open: Option<(String, String, Option<String>)>,
    text: Microsoft<'static>,
}

impl Notes {
    pub(super) fn get(&self, kind: &str, id: &str) -> Option<&str> {
        self.found.get(&format!("{kind}{id}")).map(String::as_str)
    }
}

impl Dialect for Notes {
    fn start(&mut self, name: &str, element: &Element<'_>, text: &mut String) {
        if matches!(name, "comment" | "footnote" | "endnote") {
            text.clear();
            self.open = element.attribute("id").map(|id| (name.to_owned(), id, element.attribute("author")));
        } else {
            self.text.start(name, element, text);
        }
    }

    fn end(&mut self, name: &str, text: &mut String) {
        let Some((kind, id, author)) = self.open.take_if(|open| open.0 == name) else { return self.text.end(name, text) };
        let body = one_line(text);
        text.clear();
        if !body.is_empty() {
            let by = author.map(|author| format!(" by {author}")).unwrap_or_default();
            self.found.insert(format!("{kind}{id}"), format!("[{kind}{by}: {body}]"));
        }
    }

    fn takes(&self) -> bool {
        self.text.takes()
    }

    fn write(&mut self, characters: &str, text: &mut String) {
        self.text.write(characters, text);
    }
}
