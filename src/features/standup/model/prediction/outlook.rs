//! A prediction without a model: extrapolates the value to the expiry (LLM-2).
//!
//! A linear fit through the samples with an error estimate. Fewer samples and a longer range reduce the confidence.

use chrono::{DateTime, Utc};

use crate::features::standup::model::prediction::{Answer, Call, Comparison, SettlingRule};
use kernel::figure;
use kernel::ids::PersonaSlug;

/// The highest confidence for a value that has never reversed. It still may.
const CERTAIN: f64 = 0.95;
/// The highest confidence for a trend.
const SUREST: f64 = 0.9;
/// A probability closer to one half gives no position.
const UNDECIDED: f64 = 0.05;
/// In hours. A shorter history says nothing about the coming days.
const SHORTEST: f64 = 6.0;
/// Fewer samples cannot show whether a value only rises.
const FOR_A_HABIT: usize = 3;

/// A position from the value's `history` and its current value `base`. Ignores samples after `made_at`.
pub fn call_by_rule(
    rule: &SettlingRule,
    base: f64,
    history: &[(DateTime<Utc>, f64)],
    made_at: DateTime<Utc>,
    expires_at: DateTime<Utc>,
    by: &PersonaSlug,
) -> Call {
    let samples = Samples::new(history, base, made_at);
    let (chance, reason) = match samples.find_settled(rule) {
        _ if !base.is_finite() => (0.5, format!("{} has no current value", rule.value)),
        Some(found) => found,
        None => samples.find_trend(hours_between(made_at, expires_at)).map_or_else(
            || (0.5, format!("{} is {} now, and there is no history yet", rule.value, rule.with_unit(base))),
            |trend| (trend.chance(rule), trend.reason(rule, &samples)),
        ),
    };
    let answer = match chance - 0.5 {
        lean if lean > UNDECIDED => Answer::Yes,
        lean if lean < -UNDECIDED => Answer::No,
        _ => Answer::Uncertain,
    };
    let confidence = if answer == Answer::Uncertain { 0.5 } else { chance.max(1.0 - chance) };
    Call { by: by.clone(), answer, confidence, reason: format!("{reason}."), model: None }
}

/// Whether the value has passed the threshold and cannot come back.
pub fn is_decided(rule: &SettlingRule, base: f64, only_rises: bool) -> bool {
    only_rises
        && match rule.comparison {
            Comparison::Above | Comparison::AtLeast => rule.holds(base),
            Comparison::Below | Comparison::AtMost => !rule.holds(base),
            Comparison::Equals => base > rule.threshold && !rule.holds(base),
        }
}

/// The answer to a question that is decided before it expires.
pub fn find_decision(rule: &SettlingRule, base: f64, only_rises: bool, by: &PersonaSlug) -> Option<Call> {
    let answer = if rule.holds(base) { Answer::Yes } else { Answer::No };
    let reason = format!("decided: there are {} already, and {} cannot fall.", rule.with_unit(base), rule.value);
    is_decided(rule, base, only_rises).then(|| Call { by: by.clone(), answer, confidence: 1.0, reason, model: None })
}

/// The value over time, oldest first, ending with the current value.
struct Samples {
    /// Hours before now (at most 0) and the value.
    points: Vec<(f64, f64)>,
}

impl Samples {
    fn new(history: &[(DateTime<Utc>, f64)], base: f64, made_at: DateTime<Utc>) -> Self {
        let before = history.iter().filter(|(at, value)| *at < made_at && value.is_finite());
        let mut points: Vec<(f64, f64)> = before.map(|(at, value)| (-hours_between(*at, made_at), *value)).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        points.dedup_by_key(|point| point.0);
        points.push((0.0, base));
        Self { points }
    }

    fn oldest(&self) -> (f64, f64) {
        self.points[0]
    }

    fn now(&self) -> f64 {
        self.points[self.points.len() - 1].1
    }

    fn has_habit(&self, keeps: impl Fn(f64, f64) -> bool) -> bool {
        self.points.len() >= FOR_A_HABIT && self.points.windows(2).all(|pair| keeps(pair[0].1, pair[1].1))
    }

    /// The probability and reason if the threshold is already passed and the value has never reversed.
    fn find_settled(&self, rule: &SettlingRule) -> Option<(f64, String)> {
        let (only_rises, only_falls) = (self.has_habit(|a, b| a <= b), self.has_habit(|a, b| a >= b));
        // A value that never changed says nothing about a future change.
        if only_rises == only_falls {
            return None;
        }
        let holds = rule.holds(self.now());
        let chance = match rule.comparison {
            Comparison::Above | Comparison::AtLeast if only_rises && holds => CERTAIN,
            Comparison::Below | Comparison::AtMost if only_falls && holds => CERTAIN,
            Comparison::Above | Comparison::AtLeast if only_falls && !holds => 1.0 - CERTAIN,
            Comparison::Below | Comparison::AtMost if only_rises && !holds => 1.0 - CERTAIN,
            _ => return None,
        };
        let habit = if only_rises { "fell" } else { "rose" };
        let known = show_hours(-self.oldest().0);
        Some((chance, format!("{} is {} already and never {habit} in the last {known}", rule.value, rule.with_unit(self.now()))))
    }

    /// The least-squares line, shifted through the current value.
    #[expect(clippy::cast_precision_loss, reason = "samples are far fewer than 2^52")]
    fn find_trend(&self, ahead: f64) -> Option<Trend> {
        let span = -self.oldest().0;
        if self.points.len() < 2 || span < SHORTEST {
            return None;
        }
        let count = self.points.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| self.points.iter().map(of).sum::<f64>() / count;
        let (mean_time, mean_value) = (mean(|point| point.0), mean(|point| point.1));
        let spread_in_time: f64 = self.points.iter().map(|(time, _)| (time - mean_time).powi(2)).sum();
        let together: f64 = self.points.iter().map(|(time, value)| (time - mean_time) * (value - mean_value)).sum();
        let slope = together / spread_in_time;
        let off_line = |(time, value): &(f64, f64)| (value - mean_value - slope * (time - mean_time)).powi(2);
        let noise = (self.points.iter().map(off_line).sum::<f64>() / (count - 2.0).max(1.0)).sqrt();
        // The standard error of a linear forecast. It grows with the distance from the middle of the samples.
        let error = noise * (1.0 + 1.0 / count + (ahead - mean_time).powi(2) / spread_in_time).sqrt();
        let projected = self.now() + slope * ahead;
        // Even samples exactly on a line guarantee nothing: assumes an error of at least a tenth of the change.
        let error = error.max((projected - self.now()).abs() / 10.0);
        // Two samples give 40 % trust, ten give 77 %. A forecast much longer than the history is trusted less.
        let trust = count / (count + 3.0) * (2.0 * span / ahead.max(f64::MIN_POSITIVE)).min(1.0);
        projected.is_finite().then_some(Trend { projected, error, trust })
    }
}

struct Trend {
    /// The predicted value at the expiry.
    projected: f64,
    /// The expected error.
    error: f64,
    /// 0 to 1: how much the line is trusted.
    trust: f64,
}

impl Trend {
    /// The probability that the condition holds at the expiry, at most [`SUREST`].
    fn chance(&self, rule: &SettlingRule) -> f64 {
        let above = if self.error > 0.0 {
            // With this factor the logistic curve is within 0.01 of the normal distribution.
            1.0 / (1.0 + (-1.702 * (self.projected - rule.threshold) / self.error).exp())
        } else {
            f64::from(u8::from(self.projected > rule.threshold))
        };
        let stands_still = self.error <= 0.0 && rule.holds(self.projected);
        let chance = match rule.comparison {
            _ if stands_still => 1.0,
            Comparison::Above | Comparison::AtLeast => above,
            Comparison::Below | Comparison::AtMost => 1.0 - above,
            // A moving value matches an exact number only by chance.
            Comparison::Equals => above.min(1.0 - above),
        };
        (0.5 + (chance - 0.5) * self.trust).clamp(1.0 - SUREST, SUREST)
    }

    fn reason(&self, rule: &SettlingRule, samples: &Samples) -> String {
        let (hours, then) = samples.oldest();
        format!(
            "{} went from {} to {} in {}, which makes about {} at the expiry; yes needs {} {}",
            rule.value,
            figure::number(then),
            rule.with_unit(samples.now()),
            show_hours(-hours),
            rule.with_unit(rounded(self.projected, samples.now(), rule.threshold)),
            rule.comparison.in_words(),
            rule.with_unit(rule.threshold)
        )
    }
}

/// The projection of a whole number is rounded to a whole number.
fn rounded(projected: f64, now: f64, threshold: f64) -> f64 {
    if now.fract() == 0.0 && threshold.fract() == 0.0 { projected.round() } else { projected }
}

fn show_hours(hours: f64) -> String {
    if hours >= 48.0 { format!("{:.0} days", hours / 24.0) } else { format!("{} h", figure::number(hours)) }
}

#[expect(clippy::cast_precision_loss, reason = "seconds of years are far below 2^52")]
fn hours_between(from: DateTime<Utc>, until: DateTime<Utc>) -> f64 {
    (until - from).num_seconds() as f64 / 3600.0
}
