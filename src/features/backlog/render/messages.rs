//! Messages about work: results, and questions to people with buttons.

use std::fmt::Write as _;

use serde_json::Value;

use crate::features::backlog::button::WorkButton;
use crate::features::backlog::model::{Execution, Owner, WorkItem, short_id};
use kernel::chat::medium::Medium;
use kernel::chat::outbound::{Button, ButtonStyle, FileContent, OutboundFile, OutboundKind, OutboundMessage};
use kernel::chat::text::{Mention, Subtext};
use kernel::ids::{ChannelId, PersonaSlug, UserId, WorkItemId};
use kernel::money::Refused;
use kernel::persona::roster::Roster;
use kernel::text::is_invisible;
use kernel::tools::approval::{Approval, fingerprint};

use crate::features::backlog::render::{labels, lines};

/// The most characters of each part. Together below 2000, so that no message is cut on a platform that holds as much.
const WHAT: usize = 200;
const HOW: usize = 400;
const CRITERIA: usize = 5;
const CRITERION: usize = 120;
const EVIDENCE: usize = 6;
const FINDING: usize = 120;
const REPLY: usize = 240;
/// Longer arguments are attached as a file.
const ARGUMENTS: usize = 1200;

/// The speaker and the channel.
#[derive(Debug, Clone, Copy)]
pub struct Announcer<'a> {
    pub persona: &'a PersonaSlug,
    pub channel: &'a ChannelId,
    pub roster: &'a Roster,
}

impl Announcer<'_> {
    pub fn announce_done(&self, item: &WorkItem) -> OutboundMessage {
        self.say(lines::render_done(item, self.roster))
    }

    /// With a button to try again.
    pub fn announce_failed(&self, item: &WorkItem) -> OutboundMessage {
        let retry = button(&WorkButton::Retry(item.id.clone()), "Try again", ButtonStyle::Secondary);
        OutboundMessage { buttons: vec![retry], ..self.say(lines::render_failed(item, self.roster)) }
    }

    pub fn announce_cancelled(&self, item: &WorkItem) -> OutboundMessage {
        self.say(lines::render_cancelled(item))
    }

    /// A summary of many items that ended because of others.
    pub fn announce_many(&self, many: usize) -> OutboundMessage {
        self.say(format!("And {many} more items ended because of that. See `/backlog list`."))
    }

    /// Tells the one that an item is for. Pings a person. Buttons report the result.
    pub fn remind(&self, item: &WorkItem) -> OutboundMessage {
        let (whom, pings) = address(item.find_awaited());
        let mut text = format!("⏰ Reminder for {whom} ({}): {}", labels::urgency(item.urgency), title(item));
        push_details(&mut text, item);
        let buttons = [
            button(&WorkButton::Done(item.id.clone()), "Done", ButtonStyle::Success),
            button(&WorkButton::NotNeeded(item.id.clone()), "Not needed", ButtonStyle::Secondary),
        ];
        OutboundMessage { pings, buttons: buttons.into(), ..self.say(text) }
    }

    /// Asks a person for what the asked personas did not know: what was asked, who did not know it, and how to help.
    pub fn ask_help(&self, item: &WorkItem, person: Option<&Owner>) -> OutboundMessage {
        let (whom, pings) = address(person);
        let mut text = format!("❓ Help needed from {whom}: nobody on the team knows the answer to {}", title(item));
        if let Some(Execution::Ask { question, unanswered, .. }) = &item.execution {
            let _ = write!(text, "\nAsked: {}", Medium::Chat.line_within(question, HOW));
            for reply in unanswered {
                let by = labels::name(self.roster.name_of(&reply.by));
                let _ = write!(text, "\n- {by}: {}", Medium::Chat.line_within(&reply.said, REPLY));
            }
        }
        let _ = write!(
            text,
            "\nIf you know it, answer with `/backlog answer id:{} text:…`. If a file or a data source has the answer, add it and try again.",
            item.short_id()
        );
        let buttons = vec![
            button(&WorkButton::Retry(item.id.clone()), "Try again", ButtonStyle::Primary),
            button(&WorkButton::NotNeeded(item.id.clone()), "Not needed", ButtonStyle::Secondary),
        ];
        OutboundMessage { pings, buttons, ..self.say(text) }
    }

    /// Asks whether an item is wanted that looks like an open one.
    pub fn ask_anyway(&self, item: &WorkItem, of: &WorkItemId, what: &str) -> OutboundMessage {
        let like = Medium::Chat.line_within(what, WHAT);
        let text = format!("❔ {} looks like **{like}** (#{}). Add it anyway?", title(item), short_id(of));
        let buttons = vec![
            button(&WorkButton::Anyway(item.id.clone()), "Add anyway", ButtonStyle::Primary),
            button(&WorkButton::NotNeeded(item.id.clone()), "Don't add", ButtonStyle::Secondary),
        ];
        OutboundMessage { buttons, ..self.say(text) }
    }

    /// Asks people to review a result. `files`: the result.
    pub fn ask_review(&self, item: &WorkItem, files: Vec<OutboundFile>) -> OutboundMessage {
        let by = item.persona.as_ref().map_or_else(|| labels::name_of_owner(&item.owner, self.roster), |slug| self.roster.name_of(slug));
        let mut text = format!("🔎 {} needs a review: {}", labels::name(by), title(item));
        push_criteria(&mut text, item);
        self.push_evidence(&mut text, item);
        let buttons = vec![
            button(&WorkButton::Accept(item.id.clone()), "Accept", ButtonStyle::Success),
            button(&WorkButton::Reject(item.id.clone()), "Reject: try again", ButtonStyle::Secondary),
            button(&WorkButton::Cancel(item.id.clone()), "Cancel", ButtonStyle::Danger),
        ];
        OutboundMessage { files, buttons, ..self.say(text) }
    }

    /// Asks people to decide about an item. `made`: there is a result that could be accepted.
    pub fn ask_decision(&self, item: &WorkItem, why: &str, made: bool) -> OutboundMessage {
        let mut text = format!("⚖ Decision needed: {}\nWhy: {}", title(item), Medium::Chat.line_within(why, HOW));
        self.push_evidence(&mut text, item);
        let mut buttons = vec![button(&WorkButton::Retry(item.id.clone()), "Try again", ButtonStyle::Primary)];
        if made {
            buttons.push(button(&WorkButton::Accept(item.id.clone()), "Accept as it is", ButtonStyle::Success));
        }
        buttons.push(button(&WorkButton::Cancel(item.id.clone()), "Cancel", ButtonStyle::Danger));
        OutboundMessage { buttons, ..self.say(text) }
    }

    /// Asks people to approve a call with its exact arguments, attached as a file if long. `why`: the reason for asking.
    pub fn ask_approval(&self, item: &WorkItem, approval: &Approval, why: &str) -> OutboundMessage {
        let who = item.persona.as_ref().map_or("Somebody", |slug| self.roster.name_of(slug));
        let arguments = render_arguments(&approval.arguments);
        let print = fingerprint(&approval.tool, &approval.arguments);
        let mut text = format!(
            "🔐 {} wants to call `{}` ({}) for: {}\nWhy: {}",
            labels::name(who),
            approval.tool.replace('`', "'"),
            approval.risk.as_str(),
            title(item),
            Medium::Chat.line_within(why, FINDING)
        );
        let is_long = arguments.chars().count() > ARGUMENTS;
        let shown: String = arguments.chars().take(ARGUMENTS).collect();
        // Three backticks would end the block, and the rest would look like our text.
        let _ = write!(text, "\n```json\n{}\n```\n", shown.replace("```", "'''"));
        if is_long {
            text.push_str("The rest is in the file. ");
        }
        let _ = write!(text, "{}", Subtext(format_args!("Approval covers this exact call, once ({}).", labels::short_hash(&print))));
        let file = OutboundFile { name: "arguments.json".to_owned(), content: FileContent::Text(arguments) };
        let buttons = vec![
            button(&WorkButton::Allow(approval.id.clone()), "Approve", ButtonStyle::Success),
            button(&WorkButton::Refuse(approval.id.clone()), "Refuse", ButtonStyle::Danger),
        ];
        OutboundMessage { files: if is_long { vec![file] } else { Vec::new() }, buttons, ..self.say(text) }
    }

    /// Reports a used-up budget, with a button that raises the limit by `step`.
    pub fn ask_budget(&self, item: &WorkItem, refused: &Refused, step: i64) -> OutboundMessage {
        let until = if refused.limit.ends_with_the_day() { " It continues tomorrow." } else { "" };
        let text = format!("💰 On hold: {} — {refused}. Results so far are kept.{until}", title(item));
        let raise = format!("Raise by {}", refused.limit.render(step));
        let buttons = vec![
            button(&WorkButton::Raise(item.id.clone()), &raise, ButtonStyle::Primary),
            button(&WorkButton::Cancel(item.id.clone()), "Cancel", ButtonStyle::Danger),
        ];
        OutboundMessage { buttons, ..self.say(text) }
    }

    fn say(&self, text: String) -> OutboundMessage {
        OutboundMessage::new(self.persona, self.channel, OutboundKind::Notice, text)
    }

    fn push_evidence(&self, text: &mut String, item: &WorkItem) {
        for found in item.evidence.iter().take(EVIDENCE) {
            let _ = write!(text, "\n- {}", Medium::Chat.line_within(&labels::evidence(found, self.roster), FINDING));
        }
        if item.evidence.len() > EVIDENCE {
            let _ = write!(text, "\n- and {} more", item.evidence.len() - EVIDENCE);
        }
    }
}

/// How a message names a person, and whom it pings.
fn address(person: Option<&Owner>) -> (String, Vec<UserId>) {
    match person {
        Some(Owner::Person { id, .. }) => (Mention(id).to_string(), vec![id.clone()]),
        _ => ("somebody on the team".to_owned(), Vec::new()),
    }
}

/// An item's title and short id.
fn title(item: &WorkItem) -> String {
    format!("**{}** (#{})", Medium::Chat.line_within(&item.what, WHAT), item.short_id())
}

fn push_details(text: &mut String, item: &WorkItem) {
    for (label, words) in [("How", &item.how), ("Why", &item.why)] {
        if !words.is_empty() {
            let _ = write!(text, "\n{label}: {}", Medium::Chat.line_within(words, HOW));
        }
    }
    push_criteria(text, item);
}

fn push_criteria(text: &mut String, item: &WorkItem) {
    for criterion in item.criteria.iter().take(CRITERIA) {
        let _ = write!(text, "\nDone when: {}", Medium::Chat.line_within(criterion, CRITERION));
    }
}

/// As JSON with invisible characters escaped, because the person must see everything that is approved.
fn render_arguments(arguments: &Value) -> String {
    let mut text = String::new();
    for c in format!("{arguments:#}").chars() {
        if c != '\n' && is_invisible(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                let _ = write!(text, "\\u{unit:04x}");
            }
        } else {
            text.push(c);
        }
    }
    text
}

fn button(what: &WorkButton, label: &str, style: ButtonStyle) -> Button {
    Button { id: what.id(), label: label.to_owned(), style }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::sample;
    use super::*;
    use crate::features::backlog::model::{Evidence, NoAnswer};
    use kernel::agent::AnswerVerdict;
    use kernel::chat::format::TextFormat;
    use kernel::money::Limit;
    use kernel::tools::approval::{ApprovalState, Risk};

    const OUTSIDE: &str = "Text from outside is in its context";

    fn with_voice<T>(say: impl FnOnce(&Announcer<'_>) -> T) -> T {
        let roster = kernel::testing::roster::roster();
        say(&Announcer { persona: &"kelly".into(), channel: &"10".into(), roster: &roster })
    }

    fn ann() -> Owner {
        Owner::Person { id: "discord:77".into(), name: "Ann".to_owned() }
    }

    fn unanswered() -> WorkItem {
        WorkItem { execution: Some(unanswered_by("I have no figure for that.")), ..sample::item() }
    }

    /// A question that two personas did not answer.
    fn unanswered_by(said: &str) -> Execution {
        let reply = |by: &str| NoAnswer { by: by.into(), verdict: AnswerVerdict::DoesNotKnow, said: said.to_owned() };
        let question = format!("Why is the build slow? {}", if said.len() > 100 { said } else { "" });
        Execution::Ask { whom: Owner::Persona("vince".into()), question, unanswered: vec![reply("vince"), reply("solus")] }
    }

    fn approval(arguments: Value) -> Approval {
        Approval {
            id: "a1".into(),
            item: sample::item().id,
            run: 0,
            tool: "fetch_page".to_owned(),
            arguments,
            risk: Risk::ReachOut,
            state: ApprovalState::Asked,
            by: None,
            asked_at: sample::at(),
            decided_at: None,
        }
    }

    fn shown(message: &OutboundMessage) -> String {
        let buttons: Vec<_> = message.buttons.iter().map(|button| format!("[{}]", button.label)).collect();
        format!("{}\n{}\n", message.text, buttons.join(" "))
    }

    #[test]
    fn what_people_are_asked_reads_as_it_should() {
        let refused = Refused { limit: Limit::Item("a1b2c3".into()), spent: 1_020_000, allowed: 1_000_000 };
        let tokens = Refused { limit: Limit::PersonaDayTokens("vince".into()), spent: 1020, allowed: 1000 };
        let texts = with_voice(|announcer| {
            let (item, done) = (sample::item(), sample::done());
            [
                shown(&announcer.remind(&item)),
                shown(&announcer.ask_help(&unanswered(), Some(&ann()))),
                shown(&announcer.ask_anyway(&item, &"0192f0a1b2c3d4e5f60718293a4bffffff".into(), "Check why the build_x is slow")),
                shown(&announcer.ask_review(&done, Vec::new())),
                shown(&announcer.ask_decision(&done, "it took its worker down 3 times", true)),
                shown(&announcer.ask_approval(
                    &item,
                    &approval(json!({"url": "https://example.org/a", "note": "a\u{202e}b```c"})),
                    OUTSIDE,
                )),
                shown(&announcer.ask_budget(&item, &refused, 1_000_000)),
                shown(&announcer.ask_budget(&item, &tokens, 500)),
                shown(&announcer.announce_failed(&item)),
            ]
        });
        insta::assert_snapshot!(texts.join("\n"));
    }

    #[test]
    fn only_a_reminded_person_is_pinged_and_nothing_is_taken_for_talk() {
        with_voice(|announcer| {
            let item = WorkItem { owner: Owner::Person { id: "discord:77".into(), name: "Ann".to_owned() }, ..sample::item() };
            let reminder = announcer.remind(&item);
            assert_eq!((reminder.pings, reminder.kind), (vec!["discord:77".into()], OutboundKind::Notice));
            assert!(reminder.text.contains("<user:discord:77>"));
            assert!(announcer.remind(&sample::item()).pings.is_empty());
        });
    }

    #[test]
    fn long_arguments_go_along_whole_as_a_file() {
        with_voice(|announcer| {
            let long = approval(json!({"body": "x".repeat(5000)}));
            let asked = announcer.ask_approval(&sample::item(), &long, OUTSIDE);
            let FileContent::Text(file) = &asked.files[0].content else { panic!("a text") };
            assert_eq!(serde_json::from_str::<Value>(file).unwrap(), long.arguments);
            assert!(asked.text.contains("The rest is in the file"));
            assert!(announcer.ask_approval(&sample::item(), &approval(json!({})), OUTSIDE).files.is_empty());
        });
    }

    #[test]
    fn no_message_is_over_the_limit() {
        with_voice(|announcer| {
            let long = "*`_~ words ".repeat(300);
            let refused = Refused { limit: Limit::PersonaDayTokens("p".repeat(32).into()), spent: i64::MAX, allowed: i64::MAX };
            let finding = Evidence::Reading { feed: long.clone(), at: sample::at() };
            let item = WorkItem {
                what: long.clone(),
                how: long.clone(),
                why: long.clone(),
                criteria: vec![long.clone(); 30],
                evidence: vec![finding; 30],
                owner: Owner::Person { id: "80351110224678912".into(), name: long.clone() },
                ..sample::item()
            };
            for message in [
                announcer.remind(&item),
                announcer.ask_help(&WorkItem { execution: Some(unanswered_by(&long)), ..item.clone() }, Some(&item.owner)),
                announcer.ask_anyway(&item, &item.id, &long),
                announcer.ask_review(&item, Vec::new()),
                announcer.ask_decision(&item, &long, true),
                announcer.ask_approval(&item, &approval(json!({"text": long.clone()})), &long),
                announcer.ask_budget(&item, &refused, i64::MAX),
            ] {
                assert!(TextFormat::plain(2000).fits(&message.text), "{}: {}", message.text.chars().count(), message.text);
                assert!(message.buttons.iter().all(|button| button.id.len() <= 100 && button.label.chars().count() <= 80));
            }
        });
    }
}
