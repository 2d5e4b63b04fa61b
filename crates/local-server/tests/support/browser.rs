//! Headless Chromium, driven by scripts: those in `crates/local-server/tests/page/` and the test's own.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use tokio::process::Command;
use tokio::sync::OnceCell;

use super::patience::PATIENCE;
use super::{root, skip};

const SCRIPTS: &str = "crates/local-server/tests/page";
const FILES: [&str; 4] = ["package.json", "package-lock.json", "drive.mjs", "looks.mjs"];

/// The browser and the folder with the scripts and what they import.
pub(crate) struct Browser {
    chromium: String,
    folder: PathBuf,
}

/// Copies `scripts` (paths in the workspace) beside the shared ones. `None` without a browser or npm, which counts as a skip.
pub(crate) async fn find(scripts: &[&str]) -> Option<Browser> {
    static FOLDER: OnceCell<Result<PathBuf, String>> = OnceCell::const_new();
    let chromium = std::env::var_os("CHROMIUM").map_or_else(|| "/usr/bin/chromium".to_owned(), |path| path.to_string_lossy().into_owned());
    if !Path::new(&chromium).exists() {
        skip::missing("chromium", &format!("there is no {chromium}; install Chromium or set CHROMIUM"));
        return None;
    }
    match FOLDER.get_or_init(install).await {
        Ok(folder) => {
            for script in scripts {
                copy(&root().join(script), folder);
            }
            Some(Browser { chromium, folder: folder.clone() })
        }
        Err(why) => {
            skip::missing("chromium", why);
            None
        }
    }
}

impl Browser {
    /// Runs a script with `arguments` and a folder for screenshots. It must report that all steps are ok.
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
        let posted = render(&output);
        assert!(output.status.success(), "{script} failed:\n{posted}");
        assert!(posted.contains("\nok: "), "{script} reports that all steps are ok:\n{posted}");
    }
}

fn copy(script: &Path, folder: &Path) {
    let name = script.file_name().expect("a file");
    std::fs::copy(script, folder.join(name)).unwrap_or_else(|error| panic!("{}: {error}", script.display()));
}

/// Copies the scripts to `target/clients/page` and installs their packages, once.
async fn install() -> Result<PathBuf, String> {
    let folder = root().join("target/clients/page");
    std::fs::create_dir_all(&folder).expect("target can be written");
    for file in FILES {
        copy(&root().join(SCRIPTS).join(file), &folder);
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
