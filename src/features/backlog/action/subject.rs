use std::collections::BTreeSet;

use kernel::ids::ChannelId;
use kernel::text::{Shingles, essence, without_invisible};
use sha2::{Digest, Sha256};

/// Titles with at least this similarity count as the same. Another article makes no difference; another task does.
const ALIKE: f64 = 0.75;

/// What a title is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    essence: String,
    shingles: Shingles,
    /// Identifiers, paths, numbers and versions, which are compared exactly.
    exact: BTreeSet<String>,
}

impl Subject {
    pub fn of(title: &str) -> Self {
        let essence = essence(title);
        Self { shingles: Shingles::of(&essence), exact: list_exact(title), essence }
    }

    /// Whether both titles say the same in other words.
    pub fn is_like(&self, other: &Self) -> bool {
        self.exact == other.exact && (self.essence == other.essence || self.shingles.similarity(&other.shingles) >= ALIKE)
    }

    /// Whether both titles have the same significant words.
    pub fn is_same(&self, other: &Self) -> bool {
        self.exact == other.exact && self.essence == other.essence
    }

    /// A key of the place and all significant words together. Titles that are the same have the same key.
    pub fn key(&self, place: Option<&ChannelId>) -> i64 {
        self.hash(place, "all", &self.essence)
    }

    /// A key of the place and each significant word. Similar titles share at least one of them, or are the same.
    pub fn word_keys(&self, place: Option<&ChannelId>) -> BTreeSet<i64> {
        self.essence.split_whitespace().map(|word| self.hash(place, "word", word)).collect()
    }

    /// Every key includes the exact words, because titles with different exact words are never similar.
    fn hash(&self, place: Option<&ChannelId>, of: &str, words: &str) -> i64 {
        let mut hash = Sha256::new();
        let exact = self.exact.iter().map(String::as_str);
        for part in [place.map_or("", ChannelId::as_str), of, words].into_iter().chain(exact) {
            hash.update(part);
            hash.update([0]);
        }
        let hash = hash.finalize();
        i64::from_be_bytes(std::array::from_fn(|at| hash[at]))
    }
}

/// The words of a title that only mean themselves: `TestClientHardStop`, `job_executor_test.go`, `src/main.rs`, `v1.2.3`, `#7`, `--force`.
fn list_exact(title: &str) -> BTreeSet<String> {
    let visible = without_invisible(title);
    visible.split_whitespace().map(bare).filter(|word| is_exact(word)).map(str::to_owned).collect()
}

/// A word without the punctuation around it.
fn bare(word: &str) -> &str {
    let word = word.trim_start_matches(|c: char| !c.is_alphanumeric() && !"_/.-#@$~".contains(c));
    word.trim_end_matches(|c: char| !c.is_alphanumeric() && !"_/#+".contains(c))
}

pub(super) fn is_exact(word: &str) -> bool {
    let has_case_inside = || word.chars().zip(word.chars().skip(1)).any(|(before, after)| before.is_lowercase() && after.is_uppercase());
    word.chars().any(char::is_alphanumeric)
        && (word.contains(|c: char| c.is_numeric() || "_/\\.:#@=$~+".contains(c)) || word.starts_with('-') || has_case_inside())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_alike_in_other_words_and_not_with_another_identifier() {
        for (a, b, alike) in [
            ("Fix the flaky login test", "Fix flaky login tests in CI", true),
            ("Fix the login", "fix login!", true),
            ("Fix TestClientHardStop in `client_test.go`", "Fix TestClientSoftStop in `client_test.go`", false),
            ("Fix TestClientHardStop in `client_test.go`", "fix the TestClientHardStop in client_test.go.", true),
            ("Upgrade the database driver to 1.2.3", "Upgrade the database driver to 3.2.1", false),
            ("Upgrade the database driver to 1.2.3", "Upgrade database driver to 1.2.3", true),
            ("Read src/a/main.rs of the client", "Read src/b/main.rs of the client", false),
            ("Close the pull request #17", "Close the pull request #71", false),
            ("Run the job with --force", "Run the job with --dry-run", false),
            ("Den Bericht für März 2026 schreiben", "Den Bericht für März 2025 schreiben", false),
            ("修理 login_page", "修理 login_form", false),
        ] {
            let (a, b) = (Subject::of(a), Subject::of(b));
            assert_eq!((a.is_like(&b), b.is_like(&a)), (alike, alike), "{a:?} {b:?}");
            assert!(a.is_like(&a) && b.is_like(&b));
            assert!(!alike || !a.word_keys(None).is_disjoint(&b.word_keys(None)), "they are found by a word");
        }
    }

    #[test]
    fn the_same_titles_have_the_same_key_in_one_place() {
        let (here, there) = (ChannelId::from("10"), ChannelId::from("20"));
        let (a, b) = (Subject::of("Fix the login"), Subject::of("fix login!"));
        assert!(a.is_same(&b) && a.key(Some(&here)) == b.key(Some(&here)) && a.word_keys(None) == b.word_keys(None));
        assert!(a.key(Some(&here)) != a.key(Some(&there)) && a.key(Some(&here)) != a.key(None));
        assert!(a.word_keys(Some(&here)).is_disjoint(&a.word_keys(None)));
        let (one, other) = (Subject::of("Fix login 1"), Subject::of("Fix login 2"));
        assert!(one.key(None) != other.key(None) && one.word_keys(None).is_disjoint(&other.word_keys(None)));
        assert_eq!(Subject::of("to the").word_keys(None), BTreeSet::new());
    }

    #[test]
    fn words_are_exact_whatever_stands_around_them() {
        let found = |title: &str| list_exact(title).into_iter().collect::<Vec<_>>();
        assert_eq!(found("Mend (`job_executor_test.go`), please: see \"v1.2\"."), ["job_executor_test.go", "v1.2"]);
        assert!(found("Mend the well-known page, and be quick.").is_empty());
        assert_eq!(found("Look at ~/.bashrc and @ann"), ["@ann", "~/.bashrc"]);
    }
}
