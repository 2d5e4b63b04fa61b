//! Listens for notifications of new jobs from other PostgreSQL processes.

use sqlx::postgres::PgListener;

use super::Jobs;
use crate::db::Backend;
use crate::jobs::store::CHANNEL;

impl Jobs {
    pub(super) async fn listen(self) {
        let inner = &self.inner;
        let Backend::Postgres(pool) = inner.store.0.db().read() else { return };
        let hear = async {
            loop {
                let heard: sqlx::Result<()> = async {
                    let mut listener = PgListener::connect_with(pool).await?;
                    listener.listen(CHANNEL).await?;
                    loop {
                        // None after a broken connection. A notification may have been missed.
                        listener.try_recv().await?;
                        inner.store.0.db().handover().wake.notify_one();
                    }
                }
                .await;
                if let Err(error) = heard {
                    tracing::debug!(%error, "cannot hear of the jobs of other processes");
                }
                inner.clock.sleep(inner.settings.poll).await;
            }
        };
        inner.stop.run_until_cancelled(hear).await;
    }
}
