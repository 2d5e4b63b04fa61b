//! Finds the items and files that a text names: `#c63dd4`, `faq.md`.

use std::collections::BTreeSet;

use crate::features::backlog::model::{Artefact, Evidence, WorkItem};
use crate::features::backlog::render::name_of_owner;
use crate::store::Store;
use kernel::agent::{NamedText, addresses_in};
use kernel::db::StoreError;
use kernel::ids::WorkItemId;
use kernel::memory::Scope;
use kernel::persona::roster::Roster;

/// Maximum number of items and files that are looked up for one text.
const MOST: usize = 6;

/// Maximum number of items that are looked at for one that has a file of this name and may be told.
const ALIKE: u32 = 30;

/// The characters of a short id.
const ID: usize = 6;

/// The longest ending of a file name.
const ENDING: usize = 8;

/// The items and their files that a text names, as far as they may be told in `scope`. `but`: items that are known anyway.
pub(crate) async fn list_named(
    store: &Store,
    roster: &Roster,
    text: &str,
    scope: &Scope,
    but: &[WorkItemId],
) -> Result<Vec<NamedText>, StoreError> {
    let mut named = Vec::new();
    for id in ids_in(text) {
        let Some(item) = find_by_id(store, &id, scope).await?.filter(|item| !but.contains(&item.id)) else { continue };
        let text = format!("{}\n{}", item.describe_task(), describe_result(&item, roster));
        named.push(NamedText { label: format!("item #{}", item.short_id()), text, call: item.read_call() });
        for file in store.read_artefacts(&item.id).await? {
            named.extend(name_file(&item, &file));
        }
    }
    for name in files_in(text) {
        if let Some((item, file)) = find_file(store, None, &name, scope).await?.filter(|(item, _)| !but.contains(&item.id)) {
            named.extend(name_file(&item, &file).filter(|file| named.iter().all(|known| known.label != file.label)));
        }
    }
    Ok(named)
}

fn name_file(of: &WorkItem, file: &Artefact) -> Option<NamedText> {
    let (name, id) = (file.facts.name.replace(['<', '>', '|'], " "), of.short_id());
    Some(NamedText {
        label: format!("{name} of #{id} ({})", file.facts.size()),
        text: file.text()?.to_owned(),
        call: format!("`item_read` with item `{id}` and file `{name}`"),
    })
}

/// The item with this short id, if it may be told in `scope`.
pub(crate) async fn find_by_id(store: &Store, id: &str, scope: &Scope) -> Result<Option<WorkItem>, StoreError> {
    let mut found = store.find_items_by_suffix(id.trim().trim_start_matches('#'), 2).await?;
    found.retain(|item| scope.hears(item.private_to.as_ref()));
    Ok(if found.len() == 1 { found.pop() } else { None })
}

/// A file by its name: of an item, or the newest one of all.
pub(crate) async fn find_file(
    store: &Store,
    of: Option<&WorkItem>,
    name: &str,
    scope: &Scope,
) -> Result<Option<(WorkItem, Artefact)>, StoreError> {
    let is_it = |file: &Artefact| file.facts.name == name || file.facts.name.rsplit('/').next() == Some(name);
    if let Some(item) = of {
        return Ok(store.read_artefacts(&item.id).await?.into_iter().find(is_it).map(|file| (item.clone(), file)));
    }
    for id in store.list_items_with_file(name, ALIKE).await? {
        let Some(item) = store.find_item(&id).await?.filter(|item| scope.hears(item.private_to.as_ref())) else { continue };
        if let Some(file) = store.read_artefacts(&id).await?.into_iter().find(is_it) {
            return Ok(Some((item, file)));
        }
    }
    Ok(None)
}

/// The state of an item and what came of it.
pub(crate) fn describe_result(item: &WorkItem, roster: &Roster) -> String {
    let status = item.status.as_str().replace('_', " ");
    let outcome = item.outcome.as_deref().map_or(String::new(), |outcome| format!("\nOutcome: {outcome}"));
    let answers = item.evidence.iter().filter_map(Evidence::answer).map(|(by, text)| format!("\n{by} answered: {text}"));
    format!("Status: {status}. Owner: {}.{outcome}{}", name_of_owner(&item.owner, roster), answers.collect::<String>())
}

/// `#c63dd4`, without the mark.
fn ids_in(text: &str) -> Vec<String> {
    let id = |rest: &str| {
        let id: String = rest.chars().take_while(char::is_ascii_alphanumeric).collect();
        (id.len() == ID).then(|| id.to_lowercase())
    };
    let ids: BTreeSet<String> = text.split('#').skip(1).filter_map(id).collect();
    ids.into_iter().take(MOST).collect()
}

/// The names of files: words with an ending. Addresses of pages are none.
fn files_in(text: &str) -> Vec<String> {
    let text = addresses_in(text).iter().fold(text.to_owned(), |text, address| text.replace(address, " "));
    let is_part = |c: char| c.is_alphanumeric() || "._-/".contains(c);
    let is_name = |word: &&str| {
        let Some((name, ending)) = word.rsplit('/').next().unwrap_or(word).rsplit_once('.') else { return false };
        let is_ending = (1..=ENDING).contains(&ending.len()) && ending.chars().all(|c| c.is_ascii_alphanumeric());
        // "e.g." is no file.
        let is_long = name.len() + ending.len() > 2;
        is_ending && is_long && ending.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().any(char::is_alphanumeric)
    };
    let words = text.split(|c: char| !is_part(c)).map(|word| word.trim_matches(['.', '-', '/']));
    let names: BTreeSet<&str> = words.filter(is_name).collect();
    names.into_iter().take(MOST).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_names_of_files_are_found_in_a_text() {
        let text = "Bring FAQ 3 of #c63dd4 up to date (see docs/faq_v2.md, test_cases.csv. and #12), e.g. as in [#C63DD4], v1.2 costs 3.5";
        assert_eq!(ids_in(text), ["c63dd4"]);
        assert_eq!(files_in(text), ["docs/faq_v2.md", "test_cases.csv"]);
        assert!(ids_in("#general and #123456789").is_empty());
        assert!(files_in("It is done. Go on... See https://example.org/faq.md").is_empty());
    }
}
