use std::cmp::Reverse;

use async_trait::async_trait;
use feed_rs::model::Entry;
use feed_rs::parser;
use reqwest::Url;

use crate::feeds::kinds::Source;
use crate::feeds::settings::Settings;
use crate::feeds::web::{Page, Web, render_address};
use crate::feeds::{FeedError, FeedItem, FeedQuery, FeedSources, FeedSpecError, Reading, Value};
use crate::text::one_line;

const MOST_BYTES: usize = 4 << 20;
/// Longer titles are cut. Some blogs put the whole post there.
const TITLE: usize = 300;
/// Maximum length of the text below a title.
const SUMMARY: usize = 400;
/// Only the beginning of a text is read, in characters: enough for its summary between tags.
const SEARCHED: usize = 8000;

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

    /// The entries of the range, and those without a date.
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
        let range = asked.since..=asked.until;
        items.retain(|item| item.at.is_none_or(|at| range.contains(&at)));
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
    let title = entry.title.map(|title| one_line(&title.content, TITLE)).unwrap_or_default();
    let text = entry.summary.map(|summary| summary.content).or(entry.content.and_then(|content| content.body)).unwrap_or_default();
    let text = one_line(&without_tags(&text), SUMMARY);
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

/// The text at the beginning of HTML, roughly. A `<` that begins no tag stays.
fn without_tags(html: &str) -> String {
    let searched = html.char_indices().nth(SEARCHED).map_or(html, |(end, _)| &html[..end]);
    let mut text = String::new();
    let mut rest = searched;
    while let Some(start) = rest.find('<') {
        let (before, tag) = rest.split_at(start);
        text.push_str(before);
        rest = &tag[1..];
        let begins_tag = rest.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!'));
        if !begins_tag {
            text.push('<');
            continue;
        }
        let Some(end) = rest.find('>') else {
            // Nothing after it is a whole tag. It may be one whose end was not read.
            rest = if searched.len() < html.len() { "" } else { tag };
            break;
        };
        text.push(' ');
        rest = &rest[end + 1..];
    }
    text.push_str(rest);
    [("&nbsp;", " "), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
        .into_iter()
        .fold(text, |text, (entity, plain)| text.replace(entity, plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_left_out_and_what_is_none_stays() {
        let cases = [
            ("a <b>b</b> c", "a  b  c"),
            ("a < b, b > c", "a < b, b > c"),
            ("1 <2 <b", "1 <2 <b"),
            ("a <!-- b --> &lt;c&gt; &amp;lt;", "a   <c> &lt;"),
        ];
        for (html, text) in cases {
            assert_eq!(without_tags(html), text, "{html}");
        }
    }

    #[test]
    fn of_a_long_text_only_the_beginning_is_read() {
        assert_eq!(without_tags(&"<".repeat(1 << 20)), "<".repeat(SEARCHED));
        assert_eq!(without_tags(&"<a".repeat(1 << 20)), "");
        let cut_in_a_tag = format!("News <img src=\"{}\"> of today", "ä".repeat(SEARCHED));
        assert_eq!(without_tags(&cut_in_a_tag), "News ");
    }
}
