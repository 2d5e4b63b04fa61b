use super::render::{render_time, render_when};
use super::{Schedule, ScheduleError, describe_firing, render_jobs};
use crate::chat::command::{CommandCall, CommandReply, ScheduleCommand};
use crate::domain::schedule::{FiringState, Job, JobDraft};

/// Carries `/schedule` out. Who may is decided before.
#[derive(Clone)]
pub struct ScheduleDesk {
    schedule: Schedule,
}

impl ScheduleDesk {
    pub fn new(schedule: Schedule) -> Self {
        Self { schedule }
    }

    /// # Errors
    /// The store does not answer. Everything else is a reply.
    pub async fn carry(&self, call: &CommandCall, command: &ScheduleCommand) -> anyhow::Result<CommandReply> {
        match self.answer(call, command).await {
            Ok(text) if *command == ScheduleCommand::List => Ok(CommandReply::private(text)),
            Ok(text) => Ok(CommandReply::public(text)),
            Err(ScheduleError::Store(error)) => Err(error.into()),
            Err(error) => Ok(CommandReply::refused(format!("That did not work: {error}."))),
        }
    }

    /// Names of jobs that begin with `prefix`. None where the store does not answer: what a person types must not wait for it.
    pub async fn complete(&self, prefix: &str) -> Vec<String> {
        let prefix = prefix.trim().to_lowercase();
        let jobs = self.schedule.list_jobs().await.unwrap_or_default();
        jobs.into_iter().map(|job| job.name.to_string()).filter(|name| name.starts_with(&prefix)).collect()
    }

    async fn answer(&self, call: &CommandCall, command: &ScheduleCommand) -> Result<String, ScheduleError> {
        let by = &call.caller.name;
        Ok(match command {
            ScheduleCommand::List => render_jobs(&self.schedule.list().await?),
            ScheduleCommand::Add(draft) => {
                let here = || call.channel.id.to_string();
                let draft = JobDraft { channel: Some(draft.channel.clone().unwrap_or_else(here)), ..draft.clone() };
                let job = self.schedule.add(draft, by).await?;
                format!("{by} added the job {}: {}. {}", job.name, render_when(&job.timetable), self.tell_next(&job))
            }
            ScheduleCommand::Pause { name } => format!("{by} paused the job {}.", self.schedule.pause(name, by).await?),
            ScheduleCommand::Resume { name } => {
                let job = self.schedule.resume(name).await?;
                format!("{by} resumed the job {}. {}", job.name, self.tell_next(&job))
            }
            ScheduleCommand::Remove { name } => format!("{by} removed the job {}.", self.schedule.remove(name).await?),
            ScheduleCommand::Run { name } => {
                let firing = self.schedule.run(name).await?;
                match firing.state {
                    FiringState::Refused => format!("The job {} was run: {}.", firing.job, describe_firing(&firing)),
                    _ => format!("{by} runs the job {}.", firing.job),
                }
            }
        })
    }

    fn tell_next(&self, job: &Job) -> String {
        let next = job.timetable.next_after(self.schedule.parts().clock.now());
        next.map_or_else(String::new, |next| format!("Next: {}.", render_time(next, &job.timetable)))
    }
}
