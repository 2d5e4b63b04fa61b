use chrono::{DateTime, SubsecRound, Utc};
use futures_util::future;

use crate::features::schedule::Schedule;
use crate::features::schedule::model::{Firing, FiringState, InvalidJob, Job, JobDraft, JobName, JobOrigin};
use crate::features::schedule::store::Fired;
use kernel::db::StoreError;

/// A job and when it runs.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedJob {
    pub job: Job,
    /// Who paused it.
    pub paused_by: Option<String>,
    /// None while it is paused or disabled.
    pub next: Option<DateTime<Utc>>,
}

/// A job and its state.
#[derive(Debug, Clone, PartialEq)]
pub struct JobStatus {
    pub job: Job,
    /// Who paused it.
    pub paused_by: Option<String>,
    /// None while it is paused or disabled.
    pub next: Option<DateTime<Utc>>,
    /// The latest instant that has a row.
    pub last: Option<Firing>,
}

/// Why a job could not be changed. Shown to the person.
#[derive(Debug, thiserror::Error)]
pub enum ScheduleError {
    #[error("there is no job {name}; there are {known}")]
    Unknown { name: String, known: String },
    #[error("there is a job {0} already; give this one another name, or remove that one first")]
    Taken(JobName),
    #[error("{0} is built in and cannot be removed; pause it instead")]
    BuiltIn(JobName),
    #[error("{0} stands in teamroom.toml; remove its section there, or pause it")]
    InFile(JobName),
    #[error("{0} is paused already")]
    Paused(JobName),
    #[error("{0} is not paused")]
    NotPaused(JobName),
    #[error("{0} is turned off in teamroom.toml; set `enabled` there")]
    TurnedOff(JobName),
    #[error("{0} was run this very second")]
    RunBefore(JobName),
    #[error("nothing was ever heard in a channel {0}; give its id, or do this in the chat")]
    UnknownChannel(String),
    #[error(transparent)]
    Invalid(#[from] InvalidJob),
    #[error(transparent)]
    Store(#[from] StoreError),
}

type Result<T, E = ScheduleError> = std::result::Result<T, E>;

impl Schedule {
    /// All jobs: built-in, from the file, and from people. If the file and a person use the same name, the file wins.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn list_jobs(&self) -> Result<Vec<Job>, StoreError> {
        let mut jobs = self.deps().settings.jobs.clone();
        let added = self.deps().store.list_jobs().await?;
        let free: Vec<_> = added.into_iter().filter(|job| !jobs.iter().any(|known| known.name == job.name)).collect();
        jobs.extend(free);
        Ok(jobs)
    }

    /// # Errors
    /// No job has this name.
    pub async fn get_job(&self, name: &str) -> Result<Job> {
        let jobs = self.list_jobs().await?;
        if let Some(job) = jobs.iter().find(|job| job.name.as_str() == name.trim()) {
            return Ok(job.clone());
        }
        let known: Vec<_> = jobs.iter().map(|job| job.name.as_str()).collect();
        Err(ScheduleError::Unknown { name: name.trim().to_owned(), known: known.join(", ") })
    }

    /// All jobs with the times of their next runs.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn list_planned(&self) -> Result<Vec<PlannedJob>, StoreError> {
        let now = self.deps().clock.now();
        let (mut paused, jobs) = future::try_join(self.deps().store.list_paused_jobs(), self.list_jobs()).await?;
        let planned = |job: Job| {
            let paused_by = paused.remove(&job.name).map(|pause| pause.by);
            let next = (job.enabled && paused_by.is_none()).then(|| job.timetable.next_after(now)).flatten();
            PlannedJob { job, paused_by, next }
        };
        Ok(jobs.into_iter().map(planned).collect())
    }

    /// All jobs with their state.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn list(&self) -> Result<Vec<JobStatus>, StoreError> {
        let mut statuses = Vec::new();
        for PlannedJob { job, paused_by, next } in self.list_planned().await? {
            let last = self.deps().store.list_firings(&job.name, 1).await?.pop();
            statuses.push(JobStatus { job, paused_by, next, last });
        }
        Ok(statuses)
    }

    /// # Errors
    /// The draft is invalid, or its name is taken.
    pub async fn add(&self, draft: JobDraft, by: &str) -> Result<Job> {
        let job = draft.into_job(self.deps().settings.zone, &self.inner.kinds)?;
        let declared = self.deps().settings.jobs.iter().any(|known| known.name == job.name);
        if declared || !self.deps().store.add_job(&job, by, self.deps().clock.now()).await? {
            return Err(ScheduleError::Taken(job.name));
        }
        self.inner.changed.notify_one();
        Ok(job)
    }

    /// # Errors
    /// The job was not added by a command.
    pub async fn remove(&self, name: &str) -> Result<JobName> {
        // Asks the database first, because a section of the file may hide an added job.
        let parsed = name.trim().parse::<JobName>();
        if let Ok(name) = &parsed
            && self.deps().store.remove_job(name).await?
        {
            return Ok(name.clone());
        }
        let job = self.get_job(name).await?;
        Err(if job.origin == JobOrigin::BuiltIn { ScheduleError::BuiltIn(job.name) } else { ScheduleError::InFile(job.name) })
    }

    /// # Errors
    /// The job is already paused, or no job has this name.
    pub async fn pause(&self, name: &str, by: &str) -> Result<JobName> {
        let job = self.get_job(name).await?;
        if !self.deps().store.pause_job(&job.name, by, self.deps().clock.now()).await? {
            return Err(ScheduleError::Paused(job.name));
        }
        Ok(job.name)
    }

    /// # Errors
    /// The job is not paused, or no job has this name.
    pub async fn resume(&self, name: &str) -> Result<Job> {
        let job = self.get_job(name).await?;
        if !self.deps().store.resume_job(&job, self.deps().clock.now()).await? {
            return Err(if job.enabled { ScheduleError::NotPaused(job.name) } else { ScheduleError::TurnedOff(job.name) });
        }
        self.inner.changed.notify_one();
        Ok(job)
    }

    /// Runs a job now, paused or not. The current second becomes its instant.
    ///
    /// # Errors
    /// No job has this name, or it was already run this second.
    pub async fn run(&self, name: &str) -> Result<Firing> {
        let job = self.get_job(name).await?;
        let now = self.deps().clock.now();
        let instant = now.trunc_subsecs(0);
        let (state, note) = match self.fire(&job, instant, 0, now).await? {
            Some(Fired::Now) => (FiringState::Open, None),
            Some(Fired::Refused(reason)) => (FiringState::Refused, Some(reason)),
            Some(Fired::Before) => return Err(ScheduleError::RunBefore(job.name)),
            None => return Err(ScheduleError::UnknownChannel(job.channel.unwrap_or_default())),
        };
        Ok(Firing { job: job.name, instant, action: job.action, state, note, passed_over: 0, at: now })
    }
}
