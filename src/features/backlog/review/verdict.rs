//! Reads a grader's verdict. Only code decides: every criterion met, each shown by a passage that is really there.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::features::backlog::model::Scores;
use kernel::memory::retrieval::cut;
use kernel::text::without_invisible;

/// The most characters that are kept of a passage, and of what is missing: the author has nothing else to go by.
const KEPT: usize = 300;
const MISSING: usize = 2000;
/// The fewest letters and digits of a passage, unless it is a whole line. A single word stands everywhere.
const LEAST: usize = 8;

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

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GivenGrade {
    /// The number of the criterion.
    criterion: usize,
    met: bool,
    /// If it is met: the passage of the material that shows it, copied.
    #[serde(default)]
    shown_by: String,
    /// If it is not met: what is missing or wrong, where, and what would be right.
    #[serde(default)]
    missing: String,
    /// If it is not met: the passage of a file that is wrong, copied. Empty if something is not there.
    #[serde(default)]
    place: String,
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
    /// What is missing.
    Missing(String),
}

/// Checks a verdict on these criteria. `material`: the texts that may be quoted.
///
/// # Errors
/// Why the verdict does not count, as a sentence for the model.
pub(super) fn read_verdict(given: &GivenVerdict, criteria: &[String], material: &[&str]) -> Result<Vec<Grade>, String> {
    if let Some(unknown) = given.grades.iter().find(|grade| grade.criterion == 0 || grade.criterion > criteria.len()) {
        return Err(format!("there is no criterion {}; they are numbered from 1 to {}", unknown.criterion, criteria.len()));
    }
    let mut grades = Vec::new();
    for (number, criterion) in (1..).zip(criteria) {
        let found = match &given.grades.iter().filter(|grade| grade.criterion == number).collect::<Vec<_>>()[..] {
            [] => return Err(format!("criterion {number} has no grade")),
            [GivenGrade { met: true, shown_by, .. }] => Found::Met(line(shown_by, KEPT)),
            [GivenGrade { missing, .. }] => Found::Missing(line(missing, MISSING)),
            _ => return Err(format!("criterion {number} has several grades")),
        };
        grades.push(Grade { criterion: criterion.clone(), found });
    }
    if let Some(number) = grades.iter().position(|grade| matches!(&grade.found, Found::Missing(why) if !says_something(why))) {
        return Err(format!("criterion {} is not met, but what is missing is not said", number + 1));
    }
    // If any criterion is not met, the others need no passages.
    if grades.iter().any(|grade| matches!(grade.found, Found::Missing(_))) {
        return Ok(grades);
    }
    let material: Vec<String> = material.iter().map(|text| plain(text)).collect();
    let lines: Vec<&str> = material.iter().flat_map(|text| text.lines()).map(str::trim).collect();
    let texts: Vec<String> = material.iter().map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let stands = |passage: &str| {
        let enough = passage.chars().filter(|c| c.is_alphanumeric()).count() >= LEAST;
        lines.contains(&passage) || (enough && texts.iter().any(|text| text.contains(passage)))
    };
    for (number, grade) in (1..).zip(given_in_order(given)) {
        let quoted = plain(&grade.shown_by).split_whitespace().collect::<Vec<_>>().join(" ");
        // A passage may leave something out in the middle.
        let passages: Vec<&str> = quoted.split("...").map(str::trim).filter(|passage| says_something(passage)).collect();
        if passages.is_empty() || !passages.into_iter().all(stands) {
            return Err(format!("the passage that shows criterion {number} does not stand in the material; copy one letter by letter"));
        }
    }
    Ok(grades)
}

fn given_in_order(given: &GivenVerdict) -> Vec<&GivenGrade> {
    let mut grades: Vec<_> = given.grades.iter().collect();
    grades.sort_by_key(|grade| grade.criterion);
    grades
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

fn says_something(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
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
        GivenGrade { criterion, met, shown_by, missing, place: String::new() }
    }

    fn read(grades: Vec<GivenGrade>) -> Result<Vec<Found>, String> {
        let criteria = ["Two scanners have prices".to_owned(), "Each price has its page".to_owned()];
        let read = read_verdict(&GivenVerdict { grades, scores: None }, &criteria, &[REPORT, "a.md: Markdown, 1 heading"]);
        read.map(|grades| grades.into_iter().map(|grade| grade.found).collect())
    }

    #[test]
    fn all_are_met_if_each_is_shown_by_a_passage_that_is_there() {
        for passage in [
            "Scanner A asks nine dollars, says https://a.example/x.",
            "“scanner a asks **nine dollars**”",
            "Scanner A asks … says https://a.example/x.\n B asks 4.",
            "B asks 4.",
            "a.md: Markdown, 1 heading",
        ] {
            let read = read(vec![grade(2, true, passage), grade(1, true, "Scanner A asks nine dollars")]);
            assert!(matches!(read.as_deref(), Ok([Found::Met(_), Found::Met(_)])), "{passage}: {read:?}");
        }
    }

    #[test]
    fn a_grader_that_only_agrees_has_given_no_verdict() {
        for passage in
            ["", "It is fine.", "asks", "…", "Prices of scanners", "Scanner A asks twelve dollars", "Scanner A asks … twelve dollars"]
        {
            let read = read(vec![grade(1, true, passage), grade(2, true, "Scanner A asks nine dollars")]);
            assert_eq!(
                read,
                Err("the passage that shows criterion 1 does not stand in the material; copy one letter by letter".into()),
                "{passage}"
            );
        }
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
