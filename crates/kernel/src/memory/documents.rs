//! Documents as memories: a file or a page is split into parts that can be found and cited.

use chrono::{DateTime, Utc};

use crate::ids::{ChannelId, MessageId};
use crate::memory::retrieval::{split, terms_of};
use crate::memory::{DocumentPart, Memory, MemoryKind, MemorySource, Origin, Teacher};

/// The text of documents counts more than what was said, and less than what was taught.
const SIGNIFICANCE: f64 = 0.6;

/// The most parts of a document that are remembered.
pub const MOST_PARTS: usize = 1000;

/// A document that somebody posted.
#[derive(Debug, Clone)]
pub struct Posted<'a> {
    pub message: &'a MessageId,
    pub by: Teacher,
    pub channel: &'a ChannelId,
    pub channel_name: &'a str,
    /// Where it may be told. None: everywhere.
    pub place: Option<ChannelId>,
    pub at: DateTime<Utc>,
    /// The name of the file, or the address of the page.
    pub name: &'a str,
    /// Which one of the message's documents it is.
    pub number: usize,
}

impl Posted<'_> {
    /// The parts of its text that say something. The same document gives the same ids.
    pub fn split(&self, text: &str) -> Vec<Memory> {
        let parts = split(text).into_iter().filter(|passage| !terms_of(&passage.text()).is_empty()).take(MOST_PARTS);
        let memory = |(part, passage): (usize, crate::memory::retrieval::Passage)| {
            let lines = passage.lines.first().zip(passage.lines.last()).map_or((1, 1), |(first, last)| (first.0, last.0));
            let place = DocumentPart { document: self.name.to_owned(), heading: passage.headings.last().cloned(), lines };
            let origin = Origin {
                by: self.by.clone(),
                channel: self.channel.clone(),
                channel_name: self.channel_name.to_owned(),
                part: Some(place),
            };
            Memory {
                id: format!("doc-{}-{}-{part}", self.message, self.number).into(),
                significance: SIGNIFICANCE,
                place: self.place.clone(),
                origin: Some(Box::new(origin)),
                ..Memory::new(MemoryKind::Document, passage.text(), MemorySource::Message(self.message.clone()), self.at)
            }
        };
        parts.enumerate().map(memory).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::feeds::now;

    #[test]
    fn a_document_becomes_parts_with_their_heading_and_lines() {
        let (message, channel) = ("m".into(), "c".into());
        let by = Teacher { id: Some("1".into()), name: "Ann".into() };
        let posted = Posted {
            message: &message,
            by,
            channel: &channel,
            channel_name: "knowledge",
            place: None,
            at: now(),
            name: "plan.md",
            number: 0,
        };
        let parts = posted.split("# Plan\n\n## Hosting\n\nWe host in Graz.\n\n---\n\n…\n\n## Money\n\nNone.\nYet none.\n");
        let told: Vec<(String, DocumentPart)> =
            parts.iter().map(|part| (part.text.clone(), part.origin.clone().unwrap().part.unwrap())).collect();
        let part = |heading: &str, lines| DocumentPart { document: "plan.md".into(), heading: Some(heading.into()), lines };
        assert_eq!(
            told,
            [("We host in Graz.".to_owned(), part("Hosting", (5, 5))), ("None.\nYet none.".to_owned(), part("Money", (13, 14)))]
        );
        assert_eq!(posted.split("# Plan\n\n## Hosting\n\nWe host in Graz.")[0].id, parts[0].id);
        assert!(posted.split("").is_empty() && parts[0].searched().contains("Hosting"));
    }
}
