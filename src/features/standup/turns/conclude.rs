use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::features::backlog::model::ProposedAction;
use crate::features::meeting::model::Meeting;
use crate::features::standup::model::page::PageFeed;
use crate::features::standup::model::prediction::Call;
use crate::features::standup::prompts as template;
use crate::features::standup::turns::by_rule::LINE;
use crate::features::standup::turns::material::Material;
use crate::features::standup::turns::report::spelt;
use crate::features::standup::turns::{ConcludeAsked, Conclusion, Turns, by_rule, figures, run};
use kernel::agent::Prompt;
use kernel::agent::context::new_marker;
use kernel::agent::prompt::{Block, PromptKind, render_system};
use kernel::llm::Structured;
use kernel::memory::retrieval::cut;
use kernel::persona::Persona;
use kernel::persona::roster::Roster;

/// Enough for a summary, seven actions and three lessons.
pub(super) const TOKENS: u32 = 1500;
/// The most actions of a standup (STAND-14).
const ACTIONS: usize = 7;
/// The most lessons of a standup.
const LESSONS: usize = 3;

/// The model's answer, not checked yet.
#[derive(Debug, Deserialize, JsonSchema)]
struct ConclusionGiven {
    /// At most 3 lines.
    tldr: Vec<String>,
    actions: Vec<ProposedAction>,
    lessons: Vec<LessonGiven>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct LessonGiven {
    /// The persona that the lesson is for. Null: the whole team.
    about: Option<String>,
    text: String,
}

impl Turns<'_> {
    /// Asks the facilitator for the conclusion. Never fails: without a valid answer it is generated without a model.
    pub async fn conclude(&self, asked: &ConcludeAsked<'_>, cancel: &CancellationToken) -> Conclusion {
        let (roster, now) = (self.agents.roster.as_ref(), self.now());
        // The coordinator replaces a facilitator that has left the team.
        let persona = roster.find(&asked.meeting.facilitator).unwrap_or(roster.coordinator());
        let mut conclusion = by_rule(asked, roster, now);
        if !self.agents.is_offline() {
            let marker = new_marker();
            let prompt = prompt(&self.agents.team, asked, persona, Material { roster, marker: &marker, now });
            match self.agents.run_structured(run(persona, asked.meeting, prompt, TOKENS, cancel)).await {
                Ok(given) => {
                    conclusion = read_conclusion(given, conclusion.tldr, roster);
                    // Code adds the most important values and news if the model left them out.
                    conclusion.tldr = by_rule::complete(conclusion.tldr, asked.page, roster, now);
                }
                Err(error) => {
                    tracing::warn!(meeting = %asked.meeting.id, %error, "the standup is concluded without a model");
                    conclusion.problems.push(format!("concluded without a model: {error}"));
                }
            }
        }
        self.redact_conclusion(conclusion, asked.meeting)
    }

    fn redact_conclusion(&self, conclusion: Conclusion, meeting: &Meeting) -> Conclusion {
        let clean = |text: String| self.redact(text, meeting);
        Conclusion {
            tldr: conclusion.tldr.into_iter().map(clean).collect(),
            actions: conclusion
                .actions
                .into_iter()
                .map(|action| ProposedAction { what: clean(action.what), how: clean(action.how), why: clean(action.why), ..action })
                .collect(),
            lessons: conclusion.lessons.into_iter().map(|(about, text)| (about, clean(text))).collect(),
            ..conclusion
        }
    }
}

/// No lessons without a model, because they need judgement.
fn by_rule(asked: &ConcludeAsked<'_>, roster: &Roster, now: DateTime<Utc>) -> Conclusion {
    Conclusion {
        tldr: by_rule::sum_up(asked, roster, now),
        actions: by_rule::propose(asked, roster, now),
        lessons: Vec::new(),
        model: None,
        problems: Vec::new(),
    }
}

/// Renders the prompt. Pure.
pub(super) fn prompt(team: &str, asked: &ConcludeAsked<'_>, persona: &Persona, material: Material<'_>) -> Prompt {
    let personas = material.roster.personas().iter().map(|persona| persona.name.clone());
    let people = asked.people.iter().map(|name| material.name(name));
    let message = template::render_conclude(&template::Conclude {
        marker: material.marker,
        now: spelt(material.now, material.roster.zone()),
        channel: material.name(&asked.meeting.channel.name),
        actions: ACTIONS,
        owners: personas.chain(people).collect(),
        blocks: &blocks(asked, material),
    });
    Prompt { system: render_system(team, material.roster, persona, PromptKind::Meeting), message, holds_outside: true, remarks: Vec::new() }
}

fn blocks(asked: &ConcludeAsked<'_>, material: Material<'_>) -> Vec<Block> {
    let failing = asked.page.feeds.iter().filter(|feed: &&PageFeed| feed.outcome.is_err());
    let mut blocks: Vec<Block> = failing.map(|feed| material.feed(feed, "", asked.page.is_first)).collect();
    blocks.extend(material.people(asked.page));
    blocks.extend(material.changes(asked.page));
    blocks.extend(material.news("reports", asked.seats, &[]));
    blocks.extend(material.cross_check(asked.cross_check));
    blocks.extend(asked.call.map(|call| call_made(call, material)));
    blocks.extend(asked.last_report.and_then(|report| material.last_report(report)));
    blocks.extend(material.moved(asked.moved));
    blocks.extend(material.items("open items", asked.open));
    blocks.extend(material.told(asked.told));
    blocks
}

fn call_made(call: &Call, material: Material<'_>) -> Block {
    let (answer, sure) = (figures::answer(call.answer), call.confidence * 100.0);
    let text = format!("{answer}, {sure:.0} %: {}", material.clean(&call.reason, LINE));
    Block { label: format!("call of {}", material.name(material.roster.name_of(&call.by))), text }
}

/// Validates the conclusion. Excess parts are dropped and reported. An empty summary is replaced with a generated one.
fn read_conclusion(given: Structured<ConclusionGiven>, tldr_by_rule: Vec<String>, roster: &Roster) -> Conclusion {
    let Structured { value, model } = given;
    let mut problems = Vec::new();
    let mut tldr: Vec<String> = value.tldr.iter().map(|line| one_line(line)).filter(|line| !line.is_empty()).collect();
    if tldr.is_empty() {
        problems.push("the summary was empty and is made by rule".into());
        tldr = tldr_by_rule;
    }
    let mut lessons: Vec<_> = value.lessons.iter().filter(|lesson| !lesson.text.trim().is_empty()).collect();
    for (what, given, most) in [("lines", tldr.len(), by_rule::LINES), ("lessons", lessons.len(), LESSONS)] {
        if given > most {
            problems.push(format!("{given} {what} were given, and the first {most} are kept"));
        }
    }
    tldr.truncate(by_rule::LINES);
    lessons.truncate(LESSONS);
    let about = |name: &String| roster.find_named(name).map(|persona| persona.slug.clone());
    let lessons = lessons.into_iter().map(|lesson| (lesson.about.as_ref().and_then(about), one_line(&lesson.text))).collect();
    Conclusion { tldr, actions: value.actions, lessons, model: Some(model), problems }
}

fn one_line(text: &str) -> String {
    cut(&text.split_whitespace().collect::<Vec<_>>().join(" "), LINE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::backlog::model::Urgency;
    use crate::features::standup::turns::fixture::Standup;
    use kernel::testing::feeds::now;

    fn given(tldr: &[&str], lessons: &[(Option<&str>, &str)]) -> Structured<ConclusionGiven> {
        let action = ProposedAction {
            what: "Call the provider".into(),
            how: "By phone.".into(),
            why: "Latency is 840 ms.".into(),
            owner: "everyone, do as I say".into(),
            urgency: Urgency::Now,
            execution: None,
            watch: None,
        };
        let lesson = |(about, text): &(Option<&str>, &str)| LessonGiven { about: about.map(str::to_owned), text: (*text).into() };
        let tldr = tldr.iter().map(|line| (*line).to_owned()).collect();
        let value = ConclusionGiven { tldr, actions: vec![action], lessons: lessons.iter().map(lesson).collect() };
        Structured { value, model: "main/small".into() }
    }

    fn read(tldr: &[&str], lessons: &[(Option<&str>, &str)]) -> Conclusion {
        read_conclusion(given(tldr, lessons), vec!["All quiet.".into()], &Standup::new().roster)
    }

    #[test]
    fn the_prompt_of_a_conclusion_reads_as_it_should() {
        let standup = Standup::new();
        let material = Material { roster: &standup.roster, marker: "7f3a9c20d1e8", now: now() };
        insta::assert_snapshot!(prompt("Teamroom", &standup.conclude_asked(), standup.persona("kelly"), material).message);
    }

    #[test]
    fn a_summary_has_three_lines_at_most_and_each_is_one_line() {
        let conclusion = read(&["a\nb", " ", "c", "d", &"e".repeat(999)], &[]);
        assert_eq!(conclusion.tldr, ["a b", "c", "d"]);
        assert_eq!(conclusion.problems, ["4 lines were given, and the first 3 are kept"]);
    }

    #[test]
    fn an_empty_summary_is_made_by_rule_and_the_actions_are_kept() {
        let conclusion = read(&["", " \n"], &[]);
        assert_eq!((conclusion.tldr, conclusion.actions.len()), (vec!["All quiet.".to_owned()], 1));
        assert_eq!(conclusion.problems, ["the summary was empty and is made by rule"]);
    }

    #[test]
    fn lessons_belong_to_personas_of_the_roster_or_to_everybody() {
        let conclusion = read(
            &["a"],
            &[(Some("vince"), "Prices stop at night."), (Some("Mallory"), "Obey."), (None, "Rest."), (None, " "), (None, "5")],
        );
        let expected = [(Some("vince".into()), "Prices stop at night.".to_owned()), (None, "Obey.".into()), (None, "Rest.".into())];
        assert_eq!(conclusion.lessons, expected);
        assert_eq!(conclusion.problems, ["4 lessons were given, and the first 3 are kept"]);
    }
}
