//! Where a work item stands, and which way it may go from there.

use serde::{Deserialize, Serialize};

/// Where a work item stands (WORK-2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkStatus {
    /// Noted; the planner has not looked at it.
    New,
    /// May be claimed.
    Ready,
    /// Waits for other items.
    Blocked,
    InProgress,
    InReview,
    /// For a person.
    Waiting,
    Done,
    Failed,
    Cancelled,
}

impl WorkStatus {
    /// Every status, in the order in which an item may come to them.
    pub const ALL: [Self; 9] =
        [Self::New, Self::Ready, Self::Blocked, Self::InProgress, Self::InReview, Self::Waiting, Self::Done, Self::Failed, Self::Cancelled];

    /// Those of an item that is not over.
    pub const OPEN: [Self; 6] = [Self::New, Self::Ready, Self::Blocked, Self::InProgress, Self::InReview, Self::Waiting];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Ready => "ready",
            Self::Blocked => "blocked",
            Self::InProgress => "in_progress",
            Self::InReview => "in_review",
            Self::Waiting => "waiting",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    pub fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled)
    }

    /// The status after `next`, if an item may go there from here. The one place that says which transitions there are.
    pub fn advance(self, next: Self) -> Result<Self, InvalidWorkTransition> {
        use WorkStatus::{Blocked, Cancelled, Done, Failed, InProgress, InReview, New, Ready, Waiting};
        let allowed = match self {
            New => matches!(next, Ready | Blocked | Waiting | Cancelled | Failed),
            // `New` again, here and below: somebody changed what is to be done, so that the planner has to look at it anew.
            Ready => matches!(next, New | Blocked | InProgress | Waiting | Cancelled | Failed),
            // `Done` of a parent: its children did the work.
            Blocked => matches!(next, New | Ready | Waiting | Done | Cancelled | Failed),
            // `Ready` again when its worker died or it is to be tried once more.
            InProgress => matches!(next, New | Ready | InReview | Waiting | Done | Failed | Cancelled),
            InReview => matches!(next, New | Ready | Waiting | Done | Failed | Cancelled),
            Waiting => matches!(next, New | Ready | Blocked | Done | Failed | Cancelled),
            // A person may ask for another try, of what the planner never saw too.
            Failed | Cancelled => matches!(next, New | Ready | Blocked),
            Done => false,
        };
        if allowed { Ok(next) } else { Err(InvalidWorkTransition { from: self, to: next }) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a work item that is {} cannot become {}", from.as_str(), to.as_str())]
pub struct InvalidWorkTransition {
    pub from: WorkStatus,
    pub to: WorkStatus,
}
