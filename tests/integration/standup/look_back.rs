//! Looking back at a standup that is over, when somebody asks for it.

use serde_json::json;
use teamroom::features::overwatch::model::InsightKind;

use super::cast::{Cast, who};
use super::stage::{Setting, Stage};
use crate::support::model::{Asked, Script};
use crate::support::team::{Backing, eventually, on_one_store};

on_one_store!(those_who_reported_look_back_at_the_standup_when_asked);

fn is_look(asked: &Asked) -> bool {
    asked.schema.as_ref().is_some_and(|schema| schema.to_string().contains("cross-concern"))
}

fn perform(stage: &Stage) {
    // Echo never answers. It has nothing to look back at.
    let cast = Cast::default().report("Vince", Script::say("Checkout takes 512 ms.")).report("Echo", Script::Empty);
    stage.team.model.on(move |asked| {
        if !is_look(asked) {
            return cast.answer(asked);
        }
        let message = "Checkout takes 512 ms, and no action follows from it.";
        let insight = json!({"to": "team", "kind": "drift", "message": message, "task": "Do it sooner next time"});
        Script::Json(json!({"insights": if who(asked) == "Vince" { json!([insight]) } else { json!([]) }}))
    });
}

async fn those_who_reported_look_back_at_the_standup_when_asked(backing: Backing) {
    let stage = Setting::on(backing).with_model().open().await;
    perform(&stage);
    let held = stage.hold().await;
    assert!(held.reason("echo").len() > 3);
    let asked = stage.subcommand("overwatch", "run", json!([])).await;
    assert!(asked.starts_with("Eliza, Oracle, Sentinel, Vince and Solus look back at **Standup of "), "{asked}");
    let found = async || stage.store.list_insights(9).await.unwrap();
    eventually("it was looked back at", || async { found().await.len() == 5 }).await;
    let all = found().await;
    let vince = all.iter().find(|insight| insight.by.as_str() == "vince").unwrap();
    assert_eq!((vince.kind, vince.supported, vince.private_to.as_ref()), (InsightKind::Drift, true, None));
    assert!(all.iter().filter(|insight| insight.kind == InsightKind::None).count() == 4, "{all:#?}");

    let prompt = stage.team.model.requests().iter().find(|asked| is_look(asked)).map(Asked::prompt).unwrap();
    for part in ["A standup of the team is over", "Vince (spoke): Checkout takes 512 ms.", "Echo (no turn: ", "In short: All is well."] {
        assert!(prompt.contains(part), "{part}: {prompt}");
    }
    // The insights are posted in the thread of the report.
    let card = stage.cards().await.pop().expect("the report");
    eventually("it is told in the thread", || async {
        stage.thread(&card).await.iter().any(|text| text.contains("Looking back, Eliza, Oracle, Sentinel and Solus saw no tension."))
    })
    .await;
    let again = stage.subcommand("overwatch", "run", json!([{"type": 3, "name": "meeting", "value": held.meeting.day.to_string()}])).await;
    assert!(again.contains("They have looked back at it already.") && again.contains("Vince → team, 🧭 drift"), "{again}");
}
