//! Migration 16: ids that an earlier version stored without their platform get one.

use std::fmt::Write as _;

use secrecy::ExposeSecret;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, SqliteConnection};

use super::opening::{count, tamper};
use super::{Home, on_both};

on_both!(every_stored_id_says_its_platform_after_the_migration, what_is_no_id_of_discord_stays_as_it_is);

/// The texts in the database, each as `table.column: value`. Sorted, because rows have no common key.
type Cells = Vec<String>;

async fn query(url: &str, sql: String) -> Vec<(String, String)> {
    let query = sqlx::query_as(AssertSqlSafe(sql.clone()));
    if url.starts_with("sqlite:") {
        query.fetch_all(&mut SqliteConnection::connect(url).await.unwrap()).await.unwrap()
    } else {
        sqlx::query_as(AssertSqlSafe(sql)).fetch_all(&mut PgConnection::connect(url).await.unwrap()).await.unwrap()
    }
}

/// All text columns, except those of `people`: that table is younger than version 15, and its ids always had a platform.
async fn columns(url: &str) -> Vec<(String, String)> {
    let sql = if url.starts_with("sqlite:") {
        "SELECT tables.name, columns.name FROM sqlite_master tables, pragma_table_info(tables.name) columns
         WHERE tables.type = 'table' AND columns.type = 'TEXT' AND tables.name NOT LIKE 'sqlite_%' AND tables.name NOT IN ('_sqlx_migrations', 'people')"
    } else {
        "SELECT table_name::text, column_name::text FROM information_schema.columns
         WHERE table_schema = current_schema() AND data_type = 'text' AND table_name NOT IN ('_sqlx_migrations', 'people')"
    };
    query(url, sql.to_owned()).await
}

/// All texts in these columns.
pub(crate) async fn cells(url: &str) -> Cells {
    let mut cells = Vec::new();
    for (table, column) in columns(url).await {
        let sql = format!("SELECT '{table}.{column}', {column} FROM {table} WHERE {column} IS NOT NULL");
        cells.extend(query(url, sql).await.into_iter().map(|(place, value)| format!("{place}: {value}")));
    }
    cells.sort();
    cells
}

/// Turns the database into one of version 15, in which no id has a platform. Goes through all tables, so that none is forgotten.
pub(crate) async fn forget_platforms(url: &str) {
    let mut sql = String::from("DELETE FROM _sqlx_migrations WHERE version = 16;");
    for (table, column) in columns(url).await {
        let _ = write!(sql, "UPDATE {table} SET {column} = replace({column}, 'discord:', '') WHERE {column} LIKE '%discord:%';");
    }
    let sql = AssertSqlSafe(sql);
    if url.starts_with("sqlite:") {
        SqliteConnection::connect(url).await.unwrap().execute(sql).await.unwrap();
    } else {
        PgConnection::connect(url).await.unwrap().execute(sql).await.unwrap();
    }
}

const AT: &str = "'2026-11-21T12:00:00+00:00'";

/// Rows that have an id in each column that may hold one.
#[expect(clippy::too_many_lines, reason = "a row for each table")]
fn rows() -> Vec<String> {
    let inbound = r#"{"id":"discord:100","channel":{"id":"discord:20","name":"20","place":{"thread":{"parent":"discord:10","parent_name":"10","owner":"discord:5"}}},"author":{"id":"discord:5","name":"5","kind":"person","roles":["discord:70","discord:71"]},"text":"42 <user:discord:3> <user:discord:4> in <channel:discord:10>: \"id\":\"5\", \"mentions\":[\"5\"]","mentions":["discord:3","discord:4"],"reply_to":{"message":"discord:99","author":"discord:4"},"attachments":[{"id":"discord:88","name":"1","size":5,"content_type":null,"url":"http://x/1"}],"sent_at":"2026-11-21T12:00:00Z","seen_by":"kelly","complete":true}"#;
    let outbound = r#"{"id":"0192f0c1d2e37a4b8c5d6e7f8091a2b3","persona":"kelly","channel":"discord:10","turn":null,"kind":"notice","text":"<user:discord:5>: 7","reply_to":"discord:100","files":[],"pings":["discord:5","discord:6"],"buttons":[{"id":"remind:done:1:2","label":"7","style":"success"}],"place":"channel"}"#;
    let turn = r#"{"id":"0192f0c1d2e37a4b8c5d6e7f8091a2b4","message":"discord:100","chain":"discord:100","channel":"discord:20","persona":"vince","trigger":"message","state":"queued","queued_at":"2026-11-21T12:00:00Z"}"#;
    let speaker = r#"{"person":{"id":"discord:5","name":"5"}}"#;
    let insert = |table: &str, columns: &str, values: &str| format!("INSERT INTO {table} ({columns}) VALUES ({values})");
    vec![
        insert("identities", "persona, platform, account, updated_at", &format!("'kelly', 'discord', 'discord:3', {AT}")),
        insert(
            "channels",
            "id, name, place, last_message, last_at",
            &format!(
                r#"'discord:20', '20', '{{"thread":{{"parent":"discord:10","parent_name":"10","owner":null}}}}', 'discord:100', {AT}"#
            ),
        ),
        insert(
            "inbox",
            "id, channel, message, complete, speaker, sent_at, claimed_at, decision, burst",
            &format!(
                r#"'discord:100', 'discord:20', '{inbound}', TRUE, '{speaker}', {AT}, {AT}, '{{"ask":{{"askee":"<user:discord:4>"}}}}', 'discord:100'"#
            ),
        ),
        insert(
            "files",
            "id, message, channel, name, size, posted_by, at",
            &format!("'discord:88', 'discord:100', 'discord:20', '1', 5, '5', {AT}"),
        ),
        insert(
            "turns",
            r#"id, message, chain, channel, persona, "trigger", state, attempts, queued_at, reply, follow_up"#,
            &format!(
                r#"'t1', 'discord:100', 'discord:100', 'discord:20', 'vince', '"message"', 'queued', 0, {AT}, 'ask <user:discord:5>', '{{"ask":{{"askee":"<user:discord:4>"}}}}'"#
            ),
        ),
        insert(
            "outbox",
            "id, channel, cause, kind, message, state, created_at, next_attempt_at, platform_id",
            &format!("'o1', 'discord:10', 'discord:100', 'notice', '{outbound}', 'sent', {AT}, {AT}, 'discord:101'"),
        ),
        insert(
            "asks",
            "id, message, chain, channel, asker, askee, question, path, state, answer, asked_at, deadline",
            &format!(
                "'a1', 'discord:100', 'discord:100', 'discord:20', 'kelly', 'vince', '<user:discord:5>?', '[]', 'asked', 'No, <user:discord:6>', {AT}, {AT}"
            ),
        ),
        insert("halts", "scope, by, at", &format!("'channel:discord:20', '5', {AT}")),
        insert(
            "blocks",
            "channel, chain, sender, receiver, block, at",
            &format!(r#"'discord:20', 'discord:100', '{{"foreign_bot":{{"id":"discord:6","name":"6"}}}}', 'kelly', 'depth', {AT}"#),
        ),
        insert("cooldowns", "channel, first, second, until", &format!("'discord:20', 'bot discord:6', 'persona vince', {AT}")),
        insert("cooldowns", "channel, first, second, until", &format!("'discord:20', 'person discord:5', 'person discord:6', {AT}")),
        insert("notices", "key, at", &format!("'offline:discord:20', {AT}")),
        insert("notices", "key, at", &format!("'silence:TooOld:discord:20', {AT}")),
        insert(
            "meetings",
            "id, kind, channel, place, day, facilitator, called_by, called_at, deadline, state, wrap, closings, updated_at",
            &format!(
                r#"'m1', 'standup', 'discord:20', '{{"id":"discord:20","name":"20","place":"server"}}', '2026-11-21', 'kelly', '{{"person":{{"id":"discord:5","name":"5","message":"discord:100"}}}}', {AT}, {AT}, 'running', FALSE, 0, {AT}"#
            ),
        ),
        insert(
            "seats",
            "meeting, round, position, who, name, state, attempts, contribution, words",
            r#"'m1', 0, 0, 'person:discord:5', '5', 'spoke', 1, '{"text":"I asked <user:discord:6>"}', 3"#,
        ),
        insert(
            "reports",
            "channel, day, revision, report, post, created_at, updated_at",
            &format!(
                r#"'discord:20', '2026-11-21', 1, '{{"channel":"discord:20","channel_name":"20","contributions":[{{"who":{{"person":{{"id":"discord:5","name":"5"}}}},"name":"5"}}]}}', 'o1', {AT}, {AT}"#
            ),
        ),
        insert(
            "predictions",
            "id, channel, day, question, prediction, made_at, expires_at",
            &format!(r#"'p1', 'discord:20', '2026-11-21', '?', '{{"channel":"discord:20"}}', {AT}, {AT}"#),
        ),
        insert("ratings", "subject, account, about, persona, useful, at", &format!("'m1/0/0', 'discord:5', 'm1', 'vince', TRUE, {AT}")),
        insert(
            "work_items",
            "id, kind, what, how, why, owner, owner_name, urgency, priority, criteria, status, attempts, origin, outcome, cost, created_at, updated_at, execution, channel, product, evidence",
            &format!(
                r#"'w1', 'action', 'Ask <user:discord:6>', 'In <channel:discord:10>', 'For <user:discord:5>', 'person:discord:5', '5', 'now', 1, '[]', 'done', 1, '{{"person":{{"id":"discord:5","name":"5","message":"discord:100"}}}}', '<user:discord:6> said so', 0, {AT}, {AT}, '{{"ask":{{"whom":{{"person":{{"id":"discord:6","name":"6"}}}},"question":"5"}}}}', 'discord:20', '{{"summary":"<user:discord:6>"}}', '[{{"delivered":{{"outbox":"o1","message":"discord:101"}}}}]'"#
            ),
        ),
        insert(
            "memories",
            "id, kind, text, tags, significance, source, created_at",
            &format!(r#"'k1', 'fact', '<user:discord:5> likes tea', '[]', 1, '{{"message":"discord:100"}}', {AT}"#),
        ),
        insert(
            "reminders",
            "id, channel, private, persona, what, whom, asked_by, due, zone, state, round, asked_at",
            &format!(
                r#"'r1', 'discord:20', FALSE, 'kelly', 'call <user:discord:6>', '{{"id":"discord:5","name":"5"}}', '{{"id":"discord:6","name":"6"}}', {AT}, 'UTC', 'waiting', 0, {AT}"#
            ),
        ),
        insert(
            "schedules",
            "name, job, added_by, added_at",
            &format!(r#"'s1', '{{"action":"post: <user:discord:5> 7","channel":"discord:20"}}', '5', {AT}"#),
        ),
        insert(
            "firings",
            "job, instant, action, state, passed_over, at",
            &format!(r#"'s1', {AT}, '"post: <user:discord:5> 7"', 'open', 0, {AT}"#),
        ),
        insert(
            "jobs",
            "kind, queue, payload, state, run_at, place_from, created_at",
            &format!("'turn', 'chat:discord:20', '{turn}', 'ready', {AT}, {AT}, {AT}"),
        ),
        insert(
            "events",
            "at, topic, subject, kind, actor, actor_name, audience, channel, payload",
            &format!(r#"{AT}, 'message', 'discord:100', 'decided', 'person:discord:5', '5', 'channel', 'discord:20', '{{"reason":"7"}}'"#),
        ),
        insert(
            "events",
            "at, topic, subject, kind, audience, channel, payload",
            &format!(r#"{AT}, 'meeting', 'm1', 'called', 'channel', 'discord:20', '{{"message":"discord:100","round":1}}'"#),
        ),
    ]
}

async fn every_stored_id_says_its_platform_after_the_migration(home: &Home) {
    home.open().await.close().await;
    for row in rows() {
        tamper(home, &row).await;
    }
    let url = home.url.expose_secret();
    let now = cells(url).await;
    assert!(now.iter().filter(|cell| cell.contains("discord:")).count() > 60, "{now:#?}");
    forget_platforms(url).await;
    let before = cells(url).await;
    assert!(before.iter().all(|cell| !cell.contains("discord:")), "{before:#?}");
    home.open().await.close().await;
    assert_same(&cells(url).await, &now);
}

/// Compares two long lists. Reports only the differences.
fn assert_same(found: &Cells, expected: &Cells) {
    let only = |these: &Cells, those: &Cells| these.iter().filter(|cell| !those.contains(cell)).cloned().collect::<Vec<_>>();
    let (surplus, missing) = (only(found, expected), only(expected, found));
    assert!(surplus.is_empty() && missing.is_empty(), "there is {surplus:#?} in place of {missing:#?}");
}

async fn what_is_no_id_of_discord_stays_as_it_is(home: &Home) {
    home.open().await.close().await;
    let url = home.url.expose_secret();
    for row in [
        format!("INSERT INTO identities (persona, platform, account, updated_at) VALUES ('kelly', 'discord', '', {AT}), ('vince', 'corner', 'corner:7', {AT})"),
        format!("INSERT INTO channels (id, name, place, last_message, last_at) VALUES ('corner:7', '7', '\"server\"', 'corner:m7', {AT}), ('terminal', '7', '\"server\"', '', {AT})"),
        format!("INSERT INTO halts (scope, by, at) VALUES ('all', '7', {AT}), ('persona:7', '7', {AT}), ('channel:terminal', '7', {AT})"),
        "INSERT INTO seats (meeting, round, position, who, name, state, attempts, words) VALUES ('7', 0, 0, 'guest:7', '7', 'spoke', 1, 3), ('7', 0, 1, 'person:corner:ann', '7', 'spoke', 1, 3)".to_owned(),
        format!("INSERT INTO asks (id, message, chain, channel, asker, askee, question, path, state, asked_at, deadline) VALUES ('7', 'command-7', 'command-7', 'terminal', 'kelly', 'vince', '7', '[]', 'asked', {AT}, {AT})"),
        format!("INSERT INTO events (at, topic, subject, kind, actor, actor_name, audience, payload) VALUES ({AT}, 'item', '7', 'done', 'person:', '7', 'team', '{{\"note\":\"7\",\"id\":\"\"}}')"),
        format!("INSERT INTO memories (id, kind, text, tags, significance, source, created_at) VALUES ('7', 'fact', '7 <user:name> <channel:>', '[\"7\"]', 1, '{{\"meeting\":\"7\"}}', {AT})"),
        "INSERT INTO work_journal (item, run, position, entry, at) SELECT '7', 0, 0, '{\"asked\":{\"system\":\"\",\"message\":\"7\",\"tainted\":false}}', at FROM events".to_owned(),
    ] {
        tamper(home, &row).await;
    }
    let before = cells(url).await;
    forget_platforms(url).await;
    home.open().await.close().await;
    assert_same(&cells(url).await, &before);
    assert_eq!(count(home, "SELECT COUNT(*) FROM _sqlx_migrations WHERE version = 16").await, 1);
}
