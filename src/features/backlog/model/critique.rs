use serde::{Deserialize, Serialize};

/// What an author's own critique has to reach: no score below the first, and the mean not below the second (WORK-17).
const LEAST: u8 = 3;
const LEAST_MEAN: f64 = 3.5;

/// An author's last critique of its own work. Each score is from 1 to 5; 3 is good work, 5 is rare.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Critique {
    pub depth: u8,
    pub accuracy: u8,
    pub actionability: u8,
    pub completeness: u8,
    /// Each criterion with the passage that shows it, which code has found there. Empty: not all of them are shown.
    #[serde(default)]
    pub shown: Vec<(String, String)>,
    /// What is to be improved. Empty: nothing.
    #[serde(default)]
    pub faults: Vec<String>,
    /// The points of this critique and of those before it: scores, criteria and questions. Without reasons, which may quote a page.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criticised: Vec<String>,
    /// How often the author has improved its work because of a critique.
    #[serde(default)]
    pub revisions: u32,
}

impl Critique {
    pub fn scores(&self) -> [(&'static str, u8); 4] {
        [("depth", self.depth), ("accuracy", self.accuracy), ("actionability", self.actionability), ("completeness", self.completeness)]
    }

    pub fn mean(&self) -> f64 {
        self.scores().iter().map(|(_, score)| f64::from(*score)).sum::<f64>() / 4.0
    }

    pub fn is_good(&self) -> bool {
        self.scores().iter().all(|(_, score)| *score >= LEAST) && self.mean() >= LEAST_MEAN
    }

    /// `depth 3, accuracy 4, actionability 4, completeness 3`.
    pub fn describe(&self) -> String {
        self.scores().map(|(name, score)| format!("{name} {score}")).join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_good_if_no_score_is_low_and_the_mean_is_not() {
        let of = |[depth, accuracy, actionability, completeness]: [u8; 4]| Critique {
            depth,
            accuracy,
            actionability,
            completeness,
            shown: Vec::new(),
            faults: Vec::new(),
            criticised: Vec::new(),
            revisions: 0,
        };
        for (scores, good) in [([3, 4, 4, 3], true), ([5, 5, 5, 2], false), ([3, 3, 3, 4], false), ([4, 4, 4, 4], true)] {
            assert_eq!(of(scores).is_good(), good, "{scores:?}");
        }
        assert_eq!(of([3, 4, 4, 3]).describe(), "depth 3, accuracy 4, actionability 4, completeness 3");
    }
}
