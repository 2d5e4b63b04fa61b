//! Signals from a report in later prompts, in the cross-check and in the Day Report.

use kernel::llm::settings::ProviderKind;
use teamroom::features::meeting::signal::Direction;

use super::cast::{Cast, Part, claiming, find_prompt};
use super::stage::{SPEAKERS, Setting, Stage};
use crate::support::model::Script;
use crate::support::team::{Backing, on_one_store};

on_one_store!(
    signals_that_contradict_reach_who_speaks_later_and_are_a_tension_with_both_sides,
    signals_that_cannot_be_read_cost_a_report_nothing,
    anthropic_holds_a_standup_too,
);

async fn contradicted(backing: Backing) -> Stage {
    let stage = Setting::on(backing).with_model().open().await;
    Cast::default()
        .report("Echo", claiming("The forum complains about checkout.", "checkout latency", "up", 0.8, "news", "entries 3"))
        .report("Vince", claiming("Checkout takes 412 ms.", "checkout latency", "down", 0.7, "shop", "latency 412 ms"))
        .perform(&stage.team.model);
    stage
}

async fn signals_that_contradict_reach_who_speaks_later_and_are_a_tension_with_both_sides(backing: Backing) {
    let stage = contradicted(backing).await;
    let held = stage.hold().await;
    let said = stage.said().await;
    assert!(said.iter().all(|shown| !shown.text.contains("signals") && !shown.text.contains("\"subject\"")), "{said:#?}");
    let echo = held.seat("echo").contribution.as_ref().expect("it spoke");
    assert_eq!((echo.signals[0].subject.as_str(), echo.signals[0].direction), ("checkout latency", Direction::Up));
    assert_eq!(echo.text, "The forum complains about checkout.");

    let [tension] = held.report.cross_check.tensions.as_slice() else { panic!("{:?}", held.report.cross_check) };
    let sides: Vec<_> = tension.sides.iter().map(|side| (side[0].by.as_str(), side[0].signal.direction)).collect();
    assert_eq!(sides, [("echo", Direction::Up), ("vince", Direction::Down)]);
    let finding = &held.report.cross_check.findings[0];
    assert!(finding.direction.is_none() && finding.confidence < 0.7, "divergence lowers: {finding:?}");
    let thread = stage.thread(&stage.cards().await[0]).await.join("\n");
    for told in ["checkout latency", "news", "shop", "latency 412 ms", "up: Echo", "down: Vince"] {
        assert!(thread.contains(told), "{told} in\n{thread}");
    }
    let asked = find_prompt(&stage.team.model, Part::Conclusion, "Kelly").expect("a conclusion");
    assert!(asked.contains("tension: checkout latency"), "{asked}");

    // A later signal on the same subject replaces the earlier hint.
    let (first, later) = ("Echo: checkout latency is going up (80 % sure; news: entries 3)", "Vince: checkout latency is going down");
    for name in SPEAKERS {
        let prompt = find_prompt(&stage.team.model, Part::Report, name).expect("a prompt");
        assert_eq!(prompt.contains(first), !["Echo", "Solus"].contains(&name), "{name}: {prompt}");
        assert_eq!(prompt.contains(later), name == "Solus", "{name}: {prompt}");
    }
    let solus = find_prompt(&stage.team.model, Part::Report, "Solus").expect("a prompt");
    assert!(solus.contains("[persona Vince] Checkout takes 412 ms."), "it hears those before: {solus}");
}

async fn signals_that_cannot_be_read_cost_a_report_nothing(backing: Backing) {
    let stage = Setting::on(backing).with_model().open().await;
    let bad = "Checkout takes 412 ms.\n```signals\n[{\"direction\": \"sideways\"}, 7, {\"sub\n```";
    let only = "```signals\n[{\"subject\": \"orders\", \"direction\": \"down\", \"confidence\": 0.9}]\n```";
    Cast::default().report("Vince", Script::say(bad)).report("Echo", Script::say(only)).perform(&stage.team.model);
    let held = stage.hold().await;
    let vince = held.seat("vince").contribution.as_ref().expect("it spoke");
    assert!(vince.signals.is_empty() && !vince.problems.is_empty(), "{vince:?}");
    let posted = stage.hears("Checkout takes 412 ms.").await;
    assert_eq!(posted.text, "Checkout takes 412 ms.");
    assert!(posted.raw["components"].as_array().is_none_or(Vec::is_empty), "it claims nothing that could be rated");
    // Signals without text become text.
    let echo = held.seat("echo").contribution.as_ref().expect("it spoke");
    assert_eq!((echo.text.as_str(), echo.signals.len()), ("- orders: down", 1));
    assert_eq!(held.report.cross_check.findings.len(), 1);
}

async fn anthropic_holds_a_standup_too(backing: Backing) {
    let stage = Setting::on(backing).wanted(|wanted| wanted.model(ProviderKind::Anthropic)).open().await;
    Cast::default()
        .report("Vince", claiming("Checkout takes 412 ms.", "checkout", "up", 0.8, "shop", "latency 412 ms"))
        .perform(&stage.team.model);
    let held = stage.hold().await;
    assert_eq!(held.seat("vince").contribution.as_ref().map(|said| said.signals.len()), Some(1));
    assert_eq!(held.report.tldr, ["All is well."]);
    assert_eq!(held.report.model.as_deref(), Some("scripted/scripted-1"));
}
