use std::collections::BTreeSet;

use chrono::TimeDelta;
use serde_json::Value;

use crate::features::backlog::model::Urgency;
use crate::features::meeting::model::Contribution;
use crate::features::meeting::signal::{Direction, is_quiet};
use crate::features::standup::turns::by_rule::*;
use crate::features::standup::turns::fixture::{Standup, item};
use kernel::figure;
use kernel::testing::feeds::now;

fn report(standup: &Standup, persona: &str) -> Contribution {
    let persona = standup.persona(persona);
    compose(&standup.report_asked(&persona.slug, 0), persona, &standup.roster, now())
}

#[test]
fn a_report_tells_what_changed_with_numbers_and_times() {
    insta::assert_snapshot!(report(&Standup::new(), "ada").text);
}

#[test]
fn a_feed_that_fails_is_named_with_the_time_since_when() {
    let said = report(&Standup::new(), "bruno");
    assert_eq!(said.text, "**prices**: no data since 2026-11-21 07:40 UTC (it did not answer within 10 s)");
    assert_eq!((said.signals[0].subject.as_str(), said.signals[0].direction), ("feed prices", Direction::Bad));
}

#[test]
fn where_nothing_changed_there_is_nothing_to_report_and_it_is_said_what_was_looked_at() {
    let said = report(&Standup::quiet(), "ada");
    insta::assert_snapshot!(said.text);
    assert!(is_quiet(&said.text) && said.signals.is_empty() && said.model.is_none());
}

#[test]
fn a_persona_without_feeds_has_nothing_to_report() {
    let mut standup = Standup::new();
    for feed in &mut standup.page.feeds {
        feed.of.retain(|slug| slug.as_str() != "echo");
    }
    assert!(is_quiet(&report(&standup, "echo").text));
}

#[test]
fn signals_follow_from_values_that_moved_and_from_nothing_else() {
    let said = report(&Standup::new(), "vince");
    let told: Vec<_> = said.signals.iter().map(|signal| (signal.subject.as_str(), signal.direction, signal.confidence)).collect();
    assert_eq!(told, [("shop latency", Direction::Up, 0.95), ("shop orders", Direction::Down, 0.52)]);
    assert_eq!(said.signals[0].evidence.as_ref().expect("evidence").value, "840 ms");
    let repository = report(&Standup::new(), "sentinel").signals;
    assert_eq!(repository.len(), 1, "branches did not move: {repository:?}");
}

#[test]
fn the_delta_holds_yesterdays_report_against_today() {
    insta::assert_snapshot!(report(&Standup::new(), "eliza").text);
}

#[test]
fn the_delta_of_the_first_day_and_of_a_quiet_one_are_said_as_such() {
    let first = Standup::new();
    let eliza = first.persona("eliza");
    let asked = crate::features::standup::turns::ReportAsked { last_report: None, ..first.report_asked(&eliza.slug, 0) };
    assert!(compose(&asked, eliza, &first.roster, now()).text.starts_with("First report"));
    assert!(is_quiet(&report(&Standup::quiet(), "eliza").text));
}

#[test]
fn the_call_is_reported_with_its_arithmetic() {
    insta::assert_snapshot!(report(&Standup::new(), "solus").text);
}

#[test]
fn a_report_keeps_its_cap_and_drops_whole_lines() {
    for cap in [60, 120, 300] {
        let mut standup = Standup::new();
        let mut ada = standup.persona("ada").clone();
        ada.standup.cap = cap;
        standup.page.feeds[2].feed = "a very long name of a feed that somebody declared without thinking of reports".into();
        let said = compose(&standup.report_asked(&ada.slug, 0), &ada, &standup.roster, now());
        assert!(said.text.chars().count() <= cap && !said.text.is_empty(), "{cap}: {}", said.text);
    }
}

#[test]
fn foreign_text_in_a_report_calls_and_links_nobody() {
    let mut standup = Standup::new();
    let reading = standup.page.feeds[2].outcome.as_mut().expect("a reading");
    reading.items[0].text = "Fix\n@Vince [free](http://x)".into();
    let said = report(&standup, "sentinel").text;
    assert!(said.contains("Fix ＠Vince [free] (http://x)"), "{said}");
}

/// All numbers in a text, without signs.
fn numbers(text: &str) -> BTreeSet<String> {
    let pieces = text.split(|c: char| !c.is_ascii_digit() && c != '.').map(|piece| piece.trim_matches('.'));
    pieces.filter(|piece| !piece.is_empty()).map(str::to_owned).collect()
}

/// All numbers of the stored data, and those derived by one arithmetic step.
fn known(standup: &Standup) -> BTreeSet<String> {
    fn walk(value: &Value, into: &mut BTreeSet<String>) {
        match value {
            Value::Number(number) => drop(into.insert(figure::number(number.as_f64().expect("a number")))),
            Value::String(text) => into.extend(numbers(text)),
            Value::Array(values) => values.iter().for_each(|value| walk(value, into)),
            Value::Object(fields) => fields.values().for_each(|value| walk(value, into)),
            Value::Bool(_) | Value::Null => {}
        }
    }
    let mut known = BTreeSet::new();
    for facts in [
        serde_json::to_value(&standup.page),
        serde_json::to_value(&standup.last_report),
        serde_json::to_value(&standup.moved),
        serde_json::to_value(&standup.open_calls),
        serde_json::to_value(&standup.cross_check),
    ] {
        walk(&facts.expect("facts are JSON"), &mut known);
    }
    for change in &standup.page.changes {
        known.insert(figure::number((change.now - change.before).abs()));
    }
    for at in known.clone().iter().filter(|number| number.len() == 2) {
        known.insert(at.trim_start_matches('0').to_owned());
    }
    known
}

#[test]
fn every_number_that_is_said_stands_in_the_page_or_in_a_stored_report() {
    let standup = Standup::new();
    let mut known = known(&standup);
    // Derived by formatting or counting: 70 % and 80 %, 10 commits to go, 6 days left, one failed feed and one tension.
    known.extend(["70", "80", "10", "6", "1"].map(str::to_owned));
    let mut texts: Vec<(String, String)> =
        ["vince", "sentinel", "echo", "ada", "bruno", "oracle", "eliza"].map(|name| (name.to_owned(), report(&standup, name).text)).into();
    texts.push(("tldr".into(), sum_up(&standup.conclude_asked(), &standup.roster, now()).join("\n")));
    for action in propose(&standup.conclude_asked(), &standup.roster, now()) {
        texts.push((action.what.clone(), format!("{} {} {}", action.what, action.how, action.why)));
    }
    for (name, text) in texts {
        let unknown: Vec<_> = numbers(&text).into_iter().filter(|number| !known.contains(number)).collect();
        assert!(unknown.is_empty(), "{name} says {unknown:?}, which stand nowhere: {text}");
    }
}

#[test]
fn the_summary_names_what_matters_first_and_the_news_in_three_lines() {
    let standup = Standup::new();
    insta::assert_snapshot!(sum_up(&standup.conclude_asked(), &standup.roster, now()).join("\n"));
    let mut first = Standup::quiet();
    first.page.feeds = Standup::new().page.feeds;
    let told = [
        "No data from prices.",
        "In the news: \"Great shop but paying failed twice today, part 2\" (reviews). New since Fri 20 Nov, 09:00: repository 14 commits.",
    ];
    assert_eq!(sum_up(&first.conclude_asked(), &first.roster, now()), told);
    let repository = first.page.feeds.iter_mut().find(|feed| feed.feed == "repository").unwrap();
    repository.outcome.as_mut().unwrap().story = vec!["14 commits by Ada, mostly in src/shop (9).".into(), "Of them 2 only tests.".into()];
    let told = sum_up(&first.conclude_asked(), &first.roster, now()).join("\n");
    assert!(told.ends_with("New since Fri 20 Nov, 09:00: repository 14 commits by Ada, mostly in src/shop (9)."), "{told}");
    let quiet = Standup::quiet();
    assert_eq!(sum_up(&quiet.conclude_asked(), &quiet.roster, now()), ["All quiet: nothing changed in 5 feeds since Fri 20 Nov, 09:00."]);
}

#[test]
fn actions_follow_from_the_facts_and_hold_their_numbers() {
    let mut standup = Standup::new();
    standup.items.push(item("Write to the payment provider", "echo", 9));
    let told: Vec<_> = propose(&standup.conclude_asked(), &standup.roster, now())
        .iter()
        .map(|action| format!("{} | {} | {} | {} | {}", action.what, action.how, action.why, action.owner, action.urgency.as_str()))
        .collect();
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn a_quiet_day_proposes_nothing_and_follow_ups_are_not_followed_up() {
    let mut standup = Standup::quiet();
    standup.items = vec![item("Follow up on \"Write to the payment provider\"", "echo", 30)];
    assert_eq!(propose(&standup.conclude_asked(), &standup.roster, now()), []);
    standup.items[0].what = "Write to the payment provider".into();
    standup.items[0].owner = crate::features::backlog::model::Owner::Persona("gone".into());
    let followed = propose(&standup.conclude_asked(), &standup.roster, now());
    assert_eq!((followed[0].owner.as_str(), followed[0].urgency), ("Kelly", Urgency::ThisWeek), "the coordinator stands in");
    standup.items[0].updated_at = now() - TimeDelta::days(6);
    assert_eq!(propose(&standup.conclude_asked(), &standup.roster, now()), []);
}

#[test]
fn a_models_summary_cannot_leave_out_what_matters_most() {
    let standup = Standup::new();
    let completed = |given: &[&str]| {
        let given = given.iter().map(|line| (*line).to_owned()).collect();
        complete(given, &standup.page, &standup.roster, now())
    };
    let by_rule = sum_up(&standup.conclude_asked(), &standup.roster, now()).remove(0);
    assert!(by_rule.contains("840"), "{by_rule}");
    let news = "In the news: \"Great shop but paying failed twice today, part 2\" (reviews).";
    let told = completed(&["All is well.", "Work goes on.", "Ann is back."]);
    assert_eq!(told, [&by_rule, "All is well.", &format!("Work goes on. Ann is back. {news}")]);
    for named in [["Checkout latency is at 840 ms.", "Two say that the great shop failed twice."], ["Die Latenz von shop: 840.", news]] {
        assert_eq!(completed(&named), named);
    }
    let long = completed(&["a".repeat(240).as_str(), "b".repeat(240).as_str(), "c".repeat(240).as_str()]);
    assert!(long.len() == 3 && long[2].ends_with(news) && long.iter().all(|line| line.chars().count() <= 240), "{long:?}");
    // A wrong number, and the right number of another value.
    for not_named in ["Latency is at 410 ms.", "840 visitors came."] {
        assert_eq!(completed(&[not_named])[0], by_rule);
    }
    let quiet = Standup::quiet();
    assert_eq!(complete(vec!["All is well.".to_owned()], &quiet.page, &quiet.roster, now()), ["All is well."]);
}
