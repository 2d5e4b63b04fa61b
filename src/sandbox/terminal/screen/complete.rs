//! Completion with Tab: commands, their options and choices, channels and names.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use rustyline::{
    Context, Helper, Validator,
    completion::{Completer, Pair},
    highlight::{CmdKind, Highlighter},
    hint::Hinter,
};

use super::super::{
    guild::Guild,
    input::{COMMANDS, split_word},
    model::Command,
};
use super::Typed;

/// What can be completed. The session fills it, the line editor reads it from its own thread.
#[derive(Debug, Default)]
pub(in super::super) struct Words {
    pub channels: Vec<String>,
    pub people: Vec<String>,
    pub commands: Vec<Command>,
}

impl Words {
    pub(in super::super) fn gather(guild: &Guild, commands: &[Command]) -> Self {
        let channels = guild.list_channels();
        let threads = channels.iter().flat_map(|channel| guild.list_threads(&channel.id));
        let names = |channel: &super::super::model::Channel| channel.name.clone();
        Self {
            channels: channels.iter().copied().chain(threads).filter_map(names).collect(),
            people: guild.list_people().into_iter().map(|(name, ..)| name.text).collect(),
            commands: commands.to_vec(),
        }
    }

    /// Where the completed part begins, and what may stand there.
    fn complete(&self, line: &str) -> (usize, Vec<String>) {
        let (command, rest) = split_word(line);
        if line.starts_with('/') && !line.contains(char::is_whitespace) {
            let own = COMMANDS.iter().map(|(form, _)| split_word(form).0.to_owned());
            let team = self.commands.iter().map(|command| format!("/{}", command.name));
            return (0, matching(own.chain(team), line));
        }
        let rest_start = line.len() - rest.len();
        match command {
            "/channel" => (rest_start, matching(self.channels.iter().cloned(), rest)),
            "/dm" => (rest_start, matching(self.people.iter().cloned(), rest)),
            _ => self.complete_word(line, command.trim_start_matches('/')),
        }
    }

    fn complete_word(&self, line: &str, command: &str) -> (usize, Vec<String>) {
        let start = line.rfind(char::is_whitespace).map_or(0, |at| at + line[at..].chars().next().map_or(1, char::len_utf8));
        let word = &line[start..];
        let known = self.commands.iter().find(|known| line.starts_with('/') && known.name == command);
        let Some(known) = known else {
            let names = self.people.iter().map(|name| format!("@{name}"));
            return (start, if word.starts_with('@') { matching(names, word) } else { Vec::new() });
        };
        match word.split_once(':') {
            Some((name, part)) => {
                let choices = known.options.iter().filter(|option| option.name == name).flat_map(|option| &option.choices);
                (start + name.len() + 1, matching(choices.map(|choice| choice.name.clone()), part))
            }
            None => (start, matching(known.options.iter().map(|option| format!("{}:", option.name)), word)),
        }
    }
}

fn matching(words: impl Iterator<Item = String>, part: &str) -> Vec<String> {
    let part = part.to_lowercase();
    let mut found: Vec<_> = words.filter(|word| word.to_lowercase().starts_with(&part)).collect();
    found.sort();
    found.dedup();
    found
}

/// What the line editor asks while somebody types.
#[derive(Helper, Validator)]
pub(super) struct Typing {
    pub words: Arc<RwLock<Words>>,
    pub typed: Arc<Mutex<Typed>>,
}

impl Typing {
    fn note(&self, line: &str, position: usize) {
        let mut typed = self.typed.lock().unwrap_or_else(PoisonError::into_inner);
        line.clone_into(&mut typed.line);
        typed.position = position;
    }
}

/// There are no hints; but it is here that the editor tells what was typed.
impl Hinter for Typing {
    type Hint = String;

    fn hint(&self, line: &str, position: usize, _: &Context<'_>) -> Option<String> {
        self.note(line, position);
        None
    }
}

/// Nothing is coloured; but it is here that the editor tells where the cursor went.
impl Highlighter for Typing {
    fn highlight_char(&self, line: &str, position: usize, _: CmdKind) -> bool {
        self.note(line, position);
        false
    }
}

impl Completer for Typing {
    type Candidate = Pair;

    fn complete(&self, line: &str, position: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        // A poisoned lock means that the session ended in a panic; there is nothing to complete any more.
        let Ok(words) = self.words.read() else { return Ok((position, Vec::new())) };
        let (start, found) = words.complete(&line[..position]);
        // After a command comes its first argument.
        let after = if start == 0 { " " } else { "" };
        let pairs = found.into_iter().map(|word| Pair { replacement: format!("{word}{after}"), display: word });
        Ok((start, pairs.collect()))
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;
    use crate::sandbox::terminal::guild::tests::example_guild;

    fn complete(line: &str) -> (usize, Vec<String>) {
        let ask = json!({ "name": "ask", "options": [{ "name": "persona", "choices": [{ "name": "Vince" }, { "name": "Eliza" }] }, { "name": "question" }] });
        let commands = [Command::deserialize(&ask).expect("a command")];
        Words::gather(&example_guild(), &commands).complete(line)
    }

    fn found(line: &str) -> Vec<String> {
        complete(line).1
    }

    #[test]
    fn commands_of_the_terminal_and_of_the_team_are_completed() {
        assert_eq!(found("/th"), ["/thread", "/threads"]);
        assert_eq!(found("/as"), ["/ask"]);
    }

    #[test]
    fn arguments_are_completed_by_what_they_name() {
        assert_eq!(complete("/channel g"), (9, vec!["general".to_owned()]));
        assert_eq!(complete("/dm k"), (4, vec!["Kelly".to_owned()]));
        assert_eq!(complete("/ask p"), (5, vec!["persona:".to_owned()]));
        assert_eq!(complete("/ask persona:v"), (13, vec!["Vince".to_owned()]));
        assert_eq!(complete("hello @ke"), (6, vec!["@Kelly".to_owned()]));
        assert_eq!(found("hello ke"), Vec::<String>::new());
    }
}
