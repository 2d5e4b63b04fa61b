//! Workspaces of items that ended long ago. What items made is kept as artefacts.

use std::time::Duration;

use crate::store::Store;
use kernel::db::StoreError;
use kernel::jobs::RetentionRule;
use kernel::tools::workspace::Workspaces;

/// Removes the workspaces of items that ended this long ago. No transaction is open meanwhile. If the process dies, the rest of a removed workspace is
/// deleted by the next round; an item that is taken up again just then begins with an empty workspace.
pub fn retention(workspaces: &Workspaces, kept: Duration) -> RetentionRule {
    let workspaces = workspaces.clone();
    RetentionRule::new("workspaces", &[], kept, move |database, before, limit| {
        let workspaces = workspaces.clone();
        Box::pin(async move {
            let store = Store::from(database);
            workspaces.clear_removed().await.map_err(|error| failed(&error))?;
            let mut removed = 0;
            for item in workspaces.list_items().await.map_err(|error| failed(&error))? {
                // Items of another database are not known here.
                if removed < u64::from(limit) && store.is_long_over(&item, before).await? {
                    workspaces.remove(&item).await.map_err(|error| failed(&error))?;
                    removed += 1;
                }
            }
            Ok(removed)
        })
    })
}

fn failed(error: &std::io::Error) -> StoreError {
    StoreError::Other(format!("the workspaces cannot be removed: {error}"))
}
