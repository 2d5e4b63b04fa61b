//! `/schedule` and `teamroom schedule`.

use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Value, json};

use crate::features::schedule::model::{Firing, FiringState, Job, JobDraft, MissedRuns};
use crate::features::schedule::render::{render_time, render_when};
use crate::features::schedule::{JobStatus, Schedule, ScheduleError, describe_firing, render_jobs};
use kernel::commands::{
    ArgumentSpec, Choice, CommandCall, CommandReply, CommandSpec, Refused, Registry, Services, Suggestion, Surface, Topic,
};

const MISSED: &[Choice] =
    &[Choice::new("skip", "skip them"), Choice::new("once", "make up for the latest"), Choice::new("all", "make up for all")];

/// The longest deadline of a job: 30 days in minutes.
const LONGEST: i64 = 43_200;

pub fn register(registry: &mut Registry, services: &Services) {
    let schedule = services.late::<Schedule>();
    let job = || ArgumentSpec::reference("name", "job", "Which job").required();
    registry
        .group(CommandSpec::new("schedule", "Jobs that run by the clock.").listed_under(Topic::Work), &schedule)
        .command(CommandSpec::new("list", "All jobs: when they run next and how they went last."), |schedule, _| Box::pin(list(schedule)))
        .command(
            CommandSpec::new("add", "Add a job.")
                .example("news \"0 9 * * 1-5\" \"post: Good morning\" --channel general")
                .public()
                .operators_only()
                .argument(ArgumentSpec::text("name", 40, "Its name: lower-case letters, digits, hyphens").required())
                .argument(ArgumentSpec::text("cron", 100, "When: minute hour day month weekday, such as \"0 9 * * 1-5\"").required())
                .argument(ArgumentSpec::text("action", 2000, "What it does, such as standup, or \"post: some text\"").required())
                .argument(ArgumentSpec::text("zone", 50, "The time zone, such as Europe/Berlin; the team's by default"))
                .argument(
                    ArgumentSpec::name_or_id("channel", 100, "The channel by name or id; this one by default").completed_by("channel"),
                )
                .argument(ArgumentSpec::choice("missed", MISSED, "What to do about missed runs; by default the latest is made up for"))
                .argument(ArgumentSpec::integer("deadline", (0, LONGEST), "Minutes after which a missed run is dropped; 120 by default")),
            |schedule, call| Box::pin(add(schedule, call)),
        )
        .command(CommandSpec::new("pause", "Pause a job.").example("news").public().operators_only().argument(job()), |schedule, call| {
            Box::pin(pause(schedule, call))
        })
        .command(
            CommandSpec::new("resume", "Resume a paused job.").example("news").public().operators_only().argument(job()),
            |schedule, call| Box::pin(resume(schedule, call)),
        )
        .command(
            CommandSpec::new("remove", "Remove a job that was added by command.")
                .example("news")
                .discards()
                .public()
                .operators_only()
                .argument(job()),
            |schedule, call| Box::pin(remove(schedule, call)),
        )
        .command(
            CommandSpec::new("run", "Run a job now, whatever its times are.").example("news").public().operators_only().argument(job()),
            |schedule, call| Box::pin(run(schedule, call)),
        )
        .command(
            CommandSpec::new("next", "When a job runs next.")
                .example("news --count 2")
                .argument(job())
                .argument(ArgumentSpec::integer("count", (1, 1000), "How many times to show; 5 by default").only_in(Surface::CommandLine)),
            |schedule, call| Box::pin(next(schedule, call)),
        );
    registry.completion("job", &schedule, |schedule, typed| Box::pin(complete(schedule, typed)));
}

async fn list(schedule: &Schedule) -> anyhow::Result<CommandReply> {
    let jobs = schedule.list().await?;
    Ok(CommandReply::private(render_jobs(&jobs)).with_data(jobs.iter().map(describe_job).collect()))
}

async fn add(schedule: &Schedule, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let text = |name: &str| call.arguments.find_text(name).map(str::to_owned);
    let draft = JobDraft {
        name: call.arguments.get_text("name")?.to_owned(),
        cron: call.arguments.get_text("cron")?.to_owned(),
        action: call.arguments.get_text("action")?.to_owned(),
        zone: text("zone"),
        channel: text("channel").or_else(|| call.channel.as_ref().map(|here| here.id.to_string())),
        missed: call.arguments.find_text("missed").map(|missed| match missed {
            "skip" => MissedRuns::Skip,
            "all" => MissedRuns::All,
            _ => MissedRuns::Once,
        }),
        deadline: call.arguments.find_u32("deadline").map(|minutes| Duration::from_secs(u64::from(minutes) * 60)),
    };
    let job = schedule.add(draft, call.caller.name()).await.map_err(explain)?;
    let (by, when) = (call.caller.subject(), render_when(&job.timetable));
    let text = format!("{by} added the job {}: {when}. {}", job.name, tell_next(schedule, &job));
    Ok(CommandReply::public(text).with_data(json!({ "added": job.name.as_str() })))
}

async fn pause(schedule: &Schedule, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let name = schedule.pause(call.arguments.get_text("name")?, call.caller.name()).await.map_err(explain)?;
    let text = format!("{} paused the job {name}.", call.caller.subject());
    Ok(CommandReply::public(text).with_data(json!({ "paused": name.as_str() })))
}

async fn resume(schedule: &Schedule, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let job = schedule.resume(call.arguments.get_text("name")?).await.map_err(explain)?;
    let text = format!("{} resumed the job {}. {}", call.caller.subject(), job.name, tell_next(schedule, &job));
    Ok(CommandReply::public(text).with_data(json!({ "resumed": job.name.as_str() })))
}

async fn remove(schedule: &Schedule, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let name = schedule.remove(call.arguments.get_text("name")?).await.map_err(explain)?;
    let text = format!("{} removed the job {name}.", call.caller.subject());
    Ok(CommandReply::public(text).with_data(json!({ "removed": name.as_str() })))
}

async fn run(schedule: &Schedule, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let firing = schedule.run(call.arguments.get_text("name")?).await.map_err(explain)?;
    let by = call.caller.subject();
    let text = match firing.state {
        FiringState::Refused => format!("{by} started the job {}, but it did not run: {}.", firing.job, describe_firing(&firing)),
        // Another process sees the row at its next poll.
        _ if call.caller.is_command_line() => {
            format!("{by} started the job {}. A running team takes it up within half a minute.", firing.job)
        }
        _ => format!("{by} started the job {}.", firing.job),
    };
    Ok(CommandReply::public(text).with_data(describe_run(&firing)))
}

async fn next(schedule: &Schedule, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let job = schedule.get_job(call.arguments.get_text("name")?).await.map_err(explain)?;
    let times = list_next(&job, schedule.deps().clock.now(), call.arguments.find_u32("count").unwrap_or(5));
    let local: Vec<_> = times.iter().map(|at| at.with_timezone(&job.timetable.zone())).collect();
    let lines: Vec<_> = local.iter().map(|at| at.format("%a %-d %b %Y, %H:%M %Z").to_string()).collect();
    let data = local.iter().map(|at| json!(at.to_rfc3339_opts(SecondsFormat::Secs, true)));
    Ok(CommandReply::private(lines.join("\n")).with_data(data.collect()))
}

/// Names of jobs that begin with `typed`. None if the database does not answer: completion must not wait for it.
async fn complete(schedule: &Schedule, typed: &str) -> Vec<Suggestion> {
    let typed = typed.trim().to_lowercase();
    let jobs = schedule.list_jobs().await.unwrap_or_default();
    jobs.into_iter().map(|job| job.name.to_string()).filter(|name| name.starts_with(&typed)).map(Suggestion::name).collect()
}

fn list_next(job: &Job, now: DateTime<Utc>, count: u32) -> Vec<DateTime<Utc>> {
    let next = |after: &DateTime<Utc>| job.timetable.next_after(*after);
    std::iter::successors(next(&now), next).take(usize::try_from(count).unwrap_or(usize::MAX)).collect()
}

fn tell_next(schedule: &Schedule, job: &Job) -> String {
    let next = job.timetable.next_after(schedule.deps().clock.now());
    next.map_or_else(String::new, |next| format!("Next: {}.", render_time(next, &job.timetable)))
}

/// Explains an error of the person. A database error stays an internal error.
fn explain(error: ScheduleError) -> anyhow::Error {
    match error {
        ScheduleError::Store(error) => error.into(),
        error => Refused::new(error.to_string()).into(),
    }
}

fn describe_job(status: &JobStatus) -> Value {
    let job = &status.job;
    json!({
        "name": job.name.as_str(), "action": job.action.to_string(), "cron": job.timetable.cron(), "zone": job.timetable.zone().name(),
        "channel": job.channel, "missed": job.missed, "deadline_s": job.deadline.as_secs(), "enabled": job.enabled,
        "origin": job.origin.as_str(), "paused_by": status.paused_by, "next": status.next, "last": status.last.as_ref().map(describe_run),
    })
}

fn describe_run(firing: &Firing) -> Value {
    json!({
        "job": firing.job.as_str(), "instant": firing.instant, "at": firing.at, "state": firing.state.as_str(), "note": firing.note,
        "passed_over": firing.passed_over,
    })
}
