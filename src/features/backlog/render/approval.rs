//! What people approve: one call of a tool, with its exact arguments.

use std::fmt::Write as _;

use crate::features::backlog::button::WorkButton;
use crate::features::backlog::model::WorkItem;
use crate::features::backlog::render::labels;
use crate::features::backlog::render::messages::{Announcer, FINDING, button, title};
use kernel::chat::medium::Medium;
use kernel::chat::outbound::{Button, ButtonStyle, FileContent, OutboundFile, OutboundMessage};
use kernel::chat::text::Subtext;
use kernel::ids::ApprovalId;
use kernel::tools::approval::{Approval, escape, fingerprint, show_arguments};

/// Longer arguments are attached as a file.
const ARGUMENTS: usize = 1200;

impl Announcer<'_> {
    /// Asks people to approve a call with its exact arguments, attached as a file if long. `why`: the reason for asking.
    pub fn ask_approval(&self, item: &WorkItem, approval: &Approval, why: &str) -> OutboundMessage {
        let who = item.persona.as_ref().map_or("Somebody", |slug| self.roster.name_of(slug));
        let call = show_arguments(&approval.arguments);
        let print = fingerprint(&approval.tool, &approval.arguments);
        let mut text = format!(
            "🔐 {} wants to call `{}` ({}) for: {}\nWhy: {}",
            labels::name(who),
            approval.tool.replace('`', "'"),
            approval.risk.as_str(),
            title(item),
            Medium::Chat.line_within(why, FINDING)
        );
        let is_long = call.chars().count() > ARGUMENTS;
        let shown: String = call.chars().take(ARGUMENTS).collect();
        // Three backticks would end the block, and the rest would look like our text.
        let _ = write!(text, "\n```\n{}\n```\n", shown.trim_end().replace("```", "'''"));
        if is_long {
            text.push_str("The rest is in the file. ");
        }
        let _ = write!(text, "{}", Subtext(format_args!("Approval covers this exact call, once ({}).", labels::short_hash(&print))));
        let file =
            OutboundFile { name: "arguments.json".to_owned(), content: FileContent::Text(escape(&format!("{:#}", approval.arguments))) };
        let buttons = approval_buttons(&approval.id);
        OutboundMessage { files: if is_long { vec![file] } else { Vec::new() }, buttons, ..self.say(text) }
    }
}

pub(super) fn approval_buttons(approval: &ApprovalId) -> Vec<Button> {
    vec![
        button(&WorkButton::Allow(approval.clone()), "Approve", ButtonStyle::Success),
        button(&WorkButton::Refuse(approval.clone()), "Refuse", ButtonStyle::Danger),
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::features::backlog::render::sample::{OUTSIDE, approval, item, with_announcer};

    #[test]
    fn long_arguments_go_along_whole_as_a_file() {
        with_announcer(|announcer| {
            let long = approval(json!({"body": "x".repeat(5000)}));
            let asked = announcer.ask_approval(&item(), &long, OUTSIDE);
            let FileContent::Text(file) = &asked.files[0].content else { panic!("a text") };
            assert_eq!(serde_json::from_str::<Value>(file).unwrap(), long.arguments);
            assert!(asked.text.contains("The rest is in the file"));
            assert!(announcer.ask_approval(&item(), &approval(json!({})), OUTSIDE).files.is_empty());
        });
    }
}
