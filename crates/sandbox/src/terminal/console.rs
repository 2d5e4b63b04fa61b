//! Lines in and text out: a line editor in a terminal, or plain lines from a pipe.

use std::{
    env::var_os,
    io::{BufRead, BufReader, IsTerminal, Write, stdin, stdout},
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc as blocking},
    thread,
};

use anyhow::Context;
use rustyline::{
    ColorMode, Completer, Config, Editor, Helper, Hinter, Validator,
    error::ReadlineError,
    highlight::{CmdKind, Highlighter},
    history::DefaultHistory,
};
use textwrap::{WordSplitter, core::display_width};
use tokio::sync::mpsc;

use super::render::without_style;

pub(super) struct Console {
    prompts: blocking::Sender<String>,
    /// Closed when the input ends.
    pub lines: mpsc::Receiver<String>,
    out: Box<dyn Write + Send + Sync>,
    /// Whether `out` is a terminal, so that lines are wrapped and styled.
    is_terminal: bool,
    /// The line that is being typed, unless the input is a pipe.
    typed: Option<Arc<Mutex<Typed>>>,
}

impl Console {
    pub(super) fn open() -> anyhow::Result<Self> {
        let is_terminal = stdout().is_terminal();
        if !is_terminal || !stdin().is_terminal() || var_os("TERM").is_some_and(|term| term == "dumb") {
            let mut lines = BufReader::new(stdin()).lines();
            return Ok(Self { is_terminal, ..Self::new(stdout(), move |_| lines.next()?.ok()) });
        }
        // Colors are forced on, because only then the editor reports each change of the line to `Highlighter`.
        let config = Config::builder().auto_add_history(true).color_mode(ColorMode::Forced).build();
        let mut editor = Editor::<Typing, DefaultHistory>::with_config(config).context("opening the terminal")?;
        let typed = Arc::new(Mutex::new(Typed::default()));
        editor.set_helper(Some(Typing(Arc::clone(&typed))));
        let shared = Arc::clone(&typed);
        let read = move |prompt: &str| loop {
            *lock(&shared) = Typed { active: true, prompt: prompt.to_owned(), ..Typed::default() };
            let read = editor.readline(prompt);
            lock(&shared).active = false;
            match read {
                Ok(line) => return Some(line),
                // Ctrl-C clears the line, as in a shell.
                Err(ReadlineError::Interrupted) => {}
                Err(_) => return Some("/quit".to_owned()),
            }
        };
        Ok(Self { is_terminal, typed: Some(typed), ..Self::new(stdout(), read) })
    }

    /// Reads lines on a separate thread, because `read` blocks. The thread ends with the process.
    pub(super) fn new(out: impl Write + Send + Sync + 'static, mut read: impl FnMut(&str) -> Option<String> + Send + 'static) -> Self {
        let (prompts, asked) = blocking::channel::<String>();
        let (sender, lines) = mpsc::channel(1);
        thread::spawn(move || asked.iter().map_while(|prompt| read(&prompt)).try_for_each(|line| sender.blocking_send(line)));
        Self { prompts, lines, out: Box::new(out), is_terminal: false, typed: None }
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
        // Locked while writing, so that the editor cannot start or finish a line meanwhile.
        let typed = self.typed.as_deref().map(lock);
        let frame = match &typed {
            Some(typed) if typed.active => typed.print_above(&text, columns),
            _ => format!("{text}\n"),
        };
        self.out.write_all(frame.as_bytes()).and_then(|()| self.out.flush()).context("writing to the terminal")
    }
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

fn lock(typed: &Mutex<Typed>) -> MutexGuard<'_, Typed> {
    typed.lock().unwrap_or_else(PoisonError::into_inner)
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

/// Records the input line after each change.
#[derive(Helper, Completer, Hinter, Validator)]
struct Typing(Arc<Mutex<Typed>>);

impl Highlighter for Typing {
    fn highlight_char(&self, line: &str, cursor: usize, _: CmdKind) -> bool {
        let mut typed = lock(&self.0);
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

    #[test]
    fn words_are_never_broken() {
        let text = "     one well-known word\n     │ in an embed\n- a list item\nhttp://127.0.0.1:4800/very/long";
        assert_eq!(
            wrap(text, 16),
            "     one\n     well-known\n     word\n     │ in an\n     │ embed\n- a list item\nhttp://127.0.0.1:4800/very/long"
        );
    }
}
