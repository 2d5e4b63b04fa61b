//! The forms of the page: which actions an item offers, and the person's input if a form was refused.

use kernel::chat::outbound::{Button, ButtonStyle};
use kernel::commands::Suggestion;
use kernel::db::StoreError;
use kernel::ids::{ApprovalId, WorkItemId};
use kernel::time::show_time;
use serde::Serialize;

use crate::adapters::http::kanban::acts::{Act, Answer, Form};
use crate::adapters::http::kanban::view::Viewer;
use crate::features::backlog::button::WorkButton;
use crate::features::backlog::model::{WorkItem, WorkStatus};
use crate::features::backlog::render::{OfferFacts, list_offers, takes_answer};

/// What the forms of a page need besides the item.
pub(crate) struct Forms {
    /// The key that lets each form act once.
    pub(crate) key: String,
    pub(crate) owners: Vec<Suggestion>,
    /// The answer to the form that led here.
    pub(crate) answer: Option<Answer>,
}

/// The answer to a form.
#[derive(Debug, Serialize)]
struct SentView {
    text: String,
    is_error: bool,
}

#[derive(Debug, Serialize)]
struct OwnerOption {
    value: String,
    label: String,
}

/// The page of a new item.
#[derive(Debug, Serialize)]
pub(crate) struct NewView {
    team: String,
    key: String,
    sent: Option<SentView>,
    owners: Vec<OwnerOption>,
    typed: Fields,
    kind: String,
    anyway: bool,
}

/// The actions that an item offers.
#[derive(Debug, Serialize)]
pub(super) struct ActsView {
    key: String,
    sent: Option<SentView>,
    owners: Vec<OwnerOption>,
    buttons: Vec<ButtonView>,
    takes_answer: bool,
    /// The item waits for its turn.
    is_next: bool,
    is_open: bool,
    answer: String,
    assigned: String,
    /// The form to show unfolded, because it was refused.
    unfolded: &'static str,
    typed: Fields,
    was: Fields,
}

#[derive(Debug, Serialize)]
struct ButtonView {
    id: String,
    label: String,
    style: &'static str,
    /// The column to which a card is dragged for the same. Empty: none.
    to: &'static str,
}

/// The texts of an item as the forms show them.
#[derive(Debug, Clone, Default, Serialize)]
struct Fields {
    what: String,
    owner: String,
    due: String,
    urgency: String,
    how: String,
    why: String,
    criteria: String,
}

impl Fields {
    fn typed(form: &Form) -> Self {
        let text = |name: &str| form.get(name).to_owned();
        Self {
            what: text("what"),
            owner: text("owner"),
            due: text("due"),
            urgency: text("urgency"),
            how: text("how"),
            why: text("why"),
            criteria: text("criteria"),
        }
    }
}

impl SentView {
    fn of(answer: &Answer) -> Self {
        Self { text: answer.text.clone(), is_error: answer.is_error }
    }
}

impl Forms {
    fn sent(&self) -> Option<SentView> {
        self.answer.as_ref().map(SentView::of)
    }

    /// The person's input in a form that was refused.
    fn refused(&self, act: Act) -> Option<&Form> {
        self.answer.as_ref().filter(|answer| answer.is_error && answer.act == act.as_str()).map(|answer| &answer.form)
    }

    fn options(&self) -> Vec<OwnerOption> {
        self.owners.iter().map(|owner| OwnerOption { value: owner.value.clone(), label: owner.label.clone() }).collect()
    }
}

impl Viewer {
    pub(crate) fn show_new(&self, forms: Forms) -> NewView {
        let typed = forms.refused(Act::Add);
        NewView {
            team: self.team.clone(),
            sent: forms.sent(),
            owners: forms.options(),
            kind: typed.map_or(String::new(), |form| form.get("kind").to_owned()),
            anyway: typed.is_some_and(|form| !form.get("anyway").is_empty()),
            typed: typed.map(Fields::typed).unwrap_or_default(),
            key: forms.key,
        }
    }

    pub(crate) async fn has_item(&self, id: &WorkItemId) -> Result<bool, StoreError> {
        Ok(self.store.find_item(id).await?.is_some())
    }

    pub(crate) async fn has_approval(&self, item: &WorkItemId, approval: &ApprovalId) -> Result<bool, StoreError> {
        Ok(self.store.list_approvals(item).await?.iter().any(|known| known.id == *approval))
    }

    pub(super) async fn show_acts(&self, item: &WorkItem, forms: Forms) -> Result<ActsView, StoreError> {
        let facts = OfferFacts {
            has_result: self.store.find_product(&item.id).await?.is_some(),
            has_parts: !self.store.list_parts(&item.id).await?.is_empty(),
            can_be_restored: item.status == WorkStatus::Cancelled && self.store.can_be_restored(&item.id, self.clock.now()).await?,
            budgets: &self.budgets,
        };
        let was = self.show_fields(item);
        let edited = forms.refused(Act::Edit);
        let typed = |act, name: &str| forms.refused(act).map_or(String::new(), |form| form.get(name).to_owned());
        Ok(ActsView {
            sent: forms.sent(),
            owners: forms.options(),
            buttons: list_offers(item, &facts).into_iter().map(|button| confirm(item, button, &forms)).map(ButtonView::of).collect(),
            takes_answer: takes_answer(item),
            is_next: matches!(item.status, WorkStatus::New | WorkStatus::Ready | WorkStatus::Blocked),
            is_open: !item.status.is_over(),
            answer: typed(Act::Answer, "text"),
            assigned: typed(Act::Assign, "owner"),
            unfolded: forms.answer.as_ref().filter(|answer| answer.is_error).map_or("", |answer| answer.act),
            typed: edited.map_or_else(|| was.clone(), Fields::typed),
            was,
            key: forms.key,
        })
    }

    fn show_fields(&self, item: &WorkItem) -> Fields {
        Fields {
            what: item.what.clone(),
            owner: self.show_owner(&item.owner).name,
            due: item.due.map_or(String::new(), |due| show_time(due, self.zone)),
            urgency: item.urgency.as_str().replace('_', "-"),
            how: item.how.clone(),
            why: item.why.clone(),
            criteria: item.criteria.join("\n"),
        }
    }
}

/// Asked to cancel an item with work in it, the page asks whether that is meant.
fn confirm(item: &WorkItem, button: Button, forms: &Forms) -> Button {
    let asked = forms.answer.as_ref().is_some_and(|answer| !answer.is_error && answer.form.get("button") == button.id);
    if !asked || button.id != WorkButton::Cancel(item.id.clone()).id() {
        return button;
    }
    Button { id: WorkButton::CancelNow(item.id.clone()).id(), label: "Yes, cancel the item".to_owned(), ..button }
}

fn find_column(button: &str) -> &'static str {
    match WorkButton::parse(button) {
        Some(WorkButton::Restore(_) | WorkButton::Retry(_) | WorkButton::Anyway(_)) => "next",
        Some(WorkButton::Accept(_) | WorkButton::Done(_)) => "done",
        Some(WorkButton::Cancel(_) | WorkButton::NotNeeded(_)) => "ended",
        _ => "",
    }
}

impl ButtonView {
    fn of(Button { id, label, style }: Button) -> Self {
        let style = match style {
            ButtonStyle::Primary | ButtonStyle::Success => "good",
            ButtonStyle::Danger => "bad",
            ButtonStyle::Secondary => "plain",
        };
        // On a page "Cancel" alone would close the form.
        let label = if label == "Cancel" { "Cancel the item".to_owned() } else { label };
        Self { to: find_column(&id), id, label, style }
    }
}
