//! A meeting that stands still, paused or halted, until its time is over.

use std::time::Duration;

use teamroom::features::meeting::model::MeetingState;
use tokio::sync::watch;

use super::stage::{HERE, Play, comes_to, command, create, document, file, hears, is_turn, last, lines, open, speaker_of};
use crate::backlog::stage::{Setting, Stage};
use crate::support::command::give;
use crate::support::database::count;
use crate::support::team::{Backing, eventually, on_one_store};

on_one_store!(
    paused_for_more_than_a_day_it_is_written_down,
    halted_until_its_time_is_up_it_is_written_down_after_the_halt,
    paused_before_anybody_spoke_it_ends_without_a_document,
);

const DAY: Duration = Duration::from_hours(24);

/// Opens a meeting and brings it to the second round, where Vince waits.
async fn open_in_second_round(backing: Backing) -> (Stage, watch::Sender<bool>) {
    let (may, held) = watch::channel(false);
    let setting = Setting::on(backing).configure(|config| config.chat.operators = vec!["*".into()]);
    let stage = open(setting, Play { held: Some(("Vince", 2, held)), ..Play::with_lines(lines) }).await;
    create(&stage).await;
    comes_to(&stage.store, MeetingState::Running).await;
    eventually("the second round has begun", || async {
        stage.team.model.requests().iter().any(|asked| is_turn(asked) && speaker_of(asked) == ("Vince".to_owned(), 2))
    })
    .await;
    (stage, may)
}

/// Time passes while the team is off.
async fn sleep(stage: &mut Stage, time: Duration) {
    stage.team.stop_app().await;
    stage.clock.advance(time);
    stage.team.start_app().await;
}

async fn paused_for_more_than_a_day_it_is_written_down(backing: Backing) {
    let (mut stage, may) = open_in_second_round(backing).await;
    let meeting = last(&stage.store).await.unwrap();
    command(&stage, "pause", &[]).await;
    may.send(true).unwrap();
    hears(&stage.team, &stage.store, &meeting.id, "Our provider tunes it").await;
    sleep(&mut stage, DAY + Duration::from_mins(1)).await;
    comes_to(&stage.store, MeetingState::Done).await;
    let text = file(&document(&stage.team, &stage.store, &meeting.id).await).await;
    assert!(text.contains("Over after 2 rounds: ") && text.contains(" paused it, and nobody resumed it within a day."), "{text}");
    assert!(text.contains("`2.1.1` Vince, detail on 1.3.1: Our provider tunes it"), "{text}");
}

async fn halted_until_its_time_is_up_it_is_written_down_after_the_halt(backing: Backing) {
    let (mut stage, _may) = open_in_second_round(backing).await;
    let meeting = last(&stage.store).await.unwrap();
    give(&stage.team, HERE, "halt", serde_json::json!([])).await;
    let channel = stage.team.channel_id(HERE);
    eventually("it is halted", || async { stage.team.app().is_halted_in(&channel) }).await;
    sleep(&mut stage, 2 * DAY).await;
    eventually("why it ends is decided", || async {
        count(&stage.team, "SELECT COUNT(*) FROM boards WHERE ending IS NOT NULL").await == 1
    })
    .await;
    assert_eq!(last(&stage.store).await.unwrap().state, MeetingState::Running, "nobody says anything meanwhile");
    sleep(&mut stage, 2 * DAY).await;
    give(&stage.team, HERE, "resume", serde_json::json!([])).await;
    eventually("the halt is over", || async { !stage.team.app().is_halted_in(&channel) }).await;
    stage.clock.advance(Duration::from_secs(61));
    comes_to(&stage.store, MeetingState::Done).await;
    let text = file(&document(&stage.team, &stage.store, &meeting.id).await).await;
    assert!(text.contains(" had silenced the team until the time was up. This is what there was by then."), "{text}");
    assert!(text.contains("`1.1.1` Vince"), "{text}");
}

async fn paused_before_anybody_spoke_it_ends_without_a_document(backing: Backing) {
    let (may, held) = watch::channel(false);
    let mut stage =
        open(Setting::on(backing), Play { held: Some(("Vince", 1, held)), ..Play::with_lines(|_, _| serde_json::Value::Null) }).await;
    create(&stage).await;
    let meeting = comes_to(&stage.store, MeetingState::Running).await;
    eventually("the first round has begun", || async { stage.team.model.requests().iter().any(is_turn) }).await;
    command(&stage, "pause", &[]).await;
    sleep(&mut stage, DAY + Duration::from_mins(1)).await;
    comes_to(&stage.store, MeetingState::Failed).await;
    hears(&stage.team, &stage.store, &meeting.id, "leaves no document: ").await;
    drop(may);
}
