//! Lets a run wait for a time or for another item. It costs no try, and the run goes on from there with what has come.

use async_trait::async_trait;
use chrono::{DateTime, NaiveTime, TimeDelta, Utc};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::features::backlog::executor::item_journal::ItemJournal;
use crate::features::backlog::model::{WorkItem, short_id};
use crate::features::backlog::named::{describe_result, find_by_id};
use crate::store::Store;
use kernel::agent::{Agents, CallError, OwnTool, Progress, RunError};
use kernel::llm::ToolSpec;
use kernel::memory::Scope;
use kernel::tools::{ToolError, ToolOutput};
use kernel::when::parse_instant;

/// How often an item that is waited for is looked at.
const EVERY: TimeDelta = TimeDelta::minutes(5);

/// The longest wait for a time.
const LONGEST: TimeDelta = TimeDelta::days(400);

/// A day without a time begins then.
const MORNING: NaiveTime = NaiveTime::from_hms_opt(9, 0, 0).expect("a time");

/// A call that is not over is made again when the run continues.
pub(super) struct WaitFor<'a> {
    pub(super) store: &'a Store,
    pub(super) agents: &'a Agents,
    pub(super) item: &'a WorkItem,
    pub(super) journal: &'a ItemJournal<'a>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    #[serde(default)]
    time: Option<String>,
    #[serde(default)]
    item: Option<String>,
}

#[async_trait]
impl OwnTool for WaitFor<'_> {
    fn spec(&self) -> ToolSpec {
        let text = |about: &str| json!({"type": "string", "description": about});
        ToolSpec {
            name: "wait_for".into(),
            description: "Waits for a time before which your work cannot go on, or for another item: one that you have added, such as a question to a \
                          person. Costs no try, and you go on from here with what has come. Give one of both."
                .into(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "time": text("When to go on, such as \"2026-12-04 09:00\" or \"in a week\"."),
                    "item": text("The id of the item, such as #a1b2c3."),
                },
                "additionalProperties": false,
            }),
        }
    }

    async fn call(&self, arguments: &Value, _: &Progress) -> Result<ToolOutput, CallError> {
        let read = Arguments::deserialize(arguments).map_err(|error| ToolError::Refused(format!("Not called: {error}.")))?;
        match read {
            Arguments { time: Some(time), item: None } => Ok(self.wait_until(&time)?),
            Arguments { time: None, item: Some(item) } => self.wait_for(&item).await,
            _ => Err(ToolError::Refused("Not called: give either a time or an item.".into()).into()),
        }
    }
}

impl WaitFor<'_> {
    fn now(&self) -> DateTime<Utc> {
        self.agents.runner.clock.now()
    }

    fn wait_until(&self, time: &str) -> Result<ToolOutput, CallError> {
        let (now, roster) = (self.now(), &self.agents.roster);
        // "In a week" counts from the reply that calls, also when the call is made again.
        let called_at = self.journal.replied_at().unwrap_or(now);
        let at = parse_instant(time, called_at, roster.zone(), MORNING);
        let at = at.map_err(|error| ToolError::Refused(format!("Not called: the time cannot be read. {error}")))?;
        if at > called_at + LONGEST {
            return Err(ToolError::Refused("Not called: nothing waits longer than a year.".into()).into());
        }
        if at > now {
            return Err(RunError::NotYet { at, why: format!("its time comes {}", roster.show_time(at)) }.into());
        }
        Ok(ToolOutput { text: format!("It is {} now. Go on.", roster.show_time(now)), outside: false, trace: None })
    }

    async fn wait_for(&self, id: &str) -> Result<ToolOutput, CallError> {
        let other = find_by_id(self.store, id, &Scope::private(self.item.private_to.clone())).await?;
        let other = other.ok_or_else(|| ToolError::Refused(format!("Not called: there is no item {id} here.")))?;
        let needs_this =
            other.id == self.item.id || other.depends_on.contains(&self.item.id) || self.item.parent.as_ref() == Some(&other.id);
        if needs_this {
            return Err(ToolError::Refused(format!("Not called: #{} waits for your own item.", short_id(&other.id))).into());
        }
        if !other.status.is_over() {
            return Err(RunError::NotYet {
                at: self.now() + EVERY,
                why: format!("it waits for \"{}\" (#{})", other.what, other.short_id()),
            }
            .into());
        }
        Ok(ToolOutput { text: describe_result(&other, &self.agents.roster), outside: true, trace: None })
    }
}
