//! Picks the lines of a stretch that say most, without a model.

use std::collections::{HashMap, HashSet};

use kernel::memory::retrieval::{cut, terms_of};

/// The most lines, and the most characters of each.
const LINES: usize = 4;
const CHARS: usize = 160;

/// The lines with the rarest words, in their order. Each is a name and what was said.
#[expect(clippy::cast_precision_loss, reason = "a few dozen lines")]
pub(super) fn extract(lines: &[(String, String)]) -> String {
    let terms: Vec<HashSet<String>> = lines.iter().map(|(_, text)| terms_of(text).into_iter().collect()).collect();
    let mut frequency: HashMap<&str, usize> = HashMap::new();
    terms.iter().flatten().for_each(|term| *frequency.entry(term).or_default() += 1);
    let rarity = |term: &String| (1.0 + lines.len() as f64 / frequency[term.as_str()] as f64).ln();
    let mut scored: Vec<(f64, usize)> = terms
        .iter()
        .enumerate()
        .map(|(index, terms)| (terms.iter().map(rarity).sum::<f64>() / (terms.len() as f64).sqrt().max(1.0), index))
        .collect();
    scored.sort_by(|(a, one), (b, other)| b.total_cmp(a).then(one.cmp(other)));
    let mut chosen: Vec<usize> = scored.iter().filter(|(score, _)| *score > 0.0).take(LINES).map(|(_, index)| *index).collect();
    chosen.sort_unstable();
    let line = |index: &usize| {
        let (name, text) = &lines[*index];
        format!("{name}: {}", cut(&text.split_whitespace().collect::<Vec<_>>().join(" "), CHARS))
    };
    chosen.iter().map(line).collect::<Vec<_>>().join(" / ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_something_stays_in_its_order() {
        let lines: Vec<(String, String)> =
            ["ok", "The launch moves to the fifth of May.", "ok ok", "nice", "Carla signs the lease on Monday.", "yes"]
                .iter()
                .map(|text| ("Ann".to_owned(), (*text).to_owned()))
                .collect();
        let told = extract(&lines);
        let (launch, lease) = (told.find("Ann: The launch moves").unwrap(), told.find("Ann: Carla signs").unwrap());
        assert!(launch < lease && !told.contains("yes / "), "{told}");
        assert_eq!(extract(&[]), "");
    }
}
