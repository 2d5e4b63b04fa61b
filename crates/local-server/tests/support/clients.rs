//! Clients in other languages, installed under `target/clients`, where they stay for the next run.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use super::patience::PATIENCE;
use super::{root, skip};

fn source(client: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(client)
}

/// A folder for the client of this package.
fn installed(client: &str) -> PathBuf {
    let folder = root().join("target/clients").join(format!("{}-{client}", env!("CARGO_PKG_NAME")));
    std::fs::create_dir_all(&folder).expect("a folder for the client");
    folder
}

/// Runs one step of an installation.
async fn install(program: &str, arguments: &[&str], folder: &Path) -> Result<(), String> {
    let run = Command::new(program).args(arguments).current_dir(folder).stdin(Stdio::null()).kill_on_drop(true).output();
    match tokio::time::timeout(PATIENCE, run).await {
        Err(_) => Err(format!("{program} took too long")),
        Ok(Err(error)) => Err(format!("{program}: {error}")),
        Ok(Ok(output)) if !output.status.success() => Err(format!("{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr))),
        Ok(Ok(_)) => Ok(()),
    }
}

/// `main.py` of `tests/clients/{client}` with its requirements. `None` counts as a skip.
pub(crate) async fn python(client: &str) -> Option<Command> {
    let folder = installed(client);
    let python = folder.join("venv/bin/python");
    let requirements = source(client).join("requirements.txt");
    let steps = async {
        if !python.exists() {
            install("python3", &["-m", "venv", "venv"], &folder).await?;
        }
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements.to_str().unwrap_or_default()];
        install(python.to_str().unwrap_or_default(), &pip, &folder).await
    };
    if let Err(why) = steps.await {
        skip::missing("clients", &why);
        return None;
    }
    let mut command = Command::new(python);
    command.arg(source(client).join("main.py"));
    Some(command)
}

/// `main.js` of `tests/clients/{client}` with its packages. `None` counts as a skip.
pub(crate) async fn node(client: &str) -> Option<Command> {
    let folder = installed(client);
    for file in ["package.json", "main.js"] {
        std::fs::copy(source(client).join(file), folder.join(file)).expect("the client's files");
    }
    let npm = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"];
    if let Err(why) = install("npm", &npm, &folder).await {
        skip::missing("clients", &why);
        return None;
    }
    let mut command = Command::new("node");
    command.arg("main.js").current_dir(&folder);
    Some(command)
}

/// A client while it runs.
pub(crate) struct Running {
    pub(crate) child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Running {
    /// Starts the client, with variables that tell it where to connect.
    pub(crate) fn start(mut command: Command, variables: &[(&str, String)]) -> Self {
        let mut child = command
            .envs(variables.iter().cloned())
            .env_remove("HTTP_PROXY")
            .env_remove("http_proxy")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the client starts");
        let stdout = child.stdout.take().expect("its output");
        Self { child, lines: BufReader::new(stdout).lines() }
    }

    pub(crate) async fn expect_line(&mut self, expected: &str) {
        let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await.expect("the client prints something in time");
        assert_eq!(line.expect("readable output").as_deref(), Some(expected));
    }
}
