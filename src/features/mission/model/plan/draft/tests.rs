use super::*;
use kernel::testing::persona::roster;

fn directive() -> Directive {
    let text = "# Shop\n\nWe sell tea.\n\n## Cart\n- add\n- remove\n\n## Pay\n- card\n- invoice\n\n## Later\n- coupons\n";
    Directive::read(&[("roadmap.md".to_owned(), text.to_owned())], "build this")
}

fn step(id: &str, needs: &[&str], serves: &[&str]) -> StepDraft {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    StepDraft {
        id: id.to_owned(),
        title: format!("Do {id}"),
        instructions: format!("Write what {id} needs, in full."),
        kind: StepKind::Write,
        owner: "vince".to_owned(),
        criteria: texts(&["It names every case of the part", "It can be used as it stands"]),
        needs: texts(needs),
        serves: texts(serves),
        phase: None,
    }
}

/// Some steps side by side, and one that joins them.
fn draft(wide: usize) -> PlanDraft {
    let names: Vec<String> = (0..wide).map(|number| format!("s{number}")).collect();
    let mut steps: Vec<StepDraft> = names.iter().map(|name| step(name, &[], &["3"])).collect();
    steps.push(step("end", &names.iter().map(String::as_str).collect::<Vec<_>>(), &["6-8"]));
    PlanDraft {
        criteria: vec!["Every part is served or named as open".to_owned(), "The pieces fit each other".to_owned()],
        steps,
        left_out: vec![LeftOutDraft { parts: vec!["9".to_owned()], why: "It is for later.".to_owned() }],
        missing: Vec::new(),
    }
}

fn check_draft(draft: &PlanDraft) -> Result<Plan, Vec<String>> {
    check(Understanding::default(), draft, &directive(), &roster())
}

/// A way in which plans are broken, and what the refusal names.
type Break = (&'static str, fn(&mut PlanDraft), &'static str);

const BREAKS: [Break; 10] = [
    (
        "a circle",
        |draft| {
            let last = draft.steps.len() - 1;
            draft.steps[0].needs = vec![draft.steps[last].id.clone()];
        },
        "wait for each other: Do s0 → Do end → Do s0",
    ),
    ("an unknown owner", |draft| draft.steps[0].owner = "Zaphod".to_owned(), "nobody on the team is called \"Zaphod\""),
    ("a need that is no step", |draft| draft.steps[0].needs = vec!["ghost".to_owned()], "\"ghost\", which is no step"),
    ("no final step", |draft| drop(draft.steps.pop()), "there is no final step"),
    ("criteria that nobody can check", |draft| draft.steps[0].criteria = vec!["good".to_owned(), "nice".to_owned()], "2 to 5 criteria"),
    ("invented parts", |draft| draft.steps[0].serves = vec!["3".to_owned(), "99".to_owned()], "there is no part 99: the directive has 10"),
    (
        "41 steps",
        |draft| {
            while draft.steps.len() <= MOST_STEPS {
                let id = format!("more{}", draft.steps.len());
                draft.steps.insert(0, step(&id, &[], &[]));
            }
        },
        "At most 40",
    ),
    ("one id twice", |draft| draft.steps[1].id = draft.steps[0].id.to_uppercase(), "two steps have the id s0"),
    ("nothing", |draft| draft.steps.clear(), "no steps"),
    ("parts left out without a reason", |draft| draft.left_out[0].why = " ".to_owned(), "left out without a reason"),
];

#[test]
fn of_two_hundred_plans_no_broken_one_passes_and_every_good_twin_does() {
    for (name, spoil, says) in BREAKS {
        for wide in 2..12 {
            let good = draft(wide);
            let plan = check_draft(&good).unwrap_or_else(|faults| panic!("{name}, {wide}: {faults:?}"));
            assert_eq!(plan.steps.len(), wide + 1);
            let mut broken = good.clone();
            spoil(&mut broken);
            let faults = check_draft(&broken).expect_err(name).join("; ");
            assert!(faults.contains(says), "{name}: {faults}");
        }
    }
}

#[test]
fn steps_come_after_what_they_need_whatever_their_order_was() {
    let mut draft = draft(3);
    draft.steps.reverse();
    let plan = check_draft(&draft).unwrap();
    assert_eq!(plan.last_step().unwrap().title, "Do end");
    assert_eq!(plan.waves().iter().map(Vec::len).collect::<Vec<_>>(), [3, 1]);
}

#[test]
fn every_part_is_served_left_out_or_open() {
    let mut draft = draft(1);
    draft.left_out[0].parts = vec!["9".to_owned()];
    let plan = check_draft(&draft).unwrap();
    let directive = directive();
    let coverage = plan.coverage(&directive);
    assert_eq!(coverage.len(), directive.parts.len());
    let by = |number: usize| match &coverage[&number] {
        Served::By(steps) => steps.iter().map(|step| step.title.as_str()).collect::<Vec<_>>().join(", "),
        Served::LeftOut(why) => format!("not: {why}"),
        Served::Nobody => "open".to_owned(),
    };
    // "Cart" with what is below it; the title by what is below it; a sentence that nobody serves; what is left out, with what is below it.
    assert_eq!([by(3), by(4), by(5)], ["Do s0", "Do s0", "Do s0"]);
    assert_eq!(by(1), "Do s0, Do end");
    assert_eq!(by(2), "open");
    assert_eq!([by(9), by(10)], ["not: It is for later.", "not: It is for later."]);
    assert_eq!(plan.warnings, ["1 part of the directive is not served by any step"]);
}

/// Or else a finished overview would stand for all pieces that were never made.
#[test]
fn who_serves_the_title_does_not_serve_what_others_are_to_do() {
    let mut draft = draft(1);
    draft.left_out[0].parts = vec!["9".to_owned()];
    draft.steps[1].serves = vec!["1".to_owned()];
    let plan = check_draft(&draft).unwrap();
    let directive = directive();
    let coverage = plan.coverage(&directive);
    let by = |number: usize| match &coverage[&number] {
        Served::By(steps) => steps.iter().map(|step| step.title.as_str()).collect::<Vec<_>>().join(", "),
        _ => "nobody".to_owned(),
    };
    assert_eq!([by(1), by(2), by(3), by(4), by(9)], ["Do end", "Do end", "Do s0", "Do s0", "nobody"]);
}

#[test]
fn numbers_are_read_as_models_write_them() {
    let numbers = |given: &[&str]| read_numbers(&given.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>(), &directive());
    assert_eq!(numbers(&["[3]", "5–7, 9", " 1 - 2 "]).unwrap(), [1, 2, 3, 5, 6, 7, 9].into());
    assert!(numbers(&[]).unwrap().is_empty());
    for wrong in ["0", "7-5", "11", "all", "1.2", "3-", "99999999999999999999"] {
        assert!(numbers(&[wrong]).is_err(), "{wrong}");
    }
}

#[test]
fn a_step_is_revised_within_its_place_in_the_plan() {
    let plan = check_draft(&draft(2)).unwrap();
    let end = plan.last_step().unwrap();
    let other = StepDraft { title: "Join by hand".to_owned(), owner: "solus".to_owned(), ..step("again", &[], &[]) };
    let revised = revise(end, &other, &roster()).unwrap();
    assert_eq!((&revised.item, &revised.needs, &revised.serves), (&end.item, &end.needs, &end.serves));
    assert_eq!((revised.title.as_str(), revised.owner.as_str()), ("Join by hand", "solus"));
    assert!(revise(end, &StepDraft { owner: "nobody".to_owned(), ..other }, &roster()).is_err());
}

/// A product in three phases: what the first steps of a phase need is left out.
fn product() -> PlanDraft {
    let in_phase = |phase, step: StepDraft| StepDraft { phase: Some(phase), ..step };
    let mut draft = draft(0);
    draft.steps = vec![
        in_phase(Phase::Test, step("end", &["page"], &["1"])),
        in_phase(Phase::Build, step("page", &[], &["6"])),
        in_phase(Phase::Design, step("pay", &["cart"], &["6"])),
        in_phase(Phase::Design, step("cart", &[], &["3"])),
        in_phase(Phase::Design, step("looks", &[], &["3"])),
        in_phase(Phase::Build, step("style", &["page"], &["3"])),
        in_phase(Phase::Test, step("try", &["style"], &["3"])),
    ];
    draft.steps[0].needs.push("try".to_owned());
    draft
}

#[test]
fn a_phase_begins_with_what_the_one_before_has_given() {
    let plan = check_draft(&product()).unwrap();
    let needs = |title: &str| -> Vec<String> {
        let step = plan.find_step(&item(&plan, title)).unwrap();
        step.needs.iter().map(|need| plan.find_step(need).unwrap().title.clone()).collect()
    };
    assert_eq!(needs("Do page"), ["Do pay", "Do looks"], "all that the design ends with");
    assert_eq!((needs("Do style"), needs("Do looks")), (vec!["Do page".to_owned()], Vec::new()));
    assert_eq!(needs("Do try"), ["Do style"]);
    let after = |over: &[&str]| {
        let over: Vec<_> = over.iter().map(|title| item(&plan, title)).collect();
        plan.find_phase(|step| over.contains(step))
    };
    assert_eq!(after(&[]), Some(Phase::Design));
    assert_eq!(after(&["Do pay", "Do cart", "Do looks"]), Some(Phase::Build));
    assert_eq!(check_draft(&draft(2)).unwrap().find_phase(|_| false), None);
}

#[test]
fn phases_that_are_mixed_up_are_refused() {
    let mut draft = product();
    draft.steps[4].phase = None;
    let faults = check_draft(&draft).unwrap_err();
    assert_eq!(faults, ["\"Do looks\" is in no phase, but other steps are. Give each step its phase, or none"]);
    let mut draft = product();
    draft.steps[3].needs.push("page".to_owned());
    let faults = check_draft(&draft).unwrap_err();
    assert_eq!(faults, ["\"Do cart\" is in the phase design, but needs \"Do page\" of the phase build"]);
}

#[test]
fn a_new_step_of_a_phase_is_waited_for_by_what_has_not_begun() {
    let plan = check_draft(&product()).unwrap();
    let new = || StepDraft { phase: Some(Phase::Design), ..step("new", &[], &["3"]) };
    let with = |standing: &(dyn Fn(&WorkItemId) -> Standing + Sync)| {
        let of = Change {
            plan: &plan,
            directive: &directive(),
            roster: &roster(),
            standing,
            by: "Ann",
            by_colleague: false,
            at: chrono::DateTime::UNIX_EPOCH,
        };
        change(&of, &ChangeDraft { add: vec![new()], ..because("x") })
    };
    let changed = with(&|_| Standing::Open).unwrap().unwrap();
    let page = changed.plan.find_step(&item(&plan, "Do page")).unwrap();
    assert!(page.needs.contains(&item(&changed.plan, "Do new")), "{page:?}");
    assert_eq!(changed.rewired, [page.item.clone()].into());
    let begun = item(&plan, "Do page");
    let changed = with(&move |step: &WorkItemId| if *step == begun { Standing::Begun } else { Standing::Open }).unwrap().unwrap();
    assert!(!changed.rewired.contains(&item(&plan, "Do page")));
}

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

fn item(plan: &Plan, title: &str) -> WorkItemId {
    plan.steps.iter().find(|step| step.title == title).unwrap_or_else(|| panic!("no step {title}")).item.clone()
}

fn short(plan: &Plan, title: &str) -> String {
    crate::features::backlog::model::short_id(&item(plan, title)).to_owned()
}

/// `far`: titles of steps that have begun, or are over.
fn change_as(plan: &Plan, far: &[(&str, Standing)], draft: &ChangeDraft) -> Result<Option<Changed>, Vec<String>> {
    change_because_of(false, plan, far, draft)
}

fn change_because_of(
    by_colleague: bool,
    plan: &Plan,
    far: &[(&str, Standing)],
    draft: &ChangeDraft,
) -> Result<Option<Changed>, Vec<String>> {
    let (directive, roster) = (directive(), roster());
    let far: Vec<_> = far.iter().map(|(title, standing)| (item(plan, title), *standing)).collect();
    let standing = |step: &WorkItemId| far.iter().find(|(item, _)| item == step).map_or(Standing::Open, |(_, standing)| *standing);
    let at = chrono::DateTime::UNIX_EPOCH;
    change(&Change { plan, directive: &directive, roster: &roster, standing: &standing, by: "Ann", by_colleague, at }, draft)
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
    // What it served is left out, with the reason.
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
    // The last step serves all, so it has to know.
    assert!(changed.edited.contains(&item(&plan, "Do end")) && !changed.edited.contains(&item(&plan, "Do cart")));
    let end = changed.plan.last_step().unwrap();
    assert!(end.instructions.ends_with("Not to be done any more: part 6. We sell nothing yet."), "{}", end.instructions);
    // What is done stays, and still counts.
    let far = [("Do pay", Standing::Over)];
    let changed = change_as(&plan, &far, &ChangeDraft { leave_out: vec!["6".to_owned()], ..because("Later.") }).unwrap().unwrap();
    assert_eq!(changed.dropped, [item(&plan, "Do check")]);
    assert!(matches!(&changed.plan.coverage(&directive())[&7], Served::By(steps) if steps[0].title == "Do pay"));
}

#[test]
fn new_steps_come_before_the_last_one_unless_they_come_after_it() {
    let plan = running();
    let add = |new: StepDraft| ChangeDraft { add: vec![new], ..because("We need tests.") };
    let changed = change_as(&plan, &[("Do pay", Standing::Over)], &add(step("test", &[&short(&plan, "Do pay")], &[]))).unwrap().unwrap();
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
        (Standing::Over, &words, false),
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
fn a_change_that_breaks_the_plan_is_refused_with_the_reason() {
    let plan = running();
    let (cart, end) = (short(&plan, "Do cart"), short(&plan, "Do end"));
    let needs =
        |step: &str, need: &str| vec![EditDraft { step: step.to_owned(), needs: Some(vec![need.to_owned()]), ..EditDraft::default() }];
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let over = [("Do cart", Standing::Over)];
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
    // The heading of the whole would serve every part.
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
    // The same is allowed to people.
    assert!(change_as(&plan, &begun, &ChangeDraft { leave_out: vec!["8".to_owned()], ..because("For later.") }).is_ok());
}
