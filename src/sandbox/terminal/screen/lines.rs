//! Lines that the person types, or that a script pipes in.

use std::{
    io::{BufRead, IsTerminal},
    sync::{Arc, Mutex, PoisonError, RwLock, mpsc as blocking},
    thread,
};

use anyhow::Context;
use rustyline::{Config, Editor, error::ReadlineError, history::DefaultHistory};
use tokio::sync::mpsc;

use super::{
    Screen, Typed,
    complete::{Typing, Words},
};

/// Lines of a script wait here until the earlier ones are done.
const BUFFER: usize = 64;

pub(in super::super) struct Lines {
    lines: mpsc::Receiver<String>,
    prompts: Option<blocking::Sender<String>>,
}

impl Lines {
    /// Starts reading standard input, and gives the screen that goes with it. Both readers block, so
    /// each has a thread of its own, which nobody waits for: the process may end while they read.
    ///
    /// # Errors
    /// When the terminal cannot be used.
    pub(in super::super) fn open(words: Arc<RwLock<Words>>) -> anyhow::Result<(Self, Screen)> {
        let (sender, lines) = mpsc::channel(BUFFER);
        if !std::io::stdin().is_terminal() {
            thread::Builder::new().name("script".to_owned()).spawn(move || read_script(&sender)).context("starting to read the script")?;
            return Ok((Self { lines, prompts: None }, Screen::plain(std::io::stdout())));
        }
        let mut editor = Editor::<Typing, DefaultHistory>::with_config(Config::builder().auto_add_history(true).build())
            .context("opening the terminal")?;
        let typed = Arc::new(Mutex::new(Typed::default()));
        editor.set_helper(Some(Typing { words, typed: Arc::clone(&typed) }));
        let screen = Screen::interactive(Arc::clone(&typed));
        let (prompts, asked) = blocking::channel();
        thread::Builder::new()
            .name("editor".to_owned())
            .spawn(move || edit_lines(editor, &typed, &asked, &sender))
            .context("starting the line editor")?;
        Ok((Self { lines, prompts: Some(prompts) }, screen))
    }

    /// Lines that are already there.
    #[cfg(test)]
    pub(in super::super) fn script(given: &str) -> Self {
        let (sender, lines) = mpsc::channel(BUFFER);
        given.lines().for_each(|line| sender.try_send(line.to_owned()).expect("a test has few lines"));
        Self { lines, prompts: None }
    }

    pub(in super::super) fn is_script(&self) -> bool {
        self.prompts.is_none()
    }

    /// Asks for the next line. A script is not asked.
    pub(in super::super) fn prompt(&self, prompt: &str) {
        if let Some(prompts) = &self.prompts {
            // The editor is gone only after the end of the input, which `next` tells.
            let _ = prompts.send(prompt.to_owned());
        }
    }

    /// The next line, or nothing at the end of the input.
    pub(in super::super) async fn next(&mut self) -> Option<String> {
        self.lines.recv().await
    }
}

fn read_script(lines: &mpsc::Sender<String>) {
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
    let change = |set: &mut dyn FnMut(&mut Typed)| set(&mut typed.lock().unwrap_or_else(PoisonError::into_inner));
    while let Ok(prompt) = prompts.recv() {
        let columns = editor.dimensions().map_or(80, |(columns, _)| usize::from(columns));
        let line = loop {
            change(&mut |typed| *typed = Typed { active: true, prompt: prompt.clone(), columns, ..Typed::default() });
            let read = editor.readline(&prompt);
            change(&mut |typed| typed.active = false);
            match read {
                Ok(line) => break line,
                // Ctrl C throws the line away, as in a shell.
                Err(ReadlineError::Interrupted) => {}
                Err(_) => return,
            }
        };
        if lines.blocking_send(line).is_err() {
            return;
        }
    }
}
