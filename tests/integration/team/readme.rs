//! What the README says that people can write, written.

use std::path::Path;

use crate::support::team::{Backing, Wanted, eventually, on_one_store};

on_one_store!(each_sentence_of_the_readme_does_what_it_says);

/// A part of the answer without a model. None where a model or a file is needed.
const ANSWERS: [(&str, Option<&str>); 10] = [
    ("vince, what do we cost?", Some("**today**: $0.00")),
    ("what happened this week?", Some("generated without AI")),
    ("ask Vince what he thinks about our costs", Some("**Vince** answers")),
    ("kelly, add to the backlog: renew the certificate", Some("Added to the backlog: renew the certificate")),
    ("kelly, build this", None),
    ("remind me tomorrow at 9 to pay the hosting bill", Some("I'll remind you on ")),
    ("remember: we deploy on Thursdays", Some("I'll remember that")),
    ("let's do a standup", Some("**Shared page**")),
    ("let's discuss this and give me a recommendation: should we …?", None),
    ("stop", Some("Stopped.")),
];

/// The sentences in the first column of the table.
fn list_sentences() -> Vec<String> {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).expect("README.md");
    let table = readme.split("\n## Talk to the team\n").nth(1).and_then(|rest| rest.split("\n## ").next()).expect("the section");
    let rows = table.lines().filter_map(|line| line.strip_prefix("| *"));
    rows.map(|row| row.split('*').next().expect("the sentence").to_owned()).collect()
}

async fn each_sentence_of_the_readme_does_what_it_says(backing: Backing) {
    let sentences = list_sentences();
    assert_eq!(sentences, ANSWERS.map(|(sentence, _)| sentence), "the README has other sentences than this story");
    let team = Wanted::on(backing).start().await;
    for (sentence, answer) in ANSWERS {
        let Some(answer) = answer else { continue };
        let said = team.say("general", sentence).await;
        eventually(&format!("\"{sentence}\" is answered with \"{answer}\""), || async {
            team.answers_after("general", &said).await.iter().any(|shown| shown.raw.to_string().contains(answer))
        })
        .await;
    }
}
