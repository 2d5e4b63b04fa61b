use std::collections::HashMap;
use std::sync::Mutex;

use serenity::model::id::MessageId;

/// The minimum number of remembered events. At 50 messages a second this covers over a minute; identities are seconds apart at most.
const REMEMBERED: usize = 8192;

/// Drops events that another identity has forwarded already.
///
/// Only an optimisation. The inbox guarantees that a message is handled once, across restarts and processes.
#[derive(Debug, Default)]
pub(crate) struct Deduplicator {
    generations: Mutex<Generations>,
}

/// Two generations instead of a queue: evicting costs one swap, and the newest [`REMEMBERED`] events are always kept.
#[derive(Debug, Default)]
struct Generations {
    young: HashMap<SeenEvent, Completeness>,
    old: HashMap<SeenEvent, Completeness>,
}

/// An event that several identities receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum SeenEvent {
    Message(MessageId),
    /// A version of a message, identified by the microsecond of its edit.
    Edit(MessageId, i64),
    Deletion(MessageId),
    /// The title of a link, by its hash.
    Link(MessageId, u64),
}

/// Whether the identity received the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Completeness {
    Withheld,
    Full,
}

impl Deduplicator {
    /// Whether the event is new: never seen, or seen only without its content and now with it.
    pub(crate) fn is_new(&self, event: SeenEvent, completeness: Completeness) -> bool {
        let mut generations = self.generations.lock().expect("no code panics while it holds the lock");
        let before = generations.young.get(&event).or_else(|| generations.old.get(&event));
        if before.is_some_and(|before| *before >= completeness) {
            return false;
        }
        if generations.young.len() >= REMEMBERED {
            generations.old = std::mem::take(&mut generations.young);
        }
        generations.young.insert(event, completeness);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_full_version_passes_after_an_incomplete_one_and_then_nothing() {
        let deduplicator = Deduplicator::default();
        let message = SeenEvent::Message(MessageId::new(7));
        let seen = [Completeness::Withheld, Completeness::Withheld, Completeness::Full, Completeness::Full, Completeness::Withheld];
        assert_eq!(seen.map(|completeness| deduplicator.is_new(message, completeness)), [true, false, true, false, false]);
        assert!(deduplicator.is_new(SeenEvent::Deletion(MessageId::new(7)), Completeness::Full));
    }

    #[test]
    fn memory_stays_bounded_and_the_last_ones_are_kept() {
        let deduplicator = Deduplicator::default();
        for id in 1..=50_000 {
            assert!(deduplicator.is_new(SeenEvent::Message(MessageId::new(id)), Completeness::Full));
        }
        for id in 50_001 - REMEMBERED as u64..=50_000 {
            assert!(!deduplicator.is_new(SeenEvent::Message(MessageId::new(id)), Completeness::Full), "{id}");
        }
        let generations = deduplicator.generations.lock().unwrap();
        assert!(generations.young.len() + generations.old.len() <= 2 * REMEMBERED);
    }
}
