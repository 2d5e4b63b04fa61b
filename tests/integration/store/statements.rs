//! Checks every SQL statement of the store against both databases.

use std::path::Path;

use secrecy::ExposeSecret;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row, SqliteConnection};

use kernel::tools::workspace::Workspaces;
use teamroom::app::retention_rules;
use teamroom::config::RetentionSettings;

use super::Home;

/// All `sql!` statements. The macro accepts only literals, so none is missed.
fn list_statements() -> Vec<String> {
    let mut statements = Vec::new();
    for folder in ["src", "crates/kernel/src"] {
        collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut statements);
    }
    assert!(statements.len() > 60, "only {} statements were found", statements.len());
    statements
}

fn collect(folder: &Path, statements: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, statements);
        // The module that defines the macro has no statements.
        } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("db/mod.rs") {
            let source = std::fs::read_to_string(&path).unwrap();
            for call in source.split("sql!(").skip(1) {
                let text = call.split('"').nth(1).unwrap_or_else(|| panic!("{}: a statement without text", path.display()));
                statements.push(text.to_owned());
            }
        }
    }
}

/// Tables that grow with messages or meetings. Only the summary may scan them.
const GROWING: [&str; 40] = [
    "inbox",
    "outbox",
    "turns",
    "asks",
    "ledger",
    "files",
    "meetings",
    "seats",
    "reports",
    "predictions",
    "ratings",
    "work_items",
    "work_dependencies",
    "work_subjects",
    "events",
    "work_journal",
    "artefacts",
    "approvals",
    "limit_raises",
    "memories",
    "channel_spans",
    "channel_span_messages",
    "firings",
    "samples",
    "jobs",
    "job_steps",
    "reminders",
    "item_requests",
    "checkins",
    "checkin_replies",
    "chat_approvals",
    "annotations",
    "missions",
    "budget_groups",
    "boards",
    "board_comments",
    "insights",
    "insight_ratings",
    "reviews",
    "amendments",
];

/// Tables and subqueries that may be scanned. The tables are small. The subqueries have few rows: `due` has the first messages of waiting channels,
/// `hands` the personas with work, `queues` and `kinds` those of jobs, and `heads` the first job of each.
const SMALL: [&str; 15] = [
    "_sqlx_migrations",
    "blocks",
    "channels",
    "due",
    "halts",
    "hands",
    "heads",
    "identities",
    "job_workers",
    "kinds",
    "people",
    "queues",
    "relationships",
    "schedule_pauses",
    "schedules",
];

fn may_scan(statement: &str) -> bool {
    // The summary counts everything. Open work is counted with a partial index, and a scan of that index reads all of it. The newest rows are few.
    statement.starts_with("SELECT 'identities', COUNT(*)")
        || statement.starts_with("SELECT COUNT(*) FROM (")
        || statement.ends_with("LIMIT 100) AS newest")
        // Such statements are rare, so there is no index for them.
        || statement.ends_with("/* reads all: a person is forgotten */")
}

#[tokio::test]
async fn every_statement_runs_on_sqlite_without_reading_whole_tables() {
    let home = Home::sqlite();
    home.open().await.close().await;
    let mut connection = SqliteConnection::connect(home.url.expose_secret()).await.unwrap();
    for statement in list_statements() {
        let plan = sqlx::query(AssertSqlSafe(format!("EXPLAIN QUERY PLAN {statement}")));
        let steps = plan.fetch_all(&mut connection).await.unwrap_or_else(|error| panic!("{error}: {statement}"));
        for step in steps {
            let step: String = step.get("detail");
            // Plans show aliases, so the allowed scans are listed instead of the forbidden ones.
            let scanned = step.strip_prefix("SCAN ").filter(|table| !table.contains("USING") && *table != "CONSTANT ROW");
            assert!(scanned.is_none_or(|table| SMALL.contains(&table)) || may_scan(&statement), "{step}: {statement}");
        }
    }
}

/// Indexes of which one key has more rows with each month: what is found by one of them must come in its order, or be few for another reason.
const LONG: [&str; 6] = ["work_items_status", "work_items_changed", "memories_told", "memories_learnt", "events_items_at", "inbox_claimed"];

/// Sorts of few rows that are found by a long index, and why they are few.
const SHORT_SORTS: [(&str, &str); 10] = [
    ("status = 'new' ORDER BY rank", "unplanned items"),
    ("status = 'waiting'", "items that wait"),
    ("status = 'blocked'", "items that wait for others"),
    ("status IN ('ready', 'in_progress', 'in_review')", "open items"),
    ("ORDER BY rank, id LIMIT", "open items of one status, by rank"),
    ("CASE urgency", "asked for by a person, and mostly open items"),
    ("events.at >", "what changed since a time"),
    ("events.position >", "what changed since an event"),
    ("claimed_at >= $1 AND claimed_at <= $2", "a period that a person asks for"),
    ("kind IN ('lesson', 'approach', 'conversation')", "what is old enough to be archived, once a day"),
];

#[tokio::test]
async fn no_list_sorts_the_past() {
    let home = Home::sqlite();
    home.open().await.close().await;
    let mut connection = SqliteConnection::connect(home.url.expose_secret()).await.unwrap();
    for statement in list_statements() {
        let plan = sqlx::query(AssertSqlSafe(format!("EXPLAIN QUERY PLAN {statement}"))).fetch_all(&mut connection).await.unwrap();
        let plan: Vec<String> = plan.iter().map(|step| step.get("detail")).collect();
        let sorts = plan.iter().any(|step| step == "USE TEMP B-TREE FOR ORDER BY");
        let reads_many = |step: &String| !step.contains("id=?") && LONG.iter().any(|index| step.contains(&format!("INDEX {index} ")));
        let is_long = plan.iter().any(reads_many);
        if !(sorts && is_long) || statement.ends_with("/* reads all: a person is forgotten */") {
            continue;
        }
        assert!(SHORT_SORTS.iter().any(|(part, _)| statement.contains(part)), "sorts what grows: {plan:?}: {statement}");
    }
}

#[tokio::test]
async fn the_past_of_the_backlog_and_the_memory_is_found_by_an_index_in_its_order() {
    let home = Home::sqlite();
    home.open().await.close().await;
    let mut connection = SqliteConnection::connect(home.url.expose_secret()).await.unwrap();
    for (statement, index) in [
        ("ORDER BY updated_at DESC, id DESC LIMIT $4", "work_items_changed"),
        ("SELECT COUNT(*), COUNT(ended_at)", "memories_lessons"),
        ("SELECT DISTINCT work_items.id, work_items.run FROM events", "events_items_at"),
    ] {
        let statement = list_statements().into_iter().find(|known| known.contains(statement)).expect("the statement");
        let plan = sqlx::query(AssertSqlSafe(format!("EXPLAIN QUERY PLAN {statement}"))).fetch_all(&mut connection).await.unwrap();
        let first: String = plan[0].get("detail");
        let sorts = plan.iter().any(|step| step.get::<String, _>("detail") == "USE TEMP B-TREE FOR ORDER BY");
        assert!(first.contains(index) && !sorts, "{first}: {statement}");
    }
}

#[tokio::test]
async fn every_statement_runs_on_postgresql_without_reading_whole_tables() {
    let Some(home) = Home::postgres().await else { return };
    home.open().await.close().await;
    let mut connection = PgConnection::connect(home.url.expose_secret()).await.unwrap();
    // Empty tables are scanned even with an index, unless scans are disabled. A generic plan does not depend on the values.
    connection.execute("SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan").await.unwrap();
    for statement in list_statements() {
        let prepare = AssertSqlSafe(format!("PREPARE statement AS {statement}"));
        connection.execute(prepare).await.unwrap_or_else(|error| panic!("{error}: {statement}"));
        let values = vec!["NULL"; (1..=40).take_while(|number| statement.contains(&format!("${number}"))).count()];
        let values = if values.is_empty() { String::new() } else { format!("({})", values.join(", ")) };
        let plan = sqlx::raw_sql(AssertSqlSafe(format!("EXPLAIN EXECUTE statement{values}")));
        for step in plan.fetch_all(&mut connection).await.unwrap() {
            let step: String = step.get(0);
            let scans = GROWING.iter().any(|table| step.contains(&format!("Seq Scan on {table} ")));
            assert!(!scans || may_scan(&statement), "{step}: {statement}");
        }
        connection.execute("DEALLOCATE statement").await.unwrap();
    }
}

/// Why a table is kept for good.
const KEPT: [(&str, &str); 34] = [
    ("identities", "one row for each persona"),
    ("identifies", "one row for each login, and logins are limited to a few hundred a day"),
    ("registrations", "one row for each place in which commands are registered"),
    ("channels", "one row for each channel: how far it was heard"),
    ("halts", "ended by a person"),
    ("people", "one row for each person in a channel"),
    ("reminder_dates", "one row for each person"),
    ("reminder_zones", "one row for each person"),
    ("checkin_people", "ended by the person"),
    ("cooldowns", "one row for each pair that talked in a channel"),
    ("notices", "one row for each thing that is told of"),
    ("relationships", "one row for each two personas"),
    ("spending", "what each day cost, by persona: the little that is left of the ledger"),
    ("schedules", "what people wrote down"),
    ("schedule_pauses", "ended by a person"),
    ("considered", "one row for each timetable"),
    ("meetings", "what a standup was, and a few a day"),
    ("seats", "who said what in a meeting: the reports are made of it"),
    ("boards", "what board meetings are held for"),
    ("board_comments", "what their documents rest on"),
    ("reports", "what standups are held for"),
    ("predictions", "how often the team was right is told of all of them"),
    ("ratings", "what a person pressed"),
    ("work_items", "what was to be done, and what came of it"),
    ("work_dependencies", "a part of the items"),
    ("work_subjects", "a few rows for each open item, deleted when it ends"),
    ("memories", "what the team has learnt"),
    ("limit_raises", "what a person allowed"),
    ("kanban_page", "one row"),
    ("amendments", "what personas were told to do differently, and who decided: a few for each"),
    ("reminders", "deleted by its feature, 90 days after it was told, done or cancelled"),
    ("job_workers", "one row for each process"),
    ("jobs", "deleted by the worker, after the time of their kind"),
    ("job_steps", "deleted with their job"),
];

/// Tables whose retention rule belongs to a feature. When that feature is removed, they stay and no longer grow.
const OF_FEATURES: [(&str, &str); 2] = [("checkins", "standup"), ("checkin_replies", "standup")];

fn is_left_behind(table: &str) -> bool {
    let features = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/features");
    OF_FEATURES.iter().any(|(left, feature)| *left == table && !features.join(feature).exists())
}

#[tokio::test]
async fn every_table_has_a_rule_by_which_its_rows_are_deleted_or_says_why_not() {
    let home = Home::sqlite();
    let store = home.open().await;
    let rules = retention_rules(&RetentionSettings::default(), &Workspaces::new("unused".into()));
    let covered: Vec<&str> = rules.iter().flat_map(kernel::jobs::RetentionRule::tables).copied().collect();
    for (table, _) in store.summary().await.unwrap().tables {
        let kept = KEPT.iter().any(|(kept, _)| *kept == table) || is_left_behind(&table);
        assert!(covered.contains(&table.as_str()) != kept, "{table} has no rule and no reason, or both");
    }
    for table in GROWING {
        assert!(covered.contains(&table) || KEPT.iter().any(|(kept, _)| *kept == table) || is_left_behind(table), "{table}");
    }
}

#[tokio::test]
async fn the_summary_counts_every_table() {
    let home = Home::sqlite();
    let store = home.open().await;
    let mut counted: Vec<String> = store.summary().await.unwrap().tables.into_iter().map(|(table, _)| table).collect();
    let mut connection = SqliteConnection::connect(home.url.expose_secret()).await.unwrap();
    // The index of words and the counter of changes belong to the memories and are not counted.
    let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '_sqlx_%'
         AND name NOT LIKE 'memory_words%' AND name <> 'memory_revision' ORDER BY name";
    let tables: Vec<String> = sqlx::query_scalar(tables).fetch_all(&mut connection).await.unwrap();
    counted.sort();
    assert_eq!(counted, tables);
}
