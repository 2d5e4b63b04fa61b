use crate::chat::command::{CommandCall, Standing};
use crate::domain::ids::{ChannelId, UserId};
use crate::domain::work::{Execution, Origin, Owner, WorkItem};

/// Who wants something of the backlog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asker {
    /// Somebody in a channel, which sees the answer.
    Person { id: UserId, name: String, standing: Standing, channel: ChannelId },
    /// Whoever may start the program may do everything.
    Terminal,
}

impl Asker {
    pub(super) fn of(call: &CommandCall, standing: Standing) -> Self {
        Self::Person { id: call.caller.id.clone(), name: call.caller.name.clone(), standing, channel: call.channel.id.clone() }
    }

    /// What events and notes call them.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Person { name, .. } => name,
            Self::Terminal => "the command line",
        }
    }

    pub(super) fn origin(&self) -> Origin {
        match self {
            Self::Person { id, name, .. } => Origin::Person { id: id.clone(), name: name.clone(), message: None },
            Self::Terminal => Origin::CommandLine,
        }
    }

    /// Where they see the answer, so that it need not be told there twice.
    pub(super) fn channel(&self) -> Option<&ChannelId> {
        match self {
            Self::Person { channel, .. } => Some(channel),
            Self::Terminal => None,
        }
    }

    pub(super) fn operates(&self) -> bool {
        match self {
            Self::Person { standing, .. } => *standing == Standing::Operator,
            Self::Terminal => true,
        }
    }

    /// An operator, or whoever added or owns the item.
    pub(super) fn may_change(&self, item: &WorkItem) -> bool {
        self.operates()
            || self.is_owner_of(item)
            || matches!((&item.origin, self), (Origin::Person { id, .. }, Self::Person { id: me, .. }) if id == me)
    }

    /// Those of before, or whoever is asked for the answer that the item waits for.
    pub(super) fn may_answer(&self, item: &WorkItem) -> bool {
        self.may_change(item) || matches!(&item.execution, Some(Execution::Ask { whom, .. }) if self.is(whom))
    }

    fn is_owner_of(&self, item: &WorkItem) -> bool {
        self.is(&item.owner)
    }

    fn is(&self, owner: &Owner) -> bool {
        matches!((owner, self), (Owner::Person { id, .. }, Self::Person { id: me, .. }) if id == me)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(id: &str, standing: Standing) -> Asker {
        Asker::Person { id: id.into(), name: "Ann".to_owned(), standing, channel: "10".into() }
    }

    #[test]
    fn an_item_is_changed_by_operators_its_owner_and_whoever_added_it() {
        let at = "2026-11-20T10:00:00Z".parse().expect("a time");
        let owner = Owner::Person { id: "1".into(), name: "Ann".to_owned() };
        let origin = Origin::Person { id: "2".into(), name: "Bob".to_owned(), message: None };
        let item = WorkItem::new("Fix the login", owner, origin, at);
        for (asker, may) in [
            (person("1", Standing::Member), true),
            (person("2", Standing::Member), true),
            (person("3", Standing::Member), false),
            (person("3", Standing::Operator), true),
            (Asker::Terminal, true),
        ] {
            assert_eq!(asker.may_change(&item), may, "{asker:?}");
        }
    }

    #[test]
    fn who_was_asked_may_answer_and_do_nothing_else() {
        let at = "2026-11-20T10:00:00Z".parse().expect("a time");
        let whom = Owner::Person { id: "3".into(), name: "Cid".to_owned() };
        let execution = Some(Execution::Ask { whom, question: "Which port?".to_owned() });
        let item = WorkItem { execution, ..WorkItem::new("Ask for the port", Owner::Persona("vince".into()), Origin::CommandLine, at) };
        let cid = person("3", Standing::Member);
        assert!(cid.may_answer(&item) && !cid.may_change(&item));
        assert!(!person("4", Standing::Member).may_answer(&item));
    }
}
