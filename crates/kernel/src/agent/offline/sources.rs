//! Answers with quotations from files and feeds.

use chrono::TimeDelta;

use crate::agent::files::{File, PartRead, Search};
use crate::agent::offline::intent::names_costs;
use crate::agent::offline::wording::{block_quote, count, failure, foreign, spell};
use crate::agent::offline::{Draft, OfflineQuestion};
use crate::agent::{AnswerVerdict, SpeechAct};
use crate::feeds::{Document, Feed, FeedError, FeedItem, FeedQuery, Reading};
use crate::memory::retrieval::{Hit, Query, cut, headings_of, terms_of};
use crate::text::join_with_and;
use crate::when::TimeRange;

/// The most characters of a quotation, the most quotations, and the most characters in total: one message.
const QUOTE: usize = 800;
const QUOTES: usize = 3;
const ALL_QUOTES: usize = 1600;
/// Further quotations need at least this share of the best score.
const NEARLY: f64 = 0.75;
/// How many days of feed items are searched if the question has no time range.
const FACT_DAYS: i64 = 90;
const FACTS: usize = 500;
/// Feeds with textual items.
const TELLING: [&str; 5] = ["backlog", "git", "github", "rss", "search"];
/// Feeds with values that people ask for. The team's own costs and activity are answered elsewhere.
const MEASURING: [&str; 4] = ["backlog", "git", "github", "http_json"];

/// The most files that are listed.
const FILES: usize = 20;

/// A longer question is not repeated.
const MOST_WORDS: usize = 5;

/// Below this length a quotation covers most of a file.
const LARGE: usize = 8000;

/// The searchable material.
pub(super) struct Material {
    search: Search,
    /// The searched sources, listed when nothing is found.
    looked_at: Vec<String>,
    /// Feeds without data, and why.
    failures: Vec<String>,
    /// The same for feeds that only have values. Shown if nothing else was found.
    unmeasured: Vec<String>,
    /// The time range that feeds were searched for, in words. None if no feed has items to search.
    of: Option<String>,
}

/// Collects the material.
pub(super) async fn gather(asked: &OfflineQuestion<'_>, range: Option<&TimeRange>) -> Material {
    let looked_at = asked.files.focus.iter().chain(&asked.files.near);
    let looked_at = looked_at.filter(|file| file.text.as_ref().is_some_and(|text| !text.trim().is_empty()));
    let looked_at = looked_at.map(|file| cited(file, false, asked)).collect();
    let mut material = Material { search: search_files(asked), looked_at, failures: Vec::new(), unmeasured: Vec::new(), of: None };
    let since = range.map_or(asked.now - TimeDelta::days(FACT_DAYS), |range| range.since);
    let until = range.map_or(asked.now, |range| range.until);
    let query = FeedQuery { now: asked.now, since, until, limit: FACTS };
    let reads = asked.feeds.iter().map(|feed| read(feed, &query));
    for (feed, (documents, facts)) in asked.feeds.iter().zip(futures_util::future::join_all(reads).await) {
        match documents {
            Ok(documents) => {
                for document in documents {
                    material.add_document(&document.name, &document.text);
                    // Indexing a large file takes tens of milliseconds. Other tasks may run in between.
                    tokio::task::yield_now().await;
                }
            }
            Err(error) => material.failures.push(failure(feed.name(), &error, asked.today())),
        }
        match facts {
            Some(Ok(reading)) => {
                if MEASURING.contains(&feed.kind()) {
                    material.add_values(feed.name(), &reading, asked);
                }
                // There is nothing to look at, such as no repository.
                if reading.note.is_some() && reading.items.is_empty() && reading.values.is_empty() {
                    continue;
                }
                if !TELLING.contains(&feed.kind()) {
                    material.looked_at.push(foreign(feed.name(), 100));
                    continue;
                }
                material.looked_at.push(foreign(&reading.source, 100));
                material.of = Some(range.map_or_else(|| format!("of the last {FACT_DAYS} days"), |range| format!("({})", range.label)));
                let told = reading.items.iter().filter(|item| !is_the_question(feed, item, asked.text));
                told.for_each(|item| material.add_fact(feed.name(), item, asked));
            }
            Some(Err(error)) => {
                let told = failure(feed.name(), &error, asked.today());
                if TELLING.contains(&feed.kind()) { material.failures.push(told) } else { material.unmeasured.push(told) }
            }
            None => {}
        }
    }
    material
}

type Read<T> = Result<T, FeedError>;

/// A feed's documents and, for some kinds, its values and items.
async fn read(feed: &Feed, query: &FeedQuery) -> (Read<Vec<Document>>, Option<Read<Reading>>) {
    let tells = TELLING.contains(&feed.kind()) || MEASURING.contains(&feed.kind());
    let facts = async { if tells { Some(feed.read(query).await) } else { None } };
    tokio::join!(feed.documents(query.now), facts)
}

/// Whether an item of a feed only repeats the question: it is the work item that asks it, or an earlier one.
fn is_the_question(feed: &Feed, item: &FeedItem, question: &str) -> bool {
    let title = item.text.split_once(": ").map_or("", |(_, title)| title).trim_end_matches('…');
    feed.kind() == "backlog" && !title.is_empty() && question.contains(title)
}

/// The name of a file in citations, with its day if it is from before.
fn cited(file: &File, is_older: bool, asked: &OfflineQuestion<'_>) -> String {
    let name = foreign(&file.name, 100);
    if is_older { format!("{name} of {}", asked.today().show(file.at)) } else { name }
}

impl Material {
    fn add_document(&mut self, name: &str, text: &str) {
        let name = foreign(name, 100);
        self.search.add_document(&name, text);
        self.looked_at.push(name);
    }

    /// The present values of a feed as one fact: "shop: orders 231; latency 840 ms".
    fn add_values(&mut self, feed: &str, reading: &Reading, asked: &OfflineQuestion<'_>) {
        let values: Vec<String> = reading.values.iter().map(spell).collect();
        if !values.is_empty() {
            let reference = format!("{feed}, {}", asked.today().show(reading.as_of));
            self.search.add_fact(reference, &format!("{feed}: {}", values.join("; ")), None);
        }
    }

    fn add_fact(&mut self, feed: &str, item: &FeedItem, asked: &OfflineQuestion<'_>) {
        let when = item.at.map_or(String::new(), |at| format!(", {}", asked.today().show(at)));
        let by = item.by.as_deref().map_or(String::new(), |by| format!(", {}", foreign(by, 40)));
        self.search.add_fact(format!("{feed} {}{by}{when}", item.reference), &item.text, item.by.as_deref());
    }

    /// The best quotations with their sources. None if nothing matches.
    pub(super) fn quote(&self, asked: &OfflineQuestion<'_>, query: &Query) -> Option<Draft> {
        let mut draft = quote(&self.search, asked, query)?;
        draft.lines.extend(self.failures.iter().cloned());
        Some(draft)
    }

    /// Says that nothing was found, and what was searched.
    pub(super) fn nothing_found(&self, asked: &OfflineQuestion<'_>, query: &Query) -> Draft {
        let mut subject: Vec<_> = asked_words(asked.text, query);
        let meant: Vec<(&File, &str)> = asked.files.list_meant().collect();
        let named: Vec<String> = meant.iter().flat_map(|(file, _)| terms_of(&file.name.replace('.', " "))).collect();
        subject.retain(|word| !terms_of(word).iter().any(|term| named.contains(term)));
        let looked = if self.looked_at.is_empty() {
            format!("I have no feed or file that could tell me about {}", quoted(&subject))
        } else {
            let of = self.of.as_ref().map_or(String::new(), |of| format!(" {of}"));
            format!("I found nothing about {} in {}{of}", quoted(&subject), listed(&self.looked_at))
        };
        let fuller = match asked.act {
            SpeechAct::Request => "To do more than look things up, I need a language model.",
            _ => "Connect a model for a fuller answer.",
        };
        let mut draft = Draft::unknown(format!("{looked}. {fuller}"));
        // A short file is quoted whole.
        if let [(file, text)] = meant.as_slice()
            && !text.trim().is_empty()
            && text.len() <= QUOTE
        {
            draft.line(format!("**{}** says:", foreign(&file.name, 100)));
            draft.line(block_quote(text.trim()));
            draft.sources.push(foreign(&file.name, 100));
        }
        draft.lines.extend(self.failures.iter().chain(&self.unmeasured).cloned());
        draft
    }
}

/// The best quotations of the files that were posted here. None if nothing matches.
pub(super) fn quote_files(asked: &OfflineQuestion<'_>, query: &Query) -> Option<Draft> {
    quote(&search_files(asked), asked, query)
}

/// The same for a question about a sum of money. None if the best passage does not speak of it.
pub(super) fn quote_sum(asked: &OfflineQuestion<'_>, query: &Query) -> Option<Draft> {
    let search = search_files(asked);
    let best = search.find(query, 1);
    let Hit { passage, .. } = best.first()?;
    let said = terms_of(&format!("{} {}", passage.headings.join(" "), passage.text()));
    if names_costs(query, &said) { quote(&search, asked, query) } else { None }
}

fn search_files(asked: &OfflineQuestion<'_>) -> Search {
    Search::new(asked.files, |file, is_older| cited(file, is_older, asked))
}

/// The best quotations with their places.
fn quote(search: &Search, asked: &OfflineQuestion<'_>, query: &Query) -> Option<Draft> {
    let hits = search.find(query, QUOTES);
    let best = hits.first()?.score;
    let mut draft = Draft::empty();
    let mut left = ALL_QUOTES;
    for hit in hits.iter().filter(|hit| hit.score >= NEARLY * best) {
        let quote = hit.quote(query, QUOTE);
        let Some(rest) = left.checked_sub(quote.text.chars().count()) else { break };
        left = rest;
        if !draft.lines.is_empty() {
            // Separates the quotes. Otherwise Discord joins adjacent block quotes.
            draft.line("");
        }
        let place = foreign(&quote.place, 200);
        draft.line(block_quote(&quote.text));
        draft.line(format!("[{place}]"));
        draft.sources.push(place);
        note_part(&mut draft.parts, asked, hit, quote.text.len());
    }
    draft.verdict = if search.covers(query, &hits) { AnswerVerdict::Answers } else { AnswerVerdict::InPart };
    Some(draft)
}

/// The question's search terms as the person wrote them.
fn asked_words(text: &str, query: &Query) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_'))) {
        let wanted = Query::parse(word, &[]).terms.iter().any(|term| query.terms.iter().any(|(known, _)| *known == term.0));
        if wanted && !words.iter().any(|known| known == word) {
            words.push(word.to_owned());
        }
    }
    words
}

fn quoted(words: &[String]) -> String {
    if words.is_empty() || words.len() > MOST_WORDS { "that".into() } else { format!("\"{}\"", foreign(&words.join(" "), 120)) }
}

fn listed(names: &[String]) -> String {
    match names.get(..5).filter(|_| names.len() > 5) {
        Some(shown) => format!("{} and {} more", shown.join(", "), names.len() - 5),
        None => join_with_and(names),
    }
}

/// Notes how much of a large file is quoted.
fn note_part(parts: &mut Vec<PartRead>, asked: &OfflineQuestion<'_>, hit: &Hit<'_>, bytes: usize) {
    let files = asked.files;
    let known = files.focus.iter().chain(&files.near).map(|file| (file, false)).chain(files.older.iter().map(|file| (file, true)));
    let found = known.into_iter().find(|(file, is_older)| cited(file, *is_older, asked) == hit.source);
    let Some((file, of)) = found.and_then(|(file, _)| Some((file, file.text.as_ref()?.len()))).filter(|(_, of)| *of >= LARGE) else {
        return;
    };
    match parts.iter_mut().find(|part| part.name == file.name) {
        Some(part) => part.read += bytes,
        None => parts.push(PartRead { name: file.name.clone(), read: bytes, of }),
    }
}

/// Whether a question for an outline has no subject but the files themselves: "summarise the plan", with `plan.md`.
pub(super) fn is_about_whole(asked: &OfflineQuestion<'_>, topic: &Query) -> bool {
    let names: Vec<String> = asked.files.focus.iter().flat_map(|file| terms_of(&file.name.replace('.', " "))).collect();
    topic.terms.iter().all(|(term, weight)| *weight < 1.0 || names.contains(term))
}

/// Says which files came with a message that is not a question.
pub(super) fn receive(asked: &OfflineQuestion<'_>) -> Draft {
    let names: Vec<String> = asked.files.list_meant().map(|(file, _)| foreign(&file.name, 100)).collect();
    let them = if names.len() == 1 { "it" } else { "them" };
    let mut draft = Draft::from(format!("I've read {}. Ask me about {them} and I'll quote from {them}.", join_with_and(&names)));
    draft.sources = names;
    draft
}

/// Whether a question has no subject but the files: "which files did we get?".
pub(super) fn asks_for_files(asked: &OfflineQuestion<'_>, query: &Query) -> bool {
    let mut all = asked.files.focus.iter().chain(&asked.files.near).chain(&asked.files.older);
    let named = terms_of("files documents");
    all.next().is_some() && !query.is_empty() && query.terms.iter().all(|(term, _)| named.contains(term))
}

/// The files that were posted here, with who posted them.
pub(super) fn list_files(asked: &OfflineQuestion<'_>) -> Draft {
    let all: Vec<&File> = asked.files.focus.iter().chain(&asked.files.near).chain(&asked.files.older).collect();
    let mut draft = Draft::from(format!("{} posted here:", count(all.len(), "file")));
    for file in all.iter().take(FILES) {
        let unread = if file.text.is_some() { "" } else { ", not read" };
        draft.line(format!("- {} ({}, {}{unread})", foreign(&file.name, 100), foreign(&file.by, 40), asked.today().show(file.at)));
        draft.sources.push(foreign(&file.name, 100));
    }
    if all.len() > FILES {
        draft.line(format!("… and {} more", all.len() - FILES));
    }
    draft
}

/// Says which files could not be read, and why.
pub(super) fn unread(asked: &OfflineQuestion<'_>) -> Draft {
    let notes = asked.files.focus.iter().filter_map(|file| file.note.as_deref());
    Draft { lines: notes.map(|note| foreign(note, 300)).collect(), tells_unread: true, ..Draft::empty() }
}

/// Summarises the files in focus: size, beginning, headings with line numbers.
pub(super) fn outline(asked: &OfflineQuestion<'_>) -> Draft {
    let files: Vec<(&File, &str)> = asked.files.focus.iter().filter_map(|file| Some((file, file.text.as_deref()?))).collect();
    if files.is_empty() {
        return unread(asked);
    }
    let mut draft = Draft { verdict: AnswerVerdict::Answers, ..Draft::empty() };
    for (file, text) in files {
        let name = foreign(&file.name, 100);
        let sections = sections_of(text);
        let size = count(text.lines().count(), "line");
        if sections.is_empty() {
            let beginning = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("(nothing)");
            draft.line(format!("**{name}**: {size}, begins:"));
            draft.line(block_quote(&cut(beginning, 300)));
        } else {
            draft.line(format!("**{name}**: {size}, {}:", count(sections.len(), "section")));
        }
        draft.lines.extend(sections.iter().take(12).map(|(line, title)| format!("- {} [line {line}]", foreign(title, 100))));
        if sections.len() > 12 {
            draft.line(format!("… and {} more", sections.len() - 12));
        }
        draft.sources.push(name);
    }
    draft.line("Ask me about it and I'll quote from it.");
    draft
}

/// The headings of the highest level with more than one heading. A single title is skipped.
fn sections_of(text: &str) -> Vec<(usize, String)> {
    let headings = headings_of(text);
    let of_level = |level: usize| -> Vec<(usize, String)> {
        let wanted = headings.iter().filter(|heading| heading.level == level);
        wanted.map(|heading| (heading.line, heading.title.to_owned())).collect()
    };
    (1..=6).map(of_level).find(|sections| sections.len() > 1).unwrap_or_default()
}
