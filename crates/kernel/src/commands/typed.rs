//! Parses typed commands, for platforms that do not parse them: `backlog add Fix the lamp --owner vince`. Pure.

use serde::{Deserialize, Serialize};

use crate::commands::{ArgumentSpec, CommandSpec, Registry};

/// A command and its arguments as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Typed {
    pub path: String,
    pub given: Vec<(String, String)>,
}

impl Registry {
    /// Reads `backlog add Fix the lamp --owner vince` or `owner:vince`. Words without a name are the first text that the command takes.
    ///
    /// # Errors
    /// There is no such command. The error lists the existing ones.
    pub fn parse(&self, typed: &str) -> Result<Typed, String> {
        let words = split(typed);
        let first = words.first().map(String::as_str).unwrap_or_default();
        let commands = || self.commands().iter().filter(|command| command.surface.is_in_chat());
        let Some(group) = commands().find(|command| command.name == first) else {
            let names: Vec<String> = commands().map(|command| format!("- `/{}`: {}", command.name, command.description)).collect();
            let unknown = if first.is_empty() || first == "help" { String::new() } else { format!("There is no command `{first}`. ") };
            return Err(format!("{unknown}There are:\n{}", names.join("\n")));
        };
        if group.subcommands.is_empty() {
            return Ok(Typed { path: group.name.to_owned(), given: arguments(group, &words[1..]) });
        }
        let second = words.get(1).map(String::as_str).unwrap_or_default();
        let inner = || group.subcommands.iter().filter(|command| command.surface.is_in_chat());
        let Some(command) = inner().find(|command| command.name == second) else {
            let names: Vec<String> =
                inner().map(|command| format!("- `/{} {}`: {}", group.name, command.name, command.description)).collect();
            let is_other = !second.is_empty() && second != "help";
            let unknown = if is_other { format!("There is no command `{first} {second}`. ") } else { String::new() };
            return Err(format!("{unknown}`/{first}` goes on with one of:\n{}", names.join("\n")));
        };
        Ok(Typed { path: format!("{} {}", group.name, command.name), given: arguments(command, &words[2..]) })
    }

    /// The command, if the sentence is nothing else. None if something is missing or does not fit, because then the sentence is talk. Unlike after a
    /// slash, optional arguments must be named, so that "status of the release?" is a question.
    pub fn parse_sentence(&self, sentence: &str) -> Option<Typed> {
        let typed = self.parse(sentence).ok()?;
        let command = self.find(&typed.path)?;
        let is_named = |name: &str| sentence.contains(&format!("--{name}")) || sentence.contains(&format!("{name}:"));
        let fits =
            typed.given.iter().all(|(name, _)| command.find_argument(name).is_some_and(|argument| argument.required || is_named(name)));
        (fits && self.check_arguments(command, &typed.given).is_ok()).then_some(typed)
    }
}

fn arguments(command: &CommandSpec, words: &[String]) -> Vec<(String, String)> {
    let mut given: Vec<(String, String)> = Vec::new();
    let mut rest: Vec<&str> = Vec::new();
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        if let Some(argument) = word.strip_prefix("--").and_then(|name| command.find_argument(name)) {
            given.push((argument.name.to_owned(), words.next().unwrap_or_default().to_owned()));
        } else if let Some((argument, value)) = word.split_once(':').and_then(|(name, value)| Some((command.find_argument(name)?, value))) {
            given.push((argument.name.to_owned(), value.to_owned()));
        } else {
            rest.push(word);
        }
    }
    let is_open = |argument: &&ArgumentSpec| !given.iter().any(|(name, _)| name == argument.name);
    let open: Vec<&ArgumentSpec> = command.arguments.iter().filter(is_open).collect();
    // Each required argument takes one word, in order, and the last one takes the rest.
    let wanted: Vec<&&ArgumentSpec> = open.iter().filter(|argument| argument.required).collect();
    let wanted: Vec<&ArgumentSpec> =
        if wanted.is_empty() { open.into_iter().take(1).collect() } else { wanted.into_iter().copied().collect() };
    for (place, argument) in wanted.iter().enumerate() {
        if rest.is_empty() {
            break;
        }
        let is_last = place + 1 == wanted.len();
        let taken: Vec<&str> = if is_last { std::mem::take(&mut rest) } else { vec![rest.remove(0)] };
        given.push((argument.name.to_owned(), taken.join(" ")));
    }
    // A word that no argument takes is reported as an argument that does not exist.
    given.extend(rest.first().map(|word| ((*word).to_owned(), String::new())));
    given
}

/// Splits a text into words. Text in quotation marks is one word.
fn split(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut begun) = (Vec::new(), String::new(), None, false);
    for c in text.chars() {
        match (c, quote) {
            ('"' | '“' | '”' | '\'', None) if !begun || word.ends_with(':') => (quote, begun) = (Some(c), true),
            ('"' | '“' | '”', Some('"' | '“' | '”')) | ('\'', Some('\'')) => quote = None,
            (c, None) if c.is_whitespace() => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            (c, _) => {
                word.push(c);
                begun = true;
            }
        }
    }
    if begun {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use crate::commands::{CommandReply, Services, permit_all};

    use super::*;

    fn registry() -> Registry {
        let mut registry = Registry::new("slack", permit_all());
        let service = Services::new("not yet").late::<()>();
        registry
            .command(CommandSpec::new("status", "How the team is"), &service, |(), _| Box::pin(async { Ok(CommandReply::private("ok")) }));
        let add = CommandSpec::new("add", "Add an item")
            .argument(ArgumentSpec::text("what", 200, "What").required())
            .argument(ArgumentSpec::persona("owner", "Who"));
        registry
            .group(CommandSpec::new("backlog", "The backlog"), &service)
            .command(add, |(), _| Box::pin(async { Ok(CommandReply::private("ok")) }));
        registry
    }

    fn parsed(typed: &str) -> Result<(String, Vec<(String, String)>), String> {
        registry().parse(typed).map(|Typed { path, given }| (path, given))
    }

    #[test]
    fn a_command_is_written_as_on_the_command_line() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(parsed("status"), Ok(("status".to_owned(), vec![])));
        let wanted = Ok(("backlog add".to_owned(), vec![pair("owner", "vince"), pair("what", "Fix the lamp")]));
        for typed in
            ["backlog add Fix the lamp --owner vince", "backlog add owner:vince Fix the lamp", "backlog add \"Fix the lamp\" --owner vince"]
        {
            assert_eq!(parsed(typed), wanted, "{typed}");
        }
        assert_eq!(parsed("backlog add what:\"it's late\"").unwrap().1, [pair("what", "it's late")]);
    }

    #[test]
    fn what_is_no_command_is_told_with_what_is() {
        assert!(parsed("").unwrap_err().starts_with("There are:\n- `/status`: How the team is"));
        assert!(parsed("stauts").unwrap_err().starts_with("There is no command `stauts`. There are:"));
        assert!(parsed("backlog lst").unwrap_err().starts_with("There is no command `backlog lst`. `/backlog` goes on with one of:"));
        assert_eq!(parsed("backlog").unwrap_err(), "`/backlog` goes on with one of:\n- `/backlog add`: Add an item");
    }

    #[test]
    fn a_sentence_is_a_command_only_as_a_whole() {
        for sentence in ["status", "backlog add Fix the lamp", "backlog add \"Fix the lamp\" --owner vince"] {
            assert!(registry().parse_sentence(sentence).is_some(), "{sentence}");
        }
        for talk in ["status of the release?", "backlog", "backlog add", "backlog is too long", "the status", ""] {
            assert_eq!(registry().parse_sentence(talk), None, "{talk}");
        }
    }
}
