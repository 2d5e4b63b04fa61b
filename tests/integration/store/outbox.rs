use std::time::Duration;

use kernel::chat::outbound::{OutboundMessage, Posted};
use kernel::chat::outbox::{Delivery, HeldMessage};
use kernel::ids::ChannelId;
use teamroom::store::Store;

use super::sample::{at, general, line, line_in};
use super::{Home, on_both};

on_both!(
    a_persona_keeps_its_order_and_others_do_not_wait_for_it,
    what_waits_for_a_permission_blocks_nobody_and_comes_back_in_its_place,
    an_attempt_is_known_after_a_crash,
    a_sent_message_is_found_by_its_platform_id,
    what_was_given_up_on_stays_given_up,
    the_depth_tells_how_much_waits_and_how_long,
    many_writers_keep_each_channel_in_order,
    a_message_posted_elsewhere_is_found_and_read_there,
    a_revision_takes_the_place_of_all_versions_before_it,
    a_revision_that_had_to_be_posted_anew_is_found_by_the_next,
    it_is_known_how_far_a_message_got,
);

async fn enqueue(store: &Store, messages: &[&OutboundMessage], seconds: i64) {
    let messages: Vec<_> = messages.iter().map(|message| (*message).clone()).collect();
    store.enqueue(&messages, at(seconds)).await.unwrap();
}

fn posted(message: &OutboundMessage, id: &str, seconds: i64) -> Posted {
    Posted { channel: message.channel.clone(), message: id.into(), at: at(seconds) }
}

async fn next(store: &Store, channel: &ChannelId, seconds: i64) -> Option<String> {
    store.next_pending(channel, at(seconds)).await.unwrap().map(|row| row.message.text)
}

async fn a_persona_keeps_its_order_and_others_do_not_wait_for_it(home: &Home) {
    let store = home.open().await;
    let (general, other) = (general().id, ChannelId::new("20"));
    let (first, second, third) = (line("first"), line("second"), line_in(&other, "third"));
    enqueue(&store, &[&first, &second, &third], 0).await;

    assert_eq!(store.list_pending_channels().await.unwrap(), [(general.clone(), at(0)), (other.clone(), at(0))]);
    let row = store.next_pending(&general, at(0)).await.unwrap().expect("the first");
    store.record_retry(&row, Some(at(0)), at(60), "the platform is away").await.unwrap();
    let pending = [(general.clone(), at(60)), (general.clone(), at(0)), (other.clone(), at(0))];
    assert_eq!(store.list_pending_channels().await.unwrap(), pending);
    assert_eq!(next(&store, &general, 30).await, None, "the second waits for the first");
    let of_another = OutboundMessage { persona: "sentinel".into(), ..line("of another") };
    enqueue(&store, &[&of_another], 0).await;
    assert_eq!(next(&store, &general, 30).await.as_deref(), Some("of another"));
    store.record_sent(&of_another.id, &posted(&of_another, "p0", 31)).await.unwrap();
    assert_eq!(next(&store, &general, 60).await.as_deref(), Some("first"));
    store.record_sent(&first.id, &posted(&first, "p1", 61)).await.unwrap();
    assert_eq!(next(&store, &general, 61).await.as_deref(), Some("second"));
    assert_eq!(next(&store, &other, 61).await.as_deref(), Some("third"));
    assert_eq!(next(&store, &"30".into(), 61).await, None);
}

async fn what_waits_for_a_permission_blocks_nobody_and_comes_back_in_its_place(home: &Home) {
    let store = home.open().await;
    let (held, next_one) = (line("held"), line("next"));
    enqueue(&store, &[&held, &next_one], 0).await;
    let row = store.next_pending(&held.channel, at(0)).await.unwrap().expect("the first");
    store.record_held(&row, at(300), "Send Messages").await.unwrap();
    assert_eq!(next(&store, &held.channel, 1).await.as_deref(), Some("next"));
    assert_eq!(store.find_delivery(&held.id).await.unwrap(), Some(Delivery::Pending), "it is not given up");
    let waiting = HeldMessage { persona: held.persona.clone(), channel: held.channel.clone(), needs: "Send Messages".to_owned() };
    assert_eq!(store.list_held(10).await.unwrap(), (vec![waiting], 1));
    store.close().await;

    let store = home.open().await;
    assert_eq!(store.release_held(at(299), at(299)).await.unwrap(), Some(at(300)), "not yet");
    assert_eq!(store.release_held(at(300), at(300)).await.unwrap(), None);
    assert_eq!(store.list_held(10).await.unwrap(), (vec![], 0));
    assert_eq!(next(&store, &held.channel, 300).await.as_deref(), Some("held"));
}

async fn an_attempt_is_known_after_a_crash(home: &Home) {
    let store = home.open().await;
    let post = line("hello");
    enqueue(&store, &[&post], 0).await;
    store.record_attempt(&post.id, at(1)).await.unwrap();
    store.record_attempt(&post.id, at(2)).await.unwrap();
    store.close().await;

    let row = home.open().await.next_pending(&post.channel, at(3)).await.unwrap().unwrap();
    assert_eq!((row.attempts, row.first_attempt_at, row.created_at), (2, Some(at(1)), at(0)));
    assert_eq!(row.message, post);
}

async fn a_sent_message_is_found_by_its_platform_id(home: &Home) {
    let store = home.open().await;
    let post = line("hello");
    enqueue(&store, &[&post], 0).await;
    store.record_sent(&post.id, &posted(&post, "p1", 1)).await.unwrap();
    assert_eq!(store.find_by_platform_id(&"p1".into()).await.unwrap(), Some(post));
    assert_eq!(store.find_by_platform_id(&"p2".into()).await.unwrap(), None);
}

async fn what_was_given_up_on_stays_given_up(home: &Home) {
    let store = home.open().await;
    let (first, second) = (line("first"), line("second"));
    enqueue(&store, &[&first, &second], 0).await;
    store.record_failed(&first, "the channel is gone", at(9)).await.unwrap();
    store.record_sent(&first.id, &posted(&first, "p1", 1)).await.unwrap();
    store.record_attempt(&first.id, at(1)).await.unwrap();
    assert_eq!(store.find_by_platform_id(&"p1".into()).await.unwrap(), None);
    assert_eq!(next(&store, &first.channel, 1).await.as_deref(), Some("second"));
}

async fn the_depth_tells_how_much_waits_and_how_long(home: &Home) {
    let store = home.open().await;
    assert_eq!(store.outbox_depth(at(0)).await.unwrap(), (0, Duration::ZERO));
    let (first, second) = (line("first"), line("second"));
    enqueue(&store, &[&first], 0).await;
    enqueue(&store, &[&second], 10).await;
    assert_eq!(store.outbox_depth(at(30)).await.unwrap(), (2, Duration::from_secs(30)));
    assert_eq!(store.outbox_depth(at(-5)).await.unwrap(), (2, Duration::ZERO), "a clock that was set back gives no negative age");
    store.record_failed(&first, "gone", at(9)).await.unwrap();
    assert_eq!(store.outbox_depth(at(30)).await.unwrap(), (1, Duration::from_secs(20)));
}

async fn many_writers_keep_each_channel_in_order(home: &Home) {
    let store = home.open().await;
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let store = store.clone();
            tokio::spawn(async move {
                let channel = ChannelId::new(format!("c{writer}"));
                for number in 0..10 {
                    let lines = [line_in(&channel, &format!("{number}a")), line_in(&channel, &format!("{number}b"))];
                    store.enqueue(&lines, at(0)).await.unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    for writer in 0..4 {
        let channel = ChannelId::new(format!("c{writer}"));
        for expected in (0..10).flat_map(|number| [format!("{number}a"), format!("{number}b")]) {
            let row = store.next_pending(&channel, at(1)).await.unwrap().unwrap();
            assert_eq!(row.message.text, expected);
            store.record_sent(&row.message.id, &posted(&row.message, row.message.id.as_str(), 1)).await.unwrap();
        }
        assert_eq!(store.next_pending(&channel, at(1)).await.unwrap(), None);
    }
}

async fn texts(store: &Store, channel: &ChannelId) -> Vec<String> {
    store.list_spoken(channel, 10).await.unwrap().into_iter().map(|spoken| spoken.text).collect()
}

async fn a_message_posted_elsewhere_is_found_and_read_there(home: &Home) {
    let store = home.open().await;
    let (starter, inside) = (line("the report"), line("in the thread"));
    enqueue(&store, &[&starter, &inside], 0).await;
    assert_eq!(store.find_posted(&starter.id).await.unwrap(), None, "nothing is posted yet");
    store.record_sent(&starter.id, &posted(&starter, "p1", 1)).await.unwrap();
    let thread = Posted { channel: "p1".into(), message: "p2".into(), at: at(2) };
    store.record_sent(&inside.id, &thread).await.unwrap();
    assert_eq!(store.find_posted(&inside.id).await.unwrap(), Some(thread));
    assert_eq!(store.find_posted(&"nothing".into()).await.unwrap(), None);
    assert_eq!(
        (texts(&store, &general().id).await, texts(&store, &"p1".into()).await),
        (vec!["the report".to_owned()], vec!["in the thread".to_owned()])
    );
}

async fn a_revision_takes_the_place_of_all_versions_before_it(home: &Home) {
    let store = home.open().await;
    let (first, second, third) = (line("first"), line("second"), line("third"));
    enqueue(&store, &[&first, &second, &third], 0).await;
    let there = posted(&first, "p1", 1);
    store.record_sent(&first.id, &there).await.unwrap();
    for revision in [&second, &third] {
        store.record_revised(&revision.id, &first.id, &there).await.unwrap();
        assert_eq!(store.find_by_platform_id(&"p1".into()).await.unwrap().as_ref(), Some(revision));
    }
    assert_eq!(texts(&store, &general().id).await, ["third"]);
    assert_eq!(store.find_posted(&first.id).await.unwrap(), Some(there));
}

async fn a_revision_that_had_to_be_posted_anew_is_found_by_the_next(home: &Home) {
    let store = home.open().await;
    let (first, lost, second) = (line("first"), line("never posted"), line("second"));
    enqueue(&store, &[&first, &lost, &second], 0).await;
    store.record_sent(&first.id, &posted(&first, "p1", 1)).await.unwrap();
    store.record_failed(&lost, "refused", at(9)).await.unwrap();
    for original in [&first, &lost] {
        let reposted = posted(&second, "p2", 2);
        store.record_revised(&second.id, &original.id, &reposted).await.unwrap();
        assert_eq!(store.find_posted(&original.id).await.unwrap(), Some(reposted));
    }
    assert_eq!(texts(&store, &general().id).await, ["second"]);
}

async fn it_is_known_how_far_a_message_got(home: &Home) {
    let store = home.open().await;
    let (waits, sent, lost) = (line("waits"), line("sent"), line("lost"));
    enqueue(&store, &[&waits, &sent, &lost], 0).await;
    store.record_sent(&sent.id, &posted(&sent, "p1", 1)).await.unwrap();
    store.record_failed(&lost, "the channel is gone", at(9)).await.unwrap();
    let delivery = async |message: &OutboundMessage| store.find_delivery(&message.id).await.unwrap();
    assert_eq!(delivery(&waits).await, Some(Delivery::Pending));
    assert_eq!(delivery(&sent).await, Some(Delivery::Sent(posted(&sent, "p1", 1))));
    assert_eq!(delivery(&lost).await, Some(Delivery::Failed { why: "the channel is gone".into() }));
    assert_eq!(delivery(&line("unknown")).await, None);
}
