//! Comments on cells and slides.

use std::collections::HashMap;

use super::archive::{Archive, Relation};
use super::xml::{Dialect, Element};
use super::{Unreadable, one_line};

/// The limit of comments of a sheet or slide.
const REMARKS: usize = 1000;

/// The names of those who comment, by their ids. Older files list them, and give their places as ids.
#[derive(Default)]
pub(super) struct Authors {
    names: HashMap<String, String>,
    listed: Option<String>,
}

impl Dialect for Authors {
    fn start(&mut self, name: &str, element: &Element<'_>, _: &mut String) {
        if !matches!(name, "author" | "cmAuthor" | "person") {
            return;
        }
        match (element.attribute("id"), element.attribute("name").or_else(|| element.attribute("displayName"))) {
            (Some(id), Some(name)) => drop(self.names.insert(id, name)),
            _ => self.listed = Some(String::new()),
        }
    }

    fn end(&mut self, name: &str, _: &mut String) {
        if let Some(listed) = self.listed.take_if(|_| name == "author") {
            self.names.insert(self.names.len().to_string(), listed);
        }
    }

    fn takes(&self) -> bool {
        self.listed.is_some()
    }

    fn write(&mut self, characters: &str, _: &mut String) {
        if let Some(listed) = &mut self.listed {
            listed.push_str(characters);
        }
    }
}

/// A comment: its cell, if it is on one, the id of its author, and its text.
#[derive(Default)]
struct Remark {
    cell: Option<String>,
    author: String,
    text: String,
}

/// The comments of a sheet or a slide.
#[derive(Default)]
struct Remarks {
    found: Vec<Remark>,
    is_text: bool,
}

impl Dialect for Remarks {
    fn start(&mut self, name: &str, element: &Element<'_>, _: &mut String) {
        match name {
            "comment" | "threadedComment" | "cm" | "reply" => {
                let author = element.attribute("authorId").or_else(|| element.attribute("personId")).unwrap_or_default();
                self.found.push(Remark { cell: element.attribute("ref"), author, text: String::new() });
            }
            "t" | "text" => self.is_text = true,
            "p" => self.write(" ", &mut String::new()),
            _ => {}
        }
    }

    fn end(&mut self, name: &str, _: &mut String) {
        self.is_text &= !matches!(name, "t" | "text");
    }

    fn takes(&self) -> bool {
        self.is_text
    }

    fn write(&mut self, characters: &str, _: &mut String) {
        if let Some(last) = self.found.last_mut() {
            last.text.push_str(characters);
        }
    }
}

/// A line for each comment that a sheet or slide refers to. `authors`: of the whole document.
pub(super) fn read_remarks(archive: &mut Archive<'_>, relations: &[Relation], authors: &Authors) -> Result<Vec<String>, Unreadable> {
    let (mut lines, mut threaded) = (Vec::new(), Vec::new());
    // A thread of comments has a copy among the older comments, which is left out.
    for kind in ["/threadedComment", "/comments"] {
        for relation in relations.iter().filter(|relation| relation.kind.ends_with(kind)) {
            let (mut remarks, mut listed) = (Remarks::default(), Authors::default());
            archive.walk_extra(&relation.path, &mut remarks)?;
            if kind == "/comments" {
                archive.walk_extra(&relation.path, &mut listed)?;
            }
            for remark in remarks.found.into_iter().take(REMARKS) {
                let text = one_line(&remark.text);
                if text.is_empty() || kind == "/comments" && remark.cell.is_some() && threaded.contains(&remark.cell) {
                    continue;
                }
                let place = remark.cell.as_ref().map(|cell| format!(" on {cell}")).unwrap_or_default();
                let author = listed.names.get(&remark.author).or_else(|| authors.names.get(&remark.author));
                lines.push(format!("Comment{place}{}: {text}", author.map(|name| format!(" by {name}")).unwrap_or_default()));
                threaded.extend((kind == "/threadedComment").then_some(remark.cell));
            }
        }
    }
    Ok(lines)
}
