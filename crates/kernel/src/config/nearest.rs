/// The candidate that a mistyped word probably means: at most one edit per three letters, or the word is its prefix.
pub fn find_nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    let near = |candidate: &str, edits: usize| edits <= (length / 3).max(1) || (length > 3 && candidate.starts_with(word));
    let distances = candidates.into_iter().map(|candidate| (edits(word, candidate), candidate));
    distances.filter(|(edits, candidate)| near(candidate, *edits)).min_by_key(|(edits, _)| *edits).map(|(_, candidate)| candidate)
}

/// The number of insertions, deletions, replacements and swaps between two words.
fn edits(left: &str, right: &str) -> usize {
    let (left, right): (Vec<_>, Vec<_>) = (left.to_lowercase().chars().collect(), right.to_lowercase().chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=right.len()).collect()];
    for i in 1..=left.len() {
        let mut row = vec![i];
        for j in 1..=right.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(left[i - 1] != right[j - 1]);
            let changed = (rows[i - 1][j] + 1).min(row[j - 1] + 1).min(replaced);
            let swap = i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
            row.push(if swap { changed.min(rows[i - 2][j - 2] + 1) } else { changed });
        }
        rows.push(row);
    }
    rows[left.len()][right.len()]
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
        assert_eq!((edits("kitten", "sitting"), edits("vicne", "vince"), edits("", "ab")), (3, 1, 2));
    }
}
