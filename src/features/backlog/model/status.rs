use serde::{Deserialize, Serialize};

/// The status of a work item (WORK-2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkStatus {
    /// Not planned yet.
    New,
    /// May be claimed.
    Ready,
    /// Waits for other items.
    Blocked,
    InProgress,
    InReview,
    /// Waits for a person.
    Waiting,
    Done,
    Failed,
    Cancelled,
}

impl WorkStatus {
    /// All statuses in the usual order.
    pub const ALL: [Self; 9] =
        [Self::New, Self::Ready, Self::Blocked, Self::InProgress, Self::InReview, Self::Waiting, Self::Done, Self::Failed, Self::Cancelled];

    /// The statuses of open items.
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

    /// Changes the status if the transition is allowed. This is the only place that defines transitions.
    pub fn advance(self, next: Self) -> Result<Self, InvalidWorkTransition> {
        use WorkStatus::{Blocked, Cancelled, Done, Failed, InProgress, InReview, New, Ready, Waiting};
        let allowed = match self {
            New => matches!(next, Ready | Blocked | Waiting | Cancelled | Failed),
            // `New` again, here and below: the item was edited, so it must be planned again.
            Ready => matches!(next, New | Blocked | InProgress | Waiting | Cancelled | Failed),
            // `InReview`: a parent whose children did the work.
            Blocked => matches!(next, New | Ready | InReview | Waiting | Cancelled | Failed),
            // `Ready` again: its worker died, or it is tried again.
            InProgress => matches!(next, New | Ready | InReview | Waiting | Done | Failed | Cancelled),
            // `Blocked`, also of `Waiting`: a parent that got another child.
            InReview => matches!(next, New | Ready | Blocked | Waiting | Done | Failed | Cancelled),
            Waiting => matches!(next, New | Ready | Blocked | Done | Failed | Cancelled),
            // A person asked for another attempt, maybe before the item was planned.
            Done => matches!(next, New | Ready | Blocked),
            // `InReview` and `Waiting`: a cancellation was taken back.
            Failed | Cancelled => matches!(next, New | Ready | Blocked | InReview | Waiting),
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
