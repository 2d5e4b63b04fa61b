//! The health of standups: ratings and the weekly chart.

use std::time::Duration;

use chrono::{DateTime, Datelike as _, TimeDelta, Utc, Weekday};
use chrono_tz::Tz;
use teamroom::features;

use super::cast::{Cast, Part, claiming, find_prompt};
use super::stage::{MOMENT, Setting, Stage};
use crate::standup::change;
use crate::support::model::Script;
use crate::support::team::{Backing, Shown, eventually, on_one_store};

on_one_store!(ratings_are_counted_once_a_person_and_told_to_whom_they_concern, the_chart_of_the_week_tells_what_is_unhealthy,);

async fn ratings_are_counted_once_a_person_and_told_to_whom_they_concern(backing: Backing) {
    let stage = Setting::on(backing).with_model().open().await;
    Cast::default()
        .report("Vince", claiming("Checkout takes 412 ms.", "checkout latency", "up", 0.8, "shop", "latency 412 ms"))
        .report("Echo", claiming("The forum is calm.", "mood", "good", 0.6, "news", "entries 3"))
        .perform(&stage.team.model);
    let held = stage.hold().await;
    let vince = stage.hears("Checkout takes 412 ms.").await;
    assert!(stage.press(&vince, "Useful").await.contains("useful for Vince"));
    assert!(stage.press(&vince, "Not useful").await.contains("not useful for Vince"));
    assert!(stage.press(&stage.hears("The forum is calm.").await, "Useful").await.contains("useful for Echo"));
    let count = async |slug: &str| stage.store.count_ratings(&slug.into(), held.meeting.called_at).await.expect("the store answers");
    assert_eq!((count("vince").await, count("echo").await, count("solus").await), ((0, 1), (1, 0), (0, 0)));
    let figures = stage.store.list_standup_figures(1).await.expect("figures").remove(0);
    assert_eq!((figures.useful, figures.not_useful, figures.reports, figures.quiet), (1, 1, 2, 4));
    stage.hold().await;
    let prompt = |name: &str| find_prompt(&stage.team.model, Part::Report, name).expect("a prompt");
    assert!(prompt("Vince").contains("People rated 0 of 1 of your insights as useful."), "{}", prompt("Vince"));
    assert!(prompt("Echo").contains("People rated 1 of 1 of your insights as useful."));
    assert!(!prompt("Solus").contains("People rated"));
}

const DAY: Duration = Duration::from_hours(24);

async fn the_chart_of_the_week_tells_what_is_unhealthy(backing: Backing) {
    let stage = Setting::on(backing)
        .with_model()
        .configure(|config| {
            change(config, |standup| standup.order = vec!["vince".into(), "echo".into()]);
            config.schedules.jobs.extend(features::actions().built_in(Tz::UTC).into_iter().filter(|job| job.name.as_str() == "health"));
        })
        .open()
        .await;
    let start = stage.now();
    let loud = Cast::default().report("Vince", Script::say("one two three four")).report("Echo", Script::say("one two"));
    loud.clone().perform(&stage.team.model);
    hold_daily(&stage, 14).await;
    let text = next_chart(&stage).await;
    for told in ["last 14 standups", "Warning: Only 0 % of the reports", "Words per report: 3", "\"Nothing to report\": 0 %"] {
        assert!(text.contains(told), "{told} in\n{text}");
    }
    Cast::default().perform(&stage.team.model);
    hold_daily(&stage, 11).await;
    let text = next_chart(&stage).await;
    assert!(text.contains("last 14 standups") && text.contains("Warning: ") && text.contains("79 %"), "11 of 14: {text}");
    loud.perform(&stage.team.model);
    hold_daily(&stage, 6).await;
    let text = next_chart(&stage).await;
    assert!(!text.contains("Warning") && text.contains("57 %"), "8 of 14: {text}");

    let weeks = count_mondays(start, stage.now());
    let charts = charts(&stage).await;
    assert_eq!(charts.len(), weeks, "one a week");
    for chart in charts {
        assert_eq!(chart.author, "Kelly");
        let url = chart.raw["embeds"][0]["image"]["url"].as_str().expect("a picture");
        let png = reqwest::get(url).await.expect("the picture").bytes().await.expect("bytes");
        assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
        let size = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().expect("four bytes"));
        assert_eq!((size(16), size(20)), (1000, 606));
    }
}

/// Holds one standup a day.
async fn hold_daily(stage: &Stage, count: usize) {
    for _ in 0..count {
        stage.hold().await;
        stage.pass(DAY).await;
        // A chart still in progress at the end of the next day would be too old to post.
        let open = async || stage.store.list_open_firings().await.expect("the store answers").len();
        eventually("what has fired is done", || async { open().await == 0 }).await;
        stage.team.settle().await;
    }
}

/// The text of next Monday's chart.
async fn next_chart(stage: &Stage) -> String {
    let before = charts(stage).await.len();
    let now = stage.now();
    let tens = (0..8).map(|days| at_ten(now + TimeDelta::days(days)));
    let next = tens.into_iter().find(|at| at.weekday() == Weekday::Mon && *at > now).expect("a Monday");
    stage.pass((next - now).to_std().expect("later") + Duration::from_secs(1)).await;
    eventually("the chart is posted", || async {
        stage.jump(MOMENT);
        charts(stage).await.len() > before
    })
    .await;
    stage.team.settle().await;
    charts(stage).await.last().expect("a chart").raw["embeds"][0]["description"].as_str().expect("a text").to_owned()
}

async fn charts(stage: &Stage) -> Vec<Shown> {
    let is_chart = |shown: &Shown| shown.raw["embeds"][0]["title"] == "Health of the standup";
    stage.said().await.into_iter().filter(is_chart).collect()
}

fn at_ten(at: DateTime<Utc>) -> DateTime<Utc> {
    at.date_naive().and_hms_opt(10, 0, 0).expect("a time").and_utc()
}

/// The number of Mondays at ten.
fn count_mondays(from: DateTime<Utc>, until: DateTime<Utc>) -> usize {
    let days = from.date_naive().iter_days().take_while(|day| *day <= until.date_naive());
    let tens = days.map(|day| day.and_hms_opt(10, 0, 0).expect("a time").and_utc());
    tens.filter(|at| at.weekday() == Weekday::Mon && (from..=until).contains(at)).count()
}
