//! Skill files: YAML front matter between two lines of `---`, then the full text in Markdown. Only `name` and `summary` are required.

use serde::Deserialize;

use crate::persona::front_matter::{Document, Malformed, is_slug};
use crate::persona::skill::{MAX_TEXT, Skill, SkillKind};

/// The largest skill file in bytes: its text in any script, and its settings.
pub const MAX_BYTES: usize = 32 * 1024;
/// The short form stands in every prompt of those who have the skill.
const MAX_SUMMARY: usize = 300;
const MAX_NAME: usize = 60;

/// Why a skill file was refused.
#[derive(Debug, thiserror::Error)]
pub enum SkillFileError {
    #[error("could not be read: {0}")]
    Unreadable(#[from] std::io::Error),
    #[error("is larger than {MAX_BYTES} bytes, the limit for skill files")]
    TooLarge,
    #[error("the name of the file must be lower-case letters, digits and hyphens, such as market-research.md")]
    Slug,
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// Valid on its own, but another file has the name.
    #[error("the name \"{name}\" is also used by {other}.md. Change one of them")]
    SharedName { name: String, other: String },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FrontMatter {
    name: String,
    summary: String,
    #[serde(default, rename = "for")]
    for_whom: Option<Vec<String>>,
    #[serde(default)]
    kinds: Option<Vec<SkillKind>>,
    #[serde(default)]
    words: Vec<String>,
}

/// Parses a skill file named `slug`.
///
/// # Errors
/// The first problem, with its line.
pub fn parse(slug: &str, bytes: &[u8]) -> Result<Skill, SkillFileError> {
    if !is_slug(slug) {
        return Err(SkillFileError::Slug);
    }
    if bytes.len() > MAX_BYTES {
        return Err(SkillFileError::TooLarge);
    }
    let document = Document::parse(bytes, "a skill file", "the full text")?;
    let matter: FrontMatter = document.read_settings()?;
    for (key, text, most) in [("name", &matter.name, MAX_NAME), ("summary", &matter.summary, MAX_SUMMARY)] {
        if text.trim().is_empty() {
            return Err(document.refuse(key, "is empty. Describe the skill in a few words").into());
        }
        if text.chars().count() > most {
            return Err(document.refuse(key, format!("is longer than {most} characters. Shorten it")).into());
        }
    }
    if matter.for_whom.as_ref().is_some_and(|named| named.iter().all(|name| name.trim().is_empty())) {
        return Err(document.refuse("for", "names nobody. Name personas or subjects, or leave it out for everybody").into());
    }
    if matter.kinds.as_ref().is_some_and(Vec::is_empty) {
        return Err(document.refuse("kinds", "names no kind. Give research, write or build, or leave it out for all three").into());
    }
    let length = document.body().chars().count();
    if length > MAX_TEXT {
        let problem = format!("the full text has {length} characters. The most are {MAX_TEXT}. Shorten it, or make two skills of it");
        return Err(document.refuse_body(problem).into());
    }
    Ok(Skill {
        slug: slug.to_owned(),
        name: one_line(&matter.name),
        summary: one_line(&matter.summary),
        for_whom: matter.for_whom.unwrap_or_default(),
        kinds: matter.kinds.unwrap_or_else(|| SkillKind::ALL.into()),
        words: matter.words,
        text: document.body().to_owned(),
    })
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "---\nname: Market research\nsummary: >\n  Ask three sellers.\n  Then compare.\nfor: [vince, prices]\nkinds: [research]\nwords: [market]\n---\n\n# How\n\nAsk.\n";

    fn refusal(text: &str) -> String {
        parse("market-research", text.as_bytes()).expect_err("a refusal").to_string()
    }

    #[test]
    fn a_good_file_becomes_a_skill() {
        let skill = parse("market-research", GOOD.as_bytes()).expect("a skill");
        assert_eq!((skill.slug.as_str(), skill.name.as_str()), ("market-research", "Market research"));
        assert_eq!((skill.summary.as_str(), skill.text.as_str()), ("Ask three sellers. Then compare.", "# How\n\nAsk."));
        assert_eq!(
            (skill.for_whom, skill.kinds, skill.words),
            (vec!["vince".into(), "prices".into()], vec![SkillKind::Research], vec!["market".into()])
        );
    }

    #[test]
    fn a_name_a_summary_and_a_text_are_enough() {
        let skill = parse("ask", b"---\nname: Ask\nsummary: Ask first.\n---\nAsk.").expect("a skill");
        assert!(skill.for_whom.is_empty() && skill.words.is_empty());
        assert_eq!(skill.kinds, SkillKind::ALL);
    }

    #[test]
    fn each_fault_is_told_with_its_line_and_what_to_do() {
        let long = "x".repeat(MAX_TEXT + 1);
        for (from, to, told) in [
            ("---\nname", "name", "line 1: a skill file begins with a line ---, its settings, and another line ---"),
            ("kinds: [research]", "kinds: [reserch]", "line 7: "),
            (
                "kinds: [research]",
                "kinds: []",
                "line 7: kinds: names no kind. Give research, write or build, or leave it out for all three",
            ),
            ("for: [vince, prices]", "for: []", "line 6: for: names nobody. Name personas or subjects, or leave it out for everybody"),
            ("for: [vince, prices]", "for: 3", "line 6: "),
            ("name: Market research", "name: \" \"", "line 2: name: is empty. Describe the skill in a few words"),
            ("words: [market]", "wrods: [market]", "line 8: "),
            ("\n---\n\n", "\n\n", "line 12: the line --- that ends the settings is missing"),
            ("# How\n\nAsk.\n", "", "line 9: the full text below the settings is missing"),
            ("Ask.", &long, "line 10: the full text has 6008 characters. The most are 6000. Shorten it, or make two skills of it"),
            ("Ask.", "A\u{200B}sk.", "line 13: contains the hidden character U+200B. Remove it"),
        ] {
            let refusal = refusal(&GOOD.replacen(from, to, 1));
            assert!(refusal.starts_with(told), "{to}: {refusal}");
        }
        assert!(refusal(&GOOD.replace("kinds: [research]", "kinds: [reserch]")).contains("reserch"));
        assert!(refusal(&GOOD.replace("words:", "wrods:")).contains("wrods"));
        assert!(
            refusal(&GOOD.replace("  Ask three sellers.\n", &format!("  {}\n", "x".repeat(300))))
                .starts_with("line 3: summary: is longer than 300")
        );
    }

    #[test]
    fn size_and_the_file_name_are_checked() {
        assert!(refusal(&format!("{GOOD}{}", "x".repeat(MAX_BYTES))).contains("larger than 32768"));
        for slug in ["", "Market", "../x", "market research"] {
            assert!(matches!(parse(slug, GOOD.as_bytes()), Err(SkillFileError::Slug)), "{slug}");
        }
    }
}
