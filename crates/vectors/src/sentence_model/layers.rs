//! The parts of a transformer. The names are those of the weights.

use ndarray::{Array1, Array2, Axis, Slice};

use super::ModelError;
use super::weights::Weights;

pub(super) struct Norm {
    weight: Array1<f32>,
    bias: Array1<f32>,
    epsilon: f32,
}

impl Norm {
    pub(super) fn read(weights: &Weights, name: &str, epsilon: f32) -> Result<Self, ModelError> {
        let (weight, bias) = (weights.vector(&format!("{name}.weight"))?, weights.vector(&format!("{name}.bias"))?);
        Ok(Self { weight, bias, epsilon })
    }

    pub(super) fn apply(&self, hidden: &mut Array2<f32>) {
        for mut row in hidden.rows_mut() {
            let mean = row.mean().unwrap_or_default();
            row -= mean;
            let variance = row.dot(&row) / f32_of(row.len());
            row /= (variance + self.epsilon).sqrt();
            row *= &self.weight;
            row += &self.bias;
        }
    }
}

struct Linear {
    /// Transposed, so that a row is multiplied from the left.
    weight: Array2<f32>,
    bias: Array1<f32>,
}

impl Linear {
    fn read(weights: &Weights, name: &str) -> Result<Self, ModelError> {
        let weight = weights.matrix(&format!("{name}.weight"))?.reversed_axes();
        Ok(Self { weight, bias: weights.vector(&format!("{name}.bias"))? })
    }

    fn apply(&self, hidden: &Array2<f32>) -> Array2<f32> {
        hidden.dot(&self.weight) + &self.bias
    }
}

pub(super) struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    attended: Linear,
    attended_norm: Norm,
    intermediate: Linear,
    output: Linear,
    output_norm: Norm,
    heads: usize,
}

impl Layer {
    pub(super) fn read(weights: &Weights, name: &str, heads: usize, epsilon: f32) -> Result<Self, ModelError> {
        let linear = |part: &str| Linear::read(weights, &format!("{name}.{part}"));
        let norm = |part: &str| Norm::read(weights, &format!("{name}.{part}"), epsilon);
        Ok(Self {
            query: linear("attention.self.query")?,
            key: linear("attention.self.key")?,
            value: linear("attention.self.value")?,
            attended: linear("attention.output.dense")?,
            attended_norm: norm("attention.output.LayerNorm")?,
            intermediate: linear("intermediate.dense")?,
            output: linear("output.dense")?,
            output_norm: norm("output.LayerNorm")?,
            heads,
        })
    }

    pub(super) fn apply(&self, hidden: &Array2<f32>) -> Array2<f32> {
        let mut attended = self.attended.apply(&self.attend(hidden)) + hidden;
        self.attended_norm.apply(&mut attended);
        let intermediate = self.intermediate.apply(&attended).mapv_into(gelu);
        let mut output = self.output.apply(&intermediate) + &attended;
        self.output_norm.apply(&mut output);
        output
    }

    fn attend(&self, hidden: &Array2<f32>) -> Array2<f32> {
        let (query, key, value) = (self.query.apply(hidden), self.key.apply(hidden), self.value.apply(hidden));
        let width = query.ncols() / self.heads;
        let scale = f32_of(width).sqrt().recip();
        let mut all: Array2<f32> = Array2::zeros(query.raw_dim());
        for head in 0..self.heads {
            let part = |of: &Array2<f32>| of.slice_axis(Axis(1), Slice::from(head * width..(head + 1) * width)).to_owned();
            let mut scores = part(&query).dot(&part(&key).t()) * scale;
            for mut row in scores.axis_iter_mut(Axis(0)) {
                let largest = row.fold(f32::NEG_INFINITY, |largest, score| largest.max(*score));
                row.mapv_inplace(|score| (score - largest).exp());
                let sum = row.sum();
                row /= sum;
            }
            all.slice_axis_mut(Axis(1), Slice::from(head * width..(head + 1) * width)).assign(&scores.dot(&part(&value)));
        }
        all
    }
}

fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2))
}

/// Abramowitz and Stegun, 7.1.26. Right to seven digits.
fn erf(x: f32) -> f32 {
    let t = 1.0 / 0.327_591_1_f32.mul_add(x.abs(), 1.0);
    let series = [1.061_405_4, -1.453_152, 1.421_413_7, -0.284_496_74, 0.254_829_6].iter().fold(0.0, |sum, factor| (sum * t) + factor);
    (1.0 - series * t * (-x * x).exp()).copysign(x)
}

#[expect(clippy::cast_precision_loss, reason = "a number of dimensions")]
fn f32_of(count: usize) -> f32 {
    count as f32
}
