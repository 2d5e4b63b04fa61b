//! Who answers what: the router's rules, case by case.

use chrono::TimeDelta;

use crate::features::chat::rules::router::*;
use case::{Case, each, file, plainly};
use kernel::testing::roster as sample;

mod addressing;
mod case;
mod company;
mod doubt;
mod labelled;
mod properties;
mod stop;

#[test]
fn no_more_than_the_set_number_answer() {
    plainly(&[("<user:discord:101> <user:discord:102> <user:discord:103> <user:discord:104>", "kelly vince eliza / Mentioned")]);
    each(&[("<user:discord:104> <user:discord:102>", "solus / Mentioned")], |case| case.settings.max_responders = 1);
}

#[test]
fn in_a_standup_channel_the_coordinator_alone_answers() {
    each(
        &[
            ("<user:discord:102> <user:discord:104> your numbers?", "kelly / Standup"),
            ("vince, hello", "kelly / Standup"),
            ("what is next?", "kelly / Standup"),
            ("good morning", "nobody / Standup"),
            ("<user:discord:555> your numbers?", "nobody / Standup"),
        ],
        |case| {
            case.kind = ChannelKind::Standup;
        },
    );
}

#[test]
fn replies_and_threads_belong_to_their_persona() {
    let reply = |case: &mut Case| case.replied_to = Some("solus".into());
    each(&[("go on", "solus / Reply"), ("vince, is that so?", "vince / Named")], reply);
    let thread = |case: &mut Case| case.thread = Some(ThreadOf::Persona("eliza".into()));
    each(&[("go on", "eliza / Thread"), ("<user:discord:102> and you?", "vince / Mentioned")], thread);
    each(&[("go on", "solus / Reply")], |case| {
        thread(case);
        reply(case);
    });
    each(&[("go on", "nobody / Silence")], |case| case.replied_to = Some("gone".into()));
    each(&[("Bob, was that you?", "nobody / ForOthers"), ("no, Bob", "nobody / ForOthers")], thread);
}

#[test]
fn agreement_with_an_answer_that_asked_nothing_wants_no_answer() {
    let told =
        |is_told: bool| move |case: &mut Case| case.recent = RecentTalk { with: Some("vince".into()), is_told, ..RecentTalk::default() };
    let agreeing = ["ok 👍", "got it, thanks", "alles klar", "Понятно!", "好的", "good to know", "d'accord, merci"];
    for text in agreeing {
        each(&[(text, "nobody / NoAnswerWanted")], told(true));
    }
    each(&[("ok", "vince / FollowUp"), ("yes", "vince / FollowUp")], told(false));
    each(&[("ok?", "vince / FollowUp"), ("ok and then", "vince / FollowUp"), ("no", "vince / FollowUp")], told(true));
    let in_thread = |is_told| {
        move |case: &mut Case| {
            case.thread = Some(ThreadOf::Persona("eliza".into()));
            case.recent.is_told = is_told;
        }
    };
    each(&[("ok 👍", "nobody / NoAnswerWanted")], in_thread(true));
    each(&[("ok 👍", "eliza / Thread")], in_thread(false));
}

#[test]
fn somebody_whom_the_team_has_not_met_is_somebody_all_the_same() {
    let strangers = [
        ("Zoe, wie geht es dir?", "nobody / Silence"),
        ("Hi Zoe, can you send me the file?", "nobody / Silence"),
        ("Ok, can you send me the file?", "kelly / Question"),
        ("Team, can you send me the file?", "kelly / Team"),
        ("Zoe, is the build green?", "kelly / Question"),
    ];
    plainly(&strangers);
    assert_eq!(Case::says("Zoe, wie geht es dir?").route().unsure, Some("kelly".into()));
    each(&strangers[..2], |case| case.recent.with = Some("vince".into()));
    each(&strangers[..2], |case| case.thread = Some(ThreadOf::Persona("eliza".into())));
}

#[test]
fn what_people_say_to_people_is_left_alone() {
    plainly(&[
        ("Bob, did you see the game?", "nobody / ForOthers"),
        ("<user:discord:555> can you review my PR?", "nobody / ForOthers"),
        ("bob and vince, look", "vince / Named"),
        ("what did Bob commit this week?", "kelly / Question"),
        ("remind <user:discord:555> on Friday to send the invoice", "kelly / Directive"),
    ]);
    let reply = |author: &'static str| {
        move |case: &mut Case| case.message.reply_to = Some(ReplyTo { message: "2".into(), author: Some(author.into()) })
    };
    each(&[("did you run the tests?", "nobody / ForOthers"), ("vince, did you?", "vince / Named")], reply("8"));
    each(&[("did anybody run the tests?", "kelly / Question")], reply("9"));
}

#[test]
fn a_direct_message_is_answered_by_the_persona_written_to() {
    let direct = |case: &mut Case| {
        case.message.channel.place = Place::Direct;
        case.message.seen_by = "solus".into();
        case.settings.direct_messages = true;
        case.settings.allowed_channels = vec!["general".into()];
    };
    each(&[("hello", "solus / Direct"), ("vince, hello", "solus / Direct")], direct);
    let shared = |case: &mut Case| {
        direct(case);
        case.voices = ["solus", "vince"].map(PersonaSlug::new).into();
    };
    each(&[("hello", "solus / Direct"), ("vince, hello", "vince / Direct"), ("echo, hello", "solus / Direct")], shared);
    each(&[("and why?", "vince / Direct"), ("solus, and you?", "solus / Direct"), ("ask echo why", "solus / Direct")], |case| {
        shared(case);
        case.recent.with = Some("vince".into());
    });
    each(&[("hello", "nobody / DirectMessagesOff")], |case| {
        direct(case);
        case.settings.direct_messages = false;
    });
}

#[test]
fn a_bound_channel_belongs_to_its_persona_unless_another_is_addressed() {
    each(&[("nice weather", "eliza / Bound"), ("vince, hello", "vince / Named"), ("team, hello", "eliza / Bound")], |case| {
        case.binding = Some("eliza");
    });
    each(&[("what happened?", "nobody / ListenOnly"), ("<user:discord:102> hello", "vince / Mentioned")], |case| {
        case.binding = Some(LISTEN_ONLY);
    });
    each(&[("what happened?", "kelly / Question")], |case| case.binding = Some("gone"));
}

#[test]
fn what_is_for_nobody_in_particular_is_the_coordinators() {
    plainly(&[
        ("team, summarise the week", "kelly / Team"),
        ("hi all", "kelly / Greeting"),
        ("@everyone lunch", "nobody / ForOthers"),
        ("what happened this week", "kelly / Question"),
        ("why were zombie steps a problem?", "kelly / Question"),
        ("summarise the week", "kelly / Directive"),
        ("please look at the build", "kelly / Directive"),
        ("nice weather", "nobody / Silence"),
        ("all tests pass", "nobody / Silence"),
    ]);
    each(&[("nice weather", "kelly / Directive")], |case| case.fallback = FallbackAnswer::Always);
    each(&[("what happened?", "nobody / Silence"), ("team, hello", "nobody / Silence")], |case| case.fallback = FallbackAnswer::Never);
}

#[test]
fn files_and_links_in_a_knowledge_channel_are_taken_in_by_the_coordinator() {
    let knowledge = |case: &mut Case| case.kind = ChannelKind::Knowledge;
    each(
        &[
            ("see https://example.org/a", "kelly / Knowledge"),
            ("https://example.org/a", "kelly / Knowledge"),
            ("nice weather", "nobody / Silence"),
            ("thanks", "nobody / NoAnswerWanted"),
        ],
        knowledge,
    );
    // A persona that is bound to the channel takes the knowledge in. Where nobody answers unasked, no persona does.
    each(&[("see https://example.org/a", "vince / Knowledge"), ("what is that?", "vince / Bound")], |case| {
        knowledge(case);
        case.binding = Some("vince");
    });
    each(&[("see https://example.org/a", "nobody / Silence")], |case| {
        knowledge(case);
        case.fallback = FallbackAnswer::Never;
    });
    each(&[("my notes", "kelly / Knowledge"), ("eliza, read this", "eliza / Named")], |case| {
        knowledge(case);
        case.message.attachments = vec![file("notes.md")];
    });
}

#[test]
fn a_text_file_alone_is_a_directive_and_a_picture_alone_is_not() {
    each(&[("", "kelly / Directive"), ("my notes", "nobody / Silence")], |case| case.message.attachments = vec![file("roadmap.md")]);
    each(&[("", "nobody / Silence")], |case| case.message.attachments = vec![file("cat.png")]);
}

#[test]
fn what_may_not_be_heard_is_not_answered() {
    plainly(&[("", "nobody / Empty"), (" \u{200B}\n", "nobody / Empty")]);
    let hello = [("vince, hello", "vince / Named")];
    each(&hello, |case| case.settings.allowed_channels = vec!["#General".into()]);
    each(&hello, |case| case.settings.allowed_channels = vec!["7".into()]);
    each(&[("vince, hello", "nobody / ChannelNotAllowed")], |case| case.settings.allowed_channels = vec!["ops".into()]);
    each(&hello, |case| {
        case.settings.allowed_channels = vec!["ops".into()];
        case.message.channel.place = Place::Thread { parent: "3".into(), parent_name: "ops".into(), owner: None, starter: None };
    });
    each(&[("vince, hello", "nobody / AuthorNotAllowed")], |case| case.settings.allowed_users = vec!["8".into()]);
    each(&hello, |case| case.settings.allowed_users = vec!["9".into()]);
    each(&[("vince, hello", "nobody / ChannelIgnored")], |case| case.kind = ChannelKind::Ignore);
    each(&hello, |case| case.age = TimeDelta::minutes(59));
    each(&[("vince, hello", "nobody / TooOld")], |case| case.age = TimeDelta::minutes(61));
    each(&hello, |case| case.age = TimeDelta::minutes(-5));
}

#[test]
fn only_people_and_listed_bots_that_mention_a_persona_are_heard() {
    let bot = |case: &mut Case| case.message.author.kind = AuthorKind::ForeignBot;
    each(&[("<user:discord:102> hello", "nobody / NotAPerson"), ("stop", "nobody / NotAPerson")], bot);
    each(&[("<user:discord:102> hello", "vince / Mentioned"), ("vince, hello", "nobody / NotAPerson")], |case| {
        bot(case);
        case.settings.allowed_bots = vec!["9".into()];
        case.settings.allowed_users = vec!["8".into()];
    });
    each(&[("<user:discord:102> hello", "nobody / NotAPerson")], |case| case.message.author.kind = AuthorKind::Persona("solus".into()));
    each(&[("vince, hello", "nobody / NotAPerson")], |case| case.message.author.kind = AuthorKind::System);
}

#[test]
fn a_display_name_changes_nothing() {
    each(&[("hello there", "kelly / Greeting"), ("vince, hi", "vince / Named")], |case| case.message.author.name = "Vince".into());
    each(&[("vince, hi", "vince / Named")], |case| case.message.author.name = String::new());
}

#[test]
fn an_ask_is_done_by_whoever_would_answer_or_the_coordinator() {
    for (text, responder, askee, question) in [
        ("ask Vince what he thinks about SOL", "kelly", "Vince", "What do you think about SOL?"),
        ("kelly, ask vince: is SOL up?", "kelly", "vince", "Is SOL up?"),
        ("<user:discord:104> ask vince whether `x > 1` holds", "solus", "vince", "Whether `x > 1` holds?"),
        ("can you ask vince whether it holds", "kelly", "vince", "Whether it holds?"),
        ("ask <user:discord:102> what he thinks", "kelly", "Vince", "What do you think?"),
        ("ask @vince what he thinks", "kelly", "vince", "What do you think?"),
        ("ask vicne what he thinks", "kelly", "Vince", "What do you think?"),
        ("solus, eliza: ask echo how it sounds", "solus", "echo", "How it sounds?"),
        ("ask bob what he thinks", "kelly", "bob", "What do you think?"),
    ] {
        let decision = Case::says(text).route();
        let ask = AskRequest { askee: askee.into(), question: question.into() };
        assert_eq!((decision.responders, decision.ask), (vec![responder.into()], Some(ask)), "{text:?}");
    }
}

#[test]
fn asking_somebody_to_ask_themselves_is_just_a_question() {
    let decision = Case::says("vince, ask vince what he thinks").route();
    assert_eq!((decision.responders, decision.ask), (vec!["vince".into()], None));
}

#[test]
fn an_ask_that_nobody_may_answer_is_no_ask() {
    assert_eq!(
        Case::says("ask vince what he thinks").with(|case| case.binding = Some(LISTEN_ONLY)).route(),
        Decision::nobody(Reason::ListenOnly)
    );
}

#[test]
fn the_rules_are_unsure_where_words_hint_at_a_wish_and_never_about_talk_among_people() {
    let unsure = |case: &Case| {
        let decision = case.route();
        assert!(decision.responders.is_empty() || decision.unsure.is_none(), "{decision:?}");
        decision.unsure.map(|persona| persona.to_string())
    };
    let coordinator = sample::roster().coordinator().slug.to_string();
    for text in ["vince maybe", "it would be nice to hear your view on this", "mohu vám poslat ten soubor"] {
        assert_eq!(unsure(&Case::says(text)).as_deref(), Some(&*coordinator), "{text}");
        assert_eq!(unsure(&Case::says(text).with(|case| case.recent.company = Company::Speaking)), None, "{text}");
        assert_eq!(unsure(&Case::says(text).with(|case| case.thread = Some(ThreadOf::Person))), None, "{text}");
        assert_eq!(unsure(&Case::says(text).with(|case| case.fallback = FallbackAnswer::Never)), None, "{text}");
        assert_eq!(unsure(&Case::says(text).with(|case| case.halted = true)), None, "{text}");
    }
    for text in [
        "the build is red again",
        "maybe vince would know that",
        "somebody told vince yesterday",
        "I am off to lunch",
        "<user:discord:77> would you mind?",
        "Bob, you said so",
        "good morning",
        "👍",
        "lol",
        "",
    ] {
        assert_eq!(unsure(&Case::says(text)), None, "{text}");
    }
    let goes_on = |case: &mut Case| {
        case.recent.with = Some("vince".into());
        case.recent.is_interrupted = true;
        case.recent.company = Company::Speaking;
    };
    assert_eq!(unsure(&Case::says("the second one you named").with(goes_on)).as_deref(), Some("vince"));
    assert_eq!(unsure(&Case::says("I am off to lunch").with(goes_on)), None);
    let standup = |case: &mut Case| case.kind = ChannelKind::Standup;
    assert_eq!(unsure(&Case::says("wir könnten dann mal anfangen, wenn ihr so weit seid").with(standup)).as_deref(), Some(&*coordinator));
}
