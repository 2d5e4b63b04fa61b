use chrono::{DateTime, Utc};

use crate::features::standup::checkins::opting::stop_button;
use crate::features::standup::model::checkin::CheckIn;
use crate::features::standup::{StandupTerms, render};
use crate::store::Store;
use kernel::agent::halts::HaltScope;
use kernel::chat::message::Channel;
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::db::StoreError;
use kernel::time::Today;

/// Asks all people who want this and were not asked yet for the day of this standup. Asks nobody while the team is halted, because then no standup
/// begins.
pub(in crate::features::standup) async fn ask_people(
    store: &Store,
    terms: &StandupTerms,
    channel: &Channel,
    standup_at: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let silencing = [HaltScope::All, HaltScope::Channel(channel.id.clone()), HaltScope::Persona(terms.facilitator.clone())];
    if store.list_halts().await?.iter().any(|halt| silencing.contains(&halt.scope)) {
        return Ok(());
    }
    let day = standup_at.with_timezone(&terms.zone).date_naive();
    for (person, name) in store.list_unasked_people(&channel.id, day, standup_at).await? {
        let text = render::render_checkin_question(&channel.id, Today { now, zone: terms.zone }.show(standup_at));
        let question = OutboundMessage {
            buttons: vec![stop_button(&channel.id)],
            until: Some(standup_at),
            ..OutboundMessage::direct(&terms.facilitator, &person, OutboundKind::Report, text)
        };
        let (channel, persona, post) = (channel.id.clone(), terms.facilitator.clone(), question.id.clone());
        let checkin = CheckIn { channel, day, person, name, persona, post, standup_at };
        if store.ask_checkin(&checkin, &question, now).await? {
            tracing::info!(channel = %checkin.channel, person = %checkin.person, %standup_at, "a person is asked before the standup");
        }
    }
    Ok(())
}
