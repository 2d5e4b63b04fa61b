use std::cmp::Reverse;

use async_trait::async_trait;
use feed_rs::model::Entry;
use feed_rs::parser;
use reqwest::Url;

use crate::feeds::kinds::Source;
use crate::feeds::settings::Settings;
use crate::feeds::web::{Page, Web, render_address};
use crate::feeds::{FeedError, FeedItem, FeedQuery, FeedSources, FeedSpecError, Reading, Value};

const MOST_BYTES: usize = 4 << 20;
/// Longer titles are cut. Some blogs put the whole post there.
const TITLE: usize = 300;
/// The most characters of the text below a title.
const SUMMARY: usize = 400;

/// News of a site as RSS, Atom or JSON Feed.
struct Rss {
    web: Web,
    url: Url,
}

pub(super) fn build(settings: &mut Settings<'_>, sources: &FeedSources) -> Result<Box<dyn Source>, FeedSpecError> {
    Ok(Box::new(Rss { web: sources.web.clone(), url: settings.address("url")? }))
}

#[async_trait]
impl Source for Rss {
    fn counts_when_seen(&self) -> bool {
        true
    }

    /// All entries, whatever their date: a site may publish an entry with an earlier one.
    async fn read(&self, asked: &FeedQuery) -> Result<Reading, FeedError> {
        let page =
            self.web.get(&self.url, "application/rss+xml, application/atom+xml, application/feed+json, */*;q=0.5", MOST_BYTES).await?;
        let base = self.url.clone();
        // Parsing some megabytes of XML would block other tasks on this thread.
        let entries = tokio::task::spawn_blocking(move || parse(&page, &base)).await;
        let entries = entries.map_err(|_| FeedError::Failed("its answer could not be parsed".into()))??;
        let count = entries.len() as u64;
        let undated = entries.iter().filter(|entry| entry.at.is_none()).count();
        // Entries without a date come last, in the order of the feed.
        let mut items = entries;
        items.sort_by_key(|item| Reverse(item.at));
        let total = items.len();
        items.truncate(asked.limit);
        let note = (undated > 0).then(|| format!("{undated} of its {count} entries carry no date"));
        let values = vec![Value::count("entries", count)];
        Ok(Reading { source: render_address(&self.url), as_of: asked.now, values, items, total, note, story: Vec::new() })
    }
}

fn parse(page: &Page, base: &Url) -> Result<Vec<FeedItem>, FeedError> {
    // Resolves relative links, without the credentials of the feed's address.
    let mut base = base.clone();
    let stripped = base.set_username("").and_then(|()| base.set_password(None));
    let parser = parser::Builder::new().base_uri(stripped.ok().map(|()| base)).build();
    let feed = parser.parse(page.bytes.as_slice()).map_err(|error| page.is_no("RSS, Atom or JSON feed", &error))?;
    Ok(feed.entries.into_iter().map(item_of).collect())
}

fn item_of(entry: Entry) -> FeedItem {
    let page = entry.links.iter().find(|link| link.rel.as_deref().is_none_or(|rel| rel == "alternate")).or(entry.links.first());
    let reference = page.map_or_else(|| entry.id.clone(), |link| link.href.clone());
    let title = entry.title.map(|title| shorten(&title.content, TITLE)).unwrap_or_default();
    let text = entry.summary.map(|summary| summary.content).or(entry.content.and_then(|content| content.body)).unwrap_or_default();
    let text = shorten(&without_tags(&text), SUMMARY);
    let words = match (title.is_empty(), text.is_empty() || text == title) {
        (true, true) => "(without a title)".to_owned(),
        (true, false) => text,
        (false, true) => title,
        (false, false) => format!("{title}: {text}"),
    };
    FeedItem {
        at: entry.published.or(entry.updated),
        what: "entry".into(),
        by: entry.authors.into_iter().filter_map(|author| author.name).find(|name| !name.is_empty()),
        text: words,
        reference,
        values: Vec::new(),
    }
}

fn shorten(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// The text of HTML, roughly. A `<` that begins no tag stays.
fn without_tags(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        text.push_str(&rest[..start]);
        let after = &rest[start + 1..];
        let is_tag = after.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!'));
        if let Some(end) = after.find('>').filter(|_| is_tag) {
            text.push(' ');
            rest = &after[end + 1..];
        } else {
            text.push('<');
            rest = after;
        }
    }
    text.push_str(rest);
    [("&nbsp;", " "), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
        .into_iter()
        .fold(text, |text, (entity, plain)| text.replace(entity, plain))
}
