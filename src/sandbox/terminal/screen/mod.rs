//! What the person sees and types: lines in, lines out, colours when somebody looks at them.

use std::{
    fmt::Display,
    io::{IsTerminal, Write},
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::Context;

use super::guild::Name;

pub(super) mod complete;
pub(super) mod lines;
pub(super) mod message;
pub(super) mod text;

/// Colours, or none: never into a pipe, and never against the person's wish (`NO_COLOR`).
#[derive(Debug, Clone, Copy)]
pub(super) struct Paint {
    on: bool,
}

impl Paint {
    pub(super) fn detect() -> Self {
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { on: std::io::stdout().is_terminal() && !unwanted }
    }

    #[cfg(test)]
    pub(super) fn plain() -> Self {
        Self { on: false }
    }

    #[cfg(test)]
    pub(super) fn colored() -> Self {
        Self { on: true }
    }

    pub(super) fn bold(self, text: impl Display) -> String {
        self.wrap("1", text)
    }

    pub(super) fn dim(self, text: impl Display) -> String {
        self.wrap("2", text)
    }

    pub(super) fn warn(self, text: impl Display) -> String {
        self.wrap("33", text)
    }

    /// A name in its role's colour.
    pub(super) fn name(self, name: &Name) -> String {
        let text = text::clean_line(&name.text);
        match name.color {
            Some(color) => {
                let [_, red, green, blue] = color.to_be_bytes();
                self.wrap(&format!("1;38;2;{red};{green};{blue}"), text)
            }
            None => self.bold(text),
        }
    }

    fn wrap(self, code: &str, text: impl Display) -> String {
        if self.on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }
}

/// Prints lines, above the one being typed if there is one.
pub(super) struct Screen {
    out: Box<dyn Write + Send>,
    typed: Option<Arc<Mutex<Typed>>>,
}

impl Screen {
    /// A screen on which somebody types.
    fn interactive(typed: Arc<Mutex<Typed>>) -> Self {
        Self { out: Box::new(std::io::stdout()), typed: Some(typed) }
    }

    /// A pipe or a file.
    pub(super) fn plain(out: impl Write + Send + 'static) -> Self {
        Self { out: Box::new(out), typed: None }
    }

    /// # Errors
    /// When the terminal or the pipe is gone: nobody reads any more.
    pub(super) fn print(&mut self, text: &str) -> anyhow::Result<()> {
        // The lock is held while writing, so that the editor does not begin or end a line meanwhile.
        let typed = self.typed.as_ref().map(|typed| typed.lock().unwrap_or_else(PoisonError::into_inner));
        let frame = match typed.as_deref() {
            Some(typed) if typed.active => typed.print_above(text),
            _ => format!("{text}\n"),
        };
        self.out.write_all(frame.as_bytes()).and_then(|()| self.out.flush()).context("writing to the screen")
    }
}

/// The input line as the editor last drew it.
///
/// The editor's own `ExternalPrinter` would know this too, but while one exists the editor (rustyline 18.0) waits for the
/// terminal even when it has already read further keys: whatever arrives in one piece stands still until the next key.
#[derive(Debug, Default)]
struct Typed {
    active: bool,
    prompt: String,
    line: String,
    /// The cursor's place in `line`, in bytes.
    position: usize,
    columns: usize,
}

impl Typed {
    /// Wipes the input line, prints, and draws the line again with the cursor where it was.
    fn print_above(&self, text: &str) -> String {
        let columns = self.columns.max(1);
        let prompt = self.prompt.chars().count();
        let cursor = prompt + self.line.get(..self.position).unwrap_or(&self.line).chars().count();
        let end = prompt + self.line.chars().count();
        // The terminal is in raw mode: a line feed alone would not go back to the left.
        let text = text.replace('\n', "\r\n");
        let wipe = format!("\r{}\x1b[J", go(cursor / columns, 'A'));
        let back = format!("\r{}{}", go(end / columns - cursor / columns, 'A'), go(cursor % columns, 'C'));
        format!("{wipe}{text}\r\n{}{}{back}", self.prompt, self.line)
    }
}

/// Moves the cursor `steps` up (`A`) or right (`C`); the terminal would take 0 for 1.
fn go(steps: usize, direction: char) -> String {
    if steps == 0 { String::new() } else { format!("\x1b[{steps}{direction}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(line: &str, position: usize) -> Typed {
        Typed { active: true, prompt: "#ops> ".to_owned(), line: line.to_owned(), position, columns: 10 }
    }

    #[test]
    fn the_line_being_typed_stays_below_what_is_printed() {
        assert_eq!(typed("ab", 2).print_above("x\ny"), "\r\x1b[Jx\r\ny\r\n#ops> ab\r\x1b[8C");
    }

    #[test]
    fn a_line_that_wraps_is_wiped_from_its_first_row() {
        assert_eq!(typed("abcdefgh", 5).print_above("x"), "\r\x1b[1A\x1b[Jx\r\n#ops> abcdefgh\r\x1b[1C");
        assert_eq!(typed("abcdefgh", 1).print_above("x"), "\r\x1b[Jx\r\n#ops> abcdefgh\r\x1b[1A\x1b[7C");
    }
}
