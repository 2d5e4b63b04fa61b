use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::features::backlog::model::{WorkItem, WorkStatus};
use crate::features::backlog::render::{name_of_owner, render_plain};
use crate::features::backlog::store::ItemFilter;
use crate::features::backlog::tools::add::unavailable;
use crate::store::Store;
use kernel::memory::retrieval::terms_of;
use kernel::persona::roster::Roster;
use kernel::text::one_line;
use kernel::tools::approval::Risk;
use kernel::tools::{Tool, ToolContext, ToolError, ToolOutput, parse_arguments};

/// The most items that are looked through, and that are shown.
const LOOKED_THROUGH: u32 = 2000;
const SHOWN: usize = 12;

/// The most characters of how, why and the outcome of a single item.
const PROSE: usize = 600;

/// Looks up items: by words, by id, or all open ones.
pub(super) struct BacklogSearch {
    pub store: Store,
    pub roster: Arc<Roster>,
}

#[derive(Deserialize)]
struct Arguments {
    #[serde(default)]
    words: String,
    #[serde(default)]
    ended: bool,
}

#[async_trait]
impl Tool for BacklogSearch {
    fn name(&self) -> &'static str {
        "backlog_search"
    }

    fn description(&self) -> String {
        "Looks up the team's work items: who does what, and how it stands. Without words it lists what is open.".into()
    }

    fn asked_by(&self) -> &'static str {
        "items item tasks task open todo overdue waiting progress status doing working list work who Aufgaben Aufgabe offen Stand arbeitet tâches tareas"
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "words": {"type": "string", "description": "A few words of what is to be done, an owner, or an id such as #a1b2c3."},
                "ended": {"type": "boolean", "description": "Also items that are done, failed or cancelled."},
            },
            "additionalProperties": false,
        })
    }

    fn risk(&self, _: &Value, _: &ToolContext<'_>) -> Risk {
        Risk::Read
    }

    fn describe_doing(&self, _: &Value) -> Option<String> {
        Some("Looking through the backlog".into())
    }

    async fn call(&self, arguments: &Value, context: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let Arguments { words, ended } = parse_arguments(arguments)?;
        let id = words.trim().trim_start_matches('#');
        let by_id = self.store.find_items_by_suffix(id, 2).await.map_err(|error| unavailable(&error))?;
        if let [item] = by_id.as_slice()
            && context.scope.hears(item.private_to.as_ref())
        {
            return Ok(found(self.describe(item)));
        }
        let statuses: &[WorkStatus] = if ended { &[] } else { &WorkStatus::OPEN };
        let filter = ItemFilter { statuses, owner: None, scope: Some(context.scope), limit: LOOKED_THROUGH };
        let items = self.store.list_items(&filter).await.map_err(|error| unavailable(&error))?;
        Ok(found(self.list(items, &words)))
    }
}

impl BacklogSearch {
    /// The items that fit best. Without words all of them, the most urgent ones first.
    fn list(&self, items: Vec<WorkItem>, words: &str) -> String {
        let wanted: HashSet<String> = terms_of(words).into_iter().collect();
        let hits = |item: &WorkItem| -> usize {
            let owner = name_of_owner(&item.owner, &self.roster);
            let terms: HashSet<String> = [item.what.as_str(), &item.how, owner].into_iter().flat_map(terms_of).collect();
            wanted.intersection(&terms).count()
        };
        let mut fits: Vec<(usize, WorkItem)> = items.into_iter().map(|item| (hits(&item), item)).collect();
        if !wanted.is_empty() {
            fits.retain(|(hits, _)| *hits > 0);
            // Stable, so that equal ones stay in the order of urgency.
            fits.sort_by_key(|(hits, _)| std::cmp::Reverse(*hits));
        }
        if fits.is_empty() {
            return if wanted.is_empty() { "No work items are open." } else { "No work item fits these words." }.to_owned();
        }
        let mut text = String::new();
        for (_, item) in fits.iter().take(SHOWN) {
            let _ = writeln!(text, "- {}", render_plain(item, &self.roster));
        }
        if fits.len() > SHOWN {
            let _ = writeln!(text, "and {} more", fits.len() - SHOWN);
        }
        text
    }

    fn describe(&self, item: &WorkItem) -> String {
        let mut text = render_plain(item, &self.roster);
        for (label, said) in [("how", item.how.as_str()), ("why", &item.why), ("outcome", item.outcome.as_deref().unwrap_or_default())] {
            if !said.is_empty() {
                let _ = write!(text, "\n{label}: {}", one_line(said, PROSE));
            }
        }
        text
    }
}

/// Items may quote anybody.
fn found(text: String) -> ToolOutput {
    ToolOutput { text, outside: true, trace: None }
}
