use chrono::{TimeDelta, TimeZone as _, Timelike as _};
use chrono_tz::Tz;
use proptest::prelude::*;

use crate::features::standup::model::prediction::*;

fn at(text: &str) -> DateTime<Utc> {
    text.parse().expect("a time")
}

fn rule(comparison: Comparison, threshold: f64) -> SettlingRule {
    SettlingRule { feed: "repository".into(), value: "commits".into(), unit: "commits".into(), comparison, threshold }
}

fn prediction(answer: Answer, confidence: f64) -> Prediction {
    Prediction {
        id: PredictionId::new("1"),
        meeting: MeetingId::new("m"),
        channel: ChannelId::new("c"),
        question: "Will there be 512 commits?".into(),
        call: Call { by: "oracle".into(), answer, confidence, reason: "So it seems.".into(), model: None },
        rule: rule(Comparison::AtLeast, 512.0),
        base: 502.0,
        made_at: at("2026-11-16T09:00:00Z"),
        expires_at: at("2026-11-20T08:00:00Z"),
        settled: None,
    }
}

#[test]
fn comparisons_hold_with_room_for_decimal_fractions() {
    for (text, below, same, above) in [
        (">", false, false, true),
        (">=", false, true, true),
        ("<", true, false, false),
        ("<=", true, true, false),
        ("==", false, true, false),
    ] {
        let comparison = Comparison::parse(text).expect("a comparison");
        assert_eq!(comparison.as_str(), text);
        let rule = rule(comparison, 0.3);
        assert_eq!([rule.holds(0.2), rule.holds(0.1 + 0.2), rule.holds(0.4)], [below, same, above], "{text}");
        assert!(!rule.holds(f64::NAN), "{text}");
    }
    assert_eq!(Comparison::parse("≥"), Ok(Comparison::AtLeast));
    let error = Comparison::parse("=>").expect_err("no comparison").to_string();
    assert_eq!(error, "\"=>\" is not a valid condition. Give >, >=, <, <= or ==");
}

#[test]
fn a_threshold_is_a_number_or_a_change() {
    for (text, threshold) in [
        ("500", Threshold::Fixed(500.0)),
        ("0.5", Threshold::Fixed(0.5)),
        ("=-5", Threshold::Fixed(-5.0)),
        ("+10", Threshold::Change(10.0)),
        ("-5", Threshold::Change(-5.0)),
    ] {
        assert_eq!(Threshold::parse(text), Ok(threshold));
        assert_eq!(threshold.to_string(), text);
    }
    for wrong in ["", "many", "+", "10 %", "inf", "nan", "1e300", "1,000"] {
        let error = Threshold::parse(wrong).expect_err(wrong).to_string();
        assert!(error.contains("Give a number to be reached such as 500, or a change"), "{error}");
    }
}

#[test]
fn a_rule_is_fixed_when_the_call_is_made_and_says_its_terms() {
    let question = |threshold: &str, unit: &str| {
        let question = EssentialQuestion {
            text: "Will it?".into(),
            feed: "metrics".into(),
            value: "p95".into(),
            comparison: Comparison::AtMost,
            threshold: Threshold::parse(threshold).expect("a threshold"),
            expires: Expiry::In(TimeDelta::days(1)),
            optional: false,
        };
        question.rule(412.5, unit).describe()
    };
    assert_eq!(question("400", "ms"), "metrics p95 <= 400 ms");
    assert_eq!(question("-12.25", "ms"), "metrics p95 <= 400.25 ms");
    assert_eq!(question("+0", ""), "metrics p95 <= 412.5");
    assert_eq!(rule(Comparison::AtLeast, 512.0).describe(), "repository commits >= 512");
}

#[test]
fn an_expiry_is_read_in_its_zone_and_written_back() {
    for (text, again) in [
        ("next friday 08:00", "next friday 08:00 Europe/Berlin"),
        ("Next Fri 08:00 utc", "next friday 08:00 UTC"),
        ("monday 9:30 America/New_York", "next monday 09:30 America/New_York"),
        ("tomorrow 08:00", "tomorrow 08:00 Europe/Berlin"),
        ("Tomorrow 08:00 UTC", "tomorrow 08:00 UTC"),
        ("in 3 days", "in 3 days"),
        ("in 1 week", "in 7 days"),
        ("in 36 hours", "in 36 hours"),
    ] {
        let expiry = Expiry::parse(text, Tz::Europe__Berlin).expect(text);
        assert_eq!(expiry.to_string(), again);
        assert_eq!(Expiry::parse(again, Tz::UTC), Ok(expiry));
    }
    for wrong in [
        "",
        "friday",
        "next friday",
        "next friday 25:00",
        "next friday 08:00 Mars/Base",
        "next friday 08:00 europe/berlin",
        "someday 08:00",
        "in 0 days",
        "in 367 days",
        "in -1 hours",
        "in 9223372036854775807 weeks",
        "in three days",
        "tomorrow 08:00 UTC please",
    ] {
        let error = Expiry::parse(wrong, Tz::UTC).expect_err(wrong).to_string();
        assert!(error.contains("\"next friday 08:00\"") && error.contains("\"in 3 days\""), "{error}");
    }
}

#[test]
fn a_call_expires_on_the_next_such_day_that_is_a_day_away() {
    for (text, made, expires) in [
        ("next friday 08:00 UTC", "2026-11-16T09:00:00Z", "2026-11-20T08:00:00Z"),
        ("next friday 08:00 UTC", "2026-11-19T08:00:00Z", "2026-11-20T08:00:00Z"),
        ("next friday 08:00 UTC", "2026-11-19T08:00:01Z", "2026-11-27T08:00:00Z"),
        ("next friday 08:00 UTC", "2026-11-20T07:00:00Z", "2026-11-27T08:00:00Z"),
        ("next friday 08:00 Asia/Kathmandu", "2026-11-16T09:00:00Z", "2026-11-20T02:15:00Z"),
        ("tomorrow 00:30 UTC", "2026-11-16T23:59:59Z", "2026-11-17T00:30:00Z"),
        ("in 12 hours", "2026-11-16T09:00:00Z", "2026-11-16T21:00:00Z"),
        // Clocks go from 02:00 to 03:00: the first moment after the gap.
        ("next sunday 02:30 Europe/Berlin", "2026-03-26T09:00:00Z", "2026-03-29T01:00:00Z"),
        // 02:30 occurs twice: the first one.
        ("next sunday 02:30 Europe/Berlin", "2026-10-22T09:00:00Z", "2026-10-25T00:30:00Z"),
        ("next sunday 01:30 America/New_York", "2026-10-29T09:00:00Z", "2026-11-01T05:30:00Z"),
        // Samoa had no 30 December 2011.
        ("tomorrow 08:00 Pacific/Apia", "2011-12-30T00:00:00Z", "2011-12-30T10:00:00Z"),
    ] {
        let expiry = Expiry::parse(text, Tz::UTC).expect(text);
        assert_eq!(expiry.instant(at(made)), at(expires), "{text} from {made}");
    }
    assert_eq!(Expiry::In(TimeDelta::days(300)).instant(DateTime::<Utc>::MAX_UTC), DateTime::<Utc>::MAX_UTC);
}

#[test]
fn a_call_is_settled_by_its_rule() {
    let now = at("2026-11-20T08:00:00Z");
    for (answer, value, verdict) in [
        (Answer::Yes, 512.0, Verdict::Hit),
        (Answer::Yes, 511.0, Verdict::Miss),
        (Answer::No, 511.0, Verdict::Hit),
        (Answer::No, 600.0, Verdict::Miss),
        (Answer::Uncertain, 600.0, Verdict::Uncalled),
        (Answer::Yes, f64::NAN, Verdict::Void),
        (Answer::No, f64::INFINITY, Verdict::Void),
    ] {
        assert_eq!(prediction(answer, 0.7).settle(value, now).verdict, verdict, "{answer:?} at {value}");
    }
    let settled = prediction(Answer::Yes, 0.7).settle(515.0, now);
    assert_eq!((settled.value, settled.at), (Some(515.0), now));
    assert_eq!(settled.note, "commits was 515: repository commits >= 512 holds");
    let void = prediction(Answer::Yes, 0.7).void(now, "the feed did not answer".into());
    assert_eq!((void.verdict, void.value), (Verdict::Void, None));
}

/// A daily history from ten days to `days` ago, starting at `start` and rising by `step`.
fn history(start: f64, step: f64, days: u32) -> Vec<(DateTime<Utc>, f64)> {
    (0..days).map(|day| (at("2026-11-06T09:00:00Z") + TimeDelta::days(day.into()), start + step * f64::from(day))).collect()
}

fn called(rule: &SettlingRule, base: f64, history: &[(DateTime<Utc>, f64)]) -> Call {
    call_by_rule(rule, base, history, at("2026-11-16T09:00:00Z"), at("2026-11-20T08:00:00Z"), &"oracle".into())
}

#[test]
fn a_call_by_rule_follows_the_trend_and_shows_its_arithmetic() {
    let rises = history(480.0, 2.0, 10);
    let yes = called(&rule(Comparison::AtLeast, 505.0), 500.0, &rises);
    assert_eq!(yes.answer, Answer::Yes);
    assert_eq!(yes.reason, "commits went from 480 to 500 in 10 days, which makes about 508 at the expiry; yes needs at least 505.");
    let no = called(&rule(Comparison::AtLeast, 520.0), 500.0, &rises);
    assert_eq!((no.answer, no.model.clone()), (Answer::No, None));
    assert!(no.confidence > yes.confidence, "it is farther from the threshold: {no:?} {yes:?}");
    let few = called(&rule(Comparison::AtLeast, 520.0), 500.0, &rises[8..]);
    assert!(few.confidence < no.confidence, "fewer samples: {few:?} {no:?}");
    assert_eq!(called(&rule(Comparison::AtMost, 520.0), 500.0, &history(480.0, 2.0, 2)).answer, Answer::Yes);
    assert_eq!(called(&rule(Comparison::Equals, 480.0), 480.0, &history(480.0, 0.0, 9)).answer, Answer::Yes);
    assert_eq!(called(&rule(Comparison::Equals, 520.0), 500.0, &rises).answer, Answer::No);
}

#[test]
fn what_is_reached_and_never_turns_back_is_called_surely() {
    let rises = history(480.0, 2.0, 10);
    let reached = called(&rule(Comparison::Above, 490.0), 500.0, &rises);
    assert_eq!((reached.answer, reached.confidence), (Answer::Yes, 0.95));
    assert_eq!(reached.reason, "commits is 500 already and never fell in the last 10 days.");
    assert_eq!(called(&rule(Comparison::AtMost, 490.0), 500.0, &rises).answer, Answer::No);
    let falls = history(90.0, -3.0, 10);
    assert_eq!(called(&rule(Comparison::Below, 70.0), 60.0, &falls).answer, Answer::Yes);
    assert_eq!(called(&rule(Comparison::AtLeast, 70.0), 60.0, &falls).answer, Answer::No);
}

#[test]
fn a_question_is_decided_once_a_value_that_cannot_fall_has_passed() {
    let decided = |comparison, base, only_rises| {
        let found = find_decision(&rule(comparison, 512.0), base, only_rises, &"solus".into());
        found.map(|call| (call.answer, call.confidence.to_string()))
    };
    let (yes, no) = (Some((Answer::Yes, "1".to_owned())), Some((Answer::No, "1".to_owned())));
    assert_eq!(decided(Comparison::AtLeast, 512.0, true), yes);
    assert_eq!(decided(Comparison::AtLeast, 511.0, true), None, "it may still come");
    assert_eq!(decided(Comparison::AtLeast, 600.0, false), None, "it may fall again");
    assert_eq!(decided(Comparison::Below, 512.0, true), no);
    assert_eq!(decided(Comparison::AtMost, 512.0, true), None);
    assert_eq!((decided(Comparison::Equals, 513.0, true), decided(Comparison::Equals, 512.0, true)), (no, None));
    let call = find_decision(&rule(Comparison::AtLeast, 512.0), 515.0, true, &"solus".into()).unwrap();
    assert_eq!(call.reason, "decided: there are 515 already, and commits cannot fall.");
}

#[test]
fn a_question_and_its_expiry_count_once_however_often_it_was_called() {
    let call = |hour: i64, answer| {
        let made_at = at("2026-11-16T09:00:00Z") + TimeDelta::hours(hour);
        Prediction { id: PredictionId::new(hour.to_string()), made_at, ..prediction(answer, 0.8) }
    };
    let settled = |open: Prediction| Prediction { settled: Some(open.settle(515.0, at("2026-11-20T08:00:00Z"))), ..open };
    let later = Prediction { expires_at: at("2026-11-27T08:00:00Z"), ..call(30, Answer::Yes) };
    let calls = [later, settled(call(24, Answer::Yes)), settled(call(0, Answer::No))];
    let board = Scoreboard::of(&calls, at("2026-11-21T08:00:00Z"));
    assert_eq!((board.hits, board.misses, board.open), (1, 0, 1), "the last call before the expiry counts");
}

#[test]
fn without_a_history_or_a_value_nothing_is_claimed() {
    let yes = rule(Comparison::AtLeast, 10.0);
    for (base, history) in [
        (500.0, Vec::new()),
        (500.0, vec![(at("2026-11-17T09:00:00Z"), 600.0)]),
        (500.0, vec![(at("2026-11-15T09:00:00Z"), f64::NAN)]),
        (f64::NAN, history(480.0, 2.0, 10)),
    ] {
        let call = called(&yes, base, &history);
        assert_eq!((call.answer, call.confidence), (Answer::Uncertain, 0.5), "{call:?}");
    }
    let on_the_line = called(&rule(Comparison::AtLeast, 507.916_666_666), 500.0, &history(480.0, 2.0, 10));
    assert_eq!((on_the_line.answer, on_the_line.confidence), (Answer::Uncertain, 0.5));
}

/// Until another expiry, because each counts once.
fn apart(prediction: Prediction, hours: i64) -> Prediction {
    Prediction { expires_at: prediction.expires_at + TimeDelta::hours(hours), ..prediction }
}

fn settled(answer: Answer, confidence: f64, verdict: Verdict, hour: i64) -> Prediction {
    let settled = Settled { verdict, value: Some(1.0), at: at("2026-11-20T08:00:00Z") + TimeDelta::hours(hour), note: String::new() };
    Prediction { id: PredictionId::new(format!("{hour:05}")), settled: Some(settled), ..apart(prediction(answer, confidence), hour) }
}

#[test]
fn a_scoreboard_judges_from_five_calls_on() {
    let now = at("2026-12-31T00:00:00Z");
    let mut calls =
        vec![settled(Answer::Yes, 0.8, Verdict::Hit, 1), settled(Answer::No, 0.7, Verdict::Miss, 2), prediction(Answer::Yes, 0.6)];
    assert_eq!(Scoreboard::of(&[], now), Scoreboard::default());
    assert_eq!(Scoreboard::of(&calls, now).in_words(), "too few to judge (2 settled, 1 open)");
    calls.extend([settled(Answer::Uncertain, 0.5, Verdict::Uncalled, 3), settled(Answer::Yes, 0.9, Verdict::Void, 4)]);
    assert_eq!(Scoreboard::of(&calls, now).in_words(), "too few to judge (2 settled, 1 open, 1 uncalled, 1 void)");
    calls.extend((5..8).map(|hour| settled(Answer::Yes, 0.9, Verdict::Miss, hour)));
    let board = Scoreboard::of(&calls, now);
    assert_eq!((board.hits, board.misses, board.accuracy), (1, 4, Some(0.2)));
    assert_eq!(board.in_words(), "accuracy 20 % of 5, Brier 0.54, 1 uncalled, 1 void: be more careful");
    assert_eq!(Scoreboard::of(&calls, at("2026-11-20T10:30:00Z")).open, 6, "what was settled later was open then");
    assert_eq!(Scoreboard::of(&calls, at("2026-11-01T00:00:00Z")), Scoreboard::default(), "what was called later was not there");
}

#[test]
fn the_last_twenty_are_told_where_there_are_more_and_advice_goes_both_ways() {
    let now = at("2026-12-31T00:00:00Z");
    let calls: Vec<Prediction> =
        (0..25).map(|hour| settled(Answer::No, 0.95, if hour < 5 { Verdict::Miss } else { Verdict::Hit }, hour)).collect();
    let board = Scoreboard::of(&calls, now);
    assert_eq!(board.in_words(), "accuracy 80 % of 25, 100 % of the last 20, Brier 0.18: be more careful");
    assert_eq!(board.bands, [Band { from: 90, to: 100, calls: 25, hits: 20 }]);
    let modest: Vec<Prediction> = (0..10).map(|hour| settled(Answer::Yes, 0.6, Verdict::Hit, hour)).collect();
    assert_eq!(Scoreboard::of(&modest, now).advice(), Some("be more confident"));
    let right: Vec<Prediction> =
        (0..10).map(|hour| settled(Answer::Yes, 0.7, if hour < 7 { Verdict::Hit } else { Verdict::Miss }, hour)).collect();
    assert_eq!((Scoreboard::of(&right, now).advice(), Scoreboard::of(&right, now).bands[0].from), (None, 70));
}

fn zones() -> impl Strategy<Value = Tz> {
    prop::sample::select(vec![
        Tz::UTC,
        Tz::Europe__Berlin,
        Tz::America__New_York,
        Tz::Australia__Lord_Howe,
        Tz::Asia__Kathmandu,
        Tz::America__Santiago,
        Tz::Africa__Cairo,
        Tz::Pacific__Auckland,
        Tz::America__Sao_Paulo,
        Tz::Africa__Casablanca,
        Tz::Pacific__Apia,
    ])
}

fn calls() -> impl Strategy<Value = Vec<Prediction>> {
    let answers = prop::sample::select(vec![Answer::Yes, Answer::No]);
    let verdicts = prop::sample::select(vec![Some(Verdict::Hit), Some(Verdict::Miss), Some(Verdict::Void), None]);
    let one = (answers, 50..=100_u8, verdicts).prop_map(|(answer, percent, verdict)| (answer, f64::from(percent) / 100.0, verdict));
    prop::collection::vec(one, 0..60).prop_map(|calls| {
        let settle = |((answer, confidence, verdict), hour): ((Answer, f64, Option<Verdict>), i64)| match verdict {
            Some(verdict) => settled(answer, confidence, verdict, hour),
            None => apart(prediction(answer, confidence), hour),
        };
        calls.into_iter().zip(0..).map(settle).collect()
    })
}

proptest! {
    #[test]
    fn an_expiry_lies_ahead_at_the_right_local_time(seconds in 0..200_000_000_i64, zone in zones(), day in 0..7_u8, hour in 0..24_u32, minute in 0..60_u32) {
        let made = Utc.timestamp_opt(1_700_000_000 + seconds, 0).single().expect("a time");
        let time = chrono::NaiveTime::from_hms_opt(hour, minute, 0).expect("a time of day");
        let weekday = chrono::Weekday::try_from(day).expect("a day of the week");
        let next = Expiry::Weekday { weekday, time, zone }.instant(made);
        let tomorrow = Expiry::Tomorrow { time, zone }.instant(made);
        prop_assert!(next - made >= TimeDelta::days(1) && next - made <= TimeDelta::days(9));
        prop_assert!(tomorrow > made && tomorrow - made <= TimeDelta::hours(50));
        for instant in [next, tomorrow] {
            let local = instant.with_timezone(&zone);
            // In a gap: the first moment after it.
            let late = local.time().num_seconds_from_midnight() - time.num_seconds_from_midnight().min(local.time().num_seconds_from_midnight());
            let skipped = zone.from_local_datetime(&local.date_naive().and_time(time)).earliest().is_none();
            prop_assert!(local.time() == time || (skipped && late <= 3600), "{local} for {time}");
        }
        prop_assert!(chrono::Datelike::weekday(&next.with_timezone(&zone)) == weekday);
    }

    #[test]
    fn a_scoreboard_is_what_counting_by_hand_gives(calls in calls()) {
        let board = Scoreboard::of(&calls, at("2027-01-01T00:00:00Z"));
        let verdicts: Vec<(f64, bool)> = calls.iter().filter_map(|call| match call.settled.as_ref()?.verdict {
            Verdict::Hit => Some((call.call.confidence, true)),
            Verdict::Miss => Some((call.call.confidence, false)),
            Verdict::Uncalled | Verdict::Void => None,
        }).collect();
        let mean = |numbers: Vec<f64>| {
            (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / f64::from(u32::try_from(numbers.len()).expect("a count")))
        };
        let share = |part: &[(f64, bool)]| mean(part.iter().map(|(_, hit)| f64::from(u8::from(*hit))).collect());
        prop_assert_eq!(board.accuracy, share(&verdicts));
        prop_assert_eq!(board.recent_accuracy, share(&verdicts[verdicts.len().saturating_sub(20)..]));
        prop_assert_eq!(usize::try_from(board.judged() + board.open + board.void).expect("a count"), calls.len());
        // From the definition: the probability of yes against the outcome.
        let errors: Vec<f64> = calls.iter().filter_map(|call| {
            let hit = match call.settled.as_ref()?.verdict { Verdict::Hit => true, Verdict::Miss => false, _ => return None };
            let (yes, came) = (call.call.answer == Answer::Yes, f64::from(u8::from(hit == (call.call.answer == Answer::Yes))));
            let chance = if yes { call.call.confidence } else { 1.0 - call.call.confidence };
            Some((chance - came).powi(2))
        }).collect();
        let brier = mean(errors);
        prop_assert!(board.brier.zip(brier).map_or(board.brier == brier, |(a, b)| (a - b).abs() < 1e-9));
        for band in &board.bands {
            let inside: Vec<_> = verdicts.iter().filter(|(confidence, _)| {
                let percent = (confidence * 100.0).round();
                percent >= f64::from(band.from) && (percent < f64::from(band.to) || band.to == 100)
            }).collect();
            prop_assert_eq!((band.calls as usize, band.hits as usize), (inside.len(), inside.iter().filter(|(_, hit)| *hit).count()));
        }
        prop_assert_eq!(board.bands.iter().map(|band| band.calls).sum::<u32>(), board.judged());
    }

    #[test]
    fn a_call_by_rule_is_always_a_fair_position(values in prop::collection::vec(-1e6..1e6_f64, 0..12), base in -1e6..1e6_f64, threshold in -1e6..1e6_f64) {
        let history: Vec<_> = values.iter().zip(1..).map(|(value, day)| (at("2026-11-16T09:00:00Z") - TimeDelta::hours(7 * day), *value)).collect();
        for comparison in [Comparison::Above, Comparison::AtLeast, Comparison::Below, Comparison::AtMost, Comparison::Equals] {
            let call = called(&rule(comparison, threshold), base, &history);
            prop_assert!((0.5..=0.95).contains(&call.confidence) && call.reason.ends_with('.'), "{call:?}");
            prop_assert_eq!(call.answer == Answer::Uncertain, call.confidence < 0.55 - 1e-9);
        }
    }
}
