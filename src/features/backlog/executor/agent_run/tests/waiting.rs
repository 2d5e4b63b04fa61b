use crate::features::backlog::executor::agent_run::tests::*;

fn waits_for(arguments: serde_json::Value) -> Script {
    Script::call("wait_for", arguments)
}

#[tokio::test]
async fn a_run_waits_for_a_time_that_counts_from_the_call() {
    let stage = Stage::of(Execution::Write).await;
    stage.model.on(|asked| match asked.tool_results() {
        0 => waits_for(json!({"time": "in 7 days"})),
        1 => write("count.md", "# Orders\n\nFour orders came in this week.\n"),
        _ => finish(&["count.md"]),
    });
    let Outcome::Later { at, .. } = stage.continue_run().await else { panic!("it does not wait") };
    assert!((6..=7).contains(&(at - now()).num_days()), "{at}");
    stage.wait(TimeDelta::days(3));
    assert!(matches!(stage.continue_run().await, Outcome::Later { at: again, .. } if again == at), "it began to count again");
    assert_eq!(stage.model.count(), 1, "waiting asks no model");
    stage.wait(TimeDelta::days(5));
    assert_eq!(files(&made(stage.continue_run().await)), ["count.md"]);
}

#[tokio::test]
async fn what_cannot_be_waited_for_is_refused() {
    let stage = Stage::of(Execution::Write).await;
    let own = format!("#{}", stage.item.short_id());
    stage.model.on(move |asked| match asked.tool_results() {
        0 => waits_for(json!({})),
        1 => waits_for(json!({"time": "when it suits"})),
        2 => waits_for(json!({"item": "#ffffff"})),
        3 => waits_for(json!({"item": own})),
        4 => write("count.md", "# Orders\n\nFour orders came in this week.\n"),
        _ => finish(&["count.md"]),
    });
    made(stage.continue_run().await);
    let refused = stage.refusals().await;
    for (number, why) in
        ["either a time or an item", "the time cannot be read", "there is no item", "waits for your own item"].iter().enumerate()
    {
        assert!(refused[number].contains(why), "{refused:?}");
    }
}
