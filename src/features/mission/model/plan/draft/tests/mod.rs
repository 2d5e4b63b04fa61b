//! Plans as models give them: two hundred, half of them broken in ten ways.

use super::*;
use kernel::people::Directory;
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
        reviewer: None,
        due: None,
    }
}

/// Ann Lee is known, and it is Thursday 2026-11-26.
fn with_setting<R>(check: impl FnOnce(&Setting<'_>) -> R) -> R {
    let (directive, roster, people) = (directive(), roster(), Directory::default().with(&"discord:41".into(), "Ann Lee"));
    let closes = NaiveTime::from_hms_opt(18, 0, 0).unwrap();
    let owners = KnownOwners { roster: &roster, people: &people };
    check(&Setting { directive: &directive, owners, closes, at: "2026-11-26T10:00:00Z".parse().unwrap() })
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
        learnt: Vec::new(),
    }
}

fn check_draft(draft: &PlanDraft) -> Result<Plan, Vec<String>> {
    with_setting(|of| check(Understanding::default(), draft, of))
}

/// A way in which plans are broken, and the words of its refusal.
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
    // "Cart" and everything below it; the title, by the steps below it; a sentence that nobody serves; a heading that is left out, with everything
    // below it.
    assert_eq!([by(3), by(4), by(5)], ["Do s0", "Do s0", "Do s0"]);
    assert_eq!(by(1), "Do s0, Do end");
    assert_eq!(by(2), "open");
    assert_eq!([by(9), by(10)], ["not: It is for later.", "not: It is for later."]);
    assert_eq!(plan.warnings, ["1 part of the directive is not served by any step: [2] We sell tea."]);
}

/// Otherwise a finished overview would count for pieces that were never made.
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
    let end = &Step { reviewer: Some(Owner::Persona("kelly".into())), ..end.clone() };
    let revised = with_setting(|of| revise(end, &other, of)).unwrap();
    assert_eq!(revised.reviewer, end.reviewer);
    assert_eq!((&revised.item, &revised.needs, &revised.serves), (&end.item, &end.needs, &end.serves));
    assert_eq!((revised.title.as_str(), revised.owner.as_str()), ("Join by hand", "solus"));
    assert!(with_setting(|of| revise(end, &StepDraft { owner: "nobody".to_owned(), ..other.clone() }, of)).is_err());
}

#[test]
fn a_step_has_the_reviewer_and_the_due_time_that_somebody_named() {
    let planned = |reviewer: &str, due: &str| {
        let mut draft = draft(1);
        draft.steps[0] = StepDraft { reviewer: Some(reviewer.to_owned()), due: Some(due.to_owned()), ..draft.steps[0].clone() };
        let plan = check_draft(&draft).unwrap();
        let step = plan.steps.iter().find(|step| step.title == "Do s0").unwrap().clone();
        (step.reviewer, step.due.map(|due| due.to_rfc3339()), plan.warnings)
    };
    let (reviewer, due, warnings) = planned("Kelly", "2026-12-04");
    assert_eq!((reviewer, due.as_deref()), (Some(Owner::Persona("kelly".into())), Some("2026-12-04T18:00:00+00:00")));
    assert_eq!(warnings, check_draft(&draft(1)).unwrap().warnings);
    let (reviewer, due, _) = planned("Ann", "2026-12-04 09:30");
    assert_eq!(reviewer, Some(Owner::Person { id: "discord:41".into(), name: "Ann Lee".to_owned() }));
    assert_eq!(due.as_deref(), Some("2026-12-04T09:30:00+00:00"));
    assert_eq!(planned(" ", "").0, None);
    for (reviewer, due, told) in [
        ("Zaphod", "", "is to be reviewed by Zaphod, but nobody"),
        ("Vince", "", "is to be reviewed by Vince, who does it, so a colleague reviews it"),
        ("", "when it is ripe", "\"Do s0\" has no due date that I can read"),
    ] {
        let (reviewer, due, warnings) = planned(reviewer, due);
        assert_eq!((reviewer, due), (None, None), "the step is planned all the same");
        assert!(warnings.iter().any(|warning| warning.contains(told)), "{warnings:?}");
    }
}

/// A product in three phases. The draft does not name what the first steps of a phase need.
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

fn item(plan: &Plan, title: &str) -> WorkItemId {
    plan.steps.iter().find(|step| step.title == title).unwrap_or_else(|| panic!("no step {title}")).item.clone()
}

mod change;

#[test]
fn a_heading_whose_parts_are_all_left_out_is_left_out() {
    let mut draft = draft(1);
    draft.left_out = vec![LeftOutDraft { parts: vec!["10".to_owned()], why: "It is for later.".to_owned() }];
    let plan = check_draft(&draft).unwrap();
    assert_eq!(plan.coverage(&directive())[&9], Served::LeftOut("It is for later."));
}

#[test]
fn a_person_does_what_only_a_person_can_do() {
    let mut draft = draft(1);
    draft.steps[0] = StepDraft { kind: StepKind::Person, owner: "ann lee".into(), criteria: Vec::new(), ..step("s0", &[], &["3"]) };
    let plan = check_draft(&draft).unwrap();
    let ann = Owner::Person { id: "discord:41".into(), name: "Ann Lee".into() };
    assert_eq!((plan.steps[0].doer(), plan.steps[0].owner.as_str()), (ann, roster().coordinator().slug.as_str()));
    assert_eq!(plan.steps[0].criteria, Vec::<String>::new());

    draft.steps[0].owner = "Vince".into();
    assert_eq!(check_draft(&draft).unwrap_err(), ["step s0: Vince is no person, so it cannot be of the kind `person`"]);
    draft.steps[0].owner = "Zoe".into();
    assert!(check_draft(&draft).unwrap_err()[0].contains("\"Zoe\" is to do it, but nobody on the team is called"));
}
