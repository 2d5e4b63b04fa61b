//! `teamroom completions`: shell completion scripts.

use clap::ValueEnum;
use clap_complete::aot::{Bash, Fish, Zsh, generate};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

pub(super) fn print(args: &Args, command: &mut clap::Command) {
    let mut out = std::io::stdout().lock();
    match args.shell {
        Shell::Bash => generate(Bash, command, "teamroom", &mut out),
        Shell::Zsh => generate(Zsh, command, "teamroom", &mut out),
        Shell::Fish => generate(Fish, command, "teamroom", &mut out),
    }
}
