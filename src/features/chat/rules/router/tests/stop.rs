//! Stop phrases, and channels that were stopped.

use super::*;

#[test]
fn stop_comes_before_everything() {
    for change in [
        (|case: &mut Case| case.kind = ChannelKind::Standup) as fn(&mut Case),
        |case| case.binding = Some("eliza"),
        |case| case.halted = true,
        |case| case.settings.allowed_users = vec!["8".into()],
        |case| case.replied_to = Some("solus".into()),
    ] {
        each(&[("stop", "nobody / Stop"), ("vince, stop!", "nobody / Stop")], change);
    }
}

#[test]
fn stop_is_a_message_that_is_just_the_phrase() {
    let phrases = ["stop", "halt", "be quiet", "🛑"].map(str::to_owned);
    let is_stop = |text: &str| is_stop(text, &phrases, &sample::roster(), &sample::accounts());
    for text in [
        "stop",
        "Stop.",
        "STOP!!!",
        "halt everyone",
        "please stop",
        "stop, vince",
        "<user:discord:102> stop",
        "vince stop stop",
        "be quiet, all of you",
        "s\u{200B}top",
        "stopp",
        "para ya",
        "hold on, don't do anything",
        "Wait, stop everything!",
        "warte, mach nichts",
        "🛑",
    ] {
        assert!(is_stop(text), "{text:?}");
    }
    for text in [
        "don't stop",
        "stop the deployment",
        "when does it stop",
        "bus stop",
        "quiet",
        "vince",
        "> stop",
        "`stop`",
        "",
        "hold on",
        "cancel that",
    ] {
        assert!(!is_stop(text), "{text:?}");
    }
    assert!(!super::super::is_stop("please", &["  ".to_owned()], &sample::roster(), &sample::accounts()), "an empty phrase stops nothing");
}

#[test]
fn what_calls_something_off_is_no_stop_by_itself() {
    let calls_off = |text: &str| calls_off(text, &sample::roster(), &sample::accounts());
    for text in ["cancel that", "never mind, vince", "please cancel it!", "brich das ab"] {
        assert!(calls_off(text), "{text:?}");
    }
    for text in ["cancel that meeting", "<user:discord:77> cancel that", "cancel that?", "hold on", "please", "vince"] {
        assert!(!calls_off(text), "{text:?}");
    }
}

#[test]
fn a_stop_that_is_said_to_another_person_stops_nobody() {
    plainly(&[
        ("<user:discord:77> stop", "nobody / ForOthers"),
        ("stop it <user:discord:77>, please", "nobody / ForOthers"),
        ("stop it", "nobody / Stop"),
    ]);
    let to_bob = |case: &mut Case| case.message.reply_to = Some(ReplyTo { message: "2".into(), author: Some("discord:77".into()) });
    each(&[("stop it", "nobody / ForOthers"), ("please stop", "nobody / ForOthers"), ("stop, vince", "nobody / Stop")], to_bob);
    let to_vince = |case: &mut Case| {
        case.message.reply_to = Some(ReplyTo { message: "2".into(), author: Some("101".into()) });
        case.replied_to = Some("vince".into());
    };
    each(&[("stop it", "nobody / Stop")], to_vince);
    let to_oneself = |case: &mut Case| case.message.reply_to = Some(ReplyTo { message: "2".into(), author: Some("9".into()) });
    each(&[("stop it", "nobody / Stop")], to_oneself);
}

#[test]
fn in_a_halted_channel_only_speaking_to_an_agent_is_answered() {
    let halted = |case: &mut Case| case.halted = true;
    each(&[("what happened?", "nobody / Halted"), ("summarise the week", "nobody / Halted"), ("nice weather", "nobody / Silence")], halted);
    each(&[("vince, go on", "vince / Named"), ("<user:discord:102>", "vince / Mentioned"), ("team, go on", "kelly / Team")], halted);
    each(&[("<user:discord:102> hello", "nobody / Halted")], |case| {
        halted(case);
        case.message.author.kind = AuthorKind::ForeignBot;
        case.settings.allowed_bots = vec!["9".into()];
    });
    each(&[("go on", "solus / Reply")], |case| {
        halted(case);
        case.replied_to = Some("solus".into());
    });
    each(&[("so I said", "nobody / Halted")], |case| {
        halted(case);
        case.thread = Some(ThreadOf::Persona("solus".into()));
    });
    each(&[("so I said", "nobody / Standup"), ("what happened?", "nobody / Halted"), ("kelly, go on", "kelly / Standup")], |case| {
        halted(case);
        case.kind = ChannelKind::Standup;
    });
}
