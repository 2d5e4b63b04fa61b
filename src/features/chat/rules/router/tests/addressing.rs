//! Whom a text addresses.

use crate::features::chat::rules::router::tests::case::{Case, each, plainly};
use crate::features::chat::rules::router::*;
use kernel::testing::roster as sample;

#[test]
fn names_first_in_the_text_are_addressed() {
    plainly(&[
        ("vince, look at this", "vince / Named"),
        ("Vince: look", "vince / Named"),
        ("VINCE", "vince / Named"),
        ("vince - one thing", "vince / Named"),
        ("hey Vince the build is red", "vince / Named"),
        ("good morning eliza", "eliza / Named"),
        ("ok eliza, go on", "eliza / Named"),
        ("v, look", "vince / Named"),
        ("big ear, listen", "echo / Named"),
        ("vince what do you think", "vince / Named"),
        ("vince can you look", "vince / Named"),
        ("v\u{200B}i\u{202E}nce, look", "vince / Named"),
        ("vince and solus: which of you is right?", "vince solus / Named"),
        ("solus, vince & eliza, hello", "solus vince eliza / Named"),
        ("vince, vince, vince!", "vince / Named"),
        ("vince, solus is wrong", "vince / Named"),
        ("vince\nthe build is red", "vince / Named"),
    ]);
}

#[test]
fn a_list_of_names_at_the_end_is_addressed_as_a_whole_however_long_it_is() {
    plainly(&[
        ("what do you think, vince, solus and eliza?", "vince solus eliza / Named"),
        ("I was there with vince, solus and eliza", "nobody / Silence"),
        ("tell me, vince, how it went", "vince / Named"),
        ("I was there with eliza, vince, and solus", "nobody / Silence"),
    ]);
    let long = format!("what do you think, {}vince?", "vince, solus, ".repeat(500));
    plainly(&[(&long, "vince solus / Named")]);
}

#[test]
fn names_elsewhere_and_parts_of_words_address_nobody() {
    plainly(&[
        ("I told vince the build is red", "nobody / Silence"),
        ("vince's report is late", "nobody / Silence"),
        ("vince’s report is late", "nobody / Silence"),
        ("vince is late", "nobody / Silence"),
        ("vince and solus are late", "nobody / Silence"),
        ("ok vince is right", "nobody / Silence"),
        ("vincent, look", "nobody / Silence"),
        ("vince-like people", "nobody / Silence"),
        ("vince.rs is long", "nobody / Silence"),
        ("echoes of the past", "nobody / Silence"),
        ("thanks vince", "nobody / NoAnswerWanted"),
    ]);
}

#[test]
fn mentions_are_addressed_in_their_order_wherever_they_stand() {
    plainly(&[
        ("<user:discord:104> <user:discord:102> which of you is right?", "solus vince / Mentioned"),
        ("what do you think, <user:discord:103>?", "eliza / Mentioned"),
        ("@vince look", "vince / Mentioned"),
        ("is @Echo there?", "echo / Mentioned"),
        ("solus, what about <user:discord:102>'s claim?", "solus vince / Mentioned"),
        ("<user:discord:102> <user:discord:102>", "vince / Mentioned"),
        ("<user:discord:199> are you there", "nobody / ForOthers"),
        ("<user:discord:555> hi", "nobody / ForOthers"),
        ("mail sales@vince about it", "nobody / Silence"),
    ]);
}

#[test]
fn quotes_and_code_address_nobody() {
    plainly(&[
        ("> <user:discord:102> look\nfine by me", "nobody / Silence"),
        ("its id, `<user:discord:102>`, is known", "nobody / Silence"),
        ("```\nvince, look\n```", "nobody / Silence"),
        ("> solus, look\nvince, did you see this", "vince / Named"),
    ]);
    each(&[("its id, `<user:discord:102>`, is known", "nobody / Silence")], |case| case.message.mentions = vec!["discord:102".into()]);
}

#[test]
fn a_call_first_or_a_question_alone_is_said_to_a_persona() {
    let case = Case::says("");
    let speaks = |text: &str| speaks_to_a_persona(text, &case.roster, &case.accounts);
    for chat in [
        "Kelly, what time is it",
        "kelly!",
        "Is the standup at nine?",
        "スタンドアップは九時ですか？",
        "Vince: look at this\nplease",
        "VINCE?",
        "<user:discord:102> look",
    ] {
        assert!(speaks(chat), "{chat}");
    }
    for answer in [
        "Yesterday the import, today tests.",
        "Kelly and I fixed the import",
        "Yesterday the import. Who has the key?",
        "1. import\n2. tests\n3. who has the key?",
        "today I pair with Bob, Vince",
        "nothing today",
        "Kéllyx, hm",
    ] {
        assert!(!speaks(answer), "{answer}");
    }
}

#[test]
fn one_typing_error_or_a_nickname_after_a_greeting_still_calls_a_persona() {
    plainly(&[
        ("vicne, look", "vince / Named"),
        ("Vicne look at this", "vince / Named"),
        ("what do you think, vnce?", "vince / Named"),
        ("@vicne look", "vince / Mentioned"),
        ("hey vin, look", "vince / Named"),
        ("hello sol what is up", "solus / Named"),
        ("vinces report is late", "nobody / Silence"),
        ("Vance, look", "nobody / Silence"),
        ("since, look", "nobody / Silence"),
        ("vin, look", "nobody / Silence"),
        ("we told vicne to look", "nobody / Silence"),
    ]);
    each(&[("elisa, look", "nobody / ForOthers")], |case| case.people = vec!["Elisa".into()]);
    let twins = |case: &mut Case| {
        let personas = ["kelly", "marina", "marine"].map(|slug| sample::persona(slug, slug, ""));
        case.roster = Roster::new(personas.into()).unwrap();
    };
    each(&[("marinn, look", "nobody / Silence"), ("hey mari, look", "nobody / Silence"), ("marine, look", "marine / Named")], twins);
}

#[test]
fn people_with_decorated_names_are_found_by_their_plain_letters() {
    for name in ["🌸 Zoe 🌸", "𝓩𝓸𝓮", "★Ｚｏｅ★", "~zoe~", "Ⓩⓞⓔ Ⓡⓔⓓ", "Z̶o̶e̶"] {
        each(&[("zoe, are you there?", "nobody / ForOthers"), ("𝓩𝓸𝓮, are you there?", "nobody / ForOthers")], |case| {
            case.people = vec![name.into()];
        });
    }
    each(&[("are you there?", "kelly / Question")], |case| case.people = vec!["🌸".into(), "★".into(), "You".into()]);
    each(&[("hello ✨ hibou ✨, look", "echo / Named")], |case| {
        case.accounts.record_nickname("echo".into(), Some("✨ 𝓗𝓲𝓫𝓸𝓾 ✨".to_owned()));
    });
}

#[test]
fn a_persona_with_a_word_for_a_name_is_called_only_by_a_clear_address() {
    let words = ["kelly", "will", "may", "mark", "joy", "hope", "rose", "bill", "grace", "sunny", "art", "pat", "drew", "chase"];
    let roster = Roster::new(words.map(|slug| sample::persona(slug, &kernel::text::capital(slug), "")).into()).unwrap();
    let calls = |texts: &[&str], found: fn(&str) -> Option<String>| {
        let called = |text: &str| match find_calls(text, &roster, &Accounts::default()) {
            Calls::Personas(found) => found.first().map(ToString::to_string),
            Calls::Nobody | Calls::Other => None,
        };
        let wrong: Vec<_> = texts.iter().filter(|text| called(text) != found(text)).map(|text| (*text, called(text))).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    };
    calls(
        &[
            "will you be there?",
            "Will you be there?",
            "will it rain?",
            "Will the build pass?",
            "Will we ship today?",
            "will do",
            "will that work",
            "may I ask something?",
            "May I ask something?",
            "May we go?",
            "may be",
            "mark it as done",
            "Mark this as done please",
            "mark my words",
            "joy to the world",
            "Hope it works",
            "hope so",
            "Hope that helps!",
            "rose to 40 percent",
            "Rose prices are up",
            "bill me later",
            "see you in May",
            "in May we ship",
            "what about the bill?",
            "do you know the art?",
            "what a joy",
            "Sunny weather today",
            "Drew a blank",
            "I have no hope",
            "do I have your mark?",
            "where there is a will there is a way",
        ],
        |_| None,
    );
    calls(
        &[
            "will, can you look?",
            "Will, are you there?",
            "Will can you look?",
            "hey Will, look",
            "hey will, look",
            "@will look",
            "May, what do you think?",
            "may: look",
            "thanks Mark, one more thing",
            "mark, look at this",
            "Joy, hi",
            "what do you think, Hope?",
            "good morning Grace",
            "Bill could you look at the build",
        ],
        |text| {
            let names = ["will", "may", "mark", "joy", "hope", "grace", "bill"];
            let text = text.to_lowercase();
            let found = names.into_iter().find(|name| text.split(|c: char| !c.is_alphabetic()).any(|word| word == *name));
            found.map(str::to_owned)
        },
    );
}

#[test]
fn a_persona_with_a_decorated_name_is_called_by_its_plain_letters() {
    let decorated = [("kelly", "𝕶𝖊𝖑𝖑𝖞"), ("ann", "✨Ann✨"), ("zoe", "★ Ｚoé ★"), ("max", "M̶a̶x̶"), ("sol", "🅂🄾🄻")];
    for (text, persona) in [
        ("kelly, look", "kelly"),
        ("𝕶𝖊𝖑𝖑𝖞, look", "kelly"),
        ("hey Ann, look", "ann"),
        ("@ann look", "ann"),
        ("✨Ann✨ can you look?", "ann"),
        ("✨ ann ✨, look", "ann"),
        ("Ann ✨ can you look?", "ann"),
        ("zoé, look", "zoe"),
        ("Zoe, look", "zoe"),
        ("what do you think, max?", "max"),
        ("sol: look", "sol"),
    ] {
        let roster = Roster::new(decorated.map(|(slug, name)| sample::persona(slug, name, "")).into()).unwrap();
        assert_eq!(find_calls(text, &roster, &Accounts::default()), Calls::Personas(vec![persona.into()]), "{text}");
    }
}

#[test]
fn the_author_is_no_addressee() {
    each(&[("hi all, Ann here", "kelly / Greeting"), ("is Ann's report there?", "kelly / Question")], |case| {
        case.people = vec!["Ann".into()];
    });
}

#[test]
fn an_address_of_mail_calls_nobody() {
    plainly(&[
        ("vince@example.com", "nobody / NoAnswerWanted"),
        ("kelly.smith@example.com is the contact", "nobody / Silence"),
        ("my address is <mailto:vince@example.com>", "nobody / Silence"),
        ("ann+kelly@example.com", "nobody / NoAnswerWanted"),
    ]);
}
