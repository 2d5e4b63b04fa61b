use crate::app::slack_manifest;

use kernel::print_line;

/// How the app is called.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The name of the app, which personas without an app of their own are shown beside.
    #[arg(long, default_value = "Teamroom")]
    name: String,
}

pub(super) fn print(args: &Args) -> anyhow::Result<()> {
    print_line!("{}", serde_json::to_string_pretty(&slack_manifest(&args.name))?);
    Ok(())
}
