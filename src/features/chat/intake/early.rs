//! Edits and deletions that arrive before their message. The gateway does not preserve the order.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

use kernel::chat::message::InboundMessage;
use kernel::ids::MessageId;

/// How many changes are kept. A change precedes its message by seconds at most.
const KEPT: usize = 200;

#[derive(Debug)]
enum Change {
    Edited(String),
    Deleted,
}

/// The last edits and deletions.
#[derive(Debug, Default)]
pub(crate) struct EarlyChanges {
    last: Mutex<Last>,
}

#[derive(Debug, Default)]
struct Last {
    changes: VecDeque<(MessageId, Change)>,
    /// The number of changes ever.
    count: u64,
}

impl EarlyChanges {
    pub(super) fn note_edit(&self, id: &MessageId, text: &str) {
        self.note(id.clone(), Change::Edited(text.to_owned()));
    }

    pub(super) fn note_deletion(&self, ids: &[MessageId]) {
        for id in ids {
            self.note(id.clone(), Change::Deleted);
        }
    }

    /// The number of changes, for [`Self::is_edited_since`].
    pub(crate) fn count(&self) -> u64 {
        self.last().count
    }

    /// Whether a message was edited after the first `count` changes.
    pub(crate) fn is_edited_since(&self, count: u64, id: &MessageId) -> bool {
        let last = self.last();
        let new = usize::try_from(last.count - count).unwrap_or(usize::MAX);
        last.changes.iter().rev().take(new).any(|(changed, change)| changed == id && matches!(change, Change::Edited(_)))
    }

    pub(crate) fn is_deleted(&self, id: &MessageId) -> bool {
        self.last().changes.iter().any(|(changed, change)| changed == id && matches!(change, Change::Deleted))
    }

    /// The message with its early edits applied.
    pub(crate) fn apply_edits(&self, mut message: InboundMessage) -> InboundMessage {
        for (_, change) in self.last().changes.iter().filter(|(id, _)| *id == message.id) {
            if let Change::Edited(text) = change {
                message.text.clone_from(text);
            }
        }
        message
    }

    fn note(&self, id: MessageId, change: Change) {
        let mut last = self.last();
        last.count += 1;
        last.changes.push_back((id, change));
        if last.changes.len() > KEPT {
            last.changes.pop_front();
        }
    }

    fn last(&self) -> MutexGuard<'_, Last> {
        self.last.lock().expect("no code panics while it holds the changes")
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use kernel::chat::message::{Author, AuthorKind, Channel, Place};

    fn message(id: &str) -> InboundMessage {
        InboundMessage {
            id: id.into(),
            channel: Channel { id: "1".into(), name: "general".into(), place: Place::Server, private: false, shared: false },
            author: Author { id: "2".into(), name: "Ann".into(), aliases: Vec::new(), kind: AuthorKind::Person, roles: Vec::new() },
            text: "as first written".into(),
            mentions: Vec::new(),
            reply_to: None,
            attachments: Vec::new(),
            sent_at: DateTime::UNIX_EPOCH,
            seen_by: "kelly".into(),
            complete: true,
        }
    }

    #[test]
    fn an_edit_and_a_deletion_that_overtake_their_message_are_not_lost() {
        let early = EarlyChanges::default();
        early.note_edit(&"7".into(), "once better");
        early.note_edit(&"7".into(), "twice better");
        early.note_deletion(&["8".into()]);
        assert_eq!(early.apply_edits(message("7")).text, "twice better");
        assert_eq!(early.apply_edits(message("9")).text, "as first written");
        assert!(early.is_deleted(&"8".into()) && !early.is_deleted(&"7".into()));
    }

    #[test]
    fn an_edit_is_found_from_when_it_came() {
        let early = EarlyChanges::default();
        early.note_edit(&"7".into(), "better");
        let before = early.count();
        assert!(!early.is_edited_since(before, &"7".into()));
        early.note_deletion(&["7".into()]);
        early.note_edit(&"8".into(), "better");
        assert!(early.is_edited_since(before, &"8".into()) && !early.is_edited_since(before, &"7".into()));
    }

    #[test]
    fn old_changes_make_room() {
        let early = EarlyChanges::default();
        early.note_deletion(&["0".into()]);
        for id in 1..=KEPT {
            early.note_deletion(&[id.to_string().into()]);
        }
        assert!(!early.is_deleted(&"0".into()) && early.is_deleted(&KEPT.to_string().into()));
    }
}
