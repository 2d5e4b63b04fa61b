use proptest::prelude::*;

use crate::chat::split::*;

fn characters(text: &str) -> usize {
    text.chars().count()
}

/// The part of a text that must survive: all but white space, backticks and repeated languages.
fn essence(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && *c != '`').collect::<String>().replace("lang", "")
}

#[test]
fn a_short_text_is_one_message_and_a_blank_one_is_none() {
    assert_eq!(split("hello", 2000), ["hello"]);
    assert_eq!(split("", 2000), [""; 0]);
    assert_eq!(split(" \n\t\n ", 2000), [""; 0]);
    assert_eq!(split(&"é".repeat(2000), 2000).len(), 1, "characters count, not bytes");
    assert_eq!(split(&"👍".repeat(2000), 2000).len(), 1, "nor UTF-16 units");
}

#[test]
fn cuts_fall_on_paragraphs_then_lines_then_words() {
    assert_eq!(split("first one\n\nsecond\nthird", 20), ["first one", "second\nthird"]);
    assert_eq!(split("first one\nsecond one\nthird", 20), ["first one\nsecond one", "third"]);
    assert_eq!(split("one two three four five", 12), ["one two", "three four", "five"]);
    assert_eq!(split("twelve chars again", 12), ["twelve chars", "again"], "the border may stand right behind the limit");
    assert_eq!(split("abcdefghij", 4), ["abcd", "efgh", "ij"]);
}

#[test]
fn a_cut_code_block_is_closed_and_opened_again_with_its_language() {
    let text = format!("Look:\n```rust\n{}```\ndone", "let line = 1;\n".repeat(8));
    let messages = split(&text, 80);
    assert!(messages.len() > 1);
    for message in &messages {
        assert!(characters(message) <= 80, "{message}");
        assert_eq!(message.matches("```").count() % 2, 0, "{message}");
    }
    assert!(messages[1].starts_with("```rust\nlet line"));
    assert_eq!(messages.iter().map(|message| message.matches("let line = 1;").count()).sum::<usize>(), 8);
    assert!(messages.last().is_some_and(|last| last.ends_with("done")));
}

#[test]
fn a_block_that_its_author_never_closed_is_closed_once_it_was_cut() {
    let messages = split(&format!("```rust\n{}", "let line = 1;\n".repeat(8)), 80);
    assert!(messages.len() > 1 && messages.iter().all(|message| message.ends_with("\n```")), "{messages:?}");
}

#[test]
fn indentation_in_a_code_block_survives_the_cut() {
    let text = format!("```py\n{}```", "if a:\n    b()\n".repeat(12));
    let lines: Vec<String> =
        split(&text, 60).iter().flat_map(|m| m.lines().filter(|l| !l.starts_with("```")).map(str::to_owned).collect::<Vec<_>>()).collect();
    assert_eq!(lines.join("\n") + "\n", "if a:\n    b()\n".repeat(12));
}

#[test]
fn no_empty_code_block_is_left_at_a_cut() {
    let text = format!("{}\n```rust\n{}\n```", "word ".repeat(11).trim(), "x".repeat(40));
    let messages = split(&text, 64);
    assert!(!messages[0].contains("```"), "{messages:?}");
    let text = format!("```rust\n{}\n```\nafter", "y".repeat(30));
    let messages = split(&text, 43);
    assert_eq!(messages, [format!("```rust\n{}\n```", "y".repeat(30)), "after".to_owned()]);
}

#[test]
fn links_and_mentions_stay_whole() {
    let link = "https://example.org/a/long/path";
    let mention = "<user:discord:123456789012345678>";
    let named = "[two words](https://example.org)";
    for whole in [link, mention, named] {
        for before in 0..60 {
            for joint in [" ", ""] {
                let text = format!("{}{joint}{whole} and so on and so forth, for quite a while", "x".repeat(before));
                let messages = split(&text, 60);
                assert!(messages.iter().any(|message| message.contains(whole)), "{messages:?}");
                assert!(messages.iter().all(|message| characters(message) <= 60));
            }
        }
    }
}

#[test]
fn what_shows_as_one_character_stays_whole() {
    for whole in ["👨\u{200D}👩\u{200D}👧", "e\u{0301}", "👍🏽", "🇩🇪", "❤\u{FE0F}"] {
        for before in 0..20 {
            let text = format!("{}{whole}{}", "x".repeat(before), "y".repeat(20));
            assert!(split(&text, 20).iter().any(|message| message.contains(whole)), "{whole} behind {before}");
        }
    }
}

#[test]
fn an_endless_pile_of_marks_is_cut_all_the_same() {
    let messages = split(&format!("a{}", "\u{0301}".repeat(5000)), 2000);
    assert_eq!(messages.iter().map(|message| characters(message)).sum::<usize>(), 5001);
}

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z]{1,12}",
        Just("```lang\n".to_owned()),
        Just("\n```\n".to_owned()),
        // With a space, so that the next text is not parsed as a language and repeated.
        Just("``` ".to_owned()),
        Just("` ".to_owned()),
        Just("\n\n".to_owned()),
        Just("\n".to_owned()),
        Just(" ".to_owned()),
        Just("<user:discord:123>".to_owned()),
        Just("[a b](http://x.y)".to_owned()),
        Just("https://x.y/z".to_owned()),
        Just("🇩🇪👍🏽é".to_owned()),
        "\\PC{0,4}",
    ];
    prop::collection::vec(piece, 0..80).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_message_is_too_long_or_blank_and_nothing_is_lost(text in pieces(), limit in 1..120_usize) {
        let messages = split(&text, limit);
        for message in &messages {
            prop_assert!(characters(message) <= limit, "{} > {limit}: {message:?}", characters(message));
            prop_assert!(!message.trim().is_empty());
        }
        prop_assert_eq!(essence(&messages.concat()), essence(&text));
    }

    #[test]
    fn text_without_code_comes_back_word_for_word(text in "([a-z]{1,9}[ \n]{1,2}){0,60}", limit in 10..80_usize) {
        let joined = split(&text, limit).join(" ");
        prop_assert_eq!(joined.split_whitespace().collect::<Vec<_>>(), text.split_whitespace().collect::<Vec<_>>());
    }
}
