use kernel::agent::turn::{Trigger, Turn};
use kernel::chat::message::{AuthorKind, InboundMessage, Speaker, Spoken};
use kernel::chat::outbound::{OutboundKind, OutboundMessage, Posted};
use teamroom::features::chat::store::Finished;
use teamroom::store::Store;

use super::opening::{count, tamper};
use super::sample::{answer, at, decided, finish, finished, general, line, message, turn};
use super::{Home, on_both};

on_both!(
    a_transcript_reads_as_the_channel_does,
    what_nobody_said_is_not_in_it,
    an_agents_answer_names_whom_it_answers,
    what_an_earlier_version_stored_has_values_after_the_migration,
    a_transcript_holds_the_last_lines,
    what_was_said_in_a_meeting_can_be_left_out_and_takes_no_lines_place,
);

async fn texts(store: &Store, limit: u32) -> Vec<String> {
    store.list_spoken(&general().id, limit).await.unwrap().into_iter().map(|line| line.text).collect()
}

/// Answers, and has the answer posted.
async fn post(store: &Store, turn: &Turn, text: &str, seconds: i64) {
    let line = answer(turn, text);
    let end = Finished { outbox: std::slice::from_ref(&line), at: at(seconds), ..finished(turn) };
    assert!(finish(store, &end).await.unwrap());
    store.record_sent(&line.id, &Posted { channel: line.channel.clone(), message: text.into(), at: at(seconds) }).await.unwrap();
}

async fn a_transcript_reads_as_the_channel_does(home: &Home) {
    let store = home.open().await;
    let turns = [turn("m1", "vince"), turn("m1", "solus")];
    decided(&store, "m1", &turns).await;
    post(&store, &turns[0], "Solus is.", 2).await;
    store.claim(&message("m2", "really?", 3), at(3)).await.unwrap();
    // Even if our clock is far behind the platform's, unposted messages come last.
    let waiting = line("I am.");
    store.enqueue(std::slice::from_ref(&waiting), at(-500)).await.unwrap();

    assert_eq!(texts(&store, 10).await, ["which of you is right?", "Solus is.", "really?", "I am."]);
    let lines = store.list_spoken(&general().id, 10).await.unwrap();
    let ada = Speaker::Person { id: "1".into(), name: "Ada".into() };
    let expected = Spoken {
        message: Some("m1".into()),
        speaker: ada,
        answers: None,
        text: "which of you is right?".into(),
        at: at(0),
        in_meeting: false,
    };
    assert_eq!(lines[0], expected);
    let vince = Speaker::Persona("vince".into());
    let expected =
        Spoken { message: Some("Solus is.".into()), speaker: vince, answers: None, text: "Solus is.".into(), at: at(2), in_meeting: false };
    assert_eq!(lines[1], expected);
    assert_eq!((lines[3].message.as_ref(), lines[3].at), (None, at(-500)));

    store.record_failed(&waiting, "gone", at(9)).await.unwrap();
    assert_eq!(texts(&store, 10).await.last().unwrap(), "really?");
}

async fn what_nobody_said_is_not_in_it(home: &Home) {
    let store = home.open().await;
    let with = |id: &str, text: &str, kind: AuthorKind| -> InboundMessage {
        let mut message = message(id, text, 1);
        message.author.kind = kind;
        message
    };
    let mut elsewhere = message("m5", "elsewhere", 1);
    elsewhere.channel.id = "20".into();
    for message in [
        with("m1", "", AuthorKind::Person),
        with("m2", "\u{200B}\u{200D}", AuthorKind::Person),
        with("m3", "Ada pinned a message", AuthorKind::System),
        with("m4", "a bot speaks", AuthorKind::ForeignBot),
        elsewhere,
    ] {
        store.claim(&message, at(1)).await.unwrap();
    }
    let mut notice = line("The team is halted.");
    notice.kind = OutboundKind::Notice;
    store.enqueue(&[notice], at(2)).await.unwrap();
    assert_eq!(texts(&store, 10).await, ["a bot speaks"]);

    store.record_edit(&"m1".into(), "now there is something", at(3)).await.unwrap();
    store.record_deletion(&["m4".into()], at(3)).await.unwrap();
    assert_eq!(texts(&store, 10).await, ["now there is something"]);
}

async fn an_agents_answer_names_whom_it_answers(home: &Home) {
    let store = home.open().await;
    let first = turn("m1", "vince");
    let second = Turn { trigger: Trigger::Agent { from: "vince".into(), turn: first.id.clone() }, ..turn("m1", "solus") };
    decided(&store, "m1", &[first.clone(), second.clone()]).await;
    post(&store, &first, "to Ada", 2).await;
    post(&store, &second, "to Vince", 3).await;

    let mut foreign = message("m2", "<@2> and you?", 4);
    foreign.author.kind = AuthorKind::ForeignBot;
    store.claim(&foreign, at(4)).await.unwrap();
    let third = turn("m2", "echo");
    decided(&store, "m2", std::slice::from_ref(&third)).await;
    post(&store, &third, "to the bot", 5).await;

    let lines = store.list_spoken(&general().id, 10).await.unwrap();
    let answers: Vec<_> = lines.into_iter().filter_map(|line| line.message.zip(Some(line.answers))).collect();
    let bot = Speaker::ForeignBot { id: "1".into(), name: "Ada".into() };
    assert_eq!(
        answers,
        [
            ("m1".into(), None),
            ("to Ada".into(), None),
            ("to Vince".into(), Some(Speaker::Persona("vince".into()))),
            ("m2".into(), None),
            ("to the bot".into(), Some(bot)),
        ]
    );
}

async fn what_an_earlier_version_stored_has_values_after_the_migration(home: &Home) {
    let store = home.open().await;
    let first = turn("m1", "vince");
    decided(&store, "m1", std::slice::from_ref(&first)).await;
    post(&store, &first, "for <@42>", 2).await;
    store.record_edit(&"m1".into(), "<@!42> and <@7> in <#9>: <@&3> <@x>", at(3)).await.unwrap();
    store.close().await;
    tamper(home, &format!("UPDATE turns SET reply = 'ask <@42>' WHERE id = '{}'", first.id)).await;
    tamper(
        home,
        r#"INSERT INTO seats (meeting, round, position, who, state, attempts, contribution, words)
           VALUES ('standup', 0, 0, 'persona:vince', 'quiet', 1, '{"text":"Nothing to report.\n-# looked at <3 feeds"}', 3)"#,
    )
    .await;
    for _ in 0..2 {
        tamper(home, "DELETE FROM _sqlx_migrations WHERE version IN (14, 16)").await;
        let store = home.open().await;
        assert_eq!(
            texts(&store, 10).await,
            ["<user:discord:42> and <user:discord:7> in <channel:discord:9>: <@&3> <@x>", "for <user:discord:42>"]
        );
        assert_eq!(store.find_turn(&first.id).await.unwrap().unwrap().reply.as_deref(), Some("ask <user:discord:42>"));
        store.close().await;
        let said = r#"contribution = '{"text":"Nothing to report.\n<small>looked at <3 feeds"}'"#;
        assert_eq!(count(home, &format!("SELECT COUNT(*) FROM seats WHERE {said}")).await, 1);
    }
}

async fn a_transcript_holds_the_last_lines(home: &Home) {
    let store = home.open().await;
    for number in 0..6 {
        store.claim(&message(&format!("m{number}"), &format!("heard {number}"), number * 10), at(0)).await.unwrap();
        let said = line(&format!("said {number}"));
        store.enqueue(std::slice::from_ref(&said), at(number * 10)).await.unwrap();
        store
            .record_sent(&said.id, &Posted { channel: said.channel.clone(), message: format!("p{number}").into(), at: at(number * 10 + 5) })
            .await
            .unwrap();
    }
    assert_eq!(texts(&store, 3).await, ["said 4", "heard 5", "said 5"]);
    assert!(texts(&store, 0).await.is_empty());
}

async fn what_was_said_in_a_meeting_can_be_left_out_and_takes_no_lines_place(home: &Home) {
    let store = home.open().await;
    store.enqueue(&[line("before"), line("and before")], at(0)).await.unwrap();
    let reports = ["one", "two", "three"].map(|text| OutboundMessage { kind: OutboundKind::Report, ..line(text) });
    store.enqueue(&reports, at(1)).await.unwrap();
    assert_eq!(texts(&store, 3).await, ["one", "two", "three"]);
    let outside = store.list_spoken_outside_meetings(&general().id, 2).await.unwrap();
    assert_eq!(outside.iter().map(|line| line.text.as_str()).collect::<Vec<_>>(), ["before", "and before"]);
}
