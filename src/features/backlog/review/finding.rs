//! What a verdict says of each criterion, with the line of a file that code has found it in.

use crate::features::backlog::model::{FilePlace, Finding};
use crate::features::backlog::review::verdict::{Found, Grade, without_marks};

/// The findings of checked grades. `places`: for each criterion the wrong passage, as the reviewer quotes it.
pub(super) fn list_findings(grades: &[Grade], places: &[&str], files: &[(String, String)]) -> Vec<Finding> {
    let files: Vec<Lines<'_>> = files.iter().map(|(path, text)| Lines::of(path, text)).collect();
    let find = |(index, grade): (usize, &Grade)| {
        let (text, passage) = match &grade.found {
            Found::Met(passage) => (passage, passage.as_str()),
            Found::Seen(seen) => (seen, ""),
            Found::Missing(why) | Found::NeedsPerson(why) => (why, places.get(index).copied().unwrap_or_default()),
        };
        Finding {
            criterion: grade.criterion.clone(),
            met: grade.found.is_met(),
            text: text.clone(),
            place: files.iter().find_map(|file| file.find(passage)),
            needs_person: matches!(grade.found, Found::NeedsPerson(_)),
        }
    };
    grades.iter().enumerate().map(find).collect()
}

/// A file as one line, with the positions at which its original lines begin.
struct Lines<'a> {
    path: &'a str,
    text: String,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn of(path: &'a str, text: &str) -> Self {
        let mut lines = Self { path, text: String::new(), starts: Vec::new() };
        for line in text.lines() {
            lines.starts.push(lines.text.len());
            lines.text.push_str(&one_line(line));
            lines.text.push(' ');
        }
        lines
    }

    /// The line in which a passage begins. The passage may leave out text in the middle.
    fn find(&self, passage: &str) -> Option<FilePlace> {
        let passage = one_line(passage);
        let beginning = passage.split("...").map(str::trim).find(|part| part.chars().any(char::is_alphanumeric))?;
        let at = self.text.find(beginning)?;
        Some(FilePlace { file: self.path.to_owned(), line: self.starts.partition_point(|start| *start <= at) })
    }
}

fn one_line(text: &str) -> String {
    without_marks(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_names_the_line_in_which_its_passage_begins() {
        let files = [
            ("a.md".to_owned(), "# Prices\n\nA asks **nine\ndollars**.\n".to_owned()),
            ("b.md".to_owned(), "B asks four.\n\nC asks six.".to_owned()),
        ];
        let grade = |found| Grade { criterion: "Prices".to_owned(), found };
        let met = |passage: &str| grade(Found::Met(passage.to_owned()));
        let missing = || grade(Found::Missing("It is not so.".to_owned()));
        let grades = [met("a asks nine dollars"), missing(), missing(), met("C asks …"), missing()];
        let places: Vec<_> = list_findings(&grades, &["", "# Prices", "", "", "D asks two"], &files)
            .into_iter()
            .map(|finding| finding.place.map(|place| place.to_string()))
            .collect();
        let place = |place: &str| Some(place.to_owned());
        assert_eq!(places, [place("a.md, line 3"), place("a.md, line 1"), None, place("b.md, line 3"), None]);
    }
}
