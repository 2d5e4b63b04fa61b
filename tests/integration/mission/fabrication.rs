//! A model that makes things up: nothing false is delivered, and what is missing is said.

use serde_json::json;
use teamroom::features::backlog::model::{Evidence, WorkStatus};
use teamroom::features::mission::model::MissionStatus;

use super::stage::{Play, comes_to, command_text, files_of, hand_over, hears, open, plan, step, steps, thread, title_of};
use crate::backlog::part::{MORE, fetch, finish, is_work, write};
use crate::backlog::stage::Setting;
use crate::support::grading::{is_critique, is_grading};
use crate::support::model::{Asked, Script};
use crate::support::team::{Backing, on_one_store};

on_one_store!(what_a_model_makes_up_is_neither_done_nor_delivered, a_page_that_nobody_has_read_is_taken_out_and_counted,);

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

async fn a_page_that_nobody_has_read_is_taken_out_and_counted(backing: Backing) {
    let stage = Setting::on(backing).with_model().open().await;
    let prices = stage.web.url("prices");
    let mut market = step("market", "Find out what tea costs", "eliza", &[], &["2"]);
    market["kind"] = json!("research");
    market["instructions"] = json!(format!("Read {prices}."));
    let join = step("join", "Join all to one specification", "kelly", &["market"], &["1"]);
    let play = Play { plans: vec![plan(&[market, join])], ..Play::default() };
    let text = format!(
        "# Tea\n\nGreen tea costs $9 a month ({prices}).{MORE}\n\nBlack tea is drunk more each year ([a study](https://study.example/tea)).\n"
    );
    stage.team.model.on(move |asked| match asked.tool_results() {
        0 if is_work(asked) && title_of(asked).contains("what tea costs") => fetch(&prices),
        1 if is_work(asked) && title_of(asked).contains("what tea costs") => write("tea.md", &text),
        _ if is_work(asked) && title_of(asked).contains("what tea costs") => finish("tea.md"),
        _ => play.answer(asked),
    });
    hand_over(&stage).await;
    let mission = comes_to(&stage, MissionStatus::Done).await;
    let made = steps(&stage, &mission).await.into_iter().find(|item| item.what.contains("what tea costs")).unwrap();
    assert_eq!((made.status, made.attempts), (WorkStatus::Done, 0), "nothing is sent back");
    let removed: Vec<_> = made.evidence.iter().filter(|found| matches!(found, Evidence::Uncited { .. })).collect();
    assert_eq!(removed, [&Evidence::Uncited { path: "tea.md".into(), pages: vec!["https://study.example/tea".into()] }]);

    let told = "1 citation was taken out, because nobody had read the page. What rested on it alone is marked \"(no source)\".";
    let delivery = hears(&stage, "is done. 2 of 2 steps done").await;
    assert!(delivery.text.contains(told), "{}", delivery.text);
    let status = command_text(&stage, "status", &[("id", mission.short_id())]).await;
    assert!(status.contains(told), "{status}");
    let file = delivery.raw["attachments"].as_array().unwrap().iter().find(|file| file["filename"] == "tea.md").expect("tea.md");
    let text = reqwest::get(file["url"].as_str().unwrap()).await.unwrap().text().await.unwrap();
    assert!(text.contains("Black tea is drunk more each year (a study (no source)).") && !text.contains("study.example"), "{text}");
    // The grader is told which citations were removed, and cannot use their sentences as proof.
    let judged = stage.team.model.requests().into_iter().find(|asked| is_grading(asked) && !is_critique(asked)).unwrap().prompt();
    assert!(judged.contains("cited pages that were never read") && judged.contains("(no source)"), "{judged}");
}
