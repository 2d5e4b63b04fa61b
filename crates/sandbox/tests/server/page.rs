//! The chat page in headless Chromium (`page/page.mjs`).

use sandbox::{BotAccount, Options, Sandbox};

use crate::support::browser;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_takes_part_through_the_chat_page() {
    let Some(browser) = browser::find(&["crates/sandbox/tests/page/page.mjs", "crates/sandbox/tests/page/bot.mjs"]).await else { return };
    let state = tempfile::tempdir().expect("a folder for the state");
    let mut options = Options::new(state.path());
    options.people = vec!["You".to_owned(), "Ada".to_owned()];
    options.bots = [("Kelly", 0x003f_7cac), ("Vince", 0x00d0_8c2f), ("Sentinel", 0x002b_8a9e)].map(bot).to_vec();
    let sandbox = Sandbox::start(options).await.expect("the sandbox starts");
    browser.run("page.mjs", &[&sandbox.page_url()]).await;
    sandbox.stop().await;
}

fn bot((name, color): (&str, u32)) -> BotAccount {
    BotAccount { slug: name.to_lowercase(), name: name.to_owned(), color: Some(color), intents_content: true }
}
