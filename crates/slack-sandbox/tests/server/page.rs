//! The chat page in headless Chromium (`page/slack_page.mjs`).

use slack_sandbox::{About, AboutPersona, AppConfig, Clock, Shortcut, ShortcutKind};

use super::harness::start_with;
use crate::support::browser;

const SCRIPTS: [&str; 2] = ["crates/slack-sandbox/tests/page/slack_page.mjs", "crates/slack-sandbox/tests/page/slack_bot.mjs"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_takes_part_through_the_chat_page() {
    let Some(browser) = browser::find(&SCRIPTS).await else { return };
    let world = start_with(|options| {
        options.clock = Clock::system();
        let why = Shortcut { name: "Say why".to_owned(), callback_id: "why".to_owned(), kind: ShortcutKind::Message };
        options.apps = vec![AppConfig { commands: vec!["/team".to_owned()], shortcuts: vec![why], ..AppConfig::new("team", "Teamroom") }];
    })
    .await;
    let persona = |slug: &str, name: &str, role: &str| AboutPersona { slug: slug.to_owned(), name: name.to_owned(), role: role.to_owned() };
    let personas = vec![persona("kelly", "Kelly", "Coordinator"), persona("vince", "Vince", "Engineer")];
    world.slack.set_about(About { personas, ..About::default() });
    browser.run("slack_page.mjs", &[&world.slack.page_url()]).await;
    world.slack.stop().await;
}
