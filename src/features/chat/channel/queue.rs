//! The waiting messages and open turns of one channel.
//!
//! Messages are decided in bursts of one person: what they write without a pause, or while an answer is being written. People whose messages wait
//! take turns, so that nobody has to wait for all messages of somebody else.

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::sync::Notify;

use crate::features::chat::rules::router::Calls;
use kernel::chat::message::InboundMessage;
use kernel::ids::{MessageId, TurnId, UserId};

/// The longest burst that becomes one turn. A person who never pauses is still answered.
const LONGEST_BURST: usize = 10;
/// The longest burst of messages that had to wait for a turn.
const LONGEST_BACKLOG: usize = 40;

/// A message that waits for a decision.
#[derive(Debug)]
struct Waiting {
    message: InboundMessage,
    arrived_at: DateTime<Utc>,
    calls: Calls,
    /// The message is a request that a feature carries out, such as "remind me …". No other message joins it.
    alone: bool,
    /// The message arrived while a turn was open.
    behind_turn: bool,
    /// Features were asked whether they read it ahead.
    is_read_ahead: bool,
}

/// The waiting messages and open turns of one channel. One task decides on the messages. Others add, edit and remove them.
#[derive(Debug, Default)]
pub(crate) struct ChannelQueue {
    state: Mutex<State>,
    /// Notified when a message arrives.
    arrived: Notify,
    /// Notified when a turn ends.
    over: Notify,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Waiting>,
    turns: HashSet<TurnId>,
    /// The author of the last burst.
    served: Option<UserId>,
    /// The number of changes of `turns`.
    changes: u64,
}

/// A summary of the burst at the front of the queue: consecutive messages of one person.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BurstState {
    pub(crate) last_arrival: DateTime<Utc>,
    /// No further message can join: it is a request, another person has spoken, or the burst has its maximum length.
    pub(crate) closed: bool,
}

impl ChannelQueue {
    /// Adds a message, in the order of sending. Two identities may report two messages in the opposite order.
    pub(crate) fn push(&self, message: InboundMessage, arrived_at: DateTime<Utc>, calls: Calls, alone: bool) {
        let mut state = self.lock();
        let behind_turn = !state.turns.is_empty();
        let later = state.waiting.iter().rev().take_while(|waiting| waiting.message.sent_at > message.sent_at).count();
        let place = state.waiting.len() - later;
        state.waiting.insert(place, Waiting { message, arrived_at, calls, alone, behind_turn, is_read_ahead: false });
        drop(state);
        self.arrived.notify_one();
    }

    pub(crate) fn is_idle(&self) -> bool {
        let state = self.lock();
        state.waiting.is_empty() && state.turns.is_empty()
    }

    /// True when a person's message waits. Agents then interrupt their talk.
    pub(crate) fn has_message(&self) -> bool {
        !self.lock().waiting.is_empty()
    }

    /// Waits until a message is added. May return early, so callers check again.
    pub(crate) async fn arrived(&self) {
        self.arrived.notified().await;
    }

    /// Registers open turns. New turns are registered before they are stored, because a turn may end right after that.
    pub(crate) fn open_turns<'a>(&self, turns: impl IntoIterator<Item = &'a TurnId>) {
        let mut state = self.lock();
        state.turns.extend(turns.into_iter().cloned());
        state.changes += 1;
    }

    pub(crate) fn close_turns<'a>(&self, turns: impl IntoIterator<Item = &'a TurnId>) {
        let mut state = self.lock();
        for turn in turns {
            state.turns.remove(turn);
        }
        state.changes += 1;
        drop(state);
        self.over.notify_one();
    }

    pub(crate) fn has_turns(&self) -> bool {
        !self.lock().turns.is_empty()
    }

    /// Waits until a turn ends. May return early, so callers check again.
    pub(crate) async fn over(&self) {
        self.over.notified().await;
    }

    /// The change counter for [`Self::retain_turns`].
    pub(crate) fn changes(&self) -> u64 {
        self.lock().changes
    }

    /// Drops all turns except those that are `open` in the database. The caller reads `changes` before it reads the database. Does nothing if the
    /// counter has changed since.
    pub(crate) fn retain_turns(&self, changes: u64, open: &[TurnId]) {
        let mut state = self.lock();
        if state.changes == changes {
            state.turns.retain(|turn| open.contains(turn));
        }
        drop(state);
        self.over.notify_one();
    }

    /// The state of the next burst. `None` without a message.
    pub(crate) fn find_burst(&self, pause: Duration) -> Option<BurstState> {
        let state = self.lock();
        let burst = next_burst(&state, pause);
        let last = state.waiting.get(*burst.last()?)?;
        let closed = last.alone || burst.len() < state.waiting.len() || burst.len() >= LONGEST_BURST;
        Some(BurstState { last_arrival: last.arrived_at, closed })
    }

    /// A copy of the message at the front, for the early typing indicator. None for a request, which is answered at once.
    pub(crate) fn peek_message(&self) -> Option<InboundMessage> {
        self.lock().waiting.front().filter(|waiting| !waiting.alone).map(|waiting| waiting.message.clone())
    }

    /// Takes the next burst: at least one message, unless all were deleted meanwhile. Without a `pause` it takes one message.
    pub(crate) fn pop_burst(&self, pause: Duration) -> Vec<InboundMessage> {
        let mut state = self.lock();
        let burst = next_burst(&state, pause);
        let messages: Vec<_> = burst.iter().rev().filter_map(|place| state.waiting.remove(*place)).map(|waiting| waiting.message).collect();
        state.served = messages.first().map(|message| message.author.id.clone());
        messages.into_iter().rev().collect()
    }

    /// The waiting messages that were not given before.
    pub(crate) fn list_not_read_ahead(&self) -> Vec<InboundMessage> {
        let mut state = self.lock();
        let new = state.waiting.iter_mut().filter(|waiting| !waiting.is_read_ahead);
        new.map(|waiting| {
            waiting.is_read_ahead = true;
            waiting.message.clone()
        })
        .collect()
    }

    /// Takes all waiting messages.
    pub(crate) fn pop_messages(&self) -> Vec<InboundMessage> {
        self.lock().waiting.drain(..).map(|waiting| waiting.message).collect()
    }

    /// Replaces the text of a message that still waits.
    pub(crate) fn edit(&self, id: &MessageId, text: &str) {
        for waiting in self.lock().waiting.iter_mut().filter(|waiting| waiting.message.id == *id) {
            text.clone_into(&mut waiting.message.text);
        }
    }

    /// Removes deleted messages, so that they are not answered.
    pub(crate) fn remove(&self, ids: &[MessageId]) {
        self.lock().waiting.retain(|waiting| !ids.contains(&waiting.message.id));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no code panics while it holds a channel's queue")
    }
}

/// The positions of the messages that form the next burst: all of one author, and no request that stands alone.
///
/// They follow each other with no gap longer than `pause`, no new call by name, and no reply to another message. Uses the platform's timestamps, because messages that are fetched
/// later arrive all at once. Messages that arrived during a turn had to wait for it. Between two of them, gaps do not matter, and neither do messages
/// of others or another call of the same personas.
fn next_burst(state: &State, pause: Duration) -> Vec<usize> {
    let waiting = &state.waiting;
    let had_a_turn = |waiting: &Waiting| state.served.as_ref() == Some(&waiting.message.author.id);
    // Without a pause each message is for itself, in its order.
    let first = waiting.iter().position(|waiting| waiting.behind_turn && !had_a_turn(waiting)).filter(|_| !pause.is_zero()).unwrap_or(0);
    let Some(begins) = waiting.get(first) else { return Vec::new() };
    let mut burst = vec![first];
    let mut before = begins;
    for (place, next) in waiting.iter().enumerate().skip(first + 1) {
        let both_waited = before.behind_turn && next.behind_turn;
        let most = if both_waited { LONGEST_BACKLOG } else { LONGEST_BURST };
        if pause.is_zero() || burst.len() >= most || before.alone {
            break;
        }
        if next.message.author.id != begins.message.author.id {
            if both_waited {
                continue;
            }
            break;
        }
        let follows = burst.last() == Some(&(place - 1)) && (both_waited || gap(&before.message, &next.message) <= pause);
        let joins = (follows && next.calls == Calls::Nobody) || (both_waited && next.calls == begins.calls && next.calls.is_of_personas());
        if next.alone || !joins || replies_to_another(&next.message, &begins.message) {
            break;
        }
        burst.push(place);
        before = next;
    }
    burst
}

/// Whether a message replies to something that the first of the burst does not reply to. It then answers that, and the first does not.
fn replies_to_another(next: &InboundMessage, first: &InboundMessage) -> bool {
    let replied_to = |message: &InboundMessage| message.reply_to.as_ref().map(|reply| reply.message.clone());
    next.reply_to.is_some() && replied_to(next) != replied_to(first)
}

fn gap(before: &InboundMessage, after: &InboundMessage) -> Duration {
    (after.sent_at - before.sent_at).abs().to_std().unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use kernel::chat::message::{Author, AuthorKind, Channel, Place, ReplyTo};

    use super::*;

    const PAUSE: Duration = Duration::from_secs(1);

    /// A queue by words: who writes (`a`, `b`), whom they call (`k`, `v`, `*` for others, `-` for nobody), `!` for a request, and `…` for a long pause
    /// before it.
    fn queue(behind_turn: bool, words: &str) -> ChannelQueue {
        let queue = ChannelQueue::default();
        if behind_turn {
            queue.open_turns([&"turn".into()]);
        }
        let mut sent_at: DateTime<Utc> = "2026-11-20T10:00:00Z".parse().unwrap();
        for word in words.split_whitespace() {
            sent_at += if word.contains('…') { PAUSE * 20 } else { PAUSE / 2 };
            let calls = match word.chars().find(|c| "kv*".contains(*c)) {
                Some('*') => Calls::Other,
                Some(name) => Calls::Personas(vec![name.to_string().as_str().into()]),
                None => Calls::Nobody,
            };
            queue.push(message(word, sent_at), sent_at, calls, word.contains('!'));
        }
        queue.close_turns([&"turn".into()]);
        queue
    }

    fn message(text: &str, sent_at: DateTime<Utc>) -> InboundMessage {
        let author = Author { id: text[..1].into(), name: String::new(), aliases: Vec::new(), kind: AuthorKind::Person, roles: Vec::new() };
        InboundMessage {
            id: format!("{text} {sent_at}").as_str().into(),
            channel: Channel { id: "1".into(), name: "general".into(), place: Place::Server, private: false, shared: false },
            author,
            text: text.into(),
            mentions: Vec::new(),
            reply_to: None,
            attachments: Vec::new(),
            sent_at,
            seen_by: "kelly".into(),
            complete: true,
        }
    }

    /// The bursts in the order in which they are taken.
    fn taken(queue: &ChannelQueue, pause: Duration) -> String {
        let mut bursts = Vec::new();
        loop {
            let burst = queue.pop_burst(pause);
            if burst.is_empty() {
                return bursts.join(" | ");
            }
            bursts.push(burst.into_iter().map(|message| message.text).collect::<Vec<_>>().join(" "));
        }
    }

    #[test]
    fn a_reply_to_another_message_begins_a_burst() {
        let at = "2026-11-20T10:00:00Z".parse().unwrap();
        let queue = ChannelQueue::default();
        for (text, to) in [("a1", None), ("a2", Some("card")), ("a3", None), ("a4", Some("card")), ("a5", Some("other"))] {
            let reply_to = to.map(|to| ReplyTo { message: to.into(), author: None });
            queue.push(InboundMessage { reply_to, ..message(text, at) }, at, Calls::Nobody, false);
        }
        assert_eq!(taken(&queue, PAUSE), "a1 | a2 a3 a4 | a5");
    }

    #[test]
    fn a_burst_is_what_somebody_writes_without_a_pause_or_a_new_call() {
        for (words, bursts) in [
            ("ak a- a-", "ak a- a-"),
            ("ak a-…", "ak | a-…"),
            ("ak ak a-", "ak | ak a-"),
            ("ak b- a-", "ak | b- | a-"),
            ("ak a! a-", "ak | a! | a-"),
        ] {
            assert_eq!(taken(&queue(false, words), PAUSE), bursts, "{words}");
        }
        assert_eq!(taken(&queue(false, "ak a- bk"), Duration::ZERO), "ak | a- | bk");
    }

    #[test]
    fn what_somebody_adds_during_a_turn_is_one_burst_however_long_it_took() {
        for (words, bursts) in [
            ("ak ak… a-… ak", "ak ak… a-… ak"),
            // Messages of others in between do not matter if a call shows whom the next message is for.
            ("ak b- ak…", "ak ak… | b-"),
            ("ak b- a-", "ak | b- | a-"),
            // A call of other personas keeps its place.
            ("ak av ak", "ak | av | ak"),
            ("ak a* a-", "ak | a* a-"),
            ("ak a! ak", "ak | a! | ak"),
        ] {
            assert_eq!(taken(&queue(true, words), PAUSE), bursts, "{words}");
        }
    }

    #[test]
    fn what_was_heard_the_other_way_round_is_taken_as_it_was_sent() {
        let queue = ChannelQueue::default();
        let sent_at = |second: u32| format!("2026-11-20T10:00:0{second}Z").parse::<DateTime<Utc>>().unwrap();
        for second in [1, 3, 2, 2] {
            queue.push(message(&format!("a{second}"), sent_at(second)), sent_at(4), Calls::Nobody, second == 2);
        }
        assert_eq!(taken(&queue, PAUSE), "a1 | a2 | a2 | a3");
    }

    #[test]
    fn people_whose_messages_wait_take_turns() {
        let many = "ak ".repeat(100) + "bk bk av";
        let taken = taken(&queue(true, &many), PAUSE);
        let bursts: Vec<(&str, usize)> = taken.split(" | ").map(|burst| (&burst[..2], burst.split(' ').count())).collect();
        assert_eq!(bursts, [("ak", 40), ("bk", 2), ("ak", 40), ("ak", 20), ("av", 1)]);
    }
}
