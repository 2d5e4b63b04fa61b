//! Headless Chromium, driven by the scripts in `tests/page/`.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use tokio::process::Command;
use tokio::sync::OnceCell;

use super::skip;

/// A script takes well under a minute; a busy machine gets its time.
const PATIENCE: Duration = Duration::from_mins(5);
const FILES: [&str; 6] = ["package.json", "package-lock.json", "page.mjs", "board.mjs", "bot.mjs", "looks.mjs"];

/// The browser and the folder with the scripts and what they import.
pub(crate) struct Browser {
    chromium: String,
    folder: PathBuf,
}

/// None, after a loud word, where there is no browser or nothing to drive it with.
pub(crate) async fn find() -> Option<Browser> {
    static FOLDER: OnceCell<Result<PathBuf, String>> = OnceCell::const_new();
    let chromium = std::env::var_os("CHROMIUM").map_or_else(|| "/usr/bin/chromium".to_owned(), |path| path.to_string_lossy().into_owned());
    if !Path::new(&chromium).exists() {
        skip::missing("chromium", &format!("there is no {chromium}; install Chromium or set CHROMIUM"));
        return None;
    }
    match FOLDER.get_or_init(install).await {
        Ok(folder) => Some(Browser { chromium, folder: folder.clone() }),
        Err(why) => {
            skip::missing("chromium", why);
            None
        }
    }
}

impl Browser {
    /// Runs a script, which has to say that all its steps are ok. It is given `arguments` and a folder for its screenshots.
    pub(crate) async fn run(&self, script: &str, arguments: &[&str]) {
        let shots = self.folder.join("screenshots");
        let run = Command::new("node")
            .arg(script)
            .args(arguments)
            .arg(&shots)
            .env("CHROMIUM", &self.chromium)
            .current_dir(&self.folder)
            .kill_on_drop(true)
            .output();
        let output = tokio::time::timeout(PATIENCE, run).await.expect("the script ends in time").expect("node starts");
        println!("screenshots: {}", shots.display());
        let said = render(&output);
        assert!(output.status.success(), "{script} failed:\n{said}");
        assert!(said.contains("\nok: "), "{script} says that all steps are ok:\n{said}");
    }
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
