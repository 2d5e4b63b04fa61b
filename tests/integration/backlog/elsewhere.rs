//! What a person who was asked says in another place, without replying to the question.

use reqwest::Method;
use serde_json::json;
use teamroom::features::backlog::model::{Evidence, Execution, Owner, Wait, WorkItem, WorkStatus};

use super::part::{DOCUMENT, finish, is_work, write};
use super::private::{find_conversation, hears_in_private};
use super::stage::{Setting, Stage};
use crate::support::command::press_as;
use crate::support::database::count;
use crate::support::grading::{all_met, is_grading};
use crate::support::model::{Asked, Script};
use crate::support::team::{Backing, Shown, eventually, on_both_stores, on_one_store};

on_both_stores!(an_answer_said_elsewhere_is_taken_and_the_work_goes_on_with_it);
on_one_store!(what_may_be_an_answer_is_asked_back_once, what_is_said_in_private_answers_a_question_of_the_team_only_if_the_person_says_so,);

/// Another channel than that of the question.
const ELSEWHERE: &str = "general";

const TAKEN: &str = "I take that as the answer to";
const ASKED_BACK: &str = "Is that the answer to **Ask for the number of the invoice**";

fn is_open_question(asked: &Asked) -> bool {
    asked.prompt().contains("AI colleagues wait for the answer to a question")
}

/// A block of a prompt.
fn block<'a>(prompt: &'a str, label: &str) -> &'a str {
    prompt.split(&format!("| {label}>>\n")).nth(1).and_then(|rest| rest.split("\n<<end").next()).unwrap_or_default()
}

/// A message with the number answers, and one with "perhaps" may answer.
fn find_answered(asked: &Asked) -> Script {
    let prompt = asked.prompt();
    let message = block(&prompt, "message");
    let number = block(&prompt, "questions").lines().position(|line| line.contains("number of the invoice")).map_or(0, |at| at + 1);
    let (question, confidence) = match () {
        () if message.contains("4711") => (number, 0.9),
        () if message.contains("perhaps") => (number, 0.5),
        () => (0, 0.9),
    };
    Script::Json(json!({"question": question, "confidence": confidence, "why": "they say so"}))
}

/// A team that waits for Ann's answer to two questions, and for the letter that needs the first one.
async fn ask_ann(backing: Backing) -> (Stage, WorkItem, WorkItem) {
    let setting = Setting::on(backing).with_model().with_people(&["Ann", "Bob"]);
    let stage = setting.configure(|config| config.chat.direct_messages = true).open().await;
    stage.team.model.on(|asked| match asked.tool_results() {
        _ if is_open_question(asked) => find_answered(asked),
        _ if is_grading(asked) => Script::Json(all_met(asked)),
        _ if asked.schema.is_some() => Script::Json(json!({"execution": "write", "verdict": "answers", "acts": []})),
        _ if !is_work(asked) => Script::say("Gladly."),
        0 => write("letter.md", DOCUMENT),
        _ => finish("letter.md"),
    });
    say(&stage, 0, "The rent is paid until the spring.").await;
    let ann = Owner::Person { id: stage.team.person_id(0), name: "Ann".to_owned() };
    let ask = |what: &str, question: &str| stage.item(what, "", Execution::ask(ann.clone(), question.to_owned()));
    let colour = ask("Ask for the colour of the door", "Which colour has the door?");
    let number = ask("Ask for the number of the invoice", "Which number has the invoice?");
    let letter = WorkItem { depends_on: vec![number.id.clone()], ..stage.item("Write to the landlord", "", Execution::Write) };
    stage.put(&[&colour, &number, &letter]).await;
    for item in [&colour, &number] {
        stage.hears(&format!("❓ Question for <@{}>: **{}", stage.team.person_id(0).bare(), item.what)).await;
        stage.until(&item.id, "asked", |item| matches!(item.wait, Some(Wait::Answer { .. }))).await;
    }
    assert_eq!(count_calls(&stage), 0, "without an open question no model is asked");
    (stage, number, letter)
}

fn count_calls(stage: &Stage) -> usize {
    stage.team.model.requests().iter().filter(|asked| is_open_question(asked)).count()
}

/// Says something, and waits until it is decided on.
async fn say(stage: &Stage, person: usize, text: &str) {
    let decided = "SELECT COUNT(*) FROM inbox WHERE decided_at IS NOT NULL";
    let known = count(&stage.team, decided).await;
    stage.team.say_as(person, ELSEWHERE, text).await;
    eventually("it is decided on", || async { count(&stage.team, decided).await > known }).await;
    stage.team.settle().await;
}

/// Says something from which nothing follows for the question.
async fn say_in_vain(stage: &Stage, person: usize, text: &str, number: &WorkItem) {
    say(stage, person, text).await;
    assert!(matches!(stage.read(&number.id).await.wait, Some(Wait::Answer { .. })), "{text}");
}

async fn hears_elsewhere(stage: &Stage, text: &str) -> Shown {
    let heard = async || stage.team.answers(ELSEWHERE).await.into_iter().rfind(|shown| shown.text.contains(text));
    eventually(text, || async { heard().await.is_some() }).await;
    heard().await.expect("it was said")
}

async fn expect_answered(stage: &Stage, number: &WorkItem, said: &str) {
    let done = stage.comes_to(&number.id, WorkStatus::Done).await;
    let is_said = |found: &Evidence| matches!(found, Evidence::Answer { by, text, .. } if by == "Ann" && text == said);
    assert!(done.evidence.iter().any(is_said), "{done:#?}");
}

async fn an_answer_said_elsewhere_is_taken_and_the_work_goes_on_with_it(backing: Backing) {
    let (stage, number, letter) = Box::pin(ask_ann(backing)).await;
    say_in_vain(&stage, 1, "It is 4711, if you ask me.", &number).await;
    assert_eq!(count_calls(&stage), 0, "Bob was asked nothing");
    say_in_vain(&stage, 0, "Is it 4711?", &number).await;
    assert_eq!(count_calls(&stage), 0, "a question is no answer");
    say_in_vain(&stage, 0, "The roof of the house is leaking.", &number).await;
    assert_eq!(count_calls(&stage), 1);
    let said = "I have found the invoice, it is 4711.";
    say(&stage, 0, said).await;
    hears_elsewhere(&stage, TAKEN).await;
    expect_answered(&stage, &number, said).await;
    stage.comes_to(&letter.id, WorkStatus::Done).await;
    let asked = stage.asked_about("Write to the landlord");
    assert!(asked.first().is_some_and(|asked| asked.prompt().contains(said)), "the work is told the answer");
    assert_eq!(count_calls(&stage), 2);
}

async fn what_may_be_an_answer_is_asked_back_once(backing: Backing) {
    let (stage, number, _) = Box::pin(ask_ann(backing)).await;
    let said = "The one in the blue folder, perhaps.";
    say(&stage, 0, said).await;
    let question = hears_elsewhere(&stage, ASKED_BACK).await;
    say_in_vain(&stage, 0, "Or the one below it, perhaps.", &number).await;
    let asked = stage.team.answers(ELSEWHERE).await.into_iter().filter(|shown| shown.text.contains(ASKED_BACK)).count();
    assert_eq!(asked, 1);
    press_as(&stage.team, 0, ELSEWHERE, &question, |button| button["label"] == "Yes, that's it").await;
    expect_answered(&stage, &number, said).await;
}

async fn what_is_said_in_private_answers_a_question_of_the_team_only_if_the_person_says_so(backing: Backing) {
    let (stage, number, _) = Box::pin(ask_ann(backing)).await;
    let conversation = find_conversation(&stage, "vince").await;
    stage.team.call(Method::POST, &format!("/channels/{conversation}/messages"), Some(json!({"content": "It is 4711."}))).await;
    hears_in_private(&stage, "vince", ASKED_BACK).await;
    stage.team.settle().await;
    let waits = stage.read(&number.id).await;
    assert!(matches!(waits.wait, Some(Wait::Answer { .. })) && waits.evidence.is_empty(), "{waits:#?}");
}
