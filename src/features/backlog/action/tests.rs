use proptest::prelude::*;

use crate::features::backlog::action::*;
use kernel::testing::roster as sample;

fn proposed(what: &str, owner: &str, urgency: Urgency) -> ProposedAction {
    ProposedAction {
        what: what.into(),
        how: "Look at the log.".into(),
        why: "It blocks the release.".into(),
        owner: owner.into(),
        urgency,
        execution: None,
        watch: None,
    }
}

fn checked(proposed: &[ProposedAction], open: &[&str]) -> CheckedActions {
    let open: Vec<(WorkItemId, String)> = open.iter().map(|what| (WorkItemId::new("1"), (*what).to_owned())).collect();
    let people = [(UserId::new("discord:42"), "Ann".to_owned()), (UserId::new("discord:43"), "Elinor".to_owned())];
    check_actions(proposed, &KnownOwners { roster: &sample::roster(), people: &Directory::of(&people) }, &open, MOST_ACTIONS)
}

#[test]
fn what_was_done_is_not_to_be_done_again() {
    let done = [(WorkItemId::new("0000a1b2c3"), "Renew the certificate of the shop".to_owned())];
    let people: [(UserId, String); 0] = [];
    let known = KnownOwners { roster: &sample::roster(), people: &Directory::of(&people) };
    let proposed = ["renew the certificate of our shop!", "Write the release notes"].map(|what| proposed(what, "Vince", Urgency::Today));
    let checked = check_new_actions(&proposed, &known, &[], &done, MOST_ACTIONS);
    assert_eq!(checked.refused.len(), 1, "{checked:#?}");
    assert_eq!(checked.refused[0].reason, "says the same as the finished item #a1b2c3");
    assert_eq!(checked.accepted[0].what, "Write the release notes");
}

/// Checks one action owned by Vince. Returns its text or the reason.
fn told(what: &str) -> Result<String, String> {
    let mut checked = checked(&[proposed(what, "Vince", Urgency::Today)], &[]);
    checked.accepted.pop().map(|action| action.what).ok_or_else(|| checked.refused.remove(0).reason)
}

#[test]
fn an_action_is_taken_in_any_words_and_language_once_its_address_is_gone() {
    for (what, noted) in [
        ("Fix the login page", "Fix the login page"),
        ("please fix the login page", "Fix the login page"),
        ("@Vince: please, **fix** the\nlogin page", "**fix** the login page"),
        ("1. Vince, check `p95`", "Check `p95`"),
        ("Fix ~/job_executor_test.go [flaky] for @ann", "Fix ~/job_executor_test.go [flaky] for @ann"),
        ("TODO: Re-run the tests", "Re-run the tests"),
        ("renew the certificate", "Renew the certificate"),
        ("Patch the server", "Patch the server"),
        ("We should fix the login", "We should fix the login"),
        ("The login is broken", "The login is broken"),
        ("Login page", "Login page"),
        ("Den Vertrag mit dem Rechenzentrum verlängern", "Den Vertrag mit dem Rechenzentrum verlängern"),
        ("bitte die Rechnung prüfen", "Bitte die Rechnung prüfen"),
        ("Vérifier le certificat", "Vérifier le certificat"),
        ("修理登录", "修理登录"),
    ] {
        assert_eq!(told(what).as_deref(), Ok(noted), "{what}");
    }
    for nothing in ["", "@@ **", " \n", "…!"] {
        assert_eq!(told(nothing), Err("does not say what to do".to_owned()), "{nothing}");
    }
}

#[test]
fn an_owner_is_one_persona_or_one_person() {
    let owner = |name: &str| {
        let mut checked = checked(&[proposed("Fix it", name, Urgency::Now)], &[]);
        checked.accepted.pop().map(|action| action.owner).ok_or_else(|| checked.refused.remove(0).reason)
    };
    let ann = Owner::Person { id: "discord:42".into(), name: "Ann".into() };
    for (name, meant) in [
        ("Vince", Owner::Persona("vince".into())),
        ("@vince", Owner::Persona("vince".into())),
        ("v", Owner::Persona("vince".into())),
        ("Sol", Owner::Persona("solus".into())),
        ("big ear", Owner::Persona("echo".into())),
        ("ann", ann.clone()),
        ("an", ann.clone()),
        ("<user:discord:42>", ann.clone()),
        ("discord:42", ann.clone()),
        ("42", ann),
    ] {
        assert_eq!(owner(name), Ok(meant), "{name}");
    }
    for (name, reason) in [
        ("", "has no owner"),
        ("  @ ", "has no owner"),
        ("Team", "\"team\" is not one person"),
        ("everyone", "is not one person"),
        ("@everyone", "is not one person"),
        ("Eli", "nobody on the team is called \"Eli\""),
        ("Zaphod", "nobody on the team is called \"Zaphod\""),
        ("Vince and Eliza", "nobody on the team is called"),
    ] {
        let refusal = owner(name).expect_err(name);
        assert!(refusal.contains(reason), "{name}: {refusal}");
    }
}

#[test]
fn what_is_open_or_proposed_already_is_refused() {
    let actions = [
        proposed("Fix flaky login tests in CI", "Vince", Urgency::Backlog),
        proposed("Check the costs of Monday", "Vince", Urgency::Backlog),
        proposed("Check the costs for Tuesday", "Vince", Urgency::Backlog),
        proposed("Check costs on Monday", "Eliza", Urgency::Now),
    ];
    let checked = checked(&actions, &["Fix the flaky login test"]);
    let accepted: Vec<&str> = checked.accepted.iter().map(|action| action.what.as_str()).collect();
    assert_eq!(accepted, ["Check costs on Monday", "Check the costs for Tuesday"]);
    let refused: Vec<&str> = checked.refused.iter().map(|refused| refused.reason.as_str()).collect();
    assert_eq!(refused, ["says the same as the open item #1", "says the same as another action of this standup"]);
}

#[test]
fn the_most_urgent_are_taken_first_and_the_rest_is_told() {
    let things = ["login", "search", "billing", "export", "backup", "mail", "charts", "colours", "sounds"];
    let actions: Vec<ProposedAction> = things
        .iter()
        .enumerate()
        .map(|(at, thing)| proposed(&format!("Fix {thing}"), "Vince", if at == 8 { Urgency::Now } else { Urgency::ThisWeek }))
        .collect();
    let checked = checked(&actions, &[]);
    assert_eq!((checked.accepted.len(), checked.refused.len()), (MOST_ACTIONS, 2));
    assert_eq!((checked.accepted[0].what.as_str(), checked.accepted[1].what.as_str()), ("Fix sounds", "Fix login"));
    assert!(checked.refused[0].reason.contains("limit for new actions"));
}

#[test]
fn texts_are_flat_and_cut() {
    let mut action = proposed(&format!("Fix {}", "the login and ".repeat(40)), "Vince", Urgency::Now);
    action.how = "Ask <user:discord:7>\n| and `run_it`".into();
    let accepted = checked(&[action], &[]).accepted.remove(0);
    assert!(accepted.what.chars().count() <= 160 && accepted.what.ends_with('…'));
    let whole = "the login and ".repeat(40);
    assert_eq!(accepted.how, format!("Fix {whole}Ask <user:discord:7> | and `run_it`"), "what does not fit into the title is kept");
}

proptest! {
    #[test]
    fn every_proposal_is_accepted_or_refused_with_a_reason(texts in prop::collection::vec(("(?s)(Fix |we |1. )?.{0,40}", "(Vince|Ann|.{0,10})"), 0..12)) {
        let actions: Vec<ProposedAction> = texts.iter().map(|(what, owner)| proposed(what, owner, Urgency::Today)).collect();
        let checked = checked(&actions, &["Fix the login"]);
        prop_assert_eq!(checked.accepted.len() + checked.refused.len(), actions.len());
        prop_assert!(checked.accepted.len() <= MOST_ACTIONS);
        prop_assert!(checked.refused.iter().all(|refused| !refused.reason.is_empty()));
        prop_assert!(checked.accepted.iter().all(|action| action.what.chars().count() <= 160 && !action.what.contains('\n')));
    }
}
