use std::sync::Arc;

use anyhow::Context;
use async_trait::async_trait;
use clap::ArgMatches;

use crate::config::{PLATFORM, RetentionSettings};
use crate::features::chat::listener::Listener;
use crate::features::meeting::agenda::Agenda;
use crate::features::meeting::model::{Meeting, MeetingKind, MeetingResult};
use crate::features::schedule::action::Action;
use crate::features::schedule::model::{ActionKind, JobAction};
use crate::features::standup::checkins::CheckInListener;
use crate::features::standup::commands::{self, StandupCommands, show_report};
use crate::features::standup::playing::StandupAudio;
use crate::features::standup::settings::StandupSettings;
use crate::features::standup::{Deps, STANDUP, Standup, StandupTerms, jobs, question, render, store, terminal};
use crate::features::voice::{Playable, Plays};
use crate::features::{Feature, FeatureDeps, FeatureSection, TerminalCommand};
use crate::store::Store;
use kernel::agent::PageEntry;
use kernel::commands::{CommandReply, Registry, Services};
use kernel::config::Section;
use kernel::db::StoreError;
use kernel::finding::Finding;
use kernel::ids::{PersonaSlug, UserId, complete};
use kernel::jobs::RetentionRule;
use kernel::people::Erasure;
use kernel::persona::roster::Roster;
use kernel::tools::workspace::Workspaces;

pub struct StandupFeature;

#[async_trait]
impl Feature for StandupFeature {
    fn read_settings(&self, root: &mut Section<'_>) -> Option<Arc<dyn FeatureSection>> {
        let mut settings = StandupSettings::read(&mut root.section("standup"));
        for (_, id) in &mut settings.humans {
            *id = UserId::new(complete(PLATFORM, id.as_str()));
        }
        Some(Arc::new(settings))
    }

    async fn forget_person(&self, store: &Store, erasure: &Erasure) -> Result<(), StoreError> {
        store.forget_checkins_and_ratings_of(&erasure.person).await
    }

    fn register(&self, registry: &mut Registry, services: &Services) {
        commands::register(registry, services);
    }

    fn provide(&self, deps: &FeatureDeps<'_>, services: &Services) {
        let FeatureDeps { config, roster, people, store, running, clock, .. } = deps;
        let (settings, terms) = (config.features.get::<StandupSettings>(), terms(deps));
        let scheduled = config.schedules.jobs.iter().find(|job| job.action == JobAction::named(STANDUP.as_str()));
        services.provide(Arc::new(StandupCommands {
            terms: terms.clone(),
            scheduled_in: scheduled.and_then(|job| job.channel.clone()),
            store: store.clone(),
            roster: roster.clone(),
            clock: clock.clone(),
        }));
        let Some(running) = running else { return };
        let humans = if running.hears_people { settings.humans } else { Vec::new() };
        services.provide(Arc::new(Standup::new(Deps {
            roster: roster.clone(),
            standup: StandupSettings { humans, ..settings },
            terms,
            people: people.clone(),
            reports: config.data.join("reports"),
            store: store.clone(),
            platform: running.platform.clone(),
            plays: Plays::of(deps),
            agents: running.agents.clone(),
            clock: clock.clone(),
        })));
    }

    async fn recover(&self, services: &Services) -> anyhow::Result<()> {
        services.late::<Standup>().get()?.write_missing_file().await;
        Ok(())
    }

    /// Takes the answers to check-ins, and tells personas when the standups are.
    fn listeners(&self, services: &Services) -> Vec<Arc<dyn Listener>> {
        vec![Arc::new(CheckInListener { standups: services.late(), schedule: services.late() })]
    }

    fn list_retention(&self, settings: &RetentionSettings, _: &Workspaces) -> Vec<RetentionRule> {
        vec![store::retention(settings.messages())]
    }

    fn action_kinds(&self) -> &'static [ActionKind] {
        &jobs::ACTIONS
    }

    fn actions(&self, deps: &FeatureDeps<'_>, services: &Services) -> Vec<Arc<dyn Action>> {
        jobs::actions(terms(deps), &deps.store, &services.late())
    }

    fn meeting_kind(&self) -> Option<MeetingKind> {
        Some(STANDUP)
    }

    fn agenda(&self, services: &Services) -> Option<Arc<dyn Agenda>> {
        services.late::<Standup>().get().ok().map(|standup| standup as Arc<dyn Agenda>)
    }

    async fn find_meeting_result(&self, meeting: &Meeting, store: &Store, roster: &Roster) -> Result<Option<MeetingResult>, StoreError> {
        if meeting.kind != STANDUP {
            return Ok(None);
        }
        let stored = store.find_report(&meeting.channel.id, meeting.day).await?;
        Ok(Some(render::render_result(meeting, stored.as_ref(), roster)))
    }

    fn playable(&self, services: &Services) -> Option<Arc<dyn Playable>> {
        Some(Arc::new(StandupAudio { standups: services.late() }))
    }

    async fn show_result(&self, meeting: &Meeting, services: &Services) -> anyhow::Result<CommandReply> {
        let standups = services.late::<StandupCommands>().get()?;
        let found = standups.store.find_report(&meeting.channel.id, meeting.day).await?;
        show_report(&found.context("the Day Report is not in the database")?.report)
    }

    fn extend_command_line(&self, command: clap::Command) -> clap::Command {
        command.mut_subcommand("report", terminal::extend_report)
    }

    fn find_terminal_command(&self, given: &ArgMatches) -> Option<TerminalCommand> {
        terminal::find(given)
    }
}

impl FeatureSection for StandupSettings {
    fn list_personas(&self) -> Vec<(PersonaSlug, &'static str)> {
        self.order.iter().map(|slug| (slug.clone(), "standup.order")).collect()
    }

    fn list_people(&self) -> Vec<(UserId, String)> {
        self.humans.iter().map(|(name, id)| (id.clone(), name.clone())).collect()
    }

    fn check(&self, page: &[PageEntry]) -> Vec<Finding> {
        let question = self.question.as_ref().filter(|question| !question.optional);
        question.map(|question| question::check(question, page)).into_iter().collect()
    }
}

/// The terms for calling standups.
fn terms(deps: &FeatureDeps<'_>) -> StandupTerms {
    let settings = deps.config.features.get::<StandupSettings>();
    StandupTerms {
        facilitator: deps.roster.coordinator().slug.clone(),
        zone: deps.config.schedules.zone,
        session: settings.session,
        budget: deps.config.budgets.meeting,
        checkin_lead: settings.checkin_lead,
    }
}
