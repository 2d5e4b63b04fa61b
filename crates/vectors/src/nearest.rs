use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// The largest value of a dimension in its stored form.
const LARGEST: f32 = 127.0;

/// Vectors of one length in their stored form. Comparing all of them with one takes about 5 ms for each 100,000 vectors of 256 dimensions.
#[derive(Debug)]
pub struct Vectors {
    dimensions: usize,
    values: Vec<i8>,
    /// The length of each vector. A vector of length zero is near to none.
    lengths: Vec<f32>,
}

/// A vector that is near to another one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    pub row: usize,
    /// The cosine of the angle between both.
    pub similarity: f32,
}

impl Vectors {
    pub fn new(dimensions: usize) -> Self {
        Self { dimensions, values: Vec::new(), lengths: Vec::new() }
    }

    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Sets the vector of a row, and adds empty rows before it if there are fewer. A vector with another number of dimensions is stored as an empty
    /// one.
    pub fn set(&mut self, row: usize, stored: &[u8]) {
        if row >= self.lengths.len() {
            self.lengths.resize(row + 1, 0.0);
            self.values.resize((row + 1) * self.dimensions, 0);
        }
        let place = &mut self.values[row * self.dimensions..(row + 1) * self.dimensions];
        if stored.len() == self.dimensions {
            for (value, byte) in place.iter_mut().zip(stored) {
                *value = byte.cast_signed();
            }
        } else {
            place.fill(0);
        }
        self.lengths[row] = length(place);
    }

    /// Up to `most` rows whose similarity to a vector in its stored form is `least` or more, the nearest first. Skips rows that `admits` rejects.
    ///
    /// Not generic, so that the loop is compiled here, for speed, and not where it is called, for size.
    pub fn find_nearest(&self, question: &[u8], least: f32, most: usize, admits: &dyn Fn(usize) -> bool) -> Vec<Near> {
        if question.len() != self.dimensions || most == 0 {
            return Vec::new();
        }
        let asked: Vec<i16> = question.iter().map(|byte| i16::from(byte.cast_signed())).collect();
        let asked_length = length(&question.iter().map(|byte| byte.cast_signed()).collect::<Vec<_>>());
        if asked_length == 0.0 {
            return Vec::new();
        }
        // A heap with the farthest row on top.
        let mut found: BinaryHeap<Farthest> = BinaryHeap::with_capacity(most + 1);
        let mut least = least;
        for (row, (values, length)) in self.values.chunks_exact(self.dimensions).zip(&self.lengths).enumerate() {
            if *length == 0.0 || !admits(row) {
                continue;
            }
            let similarity = product(values, &asked) / (length * asked_length);
            if similarity < least {
                continue;
            }
            found.push(Farthest(Near { row, similarity }));
            if found.len() > most {
                found.pop();
                least = found.peek().map_or(least, |farthest| farthest.0.similarity);
            }
        }
        found.into_sorted_vec().into_iter().map(|farthest| farthest.0).collect()
    }
}

/// The stored form of a vector: its direction, in one byte for each dimension. None if it has no direction.
#[expect(clippy::cast_possible_truncation, reason = "no value is above the largest")]
pub fn compact(values: &[f32]) -> Option<Vec<u8>> {
    let largest = values.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
    if !largest.is_finite() || largest <= 0.0 || values.iter().any(|value| value.is_nan()) {
        return None;
    }
    Some(values.iter().map(|value| ((value / largest * LARGEST).round() as i8).cast_unsigned()).collect())
}

#[expect(clippy::cast_precision_loss, reason = "a sum of products of bytes is small")]
fn product(values: &[i8], asked: &[i16]) -> f32 {
    let sum: i32 = values.iter().zip(asked).map(|(value, asked)| i32::from(i16::from(*value)) * i32::from(*asked)).sum();
    sum as f32
}

#[expect(clippy::cast_precision_loss, reason = "a sum of squares of bytes is small")]
fn length(values: &[i8]) -> f32 {
    let squares: i32 = values.iter().map(|value| i32::from(*value) * i32::from(*value)).sum();
    (squares as f32).sqrt()
}

struct Farthest(Near);

impl Ord for Farthest {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.similarity.total_cmp(&self.0.similarity).then(self.0.row.cmp(&other.0.row))
    }
}

impl PartialOrd for Farthest {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Farthest {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Farthest {}

#[cfg(test)]
mod tests {
    use super::*;

    fn vectors(rows: &[&[f32]]) -> Vectors {
        let mut vectors = Vectors::new(rows[0].len());
        for (row, values) in rows.iter().enumerate() {
            vectors.set(row, &compact(values).unwrap());
        }
        vectors
    }

    fn rows(found: &[Near]) -> Vec<usize> {
        found.iter().map(|near| near.row).collect()
    }

    #[test]
    fn the_nearest_come_first_and_the_far_ones_not_at_all() {
        let vectors = vectors(&[&[1.0, 0.0, 0.0], &[0.9, 0.1, 0.0], &[0.0, 1.0, 0.0], &[-1.0, 0.0, 0.0], &[0.7, 0.7, 0.1]]);
        let question = compact(&[2.0, 0.0, 0.0]).unwrap();
        let found = vectors.find_nearest(&question, 0.5, 9, &|_| true);
        assert_eq!(rows(&found), [0, 1, 4]);
        assert!((found[0].similarity - 1.0).abs() < 0.001 && (found[2].similarity - 0.703).abs() < 0.01, "{found:?}");
        assert_eq!(rows(&vectors.find_nearest(&question, 0.5, 2, &|_| true)), [0, 1]);
        assert_eq!(rows(&vectors.find_nearest(&question, -1.0, 2, &|row| row > 1)), [4, 2]);
    }

    #[test]
    fn a_row_may_come_late_change_and_have_no_vector() {
        let mut vectors = vectors(&[&[1.0, 0.0]]);
        let question = compact(&[0.0, 1.0]).unwrap();
        vectors.set(3, &question);
        assert_eq!(rows(&vectors.find_nearest(&question, 0.5, 9, &|_| true)), [3]);
        vectors.set(0, &question);
        vectors.set(3, &[]);
        assert_eq!(rows(&vectors.find_nearest(&question, 0.5, 9, &|_| true)), [0]);
        assert!(vectors.find_nearest(&[1, 2, 3], 0.0, 9, &|_| true).is_empty(), "of another length");
        assert!(vectors.find_nearest(&[0, 0], 0.0, 9, &|_| true).is_empty(), "without a direction");
    }

    #[test]
    fn what_has_no_direction_has_no_stored_form() {
        for values in [&[][..], &[0.0, 0.0], &[f32::NAN, 1.0], &[f32::INFINITY]] {
            assert_eq!(compact(values), None, "{values:?}");
        }
        assert_eq!(compact(&[-0.5, 0.25]), Some(vec![127_i8.wrapping_neg().cast_unsigned(), 64]));
    }
}
