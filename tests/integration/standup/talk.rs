//! A standup that is asked for between other messages, and the trace of a standup.

use std::time::Duration;

use kernel::llm::settings::ProviderKind;
use kernel::time::{Clock as _, SystemClock};
use teamroom::features::standup::STANDUP;
use teamroom::store::Store;

use super::cast::{Cast, Part, find_prompt};
use super::stage::{SPEAKERS, Setting};
use crate::support::model::Script;
use crate::support::team::{Backing, Wanted, eventually, on_one_store};
use crate::team::trace::{assert_order, trace};

on_one_store!(
    a_request_stands_alone_among_hasty_messages,
    what_happened_in_a_standup_is_read_from_the_log,
    what_was_found_just_before_a_standup_is_in_every_report,
);

async fn a_request_stands_alone_among_hasty_messages(backing: Backing) {
    let team =
        Wanted::on(backing).model(ProviderKind::OpenAi).configure(|config| config.chat.coalesce = Duration::from_millis(600)).start().await;
    team.model.on(|asked| Script::say(format!("answer to {}", asked.last_word())));
    team.say("general", "kelly, what did we sell?").await;
    team.say("general", "let's do a new standup kelly").await;
    team.say("general", "and what did we buy?").await;
    let said = async || team.answers("general").await.into_iter().map(|answer| answer.text).collect::<Vec<_>>();
    eventually("the standup is called and the question is answered for itself", || async {
        let said = said().await;
        said.iter().any(|text| text.starts_with("**Standup")) && said.iter().any(|text| text == "answer to sell?")
    })
    .await;
}

async fn what_happened_in_a_standup_is_read_from_the_log(backing: Backing) {
    let team = Wanted::on(backing).start().await;
    trace(&team, &["standup", "start", "--channel", "knowledge"]).expect("it begins");
    eventually("it is held", || async { !team.answers("knowledge").await.is_empty() }).await;
    let store = Store::open_shared(&team.config.database_url, SystemClock.now()).await.expect("the store opens");
    let meeting = store.list_meetings(&STANDUP, 1).await.expect("meetings").remove(0);
    store.close().await;
    let trace_meeting = || trace(&team, &["trace", meeting.id.as_str()]).expect("a trace");
    eventually("a turn began", || async { trace_meeting().contains("meeting turn began by ") }).await;
    assert_order(&trace_meeting(), &["meeting called, kind standup", "meeting opened", "meeting turn began by "]);
}

async fn what_was_found_just_before_a_standup_is_in_every_report(backing: Backing) {
    const RED: &str = "The main branch is red since a1b2c3d, says the repository feed.";
    let stage = Setting::on(backing).with_model().open().await;
    Cast::default().talk(Script::say(RED)).perform(&stage.team.model);
    stage.team.say("general", "kelly, how does the main branch do?").await;
    stage.team.wait_for_answers("general", 1).await;
    stage.hold().await;
    for name in SPEAKERS {
        let prompt = find_prompt(&stage.team.model, Part::Report, name).expect("a report");
        assert!(prompt.contains("what the team has found out lately>>") && prompt.contains(RED), "{name}: {prompt}");
    }
}
