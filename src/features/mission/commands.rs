//! `/mission`, `teamroom mission` and the buttons of missions.

use std::path::Path;

use serde_json::{Value, json};

use super::button::{Choice, MissionButton};
use super::cancelling::Cancelling;
use super::model::directive::Directive;
use super::model::plan::{Plan, Served};
use super::model::{Mission, Progress};
use super::picture::draw_plan;
use super::render;
use super::service::{MissionError, Missions, Wanted, check_may_change, named};
use crate::features::backlog::commands::{is_sure, sure};
use crate::features::backlog::model::WorkItem;
use crate::features::backlog::service::Asker;
use crate::features::schedule::find_place;
use kernel::chat::attachments::read_local;
use kernel::chat::outbound::{FileContent, OutboundFile};
use kernel::commands::{
    ArgumentSpec, CommandCall, CommandReply, CommandSpec, Refused, Registry, Services, Suggestion, Surface, Topic, refuse,
};
use kernel::money::Money;

/// The most suggestions of a completion.
const SUGGESTED: usize = 25;

fn starting() -> CommandSpec {
    CommandSpec::new("start", "Have the team plan something and carry it out.")
        .example("\"Open the second shop\" --file plan.md --channel general")
        .public()
        .argument(ArgumentSpec::text("what", 4000, "What is to be done").required())
        .argument(ArgumentSpec::text("file", 400, "A document: Markdown, text, PDF or office; may be repeated").completed_by("file").many())
        .argument(
            ArgumentSpec::name_or_id("channel", 100, "The channel to work in, by name or id")
                .completed_by("channel")
                .only_in(Surface::CommandLine),
        )
}

pub(super) fn register(registry: &mut Registry, services: &Services) {
    let missions = services.late::<Missions>();
    let which =
        || ArgumentSpec::reference("id", "mission", "Which mission: the last six characters of its id, or words of its title").required();
    registry
        .group(CommandSpec::new("mission", "Directives that take several steps.").listed_under(Topic::Work), &missions)
        .command(starting(), |missions, call| Box::pin(start(missions, call)))
        .command(CommandSpec::new("list", "The last missions."), |missions, call| Box::pin(list(missions, call)))
        .command(
            CommandSpec::new("status", "How far a mission is, who is on what, and who is waited for.").example("a1b2c3").argument(which()),
            |missions, call| Box::pin(status(missions, call)),
        )
        .command(
            CommandSpec::new("plan", "The plan of a mission, as a file and a picture.").example("a1b2c3").argument(which()),
            |missions, call| Box::pin(plan(missions, call)),
        )
        .command(
            CommandSpec::new("coverage", "Which step serves which part of the directive, and what nobody serves.")
                .example("a1b2c3")
                .argument(which()),
            |missions, call| Box::pin(coverage(missions, call)),
        )
        .command(
            CommandSpec::new("tell", "Add something to the instructions of all steps that are not done.")
                .example("a1b2c3 \"Use PostgreSQL\"")
                .public()
                .argument(which())
                .argument(
                    ArgumentSpec::text("text", 1000, "What they should know: use PostgreSQL, leave out the second chapter").required(),
                ),
            |missions, call| Box::pin(tell(missions, call)),
        )
        .command(
            CommandSpec::new("change", "Change the plan: say what is to be different from now on.")
                .example("a1b2c3 \"Bob does the invoices, and we need a test plan\"")
                .public()
                .argument(which())
                .argument(
                    ArgumentSpec::text("text", 1000, "What is to be different: Bob does the invoices, and we need a test plan").required(),
                ),
            |missions, call| Box::pin(change(missions, call)),
        )
        .command(
            CommandSpec::new("leave-out", "Leave parts of the directive out, with the steps that serve nothing else.")
                .example("a1b2c3 \"3, 7-9\" --why \"not this year\"")
                .discards()
                .public()
                .argument(which())
                .argument(ArgumentSpec::text("parts", 100, "Numbers from `/mission coverage`: 3, 7-9").required())
                .argument(ArgumentSpec::text("why", 200, "The reason, for everybody who looks at the plan")),
            |missions, call| Box::pin(leave_out(missions, call)),
        )
        .command(
            CommandSpec::new("pause", "Pause a mission. Steps in progress go on later where they were.")
                .example("a1b2c3")
                .public()
                .argument(which()),
            |missions, call| Box::pin(pause(missions, call)),
        )
        .command(CommandSpec::new("resume", "Resume a paused mission.").example("a1b2c3").public().argument(which()), |missions, call| {
            Box::pin(resume(missions, call))
        })
        .command(
            CommandSpec::new("cancel", "Cancel a mission and its open steps.")
                .example("a1b2c3")
                .discards()
                .public()
                .argument(which())
                .argument(sure()),
            |missions, call| Box::pin(cancel(missions, call)),
        )
        .command(
            CommandSpec::new("restore", "Take back that a mission was cancelled, within an hour.")
                .example("a1b2c3")
                .public()
                .argument(which()),
            |missions, call| Box::pin(restore(missions, call)),
        )
        .command(
            CommandSpec::new("retry", "Try again what failed, or what was delivered and is not right.")
                .example("a1b2c3 --why \"the budget is wrong\"")
                .public()
                .argument(which())
                .argument(ArgumentSpec::text("why", 1000, "What is wrong with the delivery; a file that it names is done again")),
            |missions, call| Box::pin(retry(missions, call)),
        )
        .command(
            CommandSpec::new("costs", "What a mission has cost, by step and persona.").example("a1b2c3").argument(which()),
            |missions, call| Box::pin(costs(missions, call)),
        );
    registry.button(MissionButton::PREFIX, &missions, |missions, call| Box::pin(press(missions, call)));
    registry.completion("mission", &missions, |missions, typed| Box::pin(complete(missions, typed)));
}

async fn complete(missions: &Missions, typed: &str) -> Vec<Suggestion> {
    let typed = typed.to_lowercase();
    let known = missions.store().list_missions(50).await.unwrap_or_default();
    let fits = |mission: &&Mission| {
        mission.private_to.is_none() && (mission.title.to_lowercase().contains(&typed) || mission.short_id().contains(&typed))
    };
    let suggest = |mission: &Mission| Suggestion {
        value: mission.short_id().to_owned(),
        label: format!("{} ({})", mission.title, mission.status.as_str()),
    };
    known.iter().filter(fits).take(SUGGESTED).map(suggest).collect()
}

async fn start(missions: &Missions, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let asker = Asker::of(call);
    let channel = find_place(missions.store(), call).await?;
    let mut documents = Vec::new();
    for path in call.arguments.list_texts("file") {
        documents.push(read_local(Path::new(&path)).await.map_err(Refused::new)?);
    }
    let request = call.arguments.get_text("what")?;
    let wanted = Wanted {
        request,
        directive: Directive::read(&documents, request),
        documents: documents.into_iter().map(|(name, _)| name).collect(),
        title: None,
        by: asker.person().map(|(id, name)| (id.clone(), name.to_owned())),
        channel: &channel,
        message: None,
    };
    let drafted = missions.draft(wanted, &missions.roster().coordinator().slug).map_err(explain)?;
    let mission = missions.start(drafted).await.map_err(explain)?;
    Ok(CommandReply::public(format!("Started: {}. The plan comes in its thread.", render::title(&mission)))
        .with_data(json!({ "mission": describe(&mission) }))
        .left_to_team())
}

async fn list(missions: &Missions, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let mut listed = missions.list(&Asker::of(call)).await.map_err(explain)?;
    listed.truncate(15);
    let data = listed.iter().map(describe).collect();
    Ok(CommandReply::private(render::list(&listed)).with_data(data))
}

async fn status(missions: &Missions, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let (mission, items) = find(missions, call).await?;
    let (_, cost) = missions.cost_of(&mission).await?;
    let messages = missions.store().count_messages(&mission.id).await?;
    let text = render::status(&mission, &items, (cost, messages), missions.roster());
    let mut data = describe_with_steps(&mission, &items);
    data["messages"] = json!(messages);
    Ok(CommandReply::private(text).with_data(data))
}

async fn plan(missions: &Missions, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let (mission, items) = find(missions, call).await?;
    let Some(plan) = &mission.plan else {
        return Ok(refuse(format!("{} has no plan: it is {}", named(&mission), mission.status.as_str()))?);
    };
    let text = render::render_plan(&mission, plan, missions.roster());
    let mut reply = with_file(call, "plan.md", format!("The plan of {}.", render::title(&mission)), text);
    if let Some(redactor) = missions.redactor().filter(|_| !call.caller.is_command_line()) {
        reply.files.extend(draw_plan(plan, &items, missions.roster(), redactor).await);
    }
    Ok(reply.with_data(describe_with_steps(&mission, &items)))
}

async fn coverage(missions: &Missions, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let (mission, items) = find(missions, call).await?;
    let table = render::render_coverage(&mission.directive, mission.plan.as_ref(), &items, missions.roster());
    let counted = mission.plan.as_ref().map(|plan| render::count(&plan.coverage(&mission.directive)));
    let (served, left_out, open) = counted.unwrap_or((0, 0, mission.directive.parts.len()));
    let text = format!("{}: {served} parts served, {left_out} left out, {open} open.", render::title(&mission));
    Ok(with_file(call, "coverage.md", text, table).with_data(describe_coverage(&mission)))
}

/// A chat gets a file; a terminal the text itself.
fn with_file(call: &CommandCall, name: &str, about: String, text: String) -> CommandReply {
    if call.caller.is_command_line() {
        return CommandReply::private(format!("{about}\n\n{text}"));
    }
    CommandReply::private(about).with_files(vec![OutboundFile { name: name.to_owned(), content: FileContent::Text(text) }])
}

async fn tell(missions: &Missions, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let (mission, _) = find(missions, call).await?;
    let told = missions.tell(&mission, call.arguments.get_text("text")?, &Asker::of(call)).await.map_err(explain)?;
    let steps = if told == 1 { "1 step that is not done knows".to_owned() } else { format!("{told} steps that are not done know") };
    let reply = CommandReply::public(format!("{}: {steps} it now.", render::title(&mission)));
    with_mission(missions, reply, &mission).await
}

async fn change(missions: &Missions, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let (mission, _) = find(missions, call).await?;
    missions.wish(&mission, call.arguments.get_text("text")?, &Asker::of(call)).await.map_err(explain)?;
    let told = format!("I look at what that changes in the plan of {}. The answer comes in its thread.", render::title(&mission));
    Ok(with_mission(missions, CommandReply::public(told), &mission).await?.left_to_team())
}

async fn leave_out(missions: &Missions, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let (mission, _) = find(missions, call).await?;
    let (parts, why) = (call.arguments.get_text("parts")?, call.arguments.find_text("why"));
    let told = missions.leave_out(&mission, parts, why, &Asker::of(call)).await.map_err(explain)?;
    with_mission(missions, CommandReply::public(format!("{}: {told}", render::title(&mission))), &mission).await
}

async fn pause(missions: &Missions, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let (mission, _) = find(missions, call).await?;
    missions.pause(&mission, &Asker::of(call)).await.map_err(explain)?;
    let told = format!("{} is paused. `/mission resume id:{}` goes on.", render::title(&mission), mission.short_id());
    with_mission(missions, CommandReply::public(told), &mission).await
}

async fn resume(missions: &Missions, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let (mission, _) = find(missions, call).await?;
    missions.resume(&mission, &Asker::of(call)).await.map_err(explain)?;
    with_mission(missions, CommandReply::public(format!("{} goes on.", render::title(&mission))), &mission).await
}

async fn cancel(missions: &Missions, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let (mission, _) = find(missions, call).await?;
    let done = missions.cancel(&mission, is_sure(&call.arguments), &Asker::of(call)).await.map_err(explain)?;
    with_mission(missions, tell_cancelled(done, call, &mission), &mission).await
}

/// Adds the mission as it is now, for programs.
async fn with_mission(missions: &Missions, reply: CommandReply, mission: &Mission) -> anyhow::Result<CommandReply> {
    let now = missions.store().find_mission(&mission.id).await?;
    Ok(reply.with_data(json!({ "mission": describe(now.as_ref().unwrap_or(mission)) })))
}

fn tell_cancelled(done: Cancelling, call: &CommandCall, mission: &Mission) -> CommandReply {
    let (who, title) = (call.caller.subject(), render::title(mission));
    match done {
        Cancelling::Asked if call.caller.is_command_line() => CommandReply::refused(format!(
            "There is work in {title}, so nothing is cancelled yet. `--sure` does it; it can be taken back for an hour."
        )),
        Cancelling::Asked => CommandReply::private(format!("There is work in {title}, so please confirm with the button.")),
        Cancelling::Ended => CommandReply::public(format!(
            "{who} cancelled {title}. `/mission restore id:{}` takes that back for an hour.",
            mission.short_id()
        )),
    }
}

async fn restore(missions: &Missions, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let (mission, _) = find(missions, call).await?;
    missions.restore(&mission, &Asker::of(call)).await.map_err(explain)?;
    let told = format!("{} took back that {} was cancelled.", call.caller.subject(), render::title(&mission));
    with_mission(missions, CommandReply::public(told), &mission).await
}

async fn retry(missions: &Missions, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let (mission, _) = find(missions, call).await?;
    let again = missions.retry(&mission, call.arguments.find_text("why"), &Asker::of(call)).await.map_err(explain)?;
    let what = match again {
        None => "is planned once more".to_owned(),
        Some(1) => "goes on: 1 step is tried again".to_owned(),
        Some(many) => format!("goes on: {many} steps are tried again"),
    };
    with_mission(missions, CommandReply::public(format!("{} {what}.", render::title(&mission))), &mission).await
}

async fn costs(missions: &Missions, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let (mission, _) = find(missions, call).await?;
    // Includes steps that were begun and later left out of the plan.
    let items = missions.store().list_parts(&mission.id).await?;
    let (planning, total) = missions.cost_of(&mission).await?;
    let budget = missions.budget_of(&mission).await.map_err(explain)?;
    let text = render::costs(&mission, &items, planning, budget, missions.roster());
    let steps: Vec<Value> =
        items.iter().map(|item| json!({ "what": item.what, "cost": item.cost.dollars(), "status": item.status.as_str() })).collect();
    Ok(CommandReply::private(text).with_data(
        json!({ "total": total.dollars(), "expected": mission.plan.as_ref().and_then(|plan| plan.expected).map(Money::dollars), "budget": budget.map(Money::dollars), "planning": planning.dollars(), "steps": steps }),
    ))
}

async fn press(missions: &Missions, call: &CommandCall) -> anyhow::Result<CommandReply> {
    let Some(button) = MissionButton::parse(&call.name) else { return Ok(refuse("this button is not known any more")?) };
    let Some(mission) = missions.store().find_mission(&button.mission).await? else { return Ok(refuse("this mission is gone")?) };
    let (asker, who) = (Asker::of(call), call.caller.subject());
    let told = match button.choice {
        Choice::Start => missions.approve(&mission, &asker).await.map(|()| format!("{who} started {}.", render::title(&mission))),
        Choice::Cancel => {
            let done = missions.cancel(&mission, false, &asker).await.map_err(explain)?;
            let reply = tell_cancelled(done, call, &mission);
            return Ok(if done == Cancelling::Ended { reply.retiring_buttons() } else { reply });
        }
        Choice::CancelNow => missions.cancel(&mission, true, &asker).await.map(|_| format!("{who} cancelled {}.", render::title(&mission))),
        Choice::Keep => {
            check_may_change(&mission, &asker).map_err(explain)?;
            return Ok(CommandReply::private(format!("Kept: {}.", render::title(&mission))).retiring_buttons());
        }
        Choice::Restore => {
            missions.restore(&mission, &asker).await.map(|()| format!("{who} took back that {} was cancelled.", render::title(&mission)))
        }
        Choice::Answer { assumption, suggestion } => missions.answer(&mission, (assumption, suggestion), &asker).await,
        Choice::Persona { number, adds } => missions.decide_on_persona(&mission, number, adds, &asker).await,
        Choice::Raise { tokens, from } => {
            let by = missions.raise(&mission, tokens, from, &asker).await;
            by.map(|amount| format!("{who} raised the budget of {} by {amount}.", render::title(&mission)))
        }
        Choice::Retry => {
            missions.retry(&mission, None, &asker).await.map(|_| format!("{who} has {} tried again.", render::title(&mission)))
        }
    };
    Ok(CommandReply::public(told.map_err(explain)?).retiring_buttons())
}

async fn find(missions: &Missions, call: &CommandCall) -> anyhow::Result<(Mission, Vec<WorkItem>)> {
    let mission = missions.find(call.arguments.get_text("id")?, &Asker::of(call)).await.map_err(explain)?;
    let items = missions.items_of(&mission).await?;
    Ok((mission, items))
}

fn describe(mission: &Mission) -> Value {
    json!({
        "id": mission.id,
        "short": mission.short_id(),
        "title": mission.title,
        "status": mission.status.as_str(),
        "reason": mission.why,
    })
}

fn describe_with_steps(mission: &Mission, items: &[WorkItem]) -> Value {
    let step = |item: &WorkItem| json!({ "id": item.id, "what": item.what, "status": item.status.as_str(), "owner": item.persona, "cost": item.cost.dollars() });
    let mut described = describe(mission);
    described["steps"] = items.iter().map(step).collect();
    described["done"] = json!(Progress::of(items).done);
    described
}

fn describe_coverage(mission: &Mission) -> Value {
    let coverage = mission.plan.as_ref().map(|plan: &Plan| plan.coverage(&mission.directive)).unwrap_or_default();
    let part = |number: usize| {
        let by = match coverage.get(&number) {
            Some(Served::By(steps)) => json!({ "steps": steps.iter().map(|step| &step.title).collect::<Vec<_>>() }),
            Some(Served::LeftOut(why)) => json!({ "left_out": why }),
            Some(Served::Nobody) | None => json!({ "open": true }),
        };
        json!({ "part": number, "says": mission.directive.find(number).map(|part| part.render(200)), "served": by })
    };
    mission.directive.numbers().map(part).collect()
}

fn explain(error: MissionError) -> anyhow::Error {
    match error {
        MissionError::Refused(why) => Refused::new(why).into(),
        MissionError::Store(error) => error.into(),
    }
}
