use std::fmt::Write as _;
use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::features::find_meeting_result;
use crate::features::meeting::model::Meeting;
use crate::store::Store;
use kernel::db::StoreError;
use kernel::memory::Scope;
use kernel::persona::roster::Roster;
use kernel::text::one_line;
use kernel::tools::approval::Risk;
use kernel::tools::{Tool, ToolContext, ToolError, ToolLimits, ToolOutput, parse_arguments};

/// Maximum number of meetings that are looked through, and that are listed.
const LOOKED_THROUGH: u32 = 200;
const LISTED: usize = 12;
const TITLE: usize = 160;

/// Reads what a meeting decided and wrote: the reports of standups, the documents of board meetings.
pub(super) struct MeetingRead {
    pub store: Store,
    pub roster: Arc<Roster>,
}

#[derive(Deserialize)]
struct Arguments {
    #[serde(default)]
    which: String,
}

#[async_trait]
impl Tool for MeetingRead {
    fn name(&self) -> &'static str {
        "meeting_read"
    }

    fn description(&self) -> String {
        "Reads what a meeting of the team decided and wrote: the report of a standup, the document of a board meeting. Without arguments it lists the last \
         ones."
            .into()
    }

    fn asked_by(&self) -> &'static str {
        "meeting standup board report decision decided minutes document Besprechung Bericht entschieden Protokoll réunion reunión"
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "which": {"type": "string", "description": "The id, a word of its subject, or its kind for the last one, such as standup or board."},
            },
            "additionalProperties": false,
        })
    }

    fn limits(&self) -> ToolLimits {
        ToolLimits { chars: 16_000, ..ToolLimits::default() }
    }

    fn risk(&self, _: &Value, _: &ToolContext<'_>) -> Risk {
        Risk::Read
    }

    fn describe_doing(&self, _: &Value) -> Option<String> {
        Some("Reading what a meeting wrote".into())
    }

    async fn call(&self, arguments: &Value, context: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let Arguments { which } = parse_arguments(arguments)?;
        let text = self.read(which.trim().trim_start_matches('#'), context.scope).await.map_err(|error| {
            tracing::warn!(%error, "a tool could not read the meetings");
            ToolError::Failed("the meetings are not available right now".into())
        })?;
        Ok(ToolOutput { text, outside: true, trace: None })
    }
}

impl MeetingRead {
    async fn read(&self, which: &str, scope: &Scope) -> Result<String, StoreError> {
        let mut held = self.store.list_held_meetings(LOOKED_THROUGH).await?;
        held.retain(|meeting| scope.hears(Scope::of(&meeting.channel).place()));
        let mut listed = String::new();
        let mut count = 0;
        for meeting in &held {
            let is_kind = meeting.kind.as_str() == which.to_lowercase();
            if !which.is_empty() && is_kind || (which.len() >= 6 && meeting.id.as_str().ends_with(&which.to_lowercase())) {
                return self.show(meeting).await;
            }
            let Some(result) = find_meeting_result(meeting, &self.store, &self.roster).await? else { continue };
            if !which.is_empty() && result.title.to_lowercase().contains(&which.to_lowercase()) {
                return self.show(meeting).await;
            }
            if count < LISTED {
                count += 1;
                let (id, title) = (short_id(meeting), one_line(&result.title, TITLE));
                let _ = writeln!(listed, "- {} of {}, #{id}: {title}", meeting.kind, meeting.day);
            }
        }
        Ok(match (listed.is_empty(), which.is_empty()) {
            (true, _) => "No meeting that may be told here has left anything.".to_owned(),
            (false, true) => listed,
            (false, false) => format!("No meeting is called \"{which}\". The last ones:\n{listed}"),
        })
    }

    async fn show(&self, meeting: &Meeting) -> Result<String, StoreError> {
        let head = format!("{} of {}, #{}", meeting.kind, meeting.day, short_id(meeting));
        let result = find_meeting_result(meeting, &self.store, &self.roster).await?;
        Ok(result.map_or_else(|| format!("{head} has left nothing."), |result| format!("{head}: {}\n{}", result.title, result.text)))
    }
}

/// The end of the id, as people see it.
fn short_id(meeting: &Meeting) -> &str {
    let id = meeting.id.as_str();
    &id[id.floor_char_boundary(id.len().saturating_sub(6))..]
}
