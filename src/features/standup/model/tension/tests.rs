use proptest::prelude::*;

use crate::features::meeting::signal::{Evidence, Signal};
use crate::features::standup::model::tension::*;
use kernel::ids::PersonaSlug;

fn claim(by: &str, subject: &str, direction: Direction, confidence: f64, feed: &str) -> Claim {
    let evidence = (!feed.is_empty()).then(|| Evidence { feed: feed.into(), value: "7".into() });
    Claim { by: by.into(), signal: Signal { subject: subject.into(), direction, confidence, evidence } }
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn agreement_on_other_feeds_raises_and_on_the_same_feed_does_not() {
    let latency = |feed: &str| {
        let claims = [
            claim("vince", "checkout latency", Direction::Up, 0.6, "metrics"),
            claim("eliza", "Latency of checkout", Direction::Up, 0.6, feed),
        ];
        let check = cross_check(&claims);
        assert!(check.tensions.is_empty() && check.findings.len() == 1, "{check:?}");
        assert_eq!(check.findings[0].direction, Some(Direction::Up));
        check.findings[0].confidence
    };
    assert!(near(latency("traces"), 0.72), "{}", latency("traces"));
    assert!(near(latency("Metrics"), 0.6));
    assert!(near(latency(""), 0.72), "a persona that names no feed stands for itself");
}

#[test]
fn contradiction_is_a_tension_with_both_sides_and_lowers_the_confidence() {
    let claims = [
        claim("solus", "checkout latency", Direction::Down, 0.5, "news"),
        claim("vince", "checkout latency", Direction::Up, 0.8, "metrics"),
        claim("eliza", "Checkout latency", Direction::Up, 0.6, "metrics"),
        claim("echo", "open issues", Direction::Up, 0.9, "backlog"),
    ];
    let check = cross_check(&claims);
    let [tension] = check.tensions.as_slice() else { panic!("{check:?}") };
    assert_eq!(tension.subject, "checkout latency");
    let sides: Vec<Vec<&str>> = tension.sides.iter().map(|side| side.iter().map(|claim| claim.by.as_str()).collect()).collect();
    assert_eq!(sides, [vec!["vince", "eliza"], vec!["solus"]]);
    assert_eq!(tension.sides[1][0].signal.evidence.as_ref().map(|evidence| evidence.feed.as_str()), Some("news"));
    let [issues, latency] = check.findings.as_slice() else { panic!("{check:?}") };
    assert_eq!((issues.subject.as_str(), issues.direction), ("open issues", Some(Direction::Up)));
    assert_eq!((latency.direction, latency.claims.len()), (None, 3));
    assert!(near(latency.confidence, 0.8 * 0.5));
}

#[test]
fn flat_against_up_is_milder_than_down_against_up() {
    let against = |direction| {
        let claims = [claim("vince", "costs", Direction::Up, 0.8, "ledger"), claim("eliza", "cost", direction, 0.6, "bank")];
        let check = cross_check(&claims);
        (check.tensions.len(), check.findings[0].direction, check.findings[0].confidence)
    };
    let (flat, down, bad) = (against(Direction::Flat), against(Direction::Down), against(Direction::Bad));
    assert_eq!((flat.0, flat.1), (1, Some(Direction::Up)));
    assert_eq!((down.0, down.1), (1, None));
    assert_eq!((bad.0, bad.1), (0, Some(Direction::Up)));
    assert!(near(flat.2, 0.8 * 0.7) && near(down.2, 0.8 * 0.4) && near(bad.2, 0.8), "{flat:?} {down:?} {bad:?}");
}

#[test]
fn who_contradicts_itself_is_no_tension() {
    let claims = [claim("vince", "costs", Direction::Up, 0.8, "ledger"), claim("vince", "costs", Direction::Down, 0.6, "bank")];
    let check = cross_check(&claims);
    assert!(check.tensions.is_empty());
    assert_eq!((check.findings[0].direction, check.findings[0].claims.len()), (Some(Direction::Up), 2));
}

#[test]
fn other_subjects_stay_apart() {
    let subjects = ["api errors", "api latency", "search latency", "costs", "commits", "zwölf"];
    let claims: Vec<Claim> = subjects.iter().map(|subject| claim("vince", subject, Direction::Up, 0.7, "x")).collect();
    assert_eq!(cross_check(&claims).findings.len(), subjects.len());
    assert_eq!(cross_check(&[]), CrossCheck::default());
}

#[test]
fn hints_come_from_others_the_newest_first_and_one_a_subject() {
    let claims = [
        claim("vince", "checkout latency", Direction::Up, 0.8, "metrics"),
        claim("eliza", "costs", Direction::Bad, 0.9, ""),
        claim("echo", "weather", Direction::Good, 0.5, "sky"),
        claim("solus", "releases", Direction::Up, 0.9, "news"),
        claim("eliza", "latency of checkout", Direction::Up, 0.65, "traces"),
    ];
    let texts = |listener: &str, limit| {
        hints_for(&PersonaSlug::from(listener), &claims, limit).into_iter().map(|hint| hint.text).collect::<Vec<_>>()
    };
    assert_eq!(
        texts("solus", 5),
        ["latency of checkout is going up (65 % sure; traces: 7).", "costs looks bad (90 % sure; no feed given)."]
    );
    assert_eq!(texts("eliza", 5), ["releases is going up (90 % sure; news: 7).", "checkout latency is going up (80 % sure; metrics: 7)."]);
    assert_eq!(texts("eliza", 1).len(), 1);
    assert!(hints_for(&"kelly".into(), &[], 5).is_empty());
}

fn claims() -> impl Strategy<Value = Vec<Claim>> {
    let by = prop::sample::select(vec!["vince", "eliza", "solus", "echo"]);
    let words = vec!["costs", "the cost", "checkout latency", "latency of checkout", "checkout latency p95", "open issues"];
    let directions = prop::sample::select(vec![Direction::Up, Direction::Down, Direction::Flat, Direction::Good, Direction::Bad]);
    let feeds = prop::sample::select(vec!["", "metrics", "ledger"]);
    let one = (by, prop::sample::select(words), directions, 0..=10_u8, feeds)
        .prop_map(|(by, subject, direction, tenths, feed)| claim(by, subject, direction, f64::from(tenths) / 10.0, feed));
    prop::collection::vec(one, 0..12)
}

proptest! {
    #[test]
    fn the_order_of_claims_makes_no_difference((claims, shuffled) in claims().prop_flat_map(|claims| (Just(claims.clone()), Just(claims).prop_shuffle()))) {
        prop_assert_eq!(cross_check(&claims), cross_check(&shuffled));
    }

    #[test]
    fn every_claim_is_in_one_finding_and_confidences_are_shares(claims in claims()) {
        let check = cross_check(&claims);
        prop_assert_eq!(check.findings.iter().map(|finding| finding.claims.len()).sum::<usize>(), claims.len());
        prop_assert!(check.findings.iter().all(|finding| (0.0..=1.0).contains(&finding.confidence)));
        for tension in &check.tensions {
            prop_assert!(tension.sides.len() >= 2);
            let speakers: std::collections::BTreeSet<_> = tension.sides.iter().flatten().map(|claim| &claim.by).collect();
            prop_assert!(speakers.len() >= 2, "nobody is in tension with itself");
        }
    }

    #[test]
    fn one_more_voice_for_a_side_never_lowers_it(confidence in 0..=10_u8, more in 0..=10_u8) {
        let first = claim("vince", "costs", Direction::Up, f64::from(confidence) / 10.0, "ledger");
        let second = claim("eliza", "costs", Direction::Up, f64::from(more) / 10.0, "bank");
        let alone = cross_check(std::slice::from_ref(&first)).findings[0].confidence;
        prop_assert!(cross_check(&[first, second]).findings[0].confidence >= alone);
    }
}
