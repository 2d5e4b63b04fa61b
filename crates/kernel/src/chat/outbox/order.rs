//! Which rows of a channel depend on each other.

use std::collections::HashSet;

use chrono::{DateTime, Utc};

use crate::chat::outbound::{OutboundKind, OutboundMessage, Placement};
use crate::chat::outbox::OutboxRow;
use crate::ids::OutboxId;

/// After so many attempts a message of a meeting no longer holds up the others.
const STUCK: u32 = 5;

/// The rows of a channel that can be sent now.
#[derive(Debug, Default)]
pub(super) struct Due {
    pub(super) rows: Vec<OutboxRow>,
    /// Whether other rows wait.
    pub(super) others_wait: bool,
}

/// Selects from the waiting rows of a channel, in their order, those that can be sent now: not in flight, not early, and not behind a row that they
/// depend on.
pub(super) fn select_due(waiting: Vec<OutboxRow>, in_flight: &HashSet<OutboxId>, now: DateTime<Utc>) -> Due {
    let is_free = |index: usize| {
        let row: &OutboxRow = &waiting[index];
        row.next_attempt_at <= now
            && !in_flight.contains(&row.message.id)
            && !waiting[..index].iter().any(|earlier| depends_on(&row.message, earlier))
    };
    let free: Vec<bool> = (0..waiting.len()).map(is_free).collect();
    let count = waiting.len();
    let rows: Vec<_> = waiting.into_iter().zip(free).filter_map(|(row, free)| free.then_some(row)).collect();
    Due { others_wait: rows.len() + in_flight.len() < count, rows }
}

/// Whether `later` must not overtake `earlier`: both are from one persona, both belong to a meeting, or `later` refers to an earlier message. The
/// parts of a turn are from one persona, and so are an ask and its relay. In the thread of a meeting notices belong to it too. The meeting does not wait
/// for a persona that fails to post.
fn depends_on(later: &OutboundMessage, earlier: &OutboxRow) -> bool {
    let is_stuck = earlier.attempts >= STUCK;
    let earlier = &earlier.message;
    // A revision may post its message again, so rows that refer to the same message stay before or behind the revision.
    let is_revision = |message: &OutboundMessage| matches!(message.place, Placement::Revision { .. });
    let refers = find_subject(later).is_some_and(|subject| {
        *subject == earlier.id || find_subject(earlier) == Some(subject) && (is_revision(later) || is_revision(earlier))
    });
    let reports = [later, earlier].into_iter().filter(|message| message.kind == OutboundKind::Report).count();
    let shares_thread = find_thread(later).is_some() && find_thread(later) == find_thread(earlier);
    let in_meeting = !is_stuck && (reports == 2 || reports == 1 && shares_thread);
    refers || in_meeting || later.persona == earlier.persona
}

/// The message on which the thread of a row hangs.
fn find_thread(message: &OutboundMessage) -> Option<&OutboxId> {
    if let Placement::Thread { on, .. } = &message.place { Some(on) } else { None }
}

/// The message that a row refers to.
fn find_subject(message: &OutboundMessage) -> Option<&OutboxId> {
    match &message.place {
        Placement::Thread { on, .. } => Some(on),
        Placement::Revision { of } => Some(of),
        Placement::Channel | Placement::Direct { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(persona: &str, kind: OutboundKind, place: Placement) -> OutboxRow {
        let at = DateTime::UNIX_EPOCH;
        let message = OutboundMessage { place, ..OutboundMessage::new(&persona.into(), &"10".into(), kind, "x") };
        OutboxRow { message, cause: None, position: 0, attempts: 0, first_attempt_at: None, created_at: at, next_attempt_at: at }
    }

    /// The indices of the rows that can be sent.
    fn due(waiting: &[OutboxRow], in_flight: &[usize]) -> Vec<usize> {
        let in_flight = in_flight.iter().map(|index| waiting[*index].message.id.clone()).collect();
        let due = select_due(waiting.to_vec(), &in_flight, DateTime::UNIX_EPOCH);
        due.rows.iter().filter_map(|row| waiting.iter().position(|waiting| waiting.message.id == row.message.id)).collect()
    }

    #[test]
    fn one_persona_keeps_its_order_and_others_do_not_wait_for_it() {
        let answer = |persona| row(persona, OutboundKind::Answer, Placement::Channel);
        let mut waiting = vec![answer("vince"), answer("vince"), answer("echo"), answer("kelly")];
        assert_eq!(due(&waiting, &[]), [0, 2, 3]);
        assert_eq!(due(&waiting, &[0, 2]), [3], "what is in flight is not sent twice, and still comes first");
        waiting[0].next_attempt_at += chrono::Duration::seconds(1);
        assert_eq!(due(&waiting, &[]), [2, 3]);
    }

    #[test]
    fn the_seats_of_a_meeting_come_one_after_the_other() {
        let seat = |persona| row(persona, OutboundKind::Report, Placement::Channel);
        let waiting = [seat("vince"), seat("echo"), row("echo", OutboundKind::Answer, Placement::Channel), seat("kelly")];
        assert_eq!(due(&waiting, &[]), [0]);
        assert_eq!(due(&waiting[1..], &[]), [0]);
    }

    #[test]
    fn what_is_said_between_two_seats_in_a_thread_keeps_its_place() {
        let thread = || Placement::Thread { on: OutboxId::new("opening"), name: "plan".to_owned() };
        let seat = |persona| row(persona, OutboundKind::Report, thread());
        let waiting = [seat("vince"), row("kelly", OutboundKind::Notice, thread()), seat("echo")];
        assert_eq!(due(&waiting, &[]), [0]);
        assert_eq!(due(&waiting[1..], &[]), [0]);
        assert_eq!(due(&[row("kelly", OutboundKind::Notice, Placement::Channel), seat("echo")], &[]), [0, 1]);
        let mut waiting = waiting;
        waiting[0].attempts = STUCK;
        assert_eq!(due(&waiting, &[]), [0, 1], "one that cannot post does not silence the others");
    }

    #[test]
    fn what_refers_to_a_message_waits_for_it() {
        let starter = row("vince", OutboundKind::Answer, Placement::Channel);
        let on = starter.message.id.clone();
        let inside = row("echo", OutboundKind::Notice, Placement::Thread { on: on.clone(), name: "plan".to_owned() });
        let revision = row("kelly", OutboundKind::Notice, Placement::Revision { of: on });
        assert_eq!(due(&[starter, inside.clone(), revision.clone()], &[]), [0]);
        assert_eq!(due(&[revision, inside.clone()], &[]), [0], "the revision may be posted again");
        let mut other = inside.clone();
        other.message = OutboundMessage { id: OutboxId::generate(), persona: "vince".into(), ..other.message };
        assert_eq!(due(&[inside, other], &[]), [0, 1], "in a thread nobody waits for another");
    }
}
