use std::collections::HashMap;
use std::sync::Mutex;

use serenity::model::id::MessageId;

/// How many things are remembered at least. At 50 messages a second this is over a minute; identities are seconds apart at most.
const REMEMBERED: usize = 8192;

/// What the team's identities have seen lately, so that what all of them see is passed on once, before any work goes into it.
///
/// This saves work only. That a message is handled once, also across restarts and processes, is the inbox's promise.
#[derive(Debug, Default)]
pub(crate) struct Sightings {
    generations: Mutex<Generations>,
}

/// Two generations instead of a queue: forgetting costs one swap, and nothing younger than [`REMEMBERED`] is lost.
#[derive(Debug, Default)]
struct Generations {
    young: HashMap<Sighting, Completeness>,
    old: HashMap<Sighting, Completeness>,
}

/// Something that several identities see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Sighting {
    Message(MessageId),
    /// A version of a message, by the microsecond of its edit.
    Edit(MessageId, i64),
    Deletion(MessageId),
}

/// Whether what was seen could be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Completeness {
    Withheld,
    Full,
}

impl Sightings {
    /// Whether this is news: never seen, or seen only without its content and now with it.
    pub(crate) fn is_news(&self, sighting: Sighting, completeness: Completeness) -> bool {
        let mut generations = self.generations.lock().expect("no code panics while it holds the sightings");
        let before = generations.young.get(&sighting).or_else(|| generations.old.get(&sighting));
        if before.is_some_and(|before| *before >= completeness) {
            return false;
        }
        if generations.young.len() >= REMEMBERED {
            generations.old = std::mem::take(&mut generations.young);
        }
        generations.young.insert(sighting, completeness);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_full_version_passes_after_an_incomplete_one_and_then_nothing() {
        let sightings = Sightings::default();
        let message = Sighting::Message(MessageId::new(7));
        let seen = [Completeness::Withheld, Completeness::Withheld, Completeness::Full, Completeness::Full, Completeness::Withheld];
        assert_eq!(seen.map(|completeness| sightings.is_news(message, completeness)), [true, false, true, false, false]);
        assert!(sightings.is_news(Sighting::Deletion(MessageId::new(7)), Completeness::Full));
    }

    #[test]
    fn memory_stays_bounded_and_the_last_ones_are_kept() {
        let sightings = Sightings::default();
        for id in 1..=50_000 {
            assert!(sightings.is_news(Sighting::Message(MessageId::new(id)), Completeness::Full));
        }
        for id in 50_001 - REMEMBERED as u64..=50_000 {
            assert!(!sightings.is_news(Sighting::Message(MessageId::new(id)), Completeness::Full), "{id}");
        }
        let generations = sightings.generations.lock().unwrap();
        assert!(generations.young.len() + generations.old.len() <= 2 * REMEMBERED);
    }
}
