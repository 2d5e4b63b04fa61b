//! `teamroom ask`: one persona asked once, here in the terminal.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use super::setting;
use crate::app;
use crate::chat::attachments;
use crate::clock::{Clock, SharedClock, SystemClock};
use crate::domain::ids::{ChainId, ChannelId, MessageId, TurnId};
use crate::domain::message::{Attachment, Channel, Place, Speaker};
use crate::domain::usage::Purpose;
use crate::persona::turn::{AgentAsk, Colleagues, TurnInput};
use crate::shutdown;
use crate::store::{FileText, Store};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Whom to ask; by default the coordinator.
    #[arg(long, short)]
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

pub(super) async fn run(config: Option<PathBuf>, args: Args) -> anyhow::Result<()> {
    let config = setting::read_config(config)?;
    let roster = Arc::new(setting::read_roster(&config)?);
    let clock: SharedClock = Arc::new(SystemClock);
    let persona = match &args.persona {
        Some(name) => roster.resolve(name)?,
        None => roster.coordinator(),
    };
    let question = read_question(&args.question)?;
    let files = args.file.iter().map(|path| read_file(path, clock.as_ref())).collect::<anyhow::Result<Vec<_>>>()?;
    let store = Store::open_shared(&config.database_url, clock.now()).await?;
    let (performer, _low) = app::performer(&config, &roster, &store, &clock)?;
    let turn = TurnId::generate();
    let here = Channel { id: ChannelId::new("terminal"), name: "terminal".into(), place: Place::Server };
    let message = MessageId::new(format!("terminal-{turn}"));
    let chain = ChainId::new(message.as_str());
    let cancel = CancellationToken::new();
    let input = TurnInput {
        persona: &persona.slug,
        purpose: Purpose::Other,
        subject: turn.as_str(),
        message: &message,
        chain: &chain,
        channel: &here,
        asker: &Speaker::Person { id: "terminal".into(), name: "you".into() },
        through: None,
        answered: &[],
        question: &question,
        files: &files,
        path: vec![persona.slug.clone()],
    };
    let performing = performer.perform(&input, &Alone, &cancel);
    tokio::pin!(performing);
    let reply = tokio::select! {
        reply = &mut performing => reply,
        () = shutdown::signalled() => {
            // The call is settled before the process ends.
            cancel.cancel();
            performing.await
        }
    };
    let reply = reply.map_err(|error| anyhow::anyhow!("{} did not answer: {error}", persona.name));
    store.close().await;
    let reply = reply?;
    if args.json {
        println!("{}", serde_json::json!({"persona": persona.slug, "text": reply.text, "model": reply.model}));
    } else {
        println!("{}", reply.text);
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

/// By the same rules as in a channel.
fn read_file(path: &Path, clock: &dyn Clock) -> anyhow::Result<FileText> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let size = std::fs::metadata(path).with_context(|| format!("{} cannot be read", path.display()))?.len();
    let attachment = Attachment { id: path.display().to_string(), name, size, content_type: None, url: String::new() };
    attachments::accept(&attachment)?;
    let bytes = std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
    Ok(FileText {
        text: Some(attachments::decode(&bytes, &attachment)?),
        name: attachments::display_name(&attachment.name),
        id: attachment.id,
        message: MessageId::new("terminal"),
        channel: ChannelId::new("terminal"),
        size,
        note: None,
        by: "you".into(),
        at: clock.now(),
    })
}

/// In the terminal a persona answers by itself.
struct Alone;

#[async_trait]
impl Colleagues for Alone {
    async fn ask(&self, _: &AgentAsk<'_>) -> String {
        "Not asked: you are alone with the person here. Answer from what you know.".into()
    }
}
