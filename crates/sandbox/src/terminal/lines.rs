//! Lines in and lines out: a line editor in a terminal, or plain lines from a pipe.

use std::{
    io::{BufRead, IsTerminal, Write},
    sync::{Arc, Mutex, PoisonError, mpsc as blocking},
    thread,
};

use anyhow::Context as _;
use rustyline::{
    Completer, Config, Context, Editor, Helper, Validator,
    error::ReadlineError,
    highlight::{CmdKind, Highlighter},
    hint::Hinter,
    history::DefaultHistory,
};
use textwrap::{WordSplitter, core::display_width};
use tokio::sync::mpsc;

const BUFFER: usize = 64;

pub(super) struct Lines {
    lines: mpsc::Receiver<String>,
    prompts: Option<blocking::Sender<String>>,
}

impl Lines {
    /// Starts to read standard input. Reading blocks, so it has its own thread, which ends with the process.
    pub(super) fn open() -> anyhow::Result<(Self, Screen)> {
        let (sender, lines) = mpsc::channel(BUFFER);
        let has_cursor = std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        if !(std::io::stdin().is_terminal() && std::io::stdout().is_terminal() && has_cursor) {
            thread::spawn(move || read_lines(&sender));
            return Ok((Self { lines, prompts: None }, Screen { out: Box::new(std::io::stdout()), typed: None }));
        }
        let config = Config::builder().auto_add_history(true).build();
        let mut editor = Editor::<Typing, DefaultHistory>::with_config(config).context("opening the terminal")?;
        let typed = Arc::new(Mutex::new(Typed::default()));
        editor.set_helper(Some(Typing { typed: Arc::clone(&typed) }));
        let (prompts, asked) = blocking::channel();
        let screen = Screen { out: Box::new(std::io::stdout()), typed: Some(Arc::clone(&typed)) };
        thread::spawn(move || edit_lines(editor, &typed, &asked, &sender));
        Ok((Self { lines, prompts: Some(prompts) }, screen))
    }

    #[cfg(test)]
    pub(super) fn script(given: &str) -> Self {
        let (sender, lines) = mpsc::channel(BUFFER);
        given.lines().for_each(|line| sender.try_send(line.to_owned()).expect("a test has few lines"));
        Self { lines, prompts: None }
    }

    /// Lines that a test sends one by one.
    #[cfg(test)]
    pub(super) fn typed() -> (Self, mpsc::Sender<String>) {
        let (sender, lines) = mpsc::channel(BUFFER);
        (Self { lines, prompts: None }, sender)
    }

    pub(super) fn is_piped(&self) -> bool {
        self.prompts.is_none()
    }

    pub(super) fn prompt(&self, prompt: &str) {
        if let Some(prompts) = &self.prompts {
            // Fails only after the end of the input, which `next` reports.
            let _ = prompts.send(prompt.to_owned());
        }
    }

    /// The next line, or `None` at the end of the input.
    pub(super) async fn next(&mut self) -> Option<String> {
        self.lines.recv().await
    }
}

fn read_lines(lines: &mpsc::Sender<String>) {
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        if lines.blocking_send(line).is_err() {
            return;
        }
    }
}

fn edit_lines(
    mut editor: Editor<Typing, DefaultHistory>,
    typed: &Mutex<Typed>,
    prompts: &blocking::Receiver<String>,
    lines: &mpsc::Sender<String>,
) {
    while let Ok(prompt) = prompts.recv() {
        let line = loop {
            *lock(typed) = Typed { active: true, prompt: prompt.clone(), ..Typed::default() };
            let read = editor.readline(&prompt);
            lock(typed).active = false;
            match read {
                Ok(line) => break line,
                // Ctrl-C clears the line, as in a shell.
                Err(ReadlineError::Interrupted) => {}
                Err(_) => return,
            }
        };
        if lines.blocking_send(line).is_err() {
            return;
        }
    }
}

fn lock(typed: &Mutex<Typed>) -> std::sync::MutexGuard<'_, Typed> {
    typed.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prints above the line that is being typed.
pub(super) struct Screen {
    out: Box<dyn Write + Send>,
    typed: Option<Arc<Mutex<Typed>>>,
}

impl Screen {
    #[cfg(test)]
    pub(super) fn plain(out: impl Write + Send + 'static) -> Self {
        Self { out: Box::new(out), typed: None }
    }

    /// # Errors
    /// When the terminal or the pipe is closed.
    pub(super) fn print(&mut self, text: &str) -> anyhow::Result<()> {
        let columns = std::io::stdout().is_terminal().then(textwrap::termwidth);
        let text = columns.map_or_else(|| text.to_owned(), |columns| wrap(text, columns));
        // Held while writing, so that the editor cannot begin or end a line meanwhile.
        let typed = self.typed.as_ref().map(|typed| lock(typed));
        let frame = match typed.as_deref() {
            Some(typed) if typed.active => typed.print_above(&text, columns.unwrap_or(usize::MAX)),
            _ => format!("{text}\n"),
        };
        self.out.write_all(frame.as_bytes()).and_then(|()| self.out.flush()).context("writing to the terminal")
    }
}

/// Wraps between words. A continued line has the indentation of its first line.
fn wrap(text: &str, columns: usize) -> String {
    let wrap_line = |line: &str| {
        let rest = line.trim_start_matches([' ', '│']);
        let bullet = match rest.get(..2) {
            Some("- ") => "  ",
            Some("> ") => "> ",
            _ => "",
        };
        let indent = format!("{}{bullet}", &line[..line.len() - rest.len()]);
        let options = textwrap::Options::new(columns).break_words(false).word_splitter(WordSplitter::NoHyphenation);
        textwrap::wrap(line, options.subsequent_indent(&indent)).join("\n")
    };
    text.lines().map(wrap_line).collect::<Vec<_>>().join("\n")
}

/// The input line as the editor drew it last.
///
/// rustyline's own `ExternalPrinter` is not used: with it, rustyline 18.0 holds back keys that arrive in one piece
/// (paste, `tmux send-keys`) until the next key.
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
        let columns = columns.max(1);
        // The terminal is in raw mode, where a line feed does not return to column 0.
        let text = text.replace('\n', "\r\n");
        let clear = format!("\r{}\x1b[J", move_cursor(cursor / columns, 'A'));
        let back = format!("\r{}{}", move_cursor(end / columns - cursor / columns, 'A'), move_cursor(cursor % columns, 'C'));
        format!("{clear}{text}\r\n{}{}{back}", self.prompt, self.line)
    }
}

/// Moves the cursor up (`A`) or right (`C`). A terminal reads a count of 0 as 1.
fn move_cursor(count: usize, direction: char) -> String {
    if count == 0 { String::new() } else { format!("\x1b[{count}{direction}") }
}

/// Records the input line. The editor calls `hint` and `highlight_char` after each change.
#[derive(Helper, Completer, Validator)]
struct Typing {
    typed: Arc<Mutex<Typed>>,
}

impl Typing {
    fn record(&self, line: &str, cursor: usize) {
        let mut typed = lock(&self.typed);
        line.clone_into(&mut typed.line);
        typed.cursor = cursor;
    }
}

impl Hinter for Typing {
    type Hint = String;

    fn hint(&self, line: &str, cursor: usize, _: &Context<'_>) -> Option<String> {
        self.record(line, cursor);
        None
    }
}

impl Highlighter for Typing {
    fn highlight_char(&self, line: &str, cursor: usize, _: CmdKind) -> bool {
        self.record(line, cursor);
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
