//! Missions in the database. A mission and the job that follows it are stored together, and its plan together with the items of its steps.

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::features::backlog::model::WorkItem;
use crate::features::backlog::store::{Reshaping, insert_items, reshape, wake_mission};
use crate::features::mission::changing::Wish;
use crate::features::mission::model::directive::Directive;
use crate::features::mission::model::plan::Plan;
use crate::features::mission::model::{Mission, MissionStatus, Shown};
use crate::features::overwatch::look_back;
use crate::features::overwatch::model::LookBack;
use crate::store::Store;
use kernel::actor::Actor;
use kernel::chat::outbound::OutboundMessage;
use kernel::chat::outbox::store::insert_outbound_once;
use kernel::db::{Applied, Document, Effect, Readable, Result, Transaction, Word, document, plain, sql};
use kernel::events::{Audience, Event, Topic, record};
use kernel::ids::{ChannelId, OutboxId, PersonaSlug, WorkItemId};
use kernel::jobs::{JobId, RetentionRule};
use kernel::llm::store::join_budget;
use kernel::money::Money;
use kernel::people::Erasure;

/// Events of missions, without their texts.
const MISSIONS: Topic = Topic::new("mission");
/// The kind of the event that a colleague has sent a message to another one.
const MESSAGE: &str = "message";

#[derive(sqlx::FromRow)]
struct MissionColumns {
    id: String,
    #[sqlx(try_from = "String")]
    status: Word<MissionStatus>,
    title: String,
    request: String,
    #[sqlx(try_from = "String")]
    directive: Document<Directive>,
    asked_by: Option<String>,
    asked_by_name: Option<String>,
    channel: String,
    message: Option<String>,
    private_to: Option<String>,
    opening: Option<String>,
    plan: Option<String>,
    why: Option<String>,
    #[sqlx(try_from = "i64")]
    replans: u32,
    shown: Option<String>,
    shown_at: Option<DateTime<Utc>>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl MissionColumns {
    fn read(self) -> Result<Mission> {
        Ok(Mission {
            id: self.id.into(),
            status: self.status.0,
            title: self.title,
            request: self.request,
            directive: self.directive.0,
            by: self.asked_by.map(|id| (id.into(), self.asked_by_name.unwrap_or_default())),
            channel: self.channel.into(),
            message: self.message.map(Into::into),
            private_to: self.private_to.map(Into::into),
            opening: self.opening.map(OutboxId::new),
            plan: self.plan.map(Document::<Plan>::read).transpose()?,
            why: self.why,
            replans: self.replans,
            shown: self.shown.zip(self.shown_at).map(|(text, at)| Shown { text, at }),
            created_at: self.created_at,
            updated_at: self.updated_at,
        })
    }
}

/// A new mission with its first message in the thread, written with the decision on the message that asks for it.
#[derive(Debug)]
pub(super) struct AddMission {
    pub(super) mission: Box<Mission>,
    pub(super) messages: Vec<OutboundMessage>,
}

#[async_trait]
impl Effect for AddMission {
    async fn apply(&self, transaction: &mut Transaction, at: DateTime<Utc>) -> Result<Applied> {
        insert_mission(transaction, &self.mission, at).await?;
        for message in &self.messages {
            insert_outbound_once(transaction, message, self.mission.message.as_ref(), at).await?;
        }
        Ok(Applied::Done)
    }
}

/// A change of a mission.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct MissionChange<'a> {
    pub(super) status: Option<MissionStatus>,
    pub(super) title: Option<&'a str>,
    pub(super) plan: Option<&'a Plan>,
    pub(super) why: Option<&'a str>,
    /// One more replan is counted.
    pub(super) replanned: bool,
    /// New items.
    pub(super) items: &'a [WorkItem],
    /// Changes of existing items.
    pub(super) reshaping: Option<&'a Reshaping<'a>>,
    /// Messages. Each is posted once, by its id.
    pub(super) outbox: &'a [OutboundMessage],
    /// The mission is over: enqueues the job that looks back at it.
    pub(super) look_back: Option<&'a LookBack>,
    /// Who made the change. None: the program.
    pub(super) by: Option<&'a Actor>,
}

impl Store {
    pub(super) async fn add_mission(&self, new: &AddMission, at: DateTime<Utc>) -> Result<()> {
        let mut transaction = self.db().begin().await?;
        new.apply(&mut transaction, at).await?;
        transaction.commit().await
    }

    pub async fn find_mission(&self, id: &WorkItemId) -> Result<Option<Mission>> {
        let row: Option<MissionColumns> = sql!(self.db().read(), fetch_optional, "SELECT * FROM missions WHERE id = $1", id.as_str())?;
        row.map(MissionColumns::read).transpose()
    }

    /// How many messages colleagues have sent each other.
    pub(super) async fn count_messages(&self, mission: &WorkItemId) -> Result<usize> {
        let events = self.list_events_of(mission.as_str(), &Audience::Operators).await?;
        Ok(events.iter().filter(|event| event.topic == MISSIONS.as_str() && event.kind == MESSAGE).count())
    }

    /// The wishes that were stored after a job.
    pub(super) async fn list_wishes_since(&self, job: JobId) -> Result<Vec<Wish>> {
        let rows: Vec<(String,)> =
            sql!(self.db().read(), fetch_all, "SELECT payload FROM jobs WHERE id > $1 AND kind = 'mission.change' ORDER BY id", job.0)?;
        rows.into_iter().map(|(payload,)| Document::read(payload)).collect()
    }

    /// The mission of a thread that hangs on this message of the team, or that was there before the mission.
    pub(super) async fn find_mission_here(&self, opening: Option<&OutboxId>, thread: &ChannelId) -> Result<Option<Mission>> {
        let hanging: Option<MissionColumns> =
            sql!(self.db().read(), fetch_optional, "SELECT * FROM missions WHERE opening = $1", opening.map_or("", OutboxId::as_str))?;
        let row = match hanging {
            Some(row) => Some(row),
            None => sql!(
                self.db().read(),
                fetch_optional,
                "SELECT * FROM missions WHERE opening IS NULL AND channel = $1 ORDER BY updated_at DESC LIMIT 1",
                thread.as_str()
            )?,
        };
        row.map(MissionColumns::read).transpose()
    }

    /// The last missions, the newest first, without their directives, which may be large.
    pub async fn list_missions(&self, limit: u32) -> Result<Vec<Mission>> {
        let rows: Vec<Readable<MissionColumns>> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT id, status, title, request, '[]' AS directive, asked_by, asked_by_name, channel, message, private_to, opening, plan, why,
                 replans, shown, shown_at, created_at, updated_at
             FROM missions ORDER BY updated_at DESC, id DESC LIMIT $1",
            i64::from(limit)
        )?;
        Ok(self.db().read_each("missions", rows, MissionColumns::read))
    }

    /// Posts the progress, in place of what was posted before.
    pub(super) async fn show_mission(&self, mission: &Mission, shown: &Shown, message: &OutboundMessage) -> Result<()> {
        let mut transaction = self.db().begin().await?;
        sql!(
            transaction.on(),
            execute,
            "UPDATE missions SET shown = $2, shown_at = $3 WHERE id = $1",
            mission.id.as_str(),
            plain(&shown.text),
            shown.at
        )?;
        insert_outbound_once(&mut transaction, message, mission.message.as_ref(), shown.at).await?;
        transaction.commit().await
    }

    /// The cost of all calls about an item.
    pub(super) async fn spent_on(&self, subject: &WorkItemId) -> Result<Money> {
        let (cost,): (i64,) = sql!(
            self.db().read(),
            fetch_one,
            "SELECT CAST(COALESCE(SUM(cost), 0) AS BIGINT) FROM ledger WHERE subject = $1",
            subject.as_str()
        )?;
        Ok(Money(cost))
    }

    /// The mean cost of items, without missions, that changed lately. None without figures.
    pub(super) async fn mean_cost_of_steps(&self) -> Result<Option<Money>> {
        let (mean,): (Option<i64>,) = sql!(
            self.db().read(),
            fetch_one,
            "SELECT CAST(AVG(cost) AS BIGINT) FROM work_items WHERE cost > 0 AND kind <> 'mission' AND id IN
                 (SELECT subject FROM (SELECT subject FROM events WHERE topic = 'item' ORDER BY position DESC LIMIT 300) AS latest)"
        )?;
        Ok(mean.map(Money))
    }

    /// Wakes the job of a mission.
    pub(super) async fn wake_one_mission(&self, mission: &WorkItemId, at: DateTime<Utc>) -> Result<()> {
        let mut transaction = self.db().begin().await?;
        wake_mission(&mut transaction, mission, at).await?;
        transaction.commit().await
    }

    /// Wakes the jobs of all missions that are not over.
    pub(super) async fn wake_missions(&self, at: DateTime<Utc>) -> Result<()> {
        let mut transaction = self.db().begin().await?;
        let open: Vec<(String,)> = sql!(
            transaction.on(),
            fetch_all,
            "SELECT id FROM missions WHERE status IN ('planning', 'proposed', 'running', 'paused') ORDER BY id /* reads all: at the start */"
        )?;
        for (id,) in open {
            wake_mission(&mut transaction, &id.into(), at).await?;
        }
        transaction.commit().await
    }

    /// Removes missions of private conversations, and what the person wrote and handed in for others.
    pub(super) async fn forget_missions_of(&self, erasure: &Erasure) -> Result<()> {
        let mut transaction = self.db().begin().await?;
        let rows: Vec<(String, Option<String>, Option<String>)> =
            sql!(transaction.on(), fetch_all, "SELECT id, private_to, asked_by FROM missions /* reads all: a person is forgotten */")?;
        for (id, private_to, asked_by) in rows {
            let private_to = private_to.map(ChannelId::new);
            if private_to.is_some_and(|place| erasure.private.contains(&place)) {
                sql!(transaction.on(), execute, "DELETE FROM budget_groups WHERE whole = $1", id.as_str())?;
                sql!(transaction.on(), execute, "DELETE FROM missions WHERE id = $1", id)?;
            } else if asked_by.as_deref() == Some(erasure.person.as_str()) {
                sql!(transaction.on(), execute, "UPDATE missions SET request = '', directive = '[]' WHERE id = $1", id)?;
            }
        }
        transaction.commit().await
    }
}

/// Deletes missions that are over, with the items of the same age.
pub(super) fn retention(kept: std::time::Duration) -> RetentionRule {
    RetentionRule::new("missions", &["missions", "budget_groups"], kept, |database, before, limit| {
        Box::pin(async move {
            let mut transaction = database.db().begin().await?;
            let gone: Vec<(String,)> = sql!(
                transaction.on(),
                fetch_all,
                "DELETE FROM missions WHERE id IN (SELECT id FROM missions
                     WHERE updated_at < $1 AND status IN ('done', 'failed', 'cancelled') ORDER BY updated_at LIMIT $2) RETURNING id",
                before,
                i64::from(limit)
            )?;
            for (mission,) in &gone {
                sql!(transaction.on(), execute, "DELETE FROM budget_groups WHERE whole = $1", mission.as_str())?;
            }
            transaction.commit().await?;
            Ok(gone.len() as u64)
        })
    })
}

async fn insert_mission(transaction: &mut Transaction, mission: &Mission, at: DateTime<Utc>) -> Result<()> {
    sql!(
        transaction.on(),
        execute,
        "INSERT INTO missions (id, status, title, request, directive, asked_by, asked_by_name, channel, message, private_to, opening, replans,
             created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0, $12, $12) ON CONFLICT (id) DO NOTHING",
        mission.id.as_str(),
        mission.status.as_str(),
        plain(&mission.title),
        plain(&mission.request),
        document(&mission.directive),
        mission.by.as_ref().map(|(id, _)| id.as_str()),
        mission.by.as_ref().map(|(_, name)| name.as_str()),
        mission.channel.as_str(),
        mission.message.as_ref().map(kernel::ids::MessageId::as_str),
        mission.private_to.as_ref().map(ChannelId::as_str),
        mission.opening.as_ref().map(OutboxId::as_str),
        at
    )?;
    join_budget(transaction, &mission.id, &mission.id).await?;
    let by = mission.by.as_ref().map(|(id, name)| Actor::Person { id: id.clone(), name: name.clone() });
    record(transaction, &event(mission, "asked", by.as_ref(), at)).await?;
    wake_mission(transaction, &mission.id, at).await
}

pub(super) async fn change_mission(
    transaction: &mut Transaction,
    from: &Mission,
    change: &MissionChange<'_>,
    at: DateTime<Utc>,
) -> Result<bool> {
    let status = change.status.unwrap_or(from.status);
    let changed = sql!(
        transaction.on(),
        execute,
        "UPDATE missions SET status = $4, title = COALESCE($5, title), plan = COALESCE($6, plan), why = $7, replans = replans + $8, updated_at = $9
         WHERE id = $1 AND status = $2 AND replans = $3 AND updated_at = $10",
        from.id.as_str(),
        from.status.as_str(),
        i64::from(from.replans),
        status.as_str(),
        change.title.map(plain),
        change.plan.map(document),
        change.why.map(plain),
        i64::from(change.replanned),
        at,
        from.updated_at
    )?;
    if changed == 0 {
        return Ok(false);
    }
    insert_items(transaction, change.items, at).await?;
    if let Some(reshaping) = change.reshaping
        && !reshape(transaction, reshaping, at).await?
    {
        return Ok(false);
    }
    for message in change.outbox {
        insert_outbound_once(transaction, message, from.message.as_ref(), at).await?;
    }
    if let Some(run) = change.look_back {
        look_back(transaction, run, at).await?;
    }
    if status != from.status || change.replanned || change.reshaping.is_some() {
        let kind = if change.replanned || change.reshaping.is_some() { "replanned" } else { status.as_str() };
        record(transaction, &event(from, kind, change.by, at)).await?;
    }
    wake_mission(transaction, &from.id, at).await?;
    Ok(true)
}

/// Posts a message of one colleague to another in the thread. False if it was sent before.
pub(super) async fn post_message(
    transaction: &mut Transaction,
    mission: &Mission,
    (message, sender): (&OutboundMessage, &PersonaSlug),
    at: DateTime<Utc>,
) -> Result<bool> {
    if !insert_outbound_once(transaction, message, mission.message.as_ref(), at).await? {
        return Ok(false);
    }
    record(transaction, &event(mission, MESSAGE, Some(&Actor::Persona(sender.clone())), at)).await?;
    Ok(true)
}

fn event(mission: &Mission, kind: &'static str, by: Option<&Actor>, at: DateTime<Utc>) -> Event {
    let audience = mission.private_to.clone().map_or(Audience::Team, Audience::Channel);
    let event = Event::new(MISSIONS, mission.id.as_str(), kind, at).seen_by(audience);
    match by {
        Some(actor) => event.by(actor),
        None => event,
    }
}
