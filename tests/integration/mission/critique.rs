//! Each step's author judges its own work before handing it in, and its scores decide whether a colleague reviews the work.

use kernel::memory::Scope;
use serde_json::{Value as Json, json};
use teamroom::features::backlog::model::{Evidence, Judge, WorkItem, WorkStatus};
use teamroom::features::mission::model::{Mission, MissionStatus};

use super::stage::{Play, comes_to, hand_over, hears, open, plan, step, steps, title_of};
use crate::backlog::part::{MORE, fetch, finish, is_work, write};
use crate::backlog::stage::{Setting, Stage};
use crate::support::grading::{all_met, all_shown_by, is_critique, is_grading, with_scores};
use crate::support::model::{Asked, Script};
use crate::support::team::{Backing, on_one_store};

on_one_store!(
    an_author_improves_its_work_and_good_work_that_others_check_needs_no_review,
    work_that_does_not_get_better_or_is_praised_for_nothing_is_handed_in_and_reviewed,
    by_setting_every_step_is_reviewed,
    a_question_is_divided_and_what_has_no_answer_is_looked_for_again,
);

/// The number of earlier critiques in this run. The conversation contains their words.
fn improvements(asked: &Asked) -> usize {
    asked.prompt().matches("Not finished yet. This is what your own second look").count()
}

fn is_review(asked: &Asked) -> bool {
    is_grading(asked) && !is_critique(asked)
}

/// The title of what is judged.
fn title_of_judged(asked: &Asked) -> String {
    asked.prompt().lines().find_map(|line| line.strip_prefix("What: ").map(str::to_owned)).unwrap()
}

/// The titles of what was reviewed.
fn reviewed(stage: &Stage) -> Vec<String> {
    stage.team.model.requests().iter().filter(|asked| is_review(asked)).map(title_of_judged).collect()
}

fn critiques(stage: &Stage) -> usize {
    stage.team.model.requests().iter().filter(|asked| is_critique(asked)).count()
}

/// Writes again after each critique.
fn work(asked: &Asked, play: &Play) -> Script {
    let improved = improvements(asked);
    // Each improvement has two calls: a file, and a try to finish.
    if improved > 0 && asked.tool_results() == 2 * improved {
        let words = "It holds what somebody wants to buy, and shows the sum of it. ".repeat(6);
        let text = format!("# {}\n\nDraft {improved}. {words}\n", title_of(asked));
        return write("result.md", &text);
    }
    if improved > 0 { finish("result.md") } else { play.answer(asked) }
}

async fn stage_with(setting: Setting, critique: impl Fn(&Asked) -> Json + Send + Sync + 'static) -> (Stage, Mission) {
    let play = Play::default();
    let stage = open(setting, play.clone()).await;
    stage.team.model.on(move |asked| match () {
        () if is_critique(asked) => Script::Json(critique(asked)),
        () if is_work(asked) => work(asked, &play),
        () => play.answer(asked),
    });
    hand_over(&stage).await;
    let mission = comes_to(&stage, MissionStatus::Done).await;
    hears(&stage, "is done. 3 of 3 steps done").await;
    (stage, mission)
}

fn judges(item: &WorkItem) -> Vec<&str> {
    let judge = |found| match found {
        &Evidence::Criterion { by: Judge::Persona(ref by), .. } => Some(by.as_str()),
        _ => None,
    };
    item.evidence.iter().filter_map(judge).collect()
}

async fn an_author_improves_its_work_and_good_work_that_others_check_needs_no_review(backing: Backing) {
    let (stage, mission) = stage_with(Setting::on(backing), |asked| {
        let scores = if asked.prompt().contains("Draft 1.") { [4, 5, 4, 4] } else { [2, 4, 4, 4] };
        with_scores(asked, scores, all_met(asked))
    })
    .await;
    let items = steps(&stage, &mission).await;
    assert!(items.iter().all(|item| item.status == WorkStatus::Done && item.attempts == 0), "{items:#?}");
    // Each was improved once, and each author was told why.
    assert_eq!(critiques(&stage), 6);
    let told = stage
        .asked_about("Describe the cart")
        .into_iter()
        .map(|asked| asked.last().to_owned())
        .find(|last| last.contains("Not finished yet"));
    let told = told.expect("the author was told");
    assert!(told.contains("- depth: 2 of 5. The depth of the second part."), "{told}");
    assert!(told.contains("You have 22 calls left."), "{told}");
    // The last step and the whole are reviewed. The steps on which the last one builds are not.
    assert_eq!(reviewed(&stage), ["Join both to one specification", "Tea shop"]);
    for item in &items {
        let (author, judges) = (item.persona.as_ref().unwrap().as_str(), judges(item));
        let by_author = item.what != "Join both to one specification";
        assert!(!judges.is_empty() && judges.iter().all(|judge| (*judge == author) == by_author), "{}: {judges:?}", item.what);
    }
    let cart = items.iter().find(|item| item.what == "Describe the cart").unwrap();
    let line = "Its author's own critique, of 1 to 5: depth 4, accuracy 5, actionability 4, completeness 4, after it was improved once";
    stage.shows(cart, &[line]).await;
}

async fn work_that_does_not_get_better_or_is_praised_for_nothing_is_handed_in_and_reviewed(backing: Backing) {
    let praised = "Describe the payment";
    let (stage, mission) = stage_with(Setting::on(backing), move |asked| {
        if title_of_judged(asked) == praised {
            with_scores(asked, [5; 4], all_shown_by(asked, "It is perfect in every way."))
        } else {
            with_scores(asked, [2, 2, 3, 3], all_met(asked))
        }
    })
    .await;
    assert_eq!(critiques(&stage), 3 + 1 + 3, "what is not praised is improved twice");
    assert_eq!(reviewed(&stage).len(), 4, "{:?}", reviewed(&stage));
    let items = steps(&stage, &mission).await;
    assert!(items.iter().all(|item| item.attempts == 0), "to improve it is no failed attempt");
    let item = items.iter().find(|item| item.what == praised).unwrap();
    assert!(!judges(item).contains(&item.persona.as_ref().unwrap().as_str()), "praise that nothing shows is worth nothing: {item:#?}");
}

async fn by_setting_every_step_is_reviewed(backing: Backing) {
    let setting = Setting::on(backing).configure(|config| config.backlog.review_below = 6.0);
    let (stage, _) = stage_with(setting, |asked| with_scores(asked, [5; 4], all_met(asked))).await;
    assert_eq!((critiques(&stage), reviewed(&stage).len()), (3, 4));
}

async fn a_question_is_divided_and_what_has_no_answer_is_looked_for_again(backing: Backing) {
    let stage = Setting::on(backing).with_model().open().await;
    let prices = stage.web.url("prices");
    let mut market = step("market", "Find out what tea costs", "eliza", &[], &["2"]);
    market["kind"] = json!("research");
    market["instructions"] = json!(format!("Read {prices}."));
    let join = step("join", "Join all to one specification", "kelly", &["market"], &["1"]);
    let play = Play { plans: vec![plan(&[market, join])], ..Play::default() };
    let green = format!("# Tea\n\nGreen tea costs $9 a month ({prices}).{MORE}\n");
    let both = format!("{green}\nBlack tea is sold nowhere: three shops were looked at.\n");
    stage.team.model.on(move |asked| match () {
        () if is_critique(asked) && asked.prompt().contains("2. What does black tea cost?") => {
            if asked.prompt().contains("Black tea is sold nowhere") {
                return Script::Json(with_scores(asked, [4; 4], all_met(asked)));
            }
            let mut verdict = with_scores(asked, [4, 4, 4, 2], all_met(asked));
            verdict["open"] = json!([{"question": 2, "missing": "The page has green tea alone."}]);
            Script::Json(verdict)
        }
        () if asked.schema.is_some() && asked.prompt().contains("Give the questions.") => {
            Script::Json(json!({"questions": ["What does green tea cost?", "What does black tea cost?"]}))
        }
        () if is_work(asked) && title_of(asked).contains("what tea costs") => match (improvements(asked), asked.tool_results()) {
            (0, 0) => fetch(&prices),
            (0, 1) => write("tea.md", &green),
            (1, 3) => write("tea.md", &both),
            _ => finish("tea.md"),
        },
        () => play.answer(asked),
    });
    hand_over(&stage).await;
    let mission = comes_to(&stage, MissionStatus::Done).await;
    let asked = stage.asked_about("what tea costs");
    let first = asked[0].prompt();
    assert!(first.contains("1. What does green tea cost?\n2. What does black tea cost?"), "{first}");
    let told = asked.iter().map(Asked::last).find(|last| last.contains("Not finished yet")).expect("it was told");
    assert!(told.contains("- no answer yet: What does black tea cost? The page has green tea alone."), "{told}");
    let made = steps(&stage, &mission).await.into_iter().find(|item| item.what == "Find out what tea costs").unwrap();
    assert_eq!((made.status, made.attempts), (WorkStatus::Done, 0));
    // What agents worded waits for a person. The approach of the mission, which a person asked for, is found for the next similar item.
    let approaches = stage.store.recall_approaches("What does coffee cost, and tea?", &Scope::TEAM, &"eliza".into()).await.unwrap();
    assert_eq!(approaches[0].text, "Tea shop. Divided into: Find out what tea costs; Join all to one specification.");
}
