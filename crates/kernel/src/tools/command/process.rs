//! Starts and kills a sandboxed process and its children.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::sync::oneshot;

use crate::tools::command::confinement::{Confine, Reach};
use crate::tools::command::output::Tail;
use crate::tools::command::{CommandError, CommandResult};

/// Sets limits that the process cannot raise, then starts the program. `ulimit` counts CPU seconds, KiB of memory and half KiB of file
/// size. A lower limit set by the operator is kept.
const WRAPPER: &str = r#"cpu=$1; shift; ulimit -c 0; ulimit -t "$cpu"; ulimit -v 8388608; ulimit -f 524288; exec "$@""#;

/// How long to read output after the process group has ended. A process that left the group may keep the pipe open.
const DRAIN: Duration = Duration::from_secs(1);

pub(super) struct Start<'a> {
    pub program: &'a Path,
    pub arguments: &'a [String],
    pub dir: &'a Path,
    pub environment: Vec<(&'static str, OsString)>,
    pub reach: Reach,
    /// The CPU time limit of each process.
    pub processor: Duration,
}

/// A running command. Killed on drop.
pub(super) struct Running {
    group: Group,
    child: Child,
    output: pipe::Receiver,
    tail: Tail,
}

impl Running {
    pub(super) async fn start(start: Start<'_>, confine: Confine) -> Result<Self, CommandError> {
        let (reader, writer) = io::pipe()?;
        let output = pipe::Receiver::from_owned_fd(reader.into())?;
        let mut command = Command::new("/bin/sh");
        command.args(["-c", WRAPPER, "sh"]).arg(start.processor.as_secs().max(1).to_string()).arg(start.program).args(start.arguments);
        command.env_clear().envs(start.environment).current_dir(start.dir).process_group(0).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        let (group, child) = start_confined(command, start.reach, confine).await?;
        Ok(Self { group, child, output, tail: Tail::default() })
    }

    /// Waits for the program to end, then kills what it left running.
    pub(super) async fn wait(&mut self) -> io::Result<CommandResult> {
        let status = loop {
            tokio::select! {
                status = self.child.wait() => break status?,
                more = read_some(&mut self.output, &mut self.tail) => if !more? {
                    break self.child.wait().await?;
                },
            }
        };
        self.group.kill();
        let rest = async { while matches!(read_some(&mut self.output, &mut self.tail).await, Ok(true)) {} };
        let _ = tokio::time::timeout(DRAIN, rest).await;
        let exit_code = status.code().or_else(|| Some(128 + status.signal()?)).unwrap_or(-1);
        Ok(CommandResult { exit_code, output: self.tail.render() })
    }
}

/// False at the end of the output.
async fn read_some(output: &mut pipe::Receiver, tail: &mut Tail) -> io::Result<bool> {
    let mut block = [0; 8192];
    let count = output.read(&mut block).await?;
    tail.push(&block[..count]);
    Ok(count > 0)
}

/// Starts a command from a separate thread that restricts itself and then ends, so that no other task runs restricted.
async fn start_confined(mut command: Command, reach: Reach, confine: Confine) -> Result<(Group, Child), CommandError> {
    let (started, result) = oneshot::channel();
    let runtime = tokio::runtime::Handle::current();
    let start = move || {
        let _runtime = runtime.enter();
        let child = confine(&reach)
            .map_err(CommandError::NotConfined)
            .and_then(|()| command.spawn().map_err(|error| CommandError::NotStarted(error.to_string())));
        // If the caller was dropped, dropping the group kills all its processes, not only the leader.
        let _ = started.send(child.map(|child| (Group(child.id()), child)));
    };
    std::thread::Builder::new().name("confined".into()).spawn(start)?;
    result.await.unwrap_or_else(|_| Err(CommandError::NotStarted("the thread that was to start it ended".into())))
}

/// The process group of a child. Killed on drop.
struct Group(Option<u32>);

impl Group {
    /// Uses the shell's `kill`, because the system call needs `unsafe`.
    fn kill(&mut self) {
        let Some(leader) = self.0.take() else { return };
        let kill = ["-c", r#"kill -s KILL -- "-$1" 2>/dev/null"#, "sh"];
        // Fails if the group is empty.
        let _ = std::process::Command::new("/bin/sh").args(kill).arg(leader.to_string()).stdin(Stdio::null()).status();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}
