//! `/team amendments`, `/team revert` and the buttons of an offer.

use crate::features::backlog::commands::{explain, parse_choice};
use crate::features::backlog::model::ExecutionKind;
use crate::features::backlog::service::{Asker, Backlog};
use kernel::commands::{ArgumentSpec, Choice, CommandCall, CommandReply, CommandSpec, Registry, Services, refuse};
use kernel::ids::AmendmentId;

const KINDS: &[Choice] = &[Choice::new("research", "research"), Choice::new("write", "writing"), Choice::new("build", "building")];

/// A button of an offer. The id says everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AmendmentButton {
    pub(super) amendment: AmendmentId,
    pub(super) uses: bool,
}

impl AmendmentButton {
    const PREFIX: &str = "amend";

    pub(super) fn id(&self) -> String {
        format!("{}:{}:{}", Self::PREFIX, if self.uses { "use" } else { "no" }, self.amendment)
    }

    fn parse(id: &str) -> Option<Self> {
        let (verb, amendment) = id.strip_prefix(Self::PREFIX)?.strip_prefix(':')?.split_once(':')?;
        let uses = match verb {
            "use" => true,
            "no" => false,
            _ => return None,
        };
        Some(Self { amendment: amendment.into(), uses })
    }
}

pub(in crate::features::backlog) fn register(registry: &mut Registry, services: &Services) {
    let backlog = services.late::<Backlog>();
    registry
        .more_of("team", &backlog)
        .command(
            CommandSpec::new("amendments", "What personas have learnt from rejected results.")
                .example("--persona vince")
                .argument(ArgumentSpec::persona("persona", "All versions of this persona, with the reasons")),
            |backlog, call| Box::pin(list(backlog, call)),
        )
        .command(
            CommandSpec::new("revert", "Take back the last thing that a persona has learnt in a kind of work.")
                .example("vince research")
                .public()
                .operators_only()
                .argument(ArgumentSpec::persona("persona", "Which persona").required())
                .argument(ArgumentSpec::choice("kind", KINDS, "The kind of work").required()),
            |backlog, call| Box::pin(revert(backlog, call)),
        );
    registry.button(AmendmentButton::PREFIX, &backlog, |backlog, call| Box::pin(press(backlog, call)));
}

async fn list(backlog: &Backlog, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let named = call.arguments.find_text("persona");
    let persona = named.map(|name| backlog.roster().resolve(name)).transpose()?;
    backlog.list_learnt(persona).await.map_err(explain)
}

async fn revert(backlog: &Backlog, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let persona = backlog.roster().resolve(call.arguments.get_text("persona")?)?;
    let kind = parse_choice::<ExecutionKind>(&call.arguments, "kind")?.unwrap_or(ExecutionKind::Write);
    let (asker, subject) = (Asker::of(call), call.caller.subject());
    backlog.revert_amendment(persona, kind, (&asker, &subject)).await.map_err(explain)
}

async fn press(backlog: &Backlog, call: &CommandCall) -> anyhow::Result<CommandReply> {
    match AmendmentButton::parse(&call.name) {
        Some(button) => backlog.decide_on_amendment(&button.amendment, button.uses, &Asker::of(call)).await.map_err(explain),
        None => Ok(refuse("this button no longer works")?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_button_is_read_back_from_its_id_and_those_of_others_are_not_ours() {
        for uses in [true, false] {
            let button = AmendmentButton { amendment: "a1".into(), uses };
            assert_eq!(AmendmentButton::parse(&button.id()), Some(button));
        }
        for id in ["", "amend", "amend:use", "amend:maybe:1", "amended:use:1"] {
            assert_eq!(AmendmentButton::parse(id), None, "{id}");
        }
    }

    #[test]
    fn every_choice_is_a_kind_of_work_that_a_model_does() {
        for choice in KINDS {
            assert!(serde_json::from_value::<ExecutionKind>(choice.value.into()).is_ok_and(ExecutionKind::needs_model), "{}", choice.value);
        }
    }
}
