use std::time::Duration;

use chrono_tz::Tz;

use crate::features::schedule::model::{Actions, InvalidJob, Job, JobAction, JobName, JobOrigin, MissedRuns, Timetable};
use kernel::config::{Section, choice};

/// `zone` and `[schedules.<name>]`: the jobs that come with the program, as the file changed them, and those of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct ScheduleSettings {
    /// The team's zone, in which timetables are unless they name another.
    pub zone: Tz,
    /// In the order of the file, the built-in ones first; each name once.
    pub jobs: Vec<Job>,
}

const SCHEDULES: &str = "schedules";
const LONGEST_DEADLINE: Duration = Duration::from_hours(24 * 30);

impl Default for ScheduleSettings {
    fn default() -> Self {
        Self { zone: Tz::UTC, jobs: Vec::new() }
    }
}

impl ScheduleSettings {
    pub(crate) fn read(root: &mut Section<'_>, actions: &Actions) -> Self {
        let zone = root.read("zone", Tz::UTC, "The time zone of the team, in which its schedules are.");
        let mut jobs = actions.built_in(zone);
        if jobs.is_empty() && root.is_describing() {
            jobs.push(example(zone));
        }
        let first = jobs.first().map_or_else(String::new, |job| job.name.to_string());
        for name in root.list_entries(SCHEDULES, &first) {
            let known = jobs.iter().position(|job| job.name.as_str() == name);
            let Some(job) = read_job(root, &name, known.map(|at| &jobs[at]), zone, actions) else { continue };
            match known {
                Some(at) => jobs[at] = job,
                None => jobs.push(job),
            }
        }
        Self { zone, jobs }
    }
}

/// A default job for the file if no feature provides one.
fn example(zone: Tz) -> Job {
    Job {
        name: "hello".parse().expect("a name"),
        timetable: Timetable::parse("0 9 * * 1-5", zone).expect("a timetable"),
        action: JobAction::post("Good morning."),
        channel: Some("general".to_owned()),
        missed: MissedRuns::Once,
        deadline: Job::DEADLINE,
        enabled: true,
        origin: JobOrigin::File,
    }
}

/// A section of the file. `known` is the built-in job that it changes. None: the section has errors, which are recorded.
fn read_job(root: &mut Section<'_>, name: &str, known: Option<&Job>, zone: Tz, actions: &Actions) -> Option<Job> {
    let name: JobName = match name.parse() {
        Ok(name) => name,
        Err(error) => {
            root.section(SCHEDULES).refuse(name, error.to_string());
            return None;
        }
    };
    let mut section = root.entry(SCHEDULES, name.as_str());
    let zone = section.read("zone", zone, "The time zone of its times; by default that of the team.");
    let cron = read_cron(&mut section, known.map(|job| job.timetable.cron()));
    let action = read_action(&mut section, known.map(|job| &job.action), actions);
    let channel = section.read("channel", known.and_then(|job| job.channel.clone()), "Where, by name or id.");
    let about = "What happens to runs that were missed: nothing; the latest is made up for; or each is, at most 24.";
    let missed = section.read("missed", known.map_or(MissedRuns::Once, |job| job.missed), about);
    let deadline = section.read_within(
        "deadline",
        known.map_or(Job::DEADLINE, |job| job.deadline),
        Duration::ZERO..=LONGEST_DEADLINE,
        "A missed run older than this is not made up for.",
    );
    let enabled = section.read("enabled", true, "Whether it happens at all.");
    let timetable = match Timetable::parse(&cron?, zone) {
        Ok(timetable) => timetable,
        Err(error) => {
            section.refuse("cron", error.to_string());
            return None;
        }
    };
    let channel = channel.map(|channel| channel.trim_start_matches('#').to_owned());
    let origin = known.map_or(JobOrigin::File, |job| job.origin);
    let job = Job { name, timetable, action: action?, channel, missed, deadline, enabled, origin };
    if let Err(error) = actions.check(&job) {
        section.refuse(if matches!(error, InvalidJob::NoChannel(_)) { "channel" } else { "cron" }, error.to_string());
        return None;
    }
    Some(job)
}

fn read_cron(section: &mut Section<'_>, default: Option<&str>) -> Option<String> {
    let about = "When: minute, hour, day, month and weekday as cron has them, with seconds before them or without.";
    let allowed = "a cron expression such as \"0 9 * * 1-5\"";
    match default {
        Some(default) => Some(section.read_where("cron", default.to_owned(), allowed, about, |_| true)),
        None => section.require_where("cron", "0 9 * * 1-5".to_owned(), allowed, about, |_| true),
    }
}

fn read_action(section: &mut Section<'_>, default: Option<&JobAction>, actions: &Actions) -> Option<JobAction> {
    let about = "What the job does.";
    let allowed = actions.describe();
    let is_known = |written: &String| actions.parse(written).is_ok();
    let written = if let Some(default) = default {
        section.read_where("action", default.to_string(), &allowed, about, is_known)
    } else {
        let example = actions.list_names().swap_remove(0);
        section.require_where("action", example, &allowed, about, is_known)?
    };
    actions.parse(&written).ok()
}

choice!(MissedRuns { "skip" => Self::Skip, "once" => Self::Once, "all" => Self::All });

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::schedule::model::tests::actions;
    use kernel::config::{Reader, Sources};

    fn read(file: &str) -> Result<ScheduleSettings, Vec<String>> {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::write(dir.path().join("teamroom.toml"), file).expect("written");
        let mut reader = Reader::new(Sources { dir: dir.path().into(), ..Sources::default() });
        let settings = ScheduleSettings::read(&mut reader.root(), &actions());
        reader.finish().map(|()| settings).map_err(|errors| errors.0.iter().map(ToString::to_string).collect())
    }

    fn jobs(file: &str) -> Vec<Job> {
        read(file).unwrap_or_else(|errors| panic!("{errors:#?}")).jobs
    }

    fn refused(file: &str) -> String {
        read(file).expect_err("a refusal").join("\n")
    }

    #[test]
    fn the_built_in_jobs_are_in_the_zone_of_the_team() {
        let jobs = jobs("zone = \"Europe/Berlin\"\n");
        let named: Vec<_> = jobs.iter().map(|job| (job.name.as_str(), job.timetable.key())).collect();
        let expected = [("report", "0 9 * * 1-5 Europe/Berlin"), ("tidy-up", "*/5 * * * * Europe/Berlin")];
        assert_eq!(named, expected.map(|(name, key)| (name, key.to_owned())));
    }

    #[test]
    fn the_default_file_has_an_example_even_where_no_feature_brings_a_job() {
        for (actions, expected) in [(actions(), 2), (Actions::of([]), 3)] {
            let mut reader = Reader::describing([]);
            ScheduleSettings::read(&mut reader.root(), &actions);
            let file = reader.render_file();
            let uncommented = file.lines().map(|line| line.strip_prefix('#').filter(|key| !key.starts_with(' ')).unwrap_or(line));
            assert_eq!(jobs(&uncommented.collect::<Vec<_>>().join("\n")).len(), expected, "{file}");
        }
    }

    #[test]
    fn a_section_changes_a_built_in_job_and_another_adds_one() {
        let jobs = jobs(
            "[schedules.report]\ncron = \"30 8 * * *\"\nzone = \"Asia/Kathmandu\"\nmissed = \"skip\"\n\
             [schedules.tidy-up]\nenabled = false\n\
             [schedules.retro]\ncron = \"0 16 * * 5\"\naction = \"post: Time for the retro.\"\nchannel = \"#general\"\ndeadline = \"30m\"\n",
        );
        assert_eq!(jobs.len(), 3);
        let (report, tidy_up, retro) = (&jobs[0], &jobs[1], &jobs[2]);
        assert_eq!(report.timetable.key(), "30 8 * * * Asia/Kathmandu");
        assert_eq!((report.missed, report.origin, report.channel.as_deref()), (MissedRuns::Skip, JobOrigin::BuiltIn, Some("daily")));
        assert!(!tidy_up.enabled);
        assert_eq!(retro.action, JobAction::post("Time for the retro."));
        assert_eq!((retro.origin, retro.channel.as_deref()), (JobOrigin::File, Some("general")));
        assert_eq!((retro.missed, retro.deadline), (MissedRuns::Once, Duration::from_mins(30)));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place_and_what_is_allowed() {
        let bad = [
            ("zone = \"Berlin\"", "teamroom.toml:1: zone: \"Berlin\" is not allowed. Give an IANA time zone"),
            ("[schedules.report]\nzone = 1", "teamroom.toml:2: schedules.report.zone: 1 is not allowed. Give an IANA time zone"),
            ("[schedules.report]\ncron = \"61 * * * *\"", "teamroom.toml:2: schedules.report.cron: \"61 * * * *\" is no cron expression"),
            (
                "[schedules.report]\ncron = \"0 9 30 2 *\"",
                "teamroom.toml:2: schedules.report.cron: \"0 9 30 2 *\" names a date that never comes",
            ),
            ("[schedules.report]\ncron = \"* * * * * *\"", "teamroom.toml:2: schedules.report.cron: a report cannot come more often"),
            ("[schedules.retro]\naction = \"tidy-up\"", "teamroom.toml:1: schedules.retro.cron: is missing. Give a cron expression"),
            ("[schedules.retro]\ncron = \"0 9 * * *\"", "teamroom.toml:1: schedules.retro.action: is missing. Give \"report\""),
            (
                "[schedules.retro]\ncron = \"0 9 * * *\"\naction = \"dance\"",
                "teamroom.toml:3: schedules.retro.action: \"dance\" is not allowed. Give \"report\", \"tidy-up\", or \"post: \"",
            ),
            (
                "[schedules.retro]\ncron = \"0 9 * * *\"\naction = \"post: hi\"",
                "teamroom.toml:1: schedules.retro.channel: a post needs a channel",
            ),
            ("[schedules.report]\nmissed = \"twice\"", "Give \"skip\", \"once\", \"all\""),
            ("[schedules.report]\ndeadline = \"1h30m\"", "schedules.report.deadline: \"1h30m\" is not allowed. Give a time"),
            ("[schedules.Weekly]\ncron = \"0 9 * * *\"", "\"Weekly\" is no name for a job; give up to 40 lower-case letters"),
            ("[schedules.report]\nwhen = \"9\"", "schedules.report.when: unknown key"),
        ];
        for (file, expected) in bad {
            let told = refused(file);
            assert!(told.contains(expected), "{file}\n{told}");
        }
    }
}
