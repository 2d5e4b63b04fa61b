//! The sandbox in a terminal: the same channels as the page, as text, over the same gateway and REST
//! API. Lines are messages, lines with a slash are commands; piped input makes a script of them.
//!
//! It is a client and nothing more. It keeps no history beyond what is on the screen, and it leaves
//! to the page what text cannot show well: pictures, command completion by the team, sub-commands.

mod acts;
mod client;
mod guild;
mod input;
mod model;
mod screen;
mod session;
mod shown;
mod slash;

use std::{
    ops::ControlFlow,
    sync::{Arc, RwLock},
    time::Duration,
};

use anyhow::Context;
use serde::Deserialize;
use tokio::time::{Instant, sleep_until};

use client::{Rest, gateway};
use screen::{Screen, complete::Words, lines::Lines};
use session::Session;

/// After the last line of a script, its answers are awaited until it has been quiet for so long…
const QUIET: Duration = Duration::from_secs(2);
/// …but not for ever.
const LINGER: Duration = Duration::from_mins(1);

#[derive(Deserialize)]
struct GatewayAddress {
    url: String,
}

/// Takes part as the person whose `token` it is, until `/quit` or the end of the input.
///
/// `api` is the server's address without a path, such as `http://127.0.0.1:8080`.
///
/// # Errors
/// When the server cannot be reached or refuses the token, or the terminal cannot be used.
pub async fn run(api: String, token: String) -> anyhow::Result<()> {
    let words = Arc::new(RwLock::new(Words::default()));
    let (lines, screen) = Lines::open(Arc::clone(&words))?;
    take_part(&api, token, lines, screen, words).await
}

async fn take_part(api: &str, token: String, mut lines: Lines, screen: Screen, words: Arc<RwLock<Words>>) -> anyhow::Result<()> {
    let rest = Rest::new(api, &token)?;
    let address: GatewayAddress = rest.get("/gateway").await.with_context(|| format!("asking {api} for its gateway"))?;
    let mut events = gateway::connect(address.url, token);
    let mut session = Session::new(rest, screen, words);
    session.begin(&mut events).await?;
    lines.prompt(&session.prompt());
    let mut ending: Option<Ending> = None;
    loop {
        let deadline = session.waits_until.or(ending.as_ref().map(Ending::at));
        tokio::select! {
            // What the server already said is shown before the next line is carried out.
            biased;
            event = events.recv() => {
                let Some(event) = event else { return session.warn("the connection to the sandbox ended") };
                session.receive(&event).await?;
                if let Some(ending) = &mut ending {
                    ending.postpone();
                }
            }
            line = lines.next(), if session.waits_until.is_none() && ending.is_none() => match line {
                Some(line) => {
                    if session.enter(&line).await? == ControlFlow::Break(()) {
                        return Ok(());
                    }
                    lines.prompt(&session.prompt());
                }
                None if lines.is_script() => ending = Some(Ending::begin()),
                None => return Ok(()),
            },
            () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => {
                if session.waits_until.take().is_none() {
                    return Ok(());
                }
                session.warn("nobody answered in that time")?;
            }
        }
    }
}

/// The end of a script, put off while something still happens.
struct Ending {
    quiet: Instant,
    latest: Instant,
}

impl Ending {
    fn begin() -> Self {
        let now = Instant::now();
        Self { quiet: now + QUIET, latest: now + LINGER }
    }

    fn postpone(&mut self) {
        self.quiet = Instant::now() + QUIET;
    }

    fn at(&self) -> Instant {
        self.quiet.min(self.latest)
    }
}

#[cfg(test)]
mod tests;
