//! Changes that arrive before the message they are about: frames overtake each other.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

use crate::domain::ids::MessageId;
use crate::domain::message::InboundMessage;

/// How many changes are remembered. Frames overtake each other by seconds, not by hundreds.
const KEPT: usize = 200;

#[derive(Debug)]
enum Change {
    Edited(String),
    Deleted,
}

/// The last edits and deletions.
#[derive(Debug, Default)]
pub(in crate::conversation) struct EarlyChanges {
    last: Mutex<VecDeque<(MessageId, Change)>>,
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

    /// The message as it reads by now; none once it was deleted.
    pub(super) fn apply(&self, mut message: InboundMessage) -> Option<InboundMessage> {
        for (_, change) in self.last().iter().filter(|(id, _)| *id == message.id) {
            match change {
                Change::Edited(text) => message.text.clone_from(text),
                Change::Deleted => return None,
            }
        }
        Some(message)
    }

    fn note(&self, id: MessageId, change: Change) {
        let mut last = self.last();
        last.push_back((id, change));
        if last.len() > KEPT {
            last.pop_front();
        }
    }

    fn last(&self) -> MutexGuard<'_, VecDeque<(MessageId, Change)>> {
        self.last.lock().expect("no code panics while it holds the changes")
    }
}
