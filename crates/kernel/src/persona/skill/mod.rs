//! Skills: how the team does a kind of work, as Markdown files (WORK-29).
//!
//! The full text stands in the prompt of work that is about it. Elsewhere a skill is named, and `skill_read` reads it.

pub mod file;
pub mod load;
pub mod tool;

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::memory::retrieval::terms_of;
use crate::persona::Persona;
use crate::text::fold_name;

/// The most characters of full texts in one prompt. No single skill is longer.
pub const MAX_TEXT: usize = 6000;

/// A skill. Parsed by `file` from `skills/<slug>.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    pub slug: String,
    pub name: String,
    /// The short form, on one line.
    pub summary: String,
    /// Who has it: slugs, names or subjects of personas. Empty: everybody.
    pub for_whom: Vec<String>,
    /// The kinds of work that ask for the full text.
    pub kinds: Vec<SkillKind>,
    /// Words of its subject. Without any, those of its name and summary.
    pub words: Vec<String>,
    /// The full text.
    pub text: String,
}

/// A kind of work that can ask for a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkillKind {
    Research,
    Write,
    Build,
}

impl SkillKind {
    pub const ALL: [Self; 3] = [Self::Research, Self::Write, Self::Build];
}

impl Skill {
    /// Whether a persona has it: by its slug, its name, or a subject of its expertise.
    pub fn is_for(&self, persona: &Persona) -> bool {
        let known = [persona.slug.as_str(), &persona.name].into_iter().chain(persona.expertise.iter().map(String::as_str));
        let known: HashSet<String> = known.map(fold_name).collect();
        self.for_whom.is_empty() || self.for_whom.iter().any(|named| known.contains(&fold_name(named)))
    }

    /// How many words it shares with a subject.
    fn count_shared(&self, subject: &HashSet<String>) -> usize {
        let about = if self.words.is_empty() { format!("{} {}", self.name, self.summary) } else { self.words.join(" ") };
        let own: HashSet<String> = terms_of(&about).into_iter().collect();
        own.intersection(subject).count()
    }
}

/// The skills whose full text a piece of work asks for: those of its kind that share a word with its subject, best fit first, as many as fit into
/// [`MAX_TEXT`] together.
pub fn choose<'a>(skills: impl IntoIterator<Item = &'a Skill>, kind: SkillKind, subject: &str) -> Vec<&'a Skill> {
    let subject: HashSet<String> = terms_of(subject).into_iter().collect();
    let is_about = |skill: &&Skill| skill.kinds.contains(&kind) && skill.count_shared(&subject) > 0;
    let mut fitting: Vec<&Skill> = skills.into_iter().filter(is_about).collect();
    fitting.sort_by_key(|skill| std::cmp::Reverse(skill.count_shared(&subject)));
    let mut left = MAX_TEXT;
    fitting.retain(|skill| {
        let length = skill.text.chars().count();
        let fits = length <= left;
        left -= if fits { length } else { 0 };
        fits
    });
    fitting
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::persona::{persona, skill};

    #[test]
    fn a_skill_is_for_those_it_names_and_without_names_for_all() {
        let vince = persona("Vince", "data", &[]);
        for (named, is_for) in
            [(vec![], true), (vec!["vince"], true), (vec!["VINCE"], true), (vec!["kelly", "Data questions"], true), (vec!["kelly"], false)]
        {
            let skill = Skill { for_whom: named.iter().map(|name| (*name).to_owned()).collect(), ..skill("count", "text") };
            assert_eq!(skill.is_for(&vince), is_for, "{named:?}");
        }
    }

    #[test]
    fn work_gets_the_skills_of_its_kind_best_fit_first_and_no_more_than_fits() {
        let of = |slug: &str, words: &str, length: usize| Skill { words: vec![words.into()], ..skill(slug, &"x".repeat(length)) };
        let skills = [
            of("cooking", "recipes", 3000),
            of("prices", "prices of scanners", 4000),
            of("scanners", "scanners", 2001),
            of("shelves", "scanner shelves", 2000),
            of("notes", "notes", 10),
            Skill { kinds: vec![SkillKind::Build], ..of("tests", "prices of scanners", 10) },
        ];
        let chosen = |kind, subject| choose(&skills, kind, subject).into_iter().map(|skill| skill.slug.as_str()).collect::<Vec<_>>();
        assert_eq!(chosen(SkillKind::Research, "Compare the price of a scanner"), ["prices", "shelves"]);
        assert_eq!(chosen(SkillKind::Research, "Collect recipes"), ["cooking"]);
        assert_eq!(chosen(SkillKind::Build, "The scanner"), ["tests"]);
        assert!(chosen(SkillKind::Build, "Anything").is_empty());
        assert!(chosen(SkillKind::Write, "Compare the price of a scanner").is_empty());
        // Its summary says much that has nothing to do with its subject.
        let skills = [Skill { summary: "Put the recommendation first.".into(), ..of("decisions", "decide", 10) }];
        assert!(choose(&skills, SkillKind::Research, "A letter about the first day").is_empty());
    }
}
