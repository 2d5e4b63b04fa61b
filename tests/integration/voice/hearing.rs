//! Voice messages of people.

use std::time::Duration;

use kernel::llm::Sound;
use kernel::llm::settings::ProviderKind;

use super::stage::named;
use crate::support::database::count;
use crate::support::model::Script;
use crate::support::model::voice::Manner;
use crate::support::team::{Backing, TestTeam, Wanted, eventually, on_one_store};

on_one_store!(
    a_voice_message_is_understood_and_answered_also_as_a_command,
    what_is_not_understood_is_told,
    silence_and_noise_are_not_sent_to_a_model,
    made_up_words_do_nothing_and_real_ones_count_on_any_server,
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
        (Manner::Works, "I heard nothing in voice-message.ogg"),
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

/// Two seconds of silence or of noise, as a file.
fn quiet(level: i32) -> Vec<u8> {
    let samples = (0..32_000_i32).map(|at| i16::try_from(at * 7919 % 101 * level / 101).unwrap_or_default());
    Sound { rate: 16_000, samples: samples.collect() }.to_wav()
}

async fn silence_and_noise_are_not_sent_to_a_model(backing: Backing) {
    let team = hears(backing).start().await;
    team.model.on(|_| Script::say("understood"));
    // The model would hear a reminder in silence. It is not asked.
    for (number, recording) in [quiet(0), quiet(60), quiet(4000)].into_iter().enumerate() {
        team.model.hear_next("Remind me tomorrow at nine to pay the bill.");
        team.drop_file("general", "voice-message.wav", recording, "").await;
        let answers = team.wait_for_answers("general", number + 1).await;
        assert!(answers[number].text.contains("I heard nothing in voice-message.wav"), "{answers:#?}");
    }
    assert_eq!((team.model.heard().len(), team.model.requests().len()), (0, 0));
    let all = count(&team, "SELECT COUNT(*) FROM ledger").await;
    assert_eq!(all, 0, "silence costs nothing");
}

async fn made_up_words_do_nothing_and_real_ones_count_on_any_server(backing: Backing) {
    let team = hears(backing).start().await;
    team.model.on(|_| Script::say("understood"));
    // Of a format that is not looked into, the server says how likely it is that nobody speaks.
    for (number, (words, nobody, sure)) in
        [("Remind me tomorrow at nine to pay the bill.", 0.8, -0.9), ("Thanks for watching!", 0.4, -0.3)].into_iter().enumerate()
    {
        team.model.hear_next_unsurely(words, nobody, sure);
        record(&team, "voice-message.ogg", "").await;
        let answers = team.wait_for_answers("general", number + 1).await;
        assert!(answers[number].text.contains("I heard nothing in voice-message.ogg"), "{answers:#?}");
    }
    assert_eq!(count(&team, "SELECT COUNT(*) FROM reminders").await, 0);
    team.model.hear_next_unsurely("Vince, how many commits are there?", 0.05, -0.2);
    record(&team, "voice-message.ogg", "").await;
    let answers = team.wait_for_answers("general", 3).await;
    assert!(answers[2].author == "Vince" && answers[2].text.contains("I heard: \"Vince"), "{answers:#?}");
    // Another server knows only the words.
    team.model.set_voice(Manner::IsPlain);
    team.model.hear_next("Vince, how many commits are there now?");
    record(&team, "voice-message.ogg", "").await;
    let answers = team.wait_for_answers("general", 4).await;
    assert!(answers[3].author == "Vince" && answers[3].text.contains("there now?"), "{answers:#?}");
    team.model.hear_next("Thank you.");
    record(&team, "voice-message.ogg", "").await;
    let answers = team.wait_for_answers("general", 5).await;
    assert!(answers[4].text.contains("I heard nothing in voice-message.ogg"), "{answers:#?}");
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
