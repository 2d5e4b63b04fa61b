//! Lists items and finds one by short id.

use chrono_tz::Tz;

use crate::features::backlog::action::KnownOwners;
use crate::features::backlog::model::{Artefact, Owner, PersonRequest, Usage, WorkItem, WorkStatus};
use crate::features::backlog::render::{ItemDetails, ListView, RunDetails};
use crate::features::backlog::service::changing::named;
use crate::features::backlog::service::{Asker, Backlog, BacklogError, refused};
use crate::features::backlog::store::ItemFilter;
use kernel::agent::halts::HaltScope;
use kernel::commands::Suggestion;
use kernel::db::StoreError;
use kernel::ids::{PersonaSlug, UserId};
use kernel::memory::Scope;
use kernel::people::Directory;
use kernel::text::fold_name;

use WorkStatus::{Blocked, Failed, InProgress, InReview, New, Ready, Waiting};

/// The minimum length of a short id. Fewer characters are rarely unique.
const SHORTEST: usize = 6;

/// The most matches listed for an ambiguous id.
const NAMED: u32 = 5;

/// The statuses offered by completion. Done and cancelled items are rarely needed.
const COMPLETED: [WorkStatus; 7] = [New, Ready, Blocked, InProgress, InReview, Waiting, Failed];

/// The most items searched by completion, and the most offered (Discord's limit).
const LOOKED_THROUGH: u32 = 300;
const MOST_CHOICES: usize = 25;
const LABEL: usize = 90;

/// The most requests that are counted in a list.
const WAITING: u32 = 100;

/// The most people that a refusal names.
const NAMED_PEOPLE: usize = 20;

/// A query as typed.
#[derive(Debug, Clone, Copy)]
pub struct ListQuery<'a> {
    /// A status, `all`, or none for open items.
    pub status: Option<&'a str>,
    pub owner: Option<&'a str>,
    pub limit: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    pub items: Vec<WorkItem>,
    /// The whole backlog by status. Statuses without items are missing.
    pub counts: Vec<(WorkStatus, u64)>,
    /// More items match than the limit.
    pub more: bool,
    /// What waits for people, oldest first.
    pub waiting: Vec<(PersonRequest, WorkItem)>,
    /// Personas that an operator has paused.
    pub paused: Vec<PersonaSlug>,
    pub zone: Tz,
}

impl Listed {
    pub fn view(&self) -> ListView<'_> {
        ListView {
            items: &self.items,
            counts: &self.counts,
            more: self.more,
            waiting: &self.waiting,
            paused: &self.paused,
            zone: self.zone,
            is_whole: false,
        }
    }
}

impl Backlog {
    /// # Errors
    /// An unknown status or owner.
    pub async fn list(&self, query: &ListQuery<'_>, asker: &Asker) -> Result<Listed, BacklogError> {
        let statuses = parse_statuses(query.status)?;
        let owner = match query.owner {
            Some(name) => Some(self.resolve_owner(name, &self.list_people(&[name], asker.person()).await?, asker.person())?),
            None => None,
        };
        let scope = asker.scope();
        let filter = ItemFilter { statuses: &statuses, owner: owner.as_ref(), scope: scope.as_ref(), limit: query.limit.saturating_add(1) };
        let mut items = self.deps.store.list_items(&filter).await?;
        let limit = usize::try_from(query.limit).unwrap_or(usize::MAX);
        let more = items.len() > limit;
        items.truncate(limit);
        let mut counts = self.deps.store.count_items_in(scope.as_ref()).await?;
        counts.sort_by_key(|(status, _)| WorkStatus::ALL.iter().position(|known| known == status));
        // A query for a status or a persona shows only matching items.
        let mut waiting = match &owner {
            _ if query.status.is_some() => Vec::new(),
            None => self.deps.store.list_requests(None, WAITING).await?,
            Some(Owner::Person { id, .. }) => self.deps.store.list_requests(Some(id), WAITING).await?,
            Some(Owner::Persona(_)) => Vec::new(),
        };
        waiting.retain(|(_, item)| asker.sees(item));
        let halts = self.deps.store.list_halts().await?;
        let paused =
            halts.into_iter().filter_map(|halt| if let HaltScope::Persona(slug) = halt.scope { Some(slug) } else { None }).collect();
        Ok(Listed { items, counts, more, waiting, paused, zone: self.deps.zone })
    }

    /// Finds an item by the end of its id, among those that the caller sees.
    ///
    /// # Errors
    /// No item or several match.
    pub async fn get(&self, id: &str, asker: &Asker) -> Result<WorkItem, BacklogError> {
        let short = id.trim().trim_start_matches('#').to_lowercase();
        if short.len() < SHORTEST || !short.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(refused(format!(
                "\"{}\" is not an item id. Give at least the last {SHORTEST} characters of the id, as shown in the backlog list",
                id.trim()
            )));
        }
        let mut found = self.deps.store.find_items_by_suffix(&short, NAMED).await?;
        found.retain(|item| asker.sees(item));
        match found.len() {
            0 => Err(refused(format!("there is no item #{short}. See the backlog list"))),
            1 => Ok(found.remove(0)),
            _ => {
                let named: Vec<_> = found.iter().map(|item| format!("{} (\"{}\")", item.id, item.what)).collect();
                Err(refused(format!("several ids end with {short}. Give a longer part: {}", named.join(", "))))
            }
        }
    }

    /// An item with its details.
    ///
    /// # Errors
    /// As [`Backlog::get`].
    pub async fn get_details(&self, id: &str, asker: &Asker) -> Result<ItemDetails, BacklogError> {
        let item = self.get(id, asker).await?;
        let store = &self.deps.store;
        let mut needs = Vec::new();
        for needed in &item.depends_on {
            needs.extend(store.find_item(needed).await?);
        }
        let parent = match &item.parent {
            Some(parent) => store.find_item(parent).await?,
            None => None,
        };
        needs.retain(|needed| asker.sees(needed));
        let parent = parent.filter(|parent| asker.sees(parent));
        let mut runs = Vec::new();
        for run in store.list_runs(&item.id).await? {
            runs.push(RunDetails { run, entries: store.list_journal(&item.id, run).await? });
        }
        let events = store.list_events(&item.id).await?;
        let mut usage = Usage::default();
        usage.add_times(events.iter().map(|event| (event.to, event.at)), self.deps.clock.now());
        for run in &runs {
            usage.add_calls(run.entries.iter().map(|(entry, _)| entry));
        }
        Ok(ItemDetails {
            needs,
            parent,
            runs,
            events,
            usage,
            product: store.find_product(&item.id).await?,
            approvals: store.list_approvals(&item.id).await?,
            reviews: store.list_reviews(&item.id).await?,
            artefacts: store.list_artefacts(&item.id).await?,
            zone: self.deps.zone,
            item,
        })
    }

    /// An item with the files of its result.
    ///
    /// # Errors
    /// As [`Backlog::get`], or it has no files.
    pub async fn get_files(&self, id: &str, asker: &Asker) -> Result<(WorkItem, Vec<Artefact>), BacklogError> {
        let item = self.get(id, asker).await?;
        let files = self.deps.store.read_artefacts(&item.id).await?;
        if files.is_empty() {
            let yet = if item.status.is_over() { "" } else { " yet" };
            return Err(refused(format!("{} has no files{yet}", named(&item))));
        }
        Ok((item, files))
    }

    /// Items whose id or title contains the typed text, except for private ones, because it is not known where a completion is shown.
    pub(in crate::features::backlog) async fn list_choices(&self, typed: &str) -> Result<Vec<Suggestion>, StoreError> {
        let typed = fold_name(typed.trim_start_matches('#'));
        let filter = ItemFilter { statuses: &COMPLETED, owner: None, scope: Some(&Scope::TEAM), limit: LOOKED_THROUGH };
        let items = self.deps.store.list_items(&filter).await?;
        let matching = items.iter().filter(|item| item.short_id().contains(&typed) || item.what.to_lowercase().contains(&typed));
        Ok(matching.take(MOST_CHOICES).map(choice_of).collect())
    }

    /// All people who may be meant by one of the names, including the caller.
    pub(super) async fn list_people(&self, names: &[&str], me: Option<(&UserId, &str)>) -> Result<Directory, BacklogError> {
        let people = self.deps.people.directory_naming(names, &self.deps.roster).await?;
        Ok(match me {
            Some((id, name)) => people.with(id, name),
            None => people,
        })
    }

    /// Finds an owner: a persona, a person who was seen, or `me`.
    pub(super) fn resolve_owner(&self, asked: &str, people: &Directory, me: Option<(&UserId, &str)>) -> Result<Owner, BacklogError> {
        if let Some((id, name)) = me.filter(|_| fold_name(asked) == "me") {
            return Ok(Owner::Person { id: id.clone(), name: name.to_owned() });
        }
        let known = KnownOwners { roster: &self.deps.roster, people };
        known.resolve(asked).map_err(|reason| {
            if !reason.starts_with("nobody") {
                return refused(reason);
            }
            let personas = self.deps.roster.personas().iter().map(|persona| persona.name.as_str());
            let names: Vec<_> = personas.chain(people.people().take(NAMED_PEOPLE).map(|person| person.name.as_str())).collect();
            refused(format!("{reason}. The team: {}", names.join(", ")))
        })
    }

    /// Names of owners that begin with the typed text: personas, then people.
    pub(in crate::features::backlog) async fn list_owners(&self, typed: &str) -> Result<Vec<Suggestion>, StoreError> {
        let typed = fold_name(typed);
        let begins = |name: &str| fold_name(name).starts_with(&typed);
        let people = self.deps.people.directory().await?;
        let personas = self.deps.roster.personas().iter().filter(|persona| begins(&persona.name));
        let found = personas.map(|persona| Suggestion::name(persona.name.clone()));
        let people = people.people().filter(|person| person.names.iter().any(|name| begins(name)));
        // Two people may show the same name, so the value is the account.
        let people = people.map(|person| Suggestion {
            label: person.names.iter().take(2).map(String::as_str).collect::<Vec<_>>().join(" · ").chars().take(LABEL).collect(),
            value: person.id.to_string(),
        });
        Ok(found.chain(people).take(MOST_CHOICES).collect())
    }
}

fn choice_of(item: &WorkItem) -> Suggestion {
    let label: String = format!("{} · {}", item.short_id(), item.what).chars().take(LABEL).collect();
    Suggestion { value: item.short_id().to_owned(), label }
}

fn parse_statuses(asked: Option<&str>) -> Result<Vec<WorkStatus>, BacklogError> {
    let Some(asked) = asked else { return Ok(WorkStatus::OPEN.into()) };
    let name = asked.trim().to_lowercase().replace([' ', '-'], "_");
    if name == "all" {
        return Ok(WorkStatus::ALL.into());
    }
    if name == "open" {
        return Ok(WorkStatus::OPEN.into());
    }
    let found = WorkStatus::ALL.into_iter().find(|status| status.as_str() == name);
    found.map(|status| vec![status]).ok_or_else(|| {
        let names = WorkStatus::ALL.map(|status| status.as_str().replace('_', " "));
        refused(format!("\"{}\" is not a status. Choose {}, open or all", asked.trim(), names.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_read_however_it_is_written() {
        assert_eq!(parse_statuses(Some("In Progress")).unwrap(), [InProgress]);
        assert_eq!(parse_statuses(Some(" in-review ")).unwrap(), [InReview]);
        assert_eq!(parse_statuses(Some("all")).unwrap().len(), 9);
        assert_eq!(parse_statuses(None).unwrap(), parse_statuses(Some("open")).unwrap());
        let told = parse_statuses(Some("busy")).unwrap_err().to_string();
        assert!(told.starts_with("\"busy\" is not a status. Choose new, ready, blocked, in progress"), "{told}");
    }
}
