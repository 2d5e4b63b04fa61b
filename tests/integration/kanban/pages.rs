//! The content of the kanban page.

use chrono::TimeDelta;
use kernel::db::sql;
use kernel::ids::ApprovalId;
use kernel::money::Money;
use kernel::tools::CallStatus;
use kernel::tools::approval::{Approval, ApprovalState, Risk};
use reqwest::StatusCode;
use serde_json::json;
use teamroom::features::backlog::model::{
    Artefact, ArtefactFacts, Evidence, Execution, JournalEntry, Judge, Origin, Owner, ToolCall, Urgency, Wait, WorkItem, WorkStatus,
    media_type_of,
};
use teamroom::features::backlog::store::{End, RunEnd};

use super::stage::{Stage, item, noon};
use crate::support::items::claim_item;
use crate::support::team::{Backing, on_one_store};

on_one_store!(
    each_item_stands_in_its_column_with_what_there_is_to_know,
    a_column_shows_what_is_looked_at_first_and_counts_the_rest,
    items_are_found_by_owner_words_and_id,
    an_item_opens_with_all_that_is_known_of_it,
    an_item_leads_to_the_message_in_which_it_was_asked_for,
    the_journal_of_a_run_is_shown_with_what_was_refused_and_asked,
    hostile_words_stay_words,
    files_of_an_item_are_previewed_and_downloaded_and_nothing_runs,
);

/// The titles of the cards in a column.
fn titles(board: &serde_json::Value, column: &str) -> Vec<String> {
    let columns = board["columns"].as_array().expect("columns");
    let column = columns.iter().find(|known| known["id"] == column).unwrap_or_else(|| panic!("no column {column}"));
    column["cards"].as_array().expect("cards").iter().map(|card| card["what"].as_str().expect("a title").to_owned()).collect()
}

async fn each_item_stands_in_its_column_with_what_there_is_to_know(backing: Backing) {
    let stage = Stage::start(backing).await;
    let file = Evidence::File { path: "report.md".into(), sha256: "ab12".into(), bytes: 410, form: "Markdown, 3 headings".into() };
    let review = Evidence::Review { by: Judge::Person("Ada".into()), note: "clear".into(), at: noon() };
    let waits = WorkItem {
        wait: Some(Wait::Answer { of: "Ben".into() }),
        owner: Owner::Person { id: "7".into(), name: "Ben".into() },
        persona: Some("kelly".into()),
        ..item("ask for the figures", WorkStatus::Waiting, 180)
    };
    let done = WorkItem {
        evidence: vec![file, review],
        outcome: Some("Checkout is fast again.".into()),
        cost: Money(123_400),
        ..item("profile the checkout", WorkStatus::Done, 3000)
    };
    let all = [
        item("plan the sale", WorkStatus::New, 1),
        item("measure", WorkStatus::Ready, 2),
        item("decide", WorkStatus::Blocked, 3),
        WorkItem { urgency: Urgency::Now, ..item("roll back", WorkStatus::InProgress, 4) },
        item("write the post", WorkStatus::InReview, 5),
        waits,
        done,
        WorkItem { outcome: Some("No source.".into()), attempts: 3, ..item("find the price", WorkStatus::Failed, 6) },
        item("old idea", WorkStatus::Cancelled, 7),
    ];
    stage.insert(&all).await;

    let board = stage.json("/backlog.json").await;
    assert_eq!(titles(&board, "next"), ["measure", "plan the sale", "decide"]);
    assert_eq!(titles(&board, "in-progress"), ["roll back"]);
    assert_eq!(titles(&board, "waiting"), ["ask for the figures", "write the post"]);
    assert_eq!(titles(&board, "done"), ["profile the checkout"]);
    assert_eq!(titles(&board, "ended"), ["find the price", "old idea"]);
    let card = &board["columns"][3]["cards"][0];
    assert_eq!(
        (card["evidence"].as_str(), card["cost"].as_str(), card["age"].as_str()),
        (Some("1 file, 1 review"), Some("$0.12"), Some("2 d ago"))
    );
    assert_eq!(card["short_id"], all[6].short_id());

    let page = stage.get("/backlog").await;
    for words in [
        "Night &lt;shift&gt;",
        "Waits for an answer from Ben",
        "Evidence: 1 file, 1 review",
        "No source.",
        "tried 3×",
        "$0.12",
        "3 h",
        "Thu 19 Nov, 10:00 (2 d ago)",
    ] {
        assert!(page.contains(words), "{words} is missing in {page}");
    }
    let vince = page.split("<li class=\"card ready\"").nth(1).expect("a card");
    assert!(vince.split("</li>").next().expect("its end").contains("fill=\"#"), "the owner's colour: {vince}");
    // Other tests share the metrics, so the counts are those of the last request.
    let metrics = stage.get("/metrics").await;
    for status in WorkStatus::ALL {
        let line = format!("teamroom_work_items{{status=\"{}\"}} ", status.as_str());
        assert!(metrics.contains(&line), "{line} is missing in {metrics}");
    }
}

async fn a_column_shows_what_is_looked_at_first_and_counts_the_rest(backing: Backing) {
    let stage = Stage::start(backing).await;
    let mut items: Vec<_> = (0..4000).map(|number| item(&format!("blocked {number}"), WorkStatus::Blocked, number)).collect();
    items.extend((0..6000).map(|number| item(&format!("done {number}"), WorkStatus::Done, number)));
    items.push(item("the one that is ready", WorkStatus::Ready, 9));
    for some in items.chunks(1000) {
        stage.insert(some).await;
    }
    let started = std::time::Instant::now();
    let page = stage.get("/backlog").await;
    println!("{backing:?}: a board of 10,000 items took {:?} and {} bytes", started.elapsed(), page.len());
    assert!(page.len() < 300_000, "{} bytes", page.len());
    assert!(page.contains("and 3901 more") && page.contains("and 5900 more"), "what is left out is said");

    let board = stage.json("/backlog.json").await;
    let (next, done) = (titles(&board, "next"), titles(&board, "done"));
    assert_eq!((next.len(), next[0].as_str()), (100, "the one that is ready"), "what is claimed next comes first");
    assert_eq!((done.len(), done[0].as_str(), done[99].as_str()), (100, "done 0", "done 99"), "what moved last comes first");
    assert_eq!(board["columns"][3]["count"], 6000);
}

async fn items_are_found_by_owner_words_and_id(backing: Backing) {
    let stage = Stage::start(backing).await;
    let ben = Owner::Person { id: "7".into(), name: "Ben <b>".into() };
    let items = [
        item("Measure 100% of the_calls", WorkStatus::Ready, 3),
        item("measure 100 calls", WorkStatus::Ready, 2),
        WorkItem { owner: ben, ..item("answer!", WorkStatus::Ready, 1) },
    ];
    stage.insert(&items).await;
    let found = async |query: &str| titles(&stage.json(&format!("/backlog.json?{query}")).await, "next");
    assert_eq!(found("text=MEASURE").await.len(), 2);
    assert_eq!(found("text=100%25").await, ["Measure 100% of the_calls"], "a sign of patterns is a sign");
    assert_eq!(found("text=the_c").await, ["Measure 100% of the_calls"]);
    assert_eq!(found("text=answer!").await, ["answer!"]);
    assert_eq!(found("text=%00nothing'%20OR%201=1").await, Vec::<String>::new());
    assert_eq!(found(&format!("text={}", items[1].short_id())).await, ["measure 100 calls"]);
    assert_eq!(found("owner=persona:vince").await.len(), 2);
    assert_eq!(found("owner=person:7").await, ["answer!"]);
    assert_eq!(found("owner=person:7&text=measure").await, Vec::<String>::new());
    assert_eq!(found("owner=nonsense&unknown=1").await.len(), 3, "what is not understood narrows nothing");

    let page = stage.get("/backlog?owner=person:7").await;
    assert!(page.contains("<option value=\"person:7\" selected>Ben &lt;b&gt;</option>"), "{page}");
    assert!(page.contains("value=\"persona:kelly\""), "every persona may be asked for");
}

async fn an_item_opens_with_all_that_is_known_of_it(backing: Backing) {
    let stage = Stage::start(backing).await;
    let needed = item("measure first", WorkStatus::Done, 9);
    let hash = "ab".repeat(32);
    let whole = WorkItem {
        how: "By profiling it.".into(),
        why: "Checkout got slow.".into(),
        criteria: vec!["the profile is posted".into()],
        depends_on: vec![needed.id.clone()],
        evidence: vec![Evidence::File { path: "profile.md".into(), sha256: hash.clone(), bytes: 9, form: "Markdown".into() }],
        origin: Origin::Person { id: "1".into(), name: "Ada".into(), message: None },
        not_before: Some(noon() + TimeDelta::hours(1)),
        ..item("profile the checkout", WorkStatus::Ready, 5)
    };
    stage.insert(&[needed.clone(), whole.clone()]).await;
    let page = stage.get(&format!("/backlog/items/{}", whole.id)).await;
    for words in
        ["By profiling it.", "Checkout got slow.", "the profile is posted", "measure first", &hash, "Ada", "Sat 21 Nov, 13:00", "ready"]
    {
        assert!(page.contains(words), "{words} is missing in {page}");
    }
    assert!(page.contains(&format!("href=\"/backlog/items/{}\"", needed.id)), "a link to what it needs");

    for unknown in ["nothing", "%00", "..%2f..%2fetc%2fpasswd"] {
        let response = stage.http.get(stage.url(&format!("/backlog/items/{unknown}"))).send().await.expect("an answer");
        assert_eq!(response.status(), StatusCode::NOT_FOUND, "{unknown}");
        assert!(response.text().await.expect("a page").contains("This item does not exist."));
    }
}

async fn an_item_leads_to_the_message_in_which_it_was_asked_for(backing: Backing) {
    let stage = Stage::start(backing).await;
    let asked = |message: &str| Origin::Person { id: "1".into(), name: "Ada".into(), message: Some(message.into()) };
    let said = WorkItem { origin: asked("discord:9"), due: Some(noon() - TimeDelta::days(3)), ..item("renew it", WorkStatus::Ready, 90) };
    let forgotten = WorkItem { origin: asked("discord:10"), ..item("forget it", WorkStatus::Ready, 5) };
    stage.insert(&[said.clone(), forgotten.clone()]).await;
    let mut transaction = stage.store.db().begin().await.unwrap();
    sql!(
        transaction.on(),
        execute,
        "INSERT INTO inbox (id, channel, message, complete, sent_at, claimed_at) VALUES ('discord:9', 'discord:2', '{}', $2, $1, $1)",
        noon(),
        true
    )
    .unwrap();
    transaction.commit().await.unwrap();
    let show = async |item: &WorkItem| stage.get(&format!("/backlog/items/{}", item.id)).await.replace("&#x2f;", "/");
    let page = show(&said).await;
    for words in
        ["href=\"https://chat.example/discord:2/discord:9\"", "Sat 21 Nov, 10:30 (1 h ago)", "overdue since Wed 18 Nov, 12:00 (3 d ago)"]
    {
        assert!(page.contains(words), "{words} is missing in {page}");
    }
    assert!(!show(&forgotten).await.contains("Show it in the chat"), "the message is not remembered any more");
}

async fn the_journal_of_a_run_is_shown_with_what_was_refused_and_asked(backing: Backing) {
    let stage = Stage::start(backing).await;
    let work = WorkItem { persona: Some("vince".into()), execution: Some(Execution::Research), ..item("find it", WorkStatus::Ready, 5) };
    stage.insert(std::slice::from_ref(&work)).await;
    let claimed = claim_item(&stage.store, noon()).await;
    let arguments = json!({"url": "http://169.254.169.254/<b>"});
    let call = ToolCall { id: "c1".into(), name: "fetch_page".into(), arguments: arguments.clone() };
    let entries = [
        JournalEntry::Asked { system: "You are Vince.".into(), message: "Find it.".into(), tainted: true, remarks: Vec::new() },
        JournalEntry::Replied { text: "I look <i>there</i>.".into(), calls: vec![call], model: "scripted/scripted-1".into() },
        JournalEntry::Returned { call: "c1".into(), text: "not public".into(), outside: false, status: CallStatus::Refused, trace: None },
        JournalEntry::Replied { text: "long ".repeat(2000), calls: Vec::new(), model: "scripted/scripted-1".into() },
    ];
    assert!(stage.store.append_journal(&claimed.job, &claimed.item, &entries, noon()).await.expect("the store answers"));
    let approval = Approval {
        id: ApprovalId::generate(),
        item: work.id.clone(),
        run: claimed.item.run,
        tool: "http_get".into(),
        arguments,
        risk: Risk::ReachOut,
        state: ApprovalState::Asked,
        by: None,
        asked_at: noon(),
        decided_at: None,
    };
    assert!(stage.store.ask_approval(&claimed.job, &approval, &[], noon()).await.expect("the store answers"));

    let page = stage.get(&format!("/backlog/items/{}", work.id)).await;
    for words in [
        "Log of attempt 1",
        "scripted&#x2f;scripted-1 replied",
        "I look &lt;i&gt;there&lt;&#x2f;i&gt;.",
        "calls fetch_page",
        "<li class=\"refused\">",
        "not public",
        "includes outside text",
        "(9999 characters in all)",
        "http_get (reach-out)",
        "Waits for approval",
        "in progress → <b>waiting</b>",
    ] {
        assert!(page.contains(words), "{words} is missing in {page}");
    }
    assert!(!page.contains("<b>\"}"), "{page}");
}

async fn hostile_words_stay_words(backing: Backing) {
    let stage = Stage::start(backing).await;
    let hostile = "\"><script src=//evil.example></script><img src=x onerror=\"alert(1)\">{{ 7 * 7 }}";
    let spoiled = WorkItem {
        how: hostile.into(),
        why: hostile.into(),
        criteria: vec![hostile.into()],
        owner: Owner::Person { id: hostile.into(), name: hostile.into() },
        wait: Some(Wait::Decision { why: hostile.into() }),
        outcome: Some(hostile.into()),
        evidence: vec![Evidence::Link { url: format!("javascript:{hostile}"), sha256: hostile.into(), at: noon() }],
        origin: Origin::Person { id: "1".into(), name: hostile.into(), message: None },
        ..item(hostile, WorkStatus::Waiting, 1)
    };
    stage.insert(std::slice::from_ref(&spoiled)).await;
    for path in ["/backlog".to_owned(), format!("/backlog/items/{}", spoiled.id)] {
        let page = stage.get(&path).await;
        assert!(page.contains("&lt;script src="), "the words are shown: {page}");
        assert!(!page.contains("<script src=//") && !page.contains("<img"), "{page}");
        assert!(!page.contains("href=\"javascript:") && page.contains("{{ 7 * 7 }}"), "{page}");
        assert!(page.split("onerror=").skip(1).all(|rest| rest.starts_with("&quot;")), "no attribute begins: {page}");
    }
}

#[tokio::test]
async fn a_database_that_is_gone_is_said_and_nothing_else() {
    let stage = Stage::start(Backing::Sqlite).await;
    stage.store.close().await;
    for path in ["/backlog", "/backlog.json", "/backlog/items/x", "/backlog/missions/x"] {
        let response = stage.http.get(stage.url(path)).send().await.expect("an answer");
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE, "{path}");
        assert_eq!(response.text().await.expect("a text"), "The database is not responding. Try again in a moment.\n");
    }
}

async fn files_of_an_item_are_previewed_and_downloaded_and_nothing_runs(backing: Backing) {
    let stage = Stage::start(backing).await;
    let made = WorkItem { persona: Some("vince".into()), execution: Some(Execution::Write), ..item("draw", WorkStatus::Ready, 1) };
    stage.insert(std::slice::from_ref(&made)).await;
    let claimed = claim_item(&stage.store, noon()).await;
    let file = |name: &str, content: &[u8]| Artefact {
        facts: ArtefactFacts {
            name: name.into(),
            media_type: media_type_of(name, content).into(),
            bytes: content.len() as u64,
            sha256: "ab12".into(),
        },
        content: content.to_vec(),
    };
    let artefacts = [
        file("docs/plan.md", b"# Plan\n<script>alert(1)</script>\n"),
        file("page.html", b"<script>alert(1)</script>"),
        file("chart.png", b"\x89PNG\r\n\x1a\n rest"),
    ];
    let end = End::Done { outcome: "drawn".into(), evidence: Vec::new(), memories: Vec::new() };
    stage.store.end_run(&RunEnd { job: &claimed.job, end, artefacts: &artefacts, outbox: &[], at: noon() }).await.unwrap().unwrap();

    let page = stage.get(&format!("/backlog/items/{}", made.id)).await.replace("&#x2f;", "/");
    for wanted in ["docs/plan.md", "text/markdown", "&lt;script&gt;alert(1)&lt;/script&gt;", "<img class=\"preview\"", "/files/2"] {
        assert!(page.contains(wanted), "{wanted} in {page}");
    }
    assert!(!page.contains("<script>alert"), "{page}");
    let fetch = async |place: &str| {
        let address = format!("http://{}/backlog/items/{}/files/{place}", stage.address, made.id);
        stage.http.get(address).send().await.unwrap()
    };
    for (place, media_type, shown) in [
        ("0", "text/markdown; charset=utf-8", "attachment"),
        ("1", "text/plain; charset=utf-8", "attachment"),
        ("2", "image/png", "inline"),
    ] {
        let response = fetch(place).await;
        let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        assert_eq!(header("content-type"), media_type);
        assert!(header("content-disposition").starts_with(shown) && header("content-security-policy").contains("sandbox"));
        assert_eq!(
            (header("x-content-type-options").as_str(), response.headers().get_all("content-security-policy").iter().count()),
            ("nosniff", 1)
        );
        assert_eq!(response.bytes().await.unwrap(), artefacts[place.parse::<usize>().unwrap()].content);
    }
    assert_eq!(fetch("3").await.status(), StatusCode::NOT_FOUND);
    assert_eq!(fetch("x").await.status(), StatusCode::BAD_REQUEST);
    let foreign = stage.http.get(format!("http://{}/backlog/items/{}/files/0", stage.address, made.id)).header("host", "evil.example");
    assert_eq!(foreign.send().await.unwrap().status(), StatusCode::MISDIRECTED_REQUEST, "the rights are those of the page");
}
