//! What people see of amendments.

use crate::features::backlog::learning::amendment::commands::AmendmentButton;
use crate::features::backlog::learning::amendment::{Amendment, AmendmentStatus, ENOUGH, diff};
use crate::features::backlog::model::ExecutionKind;
use kernel::chat::medium::Medium;
use kernel::chat::outbound::{Button, ButtonStyle, FileContent, OutboundFile, OutboundKind, OutboundMessage};
use kernel::ids::{ChannelId, OutboxId};
use kernel::persona::roster::Roster;

/// A longer diff goes into a file, so that the message fits.
const DIFF: usize = 1000;

/// The most reasons in a message, and the most characters of one and of a name.
const REASONS: usize = 5;
const REASON: usize = 120;
const NAME: usize = 40;

/// A kind of work, in a sentence.
pub(super) fn skill(kind: ExecutionKind) -> &'static str {
    match kind {
        ExecutionKind::Research => "research",
        ExecutionKind::Write => "writing",
        ExecutionKind::Build => "building",
        other => other.as_str(),
    }
}

/// The question to the operators, with the diff.
pub(super) fn offer(amendment: &Amendment, channel: &ChannelId, roster: &Roster) -> OutboundMessage {
    let (name, skill) = (name_of(amendment, roster), skill(amendment.skill));
    let (shown, file) = show_diff(amendment);
    let text = format!(
        "**{name}** could learn from results in {skill} that were not accepted. I would tell {name} this for {skill}:\n{shown}\n{}\n\nShall I? An \
         operator decides.",
        list_reasons(amendment)
    );
    let button = |uses, label: &str, style| {
        let button = AmendmentButton { amendment: amendment.id.clone(), uses };
        Button { id: button.id(), label: label.to_owned(), style }
    };
    OutboundMessage {
        id: OutboxId::new(format!("amendment-{}", amendment.id)),
        buttons: vec![button(true, "Use it", ButtonStyle::Success), button(false, "No", ButtonStyle::Secondary)],
        files: file.into_iter().collect(),
        ..OutboundMessage::new(&roster.coordinator().slug, channel, OutboundKind::Notice, text)
    }
}

/// The diff as a block, or as a file if it is too long.
fn show_diff(amendment: &Amendment) -> (String, Option<OutboundFile>) {
    let diff = diff(amendment.replaces.as_deref().unwrap_or_default(), amendment.text.as_deref().unwrap_or_default());
    if diff.chars().count() <= DIFF {
        return (format!("```diff\n{diff}\n```"), None);
    }
    let name = format!("{}-{}-{}.diff", amendment.persona, amendment.skill.as_str(), amendment.version);
    ("The change is in the attached file.".to_owned(), Some(OutboundFile { name, content: FileContent::Text(diff) }))
}

fn list_reasons(amendment: &Amendment) -> String {
    let left_out = amendment.reasons.len().saturating_sub(REASONS);
    let shown = amendment.reasons.iter().skip(left_out).map(|reason| format!("- {}", Medium::Chat.line_within(reason, REASON)));
    let heading = if left_out > 0 { format!("Why (the last {REASONS} of {}):", amendment.reasons.len()) } else { "Why:".to_owned() };
    std::iter::once(heading).chain(shown).collect::<Vec<_>>().join("\n")
}

/// Reports what an operator has decided.
pub(super) fn decided(amendment: &Amendment, uses: bool, by: &str, roster: &Roster) -> String {
    let (by, name, skill) = (Medium::Chat.line_within(by, NAME), name_of(amendment, roster), skill(amendment.skill));
    if uses {
        format!("{by} said yes: {name} works with it from the next task in {skill} on. `/team revert` takes it back.")
    } else {
        format!("{by} said no: {name} goes on as before.")
    }
}

/// The answer to a button whose question is decided.
pub(super) fn settled(amendment: &Amendment) -> String {
    match amendment.status {
        AmendmentStatus::Used => format!("{} has said yes already.", decider(amendment)),
        AmendmentStatus::Declined => format!("{} has said no already.", decider(amendment)),
        AmendmentStatus::Reverted => "This was used, and is taken back.".to_owned(),
        AmendmentStatus::Drafting | AmendmentStatus::Offered | AmendmentStatus::Failed => "This question is not asked any more.".to_owned(),
    }
}

fn decider(amendment: &Amendment) -> String {
    amendment.decided_by.as_deref().map_or_else(|| "Somebody".to_owned(), |by| Medium::Chat.line_within(by, NAME))
}

/// Reports that the last amendment was reverted, and which one the persona is told now.
pub(super) fn reverted(reverted: &Amendment, now: Option<&Amendment>, by: &str, roster: &Roster) -> String {
    let (name, skill) = (name_of(reverted, roster), skill(reverted.skill));
    let rest = match now {
        Some(before) => format!("{name} works with version {} again.", before.version),
        None => format!("{name} works as the persona file says."),
    };
    format!("{by} took back version {} of what {name} had learnt in {skill}. {rest}", reverted.version)
}

/// Lists the amendments in use and those that wait for an operator. `whole`: all amendments, with their diffs.
pub(super) fn list(amendments: &[Amendment], whole: bool, roster: &Roster) -> String {
    let is_told = |amendment: &Amendment| {
        let of_this = |other: &&Amendment| {
            other.persona == amendment.persona && other.skill == amendment.skill && other.status == AmendmentStatus::Used
        };
        amendments.iter().rfind(of_this).is_some_and(|last| last.id == amendment.id)
    };
    let is_open = |amendment: &Amendment| matches!(amendment.status, AmendmentStatus::Drafting | AmendmentStatus::Offered);
    let shown = amendments.iter().map(|amendment| (amendment, is_told(amendment)));
    let shown = shown.filter(|(amendment, is_told)| whole || *is_told || is_open(amendment));
    let shown: Vec<String> = shown.map(|(amendment, is_told)| entry(amendment, is_told, whole, roster)).collect();
    if shown.is_empty() {
        return format!(
            "Nothing yet. When {ENOUGH} results of a persona in one kind of work were not accepted, I draft what it should do differently."
        );
    }
    let more = if whole { "" } else { "\n\n`/team amendments persona:NAME` shows all versions and why they came about." };
    format!("**What personas have learnt from their reviews**\n\n{}{more}", shown.join("\n\n"))
}

fn entry(amendment: &Amendment, is_told: bool, whole: bool, roster: &Roster) -> String {
    let at = |at: Option<chrono::DateTime<chrono::Utc>>| at.map_or(String::new(), |at| format!(", {}", roster.show_time(at)));
    let status = match amendment.status {
        AmendmentStatus::Drafting => "being drafted".to_owned(),
        AmendmentStatus::Offered => "waits for an operator".to_owned(),
        AmendmentStatus::Used if is_told => format!("in use, {} said yes{}", decider(amendment), at(amendment.decided_at)),
        AmendmentStatus::Used => "replaced by a later version".to_owned(),
        AmendmentStatus::Declined => format!("not used, {} said no{}", decider(amendment), at(amendment.decided_at)),
        AmendmentStatus::Reverted => {
            let by = amendment.reverted_by.as_deref().map_or_else(|| "somebody".to_owned(), |by| Medium::Chat.line_within(by, NAME));
            format!("taken back by {by}{}", at(amendment.reverted_at))
        }
        AmendmentStatus::Failed => {
            format!("could not be drafted: {}", Medium::Chat.line_within(amendment.why.as_deref().unwrap_or_default(), 2 * REASON))
        }
    };
    let head = format!("**{}, {}** (version {}): {status}", name_of(amendment, roster), skill(amendment.skill), amendment.version);
    let text = match &amendment.text {
        None => String::new(),
        Some(text) if whole => {
            format!("\n```diff\n{}\n```", diff(amendment.replaces.as_deref().unwrap_or_default(), text))
        }
        Some(text) => {
            let lines = text.lines().map(|line| format!("\n- {}", Medium::Chat.line(line.trim_start_matches("- "))));
            lines.collect()
        }
    };
    let why = if whole { format!("\n{}", list_reasons(amendment)) } else { String::new() };
    format!("{head}{text}{why}")
}

fn name_of(amendment: &Amendment, roster: &Roster) -> String {
    Medium::Chat.line_within(roster.name_of(&amendment.persona), NAME)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::testing::feeds::now;
    use kernel::testing::persona::roster;

    fn amendment(version: u32, status: AmendmentStatus) -> Amendment {
        Amendment {
            id: format!("a{version}").into(),
            persona: "vince".into(),
            skill: ExecutionKind::Write,
            version,
            status,
            reasons: (1..=6).map(|number| format!("Prices (#00000{number}): Each price has its page: B has none.")).collect(),
            text: Some("- You count twice.\n- You name the page of each price.".to_owned()),
            replaces: Some("- You count twice.\n- You ask first.".to_owned()),
            why: None,
            decided_by: None,
            decided_at: None,
            reverted_by: None,
            reverted_at: None,
            created_at: now(),
        }
    }

    #[test]
    fn an_offer_shows_the_change_and_the_reasons() {
        let message = offer(&amendment(2, AmendmentStatus::Offered), &"discord:1".into(), &roster());
        insta::assert_snapshot!(message.text);
        let buttons: Vec<_> = message.buttons.iter().map(|button| (button.id.as_str(), button.label.as_str())).collect();
        assert_eq!(buttons, [("amend:use:a2", "Use it"), ("amend:no:a2", "No")]);
    }

    #[test]
    fn a_change_that_is_too_long_for_a_message_is_a_file() {
        let long = Amendment { text: Some(format!("- {}", "x".repeat(DIFF))), ..amendment(2, AmendmentStatus::Offered) };
        let message = offer(&long, &"discord:1".into(), &roster());
        assert!(message.text.chars().count() < 2000 && message.files[0].name == "vince-write-2.diff", "{}", message.text);
    }

    #[test]
    fn a_list_has_what_is_used_and_what_waits_and_a_persona_all_of_it() {
        let used = |version| Amendment {
            decided_by: Some("Ann".to_owned()),
            decided_at: Some(now()),
            ..amendment(version, AmendmentStatus::Used)
        };
        let failed = Amendment { text: None, why: Some("it has 0 habits".to_owned()), ..amendment(4, AmendmentStatus::Failed) };
        let declined = Amendment { decided_by: Some("Ann".to_owned()), ..amendment(3, AmendmentStatus::Declined) };
        let all = [used(1), used(2), declined, failed, amendment(5, AmendmentStatus::Offered)];
        insta::assert_snapshot!(list(&all, false, &roster()));
        insta::assert_snapshot!(list(&all[..4], true, &roster()));
        assert!(list(&[], true, &roster()).starts_with("Nothing yet."));
    }
}
