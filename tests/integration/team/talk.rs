//! Who answers, and with what. Offline: all content comes from feeds and files.

use kernel::llm::settings::ProviderKind;
use kernel::time::{Clock, SystemClock};
use tokio::sync::watch;

use crate::support::database::count;
use crate::support::history;
use crate::support::model::Script;
use crate::support::team::{Backing, TestTeam, Wanted, eventually, on_one_store};

on_one_store!(
    what_is_for_nobody_is_kellys_and_talk_among_people_is_left_alone,
    two_mentioned_personas_answer_in_the_order_named,
    sentinel_tells_true_commits_of_the_last_days,
    a_dropped_document_answers_a_question_about_it_with_citations,
    kelly_relays_what_vince_says_and_names_him_and_knows_whom_she_can_ask,
    a_burst_of_one_person_becomes_one_turn,
    who_asks_much_keeps_nobody_waiting,
    who_calls_another_name_begins_anew,
    personas_without_a_token_speak_under_their_own_name,
    an_edit_counts_while_the_message_waits_and_a_deleted_one_is_not_answered,
);

async fn what_is_for_nobody_is_kellys_and_talk_among_people_is_left_alone(backing: Backing) {
    let team = Wanted::on(backing).start().await;
    team.say("general", "I told my sister about the weekend.").await;
    team.say("general", "> vince, are you there?\nsomebody else asked that").await;
    team.say("general", "What can you do for us?").await;
    assert_eq!(authors_of(&team, 1).await, ["Kelly"]);
    team.say("knowledge", "what do we know about harbours?").await;
    assert_eq!(team.wait_for_answers("knowledge", 1).await[0].author, "Eliza", "a channel's habit is kept");
}

/// Waits for this many answers. Returns the names of their authors, sorted.
async fn authors_of(team: &TestTeam, answers: usize) -> Vec<String> {
    let mut authors: Vec<_> = team.wait_for_answers("general", answers).await.into_iter().map(|answer| answer.author).collect();
    authors.sort_unstable();
    authors
}

async fn two_mentioned_personas_answer_in_the_order_named(backing: Backing) {
    let team = Wanted::on(backing).start().await;
    let text = format!("<@{}> <@{}> which of you is right?", team.account("vince"), team.account("solus"));
    team.say("general", &text).await;
    assert_eq!(authors_of(&team, 2).await, ["Solus", "Vince"]);
    // Compares the turns, because the posts may arrive in another order.
    let in_order = "SELECT COUNT(*) FROM turns first JOIN turns second ON first.message = second.message
         WHERE first.persona = 'vince' AND second.persona = 'solus' AND first.finished_at <= second.started_at";
    assert_eq!(count(&team, in_order).await, 1);
}

async fn sentinel_tells_true_commits_of_the_last_days(backing: Backing) {
    let work = tempfile::tempdir().expect("a directory");
    let Some(commits) = history::make_repository(work.path(), 200, SystemClock.now()) else { return };
    let root = work.path().to_owned();
    let team = Wanted::on(backing).configure(move |config| config.work.clone_from(&root)).start().await;
    team.say("general", "sentinel, what happened in the last 7 days?").await;
    let answer = team.wait_for_answers("general", 1).await.remove(0);
    assert_eq!(answer.author, "Sentinel");
    let newest = commits.last().expect("a commit");
    assert!(answer.text.contains(&newest.subject), "the newest commit is missing: {}", answer.text);
    let hash =
        std::process::Command::new("git").args(["rev-parse", "--short", "HEAD"]).current_dir(work.path()).output().expect("git runs");
    assert!(answer.text.contains(String::from_utf8_lossy(&hash.stdout).trim()), "its hash is missing: {}", answer.text);
}

async fn a_dropped_document_answers_a_question_about_it_with_citations(backing: Backing) {
    let Some(document) = history::find_document("decision-log.md") else { return };
    let team = Wanted::on(backing).start().await;
    team.drop_file("general", "decision-log.md", document.into_bytes(), "why were zombie steps a problem?").await;
    let answer = team.wait_for_answers("general", 1).await.remove(0);
    assert_eq!(answer.author, "Kelly");
    assert!(answer.text.contains("fetch window"), "not the reason: {}", answer.text);
    assert!(answer.text.contains("decision-log.md"), "no citation: {}", answer.text);
}

async fn kelly_relays_what_vince_says_and_names_him_and_knows_whom_she_can_ask(backing: Backing) {
    let team = Wanted::on(backing).start().await;
    team.say("general", "ask vince what he thinks about our costs").await;
    let answer = team.wait_for_answers("general", 1).await.remove(0);
    assert_eq!(answer.author, "Kelly");
    assert!(answer.text.contains("**Vince** answers"), "not attributed: {}", answer.text);
    assert!(answer.text.contains("$0"), "no figure from the ledger: {}", answer.text);
    team.say("general", "kelly, ask bob what he thinks about our costs").await;
    let answer = team.wait_for_answers("general", 2).await.remove(1);
    assert!(answer.text.contains("\"bob\"") && answer.text.contains("Vince"), "{}", answer.text);
}

async fn a_burst_of_one_person_becomes_one_turn(backing: Backing) {
    let team = Wanted::on(backing)
        .model(ProviderKind::OpenAi)
        .configure(|config| config.chat.coalesce = std::time::Duration::from_secs(4))
        .start()
        .await;
    team.model.on(|_| Script::say("one answer"));
    team.say("general", "kelly, three things:").await;
    team.say("general", "first the costs").await;
    team.say("general", "then the commits").await;
    team.wait_for_answers("general", 1).await;
    let asked = team.model.requests().remove(0);
    assert!(asked.prompt().contains("first the costs") && asked.prompt().contains("then the commits"));
}

/// Ann asks thirty questions while one is answered, and Ben one.
async fn who_asks_much_keeps_nobody_waiting(backing: Backing) {
    let team = Wanted::on(backing)
        .model(ProviderKind::OpenAi)
        .sandbox(|options| options.people = vec!["Ann".to_owned(), "Ben".to_owned()])
        .configure(|config| config.chat.coalesce = std::time::Duration::from_millis(100))
        .start()
        .await;
    let (go_on, may) = watch::channel(false);
    team.model.on(move |asked| match asked.number {
        0 => Script::say("the first").when(&may),
        _ => Script::say(format!("answer to {}", asked.last_word())),
    });
    team.say("general", "kelly, what is in number 0?").await;
    eventually("the first answer is being written", async || !team.model.requests().is_empty()).await;
    for number in 1..=30 {
        team.say("general", &format!("kelly, what is in number {number}?")).await;
    }
    team.say_as(1, "general", "kelly, who is on the team?").await;
    eventually("all is heard", || async { count(&team, "SELECT COUNT(*) FROM inbox").await == 32 }).await;
    // Waits until all bursts are over.
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    go_on.send(true).expect("the model waits");
    let answers: Vec<String> = team.wait_for_answers("general", 3).await.into_iter().map(|answer| answer.text).collect();
    team.settle().await;
    assert_eq!(answers, ["the first", "answer to team?", "answer to 30?"]);
    let all = team.model.requests()[2].prompt();
    assert!((1..=30).all(|number| all.contains(&format!("in number {number}?"))), "one answer covers all: {all}");
    assert_eq!(team.model.requests().len(), 3);
}

async fn who_calls_another_name_begins_anew(backing: Backing) {
    let team = Wanted::on(backing).configure(|config| config.chat.coalesce = std::time::Duration::from_millis(600)).start().await;
    team.say("general", "sentinel, what happened this week?").await;
    team.say("general", "ask vince what he thinks about our costs").await;
    let answers = team.wait_for_answers("general", 2).await;
    assert_eq!(answers.iter().map(|answer| answer.author.as_str()).collect::<Vec<_>>(), ["Sentinel", "Kelly"]);
    assert!(answers[1].text.contains("**Vince** answers"), "{}", answers[1].text);
    team.say("general", "ask vince what he thinks about our costs").await;
    team.say("general", "sentinel, what happened in the last 7 days?").await;
    assert_eq!(authors_of(&team, 4).await, ["Kelly", "Kelly", "Sentinel", "Sentinel"]);
}

async fn personas_without_a_token_speak_under_their_own_name(backing: Backing) {
    let team = Wanted::on(backing).tokens(|slug| slug == "kelly").start().await;
    team.say("general", "vince and solus: are you here?").await;
    let answers = team.wait_for_answers("general", 2).await;
    let mut authors: Vec<_> = answers.iter().map(|answer| answer.author.as_str()).collect();
    authors.sort_unstable();
    assert_eq!(authors, ["Solus", "Vince"]);
    assert!(answers.iter().all(|answer| answer.raw.get("webhook_id").is_some()));
}

async fn an_edit_counts_while_the_message_waits_and_a_deleted_one_is_not_answered(backing: Backing) {
    let team = Wanted::on(backing)
        .model(ProviderKind::OpenAi)
        .configure(|config| config.chat.coalesce = std::time::Duration::from_secs(4))
        .start()
        .await;
    team.model.on(|asked| Script::say(if asked.prompt().contains("the second quarter") { "second" } else { "first" }));
    let gone = team.say("ops", "kelly, who is on the team?").await;
    team.call(reqwest::Method::DELETE, &format!("/channels/{}/messages/{gone}", team.channel("ops")), None).await;
    let edited = team.say("general", "kelly, sum up the first quarter").await;
    let path = format!("/channels/{}/messages/{edited}", team.channel("general"));
    team.call(reqwest::Method::PATCH, &path, Some(serde_json::json!({"content": "kelly, sum up the second quarter"}))).await;
    let answer = team.wait_for_answers("general", 1).await.remove(0);
    assert_eq!(answer.text, "second");
    team.settle().await;
    assert!(team.answers("ops").await.is_empty());
    assert_eq!(team.model.requests().len(), 1);
}
