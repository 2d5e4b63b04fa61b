//! Three mornings on a real project's history, while two feeds get worse and alarming news arrives.

use std::time::Duration;

use serde_json::{Value as Json, json};
use teamroom::config::Config;
use teamroom::features::standup::model::report::DayReport;

use super::cast::{Cast, claiming, conclusion};
use super::newsstand::{Paper, news_of, shop};
use super::stage::{Held, Setting, Stage};
use crate::support::history;
use crate::support::team::{Backing, on_one_store};

on_one_store!(
    what_gets_worse_and_alarming_news_come_first,
    a_model_that_says_all_is_well_does_not_hide_them,
    three_mornings_with_a_model_lead_with_what_is_worst,
);

const DAY: Duration = Duration::from_hours(24);
const ALARM: &str = "Attackers drain shops through a hole in the checkout of a payment provider";

async fn what_gets_worse_and_alarming_news_come_first(backing: Backing) {
    let mut made = None;
    let stage = Setting::on(backing).with_builds().open_after(|work, now| made = history::make_repository(work, 200, now)).await;
    if made.is_none() {
        return;
    }
    lay_out(&stage, 0, 412);
    let first = stage.hold().await;
    show(&stage, &first).await;
    assert!(first.report.actions.iter().all(|action| !action.what.contains("builds")), "{:?}", first.report.actions);

    stage.pass(DAY).await;
    lay_out(&stage, 1, 455);
    let second = stage.hold().await;
    show(&stage, &second).await;
    assert!(second.report.tldr[0].starts_with("builds failed jobs 0 → 1"), "{:?}", second.report.tldr);

    stage.pass(DAY).await;
    lay_out(&stage, 4, 840);
    let titles = [("Ten recipes for pumpkins", 1), (ALARM, 2), ("Local team wins again", 3)];
    stage.feeds.lay_out("news", Paper::Xml(news_of(stage.now(), &titles)));
    let third = stage.hold().await;
    show(&stage, &third).await;
    let tldr = &third.report.tldr;
    assert!(tldr.len() <= 3 && tldr[0].starts_with("builds failed jobs 1 → 4 (+3)") && tldr[0].contains("should be 0"), "{tldr:#?}");
    let caller = &stage.team.sandbox().people()[0].name;
    assert!(tldr[1].contains(&format!("\"Look into failed jobs of builds\" ({caller}, since ")), "{tldr:#?}");
    assert!(tldr[0].contains("shop latency 455 → 840 ms"), "{tldr:#?}");
    assert!(tldr.iter().any(|line| line.contains(ALARM)), "{tldr:#?}");
    let builds = third.report.actions.iter().filter(|action| action.what.contains("builds")).count();
    assert!(builds <= 1, "one action per cause: {:#?}", third.report.actions);
    let open: Vec<_> = second.report.actions.iter().chain(&third.report.actions).filter(|action| action.what.contains("builds")).collect();
    assert!(open.iter().any(|action| action.owner == "Sentinel"), "{open:#?}");
    let latency = third.report.actions.iter().find(|action| action.what.contains("latency of shop")).expect("it has nearly doubled");
    assert_eq!(latency.owner, "Vince");
}

async fn a_model_that_says_all_is_well_does_not_hide_them(backing: Backing) {
    let stage = Setting::on(backing).with_model().with_builds().open().await;
    let lines = ["All is well.", "The team had a quiet night.", "Nothing waits for anybody.", "Have a good day."];
    let action = json!({"what": "Find out why builds fail", "how": "Read the log of the oldest one.", "why": "Four fail.", "owner": "Sentinel",
        "urgency": "today"});
    Cast::default().conclusion(conclusion(&lines, json!([action]), json!([]))).perform(&stage.team.model);
    lay_out(&stage, 0, 412);
    let calm = stage.hold().await;
    show(&stage, &calm).await;
    assert_eq!(calm.report.actions[0].what, "Find out why builds fail");
    assert_eq!(calm.report.tldr, lines[..3], "there is nothing to add");

    stage.pass(DAY).await;
    lay_out(&stage, 4, 840);
    stage.feeds.lay_out("news", Paper::Xml(news_of(stage.now(), &[("Ten recipes for pumpkins", 1), (ALARM, 2)])));
    let held = stage.hold().await;
    show(&stage, &held).await;
    let tldr = &held.report.tldr;
    assert!(tldr[0].starts_with("builds failed jobs 0 → 4 (+4)") && tldr[0].contains("shop latency 412 → 840 ms"), "{tldr:#?}");
    assert!(tldr[1] == lines[0] && tldr[2].ends_with(&format!("In the news: \"{ALARM}\" (news).")) && tldr.len() == 3, "{tldr:#?}");
}

/// An action of the conclusion.
fn action(what: &str, how: &str, why: &str, owner: &str) -> Json {
    json!({"what": what, "how": how, "why": why, "owner": owner, "urgency": "today"})
}

async fn three_mornings_with_a_model_lead_with_what_is_worst(backing: Backing) {
    let mut made = None;
    // Items are not given up before the next morning.
    let attempts = |config: &mut Config| config.backlog.attempts = 1000;
    let setting = Setting::on(backing).with_model().with_builds().configure(attempts);
    let stage = setting.open_after(|work, now| made = history::make_repository(work, 200, now)).await;
    if made.is_none() {
        return;
    }
    let mornings = [
        (0, 412, vec![], vec![]),
        (
            1,
            455,
            vec![],
            vec![action(
                "Find out why the build job fails",
                "Read the log of the failed job.",
                "It has failed since yesterday.",
                "Sentinel",
            )],
        ),
        (
            4,
            840,
            vec![("Ten recipes for pumpkins", 1), (ALARM, 2), ("Local team wins again", 3)],
            vec![
                action(
                    "Find out what doubled the latency of the shop",
                    "Compare the slow requests with yesterday's.",
                    "Customers wait twice as long.",
                    "Vince",
                ),
                action(
                    "Check whether our checkout has the hole from the news",
                    "Compare our payment provider with the one in the article.",
                    "Shops are being drained.",
                    "Echo",
                ),
                action("Find out why the build job fails", "Read the log of the failed job.", "Four fail now.", "Sentinel"),
            ],
        ),
    ];
    let mut reports = Vec::new();
    for (failed, latency, titles, actions) in mornings {
        lay_out(&stage, failed, latency);
        if !titles.is_empty() {
            stage.feeds.lay_out("news", Paper::Xml(news_of(stage.now(), &titles)));
        }
        let sentinel =
            claiming(&format!("{failed} build jobs fail; it should be none."), "failed builds", "up", 0.9, "builds", &failed.to_string());
        let vince = claiming(&format!("The shop answers in {latency} ms."), "shop latency", "up", 0.8, "shop", &format!("{latency} ms"));
        let said = if failed > 0 { Cast::default().report("Sentinel", sentinel).report("Vince", vince) } else { Cast::default() };
        // The model does not mention what is worst.
        let lines = ["The repository moves at its usual pace.", "Nothing waits for a decision."];
        said.conclusion(conclusion(&lines, Json::Array(actions), json!([]))).perform(&stage.team.model);
        let held = stage.hold().await;
        show(&stage, &held).await;
        reports.push(held.report);
        stage.pass(DAY).await;
    }
    let [first, second, third] = &reports[..] else { unreachable!("three mornings") };
    let tldr = |report: &DayReport| report.tldr.clone();
    assert!(first.actions.is_empty() && tldr(first).iter().all(|line| !line.contains("builds")), "{:?}", first.tldr);
    assert!(tldr(second)[0].starts_with("builds failed jobs 0 → 1 (+1), should be 0"), "{:?}", second.tldr);
    let lines = tldr(third);
    assert!(lines.len() <= 3 && lines[0].starts_with("builds failed jobs 1 → 4 (+3), should be 0"), "{lines:#?}");
    assert!(lines[0].contains("shop latency 455 → 840 ms") && lines.iter().any(|line| line.contains(ALARM)), "{lines:#?}");
    let owned = |report: &DayReport| report.actions.iter().map(|action| (action.what.clone(), action.owner.clone())).collect::<Vec<_>>();
    let pair = |what: &str, owner: &str| (what.to_owned(), owner.to_owned());
    assert_eq!(owned(second), [pair("Find out why the build job fails", "Sentinel")]);
    assert_eq!(
        owned(third),
        [
            pair("Find out what doubled the latency of the shop", "Vince"),
            pair("Check whether our checkout has the hole from the news", "Echo")
        ],
        "the build is looked into already: {:#?}",
        third.refused
    );
    assert!(third.refused.iter().any(|refused| refused.reason.contains("says the same as the open item")), "{:#?}", third.refused);
}

fn lay_out(stage: &Stage, failed: u32, latency: u32) {
    stage.feeds.lay_out("builds", Paper::Json(json!({"failed": failed, "minutes": 11})));
    stage.feeds.lay_out("shop", Paper::Json(shop(latency, 231)));
}

/// Prints the report, for people who read it: `cargo test --test integration mornings -- --nocapture`.
async fn show(stage: &Stage, held: &Held) {
    let file = stage.team.config.data.join(format!("reports/{}.md", held.report.day));
    println!("{}", tokio::fs::read_to_string(file).await.expect("the report's file"));
}
