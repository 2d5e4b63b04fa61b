//! Runs every operation, so that responses and frames can be checked.

mod interactions;

use std::time::Duration;

use sandbox::Switch;
use serde_json::{Value, json};

use super::harness::{Api, Gateway, World};

/// A picture of one pixel.
pub(crate) const PICTURE: &str =
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

struct Operations<'a> {
    world: &'a World,
    kelly: Api,
    vince: Api,
    person: Api,
    general: String,
    guild: String,
}

pub(crate) async fn run_all_operations(world: &World) {
    let operations = Operations {
        world,
        kelly: world.bot("kelly"),
        vince: world.bot("vince"),
        person: world.person(),
        general: world.channel("general"),
        guild: world.sandbox.guild_id(),
    };
    let everything = 0b11_0011_0001_1111_1111_1111_1111;
    let mut kelly = world.connect_with(&operations.kelly, everything).await;
    let mut vince = world.connect(&operations.vince).await;
    let mut person = world.connect(&operations.person).await;
    operations.accounts().await;
    operations.messages().await;
    operations.reactions_and_pins().await;
    operations.channels_and_threads().await;
    operations.webhooks().await;
    operations.commands(&mut kelly, &mut person).await;
    operations.refusals().await;
    operations.gateway(&mut kelly, &mut vince).await;
}

impl Operations<'_> {
    fn id(value: &Value) -> String {
        value["id"].as_str().expect("an id").to_owned()
    }

    async fn accounts(&self) {
        let (kelly, guild) = (&self.kelly, &self.guild);
        for path in [
            "/gateway".to_owned(),
            "/gateway/bot".to_owned(),
            "/users/@me".to_owned(),
            "/users/@me/guilds".to_owned(),
            format!("/users/{}", self.person.id),
            "/applications/@me".to_owned(),
            "/oauth2/applications/@me".to_owned(),
            format!("/guilds/{guild}?with_counts=true"),
            format!("/guilds/{guild}/channels"),
            format!("/guilds/{guild}/members?limit=100"),
            format!("/guilds/{guild}/members/{}", self.person.id),
            format!("/guilds/{guild}/roles"),
            format!("/applications/{}/emojis", kelly.id),
            format!("/applications/{}/entitlements", kelly.id),
            format!("/applications/{}/role-connections/metadata", kelly.id),
            format!("/applications/{}/guilds/{guild}/commands/permissions", kelly.id),
            format!("/channels/{}/invites", self.general),
            "/users/@me/guilds?with_counts=true".to_owned(),
            "/voice/regions".to_owned(),
            "/sticker-packs".to_owned(),
            "/soundboard-default-sounds".to_owned(),
        ] {
            kelly.get(&path).await.ok();
        }
        self.person.get(&format!("/users/@me/guilds/{guild}/member")).await.ok();
        for path in
            ["emojis", "stickers", "scheduled-events", "regions", "soundboard-sounds", "onboarding", "preview", "members/search?query=k"]
        {
            kelly.get(&format!("/guilds/{guild}/{path}")).await.ok();
        }
        for path in ["", "/member-counts", &format!("/{guild}")] {
            kelly.get(&format!("/guilds/{guild}/roles{path}")).await.ok();
        }
        let moderated =
            ["bans", "audit-logs", "integrations", "invites", "templates", "auto-moderation/rules", "widget", "vanity-url", "prune"];
        for path in moderated {
            self.person.get(&format!("/guilds/{guild}/{path}")).await.ok();
            assert_eq!(kelly.get(&format!("/guilds/{guild}/{path}")).await.status, 403);
        }
        kelly.call("PATCH", &format!("/guilds/{guild}/members/@me"), json!({ "nick": "K" })).await.ok();
        kelly.call("PATCH", "/users/@me", json!({ "username": "Kelly" })).await.ok();
        self.pictures().await;
    }

    async fn pictures(&self) {
        let kelly = &self.kelly;
        let me = kelly.call("PATCH", "/users/@me", json!({ "username": "Kelly", "avatar": PICTURE })).await.ok();
        let avatar = me["avatar"].as_str().expect("a hash");
        assert_eq!(kelly.get("/users/@me").await.ok()["avatar"], avatar);
        let (status, bytes) = kelly.fetch(&format!("{}/avatars/{}/{avatar}.png", self.world.sandbox.api_url(), kelly.id)).await;
        assert!(status == 200 && bytes.starts_with(b"\x89PNG"), "{status}");

        let emojis = format!("/applications/{}/emojis", kelly.id);
        let made = kelly.call("POST", &emojis, json!({ "name": "kelly", "image": PICTURE })).await;
        assert_eq!(made.status, 201);
        let made = made.ok();
        let one = format!("{emojis}/{}", Self::id(&made));
        kelly.call("PATCH", &one, json!({ "name": "kelly_2" })).await.ok();
        assert_eq!(kelly.get(&one).await.ok()["name"], "kelly_2");
        assert_eq!(kelly.get(&emojis).await.ok()["items"].as_array().map(Vec::len), Some(1));
        let address = format!("{}/emojis/{}.png?size=128", self.world.sandbox.api_url(), Self::id(&made));
        assert_eq!(kelly.fetch(&address).await, (200, bytes));
        kelly.delete(&one).await.ok();
        assert_eq!((kelly.get(&one).await.status, kelly.fetch(&address).await.0), (404, 404));
        kelly.call("PATCH", "/users/@me", json!({ "username": "Kelly", "avatar": null })).await.ok();
    }

    async fn messages(&self) {
        let (kelly, person, general) = (&self.kelly, &self.person, &self.general);
        let messages = format!("/channels/{general}/messages");
        let question = person.say(general, &format!("<@{}> and @everyone, `code`?", kelly.id)).await;
        let rich = json!({
            "content": "an answer", "nonce": "n1", "enforce_nonce": true, "allowed_mentions": { "parse": [] },
            "message_reference": { "message_id": question["id"] },
            "embeds": [{
                "title": "t", "description": "d", "url": "https://example.com", "color": 255,
                "timestamp": "2026-01-01T00:00:00Z", "footer": { "text": "f" }, "author": { "name": "a" },
                "fields": [{ "name": "n", "value": "v", "inline": true }], "image": { "url": "https://example.com/i.png" },
            }],
            "components": [
                { "type": 1, "components": [
                    { "type": 2, "style": 1, "custom_id": "go", "label": "Go", "emoji": { "name": "👍" } },
                    { "type": 2, "style": 5, "url": "https://example.com", "label": "Link" },
                ] },
                { "type": 1, "components": [
                    { "type": 3, "custom_id": "pick", "options": [{ "label": "A", "value": "a", "description": null }] },
                ] },
                { "type": 1, "components": [{ "type": 5, "custom_id": "who" }] },
            ],
        });
        let answer = kelly.call("POST", &messages, rich.clone()).await.ok();
        kelly.call("POST", &messages, rich).await.ok();
        let about = json!({ "content": "", "attachments": [{ "id": 0, "filename": "report.md", "description": "a report" }] });
        let file = kelly.upload(&messages, &about, &[("report.md", b"# Report".to_vec())], false).await.ok();
        let url = file["attachments"][0]["url"].as_str().expect("an address");
        assert_eq!(kelly.fetch(url).await, (200, b"# Report".to_vec()));
        let shown = json!({ "embeds": [{ "title": "t", "image": { "url": "attachment://c.png" }, "thumbnail": { "url": "attachment://c.png" } }],
            "attachments": [{ "id": 0, "filename": "c.png" }] });
        let chart = kelly.upload(&messages, &shown, &[("c.png", b"\x89PNG".to_vec())], false).await.ok();
        assert_eq!(chart["attachments"], json!([]), "a file that an embed shows is not listed beside it");
        let url = chart["embeds"][0]["image"]["url"].as_str().expect("an address");
        assert_eq!(kelly.fetch(url).await, (200, b"\x89PNG".to_vec()));
        let one = format!("{messages}/{}", Self::id(&answer));
        kelly.get(&one).await.ok();
        kelly.call("PATCH", &one, json!({ "content": "edited", "flags": 4 })).await.ok();
        for query in
            ["?limit=2", "?&limit=5", &format!("?after={}", Self::id(&question)), &format!("?around={}", Self::id(&answer)), "?before=9"]
        {
            kelly.get(&format!("{messages}{query}")).await.ok();
        }
        kelly.call("POST", &format!("/channels/{general}/typing"), json!({})).await.ok();
        let deleted = person.say(general, "soon gone").await;
        kelly.delete(&format!("{messages}/{}", Self::id(&deleted))).await.ok();
        let several = [person.say(general, "1").await, person.say(general, "2").await].map(|message| message["id"].clone());
        kelly.call("POST", &format!("{messages}/bulk-delete"), json!({ "messages": several })).await.ok();
        let direct = kelly.call("POST", "/users/@me/channels", json!({ "recipient_id": person.id })).await.ok();
        let direct = Self::id(&direct);
        kelly.say(&direct, "between us").await;
        person.say(&direct, "yes").await;
        kelly.call("POST", &format!("/channels/{direct}/typing"), json!({})).await.ok();
        kelly.get(&format!("/channels/{direct}")).await.ok();
        kelly.get(&format!("/channels/{direct}/messages")).await.ok();
    }

    async fn reactions_and_pins(&self) {
        let (kelly, person, general) = (&self.kelly, &self.person, &self.general);
        let message = Self::id(&person.say(general, "like this").await);
        let reactions = format!("/channels/{general}/messages/{message}/reactions");
        kelly.put(&format!("{reactions}/%F0%9F%91%8D/@me")).await.ok();
        person.put(&format!("{reactions}/%F0%9F%91%8D/@me")).await.ok();
        kelly.get(&format!("{reactions}/%F0%9F%91%8D")).await.ok();
        kelly.get(&format!("/channels/{general}/messages/{message}")).await.ok();
        kelly.delete(&format!("{reactions}/%F0%9F%91%8D/@me")).await.ok();
        kelly.delete(&format!("{reactions}/%F0%9F%91%8D/{}", person.id)).await.ok();
        kelly.put(&format!("{reactions}/%F0%9F%91%80/@me")).await.ok();
        kelly.delete(&format!("{reactions}/%F0%9F%91%80")).await.ok();
        kelly.put(&format!("{reactions}/%F0%9F%91%80/@me")).await.ok();
        kelly.delete(&reactions).await.ok();
        kelly.put(&format!("/channels/{general}/messages/pins/{message}")).await.ok();
        kelly.get(&format!("/channels/{general}/messages/pins")).await.ok();
        kelly.get(&format!("/channels/{general}/pins")).await.ok();
        kelly.delete(&format!("/channels/{general}/messages/pins/{message}")).await.ok();
        kelly.put(&format!("/channels/{general}/pins/{message}")).await.ok();
        kelly.delete(&format!("/channels/{general}/pins/{message}")).await.ok();
    }

    async fn channels_and_threads(&self) {
        let (kelly, person, general, guild) = (&self.kelly, &self.person, &self.general, &self.guild);
        let made = kelly.call("POST", &format!("/guilds/{guild}/channels"), json!({ "name": "Side Room", "topic": "t" })).await.ok();
        let side = format!("/channels/{}", Self::id(&made));
        kelly.get(&side).await.ok();
        kelly
            .call(
                "PATCH",
                &side,
                json!({ "topic": "new", "permission_overwrites": [{ "id": kelly.id, "type": 1, "allow": "0", "deny": "64" }] }),
            )
            .await
            .ok();
        kelly.delete(&side).await.ok();

        let message = Self::id(&person.say(general, "let us talk").await);
        let thread = kelly.call("POST", &format!("/channels/{general}/messages/{message}/threads"), json!({ "name": "talk" })).await.ok();
        assert_eq!(Self::id(&thread), message);
        let thread = format!("/channels/{message}");
        kelly.get(&format!("/channels/{general}/messages/{message}")).await.ok();
        person.say(&message, "in the thread").await;
        kelly.get(&format!("{thread}/messages")).await.ok();
        kelly.get(&thread).await.ok();
        let members = format!("{thread}/thread-members");
        kelly.put(&format!("{members}/@me")).await.ok();
        kelly.put(&format!("{members}/{}", self.vince.id)).await.ok();
        for query in ["", "?with_member=true&limit=2"] {
            kelly.get(&format!("{members}{query}")).await.ok();
            kelly.get(&format!("{members}/{}{query}", self.vince.id)).await.ok();
        }
        kelly.delete(&format!("{members}/{}", self.vince.id)).await.ok();
        kelly.delete(&format!("{members}/@me")).await.ok();
        kelly.get(&format!("/guilds/{guild}/threads/active")).await.ok();
        kelly.call("PATCH", &thread, json!({ "archived": true })).await.ok();
        for path in ["threads/archived/public", "threads/archived/private", "users/@me/threads/archived/private"] {
            kelly.get(&format!("/channels/{general}/{path}")).await.ok();
        }
        person.say(&message, "opens it again").await;
        let other = kelly.call("POST", &format!("/channels/{general}/threads"), json!({ "name": "other", "type": 11 })).await.ok();
        kelly.delete(&format!("/channels/{}", Self::id(&other))).await.ok();
    }

    async fn webhooks(&self) {
        let (kelly, general) = (&self.kelly, &self.general);
        let webhook = kelly.call("POST", &format!("/channels/{general}/webhooks"), json!({ "name": "persona" })).await.ok();
        let (id, token) = (Self::id(&webhook), webhook["token"].as_str().expect("a token"));
        kelly.get(&format!("/channels/{general}/webhooks")).await.ok();
        kelly.get(&format!("/guilds/{}/webhooks", self.guild)).await.ok();
        kelly.get(&format!("/webhooks/{id}")).await.ok();
        kelly.call("PATCH", &format!("/webhooks/{id}"), json!({ "name": "other" })).await.ok();
        let own = format!("/webhooks/{id}/{token}");
        kelly.get(&own).await.ok();
        kelly.call("PATCH", &own, json!({ "name": "persona" })).await.ok();
        let body = json!({ "content": "as Solus", "username": "Solus", "avatar_url": "https://example.com/a.png" });
        let posted = kelly.call("POST", &format!("{own}?wait=true"), body.clone()).await.ok();
        kelly.call("POST", &own, body).await.ok();
        let message = format!("{own}/messages/{}", Self::id(&posted));
        kelly.get(&message).await.ok();
        kelly.call("PATCH", &message, json!({ "content": "as Solus again" })).await.ok();
        kelly.delete(&message).await.ok();
        kelly.delete(&own).await.ok();
        let webhook = kelly.call("POST", &format!("/channels/{general}/webhooks"), json!({ "name": "second" })).await.ok();
        kelly.delete(&format!("/webhooks/{}", Self::id(&webhook))).await.ok();
    }

    /// Runs operations that fail, because the descriptions cover errors too.
    async fn refusals(&self) {
        let messages = format!("/channels/{}/messages", self.general);
        for (method, path, body) in [
            ("POST", messages.as_str(), json!({ "content": "x".repeat(2_001) })),
            ("POST", messages.as_str(), json!({})),
            ("GET", "/channels/1", Value::Null),
            ("GET", "/users/1", Value::Null),
        ] {
            let answer = self.kelly.call(method, path, body).await;
            assert!((400..500).contains(&answer.status), "{answer:?}");
        }
        assert_eq!(self.kelly.with_token("Bot nonsense").get("/users/@me").await.status, 401);
    }

    async fn gateway(&self, kelly: &mut Gateway, vince: &mut Gateway) {
        kelly.send(&json!({ "op": 1, "d": kelly.seq })).await;
        kelly.operation(11).await;
        let activity = json!({ "name": "Custom Status", "type": 4, "state": "thinking" });
        vince.send(&json!({ "op": 3, "d": { "since": null, "activities": [activity], "status": "idle", "afk": false } })).await;
        loop {
            let presence = kelly.event("PRESENCE_UPDATE").await;
            if presence["status"] == "idle" {
                break;
            }
        }
        kelly.send(&json!({ "op": 8, "d": { "guild_id": self.guild, "query": "", "limit": 0, "presences": true, "nonce": "n" } })).await;
        assert_eq!(kelly.event("GUILD_MEMBERS_CHUNK").await["members"].as_array().map(Vec::len), Some(3));
        kelly.send(&json!({ "op": 8, "d": { "guild_id": self.guild, "user_ids": [self.person.id, "1"] } })).await;
        assert_eq!(kelly.event("GUILD_MEMBERS_CHUNK").await["not_found"], json!(["1"]));
        let misbehaviour = self.world.sandbox.misbehaviour();
        misbehaviour.set(Switch::Reconnect { bot: Some("vince".to_owned()) }).expect("a known bot");
        vince.operation(7).await;
        let mut again = Gateway::open(&self.world.sandbox.gateway_url()).await;
        again.resume(&self.vince.token, &vince.session, vince.seq).await;
        again.event("RESUMED").await;
        misbehaviour.set(Switch::InvalidateSession { bot: Some("vince".to_owned()), resumable: false }).expect("a known bot");
        again.operation(9).await;
        // The journal does not have the last frames yet.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
