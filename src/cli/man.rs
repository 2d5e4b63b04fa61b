//! `teamroom man`: man pages.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Command;
use clap_mangen::Man;

use kernel::print_line;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Where the pages go; made if it does not exist. `man -l DIRECTORY/teamroom.1` shows one.
    directory: PathBuf,
}

pub(super) fn write(args: &Args, command: Command) -> anyhow::Result<()> {
    fs::create_dir_all(&args.directory).with_context(|| format!("cannot make {}", args.directory.display()))?;
    let written = write_pages(command, &args.directory).with_context(|| format!("cannot write into {}", args.directory.display()))?;
    print_line!("{written} man pages in {}", args.directory.display());
    Ok(())
}

/// One page for the program and one for each command below it. Returns how many there are.
fn write_pages(command: Command, directory: &Path) -> std::io::Result<usize> {
    // `teamroom help backlog` and its like would double the number of pages.
    let mut command = command.disable_help_subcommand(true);
    // Gives each command its full name and the options that all have.
    command.build();
    write_page(&command, directory)
}

fn write_page(command: &Command, directory: &Path) -> std::io::Result<usize> {
    // By default the footer of `teamroom backlog add` names a program `add` without a version. An empty date would be left out of the title
    // line, and the version would take its place.
    let man = Man::new(command.clone()).date(" ").source(concat!("teamroom ", env!("CARGO_PKG_VERSION"))).manual("Teamroom");
    man.generate_to(directory)?;
    command.get_subcommands().try_fold(1, |written, command| Ok(written + write_page(command, directory)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;
    use kernel::commands::Services;

    fn count(command: &Command) -> usize {
        1 + command.get_subcommands().map(count).sum::<usize>()
    }

    #[test]
    fn every_command_has_a_page() {
        let directory = tempfile::tempdir().unwrap();
        let command = cli::command(&cli::registry(&Services::new("not here")));
        let commands = count(&command);
        assert_eq!(write_pages(command, directory.path()).unwrap(), commands);
        // None has overwritten another.
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), commands);

        let page = fs::read_to_string(directory.path().join("teamroom-backlog-add.1")).unwrap();
        for part in [r#".TH teamroom-backlog-add 1 " " "teamroom "#, "Add an item to the backlog", "criterion", "COMMON OPTIONS"] {
            assert!(page.contains(part), "{part} is not in {page}");
        }
    }
}
