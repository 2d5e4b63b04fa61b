//! How a memory is cited: from whom, from where, and when.

use crate::memory::{Memory, MemoryKind};

/// The most characters of a name, and of a title.
const NAME: usize = 40;
const TITLE: usize = 100;

impl Memory {
    /// The words before the memory's text: `Ann taught me on 3 March 2026`, `From plan.md, "Hosting", posted by Ann on 3 March 2026`. `on` is the day
    /// of the memory. `clean` shortens a name or title to a number of characters.
    pub fn cite(&self, on: &str, clean: impl Fn(&str, usize) -> String) -> String {
        if let Some(by) = &self.taught_by {
            return format!("{} taught me on {on}", clean(&by.name, NAME));
        }
        let Some(origin) = &self.origin else { return format!("Learnt on {on}") };
        let by = clean(&origin.by.name, NAME);
        let place = if origin.channel_name.is_empty() { String::new() } else { format!(" in #{}", clean(&origin.channel_name, NAME)) };
        match (&origin.part, self.kind) {
            (Some(part), MemoryKind::Document) => {
                let heading = part.heading.as_deref().map_or(String::new(), |heading| format!(", \"{}\"", clean(heading, TITLE)));
                format!("From {}{heading}, posted by {by} on {on}", clean(&part.document, TITLE))
            }
            _ => format!("{by} said on {on}{place}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{DocumentPart, MemorySource, Origin, Teacher};
    use crate::testing::feeds::now;

    #[test]
    fn each_kind_says_where_it_comes_from() {
        let ann = Teacher { id: Some("1".into()), name: "Ann".into() };
        let memory = |kind| Memory::new(kind, "x", MemorySource::Message("m".into()), now());
        let origin = Origin { by: ann.clone(), channel: "c".into(), channel_name: "general".into(), part: None };
        let part = DocumentPart { document: "plan.md".into(), heading: Some("Hosting".into()), lines: (3, 4) };
        let said = Memory { origin: Some(Box::new(origin.clone())), ..memory(MemoryKind::Conversation) };
        let in_private =
            Memory { origin: Some(Box::new(Origin { channel_name: String::new(), ..origin.clone() })), ..memory(MemoryKind::Conversation) };
        let document = Memory { origin: Some(Box::new(Origin { part: Some(part), ..origin })), ..memory(MemoryKind::Document) };
        let taught = Memory { taught_by: Some(ann), ..memory(MemoryKind::Fact) };
        for (memory, expected) in [
            (taught, "Ann taught me on 3 March"),
            (memory(MemoryKind::Lesson), "Learnt on 3 March"),
            (said, "Ann said on 3 March in #general"),
            (in_private, "Ann said on 3 March"),
            (document, "From plan.md, \"Hosting\", posted by Ann on 3 March"),
        ] {
            assert_eq!(memory.cite("3 March", |text, _| text.to_owned()), expected);
        }
    }
}
