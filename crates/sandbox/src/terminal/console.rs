//! Lines in and text out: a line editor in a terminal, or plain lines from a pipe.

use std::{
    env::var_os,
    io::{BufRead, BufReader, IsTerminal, Write, stdin, stdout},
    sync::mpsc as blocking,
    thread,
};

use anyhow::Context;
use textwrap::WordSplitter;
use tokio::sync::mpsc;

#[cfg(feature = "line-editor")]
use super::editor::{self, Typing};
use super::render::without_style;
#[cfg(feature = "line-editor")]
use super::words::Words;

pub(super) struct Console {
    prompts: blocking::Sender<String>,
    /// Closed when the input ends.
    pub lines: mpsc::Receiver<String>,
    out: Box<dyn Write + Send + Sync>,
    /// Whether `out` is a terminal, so that lines are wrapped and styled.
    is_terminal: bool,
    /// The line that is being typed, unless the input is a pipe.
    #[cfg(feature = "line-editor")]
    typing: Option<Typing>,
    /// What Tab completes.
    #[cfg(feature = "line-editor")]
    words: Words,
}

impl Console {
    pub(super) fn open() -> anyhow::Result<Self> {
        let is_terminal = stdout().is_terminal();
        #[cfg(feature = "line-editor")]
        if is_terminal && stdin().is_terminal() && var_os("TERM").is_none_or(|term| term != "dumb") {
            let words = Words::default();
            let (typing, read) = editor::open(words.clone())?;
            return Ok(Self { is_terminal, typing: Some(typing), words, ..Self::new(stdout(), read) });
        }
        let mut lines = BufReader::new(stdin()).lines();
        Ok(Self { is_terminal, ..Self::new(stdout(), move |_| lines.next()?.ok()) })
    }

    /// Reads lines on a separate thread, because `read` blocks. The thread ends with the process.
    pub(super) fn new(out: impl Write + Send + Sync + 'static, mut read: impl FnMut(&str) -> Option<String> + Send + 'static) -> Self {
        let (prompts, asked) = blocking::channel::<String>();
        let (sender, lines) = mpsc::channel(1);
        thread::spawn(move || asked.iter().map_while(|prompt| read(&prompt)).try_for_each(|line| sender.blocking_send(line)));
        Self {
            prompts,
            lines,
            out: Box::new(out),
            is_terminal: false,
            #[cfg(feature = "line-editor")]
            typing: None,
            #[cfg(feature = "line-editor")]
            words: Words::default(),
        }
    }

    /// Whether somebody can press Tab.
    #[cfg(feature = "line-editor")]
    pub(super) fn has_editor(&self) -> bool {
        self.typing.is_some()
    }

    /// What Tab completes from now on.
    #[cfg(feature = "line-editor")]
    pub(super) fn set_words(&self, words: Vec<String>) {
        self.words.replace(words);
    }

    /// Asks for the next of the `lines`.
    pub(super) fn ask(&self, channel: &str) {
        // Fails only after the end of the input, which `lines` reports.
        let _ = self.prompts.send(format!("{channel}> "));
    }

    /// Prints above the line that is being typed.
    pub(super) fn print(&mut self, text: &str) -> anyhow::Result<()> {
        let styled = self.is_terminal && var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let text = if styled { text.to_owned() } else { without_style(text) };
        let columns = textwrap::termwidth();
        let text = if self.is_terminal { wrap(&text, columns) } else { text };
        #[cfg(feature = "line-editor")]
        if let Some(typing) = &self.typing {
            let out = &mut self.out;
            return typing.print_above(&text, columns, |frame| write(out, frame));
        }
        write(&mut self.out, &format!("{text}\n"))
    }
}

fn write(out: &mut impl Write, text: &str) -> anyhow::Result<()> {
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("writing to the terminal")
}

/// Wraps between words. A continued line has the indentation of its first line.
fn wrap(text: &str, columns: usize) -> String {
    let wrap_line = |line: &str| {
        let indent = &line[..line.len() - line.trim_start_matches([' ', '│']).len()];
        let options = textwrap::Options::new(columns).break_words(false).word_splitter(WordSplitter::NoHyphenation);
        textwrap::fill(line, options.subsequent_indent(indent))
    };
    text.lines().map(wrap_line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_never_broken() {
        let text = "     one well-known word\n     │ in an embed\n- a list item\nhttp://127.0.0.1:4800/very/long";
        assert_eq!(
            wrap(text, 16),
            "     one\n     well-known\n     word\n     │ in an\n     │ embed\n- a list item\nhttp://127.0.0.1:4800/very/long"
        );
    }
}
