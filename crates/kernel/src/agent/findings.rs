//! What the team has found out lately: its answers to people, and what came of items. Read from what is stored anyway, so that nothing is kept twice,
//! and what is deleted or forgotten there is gone here too.

use chrono::{DateTime, Utc};
use serde::Deserialize;

use crate::chat::message::{Channel, Place, Speaker};
use crate::chat::text::is_subtext;
use crate::db::{Database, Document, Result, sql};
use crate::ids::{ChannelId, PersonaSlug};
use crate::memory::retrieval::{Quote, cut};
use crate::memory::search::TextSearch;
use crate::memory::{Memory, MemorySource, Scope};
use crate::persona::roster::Roster;

/// How far back people and personas expect each other to know what was found: the day so far.
pub fn since(roster: &Roster, now: DateTime<Utc>) -> DateTime<Utc> {
    let zone = roster.zone();
    let midnight = now.with_timezone(&zone).date_naive().and_time(chrono::NaiveTime::MIN).and_local_timezone(zone);
    midnight.earliest().map_or(now - chrono::TimeDelta::days(1), |midnight| midnight.with_timezone(&Utc))
}

/// The most findings in a prompt, and the most characters of each question and answer.
pub const FINDINGS: usize = 6;
const QUESTION: usize = 120;
const TEXT: usize = 400;

/// A shorter answer says nothing without its conversation.
const SHORTEST: usize = 25;

/// The most items that are read.
const ITEMS: u32 = 30;

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

/// The findings on a subject, best first.
pub fn choose(findings: &[Finding], subject: &str, persona: &PersonaSlug) -> Vec<Finding> {
    let texts: Vec<String> = findings.iter().map(Finding::searched).collect();
    let found = TextSearch::new(texts.iter().map(String::as_str)).find(subject, Some(persona), FINDINGS, true);
    found.into_iter().map(|position| findings[position].clone()).collect()
}

/// The fields of an outbound message that a finding needs.
#[derive(Deserialize)]
struct Said {
    persona: PersonaSlug,
    text: String,
}

#[derive(Deserialize)]
struct Heard {
    text: String,
}

#[derive(sqlx::FromRow)]
struct AnswerColumns {
    channel: String,
    #[sqlx(try_from = "String")]
    message: Document<Said>,
    at: DateTime<Utc>,
    #[sqlx(try_from = "String")]
    place: Document<Place>,
    private: Option<bool>,
    #[sqlx(try_from = "String")]
    asked: Document<Heard>,
    #[sqlx(try_from = "String")]
    asker: Document<Speaker>,
}

impl Database {
    /// What was found out since a time and may be told in `scope`, the newest first.
    pub async fn list_findings(&self, scope: &Scope, since: DateTime<Utc>) -> Result<Vec<Finding>> {
        let answers: Vec<AnswerColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT * FROM (
                 SELECT said.channel, said.message, said.created_at AS at, channels.place, channels.private, inbox.message AS asked,
                     inbox.speaker AS asker
                 FROM outbox said JOIN turns ON turns.id = said.turn JOIN inbox ON inbox.id = turns.message
                     JOIN channels ON channels.id = said.channel
                 WHERE said.kind = 'answer' AND said.state <> 'failed' AND said.deleted_at IS NULL AND inbox.speaker IS NOT NULL
                     AND said.created_at >= $1
                 ORDER BY said.position DESC LIMIT 100) AS newest",
            since
        )?;
        let mut findings: Vec<Finding> = answers.into_iter().filter_map(|row| row.read(scope)).collect();
        for lesson in self.list_outcomes(scope, since, ITEMS).await? {
            findings.extend(outcome(lesson));
        }
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.at));
        Ok(findings)
    }
}

impl AnswerColumns {
    fn read(self, scope: &Scope) -> Option<Finding> {
        let private = self.private.unwrap_or(true);
        let id = ChannelId::new(self.channel);
        let channel = Channel { id: id.clone(), name: String::new(), place: self.place.0, private, shared: false };
        let is_of_person = matches!(self.asker.0, Speaker::Person { .. });
        let lines: Vec<&str> = self.message.0.text.lines().filter(|line| !is_subtext(line)).collect();
        let text = lines.join(" ").trim().to_owned();
        let tells = is_of_person && text.chars().count() >= SHORTEST && scope.hears(Scope::of(&channel).place());
        tells.then_some(Finding { by: self.message.0.persona, at: self.at, channel: Some(id), question: self.asked.0.text, text })
    }
}

fn outcome(lesson: Memory) -> Option<Finding> {
    let by = lesson.persona.filter(|_| matches!(lesson.source, MemorySource::WorkItem(_)))?;
    Some(Finding { by, at: lesson.created_at, channel: None, question: String::new(), text: lesson.text })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::feeds::now;
    use crate::testing::persona::roster;

    fn finding(question: &str, text: &str) -> Finding {
        Finding { by: "vince".into(), at: now(), channel: None, question: question.into(), text: text.into() }
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
