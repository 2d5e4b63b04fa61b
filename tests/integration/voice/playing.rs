//! A result is heard: once made, in the voice of each speaker, with chapters, and paid once.

use std::collections::BTreeSet;

use kernel::llm::settings::SpeechSetting;
use kernel::money::Money;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use tokio::process::Command;

use super::stage::{
    CHAPTERS, STANDUP, chapters, download, find_play, hold_standup, is_play, named, sounds, thread, titles, wait_for_sound, wanted,
};
use crate::support::command::{invoke, press, press_as};
use crate::support::database::count;
use crate::support::team::{Backing, Wanted, eventually, on_both_stores, on_one_store};

on_both_stores!(pressed_by_two_at_once_it_is_made_once);
on_one_store!(
    a_standup_is_heard_with_a_chapter_for_each_speaker,
    no_secret_is_spoken_and_what_was_spoken_before_costs_nothing,
    without_an_engine_there_is_no_button_and_the_command_says_what_to_do,
    the_voices_are_heard_by_command_and_by_elevenlabs,
    at_the_terminal_a_file_is_written,
    a_long_meeting_is_cut_and_says_so,
);

async fn a_standup_is_heard_with_a_chapter_for_each_speaker(backing: Backing) {
    let team = wanted(backing).start().await;
    let report = hold_standup(&team).await;
    press(&team, STANDUP, &report, is_play).await;
    let message = wait_for_sound(&team, &report).await;
    let text = message["content"].as_str().unwrap();
    assert!(text.starts_with("**Standup of ") && text.ends_with("8 chapters"), "{text}");
    let file = download(&message).await;
    let found = chapters(&file);
    assert_eq!(found.iter().map(|(_, title)| title.as_str()).collect::<Vec<_>>(), CHAPTERS);
    assert_eq!(found[0].0, "00:00:00.000");
    assert!(found.is_sorted_by(|one, next| one.0 < next.0), "{found:?}");
    assert!(file.len() < 1024 * 1024, "{} bytes", file.len());

    let spoken = team.model.spoken();
    let voices: BTreeSet<_> = spoken.iter().map(|said| said.voice.as_str()).collect();
    assert_eq!(voices.len(), 7, "{voices:?}");
    for said in &spoken {
        assert!(!said.text.contains(['*', '`', '#', '|', '<']) && !said.text.contains("://"), "{said:?}");
    }
    let paid = count(&team, "SELECT COUNT(*) FROM ledger WHERE purpose = 'voice' AND outcome = 'answered' AND cost > 0").await;
    assert_eq!(usize::try_from(paid).unwrap(), spoken.len());
    let characters: usize = spoken.iter().map(|said| said.text.chars().count()).sum();
    let cost = count(&team, "SELECT CAST(SUM(cost) AS BIGINT) FROM ledger WHERE purpose = 'voice'").await;
    assert_eq!(Money(cost), Money(15 * i64::try_from(characters).unwrap()), "15 dollars a million characters");
}

async fn pressed_by_two_at_once_it_is_made_once(backing: Backing) {
    let team = wanted(backing).sandbox(|options| options.people = vec!["Ann".into(), "Bob".into()]).start().await;
    let report = hold_standup(&team).await;
    tokio::join!(
        press(&team, STANDUP, &report, is_play),
        press_as(&team, 1, STANDUP, &report, is_play),
        press(&team, STANDUP, &report, is_play),
    );
    wait_for_sound(&team, &report).await;
    let paid = team.model.spoken().len();
    press_as(&team, 1, STANDUP, &report, is_play).await;
    let told = invoke(&team, STANDUP, "play", json!([{"type": 3, "name": "what", "value": "standup"}])).await;
    assert!(told["content"].as_str().unwrap().contains("is already in its thread"), "{told}");
    team.settle().await;
    assert_eq!(sounds(&thread(&team, &report).await).len(), 1);
    assert_eq!((team.model.spoken().len(), count(&team, "SELECT COUNT(*) FROM jobs WHERE kind = 'play'").await), (paid, 1));
}

async fn no_secret_is_spoken_and_what_was_spoken_before_costs_nothing(backing: Backing) {
    let team = wanted(backing)
        .personas(|personas| {
            let kelly = personas.iter_mut().find(|persona| persona.coordinator).unwrap();
            kelly.voice.sample = Some("The key is sk-scripted-0123456789abcdef, as ever.".into());
        })
        .start()
        .await;
    let voices = json!([{"type": 3, "name": "what", "value": "voices"}]);
    for (place, channel) in ["general", "ops"].into_iter().enumerate() {
        invoke(&team, channel, "play", voices.clone()).await;
        eventually("it is posted", || async {
            sounds(&team.answers(channel).await.into_iter().map(|shown| shown.raw).collect::<Vec<Value>>()).len() == 1
        })
        .await;
        assert_eq!(team.model.spoken().len(), 7, "in channel {place}");
    }
    let spoken = team.model.spoken();
    assert!(spoken.iter().any(|said| said.text.contains("as ever")), "{spoken:?}");
    assert!(spoken.iter().all(|said| !said.text.contains("0123456789")), "{spoken:?}");
}

async fn without_an_engine_there_is_no_button_and_the_command_says_what_to_do(backing: Backing) {
    let team = wanted(backing).configure(|config| config.models.speech = SpeechSetting::Off).start().await;
    let report = hold_standup(&team).await;
    assert_eq!(find_play(&report), None);
    let told = invoke(&team, STANDUP, "play", json!([{"type": 3, "name": "what", "value": "standup"}])).await;
    let told = told["content"].as_str().unwrap();
    assert!(told.contains("Install espeak-ng") && told.contains("models.speech"), "{told}");
}

async fn the_voices_are_heard_by_command_and_by_elevenlabs(backing: Backing) {
    let team = wanted(backing)
        .configure(|config| {
            config.models.providers[0].kind = kernel::llm::settings::ProviderKind::ElevenLabs;
            config.models.speech = SpeechSetting::Model(named("eleven_flash_v2_5"));
        })
        .start()
        .await;
    invoke(&team, "general", "play", json!([{"type": 3, "name": "what", "value": "voices"}])).await;
    let find = || async { sounds(&team.answers("general").await.into_iter().map(|shown| shown.raw).collect::<Vec<Value>>()) };
    eventually("it is posted", || async { find().await.len() == 1 }).await;
    let file = download(&find().await[0]).await;
    let names: Vec<String> = team.roster.personas().iter().map(|persona| persona.name.clone()).collect();
    assert_eq!(titles(&file), names);
    assert!(team.model.spoken().iter().all(|said| said.model == "eleven_flash_v2_5" && said.voice.len() == 20));
    assert_eq!(team.config.models.list_unpriced(), Vec::<String>::new(), "a model on this machine costs nothing");
}

async fn at_the_terminal_a_file_is_written(backing: Backing) {
    let team = wanted(backing).start().await;
    hold_standup(&team).await;
    let run = async |args: &[&str], speech: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_teamroom"));
        command.args(args).current_dir(team.dir.path()).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("DATABASE_URL", team.config.database_url.expose_secret());
        command.env("TEAMROOM_MODEL_URL", team.model.base_url()).env("TEAMROOM_MODEL", "scripted-1");
        command.env("TEAMROOM_MODELS_SPEECH", speech).output().await.unwrap()
    };
    let output = run(&["play", "standup", "--output", "said.ogg", "--json"], "model/tts-1").await;
    assert!(output.status.success(), "{output:?}");
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let listed: Vec<&str> = told["chapters"].as_array().unwrap().iter().map(|chapter| chapter["title"].as_str().unwrap()).collect();
    assert_eq!(listed, CHAPTERS);
    assert_eq!(titles(&std::fs::read(team.path("said.ogg")).unwrap()), CHAPTERS);
    let output = run(&["play", "standup"], "off").await;
    assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains("Install espeak-ng"), "{output:?}");
}

async fn a_long_meeting_is_cut_and_says_so(backing: Backing) {
    let long = |wanted: Wanted| {
        wanted.configure(|config| {
            let mut settings: teamroom::features::voice::VoiceSettings = config.features.get();
            settings.characters = 200;
            config.features.set(settings);
        })
    };
    let team = long(wanted(backing)).start().await;
    let report = hold_standup(&team).await;
    press(&team, STANDUP, &report, is_play).await;
    let message = wait_for_sound(&team, &report).await;
    let text = message["content"].as_str().unwrap();
    assert!(text.contains("It was too long: ") && text.contains("left out."), "{text}");
    let spoken: usize = team.model.spoken().iter().map(|said| said.text.chars().count()).sum();
    assert!(spoken < 300, "{spoken} characters");
    let found = titles(&download(&message).await);
    assert!(found.len() < CHAPTERS.len() && found.first() == found.last(), "{found:?}");
}
