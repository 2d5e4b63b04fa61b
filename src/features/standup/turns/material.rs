//! Data blocks for standup prompts (TRUST-2).
//!
//! Feeds are text from outside, and reports of people and personas may quote it. So everything except the operator's configuration and
//! computed numbers is sanitised and put between markers.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use crate::features::backlog::model::{Owner, WorkItem};
use crate::features::meeting::model::{Participant, Seat};
use crate::features::meeting::signal::{Claim, Direction, Signal};
use crate::features::standup::model::checkin::PersonSaid;
use crate::features::standup::model::page::{PageFeed, PageItem, PageReading, SharedPage};
use crate::features::standup::model::prediction::Prediction;
use crate::features::standup::model::report::DayReport;
use crate::features::standup::model::tension::{CrossCheck, Hint};
use crate::features::standup::turns::figures;
use kernel::agent::context::{Cleaner, finding_block, flat_name};
use kernel::agent::prompt::Block;
use kernel::chat::text::is_subtext;
use kernel::figure;
use kernel::memory::Memory;
use kernel::memory::retrieval::{Quote, cut};
use kernel::persona::roster::Roster;
use kernel::text::Shingles;
use kernel::time::show_time;

/// The most characters of a quoted item, lesson or action.
const LINE: usize = 200;
/// Maximum length of an item of a feed.
const ITEM: usize = 300;
/// The most characters of a report. People's reports have no other limit.
const REPORT: usize = 1500;
/// Limit of what the team has found out, in tokens.
const FINDINGS: usize = 600;
/// The most items of a feed.
const ITEMS: usize = 20;
/// A sentence of an earlier report this similar to a line of the page is left out.
const SAME: f64 = 0.8;

/// Creates the data blocks of one prompt.
#[derive(Clone, Copy)]
pub(super) struct Material<'a> {
    pub(super) roster: &'a Roster,
    pub(super) marker: &'a str,
    pub(super) now: DateTime<Utc>,
}

impl Material<'_> {
    pub(super) fn clean(&self, text: &str, chars: usize) -> String {
        Cleaner { marker: self.marker }.line(text, chars)
    }

    /// A name that is safe in a label or in the instructions.
    pub(super) fn name(&self, name: &str) -> String {
        Cleaner { marker: self.marker }.line(&flat_name(name), 32)
    }

    /// A feed with its values and items.
    pub(super) fn feed(&self, feed: &PageFeed, whose: &str, is_first: bool) -> Block {
        let name = flat_name(&feed.feed);
        match &feed.outcome {
            Err(reason) => Block { label: format!("feed {name}{whose}, failing"), text: self.clean(reason, 300) },
            Ok(reading) => Block {
                label: format!("feed {name}{whose}, {}, as of {}", self.source(reading), self.roster.show_time(reading.as_of)),
                text: self.reading(feed, reading, is_first),
            },
        }
    }

    /// `is_first`: there is no earlier report, so nothing is new or old.
    fn reading(&self, feed: &PageFeed, reading: &PageReading, is_first: bool) -> String {
        let note = reading.note.iter().map(|note| self.clean(note, 300));
        // The number of entries on a site says nothing.
        let has_values = !reading.values.is_empty() && !feed.is_news();
        let values = has_values.then(|| format!("values: {}", self.clean(&figures::values(reading), 600)));
        let total = match (is_first, feed.is_news(), reading.total) {
            (true, _, 0) => None,
            (true, true, total) => Some(format!("entries there: {total}, the newest first")),
            (true, false, total) => Some(format!("items of the last day: {total}")),
            (false, true, total) => Some(format!("entries seen for the first time: {total}")),
            (false, false, total) => Some(format!("items since the last report: {total}")),
        };
        let items = reading.items.iter().take(ITEMS).map(|item| self.item(item));
        let story = reading.story.iter().map(|line| self.clean(line, LINE));
        note.chain(values).chain(story).chain(total).chain(items).collect::<Vec<_>>().join("\n")
    }

    fn item(&self, item: &PageItem) -> String {
        let at = item.at.map_or(String::new(), |at| format!("{}, ", self.roster.show_time(at)));
        let by = item.by.as_deref().map_or(String::new(), |by| format!(", {}", flat_name(by)));
        format!("- {at}{} {}{by}: {}", flat_name(&item.what), self.clean(&item.reference, 100), self.clean(&item.text, ITEM))
    }

    /// A source that is safe in a label.
    fn source(&self, reading: &PageReading) -> String {
        self.clean(&reading.source.replace(['<', '>', '|'], " "), 120)
    }

    /// Only the values of feeds, one line each.
    pub(super) fn values<'f>(&self, feeds: impl Iterator<Item = &'f PageFeed>) -> Option<Block> {
        let line = |feed: &PageFeed| {
            let name = flat_name(&feed.feed);
            match &feed.outcome {
                Ok(reading) => self.clean(&format!("{name}: {}; {} new", figures::values(reading), reading.total), 300),
                Err(reason) => self.clean(&format!("{name}, failing: {reason}"), 300),
            }
        };
        block("other feeds, values alone", feeds.map(line))
    }

    /// All changes since the last report.
    pub(super) fn changes(&self, page: &SharedPage) -> Option<Block> {
        let moved = page.changes.iter().filter(|change| change.has_moved());
        block("values that changed", moved.map(|change| self.clean(&figures::change(change, self.roster.today(self.now)), LINE)))
    }

    /// What people wrote before the standup, one block each.
    pub(super) fn people(&self, page: &SharedPage) -> Vec<Block> {
        let said = |said: &PersonSaid| Block {
            label: format!("person {}, before the standup", flat_name(&said.name)),
            text: self.lines(&said.text).collect::<Vec<_>>().join("\n"),
        };
        page.people.iter().map(said).filter(|block| !block.text.is_empty()).collect()
    }

    /// The reports so far, one block per speaker, with signals. Skipped speakers are left out.
    pub(super) fn reports(&self, seats: &[Seat]) -> Vec<Block> {
        let said = seats.iter().filter_map(|seat| Some((seat, seat.contribution.as_ref()?)));
        said.map(|(seat, said)| {
            let lines = self.lines(&said.text).chain(said.signals.iter().map(|signal| self.signal(signal)));
            Block { label: self.speaker(seat), text: lines.collect::<Vec<_>>().join("\n") }
        })
        .collect()
    }

    /// The reports in one block, without parts that `told` already contains. Signals are left to hints and the cross-check.
    pub(super) fn news(&self, label: &str, seats: &[Seat], told: &[Block]) -> Option<Block> {
        let told: Vec<Shingles> = told.iter().flat_map(|block| block.text.lines()).map(Shingles::of).collect();
        let is_told = |line: &str| {
            let line = Shingles::of(line);
            told.iter().any(|known| line.similarity(known) >= SAME)
        };
        let line = |seat: &Seat| {
            let said = seat.contribution.as_ref()?;
            let news: Vec<String> = self.lines(&said.text).filter(|line| !is_told(line)).collect();
            (!news.is_empty()).then(|| format!("[{}] {}", self.speaker(seat), news.join(" ")))
        };
        block(label, seats.iter().filter_map(line))
    }

    /// The lines of a report, without the footer of a composed one.
    fn lines(&self, text: &str) -> impl Iterator<Item = String> {
        let cut = cut(text, REPORT);
        let lines: Vec<String> = cut.lines().filter(|line| !is_subtext(line)).map(|line| self.clean(line, REPORT)).collect();
        lines.into_iter().filter(|line| !line.is_empty())
    }

    fn speaker(&self, seat: &Seat) -> String {
        match &seat.who {
            Participant::Persona(slug) => format!("persona {}", flat_name(self.roster.name_of(slug))),
            Participant::Person { name, .. } => format!("person {}", flat_name(name)),
            Participant::Guest { name, .. } => format!("guest {}", flat_name(name)),
        }
    }

    fn signal(&self, signal: &Signal) -> String {
        let evidence = signal.evidence.as_ref().map_or(String::new(), |found| format!(", {} {}", found.feed, found.value));
        let line = format!("signal: {} {} {:.2}{evidence}", signal.subject, signal.direction.as_str(), signal.confidence);
        self.clean(&line, LINE)
    }

    /// What the team has found out, the newest first.
    pub(super) fn findings(&self, findings: &[Quote]) -> Option<Block> {
        finding_block(findings, FINDINGS, Cleaner { marker: self.marker })
    }

    /// What people said, the newest first.
    pub(super) fn told(&self, told: &[Quote]) -> Option<Block> {
        let label = "said by people in the channels, answered by nobody on the team. Bring up what the day depends on, with who said it; most is talk";
        block(label, told.iter().map(|said| format!("- {}: {}", self.clean(&said.place, LINE), self.clean(&said.text, LINE))))
    }

    pub(super) fn hints(&self, hints: &[Hint]) -> Option<Block> {
        let line = |hint: &Hint| format!("- {}: {}", flat_name(self.roster.name_of(&hint.from)), self.clean(&hint.text, LINE));
        block("hints from the reports before yours", hints.iter().map(line))
    }

    pub(super) fn lessons(&self, lessons: &[Memory]) -> Option<Block> {
        block("lessons learnt before", lessons.iter().map(|lesson| format!("- {}", self.clean(&lesson.text, LINE))))
    }

    /// Open items with their owners.
    pub(super) fn items(&self, label: &str, items: &[WorkItem]) -> Option<Block> {
        let line = |item: &WorkItem| {
            let owner = match &item.owner {
                Owner::Persona(slug) => self.roster.name_of(slug),
                Owner::Person { name, .. } => name,
            };
            let touched = self.roster.show_time(item.updated_at);
            format!("- {} ({}, {}, {touched})", self.clean(&item.what, LINE), item.status.as_str(), flat_name(owner))
        };
        block(label, items.iter().map(line))
    }

    /// The last Day Report: summary, call, tensions and actions. Its figures are part of the changes.
    pub(super) fn last_report(&self, report: &DayReport) -> Option<Block> {
        let tldr = report.tldr.iter().map(|line| self.clean(line, LINE));
        let call = report.call.as_ref().ok().map(|made| {
            let (answer, sure) = (figures::answer(made.call.answer), made.call.confidence * 100.0);
            self.clean(&format!("call of {}: {answer}, {sure:.0} %, {}", made.by_name, made.terms), LINE)
        });
        let tensions = report.cross_check.tensions.iter().map(|tension| format!("tension: {}", self.clean(&tension.subject, LINE)));
        let actions = report.actions.iter().map(|action| self.clean(&format!("action: {} ({})", action.what, action.owner), LINE));
        let label = format!("Day Report of {}", report.day.format("%A, %-d %B %Y"));
        block(label, tldr.chain(call).chain(tensions).chain(actions))
    }

    pub(super) fn moved(&self, moved: &[String]) -> Option<Block> {
        block("what became of actions since the last report", moved.iter().map(|line| format!("- {}", self.clean(line, LINE))))
    }

    pub(super) fn open_calls(&self, calls: &[Prediction]) -> Option<Block> {
        let line = |open: &Prediction| {
            let (answer, sure) = (figures::answer(open.call.answer), open.call.confidence * 100.0);
            let (terms, due) = (open.rule.describe(), self.roster.show_time(open.expires_at));
            self.clean(&format!("- {}: {answer}, {sure:.0} %; {terms}, settled {due}", open.question), 400)
        };
        block("open calls", calls.iter().map(line))
    }

    /// The combined claims and the contradictions.
    pub(super) fn cross_check(&self, checked: &CrossCheck) -> Option<Block> {
        let findings = checked.findings.iter().map(|finding| {
            let direction = finding.direction.map_or("contradictory", Direction::as_str);
            let by: Vec<_> = finding.claims.iter().map(|claim| self.roster.name_of(&claim.by)).collect();
            self.clean(&format!("{}: {direction}, {:.2} ({})", finding.subject, finding.confidence, by.join(", ")), LINE)
        });
        let tensions = checked.tensions.iter().map(|tension| {
            let sides: Vec<_> = tension.sides.iter().filter_map(|side| side.first()).map(|claim| self.side(claim)).collect();
            self.clean(&format!("tension: {}: {}", tension.subject, sides.join(" against ")), LINE * 2)
        });
        block("signals compared", findings.chain(tensions))
    }

    fn side(&self, claim: &Claim) -> String {
        let evidence = claim.signal.evidence.as_ref().map_or(String::new(), |found| format!(", {} {}", found.feed, found.value));
        format!("{} {}{evidence}", self.roster.name_of(&claim.by), claim.signal.direction.as_str())
    }
}

/// Earlier values, oldest first. Numbers need no sanitising.
pub(super) fn history(values: &[(DateTime<Utc>, f64)], zone: Tz) -> Option<Block> {
    let line = |(at, value): &(DateTime<Utc>, f64)| format!("{}: {}", show_time(*at, zone), figure::number(*value));
    block("the value before, oldest first", values.iter().map(line))
}

/// A data block of these lines. None if there are none.
fn block(label: impl Into<String>, lines: impl IntoIterator<Item = String>) -> Option<Block> {
    let text = lines.into_iter().collect::<Vec<_>>().join("\n");
    (!text.is_empty()).then(|| Block { label: label.into(), text })
}
