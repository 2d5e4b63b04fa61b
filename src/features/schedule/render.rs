use std::fmt::Write as _;

use chrono::{DateTime, Utc};

use crate::features::schedule::JobStatus;
use crate::features::schedule::model::{Firing, FiringState, Job, Timetable};
use crate::features::schedule::store::Pause;
use kernel::ids::ChannelId;
use kernel::text::flatten;

/// All jobs as a Markdown table.
pub fn render_jobs(jobs: &[JobStatus]) -> String {
    let mut text = String::from("| job | does | when | next | last |\n| --- | --- | --- | --- | --- |\n");
    for status in jobs {
        let JobStatus { job, paused_by, next, last } = status;
        let timetable = &job.timetable;
        let next = match (next, paused_by) {
            (Some(next), _) => render_time(*next, timetable),
            (None, Some(by)) => format!("paused by {by}"),
            (None, None) if job.enabled => "never".to_owned(),
            (None, None) => "turned off in teamroom.toml".to_owned(),
        };
        let last = last.as_ref().map_or_else(
            || "never".to_owned(),
            |firing| format!("{}: {}", render_time(firing.instant, timetable), describe_firing(firing)),
        );
        let cells = [job.name.to_string(), render_action(status), render_when(timetable), next, last];
        let cells = cells.map(|cell| cell.replace('|', "\\|").replace('\n', " "));
        writeln!(text, "| {} |", cells.join(" | ")).expect("a String takes everything");
    }
    text
}

/// The result of a firing, in words: `done`, `missed, and 3 before it`.
pub fn describe_firing(firing: &Firing) -> String {
    let mut text = match firing.state {
        FiringState::Open => "under way".to_owned(),
        FiringState::Done => "done".to_owned(),
        FiringState::Refused => "not done".to_owned(),
        FiringState::Missed => "missed".to_owned(),
    };
    if let Some(note) = &firing.note {
        write!(text, ", {note}").expect("a String takes everything");
    }
    match firing.passed_over {
        0 => {}
        count if firing.state == FiringState::Missed => write!(text, ", and {count} before it").expect("a String takes everything"),
        count => write!(text, "; {count} before it missed").expect("a String takes everything"),
    }
    text
}

/// Tells that a paused job was left out, whose pause it is, and how it ends.
pub(super) fn render_left_out(job: &Job, pause: &Pause, instant: DateTime<Utc>) -> String {
    let by = flatten(&pause.by, 40);
    let (paused, left_out) = (render_time(pause.at, &job.timetable), render_time(instant, &job.timetable));
    format!(
        "The job {} is paused, so it did not run on {left_out}. {by} paused it on {paused}. `/schedule resume` lets it run again. I won't remind you \
         of this pause again.",
        job.name
    )
}

/// A timetable in words if possible, otherwise as cron, with its zone.
pub(super) fn render_when(timetable: &Timetable) -> String {
    let when = timetable.describe().unwrap_or_else(|| format!("`{}`", timetable.cron()));
    format!("{when}, {}", timetable.zone())
}

/// A time in the zone of the job.
pub(super) fn render_time(at: DateTime<Utc>, timetable: &Timetable) -> String {
    at.with_timezone(&timetable.zone()).format("%a %-d %b %H:%M %Z").to_string()
}

/// The action, short enough for a table, and its channel.
fn render_action(status: &JobStatus) -> String {
    /// Longer posts are cut.
    const SHOWN: usize = 40;
    let action = status.job.action.to_string();
    let cut = if action.chars().count() > SHOWN { action.chars().take(SHOWN).chain(['…']).collect() } else { action };
    status.job.channel.as_ref().map_or_else(|| cut.clone(), |channel| format!("{cut} in {}", ChannelId::new(channel).bare()))
}

#[cfg(test)]
mod tests {
    use chrono_tz::Tz;

    use super::*;
    use crate::features::schedule::model::JobAction;
    use crate::features::schedule::model::tests::actions;

    fn utc(text: &str) -> DateTime<Utc> {
        text.parse().expect("a time")
    }

    #[test]
    fn the_list_says_when_a_job_comes_and_how_it_went_last() {
        let [report, tidy_up] = actions().built_in(Tz::Europe__Berlin).try_into().expect("two jobs");
        let last = Firing {
            job: report.name.clone(),
            instant: utc("2026-11-20T08:00:00Z"),
            action: JobAction::named("report"),
            state: FiringState::Missed,
            note: None,
            passed_over: 3,
            at: utc("2026-11-22T08:00:00Z"),
        };
        let jobs = [
            JobStatus { next: Some(utc("2026-11-23T08:00:00Z")), last: Some(last), job: report, paused_by: None },
            JobStatus { next: None, last: None, job: tidy_up.clone(), paused_by: Some("Ada".to_owned()) },
            JobStatus { next: None, last: None, job: Job { enabled: false, ..tidy_up }, paused_by: None },
        ];
        let text = render_jobs(&jobs);
        let rows: Vec<_> = text.lines().skip(2).collect();
        assert_eq!(
            rows,
            [
                "| report | report in daily | Monday to Friday at 09:00, Europe/Berlin | Mon 23 Nov 09:00 CET | Fri 20 Nov 09:00 CET: missed, and 3 before it |",
                "| tidy-up | tidy-up | every 5 minutes, Europe/Berlin | paused by Ada | never |",
                "| tidy-up | tidy-up | every 5 minutes, Europe/Berlin | turned off in teamroom.toml | never |",
            ]
        );
    }

    #[test]
    fn a_firing_reads_as_it_ended() {
        let firing = |state, note: Option<&str>, passed_over| Firing {
            job: "report".parse().expect("a name"),
            instant: utc("2026-11-20T08:00:00Z"),
            action: JobAction::named("report"),
            state,
            note: note.map(str::to_owned),
            passed_over,
            at: utc("2026-11-20T08:00:00Z"),
        };
        assert_eq!(describe_firing(&firing(FiringState::Done, None, 0)), "done");
        assert_eq!(describe_firing(&firing(FiringState::Done, None, 2)), "done; 2 before it missed");
        assert_eq!(describe_firing(&firing(FiringState::Refused, Some("there is no channel x"), 0)), "not done, there is no channel x");
        assert_eq!(describe_firing(&firing(FiringState::Open, None, 0)), "under way");
    }
}
