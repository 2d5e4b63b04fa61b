//! A model that makes things up: nothing false is delivered, and what is missing is said.

use teamroom::features::backlog::model::WorkStatus;
use teamroom::features::mission::model::MissionStatus;

use super::stage::{Play, comes_to, files_of, hand_over, hears, open, plan, step, steps, thread, title_of};
use crate::backlog::part::{finish, is_work, write};
use crate::backlog::stage::Setting;
use crate::support::model::{Asked, Script};
use crate::support::team::{Backing, on_both_stores};

on_both_stores!(what_a_model_makes_up_is_neither_done_nor_delivered);

/// How each step lies, by a word of its title.
fn lie(asked: &Asked) -> Option<Script> {
    let title = title_of(asked);
    let has = |word: &str| title.contains(word);
    Some(match () {
        // A file that was never written.
        () if has("file") => finish("finished.md"),
        // Words instead of work.
        () if has("words") => Script::say("It is all done, and published at https://tea.example/cart."),
        // A source that nobody has read.
        () if has("source") && asked.tool_results() == 0 => {
            let long = "The market for tea grows by a third each year, and by half where it rains. ".repeat(6);
            write("market.md", &format!("# Market\n\n{long} ([study](https://study.example/tea))\n"))
        }
        () if has("source") => finish("market.md"),
        () => return None,
    })
}

async fn what_a_model_makes_up_is_neither_done_nor_delivered(backing: Backing) {
    let invented = plan(&[step("file", "Write with a file", "eliza", &[], &["3", "99"])]);
    let steps_of = [
        step("file", "Describe the cart with a file", "eliza", &[], &["3"]),
        step("words", "Describe the payment with words", "vince", &[], &["6"]),
        step("source", "Describe the market from a source", "echo", &[], &["2"]),
        step("honest", "Describe the shop", "solus", &[], &["1"]),
        step("join", "Join all to one specification", "kelly", &["file", "words", "source", "honest"], &["4"]),
    ];
    let play = Play { plans: vec![invented, plan(&steps_of)], ..Play::default() };
    let stage = open(Setting::on(backing), play.clone()).await;
    // The judge believes everything.
    stage.team.model.on(move |asked| {
        let lied = if is_work(asked) { lie(asked) } else { None };
        lied.unwrap_or_else(|| play.answer(asked))
    });
    hand_over(&stage).await;
    let mission = comes_to(&stage, MissionStatus::Failed).await;
    let delivery = hears(&stage, "has failed.").await;
    let done: Vec<String> =
        steps(&stage, &mission).await.into_iter().filter(|item| item.status == WorkStatus::Done).map(|item| item.what).collect();
    assert_eq!(done, ["Describe the shop"], "{}", delivery.text);
    for missing in ["Describe the cart with a file", "Describe the payment with words", "Describe the market from a source"] {
        assert!(delivery.text.contains(&format!("{missing}\" was not done")), "{missing}: {}", delivery.text);
    }
    assert!(delivery.text.contains("\n1 of 10 parts of the directive served; not:"), "{}", delivery.text);
    for made_up in ["tea.example", "study.example", "finished.md"] {
        let said = thread(&stage, &mission).await.into_iter().chain([delivery.clone()]);
        let told: Vec<String> = said.filter(|shown| shown.text.contains(made_up)).map(|shown| shown.text).collect();
        assert!(told.iter().all(|text| text.contains("not")), "{made_up} is told as if it were true: {told:#?}");
    }
    assert!(!files_of(&delivery).iter().any(|file| file == "market.md" || file == "finished.md"), "{delivery:#?}");
}
