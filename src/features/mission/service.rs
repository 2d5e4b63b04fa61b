//! What people do to missions, whether by a sentence, a command or a button.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::features::backlog::model::{WorkItem, WorkStatus};
use crate::features::backlog::service::Asker;
use crate::features::backlog::store::reopen_whole;
use crate::features::chat::rules::authorize::{Action, authorize};
use crate::features::chat::settings::ChatSettings;
use crate::features::mission::changing::Wish;
use crate::features::mission::model::directive::{Directive, PartKind};
use crate::features::mission::model::plan::Plan;
use crate::features::mission::model::{Asked, Mission, MissionStatus};
use crate::features::mission::render;
use crate::features::mission::settings::MissionSettings;
use crate::features::mission::store::{AddMission, MissionChange, change_mission};
use crate::store::Store;
use kernel::actor::Actor;
use kernel::agent::Agents;
use kernel::chat::medium::Medium;
use kernel::chat::message::{Channel, InboundMessage, Place};
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::chat::redact::Redactor;
use kernel::commands::Right;
use kernel::db::{Effect as _, StoreError};
use kernel::ids::{MessageId, PersonaSlug, UserId};
use kernel::llm::budget::Budgets;
use kernel::money::Money;
use kernel::persona::roster::Roster;
use kernel::text::one_line;
use kernel::time::SharedClock;

/// Missions that are looked through by words or for completion.
const KNOWN: u32 = 50;

/// The most characters of a request, and of a title that is taken from it.
pub(super) const REQUEST: usize = 4000;
const TITLE: usize = 80;

/// Maximum length of what is wrong with a delivery.
const WHY: usize = 1000;

pub(super) struct Deps {
    pub(super) store: Store,
    pub(super) roster: Arc<Roster>,
    pub(super) settings: MissionSettings,
    /// None in a process that only carries out commands.
    pub(super) agents: Option<Arc<Agents>>,
    pub(super) clock: SharedClock,
    pub(super) budgets: Budgets,
    /// Says who is an operator.
    pub(super) chat: ChatSettings,
}

pub(super) struct Missions {
    deps: Deps,
}

/// Why something was not done, in words for the person who asked.
#[derive(Debug, thiserror::Error)]
pub(super) enum MissionError {
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

type Result<T, E = MissionError> = std::result::Result<T, E>;

/// A request before it becomes a mission.
pub(super) struct Wanted<'a> {
    pub(super) request: &'a str,
    /// Read from the documents, or from the request if there are none.
    pub(super) directive: Directive,
    /// The names of the documents.
    pub(super) documents: Vec<String>,
    /// None: taken from the directive.
    pub(super) title: Option<String>,
    pub(super) by: Option<(UserId, String)>,
    pub(super) channel: &'a Channel,
    pub(super) message: Option<MessageId>,
}

/// A mission to be stored, with its first message.
pub(super) struct Drafted {
    /// Says what was understood. The mission's thread hangs on this message.
    pub(super) reply: OutboundMessage,
    pub(super) effect: AddMission,
}

impl Missions {
    pub(super) fn new(deps: Deps) -> Self {
        Self { deps }
    }

    pub(super) fn store(&self) -> &Store {
        &self.deps.store
    }

    pub(super) fn roster(&self) -> &Roster {
        &self.deps.roster
    }

    pub(super) fn settings(&self) -> &MissionSettings {
        &self.deps.settings
    }

    /// The agents, if a model is connected.
    pub(super) fn agents(&self) -> Option<&Arc<Agents>> {
        self.deps.agents.as_ref().filter(|agents| !agents.is_offline())
    }

    /// Whether this process has agents, and they have no model.
    pub(super) fn is_offline(&self) -> bool {
        self.deps.agents.as_ref().is_some_and(|agents| agents.is_offline())
    }

    /// Takes secrets out of pictures. None in a process that only carries out commands.
    pub(super) fn redactor(&self) -> Option<&Redactor> {
        self.deps.agents.as_ref().map(|agents| &agents.runner.redactor)
    }

    pub(super) fn budgets(&self) -> &Budgets {
        &self.deps.budgets
    }

    /// A person who says something in a channel.
    pub(super) fn asker_of(&self, message: &InboundMessage) -> Asker {
        let operates = authorize(Action::Operate, &message.author, &message.channel, &self.deps.chat).is_ok();
        Asker::Person {
            id: message.author.id.clone(),
            name: message.author.name.clone(),
            right: if operates { Right::Operator } else { Right::Anybody },
            channel: Some(message.channel.clone()),
        }
    }

    pub(super) fn clock(&self) -> &SharedClock {
        &self.deps.clock
    }

    fn now(&self) -> DateTime<Utc> {
        self.deps.clock.now()
    }

    /// Makes a mission of what somebody wants. Writes nothing.
    ///
    /// # Errors
    /// There is nothing to do, or no place for it.
    pub(super) fn draft(&self, wanted: Wanted<'_>, speaker: &PersonaSlug) -> Result<Drafted> {
        if wanted.channel.place == Place::Direct {
            return Err(refused("A mission needs a channel with room for the team. Please ask for it there."));
        }
        let directive = wanted.directive;
        if directive.parts.is_empty() {
            return Err(refused("What is to be done? Say it, or add a document."));
        }
        if wanted.request.chars().count() > REQUEST && !wanted.documents.is_empty() {
            return Err(refused(format!("The request is longer than {REQUEST} characters. Please put it into a document.")));
        }
        let title = wanted.title.filter(|title| !title.trim().is_empty()).unwrap_or_else(|| find_title(&directive, wanted.request));
        let mission = Mission::new(
            Asked {
                title: one_line(&title, TITLE),
                request: wanted.request.trim().to_owned(),
                directive,
                by: wanted.by,
                channel: wanted.channel,
                message: wanted.message.clone(),
            },
            self.now(),
        );
        let mut reply = OutboundMessage {
            reply_to: wanted.message,
            buttons: vec![render::cancel_button(&mission)],
            ..OutboundMessage::new(speaker, &mission.channel, OutboundKind::Notice, render::opening(&mission, &wanted.documents))
        };
        if let Some(opening) = &mission.opening {
            reply.id = opening.clone();
        }
        let reading =
            OutboundMessage { id: mission.message_id("reading"), ..render::say(&mission, &self.deps.roster, render::reading(&mission)) };
        Ok(Drafted { reply, effect: AddMission { mission: Box::new(mission), messages: vec![reading] } })
    }

    /// Stores a mission with its first message.
    pub(super) async fn start(&self, Drafted { reply, mut effect }: Drafted) -> Result<Mission> {
        effect.messages.insert(0, reply);
        self.deps.store.add_mission(&effect, self.now()).await?;
        Ok(*effect.mission)
    }

    /// Finds a mission by the end of its id, or by words of its title if only one has them.
    pub(super) async fn find(&self, which: &str, asker: &Asker) -> Result<Mission> {
        let which = which.trim().trim_start_matches('#').to_lowercase();
        let known: Vec<Mission> = self.list(asker).await?;
        if let Some(found) = known.iter().find(|mission| mission.short_id() == which || mission.id.as_str() == which) {
            return self.read(found).await;
        }
        let mut named = known.iter().filter(|mission| !which.is_empty() && mission.title.to_lowercase().contains(&which));
        match (named.next(), named.next()) {
            (Some(only), None) => self.read(only).await,
            (Some(_), Some(_)) => Err(refused(format!(
                "Several missions are called \"{}\". Name one by its id from `/mission list`.",
                Medium::Chat.line(&which)
            ))),
            _ => Err(refused(format!("There is no mission \"{}\". `/mission list` shows them.", Medium::Chat.line(&which)))),
        }
    }

    /// Reads the mission with its directive.
    async fn read(&self, listed: &Mission) -> Result<Mission> {
        self.deps.store.find_mission(&listed.id).await?.ok_or_else(|| refused(format!("{} is gone.", named(listed))))
    }

    /// The latest missions that the asker may be told about here, without their directives.
    pub(super) async fn list(&self, asker: &Asker) -> Result<Vec<Mission>> {
        let mut missions = self.deps.store.list_missions(KNOWN).await?;
        missions.retain(|mission| asker.scope().is_none_or(|scope| scope.hears(mission.private_to.as_ref())));
        Ok(missions)
    }

    pub(super) async fn items_of(&self, mission: &Mission) -> Result<Vec<WorkItem>, StoreError> {
        Ok(mission.current(self.deps.store.list_parts(&mission.id).await?))
    }

    /// The cost of planning and judging, and the total, which includes steps that were begun and then left out.
    pub(super) async fn cost_of(&self, mission: &Mission) -> Result<(Money, Money), StoreError> {
        let planning = self.deps.store.spent_on(&mission.id).await?;
        let parts = self.deps.store.list_parts(&mission.id).await?;
        Ok((planning, parts.iter().map(|item| item.cost).sum::<Money>() + planning))
    }

    /// Carries out a proposed plan.
    pub(super) async fn approve(&self, mission: &Mission, asker: &Asker) -> Result<()> {
        check_may_change(mission, asker)?;
        let (MissionStatus::Proposed, Some(plan)) = (mission.status, &mission.plan) else {
            return Err(refused(format!("{} does not wait for approval: it is {}.", named(mission), mission.status.as_str())));
        };
        let posted = self.deps.store.find_posted(&mission.message_id("reading")).await?;
        let place = posted.map_or_else(|| mission.channel.clone(), |posted| posted.channel);
        let items = mission.items(plan, &self.deps.roster.coordinator().slug, &place, self.now());
        self.change(mission, &MissionChange { status: Some(MissionStatus::Running), items: &items, ..MissionChange::default() }, asker)
            .await
    }

    /// Pauses a mission. Its job makes the steps wait.
    pub(super) async fn pause(&self, mission: &Mission, asker: &Asker) -> Result<()> {
        check_may_change(mission, asker)?;
        if mission.status != MissionStatus::Running {
            return Err(refused(format!("{} is not running: it is {}.", named(mission), mission.status.as_str())));
        }
        self.change(mission, &MissionChange { status: Some(MissionStatus::Paused), ..MissionChange::default() }, asker).await
    }

    /// Resumes a mission. Its job wakes the steps.
    pub(super) async fn resume(&self, mission: &Mission, asker: &Asker) -> Result<()> {
        check_may_change(mission, asker)?;
        if mission.status != MissionStatus::Paused {
            return Err(refused(format!("{} is not paused: it is {}.", named(mission), mission.status.as_str())));
        }
        self.change(mission, &MissionChange { status: Some(MissionStatus::Running), ..MissionChange::default() }, asker).await
    }

    /// Tries again: plans if there is no plan, or else restarts the lost steps, or those of a delivered mission that are not right. Returns the number
    /// of these steps; none for the plan.
    pub(super) async fn retry(&self, mission: &Mission, why: Option<&str>, asker: &Asker) -> Result<Option<usize>> {
        check_may_change(mission, asker)?;
        let now = self.now();
        let Some(plan) = mission.plan.as_ref().filter(|_| mission.status != MissionStatus::Proposed) else {
            if !mission.status.is_over() {
                return Err(refused(format!("{} is {}; there is nothing to try again.", named(mission), mission.status.as_str())));
            }
            self.change(mission, &MissionChange { status: Some(MissionStatus::Planning), ..MissionChange::default() }, asker).await?;
            return Ok(None);
        };
        if mission.status == MissionStatus::Done {
            return self.reopen(mission, why, asker).await.map(Some);
        }
        let count_done =
            async || -> Result<usize> { Ok(self.items_of(mission).await?.iter().filter(|item| item.status == WorkStatus::Done).count()) };
        let done = count_done().await?;
        let mut again = 0;
        for step in &plan.steps {
            again += usize::from(self.deps.store.retry_item(&step.item, asker.name(), now).await?);
        }
        self.deps.store.retry_item(&mission.id, asker.name(), now).await?;
        // Those that were done and are sent back.
        again += done.saturating_sub(count_done().await?);
        if self.deps.store.find_item(&mission.id).await?.is_none_or(|whole| whole.status.is_over()) {
            return Err(refused(format!("{} cannot be tried again: its steps are gone.", named(mission))));
        }
        self.change(mission, &MissionChange { status: Some(MissionStatus::Running), ..MissionChange::default() }, asker).await?;
        Ok(Some(again))
    }

    /// Takes a delivered mission up again. Returns the number of steps that are done again.
    async fn reopen(&self, mission: &Mission, why: Option<&str>, asker: &Asker) -> Result<usize> {
        let (now, actor) = (self.now(), actor_of(asker));
        let why = match why.map(|why| one_line(why, WHY)).filter(|why| !why.is_empty()) {
            Some(why) => format!("{} says of the delivery: {why}", asker.name()),
            None => format!("{} wants it done again", asker.name()),
        };
        let mut transaction = self.deps.store.db().begin().await?;
        let again = Box::pin(reopen_whole(&mut transaction, &mission.id, (asker.name(), &why), now)).await?;
        if again == 0 {
            return Err(refused(format!("{} cannot be taken up again: its steps are gone.", named(mission))));
        }
        let change = MissionChange { status: Some(MissionStatus::Running), by: actor.as_ref(), ..MissionChange::default() };
        if !change_mission(&mut transaction, mission, &change, now).await? {
            return Err(just_changed(mission));
        }
        transaction.commit().await?;
        Ok(again)
    }

    pub(super) async fn change(&self, mission: &Mission, change: &MissionChange<'_>, asker: &Asker) -> Result<()> {
        self.change_and_wish(mission, change, None, asker).await
    }

    /// Changes a mission. A wish is stored in the same transaction.
    pub(super) async fn change_and_wish(
        &self,
        mission: &Mission,
        change: &MissionChange<'_>,
        wish: Option<&Wish>,
        asker: &Asker,
    ) -> Result<()> {
        let actor = actor_of(asker);
        let change = MissionChange { by: actor.as_ref(), ..*change };
        let mut transaction = self.deps.store.db().begin().await?;
        if !change_mission(&mut transaction, mission, &change, self.now()).await? {
            return Err(just_changed(mission));
        }
        if let Some(wish) = wish {
            wish.apply(&mut transaction, self.now()).await?;
        }
        Ok(transaction.commit().await?)
    }
}

pub(super) fn actor_of(asker: &Asker) -> Option<Actor> {
    asker.person().map(|(id, name)| Actor::Person { id: id.clone(), name: name.to_owned() })
}

pub(super) fn just_changed(mission: &Mission) -> MissionError {
    refused(format!("{} has just been changed by somebody else. Please look again.", named(mission)))
}

pub(super) fn check_may_change(mission: &Mission, asker: &Asker) -> Result<()> {
    let by = mission.by.as_ref().map(|(id, name)| (id, name.as_str()));
    asker
        .check_right(by, None)
        .map_err(|who| refused(format!("Only {} may change {}.", Medium::Chat.line_within(&who, 60), named(mission))))
}

/// The first heading, or the beginning of the request.
fn find_title(directive: &Directive, request: &str) -> String {
    let heading = directive.parts.iter().find(|part| matches!(part.kind, PartKind::Heading(_)));
    match heading {
        Some(part) => part.text.clone(),
        None if request.trim().is_empty() => directive.parts[0].text.clone(),
        None => request.to_owned(),
    }
}

pub(super) fn named(mission: &Mission) -> String {
    format!("\"{}\" (`#{}`)", Medium::Chat.line_within(&mission.title, 80), mission.short_id())
}

pub(super) fn refused(why: impl Into<String>) -> MissionError {
    MissionError::Refused(why.into())
}

impl MissionSettings {
    /// Why a person has to approve a plan. None if nobody has to.
    pub(super) fn why_to_approve(&self, plan: &Plan) -> Option<String> {
        let steps = plan.steps.len();
        match (self.approve_above, plan.expected) {
            (Some(limit), Some(expected)) if expected > limit => Some(format!("it may cost {expected}, and plans above {limit} wait")),
            _ if steps >= self.approve_steps as usize => Some(format!("it has {steps} steps")),
            _ => None,
        }
    }
}
