//! Whom a text addresses.

use crate::features::chat::rules::router::tests::case::{Case, each, plainly};
use crate::features::chat::rules::router::*;

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
