use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::material::Material;
use super::report::{model_call, spelt};
use super::{ConcludeAsked, Conclusion, by_rule, figures};
use crate::domain::page::PageFeed;
use crate::domain::persona::Persona;
use crate::domain::prediction::Call;
use crate::domain::roster::Roster;
use crate::domain::work::ProposedAction;
use crate::llm::{ModelMessage, ModelRequest, Structured, ask_structured};
use crate::persona::context::new_marker;
use crate::persona::prompt::{self, Block, standup as template};
use crate::persona::retrieval::cut;
use crate::persona::turn::Performer;

/// What a summary, seven actions and three lessons take.
const TOKENS: u32 = 1500;
/// Lines of the summary, and characters of each (STAND-13).
const LINES: usize = 3;
const LINE: usize = 240;
/// Actions of one standup (STAND-14).
const ACTIONS: usize = 7;
/// Lessons of one standup: what is learnt every day is no lesson.
const LESSONS: usize = 3;

/// A conclusion as a model gives it.
#[derive(Debug, Deserialize, JsonSchema)]
struct ConclusionGiven {
    /// At most 3 lines.
    tldr: Vec<String>,
    actions: Vec<ProposedAction>,
    lessons: Vec<LessonGiven>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct LessonGiven {
    /// The name of the persona that should remember it; null for everybody.
    about: Option<String>,
    text: String,
}

impl Performer {
    /// Asks the facilitator what the standup comes to. Never fails: where no model gives a usable conclusion it is put together by rule.
    pub async fn conclude(&self, asked: &ConcludeAsked<'_>, cancel: &CancellationToken) -> Conclusion {
        let now = self.clock.now();
        // A facilitator that has left the roster since is stood in for, as the coordinator does everywhere.
        let persona = self.roster.find(&asked.meeting.facilitator).unwrap_or(self.roster.coordinator());
        let mut conclusion = by_rule(asked, &self.roster, now);
        if !self.models.is_offline() {
            let marker = new_marker();
            let request = request(&self.team, asked, persona, Material { roster: &self.roster, marker: &marker, now });
            match ask_structured(&self.models, &model_call(persona, asked.meeting), &request, cancel).await {
                Ok(given) => conclusion = read_conclusion(given, conclusion.tldr, &self.roster),
                Err(error) => {
                    tracing::warn!(meeting = %asked.meeting.id, %error, "the standup is concluded by rule");
                    conclusion.problems.push(format!("concluded by rule: {error}"));
                }
            }
        }
        self.conclusion_without_secrets(conclusion, persona)
    }

    fn conclusion_without_secrets(&self, conclusion: Conclusion, persona: &Persona) -> Conclusion {
        let clean = |text: String| self.without_secrets(text, &persona.slug);
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

/// Nothing is learnt by rule: a lesson is a judgement.
fn by_rule(asked: &ConcludeAsked<'_>, roster: &Roster, now: DateTime<Utc>) -> Conclusion {
    Conclusion {
        tldr: by_rule::sum_up(asked.page, asked.cross_check, now),
        actions: by_rule::propose(asked, roster, now),
        lessons: Vec::new(),
        model: None,
        problems: Vec::new(),
    }
}

/// The prompt of a conclusion. Pure: the same input gives the same prompt.
pub(super) fn request(team: &str, asked: &ConcludeAsked<'_>, persona: &Persona, material: Material<'_>) -> ModelRequest {
    let personas = material.roster.personas().iter().map(|persona| persona.name.clone());
    let people = asked.people.iter().map(|name| material.name(name));
    let message = template::render_conclude(&template::Conclude {
        marker: material.marker,
        now: spelt(material.now),
        channel: material.name(&asked.meeting.channel.name),
        actions: ACTIONS,
        owners: personas.chain(people).collect(),
        blocks: &blocks(asked, material),
    });
    ModelRequest {
        system: prompt::render_system(team, material.roster, persona),
        messages: vec![ModelMessage::User(message)],
        max_output_tokens: TOKENS,
        ..ModelRequest::default()
    }
}

fn blocks(asked: &ConcludeAsked<'_>, material: Material<'_>) -> Vec<Block> {
    let failing = asked.page.feeds.iter().filter(|feed: &&PageFeed| feed.outcome.is_err());
    let mut blocks: Vec<Block> = failing.map(|feed| material.feed(feed, "")).collect();
    blocks.extend(material.changes(asked.page));
    blocks.extend(material.news("reports", asked.seats, &[]));
    blocks.extend(material.cross_check(asked.cross_check));
    blocks.extend(asked.call.map(|call| call_made(call, material)));
    blocks.extend(asked.last_report.and_then(|report| material.last_report(report)));
    blocks.extend(material.moved(asked.moved));
    blocks.extend(material.items("open items", asked.open));
    blocks
}

fn call_made(call: &Call, material: Material<'_>) -> Block {
    let (answer, sure) = (figures::answer(call.answer), call.confidence * 100.0);
    let text = format!("{answer}, {sure:.0} %: {}", material.clean(&call.reason, LINE));
    Block { label: format!("call of {}", material.name(material.roster.name_of(&call.by))), text }
}

/// The conclusion within its bounds; what is too much is left out and told, and a summary without a line is made by rule.
fn read_conclusion(given: Structured<ConclusionGiven>, tldr_by_rule: Vec<String>, roster: &Roster) -> Conclusion {
    let Structured { value, model } = given;
    let mut problems = Vec::new();
    let mut tldr: Vec<String> = value.tldr.iter().map(|line| one_line(line)).filter(|line| !line.is_empty()).collect();
    if tldr.is_empty() {
        problems.push("the summary was empty and is made by rule".into());
        tldr = tldr_by_rule;
    }
    let mut lessons: Vec<_> = value.lessons.iter().filter(|lesson| !lesson.text.trim().is_empty()).collect();
    for (what, given, most) in [("lines", tldr.len(), LINES), ("lessons", lessons.len(), LESSONS)] {
        if given > most {
            problems.push(format!("{given} {what} were given, and the first {most} are kept"));
        }
    }
    tldr.truncate(LINES);
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
    use crate::domain::work::Urgency;
    use crate::feeds::fixture::now;
    use crate::persona::standup::fixture::Standup;

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
        let asked = request("Teamroom", &standup.conclude_asked(), standup.persona("kelly"), material);
        let [ModelMessage::User(message)] = asked.messages.as_slice() else { panic!("one message of the user") };
        insta::assert_snapshot!(message);
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
