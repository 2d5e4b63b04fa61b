//! How the last standups went (STAND-17): the weekly chart, and the figures behind it.

use chrono::TimeDelta;

use crate::features::standup::model::health::{StandupFigures, StandupHealth};
use crate::features::standup::{Standup, render};
use kernel::chat::outbound::{Card, FileContent, OutboundFile, OutboundKind, OutboundMessage};
use kernel::db::StoreError;
use kernel::ids::ChannelId;

/// The number of standups that are read.
const STANDUPS: u32 = 14;

/// How far back ratings count for a persona.
pub(super) const RATED: TimeDelta = TimeDelta::days(60);

const PICTURE: &str = "standups.png";

impl Standup {
    /// The figures of the last standups, oldest first.
    pub(super) async fn list_figures(&self) -> Result<Vec<StandupFigures>, StoreError> {
        let newest_first = self.deps.store.list_standup_figures(STANDUPS).await?;
        Ok(newest_first.into_iter().rev().collect())
    }

    /// The chart as a message for a channel; none before the first standup.
    pub(super) async fn draw_health(&self, channel: &ChannelId) -> anyhow::Result<Option<OutboundMessage>> {
        let figures = self.list_figures().await?;
        if figures.is_empty() {
            return Ok(None);
        }
        let health = StandupHealth::of(&figures);
        // Drawing takes tens of milliseconds of one core.
        let picture = tokio::task::spawn_blocking(move || render::draw_health(&figures)).await??;
        let facilitator = &self.deps.roster.coordinator().slug;
        Ok(Some(OutboundMessage {
            card: Some(Card {
                title: "Health of the standup".into(),
                text: render::render_health(&health),
                image: Some(PICTURE.into()),
                ..Card::default()
            }),
            files: vec![OutboundFile { name: PICTURE.into(), content: FileContent::Bytes(picture) }],
            ..OutboundMessage::new(facilitator, channel, OutboundKind::Notice, "")
        }))
    }
}
