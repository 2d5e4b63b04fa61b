//! `teamroom person`: what is stored of one person, as a file, and its removal.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;

use crate::app::{self, personal};
use crate::cli::{Globals, completions, confirm, setting};
use crate::config::{Config, PLATFORM};
use crate::store::Store;
use kernel::commands::refuse;
use kernel::db::backup;
use kernel::db::check_exists;
use kernel::ids::complete;
use kernel::people::{KnownPerson, NotFound};
use kernel::print_line;
use kernel::time::{Clock, SystemClock};

/// The most people that a refusal names.
const NAMED: usize = 20;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Write all that is stored of a person, as JSON.
    Export {
        /// A name, or the id of an account.
        #[arg(add = completions::completer("person"))]
        person: String,
        /// Where to; by default it is printed.
        file: Option<PathBuf>,
    },
    /// Remove what a person has said and what is about that person alone, and the account and the names everywhere else. For good.
    Forget {
        /// A name, or the id of an account.
        #[arg(add = completions::completer("person"))]
        person: String,
        /// Do not ask.
        #[arg(long)]
        yes: bool,
    },
}

pub(super) async fn run(globals: &Globals, args: Args) -> anyhow::Result<()> {
    let config = setting::read_config(globals)?;
    check_exists(&config.database_url)?;
    let store = Store::open_shared(&config.database_url, SystemClock.now()).await?;
    let done = carry_out(&store, &config, args.what).await;
    store.close().await;
    done
}

async fn carry_out(store: &Store, config: &Config, what: What) -> anyhow::Result<()> {
    match what {
        What::Export { person, file } => {
            let person = find(store, config, &person).await?;
            let found = personal::export_person(store, &person.id).await?;
            let text = serde_json::to_string_pretty(&found)?;
            match file {
                Some(file) => {
                    let mut out = backup::create_private(&file).with_context(|| file.display().to_string())?;
                    out.write_all(text.as_bytes())?;
                    print_line!("What is stored of {} is in {}.", person.name, file.display());
                }
                None => print_line!("{text}"),
            }
        }
        What::Forget { person, yes } => {
            let person = find(store, config, &person).await?;
            if !yes {
                confirm::ask(&format!("remove what is stored of {} ({}) for good", person.name, person.id))?;
            }
            let roster = setting::read_roster(config)?;
            let forgotten = personal::forget_person(store, (config, &roster), &person, SystemClock.now()).await?;
            print_line!("{} is forgotten. Rows that stay, with \"somebody\" in that place: {}.", person.name, forgotten.rewritten);
            print_line!("What stands on the server stays there, and so do earlier backups.");
        }
    }
    Ok(())
}

async fn find(store: &Store, config: &Config, written: &str) -> anyhow::Result<KnownPerson> {
    let people = app::people(config, store).directory().await?;
    match people.find(&complete(PLATFORM, written.trim())) {
        Err(NotFound::Nobody(name)) => {
            let known: Vec<_> = people.people().take(NAMED).map(|person| person.name.as_str()).collect();
            let known = if known.is_empty() { "nobody yet".to_owned() } else { known.join(", ") };
            Ok(refuse(format!("nobody called \"{name}\" is known. Known people: {known}"))?)
        }
        found => Ok(found?),
    }
}
