//! The operator's actions on the page: who may do them, what they change, and that each happens once.

use kernel::chat::message::{Channel, Place};
use kernel::commands::{Caller, CommandRequest, Invoked};
use kernel::ids::{ApprovalId, WorkItemId};
use kernel::money::{Limit, Refused};
use kernel::tools::approval::{Approval, ApprovalState, Risk};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, HOST, HeaderName, LOCATION, ORIGIN};
use reqwest::multipart::Form;
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde_json::json;
use teamroom::adapters::http::settings::ServerSettings;
use teamroom::features::backlog::button::WorkButton;
use teamroom::features::backlog::model::{Evidence, Execution, ExecutionKind, Judge, Origin, Owner, Urgency, Wait, WorkItem, WorkStatus};
use teamroom::features::backlog::store::ItemFilter;

use super::stage::{Stage, TOKEN, item, noon};
use crate::support::items::claim_item;
use crate::support::team::{Backing, on_one_store};

on_one_store!(
    an_item_is_added_and_its_history_says_by_whom,
    an_item_is_edited_and_assigned,
    an_item_is_cancelled_tried_again_and_put_first,
    a_question_is_answered_and_handed_back,
    a_result_is_accepted_or_rejected,
    a_call_is_approved_or_refused,
    the_other_questions_are_decided,
    a_form_that_is_sent_twice_acts_once,
    what_was_typed_is_not_lost_when_it_is_refused,
);

/// The name of the operator in every history.
const OPERATOR: &str = "the operator (kanban page)";

const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The answer of a page to a form, after the redirect.
struct Sent {
    page: String,
    /// The address of the page, with the answer's id.
    address: String,
}

fn to_form(fields: &[(&str, &str)]) -> Form {
    fields.iter().fold(Form::new(), |form, (name, text)| form.text((*name).to_owned(), (*text).to_owned()))
}

fn post(stage: &Stage, path: &str) -> RequestBuilder {
    stage.http.post(stage.url(path)).header(ORIGIN, format!("http://{}", stage.address))
}

/// The key in the forms of a page.
async fn read_key(stage: &Stage, page: &str) -> String {
    let page = stage.get(page).await;
    page.split("name=\"key\" value=\"").nth(1).expect("a key").split('"').next().expect("its end").to_owned()
}

async fn follow(stage: &Stage, response: Response) -> Sent {
    assert_eq!(response.status(), StatusCode::SEE_OTHER);
    let address = response.headers()[LOCATION].to_str().unwrap().to_owned();
    Sent { page: stage.get(&address).await.replace("&#x2f;", "/").replace("&quot;", "\"").replace("&#x27;", "'"), address }
}

/// Sends a form with a key of its own.
async fn send(stage: &Stage, item: &WorkItemId, act: &str, fields: &[(&str, &str)]) -> Sent {
    let page = format!("/backlog/items/{item}");
    let key = read_key(stage, &page).await;
    let fields: Vec<_> = [("key", key.as_str())].into_iter().chain(fields.iter().copied()).collect();
    follow(stage, post(stage, &format!("{page}/{act}")).multipart(to_form(&fields)).send().await.unwrap()).await
}

/// Presses a button, which must be on the page of the item.
async fn press(stage: &Stage, item: &WorkItemId, button: &WorkButton) -> Sent {
    let id = button.id();
    let page = stage.get(&format!("/backlog/items/{item}")).await;
    assert!(page.contains(&format!("value=\"{id}\"")), "{id} is not offered in {page}");
    send(stage, item, "press", &[("button", &id)]).await
}

async fn add(stage: &Stage, fields: &[(&str, &str)]) -> Sent {
    let key = read_key(stage, "/backlog/new").await;
    let fields: Vec<_> = [("key", key.as_str())].into_iter().chain(fields.iter().copied()).collect();
    follow(stage, post(stage, "/backlog/items").multipart(to_form(&fields)).send().await.unwrap()).await
}

async fn read(stage: &Stage, id: &WorkItemId) -> WorkItem {
    stage.store.find_item(id).await.unwrap().expect("the item")
}

async fn list(stage: &Stage) -> Vec<WorkItem> {
    stage.store.list_items(&ItemFilter { statuses: &WorkStatus::ALL, owner: None, scope: None, limit: 100 }).await.unwrap()
}

/// The notes of an item's history.
async fn notes(stage: &Stage, id: &WorkItemId) -> Vec<String> {
    stage.store.list_events(id).await.unwrap().into_iter().filter_map(|event| event.note).collect()
}

#[track_caller]
fn assert_says(sent: &Sent, words: &str) {
    assert!(sent.page.contains(words), "{words} is missing in {}", sent.page);
}

async fn an_item_is_added_and_its_history_says_by_whom(backing: Backing) {
    let stage = Stage::start(backing).await;
    let fields = [
        ("what", "Compare three suppliers"),
        ("owner", "Ben"),
        ("due", "2026-12-01"),
        ("urgency", "today"),
        ("how", "By price.\r\nAnd by time."),
        ("why", "It got dear."),
        ("criteria", "a table\r\n\r\nthree prices"),
        ("kind", "ask"),
    ];
    let sent = add(&stage, &fields).await;
    assert_says(&sent, "You added for Ben, due Tue 1 Dec, 18:00: \"Compare three suppliers\"");
    let [added] = list(&stage).await.try_into().expect("one item");
    assert!(sent.address.starts_with(&format!("/backlog/items/{}?sent=", added.id)), "{}", sent.address);
    assert_eq!(
        (added.what.as_str(), added.how.as_str(), added.urgency),
        ("Compare three suppliers", "By price.\nAnd by time.", Urgency::Today)
    );
    assert_eq!((added.origin, added.owner), (Origin::KanbanPage, Owner::Person { id: "discord:7".into(), name: "Ben".into() }));
    assert_eq!(
        (added.criteria, added.execution.map(|kind| kind.kind())),
        (vec!["a table".to_owned(), "three prices".into()], Some(ExecutionKind::Ask))
    );
    assert_eq!(notes(&stage, &added.id).await, [format!("added by {OPERATOR}")]);
    assert_says(&sent, &format!("Created by</dt>\n      <dd>{OPERATOR}"));

    let alone = add(&stage, &[("what", "Sweep the yard"), ("urgency", ""), ("kind", "")]).await;
    assert_says(&alone, "You added for");
}

async fn an_item_is_edited_and_assigned(backing: Backing) {
    let stage = Stage::start(backing).await;
    let one = WorkItem { how: "By hand.".into(), criteria: vec!["clean".into()], ..item("Sweep the yard", WorkStatus::Ready, 5) };
    stage.insert(std::slice::from_ref(&one)).await;
    let before = [
        ("was_what", "Sweep the yard"),
        ("was_how", "By hand."),
        ("was_criteria", "clean"),
        ("was_owner", "Vince"),
        ("was_urgency", "backlog"),
    ];
    let edit = async |fields: &[(&str, &str)]| {
        let mut all: Vec<(&str, &str)> = before.to_vec();
        for (was, value) in before {
            let name = was.trim_start_matches("was_");
            if !fields.iter().any(|(known, _)| *known == name) {
                all.push((name, value));
            }
        }
        all.extend(fields);
        send(&stage, &one.id, "edit", &all).await
    };
    // Somebody else changes another field while the form is open.
    let sent = send(&stage, &one.id, "edit", &[("why", "Guests come."), ("was_why", "")]).await;
    assert_says(&sent, "You changed an item: \"Sweep the yard\"");
    let sent = edit(&[("what", "Sweep the whole yard"), ("urgency", "today"), ("criteria", "clean\r\ndry")]).await;
    assert_says(&sent, "You changed an item: \"Sweep the whole yard\"");
    let edited = read(&stage, &one.id).await;
    assert_eq!((edited.what.as_str(), edited.how.as_str(), edited.why.as_str()), ("Sweep the whole yard", "By hand.", "Guests come."));
    assert_eq!((edited.urgency, edited.criteria), (Urgency::Today, vec!["clean".to_owned(), "dry".into()]));
    let sent = send(&stage, &one.id, "edit", &[("due", "friday"), ("was_due", "")]).await;
    assert_says(&sent, "due Fri 27 Nov");
    send(&stage, &one.id, "edit", &[("due", ""), ("was_due", "Fri 27 Nov, 18:00")]).await;
    assert_eq!(read(&stage, &one.id).await.due, None);

    let sent = send(&stage, &one.id, "assign", &[("owner", "kelly")]).await;
    assert_says(&sent, "You changed an item");
    assert_eq!(read(&stage, &one.id).await.owner, Owner::Persona("kelly".into()));
    let changes = notes(&stage, &one.id).await;
    assert_eq!(changes.iter().filter(|note| **note == format!("changed by {OPERATOR}")).count(), 5, "{changes:?}");

    for (act, fields, told) in [
        ("assign", vec![("owner", "Nobody Known")], "nobody on the team is called \"Nobody Known\""),
        ("assign", vec![("owner", "")], "Has no owner"),
        ("edit", vec![("due", "when pigs fly"), ("was_due", "")], "no due date that I can read"),
        ("edit", vec![("urgency", "yesterday"), ("was_urgency", "")], "cannot be \"yesterday\""),
        ("edit", vec![("what", ""), ("was_what", "x")], "does not say what to do"),
        ("edit", vec![("criteria", " \n"), ("was_criteria", "x")], "needs at least one line"),
        ("edit", vec![], "nothing to change"),
    ] {
        let sent = send(&stage, &one.id, act, &fields).await;
        assert!(sent.page.to_lowercase().contains(&told.to_lowercase()) && sent.page.contains("role=\"alert\""), "{told}: {}", sent.page);
    }
    assert_eq!(read(&stage, &one.id).await.owner, Owner::Persona("kelly".into()));
}

async fn an_item_is_cancelled_tried_again_and_put_first(backing: Backing) {
    let stage = Stage::start(backing).await;
    let one = item("Sweep the yard", WorkStatus::Ready, 5);
    stage.insert(std::slice::from_ref(&one)).await;
    let sent = send(&stage, &one.id, "next", &[]).await;
    assert_says(&sent, "You moved this to the top");
    assert_eq!(read(&stage, &one.id).await.urgency, Urgency::Now);
    let sent = press(&stage, &one.id, &WorkButton::Cancel(one.id.clone())).await;
    assert_says(&sent, "You cancelled \"Sweep the yard\"");
    assert_eq!(read(&stage, &one.id).await.status, WorkStatus::Cancelled);
    let sent = press(&stage, &one.id, &WorkButton::Retry(one.id.clone())).await;
    assert_says(&sent, "You restarted");
    assert_eq!(read(&stage, &one.id).await.status, WorkStatus::New);
    let history = notes(&stage, &one.id).await;
    for said in ["to be done next, says", "cancelled by", "to be tried again, says"] {
        assert!(history.contains(&format!("{said} {OPERATOR}")), "{said} in {history:?}");
    }
    let sent = send(&stage, &one.id, "answer", &[("text", "yes")]).await;
    assert_says(&sent, "was already decided");
}

fn ask_ben() -> WorkItem {
    let ben = Owner::Person { id: "discord:7".into(), name: "Ben".into() };
    let execution = Some(Execution::ask(ben.clone(), "Which port?".into()));
    let wait = Some(Wait::Answer { of: "Ben".into() });
    WorkItem { owner: ben, persona: Some("kelly".into()), execution, wait, ..item("Ask Ben for the port", WorkStatus::Waiting, 5) }
}

async fn a_question_is_answered_and_handed_back(backing: Backing) {
    let stage = Stage::start(backing).await;
    let asked = [
        ask_ben(),
        WorkItem { what: "Ask Ben for the host".into(), ..ask_ben() },
        WorkItem { what: "Ask Ben for tea".into(), ..ask_ben() },
    ];
    stage.insert(&asked).await;
    let sent = send(&stage, &asked[0].id, "answer", &[("text", "")]).await;
    assert_says(&sent, "The answer is empty");
    let sent = send(&stage, &asked[0].id, "answer", &[("text", "It is <b>8080</b>.")]).await;
    assert_says(&sent, "Noted: done.");
    let answered = read(&stage, &asked[0].id).await;
    assert_eq!(answered.status, WorkStatus::Done);
    assert!(matches!(&answered.evidence[..], [Evidence::Answer { by, text, .. }] if by == OPERATOR && text == "It is <b>8080</b>."));
    assert_eq!(notes(&stage, &answered.id).await.last().unwrap(), &format!("{OPERATOR}: It is <b>8080</b>."));

    press(&stage, &asked[1].id, &WorkButton::Unknown(asked[1].id.clone())).await;
    assert!(matches!(read(&stage, &asked[1].id).await.wait, Some(Wait::Decision { .. })));
    assert_eq!(notes(&stage, &asked[1].id).await, [format!("{OPERATOR} does not know")]);
    let sent = press(&stage, &asked[2].id, &WorkButton::NotNeeded(asked[2].id.clone())).await;
    assert_says(&sent, "Noted: not needed.");
    assert_eq!(read(&stage, &asked[2].id).await.status, WorkStatus::Cancelled);
}

async fn a_result_is_accepted_or_rejected(backing: Backing) {
    let stage = Stage::start(backing).await;
    let made =
        |what: &str| WorkItem { persona: Some("vince".into()), execution: Some(Execution::Write), ..item(what, WorkStatus::InReview, 5) };
    let items = [made("write the post"), made("draw the plan")];
    stage.insert(&items).await;
    let sent = press(&stage, &items[0].id, &WorkButton::Accept(items[0].id.clone())).await;
    assert_says(&sent, "Noted: accepted.");
    let accepted = read(&stage, &items[0].id).await;
    assert_eq!(accepted.status, WorkStatus::Done);
    assert!(matches!(&accepted.evidence[..], [Evidence::Review { by: Judge::Person(by), .. }] if by == OPERATOR));
    assert!(notes(&stage, &accepted.id).await.contains(&format!("accepted by {OPERATOR}")));
    let sent = press(&stage, &items[1].id, &WorkButton::Reject(items[1].id.clone())).await;
    assert_says(&sent, "You rejected \"draw the plan\"");
    assert_eq!(read(&stage, &items[1].id).await.status, WorkStatus::Ready);
    assert_eq!(notes(&stage, &items[1].id).await, [format!("rejected by {OPERATOR}")]);
    let late = send(&stage, &items[0].id, "press", &[("button", &WorkButton::Reject(items[0].id.clone()).id())]).await;
    assert_says(&late, "is already done");
}

async fn a_call_is_approved_or_refused(backing: Backing) {
    let stage = Stage::start(backing).await;
    for (verb, state) in [("Approve", ApprovalState::Allowed), ("Refuse", ApprovalState::Refused)] {
        let work = WorkItem { persona: Some("vince".into()), execution: Some(Execution::Research), ..item(verb, WorkStatus::Ready, 5) };
        stage.insert(std::slice::from_ref(&work)).await;
        let claimed = claim_item(&stage.store, noon()).await;
        let approval = Approval {
            id: ApprovalId::generate(),
            item: work.id.clone(),
            run: claimed.item.run,
            tool: "http_get".into(),
            arguments: json!({"url": "http://wiki.internal/"}),
            risk: Risk::ReachOut,
            state: ApprovalState::Asked,
            by: None,
            asked_at: noon(),
            decided_at: None,
        };
        assert!(stage.store.ask_approval(&claimed.job, &approval, &[], noon()).await.unwrap());
        let button = if state == ApprovalState::Allowed { WorkButton::Allow } else { WorkButton::Refuse }(approval.id.clone());
        // A button cannot be pressed on another item's page.
        let other = item("another", WorkStatus::Done, 1);
        stage.insert(std::slice::from_ref(&other)).await;
        let strayed = post(&stage, &format!("/backlog/items/{}/press", other.id)).multipart(to_form(&[("button", &button.id())]));
        assert_eq!(strayed.send().await.unwrap().status(), StatusCode::BAD_REQUEST);
        let sent = press(&stage, &work.id, &button).await;
        assert_says(&sent, &format!("You {} the call of http_get.", if verb == "Approve" { "allowed" } else { "refused" }));
        let decided = stage.store.find_approval(&approval.id).await.unwrap().unwrap();
        assert_eq!((decided.state, decided.by.as_deref()), (state, Some(OPERATOR)));
        let history = notes(&stage, &work.id).await;
        assert_eq!(history.last().unwrap(), &format!("http_get {} by {OPERATOR}", state.as_str()));
        stage.store.cancel_item(&work.id, "test", &[], noon()).await.unwrap();
    }
}

async fn the_other_questions_are_decided(backing: Backing) {
    let stage = Stage::start(backing).await;
    let waiting = |what: &str, wait: Wait| WorkItem { wait: Some(wait), ..item(what, WorkStatus::Waiting, 5) };
    let limit = Limit::Day;
    let budget = Wait::Budget { refused: Refused { limit, spent: 1, allowed: 1 }, day: None };
    let items = [
        waiting("of which kind", Wait::Kind { of: None }),
        waiting("twice", Wait::Duplicate { of: "x".into(), what: "once".into() }),
        waiting("dear", budget),
        waiting("stuck", Wait::Decision { why: "it crashed".into() }),
        waiting("unknown", Wait::Help { of: None }),
    ];
    stage.insert(&items).await;
    let id = |at: usize| items[at].id.clone();
    for (at, button, noted) in [
        (0, WorkButton::Kind(id(0), ExecutionKind::Research), format!("{OPERATOR} says: research")),
        (1, WorkButton::Anyway(id(1)), format!("it need not wait any more, says {OPERATOR}")),
        (2, WorkButton::Raise(id(2)), format!("it need not wait any more, says {OPERATOR}")),
        (3, WorkButton::Retry(id(3)), format!("to be tried again, says {OPERATOR}")),
        (4, WorkButton::NotNeeded(id(4)), format!("not needed, says {OPERATOR}: not needed")),
    ] {
        press(&stage, &id(at), &button).await;
        assert_ne!(read(&stage, &id(at)).await.status, WorkStatus::Waiting, "{button:?}");
        assert_eq!(notes(&stage, &id(at)).await.last(), Some(&noted), "{button:?}");
    }
}

async fn a_form_that_is_sent_twice_acts_once(backing: Backing) {
    let stage = Stage::start(backing).await;
    let key = read_key(&stage, "/backlog/new").await;
    let fields = [("key", key.as_str()), ("what", "Sweep the yard"), ("anyway", "yes")];
    let once = async || post(&stage, "/backlog/items").multipart(to_form(&fields)).send().await.unwrap();
    let (first, second) = tokio::join!(once(), once());
    let third = once().await;
    let [first, second, third] = [follow(&stage, first).await, follow(&stage, second).await, follow(&stage, third).await];
    assert_eq!((&first.address, &first.address), (&second.address, &third.address));
    assert_eq!(list(&stage).await.len(), 1);
    // A person went back and changed the words. With the same key these words add another item.
    let changed = [("key", key.as_str()), ("what", "Water the plants")];
    follow(&stage, post(&stage, "/backlog/items").multipart(to_form(&changed)).send().await.unwrap()).await;
    assert_eq!(list(&stage).await.len(), 2);

    // A reload of the page with the answer, or a copied address, does nothing.
    let found = list(&stage).await;
    stage.get(&first.address).await;
    stage.get("/backlog/new?sent=unknown").await;
    assert_eq!(list(&stage).await, found);

    // A form that was opened before the last start does nothing, and the answer says so.
    for old in ["", "1", "018f-1", "<script>"] {
        let fields = [("key", old), ("what", "Feed the cat")];
        let sent = follow(&stage, post(&stage, "/backlog/items").multipart(to_form(&fields)).send().await.unwrap()).await;
        assert_says(&sent, "opened before the team was last started");
        assert_says(&sent, "value=\"Feed the cat\"");
    }
    assert_eq!(list(&stage).await, found);
}

async fn what_was_typed_is_not_lost_when_it_is_refused(backing: Backing) {
    let stage = Stage::start(backing).await;
    let one = item("Sweep the yard", WorkStatus::Ready, 5);
    let asked = ask_ben();
    stage.insert(&[one.clone(), asked.clone()]).await;
    let hostile = "</textarea><script>alert(1)</script>";
    let sent =
        add(&stage, &[("what", "sweep the yard"), ("how", hostile), ("owner", "Ben"), ("criteria", "a\nb"), ("kind", "remind")]).await;
    assert!(sent.address.starts_with("/backlog/new?sent="), "{}", sent.address);
    for words in [
        "Looks like the open item \"Sweep the yard\"",
        "Tick \"Add it anyway\"",
        "value=\"sweep the yard\"",
        "value=\"Ben\"",
        "a\nb</textarea>",
    ] {
        assert_says(&sent, words);
    }
    assert_says(&sent, "<option value=\"remind\" selected>");
    assert!(sent.page.contains("&lt;script&gt;alert(1)") && !sent.page.contains("<script>alert"), "{}", sent.page);
    let anyway = add(&stage, &[("what", "sweep the yard"), ("anyway", "yes")]).await;
    assert_says(&anyway, "You added");

    let long = "x".repeat(161);
    for (what, told) in [("", "\"what\" is missing"), ("?!", "does not say what to do"), (long.as_str(), "The limit is 160")] {
        let sent = add(&stage, &[("what", what), ("why", "kept")]).await;
        assert!(sent.page.to_lowercase().contains(&told.to_lowercase()) && sent.page.contains("kept</textarea>"), "{told}: {}", sent.page);
    }
    let sent = send(&stage, &one.id, "edit", &[("what", "Sweep all"), ("due", "when pigs fly"), ("was_what", "x")]).await;
    assert!(sent.page.contains("<details open>") && sent.page.contains("value=\"when pigs fly\""), "{}", sent.page);
    assert_says(&sent, "value=\"Sweep all\"");
    let sent = send(&stage, &one.id, "assign", &[("owner", "Nobody Known")]).await;
    assert_says(&sent, "value=\"Nobody Known\"");
    let words = "y".repeat(2001);
    let sent = send(&stage, &asked.id, "answer", &[("text", &words)]).await;
    assert!(sent.page.contains(&words) && sent.page.contains("The limit is 2000"), "{}", sent.page);
}

#[tokio::test]
async fn only_our_own_page_acts() {
    let stage = Stage::start(Backing::Sqlite).await;
    let one = item("Sweep the yard", WorkStatus::Ready, 5);
    stage.insert(std::slice::from_ref(&one)).await;
    let (origin, cancel) = (format!("http://{}", stage.address), WorkButton::Cancel(one.id.clone()).id());
    let key = read_key(&stage, "/backlog/new").await;
    let ask = async |lines: &[(HeaderName, &str)], path: &str| {
        let request =
            stage.http.request(Method::POST, stage.url(path)).multipart(to_form(&[("key", &key), ("button", &cancel), ("what", "Pwn")]));
        lines.iter().fold(request, |request, (name, value)| request.header(name.clone(), *value)).send().await.unwrap()
    };
    let press = format!("/backlog/items/{}/press", one.id);
    for (lines, status) in [
        (vec![], StatusCode::FORBIDDEN),
        (vec![(ORIGIN, "https://evil.example")], StatusCode::FORBIDDEN),
        (vec![(ORIGIN, "null")], StatusCode::FORBIDDEN),
        (vec![(ORIGIN, "http://127.0.0.1:1"), (SITE, "same-site")], StatusCode::FORBIDDEN),
        (vec![(SITE, "cross-site")], StatusCode::FORBIDDEN),
        (vec![(ORIGIN, &origin), (SITE, "none")], StatusCode::FORBIDDEN),
        (vec![(ORIGIN, "https://evil.example"), (SITE, "same-origin")], StatusCode::FORBIDDEN),
        (vec![(HOST, "evil.example"), (ORIGIN, "http://evil.example"), (SITE, "same-origin")], StatusCode::MISDIRECTED_REQUEST),
    ] {
        for path in [press.as_str(), "/backlog/items"] {
            assert_eq!(ask(&lines, path).await.status(), status, "{path} with {lines:?}");
        }
    }
    assert_eq!(list(&stage).await, [read(&stage, &one.id).await]);
    assert_eq!(read(&stage, &one.id).await.status, WorkStatus::Ready);
    assert_eq!(ask(&[(SITE, "same-origin")], &press).await.status(), StatusCode::SEE_OTHER);
    assert_eq!(read(&stage, &one.id).await.status, WorkStatus::Cancelled);
}

#[tokio::test]
async fn with_a_token_only_who_has_it_acts() {
    for listen in ["127.0.0.1:0", "0.0.0.0:0"] {
        let stage = Stage::start_with_token(listen).await;
        let bearer = format!("Bearer {TOKEN}");
        let add = async |lines: &[(HeaderName, &str)], key: &str| {
            let request = post(&stage, "/backlog/items").multipart(to_form(&[("key", key), ("what", "Sweep the yard")]));
            lines.iter().fold(request, |request, (name, value)| request.header(name.clone(), *value)).send().await.unwrap().status()
        };
        let page = stage.http.get(stage.url("/backlog/new")).header(AUTHORIZATION, &bearer).send().await.unwrap().text().await.unwrap();
        let key = page.split("name=\"key\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        assert_eq!(add(&[], &key).await, StatusCode::UNAUTHORIZED);
        assert_eq!(add(&[(COOKIE, &format!("teamroom_kanban={TOKEN}"))], &key).await, StatusCode::UNAUTHORIZED);
        assert_eq!(add(&[(AUTHORIZATION, "Bearer wrong-horse-battery")], &key).await, StatusCode::UNAUTHORIZED);
        assert!(list(&stage).await.is_empty());
        let signed = post(&stage, "/backlog/sign-in").multipart(to_form(&[("token", TOKEN)])).send().await.unwrap();
        let cookie = signed.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
        assert_eq!(add(&[(COOKIE, &cookie)], &key).await, StatusCode::SEE_OTHER);
        assert_eq!(list(&stage).await.len(), 1);
    }
    let hidden = Stage::start_with(Backing::Sqlite, "0.0.0.0:0", ServerSettings::default()).await;
    let response = post(&hidden, "/backlog/items").multipart(to_form(&[("what", "Sweep")])).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn what_is_no_form_of_ours_does_nothing() {
    let stage = Stage::start(Backing::Sqlite).await;
    let one = item("Sweep the yard", WorkStatus::Ready, 5);
    stage.insert(std::slice::from_ref(&one)).await;
    let page = format!("/backlog/items/{}", one.id);
    let large = "x".repeat(600 * 1024);
    for (path, body, status) in [
        ("/backlog/items/nothing/press".to_owned(), to_form(&[("button", "work:cancel:nothing")]), StatusCode::NOT_FOUND),
        (format!("/backlog/items/{}/press", one.short_id()), to_form(&[]), StatusCode::NOT_FOUND),
        ("/backlog/items/%00/press".into(), to_form(&[]), StatusCode::NOT_FOUND),
        (format!("{page}/burn"), to_form(&[]), StatusCode::NOT_FOUND),
        (format!("{page}/press"), to_form(&[]), StatusCode::BAD_REQUEST),
        (format!("{page}/press"), to_form(&[("button", "work:cancel:other")]), StatusCode::BAD_REQUEST),
        (format!("{page}/press"), to_form(&[("button", "standup:cancel:x")]), StatusCode::BAD_REQUEST),
        (format!("{page}/edit"), to_form(&[("how", &large)]), StatusCode::PAYLOAD_TOO_LARGE),
        ("/backlog/items".into(), to_form(&vec![("what", "x"); 50]), StatusCode::BAD_REQUEST),
    ] {
        let response = post(&stage, &path).multipart(body).send().await.unwrap();
        assert_eq!(response.status(), status, "{path}");
        assert!(response.text().await.unwrap().contains(if status == StatusCode::NOT_FOUND {
            "does not exist"
        } else {
            "Nothing was done"
        }));
    }
    for (kind, body) in [
        ("application/json", "{}"),
        ("application/x-www-form-urlencoded", "what=x"),
        ("multipart/form-data", "x"),
        ("multipart/form-data; boundary=b", "--b\r\ncut"),
    ] {
        let response = post(&stage, "/backlog/items").header(CONTENT_TYPE, kind).body(body).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{kind}");
    }
    assert_eq!(list(&stage).await.len(), 1);
    assert_eq!(read(&stage, &one.id).await.status, WorkStatus::Ready);

    // If an item cannot be stored, the answer says so and the form keeps its text.
    let key = read_key(&stage, "/backlog/new").await;
    let nothing = post(&stage, "/backlog/items").multipart(to_form(&[("key", &key), ("what", "a\0b <i>")]));
    assert_says(&follow(&stage, nothing.send().await.unwrap()).await, "You added");
    let key = read_key(&stage, "/backlog/new").await;
    stage.store.close().await;
    let response = post(&stage, "/backlog/items").multipart(to_form(&[("key", &key), ("what", "Later")])).send().await.unwrap();
    let shown = follow(&stage, response).await;
    assert!(shown.page.contains("database is not responding") && shown.page.contains("value=\"Later\""), "{}", shown.page);
}

#[tokio::test]
async fn the_list_of_the_chat_links_to_the_page() {
    let stage = Stage::start(Backing::Sqlite).await;
    let invoked = Invoked::Command { path: "backlog list".into(), given: Vec::new() };
    let reply = stage.commands.run(CommandRequest { invoked, caller: Caller::CommandLine, channel: None }).await;
    assert!(reply.text.ends_with("Kanban page: http://127.0.0.1:9464/backlog"), "{}", reply.text);

    let one = item("renew it", WorkStatus::Ready, 5);
    stage.insert(std::slice::from_ref(&one)).await;
    let invoked = Invoked::Command { path: "backlog show".into(), given: vec![("id".into(), one.id.to_string())] };
    let caller = Caller::Person { id: "7".into(), name: "Ben".into(), roles: Vec::new() };
    let channel = Channel { id: "discord:2".into(), name: "general".into(), place: Place::Server, private: false, shared: false };
    let reply = stage.commands.run(CommandRequest { invoked, caller, channel: Some(channel) }).await;
    let end = format!("On the kanban page: http://127.0.0.1:9464/backlog/items/{}", one.id);
    assert!(reply.text.ends_with(&end), "{}", reply.text);
}
