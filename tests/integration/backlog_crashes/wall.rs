//! Triggers that keep a process from its next step in an item: it stands right behind what it stored until it is killed.

use teamroom::features::backlog::model::WorkItem;

use crate::support::database::{allow, forbid};
use crate::support::team::TestTeam;

/// Which step of an item is kept from being stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    /// The entry of the journal at this position.
    Entry(usize),
    Product,
    /// The end of the run, with all that is stored together with it.
    End,
    /// A way out of a status in which nobody works on it.
    Leaving(&'static str),
}

/// Lets an item not go on. While it is worked on, nobody lets go of it either but whoever takes it back from the dead.
pub(super) async fn raise(team: &TestTeam, item: &WorkItem, before: Before) {
    let id = item.id.as_str();
    let held = format!("OLD.id = '{id}' AND OLD.status = 'in_progress' AND NEW.status <> 'in_progress' AND NEW.crashes <= OLD.crashes");
    let (change, when) = match before {
        Before::Entry(position) => ("INSERT ON work_journal", format!("NEW.item = '{id}' AND NEW.position >= {position}")),
        Before::Product => ("UPDATE OF product ON work_items", format!("OLD.id = '{id}' AND NEW.product IS NOT NULL")),
        Before::End => ("UPDATE OF status ON work_items", held.clone()),
        Before::Leaving(status) => {
            ("UPDATE OF status ON work_items", format!("OLD.id = '{id}' AND OLD.status = '{status}' AND NEW.status <> '{status}'"))
        }
    };
    forbid(team, &format!("wall_{id}"), change, &when).await;
    forbid(team, &format!("hold_{id}"), "UPDATE OF status ON work_items", &held).await;
}

pub(super) async fn fall(team: &TestTeam, item: &WorkItem) {
    for kind in ["wall", "hold"] {
        allow(team, &format!("{kind}_{}", item.id)).await;
    }
}
