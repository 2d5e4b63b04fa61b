//! Text out of the XML of office documents.

use std::time::Instant;

use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};

use super::{MAX_TEXT, Unreadable};

/// How many elements are read between two looks at the clock.
const LOOK: usize = 4096;

/// What an element means for the text. Names are given without their namespace.
pub(super) trait Dialect {
    /// An element begins.
    fn start(&mut self, name: &str, element: &Element<'_>, text: &mut String);

    fn end(&mut self, name: &str, text: &mut String);

    /// Whether characters at this place are part of the text.
    fn takes(&self) -> bool;

    /// Characters of the text.
    fn write(&mut self, characters: &str, text: &mut String) {
        text.push_str(characters);
    }
}

/// The beginning of an element.
pub(super) struct Element<'a>(&'a BytesStart<'a>);

impl Element<'_> {
    /// The value of an attribute, by its name without its namespace.
    pub(super) fn attribute(&self, name: &str) -> Option<String> {
        let mut attributes = self.0.attributes().flatten();
        let found = attributes.find(|attribute| local(attribute.key.as_ref()) == name)?;
        found.normalized_value(XmlVersion::Implicit1_0).ok().map(std::borrow::Cow::into_owned)
    }

    /// The id of a relation, which is told from other ids by its namespace.
    pub(super) fn reference(&self) -> Option<String> {
        let mut attributes = self.0.attributes().flatten();
        let found = attributes.find(|attribute| attribute.key.as_ref().ends_with(":id"))?;
        found.normalized_value(XmlVersion::Implicit1_0).ok().map(std::borrow::Cow::into_owned)
    }

    /// Whether an attribute is true.
    pub(super) fn is_set(&self, name: &str) -> bool {
        self.attribute(name).is_some_and(|value| matches!(value.as_str(), "1" | "true" | "on"))
    }
}

fn local(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

/// Reads XML up to the end, or as far as text is kept. Entities that the document defines are never expanded.
pub(super) fn walk(xml: &[u8], dialect: &mut impl Dialect, until: Instant) -> Result<String, Unreadable> {
    let xml = std::str::from_utf8(xml).map_err(|_| Unreadable::Damaged)?;
    let mut reader = Reader::from_str(xml);
    let mut text = String::new();
    for count in 0.. {
        if count % LOOK == 0 && Instant::now() > until {
            return Err(Unreadable::Slow);
        }
        if text.len() > MAX_TEXT {
            break;
        }
        match reader.read_event().map_err(|_| Unreadable::Damaged)? {
            Event::Start(element) => dialect.start(local(element.name().as_ref()), &Element(&element), &mut text),
            Event::Empty(element) => {
                dialect.start(local(element.name().as_ref()), &Element(&element), &mut text);
                dialect.end(local(element.name().as_ref()), &mut text);
            }
            Event::End(element) => dialect.end(local(element.name().as_ref()), &mut text),
            Event::Text(characters) if dialect.takes() => dialect.write(&characters.xml10_content(), &mut text),
            Event::CData(characters) if dialect.takes() => dialect.write(&characters.xml10_content(), &mut text),
            Event::GeneralRef(reference) if dialect.takes() => {
                let character = reference.resolve_char_ref().ok().flatten().map(String::from);
                let named = quick_xml::escape::resolve_xml_entity(&reference).map(str::to_owned);
                dialect.write(&character.or(named).unwrap_or_default(), &mut text);
            }
            Event::Eof => break,
            _ => {}
        }
    }
    Ok(text)
}
