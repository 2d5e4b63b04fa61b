//! Personas for roles that nobody on the team fills (WORK-27): drafted with the plan, added by an operator's word or by policy. The team restarts with the
//! new file, and the new persona takes over its steps.

use crate::features::backlog::model::short_id;
use crate::features::backlog::service::Asker;
use crate::features::mission::changing::{apply, standing_of};
use crate::features::mission::follow::Follower;
use crate::features::mission::model::Mission;
use crate::features::mission::model::new_persona::{NewPersona, NewPersonaStatus, PersonaDraft, read_persona};
use crate::features::mission::model::plan::{Change, ChangeDraft, Changed, EditDraft, MOST_CHANGES, MissingRole, Plan, Standing, change};
use crate::features::mission::planning::{Answer, Asked, ROUNDS};
use crate::features::mission::prompts::Frame;
use crate::features::mission::service::{MissionError, Missions, refused};
use crate::features::mission::settings::NewPersonas;
use crate::features::mission::store::{MissionChange, change_mission};
use crate::features::mission::{prompts, render};
use kernel::ids::WorkItemId;
use kernel::jobs::{JobContext, JobError};
use kernel::persona::Tier;
use kernel::persona::add::add;

const TOKENS: u32 = 3000;

impl Follower {
    /// Drafts a persona for each missing role. The plan does not wait for one that cannot be drafted.
    pub(super) async fn draft_personas(&self, mission: &Mission, plan: &mut Plan, job: &JobContext) -> Result<(), JobError> {
        // Everybody may read the persona's file, which would reveal what a private mission is about.
        if self.settings.new_personas == NewPersonas::Never || mission.private_to.is_some() {
            return Ok(());
        }
        for number in 0..plan.missing.len() {
            match self.draft_persona(mission, plan, number, job).await? {
                Ok(persona) => plan.missing[number].persona = Some(persona),
                Err(faults) => plan.warnings.push(render::not_drafted(&plan.missing[number], &faults)),
            }
        }
        Ok(())
    }

    async fn draft_persona(
        &self,
        mission: &Mission,
        plan: &Plan,
        number: usize,
        job: &JobContext,
    ) -> Result<Result<NewPersona, Vec<String>>, JobError> {
        let role = &plan.missing[number];
        let others: Vec<&str> = plan.missing.iter().filter_map(|role| role.persona.as_ref()).map(|persona| persona.name.as_str()).collect();
        let status = match self.settings.new_personas {
            NewPersonas::AtOnce => NewPersonaStatus::Approved,
            NewPersonas::Ask | NewPersonas::Never => NewPersonaStatus::Proposed,
        };
        let mut faults = Vec::new();
        for round in 1..=ROUNDS {
            let prompt = |frame: Frame<'_>| prompts::persona(frame, plan, role, &faults);
            let name = format!("persona-{number}-{round}");
            let drafted: Answer<PersonaDraft> = self.ask(mission, job, Asked::optional(&name, Tier::T2, TOKENS), prompt).await?;
            let checked = match &drafted.value {
                // Secrets are removed here, because the file does not pass through the outbox.
                Some(draft) => {
                    let draft = PersonaDraft { prompt: self.agents.runner.redactor.redact(&draft.prompt).0.into(), ..draft.clone() };
                    read_persona(&draft, &role.role, &others, &self.roster)
                }
                None => Err(vec![drafted.fault.unwrap_or_else(|| "the answer was empty".to_owned())]),
            };
            match checked {
                Ok(persona) => return Ok(Ok(NewPersona { status, ..persona })),
                Err(found) => faults = found,
            }
        }
        Ok(Err(faults))
    }

    /// Takes the next step in adding a new persona. False: there is nothing to do.
    pub(super) async fn add_personas(&self, mission: &Mission, job: &JobContext) -> Result<bool, JobError> {
        let Some(plan) = &mission.plan else { return Ok(false) };
        for (number, role) in plan.missing.iter().enumerate() {
            let Some(persona) = &role.persona else { continue };
            // Somebody with the same name may have joined meanwhile.
            let is_there =
                self.roster.find(&persona.slug).is_some_and(|known| known.role == role.role || persona.status == NewPersonaStatus::Written);
            match persona.status {
                // People may put the file there themselves.
                NewPersonaStatus::Proposed | NewPersonaStatus::Approved | NewPersonaStatus::Written if is_there => {
                    self.hand_steps_over(mission, plan, number, job).await?;
                }
                NewPersonaStatus::Approved => self.write_file(mission, plan, number, persona, job).await?,
                _ => continue,
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// Writes the file, and says so. If that is not possible, people are asked again.
    async fn write_file(
        &self,
        mission: &Mission,
        plan: &Plan,
        number: usize,
        persona: &NewPersona,
        job: &JobContext,
    ) -> Result<(), JobError> {
        let (folder, slug, text) = (self.personas.clone(), persona.slug.clone(), persona.file.clone());
        let written = tokio::task::spawn_blocking(move || add(&folder, &slug, &text)).await;
        let written = written.map_err(|error| JobError::retry_later(error.to_string()))?;
        let (plan, message) = match written {
            Ok(added) => (
                with_status(plan, number, NewPersonaStatus::Written, persona.decided_by.clone()),
                render::persona_written(mission, persona, &added, &self.roster),
            ),
            Err(error) => {
                tracing::warn!(mission = %mission.id, persona = %persona.slug, %error, "a new persona cannot be added");
                (
                    with_status(plan, number, NewPersonaStatus::Proposed, None),
                    render::persona_not_written(mission, number, persona, &error, &self.roster),
                )
            }
        };
        let change = MissionChange { plan: Some(&plan), why: mission.why.as_deref(), outbox: &[message], ..MissionChange::default() };
        self.change(mission, &change, job).await
    }

    /// One transaction: the new persona owns its steps that have not begun, and people are told.
    async fn hand_steps_over(&self, mission: &Mission, plan: &Plan, number: usize, job: &JobContext) -> Result<(), JobError> {
        let role = &plan.missing[number];
        let Some(persona) = &role.persona else { return Ok(()) };
        let items = mission.current(self.store.list_parts(&mission.id).await?);
        let standing = |item: &WorkItemId| standing_of(&items, item);
        let by = &self.roster.coordinator().name;
        let people = self.people.directory().await?;
        let setting = self.setting(mission, &people, job.now());
        let of = Change { plan, setting, standing: &standing, by, said: None, by_colleague: false };
        let changed = if mission.status.is_over() { None } else { reassign(&of, role, persona) };
        let taken: &[String] = changed.as_ref().and_then(|changed| changed.plan.changes.last()).map_or(&[], |change| &change.edited);
        let message = render::persona_joined(mission, role, persona, taken, &self.roster);
        let joined = |plan: &Plan| with_status(plan, number, NewPersonaStatus::Joined, persona.decided_by.clone());
        let mut transaction = job.begin_step().await?;
        let is_stored = if let Some(changed) = &changed {
            let changed = Changed { plan: joined(&changed.plan), ..changed.clone() };
            apply(&mut transaction, mission, &changed, &items, by, &[message], job.now()).await?
        } else {
            let plan = joined(plan);
            let change = MissionChange { plan: Some(&plan), why: mission.why.as_deref(), outbox: &[message], ..MissionChange::default() };
            change_mission(&mut transaction, mission, &change, job.now()).await?
        };
        if !is_stored {
            return Err(JobError::Sleep(job.now()));
        }
        Ok(transaction.commit().await?)
    }
}

/// The change that gives a new persona its steps, with the limits of any other change. None if there is nothing to take over.
fn reassign(of: &Change<'_>, role: &MissingRole, persona: &NewPersona) -> Option<Changed> {
    let is_free = |step: &&WorkItemId| {
        let owner = of.plan.find_step(step).map(|step| &step.owner);
        owner.is_some_and(|owner| *owner != persona.slug) && (of.standing)(step) == Standing::Open
    };
    let take_over =
        |step: &WorkItemId| EditDraft { step: short_id(step).to_owned(), owner: Some(persona.slug.to_string()), ..EditDraft::default() };
    let draft = ChangeDraft {
        why: format!("{} joined the team as {}.", persona.name, role.role),
        edit: role.steps.iter().filter(is_free).map(take_over).collect(),
        ..ChangeDraft::default()
    };
    if of.plan.changes.len() >= MOST_CHANGES {
        return None;
    }
    change(of, &draft).unwrap_or_else(|faults| {
        tracing::warn!(persona = %persona.slug, faults = faults.join("; "), "a new persona cannot take over its steps");
        None
    })
}

fn with_status(plan: &Plan, number: usize, status: NewPersonaStatus, decided_by: Option<String>) -> Plan {
    let mut plan = plan.clone();
    if let Some(persona) = plan.missing.get_mut(number).and_then(|role| role.persona.as_mut()) {
        (persona.status, persona.decided_by) = (status, decided_by);
    }
    plan
}

impl Missions {
    /// Accepts or declines a drafted persona, once. Returns the outcome, for people.
    pub(super) async fn decide_on_persona(
        &self,
        mission: &Mission,
        number: usize,
        adds: bool,
        asker: &Asker,
    ) -> Result<String, MissionError> {
        if !asker.operates() {
            return Err(refused("Only operators decide who is on the team."));
        }
        let drafted = mission.plan.as_ref().and_then(|plan| Some((plan, plan.missing.get(number)?.persona.as_ref()?)));
        let Some((plan, persona)) = drafted else { return Err(refused("This question is not asked any more.")) };
        if persona.status != NewPersonaStatus::Proposed {
            return Err(refused(render::persona_decided(persona)));
        }
        let status = if adds { NewPersonaStatus::Approved } else { NewPersonaStatus::Declined };
        let plan = with_status(plan, number, status, Some(asker.name().to_owned()));
        let change = MissionChange { plan: Some(&plan), why: mission.why.as_deref(), ..MissionChange::default() };
        self.change(mission, &change, asker).await?;
        Ok(render::persona_answered(persona, adds, asker.name()))
    }
}
