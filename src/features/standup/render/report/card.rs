use std::fmt::Write as _;

use crate::features::meeting::model::SeatState;
use crate::features::standup::model::checkin::PersonSaid;
use crate::features::standup::model::report::{DayReport, EarlierSummary, ReportedAction};
use crate::features::standup::model::tension::Tension;
use kernel::chat::outbound::{Card, CardField};
use kernel::time::{Today, show_time};

use crate::features::standup::render::labels;
use crate::features::standup::render::medium::{Medium, flatten, shorten};
use crate::features::standup::render::report::{
    list_failed, list_quiet, list_skipped, name_of, reason_of, render_author, render_title, render_when_settled,
};

/// The most characters of a field's value, which no platform cuts.
const FIELD: usize = 1024;
/// The most characters of all texts of a card, which no platform cuts.
const CARD: usize = 6000;
const PEOPLE: &str = "From people";
/// Limits for single texts, so that all sections fit into a card.
const LINE: usize = 240;
const QUESTION: usize = 200;
const WHAT: usize = 160;
const NAME: usize = 32;
const SUBJECT: usize = 60;
const SAID: usize = 200;
const REASON: usize = 100;

/// The color of the card. The first matching state counts.
mod color {
    pub(super) const FAILURES: u32 = 0x00d6_4545;
    pub(super) const TENSIONS: u32 = 0x00e0_9f1f;
    pub(super) const QUIET: u32 = 0x0095_a0ad;
    pub(super) const NORMAL: u32 = 0x003b_8f5a;
}

/// The Day Report as a card. Parts that do not fit are in the thread.
pub fn render_report_card(report: &DayReport) -> Card {
    let tldr: Vec<String> = report.tldr.iter().map(|line| chat(line, LINE)).collect();
    let mut fields: Vec<CardField> = report.earlier.iter().map(|earlier| render_earlier(report, earlier)).collect();
    fields.extend(report.question.as_ref().map(|question| field("Essential question", render_question(report, question))));
    let before_actions = fields.len();
    if !report.actions.is_empty() {
        fields.extend(render_actions(&report.actions));
    }
    if !report.cross_check.tensions.is_empty() {
        fields.push(render_tensions(report));
    }
    fields.extend(render_absent(report));
    let mut card = Card {
        title: render_title(report, Medium::Chat),
        text: tldr.join("\n"),
        color: pick_color(report),
        fields,
        footer: Some(render_footer(report)),
        ..Card::default()
    };
    if let Some(people) = render_people(report, CARD.saturating_sub(length_of(&card))) {
        card.fields.insert(before_actions, people);
    }
    card
}

/// People's answers before the standup, in the room that the rest leaves. The thread has all of them.
fn render_people(report: &DayReport, room: usize) -> Option<CardField> {
    let lines: Vec<String> = report.people.iter().map(render_person).collect();
    let room = FIELD.min(room.saturating_sub(PEOPLE.len()));
    (!lines.is_empty() && room >= SAID).then(|| field(PEOPLE, fit_lines(&lines, room)))
}

fn length_of(card: &Card) -> usize {
    let fields = card.fields.iter().flat_map(|field| [&field.name, &field.value]);
    fields.chain([&card.title, &card.text]).chain(&card.footer).map(|text| text.chars().count()).sum()
}

/// A short form of a person's answer: its beginning, and their blocker if the beginning does not contain it.
fn render_person(said: &PersonSaid) -> String {
    let text = shorten(&flatten(&said.text), SAID);
    let line = format!("**{}**: {}", chat(&said.name, NAME), chat(&text, SAID));
    match said.find_blocker() {
        Some(blocker) if !text.contains(&flatten(blocker)) => format!("{line} Blocker: {}", chat(blocker, REASON)),
        _ => line,
    }
}

fn pick_color(report: &DayReport) -> u32 {
    if !list_skipped(report).is_empty() || !list_failed(report).is_empty() {
        color::FAILURES
    } else if !report.cross_check.tensions.is_empty() {
        color::TENSIONS
    } else if report.contributions.iter().all(|contributed| contributed.state == SeatState::Quiet) && report.actions.is_empty() {
        color::QUIET
    } else {
        color::NORMAL
    }
}

/// The summary that a revision replaces.
fn render_earlier(report: &DayReport, earlier: &EarlierSummary) -> CardField {
    let lines: Vec<String> = earlier.tldr.iter().map(|line| chat(line, LINE)).collect();
    let at = Today { now: report.written_at, zone: report.zone }.show(earlier.at);
    field(&format!("Earlier, {at}"), fit_lines(&lines, FIELD))
}

fn render_question(report: &DayReport, question: &str) -> String {
    let mut text = chat(question, QUESTION);
    match &report.call {
        Ok(made) => {
            let call = labels::call(&made.call);
            let _ = write!(text, "\n{call} ({}): {}", chat(&made.by_name, NAME), chat(&made.call.reason, LINE));
            let _ = write!(text, "\n{}; {}", chat(&made.terms, REASON), render_when_settled(made, report.zone));
        }
        Err(reason) => {
            let _ = write!(text, "\nNo call: {}", chat(reason, LINE));
        }
    }
    let _ = write!(text, "\nScoreboard: {}", report.scoreboard.in_words());
    text
}

/// The actions in as many fields as needed.
fn render_actions(actions: &[ReportedAction]) -> Vec<CardField> {
    let mut fields = vec![field(&format!("Actions ({})", actions.len()), String::new())];
    for (number, action) in (1..).zip(actions) {
        let line = format!("{number}. {} · {} · {}", chat(&action.owner, NAME), labels::urgency(action.urgency), chat(&action.what, WHAT));
        let full = fields.last().is_some_and(|field| field.value.chars().count() + 1 + line.chars().count() > FIELD);
        if full {
            // A field without a name continues the previous one.
            fields.push(field("", String::new()));
        }
        if let Some(last) = fields.last_mut() {
            append_line(&mut last.value, &line);
        }
    }
    fields
}

fn render_tensions(report: &DayReport) -> CardField {
    let tensions = &report.cross_check.tensions;
    let lines: Vec<String> = tensions.iter().map(|tension| render_tension(report, tension)).collect();
    field(&format!("Tensions ({})", tensions.len()), fit_lines(&lines, FIELD))
}

/// `latency: up (Vince) against down (Eliza, Solus)`.
fn render_tension(report: &DayReport, tension: &Tension) -> String {
    let sides = tension.sides.iter().filter_map(|claims| {
        let direction = labels::direction(claims.first()?.signal.direction);
        let names: Vec<&str> = claims.iter().map(|claim| name_of(report, &claim.by)).collect();
        Some(format!("{direction} ({})", chat(&names.join(", "), NAME)))
    });
    format!("{}: {}", chat(&tension.subject, SUBJECT), sides.collect::<Vec<_>>().join(" against "))
}

/// Who was skipped or failed, and who had nothing to report.
fn render_absent(report: &DayReport) -> Option<CardField> {
    let (skipped, failed, quiet) = (list_skipped(report), list_failed(report), list_quiet(report));
    let mut lines: Vec<String> = Vec::new();
    lines.extend(skipped.iter().map(|skipped| format!("{} was skipped: {}", chat(&skipped.name, NAME), chat(reason_of(skipped), REASON))));
    lines.extend(failed.iter().map(|(line, reason)| format!("Feed {} failed: {}", chat(&line.feed, NAME), chat(reason, REASON))));
    if !quiet.is_empty() {
        let names: Vec<&str> = quiet.iter().map(|quiet| quiet.name.as_str()).collect();
        lines.push(format!("Nothing to report: {}", chat(&names.join(", "), LINE)));
    }
    let name = match (skipped.is_empty(), failed.is_empty()) {
        (true, true) => "Quiet",
        (false, true) => "Skipped",
        (true, false) => "Failed",
        (false, false) => "Skipped and failed",
    };
    (!lines.is_empty()).then(|| field(name, fit_lines(&lines, FIELD)))
}

/// Markdown is not rendered in a footer.
fn render_footer(report: &DayReport) -> String {
    let parts = [
        format!("{} for {} tokens", report.cost, labels::thousands(report.usage.total())),
        labels::duration(report.seconds),
        show_time(report.written_at, report.zone),
        shorten(&render_author(report), LINE),
    ];
    parts.join(" · ")
}

/// As many whole lines as fit into `room`. The rest is counted.
fn fit_lines(lines: &[String], room: usize) -> String {
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        let more = format!("and {} more", lines.len() - at);
        let is_last = at + 1 == lines.len();
        let reserve = if is_last { 0 } else { more.chars().count() + 1 };
        if text.chars().count() + 1 + line.chars().count() + reserve > room {
            append_line(&mut text, &more);
            break;
        }
        append_line(&mut text, line);
    }
    text
}

fn append_line(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(line);
}

fn field(name: &str, value: String) -> CardField {
    CardField { name: name.to_owned(), value, inline: false }
}

fn chat(text: &str, limit: usize) -> String {
    Medium::Chat.line_within(text, limit)
}
