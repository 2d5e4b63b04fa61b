//! Claims about stored records: messages, answers, feed values.

use chrono::TimeDelta;
use kernel::agent::AnswerVerdict;
use kernel::chat::outbound::{OutboundKind, OutboundMessage, Posted};
use kernel::feeds::Sample;
use kernel::tools::Trace;
use teamroom::features::backlog::model::{Claim, Evidence, Execution, JournalEntry, Owner, WatchTerms, WorkItem};
use teamroom::features::backlog::verifier::Verdict;

use super::{at_most_200, evidence, reasons, watch};
use crate::store::{Home, on_both};
use crate::work::stage::{Stage, item, now, refused, returned};

on_both!(
    a_delivered_message_proves_that_somebody_was_told_and_no_other_does,
    an_answer_proves_a_question_if_somebody_judged_that_it_answers,
    a_value_at_which_the_rule_holds_proves_a_watch,
    data_proves_a_watch_for_data,
    a_store_that_does_not_answer_proves_nothing,
);

#[tokio::test]
async fn a_persons_answer_counts_where_the_store_has_it() {
    let stage = Stage::on_sqlite().await;
    let claim = Claim::Answer { by: "Ann".into(), text: "done".into(), at: now() };
    let answer = Evidence::Answer { by: "Ann".into(), text: "done".into(), at: now() };
    let asked = item(Execution::Remind { whom: None });
    assert!(reasons(stage.verify(&asked, std::slice::from_ref(&claim), &[]).await).contains("no answer of Ann is known"));
    let answered = WorkItem { evidence: vec![answer.clone()], ..asked };
    assert_eq!(stage.verify(&answered, &[claim], &[]).await, Verdict::Proven(vec![answer]));
}

async fn a_delivered_message_proves_that_somebody_was_told_and_no_other_does(home: &Home) {
    let stage = Stage::new(home).await;
    let sent = |text: &str| OutboundMessage::new(&"kelly".into(), &"10".into(), OutboundKind::Answer, text);
    let (delivered, pending, lost) = (sent("delivered"), sent("pending"), sent("lost"));
    stage.store.enqueue(&[delivered.clone(), pending.clone(), lost.clone()], now()).await.unwrap();
    let posted = Posted { channel: "10".into(), message: "p1".into(), at: now() };
    stage.store.record_sent(&delivered.id, &posted).await.unwrap();
    stage.store.record_failed(&lost, "the channel is gone", now()).await.unwrap();

    let reminder = item(Execution::Remind { whom: None });
    let claim = |message: &OutboundMessage| Claim::Message { outbox: message.id.clone() };
    let proof = Evidence::Delivered { outbox: delivered.id.clone(), message: "p1".into(), at: now() };
    assert_eq!(stage.verify(&reminder, &[claim(&delivered)], &[]).await, Verdict::Told(vec![proof.clone()]));
    let not_yet = Verdict::NotYet { why: "the message is not delivered yet".into() };
    assert_eq!(stage.verify(&reminder, &[claim(&pending)], &[]).await, not_yet);
    assert_eq!(stage.verify(&reminder, &[claim(&delivered), claim(&pending)], &[]).await, not_yet);
    assert!(reasons(stage.verify(&reminder, &[claim(&pending), claim(&lost)], &[]).await).contains("the channel is gone"));
    let unknown = Claim::Message { outbox: "nowhere".into() };
    assert!(reasons(stage.verify(&reminder, &[unknown], &[]).await).contains("there is no message nowhere"));

    let strict = WorkItem { criteria: vec!["It is friendly".into()], ..reminder };
    assert_eq!(stage.verify(&strict, &[claim(&delivered)], &[]).await, Verdict::Told(vec![proof]), "criteria are up to that person too");
}

async fn an_answer_proves_a_question_if_somebody_judged_that_it_answers(home: &Home) {
    let stage = Stage::new(home).await;
    let question = item(Execution::ask(Owner::Persona("solus".into()), "Which?".into()));
    let said = |text: &str| JournalEntry::Replied { text: text.into(), calls: Vec::new(), model: "main/small".into() };
    let judged = |verdict| JournalEntry::Judged { verdict, model: "main/small".into() };
    let claim = |text: &str| Claim::Answer { by: "Solus".into(), text: text.into(), at: now() };
    let proof = Evidence::Answer { by: "Solus".into(), text: "The second.".into(), at: now() };
    let answered = [said("The second."), judged(AnswerVerdict::Answers)];
    assert_eq!(stage.verify(&question, &[claim("The second.")], &answered).await, Verdict::Proven(vec![proof.clone()]));
    let partly = [said("The second."), judged(AnswerVerdict::InPart)];
    let for_review = Verdict::ForReview { evidence: vec![proof], why: "it is answered only in part".into() };
    assert_eq!(stage.verify(&question, &[claim("The second.")], &partly).await, for_review);
    for (text, journal, why) in [
        ("No idea.", vec![said("No idea."), judged(AnswerVerdict::DoesNotKnow)], "Solus does not know"),
        ("No.", vec![said("No."), judged(AnswerVerdict::Refuses)], "Solus refuses to answer"),
        ("The second.", vec![said("The second.")], "was not judged"),
        ("The second.", vec![said("The second."), said("The third."), judged(AnswerVerdict::Answers)], "was not judged"),
        ("The third.", answered.to_vec(), "no answer of Solus is known"),
        (" \n", vec![said(" \n"), judged(AnswerVerdict::Answers)], "no answer of Solus is known"),
    ] {
        let told = reasons(stage.verify(&question, &[claim(text)], &journal).await);
        assert!(told.contains(why), "{text}: {told}");
    }
    assert_eq!(
        reasons(stage.verify(&question, &[Claim::Ask { ask: "a".into() }], &[]).await),
        "a question proves nothing here\nnobody has answered"
    );
    // A delivered question is not an answer.
    let posted = OutboundMessage::new(&"kelly".into(), &"10".into(), OutboundKind::Answer, "Which?");
    stage.store.enqueue(std::slice::from_ref(&posted), now()).await.unwrap();
    stage.store.record_sent(&posted.id, &Posted { channel: "10".into(), message: "p".into(), at: now() }).await.unwrap();
    let told = reasons(stage.verify(&question, &[Claim::Message { outbox: posted.id }], &[]).await);
    assert_eq!(told, "nobody has answered");
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

    // A feed without numbers leaves a trace in the journal.
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
    let reminder = item(Execution::Remind { whom: None });
    let message = OutboundMessage::new(&"kelly".into(), &"10".into(), OutboundKind::Answer, "hello");
    stage.store.enqueue(std::slice::from_ref(&message), now()).await.unwrap();
    stage.store.record_sent(&message.id, &Posted { channel: "10".into(), message: "p".into(), at: now() }).await.unwrap();
    let claim = [Claim::Message { outbox: message.id }];
    evidence(stage.try_verify(&reminder, &claim, &[]).await.unwrap());
    stage.store.close().await;
    assert!(stage.try_verify(&reminder, &claim, &[]).await.is_err());
}
