//! `teamroom backlog add`: one item by its options, or a file of them.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::ValueEnum;
use serde_json::json;

use super::{Told, When, name};
use crate::domain::work::{ExecutionKind, ItemDraft, Urgency};
use crate::work::desk::{Asker, Backlog};

/// What a file of items looks like.
const FILE_HELP: &str = "\
The file is a JSON array of objects; of each, only \"what\" must be there:
  {\"key\": \"a\", \"what\": \"Check the login\", \"how\": \"…\", \"why\": \"…\", \"owner\": \"vince\", \"urgency\": \"now|today|this_week|backlog\",
   \"criteria\": [\"…\"], \"needs\": [\"a key of this file, or the end of an id\"], \"parent\": \"likewise\",
   \"kind\": \"remind|research|write|build|ask|watch\", \"watch\": {\"feed\": \"…\", \"rule\": …, \"until\": \"2026-12-01T09:00:00Z\"}}
All of its items are added, or none.";

#[derive(Debug, clap::Args)]
#[command(after_long_help = FILE_HELP)]
pub(super) struct Args {
    /// What is to be done; begins with a verb.
    #[arg(required_unless_present = "file")]
    what: Option<String>,
    /// Who does it: a persona, or a person of the team; by default the coordinator.
    #[arg(long, value_name = "NAME")]
    owner: Option<String>,
    #[arg(long, value_enum)]
    urgency: Option<When>,
    /// How to go about it.
    #[arg(long)]
    how: Option<String>,
    /// Why it is worth doing.
    #[arg(long)]
    why: Option<String>,
    /// What must be true when it is done; may be given several times.
    #[arg(long = "criterion", value_name = "TEXT")]
    criteria: Vec<String>,
    /// An item that must be done before; may be given several times.
    #[arg(long = "needs", value_name = "ID")]
    needs: Vec<String>,
    /// The item that this is a part of.
    #[arg(long, value_name = "ID")]
    parent: Option<String>,
    /// How it is carried out; by default that is found out.
    #[arg(long, value_enum)]
    kind: Option<Kind>,
    /// Add all items of a JSON file instead; `add --help` shows its form.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["what", "owner", "urgency", "how", "why", "criteria", "needs", "parent", "kind"])]
    file: Option<PathBuf>,
}

/// To watch takes terms that no option holds; a file does.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Kind {
    Remind,
    Research,
    Write,
    Build,
    Ask,
}

impl From<Kind> for ExecutionKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Remind => Self::Remind,
            Kind::Research => Self::Research,
            Kind::Write => Self::Write,
            Kind::Build => Self::Build,
            Kind::Ask => Self::Ask,
        }
    }
}

pub(super) async fn add(backlog: &Backlog, args: Args) -> anyhow::Result<Told> {
    let Some(file) = &args.file else {
        let item = backlog.add(&args.into_draft(), &Asker::Terminal, None).await?;
        return Ok(Told { text: format!("Added {}.", name(&item)), value: json!({ "item": item }) });
    };
    let drafts = read_file(file)?;
    let items = backlog.add_all(&drafts, &Asker::Terminal, None).await?;
    let text = if items.len() == 1 { "Added 1 item.".to_owned() } else { format!("Added {} items.", items.len()) };
    Ok(Told { text, value: json!({ "items": items }) })
}

fn read_file(file: &Path) -> anyhow::Result<Vec<ItemDraft>> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is no list of items; `teamroom backlog add --help` shows one", file.display()))
}

impl Args {
    fn into_draft(self) -> ItemDraft {
        ItemDraft {
            key: None,
            what: self.what.unwrap_or_default(),
            how: self.how.unwrap_or_default(),
            why: self.why.unwrap_or_default(),
            owner: self.owner,
            urgency: self.urgency.map(Urgency::from),
            criteria: self.criteria,
            needs: self.needs,
            parent: self.parent,
            kind: self.kind.map(ExecutionKind::from),
            watch: None,
        }
    }
}
