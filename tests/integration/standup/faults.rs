//! Failing personas and channels during a standup.

use std::time::Duration;

use kernel::llm::settings::ModelPrice;
use kernel::money::Money;
use reqwest::Method;
use serde_json::json;
use teamroom::features::meeting::model::SeatState::{Quiet, Skipped, Speaking, Spoke};

use super::cast::Cast;
use super::stage::{CHANNEL, START, Setting};
use crate::support::model::Script;
use crate::support::team::{Backing, on_one_store};

on_one_store!(
    one_that_says_too_much_or_nothing_or_fails_costs_its_own_turn,
    while_no_model_answers_reports_quote_feeds_and_then_it_is_used_again,
    one_that_hangs_is_passed_over_and_what_it_had_said_is_kept,
    one_that_is_paused_is_passed_over,
    a_standup_that_runs_out_of_budget_has_a_report,
    a_standup_whose_channel_is_deleted_comes_to_its_end,
);

/// Positions in the order of speakers.
const ORACLE: u32 = 2;
const VINCE: u32 = 4;

async fn one_that_says_too_much_or_nothing_or_fails_costs_its_own_turn(backing: Backing) {
    let stage = Setting::on(backing).with_model().open().await;
    Cast::default()
        .report("Echo", Script::SayWhole("The mood rose again. ".repeat(2_500)))
        .report("Eliza", Script::Empty)
        .report("Sentinel", Script::Filtered)
        .perform(&stage.team.model);
    let held = stage.hold().await;
    assert_eq!(held.states(), [Spoke, Skipped, Quiet, Skipped, Quiet, Quiet]);
    let echo = held.seat("echo").contribution.as_ref().expect("it spoke");
    assert!(echo.text.chars().count() <= 600 && echo.text.ends_with("again."), "{} characters", echo.text.len());
    let posted: Vec<_> = stage.said().await.into_iter().filter(|shown| shown.author == "Echo").collect();
    assert!(posted.len() == 1 && posted[0].text == echo.text, "{posted:#?}");
    assert_eq!(held.reason("eliza"), "there was nothing to say");
    assert!(held.reason("sentinel").starts_with("the model declined to answer this"), "{}", held.reason("sentinel"));
    for name in ["Eliza", "Sentinel"] {
        let told = stage.hears(&format!("{name} is skipped: ")).await;
        assert_eq!(told.author, "Kelly");
    }
    let card = stage.cards().await[0].raw["embeds"][0].to_string();
    assert!(card.contains("Eliza was skipped: there was nothing to say"), "{card}");
    assert!(card.contains("Nothing to report: Oracle, Vince, Solus"), "{card}");
}

async fn while_no_model_answers_reports_quote_feeds_and_then_it_is_used_again(backing: Backing) {
    let stage = Setting::on(backing).with_model().open().await;
    stage.team.model.on(|_| Script::status(503));
    let held = stage.hold().await;
    assert!(held.states().iter().all(|state| matches!(state, Spoke | Quiet)), "nobody is skipped: {:?}", held.seats);
    assert!(held.report.model.is_none() && !held.report.tldr.is_empty(), "{:?}", held.report.tldr);
    let told = stage.said().await.iter().filter(|shown| shown.text.contains("No language model answered: ")).count();
    assert_eq!(told, 1, "it is said once");
    let status = stage.command("status", json!([])).await;
    assert!(status.contains("failing since") && status.contains("While no model answers, the team uses feeds and files."), "{status}");

    Cast::default().report("Echo", Script::say("The mood rose again.")).perform(&stage.team.model);
    // Past the pause of a provider that failed several times.
    stage.jump(Duration::from_mins(1));
    let held = stage.hold().await;
    let echo = held.seat("echo").contribution.as_ref().expect("it spoke");
    assert_eq!(echo.text, "The mood rose again.");
    assert!(held.report.model.is_some(), "the model concludes it");
}

async fn one_that_hangs_is_passed_over_and_what_it_had_said_is_kept(backing: Backing) {
    let mut stage = Setting::on(backing).with_model().open().await;
    Cast::default()
        .report("Oracle", Script::SayAndHang("The odds are even. They will pro".into()))
        .report("Vince", Script::Hang)
        .report("Solus", Script::say("I hold to my call."))
        .perform(&stage.team.model);
    stage.team.say(CHANNEL, START).await;
    stage.speaking(ORACLE).await;
    stage.team.model.wait_for(3).await;
    // Waits until all posts and words have arrived. Sleeps in steps, so that a machine that pauses still has time for them afterwards.
    for _ in 0..20 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    stage.stop_time();
    stage.jump(Duration::from_secs(90));
    stage.speaking(VINCE).await;
    stage.team.model.wait_for(5).await;
    stage.jump(Duration::from_secs(89));
    assert_eq!(stage.seats(&stage.called().await).await[4].state, Speaking);
    stage.jump(Duration::from_secs(1));
    stage.resume_time();
    let held = stage.over().await;
    assert_eq!(held.states(), [Quiet, Quiet, Spoke, Quiet, Skipped, Spoke]);
    let oracle = held.seat("oracle").contribution.as_ref().expect("it spoke");
    assert_eq!((oracle.text.as_str(), oracle.partial), ("The odds are even.", true));
    assert_eq!(held.reason("vince"), "no answer within 90 s");
    stage.hears("I hold to my call.").await;
}

async fn one_that_is_paused_is_passed_over(backing: Backing) {
    let stage = Setting::on(backing).open().await;
    stage.subcommand("team", "pause", json!([{"type": 3, "name": "persona", "value": "vince"}])).await;
    let held = stage.hold().await;
    assert_eq!(held.reason("vince"), "it is paused");
    let spoken = stage.said().await.iter().filter(|shown| shown.author == "Vince").count();
    assert_eq!((spoken, held.states().iter().filter(|state| **state == Skipped).count()), (0, 1));
}

async fn a_standup_that_runs_out_of_budget_has_a_report(backing: Backing) {
    let stage = Setting::on(backing)
        .with_model()
        .configure(|config| {
            // Enough for two or three reports at a tenth of a cent each.
            config.budgets.day = Some(Money::from_dollars(0.004));
            config.models.prices.insert("scripted-1".into(), ModelPrice { input: 1.0, cached: 0.1, output: 1.0, minute: 0.0 });
        })
        .open()
        .await;
    Cast::default().perform(&stage.team.model);
    let held = stage.hold().await;
    assert_eq!(held.states()[0], Quiet, "{:?}", held.seats);
    assert_eq!(held.states()[4..], [Skipped, Skipped]);
    assert!(held.reason("solus").starts_with("the team has used $0.00"), "{}", held.reason("solus"));
    assert!(held.report.model.is_none() && !held.report.tldr.is_empty(), "generated without AI: {:?}", held.report.tldr);
    let (cost, usage) = stage.store.spent_on(held.meeting.id.as_str()).await.expect("the ledger");
    assert!(cost > Money::ZERO && cost <= Money::from_dollars(0.004), "{cost}");
    assert_eq!((held.report.cost, held.report.usage), (cost, usage), "the report tells what was spent");
}

async fn a_standup_whose_channel_is_deleted_comes_to_its_end(backing: Backing) {
    let stage = Setting::on(backing).with_model().open().await;
    Cast::default().report("Vince", Script::Hang).perform(&stage.team.model);
    stage.team.say(CHANNEL, START).await;
    stage.speaking(VINCE).await;
    stage.team.model.wait_for(5).await;
    stage.team.call(Method::DELETE, &format!("/channels/{}", stage.team.channel(CHANNEL)), None).await;
    stage.jump(Duration::from_secs(90));
    let held = stage.over().await;
    assert_eq!(held.states(), [Quiet, Quiet, Quiet, Quiet, Skipped, Quiet]);
    let asked = stage.team.model.count();
    stage.jump(Duration::from_mins(10));
    tokio::time::sleep(Duration::from_millis(200)).await;
    stage.team.settle().await;
    assert_eq!(stage.team.model.count(), asked, "nothing is tried again and again");
    assert!(stage.store.list_open_meetings().await.expect("the store answers").is_empty());
    let file = stage.team.config.data.join(format!("reports/{}.md", held.meeting.day));
    assert!(file.exists(), "the report is there for those who look for it");
}
