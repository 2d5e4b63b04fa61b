//! Databases with the current schema, copied from one that is migrated once per test process. Migrating each would dominate short tests.

use std::io::Write as _;
use std::path::Path;
use std::sync::OnceLock;

use kernel::time::{Clock as _, SystemClock};
use teamroom::store::Store;
use tokio::sync::OnceCell;

use super::postgres;
use super::stores::Backing;

/// The address of a new database for a run with this platform, of which the test runner counts how many there were.
pub(crate) async fn on(backing: Backing, file: &Path, platform: &str) -> String {
    if let Some(runs) = std::env::var_os("TEAMROOM_TEST_RUNS") {
        let mut runs = std::fs::OpenOptions::new().create(true).append(true).open(runs).expect("the list of runs opens");
        // One write, because other tests write to the same file.
        runs.write_all(format!("{backing:?}, {platform}\n").as_bytes()).expect("the run is noted");
    }
    match backing {
        Backing::Sqlite => sqlite(file),
        Backing::Postgres => postgres().await.expect("a database"),
    }
}

/// Creates a database file. Returns its address.
pub(crate) fn sqlite(file: &Path) -> String {
    static TEMPLATE: OnceLock<Vec<u8>> = OnceLock::new();
    // The first caller migrates the template on a separate thread, because this is called within runtimes. Others wait.
    let template = TEMPLATE.get_or_init(|| std::thread::spawn(migrate_sqlite).join().expect("migrating does not panic"));
    file.parent().map(std::fs::create_dir_all).transpose().expect("its directory is there");
    std::fs::write(file, template).expect("the copy is written");
    format!("sqlite:{}", file.display())
}

#[tokio::main(flavor = "current_thread")]
async fn migrate_sqlite() -> Vec<u8> {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("template.db");
    migrate(format!("sqlite:{}", file.display())).await;
    let log = file.with_extension("db-wal");
    assert!(!log.exists(), "closing moves the log into the file");
    std::fs::read(file).expect("the template is read")
}

/// The address of a new database. None, with a reported skip, without a server.
pub(crate) async fn postgres() -> Option<String> {
    static TEMPLATE: OnceCell<()> = OnceCell::const_new();
    const NAME: &str = "template_migrated";
    if !postgres::is_there().await {
        return None;
    }
    TEMPLATE.get_or_init(async || migrate(postgres::create(NAME, None).await).await).await;
    Some(postgres::copy(NAME).await)
}

async fn migrate(url: String) {
    Store::open(&url.into(), SystemClock.now()).await.expect("the template is migrated").close().await;
}
