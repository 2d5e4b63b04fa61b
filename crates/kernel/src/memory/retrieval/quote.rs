//! Quotes from a passage with its source.

use crate::memory::retrieval::library::Hit;
use crate::memory::retrieval::passage::Passage;
use crate::memory::retrieval::terms::{Query, terms_of};

/// A quotation and its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    pub text: String,
    /// `decision-log.md, D-043: Zombie Step Cleanup, line 11`, or the reference of a fact.
    pub place: String,
}

impl Hit<'_> {
    /// At most about `limit` characters of the passage: all of it, or the sentences that match the question.
    pub fn quote(&self, query: &Query, limit: usize) -> Quote {
        let (text, lines) = self.passage.quote(query, limit);
        Quote { text, place: if self.fact { self.source.to_owned() } else { self.passage.place(self.source, lines) } }
    }
}

impl Passage {
    /// At most about `limit` characters: all of it, or the sentences that match the question. With the first and the last line.
    pub fn quote(&self, query: &Query, limit: usize) -> (String, Option<(usize, usize)>) {
        let sentences = sentences_of(&self.lines);
        let chosen = choose(&sentences, query, limit);
        let mut text = String::new();
        let mut last = None;
        for &index in &chosen {
            let gap = last.is_some_and(|last| index > last + 1) || (last.is_none() && index > 0);
            let line_break = last.is_some_and(|last: usize| sentences[last].line != sentences[index].line);
            text.push_str(if line_break {
                "\n"
            } else if last.is_some() {
                " "
            } else {
                ""
            });
            text.push_str(if gap { "… " } else { "" });
            text.push_str(&sentences[index].text);
            last = Some(index);
        }
        let lines = chosen.first().zip(chosen.last()).map(|(&first, &last)| (sentences[first].line, sentences[last].line));
        (cut(&text, limit), lines)
    }

    /// `decision-log.md, D-043: Zombie Step Cleanup, line 11`
    pub fn place(&self, source: &str, lines: Option<(usize, usize)>) -> String {
        let lines = match lines {
            None => return source.to_owned(),
            Some((first, last)) if first == last => format!("line {first}"),
            Some((first, last)) => format!("lines {first}–{last}"),
        };
        match self.headings.last() {
            Some(heading) => format!("{source}, {}, {lines}", cut(heading, 80)),
            None => format!("{source}, {lines}"),
        }
    }
}

/// Cuts the text to `limit` characters at a word, and marks the cut.
pub fn cut(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let end = text.char_indices().nth(limit.saturating_sub(1)).map_or(text.len(), |(at, _)| at);
    let at = text[..end].rfind(char::is_whitespace).filter(|at| *at > end / 2).unwrap_or(end);
    format!("{}…", text[..at].trim_end())
}

struct Sentence {
    line: usize,
    text: String,
}

/// Splits into sentences. A sentence ends at `.`, `?` or `!` before a space and a capital letter or digit, and at the end of a line.
fn sentences_of(lines: &[(usize, String)]) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    for (line, text) in lines {
        let mut start = 0;
        for (at, mark) in text.char_indices().filter(|(_, c)| matches!(c, '.' | '!' | '?')) {
            let rest = &text[at + mark.len_utf8()..];
            let begins = rest.strip_prefix(' ').and_then(|next| next.chars().next());
            // "1. One" is one sentence, and so are "e.g. this" and "on 18. December".
            let numbering = text[start..at].trim().chars().all(|c| c.is_ascii_digit()) || mark == '.' && ends_with_day(&text[start..at]);
            if !numbering && begins.is_some_and(|c| c.is_uppercase() || c.is_ascii_digit() || !c.is_alphanumeric()) {
                sentences.push(Sentence { line: *line, text: text[start..=at].trim().to_owned() });
                start = at + 1;
            }
        }
        let rest = text[start..].trim();
        if !rest.is_empty() {
            sentences.push(Sentence { line: *line, text: rest.to_owned() });
        }
    }
    sentences
}

/// Whether a text ends with a number of one or two digits, like the day of a date.
fn ends_with_day(text: &str) -> bool {
    let number = text.rsplit(' ').next().unwrap_or_default();
    (1..=2).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// The sentences to quote, in order: all if they fit, or else the best one with its neighbours and other good ones.
fn choose(sentences: &[Sentence], query: &Query, limit: usize) -> Vec<usize> {
    let length = |index: usize| sentences[index].text.chars().count() + 1;
    if (0..sentences.len()).map(length).sum::<usize>() <= limit {
        return (0..sentences.len()).collect();
    }
    let score = |index: usize| -> f64 {
        let terms = terms_of(&sentences[index].text);
        query.terms.iter().filter(|(term, _)| terms.contains(term)).map(|(_, weight)| weight).sum()
    };
    let mut ranked: Vec<(f64, usize)> = (0..sentences.len()).map(|index| (score(index), index)).collect();
    ranked.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let best = ranked.first().map_or(0, |(_, index)| *index);
    // The sentence after the best one usually explains it.
    let wanted = [best, best + 1].into_iter().chain(ranked.iter().filter(|(score, _)| *score > 0.0).map(|(_, index)| *index));
    let mut chosen: Vec<usize> = Vec::new();
    let mut used = 0;
    for index in wanted.filter(|index| *index < sentences.len()) {
        if !chosen.contains(&index) && (chosen.is_empty() || used + length(index) <= limit) {
            used += length(index);
            chosen.push(index);
        }
    }
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests {
    use super::super::Library;
    use super::*;

    fn quote(text: &str, question: &str, limit: usize) -> Quote {
        let mut library = Library::default();
        library.add_document("a.md", text, 1.0);
        let query = Query::parse(question, &[]);
        library.find(&query, 1)[0].quote(&query, limit)
    }

    #[test]
    fn a_short_passage_is_quoted_whole_with_heading_and_lines() {
        let quote = quote("# The queue\n\nIt stood still.\nNobody saw it, e.g. the worker.\n", "why did the queue stand still?", 200);
        assert_eq!(quote.text, "It stood still.\nNobody saw it, e.g. the worker.");
        assert_eq!(quote.place, "a.md, The queue, lines 3–4");
    }

    #[test]
    fn of_a_long_passage_the_sentences_that_answer_are_quoted() {
        let filler = "This one says nothing of it. ".repeat(10);
        let quote = quote(&format!("{filler}The queue stood still. The window was full. {filler}"), "queue", 60);
        assert_eq!(quote.text, "… The queue stood still. The window was full.");
        assert_eq!(quote.place, "a.md, line 1");
    }

    #[test]
    fn a_date_is_quoted_whole() {
        let filler = "This one says nothing of it. ".repeat(10);
        let quote = quote(&format!("{filler}The crane comes on 18. December. {filler}"), "crane", 50);
        assert_eq!(quote.text, "… The crane comes on 18. December.");
    }

    #[test]
    fn a_text_is_cut_at_a_word_and_says_so() {
        assert_eq!(cut("one two three", 20), "one two three");
        assert_eq!(cut("one two three", 10), "one two…");
        assert_eq!(cut("ééééééééé", 4), "ééé…");
    }
}
