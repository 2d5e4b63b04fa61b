//! `teamroom init`: asks for what the team needs to know, and writes the files that an operator edits.

mod files;
mod questions;

use std::io::{IsTerminal, stdin, stdout};
use std::path::PathBuf;

use anyhow::Context as _;

use files::write_files;
use kernel::llm::nearby::{SERVERS, find_server};
use kernel::print_line;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Where to; by default here.
    #[arg(default_value = ".")]
    dir: PathBuf,
    /// The language model: anthropic, openai, none, or the address of an OpenAI-compatible endpoint; by default the server that runs on this machine, if any.
    #[arg(long, value_parser = questions::parse_model)]
    model: Option<ModelChoice>,
    /// What the model is called at that address.
    #[arg(long, value_name = "NAME", requires = "model")]
    model_name: Option<String>,
    /// The git repository whose history and knowledge/ folder the team reads; by default the directory of the files.
    #[arg(long, value_name = "DIR", value_parser = questions::parse_folder)]
    repository: Option<PathBuf>,
    /// The id of the Discord server.
    #[arg(long, value_name = "ID", value_parser = questions::parse_server)]
    server: Option<String>,
}

/// Which language model the team uses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum ModelChoice {
    #[default]
    None,
    Anthropic,
    OpenAi,
    At {
        url: String,
        model: Option<String>,
    },
}

/// What goes into the files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Answers {
    model: ModelChoice,
    /// None: the directory of the files.
    repository: Option<PathBuf>,
    server: Option<String>,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let nearby = match &args.model {
        None => find_server(&SERVERS).await,
        Some(_) => None,
    };
    if let Some(found) = &nearby {
        print_line!("{} runs on this machine with {}.", found.name, found.model);
    }
    let nearby = nearby.map(|found| ModelChoice::At { url: found.base_url, model: Some(found.model) });
    let is_told = args.model.is_some() || args.repository.is_some() || args.server.is_some();
    let answers = if is_told || !stdin().is_terminal() {
        let model = match (args.model, args.model_name) {
            (Some(ModelChoice::At { url, .. }), name) => ModelChoice::At { url, model: name },
            (Some(model), _) => model,
            (None, _) => nearby.unwrap_or_default(),
        };
        Answers { model, repository: args.repository, server: args.server }
    } else {
        questions::ask(nearby, &mut stdin().lock(), &mut stdout()).context("reading the answers")?
    };
    for written in write_files(&args.dir, &answers)? {
        print_line!("{written}");
    }
    print_line!("\nNext: `teamroom sandbox` runs the team in a chat on this machine. `teamroom doctor` tries models, feeds and tokens.");
    Ok(())
}
