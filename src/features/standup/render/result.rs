use std::fmt::Write as _;

use crate::features::meeting::model::{Meeting, MeetingResult};
use crate::features::meeting::signal::Claim;
use crate::features::standup::render::labels;
use crate::features::standup::store::StoredReport;
use kernel::chat::message::Place;
use kernel::figure;
use kernel::persona::roster::Roster;
use kernel::text::one_line;

/// The most characters of a line.
const LINE: usize = 300;

/// The result of a standup, for people who look back at it. The turns themselves contain what was said.
pub fn render_result(meeting: &Meeting, stored: Option<&StoredReport>, roster: &Roster) -> MeetingResult {
    let title = format!("Standup of {}", labels::day(meeting.day));
    // The report is posted in the channel and has a thread below it, except in a channel that is a thread itself.
    let opening = stored.filter(|_| meeting.channel.place == Place::Server).map(|stored| stored.post.clone());
    let Some(report) = stored.map(|stored| &stored.report).filter(|report| report.meeting == meeting.id) else {
        let text = if stored.is_some() { "A later standup of the day revised its report.\n" } else { "There is no report of it.\n" };
        return MeetingResult { title, text: text.to_owned(), opening };
    };
    let mut text = String::new();
    for line in &report.tldr {
        let _ = writeln!(text, "In short: {}", one_line(line, LINE));
    }
    if let Some(question) = &report.question {
        let _ = writeln!(text, "The question: {}", one_line(question, LINE));
    }
    let _ = match &report.call {
        Ok(made) => {
            let call = labels::call(&made.call).replace("**", "");
            writeln!(text, "The call of {}: {call}, because {}", made.by_name, one_line(&made.call.reason, LINE))
        }
        Err(why) => writeln!(text, "No call: {}", one_line(why, LINE)),
    };
    for tension in &report.cross_check.tensions {
        let side = |side: &Vec<Claim>| {
            let names: Vec<&str> = side.iter().map(|claim| roster.name_of(&claim.by)).collect();
            format!("{} ({})", side.first().map_or("", |claim| claim.signal.direction.as_str()), names.join(", "))
        };
        let sides: Vec<String> = tension.sides.iter().map(side).collect();
        let _ = writeln!(text, "They disagree on {}: {}", one_line(&tension.subject, 80), sides.join(" against "));
    }
    for change in report.changes.iter().filter(|change| change.has_moved()) {
        let (before, now) = (figure::number(change.before), figure::number(change.now));
        let _ = writeln!(text, "Changed: {} from {before} to {now}", one_line(&change.name, 80));
    }
    for line in &report.moved {
        let _ = writeln!(text, "Moved: {}", one_line(line, LINE));
    }
    for action in &report.actions {
        let _ = writeln!(text, "Action: {} ({})", one_line(&action.what, LINE), one_line(&action.owner, 40));
    }
    for refused in &report.refused {
        let _ = writeln!(text, "Action refused: {}, because {}", one_line(&refused.what, LINE), one_line(&refused.reason, LINE));
    }
    MeetingResult { title, text, opening }
}
