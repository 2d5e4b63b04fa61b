//! Invalid input: each gets a clear answer, and other messages continue.

use std::process::Command;

use kernel::llm::settings::ProviderKind;

use crate::support::model::Script;
use crate::support::team::{Backing, Wanted, eventually, on_one_store};

on_one_store!(
    a_long_document_is_answered_and_a_long_answer_goes_as_a_file,
    neither_hidden_marks_nor_an_impostor_change_who_answers,
    everyone_in_a_models_answer_pings_nobody,
    a_path_for_a_name_a_huge_file_and_bytes_that_are_no_text_do_no_harm,
    a_wrong_token_costs_one_identity_and_is_told,
);

async fn a_long_document_is_answered_and_a_long_answer_goes_as_a_file(backing: Backing) {
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).start().await;
    team.model.on(|_| Script::say("A long line of the answer.\n".repeat(4000)));
    let document = "All work and no play.\n".repeat(100_000 / 22 + 1);
    team.drop_file("general", "message.txt", format!("vince, read this\n{document}").into_bytes(), "").await;
    let answer = team.wait_for_answers("general", 1).await.remove(0);
    assert_eq!(answer.author, "Vince");
    assert_eq!(answer.raw["attachments"].as_array().map(Vec::len), Some(1), "{}", answer.text);
    assert!(answer.text.contains("is in the file"), "{}", answer.text);
    assert!(team.model.requests()[0].prompt().len() < 60_000, "the prompt is not bounded");
}

async fn neither_hidden_marks_nor_an_impostor_change_who_answers(backing: Backing) {
    let team = Wanted::on(backing).sandbox(|options| options.people = vec!["Vince".into()]).start().await;
    team.say("general", "kelly, hello").await;
    assert_eq!(team.wait_for_answers("general", 1).await[0].author, "Kelly");
    team.say("general", "v\u{200b}in\u{200d}ce\u{202e}, are you here?").await;
    let answer = team.wait_for_answers("general", 2).await.remove(1);
    assert_eq!((answer.author.as_str(), answer.is_bot), ("Vince", true));
}

async fn everyone_in_a_models_answer_pings_nobody(backing: Backing) {
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).start().await;
    let person = team.sandbox().people()[0].id.clone();
    team.model.on(move |_| Script::say(format!("@everyone @here <@{person}> wake up")));
    team.say("general", "vince, who should know?").await;
    let answer = team.wait_for_answers("general", 1).await.remove(0);
    assert_eq!(answer.raw["mention_everyone"], false);
    assert_eq!(answer.raw["mentions"], serde_json::json!([]));
}

async fn a_path_for_a_name_a_huge_file_and_bytes_that_are_no_text_do_no_harm(backing: Backing) {
    let team = Wanted::on(backing).start().await;
    let refused = team.try_drop_file("general", "huge.txt", vec![b'a'; 50 * 1024 * 1024], "kelly, who is on the team?").await;
    assert_eq!(refused.expect_err("the platform takes no 50 MB")["code"], 40005);
    let files = [
        ("../../x.md", b"# Harbour\nThe harbour opens in May.\n".to_vec()),
        ("big.txt", vec![b'a'; 5 * 1024 * 1024]),
        ("notes.md", (0..=255).cycle().take(4096).collect()),
    ];
    team.drop_files("general", &files, "kelly, when does the harbour open?").await;
    let answer = team.wait_for_answers("general", 1).await.remove(0).text;
    assert!(answer.contains("May") && !answer.contains(".."), "{answer}");
    assert!(
        answer.contains("-# big.txt is too large: 5 MiB of at most 1 MiB.") && answer.contains("notes.md is not a text file"),
        "{answer}"
    );
    assert!(!team.path("../x.md").exists());
}

async fn a_wrong_token_costs_one_identity_and_is_told(backing: Backing) {
    let team = Wanted::on(backing)
        .configure(|config| {
            config.discord.tokens.insert("oracle".into(), "sandbox.1.wrong".to_owned().into());
        })
        .start()
        .await;
    eventually("the ops channel knows", || async { team.answers("ops").await.iter().any(|told| told.text.contains("Oracle")) }).await;
    assert_eq!(team.answers("ops").await.len(), 1, "told once");
    team.say("general", "kelly, hello").await;
    team.say("general", "oracle, hello").await;
    let mut authors: Vec<_> = team.wait_for_answers("general", 2).await.into_iter().map(|answer| answer.author).collect();
    authors.sort_unstable();
    assert_eq!(authors, ["Kelly", "Oracle"], "without its account a persona speaks through a webhook");
}

#[test]
fn a_broken_persona_file_and_an_unknown_key_are_told_with_place_and_reason() {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("teamroom.toml"), "[chat]\ncoalesc_ms = 5\nmax_responders = \"many\"\n").expect("a file");
    let output = Command::new(env!("CARGO_BIN_EXE_teamroom")).arg("doctor").current_dir(dir.path()).env_clear().output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(!output.status.success());
    for part in ["FAIL", "teamroom.toml", "coalesc_ms", "coalesce_ms", "max_responders"] {
        assert!(said.contains(part), "{part} is missing: {said}");
    }
}

#[test]
fn no_write_access_to_the_database_is_told_with_its_path() {
    let dir = tempfile::tempdir().expect("a directory");
    let url = "sqlite:/proc/no/such/place/team.db";
    let output = Command::new(env!("CARGO_BIN_EXE_teamroom"))
        .args(["sandbox", "--json", "--port", "0"])
        .current_dir(dir.path())
        .env_clear()
        .env("DATABASE_URL", url)
        .output()
        .expect("it runs");
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("/proc/no/such/place"), "{said}");
}
