//! Connecting a language model spends nothing by itself: what waited for one is offered, and starts when an operator says so.
//!
//! The notice [`OFFERED`] is written in the transaction that asks. It is there while something waits and a model is connected, so that each
//! connection asks once, also after a crash. The items say whether they were started.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::features::backlog::Work;
use crate::features::backlog::button::WorkButton;
use crate::features::backlog::model::{Wait, WorkItem, WorkKind};
use kernel::agent::offline::wording::count;
use kernel::chat::outbound::{Button, ButtonStyle, OutboundKind, OutboundMessage};
use kernel::db::StoreError;
use kernel::ids::ChannelId;
use kernel::text::join_with_and;

const OFFERED: &str = "waited-for-model";
/// How long an offer is not repeated.
const SILENT: Duration = Duration::from_hours(24 * 365);

impl Work {
    pub(super) async fn offer_waiting(&self, waiting: &[WorkItem]) -> Result<(), StoreError> {
        let (deps, now) = (self.deps(), self.deps().clock.now());
        let waiting: Vec<&WorkItem> = waiting.iter().filter(|item| item.wait == Some(Wait::Model)).collect();
        let Some(first) = waiting.first().filter(|_| !deps.agents.is_offline()) else {
            return deps.store.forget_notice(OFFERED).await;
        };
        if deps.store.was_noticed(OFFERED, now, SILENT).await? {
            return Ok(());
        }
        let ops = self.resolve_channel(&deps.ops_channel).await?;
        let Some(channel) = (if ops.is_some() { ops } else { self.find_channel(first).await? }) else {
            tracing::warn!(items = waiting.len(), "there is no channel in which to offer what waited for a language model");
            return Ok(());
        };
        deps.store.offer_waiting(&self.render_offer(&waiting, &channel), OFFERED, now).await
    }

    fn render_offer(&self, waiting: &[&WorkItem], channel: &ChannelId) -> OutboundMessage {
        let (steps, items): (Vec<&WorkItem>, Vec<&WorkItem>) = waiting.iter().partition(|item| item.kind == WorkKind::Step);
        let missions = steps.iter().filter_map(|step| step.parent.as_ref()).collect::<BTreeSet<_>>().len();
        let counts = [(items.len(), "item"), (missions, "mission")];
        let counts: Vec<String> = counts.into_iter().filter(|(number, _)| *number > 0).map(|(number, what)| count(number, what)).collect();
        let text = format!(
            "A language model is connected. {} waited for one. Shall we start? It costs what the work costs, so an operator decides.",
            join_with_and(&counts)
        );
        let start = Button { id: WorkButton::StartWaiting.id(), label: "Start".to_owned(), style: ButtonStyle::Success };
        let message = OutboundMessage::new(&self.deps().roster.coordinator().slug, channel, OutboundKind::Notice, text);
        OutboundMessage { buttons: vec![start], ..message }
    }
}
