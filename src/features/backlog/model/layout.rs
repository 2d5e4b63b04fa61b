//! Where the parts of an item stand in a picture of them: a column for each wave, and a line from each part to those that need it. The kanban page and
//! the picture of a plan in the chat are drawn from it.

use std::collections::{BTreeSet, HashMap};

use kernel::ids::WorkItemId;

/// How often the columns are sorted in each direction. More changes nothing for plans of forty steps.
const SWEEPS: usize = 4;

/// A part, and what it needs. Needs that are no parts are ignored.
#[derive(Debug, Clone, Copy)]
pub struct Node<'a> {
    pub id: &'a WorkItemId,
    pub needs: &'a [WorkItemId],
}

/// The lengths of a picture, in pixels.
#[derive(Debug, Clone, Copy)]
pub struct Lengths {
    pub width: i32,
    pub height: i32,
    /// Between two columns, for the curves of the lines.
    pub between_waves: i32,
    /// Between what stands in one column.
    pub between_boxes: i32,
    /// The height that a line needs where it passes a column.
    pub passage: i32,
    /// Above the columns, for the names of the waves.
    pub head: i32,
    pub margin: i32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    pub width: i32,
    pub height: i32,
    /// The left edge of each wave.
    pub waves: Vec<i32>,
    /// One for each node, in their order.
    pub boxes: Vec<Corner>,
    pub lines: Vec<NeedLine>,
}

/// The left upper corner of a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Corner {
    pub left: i32,
    pub top: i32,
    pub wave: usize,
}

/// From a part to one that needs it, by their places in the list of nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NeedLine {
    pub from: usize,
    pub to: usize,
    /// From left to right. Between two points of different height it is a curve.
    pub points: Vec<(i32, i32)>,
}

/// A box or a passage in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Slot {
    Box(usize),
    /// The lines that pass here on their way to this node. They share a passage.
    Passage(usize),
}

impl Layout {
    /// Places the nodes. The same nodes always give the same picture.
    pub fn of(nodes: &[Node<'_>], lengths: &Lengths) -> Self {
        let mut needs = needs_of(nodes);
        let wave_of = waves_of(&needs);
        for (node, needed) in needs.iter_mut().enumerate() {
            needed.retain(|&need| wave_of[need] < wave_of[node]);
        }
        let columns = Columns::of(&needs, &wave_of, *lengths).sorted();
        let left = |wave: usize| lengths.margin + to_i32(wave) * (lengths.width + lengths.between_waves);
        let top = lengths.margin + lengths.head;
        let middles: Vec<HashMap<Slot, i32>> = columns.slots.iter().map(|column| columns.middles(column)).collect();
        let middle = |wave: usize, slot: Slot| top + middles[wave].get(&slot).copied().unwrap_or_default();
        let boxes: Vec<Corner> = wave_of
            .iter()
            .enumerate()
            .map(|(node, &wave)| Corner { left: left(wave), top: middle(wave, Slot::Box(node)) - lengths.height / 2, wave })
            .collect();
        let mut lines = Vec::new();
        for (to, needed) in needs.iter().enumerate() {
            for &from in needed {
                let mut points = vec![(left(wave_of[from]) + lengths.width, middle(wave_of[from], Slot::Box(from)))];
                for wave in wave_of[from] + 1..wave_of[to] {
                    let y = middle(wave, Slot::Passage(to));
                    points.extend([(left(wave), y), (left(wave) + lengths.width, y)]);
                }
                points.push((left(wave_of[to]), middle(wave_of[to], Slot::Box(to))));
                lines.push(NeedLine { from, to, points });
            }
        }
        let count = columns.slots.len();
        let across = to_i32(count) * lengths.width + to_i32(count.saturating_sub(1)) * lengths.between_waves;
        Self {
            width: across + 2 * lengths.margin,
            height: top + columns.tallest() + lengths.margin,
            waves: (0..count).map(left).collect(),
            boxes,
            lines,
        }
    }
}

/// The places of the nodes that each node needs.
fn needs_of(nodes: &[Node<'_>]) -> Vec<BTreeSet<usize>> {
    let places: HashMap<&WorkItemId, usize> = nodes.iter().map(|node| node.id).zip(0..).collect();
    let known = |(place, node): (usize, &Node<'_>)| {
        node.needs.iter().filter_map(|need| places.get(need).copied()).filter(|&need| need != place).collect()
    };
    nodes.iter().enumerate().map(known).collect()
}

/// Each node stands one wave behind the last one that it needs. The backlog rejects cycles; if there is one all the same, one of its nodes comes
/// first.
fn waves_of(needs: &[BTreeSet<usize>]) -> Vec<usize> {
    let mut waves: Vec<Option<usize>> = vec![None; needs.len()];
    while let Some(open) = waves.iter().position(Option::is_none) {
        let placed = (0..needs.len()).filter(|&node| waves[node].is_none()).find_map(|node| {
            let before: Option<Vec<usize>> = needs[node].iter().map(|&need| waves[need]).collect();
            Some((node, before?.into_iter().max().map_or(0, |last| last + 1)))
        });
        let (node, wave) = placed.unwrap_or((open, 0));
        waves[node] = Some(wave);
    }
    waves.into_iter().flatten().collect()
}

struct Columns {
    slots: Vec<Vec<Slot>>,
    /// For each column, its connections with the column to its right.
    links: Vec<BTreeSet<(Slot, Slot)>>,
    lengths: Lengths,
}

impl Columns {
    fn of(needs: &[BTreeSet<usize>], wave_of: &[usize], lengths: Lengths) -> Self {
        let count = wave_of.iter().max().map_or(0, |last| last + 1);
        let mut slots: Vec<Vec<Slot>> = vec![Vec::new(); count];
        let mut links = vec![BTreeSet::new(); count];
        for (node, &wave) in wave_of.iter().enumerate() {
            slots[wave].push(Slot::Box(node));
        }
        for (to, needed) in needs.iter().enumerate() {
            for &from in needed {
                let mut last = Slot::Box(from);
                for wave in wave_of[from] + 1..wave_of[to] {
                    let passage = Slot::Passage(to);
                    if !slots[wave].contains(&passage) {
                        slots[wave].push(passage);
                    }
                    links[wave - 1].insert((last, passage));
                    last = passage;
                }
                if let Some(before) = wave_of[to].checked_sub(1) {
                    links[before].insert((last, Slot::Box(to)));
                }
            }
        }
        Self { slots, links, lengths }
    }

    fn length(&self, slot: Slot) -> i32 {
        if matches!(slot, Slot::Box(_)) { self.lengths.height } else { self.lengths.passage }
    }

    fn height(&self, column: &[Slot]) -> i32 {
        let gaps = to_i32(column.len().saturating_sub(1)) * self.lengths.between_boxes;
        column.iter().map(|&slot| self.length(slot)).sum::<i32>() + gaps
    }

    fn tallest(&self) -> i32 {
        self.slots.iter().map(|column| self.height(column)).max().unwrap_or_default()
    }

    /// The middle of each slot. The column is centred.
    fn middles(&self, column: &[Slot]) -> HashMap<Slot, i32> {
        let mut top = (self.tallest() - self.height(column)) / 2;
        let mut middles = HashMap::new();
        for &slot in column {
            middles.insert(slot, top + self.length(slot) / 2);
            top += self.length(slot) + self.lengths.between_boxes;
        }
        middles
    }

    /// In an order with few crossings: each column is sorted by where its neighbours to the left stand, then by those to the right.
    fn sorted(mut self) -> Self {
        let mut best = (self.count_crossings(), self.slots.clone());
        for round in 0..2 * SWEEPS {
            let forward = round % 2 == 0;
            for step in 1..self.slots.len() {
                let column = if forward { step } else { self.slots.len() - 1 - step };
                self.sort_column(column, forward);
            }
            let crossings = self.count_crossings();
            if crossings < best.0 {
                best = (crossings, self.slots.clone());
            }
        }
        self.slots = best.1;
        self
    }

    fn sort_column(&mut self, column: usize, forward: bool) {
        let own = self.middles(&self.slots[column]);
        let (links, beside) = if forward { (&self.links[column - 1], column - 1) } else { (&self.links[column], column + 1) };
        let neighbours = self.middles(&self.slots[beside]);
        let mean = |slot: &Slot| {
            let connected = links.iter().filter_map(|(left, right)| {
                let (this, other) = if forward { (right, left) } else { (left, right) };
                (this == slot).then_some(other)
            });
            let middles: Vec<i32> = connected.filter_map(|other| neighbours.get(other).copied()).collect();
            middles.iter().sum::<i32>().checked_div(to_i32(middles.len())).unwrap_or(own[slot])
        };
        let keys: HashMap<Slot, i32> = self.slots[column].iter().map(|slot| (*slot, mean(slot))).collect();
        self.slots[column].sort_by_key(|slot| keys[slot]);
    }

    fn count_crossings(&self) -> usize {
        let mut crossings = 0;
        for (column, links) in self.links.iter().enumerate().filter(|(_, links)| links.len() > 1) {
            let (left, right) = (self.middles(&self.slots[column]), self.middles(&self.slots[column + 1]));
            let ends: Vec<(i32, i32)> = links.iter().map(|(from, to)| (left[from], right[to])).collect();
            for (number, one) in ends.iter().enumerate() {
                let crosses = |other: &&(i32, i32)| (one.0 < other.0 && one.1 > other.1) || (one.0 > other.0 && one.1 < other.1);
                crossings += ends[number + 1..].iter().filter(crosses).count();
            }
        }
        crossings
    }
}

fn to_i32(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTHS: Lengths = Lengths { width: 200, height: 100, between_waves: 60, between_boxes: 16, passage: 10, head: 30, margin: 20 };

    /// Lays out parts, each with the names of the parts that it needs.
    fn lay_out(parts: &[(&str, &[&str])]) -> Layout {
        let parts: Vec<(WorkItemId, Vec<WorkItemId>)> =
            parts.iter().map(|(id, needs)| ((*id).into(), needs.iter().map(|need| (*need).into()).collect())).collect();
        let nodes: Vec<Node<'_>> = parts.iter().map(|(id, needs)| Node { id, needs }).collect();
        let layout = Layout::of(&nodes, &LENGTHS);
        check(&nodes, &layout);
        assert_eq!(Layout::of(&nodes, &LENGTHS), layout, "it is the same each time");
        layout
    }

    /// No box lies on another one or outside, and each need has its line, which touches no other box.
    fn check(nodes: &[Node<'_>], layout: &Layout) {
        let right = |corner: &Corner| corner.left + LENGTHS.width;
        let bottom = |corner: &Corner| corner.top + LENGTHS.height;
        for (number, one) in layout.boxes.iter().enumerate() {
            assert!(one.left >= LENGTHS.margin && right(one) <= layout.width - LENGTHS.margin, "{one:?}");
            assert!(one.top >= LENGTHS.margin + LENGTHS.head && bottom(one) <= layout.height - LENGTHS.margin, "{one:?}");
            assert_eq!(one.left, layout.waves[one.wave]);
            for other in &layout.boxes[number + 1..] {
                let is_beside = right(one) < other.left || right(other) < one.left;
                assert!(is_beside || bottom(one) < other.top || bottom(other) < one.top, "{one:?} lies on {other:?}");
            }
        }
        let wanted: BTreeSet<(usize, usize)> =
            needs_of(nodes).into_iter().enumerate().flat_map(|(to, needs)| needs.into_iter().map(move |from| (from, to))).collect();
        let drawn: Vec<(usize, usize)> = layout.lines.iter().map(|line| (line.from, line.to)).collect();
        assert_eq!((drawn.len(), drawn.into_iter().collect::<BTreeSet<_>>()), (wanted.len(), wanted));
        for line in &layout.lines {
            let (from, to) = (&layout.boxes[line.from], &layout.boxes[line.to]);
            assert_eq!(line.points.first(), Some(&(right(from), from.top + LENGTHS.height / 2)));
            assert_eq!(line.points.last(), Some(&(to.left, to.top + LENGTHS.height / 2)));
            for pair in line.points.windows(2) {
                assert!(pair[0].0 < pair[1].0, "it goes to the right: {line:?}");
            }
            for &(x, y) in &line.points {
                let is_touched = |corner: &&Corner| corner.left <= x && x <= right(corner) && corner.top <= y && y <= bottom(corner);
                let touched: Vec<&Corner> = layout.boxes.iter().filter(is_touched).collect();
                assert!(touched.iter().all(|corner| *corner == from || *corner == to), "{line:?} touches {touched:?}");
            }
        }
    }

    /// The names in each wave, from the top.
    fn waves(parts: &[(&str, &[&str])]) -> Vec<String> {
        let layout = lay_out(parts);
        let mut placed: Vec<(usize, i32, &str)> =
            layout.boxes.iter().zip(parts).map(|(corner, (id, _))| (corner.wave, corner.top, *id)).collect();
        placed.sort_unstable();
        let names = |wave: usize| placed.iter().filter(|(of, ..)| *of == wave).map(|(.., id)| *id).collect::<Vec<_>>().join(" ");
        (0..layout.waves.len()).map(names).collect()
    }

    #[test]
    fn each_part_stands_behind_what_it_needs_in_whatever_order_they_come() {
        assert_eq!(waves(&[("c", &["a", "b"]), ("b", &["a"]), ("a", &[])]), ["a", "b", "c"]);
        assert_eq!(waves(&[("a", &[]), ("b", &[]), ("c", &["a", "b"])]), ["a b", "c"]);
        assert_eq!(waves(&[("a", &["elsewhere", "a"])]), ["a"]);
        assert!(waves(&[]).is_empty());
        // The backlog rejects cycles.
        assert_eq!(
            Layout::of(&[Node { id: &"a".into(), needs: &["b".into()] }, Node { id: &"b".into(), needs: &["a".into()] }], &LENGTHS)
                .waves
                .len(),
            2
        );
    }

    #[test]
    fn parts_stand_beside_what_they_need_so_that_few_lines_cross() {
        let crossed: &[(&str, &[&str])] = &[("a", &[]), ("b", &[]), ("c", &[]), ("x", &["c"]), ("y", &["b"]), ("z", &["a"])];
        assert_eq!(waves(crossed), ["a b c", "z y x"]);
    }

    #[test]
    fn lines_over_several_waves_to_one_part_share_a_passage() {
        let layout = lay_out(&[("a", &[]), ("b", &[]), ("c", &["a", "b"]), ("d", &["c"]), ("e", &["a", "b", "d"])]);
        let passing: BTreeSet<&[(i32, i32)]> =
            layout.lines.iter().filter(|line| line.to == 4 && line.from < 2).map(|line| &line.points[1..]).collect();
        assert_eq!(passing.len(), 1, "{passing:?}");
    }

    #[test]
    fn forty_steps_in_eight_waves_keep_their_distance() {
        let ids: Vec<String> = (0..40).map(|number| format!("{number:02}")).collect();
        let needs: Vec<Vec<&str>> = (0..40)
            .map(|number: usize| match number {
                0..5 => Vec::new(),
                39 => ids[..39].iter().map(String::as_str).collect(),
                _ => vec![&*ids[number - 5], &*ids[(number / 5 - 1) * 5 + (number * 2 + 1) % 5]],
            })
            .collect();
        let parts: Vec<(&str, &[&str])> = ids.iter().map(String::as_str).zip(needs.iter().map(Vec::as_slice)).collect();
        let layout = lay_out(&parts);
        assert_eq!(layout.waves.len(), 9);
        assert!(layout.width < 2500 && layout.height < 800, "{} × {}", layout.width, layout.height);
    }

    #[test]
    fn a_chain_and_a_star_of_forty_are_laid_out() {
        let ids: Vec<String> = (0..40).map(|number| format!("{number:02}")).collect();
        let chain: Vec<Vec<&str>> =
            (0..40).map(|number: usize| number.checked_sub(1).map(|before| &*ids[before]).into_iter().collect()).collect();
        let parts: Vec<(&str, &[&str])> = ids.iter().map(String::as_str).zip(chain.iter().map(Vec::as_slice)).collect();
        assert_eq!(lay_out(&parts).waves.len(), 40);
        let all: Vec<&str> = ids[..39].iter().map(String::as_str).collect();
        let star: Vec<(&str, &[&str])> =
            ids.iter().enumerate().map(|(number, id)| (id.as_str(), if number == 39 { &all[..] } else { &[] })).collect();
        assert_eq!(lay_out(&star).waves.len(), 2);
    }
}
