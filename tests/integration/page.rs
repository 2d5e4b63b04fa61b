//! The chat page in headless Chromium (`tests/page/`), against a sandbox in this process.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use teamroom::sandbox::{BotAccount, Options, Sandbox};
use tokio::process::Command;

use crate::support::skip;

/// The steps take well under a minute; a busy machine gets its time.
const PATIENCE: Duration = Duration::from_mins(5);
const FILES: [&str; 5] = ["package.json", "package-lock.json", "page.mjs", "bot.mjs", "looks.mjs"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_takes_part_through_the_chat_page() {
    let chromium = std::env::var_os("CHROMIUM").map_or_else(|| "/usr/bin/chromium".to_owned(), |path| path.to_string_lossy().into_owned());
    if !Path::new(&chromium).exists() {
        return skip::missing("chromium", &format!("there is no {chromium}; install Chromium or set CHROMIUM"));
    }
    let folder = match install().await {
        Ok(folder) => folder,
        Err(why) => return skip::missing("chromium", &why),
    };
    let state = tempfile::tempdir().expect("a folder for the state");
    let mut options = Options::new(state.path());
    options.people = vec!["You".to_owned(), "Ada".to_owned()];
    options.bots = [("Kelly", 0x003f_7cac), ("Vince", 0x00d0_8c2f), ("Sentinel", 0x002b_8a9e)].map(bot).to_vec();
    let sandbox = Sandbox::start(options).await.expect("the sandbox starts");

    let shots = folder.join("screenshots");
    let run = Command::new("node")
        .arg("page.mjs")
        .arg(sandbox.page_url())
        .arg(&shots)
        .env("CHROMIUM", &chromium)
        .current_dir(&folder)
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(PATIENCE, run).await.expect("the page test ends in time").expect("node starts");
    sandbox.stop().await;

    println!("screenshots: {}", shots.display());
    let said = render(&output);
    assert!(output.status.success(), "the page test failed:\n{said}");
    assert!(said.contains("\nok: "), "the page test says that all steps are ok:\n{said}");
}

fn bot((name, color): (&str, u32)) -> BotAccount {
    BotAccount { slug: name.to_lowercase(), name: name.to_owned(), color: Some(color), intents_content: true }
}

/// Puts the scripts into `target/clients/page` and installs what they import, once.
async fn install() -> Result<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = root.join("target/clients/page");
    std::fs::create_dir_all(&folder).expect("target can be written");
    for file in FILES {
        std::fs::copy(root.join("tests/page").join(file), folder.join(file)).expect("the scripts are in tests/page");
    }
    if folder.join("node_modules/playwright-core").exists() && folder.join("node_modules/ws").exists() {
        return Ok(folder);
    }
    let npm =
        Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(&folder).stdin(Stdio::null()).kill_on_drop(true).output();
    match tokio::time::timeout(PATIENCE, npm).await {
        Ok(Ok(output)) if output.status.success() => Ok(folder),
        Ok(Ok(output)) => Err(format!("npm could not install playwright-core: {}", render(&output))),
        Ok(Err(error)) => Err(format!("npm does not start: {error}")),
        Err(_) => Err("npm did not finish in time".to_owned()),
    }
}

fn render(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
