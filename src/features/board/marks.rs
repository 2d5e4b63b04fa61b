//! Names with marks are the same on every way through the team: `test_cases.csv`, `rows[2]`, `C:\\dir`.

use proptest::prelude::*;
use pulldown_cmark::{Event, Parser};
use serde_json::json;

use crate::features::backlog::model::{Origin, Owner, WorkItem};
use crate::features::board::model::discussion::Given;
use kernel::agent::context::Cleaner;
use kernel::chat::medium::Medium;
use kernel::chat::text::plain;
use kernel::text::one_line;

/// Words with all marks of Markdown. None is a link, and the first one is no mark of a block.
const TEXT: &str = r"[a-v][a-v0-9_*~|\\\[\](){}<>#.=+&$!-]{0,12}( [a-v0-9_*~|\\\[\](){}<>#.=+&$!-]{1,12}){0,6}";

/// What a reader of Markdown shows.
fn shown(markdown: &str) -> String {
    let text = |event| match event {
        Event::Text(text) => text.into_string(),
        Event::SoftBreak | Event::HardBreak => "\n".to_owned(),
        Event::Start(_) | Event::End(_) => String::new(),
        other => format!("({other:?})"),
    };
    Parser::new(markdown).map(text).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn a_text_with_marks_is_the_same_on_every_way(text in TEXT) {
        // Stored: titles of items and steps, instructions, board documents, lessons.
        prop_assert_eq!(&one_line(&text, 400), &text);
        // Shown in a chat, at a terminal, and in files.
        prop_assert_eq!(&plain(&Medium::Chat.line(&text)), &text);
        prop_assert_eq!(&shown(&Medium::Chat.line(&text)), &text);
        prop_assert_eq!(&shown(&Medium::File.line(&text)), &text);
        // Told to a model.
        prop_assert_eq!(&Cleaner { marker: "7f3a9c20d1e8" }.whole(&text), &text);
        let item = WorkItem::new(&*text, Owner::Persona("vince".into()), Origin::CommandLine, chrono::DateTime::UNIX_EPOCH);
        prop_assert_eq!(item.describe_task(), format!("What: {text}"));
        // Read by programs.
        let read: WorkItem = serde_json::from_str(&json!(item).to_string()).expect("an item");
        prop_assert_eq!(&read.what, &text);
        let given = Given { position: text.clone(), ..Given::default() }.tidy().expect("it says something");
        prop_assert_eq!(&given.position, &text);
    }
}
