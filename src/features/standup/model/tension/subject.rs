use crate::features::meeting::signal::Claim;
use kernel::text::{Shingles, essence};

/// The similarity from which subjects are the same: "checkout latency" and "checkout latency p95" are, "api errors" and "api latency" are
/// not.
const ALIKE: f64 = 0.7;

/// A normalised subject.
pub(super) struct Subject {
    essence: String,
    shingles: Shingles,
}

impl Subject {
    pub(super) fn of(claim: &Claim) -> Self {
        let essence = essence(&claim.signal.subject);
        Self { shingles: Shingles::of(&essence), essence }
    }

    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.essence == other.essence || self.shingles.similarity(&other.shingles) >= ALIKE
    }
}

/// Groups claims by subject. Similarity is transitive here, so the order does not matter.
pub(super) fn group(claims: Vec<&Claim>) -> Vec<Vec<&Claim>> {
    let mut groups: Vec<Vec<(Subject, &Claim)>> = Vec::new();
    for claim in claims {
        let subject = Subject::of(claim);
        let is_like = |group: &mut Vec<(Subject, &Claim)>| group.iter().any(|(other, _)| other.is_like(&subject));
        let mut joined: Vec<_> = groups.extract_if(.., is_like).flatten().collect();
        joined.push((subject, claim));
        groups.push(joined);
    }
    groups.into_iter().map(|group| group.into_iter().map(|(_, claim)| claim).collect()).collect()
}
