//! `kill -9` while audio is made, and before and after it is stored: posted once, and each part paid once.

use serde_json::{Value, json};

use super::stage::sounds;
use crate::support::command::give;
use crate::support::database::{allow, count, execute, forbid};
use crate::support::model::voice::Manner;
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, TestTeam, Wanted, eventually, on_both_stores};
use kernel::llm::settings::ProviderKind;

on_both_stores!(killed_while_audio_is_made_and_stored, killed_before_and_after_a_transcript_is_stored,);

const SPEAKS: [(&str, &str); 1] = [("TEAMROOM_MODELS_SPEECH", "model/tts-1")];
const HEARS: [(&str, &str); 1] = [("TEAMROOM_MODELS_TRANSCRIPTION", "model/whisper-1")];

/// Resets the open jobs as if they had never been tried. No process runs meanwhile.
const RESET: &str = "UPDATE jobs SET state = 'ready', holder = NULL, attempts = 0, crashes = 0, suspicions = 0,
    run_at = '2026-01-01T00:00:00+00:00' WHERE finished_at IS NULL";

async fn is_sent(team: &TestTeam) -> bool {
    let open = "SELECT (SELECT COUNT(*) FROM outbox WHERE state = 'pending') + (SELECT COUNT(*) FROM jobs WHERE state = 'running')";
    count(team, open).await == 0
}

async fn killed_while_audio_is_made_and_stored(backing: Backing) {
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).without_app().start().await;
    let posted = || async { sounds(&team.answers("general").await.into_iter().map(|shown| shown.raw).collect::<Vec<Value>>()).len() };

    // In the middle of the third part.
    team.model.speak_only(2);
    let process = TeamProcess::start(&team, &SPEAKS).await;
    give(&team, "general", "play", json!([{"type": 3, "name": "what", "value": "voices"}])).await;
    eventually("the third part hangs", || async { team.model.spoken().len() == 3 }).await;
    process.kill();
    execute(&team, RESET).await;

    // All is spoken, and the message cannot be stored.
    team.model.set_voice(Manner::Works);
    forbid(&team, "wall", "INSERT ON outbox", "NEW.id LIKE 'play-%'").await;
    let process = TeamProcess::start(&team, &SPEAKS).await;
    let failed = "SELECT COUNT(*) FROM jobs WHERE kind = 'play' AND attempts > 0 AND finished_at IS NULL";
    eventually("it stands before the message", || async { count(&team, failed).await == 1 }).await;
    process.kill();
    allow(&team, "wall").await;
    execute(&team, RESET).await;

    // The message is stored, and the process dies before anything else.
    let process = TeamProcess::start(&team, &SPEAKS).await;
    eventually("it is stored", || async { count(&team, "SELECT COUNT(*) FROM outbox WHERE id LIKE 'play-%'").await == 1 }).await;
    process.kill();
    let _process = TeamProcess::start(&team, &SPEAKS).await;
    eventually("it is posted", || async { posted().await > 0 }).await;
    eventually("nothing else is to be posted", || async { is_sent(&team).await }).await;
    assert_eq!(posted().await, 1);
    let spoken = team.model.spoken();
    let texts: std::collections::BTreeSet<&str> = spoken.iter().map(|said| said.text.as_str()).collect();
    assert_eq!((texts.len(), spoken.len()), (7, 8), "only the part that hung is asked for twice: {spoken:?}");
    assert_eq!(count(&team, "SELECT COUNT(*) FROM jobs WHERE kind = 'play'").await, 1);
}

async fn killed_before_and_after_a_transcript_is_stored(backing: Backing) {
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).without_app().start().await;
    team.model.hear_next("Vince, what is new?");

    // The words are stored with the file, but not in the message.
    forbid(&team, "wall", "UPDATE OF message ON inbox", "NEW.message LIKE '%what is new%'").await;
    let process = TeamProcess::start(&team, &HEARS).await;
    team.drop_file("general", "voice-message.ogg", vec![0x4f; 500], "").await;
    let stored = "SELECT COUNT(*) FROM files WHERE text = 'Vince, what is new?'";
    eventually("the words are stored", || async { count(&team, stored).await == 1 }).await;
    process.kill();
    allow(&team, "wall").await;

    // The decision cannot be stored.
    forbid(&team, "wall", "UPDATE OF decided_at ON inbox", "NEW.decided_at IS NOT NULL").await;
    let process = TeamProcess::start(&team, &HEARS).await;
    let reworded = "SELECT COUNT(*) FROM inbox WHERE message LIKE '%what is new%'";
    eventually("the message has its text", || async { count(&team, reworded).await == 1 }).await;
    process.kill();
    allow(&team, "wall").await;

    let _process = TeamProcess::start(&team, &HEARS).await;
    eventually("it is answered", || async { !team.answers("general").await.is_empty() }).await;
    eventually("nothing else is to be posted", || async { is_sent(&team).await }).await;
    let answers = team.answers("general").await;
    assert_eq!(answers.len(), 1, "{answers:#?}");
    assert!(answers[0].author == "Vince" && answers[0].text.contains("I heard: \"Vince, what is new?\""), "{answers:#?}");
    assert_eq!(team.model.heard().len(), 1, "transcribed once");
    assert_eq!(count(&team, "SELECT COUNT(*) FROM ledger WHERE purpose = 'voice'").await, 1);
    let prompt = team.model.requests().pop().unwrap().prompt();
    assert_eq!(prompt.matches("Vince, what is new?").count(), 1, "{prompt}");
}
