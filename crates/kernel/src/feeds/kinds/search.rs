use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};

use crate::feeds::kinds::Source;
use crate::feeds::settings::Settings;
use crate::feeds::{FeedError, FeedItem, FeedQuery, FeedSources, FeedSpecError, Reading, Value};
use crate::tools::web::{Hit, WebSearch};

/// Search engines cost money or have quotas, so an answer is used for this long.
const FRESH: TimeDelta = TimeDelta::hours(1);

/// What a web search finds. Results have no time, so a standup reports those that are not in its last report.
struct Search {
    engine: Arc<WebSearch>,
    query: String,
    last: Mutex<Option<(DateTime<Utc>, Vec<Hit>)>>,
}

pub(super) fn build(settings: &mut Settings<'_>, sources: &FeedSources) -> Result<Box<dyn Source>, FeedSpecError> {
    let query = settings.required("query", "what to search for", |query| {
        query.as_str().map(str::trim).filter(|query| !query.is_empty()).map(str::to_owned)
    })?;
    let engine = sources.services.search.clone();
    let engine = engine.ok_or_else(|| settings.refuse("kind", "another one, or set a search engine as tools.search in teamroom.toml"))?;
    Ok(Box::new(Search { engine, query, last: Mutex::default() }))
}

#[async_trait]
impl Source for Search {
    async fn read(&self, asked: &FeedQuery) -> Result<Reading, FeedError> {
        let known = self.last.lock().expect("no code panics while it holds this").clone();
        let (as_of, hits) = if let Some(known) = known.filter(|(at, _)| (TimeDelta::zero()..FRESH).contains(&(asked.now - *at))) {
            known
        } else {
            let hits = self.engine.find(&self.query).await.map_err(|error| FeedError::Failed(error.to_string()))?;
            let found = (asked.now, hits);
            *self.last.lock().expect("no code panics while it holds this") = Some(found.clone());
            found
        };
        let values = vec![Value::count("results", hits.len() as u64)];
        let mut items: Vec<FeedItem> = hits.into_iter().map(item_of).collect();
        let total = items.len();
        items.truncate(asked.limit);
        Ok(Reading { source: format!("search for {}", self.query), as_of, values, items, total, note: None, story: Vec::new() })
    }
}

fn item_of(hit: Hit) -> FeedItem {
    let text = if hit.title.is_empty() { hit.snippet } else { hit.title };
    FeedItem { at: None, what: "result".into(), by: None, text, reference: hit.url, values: Vec::new() }
}
