//! Chooses the reviewer.

use crate::features::backlog::expertise::{best_impartial, fit};
use crate::features::backlog::model::{Owner, WorkItem, WorkKind};
use kernel::ids::PersonaSlug;
use kernel::memory::retrieval::Query;
use kernel::persona::Persona;
use kernel::persona::roster::Roster;

/// Chooses the reviewer: the named one, or the configured one, or the one with the best expertise, or the coordinator, or any other. Never the author of it or of a
/// part, never the owner, and never a paused persona. If the whole team has worked on a mission, anybody who did not make the delivered part may
/// review it. `partiality`: among equal experts, the one with the lowest is chosen, who has the least trust in the author and the least tension with
/// it.
pub(super) fn choose<'r>(
    roster: &'r Roster,
    by_setting: Option<&PersonaSlug>,
    item: &WorkItem,
    parts: &[WorkItem],
    is_paused: impl Fn(&Persona) -> bool,
    partiality: impl Fn(&Persona) -> f64,
) -> Option<&'r Persona> {
    let may =
        |persona: &&Persona| item.owner != Owner::Persona(persona.slug.clone()) && !item.is_made_by(&persona.slug) && !is_paused(persona);
    let others: Vec<&Persona> = roster.personas().iter().filter(may).collect();
    let without_makers_of = |parts: &[&WorkItem]| -> Vec<&'r Persona> {
        others.iter().filter(|persona| !parts.iter().any(|part| part.is_made_by(&persona.slug))).copied().collect()
    };
    let mut free = without_makers_of(&parts.iter().collect::<Vec<_>>());
    if free.is_empty() && item.kind == WorkKind::Mission {
        let is_last = |part: &&WorkItem| !parts.iter().any(|other| other.depends_on.contains(&part.id));
        free = without_makers_of(&parts.iter().filter(is_last).collect::<Vec<_>>());
    }
    let query = Query::parse(&[item.what.as_str(), &item.how, &item.why].join(" "), &[]);
    let best = best_impartial(free.iter().map(|persona| (fit(&query, persona), *persona)), partiality);
    let find = |slug: Option<&PersonaSlug>| free.iter().find(|persona| Some(&persona.slug) == slug).copied();
    // Who is named for it reviews it even after work on a part of it.
    let by_name = match &item.reviewer {
        Some(Owner::Persona(slug)) => others.iter().find(|persona| persona.slug == *slug).copied(),
        _ => None,
    };
    let coordinator = free.iter().find(|persona| persona.coordinator).copied();
    by_name.or(find(by_setting)).or(best).or(coordinator).or(free.first().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::backlog::model::{Execution, Origin};
    use kernel::testing::feeds::now;
    use kernel::testing::persona::roster;

    fn item() -> WorkItem {
        WorkItem {
            how: "Look at the pages of the three largest shops.".into(),
            persona: Some("vince".into()),
            execution: Some(Execution::Research),
            ..WorkItem::new("Compare prices of code scanners", Owner::Persona("vince".into()), Origin::CommandLine, now())
        }
    }

    fn chosen(by_setting: Option<&str>, change: impl FnOnce(&mut WorkItem), paused: &[&str]) -> Option<String> {
        let roster = roster();
        let mut item = item();
        change(&mut item);
        let by_setting = by_setting.map(PersonaSlug::from);
        choose(&roster, by_setting.as_ref(), &item, &[], |persona| paused.contains(&persona.slug.as_str()), |_| 0.0)
            .map(|persona| persona.slug.to_string())
    }

    #[test]
    fn the_one_who_knows_most_of_the_subject_judges_unless_settings_name_somebody() {
        assert_eq!(chosen(None, |_| (), &[]).as_deref(), Some("sentinel"), "its field is code");
        assert_eq!(chosen(Some("solus"), |_| (), &[]).as_deref(), Some("solus"));
        assert_eq!(chosen(None, |item| item.what = "Compare prices".into(), &[]).as_deref(), Some("kelly"), "nobody's field");
        assert_eq!(chosen(None, |_| (), &["sentinel"]).as_deref(), Some("kelly"), "who is paused judges nothing");
        let named = |item: &mut WorkItem| item.reviewer = Some(Owner::Persona("kelly".into()));
        assert_eq!(chosen(Some("solus"), named, &[]).as_deref(), Some("kelly"), "who is named for this item comes first");
        assert_eq!(chosen(Some("solus"), named, &["kelly"]).as_deref(), Some("solus"));
        assert_eq!(chosen(Some("gone"), |_| (), &[]).as_deref(), Some("sentinel"), "who has left judges nothing");
    }

    #[test]
    fn of_two_who_know_equally_much_the_less_partial_one_judges() {
        let roster = roster();
        let item = WorkItem { what: "Check the code and the coordination".into(), how: String::new(), ..item() };
        let chosen = |partial: &str| {
            let partiality = |persona: &Persona| if persona.slug.as_str() == partial { 0.3 } else { 0.1 };
            choose(&roster, None, &item, &[], |_| false, partiality).map(|persona| persona.slug.to_string())
        };
        assert_eq!(chosen("nobody").as_deref(), Some("kelly"), "the first");
        assert_eq!(chosen("kelly").as_deref(), Some("sentinel"));
        // The better expert is chosen all the same.
        let of_code = WorkItem { what: "Check the code".into(), ..item.clone() };
        let chosen = choose(&roster, None, &of_code, &[], |_| false, |persona| if persona.slug.as_str() == "sentinel" { 0.9 } else { 0.0 });
        assert_eq!(chosen.map(|persona| persona.slug.as_str()), Some("sentinel"));
    }

    #[test]
    fn nobody_judges_its_own_work() {
        assert_eq!(chosen(Some("vince"), |_| (), &[]).as_deref(), Some("sentinel"));
        let by_itself = |item: &mut WorkItem| item.reviewer = Some(Owner::Persona("vince".into()));
        assert_eq!(chosen(None, by_itself, &[]).as_deref(), Some("sentinel"));
        let of_sentinel = |item: &mut WorkItem| item.persona = Some("sentinel".into());
        assert_eq!(chosen(None, of_sentinel, &[]).as_deref(), Some("kelly"));
        let of_kelly = |item: &mut WorkItem| (item.what, item.persona) = ("Tidy up".into(), Some("kelly".into()));
        assert_eq!(chosen(None, of_kelly, &[]).as_deref(), Some("sentinel"), "the coordinator's is judged by the first who is free");
        assert_eq!(chosen(None, |_| (), &["kelly", "sentinel", "solus"]), None, "then a person judges");
    }

    #[test]
    fn who_made_a_part_does_not_judge_the_whole() {
        let (roster, whole) = (roster(), item());
        let part = |by: &str| WorkItem { persona: Some(by.into()), ..item() };
        let chosen = choose(&roster, None, &whole, &[part("sentinel"), part("kelly")], |_| false, |_| 0.0);
        assert_eq!(chosen.map(|persona| persona.slug.as_str()), Some("solus"));
    }

    #[test]
    fn of_a_team_that_has_all_worked_on_a_mission_somebody_judges_it_who_did_not_make_what_is_delivered() {
        let roster = roster();
        let mission = WorkItem { kind: WorkKind::Mission, owner: Owner::Persona("kelly".into()), persona: Some("kelly".into()), ..item() };
        let part = |by: &PersonaSlug, needs: &[&WorkItem]| WorkItem {
            persona: Some(by.clone()),
            depends_on: needs.iter().map(|need| need.id.clone()).collect(),
            ..WorkItem::new("Part", Owner::Persona(by.clone()), item().origin, item().created_at)
        };
        let chosen =
            |parts: &[WorkItem]| choose(&roster, None, &mission, parts, |_| false, |_| 0.0).map(|persona| persona.slug.to_string());
        let judge = chosen(&["vince".into(), "solus".into()].map(|by| part(&by, &[]))).expect("somebody is free");
        assert!(!["vince", "solus", "kelly"].contains(&judge.as_str()), "{judge}");
        let mut parts: Vec<WorkItem> = roster.personas().iter().map(|persona| part(&persona.slug, &[])).collect();
        let last = part(&"vince".into(), &parts.iter().collect::<Vec<_>>());
        parts.push(last);
        let judge = chosen(&parts).expect("somebody did not make the last part");
        assert!(!["vince", "kelly"].contains(&judge.as_str()), "{judge}");
    }
}
