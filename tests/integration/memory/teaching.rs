//! `remember: …` and `/memory`.

use std::process::Command;

use kernel::llm::settings::ProviderKind;
use kernel::memory::Scope;
use secrecy::ExposeSecret;
use serde_json::Value;
use teamroom::store::Store;

use super::stage::{BOARD, HERE, Stage, id_in};
use crate::support::command::press;
use crate::support::database::count;
use crate::support::model::Script;
use crate::support::team::{Backing, eventually, on_one_store};

on_one_store!(
    what_is_taught_is_found_shown_and_answered_with_its_teacher,
    a_newer_fact_replaces_an_older_one_which_stays_visible,
    the_same_words_are_one_memory_and_what_cannot_be_remembered_is_refused_in_words,
    forgetting_leaves_no_copy_and_is_for_the_teacher,
    a_persona_forgets_what_its_asker_taught_once_the_person_allows_it,
);

async fn what_is_taught_is_found_shown_and_answered_with_its_teacher(backing: Backing) {
    let stage = Stage::start(backing, None).await;
    let taught = stage.answer_in(HERE, "remember: we deploy on Thursdays").await;
    assert!(taught.text.starts_with("I'll remember that for the whole team (`"), "{}", taught.text);
    let id = id_in(&taught.text);
    for question in ["when do we deploy?", "what did I say about deployments?", "kelly, when is our deploy day?"] {
        let answer = stage.answer_to(question).await;
        assert!(answer.starts_with("Ann taught me on 2 March 2026: we deploy on Thursdays"), "{question}: {answer}");
    }
    let answer = stage.answer_to("kelly, how many dragons are there?").await;
    assert!(!answer.contains("Thursdays"), "{answer}");
    assert_eq!(
        stage.command("search", &[("words", "deployment")]).await,
        format!("- `{id}` we deploy on Thursdays (Ann taught it on 2 Mar 2026)")
    );
    let shown = stage.command("show", &[("id", &format!("#{}", id.to_uppercase()))]).await;
    assert_eq!(shown, format!("`{id}` we deploy on Thursdays\nAnn taught it on 2 Mar 2026. Told everywhere."));
    let other = stage.command("teach", &[("text", "The kitchen key hangs behind the door.")]).await;
    assert!(other.starts_with("I'll remember that for the whole team (`"), "{other}");
    assert!(stage.answer_to("where is the kitchen key?").await.starts_with("Ann taught me on 2 March 2026: The kitchen key"));
}

async fn a_newer_fact_replaces_an_older_one_which_stays_visible(backing: Backing) {
    let stage = Stage::start(backing, None).await;
    let old = id_in(&stage.answer_to("remember: we deploy on Thursdays").await);
    let told = stage.answer_to(&format!("remember: instead of #{old} we deploy on Fridays")).await;
    let new = id_in(&told);
    assert_eq!(told, format!("I'll remember that for the whole team, in place of `{old}` (`{new}`)."));
    assert!(stage.answer_to("when do we deploy?").await.starts_with("Ann taught me on 2 March 2026: we deploy on Fridays"));
    assert!(!stage.command("search", &[("words", "deploy")]).await.contains("Thursdays"));
    let shown = stage.command("show", &[("id", &new)]).await;
    assert!(
        shown.contains(&format!("\nBefore that: `{old}` we deploy on Thursdays (Ann taught it on 2 Mar 2026, until 2 Mar 2026)")),
        "{shown}"
    );
    let shown = stage.command("show", &[("id", &old)]).await;
    assert!(shown.ends_with(&format!("\nReplaced on 2 Mar 2026 by `{new}`.")), "{shown}");
    let third = stage.command("teach", &[("text", "We deploy daily."), ("replaces", &new)]).await;
    assert!(stage.command("show", &[("id", &id_in(&third))]).await.matches("Before that").count() == 2);
    let refused = stage.command("teach", &[("text", "We deploy hourly."), ("replaces", &old)]).await;
    assert!(refused.contains(&format!("`{old}` is not in use any more. Teach the new one without it.")), "{refused}");
    let forgotten = stage.command("forget", &[("id", &id_in(&third))]).await;
    assert!(forgotten.contains("with 2 older versions"), "{forgotten}");
    assert_eq!(count(&stage.team, "SELECT COUNT(*) FROM memories WHERE text <> '' OR words <> ''").await, 0);
}

async fn the_same_words_are_one_memory_and_what_cannot_be_remembered_is_refused_in_words(backing: Backing) {
    let stage = Stage::start(backing, None).await;
    let long = format!("remember: {}", "word ".repeat(120));
    for (said, told) in [
        ("kelly, remember:", "What should I remember? Try \"remember: we deploy on Thursdays\"."),
        (long.as_str(), "That is too long to remember: 500 characters are the most. Post it as a file instead."),
        ("remember: instead of #zzzzz9 we rest", "There is no memory `zzzzz9` here. `/memory search` finds them by words."),
    ] {
        assert_eq!(stage.answer_to(said).await, told);
    }
    assert!(stage.command("forget", &[("id", "nothing")]).await.contains("There is no memory `nothing` here."));
    stage.say_as_bob("Ann, remember: milk").await;
    stage.team.settle().await;
    let facts = async || count(&stage.team, "SELECT COUNT(*) FROM memories WHERE kind <> 'conversation'").await;
    assert_eq!(facts().await, 0);

    let first = id_in(&stage.answer_to("remember: we deploy on Thursdays").await);
    let again = stage.answer_to("kelly, remember: On Thursdays, we deploy!").await;
    assert_eq!(again, format!("I know that already (`{first}`)."));
    assert_eq!(facts().await, 1);
    // The same words in private are another memory, so that nothing tells where else they were said.
    let private = stage.private_answer_to("remember: we deploy on Thursdays").await;
    assert!(private.starts_with("I'll remember that for this conversation only (`"), "{private}");
    let board = stage.answer_in(BOARD, "remember: we deploy on Thursdays").await.text;
    assert!(board.starts_with("I'll remember that for this channel only (`"), "{board}");
    assert_eq!(facts().await, 3);
}

async fn forgetting_leaves_no_copy_and_is_for_the_teacher(backing: Backing) {
    let stage = Stage::start(backing, None).await;
    let taught = stage.answer_in(HERE, "remember: the vault code is zq4711").await;
    let id = id_in(&taught.text);
    assert!(!taught.text.contains("zq4711"));
    stage.press_as_bob(&taught).await;
    assert!(stage.command("show", &[("id", &id)]).await.contains("zq4711"));
    press(&stage.team, HERE, &taught, |button| button["label"] == "Forget").await;
    let forgotten = async || count(&stage.team, "SELECT COUNT(*) FROM memories WHERE forgotten_by = 'Ann'").await == 1;
    eventually("it is forgotten", || async { forgotten().await }).await;
    let copies =
        "SELECT COUNT(*) FROM memories WHERE text LIKE '%zq4711%' OR words LIKE '%zq4711%' OR tags LIKE '%zq4711%' OR essence LIKE '%zq4711%'
        OR vector IS NOT NULL";
    assert_eq!(count(&stage.team, copies).await, 0);
    let indexed = match backing {
        Backing::Sqlite => "SELECT COUNT(*) FROM memory_words WHERE memory_words MATCH '\"zq4711\"'",
        Backing::Postgres => "SELECT COUNT(*) FROM memory_words WHERE search @@ to_tsquery('simple', 'zq4711')",
    };
    assert_eq!(count(&stage.team, indexed).await, 0);
    assert_eq!(count(&stage.team, "SELECT COUNT(*) FROM outbox WHERE message LIKE '%zq4711%'").await, 0);
    assert_eq!(count(&stage.team, "SELECT COUNT(*) FROM events WHERE payload LIKE '%zq4711%'").await, 0);
    assert_eq!(stage.command("show", &[("id", &id)]).await, format!("`{id}` was forgotten on 2 Mar 2026 by Ann."));
    assert!(stage.command("search", &[("words", "vault code")]).await.starts_with("I remember nothing about that here."));
    assert!(!stage.answer_to("what is the vault code?").await.contains("taught me"));
    assert!(stage.command("forget", &[("id", &id)]).await.contains(&format!("`{id}` was forgotten before.")));
    // Once more the same words are a new memory.
    assert_ne!(id_in(&stage.answer_to("remember: the vault code is zq4711").await), id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_terminal_teaches_searches_shows_and_forgets_what_is_public() {
    let stage = Stage::start(Backing::Sqlite, None).await;
    let terminal = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_teamroom"));
        command.arg("memory").args(args).current_dir(stage.team.dir.path()).env_clear();
        let output = command.env("DATABASE_URL", stage.team.config.database_url.expose_secret()).output().unwrap();
        let said = if output.status.success() { output.stdout } else { output.stderr };
        String::from_utf8_lossy(&said).trim().to_owned()
    };
    stage.private_answer_to("remember: Bob's present is a deployable kite").await;
    let taught: Value = serde_json::from_str(&terminal(&["teach", "We deploy on Thursdays.", "--json"])).unwrap();
    let id = taught["id"].as_str().unwrap();
    let found = terminal(&["search", "when do we deploy?"]);
    assert!(found.contains("We deploy on Thursdays.") && found.contains("the command line") && !found.contains("kite"), "{found}");
    assert!(stage.answer_to("when do we deploy?").await.starts_with("the command line taught me on 2"), "by its own clock");
    assert!(terminal(&["show", id]).contains("Told everywhere."));
    assert!(terminal(&["forget", id]).starts_with("Forgotten for good ("));
    assert!(terminal(&["show", id]).contains("was forgotten on"));
    let store = Store::open_shared(&stage.team.config.database_url, stage.team.clock.now()).await.unwrap();
    assert!(store.list_taught(&Scope::TEAM, 9).await.unwrap().is_empty());
}

async fn a_persona_forgets_what_its_asker_taught_once_the_person_allows_it(backing: Backing) {
    let stage = Stage::start(backing, Some(ProviderKind::OpenAi)).await;
    let id = id_in(&stage.answer_to("remember: we deploy on Thursdays").await);
    stage.team.model.on(move |asked| match asked.tool_results() {
        _ if asked.schema.is_some() => Script::Json(serde_json::json!({"acts": []})),
        0 => Script::call("memory_forget", serde_json::json!({"id": id, "text": "we deploy on Thursdays"})),
        _ => Script::say("One moment."),
    });
    stage.team.say(HERE, "kelly, you need not keep the day of our releases any more").await;
    let question = || async { stage.team.answers(HERE).await.into_iter().find(|answer| answer.text.starts_with("May I forget")) };
    eventually("Ann is asked", || async { question().await.is_some() }).await;
    let question = question().await.expect("a question");
    assert!(question.text.starts_with("May I forget this for good? we deploy on Thursdays\n"), "{}", question.text);
    press(&stage.team, HERE, &question, |button| button["label"] == "Yes, do it").await;
    let gone = async || count(&stage.team, "SELECT COUNT(*) FROM memories WHERE text LIKE '%Thursdays%'").await == 0;
    eventually("it is forgotten", || async { gone().await }).await;
}
