//! A standup is closed wholly or not at all, however the process ends.

use std::collections::HashMap;
use std::io::Write;

use kernel::chat::message::Channel;
use kernel::ids::MeetingId;
use kernel::jobs::JobError;
use kernel::memory::{Memory, MemorySource};
use teamroom::features::backlog::model::{Origin, WorkItem};
use teamroom::features::backlog::store::ItemFilter;
use teamroom::features::meeting::model::{Meeting, MeetingState};
use teamroom::features::meeting::store::{Called, OpenMeeting};
use teamroom::features::standup::STANDUP;
use teamroom::features::standup::store::StandupClosing;
use teamroom::store::Store;

use super::sample::{closing, prediction, report};
use crate::store::crash::{DATABASE, ROUNDS, run_and_kill};
use crate::store::meeting_sample::{a_meeting, meeting_channel, run_of};
use crate::store::opening::tamper;
use crate::store::sample::{at, item, lesson, line, noon};
use crate::store::{Home, on_both};

on_both!(a_standup_is_closed_wholly_or_not_at_all_by_a_kill);

async fn a_standup_is_closed_wholly_or_not_at_all_by_a_kill(home: &Home) {
    let mut acknowledged = Vec::new();
    for round in 0..ROUNDS {
        acknowledged.extend(run_and_kill(home, "standup::store::crash::a_team_holds_standups_until_it_is_killed", 5 + 3 * round));
        let store = home.open_once_free().await;
        let meetings = store.list_meetings(&STANDUP, u32::MAX).await.unwrap();
        let mut results = list_results(&store).await;
        for meeting in &meetings {
            let expected = if meeting.state == MeetingState::Done { WHOLE } else { [0; 4] };
            assert_eq!(results.remove(&meeting.id).unwrap_or_default(), expected, "{}", meeting.id);
        }
        assert!(results.is_empty(), "each result has its meeting");
        let done: Vec<_> =
            meetings.iter().filter(|meeting| meeting.state == MeetingState::Done).map(|meeting| meeting.id.as_str()).collect();
        assert!(acknowledged.iter().all(|id| done.contains(&id.as_str())));
        // A worker reclaims the jobs of the killed process.
        tamper(home, "UPDATE jobs SET state = 'ready' WHERE state = 'running'").await;
        for OpenMeeting { meeting, .. } in store.list_open_meetings().await.unwrap() {
            assert!(close_standup(&store, &meeting).await.unwrap(), "the next start goes on with {}", meeting.id);
        }
        store.close().await;
    }
}

/// The numbers of reports, items, predictions and memories that [`close_standup`] stores for a standup.
const WHOLE: [usize; 4] = [1, 2, 1, 1];

/// The stored numbers for each meeting with results.
async fn list_results(store: &Store) -> HashMap<MeetingId, [usize; 4]> {
    let mut results: HashMap<MeetingId, [usize; 4]> = HashMap::new();
    let mut count = |meeting: MeetingId, what: usize| results.entry(meeting).or_default()[what] += 1;
    for stored in store.list_reports(u32::MAX).await.unwrap() {
        count(stored.report.meeting, 0);
    }
    for item in store.list_items(&ItemFilter { statuses: &[], owner: None, scope: None, limit: u32::MAX }).await.unwrap() {
        let Origin::Meeting(meeting) = item.origin else { panic!("{:?}", item.origin) };
        count(meeting.id, 1);
    }
    for prediction in store.list_predictions(u32::MAX).await.unwrap() {
        count(prediction.meeting, 2);
    }
    for lesson in store.list_lessons(&"vince".into(), u32::MAX).await.unwrap() {
        let MemorySource::Meeting(meeting) = lesson.source else { panic!("{:?}", lesson.source) };
        count(meeting, 3);
    }
    results
}

/// A writer for standups, each in a separate channel. Prints each success. Does nothing unless another test starts it.
#[tokio::test]
async fn a_team_holds_standups_until_it_is_killed() {
    #[expect(clippy::disallowed_methods, reason = "how one process of a test tells another")]
    let Ok(url) = std::env::var(DATABASE) else { return };
    let store = Store::open(&url.into(), noon()).await.unwrap();
    for number in 0.. {
        let channel = Channel { id: format!("{}-{number}", std::process::id()).into(), ..meeting_channel() };
        let meeting = Meeting { channel, ..a_meeting() };
        assert_eq!(store.call_meeting(&meeting).await.unwrap(), Called::Opened);
        assert!(close_standup(&store, &meeting).await.unwrap());
        writeln!(std::io::stdout(), "stored {}", meeting.id).expect("somebody reads, or has killed this");
    }
}

/// Completes a standup from any state.
async fn close_standup(store: &Store, meeting: &Meeting) -> Result<bool, JobError> {
    let run = run_of(store, meeting).await;
    run.open(&[], &[line("good morning")], at(1)).await?;
    let meeting = run.begin_closing(at(2)).await?.expect("it is open");
    let origin = Origin::Meeting(meeting.id.clone().into());
    let items = [WorkItem { origin: origin.clone(), ..item("profile checkout", 2) }, WorkItem { origin, ..item("roll it back", 2) }];
    let (report, call) = (report(&meeting, 1), prediction(&meeting, "512 commits?"));
    let memory =
        Memory { source: MemorySource::Meeting(meeting.id.clone()), ..lesson(&format!("Latency follows traffic, says {}.", meeting.id)) };
    let post = line("the Day Report");
    let whole = StandupClosing {
        items: &items,
        prediction: Some(&call),
        memories: std::slice::from_ref(&memory),
        outbox: std::slice::from_ref(&post),
        ..closing(&run, &meeting, &report, &post.id)
    };
    whole.store().await
}
