//! The line editor of a terminal.

use std::io::{Write as _, stdout};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Context;
use rustyline::{
    ColorMode, CompletionType, Config, Context as EditorContext, Editor, Helper, Hinter, Validator,
    completion::{Completer, Pair},
    error::ReadlineError,
    highlight::{CmdKind, Highlighter},
    history::DefaultHistory,
};
use textwrap::core::display_width;

use super::words::{Words, complete};

const LEAVE: &str = "Press Ctrl-C again to leave, or type /quit.";

/// Opens the editor. The function reads a line, until the input ends.
pub(super) fn open(words: Words) -> anyhow::Result<(Typing, impl FnMut(&str) -> Option<String> + Send)> {
    // Colors are forced on, because only then the editor reports each change of the line to `Highlighter`.
    let config = Config::builder().auto_add_history(true).color_mode(ColorMode::Forced).completion_type(CompletionType::List).build();
    let mut editor = Editor::<Recorder, DefaultHistory>::with_config(config).context("opening the terminal")?;
    let typing = Typing::default();
    editor.set_helper(Some(Recorder { typing: typing.clone(), words }));
    let shared = typing.clone();
    let read = move |prompt: &str| {
        let mut may_leave = false;
        loop {
            *shared.lock() = Typed { active: true, prompt: prompt.to_owned(), ..Typed::default() };
            let read = editor.readline(prompt);
            let was_empty = {
                let mut typed = shared.lock();
                typed.active = false;
                typed.line.is_empty()
            };
            match read {
                Ok(line) => return Some(line),
                // Ctrl-C clears the line, as in a shell. On an empty line a second one leaves.
                Err(ReadlineError::Interrupted) if may_leave && was_empty => return Some("/quit".to_owned()),
                Err(ReadlineError::Interrupted) => {
                    may_leave = was_empty;
                    if may_leave {
                        let _ = shared.print_above(LEAVE, 80, |text| stdout().write_all(text.as_bytes()));
                    }
                }
                Err(_) => return Some("/quit".to_owned()),
            }
        }
    };
    Ok((typing, read))
}

/// The line that is being typed.
#[derive(Debug, Clone, Default)]
pub(super) struct Typing(Arc<Mutex<Typed>>);

impl Typing {
    /// Prints above the line. It is locked meanwhile, so that the editor cannot start or finish a line.
    pub(super) fn print_above<T>(&self, text: &str, columns: usize, write: impl FnOnce(&str) -> T) -> T {
        let typed = self.lock();
        let frame = if typed.active { typed.print_above(text, columns) } else { format!("{text}\n") };
        write(&frame)
    }

    fn lock(&self) -> MutexGuard<'_, Typed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The input line as the editor drew it last.
///
/// rustyline's own `ExternalPrinter` is not used: with it, rustyline 18.0 holds back keys that arrive in one piece
/// (typed ahead, `tmux send-keys`) until the next key.
#[derive(Debug, Default)]
struct Typed {
    active: bool,
    prompt: String,
    line: String,
    /// Position of the cursor in `line`, in bytes.
    cursor: usize,
}

impl Typed {
    /// Clears the input line, prints, and draws the input line again.
    fn print_above(&self, text: &str, columns: usize) -> String {
        let prompt = display_width(&self.prompt);
        let cursor = prompt + display_width(self.line.get(..self.cursor).unwrap_or(&self.line));
        let end = prompt + display_width(&self.line);
        // A terminal reads a count of 0 as 1.
        let step = |count: usize, direction| if count == 0 { String::new() } else { format!("\x1b[{count}{direction}") };
        // The terminal is in raw mode, where a line feed does not return to column 0.
        let text = text.replace('\n', "\r\n");
        let clear = format!("\r{}\x1b[J", step(cursor / columns, 'A'));
        let back = format!("\r{}{}", step(end / columns - cursor / columns, 'A'), step(cursor % columns, 'C'));
        format!("{clear}{text}\r\n{}{}{back}", self.prompt, self.line)
    }
}

/// Records the input line after each change, and completes it at Tab.
#[derive(Helper, Hinter, Validator)]
struct Recorder {
    typing: Typing,
    words: Words,
}

impl Completer for Recorder {
    type Candidate = Pair;

    fn complete(&self, line: &str, cursor: usize, _: &EditorContext<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let (from, found) = complete(&self.words.list(), line.get(..cursor).unwrap_or(line));
        Ok((from, found.into_iter().map(|word| Pair { display: word.trim_end().to_owned(), replacement: word }).collect()))
    }
}

impl Highlighter for Recorder {
    fn highlight_char(&self, line: &str, cursor: usize, _: CmdKind) -> bool {
        let mut typed = self.typing.lock();
        line.clone_into(&mut typed.line);
        typed.cursor = cursor;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(line: &str, cursor: usize) -> Typed {
        Typed { active: true, prompt: "#ops> ".to_owned(), line: line.to_owned(), cursor }
    }

    #[test]
    fn the_typed_line_stays_below_the_output() {
        assert_eq!(typed("ab", 2).print_above("x\ny", 10), "\r\x1b[Jx\r\ny\r\n#ops> ab\r\x1b[8C");
    }

    #[test]
    fn a_typed_line_of_two_rows_is_cleared_from_its_first_row() {
        assert_eq!(typed("abcdefgh", 5).print_above("x", 10), "\r\x1b[1A\x1b[Jx\r\n#ops> abcdefgh\r\x1b[1C");
        assert_eq!(typed("abcdefgh", 1).print_above("x", 10), "\r\x1b[Jx\r\n#ops> abcdefgh\r\x1b[1A\x1b[7C");
    }
}
