//! A board meeting from the question to the document.

use serde_json::json;
use teamroom::features::board::model::Artefact;
use teamroom::features::meeting::model::MeetingState;

use super::stage::{
    HERE, Play, QUESTION, board_of, comes_to, command, comment, create, document, file, is_turn, lines, open, speaker_of, thread, turn,
};
use crate::backlog::stage::{Setting, Stage};
use crate::mission::stage::{labels, press_on};
use crate::support::database::count;
use crate::support::model::{Asked, Script};
use crate::support::team::{Backing, eventually, on_one_store};

on_one_store!(
    a_question_is_discussed_until_nothing_new_comes,
    a_person_asks_for_it_in_words_and_adds_a_file,
    what_nobody_has_asked_for_is_not_discussed,
    who_agree_at_once_need_no_second_round,
    the_devils_advocate_is_marked_and_what_follows_goes_into_the_backlog_once,
    the_outcome_is_known_to_the_next_meeting,
    those_who_are_new_or_hidden_are_not_told,
    a_standup_is_held_beside_a_board_meeting,
);

async fn a_question_is_discussed_until_nothing_new_comes(backing: Backing) {
    let stage = open(Setting::on(backing), Play::default()).await;
    let called = create(&stage).await;
    assert!(called.starts_with(&format!("Called: **{QUESTION}**")), "{called}");
    let meeting = comes_to(&stage.store, MeetingState::Done).await;
    let card = document(&stage.team, &stage.store, &meeting.id).await;

    // There are three rounds, because the third has nothing new. Echo did not take part in the contested points.
    let turns: Vec<(String, u32)> = stage.team.model.requests().iter().filter(|asked| is_turn(asked)).map(speaker_of).collect();
    let in_round = |round: u32| turns.iter().filter(|turn| turn.1 == round).map(|turn| turn.0.as_str()).collect::<Vec<_>>();
    let mut first = in_round(1);
    first.sort_unstable();
    assert_eq!(first, ["Echo", "Solus", "Vince"]);
    assert_eq!(in_round(2), ["Vince", "Echo", "Solus"]);
    assert!(in_round(3).contains(&"Vince") && in_round(4).is_empty(), "{turns:?}");

    // In the first round nobody sees what others say. Later each sees only what is new.
    for asked in stage.team.model.requests().iter().filter(|asked| is_turn(asked)) {
        let (prompt, (who, round)) = (asked.prompt(), speaker_of(asked));
        assert_eq!(
            prompt.contains("Listeners wake a worker"),
            who == "Vince" && round > 1 || who != "Vince" && round == 2,
            "{who} in {round}: {prompt}"
        );
        if (who.as_str(), round) == ("Solus", 2) {
            assert!(prompt.contains("[2.1.1] Vince, detail, answers 1.3.1: Our provider tunes it"), "{prompt}");
            assert!(prompt.contains("Echo: move (70 % sure)") && prompt.contains("you: stay"), "{prompt}");
        }
    }

    // The card leaves out claims without a source, and forgets nobody.
    let embed = &card.raw["embeds"][0];
    assert_eq!(embed["title"], "Move the queue to PostgreSQL");
    let fields = embed["fields"].to_string();
    assert!(fields.contains("move: Vince, Echo and Solus") && fields.contains("[1.1.1, 1.2.1]") && !fields.contains("coffee"), "{fields}");
    assert!(embed["footer"]["text"].as_str().unwrap().contains("1 section left out that rested on nothing said"), "{embed}");
    let text = file(&card).await;
    assert!(
        text.contains("## The risk")
            && text.contains("Rests on: 1.3.1, 2.1.1")
            && text.contains("Over after 3 rounds: nothing new was said"),
        "{text}"
    );
    assert!(text.contains("`3.") && text.contains("nothing new: Thanks, Vince"), "{text}");

    // A message between the rounds says what the next round is about.
    let between: Vec<_> =
        thread(&stage.team, &stage.store, &meeting.id).await.into_iter().filter(|shown| shown.text.starts_with("**Round ")).collect();
    assert_eq!(
        between[0].text,
        "**Round 2 of 5**: move (Vince, Echo) against stay (Solus). Open risk: `1.3.1` Nobody here has ever tuned vacuum on a busy table."
    );
    assert_eq!(between[1].text, "**Round 3 of 5**: all hold move.");
    assert_eq!(between.len(), 2);

    // The thread has the question, each turn under its own name, and one line of progress that was edited.
    let said = thread(&stage.team, &stage.store, &meeting.id).await;
    assert!(said.iter().any(|shown| shown.text.contains("**The question**: Should the queue run on PostgreSQL")
        && shown.text.contains("- Vince was asked to take part")));
    let solus: Vec<_> = said.iter().filter(|shown| shown.author == "Solus").map(|shown| shown.text.as_str()).collect();
    assert!(solus[0].starts_with("**stay** (70 % sure). My answer is stay.\n- `1.3.1` Risk: Nobody here"), "{solus:?}");
    assert!(solus[1].contains("Changed, because the provider tunes it"), "{solus:?}");
    let progress: Vec<_> = said.iter().filter(|shown| shown.text.starts_with("Round ") || shown.text.starts_with("Over after")).collect();
    assert_eq!(progress.len(), 1, "{progress:#?}");
    eventually("the progress says that it is over", || async {
        thread(&stage.team, &stage.store, &meeting.id)
            .await
            .iter()
            .any(|shown| shown.text.starts_with("Over after 3 rounds: nothing new") && labels(shown).is_empty())
    })
    .await;
    let told = stage.team.answers(HERE).await;
    assert!(
        told.iter().any(|shown| shown.text.contains("**Move the queue to PostgreSQL**\nMove. All three hold it in the end.")),
        "{told:#?}"
    );

    // Each comment is stored in one row.
    assert_eq!(count(&stage.team, "SELECT COUNT(*) FROM board_comments").await, 5);
    assert_eq!(count(&stage.team, "SELECT COUNT(*) FROM board_comments WHERE novelty > 0").await, 4);
    assert_eq!(board_of(&meeting).promoted.len(), 1);

    let status = command(&stage, "status", &[]).await;
    assert!(status.contains("Over after 3 rounds") && status.contains("Move. All three hold it"), "{status}");
    let listed = command(&stage, "list", &[]).await;
    assert!(listed.contains(QUESTION) && listed.contains(": done, "), "{listed}");
}

const ASKED: &str = "kelly, let's discuss this and give me a recommendation: should we move the queue to PostgreSQL?";

/// Lets Kelly call a board meeting on this topic when she is asked.
fn calls(stage: &Stage, topic: &'static str) {
    let play = Play::default();
    stage.team.model.on(move |asked| {
        let is_chat = asked.schema.is_none() && asked.tools.iter().any(|tool| tool == "board_create");
        let arguments = json!({"topic": topic, "artefact": "decision", "team": ["Vince", "Echo", "Solus"]});
        if is_chat && asked.tool_results() == 0 { Script::call("board_create", arguments) } else { play.answer(asked) }
    });
}

async fn a_person_asks_for_it_in_words_and_adds_a_file(backing: Backing) {
    let stage = open(Setting::on(backing), Play::default()).await;
    calls(&stage, "should we move the queue to PostgreSQL?");
    let notes = b"# Notes\n\nThe queue has 900 jobs an hour today.\n".to_vec();
    stage.team.drop_file(HERE, "notes.md", notes, ASKED).await;
    let meeting = comes_to(&stage.store, MeetingState::Done).await;
    assert_eq!(board_of(&meeting).artefact, Artefact::Decision);
    let prompts: Vec<String> = stage.team.model.requests().iter().filter(|asked| is_turn(asked)).map(Asked::prompt).collect();
    assert!(prompts.iter().all(|prompt| prompt.contains("from notes.md") && prompt.contains("900 jobs an hour")), "{prompts:#?}");
    eventually("it is told", || async {
        stage.team.answers(HERE).await.iter().any(|shown| shown.text.contains("Called the board meeting `#"))
    })
    .await;
    assert_eq!(count(&stage.team, "SELECT COUNT(*) FROM meetings").await, 1);
    // The result depends on a file that somebody posted, so a person confirms it first.
    let card = document(&stage.team, &stage.store, &meeting.id).await;
    assert!(card.text.contains("It is not used unless somebody confirms it."), "{}", card.text);
}

async fn what_nobody_has_asked_for_is_not_discussed(backing: Backing) {
    let stage = open(Setting::on(backing), Play::default()).await;
    calls(&stage, "Should we sell the company?");
    // The topic may come from the file, so a person is asked first.
    stage.team.drop_file(HERE, "notes.md", b"# Notes\n\nThe queue has 900 jobs an hour today.\n".to_vec(), ASKED).await;
    eventually("a person is asked first", || async {
        stage
            .team
            .answers(HERE)
            .await
            .iter()
            .any(|shown| shown.text.contains("May I call a board meeting on this?\n**Should we sell the company?**"))
    })
    .await;
    assert_eq!(count(&stage.team, "SELECT COUNT(*) FROM meetings").await, 0);
}

async fn who_agree_at_once_need_no_second_round(backing: Backing) {
    let agreed =
        |who: &str, _| turn("move", &[comment("detail", &format!("{who} has measured that wakeups cost less than polling there."), None)]);
    let stage = open(Setting::on(backing), Play::with_lines(agreed)).await;
    create(&stage).await;
    let meeting = comes_to(&stage.store, MeetingState::Done).await;
    let text = file(&document(&stage.team, &stage.store, &meeting.id).await).await;
    assert!(text.contains("Over after one round: all gave the same answer without seeing each other"), "{text}");
    assert_eq!(stage.team.model.requests().iter().filter(|asked| is_turn(asked)).count(), 3);
}

async fn the_devils_advocate_is_marked_and_what_follows_goes_into_the_backlog_once(backing: Backing) {
    let stage = open(Setting::on(backing), Play::default()).await;
    command(&stage, "create", &[("topic", json!(QUESTION)), ("team", json!("vince, echo")), ("advocate", json!("solus"))]).await;
    let meeting = comes_to(&stage.store, MeetingState::Done).await;
    let card = document(&stage.team, &stage.store, &meeting.id).await;
    let fields = card.raw["embeds"][0]["fields"].to_string();
    assert!(fields.contains("move: Vince, Echo and Solus (devil's advocate)"), "{fields}");
    assert!(file(&card).await.contains("Solus (devil's advocate)"));
    assert_eq!(labels(&card), ["Add to the backlog"]);
    press_on(&stage, &card, "Add to the backlog").await;
    // Waits only for the item to exist, because a persona may start on it at once.
    let added = async || count(&stage.team, "SELECT COUNT(*) FROM work_items WHERE what = 'Ask the provider for a price'").await;
    eventually("it is in the backlog", || async { added().await == 1 }).await;
    eventually("the button is gone", || async { labels(&document(&stage.team, &stage.store, &meeting.id).await).is_empty() }).await;
    assert_eq!(count(&stage.team, "SELECT COUNT(*) FROM work_items").await, 1);
}

async fn the_outcome_is_known_to_the_next_meeting(backing: Backing) {
    let stage = open(Setting::on(backing), Play::default()).await;
    create(&stage).await;
    comes_to(&stage.store, MeetingState::Done).await;
    let again = "Should the queue leave PostgreSQL again?";
    command(&stage, "create", &[("topic", json!(again)), ("team", json!("vince, echo"))]).await;
    let asked = async || stage.team.model.requests().into_iter().filter(is_turn).find(|asked| asked.prompt().contains(again));
    eventually("the next meeting is held", || async { asked().await.is_some() }).await;
    let prompt = asked().await.unwrap().prompt();
    assert!(prompt.contains("what the team remembers") && prompt.contains("In the end: move (Vince, Echo, Solus)"), "{prompt}");
}

async fn those_who_are_new_or_hidden_are_not_told(backing: Backing) {
    let stage = open(Setting::on(backing), Play::default()).await;
    for (options, why) in [
        (vec![("topic", json!("?!"))], "What is the question?"),
        (vec![("topic", json!(QUESTION)), ("team", json!("vince"))], "at least 2 personas"),
        (vec![("topic", json!(QUESTION)), ("team", json!("vince, bob"))], "bob"),
        (vec![("topic", json!(QUESTION)), ("team", json!("vince, kelly"))], "Kelly leads the meeting"),
        (vec![("topic", json!(QUESTION)), ("team", json!("vince, echo")), ("advocate", json!("kelly"))], "Kelly leads the meeting"),
    ] {
        let told = command(&stage, "create", &options).await;
        assert!(told.contains(why), "{told}");
    }
    for name in ["status", "stop", "pause", "export"] {
        let told = command(&stage, name, &[]).await;
        assert!(told.contains("There was no board meeting here yet"), "{name}: {told}");
    }
    assert_eq!(count(&stage.team, "SELECT COUNT(*) FROM meetings").await, 0);
}

async fn a_standup_is_held_beside_a_board_meeting(backing: Backing) {
    let (may, held) = tokio::sync::watch::channel(false);
    let stage = open(Setting::on(backing), Play { held: Some(("Vince", 1, held)), ..Play::with_lines(lines) }).await;
    create(&stage).await;
    comes_to(&stage.store, MeetingState::Running).await;
    let again = create(&stage).await;
    assert!(again.contains("still running here"), "{again}");
    stage.team.say(HERE, "kelly, start the standup").await;
    eventually("a standup is called", || async { count(&stage.team, "SELECT COUNT(*) FROM meetings WHERE kind = 'standup'").await == 1 })
        .await;
    may.send(true).unwrap();
    comes_to(&stage.store, MeetingState::Done).await;
}
