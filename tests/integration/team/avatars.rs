//! The pictures of a team with a real store, over a restart.

use std::time::Duration;

use sandbox::Exchange;
use serde_json::Value;
use teamroom::store::Store;

use crate::support::team::{Backing, TestTeam, Wanted, eventually, on_both_stores};

on_both_stores!(accounts_and_webhooks_show_pictures_and_a_restart_uploads_none_again);

/// The numbers of uploaded avatars and emojis.
fn uploads(team: &TestTeam) -> (usize, usize) {
    let count = |method: &str, end: &str| {
        let is_it = |exchange: &&Exchange| matches!(exchange, Exchange::Rest(rest) if rest.method == method && rest.path.ends_with(end));
        team.sandbox().journal().iter().filter(is_it).count()
    };
    (count("PATCH", "/users/@me"), count("POST", "/emojis"))
}

/// Asks Vince, who has no token. Returns the picture of his answer.
async fn ask_vince(team: &TestTeam, count: usize) -> Value {
    team.say("general", "vince, hello").await;
    let answer = team.wait_for_answers("general", count).await.pop().expect("an answer");
    assert_eq!(answer.author, "Vince");
    answer.raw["author"]["avatar"].clone()
}

async fn accounts_and_webhooks_show_pictures_and_a_restart_uploads_none_again(backing: Backing) {
    let mut team = Wanted::on(backing)
        .tokens(|slug| slug != "vince")
        .sandbox(|options| (options.journal, options.have_pictures) = (true, false))
        .start()
        .await;
    let avatar = ask_vince(&team, 1).await;
    assert!(avatar.is_string(), "{avatar}");
    let with_token = team.roster.personas().len() - 1;
    let store = Store::open_shared(&team.config.database_url, team.clock.now()).await.expect("the store opens");
    let bots = team.sandbox().bots();
    for bot in bots.iter().filter(|bot| bot.slug != "vince") {
        let scope = format!("/users/{}/avatar", bot.id);
        eventually("the avatar is set", || async { store.find_registration(&scope).await.expect("read").is_some() }).await;
    }
    assert_eq!(uploads(&team), (with_token, 1));

    team.stop_app().await;
    team.start_app().await;
    assert_eq!(ask_vince(&team, 2).await, avatar);
    // Accounts check their avatars a second after the login.
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert_eq!(uploads(&team), (with_token, 1));
}
