use serde::{Deserialize, Serialize};

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

    /// `depth 3, accuracy 4, actionability 4, completeness 3`.
    pub fn describe(&self) -> String {
        self.scores().map(|(name, score)| format!("{name} {score}")).join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_critique_is_described_by_its_scores() {
        let critique = Critique {
            depth: 3,
            accuracy: 4,
            actionability: 4,
            completeness: 3,
            shown: Vec::new(),
            faults: Vec::new(),
            criticised: Vec::new(),
            revisions: 0,
        };
        assert_eq!(critique.describe(), "depth 3, accuracy 4, actionability 4, completeness 3");
        assert!((critique.mean() - 3.5).abs() < f64::EPSILON);
    }
}
