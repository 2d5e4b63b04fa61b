//! `teamroom ask`: asks one persona once, in the terminal.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use tokio_util::sync::CancellationToken;

use crate::app;
use crate::app::TeamAgents;
use crate::app::shutdown;
use crate::cli::{Globals, completions, setting, terminal};
use crate::store::Store;
use kernel::agent::Question;
use kernel::chat::attachments;
use kernel::chat::message::{Attachment, Speaker};
use kernel::chat::store::FileText;
use kernel::commands::Services;
use kernel::ids::{ChannelId, MessageId, TurnId};
use kernel::money::Purpose;
use kernel::print_line;
use kernel::time::{Clock, SharedClock, SystemClock};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Whom to ask; by default the coordinator.
    #[arg(long, short, add = completions::completer("persona"))]
    persona: Option<String>,
    /// Text files to go with the question.
    #[arg(long, short, value_name = "PATH")]
    file: Vec<PathBuf>,
    /// Print JSON: persona, text, model.
    #[arg(long)]
    json: bool,
    /// The question; `-` reads it from standard input.
    #[arg(required = true)]
    question: Vec<String>,
}

pub(super) async fn run(globals: &Globals, args: Args) -> anyhow::Result<()> {
    let config = setting::read_config(globals)?;
    let roster = Arc::new(setting::read_roster(&config)?.in_zone(config.schedules.zone));
    let clock: SharedClock = Arc::new(SystemClock);
    let persona = match &args.persona {
        Some(name) => roster.resolve(name)?,
        None => roster.coordinator(),
    };
    let question = read_question(&args.question)?;
    let files = args.file.iter().map(|path| read_file(path, clock.as_ref())).collect::<anyhow::Result<Vec<_>>>()?;
    let store = Store::open_shared(&config.database_url, clock.now()).await?;
    let TeamAgents { agents, faults, .. } = app::agents(&config, &roster, &store, &clock, &Services::new("There is no chat here."))?;
    for fault in &faults {
        eprintln!("{fault}");
    }
    let subject = TurnId::generate();
    let asker = Speaker::Person { id: "terminal".into(), name: "you".into() };
    let question = Question {
        files: &files,
        channel_name: "terminal",
        ..Question::new(&persona.slug, (Purpose::Other, subject.as_str()), &asker, &question)
    };
    let cancel = CancellationToken::new();
    let answering = agents.answer(&question, &cancel);
    tokio::pin!(answering);
    let reply = tokio::select! {
        reply = &mut answering => reply,
        () = shutdown::signalled() => {
            // The call is settled before the process ends.
            cancel.cancel();
            answering.await
        }
    };
    let reply = reply.map_err(|error| anyhow::anyhow!("{} did not answer: {error}", persona.name));
    store.close().await;
    let reply = reply?;
    if args.json {
        print_line!("{}", serde_json::json!({"persona": persona.slug, "text": reply.text, "model": reply.model}));
    } else {
        print_line!("{}", terminal::render(&reply.text));
    }
    Ok(())
}

fn read_question(words: &[String]) -> anyhow::Result<String> {
    if words != ["-"] {
        return Ok(words.join(" "));
    }
    let mut question = String::new();
    std::io::stdin().read_to_string(&mut question).context("standard input cannot be read")?;
    anyhow::ensure!(!question.trim().is_empty(), "standard input holds no question");
    Ok(question)
}

/// Applies the same rules as in a channel.
fn read_file(path: &Path, clock: &dyn Clock) -> anyhow::Result<FileText> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let size = std::fs::metadata(path).with_context(|| format!("{} cannot be read", path.display()))?.len();
    let attachment = Attachment { id: path.display().to_string(), name, size, content_type: None, url: String::new() };
    attachments::accept(&attachment)?;
    let bytes = std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let (text, note) = attachments::read(&bytes, &attachment)?;
    Ok(FileText {
        text: Some(text),
        name: attachments::display_name(&attachment.name),
        id: attachment.id,
        message: MessageId::new("terminal"),
        channel: ChannelId::new("terminal"),
        size,
        note,
        by: "you".into(),
        at: clock.now(),
    })
}
