use crate::features::schedule::model::Timetable;

const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

impl Timetable {
    /// The timetable in words. None for expressions that read better as cron, because croner's descriptions of them are unnatural.
    pub fn describe(&self) -> Option<String> {
        let fields: Vec<_> = self.cron().split(' ').collect();
        let &[minute, hour, "*", "*", weekday] = fields.as_slice() else { return None };
        let days = describe_days(weekday)?;
        match (minute.parse::<u8>(), hour.parse::<u8>()) {
            (Ok(minute), Ok(hour)) => Some(format!("{days} at {hour:02}:{minute:02}")),
            _ if weekday != "*" => None,
            (Ok(minute), _) if hour == "*" => Some(format!("every hour at :{minute:02}")),
            _ if (minute, hour) == ("*", "*") => Some("every minute".to_owned()),
            // A step that does not divide the hour gives uneven intervals.
            _ if hour == "*" => {
                let step = minute.strip_prefix("*/")?.parse::<u8>().ok().filter(|step| (2..60).contains(step) && 60 % step == 0)?;
                Some(format!("every {step} minutes"))
            }
            _ => None,
        }
    }
}

fn describe_days(weekday: &str) -> Option<String> {
    let day = |number: &str| DAYS.get(number.parse::<usize>().ok()? % 7).copied();
    match weekday.split_once('-') {
        _ if weekday == "*" => Some("every day".to_owned()),
        Some((first, last)) => Some(format!("{} to {}", day(first)?, day(last)?)),
        None => Some(format!("every {}", day(weekday)?)),
    }
}

#[cfg(test)]
mod tests {
    use chrono_tz::Tz;

    use super::*;

    #[test]
    fn common_timetables_have_words_and_others_none() {
        for (cron, words) in [
            ("0 9 * * 1-5", Some("Monday to Friday at 09:00")),
            ("0 10 * * 1", Some("every Monday at 10:00")),
            ("5 7 * * 7", Some("every Sunday at 07:05")),
            ("30 18 * * *", Some("every day at 18:30")),
            ("*/5 * * * *", Some("every 5 minutes")),
            ("* * * * *", Some("every minute")),
            ("15 * * * *", Some("every hour at :15")),
            ("*/7 * * * *", None),
            ("*/60 * * * *", None),
            ("15 * * * 1", None),
            ("0 9 1 * *", None),
            ("0 9,17 * * *", None),
            ("0 9 * * 5#2", None),
            ("0 0 9 * * *", None),
        ] {
            let described = Timetable::parse(cron, Tz::UTC).ok().and_then(|timetable| timetable.describe());
            assert_eq!(described.as_deref(), words, "{cron}");
        }
    }
}
