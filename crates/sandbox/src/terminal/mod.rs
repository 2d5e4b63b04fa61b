//! A line client for the sandbox. It uses the gateway and the REST API like any other client.
//! Lines that begin with `/` are commands, all other lines are messages.

mod client;
mod directory;
mod input;
mod lines;
mod render;
mod session;
mod slash;

use std::{ops::ControlFlow, time::Duration};

use anyhow::Context;
use tokio::time::{Instant, sleep_until};

use client::Rest;
use lines::{Lines, Screen};
use session::Session;

/// After the last line of piped input, the client quits once nothing happened for `QUIET`, at the latest after `MAX_LINGER`.
const QUIET: Duration = Duration::from_secs(2);
const MAX_LINGER: Duration = Duration::from_mins(1);

/// Runs the client for the person with this `token`, until `/quit` or the end of the input.
///
/// `api` is the server's address without a path, such as `http://127.0.0.1:8080`.
///
/// # Errors
/// When the server cannot be reached or refuses the token, or the terminal is closed.
pub async fn run(api: String, token: String) -> anyhow::Result<()> {
    let (lines, screen) = Lines::open()?;
    run_with(&api, token, lines, screen).await
}

async fn run_with(api: &str, token: String, mut lines: Lines, screen: Screen) -> anyhow::Result<()> {
    let rest = Rest::new(api, &token)?;
    let gateway = rest.get("/gateway").await.with_context(|| format!("connecting to {api}"))?;
    let mut events = client::connect(gateway["url"].as_str().context("the server has no gateway")?.to_owned(), token);
    let mut session = Session::new(rest, screen);
    session.begin(&mut events).await?;
    lines.prompt(&session.prompt());
    let mut last_activity = Instant::now();
    let mut input_ended = None;
    loop {
        let quit_at = input_ended.map(|ended| (last_activity + QUIET).min(ended + MAX_LINGER));
        let deadline = session.wait_until.or(quit_at);
        tokio::select! {
            // Shows pending events before the next line is run.
            biased;
            event = events.recv() => {
                let (kind, data) = event.context("the connection to the sandbox is closed")??;
                session.receive(&kind, data)?;
                last_activity = Instant::now();
            }
            line = lines.next(), if session.wait_until.is_none() && input_ended.is_none() => match line {
                Some(line) => {
                    if session.run_line(&line).await? == ControlFlow::Break(()) {
                        return Ok(());
                    }
                    last_activity = Instant::now();
                    lines.prompt(&session.prompt());
                }
                None if lines.is_piped() => input_ended = Some(Instant::now()),
                None => return Ok(()),
            },
            () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => {
                if session.wait_until.take().is_none() {
                    return Ok(());
                }
                session.print("No answer in that time.")?;
            }
        }
    }
}

#[cfg(test)]
mod tests;
