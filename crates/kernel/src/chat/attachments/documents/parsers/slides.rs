//! `PowerPoint` files.

use std::time::Instant;

use super::archive::Archive;
use super::dialects::Microsoft;
use super::remarks::{Authors, read_remarks};
use super::xml::{Dialect, Element};
use super::{MAX_PAGES, Pages, Read, Unreadable, tidy};

pub(super) fn read_pptx(bytes: &[u8], until: Instant) -> Result<Read, Unreadable> {
    let mut archive = Archive::open(bytes, until)?;
    let slides = list_slides(&mut archive)?;
    if slides.is_empty() {
        return Err(Unreadable::Damaged);
    }
    let mut authors = Authors::default();
    for part in ["ppt/commentAuthors.xml", "ppt/authors.xml"] {
        archive.walk_extra(part, &mut authors)?;
    }
    let (mut pages, mut shown) = (Pages::new(until), 0);
    for (slide, number) in slides.iter().take(MAX_PAGES).zip(1..) {
        if !pages.goes_on()? {
            break;
        }
        let mut dialect = Microsoft::default();
        let text = archive.walk(slide, &mut dialect)?;
        let mut parts = vec![tidy(&text)];
        let relations = archive.relations(slide)?;
        for notes in relations.iter().filter(|relation| relation.kind.ends_with("/notesSlide")).take(1) {
            let notes = tidy(&archive.walk_extra(&notes.path, &mut Microsoft::default())?);
            parts.extend((!notes.trim().is_empty()).then(|| format!("Speaker's notes: {}", notes.trim())));
        }
        parts.extend(read_remarks(&mut archive, &relations, &authors)?);
        parts.retain(|part| !part.is_empty());
        let mark = if dialect.is_hidden_slide { " (hidden)" } else { "" };
        pages.push(&format!("Slide {number}{mark}"), &parts.join("\n\n"));
        shown = number;
    }
    Ok(pages.finish(shown, slides.len()))
}

/// The slides in the order in which they are shown. Their files may be numbered in another one.
fn list_slides(archive: &mut Archive<'_>) -> Result<Vec<String>, Unreadable> {
    let mut order = Order::default();
    archive.walk_extra("ppt/presentation.xml", &mut order)?;
    let relations = archive.relations("ppt/presentation.xml")?;
    let path = |id: &String| relations.iter().find(|relation| relation.id == *id).map(|relation| relation.path.clone());
    let numbered = archive.list_numbered("ppt/slides/slide");
    let slides: Vec<String> = order.ids.iter().filter_map(path).filter(|path| numbered.contains(path)).collect();
    Ok(if slides.is_empty() { numbered } else { slides })
}

/// The references to slides.
#[derive(Default)]
struct Order {
    ids: Vec<String>,
}

impl Dialect for Order {
    fn start(&mut self, name: &str, element: &Element<'_>, _: &mut String) {
        if name == "sldId" && self.ids.len() < 10 * MAX_PAGES {
            self.ids.extend(element.reference());
        }
    }

    fn end(&mut self, _: &str, _: &mut String) {}

    fn takes(&self) -> bool {
        false
    }
}
