//! Adds items: a single one or a file, all or none.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use crate::features::backlog::action;
use crate::features::backlog::action::{Subject, WHAT};
use crate::features::backlog::model::{Execution, ExecutionKind, ItemDraft, Owner, Urgency, Wait, WorkItem, WorkStatus, short_id};
use crate::features::backlog::planner::asked_in;
use crate::features::backlog::service::{Asker, Backlog, BacklogError, refused};
use crate::features::backlog::store::InsertItemsError;
use kernel::ids::{ChannelId, WorkItemId};
use kernel::people::Directory;
use kernel::text::without_invisible;
use kernel::when::parse_instant;

/// The most characters of how, why and each criterion.
pub(in crate::features::backlog) const PROSE: usize = 2000;
const CRITERIA: usize = 20;

/// The most problems of a file in an error.
const FAULTS: usize = 10;

/// Where items are asked for.
#[derive(Debug, Clone, Default)]
pub struct AskedIn {
    /// Where people are told about them. None for a direct conversation, in which not every persona can post.
    pub channel: Option<ChannelId>,
    /// The place, if it is private. What is learnt from them stays there.
    pub private_to: Option<ChannelId>,
}

impl Backlog {
    /// Adds an item.
    ///
    /// # Errors
    /// The problem with the draft.
    pub async fn add(&self, draft: &ItemDraft, asker: &Asker, place: AskedIn) -> Result<WorkItem, BacklogError> {
        let mut items = self.add_all(std::slice::from_ref(draft), asker, place).await?;
        Ok(items.remove(0))
    }

    /// Adds items, all or none.
    ///
    /// # Errors
    /// All problems, or a cycle of dependencies.
    pub async fn add_all(&self, drafts: &[ItemDraft], asker: &Asker, place: AskedIn) -> Result<Vec<WorkItem>, BacklogError> {
        let items = self.draft_all(drafts, asker, place).await?;
        match self.deps.store.insert_items(&items, self.deps.clock.now()).await {
            Ok(()) => Ok(items),
            Err(InsertItemsError::Graph(error)) => Err(refused(format!("nothing was added: {error}"))),
            Err(InsertItemsError::Store(error)) => Err(error.into()),
        }
    }

    /// The items that drafts become. Writes nothing.
    ///
    /// # Errors
    /// As [`Self::add_all`].
    pub(in crate::features::backlog) async fn draft_all(
        &self,
        drafts: &[ItemDraft],
        asker: &Asker,
        place: AskedIn,
    ) -> Result<Vec<WorkItem>, BacklogError> {
        if drafts.is_empty() {
            return Err(refused("there are no items to add"));
        }
        let owners: Vec<&str> = drafts.iter().filter_map(|draft| draft.owner.as_deref()).collect();
        let people = self.list_people(&owners, asker.person()).await?;
        let mut faults = Vec::new();
        let mut items = Vec::with_capacity(drafts.len());
        for (number, draft) in (1..).zip(drafts) {
            match self.check(draft, asker, &people) {
                Ok(item) => {
                    let AskedIn { channel, private_to } = place.clone();
                    items.push(WorkItem { channel, private_to, ..item });
                }
                Err(reason) if drafts.len() == 1 => return Err(refused(reason)),
                Err(reason) => faults.push(format!("{} {reason}", label(number, draft))),
            }
        }
        if faults.is_empty() {
            self.tie(drafts, &mut items, asker, &mut faults).await?;
            self.find_repetitions(drafts, &mut items, asker, &mut faults).await?;
        }
        if !faults.is_empty() {
            return Err(refused(render_faults(drafts.len(), &faults)));
        }
        Ok(items)
    }

    /// Converts a draft to an item, without dependencies.
    fn check(&self, draft: &ItemDraft, asker: &Asker, people: &Directory) -> Result<WorkItem, String> {
        let what = clean("what", &draft.what, WHAT)?.split_whitespace().collect::<Vec<_>>().join(" ");
        action::check_what(&what)?;
        let owner = match draft.owner.as_deref() {
            Some(name) => self.resolve_owner(name, people, asker.person()).map_err(|error| error.to_string())?,
            None => Owner::Persona(self.deps.roster.coordinator().slug.clone()),
        };
        let how = clean("how", &draft.how, PROSE)?;
        let why = clean("why", &draft.why, PROSE)?;
        let criteria = check_criteria(&draft.criteria)?;
        let repository = self.check_repository(draft, &owner)?;
        let draft = &ItemDraft { kind: draft.kind.or(repository.as_ref().map(|_| ExecutionKind::Build)), ..draft.clone() };
        let due = draft.due.as_deref().map(|due| self.parse_due(due)).transpose()?;
        let execution = match check_kind(draft, &owner, &what, &how)? {
            Some(Execution::Ask { question, .. }) => Some(Execution::ask(asked_in(&what, &owner, &self.deps.roster), question)),
            other => other,
        };
        let item = WorkItem::new(what, owner, asker.origin(), self.deps.clock.now());
        let urgency = draft.urgency.or_else(|| due.map(|due| self.urgency_of(due))).unwrap_or(item.urgency);
        Ok(WorkItem { how, why, urgency, due, criteria, execution, repository, ..item })
    }

    fn check_repository(&self, draft: &ItemDraft, owner: &Owner) -> Result<Option<String>, String> {
        let Some(name) = draft.repository.as_deref() else { return Ok(None) };
        if self.deps.repositories.find(name).is_none() {
            let known: Vec<_> = self.deps.repositories.names().collect();
            let known = if known.is_empty() { "none is configured".to_owned() } else { format!("there are {}", known.join(", ")) };
            return Err(format!("names the repository \"{name}\", but {known}. Add [repositories.NAME] to teamroom.toml"));
        }
        if draft.kind.is_some_and(|kind| kind != ExecutionKind::Build) {
            return Err("has a repository, but is not of the kind build".to_owned());
        }
        if matches!(owner, Owner::Person { .. }) {
            return Err("has a repository, but belongs to a person. Assign it to a persona".to_owned());
        }
        Ok(Some(name.to_owned()))
    }

    /// A due date in words. A day without a time ends with its working hours.
    pub(in crate::features::backlog) fn parse_due(&self, text: &str) -> Result<DateTime<Utc>, String> {
        let (now, zone) = (self.deps.clock.now(), self.deps.zone);
        parse_instant(text, now, zone, self.deps.working_hours.closes).map_err(|error| format!("has no due date that I can read. {error}"))
    }

    /// The urgency of an item with this due date, if nobody gave one.
    fn urgency_of(&self, due: DateTime<Utc>) -> Urgency {
        let (zone, now) = (self.deps.zone, self.deps.clock.now());
        match (due.with_timezone(&zone).date_naive() - now.with_timezone(&zone).date_naive()).num_days() {
            ..=0 => Urgency::Today,
            1..=6 => Urgency::ThisWeek,
            _ => Urgency::Backlog,
        }
    }

    /// Resolves dependencies and parents: keys of the same file, or ids of existing items.
    async fn tie(&self, drafts: &[ItemDraft], items: &mut [WorkItem], asker: &Asker, faults: &mut Vec<String>) -> Result<(), BacklogError> {
        let mut known: HashMap<&str, WorkItemId> = HashMap::new();
        for (number, (draft, item)) in (1..).zip(drafts.iter().zip(&*items)) {
            if let Some(key) = draft.key.as_deref()
                && known.insert(key, item.id.clone()).is_some()
            {
                faults.push(format!("{} has the same key as another item", label(number, draft)));
            }
        }
        for (number, (draft, item)) in (1..).zip(drafts.iter().zip(items)) {
            for (name, is_parent) in draft.needs.iter().map(|name| (name, false)).chain(draft.parent.iter().map(|name| (name, true))) {
                if !known.contains_key(name.as_str()) {
                    match self.get(name, asker).await {
                        Ok(found) => {
                            // A part of something private is private.
                            item.private_to = found.private_to.filter(|_| is_parent).or(item.private_to.take());
                            known.insert(name, found.id);
                        }
                        Err(BacklogError::Refused(reason)) => {
                            faults.push(format!(
                                "{} names \"{name}\", which is neither a key here nor an item: {reason}",
                                label(number, draft)
                            ));
                            continue;
                        }
                        Err(error) => return Err(error),
                    }
                }
                let id = known[name.as_str()].clone();
                if is_parent {
                    item.parent = Some(id);
                } else if !item.depends_on.contains(&id) {
                    item.depends_on.push(id);
                }
            }
        }
        Ok(())
    }

    /// Finds drafts that look like an open item or an earlier draft. In a channel the person is asked about a single draft, which waits for the
    /// answer. At the command line, on the kanban page and in a file, the draft itself must say that it is wanted anyway.
    async fn find_repetitions(
        &self,
        drafts: &[ItemDraft],
        items: &mut [WorkItem],
        asker: &Asker,
        faults: &mut Vec<String>,
    ) -> Result<(), BacklogError> {
        // Items of other private places must not be mentioned.
        let scope = asker.scope().unwrap_or_default();
        if let ([draft], [item]) = (drafts, &mut *items) {
            if draft.anyway {
                return Ok(());
            }
            let alike = self.deps.store.list_alike(std::slice::from_ref(&item.what), &scope).await?;
            if let Some((id, what)) = alike.into_iter().next() {
                match asker {
                    Asker::Person { .. } if item.channel.is_some() || item.private_to.is_some() => {
                        item.status = WorkStatus::Waiting;
                        item.wait = Some(Wait::Duplicate { of: id, what });
                    }
                    _ => {
                        let how = if *asker == Asker::KanbanPage { "Tick \"Add it anyway\"" } else { "Add it with `--anyway`" };
                        faults.push(format!("looks like the open item \"{what}\" (#{}). {how} if it is another one", short_id(&id)));
                    }
                }
            }
            return Ok(());
        }
        let mut taken: HashMap<i64, String> = HashMap::new();
        for (number, (draft, item)) in (1..).zip(drafts.iter().zip(items)) {
            let (named, key) = (label(number, draft), Subject::of(&item.what).key(None));
            if !draft.anyway {
                let open = match self.deps.store.find_same(&item.what, &scope).await? {
                    Some((id, what)) => Some(format!("the open item \"{what}\" (#{})", short_id(&id))),
                    None => taken.get(&key).cloned(),
                };
                faults.extend(open.map(|other| format!("{named} says the same as {other}. Set \"anyway\": true if it is another one")));
            }
            taken.entry(key).or_insert(named);
        }
        Ok(())
    }
}

/// Strips invisible characters and rejects text over the limit.
pub(super) fn clean(field: &str, text: &str, limit: usize) -> Result<String, String> {
    let text = without_invisible(text).trim().to_owned();
    match text.chars().count() {
        length if length > limit => Err(format!("has {length} characters in \"{field}\". The limit is {limit}")),
        _ => Ok(text),
    }
}

pub(super) fn check_criteria(criteria: &[String]) -> Result<Vec<String>, String> {
    if criteria.len() > CRITERIA {
        return Err(format!("has {} criteria. The limit is {CRITERIA}", criteria.len()));
    }
    let cleaned = criteria.iter().map(|criterion| clean("criteria", criterion, PROSE)).collect::<Result<Vec<_>, _>>()?;
    Ok(cleaned.into_iter().filter(|criterion| !criterion.is_empty()).collect())
}

/// Checks `how`, `why` and each criterion.
pub(super) fn clean_prose(field: &str, text: &str) -> Result<String, String> {
    clean(field, text, PROSE)
}

fn check_kind(draft: &ItemDraft, owner: &Owner, what: &str, how: &str) -> Result<Option<Execution>, String> {
    let Some(kind) = draft.kind else { return Ok(None) };
    check_kind_of(kind, owner)?;
    if kind == ExecutionKind::Watch && draft.watch.is_none() {
        return Err("has the kind watch, but no terms. Add `watch` with a feed and an end time".to_owned());
    }
    Ok(action::execution_of(kind, draft.watch.as_ref(), owner, what, how))
}

/// Checks that an owner can have work of a kind.
pub(super) fn check_kind_of(kind: ExecutionKind, owner: &Owner) -> Result<(), String> {
    if matches!(owner, Owner::Person { .. }) && !matches!(kind, ExecutionKind::Remind | ExecutionKind::Ask) {
        return Err("belongs to a person, who can only be reminded or asked. Leave out the kind, or assign it to a persona".to_owned());
    }
    Ok(())
}

fn label(number: usize, draft: &ItemDraft) -> String {
    match &draft.key {
        Some(key) => format!("item {number} ({key})"),
        None => format!("item {number}"),
    }
}

fn render_faults(items: usize, faults: &[String]) -> String {
    if items == 1 {
        return faults[0].clone();
    }
    let told = faults.iter().take(FAULTS).cloned().collect::<Vec<_>>().join("; ");
    let more = if faults.len() > FAULTS { format!("; and {} more", faults.len() - FAULTS) } else { String::new() };
    format!("nothing was added: {told}{more}")
}
