//! `teamroom man`: man pages.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Command;
use clap_mangen::Man;

use crate::cli::help;
use kernel::commands::Registry;
use kernel::print_line;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Where the pages go; made if it does not exist. `man -l DIRECTORY/teamroom.1` shows one.
    directory: PathBuf,
}

pub(super) fn write(args: &Args, command: Command, registry: &Registry) -> anyhow::Result<()> {
    fs::create_dir_all(&args.directory).with_context(|| format!("cannot make {}", args.directory.display()))?;
    let written =
        write_pages(command, registry, &args.directory).with_context(|| format!("cannot write into {}", args.directory.display()))?;
    print_line!("{written} man pages in {}", args.directory.display());
    Ok(())
}

/// One page for the program and one for each command below it. Returns how many there are.
fn write_pages(command: Command, registry: &Registry, directory: &Path) -> std::io::Result<usize> {
    // `teamroom help backlog` and its like would double the number of pages.
    let mut command = command.disable_help_subcommand(true);
    // Gives each command its full name and the options that all have.
    command.build();
    fs::write(directory.join("teamroom.1"), render_first(&command, registry)?)?;
    command.get_subcommands().try_fold(1, |written, command| Ok(written + write_page(command, directory)?))
}

/// The page of the program, with its commands under the headings of the help.
fn render_first(command: &Command, registry: &Registry) -> std::io::Result<Vec<u8>> {
    let man = describe(command);
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    for (title, names) in help::list_groups(registry) {
        let listed = names.iter().filter_map(|name| command.find_subcommand(name)).cloned();
        let mut section = Vec::new();
        describe(&Command::new("teamroom").disable_help_subcommand(true).subcommands(listed)).render_subcommands_section(&mut section)?;
        let section = String::from_utf8_lossy(&section).replace(".SH SUBCOMMANDS", &format!(".SH \"{} COMMANDS\"", title.to_uppercase()));
        page.extend_from_slice(section.as_bytes());
    }
    man.render_options_section(&mut page)?;
    man.render_extra_section(&mut page)?;
    man.render_version_section(&mut page)?;
    Ok(page)
}

fn write_page(command: &Command, directory: &Path) -> std::io::Result<usize> {
    let man = describe(command);
    let mut page = Vec::new();
    man.render(&mut page)?;
    // What comes after the options is an example, in each page.
    let page = String::from_utf8_lossy(&page).replace(".SH EXTRA", ".SH EXAMPLES");
    fs::write(directory.join(man.get_filename()), page)?;
    command.get_subcommands().try_fold(1, |written, command| Ok(written + write_page(command, directory)?))
}

fn describe(command: &Command) -> Man {
    // By default the footer of `teamroom backlog add` names a program `add` without a version. An empty date would be left out of the title
    // line, and the version would take its place.
    Man::new(command.clone()).date(" ").source(concat!("teamroom ", env!("CARGO_PKG_VERSION"))).manual("Teamroom")
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
        let registry = cli::registry(&Services::new("not here"));
        let command = cli::command(&registry);
        let commands = count(&command);
        assert_eq!(write_pages(command, &registry, directory.path()).unwrap(), commands);
        // None has overwritten another.
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), commands);

        let page = fs::read_to_string(directory.path().join("teamroom-backlog-add.1")).unwrap();
        for part in
            [r#".TH teamroom-backlog-add 1 " " "teamroom "#, "Add an item to the backlog", "criterion", "COMMON OPTIONS", ".SH EXAMPLES"]
        {
            assert!(page.contains(part), "{part} is not in {page}");
        }
        let first = fs::read_to_string(directory.path().join("teamroom.1")).unwrap();
        for title in ["START COMMANDS", "WORK COMMANDS", "SET UP COMMANDS"] {
            assert!(first.contains(title), "{title} is not in {first}");
        }
    }
}
