use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::chat::medium::Medium;
use crate::ids::PersonaSlug;
use crate::tools::approval::Risk;
use crate::tools::arguments::parse_arguments;
use crate::tools::{Tool, ToolContext, ToolError, ToolLimits, ToolOutput};

/// Access to the team's feeds.
#[async_trait]
pub trait FeedReader: Send + Sync + 'static {
    /// The names of all declared feeds.
    fn names(&self) -> Vec<String>;

    /// A feed's current data as text. Prefers the persona's own feed of that name.
    ///
    /// # Errors
    /// There is no such feed, or it has no data.
    async fn read(&self, persona: &PersonaSlug, feed: &str, now: DateTime<Utc>) -> Result<String, String>;
}

/// Reads a declared feed during a run.
pub struct ReadFeed(pub Arc<dyn FeedReader>);

#[derive(Deserialize)]
struct Arguments {
    feed: String,
}

#[async_trait]
impl Tool for ReadFeed {
    fn name(&self) -> &'static str {
        "read_feed"
    }

    fn description(&self) -> String {
        let names = self.0.names();
        let known = if names.is_empty() { "The team has none.".into() } else { format!("The team has: {}.", names.join(", ")) };
        format!("Reads a live data source of the team, by its name. {known}")
    }

    fn asked_by(&self) -> &'static str {
        "data metrics metric numbers value current latest now status latency queue sensor ledger costs activity Daten Werte Wert Zahlen aktuell Kosten données datos"
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {"feed": {"type": "string", "description": "The name of a feed."}},
            "required": ["feed"],
            "additionalProperties": false,
        })
    }

    fn limits(&self) -> ToolLimits {
        // A feed has its own time-out of at most 60 s, and a better error.
        ToolLimits { timeout: std::time::Duration::from_secs(65), ..ToolLimits::default() }
    }

    fn risk(&self, _: &Value, _: &ToolContext<'_>) -> Risk {
        Risk::Read
    }

    fn describe_doing(&self, arguments: &Value) -> Option<String> {
        Some(format!("Reading the feed {}", Medium::Chat.line_within(arguments["feed"].as_str()?, 40)))
    }

    async fn call(&self, arguments: &Value, context: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let Arguments { feed } = parse_arguments(arguments)?;
        let text = self.0.read(context.persona, &feed, context.now).await.map_err(ToolError::Failed)?;
        Ok(ToolOutput { text, outside: true, trace: None })
    }
}
