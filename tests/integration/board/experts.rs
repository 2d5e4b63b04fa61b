//! Experts from files: guests of board meetings, and of nothing else.

use kernel::ids::MeetingId;
use kernel::persona::expert;
use kernel::persona::roster::Roster;
use serde_json::json;
use teamroom::features::meeting::model::MeetingState;
use tokio::sync::watch;

use super::stage::{
    HERE, Play, QUESTION, board_of, comes_to, command, comment, document, file, hears, is_turn, lines, open, speaker_of, thread, turn,
};
use crate::backlog::stage::{Setting, Stage};
use crate::support::command::{invoke, text};
use crate::support::team::{Backing, eventually, on_one_store};

on_one_store!(
    an_expert_speaks_as_a_guest_under_the_own_name_and_answers_nobody_in_chat,
    an_expert_is_chosen_who_fits_the_question,
    whose_file_is_gone_is_told_once_and_the_others_go_on,
    one_who_is_left_alone_ends_it,
);

const ADA: &str =
    "---\nname: Ada Byron\nexpertise: [PostgreSQL, backups]\ntier: t2\n---\nYou have restored every backup that you ever made.\n";

/// Starts the team again with these experts.
async fn restart_with(stage: &mut Stage, experts: &[(&str, &str)]) {
    let dir = stage.team.path("experts");
    std::fs::create_dir_all(&dir).unwrap();
    for (name, text) in experts {
        std::fs::write(dir.join(name), text).unwrap();
    }
    let loaded = expert::load(&dir, &stage.team.roster);
    assert!(loaded.refused.is_empty(), "{:?}", loaded.refused);
    let team = Roster::new(stage.team.roster.personas().to_vec()).unwrap();
    stage.team.stop_app().await;
    stage.team.roster = team.with_experts(loaded.experts);
    stage.team.start_app().await;
}

fn with_ada(who: &str, round: u32) -> serde_json::Value {
    match (who, round) {
        ("Ada Byron", 1) => turn("stay", &[comment("risk", "A restore of that size was tried by nobody here.", None)]),
        ("Ada Byron", _) => turn("stay", &[]),
        _ => lines(who, round),
    }
}

async fn an_expert_speaks_as_a_guest_under_the_own_name_and_answers_nobody_in_chat(backing: Backing) {
    let mut stage = open(Setting::on(backing), Play::with_lines(with_ada)).await;
    restart_with(&mut stage, &[("ada.md", ADA)]).await;
    let listed = command(&stage, "experts", &[]).await;
    assert!(listed.contains("- **Ada Byron** (`ada`): PostgreSQL and backups"), "{listed}");
    let team = invoke(&stage.team, HERE, "team", json!([{"type": 1, "name": "list", "options": []}])).await;
    assert!(text(&team).contains("Experts for board meetings: Ada Byron"), "{team}");

    command(&stage, "create", &[("topic", json!(QUESTION)), ("team", json!("vince, solus, ada"))]).await;
    let meeting = comes_to(&stage.store, MeetingState::Done).await;
    let card = document(&stage.team, &stage.store, &meeting.id).await;
    let said = thread(&stage.team, &stage.store, &meeting.id).await;
    let ada: Vec<_> = said.iter().filter(|shown| shown.author == "Ada Byron").collect();
    assert!(ada[0].text.starts_with("**stay** (70 % sure)") && ada[0].text.contains("`1.3.1` Risk: A restore"), "{said:#?}");
    assert!(ada[0].raw["webhook_id"].is_string() && ada[0].raw["author"]["avatar"].is_string(), "{:#}", ada[0].raw);
    assert!(said.iter().any(|shown| shown.text.contains("- Ada Byron, a guest, was asked to take part")), "{said:#?}");
    let asked = stage.team.model.requests();
    let of_ada: Vec<_> = asked.iter().filter(|asked| is_turn(asked) && speaker_of(asked).0 == "Ada Byron").collect();
    assert!(of_ada.iter().all(|asked| asked.prompt().contains("You are a guest") && asked.tools.is_empty()), "{of_ada:#?}");
    assert!(of_ada[0].system.contains("You have restored every backup"), "{}", of_ada[0].system);
    assert!(!asked.iter().any(|asked| asked.system.contains("- Ada Byron:")), "nobody takes her for one of the team");
    let text = file(&card).await;
    assert!(text.contains("- Ada Byron, a guest, was asked to take part") && text.contains("Ada Byron (stay)"), "{text}");

    // She is no persona: nobody can talk to her, give her work, or store memories about her.
    stage.team.say(HERE, "ada, how are you?").await;
    stage.team.say(HERE, "@Ada Byron what do you think?").await;
    eventually("somebody else answers", || async { stage.team.answers(HERE).await.iter().any(|shown| shown.text == "It goes well.") })
        .await;
    assert!(!stage.team.answers(HERE).await.iter().any(|shown| shown.author == "Ada Byron"));
    let refused = invoke(
        &stage.team,
        HERE,
        "backlog",
        json!([{"type": 1, "name": "add", "options": [
            {"type": 3, "name": "what", "value": "Restore a backup"}, {"type": 3, "name": "owner", "value": "Ada Byron"}]}]),
    )
    .await;
    let items = stage.list().await;
    assert!(items.iter().all(|item| item.persona.as_ref().is_none_or(|owner| owner.as_str() != "ada")), "{refused} {items:#?}");
    let told = command(&stage, "create", &[("topic", json!(QUESTION)), ("team", json!("vince, adda"))]).await;
    assert!(told.contains("adda") && told.contains("Ada Byron"), "{told}");
}

async fn an_expert_is_chosen_who_fits_the_question(backing: Backing) {
    let mut stage = open(Setting::on(backing), Play::with_lines(with_ada)).await;
    let gardener = "---\nname: Gardener\nexpertise: [gardens]\n---\nYou grow roses.\n";
    restart_with(&mut stage, &[("ada.md", ADA), ("gardener.md", gardener)]).await;
    let told = command(&stage, "create", &[("topic", json!(QUESTION))]).await;
    assert!(told.contains("Ada Byron") && !told.contains("Gardener"), "{told}");
    let meeting = comes_to(&stage.store, MeetingState::Done).await;
    let ada = board_of(&meeting).members.into_iter().find(|member| member.guest.is_some()).expect("she is taken");
    assert_eq!((ada.persona.as_str(), ada.why.as_str()), ("ada", "knows about PostgreSQL"));
    hears(&stage.team, &stage.store, &meeting.id, "- Ada Byron, a guest, knows about PostgreSQL").await;
}

/// Brings a meeting to its second round, where the file of Ada is gone.
async fn without_ada(backing: Backing, team: &str) -> (Stage, MeetingId) {
    let (may, held) = watch::channel(false);
    let mut stage = open(Setting::on(backing), Play { held: Some(("Vince", 2, held)), ..Play::with_lines(with_ada) }).await;
    restart_with(&mut stage, &[("ada.md", ADA)]).await;
    command(&stage, "create", &[("topic", json!(QUESTION)), ("team", json!(team))]).await;
    let meeting = comes_to(&stage.store, MeetingState::Running).await;
    eventually("the second round has begun", || async {
        stage.team.model.requests().iter().any(|asked| is_turn(asked) && speaker_of(asked) == ("Vince".to_owned(), 2))
    })
    .await;
    std::fs::remove_file(stage.team.path("experts").join("ada.md")).unwrap();
    restart_with(&mut stage, &[]).await;
    may.send(true).unwrap();
    comes_to(&stage.store, MeetingState::Done).await;
    (stage, meeting.id)
}

async fn whose_file_is_gone_is_told_once_and_the_others_go_on(backing: Backing) {
    let (stage, meeting) = without_ada(backing, "vince, solus, ada").await;
    let text = file(&document(&stage.team, &stage.store, &meeting).await).await;
    let said = thread(&stage.team, &stage.store, &meeting).await;
    let told = "Ada Byron takes no further part: there is no file for this expert any more. The others go on.";
    assert_eq!(said.iter().filter(|shown| shown.text.contains(told)).count(), 1, "{said:#?}");
    // What she said before still counts.
    assert!(text.contains("`1.3.1` Ada Byron, risk: A restore of that size") && text.contains("Over after 3 rounds"), "{text}");
}

async fn one_who_is_left_alone_ends_it(backing: Backing) {
    let (stage, meeting) = without_ada(backing, "vince, ada").await;
    let text = file(&document(&stage.team, &stage.store, &meeting).await).await;
    assert!(text.contains("Over after 2 rounds: all but one have left the team."), "{text}");
}
