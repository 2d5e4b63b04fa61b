use super::*;
use crate::chat::message::Place;
use crate::commands::{ArgumentSpec, Services, Surface, refuse, render_list, render_table};

struct Counter(u32);

fn count(counter: &Counter, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let step = call.arguments.find_u32("step").unwrap_or(1);
    if step > 100 {
        refuse("nobody counts that far")?;
    }
    anyhow::ensure!(step != 13, "the database is away");
    Ok(CommandReply::public(format!("{}: {}", call.caller.subject(), counter.0 + step)))
}

fn registry(services: &Services) -> Registry {
    let mut registry = Registry::new(
        "discord",
        Arc::new(|right: Right, caller: &Caller, _: &Channel| match (right, caller.name()) {
            (_, "Mallory") => refuse("you are not heard here"),
            (Right::Own | Right::Anybody, _) | (_, "Ann") => Ok(()),
            (Right::Operator, _) => refuse("only an operator may do that"),
        }),
    );
    let counter = services.late::<Counter>();
    registry
        .group(CommandSpec::new("count", "Counting."), &counter)
        .command(
            CommandSpec::new("up", "Count up.")
                .public()
                .argument(ArgumentSpec::integer("step", (1, 1000), "How far"))
                .argument(ArgumentSpec::text("note", 10, "Why").operators_only()),
            |counter, call| Box::pin(std::future::ready(count(counter, call))),
        )
        .command(CommandSpec::new("reset", "Start again.").operators_only(), |counter, call| {
            Box::pin(std::future::ready(count(counter, call)))
        })
        .command(CommandSpec::new("raw", "Print the number.").only_in(Surface::CommandLine), |counter, call| {
            Box::pin(std::future::ready(count(counter, call)))
        });
    registry.button("count", &counter, |counter, call| Box::pin(std::future::ready(count(counter, call))));
    registry.completion("counter", &counter, |_, typed| Box::pin(async move { vec![Suggestion::name(format!("{typed}…"))] }));
    registry
}

fn started() -> Registry {
    let services = Services::new("We are just starting.");
    services.provide(Arc::new(Counter(1)));
    registry(&services)
}

fn person(name: &str) -> Caller {
    Caller::Person { id: name.into(), name: name.to_owned(), roles: Vec::new() }
}

fn here() -> Channel {
    Channel { id: "7".into(), name: "general".into(), place: Place::Server, private: false, shared: false }
}

fn command(name: &str, path: &str, given: &[(&str, &str)]) -> CommandRequest {
    let given = given.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    CommandRequest { invoked: Invoked::Command { path: path.to_owned(), given }, caller: person(name), channel: Some(here()) }
}

async fn told(registry: &Registry, request: CommandRequest) -> (String, bool) {
    let reply = registry.run(request).await;
    (reply.text, reply.error)
}

#[tokio::test]
async fn a_command_reaches_its_handler_with_its_arguments() {
    assert_eq!(told(&started(), command("Bob", "count up", &[("step", "5")])).await, ("Bob: 6".into(), false));
}

#[tokio::test]
async fn the_command_line_is_an_operator_without_a_channel() {
    let request = CommandRequest { caller: Caller::CommandLine, channel: None, ..command("", "count reset", &[]) };
    assert_eq!(told(&started(), request).await, ("You: 2".into(), false));
}

#[test]
fn at_the_command_line_commands_are_named_as_they_are_given_there() {
    let registry = started();
    for (chat, terminal) in [
        ("Use `/count up` or `/count`.", "Use `teamroom count up` or `teamroom count`."),
        ("`/count reset` starts again, and so does `/other`.", "`teamroom count reset` starts again, and so does `/other`."),
        ("Use `/count up` in the chat. A path: `/counter/up`.", "Use `/count up` in the chat. A path: `/counter/up`."),
        ("Use `/count up step:5`.", "Use `teamroom count up --step 5`."),
        ("Nothing `to` / change. `/count", "Nothing `to` / change. `teamroom count"),
    ] {
        assert_eq!(registry.spell_for_command_line(chat), terminal);
    }
}

#[tokio::test]
async fn rights_are_checked_before_anything_else_is_looked_at() {
    let registry = started();
    let denied = ("Only an operator may do that.".to_owned(), true);
    assert_eq!(told(&registry, command("Bob", "count reset", &[])).await, denied);
    assert!(!told(&registry, command("Ann", "count reset", &[])).await.1);
    assert_eq!(told(&registry, command("Bob", "count up", &[("note", "x"), ("step", "many")])).await, denied, "by its argument");
    assert_eq!(told(&registry, command("Mallory", "count up", &[])).await.0, "You are not heard here.");
    let button = CommandRequest { invoked: Invoked::Button("count:7".into()), ..command("Mallory", "", &[]) };
    assert_eq!(told(&registry, button).await.0, "You are not heard here.");
    assert!(registry.complete("counter", "a", &person("Mallory"), Some(&here())).await.is_empty());
    assert_eq!(registry.complete("counter", "a", &person("Bob"), Some(&here())).await, [Suggestion::name("a…")]);
}

#[tokio::test]
async fn what_goes_wrong_ends_in_an_answer() {
    let registry = started();
    assert_eq!(told(&registry, command("Bob", "count up", &[("step", "101")])).await.0, "Nobody counts that far.");
    let fault = told(&registry, command("Bob", "count up", &[("step", "13")])).await;
    assert!(fault.1 && fault.0.contains("try again") && !fault.0.contains("away"), "{fault:?}");
    for path in ["count", "count down", "", "count up up"] {
        assert_eq!(told(&registry, command("Bob", path, &[])).await, ("This command no longer exists.".into(), true), "{path}");
    }
    let button = CommandRequest { invoked: Invoked::Button("other:7".into()), ..command("Bob", "", &[]) };
    assert_eq!(told(&registry, button).await, ("This button no longer works.".into(), true));
    let starting = super::tests::registry(&Services::new("We are just starting."));
    assert_eq!(told(&starting, command("Bob", "count up", &[])).await, ("We are just starting.".into(), true));
}

#[test]
fn an_argument_that_changes_something_is_told_to_everybody() {
    let spec = CommandSpec::new("costs", "x").argument(ArgumentSpec::number("raise", (0.0, 1.0), "x").operators_only());
    assert_eq!((spec.audience_with([]), spec.audience_with(["raise"])), (Audience::Caller, Audience::Everybody));
}

#[test]
fn commands_are_listed_for_the_chat_and_for_the_readme() {
    let registry = started();
    assert_eq!(render_list(registry.commands()), "- `/count up`, `reset`: counting\n");
    insta::assert_snapshot!(render_table(registry.commands()), @r"
    | command | what it does |
    | --- | --- |
    | `count up [--step] [--note]` | Count up. |
    | `count reset` | Start again. For operators. |
    | `count raw` | Print the number. At the command line only. |
    ");
}
