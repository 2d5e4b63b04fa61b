//! What Tab completes in the terminal: commands, channels and people.

use std::sync::{Arc, Mutex, PoisonError};

/// Commands with their sign and subcommand (`/backlog add`), channels (`#general`) and people (`@Kelly`).
#[derive(Debug, Clone, Default)]
pub(super) struct Words(Arc<Mutex<Vec<String>>>);

impl Words {
    pub(super) fn replace(&self, words: Vec<String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = words;
    }

    pub(super) fn list(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Where the completed part of the line begins, and what it may become.
pub(super) fn complete(words: &[String], line: &str) -> (usize, Vec<String>) {
    let begins = |word: &str, typed: &str| word.to_lowercase().starts_with(&typed.to_lowercase());
    if line.starts_with('/') {
        let commands: Vec<String> = words.iter().filter(|word| word.starts_with('/') && begins(word, line)).cloned().collect();
        if !commands.is_empty() {
            return (0, commands.into_iter().map(|word| word + " ").collect());
        }
    }
    let from = line.rfind(char::is_whitespace).map_or(0, |at| at + line[at..].chars().next().map_or(1, char::len_utf8));
    let typed = &line[from..];
    let names = words.iter().filter(|word| !word.starts_with('/'));
    let found = match typed.chars().next() {
        Some('#' | '@') => names.filter(|word| begins(word, typed)).map(|word| format!("{word} ")).collect(),
        // A message begins with the name of somebody, an option of a command may be one.
        Some(_) if from == 0 || line.starts_with('/') => {
            names.filter_map(|word| word.strip_prefix('@')).filter(|name| begins(name, typed)).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    };
    (from, found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(line: &str) -> (usize, Vec<String>) {
        let words = ["/quit", "/backlog add", "/backlog list", "#general", "#ops", "@Kelly", "@Vince"];
        complete(&words.map(str::to_owned), line)
    }

    #[test]
    fn tab_completes_commands_channels_and_people() {
        for (line, from, found) in [
            ("/q", 0, &["/quit "][..]),
            ("/backlog ", 0, &["/backlog add ", "/backlog list "]),
            ("/backlog li", 0, &["/backlog list "]),
            ("/channel #o", 9, &["#ops "]),
            ("ask @v", 4, &["@Vince "]),
            ("kel", 0, &["Kelly"]),
            ("/ask kel", 5, &["Kelly"]),
            ("what does kel", 10, &[]),
            ("", 0, &[]),
        ] {
            assert_eq!(completed(line), (from, found.iter().map(|word| (*word).to_owned()).collect()), "{line:?}");
        }
    }
}
