//! `/overwatch`, `teamroom overwatch` and the buttons of insights.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::features::backlog::model::{Origin, Owner, WorkItem, WorkStatus};
use crate::features::backlog::store::insert_items;
use crate::features::overwatch::button::{Choice, InsightButton};
use crate::features::overwatch::model::{Insight, find_trends};
use crate::features::overwatch::render;
use crate::features::overwatch::store::note_item;
use crate::store::Store;
use kernel::commands::{Caller, CommandCall, CommandReply, CommandSpec, Refused, Registry, Services, refuse};
use kernel::db::StoreError;
use kernel::ids::WorkItemId;
use kernel::memory::Scope;
use kernel::persona::roster::Roster;
use kernel::text::flatten;
use kernel::time::SharedClock;

/// Insights that are looked through, and the most that are listed.
const KNOWN: u32 = 500;
const LISTED: usize = 20;
/// The most characters of an item's title.
const TITLE: usize = 140;

pub(super) struct OverwatchCommands {
    pub(super) store: Store,
    pub(super) roster: Arc<Roster>,
    pub(super) clock: SharedClock,
}

pub(super) fn register(registry: &mut Registry, services: &Services) {
    let overwatch = services.late::<OverwatchCommands>();
    registry
        .group(CommandSpec::new("overwatch", "What personas noticed when they looked back at missions."), &overwatch)
        .command(CommandSpec::new("show", "What was noticed about the last missions."), |overwatch, call| Box::pin(overwatch.show(call)))
        .command(CommandSpec::new("trends", "Themes that come up again, and whether they are resolved."), |overwatch, call| {
            Box::pin(overwatch.show_trends(call))
        });
    registry.button(InsightButton::PREFIX, &overwatch, |overwatch, call| Box::pin(overwatch.press(call)));
}

impl OverwatchCommands {
    /// Insights visible in the caller's channel.
    pub(super) async fn list(&self, call: &CommandCall) -> Result<Vec<Insight>, StoreError> {
        let mut insights = self.store.list_insights(KNOWN).await?;
        if let Some(here) = &call.channel {
            let scope = Scope::of(here);
            insights.retain(|insight| scope.hears(insight.private_to.as_ref()));
        }
        Ok(insights)
    }

    /// Those of one look back.
    pub(super) async fn list_of(&self, run: &str) -> Result<Vec<Insight>, StoreError> {
        let mut insights = self.store.list_insights(KNOWN).await?;
        insights.retain(|insight| insight.run_key() == Some(run));
        Ok(insights)
    }

    async fn show(&self, call: &CommandCall) -> anyhow::Result<CommandReply> {
        let insights = self.list(call).await?;
        let listed: Vec<&Insight> = insights.iter().take(LISTED).collect();
        let text = render::list(&listed, &self.roster, self.roster.today(self.clock.now()));
        Ok(CommandReply::private(text).with_data(json!(listed)))
    }

    async fn show_trends(&self, call: &CommandCall) -> anyhow::Result<CommandReply> {
        let insights = self.list(call).await?;
        let mut done = HashMap::new();
        for item in insights.iter().filter_map(|insight| insight.item.as_ref()) {
            let events = self.store.list_events(item).await?;
            if let Some(event) = events.iter().rfind(|event| event.to == WorkStatus::Done) {
                done.insert(item.clone(), event.at);
            }
        }
        let trends = find_trends(&insights, |item| done.get(item).copied());
        let text = render::trends(&trends, self.roster.today(self.clock.now()));
        Ok(CommandReply::private(text).with_data(json!(trends)))
    }

    async fn press(&self, call: &CommandCall) -> anyhow::Result<CommandReply> {
        let Some(button) = InsightButton::parse(&call.name) else { return Ok(refuse("this button is not known any more")?) };
        let insight = self.store.find_insight(&button.insight).await?.ok_or_else(|| Refused::new("this insight is gone"))?;
        let useful = match button.choice {
            Choice::Useful => true,
            Choice::NotUseful => false,
            Choice::Item => return self.make_item(call, &insight).await,
        };
        let Caller::Person { id, .. } = &call.caller else { return Ok(refuse("only people in the chat rate insights")?) };
        self.store.rate_insight(&insight.id, id, useful, self.clock.now()).await?;
        let name = self.roster.name_of(&insight.by);
        Ok(CommandReply::private(format!("Noted: {} for {name}.", if useful { "useful" } else { "not useful" })))
    }

    /// One transaction: the item, and its id in the insight.
    async fn make_item(&self, call: &CommandCall, insight: &Insight) -> anyhow::Result<CommandReply> {
        let now = self.clock.now();
        let origin = match &call.caller {
            Caller::Person { id, name, .. } => Origin::Person { id: id.clone(), name: name.clone(), message: None },
            Caller::CommandLine | Caller::KanbanPage => Origin::CommandLine,
        };
        let owner = Owner::Persona(insight.to.clone().unwrap_or_else(|| self.roster.coordinator().slug.clone()));
        let item = WorkItem {
            id: item_id(insight),
            why: format!("{} noticed it when looking back at \"{}\".", self.roster.name_of(&insight.by), insight.title),
            how: insight.text.clone(),
            channel: call.channel.as_ref().map(|channel| channel.id.clone()),
            private_to: insight.private_to.clone(),
            ..WorkItem::new(flatten(&insight.text, TITLE), owner, origin, now)
        };
        let mut transaction = self.store.db().begin().await?;
        if !note_item(&mut transaction, &insight.id, &item.id).await? {
            refuse("it is a work item already")?;
        }
        insert_items(&mut transaction, std::slice::from_ref(&item), now).await?;
        transaction.commit().await?;
        let text = format!("{} made it a work item: `#{}`.", call.caller.subject(), item.short_id());
        Ok(CommandReply::public(text).with_data(json!({ "item": item.id })))
    }
}

/// Always the same for an insight.
fn item_id(insight: &Insight) -> WorkItemId {
    let digest = Sha256::digest(format!("overwatch\n{}", insight.id));
    WorkItemId::new(digest[..16].iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}")))
}
