/// The candidate that a mistyped word most likely meant: at most one edit for each three letters away, or one that it begins.
pub(in crate::config) fn find_nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    let near = |candidate: &str, edits: usize| edits <= (length / 3).max(1) || (length > 3 && candidate.starts_with(word));
    let distances = candidates.into_iter().map(|candidate| (edits(word, candidate), candidate));
    distances.filter(|(edits, candidate)| near(candidate, *edits)).min_by_key(|(edits, _)| *edits).map(|(_, candidate)| candidate)
}

/// Insertions, deletions and replacements between two words (Levenshtein).
fn edits(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_word_and_a_stranger_finds_none() {
        let known = ["coalesce_ms", "max_responders", "attach_over"];
        assert_eq!(find_nearest("max_responder", known), Some("max_responders"));
        assert_eq!(find_nearest("coalesce", known), Some("coalesce_ms"));
        assert_eq!(find_nearest("colour", known), None);
        assert_eq!(edits("kitten", "sitting"), 3);
    }
}
