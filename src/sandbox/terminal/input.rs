//! What a typed line means. The terminal's own commands come first; everything else that begins
//! with `/` is a slash command of the team, and `//name` reaches one that is named like ours.

/// One line of the person, understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Input {
    Nothing,
    Say(String),
    Help,
    Quit,
    Channels,
    Channel(String),
    Threads,
    /// Opens the thread that began at a message, or starts one with a name.
    Thread {
        number: usize,
        name: Option<String>,
    },
    Members,
    Direct(String),
    History(u8),
    Reply {
        number: usize,
        text: String,
    },
    React {
        number: usize,
        emoji: String,
    },
    Edit {
        number: usize,
        text: String,
    },
    Delete(usize),
    Press {
        number: usize,
        control: usize,
        values: Vec<String>,
    },
    File {
        path: String,
        text: String,
    },
    /// Waits for the next message of somebody else, for at most these seconds.
    Wait(u64),
    /// A slash command of the team: its name and the rest of the line.
    Slash {
        name: String,
        rest: String,
    },
    /// What cannot be done, and how it is written.
    Hint(String),
}

const HISTORY: u8 = 20;
/// As many messages as the API gives at once.
const MOST_HISTORY: u8 = 100;
const WAIT: u64 = 30;

/// The terminal's own commands as the help shows them.
pub(super) const COMMANDS: &[(&str, &str)] = &[
    ("/channel NAME", "go to a channel or thread (alone: list them)"),
    ("/threads", "threads of this channel"),
    ("/thread N [NAME]", "open the thread of message N, or start one"),
    ("/reply N TEXT", "reply to message N"),
    ("/react N EMOJI", "react, or take the reaction back"),
    ("/edit N TEXT", "change a message of yours"),
    ("/delete N", "delete a message of yours, or dismiss one that only you see"),
    ("/press N K [VALUE…]", "press button K of message N, or choose values of select K"),
    ("/file PATH [TEXT]", "send a file"),
    ("/members", "who is here"),
    ("/dm NAME", "talk to somebody alone"),
    ("/history [N]", "show the last messages again"),
    ("/wait [SECONDS]", "wait for the next answer (for scripts)"),
    ("/help", "this list; //help asks the team"),
    ("/quit", "leave"),
];

pub(super) fn parse_line(line: &str) -> Input {
    let line = line.trim();
    if line.is_empty() {
        return Input::Nothing;
    }
    if let Some(team) = line.strip_prefix("//") {
        return slash(team);
    }
    let Some(command) = line.strip_prefix('/') else { return Input::Say(line.to_owned()) };
    let (name, rest) = split_word(command);
    match name {
        "" => Input::Hint("type a command after the slash; /help lists them".to_owned()),
        "help" => Input::Help,
        "quit" | "exit" => Input::Quit,
        "channel" | "channels" if rest.is_empty() => Input::Channels,
        "channel" => Input::Channel(rest.to_owned()),
        "threads" => Input::Threads,
        "thread" => numbered(rest)
            .map_or_else(|| usage("/thread"), |(number, name)| Input::Thread { number, name: (!name.is_empty()).then(|| name.to_owned()) }),
        "members" => Input::Members,
        "dm" if !rest.is_empty() => Input::Direct(rest.to_owned()),
        "history" => parse_count(rest, HISTORY).map_or_else(|| usage("/history"), |count| Input::History(count.clamp(1, MOST_HISTORY))),
        "reply" => worded(rest, "/reply", |number, text| Input::Reply { number, text }),
        "react" => worded(rest, "/react", |number, emoji| Input::React { number, emoji }),
        "edit" => worded(rest, "/edit", |number, text| Input::Edit { number, text }),
        "delete" => {
            numbered(rest).filter(|(_, rest)| rest.is_empty()).map_or_else(|| usage("/delete"), |(number, _)| Input::Delete(number))
        }
        "press" => parse_press(rest).unwrap_or_else(|| usage("/press")),
        "file" if !rest.is_empty() => parse_file(rest),
        "wait" => parse_count(rest, WAIT).map_or_else(|| usage("/wait"), Input::Wait),
        "dm" => usage("/dm"),
        "file" => usage("/file"),
        _ => slash(command),
    }
}

fn slash(command: &str) -> Input {
    let (name, rest) = split_word(command.trim_start());
    Input::Slash { name: name.to_owned(), rest: rest.to_owned() }
}

fn usage(command: &str) -> Input {
    let known = COMMANDS.iter().find(|(form, _)| split_word(form).0 == command);
    let (form, words) = known.expect("every command with a usage is in the list");
    Input::Hint(format!("write it as {form}: {words}"))
}

/// The first word and what follows it.
pub(super) fn split_word(text: &str) -> (&str, &str) {
    text.split_once(char::is_whitespace).map_or((text, ""), |(word, rest)| (word, rest.trim_start()))
}

/// A message number, with or without `#`, and what follows it.
fn numbered(rest: &str) -> Option<(usize, &str)> {
    let (number, rest) = split_word(rest);
    Some((number.trim_start_matches('#').parse().ok()?, rest))
}

fn worded(rest: &str, command: &str, build: impl FnOnce(usize, String) -> Input) -> Input {
    match numbered(rest) {
        Some((number, text)) if !text.is_empty() => build(number, text.to_owned()),
        _ => usage(command),
    }
}

fn parse_count<T: std::str::FromStr>(rest: &str, default: T) -> Option<T> {
    if rest.is_empty() { Some(default) } else { rest.parse().ok() }
}

fn parse_press(rest: &str) -> Option<Input> {
    let (number, rest) = numbered(rest)?;
    let (control, rest) = if rest.is_empty() { (1, "") } else { numbered(rest)? };
    Some(Input::Press { number, control, values: rest.split_whitespace().map(str::to_owned).collect() })
}

/// A path with blanks stands in double quotes.
fn parse_file(rest: &str) -> Input {
    let (path, text) = match rest.strip_prefix('"').and_then(|quoted| quoted.split_once('"')) {
        Some((path, text)) => (path, text.trim_start()),
        None => split_word(rest),
    };
    Input::File { path: path.to_owned(), text: text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_a_slash_is_a_message() {
        assert_eq!(parse_line("  kelly, who is on the team? "), Input::Say("kelly, who is on the team?".to_owned()));
        assert_eq!(parse_line("   "), Input::Nothing);
    }

    #[test]
    fn own_commands_take_their_arguments() {
        assert_eq!(parse_line("/channel ops"), Input::Channel("ops".to_owned()));
        assert_eq!(parse_line("/reply #3 yes, do"), Input::Reply { number: 3, text: "yes, do".to_owned() });
        assert_eq!(parse_line("/react 3 👍"), Input::React { number: 3, emoji: "👍".to_owned() });
        assert_eq!(parse_line("/thread 4"), Input::Thread { number: 4, name: None });
        assert_eq!(parse_line("/press 4 2 a b"), Input::Press { number: 4, control: 2, values: vec!["a".to_owned(), "b".to_owned()] });
        assert_eq!(parse_line("/press 4"), Input::Press { number: 4, control: 1, values: vec![] });
        assert_eq!(parse_line("/history 500"), Input::Hint(hint_for("/history")));
        assert_eq!(parse_line("/history 0"), Input::History(1));
        assert_eq!(parse_line("/file \"my notes.md\" look"), Input::File { path: "my notes.md".to_owned(), text: "look".to_owned() });
    }

    fn hint_for(command: &str) -> String {
        let Input::Hint(hint) = usage(command) else { unreachable!("a usage is a hint") };
        hint
    }

    #[test]
    fn a_malformed_command_is_answered_with_its_form() {
        for (line, command) in [
            ("/reply", "/reply"),
            ("/reply x y", "/reply"),
            ("/reply 3", "/reply"),
            ("/delete", "/delete"),
            ("/delete 3 4", "/delete"),
            ("/dm", "/dm"),
            ("/file", "/file"),
            ("/wait soon", "/wait"),
            ("/press 1 x", "/press"),
        ] {
            assert_eq!(parse_line(line), Input::Hint(hint_for(command)), "{line}");
        }
        assert!(matches!(parse_line("/"), Input::Hint(_)));
    }

    #[test]
    fn any_other_command_is_the_teams() {
        assert_eq!(
            parse_line("/ask persona:Vince question:what?"),
            Input::Slash { name: "ask".to_owned(), rest: "persona:Vince question:what?".to_owned() }
        );
        assert_eq!(parse_line("//help"), Input::Slash { name: "help".to_owned(), rest: String::new() });
    }
}
