//! `/overwatch`, `teamroom overwatch` and the buttons of insights.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::features::backlog::model::{Origin, Owner, WorkItem, WorkStatus};
use crate::features::backlog::store::insert_items;
use crate::features::meeting::model::Meeting;
use crate::features::overwatch::button::{Choice, InsightButton};
use crate::features::overwatch::jobs::MeetingAsked;
use crate::features::overwatch::model::{Insight, Subject, find_trends};
use crate::features::overwatch::record::{Records, speakers};
use crate::features::overwatch::render;
use crate::features::overwatch::store::{look_back_at_meeting, note_item};
use crate::features::schedule::find_place;
use crate::store::Store;
use kernel::agent::Agents;
use kernel::agent::halts::HaltScope;
use kernel::chat::medium::Medium;
use kernel::chat::message::{Channel, Place};
use kernel::commands::{
    ArgumentSpec, Caller, CommandCall, CommandReply, CommandSpec, Refused, Registry, Services, Suggestion, Surface, Topic, refuse,
};
use kernel::db::StoreError;
use kernel::ids::WorkItemId;
use kernel::memory::Scope;
use kernel::persona::roster::Roster;
use kernel::text::{flatten, fold_name, join_with_and, one_line};
use kernel::time::SharedClock;

/// The most insights that are searched, and the most that are listed.
const KNOWN: u32 = 500;
const LISTED: usize = 20;
/// The most meetings that are searched for a name, and the most that are suggested.
const MEETINGS: u32 = 200;
const SUGGESTED: u32 = 25;
/// The most characters of an item's title.
const TITLE: usize = 140;

pub(super) struct OverwatchCommands {
    pub(super) store: Store,
    pub(super) records: Records,
    pub(super) roster: Arc<Roster>,
    /// None in a process that only carries out commands.
    pub(super) agents: Option<Arc<Agents>>,
    pub(super) clock: SharedClock,
}

pub(super) fn register(registry: &mut Registry, services: &Services) {
    let overwatch = services.late::<OverwatchCommands>();
    registry
        .group(CommandSpec::new("overwatch", "What personas noticed when they looked back.").listed_under(Topic::Meetings), &overwatch)
        .command(CommandSpec::new("show", "What was noticed about the last missions and meetings."), |overwatch, call| {
            Box::pin(overwatch.show(call))
        })
        .command(
            CommandSpec::new("run", "Have those who took part in a meeting look back at it.")
                .example("--meeting standup")
                .public()
                .argument(ArgumentSpec::reference(
                    "meeting",
                    "meeting",
                    "Which one: its kind, its day or words of its question; by default the last one here",
                ))
                .argument(
                    ArgumentSpec::name_or_id("channel", 100, "The channel, by name or id")
                        .completed_by("channel")
                        .only_in(Surface::CommandLine),
                ),
            |overwatch, call| Box::pin(overwatch.run(call)),
        )
        .command(CommandSpec::new("trends", "Themes that come up again, and whether they are resolved."), |overwatch, call| {
            Box::pin(overwatch.show_trends(call))
        });
    registry.completion("meeting", &overwatch, |overwatch, typed| Box::pin(overwatch.complete(typed)));
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

    /// The insights of one look back.
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

    async fn run(&self, call: &CommandCall) -> anyhow::Result<CommandReply> {
        if matches!(call.caller, Caller::KanbanPage) {
            refuse("the team is not asked to look back on the kanban page. Use `/overwatch run` in the chat")?;
        }
        let meeting = self.find_meeting(call).await?;
        let concerned = [HaltScope::All, HaltScope::Channel(meeting.channel.id.clone())];
        if let Some(halt) = self.store.list_halts().await?.into_iter().find(|halt| concerned.contains(&halt.scope)) {
            refuse(format!("{} has paused the team. Ask an operator to use `/resume` first", flatten(&halt.by, 40)))?;
        }
        let title = self.records.title_of(&meeting).await?;
        if self.agents.as_ref().is_some_and(|agents| agents.is_offline()) {
            refuse("looking back takes a model, and none is connected")?;
        }
        let speakers = speakers(&self.store.list_seats(&meeting.id).await?);
        let names: Vec<&str> = speakers.iter().map(|slug| self.roster.name_of(slug)).collect();
        if names.is_empty() {
            refuse(format!("nobody of the team spoke in \"{title}\", so nobody can look back at it"))?;
        }
        let known = self.store.list_insights_of(&Subject::Meeting(meeting.id.clone())).await?;
        if !known.is_empty() {
            let text = render::list(&known.iter().collect::<Vec<_>>(), &self.roster, self.roster.today(self.clock.now()));
            return Ok(CommandReply::public(format!("They have looked back at it already.\n\n{text}")).with_data(json!(known)));
        }
        let mut transaction = self.store.db().begin().await?;
        look_back_at_meeting(&mut transaction, &MeetingAsked { meeting: meeting.id.clone() }, self.clock.now()).await?;
        transaction.commit().await?;
        let look = if names.len() == 1 { "looks" } else { "look" };
        let text = format!(
            "{} {look} back at **{}** now. What they notice follows there in half a minute.",
            join_with_and(&names),
            Medium::Chat.line_within(&title, 100)
        );
        Ok(CommandReply::public(text).with_data(json!({ "meeting": meeting.id, "personas": speakers })).left_to_team())
    }

    /// Finds the requested meeting among those that are over and that may be told here.
    async fn find_meeting(&self, call: &CommandCall) -> anyhow::Result<Meeting> {
        let channel = match (&call.channel, call.arguments.find_text("channel")) {
            (None, None) => None,
            _ => Some(find_place(&self.store, call).await?),
        };
        let scope = call.channel.as_ref().map(Scope::of);
        let mut held = self.store.list_held_meetings(MEETINGS).await?;
        held.retain(|meeting| scope.as_ref().is_none_or(|scope| scope.hears(Scope::of(&meeting.channel).place())));
        let is_here = |meeting: &Meeting| channel.as_ref().is_none_or(|here| is_in(meeting, here));
        let Some(asked) = call.arguments.find_text("meeting") else {
            if let Some(last) = held.into_iter().find(is_here) {
                return Ok(last);
            }
            let open = self.store.list_open_meetings().await?.into_iter().map(|open| open.meeting).find(is_here);
            return Ok(match open {
                Some(open) => refuse(format!("the {} here is still on. Ask again when it is over", open.kind))?,
                None if channel.is_some() => {
                    refuse("no standup or board meeting has been held here yet, so there is nothing to look back at")?
                }
                None => refuse("no standup or board meeting has been held yet, so there is nothing to look back at")?,
            });
        };
        // Meetings of this channel come before others.
        held.sort_by_key(|meeting| !is_here(meeting));
        let wanted = fold_name(asked.trim_start_matches('#'));
        let is_named = |meeting: &&Meeting| {
            (wanted.len() >= 3 && (meeting.id.as_str().ends_with(&wanted) || meeting.kind.as_str().starts_with(&wanted)))
                || meeting.day.to_string() == wanted
        };
        if let Some(meeting) = held.iter().find(is_named) {
            return Ok(meeting.clone());
        }
        for meeting in held {
            if wanted.len() >= 3 && fold_name(&self.records.title_of(&meeting).await?).contains(&wanted) {
                return Ok(meeting);
            }
        }
        Ok(refuse(format!(
            "no meeting that is over fits \"{}\". Name its kind (standup, board), its day ({}) or words of its question",
            flatten(asked, 60),
            self.clock.now().format("%Y-%m-%d")
        ))?)
    }

    async fn complete(&self, typed: &str) -> Vec<Suggestion> {
        let typed = fold_name(typed);
        let mut suggestions = Vec::new();
        let held = self.store.list_held_meetings(SUGGESTED).await.unwrap_or_default();
        for meeting in held.into_iter().filter(|meeting| !Scope::of(&meeting.channel).is_private()) {
            let Ok(title) = self.records.title_of(&meeting).await else { continue };
            let label = format!("{} (#{})", flatten(&title, 70), flatten(&meeting.channel.name, 20));
            if fold_name(&label).contains(&typed) {
                suggestions.push(Suggestion { value: meeting.id.to_string(), label });
            }
        }
        suggestions
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
        self.store.rate_insight(&insight, id, useful, self.clock.now()).await?;
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
            // As it stands in the look back, whatever the title says.
            how: insight.text.clone(),
            channel: call.channel.as_ref().map(|channel| channel.id.clone()),
            private_to: insight.private_to.clone(),
            ..WorkItem::new(one_line(insight.task.as_deref().unwrap_or(&insight.text), TITLE), owner, origin, now)
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

/// Whether the meeting was held in this channel, or in the channel of this thread.
fn is_in(meeting: &Meeting, here: &Channel) -> bool {
    let parent = match &here.place {
        Place::Thread { parent, .. } => Some(parent),
        Place::Server | Place::Direct => None,
    };
    meeting.channel.id == here.id || parent == Some(&meeting.channel.id)
}

/// Always the same id for an insight.
fn item_id(insight: &Insight) -> WorkItemId {
    let digest = Sha256::digest(format!("overwatch\n{}", insight.id));
    WorkItemId::new(digest[..16].iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}")))
}
