//! The tool with which a persona sets the reminder that a person asked for in words that the rules do not read.

use async_trait::async_trait;
use kernel::chat::medium::Medium;
use kernel::chat::message::AuthorKind;
use kernel::db::StoreError;
use kernel::memory::MemorySource;
use kernel::tools::approval::Risk;
use kernel::tools::{Tool, ToolContext, ToolError, ToolOutput, Trace, parse_arguments};
use kernel::when::{Asker, Repetition};
use serde::Deserialize;
use serde_json::{Value, json};

use super::model::Person;
use super::render::{render_set, what as text_of};
use super::request::ForWhom;
use super::service::{Asked, RemindError, Reminders, reminder_id};

pub(super) const NAME: &str = "reminder_set";

pub(super) struct ReminderSet {
    pub(super) reminders: Reminders,
}

#[derive(Deserialize)]
struct Arguments {
    when: String,
    what: String,
    #[serde(default)]
    whom: Option<String>,
}

#[async_trait]
impl Tool for ReminderSet {
    fn name(&self) -> &'static str {
        NAME
    }

    fn description(&self) -> String {
        "Sets a reminder, once or repeated, for the asking person or somebody whom they name. Only if a person asks for one, and only for a time that \
         they said. If they did not say it, or it has two meanings, ask them instead."
            .into()
    }

    fn asked_by(&self) -> &'static str {
        "remind reminder me tomorrow ping nudge erinnern erinnere Erinnerung morgen rappelle recuérdame ricordami przypomnij"
    }

    fn needs_message(&self) -> bool {
        true
    }

    fn parameters(&self) -> Value {
        let when = "The time in the person's zone: \"2026-12-18 09:00\", \"in 90 minutes\", \"every other Monday at 9\", \"every 3 days at 8 until 18 \
                    December\", \"on the last Friday of every month at 17:00\", \"tomorrow at 9:00 Berlin time\".";
        json!({
            "type": "object",
            "properties": {
                "when": {"type": "string", "description": when},
                "what": {"type": "string", "description": "What the reminder says, in the person's words."},
                "whom": {"type": "string", "description": "A name or a mention. Left out: the asking person."},
            },
            "required": ["when", "what"],
            "additionalProperties": false,
        })
    }

    fn is_for_all(&self) -> bool {
        true
    }

    /// A request in a person's own words is that person's act.
    fn risk(&self, arguments: &Value, context: &ToolContext<'_>) -> Risk {
        let says = |key: &str| match (arguments[key].as_str(), context.asked_by) {
            (Some(text), Some(asked)) => asked.says(text),
            _ => false,
        };
        if says("what") && (arguments["whom"].is_null() || says("whom")) { Risk::Read } else { Risk::Write }
    }

    fn describe_doing(&self, _: &Value) -> Option<String> {
        Some("Setting a reminder".into())
    }

    fn describe_done(&self, trace: &Trace) -> Option<String> {
        // The reading in full, by the program and not by the model.
        let Trace::Confirmed { words, .. } = trace else { return None };
        Some(words.clone())
    }

    fn describe_wish(&self, arguments: &Value) -> String {
        let line = |key: &str| Medium::Chat.line(arguments[key].as_str().unwrap_or_default());
        let whom = arguments["whom"].as_str().map_or("you".to_owned(), |whom| Medium::Chat.line(whom));
        format!("May I set this reminder for {whom}?\n{}: {}", line("when"), line("what"))
    }

    async fn call(&self, arguments: &Value, context: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let Arguments { when, what, whom } = parse_arguments(arguments)?;
        let reminders = &self.reminders;
        let MemorySource::Message(message) = context.get_source()? else { return Err(nobody_asked()) };
        let asked = reminders.store().find_message(message).await.map_err(|error| unavailable(&error))?.map(|row| row.message);
        let asked = asked.filter(|message| message.author.kind == AuthorKind::Person).ok_or_else(nobody_asked)?;
        let by = Person { id: asked.author.id.clone(), name: asked.author.name.clone() };
        let asker = reminders.asker_of(Some(&by.id)).await.map_err(|error| unavailable(&error))?;
        // "in 20 minutes" counts from the person's message, not from when the model gets to it.
        let asker = Asker { now: asked.sent_at.min(asker.now), ..asker };
        let reading = Reminders::read(&when, &asker).map_err(explain)?;
        let whom = whom.as_deref().map_or(ForWhom::Me, ForWhom::parse);
        let persona = context.persona;
        let request = Asked {
            whom: &whom,
            what: &what,
            when: &reading.when,
            zone: asker.zone,
            by: Some(by.clone()),
            channel: &asked.channel,
            persona,
        };
        let mut reminder = reminders.draft(request).await.map_err(explain)?;
        // A turn that runs again may use other words, so only what was read is hashed.
        let first = reading.when.first_after(asker.now).unwrap_or(reminder.due);
        let repeat = reminder.repeat.as_ref().map_or_else(String::new, Repetition::describe);
        reminder.id = reminder_id(message, &format!("{}\n{}\n{repeat}", reminder.whom.id, first.to_rfc3339()));
        if !reminders.store().add_reminder(&reminder, context.now).await.map_err(|error| unavailable(&error))? {
            let stored = reminders.store().find_reminder(&reminder.id).await.map_err(|error| unavailable(&error))?;
            let text = text_of(stored.as_ref().unwrap_or(&reminder));
            let text = format!("This message has set a reminder for that time already. It says: {text}");
            return Ok(ToolOutput { text, outside: false, trace: None });
        }
        let said = render_set(&reminder, &reading, Some(&by.id), context.now);
        let trace = Trace::Confirmed { id: reminder.id.to_string(), words: said.clone() };
        Ok(ToolOutput { text: format!("Set. The person reads below your answer: {said}"), outside: false, trace: Some(trace) })
    }
}

fn nobody_asked() -> ToolError {
    ToolError::Refused("reminders are set only if a person asks for one in a conversation".into())
}

fn explain(error: RemindError) -> ToolError {
    match error {
        RemindError::Refused(why) => ToolError::Refused(why),
        RemindError::Store(error) => unavailable(&error),
    }
}

fn unavailable(error: &StoreError) -> ToolError {
    tracing::warn!(%error, "a tool could not use the reminders");
    ToolError::Failed("reminders are not available right now".into())
}
