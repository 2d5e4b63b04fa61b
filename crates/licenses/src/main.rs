//! `teamroom-licenses [TARGET]` prints the licence texts of all that is linked into the program for a target (by default this machine's), or that
//! runs while it is built. It fails if there is no text for a package. `deploy/release` puts the result into its archives.

mod cargo;
mod texts;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;

use anyhow::bail;

use cargo::Package;

/// Texts that their packages do not bring.
const ADDED: [(&str, &str); 1] = [("u8g2-fonts", include_str!("../texts/u8g2-fonts.txt"))];

/// The C library that Rust's standard library links into programs for musl.
const MUSL: &str = include_str!("../texts/musl.txt");

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let target = match (arguments.next(), arguments.next()) {
        (None, _) => cargo::host()?,
        (Some(target), None) if !target.starts_with('-') => target,
        _ => bail!("usage: teamroom-licenses [TARGET]"),
    };
    std::io::stdout().write_all(render(&target)?.as_bytes())?;
    Ok(())
}

/// All texts, each once, under the names of the packages that have it.
fn render(target: &str) -> anyhow::Result<String> {
    let known = cargo::list_packages(target)?;
    let mut packages: Vec<&Package> = known.iter().filter(|package| package.used && !package.is_ours()).collect();
    packages.sort_by_key(|package| package.title());

    let mut groups = Groups::default();
    let mut without = Vec::new();
    for package in &packages {
        let texts = texts::find_for(package, &known)?;
        if texts.is_empty() {
            without.push(format!("{} ({})", package.title(), package.license()));
        }
        let added = ADDED.iter().filter(|(name, _)| *name == package.name).map(|(_, text)| (*text).to_owned());
        for text in texts.into_iter().chain(added) {
            groups.add(&package.title(), text);
        }
    }
    if !without.is_empty() {
        bail!("no licence text for {}; put one into crates/licenses/texts and name it in `ADDED`", without.join(", "));
    }
    if target.ends_with("-musl") {
        groups.add("musl", MUSL.to_owned());
    }

    let mut out = format!("Teamroom for {target} is built with the {} packages below. Their licences follow.\n\n", packages.len());
    for package in packages {
        writeln!(out, "{}: {}", package.title(), package.license())?;
    }
    groups.render(&mut out)?;
    Ok(out)
}

/// Texts with the names of the packages that have them, in the order of the first name.
#[derive(Default)]
struct Groups {
    texts: Vec<(Vec<String>, String)>,
    /// The place of a text in the list. The key is the text without line breaks and indentation, in which copies of one licence differ.
    places: BTreeMap<String, usize>,
}

impl Groups {
    fn add(&mut self, title: &str, text: String) {
        let key = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let place = *self.places.entry(key).or_insert_with(|| {
            self.texts.push((Vec::new(), text));
            self.texts.len() - 1
        });
        let titles = &mut self.texts[place].0;
        if titles.last().is_none_or(|last| last != title) {
            titles.push(title.to_owned());
        }
    }

    fn render(&self, out: &mut String) -> std::fmt::Result {
        let line = "=".repeat(80);
        for (titles, text) in &self.texts {
            write!(out, "\n{line}\n{}\n{line}\n\n{}\n", titles.join(", "), text.trim_matches('\n').trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dependency_of_this_program_has_a_text() {
        let host = cargo::host().unwrap();
        let text = render(&host).unwrap();
        for part in
            ["\nserde_json 1.", "\nring 0.", "Permission is hereby granted", "SIL OPEN FONT LICENSE", "TERMS AND CONDITIONS FOR USE"]
        {
            assert!(text.contains(part), "{part} is missing");
        }
        assert!(!text.contains("\nteamroom"), "our own packages are not those of others");
    }

    #[test]
    fn one_text_is_printed_once() {
        let mut groups = Groups::default();
        groups.add("a 1.0.0", "Do what\n  you like.\n".to_owned());
        groups.add("a 1.0.0", "Do what you like.".to_owned());
        groups.add("b 2.0.0", "Do what you\nlike.".to_owned());
        groups.add("b 2.0.0", "Ask first.".to_owned());
        let mut out = String::new();
        groups.render(&mut out).unwrap();
        let line = "=".repeat(80);
        assert_eq!(out, format!("\n{line}\na 1.0.0, b 2.0.0\n{line}\n\nDo what\n  you like.\n\n{line}\nb 2.0.0\n{line}\n\nAsk first.\n"));
    }
}
