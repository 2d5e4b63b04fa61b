//! A vector of a text: its sequences of three letters, hashed. Forms of a word, compounds and slips of the pen come out near each other, in any
//! language and without a model.

use crate::memory::retrieval::is_stop_word;
use crate::memory::retrieval::words_of;
use crate::memory::search::words::split;

pub(super) const DIMENSIONS: usize = 256;

/// Letters of a sequence.
const GRAM: usize = 3;

/// A vector of length one. All zeros for a text without words.
#[derive(Debug, Clone, PartialEq)]
pub struct Vector([f32; DIMENSIONS]);

impl Vector {
    pub fn of(text: &str) -> Self {
        let mut sums = [0_f32; DIMENSIONS];
        for word in words_of(text).iter().filter(|word| !is_stop_word(word)).flat_map(|word| split(word)) {
            let letters: Vec<char> = std::iter::once(' ').chain(word.chars()).chain([' ']).collect();
            for gram in letters.windows(GRAM) {
                let hash = hash(gram);
                // The sign makes sequences that share a place cancel out on the average.
                sums[usize::from(hash.to_le_bytes()[0])] += if hash & 0x100 == 0 { 1.0 } else { -1.0 };
            }
        }
        let length = sums.iter().map(|sum| sum * sum).sum::<f32>().sqrt();
        if length > 0.0 {
            for sum in &mut sums {
                *sum /= length;
            }
        }
        Self(sums)
    }

    /// One byte for each dimension.
    #[expect(clippy::cast_possible_truncation, reason = "no value is above one")]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().map(|value| ((value * 127.0).round() as i8).cast_unsigned()).collect()
    }

    /// 1 for the same direction, about 0 for texts that share nothing. 0 for bytes of another form.
    pub fn similarity(&self, bytes: &[u8]) -> f64 {
        if bytes.len() != DIMENSIONS {
            return 0.0;
        }
        let values = bytes.iter().map(|byte| f32::from(byte.cast_signed()) / 127.0);
        f64::from(self.0.iter().zip(values).map(|(a, b)| a * b).sum::<f32>())
    }
}

/// FNV-1a, which stays the same in all versions of the program, because vectors are stored.
fn hash(gram: &[char]) -> u32 {
    let hash = gram.iter().fold(0x811c_9dc5_u32, |hash, letter| (hash ^ u32::from(*letter)).wrapping_mul(0x0100_0193));
    hash ^ (hash >> 15)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn similarity(one: &str, other: &str) -> f64 {
        Vector::of(one).similarity(&Vector::of(other).to_bytes())
    }

    #[test]
    fn forms_of_a_word_are_near_each_other_and_other_words_are_not() {
        for (one, other) in [
            ("What did I say about deployments?", "we deploy on Thursdays"),
            ("Urlaubstage", "Urlaub bis Montag"),
            ("the invocie", "invoice of May"),
            ("部署", "我们周四部署"),
        ] {
            assert!(similarity(one, other) > 0.3, "{one}, {other}: {}", similarity(one, other));
        }
        for (one, other) in [("dragons", "we deploy on Thursdays"), ("the price of scanners", "a heron at the weir"), ("", "")] {
            assert!(similarity(one, other).abs() < 0.2, "{one}, {other}: {}", similarity(one, other));
        }
        assert!(Vector::of("x").similarity(&[1, 2]).abs() < f64::EPSILON);
    }
}
