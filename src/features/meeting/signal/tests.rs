use proptest::prelude::*;

use crate::features::meeting::signal::*;
use kernel::text::flatten;

const LATENCY: &str =
    r#"{"subject": "checkout latency", "direction": "up", "confidence": 0.8, "evidence": {"feed": "metrics", "value": "412 ms"}}"#;

fn latency() -> Signal {
    let evidence = Some(Evidence { feed: "metrics".into(), value: "412 ms".into() });
    Signal { subject: "checkout latency".into(), direction: Direction::Up, confidence: 0.8, evidence }
}

#[test]
fn signals_are_found_in_every_form_and_leave_the_text() {
    let forms = [
        format!("```signals\n[{LATENCY}]\n```"),
        format!("```json\n[{LATENCY}]\n```"),
        format!("```JSON signals\n[{LATENCY}]\n```"),
        format!("```\n[{LATENCY}]\n```"),
        format!("~~~signals\n[{LATENCY}]\n~~~"),
        format!("```signals [{LATENCY}] ```"),
        format!("````signals\n```json\n[{LATENCY}]\n```\n````"),
        format!("```signals\n```json\n[{LATENCY}]\n```\n```"),
        format!("```signals\n[{LATENCY}]"),
        format!("```signals\n[{LATENCY},]\n```"),
        format!("```signals\n{LATENCY}\n```"),
        format!("```json\n{{\"signals\": [{LATENCY}]}}\n```"),
        format!("Signals:\n\n```signals\n[{LATENCY}]\n```"),
        format!("## Signals\n[{LATENCY}]"),
        format!("**Here are my signals:**\n[{LATENCY}]"),
        format!("---\nSignals: [{LATENCY}]").replace("Signals: ", "Signals:\n"),
        LATENCY.to_owned(),
        format!("[\n  {LATENCY}\n]"),
        "[{subject: checkout latency, direction: up, confidence: 0.8, evidence: {feed: metrics, value: 412 ms},}]".to_owned(),
        "[{'subject': 'checkout latency', 'direction': 'up', 'confidence': '80%', 'evidence': 'metrics: 412 ms'}]".to_owned(),
    ];
    for form in forms {
        let parsed = parse_report(&format!("Latency rose.\n\n{form}\n"));
        assert_eq!((parsed.text.as_str(), parsed.signals), ("Latency rose.", vec![latency()]), "{form}");
        assert_eq!(parsed.problems, Vec::<String>::new(), "{form}");
    }
}

#[test]
fn what_follows_the_block_is_still_said() {
    let parsed = parse_report(&format!("First.\n```signals\n[{LATENCY}]\n```\nLast."));
    assert_eq!((parsed.text.as_str(), parsed.signals.len()), ("First.\n\nLast.", 1));
    let parsed = parse_report(&format!("First.\n```signals\n[{LATENCY}]\n\nLast."));
    assert_eq!((parsed.text.as_str(), parsed.signals.len()), ("First.\n\nLast.", 1));
    let parsed = parse_report(&format!("```signals\n[{LATENCY}]\n```\nAnd:\n```signals\n[{LATENCY}]\n```"));
    assert_eq!((parsed.text.as_str(), parsed.signals.len()), ("And:", 2));
}

#[test]
fn text_without_signals_stays_as_it_is() {
    for text in [
        "",
        "Nothing to report.",
        "Done: [x] tests, [ ] docs. See [the page](https://example.org) and `{a: 1}`.",
        "It fails:\n```rust\nlet map = [{ 1 }];\nlet point = Point { x: 1 };\n```\nI look into it.",
        "```js\n{ foo: 1 }\n```",
        "Signals: none today",
        "The set {x: x > 0} and {\"status\": \"ok\"} stay, and so does vec![]",
        "- [ ] write the tests",
    ] {
        let parsed = parse_report(&format!("  {text}\n\n"));
        assert_eq!((parsed.text.as_str(), parsed.signals.len(), parsed.problems.len()), (text, 0, 0));
    }
}

#[test]
fn a_block_that_cannot_be_read_is_removed_and_told() {
    for (block, told) in [
        ("```signals\nlatency is up\n```", "holds no JSON object"),
        ("```signals\n[\"latency up\"]\n```", "holds no JSON object"),
        ("```json\n[{\"subject\": \"latency\", \"dire", "cut off"),
        ("[{\"subject\": \"latency\", \"dire", "cut off"),
        ("```signals\n[{\"subject\": \"a\" \"b\" up}]\n```", "is no JSON object"),
        ("```signals\n[{\"direction\": \"up\", \"confidence\": 1}]\n```", "has no subject"),
        ("```signals\n[{\"subject\": \"**\", \"direction\": \"up\", \"confidence\": 1}]\n```", "has no subject"),
        ("```signals\n[{\"subject\": \"latency\", \"confidence\": 1}]\n```", "has no direction"),
        ("```signals\n[{\"subject\": \"latency\", \"direction\": \"sour\", \"confidence\": 1}]\n```", "\"sour\"; directions are up, down"),
        ("```signals\n[{\"subject\": \"latency\", \"direction\": \"up\", \"confidence\": 180}]\n```", "\"180\" sure; give 0 to 1"),
        ("```signals\n[{\"subject\": \"latency\", \"direction\": \"up\", \"confidence\": -0.1}]\n```", "\"-0.1\" sure"),
        ("```signals\n[{\"subject\": \"latency\", \"direction\": \"up\", \"confidence\": [1]}]\n```", "\"\" sure"),
    ] {
        let parsed = parse_report(&format!("Hello.\n{block}"));
        assert_eq!((parsed.text.as_str(), parsed.signals.len()), ("Hello.", 0), "{block}");
        assert!(parsed.problems.iter().any(|problem| problem.contains(told)), "{block}: {:?}", parsed.problems);
    }
    for empty in ["```signals\n[]\n```", "```signals\n```", "```signals", "Signals: []", "```sig", "["] {
        let parsed = parse_report(&format!("Hello.\n{empty}"));
        assert_eq!((parsed.signals.len(), parsed.problems.len()), (0, 0), "{empty}");
        assert!(parsed.text.starts_with("Hello.") && !parsed.text.contains('[') && !parsed.text.contains("```"), "{empty}");
    }
}

#[test]
fn bad_entries_are_dropped_one_by_one() {
    let parsed = parse_report(&format!("```signals\n[{LATENCY}, {{\"subject\": \"x\"}}, {LATENCY}, 3, {{\"subject\": \"cut"));
    assert_eq!((parsed.signals.len(), parsed.problems.len()), (2, 2), "{:?}", parsed.problems);
    let many = [LATENCY; 11].join(",");
    let parsed = parse_report(&format!("```signals\n[{many}]\n```"));
    assert_eq!((parsed.signals.len(), parsed.problems), (MOST, vec!["11 signals were given; the first 8 are kept".to_owned()]));
}

#[test]
fn a_field_is_understood_in_many_words() {
    let read = |fields: &str| parse_report(&format!("[{{\"subject\": \"a\", {fields}}}]")).signals.pop();
    for (written, meant) in [
        ("rising fast", Direction::Up),
        ("↑", Direction::Up),
        ("⬆️", Direction::Up),
        ("Down", Direction::Down),
        ("lower", Direction::Down),
        ("→", Direction::Flat),
        ("stable", Direction::Flat),
        ("Good!", Direction::Good),
        ("degraded", Direction::Bad),
    ] {
        let signal = read(&format!("\"direction\": \"{written}\", \"confidence\": 1")).expect(written);
        assert_eq!(signal.direction, meant, "{written}");
    }
    for (written, meant) in
        [("0.7", 0.7), ("70", 0.7), ("1", 1.0), ("\"70%\"", 0.7), ("\"70\"", 0.7), ("\"High\"", 0.8), ("\"1%\"", 0.01), ("null", 0.5)]
    {
        let signal = read(&format!("\"direction\": \"up\", \"confidence\": {written}")).expect(written);
        assert!((signal.confidence - meant).abs() < 1e-9, "{written}");
    }
    let evidence = |written: &str| {
        let signal = read(&format!("\"direction\": \"up\", \"confidence\": 1, \"evidence\": {written}")).expect(written);
        signal.evidence.map(|evidence| (evidence.feed, evidence.value))
    };
    let is = |feed: &str, value: &str| Some((feed.to_owned(), value.to_owned()));
    assert_eq!(evidence("\"metrics: 412 ms\""), is("metrics", "412 ms"));
    assert_eq!(evidence("\"metrics\""), is("metrics", ""));
    assert_eq!(evidence("{\"feed\": \"metrics\", \"value\": 412, \"unit\": \"ms\"}"), is("metrics", "412 ms"));
    assert_eq!(evidence("[{\"feed\": \"metrics\"}]"), is("metrics", ""));
    assert_eq!(evidence("{\"value\": 412}"), None);
    assert_eq!(evidence("null"), None);
}

#[test]
fn what_a_signal_says_formats_nothing_and_mentions_nobody() {
    assert_eq!(
        flatten("# **Checkout**_p95_ @everyone\n<user:discord:42> <b> <channel:discord:7> [x](http://a) | b", 80),
        "Checkout p95 everyone b> x(http://a) b"
    );
    assert_eq!(flatten("<= 400 ms, < 5, +12 %", 80), "<= 400 ms, < 5, +12 %");
    assert_eq!(flatten("- one thing", 80), "one thing");
    assert_eq!(flatten("one two three", 9), "one two…");
    assert_eq!(flatten("abcdef", 3), "ab…");
}

#[test]
fn only_what_moved_and_is_likely_is_notable() {
    let signal = |direction, confidence| Signal { direction, confidence, ..latency() };
    assert!(signal(Direction::Bad, 0.6).is_notable());
    assert!(!signal(Direction::Bad, 0.59).is_notable());
    assert!(!signal(Direction::Flat, 1.0).is_notable());
}

#[test]
fn a_report_that_says_nothing_is_quiet_in_whatever_words() {
    for quiet in [
        "Nothing to report.",
        "nothing to report",
        "**Nothing to report** today!",
        "Good morning, nothing new to report from my side. Thanks!",
        "No updates today.",
        "No news.",
        "All quiet on my end.",
        "Nothing new since yesterday.",
        "I've nothing to report.",
        "Nothing has changed.",
        "Nothing to report (looked at 3 feeds).",
        "Nothing to report.\n<small>Looked at: ledger $0.00, activity 0 messages.</small>",
    ] {
        assert!(is_quiet(quiet), "{quiet}");
    }
    for loud in [
        "",
        "Good morning team!",
        "Nothing works today.",
        "Nothing to report, but the build is red.",
        "No updates shipped: the pipeline is broken.",
        "All good things end.",
        "The quiet deploy broke checkout.",
        "Nothing to report. Costs are up 40 %.",
    ] {
        assert!(!is_quiet(loud), "{loud}");
    }
}

#[test]
fn a_report_is_cut_behind_a_sentence_or_else_behind_a_word() {
    assert_eq!(cut_at_sentence("Short.", 600), "Short.");
    assert_eq!(cut_at_sentence("One is here. Two is 3.5 here. Three is here.", 32), "One is here. Two is 3.5 here.");
    assert_eq!(cut_at_sentence("One. Then a long sentence that goes on and on", 30), "One. Then a long sentence…");
    assert_eq!(cut_at_sentence(&"x".repeat(50_000), 10), "xxxxxxxxx…");
    assert_eq!(cut_at_sentence("eine Zeile\nzwei Zeilen\ndrei", 24), "eine Zeile\nzwei Zeilen");
    assert_eq!(cut_at_sentence("第一句话。第二句话。第三", 10), "第一句话。第二句话。");
    assert_eq!(cut_at_sentence("anything", 0), "");
    assert_eq!(cut_at_sentence("wave 👋🏽👋🏽👋🏽", 8), "wave 👋🏽…");
}

#[test]
fn a_fence_that_is_cut_is_closed_within_the_cap() {
    let text = format!("Look:\n```\n{}```\nEnd.", "let x = 1;\n".repeat(20));
    let cut = cut_at_sentence(&text, 60);
    assert!(cut.ends_with("\n```") && cut.chars().count() <= 60, "{cut}");
    assert_eq!(cut_at_sentence("See this. ```aaaaaaaaaaaaaaaaaaaa```", 14), "See this.");
}

/// Signals in a possibly hostile text, truncated anywhere.
fn wrapped() -> impl Strategy<Value = String> {
    let opening = prop::sample::select(vec![
        "```signals\n",
        "```json\n",
        "````signals\n```json\n",
        "```\n",
        "~~~\n",
        "Signals:\n",
        "\n",
        "```rust\nx\n",
    ]);
    let closing = prop::sample::select(vec!["\n```", "\n```\n```", "", "\n~~~\nBye.", "\n````"]);
    (prop::sample::select(vec!["", "Hi. ", "a ` b\n", "```py\nx\n```\n"]), opening, 1..4_usize, closing, any::<prop::sample::Index>())
        .prop_map(|(before, opening, count, closing, cut)| {
            let text = format!("{before}{opening}[{}]{closing}", vec![LATENCY; count].join(", "));
            let at = cut.index(text.len() + 1);
            text[..at].to_owned()
        })
}

proptest! {
    #[test]
    fn signals_are_never_posted_however_they_are_wrapped_and_cut(text in wrapped()) {
        let parsed = parse_report(&text);
        prop_assert!(!parsed.text.contains('{') && !parsed.text.contains("\"subj") && !parsed.text.contains("```json"), "{:?}", parsed.text);
    }

    #[test]
    fn any_text_is_taken_apart_without_a_fault(text in "(?s).{0,300}") {
        let parsed = parse_report(&text);
        prop_assert!(parsed.text.len() <= text.len() + 2 * parsed.text.matches("\n\n").count());
        prop_assert!(parsed.signals.len() <= MOST);
    }

    #[test]
    fn fences_brackets_and_quotes_in_any_order_are_no_fault(parts in prop::collection::vec(prop::sample::select(vec![
        "```", "````", "~~~", "`", "signals", "json", "\n", " ", "[", "{", "}", "]", "\"", "'", ":", ",", "\\", "subject", "é", "direction", LATENCY,
    ]), 0..60)) {
        let parsed = parse_report(&parts.concat());
        prop_assert!(!parsed.text.contains(LATENCY), "{:?}", parsed.text);
        for signal in &parsed.signals {
            prop_assert!(signal.subject.chars().count() <= 60 && (0.0..=1.0).contains(&signal.confidence));
        }
    }

    #[test]
    fn plain_words_stay_as_they_are(text in "[a-zA-Z0-9 .,!?()\n'-]{0,200}") {
        prop_assert_eq!(parse_report(&text).text, text.trim());
    }

    #[test]
    fn a_cut_text_holds_its_cap_and_leaves_no_fence_open(text in "([a-zé👍🏽 .\n]{0,30}(```|````|`)?){0,8}", cap in 0..120_usize) {
        let cut = cut_at_sentence(&text, cap);
        prop_assert!(cut.chars().count() <= cap);
        // A fence is not closed by fewer backticks than opened it.
        let fences = cut.split(|c| c != '`').map(str::len).filter(|ticks| *ticks >= 3);
        let open = fences.fold(0, |open, ticks| if open == 0 { ticks } else if ticks >= open { 0 } else { open });
        prop_assert_eq!(open, 0, "{:?}", cut);
    }

    #[test]
    fn a_flat_text_is_one_short_line(text in "(?s).{0,200}", limit in 1..80_usize) {
        let flat = flatten(&text, limit);
        prop_assert!(flat.chars().count() <= limit && !flat.contains(['\n', '@', '`', '|']), "{flat:?}");
    }
}

#[test]
fn fifty_thousand_characters_are_read() {
    for part in
        ["[", "{", "```", "``` ", "```a", "[{", "{\"subject\":", "```json [\n```\n", "[{\"a\":", "{}", "~~~\n", "\"", LATENCY, " ", "x"]
    {
        let text = part.repeat(50_000 / part.len());
        let parsed = parse_report(&text);
        assert!(parsed.problems.len() <= 100_000 && cut_at_sentence(&parsed.text, 600).chars().count() <= 600);
        is_quiet(&text);
    }
}

/// Each of these took minutes when every block was searched for its end up to the end of the text.
#[test]
fn hostile_texts_are_parsed_in_time_that_grows_with_their_length() {
    let many = 60_000;
    let unclosed = parse_report(&"```signals\n[{\n```\n".repeat(many));
    assert_eq!((unclosed.text.as_str(), unclosed.signals.len()), ("", 0));
    let lists = parse_report(&format!("Fine.\n{}{}.", "[".repeat(many), " ".repeat(many)));
    assert!(lists.text.starts_with("Fine.") && lists.signals.is_empty());
    let open = parse_report(&"```rust\nlet x;\n".repeat(many));
    assert!(open.signals.is_empty());
}
