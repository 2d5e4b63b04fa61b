//! Questions before something is deleted.

use std::io::{self, BufRead, IsTerminal as _, Write as _};

use kernel::commands::{print_text, refuse};

/// Asks a person at the terminal. Without a terminal nobody can answer, so `--yes` is needed.
///
/// # Errors
/// The answer is no, or there is no terminal. The error says what to do.
pub(super) fn ask(what: &str) -> anyhow::Result<()> {
    if !io::stdin().is_terminal() {
        refuse(format!("nothing was deleted. Add --yes to {what}"))?;
    }
    print_text(format_args!("This will {what}. Continue? [y/N] "));
    io::stdout().flush()?;
    if is_yes(&mut io::stdin().lock())? { Ok(()) } else { Ok(refuse("nothing was deleted")?) }
}

fn is_yes(answers: &mut impl BufRead) -> io::Result<bool> {
    let mut answer = String::new();
    answers.read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_yes_is_a_yes() {
        for (answer, is) in [("y\n", true), ("Yes\n", true), ("\n", false), ("", false), ("n\n", false), ("yesterday\n", false)] {
            assert_eq!(is_yes(&mut answer.as_bytes()).unwrap(), is, "{answer:?}");
        }
    }
}
