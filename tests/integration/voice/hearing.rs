//! Voice messages of people.

use std::time::Duration;

use kernel::llm::settings::ProviderKind;

use super::stage::named;
use crate::support::database::count;
use crate::support::model::Script;
use crate::support::model::voice::Manner;
use crate::support::team::{Backing, TestTeam, Wanted, eventually, on_one_store};

on_one_store!(
    a_voice_message_is_understood_and_answered_also_as_a_command,
    what_is_not_understood_is_told,
    those_who_are_not_listened_to_cost_nothing,
);

fn hears(backing: Backing) -> Wanted {
    Wanted::on(backing).model(ProviderKind::OpenAi).configure(|config| config.models.transcription = Some(named("whisper-1")))
}

async fn record(team: &TestTeam, name: &str, text: &str) {
    team.drop_file("general", name, vec![0x4f; 4000], text).await;
}

async fn a_voice_message_is_understood_and_answered_also_as_a_command(backing: Backing) {
    let team = hears(backing).start().await;
    team.model.on(|_| Script::say("understood"));
    team.model.hear_next("Vince, how many **commits** are there?");
    record(&team, "voice-message.ogg", "").await;
    let answers = team.wait_for_answers("general", 1).await;
    assert_eq!(answers[0].author, "Vince");
    assert_eq!(answers[0].text.lines().next(), Some("understood"), "{answers:#?}");
    assert!(answers[0].text.contains("-# I heard: \"Vince, how many ") && answers[0].text.contains("commits"), "{answers:#?}");
    let prompt = team.model.requests()[0].prompt();
    assert!(prompt.contains("- a voice message: voice-message.ogg, from "), "{prompt}");
    assert!(prompt.contains(", spoken: its words are in the message, and some may be misheard"), "{prompt}");
    assert!(prompt.contains("how many **commits** are there?"), "{prompt}");
    let heard = team.model.heard();
    assert!(
        heard.len() == 1 && heard[0].model == "whisper-1" && heard[0].bytes == 4000 && heard[0].file == "voice-message.ogg",
        "{heard:?}"
    );
    // Half a minute, as the endpoint says, at 0.006 dollars a minute.
    assert_eq!(count(&team, "SELECT CAST(SUM(cost) AS BIGINT) FROM ledger WHERE purpose = 'voice'").await, 3000);
    team.model.hear_next("remember: we deploy on Thursdays");
    record(&team, "voice-message.ogg", "").await;
    let said = || async { team.answers("general").await.into_iter().map(|shown| shown.text).collect::<Vec<_>>() };
    eventually("it is remembered, and shown what was heard", || async { said().await.len() >= 3 }).await;
    let said = said().await;
    assert!(said.iter().any(|text| text == "-# I heard: \"remember: we deploy on Thursdays\""), "{said:#?}");
    assert_eq!(count(&team, "SELECT COUNT(*) FROM memories WHERE text LIKE '%deploy on Thursdays%'").await, 1);
}

async fn what_is_not_understood_is_told(backing: Backing) {
    let team = hears(backing).configure(|config| config.models.first_byte_timeout = Duration::from_millis(500)).start().await;
    team.model.on(|_| Script::say("understood"));
    let cases = [
        (Manner::Refuses, "scripted does not accept the team's key"),
        (Manner::Hangs, "took too long"),
        (Manner::SendsRubbish, "I couldn't listen to voice-message.ogg"),
        (Manner::Works, "I heard no words in voice-message.ogg"),
    ];
    for (number, (manner, why)) in cases.into_iter().enumerate() {
        team.model.set_voice(manner);
        record(&team, "voice-message.ogg", "").await;
        let answers = team.wait_for_answers("general", number + 1).await;
        assert!(answers[number].author == "Kelly" && answers[number].text.contains(why), "{manner:?}: {answers:#?}");
    }
    // If the message also has words, the answer to them mentions the problem.
    team.drop_file("general", "voice-message.ogg", vec![0x4f; 9 * 1024 * 1024], "vince, what do you think?").await;
    let answers = team.wait_for_answers("general", cases.len() + 1).await;
    let last = &answers[cases.len()];
    assert!(last.author == "Vince" && last.text.contains("voice-message.ogg is too large: 9 MiB of at most 8 MiB"), "{last:?}");
    assert_eq!(team.model.heard().len(), cases.len());
}

async fn those_who_are_not_listened_to_cost_nothing(backing: Backing) {
    let team = hears(backing).configure(|config| config.chat.allowed_users = vec!["discord:1".into()]).start().await;
    record(&team, "voice-message.ogg", "").await;
    let decided = "SELECT COUNT(*) FROM inbox WHERE decided_at IS NOT NULL";
    eventually("it is decided", || async { count(&team, decided).await == 1 }).await;
    assert_eq!(team.model.heard().len(), 0);
    team.settle().await;
    let answers = team.answers("general").await;
    assert!(answers.iter().all(|shown| shown.text.starts_with("We answer only people on the allow list")), "{answers:#?}");
}
