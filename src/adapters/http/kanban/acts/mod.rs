//! Handles the forms of the page. Each form runs, as the operator, the command or the button that does the same in a chat.

mod form;
mod once;

use std::sync::Arc;

use axum::extract::multipart::MultipartRejection;
use axum::extract::{Multipart, Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use kernel::chat::text::plain;
use kernel::commands::{Caller, CommandReply, CommandRequest, Invoked, Registry, Suggestion};
use kernel::ids::WorkItemId;

use crate::adapters::http::kanban::{Kanban, NEW, Unreadable, page, read_id};
use crate::features::backlog::button::WorkButton;

pub(super) use form::Form;
pub(super) use once::{Answer, Submissions};

/// The largest form: how, why and twenty criteria, all with their earlier values, in the longest characters.
pub(super) const LARGEST: usize = 512 * 1024;

const STALE: &str = "Nothing was done this time, because the page was opened before the team was last started, or long ago. Check whether it was \
                     done before, and if not, send it again.";

/// The fields of an item with a single text, by the names of the arguments of `/backlog add` and `/backlog edit`.
const TEXTS: [&str; 6] = ["what", "owner", "due", "urgency", "how", "why"];

/// A form of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Add,
    Edit,
    Assign,
    Answer,
    /// Moves the item to the front.
    Next,
    /// A button, as below a message in a chat.
    Press,
}

impl Act {
    const OF_AN_ITEM: [Self; 5] = [Self::Edit, Self::Assign, Self::Answer, Self::Next, Self::Press];

    /// The end of the form's address.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Edit => "edit",
            Self::Assign => "assign",
            Self::Answer => "answer",
            Self::Next => "next",
            Self::Press => "press",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        Self::OF_AN_ITEM.into_iter().find(|act| act.as_str() == name)
    }
}

/// Carries out the forms.
pub(super) struct Actor {
    pub(super) commands: Arc<Registry>,
    pub(super) submissions: Submissions,
}

impl Actor {
    async fn run(&self, invoked: Invoked) -> CommandReply {
        self.commands.run(CommandRequest { invoked, caller: Caller::KanbanPage, channel: None }).await
    }

    /// Who can own an item.
    pub(super) async fn list_owners(&self) -> Vec<Suggestion> {
        self.commands.complete("owner", "", &Caller::KanbanPage, None).await
    }
}

pub(super) async fn add(State(kanban): State<Kanban>, sent: Result<Multipart, MultipartRejection>) -> Response {
    match Form::read(sent).await {
        Ok(form) => carry_out(kanban, Act::Add, None, form).await,
        Err(bad) => page::refused(bad.answer()),
    }
}

pub(super) async fn change(
    State(kanban): State<Kanban>,
    Path((id, act)): Path<(String, String)>,
    sent: Result<Multipart, MultipartRejection>,
) -> Result<Response, Unreadable> {
    let (Some(act), Some(id)) = (Act::parse(&act), read_id(id)) else { return Ok(page::missing()) };
    if !kanban.viewer.has_item(&id).await? {
        return Ok(page::missing());
    }
    let form = match Form::read(sent).await {
        Ok(form) => form,
        Err(bad) => return Ok(page::refused(bad.answer())),
    };
    if act == Act::Press && !is_of_item(&kanban, form.get("button"), &id).await? {
        return Ok(page::refused((StatusCode::BAD_REQUEST, "Nothing was done: this button does not belong to the item.")));
    }
    Ok(carry_out(kanban, act, Some(id), form).await)
}

/// Whether a button belongs to the item. The answer to a button of another item would show on the wrong page.
async fn is_of_item(kanban: &Kanban, button: &str, item: &WorkItemId) -> Result<bool, Unreadable> {
    Ok(match WorkButton::parse(button) {
        Some(WorkButton::Allow(approval) | WorkButton::Refuse(approval)) => kanban.viewer.has_approval(item, &approval).await?,
        Some(_) => button.rsplit(':').next() == Some(item.as_str()),
        None => false,
    })
}

/// Acts once and leads to the page that shows the answer. A reload of that page sends nothing.
async fn carry_out(kanban: Kanban, act: Act, item: Option<WorkItemId>, form: Form) -> Response {
    let path = item.as_ref().map_or_else(|| NEW.to_owned(), |id| format!("/backlog/items/{id}"));
    // In a task of its own, because a browser that is clicked twice closes the first connection.
    let task = tokio::spawn(async move {
        let answer = |text: String, is_error| Answer { text, is_error, page: path.clone(), act: act.as_str(), form: form.clone() };
        let stale = answer(STALE.to_owned(), true);
        let work = async {
            let reply = match describe(act, item.as_ref(), &form) {
                Ok(invoked) => kanban.actor.run(invoked).await,
                Err(why) => CommandReply::refused(why),
            };
            // A page has no other font for commands.
            let answer = answer(plain(&reply.text).replace('`', ""), reply.error);
            let added = reply.data.as_ref().filter(|_| act == Act::Add && !reply.error).and_then(|data| data["item"]["id"].as_str());
            match added {
                Some(id) => Answer { page: format!("/backlog/items/{id}"), ..answer },
                None => answer,
            }
        };
        let of = format!("{path}/{}", act.as_str());
        kanban.actor.submissions.run(&of, &form, stale, work).await
    });
    match task.await {
        Ok((id, page)) => (StatusCode::SEE_OTHER, [(header::LOCATION, format!("{page}?sent={id}"))]).into_response(),
        Err(error) => {
            tracing::error!(%error, act = act.as_str(), "a form of the kanban page failed");
            page::refused((StatusCode::INTERNAL_SERVER_ERROR, "That didn't work. Check the item before you send it again."))
        }
    }
}

/// The command or the button of a form.
///
/// # Errors
/// What no command can do, in words for people.
fn describe(act: Act, item: Option<&WorkItemId>, form: &Form) -> Result<Invoked, String> {
    let mut given: Vec<(&str, String)> = item.map(|id| ("id", id.to_string())).into_iter().collect();
    let command = match act {
        Act::Press => return Ok(Invoked::Button(form.get("button").to_owned())),
        Act::Add => {
            given.extend(
                TEXTS.into_iter().chain(["kind"]).map(|name| (name, form.get(name).to_owned())).filter(|(_, text)| !text.is_empty()),
            );
            given.extend(lines(form.get("criteria")));
            given.extend((!form.get("anyway").is_empty()).then(|| ("anyway", "yes".to_owned())));
            "add"
        }
        Act::Edit => {
            given.extend(list_changes(form)?);
            "edit"
        }
        Act::Assign => {
            given.push(("owner", form.get("owner").to_owned()));
            "edit"
        }
        Act::Answer => {
            given.push(("text", form.get("text").to_owned()));
            "answer"
        }
        Act::Next => "run",
    };
    let given = given.into_iter().map(|(name, text)| (name.to_owned(), text)).collect();
    Ok(Invoked::Command { path: format!("backlog {command}"), given })
}

/// The fields that the person changed in the form. Only those, because somebody else may have changed the others meanwhile.
fn list_changes(form: &Form) -> Result<Vec<(&'static str, String)>, String> {
    let is_changed = |name: &str| form.get(name) != form.get(&format!("was_{name}"));
    let mut changes: Vec<_> = TEXTS.into_iter().filter(|name| is_changed(name)).map(|name| (name, form.get(name).to_owned())).collect();
    for (name, text) in &mut changes {
        if *name == "due" && text.is_empty() {
            "none".clone_into(text);
        }
    }
    if is_changed("criteria") {
        let criteria: Vec<_> = lines(form.get("criteria")).collect();
        if criteria.is_empty() {
            return Err("Nothing was changed: an item needs at least one line below \"Done when\".".to_owned());
        }
        changes.extend(criteria);
    }
    Ok(changes)
}

/// One criterion in each line.
fn lines(text: &str) -> impl Iterator<Item = (&'static str, String)> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(|line| ("criterion", line.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(act: Act, fields: &[(&str, &str)]) -> Result<Vec<(String, String)>, String> {
        match describe(act, Some(&"i".into()), &Form::from(fields))? {
            Invoked::Command { given, .. } => Ok(given),
            Invoked::Button(id) => Ok(vec![("button".to_owned(), id)]),
        }
    }

    #[test]
    fn an_edit_sends_what_was_changed_only() {
        let all = [("what", "a"), ("was_what", "a"), ("how", "new"), ("was_how", "old"), ("due", ""), ("was_due", "Fri"), ("why", "")];
        let found = given(Act::Edit, &all).unwrap();
        let found: Vec<_> = found.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        assert_eq!(found, [("id", "i"), ("due", "none"), ("how", "new")]);
        assert!(given(Act::Edit, &[("criteria", ""), ("was_criteria", "x")]).unwrap_err().contains("Done when"));
        let criteria = given(Act::Edit, &[("criteria", "a\n\n b "), ("was_criteria", "a")]).unwrap();
        assert_eq!(criteria.iter().filter(|(name, _)| name == "criterion").count(), 2);
    }

    #[test]
    fn every_form_has_an_address() {
        for act in Act::OF_AN_ITEM {
            assert_eq!(Act::parse(act.as_str()), Some(act));
        }
        assert_eq!((Act::parse("add"), Act::parse("")), (None, None));
    }
}
