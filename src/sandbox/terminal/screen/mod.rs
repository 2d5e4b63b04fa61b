//! What the person sees and types: lines in, lines out, colours when somebody looks at them.

use std::{
    fmt::Display,
    io::{IsTerminal, Write},
};

use anyhow::Context;
use rustyline::ExternalPrinter;

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

/// Prints lines above the line being typed, or plainly where nothing is typed.
pub(super) struct Screen {
    printer: Box<dyn ExternalPrinter + Send>,
}

impl Screen {
    /// A screen on which somebody types.
    pub(super) fn interactive(printer: impl ExternalPrinter + Send + 'static) -> Self {
        Self { printer: Box::new(printer) }
    }

    /// A pipe, a file, or a terminal that can do no better.
    pub(super) fn plain(out: impl Write + Send + 'static) -> Self {
        Self { printer: Box::new(Plain(out)) }
    }

    /// # Errors
    /// When the terminal or the pipe is gone: nobody reads any more.
    pub(super) fn print(&mut self, text: &str) -> anyhow::Result<()> {
        self.printer.print(format!("{text}\n")).context("writing to the screen")
    }
}

struct Plain<W>(W);

impl<W: Write> ExternalPrinter for Plain<W> {
    fn print(&mut self, text: String) -> rustyline::Result<()> {
        self.0.write_all(text.as_bytes())?;
        Ok(self.0.flush()?)
    }
}
