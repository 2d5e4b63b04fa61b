use kernel::agent::files::KnownFile;
use kernel::chat::outbound::OutboundKind;
use kernel::chat::store::FileText;
use kernel::ids::MessageId;
use teamroom::features::chat::model::decision::{Decision, Reason};
use teamroom::features::chat::store::{Claim, Decided, Edit, Edited};

use super::sample::{answer, ask, at, attachment, decided, finish, finished, general, line, message, turn};
use super::{Home, on_both};

on_both!(
    two_identities_seeing_one_message_claim_it_once,
    content_that_comes_later_completes_a_claim,
    a_message_is_decided_once_with_all_that_follows,
    an_undecided_message_is_found_after_a_restart,
    an_edit_counts_while_the_message_waits,
    an_edit_ends_the_answers_that_are_being_made,
    a_deleted_message_is_forgotten,
    a_decision_that_is_taken_back_is_made_again_after_a_restart,
    what_people_write_is_kept_as_they_wrote_it,
    files_are_found_by_channel_and_by_message,
    whose_a_file_is_is_told_by_the_account,
);

async fn two_identities_seeing_one_message_claim_it_once(home: &Home) {
    let store = home.open().await;
    let claims = (0..8).map(|_| {
        let store = store.clone();
        tokio::spawn(async move { store.claim(&message("m1", "hello", 0), at(0)).await.unwrap() })
    });
    let mut new = 0;
    for claim in claims.collect::<Vec<_>>() {
        new += usize::from(claim.await.unwrap() == Claim::New);
    }
    assert_eq!(new, 1);
    store.close().await;

    let store = home.open().await;
    assert_eq!(store.claim(&message("m1", "hello", 0), at(9)).await.unwrap(), Claim::Known);
    assert_eq!(store.find_message(&"m1".into()).await.unwrap().unwrap().claimed_at, at(0));
}

async fn content_that_comes_later_completes_a_claim(home: &Home) {
    let store = home.open().await;
    let mut withheld = message("m1", "", 0);
    withheld.complete = false;
    assert_eq!(store.claim(&withheld, at(0)).await.unwrap(), Claim::New);
    assert_eq!(store.claim(&withheld, at(0)).await.unwrap(), Claim::Known);
    assert_eq!(store.claim(&message("m1", "hello", 0), at(1)).await.unwrap(), Claim::Completed);
    assert_eq!(store.claim(&message("m1", "hello", 0), at(1)).await.unwrap(), Claim::Known);
    assert_eq!(store.claim(&withheld, at(2)).await.unwrap(), Claim::Known);
    assert_eq!(store.find_message(&"m1".into()).await.unwrap().unwrap().message.text, "hello");

    // The message is not decided again, but the transcript now has its text.
    withheld.id = "m2".into();
    store.claim(&withheld, at(3)).await.unwrap();
    let nobody = Decision::nobody(Reason::Empty);
    store
        .decide(&Decided { messages: &["m2".into()], decision: &nobody, turns: &[], asks: &[], outbox: &[], effect: None, at: at(4) })
        .await
        .unwrap();
    assert_eq!(store.claim(&message("m2", "late", 3), at(5)).await.unwrap(), Claim::Known);
    assert_eq!(store.find_message(&"m2".into()).await.unwrap().unwrap().message.text, "late");
}

async fn a_message_is_decided_once_with_all_that_follows(home: &Home) {
    let store = home.open().await;
    let burst: [MessageId; 2] = ["m1".into(), "m2".into()];
    for (seconds, id) in burst.iter().enumerate() {
        store.claim(&message(id.as_str(), "a burst", i64::try_from(seconds).unwrap()), at(0)).await.unwrap();
    }
    let turns = [turn("m1", "vince"), turn("m1", "solus")];
    let asks = [ask("m1")];
    let mut notice = line("two at once");
    notice.kind = OutboundKind::Notice;
    let decision = Decision::by(vec!["vince".into(), "solus".into()], Reason::Mentioned);
    let decided = Decided {
        messages: &burst,
        decision: &decision,
        turns: &turns,
        asks: &asks,
        outbox: std::slice::from_ref(&notice),
        effect: None,
        at: at(3),
    };
    assert!(store.decide(&decided).await.unwrap());

    let again = [turn("m2", "kelly")];
    assert!(!store.decide(&Decided { messages: &burst[1..], turns: &again, outbox: &[], asks: &[], ..decided }).await.unwrap());
    let unclaimed: [MessageId; 1] = ["m9".into()];
    assert!(!store.decide(&Decided { messages: &unclaimed, turns: &again, outbox: &[], asks: &[], ..decided }).await.unwrap());
    assert!(!store.decide(&Decided { messages: &[], turns: &again, outbox: &[], asks: &[], ..decided }).await.unwrap());

    assert_eq!(store.list_open_turns().await.unwrap(), turns);
    assert_eq!(store.list_open_asks().await.unwrap(), asks);
    assert_eq!(store.next_pending(&general().id, at(3)).await.unwrap().unwrap().message, notice);
    let rows = store.list_burst(&"m1".into()).await.unwrap();
    assert_eq!(rows.iter().map(|row| row.message.id.as_str()).collect::<Vec<_>>(), ["m1", "m2"]);
    assert_eq!((rows[1].decision.as_ref(), rows[1].decided_at, rows[1].burst.as_ref()), (Some(&decision), Some(at(3)), Some(&burst[0])));
}

async fn an_undecided_message_is_found_after_a_restart(home: &Home) {
    let store = home.open().await;
    store.claim(&message("m2", "second", 2), at(2)).await.unwrap();
    store.claim(&message("m1", "first", 1), at(3)).await.unwrap();
    let mut elsewhere = message("m3", "third", 3);
    elsewhere.channel.id = "20".into();
    store.claim(&elsewhere, at(3)).await.unwrap();
    decided(&store, "m4", &[turn("m4", "kelly")]).await;
    store.close().await;

    let store = home.open().await;
    let ids =
        |rows: Vec<teamroom::features::chat::store::InboxRow>| rows.into_iter().map(|row| row.message.id.to_string()).collect::<Vec<_>>();
    assert_eq!(ids(store.list_undecided(None).await.unwrap()), ["m1", "m2", "m3"]);
    assert_eq!(ids(store.list_undecided(Some(&"20".into())).await.unwrap()), ["m3"]);
    assert!(store.list_undecided(Some(&"30".into())).await.unwrap().is_empty());
}

async fn an_edit_counts_while_the_message_waits(home: &Home) {
    let store = home.open().await;
    assert!(!store.record_edit(&"m1".into(), "unheard", at(1)).await.unwrap());
    store.claim(&message("m1", "helo", 0), at(0)).await.unwrap();
    assert!(store.record_edit(&"m1".into(), "hello", at(2)).await.unwrap());
    assert!(!store.record_edit(&"m1".into(), "an older edit", at(1)).await.unwrap());

    decided(&store, "m2", &[turn("m2", "kelly")]).await;
    assert!(!store.record_edit(&"m2".into(), "decided on", at(3)).await.unwrap());

    let text = async |id: &str| store.find_message(&id.into()).await.unwrap().unwrap().message.text;
    assert_eq!(text("m1").await, "hello");
    assert_eq!(text("m2").await, "decided on", "a turn that has not begun reads it");

    let nobody = Decision::nobody(Reason::Silence);
    store
        .decide(&Decided { messages: &["m1".into()], decision: &nobody, turns: &[], asks: &[], outbox: &[], effect: None, at: at(6) })
        .await
        .unwrap();
    assert!(!store.record_edit(&"m1".into(), "nobody waits for this", at(7)).await.unwrap());
}

async fn an_edit_ends_the_answers_that_are_being_made(home: &Home) {
    let store = home.open().await;
    let turns = [turn("m1", "kelly"), turn("m1", "vince")];
    decided(&store, "m1", &turns).await;
    let message = MessageId::new("m1");
    let edit = |text| Edit { message: &message, text, at: at(4), reopens: true };
    let edited = store.record_edit_with(&edit("better"), (None, &[]), at(4)).await.unwrap();
    let Edited::Reopened { cancelled, messages } = edited else { panic!("{edited:?}") };
    assert_eq!((cancelled, messages[0].text.as_str()), (turns.iter().map(|turn| turn.id.clone()).collect(), "better"));
    assert!(store.list_open_turns().await.unwrap().is_empty());
    assert_eq!(store.list_undecided(None).await.unwrap().len(), 1);
    assert!(!finish(&store, &finished(&turns[0])).await.unwrap(), "its answer comes too late");

    decided(&store, "m1", &[turn("m1", "solus"), turn("m1", "echo")]).await;
    let open = store.list_open_turns().await.unwrap();
    assert!(finish(&store, &finished(&open[0])).await.unwrap());
    let edited = store.record_edit_with(&edit("best"), (None, &[]), at(5)).await.unwrap();
    let Edited::Renewed { cancelled, turns } = edited else { panic!("{edited:?}") };
    assert_eq!((cancelled, turns[0].persona.as_str()), (vec![open[1].id.clone()], "echo"));
    assert_eq!(store.list_open_turns().await.unwrap().iter().map(|turn| &turn.id).collect::<Vec<_>>(), [&turns[0].id]);
    assert!(store.list_undecided(None).await.unwrap().is_empty(), "solus has answered");
    assert!(finish(&store, &finished(&turns[0])).await.unwrap());
    assert_eq!(store.record_edit_with(&edit("too late"), (None, &[]), at(6)).await.unwrap(), Edited::Context);
}

async fn a_deleted_message_is_forgotten(home: &Home) {
    let store = home.open().await;
    let mut secret = message("m1", "my password is hunter2", 0);
    secret.attachments.push(attachment());
    store.claim(&secret, at(0)).await.unwrap();
    let file = FileText {
        id: "f1".into(),
        message: "m1".into(),
        channel: general().id,
        name: "roadmap.md".into(),
        size: 12,
        text: Some("hunter2".into()),
        note: None,
        by: "Ann".into(),
        at: at(0),
    };
    store.record_files(std::slice::from_ref(&file)).await.unwrap();
    let post = line("your password is hunter2");
    store.enqueue(std::slice::from_ref(&post), at(1)).await.unwrap();
    store
        .record_sent(&post.id, &kernel::chat::outbound::Posted { channel: post.channel.clone(), message: "p1".into(), at: at(2) })
        .await
        .unwrap();

    store.record_deletion(&["m1".into(), "p1".into(), "never heard of".into()], at(3)).await.unwrap();
    // The file's download and an edit both end after the deletion.
    store.record_files(&[file]).await.unwrap();
    assert!(!store.record_edit(&"m1".into(), "hunter3", at(4)).await.unwrap());

    let row = store.find_message(&"m1".into()).await.unwrap().unwrap();
    assert_eq!((row.message.text.as_str(), row.message.attachments.len(), row.deleted_at), ("", 0, Some(at(3))));
    assert!(store.list_channel_files(&general().id, None, 10).await.unwrap().is_empty());
    assert!(store.list_spoken(&general().id, 10).await.unwrap().is_empty());
    assert!(store.list_undecided(None).await.unwrap().is_empty(), "there is nothing left to decide on");
}

async fn a_decision_that_is_taken_back_is_made_again_after_a_restart(home: &Home) {
    let store = home.open().await;
    let silence = Decision::nobody(Reason::Silence);
    let decide = |id: &'static str| [id.into()];
    for id in ["m1", "m2"] {
        store.claim(&message(id, "the harbour is open", 0), at(0)).await.unwrap();
    }
    let first = decide("m1");
    let decided_once = Decided { messages: &first, decision: &silence, turns: &[], asks: &[], outbox: &[], effect: None, at: at(1) };
    assert!(store.decide(&decided_once).await.unwrap());
    decided(&store, "m2", &[turn("m2", "kelly")]).await;
    assert!(store.reopen(&"m1".into()).await.unwrap());
    assert!(!store.reopen(&"m1".into()).await.unwrap(), "there is none any more");
    assert!(!store.reopen(&"m2".into()).await.unwrap(), "somebody is answering it");
    store.close().await;

    let store = home.open().await;
    let waiting: Vec<_> = store.list_undecided(None).await.unwrap().into_iter().map(|row| row.message.id).collect();
    assert_eq!(waiting, ["m1".into()]);
    assert!(store.decide(&decided_once).await.unwrap());
}

async fn what_people_write_is_kept_as_they_wrote_it(home: &Home) {
    let store = home.open().await;
    let mut odd = message("m1", "a\0b \u{200B}\u{202E}@everyone 'x'; DROP TABLE inbox; -- \\u0000 🦀", 0);
    odd.author.name = "Robert\0".into();
    odd.attachments.push(attachment());
    odd.text.push_str(&"x".repeat(100_000));
    assert_eq!(store.claim(&odd, at(0)).await.unwrap(), Claim::New);
    assert_eq!(store.find_message(&"m1".into()).await.unwrap().unwrap().message, odd);

    let turns = [turn("m2", "kelly")];
    decided(&store, "m2", &turns).await;
    let post = answer(&turns[0], "nul \0 here");
    let end = super::sample::finished(&turns[0]);
    let end = teamroom::features::chat::store::Finished { reply: Some("nul \0 here"), outbox: std::slice::from_ref(&post), ..end };
    assert!(super::sample::finish(&store, &end).await.unwrap());
    assert_eq!(store.next_pending(&general().id, at(9)).await.unwrap().unwrap().message, post);
    assert_eq!(store.find_turn(&turns[0].id).await.unwrap().unwrap().reply.as_deref(), Some("nul  here"));
}

async fn files_are_found_by_channel_and_by_message(home: &Home) {
    let store = home.open().await;
    let file = |id: &str, message: &str, seconds: i64| FileText {
        id: id.into(),
        message: message.into(),
        channel: general().id,
        name: "../../x\0".into(),
        size: 50_000_000,
        text: None,
        note: Some("too large".into()),
        by: "Ann".into(),
        at: at(seconds),
    };
    store.record_files(&[file("f1", "m1", 1), file("f2", "m2", 2), file("f3", "m2", 2)]).await.unwrap();
    let fetched = FileText { text: Some("now\0 it is here".into()), note: None, ..file("f1", "m1", 1) };
    store.record_files(&[fetched]).await.unwrap();

    let names = |files: Vec<KnownFile>| files.into_iter().map(|file| file.id).collect::<Vec<_>>();
    assert_eq!(names(store.list_channel_files(&general().id, None, 2).await.unwrap()), ["f3", "f2"]);
    assert_eq!(names(store.list_message_files(&"m2".into(), None).await.unwrap()), ["f2", "f3"]);
    let known = store.list_message_files(&"m1".into(), None).await.unwrap();
    assert!(known[0].is_readable && !store.list_message_files(&"m2".into(), None).await.unwrap()[0].is_readable);
    let file = store.find_file("f1").await.unwrap().unwrap();
    assert_eq!((file.text.as_deref(), file.note.as_deref(), file.name.as_str()), (Some("now it is here"), None, "../../x"));
    assert_eq!(file.size, 50_000_000);
}

async fn whose_a_file_is_is_told_by_the_account(home: &Home) {
    let store = home.open().await;
    let message = message("m1", "our plan", 0);
    store.claim(&message, at(0)).await.unwrap();
    let file = FileText {
        id: "f1".into(),
        message: "m1".into(),
        channel: general().id,
        name: "plan.md".into(),
        size: 5,
        text: Some("Less.".into()),
        note: None,
        by: "Ann".into(),
        at: at(0),
    };
    store.record_files(&[file]).await.unwrap();
    for (asker, by_asker) in [(Some(&message.author.id), true), (Some(&"discord:999".into()), false), (None, false)] {
        assert_eq!(store.list_channel_files(&general().id, asker, 9).await.unwrap()[0].by_asker, by_asker, "{asker:?}");
    }
}
