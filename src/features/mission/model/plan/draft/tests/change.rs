use super::super::change::AnswerDraft;
use super::*;
use crate::features::mission::model::plan::{GivenAnswer, PlanChange};

/// A plan: "cart" and "pay" side by side, "check" needs "pay", "end" needs "cart" and "check".
fn running() -> Plan {
    let mut draft = draft(0);
    draft.steps = vec![
        step("cart", &[], &["3"]),
        step("pay", &[], &["6"]),
        step("check", &["pay"], &["8"]),
        StepDraft { title: "Do end".to_owned(), ..step("end", &["cart", "check"], &["1"]) },
    ];
    check_draft(&draft).unwrap()
}

fn short(plan: &Plan, title: &str) -> String {
    crate::features::backlog::model::short_id(&item(plan, title)).to_owned()
}

/// `far`: titles of steps that have begun or are over, and how far they are.
fn change_as(plan: &Plan, far: &[(&str, Standing)], draft: &ChangeDraft) -> Result<Option<Changed>, Vec<String>> {
    change_because_of(false, plan, far, draft)
}

fn change_because_of(
    by_colleague: bool,
    plan: &Plan,
    far: &[(&str, Standing)],
    draft: &ChangeDraft,
) -> Result<Option<Changed>, Vec<String>> {
    let far: Vec<_> = far.iter().map(|(title, standing)| (item(plan, title), *standing)).collect();
    let standing = |step: &WorkItemId| far.iter().find(|(item, _)| item == step).map_or(Standing::Open, |(_, standing)| *standing);
    with_setting(|setting| change(&Change { plan, setting: *setting, standing: &standing, by: "Ann", said: None, by_colleague }, draft))
}

fn because(why: &str) -> ChangeDraft {
    ChangeDraft { why: why.to_owned(), ..ChangeDraft::default() }
}

fn titles(plan: &Plan, items: &[WorkItemId]) -> Vec<String> {
    items.iter().filter_map(|item| plan.find_step(item)).map(|step| step.title.clone()).collect()
}

#[test]
fn what_needs_a_dropped_step_needs_what_that_needed() {
    let plan = running();
    let draft = ChangeDraft { drop: vec![format!("#{}", short(&plan, "Do check"))], ..because("Nobody has to check it.") };
    let changed = change_as(&plan, &[], &draft).unwrap().unwrap();
    let end = changed.plan.last_step().unwrap();
    assert_eq!(titles(&changed.plan, &end.needs), ["Do cart", "Do pay"]);
    assert_eq!((changed.dropped, changed.rewired), (vec![item(&plan, "Do check")], [end.item.clone()].into()));
    // The part of the dropped step stands below a heading that is served.
    let coverage = changed.plan.coverage(&directive())[&8].clone();
    assert_eq!(coverage, Served::By(vec![changed.plan.find_step(&item(&plan, "Do pay")).unwrap()]), "it stands below what is served");
    assert!(changed.plan.is_dropped(&item(&plan, "Do check")));
    let told = changed.plan.changes.last().unwrap();
    assert_eq!(
        (told.by.as_str(), told.why.as_str(), told.edited.as_slice()),
        ("Ann", "Nobody has to check it.", &["Do end".to_owned()][..])
    );
}

#[test]
fn parts_are_left_out_with_the_steps_that_serve_nothing_else() {
    let plan = running();
    let changed =
        change_as(&plan, &[], &ChangeDraft { leave_out: vec!["6".to_owned()], ..because("We sell nothing yet.") }).unwrap().unwrap();
    let left: Vec<_> = changed.plan.steps.iter().map(|step| step.title.as_str()).collect();
    assert_eq!(left, ["Do cart", "Do end"]);
    let coverage = changed.plan.coverage(&directive());
    assert_eq!([&coverage[&6], &coverage[&7], &coverage[&8]], [&Served::LeftOut("We sell nothing yet."); 3]);
    // The last step serves everything, so it has to be told.
    assert!(changed.edited.contains(&item(&plan, "Do end")) && !changed.edited.contains(&item(&plan, "Do cart")));
    let end = changed.plan.last_step().unwrap();
    assert!(end.instructions.ends_with("Not to be done any more: part 6. We sell nothing yet."), "{}", end.instructions);
    // What is done stays, and still counts.
    let far = [("Do pay", Standing::Done)];
    let changed = change_as(&plan, &far, &ChangeDraft { leave_out: vec!["6".to_owned()], ..because("Later.") }).unwrap().unwrap();
    assert_eq!(changed.dropped, [item(&plan, "Do check")]);
    assert!(matches!(&changed.plan.coverage(&directive())[&7], Served::By(steps) if steps[0].title == "Do pay"));
}

#[test]
fn new_steps_come_before_the_last_one_unless_they_come_after_it() {
    let plan = running();
    let add = |new: StepDraft| ChangeDraft { add: vec![new], ..because("We need tests.") };
    let changed = change_as(&plan, &[("Do pay", Standing::Done)], &add(step("test", &[&short(&plan, "Do pay")], &[]))).unwrap().unwrap();
    let new = changed.added.first().unwrap();
    assert!(changed.plan.last_step().unwrap().needs.contains(new));
    assert_eq!(titles(&changed.plan, &changed.plan.find_step(new).unwrap().needs), ["Do pay"]);
    let begun = [("Do end", Standing::Begun)];
    let faults = change_as(&plan, &begun, &add(step("test", &[], &[]))).unwrap_err().join("; ");
    assert!(faults.contains("\"Do end\" is the last step and has begun"), "{faults}");
    let after = change_as(&plan, &begun, &add(step("test", &[&short(&plan, "Do end")], &[]))).unwrap().unwrap();
    assert_eq!(after.plan.last_step().unwrap().title, "Do test");
    assert!(after.rewired.is_empty());
}

#[test]
fn a_step_gets_other_words_at_any_time_and_another_owner_before_it_begins() {
    let plan = running();
    let edit =
        |edit: EditDraft| ChangeDraft { edit: vec![EditDraft { step: short(&plan, "Do pay"), ..edit }], ..because("It is Solus's field.") };
    let words = edit(EditDraft { instructions: Some("Use invoices only.".to_owned()), ..EditDraft::default() });
    let owner = edit(EditDraft { owner: Some("Solus".to_owned()), ..EditDraft::default() });
    for (standing, draft, passes) in [
        (Standing::Open, &words, true),
        (Standing::Open, &owner, true),
        (Standing::Begun, &words, true),
        (Standing::Begun, &owner, false),
        (Standing::Done, &words, false),
    ] {
        let changed = change_as(&plan, &[("Do pay", standing)], draft);
        assert_eq!(changed.is_ok(), passes, "{standing:?} {draft:?}");
        if let Ok(changed) = changed {
            let changed = changed.unwrap();
            let after = changed.plan.find_step(&item(&plan, "Do pay")).unwrap();
            let before = plan.find_step(&after.item).unwrap();
            assert_eq!((&after.serves, &after.needs), (&before.serves, &before.needs));
            assert_eq!((changed.edited, changed.rewired), ([before.item.clone()].into(), BTreeSet::new()));
        }
    }
    let same = edit(EditDraft { owner: Some("vince".to_owned()), ..EditDraft::default() });
    assert_eq!(change_as(&plan, &[], &same), Ok(None));
}

#[test]
fn what_is_done_and_no_longer_right_goes_back_to_its_author() {
    let plan = running();
    let (cart, pay) = (short(&plan, "Do cart"), short(&plan, "Do pay"));
    let far = [("Do cart", Standing::Done), ("Do check", Standing::Lost)];
    let again = |step: &str| vec![AgainDraft { step: step.to_owned(), why: "It has the old price.".to_owned() }];
    let words = EditDraft { step: cart.clone(), instructions: Some("Use the new price.".to_owned()), ..EditDraft::default() };
    let criteria = vec!["The price is new".to_owned(), "Every part is served".to_owned()];
    let draft = ChangeDraft { again: again(&cart), edit: vec![words], criteria: Some(criteria.clone()), ..because("The price rose.") };
    let changed = change_as(&plan, &far, &draft).unwrap().unwrap();
    assert_eq!(changed.again, [(item(&plan, "Do cart"), "Ann: It has the old price.".to_owned())]);
    assert_eq!(changed.edited, [item(&plan, "Do cart")].into());
    assert_eq!(changed.plan.criteria, criteria);
    assert_eq!(changed.plan.changes.last().unwrap().again, ["Do cart"]);
    // Nothing else has to change.
    let alone = change_as(&plan, &far, &ChangeDraft { again: again(&cart), ..because("The price rose.") }).unwrap().unwrap();
    assert_eq!((alone.again.len(), alone.edited.len(), &alone.plan.criteria), (1, 0, &plan.criteria));

    let one = Some(vec!["The price is new".to_owned()]);
    for (draft, fault) in [
        (ChangeDraft { again: again(&pay), ..because("x") }, "\"Do pay\" is not done, so it cannot be done again"),
        (ChangeDraft { again: again(&short(&plan, "Do check")), ..because("x") }, "\"Do check\" is not done"),
        (ChangeDraft { again: again("ghost"), ..because("x") }, "\"ghost\" is no step of the plan"),
        (ChangeDraft { criteria: one, ..because("x") }, "the delivery would have fewer than 2 criteria"),
    ] {
        let faults = change_as(&plan, &far, &draft).unwrap_err();
        assert!(faults.iter().any(|told| told.contains(fault)), "{fault}: {faults:?}");
    }
    for (draft, fault) in [
        (ChangeDraft { again: again(&cart), ..because("x") }, "only people send back what is done"),
        (ChangeDraft { criteria: Some(criteria), ..because("x") }, "only people change what the delivery is judged by"),
    ] {
        let faults = change_because_of(true, &plan, &far, &draft).unwrap_err();
        assert!(faults.iter().any(|told| told.contains(fault)), "{fault}: {faults:?}");
    }
}

#[test]
fn a_change_that_breaks_the_plan_is_refused_with_the_reason() {
    let plan = running();
    let (cart, end) = (short(&plan, "Do cart"), short(&plan, "Do end"));
    let needs =
        |step: &str, need: &str| vec![EditDraft { step: step.to_owned(), needs: Some(vec![need.to_owned()]), ..EditDraft::default() }];
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let over = [("Do cart", Standing::Done)];
    for (draft, says) in [
        (ChangeDraft { drop: texts(&["ghost"]), ..because("x") }, "\"ghost\" is no step of the plan"),
        (ChangeDraft { drop: texts(&[&cart]), ..because("x") }, "\"Do cart\" is over already"),
        (ChangeDraft { drop: texts(&[&end]), ..because("x") }, "there is no final step"),
        (ChangeDraft { leave_out: texts(&["99"]), ..because("x") }, "there is no part 99"),
        (ChangeDraft { edit: needs(&short(&plan, "Do pay"), &end), ..because("x") }, "wait for each other"),
        (ChangeDraft { edit: needs(&end, "ghost"), ..because("x") }, "\"ghost\", which is no step"),
        (ChangeDraft { add: vec![step("new", &["ghost"], &[])], ..because("x") }, "\"ghost\", which is no step"),
        (ChangeDraft { add: vec![StepDraft { owner: "Zaphod".to_owned(), ..step("new", &[], &[]) }], ..because("x") }, "called \"Zaphod\""),
        (ChangeDraft { add: vec![step(&cart, &[], &[])], ..because("x") }, "two steps have the id"),
        (
            ChangeDraft { add: (0..37).map(|number| step(&format!("n{number}"), &[], &[])).collect(), ..because("x") },
            "the plan would have 41 steps",
        ),
    ] {
        let faults = change_as(&plan, &over, &draft).expect_err(says).join("; ");
        assert!(faults.contains(says), "{says}: {faults}");
    }
    assert_eq!(change_as(&plan, &over, &because("All is well.")), Ok(None));
}

#[test]
fn because_of_a_colleague_only_open_steps_change_and_every_part_is_still_served() {
    let mut plan = running();
    // Otherwise the heading of the whole document would serve every part.
    plan.steps.last_mut().expect("a last step").serves = [2].into();
    let id = |title: &str| short(&plan, title);
    let edit = |title: &str| EditDraft { step: id(title), owner: Some("kelly".to_owned()), ..EditDraft::default() };
    let begun = [("Do cart", Standing::Begun)];
    let change = |draft| change_because_of(true, &plan, &begun, &draft);
    for (draft, fault) in [
        (ChangeDraft { drop: vec![id("Do cart")], ..because("It is there.") }, "\"Do cart\" has begun, so it stays as it is"),
        (ChangeDraft { edit: vec![edit("Do cart")], ..because("Kelly knows.") }, "it has begun, so it stays as it is"),
        (ChangeDraft { leave_out: vec!["8".to_owned()], ..because("For later.") }, "only people leave parts of the directive out"),
        (ChangeDraft { drop: vec![id("Do pay"), id("Do check")], ..because("For later.") }, "nobody would serve part 6"),
    ] {
        let faults = change(draft).unwrap_err().join("; ");
        assert!(faults.contains(fault), "{faults}");
    }
    let changed = change(ChangeDraft { edit: vec![edit("Do check")], ..because("Kelly knows.") }).unwrap().unwrap();
    assert_eq!((changed.plan.count_changes(true), changed.plan.count_changes(false)), (1, 0));
    // People may do the same.
    assert!(change_as(&plan, &begun, &ChangeDraft { leave_out: vec!["8".to_owned()], ..because("For later.") }).is_ok());
}

#[test]
fn a_step_gets_another_reviewer_and_another_due_time_and_keeps_them() {
    let plan = running();
    let edit = |edit: EditDraft| {
        let step = short(&plan, "Do cart");
        change_as(&plan, &[], &ChangeDraft { edit: vec![EditDraft { step, ..edit }], ..because("x") })
    };
    let changed = edit(EditDraft { reviewer: Some("Ann".to_owned()), due: Some("2026-12-04".to_owned()), ..EditDraft::default() });
    let changed = changed.unwrap().unwrap();
    let cart = changed.plan.find_step(&item(&plan, "Do cart")).unwrap().clone();
    assert!(cart.reviewer.is_some() && cart.due.is_some() && changed.edited.contains(&cart.item), "{cart:?}");
    let again = ChangeDraft {
        edit: vec![EditDraft { step: short(&plan, "Do cart"), title: Some("Do the cart".to_owned()), ..EditDraft::default() }],
        ..because("x")
    };
    let changed = change_as(&changed.plan, &[], &again).unwrap().unwrap();
    let renamed = changed.plan.find_step(&cart.item).unwrap();
    assert_eq!((&renamed.reviewer, renamed.due), (&cart.reviewer, cart.due));
    let faults = edit(EditDraft { reviewer: Some("Zaphod".to_owned()), ..EditDraft::default() }).unwrap_err();
    assert!(faults[0].contains("but nobody"), "{faults:?}");
}

#[test]
fn a_new_step_of_a_phase_is_waited_for_by_what_has_not_begun() {
    let plan = check_draft(&product()).unwrap();
    let new = || StepDraft { phase: Some(Phase::Design), ..step("new", &[], &["3"]) };
    let with = |standing: &(dyn Fn(&WorkItemId) -> Standing + Sync)| {
        let draft = ChangeDraft { add: vec![new()], ..because("x") };
        with_setting(|setting| {
            change(&Change { plan: &plan, setting: *setting, standing, by: "Ann", said: None, by_colleague: false }, &draft)
        })
    };
    let changed = with(&|_| Standing::Open).unwrap().unwrap();
    let page = changed.plan.find_step(&item(&plan, "Do page")).unwrap();
    assert!(page.needs.contains(&item(&changed.plan, "Do new")), "{page:?}");
    assert_eq!(changed.rewired, [page.item.clone()].into());
    let begun = item(&plan, "Do page");
    let changed = with(&move |step: &WorkItemId| if *step == begun { Standing::Begun } else { Standing::Open }).unwrap().unwrap();
    assert!(!changed.rewired.contains(&item(&plan, "Do page")));
}

#[test]
fn an_answer_to_an_open_question_is_noted_once() {
    let assumption = |question: Option<&str>| Assumption {
        text: "It is free from 8 to 10.".into(),
        question: question.map(str::to_owned),
        suggestions: Vec::new(),
        answer: None,
    };
    let plan = Plan { assumed: vec![assumption(None), assumption(Some("When is it free?"))], ..running() };
    let answers = [(1, "never asked"), (2, "from 9 to 11"), (7, "no question")];
    let answers = answers.map(|(question, answer)| AnswerDraft { question, answer: answer.into() }).into();
    let draft = ChangeDraft { answers, ..because("The time is known now.") };
    let changed = change_as(&plan, &[], &draft).unwrap().unwrap();
    let answer = GivenAnswer { by: "Ann".into(), text: "from 9 to 11".into() };
    assert_eq!(changed.plan.assumed.iter().map(|assumed| assumed.answer.clone()).collect::<Vec<_>>(), [None, Some(answer)]);
    assert_eq!(changed.plan.open_questions().count(), 0);
    assert!(changed.plan.changes[0].is_only_answers);
    assert_eq!(changed.plan.count_changes(false), 0, "an answer that changes no step is none of the changes");
    assert_eq!(change_as(&changed.plan, &[], &draft).unwrap(), None);
    assert_eq!(change_because_of(true, &plan, &[], &draft).unwrap(), None);
}

#[test]
fn a_change_is_known_by_the_steps_it_concerns_also_after_they_are_renamed() {
    let plan = running();
    let rename = |title: &str, to: &str| EditDraft { step: short(&plan, title), title: Some(to.to_owned()), ..EditDraft::default() };
    let draft = ChangeDraft { edit: vec![rename("Do cart", "Do basket")], ..because("It is called basket here.") };
    let first = change_as(&plan, &[], &draft).unwrap().unwrap().plan;
    let draft = ChangeDraft { edit: vec![rename("Do cart", "Do trolley")], ..because("No, trolley.") };
    let second = change_as(&first, &[], &draft).unwrap().unwrap().plan;
    let concerned = |title: &str| {
        let step = second.find_step(&item(&second, title)).unwrap();
        second.changes.iter().filter(|change| change.concerns(step)).count()
    };
    assert_eq!((concerned("Do trolley"), concerned("Do pay")), (2, 0));
    // Changes that were stored before know only titles.
    let old = PlanChange { steps: BTreeSet::new(), ..second.changes[1].clone() };
    assert!(old.concerns(second.find_step(&item(&second, "Do trolley")).unwrap()));
}

#[test]
fn a_step_of_a_person_keeps_its_person_when_its_words_change() {
    let mut plan = running();
    let ann = Owner::Person { id: "discord:99".into(), name: "Zoe".into() };
    plan.steps[0] = Step { kind: StepKind::Person, person: Some(ann.clone()), criteria: Vec::new(), ..plan.steps[0].clone() };
    let edit =
        EditDraft { step: short(&plan, &plan.steps[0].title), instructions: Some("Measure it at noon.".into()), ..EditDraft::default() };
    let draft = ChangeDraft { edit: vec![edit], ..because("At noon.") };
    let changed = change_as(&plan, &[], &draft).unwrap().unwrap();
    assert_eq!((changed.plan.steps[0].doer(), &*changed.plan.steps[0].instructions), (ann, "Measure it at noon."));
}
