//! What the team has found out lately: its answers to people, and what came of items. Read from what is stored anyway, so that nothing is kept twice,
//! and what is deleted or forgotten there is gone here too.

mod store;

use chrono::{DateTime, Utc};

use crate::ids::{ChannelId, PersonaSlug};
use crate::memory::retrieval::{Quote, cut};
use crate::memory::search::TextSearch;
use crate::persona::roster::Roster;

/// How far back people and personas expect each other to know what was found: the day so far.
pub fn since(roster: &Roster, now: DateTime<Utc>) -> DateTime<Utc> {
    let zone = roster.zone();
    let midnight = now.with_timezone(&zone).date_naive().and_time(chrono::NaiveTime::MIN).and_local_timezone(zone);
    midnight.earliest().map_or(now - chrono::TimeDelta::days(1), |midnight| midnight.with_timezone(&Utc))
}

/// Limits: the findings in a prompt, and the characters of each question and answer.
pub const FINDINGS: usize = 6;
const QUESTION: usize = 120;
const TEXT: usize = 400;

/// Something that a persona found out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub by: PersonaSlug,
    pub at: DateTime<Utc>,
    /// None for what came of an item.
    pub channel: Option<ChannelId>,
    /// What was asked. Empty for what came of an item.
    pub question: String,
    pub text: String,
    /// It may quote somebody outside.
    pub outside: bool,
}

impl Finding {
    /// The text with who found it out, when, and what was asked.
    pub fn quote(&self, roster: &Roster, now: DateTime<Utc>) -> Quote {
        let asked = if self.question.is_empty() { String::new() } else { format!(", asked \"{}\"", cut(&self.question, QUESTION)) };
        let place = format!("{}, {}{asked}", roster.name_of(&self.by), roster.today(now).show(self.at));
        Quote { text: cut(&self.text, TEXT), place }
    }

    fn searched(&self) -> String {
        format!("{}\n{}", self.question, self.text)
    }
}

/// Something that a person said in a channel that everybody reads, and that nobody on the team was asked to answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    pub by: String,
    pub channel: String,
    pub at: DateTime<Utc>,
    pub text: String,
}

impl Told {
    /// The text with who said it, where and when.
    pub fn quote(&self, roster: &Roster, now: DateTime<Utc>) -> Quote {
        let place = format!("{} in #{}, {}", self.by, self.channel, roster.today(now).show(self.at));
        Quote { text: cut(&self.text, TEXT), place }
    }
}

/// The findings on a subject, best first.
pub fn choose(findings: &[Finding], subject: &str, persona: &PersonaSlug) -> Vec<Finding> {
    let texts: Vec<String> = findings.iter().map(Finding::searched).collect();
    let found = TextSearch::new(texts.iter().map(String::as_str)).find(subject, Some(persona), FINDINGS, true);
    found.into_iter().map(|position| findings[position].clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::feeds::now;
    use crate::testing::persona::roster;

    fn finding(question: &str, text: &str) -> Finding {
        Finding { by: "vince".into(), at: now(), channel: None, question: question.into(), text: text.into(), outside: false }
    }

    #[test]
    fn findings_on_the_subject_are_chosen() {
        let all = vec![finding("what does lunch cost?", "Nine euros."), finding("is main green?", "No, it is red since a1b2c3d.")];
        let chosen = choose(&all, "Can we release from the main branch?", &"vince".into());
        assert_eq!(chosen, [all[1].clone()]);
        assert_eq!(choose(&all, "and what about that?", &"vince".into()), []);
    }

    #[test]
    fn a_finding_says_who_found_it_when_and_for_which_question() {
        let quote = finding("is main green?", &"Red. ".repeat(200)).quote(&roster(), now());
        assert_eq!(quote.place, "Vince, 22:50, asked \"is main green?\"");
        assert!(quote.text.chars().count() <= TEXT && quote.text.ends_with('…'));
        assert_eq!(finding("", "Done.").quote(&roster(), now()).place, "Vince, 22:50");
    }

    #[test]
    fn the_day_begins_at_midnight_where_the_team_is() {
        let berlin = roster().in_zone(chrono_tz::Europe::Berlin);
        assert_eq!(since(&berlin, now()).to_rfc3339(), "2026-11-20T23:00:00+00:00");
    }
}
