//! Removes citations of pages that nobody has fetched (WORK-16).

use std::ops::Range;

use crate::features::backlog::verifier::links::{Address, addresses_in};

/// Replaces a removed citation, if the sentence has no other one.
const MARK: &str = "(no source)";

/// A text without citations of pages that nobody has fetched.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Cleaned {
    pub(crate) text: String,
    /// The addresses that were taken out.
    pub(crate) removed: Vec<String>,
}

/// None if there is nothing to remove, or if no citation would be left: then the text proves nothing, and its author has to look again. Citations
/// that are hidden by escapes cannot be removed, so the verifier reports them.
pub(super) fn clean(text: &str, is_known: &dyn Fn(&Address) -> bool) -> Option<Cleaned> {
    let (known, unknown): (Vec<Address>, Vec<Address>) = addresses_in(text).into_iter().partition(is_known);
    if unknown.is_empty() || known.is_empty() {
        return None;
    }
    let known = what_holds(text, known);
    let mut cleaned = Cleaned::default();
    let mut labels: Vec<String> = Vec::new();
    for line in text.split_inclusive('\n') {
        let mut line = line.to_owned();
        for Address { shown, .. } in &unknown {
            while let Some(at) = find_whole(&line, shown) {
                if !cleaned.removed.contains(shown) {
                    cleaned.removed.push(shown.clone());
                }
                if let Some(label) = label_of(&line[..at]) {
                    labels.push(format!("[{label}]"));
                    line.clear();
                } else {
                    let citation = citation_at(&line, at..at + shown.len());
                    take_out(&mut line, citation, &known);
                }
            }
        }
        cleaned.text.push_str(&line);
    }
    for label in &labels {
        while let Some(at) = cleaned.text.find(label) {
            let citation = reference_at(&cleaned.text, at..at + label.len(), &known);
            take_out(&mut cleaned.text, citation, &known);
        }
    }
    if cleaned.removed.is_empty() {
        return None;
    }
    // The same page may also be cited in another form.
    if let Some(more) = clean(&cleaned.text, is_known) {
        cleaned.text = more.text;
        cleaned.removed.extend(more.removed);
    }
    Some(cleaned)
}

/// The known addresses, and the references to them.
fn what_holds(text: &str, known: Vec<Address>) -> Vec<String> {
    let label = |line: &str| {
        let at = known.iter().find_map(|address| line.find(&address.shown))?;
        Some(format!("[{}]", label_of(&line[..at])?))
    };
    let labels: Vec<String> = text.lines().filter_map(label).collect();
    known.into_iter().map(|address| address.shown).chain(labels).collect()
}

/// The text without sentences that have lost their source, because they prove nothing.
pub(crate) fn without_unsupported(text: &str) -> String {
    if !text.contains(MARK) {
        return text.to_owned();
    }
    let mut kept = text.to_owned();
    while let Some(at) = kept.find(MARK) {
        kept.replace_range(sentence_at(&kept, at), "");
    }
    kept
}

/// A longer address may begin with a shorter one.
fn find_whole(line: &str, shown: &str) -> Option<usize> {
    let continues = |end: usize| {
        let rest = line[end..].trim_start_matches('.');
        rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '/' | '-' | '_' | '?' | '=' | '&' | '%' | '#'))
    };
    line.match_indices(shown).map(|(at, _)| at).find(|at| !continues(at + shown.len()))
}

/// `[label]: ` before an address defines a reference.
fn label_of(before: &str) -> Option<String> {
    let label = before.trim_end_matches('<').trim().strip_suffix("]:")?.strip_prefix('[')?;
    (!label.is_empty() && !label.contains(['[', ']'])).then(|| label.to_owned())
}

/// A citation: its range in the text, and the words that stay.
struct Citation {
    whole: Range<usize>,
    words: String,
}

/// `[words](address "title")`, `<address>`, `(address)` or the address alone.
fn citation_at(line: &str, mut at: Range<usize>) -> Citation {
    if line[..at.start].ends_with('<') && line[at.end..].starts_with('>') {
        at = at.start - 1..at.end + 1;
    }
    let closes = line[at.end..].find(')').map(|end| at.end + end + 1);
    let opening = line[..at.start].strip_suffix("](").and_then(|before| Some((before.rfind('[')?, before.len())));
    if let (Some((begin, end)), Some(closes)) = (opening, closes) {
        // `![words](…)` is a picture.
        let whole = if line[..begin].ends_with('!') { begin - 1 } else { begin };
        return Citation { whole: whole..closes, words: line[begin + 1..end].to_owned() };
    }
    if line[..at.start].ends_with('(') && line[at.end..].starts_with(')') {
        at = at.start - 1..at.end + 1;
    }
    Citation { whole: at, words: String::new() }
}

/// `[words][label]` or `[label]` alone, also behind another reference.
fn reference_at(text: &str, label: Range<usize>, known: &[String]) -> Citation {
    let words = text[..label.start].strip_suffix(']').and_then(|before| Some((before.rfind('[')?, before.len())));
    let is_reference = |begin: usize| known.iter().any(|holds| *holds == text[begin..label.start]);
    match words {
        Some((begin, end)) if !is_reference(begin) => Citation { whole: begin..label.end, words: text[begin + 1..end].to_owned() },
        _ => Citation { whole: label, words: String::new() },
    }
}

fn take_out(text: &mut String, Citation { whole, words }: Citation, known: &[String]) {
    let sentence = sentence_at(text, whole.start);
    let rests_on_others = known.iter().any(|holds| text[sentence.clone()].contains(holds));
    // One mark in a sentence is enough.
    let mark = if rests_on_others || text[sentence].contains(MARK) { "" } else { MARK };
    let gap = if words.is_empty() || mark.is_empty() { "" } else { " " };
    let stays = format!("{words}{gap}{mark}");
    let at = whole.start;
    text.replace_range(whole, &stays);
    // Removes a space that would stand before punctuation or another space.
    if stays.is_empty() && text[..at].ends_with(' ') && text[at..].starts_with([' ', '.', ',', ';', ':', '\n']) {
        text.remove(at - 1);
    }
}

/// The sentence, or the line or the cell of a table, in which this position is.
fn sentence_at(text: &str, at: usize) -> Range<usize> {
    let ends = [". ", "! ", "? ", "\n", "|"];
    let begin = ends.iter().filter_map(|end| Some(text[..at].rfind(end)? + end.len())).max().unwrap_or(0);
    let end = ends.iter().filter_map(|end| Some(at + text[at..].find(end)? + usize::from(end.len() > 1))).min().unwrap_or(text.len());
    begin..end.max(begin)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(text: &str) -> Option<(String, Vec<String>)> {
        clean(text, &|address| address.shown.contains("read.example")).map(|cleaned| (cleaned.text, cleaned.removed))
    }

    #[test]
    fn what_nobody_has_fetched_is_taken_out_and_what_rests_on_it_alone_is_marked() {
        const READ: &str = "A costs $1 (https://read.example/a).";
        for (before, after) in [
            ("B costs $2 ([the shop](https://made.up/b)).", "B costs $2 (the shop (no source))."),
            ("B costs $2, says [the shop](https://made.up/b \"Shop\").", "B costs $2, says the shop (no source)."),
            ("B costs $2 (https://made.up/b).", "B costs $2 (no source)."),
            ("B costs $2 <https://made.up/b>. C is closed.", "B costs $2 (no source). C is closed."),
            ("B costs $2: https://made.up/b and https://made.up/b/more", "B costs $2: (no source) and"),
            (
                "B costs $2, see https://made.up/b and https://read.example/b, as everybody.",
                "B costs $2, see and https://read.example/b, as everybody.",
            ),
            ("| B | $2 | https://made.up/b |", "| B | $2 | (no source) |"),
        ] {
            let (text, removed) = cleaned(&format!("{READ}\n{before}\n")).unwrap_or_else(|| panic!("{before}"));
            assert_eq!(text, format!("{READ}\n{after}\n"));
            assert_eq!(removed[0], "https://made.up/b", "{before}");
        }
    }

    #[test]
    fn references_go_with_their_definition() {
        let text = "A costs $1 [1]. B costs $2 [the shop][2]. C costs $3 [2]. D costs $4 [1][2].\n\n[1]: https://read.example/a\n[2]: https://made.up/b\n";
        let (text, removed) = cleaned(text).unwrap();
        assert_eq!(
            text,
            "A costs $1 [1]. B costs $2 the shop (no source). C costs $3 (no source). D costs $4 [1].\n\n[1]: https://read.example/a\n"
        );
        assert_eq!(removed, ["https://made.up/b"]);
    }

    #[test]
    fn a_text_that_cites_nothing_else_or_nothing_unknown_stays_as_it_is() {
        for text in ["B costs $2 (https://made.up/b).", "A costs $1 (https://read.example/a).", "Nothing is cited.", ""] {
            assert_eq!(cleaned(text), None, "{text}");
        }
    }

    #[test]
    fn a_sentence_without_a_source_shows_nothing() {
        let text = "A costs $1. B costs $2 (no source). C costs $3.\n| B | $2 (no source) | x |\nD costs $4.";
        assert_eq!(without_unsupported(text), "A costs $1.  C costs $3.\n| B || x |\nD costs $4.");
        assert_eq!(without_unsupported("All is well."), "All is well.");
    }
}
