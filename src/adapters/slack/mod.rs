//! The adapter for Slack.
//!
//! The team has one app, through which each persona speaks with its own name and icon. A persona may also have an app of its own. Each app listens on
//! several [`socket`]s, and the [`hub`] converts each report once to a [`kernel::chat::PlatformEvent`]. [`api`] calls the Web API, [`render`] and
//! [`markup`] write the posts, [`sessions`] show where somebody works, [`commands`] carry out `/team` and buttons.
//!
//! Outside of this folder every id begins with `slack:`, which [`ids`] adds and removes. Slack does not deduplicate posts. So each post carries the
//! id of its row, and the adapter looks for a post whose outcome is unknown before the post is repeated.

mod accounts;
mod api;
mod check;
mod commands;
mod connect;
mod directory;
mod emoji;
mod form;
mod home;
mod hub;
mod ids;
mod inbound;
pub mod manifest;
mod markup;
mod platform;
mod posting;
mod render;
mod sessions;
pub mod settings;
mod socket;

use std::sync::Arc;

use chrono::{DateTime, Utc};
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

pub use check::check;
pub use connect::Options;
pub use ids::PLATFORM;
pub use markup::TEXT;

use api::Api;
use connect::Ready;
use hub::Hub;
use posting::Pace;

/// The team on Slack. Created by [`Slack::connect`], used as a [`kernel::chat::ChatPlatform`].
pub struct Slack {
    api: Arc<Api>,
    hub: Arc<Hub>,
    pace: Pace,
    /// The channels have been read.
    ready: Arc<Ready>,
    /// When this process began.
    started: DateTime<Utc>,
    tasks: Mutex<JoinSet<()>>,
    stop: CancellationToken,
}

impl Slack {
    /// Closes all connections.
    async fn close(&self) {
        self.stop.cancel();
        while self.tasks.lock().await.join_next().await.is_some() {}
    }
}
