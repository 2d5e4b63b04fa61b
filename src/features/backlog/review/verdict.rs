//! Reads a grader's verdict. Only code decides: every criterion met, each shown by a passage that is really there, or by what was looked through if
//! no passage can show it.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::features::backlog::model::Scores;
use kernel::memory::retrieval::cut;
use kernel::text::without_invisible;

/// Maximum length of a passage, and of what is missing: the author has nothing else to go by.
const KEPT: usize = 300;
const MISSING: usize = 2000;
/// The fewest letters and digits of a passage, unless it is a whole line. A single word stands everywhere.
const LEAST: usize = 8;
/// Minimum number of letters and digits of a sentence that replaces a passage.
const LEAST_SEEN: usize = 16;

/// The model's verdict, not checked yet.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GivenVerdict {
    pub(super) grades: Vec<GivenGrade>,
    /// What the result is worth as a whole.
    #[serde(default)]
    pub(super) scores: Option<GivenScores>,
}

/// Each from 1 to 5.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub(super) struct GivenScores {
    depth: f64,
    accuracy: f64,
    actionability: f64,
    completeness: f64,
}

impl GivenScores {
    /// Halves count as the lower number. None if one is out of range.
    pub(super) fn read(self) -> Option<Scores> {
        let read = |given: f64| (1..=5_u8).rev().find(|score| given >= f64::from(*score) && given < 6.0);
        Some(Scores {
            depth: read(self.depth)?,
            accuracy: read(self.accuracy)?,
            actionability: read(self.actionability)?,
            completeness: read(self.completeness)?,
        })
    }
}

// The prompts say what most fields are for, so these have no words for the model.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GivenGrade {
    /// The number of the criterion.
    criterion: usize,
    met: bool,
    #[serde(default)]
    shown_by: String,
    #[serde(default)]
    seen: String,
    #[serde(default)]
    missing: String,
    /// If it is not met: the passage of a file that is wrong, copied. Empty if something is not there.
    #[serde(default)]
    place: String,
    #[serde(default)]
    needs_person: bool,
}

impl GivenVerdict {
    /// For each criterion the passage that is wrong, or an empty text.
    pub(super) fn list_places(&self, criteria: usize) -> Vec<&str> {
        let place = |number| self.grades.iter().find(|grade| grade.criterion == number).map_or("", |grade| grade.place.as_str());
        (1..=criteria).map(place).collect()
    }
}

impl GivenGrade {
    /// The number of its criterion, if that is not met.
    pub(super) fn missed(&self) -> Option<usize> {
        (!self.met).then_some(self.criterion)
    }
}

/// A criterion with its grade.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grade {
    pub criterion: String,
    pub found: Found,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// The passage that shows it.
    Met(String),
    /// What the grader looked through, because no passage can show it.
    Seen(String),
    /// What is missing.
    Missing(String),
    /// What is missing, and nobody on the team can add it.
    NeedsPerson(String),
}

impl Found {
    pub(super) fn is_met(&self) -> bool {
        matches!(self, Self::Met(_) | Self::Seen(_))
    }
}

/// What may show that a criterion is met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Quotable {
    pub(super) texts: Vec<String>,
    /// What code counted, a line for each file: "Markdown, 7 lines, 1 heading".
    pub(super) counts: Vec<String>,
}

/// Checks a verdict on these criteria.
///
/// # Errors
/// All reasons why the verdict does not count, for the model.
pub(super) fn read_verdict(given: &GivenVerdict, criteria: &[String], quotable: &Quotable) -> Result<Vec<Grade>, String> {
    let material = Material::of(quotable);
    // If any criterion is not met, the others need no passages.
    let all_met = given.grades.iter().all(|grade| grade.met);
    let unknown = given.grades.iter().filter(|grade| grade.criterion == 0 || grade.criterion > criteria.len());
    let mut faults: Vec<String> = unknown
        .map(|unknown| format!("there is no criterion {}; they are numbered from 1 to {}", unknown.criterion, criteria.len()))
        .collect();
    let mut grades: Vec<Grade> = Vec::new();
    for (number, criterion) in (1..).zip(criteria) {
        let found = match &given.grades.iter().filter(|grade| grade.criterion == number).collect::<Vec<_>>()[..] {
            [] => Err(format!("criterion {number} has no grade")),
            [grade] => grade.read(number, all_met.then_some(&material)),
            _ => Err(format!("criterion {number} has several grades")),
        };
        match found {
            Ok(Found::Seen(seen)) if grades.iter().any(|grade| grade.found == Found::Seen(seen.clone())) => {
                faults.push(format!("`seen` of criterion {number} is that of another criterion; say what you looked at for this one"));
            }
            Ok(found) => grades.push(Grade { criterion: criterion.clone(), found }),
            Err(fault) => faults.push(fault),
        }
    }
    if faults.is_empty() { Ok(grades) } else { Err(faults.join("; ")) }
}

impl GivenGrade {
    /// `material`: to look the passage up in. None: it is not needed.
    fn read(&self, number: usize, material: Option<&Material>) -> Result<Found, String> {
        if !self.met {
            let why = line(&self.missing, MISSING);
            return match (says_something(&why), self.needs_person) {
                (false, _) => Err(format!("criterion {number} is not met, but what is missing is not said")),
                (true, true) => Ok(Found::NeedsPerson(why)),
                (true, false) => Ok(Found::Missing(why)),
            };
        }
        let Some(material) = material else { return Ok(Found::Met(line(&self.shown_by, KEPT))) };
        if !says_something(&self.shown_by) && material.has_count(&self.seen) {
            return Ok(Found::Met(line(&self.seen, KEPT)));
        }
        if !says_something(&self.shown_by) && letters(&self.seen) >= LEAST_SEEN {
            return Ok(Found::Seen(line(&self.seen, KEPT)));
        }
        if material.has(&self.shown_by) {
            return Ok(Found::Met(line(&self.shown_by, KEPT)));
        }
        Err(if says_something(&self.shown_by) {
            format!("the passage of criterion {number} is not in the material. Quote it exactly")
        } else {
            format!("criterion {number} has no passage. Quote one, or say in `seen` what you looked through if none can show it")
        })
    }
}

/// What may be quoted, in the form in which it is compared.
struct Material {
    lines: Vec<String>,
    /// Each text on one line.
    texts: Vec<String>,
    /// The words of each line of counts.
    counts: Vec<Vec<String>>,
}

impl Material {
    fn of(Quotable { texts, counts }: &Quotable) -> Self {
        let texts: Vec<String> = texts.iter().map(|text| plain(text)).collect();
        let lines = texts.iter().flat_map(|text| text.lines()).map(|line| without_bullet(line).to_owned()).collect();
        Self {
            lines,
            texts: texts.iter().map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")).collect(),
            counts: counts.iter().map(|count| words(count)).collect(),
        }
    }

    /// Whether a quote is there. It may leave something out in the middle.
    fn has(&self, quote: &str) -> bool {
        let quote = plain(quote).split_whitespace().collect::<Vec<_>>().join(" ");
        let mut passages = quote.split("...").map(without_bullet).filter(|passage| says_something(passage)).peekable();
        passages.peek().is_some() && passages.all(|passage| self.has_passage(passage) || self.has_count(passage))
    }

    /// Whether a text is a count that code reported, such as "7 lines". It may be shorter than a passage, because no other words say it.
    fn has_count(&self, text: &str) -> bool {
        let words = words(text);
        let begins = words.len() > 1 && words[0].parse::<usize>().is_ok();
        begins && self.counts.iter().any(|count| count.windows(words.len()).any(|part| part == words))
    }

    fn has_passage(&self, passage: &str) -> bool {
        self.lines.iter().any(|line| line == passage) || (letters(passage) >= LEAST && self.texts.iter().any(|text| text.contains(passage)))
    }
}

/// Without the mark of a list, which belongs to the material and not to what it lists.
fn without_bullet(line: &str) -> &str {
    let line = line.trim();
    line.strip_prefix("- ").map_or(line, str::trim)
}

/// In lower case, without the marks and quotes that a copy may lose. Headings are left out: a title shows nothing.
fn plain(text: &str) -> String {
    let kept = without_invisible(text);
    let kept = kept.lines().filter(|line| !line.trim_start().starts_with("# ") && !line.trim_start().starts_with("## "));
    without_marks(&kept.collect::<Vec<_>>().join("\n"))
}

/// In lower case, without the marks and quotes that a copy may lose.
pub(super) fn without_marks(text: &str) -> String {
    let kept = without_invisible(text).to_lowercase().replace('…', "...");
    kept.chars().filter(|c| !"*_`\"'“”„«»‘’|>".contains(*c)).collect()
}

/// In lower case, without the signs around each word.
fn words(text: &str) -> Vec<String> {
    let words = text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase());
    words.filter(|word| !word.is_empty()).collect()
}

fn says_something(text: &str) -> bool {
    letters(text) > 0
}

fn letters(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphanumeric()).count()
}

fn line(text: &str, limit: usize) -> String {
    cut(&without_invisible(text).split_whitespace().collect::<Vec<_>>().join(" "), limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "# Prices of scanners\n\nScanner A asks **nine dollars**, says https://a.example/x.\nB asks 4.\n";

    fn grade(criterion: usize, met: bool, text: &str) -> GivenGrade {
        let (shown_by, missing) = if met { (text.to_owned(), String::new()) } else { (String::new(), text.to_owned()) };
        GivenGrade { criterion, met, shown_by, seen: String::new(), missing, place: String::new(), needs_person: false }
    }

    fn seen(criterion: usize, seen: &str) -> GivenGrade {
        GivenGrade { seen: seen.to_owned(), ..grade(criterion, true, "") }
    }

    fn read(grades: Vec<GivenGrade>) -> Result<Vec<Found>, String> {
        let criteria = ["Two scanners have prices".to_owned(), "Each price has its page".to_owned()];
        let quotable = Quotable {
            texts: vec![REPORT.to_owned(), "a.md: Markdown, 17 lines, 1 heading".to_owned()],
            counts: vec!["Markdown, 17 lines, 1 heading, 120 bytes".to_owned()],
        };
        let read = read_verdict(&GivenVerdict { grades, scores: None }, &criteria, &quotable);
        read.map(|grades| grades.into_iter().map(|grade| grade.found).collect())
    }

    #[test]
    fn all_are_met_if_each_is_shown_by_a_passage_that_is_there() {
        for passage in [
            "Scanner A asks nine dollars, says https://a.example/x.",
            "“scanner a asks **nine dollars**”",
            "Scanner A asks … says https://a.example/x.\n B asks 4.",
            "B asks 4.",
            "a.md: Markdown, 17 lines",
            "- a.md: Markdown, 17 lines, 1 heading",
            "17 lines",
        ] {
            let read = read(vec![grade(2, true, passage), grade(1, true, "Scanner A asks nine dollars")]);
            assert!(matches!(read.as_deref(), Ok([Found::Met(_), Found::Met(_)])), "{passage}: {read:?}");
        }
    }

    #[test]
    fn a_grader_that_only_agrees_has_given_no_verdict() {
        for passage in ["It is fine.", "asks", "Scanner A asks twelve dollars", "Scanner A asks … twelve dollars"] {
            let read = read(vec![grade(1, true, passage), grade(2, true, "Scanner A asks nine dollars")]);
            assert_eq!(read, Err("the passage of criterion 1 is not in the material. Quote it exactly".into()), "{passage}");
        }
        for passage in ["", "…", "Prices of scanners", "# Prices of scanners"] {
            let read = read(vec![grade(1, true, passage), grade(2, true, "Scanner A asks nine dollars")]);
            assert!(read.is_err(), "{passage}: a title shows nothing");
        }
        assert!(read(vec![seen(1, "It is fine."), seen(2, "Looks good.")]).is_err());
        let same = "I looked through both files.";
        assert!(read(vec![seen(1, same), seen(2, same)]).is_err_and(|why| why.contains("that of another criterion")));
    }

    #[test]
    fn what_no_passage_can_show_is_met_by_what_was_looked_through() {
        let absent = "Neither price names a person; I read all four lines.";
        assert_eq!(
            read(vec![seen(1, absent), grade(2, true, "B asks 4.")]),
            Ok(vec![Found::Seen(absent.into()), Found::Met("B asks 4.".into())])
        );
    }

    #[test]
    fn a_count_that_code_reported_shows_something_however_short_it_is() {
        for count in ["17 lines", "17 Lines.", "1 heading", "17 lines, 1 heading"] {
            let read = read(vec![seen(1, count), seen(2, count)]);
            assert_eq!(read, Ok(vec![Found::Met(count.into()), Found::Met(count.into())]), "of two criteria, too: {count}");
        }
        for count in ["7 lines", "17 words", "17", "lines", "17 heading", "lines 1 heading"] {
            assert!(read(vec![seen(1, count), grade(2, true, "B asks 4.")]).is_err_and(|why| why.contains("has no passage")), "{count}");
        }
    }

    #[test]
    fn what_nobody_on_the_team_can_meet_is_for_a_person() {
        let approval = GivenGrade { needs_person: true, ..grade(1, false, "Ann has not approved it yet.") };
        let read = read(vec![approval, grade(2, true, "B asks 4.")]);
        assert_eq!(read, Ok(vec![Found::NeedsPerson("Ann has not approved it yet.".into()), Found::Met("B asks 4.".into())]));
    }

    #[test]
    fn all_faults_of_a_verdict_are_named_at_once() {
        let read = read(vec![grade(1, true, "Scanner A asks twelve dollars"), grade(3, true, "B asks 4.")]);
        assert_eq!(
            read,
            Err("there is no criterion 3; they are numbered from 1 to 2; the passage of criterion 1 is not in the material. Quote it exactly; \
                 criterion 2 has no grade"
                .into())
        );
    }

    #[test]
    fn scores_count_if_all_are_from_one_to_five() {
        let read = |depth: f64| GivenScores { depth, accuracy: 3.0, actionability: 4.5, completeness: 5.0 }.read();
        assert_eq!(read(2.0), Some(Scores { depth: 2, accuracy: 3, actionability: 4, completeness: 5 }));
        assert_eq!((read(0.0), read(6.0), read(f64::NAN)), (None, None, None));
    }

    #[test]
    fn what_is_not_met_is_named_and_one_is_enough() {
        let missing = Found::Missing("The price of B has no page.".into());
        assert_eq!(
            read(vec![grade(1, true, "never said"), grade(2, false, "The price of B\nhas no page.")]),
            Ok(vec![Found::Met("never said".into()), missing])
        );
        assert!(read(vec![grade(1, true, "B asks 4."), grade(2, false, " … ")]).is_err_and(|why| why.contains("is not said")));
    }

    #[test]
    fn a_criterion_that_is_missing_unknown_or_graded_twice_makes_it_no_verdict() {
        let met = |number| grade(number, true, "Scanner A asks nine dollars");
        for (grades, why) in [
            (vec![], "criterion 1 has no grade"),
            (vec![met(1)], "criterion 2 has no grade"),
            (vec![met(1), met(2), met(3)], "there is no criterion 3"),
            (vec![met(0), met(1), met(2)], "there is no criterion 0"),
            (vec![met(1), met(2), grade(2, false, "No.")], "criterion 2 has several grades"),
        ] {
            assert!(read(grades).is_err_and(|error| error.contains(why)), "{why}");
        }
    }
}
