//! A gateway session. It outlives its connection, so that a client can resume without losing events.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;

use crate::snowflake::Snowflake;
use crate::state::Intents;

/// Number of events kept for a resume. Their text is shared among all sessions.
const REPLAY_LIMIT: usize = 10_000;

/// An event with its sequence number in a session.
#[derive(Clone, Debug)]
pub(crate) struct Numbered {
    pub(crate) seq: u64,
    pub(crate) event: &'static str,
    pub(crate) data: Arc<str>,
}

/// Something to write to a connection.
#[derive(Debug)]
pub(crate) enum Outgoing {
    Dispatch(Numbered),
    /// All missed events of a resumed session, as one entry of the queue.
    Replay(Vec<Numbered>),
    /// Any other operation.
    Operation(String),
}

/// How a connection ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The client closed it. With code 1000 or 1001 its session ends too.
    ClosedByClient {
        ends_session: bool,
    },
    Close(u16, &'static str),
    CloseWithoutCode,
    /// RST, without a close frame.
    Reset,
}

/// Channels to the current connection of a session.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) frames: mpsc::Sender<Outgoing>,
    /// Ends the connection at once.
    pub(crate) end: mpsc::Sender<End>,
}

impl Link {
    pub(crate) fn end(&self, end: End) {
        // A full channel means that the connection is already ending.
        let _ = self.end.try_send(end);
    }
}

#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) user: Snowflake,
    pub(crate) is_person: bool,
    pub(crate) intents: Intents,
    pub(crate) link: Option<Link>,
    seq: u64,
    sent: VecDeque<Numbered>,
    detached: Option<Instant>,
}

impl Session {
    pub(crate) fn new(id: String, user: Snowflake, is_person: bool, intents: Intents, link: Link) -> Self {
        Self { id, user, is_person, intents, link: Some(link), seq: 0, sent: VecDeque::new(), detached: None }
    }

    /// Numbers an event, keeps it for a resume, and sends it if the session is connected.
    pub(crate) fn push(&mut self, event: &'static str, data: Arc<str>) {
        self.seq += 1;
        let numbered = Numbered { seq: self.seq, event, data };
        if self.sent.len() == REPLAY_LIMIT {
            self.sent.pop_front();
        }
        self.sent.push_back(numbered.clone());
        let Some(link) = &self.link else { return };
        if link.frames.try_send(Outgoing::Dispatch(numbered)).is_err() {
            // A client that reads too slowly is disconnected. It may resume.
            link.end(End::Reset);
            self.detach();
        }
    }

    pub(crate) fn seq(&self) -> u64 {
        self.seq
    }

    pub(crate) fn detach(&mut self) {
        self.link = None;
        self.detached = Some(Instant::now());
    }

    pub(crate) fn is_stale(&self, resume_window: Duration) -> bool {
        self.detached.is_some_and(|at| at.elapsed() > resume_window)
    }

    /// Moves the session to a new connection and sends the events after `seq`. Returns `false` without a change if some
    /// of them are no longer kept.
    pub(crate) fn resume(&mut self, seq: u64, link: Link) -> bool {
        let oldest_kept = self.sent.front().map_or(self.seq + 1, |first| first.seq);
        if seq + 1 < oldest_kept {
            return false;
        }
        if let Some(old) = self.link.take() {
            old.end(End::Close(4000, "session resumed elsewhere"));
        }
        let missed: Vec<Numbered> = self.sent.iter().filter(|event| event.seq > seq).cloned().collect();
        // The queue of a new connection is empty, so this fails only if the client has disconnected.
        let _ = link.frames.try_send(Outgoing::Replay(missed));
        self.link = Some(link);
        self.detached = None;
        self.push("RESUMED", "{}".into());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(capacity: usize) -> (Link, mpsc::Receiver<Outgoing>, mpsc::Receiver<End>) {
        let (frames, queue) = mpsc::channel(capacity);
        let (end, ended) = mpsc::channel(1);
        (Link { frames, end }, queue, ended)
    }

    fn session(capacity: usize) -> (Session, mpsc::Receiver<Outgoing>, mpsc::Receiver<End>) {
        let (link, queue, ended) = link(capacity);
        (Session::new("s".to_owned(), Snowflake::MIN, false, Intents::ALL, link), queue, ended)
    }

    #[test]
    fn a_slow_client_is_cut_off_and_can_resume_without_loss() {
        let (mut session, _queue, mut ended) = session(2);
        for _ in 0..5 {
            session.push("TYPING_START", "{}".into());
        }
        assert!(matches!(ended.try_recv(), Ok(End::Reset)));
        let (link, mut queue, _ended) = link(8);
        assert!(session.resume(2, link));
        let Ok(Outgoing::Replay(missed)) = queue.try_recv() else { panic!("the replay comes first") };
        assert_eq!(missed.iter().map(|event| event.seq).collect::<Vec<_>>(), [3, 4, 5]);
    }

    #[test]
    fn a_session_that_missed_too_much_cannot_be_resumed() {
        let (mut session, _queue, _ended) = session(1);
        for _ in 0..REPLAY_LIMIT + 10 {
            session.push("TYPING_START", "{}".into());
        }
        let (link, _queue, _ended) = link(8);
        assert!(!session.resume(5, link));
    }
}
