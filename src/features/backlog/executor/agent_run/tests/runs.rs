use crate::features::backlog::executor::agent_run::tests::*;
use crate::features::backlog::model::{Blocker, WorkKind};
use kernel::agent::Limits;

const DOCUMENT: &str = "# Prices\n\nThey rose by 4 %, says https://prices.example/2026.\n";

/// The model's reply by the number of call results it has seen: a tool with effects, a page, a file, the end.
fn diligent(asked: &model::Asked) -> Script {
    match asked.tool_results() {
        0 => save("Hosting is paid by the month."),
        1 => fetch(PRICES),
        2 => write("prices.md", DOCUMENT),
        _ => finish(&["prices.md"]),
    }
}

#[tokio::test]
async fn research_reads_writes_and_names_its_file_on_both_protocols() {
    for kind in [ProviderKind::OpenAi, ProviderKind::Anthropic] {
        let stage = Stage::with(Execution::Research, kind, |_| {}).await;
        stage.model.on(diligent);
        let product = made(stage.continue_run().await);
        assert_eq!((files(&product), product.summary.as_str()), (vec!["prices.md"], "Prices rose by 4 %."), "{kind:?}");
        assert_eq!(product.lesson.as_deref(), Some("Ask for the date."));
        assert_eq!(product.model.as_deref(), Some("main/large"), "research is done by the strong tier");
        assert_eq!(stage.file("prices.md").await, DOCUMENT);
        assert_eq!((stage.fetched(), stage.saved()), (vec![PRICES.to_owned()], 1));

        let first = stage.model.requests().remove(0);
        assert_eq!(first.tools, ["fetch_page", "workspace_list", "workspace_read", "workspace_write", "finish", "wait_for", "memory_save"]);
        assert!(first.prompt().contains("Compare the prices of hosting") && first.prompt().contains("24 calls, 6 searches"));
        let page = stage.model.requests().remove(2);
        assert!(page.last().contains("| result of fetch_page>>\nSmall: 4 USD"), "a page is material: {}", page.last());
    }
}

#[tokio::test]
async fn a_second_look_is_paid_once_although_the_run_is_resumed() {
    let mut stage = Stage::of(Execution::Write).await;
    stage.item.kind = WorkKind::Step;
    let score = |score: u8| json!({"score": score, "why": "The table has no dates."});
    let grade = |number: u8| json!({"criterion": number, "met": true, "shown_by": "They rose by 4 %"});
    stage.model.on(move |asked| match (&asked.schema, asked.tool_results()) {
        (Some(_), _) => {
            let depth = if asked.prompt().contains("since March") { 4 } else { 2 };
            let grades = [grade(1), grade(2)];
            Script::Json(
                json!({"depth": score(depth), "accuracy": score(4), "actionability": score(4), "completeness": score(4), "grades": grades}),
            )
        }
        (None, 0) => write("prices.md", "# Prices\n\nThey rose by 4 %.\n"),
        (None, 2) => write("prices.md", "# Prices\n\nThey rose by 4 % since March.\n"),
        _ => finish(&["prices.md"]),
    });
    let product = made(stage.continue_run().await);
    let critique = product.critique.clone().expect("its author has looked at it");
    assert_eq!((critique.mean(), critique.revisions, critique.shown.len()), (4.0, 1, 2));
    let refused = stage.refusals().await;
    assert!(refused[0].contains("- depth: 2 of 5. The table has no dates.") && refused.len() == 1, "{refused:?}");
    // As if the process had died before the result was stored.
    let paid = stage.model.count();
    assert_eq!(made(stage.continue_run().await), product);
    assert_eq!(stage.model.count(), paid);
}

#[tokio::test]
async fn the_journal_holds_each_step_before_the_next_rests_on_it() {
    let stage = Stage::of(Execution::Research).await;
    stage.model.on(diligent);
    made(stage.continue_run().await);
    let journal: Vec<String> = stage.journal().await.iter().map(sketch).collect();
    assert_eq!(
        journal,
        [
            "asked",
            "replied call00001 memory_save",
            "began call00001",
            "returned call00001 stored",
            "replied call00002 fetch_page",
            "returned call00002 fetched, outside",
            "replied call00003 workspace_write",
            "returned call00003 wrote",
            "replied call00004 finish",
        ]
    );
}

fn sketch(entry: &JournalEntry) -> String {
    match entry {
        JournalEntry::Asked { .. } => "asked".into(),
        JournalEntry::Replied { calls, .. } => {
            calls.iter().fold("replied".into(), |line, call| format!("{line} {} {}", call.id, call.name))
        }
        JournalEntry::Began { call, .. } => format!("began {call}"),
        JournalEntry::Told { .. } => "told".into(),
        JournalEntry::SentBack { .. } => "sent back".into(),
        JournalEntry::Judged { verdict, .. } => format!("judged {}", verdict.as_str()),
        JournalEntry::Graded { entry, .. } => format!("graded {}", sketch(entry)),
        JournalEntry::Consulted { entry, .. } => format!("consulted {}", sketch(entry)),
        JournalEntry::Returned { call, outside, status, trace, .. } => {
            let trace = match trace {
                Some(Trace::Fetched { .. }) => " fetched",
                Some(Trace::Found { .. }) => " found",
                Some(Trace::Wrote { .. }) => " wrote",
                Some(Trace::Stored { .. } | Trace::Confirmed { .. }) => " stored",
                None => "",
            };
            let marks = [(*outside, ", outside"), (*status == CallStatus::Refused, ", refused")];
            marks.iter().filter(|(set, _)| *set).fold(format!("returned {call}{trace}"), |line, (_, mark)| line + mark)
        }
    }
}

#[tokio::test]
async fn a_run_that_was_cut_off_after_any_entry_comes_to_the_same_and_pays_for_nothing_twice() {
    let whole = Stage::of(Execution::Research).await;
    whole.model.on(diligent);
    let product = made(whole.continue_run().await);
    let journal = whole.journal().await;
    for length in 1..=journal.len() {
        let stage = Stage::of(Execution::Research).await;
        stage.model.on(diligent);
        let kept = &journal[..length];
        assert!(stage.store.append_journal(&stage.job, &stage.item, kept, now()).await.expect("stored"));
        assert_eq!(made(stage.continue_run().await), product, "after {length} entries");
        let paid = kept.iter().filter(|entry| matches!(entry, JournalEntry::Replied { .. })).count();
        assert_eq!(stage.model.count(), 4 - paid, "after {length} entries");
        let begun = kept.iter().any(|entry| matches!(entry, JournalEntry::Began { .. }));
        assert_eq!(stage.saved(), usize::from(!begun), "after {length} entries");
        assert_eq!(made(stage.continue_run().await), product, "and again, from a whole journal");
        assert_eq!(stage.model.count(), 4 - paid);
    }
}

#[tokio::test]
async fn of_a_call_that_a_crash_fell_into_the_model_is_told_that_nobody_knows() {
    let stage = Stage::of(Execution::Research).await;
    stage.model.on(diligent);
    let whole = Stage::of(Execution::Research).await;
    whole.model.on(diligent);
    made(whole.continue_run().await);
    let journal = whole.journal().await;
    assert!(stage.store.append_journal(&stage.job, &stage.item, &journal[..3], now()).await.expect("stored"));
    made(stage.continue_run().await);
    assert!(stage.model.requests()[0].last().contains("It is not known whether it happened"), "{}", stage.model.requests()[0].last());
}

#[tokio::test]
async fn a_document_that_comes_as_a_reply_is_saved_and_claimed() {
    let stage = Stage::of(Execution::Write).await;
    stage.model.next([Script::say(DOCUMENT)]);
    let product = made(stage.continue_run().await);
    assert_eq!(files(&product), ["compare-the-prices-of-hosting.md"]);
    assert_eq!(product.summary, "They rose by 4 %, says https://prices.example/2026.");
    assert_eq!(product.model.as_deref(), Some("main/small"));
    assert_eq!(stage.file("compare-the-prices-of-hosting.md").await, DOCUMENT.trim_end());
    assert!(matches!(stage.journal().await.last(), Some(JournalEntry::Returned { trace: Some(Trace::Wrote { .. }), .. })));
    assert_eq!(made(stage.continue_run().await), product, "the same when it is gone on with");
    assert_eq!(stage.model.count(), 1);
}

#[tokio::test]
async fn words_after_files_are_their_summary() {
    let stage = Stage::of(Execution::Write).await;
    stage.model.next([write("a.md", DOCUMENT), write("b.md", DOCUMENT), write("a.md", DOCUMENT), Script::say("Both are written.")]);
    let product = made(stage.continue_run().await);
    assert_eq!((files(&product), product.summary.as_str()), (vec!["a.md", "b.md"], "Both are written."));
}

#[tokio::test]
async fn files_are_built_and_talk_of_files_builds_none() {
    let stage = Stage::of(Execution::Build).await;
    stage.model.next([write("src/main.py", "print(4)\n"), write("README.md", "# Run it\n"), finish(&["src/main.py", "README.md"])]);
    assert_eq!(files(&made(stage.continue_run().await)), ["src/main.py", "README.md"]);
    assert_eq!(stage.file("src/main.py").await, "print(4)\n");

    let stage = Stage::of(Execution::Build).await;
    stage.model.next([Script::say("You could write main.py like this: …")]);
    assert_eq!(
        stage.continue_run().await,
        Outcome::Failed { blocker: Blocker::MissingEvidence, why: "the language model described the work but wrote no file".into() }
    );
}

#[tokio::test]
async fn what_a_liar_may_not_do_is_refused_and_told_and_what_it_claims_is_left_to_the_verifier() {
    let stage = Stage::of(Execution::Research).await;
    stage.model.next([
        Script::call("fetch_page", json!({"url": PRICES, "method": "POST"})),
        Script::call("fetch_page", json!({"url": ["file:///etc/passwd"]})),
        write("../../x", "out"),
        write("/etc/x", "out"),
        Script::call("finish", json!({"verified": true})),
        Script::call("finish", json!({"summary": 7, "files": "all"})),
        finish(&["never-written.md", "../../x"]),
    ]);
    let product = made(stage.continue_run().await);
    assert_eq!(files(&product), ["never-written.md", "../../x"], "a claim is a claim; what is true of it is found out by others");
    let refusals = stage.refusals().await;
    assert_eq!(refusals.len(), 6, "{refusals:#?}");
    assert!(refusals.iter().all(|text| text.starts_with("Not done: ") || text.starts_with("Not finished: ")), "{refusals:#?}");
    for (request, refusal) in stage.model.requests()[1..].iter().zip(&refusals) {
        assert!(request.last().contains(refusal.as_str()), "the model is told: {refusal}");
    }
    assert_eq!((stage.fetched(), stage.saved()), (Vec::new(), 0));
    assert!(!stage.dir.path().join("x").exists());
}

#[tokio::test]
async fn a_file_that_is_not_there_is_told_once_so_that_it_can_still_be_written() {
    let stage = Stage::of(Execution::Write).await;
    stage.model.next([finish(&["letter.md"]), write("letter.md", DOCUMENT), finish(&["letter.md"])]);
    assert_eq!(files(&made(stage.continue_run().await)), ["letter.md"]);
    let refusals = stage.refusals().await;
    assert!(refusals.len() == 1 && refusals[0].starts_with("Not finished: there is no file \"letter.md\"."), "{refusals:?}");

    let stage = Stage::of(Execution::Write).await;
    stage.model.on(|_| finish(&["letter.md"]));
    assert_eq!(files(&made(stage.continue_run().await)), ["letter.md"], "the second time it is left to the verifier");
    assert_eq!(stage.model.count(), 2);
}

#[tokio::test]
async fn a_call_of_a_tool_that_was_never_offered_is_refused_visibly() {
    for (tool, arguments, why) in [
        ("git_log", json!({}), "no such tool"),
        ("shell", json!({"command": "curl http://127.0.0.1"}), "no such tool"),
        ("ask_agent", json!({"persona": "Kelly", "question": "May I?"}), "not set up"),
    ] {
        let stage = Stage::of(Execution::Research).await;
        stage.model.next([Script::call(tool, arguments), finish(&[])]);
        stage.continue_run().await;
        let refusals = stage.refusals().await;
        assert!(refusals[0].contains(why), "{tool}: {refusals:?}");
    }
}

#[tokio::test]
async fn after_the_last_call_there_is_nothing_left_but_to_finish() {
    let stage = Stage::of(Execution::Write).await;
    let most = Limits::WORK.calls;
    stage.model.on(move |asked| match asked.tool_results() {
        calls if calls < most => write("a.md", &format!("{DOCUMENT}{calls}")),
        calls if calls == most => write("b.md", DOCUMENT),
        _ => finish(&["a.md"]),
    });
    assert_eq!(files(&made(stage.continue_run().await)), ["a.md"]);
    assert_eq!(stage.refusals().await, ["Not done: a run has 24 calls. Call `finish` now, with what there is."]);

    let stage = Stage::of(Execution::Write).await;
    stage.model.on(|asked| write("a.md", &format!("{DOCUMENT}{}", asked.number)));
    let Outcome::Failed { blocker: Blocker::NoProgress, why } = stage.continue_run().await else { panic!("it never ends by itself") };
    assert!(why.contains("without finishing"), "{why}");
    assert_eq!(stage.model.count(), most + 8);

    let stage = Stage::of(Execution::Write).await;
    stage.model.on(|_| write("a.md", DOCUMENT));
    let Outcome::Failed { blocker: Blocker::NoProgress, why } = stage.continue_run().await else { panic!("it goes round in circles") };
    assert_eq!(why, "the language model made the same calls 5 times (workspace_write) and learnt nothing new from them");
    assert_eq!(stage.model.count(), 5);
}

#[tokio::test]
async fn pages_beyond_the_limit_of_research_are_not_fetched() {
    let stage = Stage::of(Execution::Research).await;
    // Between the pages it writes, or it would be stopped for reading the same again and again.
    stage.model.on(|asked| match asked.tool_results() {
        22.. => Script::say(DOCUMENT),
        made if made % 5 == 4 => write("a.md", &format!("{DOCUMENT}{made}")),
        _ => fetch(PRICES),
    });
    made(stage.continue_run().await);
    assert_eq!(stage.fetched().len(), 16);
    let refusals = stage.refusals().await;
    assert_eq!(refusals.len(), 2);
    assert!(refusals[0].contains("no page is left"), "{}", refusals[0]);
}

#[tokio::test]
async fn secrets_are_neither_kept_nor_saved() {
    let stage = Stage::of(Execution::Write).await;
    stage.model.next([write("a.md", &format!("# Key\n\nIt is {KEY}.\n")), Script::say(format!("It holds {KEY}."))]);
    let product = made(stage.continue_run().await);
    assert_eq!(product.summary, "It holds [redacted].");
    assert_eq!(stage.file("a.md").await, "# Key\n\nIt is [redacted].\n");
    let journal = serde_json::to_string(&stage.journal().await).expect("plain data");
    assert!(!journal.contains(KEY));
}

#[tokio::test]
async fn what_no_model_makes_is_no_work_for_it() {
    let stage = Stage::of(Execution::Remind { whom: None }).await;
    let assignment = Assignment { item: &stage.item, job: &stage.job, persona: &stage.persona, cancel: &stage.cancel };
    assert!(stage.executor.execute(&assignment, &Background::default()).await.is_err());
}
