//! Whether a text repeats a memory.

use std::collections::HashSet;

use kernel::memory::retrieval::terms_of;

/// The share of a memory's words, in hundredths, from which a line counts as a repetition of it.
const SHARE: usize = 80;

/// Whether a line of a text has nearly all words of a memory.
pub(super) fn repeats(text: &str, memory: &str) -> bool {
    let wanted: HashSet<String> = terms_of(memory).into_iter().collect();
    let enough = (wanted.len() * SHARE).div_ceil(100);
    !wanted.is_empty()
        && text.lines().any(|line| {
            let said: HashSet<String> = terms_of(line).into_iter().collect();
            wanted.intersection(&said).count() >= enough
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_repeats_what_it_says_in_other_forms_and_not_what_it_is_near_to() {
        let memory = "the vault code is 4711";
        assert!(repeats("Sure!\nAnn taught me: the vault code is 4711.", memory));
        assert!(repeats("The code of our vault: 4711.", memory));
        assert!(!repeats("I do not know the vault code.", memory));
        assert!(!repeats("the vault\ncode\n4711", memory), "in different lines");
        assert!(!repeats("anything", "?!"));
    }
}
