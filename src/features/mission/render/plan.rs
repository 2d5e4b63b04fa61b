//! The plan: as a card in the thread, and whole as a file.

use std::fmt::Write as _;

use super::coverage::{count, render_coverage};
use super::{TITLE, doer, missing, say, text_file};
use crate::features::backlog::render::name_of_owner;
use crate::features::mission::button::{Choice, MissionButton};
use crate::features::mission::model::Mission;
use crate::features::mission::model::plan::{Assumption, Learnt, LeftOut, Plan, Step};
use kernel::chat::medium::Medium;
use kernel::chat::outbound::{Button, Card, CardField, OutboundMessage, Placement};
use kernel::persona::roster::Roster;

/// The most characters of the steps in a card.
const CARD: usize = 3500;

/// The most groups of parts that are left out for one reason. The file has all of them.
const LEFT_OUT: usize = 4;

/// A longer suggestion does not fit on a button everywhere.
const LABEL: usize = 60;

/// When the first steps of a plan start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::features::mission) enum Start<'a> {
    Now,
    /// Somebody has to approve the plan, for this reason.
    Approved(&'a str),
    /// No language model is connected.
    WithModel,
}

/// The plan as a card, with a file of the whole plan.
pub(in crate::features::mission) fn plan_card(mission: &Mission, plan: &Plan, start: Start<'_>, roster: &Roster) -> OutboundMessage {
    let coverage = plan.coverage(&mission.directive);
    let (served, left_out, open) = count(&coverage);
    let waves = plan.waves();
    let mut text = match start {
        Start::Now => "The plan is ready, and the first steps start now.".to_owned(),
        Start::Approved(why) => format!("The plan is ready. It waits for your word, because {why}."),
        Start::WithModel => "The plan is ready. Its steps wait until a language model is connected.".to_owned(),
    };
    for role in &plan.missing {
        let _ = write!(text, " {}", missing(role));
    }
    let mut fields = vec![
        field(
            "Steps",
            format!("{} in {}", plan.steps.len(), if waves.len() == 1 { "1 wave".into() } else { format!("{} waves", waves.len()) }),
        ),
        field("Parts", format!("{served} served, {left_out} left out, {open} open")),
        field("Expected cost", plan.expected.map_or("no figures yet".to_owned(), |money| format!("about {money}"))),
    ];
    fields.extend(assumptions(plan).map(|text| CardField { name: "Assumed".into(), value: text, inline: false }));
    if !plan.left_out.is_empty() {
        fields.push(CardField { name: "Left out".into(), value: left_out_lines(mission, plan).join("\n"), inline: false });
    }
    if !plan.warnings.is_empty() {
        let lines: Vec<String> =
            plan.warnings.iter().take(5).map(|warning| format!("- {}", Medium::Chat.line_within(warning, 200))).collect();
        fields.push(CardField { name: "Warnings".into(), value: lines.join("\n"), inline: false });
    }
    if !plan.learnt.is_empty() {
        fields.push(CardField { name: "Learnt from earlier missions".into(), value: learnt(plan, Medium::Chat).join("\n"), inline: false });
    }
    let card = Card {
        title: mission.title.clone(),
        text: shorten_lines(&wave_lines(plan, roster), CARD),
        color: roster.coordinator().color,
        fields,
        ..Card::default()
    };
    let mut message = OutboundMessage { id: mission.message_id("plan"), card: Some(card), ..say(mission, roster, text) };
    message.files.push(text_file("plan.md", render_plan(mission, plan, roster)));
    if matches!(start, Start::Approved(_)) {
        message.buttons = [Choice::Start, Choice::Cancel].map(|choice| MissionButton::of(choice, &mission.id).render()).into();
        message.pings.extend(mission.by.as_ref().map(|(id, _)| id.clone()));
    }
    message
}

/// The questions about what is assumed, each with answers to choose from. Nobody waits for them.
pub(in crate::features::mission) fn questions(mission: &Mission, plan: &Plan, roster: &Roster) -> Vec<OutboundMessage> {
    let ask = |(number, assumption): (usize, &Assumption)| {
        let question = Medium::Chat.line_within(assumption.question.as_ref()?, 200);
        let assumed = Medium::Chat.line_within(&assumption.text, 200);
        let how = if assumption.suggestions.is_empty() { "Say it here" } else { "Choose an answer, or say it here" };
        let mut text = format!("**{question}** {how}. Until then I assume: {assumed}");
        let is_listed = assumption.suggestions.iter().any(|label| label.chars().count() > LABEL);
        if is_listed {
            for (number, label) in (1..).zip(&assumption.suggestions) {
                let _ = write!(text, "\n{number}. {}", Medium::Chat.line(label));
            }
        }
        let button = |(suggestion, label): (usize, &String)| {
            let choice = Choice::Answer { assumption: number, suggestion };
            let label = if is_listed { (suggestion + 1).to_string() } else { label.clone() };
            Button { label, ..MissionButton::of(choice, &mission.id).render() }
        };
        Some(OutboundMessage {
            id: mission.message_id(&format!("question-{number}")),
            buttons: assumption.suggestions.iter().enumerate().map(button).collect(),
            pings: mission.by.iter().map(|(id, _)| id.clone()).collect(),
            ..say(mission, roster, text)
        })
    };
    plan.assumed.iter().enumerate().filter_map(ask).collect()
}

/// The messages of questions that a change of the plan answers, with the answers in place of their buttons.
pub(in crate::features::mission) fn settled_questions(
    mission: &Mission,
    before: &Plan,
    plan: &Plan,
    roster: &Roster,
) -> Vec<OutboundMessage> {
    let settle = |(number, (was, assumption)): (usize, (&Assumption, &Assumption))| {
        let answer = assumption.answer.as_ref().filter(|_| was.answer.is_none())?;
        let question = Medium::Chat.line_within(assumption.question.as_ref()?, 200);
        let (by, text) = (Medium::Chat.line_within(&answer.by, 40), Medium::Chat.line_within(&answer.text, 300));
        let of = mission.message_id(&format!("question-{number}"));
        Some(OutboundMessage { place: Placement::Revision { of }, ..say(mission, roster, format!("**{question}** {by}: {text}")) })
    };
    before.assumed.iter().zip(&plan.assumed).enumerate().filter_map(settle).collect()
}

/// Reports an answer to a question. `told`: how many steps have to do something else because of it.
pub(in crate::features::mission) fn answered(who: &str, assumption: &Assumption, answer: &str, told: usize) -> String {
    let question = Medium::Chat.line_within(assumption.question.as_deref().unwrap_or(&assumption.text), 200);
    let answer = Medium::Chat.line_within(answer, 100);
    let effect = match told {
        0 => "Nothing changes by it".to_owned(),
        1 => "1 step that is not done knows it now".to_owned(),
        _ => format!("{told} steps that are not done know it now"),
    };
    format!("{question} {who}: **{answer}**. {effect}.")
}

/// What is different because of insights: in short for a card, whole for a file.
fn learnt(plan: &Plan, medium: Medium) -> Vec<String> {
    let is_chat = matches!(medium, Medium::Chat);
    let limit = if is_chat { 90 } else { 1800 };
    let line = |learnt: &Learnt| {
        format!("{} (because: {})", medium.line_within(&learnt.change, limit), medium.line_within(&learnt.insight, limit))
    };
    let mark = if is_chat { "- " } else { "" };
    plan.learnt.iter().map(|learnt| format!("{mark}{}", line(learnt))).collect()
}

fn field(name: &str, value: String) -> CardField {
    CardField { name: name.to_owned(), value, inline: true }
}

fn assumptions(plan: &Plan) -> Option<String> {
    let line = |assumption: &Assumption| {
        let asked =
            assumption.question.as_ref().map_or(String::new(), |question| format!(" **{}**", Medium::Chat.line_within(question, 160)));
        format!("- {}{asked}", Medium::Chat.line_within(&assumption.text, 160))
    };
    let lines: Vec<String> = plan.assumed.iter().take(5).map(line).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// What is not done, and why.
pub(super) fn left_out_lines(mission: &Mission, plan: &Plan) -> Vec<String> {
    let line = |left: &LeftOut| {
        let first = left.parts.first().and_then(|number| mission.directive.find(*number));
        let says = first.map_or(String::new(), |part| Medium::Chat.line_within(&part.text, 60));
        let more = if left.parts.len() > 1 { format!(" and {} more", left.parts.len() - 1) } else { String::new() };
        format!("- \"{says}\"{more}: {}", Medium::Chat.line_within(&left.why, 160))
    };
    let mut lines: Vec<String> = plan.left_out.iter().take(LEFT_OUT).map(line).collect();
    if plan.left_out.len() > LEFT_OUT {
        lines.push("and more, in plan.md".to_owned());
    }
    lines
}

/// The steps by waves: those of one can be done side by side.
fn wave_lines(plan: &Plan, roster: &Roster) -> Vec<String> {
    let mut lines = Vec::new();
    let mut phase = None;
    for (number, wave) in (1..).zip(plan.waves()) {
        for step in wave {
            if step.phase != phase {
                phase = step.phase;
                lines.extend(phase.map(|phase| format!("Phase: **{}**", phase.as_str())));
            }
            let title = Medium::Chat.line_within(&step.title, TITLE);
            lines.push(format!(
                "`{number}` {title}: {}{}",
                Medium::Chat.line_within(doer(step, roster), 40),
                terms(step, roster, Medium::Chat)
            ));
        }
    }
    lines
}

/// Who reviews a step and when it is due, if that was said.
pub(in crate::features::mission) fn terms(step: &Step, roster: &Roster, medium: Medium) -> String {
    let reviewer = step.reviewer.as_ref().map(|reviewer| format!(", reviewed by {}", medium.line(name_of_owner(reviewer, roster))));
    let due = step.due.map(|due| format!(", due {}", roster.show_time(due)));
    reviewer.unwrap_or_default() + &due.unwrap_or_default()
}

fn shorten_lines(lines: &[String], chars: usize) -> String {
    let mut text = String::new();
    for (done, line) in lines.iter().enumerate() {
        if text.chars().count() + line.chars().count() > chars {
            let _ = write!(text, "and {} more, in plan.md", lines.len() - done);
            break;
        }
        text.push_str(line);
        text.push('\n');
    }
    text.trim_end().to_owned()
}

/// The whole plan as Markdown.
pub(in crate::features::mission) fn render_plan(mission: &Mission, plan: &Plan, roster: &Roster) -> String {
    let medium = Medium::File;
    let mut text = format!("# {}\n", medium.line(&mission.title));
    let mut list = |name: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            let _ = write!(text, "\n## {name}\n\n");
            for line in lines {
                let _ = writeln!(text, "- {line}");
            }
        }
    };
    list("Given", plan.given.iter().map(|line| medium.line(line)).collect());
    list("To find out", plan.to_find_out.iter().map(|line| medium.line(line)).collect());
    list("Assumed", plan.assumed.iter().map(assumed).collect());
    list("The delivery is judged by", plan.criteria.iter().map(|line| medium.line(line)).collect());
    list("Learnt from earlier missions", learnt(plan, medium));
    list("Warnings", plan.warnings.iter().map(|line| medium.line(line)).collect());
    list("Missing on the team", plan.missing.iter().map(|role| medium.line(&format!("{} {}", missing(role), role.why))).collect());
    list("Changes", plan.changes.iter().map(|change| format!("{}: {}", medium.line(&change.by), medium.line(&change.why))).collect());
    for (number, wave) in (1..).zip(plan.waves()) {
        let phase = wave.first().and_then(|step| step.phase).map_or(String::new(), |phase| format!(": {}", phase.as_str()));
        let _ = write!(text, "\n## Wave {number}{phase}\n");
        for step in wave {
            push_step(&mut text, plan, step, roster);
        }
    }
    let _ = write!(text, "\n## Coverage\n\n{}", render_coverage(&mission.directive, Some(plan), &[], roster));
    text
}

fn assumed(assumption: &Assumption) -> String {
    let medium = Medium::File;
    match (&assumption.question, &assumption.answer) {
        (Some(question), Some(answer)) => {
            format!("{} {} ({})", medium.line(question), medium.line(&answer.text), medium.line(&answer.by))
        }
        _ => medium.line(&assumption.text),
    }
}

fn push_step(text: &mut String, plan: &Plan, step: &Step, roster: &Roster) {
    let medium = Medium::File;
    let serves: Vec<String> = step.serves.iter().map(ToString::to_string).collect();
    let needs: Vec<String> = step.needs.iter().filter_map(|need| plan.find_step(need)).map(|need| medium.line(&need.title)).collect();
    let _ = write!(
        text,
        "\n### {}\n\n{}{} ({}). Serves {}.",
        medium.line(&step.title),
        medium.line(doer(step, roster)),
        terms(step, roster, medium),
        step.kind.as_str(),
        or_none(&serves)
    );
    if !needs.is_empty() {
        let _ = write!(text, " Needs: {}.", needs.join("; "));
    }
    let _ = write!(text, "\n\n{}\n\n", step.instructions.lines().map(|line| medium.line(line)).collect::<Vec<_>>().join("\n"));
    for criterion in &step.criteria {
        let _ = writeln!(text, "- Done when: {}", medium.line(criterion));
    }
}

fn or_none(numbers: &[String]) -> String {
    if numbers.is_empty() { "no part by itself".to_owned() } else { numbers.join(", ") }
}
