//! Each claim that is not so beside a twin that is.

use chrono::TimeDelta;
use proptest::prelude::*;
use teamroom::domain::ask::{Ask, AskState};
use teamroom::domain::feed::Sample;
use teamroom::domain::ids::{AskId, OutboxId};
use teamroom::domain::outbound::{OutboundKind, OutboundMessage, Posted};
use teamroom::domain::prediction::{Comparison, SettlingRule};
use teamroom::domain::work::{Claim, Evidence, Execution, JournalEntry, Owner, Trace, WatchTerms, WorkItem};
use teamroom::store::AskUpdate;
use teamroom::work::verifier::Verdict;

use super::stage::{Stage, called, fetched, fetched_from, file, item, now, refused, returned};
use crate::store::{Home, on_both};
use crate::support::skip;

on_both!(
    a_delivered_message_proves_a_reminder_and_no_other_does,
    an_answer_proves_a_question_and_words_about_none_do_not,
    a_value_at_which_the_rule_holds_proves_a_watch,
    data_proves_a_watch_for_data,
    a_store_that_does_not_answer_proves_nothing,
);

const REPORT: &str = "# Prices\n\nScanner A asks nine dollars, says https://a.example/x, and scanner B asks four of us.\n";

fn reasons(verdict: Verdict) -> String {
    match verdict {
        Verdict::Unproven { reasons, .. } => reasons.join("\n"),
        other => panic!("it is not unproven: {other:?}"),
    }
}

fn evidence(verdict: Verdict) -> Vec<Evidence> {
    match verdict {
        Verdict::Proven(evidence) | Verdict::ForReview { evidence, .. } => evidence,
        other => panic!("it is unproven: {other:?}"),
    }
}

/// Research with a report that cites what was fetched.
async fn researched(stage: &Stage) -> (WorkItem, Vec<JournalEntry>) {
    let item = item(Execution::Research);
    let journal = vec![fetched("https://a.example/x"), stage.write(&item, "prices.md", REPORT.as_bytes()).await];
    (item, journal)
}

#[tokio::test]
async fn research_with_its_sources_goes_to_review_with_evidence() {
    let stage = Stage::on_sqlite().await;
    let (item, journal) = researched(&stage).await;
    let Verdict::ForReview { evidence, why } = stage.verify(&item, &[file("prices.md")], &journal).await else { panic!("not for review") };
    let [Evidence::File { path, bytes, form, sha256 }, Evidence::Link { url, .. }] = evidence.as_slice() else { panic!("{evidence:?}") };
    assert_eq!((path.as_str(), *bytes, sha256.len()), ("prices.md", REPORT.len() as u64, 64));
    assert_eq!((form.as_str(), url.as_str()), ("Markdown, 1 heading, 14 words", "https://a.example/x"));
    assert_eq!(why, "code cannot judge whether it is any good");
}

#[tokio::test]
async fn files_that_were_not_written_prove_nothing() {
    let stage = Stage::on_sqlite().await;
    let (item, journal) = researched(&stage).await;
    for (path, why) in [
        ("other.md", "\"other.md\" was claimed, but"),
        ("../../x", "\"../../x\" was claimed, but"),
        ("/etc/passwd", "\"/etc/passwd\" was claimed, but"),
        ("", "\"\" was claimed, but"),
    ] {
        let told = reasons(stage.verify(&item, &[file("prices.md"), file(path)], &journal).await);
        assert!(told.contains(why), "{path}: {told}");
    }
    assert_eq!(evidence(stage.verify(&item, &[file("prices.md")], &journal).await).len(), 2, "the twin");
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_out_of_the_workspace_proves_nothing() {
    let stage = Stage::on_sqlite().await;
    let (item, mut journal) = researched(&stage).await;
    let outside = stage.directory.path().join("outside.md");
    std::fs::write(&outside, REPORT).unwrap();
    std::os::unix::fs::symlink(&outside, stage.workspaces.open(&item.id).await.unwrap().path().join("link.md")).unwrap();
    // Even if the journal had it: the very contents, under the name of the link.
    let Some(JournalEntry::Returned { trace: Some(Trace::Wrote { sha256, bytes, .. }), .. }) = journal.pop() else { panic!("written") };
    journal.push(returned("write", false, Some(Trace::Wrote { path: "link.md".into(), sha256, bytes })));
    assert!(reasons(stage.verify(&item, &[file("link.md")], &journal).await).contains("\"link.md\" was claimed, but"));
}

#[tokio::test]
async fn a_file_proves_nothing_unless_it_was_written_in_this_run_as_it_stands() {
    let stage = Stage::on_sqlite().await;
    let (item, journal) = researched(&stage).await;
    let not_written = "was not written in this run as it stands";
    assert!(reasons(stage.verify(&item, &[file("prices.md")], &journal[..1]).await).contains(not_written), "left by an earlier run");
    let refused_write = [journal[0].clone(), refused(journal[1].clone())];
    assert!(reasons(stage.verify(&item, &[file("prices.md")], &refused_write).await).contains(not_written));
    stage.write(&item, "prices.md", REPORT.replace("nine", "two").as_bytes()).await;
    assert!(reasons(stage.verify(&item, &[file("prices.md")], &journal).await).contains(not_written), "changed since");
}

#[tokio::test]
async fn a_file_has_the_form_that_its_name_promises() {
    let stage = Stage::on_sqlite().await;
    let item = item(Execution::Write);
    for (path, bad, why, good) in [
        ("empty.txt", &b" \n"[..], "\"empty.txt\" is empty", &b"Something."[..]),
        ("a.md", b"Only prose, and not one heading above it all.", "has no heading", REPORT.as_bytes()),
        ("a.json", b"{\"a\":", "is no JSON", b"{\"a\": 1}"),
        ("a.csv", b"a,b\n1\n", "is no table", b"a,b\n1,2\n"),
        ("a.toml", b"a = ", "is no TOML", b"a = 1"),
        ("a.yaml", b"a: [", "is no YAML", b"a: [1]"),
        ("a.txt", &[0xff, 0xfe, 0x00], "is no UTF-8 text", "gr\u{fc}n".as_bytes()),
    ] {
        let journal = [fetched("https://a.example/x"), stage.write(&item, path, bad).await];
        let told = reasons(stage.verify(&item, &[file(path)], &journal).await);
        assert!(told.contains(why), "{path}: {told}");
        let journal = [fetched("https://a.example/x"), stage.write(&item, path, good).await];
        evidence(stage.verify(&item, &[file(path)], &journal).await);
    }
}

#[tokio::test]
async fn a_page_that_was_not_fetched_cannot_be_cited() {
    let stage = Stage::on_sqlite().await;
    let item = WorkItem { why: "The list is at https://given.example/list".into(), ..item(Execution::Research) };
    let cites = |links: &str| format!("# Prices\n\nScanner A asks nine dollars a month and scanner B asks four. {links}\n");
    let fetches = [fetched("https://a.example/x#top"), fetched_from("http://b.example/old", "https://b.example/new/")];
    for (links, wrong) in [
        ("https://a.example/x", vec![]),
        ("[A](https://a.example/x#prices) and <HTTPS://A.example:443/x>", vec![]),
        ("[B](https://b.example/new), [B before][1]\n\n[1]: http://b.example/old", vec![]),
        ("Given: https://given.example/list.", vec![]),
        ("[A](https://a.example/y)", vec!["https://a.example/y"]),
        ("<https://c.example> and [d]\n\n[d]: https://d.example/z 'z'", vec!["https://c.example", "https://d.example/z"]),
        ("http://a.example/x", vec!["http://a.example/x"]),
        ("https://a.example/x?page=2", vec!["https://a.example/x?page=2"]),
        ("[hidden](https&colon;//c.example)", vec!["https://c.example"]),
        ("www.c.example", vec!["www.c.example"]),
        ("https://a.example@c.example/x", vec!["https://a.example@c.example/x"]),
    ] {
        let mut journal = fetches.to_vec();
        journal.push(stage.write(&item, "prices.md", cites(links).as_bytes()).await);
        let verdict = stage.verify(&item, &[file("prices.md")], &journal).await;
        if wrong.is_empty() {
            evidence(verdict);
            continue;
        }
        let told = reasons(verdict);
        for address in &wrong {
            assert!(told.contains(&format!("names {address}, which was not fetched in this run")), "{links}: {told}");
        }
        assert_eq!(told.lines().count(), wrong.len(), "{told}");
    }
}

#[tokio::test]
async fn a_fetch_that_was_refused_is_no_source() {
    let stage = Stage::on_sqlite().await;
    let (item, mut journal) = researched(&stage).await;
    journal[0] = refused(journal[0].clone());
    let told = reasons(stage.verify(&item, &[file("prices.md")], &journal).await);
    assert!(told.contains("https://a.example/x, which was not fetched") && told.contains("it rests on no source"), "{told}");
}

#[tokio::test]
async fn research_rests_on_something_that_was_read() {
    let stage = Stage::on_sqlite().await;
    let item = item(Execution::Research);
    let text = "# Prices\n\nScanner A asks nine dollars a month and scanner B asks four of us.\n";
    let written = stage.write(&item, "prices.md", text.as_bytes()).await;
    let read = |tool: &str| [called("1", tool), returned("1", true, None), written.clone()];
    for tool in ["read_feed", "git_log", "http_get"] {
        evidence(stage.verify(&item, &[file("prices.md")], &read(tool)).await);
    }
    let mut refused_read = read("read_feed");
    refused_read[1] = refused(refused_read[1].clone());
    // The same id again, for another tool.
    let renamed = [called("1", "read_feed"), called("1", "memory_search"), returned("1", true, None), written.clone()];
    for journal in [vec![written.clone()], read("web_search").to_vec(), refused_read.to_vec(), renamed.to_vec()] {
        assert!(reasons(stage.verify(&item, &[file("prices.md")], &journal).await).contains("it rests on no source"), "{journal:?}");
    }
    let written_only = WorkItem { execution: Some(Execution::Write), ..item };
    evidence(stage.verify(&written_only, &[file("prices.md")], &[written]).await);
}

/// Something was built, to be tested by this command.
async fn built(command: &[&str], criteria: &[&str]) -> Verdict {
    let mut stage = Stage::on_sqlite().await;
    stage.verifier.settings.test_command = command.iter().map(|word| (*word).to_owned()).collect();
    let criteria = criteria.iter().map(|words| (*words).to_owned()).collect();
    let item = WorkItem { criteria, ..item(Execution::Build) };
    // A picture, and an address that nobody fetched: what is built need not be a text, and need not cite.
    let written = stage.write(&item, "src/a.bin", &[0xff, 0x00]).await;
    let documented = stage.write(&item, "src/a.rs", b"// See https://never.example\nfn main() {}\n").await;
    stage.verify(&item, &[file("src/a.bin"), file("src/a.rs")], &[written, documented]).await
}

#[tokio::test]
async fn what_is_built_is_tested_where_that_can_be_confined_and_judged_where_not() {
    let not_tested = "code cannot judge whether it is any good";
    assert!(matches!(built(&[], &[]).await, Verdict::ForReview { why, .. } if why == not_tested));
    let passed = built(&["true"], &[]).await;
    if let Verdict::ForReview { why, .. } = &passed {
        assert!(why.contains("cannot confine") && why.contains(not_tested), "{why}");
        return skip::missing("landlock", why);
    }
    assert!(evidence(passed).iter().any(|found| matches!(found, Evidence::Test { exit_code: 0, .. })));
    assert!(matches!(built(&["true"], &["It is good"]).await, Verdict::ForReview { why, .. } if why == "its criteria are in words"));
    assert!(reasons(built(&["sh", "-c", "echo 2 tests failed; exit 3"], &[]).await).contains("ended with 3: 2 tests failed"));
    assert!(matches!(built(&["no-such-program-here"], &[]).await, Verdict::ForReview { .. }));
}

#[tokio::test]
async fn what_proves_nothing_of_its_kind_is_refused() {
    let stage = Stage::on_sqlite().await;
    let nothing = "nothing was claimed that can be looked up";
    for execution in [Execution::Write, Execution::Build, Execution::Remind { answer: false }] {
        assert!(reasons(stage.verify(&item(execution), &[], &[]).await).contains(nothing));
    }
    let wrong = [
        (Execution::Write, Claim::Message { outbox: OutboxId::generate() }, "a message proves nothing here"),
        (Execution::Remind { answer: false }, file("a.md"), "the file \"a.md\" proves nothing here"),
        (Execution::Build, Claim::Answer { by: "Ann".into(), text: "ok".into(), at: now() }, "an answer of Ann proves nothing here"),
        (Execution::Remind { answer: false }, Claim::Reading { feed: "shop".into(), at: now() }, "data of shop proves nothing here"),
    ];
    for (execution, claim, why) in wrong {
        assert!(reasons(stage.verify(&item(execution), &[claim], &[]).await).contains(why), "{why}");
    }
    let unplanned = WorkItem { execution: None, ..item(Execution::Write) };
    assert!(reasons(stage.verify(&unplanned, &[file("a.md")], &[]).await).contains("nobody has said how"));
}

#[tokio::test]
async fn a_thousand_reasons_are_told_as_twenty() {
    let stage = Stage::on_sqlite().await;
    let claims: Vec<Claim> = (0..1000).map(|number| file(&format!("{number}.md"))).collect();
    let told = reasons(stage.verify(&item(Execution::Write), &claims, &[]).await);
    assert_eq!(told.lines().count(), 21);
    assert!(told.ends_with("and 980 more"), "{told}");
}

#[tokio::test]
async fn a_persons_answer_counts_where_the_store_has_it() {
    let stage = Stage::on_sqlite().await;
    let claim = Claim::Answer { by: "Ann".into(), text: "done".into(), at: now() };
    let answer = Evidence::Answer { by: "Ann".into(), text: "done".into(), at: now() };
    let asked = item(Execution::Remind { answer: true });
    assert!(reasons(stage.verify(&asked, std::slice::from_ref(&claim), &[]).await).contains("no answer of Ann is known"));
    let answered = WorkItem { evidence: vec![answer.clone()], ..asked };
    assert_eq!(stage.verify(&answered, &[claim], &[]).await, Verdict::Proven(vec![answer]));
}

async fn a_delivered_message_proves_a_reminder_and_no_other_does(home: &Home) {
    let stage = Stage::new(home).await;
    let sent = |text: &str| OutboundMessage::new(&"kelly".into(), &"10".into(), OutboundKind::Answer, text);
    let (delivered, pending, lost) = (sent("delivered"), sent("pending"), sent("lost"));
    stage.store.enqueue(&[delivered.clone(), pending.clone(), lost.clone()], now()).await.unwrap();
    let posted = Posted { channel: "10".into(), message: "p1".into(), at: now() };
    stage.store.record_sent(&delivered.id, &posted).await.unwrap();
    stage.store.record_failed(&lost.id, "the channel is gone").await.unwrap();

    let reminder = item(Execution::Remind { answer: false });
    let claim = |message: &OutboundMessage| Claim::Message { outbox: message.id.clone() };
    let proof = Evidence::Delivered { outbox: delivered.id.clone(), message: "p1".into(), at: now() };
    assert_eq!(stage.verify(&reminder, &[claim(&delivered)], &[]).await, Verdict::Proven(vec![proof.clone()]));
    let not_yet = Verdict::NotYet { why: "the message is not delivered yet".into() };
    assert_eq!(stage.verify(&reminder, &[claim(&pending)], &[]).await, not_yet);
    assert_eq!(stage.verify(&reminder, &[claim(&delivered), claim(&pending)], &[]).await, not_yet);
    assert!(reasons(stage.verify(&reminder, &[claim(&pending), claim(&lost)], &[]).await).contains("the channel is gone"));
    let unknown = Claim::Message { outbox: "nowhere".into() };
    assert!(reasons(stage.verify(&reminder, &[unknown], &[]).await).contains("there is no message nowhere"));

    let strict = WorkItem { criteria: vec!["It is friendly".into()], ..reminder };
    let for_review = Verdict::ForReview { evidence: vec![proof], why: "its criteria are in words".into() };
    assert_eq!(stage.verify(&strict, &[claim(&delivered)], &[]).await, for_review);
}

async fn an_answer_proves_a_question_and_words_about_none_do_not(home: &Home) {
    let stage = Stage::new(home).await;
    let question = item(Execution::Ask { whom: Owner::Persona("solus".into()), question: "Which?".into() });
    let claim = |ask: &AskId| [Claim::Ask { ask: ask.clone() }];
    let ask = async |askee: &str, state: Option<AskState>, answer: Option<&str>| {
        let ask = Ask {
            id: AskId::generate(),
            message: "m".into(),
            chain: "m".into(),
            channel: "10".into(),
            asker: "vince".into(),
            askee: askee.into(),
            question: "Which?".into(),
            path: vec!["vince".into()],
            state: AskState::Asked,
            answer: None,
            asked_at: now(),
            deadline: now() + TimeDelta::seconds(90),
        };
        stage.store.record_ask(&ask).await.unwrap();
        if let Some(state) = state {
            assert!(stage.store.settle_ask(&AskUpdate { ask: &ask.id, state, answer }, &[], now()).await.unwrap());
        }
        ask.id
    };
    let answered = ask("solus", Some(AskState::Answered), Some("The second.")).await;
    let proof = Evidence::Answer { by: "solus".into(), text: "The second.".into(), at: now() };
    assert_eq!(stage.verify(&question, &claim(&answered), &[]).await, Verdict::Proven(vec![proof]));

    for open in [ask("solus", None, None).await, ask("solus", Some(AskState::Expired), None).await] {
        assert_eq!(stage.verify(&question, &claim(&open), &[]).await, Verdict::NotYet { why: "solus has not answered yet".into() });
    }
    for (ask, why) in [
        (ask("solus", Some(AskState::Failed), None).await, "solus could not answer"),
        (ask("solus", Some(AskState::Answered), Some(" \n")).await, "solus could not answer"),
        (ask("echo", Some(AskState::Answered), Some("Me!")).await, "echo, who was not to be asked"),
        (AskId::from("nowhere"), "there is no question nowhere"),
    ] {
        assert!(reasons(stage.verify(&question, &claim(&ask), &[]).await).contains(why), "{why}");
    }
    // That the question was delivered is no answer.
    let posted = OutboundMessage::new(&"kelly".into(), &"10".into(), OutboundKind::Answer, "Which?");
    stage.store.enqueue(std::slice::from_ref(&posted), now()).await.unwrap();
    stage.store.record_sent(&posted.id, &Posted { channel: "10".into(), message: "p".into(), at: now() }).await.unwrap();
    let told = reasons(stage.verify(&question, &[Claim::Message { outbox: posted.id }], &[]).await);
    assert_eq!(told, "nobody has answered");
}

fn watch(rule: Option<SettlingRule>, feed: &str) -> WorkItem {
    item(Execution::Watch(WatchTerms { feed: feed.into(), rule, until: now() + TimeDelta::days(1) }))
}

fn at_most_200() -> SettlingRule {
    SettlingRule { feed: "shop".into(), value: "p95".into(), unit: "ms".into(), comparison: Comparison::AtMost, threshold: 200.0 }
}

async fn a_value_at_which_the_rule_holds_proves_a_watch(home: &Home) {
    let stage = Stage::new(home).await;
    let key = stage.readings.get_feed("shop").unwrap().key().to_owned();
    let sample = |name: &str, minutes: i64, number: f64| Sample {
        feed: key.clone(),
        name: name.into(),
        unit: "ms".into(),
        at: now() + TimeDelta::minutes(minutes),
        number,
    };
    let samples = [sample("p95", -3, 240.0), sample("p95", -2, 180.0), sample("p50", -2, 90.0)];
    assert_eq!(stage.store.record_samples(&samples, now()).await.unwrap(), 3);
    stage.store.record_samples(&[sample("p95", 5, 1.0)], now() + TimeDelta::minutes(5)).await.unwrap();
    let watch = watch(Some(at_most_200()), "shop");
    let claim = |feed: &str, name: &str, minutes: i64| {
        [Claim::Value { feed: feed.into(), name: name.into(), at: now() + TimeDelta::minutes(minutes) }]
    };
    let at = now() - TimeDelta::minutes(2);
    let proof = Evidence::Value { feed: "shop".into(), name: "p95".into(), value: 180.0, unit: "ms".into(), at };
    assert_eq!(stage.verify(&watch, &claim("shop", "p95", -2), &[]).await, Verdict::Proven(vec![proof]));
    for (claim, why) in [
        (claim("shop", "p95", -3), "was 240 ms"),
        (claim("shop", "p95", -1), "has no value of"),
        (claim("shop", "p95", 5), "is yet to come"),
        (claim("shop", "p50", -2), "is not what was watched for"),
        (claim("docs", "p95", -2), "is not what was watched for"),
        ([Claim::Reading { feed: "shop".into(), at }], "is not what was watched for"),
    ] {
        let told = reasons(stage.verify(&watch, &claim, &[]).await);
        assert!(told.contains(why), "{told}");
    }
    let gone = WorkItem {
        execution: Some(Execution::Watch(WatchTerms { feed: "gone".into(), rule: Some(at_most_200()), until: now() })),
        ..watch
    };
    assert!(reasons(stage.verify(&gone, &claim("gone", "p95", -2), &[]).await).contains("there is no feed called \"gone\""));
}

async fn data_proves_a_watch_for_data(home: &Home) {
    let stage = Stage::new(home).await;
    let at = now() - TimeDelta::minutes(2);
    let key = stage.readings.get_feed("shop").unwrap().key().to_owned();
    stage.store.record_samples(&[Sample { feed: key, name: "p95".into(), unit: String::new(), at, number: 9.0 }], now()).await.unwrap();
    let claim = |feed: &str, at| [Claim::Reading { feed: feed.into(), at }];
    let proof = |feed: &str| Verdict::Proven(vec![Evidence::Reading { feed: feed.into(), at }]);
    assert_eq!(stage.verify(&watch(None, "shop"), &claim("shop", at), &[]).await, proof("shop"));
    assert!(reasons(stage.verify(&watch(None, "shop"), &claim("shop", now()), &[]).await).contains("nothing is known of data"));

    // A feed without numbers leaves its trace in the journal.
    let trace = Trace::Stored { kind: "reading".into(), id: format!("docs {}", at.to_rfc3339()) };
    let journal = [returned("watch", true, Some(trace))];
    assert_eq!(stage.verify(&watch(None, "docs"), &claim("docs", at), &journal).await, proof("docs"));
    for (claim, journal) in [
        (claim("docs", at), vec![]),
        (claim("docs", now()), journal.to_vec()),
        (claim("docs", at), vec![refused(journal[0].clone())]),
        (claim("shop", at), journal.to_vec()),
    ] {
        reasons(stage.verify(&watch(None, "docs"), &claim, &journal).await);
    }
}

async fn a_store_that_does_not_answer_proves_nothing(home: &Home) {
    let stage = Stage::new(home).await;
    let reminder = item(Execution::Remind { answer: false });
    let message = OutboundMessage::new(&"kelly".into(), &"10".into(), OutboundKind::Answer, "hello");
    stage.store.enqueue(std::slice::from_ref(&message), now()).await.unwrap();
    stage.store.record_sent(&message.id, &Posted { channel: "10".into(), message: "p".into(), at: now() }).await.unwrap();
    let claim = [Claim::Message { outbox: message.id }];
    evidence(stage.try_verify(&reminder, &claim, &[]).await.unwrap());
    stage.store.close().await;
    assert!(stage.try_verify(&reminder, &claim, &[]).await.is_err());
}

/// Something that a run says, and whether the world has it.
#[derive(Debug, Clone)]
enum Said {
    File { name: u8, written: bool, in_this_run: bool, changed: bool, cites: Option<bool> },
    Message { sent: bool },
    Value { holds: bool, recorded: bool },
}

fn said() -> impl Strategy<Value = Said> {
    prop_oneof![
        (0..3_u8, any::<bool>(), any::<bool>(), any::<bool>(), any::<Option<bool>>())
            .prop_map(|(name, written, in_this_run, changed, cites)| Said::File { name, written, in_this_run, changed, cites }),
        any::<bool>().prop_map(|sent| Said::Message { sent }),
        (any::<bool>(), any::<bool>()).prop_map(|(holds, recorded)| Said::Value { holds, recorded }),
    ]
}

impl Said {
    /// Whether it is so and says something of an item of that kind.
    fn is_so(&self, kind: &Execution) -> bool {
        match (self, kind) {
            (Self::File { written, in_this_run, changed, cites, .. }, Execution::Write) => {
                *written && *in_this_run && !changed && *cites != Some(false)
            }
            (Self::Message { sent }, Execution::Remind { .. }) => *sent,
            (Self::Value { holds, recorded }, Execution::Watch(_)) => *holds && *recorded,
            _ => false,
        }
    }

    /// Makes the world as it is, and says otherwise or not.
    async fn claim(&self, stage: &Stage, item: &WorkItem, index: usize, journal: &mut Vec<JournalEntry>) -> Claim {
        match self {
            Self::File { name, written, in_this_run, changed, cites } => {
                let path = format!("{name}-{index}.md");
                let link = match cites {
                    None => "",
                    Some(true) => "https://a.example/x",
                    Some(false) => "https://never.example",
                };
                let text = format!("# Heading\n\nEnough words below it to be prose of some kind or other. {link}\n");
                if *written {
                    let entry = stage.write(item, &path, text.as_bytes()).await;
                    journal.extend(in_this_run.then_some(entry));
                }
                if *written && *changed {
                    stage.write(item, &path, format!("{text}Changed.").as_bytes()).await;
                }
                file(&path)
            }
            Self::Message { sent } => {
                let message = OutboundMessage::new(&"kelly".into(), &"10".into(), OutboundKind::Answer, "hello");
                stage.store.enqueue(std::slice::from_ref(&message), now()).await.unwrap();
                if *sent {
                    let posted = Posted { channel: "10".into(), message: format!("p{}", message.id).into(), at: now() };
                    stage.store.record_sent(&message.id, &posted).await.unwrap();
                }
                Claim::Message { outbox: message.id }
            }
            Self::Value { holds, recorded } => {
                let key = stage.readings.get_feed("shop").unwrap().key().to_owned();
                let at = now() - TimeDelta::hours(1000 - i64::try_from(index).unwrap());
                if *recorded {
                    let number = if *holds { 150.0 } else { 250.0 };
                    let sample = Sample { feed: key, name: "p95".into(), unit: "ms".into(), at, number };
                    stage.store.record_samples(&[sample], now()).await.unwrap();
                }
                Claim::Value { feed: "shop".into(), name: "p95".into(), at }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn nothing_is_proven_unless_all_of_it_is_so(
        cases in proptest::collection::vec((0..3_usize, proptest::collection::vec(said(), 0..4), any::<bool>()), 4),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            for (kind, said, criteria) in cases {
                let stage = Stage::on_sqlite().await;
                let kinds = [Execution::Write, Execution::Remind { answer: false }, watch(Some(at_most_200()), "shop").execution.unwrap()];
                let kind = kinds[kind].clone();
                let criteria: Vec<String> = criteria.then(|| "It is good".to_owned()).into_iter().collect();
                let item = WorkItem { criteria: criteria.clone(), ..item(kind.clone()) };
                let (mut journal, mut claims) = (vec![fetched("https://a.example/x")], Vec::new());
                for (index, said) in said.iter().enumerate() {
                    claims.push(said.claim(&stage, &item, index, &mut journal).await);
                }
                let so = !said.is_empty() && said.iter().all(|said| said.is_so(&kind));
                let verdict = stage.verify(&item, &claims, &journal).await;
                match &verdict {
                    Verdict::Proven(evidence) => {
                        prop_assert!(so && !evidence.is_empty() && criteria.is_empty() && kind != Execution::Write, "{said:?}: {verdict:?}");
                    }
                    Verdict::ForReview { evidence, .. } => prop_assert!(so && !evidence.is_empty(), "{said:?}: {verdict:?}"),
                    Verdict::NotYet { .. } | Verdict::Unproven { .. } => prop_assert!(!so, "{said:?}: {verdict:?}"),
                }
                if let Verdict::Unproven { reasons, .. } = &verdict {
                    prop_assert!(!reasons.is_empty());
                }
            }
            Ok(())
        })?;
    }
}
