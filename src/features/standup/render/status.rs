//! The progress of a standup, for `/standup status`.

use std::fmt::Write as _;

use crate::features::meeting::model::{Meeting, MeetingState, Seat, SeatState};
use kernel::persona::roster::Roster;

use crate::features::standup::render::labels;
use crate::features::standup::render::medium::Medium;

const NAME: usize = 48;
const REASON: usize = 160;

/// Who has spoken, who speaks, who comes next, and who was skipped and why. Only the last round counts.
pub fn render_standup_status(meeting: &Meeting, seats: &[Seat], roster: &Roster) -> String {
    let mut text = render_head(meeting, roster);
    let round = seats.iter().map(|seat| seat.round).max();
    let mut seats: Vec<&Seat> = seats.iter().filter(|seat| Some(seat.round) == round).collect();
    seats.sort_by_key(|seat| seat.position);
    for (label, state) in [
        ("Spoke", SeatState::Spoke),
        ("Nothing to report", SeatState::Quiet),
        ("Speaks", SeatState::Speaking),
        // After the end nobody comes next.
        (if meeting.state.is_over() { "Did not speak" } else { "To come" }, SeatState::Waiting),
    ] {
        let names: Vec<String> = seats.iter().filter(|seat| seat.state == state).map(|seat| render_name(seat, roster)).collect();
        if !names.is_empty() {
            let _ = write!(text, "\n{label}: {}", names.join(", "));
        }
    }
    for seat in seats.iter().filter(|seat| seat.state == SeatState::Skipped) {
        let reason = seat.reason.as_deref().unwrap_or("no reason given");
        let _ = write!(text, "\nSkipped: {} ({})", render_name(seat, roster), Medium::Chat.line_within(reason, REASON));
    }
    text
}

fn render_head(meeting: &Meeting, roster: &Roster) -> String {
    let called = roster.show_time(meeting.called_at);
    let ended = meeting.ended_at.map_or(String::new(), |at| format!(" at {}", roster.show_time(at)));
    let because = meeting.reason.as_deref().map_or(String::new(), |reason| format!(": {}", Medium::Chat.line_within(reason, REASON)));
    let paused = meeting.paused.as_ref().filter(|_| !meeting.wrap);
    if let Some(paused) = paused.filter(|_| matches!(meeting.state, MeetingState::Called | MeetingState::Running)) {
        let (by, at) = (Medium::Chat.line_within(&paused.by, NAME), roster.show_time(paused.at));
        return format!("The standup of {} is paused by {by} since {at}. `/standup resume` continues it.", labels::day(meeting.day));
    }
    let state = match meeting.state {
        MeetingState::Called => format!("was called at {called} and has not begun"),
        MeetingState::Running if meeting.wrap => format!("runs since {called} and is closing"),
        MeetingState::Running => format!("runs since {called}, until {} at the latest", roster.show_time(meeting.deadline)),
        MeetingState::Closing => "is over. The Day Report is being written".to_owned(),
        MeetingState::Done => format!("ended{ended}"),
        MeetingState::Cancelled => format!("was cancelled{ended}{because}"),
        MeetingState::Failed => format!("failed{ended}{because}"),
    };
    format!("The standup of {} {state}.", labels::day(meeting.day))
}

fn render_name(seat: &Seat, roster: &Roster) -> String {
    let name = seat.who.name(roster);
    let partial = seat.contribution.as_ref().is_some_and(|contribution| contribution.partial);
    format!("{}{}", Medium::Chat.line_within(name, NAME), if partial { " (cut off)" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::meeting::model::{CalledBy, Contribution, Participant};
    use crate::features::standup::STANDUP;
    use kernel::chat::message::{Channel, Place};
    use kernel::money::TokenUsage;
    use kernel::testing::roster as sample;

    fn meeting(state: MeetingState) -> Meeting {
        Meeting {
            id: "m1".into(),
            kind: STANDUP,
            channel: Channel { id: "10".into(), name: "daily-standup".to_owned(), place: Place::Server, private: false, shared: false },
            day: chrono::NaiveDate::from_ymd_opt(2026, 11, 20).unwrap(),
            facilitator: "kelly".into(),
            called_by: CalledBy::CommandLine,
            called_at: "2026-11-20T08:00:00Z".parse().unwrap(),
            deadline: "2026-11-20T08:30:00Z".parse().unwrap(),
            state,
            wrap: false,
            paused: None,
            budget: None,
            payload: None,
            closings: 0,
            reason: None,
            ended_at: None,
        }
    }

    fn seat(position: u32, who: &str, state: SeatState) -> Seat {
        Seat {
            meeting: "m1".into(),
            round: 0,
            position,
            who: Participant::Persona(who.into()),
            state,
            attempts: 1,
            contribution: None,
            reason: None,
            started_at: None,
            ended_at: None,
        }
    }

    #[test]
    fn a_status_says_who_spoke_who_speaks_and_who_is_to_come() {
        let cut_off = Contribution {
            text: "So far".to_owned(),
            signals: vec![],
            model: None,
            usage: TokenUsage::default(),
            partial: true,
            problems: vec![],
            details: None,
        };
        let ann = Participant::Person { id: "7".into(), name: "*Ann* 🦊".to_owned() };
        let seats = [
            Seat { who: ann, ..seat(5, "", SeatState::Waiting) },
            Seat { contribution: Some(cut_off), ..seat(0, "vince", SeatState::Spoke) },
            seat(1, "eliza", SeatState::Quiet),
            Seat { reason: Some("no answer within 90 s".to_owned()), ..seat(2, "solus", SeatState::Skipped) },
            seat(3, "echo", SeatState::Speaking),
            seat(4, "gone", SeatState::Waiting),
        ];
        insta::assert_snapshot!(render_standup_status(&meeting(MeetingState::Running), &seats, &sample::roster()));
    }

    #[test]
    fn each_state_is_told() {
        let states = [MeetingState::Called, MeetingState::Closing, MeetingState::Done, MeetingState::Cancelled, MeetingState::Failed];
        let ended_at = Some("2026-11-20T08:04:00Z".parse().unwrap());
        let told = states.map(|state| {
            let over = Meeting { ended_at, reason: Some("the channel is\ngone".to_owned()), ..meeting(state) };
            render_standup_status(&over, &[], &sample::roster())
        });
        insta::assert_snapshot!(told.join("\n"));
    }

    #[test]
    fn nobody_is_to_come_when_it_is_over() {
        let text = render_standup_status(&meeting(MeetingState::Cancelled), &[seat(0, "vince", SeatState::Waiting)], &sample::roster());
        assert!(text.ends_with("Did not speak: Vince"), "{text}");
    }
}
