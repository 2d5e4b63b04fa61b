use super::sample::{at, general, noon, seen};
use super::{Home, on_both};

use kernel::chat::message::{Channel, Place};

on_both!(
    a_persona_has_one_account_on_each_platform,
    logins_are_counted_from_a_time_on,
    commands_are_known_by_scope,
    a_channel_is_heard_only_forwards
);

async fn a_persona_has_one_account_on_each_platform(home: &Home) {
    let store = home.open().await;
    store.record_identity(&"vince".into(), &"discord:100".into(), noon()).await.unwrap();
    store.record_identity(&"kelly".into(), &"discord:101".into(), noon()).await.unwrap();
    store.record_identity(&"vince".into(), &"discord:102".into(), at(5)).await.unwrap();
    store.record_identity(&"vince".into(), &"slack:U1".into(), at(6)).await.unwrap();

    let identities = store.list_identities().await.unwrap();
    let accounts: Vec<_> = identities.iter().map(|identity| (identity.persona.as_str(), identity.account.as_str())).collect();
    assert_eq!(accounts, [("kelly", "discord:101"), ("vince", "discord:102"), ("vince", "slack:U1")]);
    assert_eq!(identities[1].updated_at, at(5));
    assert_eq!(identities[1].platform, "discord");
}

async fn logins_are_counted_from_a_time_on(home: &Home) {
    let store = home.open().await;
    for seconds in [0, 10, 20] {
        store.record_identify(&"kelly".into(), at(seconds)).await.unwrap();
    }
    store.record_identify(&"vince".into(), at(20)).await.unwrap();
    assert_eq!(store.count_identifies(&"kelly".into(), at(10)).await.unwrap(), 2);
    assert_eq!(store.count_identifies(&"echo".into(), at(0)).await.unwrap(), 0);
}

async fn commands_are_known_by_scope(home: &Home) {
    let store = home.open().await;
    assert_eq!(store.find_registration("guild 1").await.unwrap(), None);
    store.record_registration("guild 1", "abc", noon()).await.unwrap();
    store.record_registration("guild 1", "def", at(1)).await.unwrap();
    assert_eq!(store.find_registration("guild 1").await.unwrap().as_deref(), Some("def"));
    assert_eq!(store.find_registration("guild 2").await.unwrap(), None);
}

async fn a_channel_is_heard_only_forwards(home: &Home) {
    let store = home.open().await;
    let thread = Channel {
        id: "11".into(),
        name: "a thread".into(),
        place: Place::Thread { parent: "10".into(), parent_name: "general".into(), owner: Some("1".into()), starter: None },
        private: false,
        shared: false,
    };
    store.record_channels_seen(&[seen(general(), "m2", at(2))]).await.unwrap();
    store.record_channels_seen(&[seen(general(), "m1", at(1))]).await.unwrap();
    store.record_channels_seen(&[seen(thread.clone(), "m3", at(3))]).await.unwrap();

    let channels = store.list_channels().await.unwrap();
    assert_eq!(channels.len(), 2);
    assert_eq!((&channels[0].channel, channels[0].last_message.as_str()), (&thread, "m3"));
    assert_eq!((&channels[1].channel, channels[1].last_message.as_str(), channels[1].last_at), (&general(), "m2", at(2)));
}
