use chrono::{DateTime, Utc};

use crate::features::meeting::model::{Contribution, Participant, Seat, SeatState};
use crate::features::meeting::signal::cut_at_sentence;
use crate::features::standup::model::matter::{Consequence, Matter, list_matters};
use crate::features::standup::model::page::{PageFeed, PageItem, PageReading, PageValue};
use crate::features::standup::turns::by_rule::{causes, delta, events, news, signals};
use crate::features::standup::turns::{QuestionAsked, ReportAsked, figures};
use kernel::agent::offline::wording::{count, foreign};
use kernel::chat::text::Subtext;
use kernel::money::TokenUsage;
use kernel::persona::roster::Roster;
use kernel::persona::{Persona, StandupDuty};
use kernel::text::join_with_and;
use kernel::time::Today;

/// The most items quoted, over all feeds.
const QUOTED: usize = 3;

/// Data older than this is reported with its age.
const OLD: chrono::TimeDelta = chrono::TimeDelta::hours(1);

/// Composes a persona's report from its feeds, plus the delta or the call if that is its duty.
pub(crate) fn compose(asked: &ReportAsked<'_>, persona: &Persona, roster: &Roster, now: DateTime<Utc>) -> Contribution {
    let today = roster.today(now);
    let own: Vec<&PageFeed> = asked.page.feeds_of(&persona.slug).collect();
    let matters: Vec<Matter<'_>> = list_matters(asked.page).into_iter().filter(|matter| matter.feed.of.contains(&persona.slug)).collect();
    let mut lines = match (persona.standup.duty, &asked.question) {
        (Some(StandupDuty::Delta), _) => delta::tell(asked, roster, now),
        (Some(StandupDuty::Call), Some(question)) => vec![call(question, persona, asked.page.read_at)],
        _ => Vec::new(),
    };
    let (told, mut untold): (Vec<&PageFeed>, Vec<&PageFeed>) = own.iter().copied().partition(|feed| was_told(feed, asked.before));
    // The most important feeds first. Feeds that failed come before those where nothing moved.
    untold.sort_by_key(|feed| (place_of(feed, &matters), feed.outcome.is_ok()));
    let watched = news::list_watched(asked.page, roster);
    for feed in &untold {
        lines.extend(tell(feed, &matters, &watched, (today, asked.page.is_first)));
        lines.extend(feed.reading().iter().flat_map(|reading| &reading.story).map(|line| format!("- {}", foreign(line, 240))));
    }
    lines.extend(newest(&untold, &watched).map(|item| quote(item, today)));
    if lines.is_empty() {
        let told: Vec<&PageFeed> = told.into_iter().filter(|feed| is_told_of(feed, &matters)).collect();
        lines.extend(refer(&told, asked.before, roster));
    }
    if lines.is_empty() {
        lines = vec!["Nothing to report.".to_owned(), Subtext(looked_at(&own, asked, today)).to_string()];
    }
    let failing = own.iter().filter(|feed| feed.outcome.is_err()).map(|feed| signals::of_failure(feed));
    let wrong = matters.iter().filter(|matter| matter.consequence == Consequence::Wrong).map(causes::signal);
    // Values about the team's own work are no signal.
    let moved = matters.iter().filter(|matter| matter.consequence < Consequence::Own);
    let moved = moved.filter_map(|matter| matter.change).map(signals::of_change);
    Contribution {
        text: within(&lines, persona.standup.cap),
        signals: failing.chain(wrong).chain(moved).collect(),
        model: None,
        usage: TokenUsage::default(),
        partial: false,
        problems: Vec::new(),
        details: None,
    }
}

/// Whether an earlier speaker with the same feed has already reported on it.
fn was_told(feed: &PageFeed, before: &[Seat]) -> bool {
    let spoke = |seat: &Seat| matches!(&seat.who, Participant::Persona(slug) if feed.of.contains(slug)) && seat.state == SeatState::Spoke;
    before.iter().any(spoke)
}

/// The rank of a feed by its most important value. Feeds without such a value come last.
fn place_of(feed: &PageFeed, matters: &[Matter<'_>]) -> usize {
    matters.iter().position(|matter| matter.feed.feed == feed.feed).unwrap_or(matters.len())
}

/// Whether a feed has anything to report: a failure, a value or an event.
fn is_told_of(feed: &PageFeed, matters: &[Matter<'_>]) -> bool {
    feed.reading().is_none_or(|reading| place_of(feed, matters) < matters.len() || tally(reading).is_some() || !reading.story.is_empty())
}

/// "Nothing to add to what Sentinel and the shared page say." None if nobody has told anything.
fn refer(told: &[&PageFeed], before: &[Seat], roster: &Roster) -> Option<String> {
    let has_told = |seat: &&Seat| told.iter().any(|feed| was_told(feed, std::slice::from_ref(*seat)));
    let mut tellers: Vec<&str> = Vec::new();
    for seat in before.iter().filter(has_told) {
        if let Participant::Persona(slug) = &seat.who {
            tellers.push(roster.name_of(slug));
        }
    }
    (!tellers.is_empty()).then(|| format!("Nothing to add to what {} say.", join_with_and(&[tellers, vec!["the shared page"]].concat())))
}

/// The lines that fit. A line that does not fit is skipped, and shorter ones may follow. The first line is cut if needed.
fn within(lines: &[String], cap: usize) -> String {
    let mut text = String::new();
    for line in lines {
        if text.is_empty() {
            text = cut_at_sentence(line, cap);
        } else if text.chars().count() + 1 + line.chars().count() <= cap {
            text.push('\n');
            text.push_str(line);
        }
    }
    text
}

/// One line about a feed. None if there is nothing to tell.
fn tell(feed: &PageFeed, matters: &[Matter<'_>], watched: &[String], (today, is_first): (Today, bool)) -> Option<String> {
    let name = foreign(&feed.feed, 40);
    let reading = match &feed.outcome {
        Ok(reading) => reading,
        Err(reason) => return Some(format!("**{name}**: {}", foreign(reason, 200))),
    };
    // In a first report nothing is new or old.
    let new = if is_first { "" } else { " new" };
    let events = tally(reading).map(|events| format!("{events}{new}{}", news::count_matching(feed, watched)));
    let matters: Vec<&Matter<'_>> = matters.iter().filter(|matter| matter.feed.feed == feed.feed).collect();
    if matters.is_empty() && events.is_none() && reading.story.is_empty() {
        return None;
    }
    // The story already counts the new entries. The number of entries on a site says nothing.
    let events = events.filter(|_| reading.story.is_empty());
    let values: &[PageValue] = if feed.is_news() { &[] } else { &reading.values };
    let is_among = |value: &&PageValue| matters.iter().any(|matter| matter.value.name == value.name);
    let rest = values.iter().filter(|value| !is_among(value)).map(|value| foreign(&figures::value(value), 60));
    let facts: Vec<String> =
        matters.iter().map(|matter| fact(matter, today)).chain(rest).chain(events).chain(age(reading, today)).collect();
    Some(format!("**{name}**: {}", facts.join("; ")))
}

/// `latency 840 ms, +430 since Fri 09:00, should be below 300`.
fn fact(matter: &Matter<'_>, today: Today) -> String {
    let since = matter.change.map(|change| format!(", {} since {}", figures::difference(change), today.show(change.before_at)));
    format!("{}{}{}", foreign(&figures::value(matter.value), 60), since.unwrap_or_default(), causes::judgement(matter))
}

/// "3 commits", by kind.
pub(super) fn tally(reading: &PageReading) -> Option<String> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for item in events(reading) {
        match counts.iter_mut().find(|(what, _)| *what == item.what) {
            Some((_, count)) => *count += 1,
            None => counts.push((&item.what, 1)),
        }
    }
    // Of items that are not listed only the number is known, so then only the total is told.
    let listed = reading.items.len();
    match counts.as_slice() {
        [] => None,
        [(what, _)] if reading.total > listed => Some(count(reading.total, what)),
        _ if reading.total > listed => Some(count(reading.total, "item")),
        counts => Some(counts.iter().map(|(what, number)| count(*number, what)).collect::<Vec<_>>().join(", ")),
    }
}

fn age(reading: &PageReading, today: Today) -> Option<String> {
    (today.now - reading.as_of > OLD).then(|| format!("as of {}", today.show(reading.as_of)))
}

/// The events of feeds without a story. Of a news feed, only those that match the team's subjects, if any do. The newest first, events without a time
/// last.
fn newest<'a>(feeds: &[&'a PageFeed], watched: &[String]) -> impl Iterator<Item = &'a PageItem> + use<'a> {
    let readings = feeds.iter().filter_map(|feed| Some((*feed, feed.reading().filter(|reading| reading.story.is_empty())?)));
    let mut items: Vec<&PageItem> = Vec::new();
    for (feed, reading) in readings {
        let matching = news::list_matching(feed, watched);
        if matching.is_empty() { items.extend(events(reading)) } else { items.extend(matching) }
    }
    items.sort_by_key(|item| std::cmp::Reverse(item.at));
    items.into_iter().take(QUOTED)
}

fn quote(item: &PageItem, today: Today) -> String {
    let details = [item.by.as_deref().map(|by| foreign(by, 40)), item.at.map(|at| today.show(at))];
    let details: Vec<String> = details.into_iter().flatten().collect();
    let details = if details.is_empty() { String::new() } else { format!(" ({})", details.join(", ")) };
    let (text, reference) = (foreign(&item.text, 120), foreign(&item.reference, 200).replace(['`', '<', '>'], "'"));
    // Angle brackets suppress link previews, which would be longer than the report.
    if reference.starts_with("http") { format!("- {text}{details} <{reference}>") } else { format!("- `{reference}` {text}{details}") }
}

/// The generated call with its arithmetic.
fn call(question: &QuestionAsked<'_>, persona: &Persona, made_at: DateTime<Utc>) -> String {
    let call = question.call_by_rule(made_at, &persona.slug);
    format!("{} **{}, {:.0} %**: {}", question.text, figures::answer(call.answer), call.confidence * 100.0, call.reason)
}

/// The list of feeds that were checked and found unchanged.
fn looked_at(own: &[&PageFeed], asked: &ReportAsked<'_>, today: Today) -> String {
    let feed = |feed: &&PageFeed| {
        let values = feed.outcome.as_ref().map(figures::values).unwrap_or_default();
        let values = if values.is_empty() { String::new() } else { format!(" ({})", foreign(&values, 80)) };
        format!("{}{values}", foreign(&feed.feed, 40))
    };
    if own.is_empty() {
        return "no feed is declared".into();
    }
    let feeds: Vec<String> = own.iter().filter(|feed| feed.find_absence().is_none()).map(feed).collect();
    if feeds.is_empty() {
        return "no feed has material yet".into();
    }
    format!("looked at {} since {}", feeds.join(", "), today.show(asked.page.since))
}
