//! The graph of a mission: its steps by wave, with lines from the steps that they need.

use std::fmt::Write as _;

use serde::Serialize;

use crate::adapters::http::kanban::view::{Viewer, Who, labels};
use crate::features::backlog::model::layout::{Layout, Lengths, NeedLine, Node};
use crate::features::backlog::model::{Wait, WorkItem, WorkKind, WorkStatus, short_id};
use kernel::db::StoreError;
use kernel::ids::WorkItemId;

/// In CSS pixels.
const LENGTHS: Lengths = Lengths { width: 216, height: 108, between_waves: 56, between_boxes: 12, passage: 8, head: 28, margin: 12 };

/// The length of an arrowhead, and half of its height.
const ARROW: i32 = 8;
const BARB: i32 = 5;

/// The most characters of a title. A box shows two lines.
const TITLE: usize = 200;

#[derive(Debug, Serialize)]
pub(crate) struct MissionView {
    team: String,
    /// The change counter of the data shown.
    mark: i64,
    as_of: String,
    id: String,
    short_id: String,
    what: String,
    owner: Who,
    status: WorkStatus,
    status_label: String,
    wait: Option<String>,
    done: usize,
    width: i32,
    height: i32,
    box_width: i32,
    box_height: i32,
    head: i32,
    waves: Vec<WaveView>,
    steps: Vec<StepView>,
    lines: Vec<LineView>,
}

#[derive(Debug, Serialize)]
struct WaveView {
    left: i32,
    top: i32,
    number: usize,
}

#[derive(Debug, Serialize)]
struct StepView {
    left: i32,
    top: i32,
    id: String,
    what: String,
    owner: Who,
    status: WorkStatus,
    status_label: String,
    wait: Option<String>,
}

#[derive(Debug, Serialize)]
struct LineView {
    /// An SVG path, like the arrow.
    line: String,
    arrow: String,
    /// The step that it needs is done.
    is_met: bool,
}

impl Viewer {
    /// None if there is no such mission.
    pub(crate) async fn read_mission(&self, id: &WorkItemId) -> Result<Option<MissionView>, StoreError> {
        // Read before the items, so that a change in between causes at most one reload too many.
        let mark = self.store.backlog_mark().await?;
        let Some(item) = self.store.find_item(id).await?.filter(|item| item.kind == WorkKind::Mission) else { return Ok(None) };
        let parts = self.store.list_parts(id).await?;
        let steps = match self.store.find_mission(id).await? {
            Some(mission) => mission.current(parts),
            None => parts,
        };
        let nodes: Vec<Node<'_>> = steps.iter().map(|step| Node { id: &step.id, needs: &step.depends_on }).collect();
        let layout = Layout::of(&nodes, &LENGTHS);
        // The lines of done steps lie above the others.
        let mut lines: Vec<LineView> =
            layout.lines.iter().map(|line| LineView::of(line, steps[line.from].status == WorkStatus::Done)).collect();
        lines.sort_by_key(|line| line.is_met);
        Ok(Some(MissionView {
            team: self.team.clone(),
            mark,
            as_of: self.roster.show_time(self.clock.now()),
            id: item.id.to_string(),
            short_id: short_id(&item.id).to_owned(),
            owner: self.show_owner(&item.owner),
            status: item.status,
            status_label: labels::status(item.status),
            wait: describe_wait(&item),
            done: steps.iter().filter(|step| step.status == WorkStatus::Done).count(),
            width: layout.width,
            height: layout.height,
            box_width: LENGTHS.width,
            box_height: LENGTHS.height,
            head: LENGTHS.head,
            waves: (1..).zip(&layout.waves).map(|(number, &left)| WaveView { left, top: LENGTHS.margin, number }).collect(),
            steps: steps.iter().zip(&layout.boxes).map(|(step, corner)| self.show_step(step, corner.left, corner.top)).collect(),
            lines,
            what: item.what,
        }))
    }

    fn show_step(&self, step: &WorkItem, left: i32, top: i32) -> StepView {
        StepView {
            left,
            top,
            id: step.id.to_string(),
            what: labels::cut(&step.what, TITLE),
            owner: self.show_owner(&step.owner),
            status: step.status,
            status_label: labels::status(step.status),
            wait: describe_wait(step),
        }
    }
}

fn describe_wait(item: &WorkItem) -> Option<String> {
    item.wait.as_ref().filter(|_| item.status == WorkStatus::Waiting).map(Wait::describe)
}

impl LineView {
    fn of(line: &NeedLine, is_met: bool) -> Self {
        let mut path = String::new();
        let mut points = line.points.iter().copied();
        let (mut x, mut y) = points.next().unwrap_or_default();
        let _ = write!(path, "M{x} {y}");
        for (next_x, next_y) in points {
            if next_y == y {
                let _ = write!(path, "H{next_x}");
            } else {
                let middle = i32::midpoint(x, next_x);
                let _ = write!(path, "C{middle} {y} {middle} {next_y} {next_x} {next_y}");
            }
            (x, y) = (next_x, next_y);
        }
        let arrow = format!("M{} {}L{x} {y}L{} {}Z", x - ARROW, y - BARB, x - ARROW, y + BARB);
        Self { line: path, arrow, is_met }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_path_of_curves_and_straight_pieces_with_an_arrow_at_its_end() {
        let line = NeedLine { from: 0, to: 1, points: vec![(0, 10), (40, 30), (240, 30), (280, 30)] };
        let view = LineView::of(&line, true);
        assert_eq!((view.line.as_str(), view.arrow.as_str()), ("M0 10C20 10 20 30 40 30H240H280", "M272 25L280 30L272 35Z"));
    }
}
