use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::features::backlog::learning::amendment::{Amendment, AmendmentStatus, ENOUGH};
use crate::features::backlog::model::{ExecutionKind, Finding, short_id};
use crate::store::Store;
use kernel::actor::Actor;
use kernel::db::{Document, Result, Transaction, Who, Word, document, plain, sql};
use kernel::events::{Audience, Event, Topic, record};
use kernel::ids::{AmendmentId, PersonaSlug};
use kernel::jobs::{self, NewJob};
use kernel::text::one_line;

/// Events of amendments, without their text.
const AMENDMENTS: Topic = Topic::new("amendment");

/// Drafts an amendment and offers it.
pub(in crate::features::backlog) const AMEND: &str = "persona.amend";

/// The most rejections in the prompt of a draft, and the most characters of a title.
const TOLD: i64 = 20;
const TITLE: usize = 80;

/// The payload of [`AMEND`].
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct AmendmentOf {
    pub(super) amendment: AmendmentId,
}

#[derive(sqlx::FromRow)]
struct AmendmentColumns {
    id: String,
    persona: String,
    #[sqlx(try_from = "String")]
    skill: Word<ExecutionKind>,
    #[sqlx(try_from = "i64")]
    version: u32,
    #[sqlx(try_from = "String")]
    status: Word<AmendmentStatus>,
    #[sqlx(try_from = "String")]
    reasons: Document<Vec<String>>,
    text: Option<String>,
    replaces: Option<String>,
    why: Option<String>,
    decided_by_name: Option<String>,
    decided_at: Option<DateTime<Utc>>,
    reverted_by_name: Option<String>,
    reverted_at: Option<DateTime<Utc>>,
    created_at: DateTime<Utc>,
}

impl From<AmendmentColumns> for Amendment {
    fn from(row: AmendmentColumns) -> Self {
        Self {
            id: row.id.into(),
            persona: row.persona.into(),
            skill: row.skill.0,
            version: row.version,
            status: row.status.0,
            reasons: row.reasons.0,
            text: row.text,
            replaces: row.replaces,
            why: row.why,
            decided_by: row.decided_by_name,
            decided_at: row.decided_at,
            reverted_by: row.reverted_by_name,
            reverted_at: row.reverted_at,
            created_at: row.created_at,
        }
    }
}

#[derive(sqlx::FromRow)]
struct RejectedColumns {
    item: String,
    what: String,
    #[sqlx(try_from = "String")]
    findings: Document<Vec<Finding>>,
}

/// Who decides: the name, and the account of a person.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decider<'a> {
    pub(super) name: &'a str,
    pub(super) account: Option<&'a Actor>,
}

impl Decider<'_> {
    fn key(&self) -> Option<String> {
        self.account.map(|account| Who::from(account).key)
    }

    fn sign(&self, event: Event) -> Event {
        match self.account {
            Some(account) => event.by(account),
            None => event.by_name(self.name),
        }
    }
}

/// Begins an amendment if enough results were rejected since the last one, and none is open. In the transaction of the last rejection.
pub(in crate::features::backlog) async fn begin_if_due(
    transaction: &mut Transaction,
    persona: &PersonaSlug,
    skill: ExecutionKind,
    at: DateTime<Utc>,
) -> Result<()> {
    let rejected: Vec<RejectedColumns> = sql!(
        transaction.on(),
        fetch_all,
        "SELECT reviews.item, work_items.what, reviews.findings FROM reviews JOIN work_items ON work_items.id = reviews.item
         WHERE reviews.author = $1 AND reviews.skill = $2 AND reviews.amendment IS NULL AND NOT reviews.accepted
         ORDER BY reviews.at DESC, reviews.item, reviews.number LIMIT $3",
        persona.as_str(),
        skill.as_str(),
        TOLD
    )?;
    if rejected.len() < ENOUGH {
        return Ok(());
    }
    let reasons: Vec<String> = rejected.iter().rev().flat_map(reasons_of).collect();
    let id = AmendmentId::generate();
    let begun = sql!(
        transaction.on(),
        execute,
        "INSERT INTO amendments (id, persona, skill, version, status, reasons, created_at)
         VALUES ($1, $2, $3, (SELECT COALESCE(MAX(version), 0) + 1 FROM amendments WHERE persona = $2 AND skill = $3), 'drafting', $4, $5)
         ON CONFLICT DO NOTHING",
        id.as_str(),
        persona.as_str(),
        skill.as_str(),
        document(&reasons),
        at
    )?;
    if begun == 0 {
        return Ok(());
    }
    sql!(
        transaction.on(),
        execute,
        "UPDATE reviews SET amendment = $3 WHERE author = $1 AND skill = $2 AND amendment IS NULL AND NOT accepted",
        persona.as_str(),
        skill.as_str(),
        id.as_str()
    )?;
    jobs::enqueue(transaction, &NewJob::new(AMEND, &AmendmentOf { amendment: id }), at).await?;
    Ok(())
}

fn reasons_of(rejected: &RejectedColumns) -> Vec<String> {
    let open = rejected.findings.0.iter().filter(|finding| !finding.met);
    let title = one_line(&rejected.what, TITLE);
    let item = rejected.item.as_str().into();
    open.map(|finding| format!("{title} (#{}): {}: {}", short_id(&item), finding.criterion, finding.text)).collect()
}

/// Offers a draft. False if it is not to be drafted any more.
pub(super) async fn offer(transaction: &mut Transaction, amendment: &Amendment, at: DateTime<Utc>) -> Result<bool> {
    let changed = sql!(
        transaction.on(),
        execute,
        "UPDATE amendments SET status = 'offered', text = $2, replaces = $3 WHERE id = $1 AND status = 'drafting'",
        amendment.id.as_str(),
        amendment.text.as_deref().map(plain),
        amendment.replaces.as_deref()
    )?;
    if changed > 0 {
        record(transaction, &event(amendment, "drafted", at)).await?;
    }
    Ok(changed > 0)
}

fn event(amendment: &Amendment, kind: &'static str, at: DateTime<Utc>) -> Event {
    Event::new(AMENDMENTS, amendment.id.as_str(), kind, at)
        .seen_by(Audience::Team)
        .with("persona", amendment.persona.as_str())
        .with("skill", amendment.skill.as_str())
        .with("version", amendment.version)
}

/// Ends an amendment that cannot be drafted.
pub(super) async fn fail(transaction: &mut Transaction, amendment: &AmendmentId, why: &str) -> Result<()> {
    sql!(
        transaction.on(),
        execute,
        "UPDATE amendments SET status = 'failed', why = $2 WHERE id = $1 AND status = 'drafting'",
        amendment.as_str(),
        plain(why)
    )?;
    Ok(())
}

impl Store {
    pub async fn find_amendment(&self, amendment: &AmendmentId) -> Result<Option<Amendment>> {
        let row: Option<AmendmentColumns> =
            sql!(self.db().read(), fetch_optional, "SELECT * FROM amendments WHERE id = $1", amendment.as_str())?;
        Ok(row.map(Amendment::from))
    }

    /// All amendments, or those of one persona, by persona and kind of work, oldest first.
    pub async fn list_amendments(&self, persona: Option<&PersonaSlug>) -> Result<Vec<Amendment>> {
        let rows: Vec<AmendmentColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT * FROM amendments WHERE $1 = '' OR persona = $1 ORDER BY persona, skill, version",
            persona.map_or("", PersonaSlug::as_str)
        )?;
        Ok(rows.into_iter().map(Amendment::from).collect())
    }

    /// The amendment in use for a persona and a kind of work.
    pub async fn find_amendment_in_use(&self, persona: &PersonaSlug, skill: ExecutionKind) -> Result<Option<Amendment>> {
        let row: Option<AmendmentColumns> = sql!(
            self.db().read(),
            fetch_optional,
            "SELECT * FROM amendments WHERE persona = $1 AND skill = $2 AND status = 'used' ORDER BY version DESC LIMIT 1",
            persona.as_str(),
            skill.as_str()
        )?;
        Ok(row.map(Amendment::from))
    }

    /// Stores what somebody decided on an offer. False if it is not offered any more.
    pub(super) async fn decide_amendment(&self, amendment: &AmendmentId, uses: bool, by: Decider<'_>, at: DateTime<Utc>) -> Result<bool> {
        let kind = if uses { "used" } else { "declined" };
        let mut transaction = self.db().begin().await?;
        let decided: Option<AmendmentColumns> = sql!(
            transaction.on(),
            fetch_optional,
            "UPDATE amendments SET status = $2, decided_by = $3, decided_by_name = $4, decided_at = $5
             WHERE id = $1 AND status = 'offered' RETURNING *",
            amendment.as_str(),
            kind,
            by.key(),
            plain(by.name),
            at
        )?;
        let Some(decided) = decided.map(Amendment::from) else { return Ok(false) };
        record(&mut transaction, &by.sign(event(&decided, kind, at))).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Reverts the amendment in use, and declines an open one that builds on it. None if no amendment is in use.
    pub(super) async fn revert_amendment(
        &self,
        persona: &PersonaSlug,
        skill: ExecutionKind,
        by: Decider<'_>,
        at: DateTime<Utc>,
    ) -> Result<Option<Amendment>> {
        let mut transaction = self.db().begin().await?;
        let reverted: Option<AmendmentColumns> = sql!(
            transaction.on(),
            fetch_optional,
            "UPDATE amendments SET status = 'reverted', reverted_by = $3, reverted_by_name = $4, reverted_at = $5
             WHERE persona = $1 AND skill = $2 AND status = 'used'
                 AND version = (SELECT MAX(version) FROM amendments WHERE persona = $1 AND skill = $2 AND status = 'used')
             RETURNING *",
            persona.as_str(),
            skill.as_str(),
            by.key(),
            plain(by.name),
            at
        )?;
        let reverted = reverted.map(Amendment::from);
        if let Some(reverted) = &reverted {
            record(&mut transaction, &by.sign(event(reverted, "reverted", at))).await?;
            let declined: Vec<AmendmentColumns> = sql!(
                transaction.on(),
                fetch_all,
                "UPDATE amendments SET status = 'declined', decided_by = $3, decided_by_name = $4, decided_at = $5
                 WHERE persona = $1 AND skill = $2 AND status IN ('drafting', 'offered') RETURNING *",
                persona.as_str(),
                skill.as_str(),
                by.key(),
                plain(by.name),
                at
            )?;
            for amendment in declined.into_iter().map(Amendment::from) {
                record(&mut transaction, &by.sign(event(&amendment, "declined", at))).await?;
            }
        }
        transaction.commit().await?;
        Ok(reverted)
    }
}
