use proptest::prelude::*;

use crate::features::meeting::signal::{Claim, Direction, Signal};
use crate::features::standup::model::checkin::PersonSaid;
use crate::features::standup::model::report::DayReport;
use crate::features::standup::model::tension::{CrossCheck, cross_check};
use crate::features::standup::render::report::sample::{claim, empty, full_of, usual};
use crate::features::standup::render::report::*;
use kernel::chat::format::{TextFormat, align_tables};
use kernel::chat::outbound::Card;

const MARKS: &str = "@everyone | # *[a](http://b)* `x` ||y|| <user:discord:1> ```\n## z\n![i](j)\n--- ";

/// Whether the card is within the lowest limits of all platforms, which are Discord's.
fn fits(card: &Card) -> bool {
    let length = |text: &str| text.chars().count();
    let footer = card.footer.as_deref().unwrap_or_default();
    let fields: usize = card.fields.iter().map(|field| length(&field.name) + length(&field.value)).sum();
    card.fields.len() <= 25
        && card.fields.iter().all(|field| length(&field.name) <= 256 && (1..=1024).contains(&length(&field.value)))
        && (length(&card.title) <= 256 && length(&card.text) <= 4096 && length(footer) <= 2048)
        && length(&card.title) + length(&card.text) + length(footer) + fields <= 6000
}

/// All text shown in a card.
fn shown(card: &Card) -> String {
    let fields: Vec<String> = card.fields.iter().map(|field| format!("[{}]\n{}", field.name, field.value)).collect();
    let footer = card.footer.as_deref().unwrap_or_default();
    format!("{} (#{:06x})\n{}\n{}\n({footer})", card.title, card.color, card.text, fields.join("\n"))
}

fn within_limits(messages: &[String]) -> bool {
    messages.iter().all(|message| !message.trim().is_empty() && message.chars().count() <= 2000)
}

#[test]
fn a_usual_report_as_a_card() {
    insta::assert_snapshot!(shown(&render_report_card(&usual())));
}

#[test]
fn what_people_said_is_short_in_the_card_and_whole_below_it() {
    let text = format!("Yesterday the import.\n{}\nBlocked: nobody has the key.", "Today the tests of it. ".repeat(20));
    let people = vec![PersonSaid { name: "Ann".to_owned(), text }, PersonSaid { name: "Bob".to_owned(), text: "No blockers.".to_owned() }];
    let report = DayReport { people, ..usual() };
    let card = render_report_card(&report);
    let field = &card.fields.iter().find(|field| field.name == "From people").unwrap().value;
    assert!(field.starts_with("**Ann**: Yesterday the import. Today the tests of it."), "{field}");
    assert!(field.contains("… Blocker: nobody has the key.\n**Bob**: No blockers."), "{field}");
    let file = render_report_markdown(&report);
    assert!(
        file.contains("## From people\n\n- **Ann**: Yesterday the import.\n  Today") && file.contains("\n  Blocked: nobody has the key.\n"),
        "{file}"
    );
    assert!(!render_report_markdown(&usual()).contains("From people"));
}

#[test]
fn equal_signals_are_one_line_that_names_each_persona_once() {
    let said = |by: &str, subject: &str, confidence: f64, value: &str| {
        let claim = claim(by, Direction::Up, confidence, value);
        Claim { signal: Signal { subject: subject.to_owned(), ..claim.signal }, ..claim }
    };
    let claims = [
        said("vince", "Latency of the checkout", 0.8, "p95 412"),
        said("vince", "checkout latency", 0.8, "p95 412"),
        said("vince", "the latency of checkouts", 0.7, "p95 412"),
        said("eliza", "checkout latency", 0.6, "p95 412"),
    ];
    let mut report = usual();
    let unsupported = vec![claims[0].clone(), claims[0].clone()];
    report.cross_check = CrossCheck { unsupported, ..cross_check(&claims) };
    assert_eq!(report.cross_check.findings.len(), 1, "{:?}", report.cross_check.findings);
    let file = render_report_markdown(&report);
    let rows: Vec<&str> = file.lines().filter(|line| line.contains("checkout") && line.starts_with("| ")).collect();
    let [row] = rows.as_slice() else { panic!("{rows:?}") };
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    assert_eq!((cells[4], cells[5].matches("p95 412").count()), ("Vince, Eliza", 1), "{row}");
    assert_eq!(file.matches("Unsupported: ").count(), 1, "{file}");
}

#[test]
fn a_usual_report_as_a_thread() {
    insta::assert_snapshot!(render_report_thread(&usual(), &TextFormat::plain(2000)).join("\n=====\n"));
}

#[test]
fn a_usual_report_as_a_file() {
    insta::assert_snapshot!(render_report_markdown(&usual()));
}

#[test]
fn a_report_of_nothing_is_short_and_whole() {
    let report = empty();
    let thread = render_report_thread(&report, &TextFormat::plain(2000)).join("\n=====\n");
    insta::assert_snapshot!(format!(
        "{}\n=====\n{thread}\n=====\n{}",
        shown(&render_report_card(&report)),
        render_report_markdown(&report)
    ));
}

#[test]
fn a_file_full_of_marks_is_text_and_nothing_else() {
    let mut report = usual();
    report.channel_name = "da\"y\n---\n# x".to_owned();
    report.tldr = vec![MARKS.to_owned()];
    report.actions.truncate(1);
    report.actions[0].what = MARKS.to_owned();
    report.contributions[1].name = "\u{202E}עברית 🦊 | *E*".to_owned();
    report.contributions[1].text = Some(MARKS.to_owned());
    insta::assert_snapshot!(render_report_markdown(&report));
}

#[test]
fn the_color_tells_the_state() {
    let color = |change: fn(&mut DayReport)| {
        let mut report = usual();
        report.contributions.pop();
        report.feeds.pop();
        change(&mut report);
        render_report_card(&report).color
    };
    let tensions = color(|_| {});
    let normal = color(|report| report.cross_check.tensions.clear());
    let quiet = color(|report| *report = DayReport { contributions: vec![report.contributions.remove(2)], ..empty() });
    let skipped = color(|report| report.contributions[0].state = SeatState::Skipped);
    let failed = color(|report| report.feeds[0].outcome = Err("down".to_owned()));
    assert_eq!(skipped, failed);
    let mut colors = [tensions, normal, quiet, failed];
    colors.sort_unstable();
    assert!(colors.windows(2).all(|pair| pair[0] != pair[1]), "{colors:x?}");
}

#[test]
fn the_largest_report_fits_into_a_card_with_every_section() {
    for text in ["seven actions and ten tensions ", "*", "@ ", MARKS, "عربي 🦊 "] {
        let report = full_of(text);
        let card = render_report_card(&report);
        let text = shown(&card);
        for part in ["Scoreboard:", "Actions (7)", "\n7. ", "Tensions (10)", "against", "Skipped and failed", "more\n(", ", 08:03"] {
            assert!(text.contains(part), "{part} is missing: {text}");
        }
        assert!(within_limits(&render_report_thread(&report, &TextFormat::plain(2000))));
    }
}

#[test]
fn tensions_without_room_are_counted() {
    let card = render_report_card(&full_of("*"));
    let tensions = card.fields.iter().find(|field| field.name == "Tensions (10)").unwrap();
    let lines = tensions.value.lines().count();
    assert!(tensions.value.ends_with(&format!("and {} more", 11 - lines)), "{}", tensions.value);
}

#[test]
fn posting_a_thread_changes_nothing_more() {
    for message in render_report_thread(&usual(), &TextFormat::plain(2000)) {
        assert_eq!(align_tables(&message), message);
    }
}

#[test]
fn a_report_is_read_from_json_as_it_was_written() {
    for report in [empty(), usual(), full_of(MARKS)] {
        let json = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<DayReport>(&json).unwrap(), report);
    }
}

#[test]
fn figures_that_are_no_numbers_are_shown_and_break_nothing() {
    let mut report = usual();
    report.changes[0].now = f64::NAN;
    report.cross_check.findings[0].confidence = f64::INFINITY;
    assert!(render_report_markdown(&report).contains("NaN"));
    assert!(within_limits(&render_report_thread(&report, &TextFormat::plain(2000))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Foreign text adds no headings, front matter or tables.
    #[test]
    fn foreign_text_adds_no_structure_to_a_file(text in "([-a-z]|[|`*_#<>@\\\\\\[\\]()!:/.= \n\r]|\\PC){1,80}") {
        let (plain, foreign) = (render_report_markdown(&full_of("a")), render_report_markdown(&full_of(&text)));
        let count = |file: &str, is: fn(&str) -> bool| file.lines().filter(|line| is(line)).count();
        let starts: [fn(&str) -> bool; 4] = [
            |line| line.trim_start_matches(['>', ' ']).starts_with('#'),
            |line| line == "---",
            |line| line.starts_with("| "),
            |line| line.trim_start_matches(['>', ' ', '-']).starts_with("```"),
        ];
        for is in starts {
            prop_assert_eq!(count(&foreign, is), count(&plain, is), "{}", foreign);
        }
        // Foreign text adds no cells: every unescaped bar is ours.
        for line in foreign.lines().filter(|line| line.starts_with("| ")) {
            let bars = line.match_indices('|').filter(|(at, _)| (line[..*at].len() - line[..*at].trim_end_matches('\\').len()) % 2 == 0);
            prop_assert!([6, 7].contains(&bars.count()), "{}", line);
        }
    }

    #[test]
    fn any_text_fits_into_messages_and_cards_and_opens_no_code_block(text in "([a-z]|[-|`*_#<>@\\\\ \n]|\\PC){1,60}") {
        let report = full_of(&text);
        let card = render_report_card(&report);
        prop_assert!(fits(&card));
        let thread = render_report_thread(&report, &TextFormat::plain(2000));
        prop_assert!(within_limits(&thread));
        // Every code block is closed in its own message.
        for message in &thread {
            prop_assert!(message.matches("```").count() % 2 == 0, "{}", message);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    /// Words with all marks of Markdown, as in `features::board::marks`.
    #[test]
    fn a_text_with_marks_is_the_same_in_a_report(text in r"[a-v][a-v0-9_*~|\\\[\](){}<>#.=+&$!-]{0,12}( [a-v0-9_*~|\\\[\](){}<>#.=+&$!-]{1,12}){0,6}") {
        let report = DayReport { tldr: vec![text.clone()], ..empty() };
        let read: DayReport = serde_json::from_str(&serde_json::to_string(&report).expect("JSON")).expect("a report");
        prop_assert_eq!(&read.tldr[0], &text);
        prop_assert_eq!(&kernel::chat::text::plain(&render_report_card(&report).text), &text);
    }
}
