use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::features::meeting::signal::{Claim, Direction};
use crate::features::standup::model::tension::subject::group;
use crate::features::standup::model::tension::{CrossCheck, Finding, Tension};
use kernel::text::fold_name;

/// Each further feed that agrees removes half of its confidence from the remaining doubt. Not more, because feeds are rarely independent.
const WEIGHT_OF_AGREEMENT: f64 = 0.5;
/// The highest confidence, however many agree.
const SUREST: f64 = 0.99;

/// Compares all signals of a standup. The order of the signals does not matter.
pub fn cross_check(claims: &[Claim]) -> CrossCheck {
    let mut sorted: Vec<&Claim> = claims.iter().collect();
    sorted.sort_by(|a, b| compare(a, b));
    let mut check = CrossCheck::default();
    for mut claims in group(sorted) {
        claims.sort_by(|a, b| compare(a, b));
        let subject = name_subject(&claims);
        let sides = list_sides(&claims);
        let opposed = list_opposed(&sides);
        check.findings.push(find_out(&subject, &claims, &sides));
        if !opposed.is_empty() {
            let sides = opposed.iter().map(|side| side.claims.iter().map(|claim| (*claim).clone()).collect()).collect();
            check.tensions.push(Tension { subject, sides });
        }
    }
    check.findings.sort_by(|a, b| b.confidence.total_cmp(&a.confidence).then_with(|| a.subject.cmp(&b.subject)));
    check.tensions.sort_by(|a, b| a.subject.cmp(&b.subject));
    check
}

/// A deterministic order, highest confidence first.
fn compare(a: &Claim, b: &Claim) -> std::cmp::Ordering {
    let evidence = |claim: &Claim| claim.signal.evidence.as_ref().map(|evidence| (evidence.feed.clone(), evidence.value.clone()));
    let confidence = b.signal.confidence.total_cmp(&a.signal.confidence);
    let who = || a.by.cmp(&b.by).then_with(|| a.signal.subject.cmp(&b.signal.subject));
    confidence.then_with(who).then_with(|| a.signal.direction.cmp(&b.signal.direction)).then_with(|| evidence(a).cmp(&evidence(b)))
}

/// The most frequent wording, or else the shortest.
fn name_subject(claims: &[&Claim]) -> String {
    let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
    for claim in claims {
        *uses.entry(&claim.signal.subject).or_default() += 1;
    }
    let best = uses.into_iter().min_by_key(|(name, count)| (Reverse(*count), name.len(), *name));
    best.map(|(name, _)| name.to_owned()).unwrap_or_default()
}

/// All claims with the same direction.
struct Side<'a> {
    direction: Direction,
    /// Highest confidence first.
    claims: Vec<&'a Claim>,
    confidence: f64,
}

/// Up, down and flat describe a value; good and bad judge it. One of each can be true.
fn is_verdict(direction: Direction) -> bool {
    matches!(direction, Direction::Good | Direction::Bad)
}

/// The sides by confidence. If a persona contradicts itself, its most confident claim counts.
fn list_sides<'a>(claims: &[&'a Claim]) -> Vec<Side<'a>> {
    let mut said: Vec<&Claim> = Vec::new();
    for claim in claims {
        let same = |other: &&Claim| other.by == claim.by && is_verdict(other.signal.direction) == is_verdict(claim.signal.direction);
        if !said.iter().any(same) {
            said.push(claim);
        }
    }
    let mut sides: BTreeMap<Direction, Vec<&Claim>> = BTreeMap::new();
    for claim in said {
        sides.entry(claim.signal.direction).or_default().push(claim);
    }
    let with_confidence = |(direction, claims): (Direction, Vec<&'a Claim>)| Side { direction, confidence: agree(&claims), claims };
    let mut sides: Vec<Side<'_>> = sides.into_iter().map(with_confidence).collect();
    sides.sort_by(|a, b| b.confidence.total_cmp(&a.confidence).then(a.direction.cmp(&b.direction)));
    sides
}

/// The confidence of a side: the highest claim, raised by claims based on other feeds.
fn agree(claims: &[&Claim]) -> f64 {
    let mut feeds: Vec<String> = Vec::new();
    let mut confidence: f64 = 0.0;
    for claim in claims {
        // A claim without evidence is based on its persona alone.
        let feed = claim.signal.evidence.as_ref().map_or_else(|| format!("@{}", claim.by), |evidence| fold_name(&evidence.feed));
        if feeds.contains(&feed) {
            continue;
        }
        let weight = if feeds.is_empty() { 1.0 } else { WEIGHT_OF_AGREEMENT };
        confidence += (1.0 - confidence) * claim.signal.confidence * weight;
        feeds.push(feed);
    }
    confidence.min(claims.first().map_or(SUREST, |surest| surest.signal.confidence.max(SUREST)))
}

/// How strongly two directions contradict each other, 0 to 1.
fn opposition(a: Direction, b: Direction) -> f64 {
    use Direction::{Bad, Down, Flat, Good, Up};
    match (a, b) {
        (Up, Down) | (Down, Up) | (Good, Bad) | (Bad, Good) => 1.0,
        (Flat, Up | Down) | (Up | Down, Flat) => 0.5,
        _ => 0.0,
    }
}

/// The sides that another side contradicts.
fn list_opposed<'s, 'a>(sides: &'s [Side<'a>]) -> Vec<&'s Side<'a>> {
    let is_opposed = |side: &Side<'_>| sides.iter().any(|other| opposition(side.direction, other.direction) > 0.0);
    sides.iter().filter(|side| is_opposed(side)).collect()
}

/// The strongest side's direction, with a confidence reduced by contradicting sides.
fn find_out(subject: &str, claims: &[&Claim], sides: &[Side<'_>]) -> Finding {
    let strongest = sides.first();
    let direction = strongest.map(|side| side.direction);
    let doubt = |other: &Side<'_>| other.confidence * direction.map_or(0.0, |direction| opposition(direction, other.direction));
    let certainty = strongest.map_or(0.0, |side| side.confidence);
    let confidence = sides.iter().fold(certainty, |left, other| left * (1.0 - doubt(other)));
    let contradicted = sides.iter().any(|other| direction.is_some_and(|direction| opposition(direction, other.direction) >= 1.0));
    Finding {
        subject: subject.to_owned(),
        direction: direction.filter(|_| !contradicted),
        confidence,
        claims: claims.iter().map(|claim| (*claim).clone()).collect(),
    }
}
