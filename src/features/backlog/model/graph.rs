//! Dependencies between items: cycles and ranks.
//!
//! An item waits for every item that it needs, and a parent for its children. All algorithms are about linear in items and dependencies,
//! because ten thousand items may be added at once.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt;

use crate::features::backlog::model::{Rank, WorkItem, short_id};
use kernel::ids::WorkItemId;

/// The most items of a cycle in an error.
const NAMED: usize = 8;

/// An item in an error message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedItem {
    pub id: WorkItemId,
    pub what: String,
}

impl From<&WorkItem> for NamedItem {
    fn from(item: &WorkItem) -> Self {
        Self { id: item.id.clone(), what: item.what.clone() }
    }
}

impl fmt::Display for NamedItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" (#{})", self.what, short_id(&self.id))
    }
}

/// Why items cannot be added together. The text is for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GraphError {
    #[error("{item} needs the item {needs}, which is not in the backlog")]
    UnknownNeed { item: NamedItem, needs: WorkItemId },
    #[error("{item} has the parent {parent}, which is not in the backlog")]
    UnknownParent { item: NamedItem, parent: WorkItemId },
    #[error("{0} waits for itself")]
    Itself(NamedItem),
    /// Each waits for the next, and the last for the first.
    #[error("these items wait for each other: {}", render_circle(.0))]
    Circle(Vec<NamedItem>),
}

fn render_circle(items: &[NamedItem]) -> String {
    let mut names: Vec<String> = items.iter().take(NAMED).map(NamedItem::to_string).collect();
    if items.len() > NAMED {
        names.push(format!("{} more", items.len() - NAMED));
    }
    names.join(", ")
}

/// The family of each new item: those that are connected as parts and needs are one. It has the id of its first item, or the name `stored` if one of
/// them refers to an item that is not among the new ones.
pub fn families(new: &[WorkItem], stored: Option<&str>) -> HashMap<WorkItemId, String> {
    let places: HashMap<&WorkItemId, usize> = new.iter().zip(1..).map(|(item, place)| (&item.id, place)).collect();
    // Place 0 stands for all stored items. Each place points towards the first one of its family.
    let mut first: Vec<usize> = (0..=new.len()).collect();
    let find = |first: &mut Vec<usize>, mut place: usize| {
        while first[place] != place {
            first[place] = first[first[place]];
            place = first[place];
        }
        place
    };
    for (item, place) in new.iter().zip(1..) {
        for other in item.depends_on.iter().chain(&item.parent) {
            let (a, b) = (find(&mut first, place), find(&mut first, places.get(other).copied().unwrap_or(0)));
            first[a.max(b)] = a.min(b);
        }
    }
    let name = |place: usize| if place == 0 { stored.unwrap_or_default() } else { new[place - 1].id.as_str() };
    new.iter().zip(1..).map(|(item, place)| (item.id.clone(), name(find(&mut first, place)).to_owned())).collect()
}

/// Checks that all `new` items can end: every referenced item is among them or `known`, and there is no cycle.
///
/// # Errors
/// The first problem.
pub fn check(new: &[WorkItem], known: &dyn Fn(&WorkItemId) -> bool) -> Result<(), GraphError> {
    let graph = Graph::of(new);
    for item in new {
        if item.depends_on.contains(&item.id) || item.parent.as_ref() == Some(&item.id) {
            return Err(GraphError::Itself(item.into()));
        }
        let is_missing = |id: &&WorkItemId| !graph.places.contains_key(id) && !known(id);
        if let Some(needs) = item.depends_on.iter().find(is_missing) {
            return Err(GraphError::UnknownNeed { item: item.into(), needs: needs.clone() });
        }
        if let Some(parent) = item.parent.as_ref().filter(is_missing) {
            return Err(GraphError::UnknownParent { item: item.into(), parent: parent.clone() });
        }
    }
    match graph.find_circle() {
        Some(circle) => Err(GraphError::Circle(circle.into_iter().map(|place| NamedItem::from(&new[place])).collect())),
        None => Ok(()),
    }
}

/// The rank of each open item.
pub fn ranks(open: &[WorkItem]) -> HashMap<WorkItemId, Rank> {
    let graph = Graph::of(open);
    let order = graph.order();
    let mut ranks: Vec<Rank> = open
        .iter()
        .map(|item| Rank {
            urgency: item.urgency,
            due: item.due.unwrap_or(Rank::NEVER),
            day: item.created_at.date_naive(),
            waited_for: Reverse(0),
            depth: 0,
        })
        .collect();
    for &place in &order {
        ranks[place].depth = graph.waits_for[place].iter().map(|&other| ranks[other].depth + 1).max().unwrap_or(0);
    }
    for &place in order.iter().rev() {
        for &other in &graph.waits_for[place] {
            ranks[other].urgency = ranks[other].urgency.min(ranks[place].urgency);
            ranks[other].due = ranks[other].due.min(ranks[place].due);
        }
    }
    for (rank, waiting) in ranks.iter_mut().zip(graph.count_waiting(&order)) {
        rank.waited_for = Reverse(waiting);
    }
    open.iter().map(|item| item.id.clone()).zip(ranks).collect()
}

/// Items by index, with the indexes that each waits for. Items outside of the slice are ignored.
struct Graph<'a> {
    places: HashMap<&'a WorkItemId, usize>,
    waits_for: Vec<Vec<usize>>,
}

impl<'a> Graph<'a> {
    fn of(items: &'a [WorkItem]) -> Self {
        let places: HashMap<_, _> = items.iter().map(|item| &item.id).zip(0..).collect();
        let mut waits_for = vec![Vec::new(); items.len()];
        for (place, item) in items.iter().enumerate() {
            waits_for[place].extend(item.depends_on.iter().filter_map(|needed| places.get(needed)));
            if let Some(&parent) = item.parent.as_ref().and_then(|parent| places.get(parent)) {
                waits_for[parent].push(place);
            }
        }
        Self { places, waits_for }
    }

    /// Topological order: each index comes after those it waits for. Indexes in a cycle, or waiting for one, are left out.
    fn order(&self) -> Vec<usize> {
        let mut waited_for_by = vec![Vec::new(); self.waits_for.len()];
        let mut left: Vec<usize> = self.waits_for.iter().map(Vec::len).collect();
        for (place, others) in self.waits_for.iter().enumerate() {
            for &other in others {
                waited_for_by[other].push(place);
            }
        }
        let mut order: Vec<usize> = (0..left.len()).filter(|&place| left[place] == 0).collect();
        let mut next = 0;
        while let Some(&place) = order.get(next) {
            next += 1;
            for &waiting in &waited_for_by[place] {
                left[waiting] -= 1;
                if left[waiting] == 0 {
                    order.push(waiting);
                }
            }
        }
        order
    }

    /// The indexes of one cycle, each waiting for the next.
    fn find_circle(&self) -> Option<Vec<usize>> {
        let mut can_end = vec![false; self.waits_for.len()];
        for place in self.order() {
            can_end[place] = true;
        }
        // Every remaining item waits for another one, so following them must lead to a cycle.
        let mut steps: Vec<usize> = Vec::new();
        let mut seen_at: HashMap<usize, usize> = HashMap::new();
        let mut place = can_end.iter().position(|can| !can)?;
        loop {
            if let Some(&start) = seen_at.get(&place) {
                return Some(steps.split_off(start));
            }
            seen_at.insert(place, steps.len());
            steps.push(place);
            place = *self.waits_for[place].iter().find(|&&other| !can_end[other])?;
        }
    }

    /// The number of items that wait for each index, directly or indirectly. Bit sets for all pairs would need quadratic memory, so 64
    /// items are processed at a time, with one bit each.
    fn count_waiting(&self, order: &[usize]) -> Vec<u32> {
        let mut waiting = vec![0; self.waits_for.len()];
        for followed in order.chunks(64) {
            let mut reached = vec![0_u64; self.waits_for.len()];
            for (bit, &place) in followed.iter().enumerate() {
                reached[place] = 1 << bit;
            }
            for &place in order.iter().rev() {
                for &other in &self.waits_for[place] {
                    reached[other] |= reached[place];
                }
            }
            for (bit, &place) in followed.iter().enumerate() {
                reached[place] &= !(1 << bit);
            }
            for (count, bits) in waiting.iter_mut().zip(reached) {
                *count += bits.count_ones();
            }
        }
        waiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::backlog::model::{Origin, Owner, Urgency};
    use chrono::DateTime;

    fn item(id: &str, needs: &[&str]) -> WorkItem {
        let item = WorkItem::new(format!("do {id}"), Owner::Persona("vince".into()), Origin::CommandLine, DateTime::UNIX_EPOCH);
        WorkItem { id: id.into(), depends_on: needs.iter().map(|&id| id.into()).collect(), ..item }
    }

    fn part(id: &str, parent: &str) -> WorkItem {
        WorkItem { parent: Some(parent.into()), ..item(id, &[]) }
    }

    fn families_of(items: &[WorkItem], stored: Option<&str>) -> String {
        let families = families(items, stored);
        items.iter().map(|item| format!("{}:{}", item.id.as_str(), families[&item.id])).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn items_are_of_one_family_if_they_are_connected_in_any_way() {
        let items = [item("a", &[]), item("b", &["d"]), part("c", "e"), item("d", &[]), item("e", &["a"])];
        assert_eq!(families_of(&items, None), "a:a b:b c:a d:b e:a");
        let items = [item("a", &[]), part("b", "stored"), item("c", &["b"]), item("d", &["a"]), item("e", &["other stored"])];
        assert_eq!(families_of(&items, Some("s")), "a:a b:s c:s d:a e:s");
        let chain: Vec<WorkItem> = (0..10_000).map(|n| item(&n.to_string(), &[&(n + 1).to_string()])).collect();
        assert!(families(&chain, Some("s")).values().all(|family| family == "s"));
    }

    fn check_alone(items: &[WorkItem]) -> Result<(), GraphError> {
        check(items, &|_| false)
    }

    #[test]
    fn items_that_can_all_end_are_accepted_in_any_order() {
        check_alone(&[item("c", &["a", "b"]), item("b", &["a"]), item("a", &[]), part("d", "c")]).unwrap();
        check_alone(&[]).unwrap();
    }

    #[test]
    fn what_is_not_there_is_named_unless_it_is_known() {
        let error = check_alone(&[item("a", &["x"])]).unwrap_err();
        assert_eq!(error.to_string(), "\"do a\" (#a) needs the item x, which is not in the backlog");
        let error = check_alone(&[part("a", "x")]).unwrap_err();
        assert_eq!(error.to_string(), "\"do a\" (#a) has the parent x, which is not in the backlog");
        check(&[item("a", &["x"]), part("b", "x")], &|id| id.as_str() == "x").unwrap();
    }

    #[test]
    fn an_item_that_waits_for_itself_is_refused() {
        assert_eq!(check_alone(&[item("a", &["a"])]).unwrap_err().to_string(), "\"do a\" (#a) waits for itself");
        assert!(matches!(check_alone(&[part("a", "a")]), Err(GraphError::Itself(_))));
    }

    #[test]
    fn a_circle_is_named_without_those_that_only_wait_for_it() {
        let items = [item("before", &["a"]), item("a", &["b"]), item("b", &["c", "free"]), item("c", &["a"]), item("free", &[])];
        let Err(GraphError::Circle(circle)) = check_alone(&items) else { panic!("there is a circle") };
        let mut ids: Vec<_> = circle.iter().map(|item| item.id.as_str()).collect();
        ids.sort_unstable();
        assert_eq!(ids, ["a", "b", "c"]);
    }

    #[test]
    fn a_part_that_needs_its_parent_is_a_circle() {
        let child = WorkItem { depends_on: vec!["whole".into()], ..part("child", "whole") };
        let error = check_alone(&[item("whole", &[]), child]).unwrap_err();
        assert!(matches!(&error, GraphError::Circle(circle) if circle.len() == 2), "{error}");
    }

    #[test]
    fn a_long_circle_is_told_in_short() {
        let ids: Vec<String> = (0..10_000).map(|number| format!("{number:06}")).collect();
        let items: Vec<_> = (0..ids.len()).map(|place| item(&ids[place], &[&ids[(place + 1) % ids.len()]])).collect();
        let text = check_alone(&items).unwrap_err().to_string();
        assert!(text.ends_with("9992 more") && text.len() < 400, "{text}");
    }

    fn rank_of(ranks: &HashMap<WorkItemId, Rank>, id: &str) -> (Urgency, u32, u32) {
        let rank = ranks[&WorkItemId::from(id)];
        (rank.urgency, rank.waited_for.0, rank.depth)
    }

    #[test]
    fn what_many_wait_for_is_counted_once_for_each_and_takes_over_their_urgency() {
        let urgent = WorkItem { urgency: Urgency::Now, ..item("top", &["left", "right", "elsewhere"]) };
        let ranks = ranks(&[urgent, item("left", &["base"]), item("right", &["base"]), item("base", &[]), item("alone", &[])]);
        assert_eq!(rank_of(&ranks, "base"), (Urgency::Now, 3, 0), "top waits by two ways and counts once");
        assert_eq!(rank_of(&ranks, "left"), (Urgency::Now, 1, 1));
        assert_eq!(rank_of(&ranks, "top"), (Urgency::Now, 0, 2));
        assert_eq!(rank_of(&ranks, "alone"), (Urgency::Backlog, 0, 0));
    }

    #[test]
    fn a_parent_waits_for_its_parts() {
        let ranks = ranks(&[part("step", "whole"), WorkItem { urgency: Urgency::Today, ..item("whole", &[]) }]);
        assert_eq!(rank_of(&ranks, "step"), (Urgency::Today, 1, 0));
        assert_eq!(rank_of(&ranks, "whole"), (Urgency::Today, 0, 1));
    }

    #[test]
    fn items_in_a_circle_still_have_a_rank() {
        assert_eq!(rank_of(&ranks(&[item("a", &["b"]), item("b", &["a"])]), "a"), (Urgency::Backlog, 0, 0));
    }

    #[test]
    fn ten_thousand_items_are_ranked_in_a_chain_and_in_a_star() {
        let ids: Vec<String> = (0..10_000).map(|number| format!("{number:06}")).collect();
        let chain: Vec<_> = ids.windows(2).map(|pair| item(&pair[0], &[&pair[1]])).chain([item("009999", &[])]).collect();
        check_alone(&chain).unwrap();
        assert_eq!(rank_of(&ranks(&chain), "009999"), (Urgency::Backlog, 9_999, 0));
        assert_eq!(rank_of(&ranks(&chain), "000000"), (Urgency::Backlog, 0, 9_999));

        let all: Vec<&str> = ids.iter().map(String::as_str).collect();
        let star: Vec<_> =
            std::iter::once(item("hub", &all)).chain(ids.iter().map(|id| item(id, &["root"]))).chain([item("root", &[])]).collect();
        check_alone(&star).unwrap();
        let ranks = ranks(&star);
        assert_eq!(rank_of(&ranks, "root"), (Urgency::Backlog, 10_001, 0));
        assert_eq!(rank_of(&ranks, "004711"), (Urgency::Backlog, 1, 1));
    }
}
