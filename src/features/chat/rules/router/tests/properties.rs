//! Properties that hold for any text.

use proptest::prelude::*;

use super::*;

/// Texts of the words that the rules look for, in any order.
fn talk() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "vince",
        "Solus,",
        "kelly:",
        "and",
        "hey",
        "ask",
        "what",
        "he",
        "thinks",
        "team",
        "stop",
        "please",
        "<user:discord:102>",
        "<user:discord:104>",
        "<user:discord:199>",
        "@eliza",
        "`",
        "```",
        ">",
        ">>>",
        "\n",
        "?",
        "is",
        "you",
        "\u{200B}",
        "ünder",
        "👍",
        "https://x.y",
        "all of you",
        "<@",
        "@",
    ]);
    prop::collection::vec(word, 0..14).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn whatever_is_said_only_known_personas_answer_once_each_and_not_too_many(
        text in prop_oneof![talk(), ".{0,60}"],
        kind in prop::sample::select(vec![ChannelKind::Chat, ChannelKind::Standup, ChannelKind::Knowledge, ChannelKind::Ignore]),
        binding in prop::sample::select(vec![None, Some("eliza"), Some("listen"), Some("gone")]),
        replied_to in prop::sample::select(vec![None, Some("solus"), Some("gone")]),
        halted: bool,
        max_responders in 1..5_usize,
    ) {
        let case = Case::says(&text).with(|case| {
            (case.kind, case.binding, case.halted) = (kind, binding, halted);
            case.replied_to = replied_to.map(PersonaSlug::new);
            case.settings.max_responders = max_responders;
        });
        let decision = case.route();
        prop_assert!(decision.responders.len() <= max_responders);
        for (at, slug) in decision.responders.iter().enumerate() {
            prop_assert!(case.roster.find(slug).is_some());
            prop_assert!(!decision.responders[..at].contains(slug));
        }
        prop_assert!(decision.ask.is_none() || decision.responders.len() == 1);
        prop_assert_eq!(decision, case.route());
    }

    #[test]
    fn a_name_inside_a_fence_never_wakes_anybody(before in "[a-u ]{0,12}", inside in "[a-z \n>]{0,20}") {
        let text = format!("zzz {before}\n```\n{inside} <user:discord:102> @solus\nvince, \n```");
        let decision = Case::says(&text).route();
        prop_assert!(!decision.responders.iter().any(|slug| *slug == "vince".into() || *slug == "solus".into()));
    }
}
