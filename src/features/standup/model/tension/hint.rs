use crate::features::meeting::signal::{Claim, Direction};
use crate::features::standup::model::tension::Hint;
use crate::features::standup::model::tension::subject::Subject;
use kernel::ids::PersonaSlug;

/// Hints for `listener` about what others said: one per subject, newest first, at most `limit`.
///
/// `claims` are in speaking order.
pub fn hints_for(listener: &PersonaSlug, claims: &[Claim], limit: usize) -> Vec<Hint> {
    let mut told: Vec<Subject> = Vec::new();
    let mut hints = Vec::new();
    for claim in claims.iter().rev().filter(|claim| claim.by != *listener && claim.signal.is_notable()) {
        let subject = Subject::of(claim);
        if hints.len() < limit && !told.iter().any(|other| other.is_like(&subject)) {
            hints.push(Hint { from: claim.by.clone(), subject: claim.signal.subject.clone(), text: render_claim(claim) });
            told.push(subject);
        }
    }
    hints
}

/// "checkout latency is going up (80 % sure; metrics: 412 ms)."
fn render_claim(claim: &Claim) -> String {
    let signal = &claim.signal;
    let direction = match signal.direction {
        Direction::Up => "is going up",
        Direction::Down => "is going down",
        Direction::Flat => "stays as it is",
        Direction::Good => "looks good",
        Direction::Bad => "looks bad",
    };
    let evidence = signal.evidence.as_ref().map_or_else(
        || "no feed given".to_owned(),
        |evidence| if evidence.value.is_empty() { evidence.feed.clone() } else { format!("{}: {}", evidence.feed, evidence.value) },
    );
    format!("{} {direction} ({:.0} % sure; {evidence}).", signal.subject, signal.confidence * 100.0)
}
