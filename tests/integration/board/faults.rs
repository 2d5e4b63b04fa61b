//! Speakers that hang, repeat themselves, say too much or nothing that can be read, and money that runs out.

use std::time::Duration;

use kernel::llm::settings::ModelPrice;
use kernel::money::Money;
use serde_json::{Value as Json, json};
use teamroom::features::board::BoardSettings;
use teamroom::features::meeting::model::MeetingState;

use super::stage::{HERE, Play, comes_to, command, comment, create, document, file, hears, lines, open, turn};
use crate::backlog::stage::Setting;
use crate::support::database::count;
use crate::support::team::{Backing, eventually, on_one_store};

on_one_store!(
    who_hangs_is_left_out_of_the_round_and_the_others_go_on,
    who_repeats_the_same_for_ever_ends_it,
    what_is_no_turn_is_kept_whole_and_fifty_thousand_characters_are_cut,
    a_document_that_rests_on_nothing_is_put_together_from_what_was_said,
    the_budget_ends_it_with_what_there_is,
);

async fn who_hangs_is_left_out_of_the_round_and_the_others_go_on(backing: Backing) {
    let play = Play::with_lines(|who, round| if who == "Echo" { Json::Null } else { lines(who, round) });
    let setting = Setting::on(backing)
        .configure(|config| config.features.set(BoardSettings { turn_timeout: Duration::from_secs(5), ..BoardSettings::default() }));
    let stage = open(setting, play).await;
    create(&stage).await;
    let meeting = comes_to(&stage.store, MeetingState::Running).await;
    let pass = async {
        loop {
            stage.clock.advance(Duration::from_millis(500));
            tokio::time::sleep(Duration::from_millis(40)).await;
        }
    };
    tokio::select! {
        () = pass => {}
        _ = comes_to(&stage.store, MeetingState::Done) => {}
    }
    hears(&stage.team, &stage.store, &meeting.id, "Echo has no turn in round 1: no answer within 5 s.").await;
    let text = file(&document(&stage.team, &stage.store, &meeting.id).await).await;
    assert!(text.contains("move: Vince and Solus"), "{text}");
}

async fn who_repeats_the_same_for_ever_ends_it(backing: Backing) {
    let play = Play::with_lines(|who, _| turn(who, &[comment("detail", &format!("{who} stays with the plan of the old cellar."), None)]));
    let stage = open(Setting::on(backing), play).await;
    create(&stage).await;
    let meeting = comes_to(&stage.store, MeetingState::Done).await;
    let text = file(&document(&stage.team, &stage.store, &meeting.id).await).await;
    // The document still tells both sides.
    assert!(text.contains("Over after 2 rounds: nothing new was said, and nobody changed sides."), "{text}");
    assert!(text.contains("- Vince: Vince.") && text.contains("- Solus: Solus.") && text.contains("## Another view"), "{text}");
}

async fn what_is_no_turn_is_kept_whole_and_fifty_thousand_characters_are_cut(backing: Backing) {
    let long = "The cellar floods when the river rises above the second mark. ".repeat(900);
    let play = Play::with_lines(move |who, round| match (who, round) {
        ("Echo", 1) => json!("I would rather sing about the cellar."),
        ("Vince", 1) => turn(&long, &[comment("detail", &long, Some("nonsense")), comment("risk", &long, None)]),
        _ => lines(who, round),
    });
    let stage = open(Setting::on(backing), play).await;
    // Asked without a schema, the model answers "It goes well.".
    create(&stage).await;
    let meeting = comes_to(&stage.store, MeetingState::Done).await;
    let text = file(&document(&stage.team, &stage.store, &meeting.id).await).await;
    assert!(text.contains("`1.2.1` Echo, detail: It goes well."), "{text}");
    assert_eq!(count(&stage.team, "SELECT COUNT(*) FROM board_comments WHERE LENGTH(text) > 501 OR answers = 'nonsense'").await, 0);
    assert!(count(&stage.team, "SELECT COUNT(*) FROM board_comments WHERE text LIKE 'The cellar floods%'").await > 0);
    let prompts: Vec<usize> = stage.team.model.requests().iter().map(|asked| asked.prompt().len()).collect();
    assert!(prompts.iter().all(|length| *length < 20_000), "{prompts:?}");
}

async fn a_document_that_rests_on_nothing_is_put_together_from_what_was_said(backing: Backing) {
    let document_of = json!({"title": "Coffee", "summary": "It makes coffee.", "sections": [{"heading": "Coffee", "text": "It does.", "rests_on": ["7.7.7"]}]});
    let stage = open(Setting::on(backing), Play { document: document_of, ..Play::default() }).await;
    create(&stage).await;
    let meeting = comes_to(&stage.store, MeetingState::Done).await;
    let text = file(&document(&stage.team, &stage.store, &meeting.id).await).await;
    assert!(!text.contains("offee") && text.contains("All 3 hold: move.") && text.contains("generated without AI"), "{text}");
    assert!(text.contains("## Risks\n\n- Solus: Nobody here has ever tuned vacuum"), "{text}");
}

async fn the_budget_ends_it_with_what_there_is(backing: Backing) {
    let setting = Setting::on(backing).configure(|config| {
        config.budgets.meeting = Some(Money(1));
        config.models.prices.insert("scripted-1".into(), ModelPrice { input: 1.0, cached: 0.1, output: 1.0, minute: 0.0 });
    });
    let stage = open(setting, Play::default()).await;
    // The first request, which phrases the question, uses up the budget.
    command(&stage, "create", &[("topic", json!("Which house?")), ("team", json!("vince, echo"))]).await;
    comes_to(&stage.store, MeetingState::Done).await;
    let told = async || {
        stage
            .team
            .answers(HERE)
            .await
            .iter()
            .any(|shown| shown.text.contains("Nothing was said.\nOver before anybody spoke: the budget was used up."))
    };
    eventually("it is told", || async { told().await }).await;
}
