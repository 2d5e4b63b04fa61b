//! Features' rules delete old rows.

use std::time::Duration;

use kernel::db::{StoreError, sql};
use kernel::jobs::RetentionRule;

use super::stage::{Place, leave_mark, on_all};

on_all!(what_is_old_is_deleted_in_pieces_whatever_becomes_of_other_rules);

/// So many rows that deleting them takes more than two batches.
const MARKS: usize = 450;

fn rules() -> Vec<RetentionRule> {
    let marks = |database: kernel::db::Database, before, limit: u32| {
        let deleting = async move {
            let statement = database.db().write()?;
            sql!(
                statement,
                execute,
                "DELETE FROM notices WHERE key IN (SELECT key FROM notices WHERE at < $1 LIMIT $2)",
                before,
                i64::from(limit)
            )
        };
        Box::pin(deleting) as _
    };
    vec![
        RetentionRule::new("broken", &[], Duration::ZERO, |_, _, _| Box::pin(async { Err(StoreError::Other("a wall".into())) })),
        RetentionRule::new("marks", &["notices"], Duration::from_hours(10), marks),
    ]
}

async fn what_is_old_is_deleted_in_pieces_whatever_becomes_of_other_rules(place: Place) {
    let stage = place.deleting_by(rules).start([]).await;
    let mut transaction = stage.begin().await;
    for mark in 0..MARKS {
        leave_mark(&mut transaction, &mark.to_string()).await.unwrap();
    }
    transaction.commit().await.unwrap();
    let left = async || {
        let (left,): (i64,) = sql!(stage.database().db().read(), fetch_one, "SELECT COUNT(*) FROM notices").unwrap();
        usize::try_from(left).unwrap()
    };
    stage.tick(Duration::from_hours(9)).await;
    stage.tick(Duration::from_secs(5)).await;
    assert_eq!(left().await, MARKS, "they are not old yet");
    stage
        .eventually("all that is old is gone", async || {
            stage.tick(Duration::from_hours(1)).await;
            left().await == 0
        })
        .await;
}
