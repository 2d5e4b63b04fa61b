use crate::features::backlog::model::{Execution, Origin, Owner, Wait, WorkItem};
use kernel::chat::message::{Channel, Place};
use kernel::commands::{Caller, CommandCall, KANBAN_PAGE, Right};
use kernel::ids::{ChannelId, UserId};
use kernel::memory::Scope;

/// The caller of a backlog command.
#[expect(clippy::large_enum_variant, reason = "there is one per command, and nearly all are persons")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asker {
    /// A person in a channel, which sees the answer.
    Person { id: UserId, name: String, right: Right, channel: Option<Channel> },
    /// Anybody at the command line. May do everything.
    CommandLine,
    /// The operator on the kanban page. May do everything.
    KanbanPage,
}

impl Asker {
    pub(crate) fn of(call: &CommandCall) -> Self {
        match &call.caller {
            Caller::Person { id, name, .. } => {
                Self::Person { id: id.clone(), name: name.clone(), right: call.right, channel: call.channel.clone() }
            }
            Caller::CommandLine => Self::CommandLine,
            Caller::KanbanPage => Self::KanbanPage,
        }
    }

    /// The name in events and notes.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Person { name, .. } => name,
            Self::CommandLine => "the command line",
            Self::KanbanPage => KANBAN_PAGE,
        }
    }

    pub(super) fn origin(&self) -> Origin {
        match self {
            Self::Person { id, name, .. } => Origin::Person { id: id.clone(), name: name.clone(), message: None },
            Self::CommandLine => Origin::CommandLine,
            Self::KanbanPage => Origin::KanbanPage,
        }
    }

    /// None at the command line and on the page.
    pub(crate) fn person(&self) -> Option<(&UserId, &str)> {
        match self {
            Self::Person { id, name, .. } => Some((id, name)),
            Self::CommandLine | Self::KanbanPage => None,
        }
    }

    /// As an owner of items. None at the command line and on the page.
    pub(in crate::features::backlog) fn as_owner(&self) -> Option<Owner> {
        match self {
            Self::Person { id, name, .. } => Some(Owner::Person { id: id.clone(), name: name.clone() }),
            Self::CommandLine | Self::KanbanPage => None,
        }
    }

    /// The channel that sees the answer and needs no further message.
    pub(super) fn channel(&self) -> Option<&ChannelId> {
        match self {
            Self::Person { channel, .. } => channel.as_ref().map(|channel| &channel.id),
            Self::CommandLine | Self::KanbanPage => None,
        }
    }

    pub(crate) fn operates(&self) -> bool {
        match self {
            Self::Person { right, .. } => *right == Right::Operator,
            Self::CommandLine | Self::KanbanPage => true,
        }
    }

    /// The one rule about changing, pausing and cancelling work: it is for who asked for it, its owner and operators.
    ///
    /// # Errors
    /// Somebody else asks. Says who may: "Zoe, Bob or an operator".
    pub(crate) fn check_right(&self, by: Option<(&UserId, &str)>, owner: Option<&Owner>) -> Result<(), String> {
        let owner = match owner {
            Some(Owner::Person { id, name }) => Some((id, name.as_str())),
            _ => None,
        };
        let may: Vec<(&UserId, &str)> = by.into_iter().chain(owner.filter(|(id, _)| by.is_none_or(|(by, _)| by != *id))).collect();
        let is_one = self.person().is_some_and(|(me, _)| may.iter().any(|(id, _)| *id == me));
        if self.operates() || is_one {
            return Ok(());
        }
        let names: Vec<&str> = may.iter().map(|(_, name)| *name).collect();
        Err(if names.is_empty() { "an operator".to_owned() } else { format!("{} or an operator", names.join(", ")) })
    }

    /// Which private items may be shown where the caller is. None: all, at the command line and on the page.
    pub(crate) fn scope(&self) -> Option<Scope> {
        match self {
            Self::Person { channel, .. } => Some(channel.as_ref().map_or(Scope::TEAM, Scope::of)),
            Self::CommandLine | Self::KanbanPage => None,
        }
    }

    /// Whether an item may be shown where the caller is. In a direct conversation a person also sees all items that concern them.
    pub(super) fn sees(&self, item: &WorkItem) -> bool {
        let is_alone = matches!(self, Self::Person { channel: Some(Channel { place: Place::Direct, .. }), .. });
        self.scope().is_none_or(|scope| scope.hears(item.private_to.as_ref())) || (is_alone && self.is_concerned_by(item))
    }

    /// An operator, the person who added or owns the item, or the one whose answer or help it waits for.
    pub(super) fn may_answer(&self, item: &WorkItem) -> bool {
        self.operates() || self.is_concerned_by(item)
    }

    /// Whether the caller added the item, owns it, or is asked or reminded by it.
    fn is_concerned_by(&self, item: &WorkItem) -> bool {
        self.is_author_of(item)
            || self.is_owner_of(item)
            || matches!(&item.execution, Some(Execution::Ask { whom, .. } | Execution::Remind { whom: Some(whom) }) if self.is(whom))
            || matches!(&item.wait, Some(Wait::Help { of: Some(of) } | Wait::Kind { of: Some(of) }) if self.is(of))
    }

    /// Whether the item's result is to be reviewed by this person.
    pub(in crate::features::backlog) fn is_reviewer_of(&self, item: &WorkItem) -> bool {
        item.reviewer.as_ref().is_some_and(|reviewer| self.is(reviewer))
    }

    fn is_author_of(&self, item: &WorkItem) -> bool {
        matches!((&item.origin, self), (Origin::Person { id, .. }, Self::Person { id: me, .. }) if id == me)
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

    fn person(id: &str, right: Right) -> Asker {
        in_place(id, right, "10", Place::Server, false)
    }

    fn in_place(id: &str, right: Right, channel: &str, place: Place, private: bool) -> Asker {
        let channel = Channel { id: channel.into(), name: String::new(), place, private, shared: false };
        Asker::Person { id: id.into(), name: "Ann".to_owned(), right, channel: Some(channel) }
    }

    #[test]
    fn what_was_asked_for_in_private_is_seen_there_and_by_its_people_in_direct_conversations() {
        let at = "2026-11-20T10:00:00Z".parse().expect("a time");
        let origin = Origin::Person { id: "2".into(), name: "Bob".to_owned(), message: None };
        let item = WorkItem { private_to: Some("10".into()), ..WorkItem::new("Fix the login", Owner::Persona("vince".into()), origin, at) };
        for (asker, sees) in [
            (in_place("3", Right::Anybody, "10", Place::Server, true), true),
            (in_place("2", Right::Operator, "20", Place::Server, false), false),
            (in_place("3", Right::Operator, "20", Place::Server, true), false),
            (in_place("2", Right::Anybody, "30", Place::Direct, true), true),
            (in_place("3", Right::Operator, "30", Place::Direct, true), false),
            (Asker::CommandLine, true),
            (Asker::KanbanPage, true),
        ] {
            assert_eq!(asker.sees(&item), sees, "{asker:?}");
            assert!(asker.sees(&WorkItem { private_to: None, ..item.clone() }));
        }
    }

    #[test]
    fn an_item_is_changed_by_operators_its_owner_and_whoever_added_it() {
        let owner = Owner::Person { id: "1".into(), name: "Ann".to_owned() };
        let by = UserId::from("2");
        for (asker, may) in [
            (person("1", Right::Anybody), true),
            (person("2", Right::Anybody), true),
            (person("3", Right::Anybody), false),
            (person("3", Right::Operator), true),
            (Asker::CommandLine, true),
            (Asker::KanbanPage, true),
        ] {
            assert_eq!(asker.check_right(Some((&by, "Bob")), Some(&owner)).is_ok(), may, "{asker:?}");
        }
        let stranger = person("3", Right::Anybody);
        let told = |by, owner| stranger.check_right(by, owner).unwrap_err();
        assert_eq!(told(Some((&by, "Bob")), Some(&owner)), "Bob, Ann or an operator");
        let ann = UserId::from("1");
        assert_eq!(told(Some((&ann, "Ann")), Some(&owner)), "Ann or an operator", "each once");
        assert_eq!(told(None, Some(&Owner::Persona("vince".into()))), "an operator");
    }

    #[test]
    fn who_was_asked_may_answer_and_do_nothing_else() {
        let at = "2026-11-20T10:00:00Z".parse().expect("a time");
        let whom = Owner::Person { id: "3".into(), name: "Cid".to_owned() };
        let execution = Some(Execution::ask(whom, "Which port?".to_owned()));
        let item = WorkItem { execution, ..WorkItem::new("Ask for the port", Owner::Persona("vince".into()), Origin::CommandLine, at) };
        let cid = person("3", Right::Anybody);
        assert!(cid.may_answer(&item) && cid.check_right(None, Some(&item.owner)).is_err());
        assert!(!person("4", Right::Anybody).may_answer(&item));
    }
}
