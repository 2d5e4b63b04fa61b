use crate::adapters::slack::manifest::AppKind;
use crate::app::slack_manifest;

use kernel::print_line;

/// How the app is called.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The name of the app, which personas without an app of their own are shown beside.
    #[arg(long, default_value = "Teamroom")]
    name: String,
    /// Make the app an agent, which has a pane of its own and a button to stop it. Slack offers that in paid plans.
    #[arg(long)]
    agent: bool,
}

pub(super) fn print(args: &Args) -> anyhow::Result<()> {
    let kind = if args.agent { AppKind::Agent } else { AppKind::Plain };
    print_line!("{}", serde_json::to_string_pretty(&slack_manifest(&args.name, kind))?);
    Ok(())
}
