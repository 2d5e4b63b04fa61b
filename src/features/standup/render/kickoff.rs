//! The kickoff: the first message of a standup, posted before anything slow (STAND-2).

use std::fmt::Write as _;

use chrono::NaiveDate;

use crate::features::meeting::model::CalledBy;
use crate::features::standup::model::prediction::Scoreboard;

use crate::features::standup::render::medium::Medium;

/// The most characters of a kickoff, for reading on a phone.
const LIMIT: usize = 600;
const QUESTION: usize = 160;
const NAME: usize = 40;
const AWAY: usize = 160;

#[derive(Debug, Clone, Copy)]
pub struct Kickoff<'k> {
    /// The date in the team's time zone.
    pub day: NaiveDate,
    pub facilitator: &'k str,
    /// The speakers' names in order.
    pub order: &'k [String],
    /// People who are away, with the end of that.
    pub away: &'k [String],
    pub question: Option<&'k str>,
    pub scoreboard: &'k Scoreboard,
    /// No model is configured, so reports quote feeds.
    pub offline: bool,
    pub called_by: &'k CalledBy,
}

/// The kickoff in at most 600 characters. Names that do not fit are counted.
pub fn render_kickoff(kickoff: &Kickoff<'_>) -> String {
    let name = |name: &str| Medium::Chat.line_within(name, NAME);
    let called_by = match kickoff.called_by {
        CalledBy::Person { name: person, .. } => format!("called by {}", name(person)),
        CalledBy::Schedule { job } => format!("scheduled as {}", name(job)),
        CalledBy::CommandLine => "called from the command line".to_owned(),
    };
    let facilitator = name(kickoff.facilitator);
    let head = format!("**Standup · {}** ({called_by}; {facilitator} facilitates)", kickoff.day.format("%A, %-d %B %Y"));
    let mut tail = String::new();
    if let Some(question) = kickoff.question {
        let _ = write!(tail, "\nEssential question: {}", Medium::Chat.line_within(question, QUESTION));
        let _ = write!(tail, "\nScoreboard: {}", kickoff.scoreboard.in_words());
    }
    if !kickoff.away.is_empty() {
        let _ = write!(tail, "\nAway: {}", Medium::Chat.line_within(&kickoff.away.join(", "), AWAY));
    }
    if kickoff.offline {
        tail.push_str("\nNo model is configured: reports quote feeds.");
    }
    let room = LIMIT.saturating_sub(head.chars().count() + tail.chars().count());
    format!("{head}{}{tail}", render_order(&kickoff.order.iter().map(|who| name(who)).collect::<Vec<_>>(), room))
}

/// A line with the order, with as many names as fit.
fn render_order(names: &[String], room: usize) -> String {
    let fitting = (0..=names.len()).rev().map(|shown| match (names.len() - shown, shown) {
        (0, 0) => "\nNo speakers.".to_owned(),
        (0, _) => format!("\nOrder: {}", names.join(" → ")),
        (more, 0) => format!("\nOrder: {more} speakers"),
        (more, _) => format!("\nOrder: {} → and {more} more", names[..shown].join(" → ")),
    });
    fitting.into_iter().find(|line| line.chars().count() <= room).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kickoff<'k>(order: &'k [String], question: Option<&'k str>, scoreboard: &'k Scoreboard, called_by: &'k CalledBy) -> Kickoff<'k> {
        let day = NaiveDate::from_ymd_opt(2026, 11, 20).unwrap();
        Kickoff { day, facilitator: "Kelly", order, away: &[], question, scoreboard, offline: true, called_by }
    }

    fn person(name: &str) -> CalledBy {
        CalledBy::Person { id: "7".into(), name: name.to_owned(), message: None }
    }

    #[test]
    fn a_kickoff_names_date_order_question_and_scoreboard() {
        let order = ["Vince", "Eliza", "Solus"].map(str::to_owned);
        let question = "Will the repository have at least 10 more commits by next Friday?";
        let scoreboard = Scoreboard { hits: 1, open: 1, ..Scoreboard::default() };
        insta::assert_snapshot!(render_kickoff(&kickoff(&order, Some(question), &scoreboard, &person("Ann"))));
    }

    #[test]
    fn without_a_question_there_is_no_scoreboard() {
        let (scoreboard, called_by) = (Scoreboard::default(), CalledBy::Schedule { job: "standup".to_owned() });
        insta::assert_snapshot!(render_kickoff(&kickoff(&[], None, &scoreboard, &called_by)));
    }

    #[test]
    fn fifty_long_names_and_marks_everywhere_stay_within_the_limit() {
        let called_by = person(&"*_@everyone ".repeat(20));
        let question = "> # |*_`".repeat(100);
        for order in [vec!["*עברית* 🦊_name".to_owned(); 50], vec!["`".repeat(300); 50]] {
            let scoreboard = Scoreboard { hits: 7, misses: 8, void: 3, open: 2, accuracy: Some(0.47), ..Scoreboard::default() };
            let text =
                render_kickoff(&Kickoff { facilitator: &"#*".repeat(99), ..kickoff(&order, Some(&question), &scoreboard, &called_by) });
            assert!(text.chars().count() <= LIMIT, "{} characters: {text}", text.chars().count());
            assert!(text.contains("more") || text.contains("50 speakers"), "{text}");
        }
    }
}
