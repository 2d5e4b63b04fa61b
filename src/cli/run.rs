//! `teamroom run`: the team on Discord.

use std::sync::Arc;
use std::time::Duration;

use crate::app;
use crate::app::{Reload, Setting, telemetry};
use crate::cli::{Globals, folders, setting};
use kernel::time::SystemClock;

/// How long to wait for identities before the missing ones are reported. They continue to connect.
const PATIENCE: Duration = Duration::from_mins(1);

pub(super) async fn run(globals: &Globals) -> anyhow::Result<()> {
    let config = setting::read_team_config(globals)?;
    folders::check(&config.data)?;
    let roster = setting::read_roster(&config)?;
    let _telemetry = telemetry::start(&config.server, None)?;
    let setting = Setting { config, roster, clock: Arc::new(SystemClock) };
    let reload = Reload::new(
        setting.clone(),
        setting::list_files(globals.config.as_deref())?,
        Box::new(|| {
            let config = setting::read_team_config(globals)?;
            let roster = setting::reload_roster(&config)?;
            Ok(Setting { config, roster, clock: Arc::new(SystemClock) })
        }),
    );
    let reload = reload.on_hangup();
    let Some(app) = app::start_or_stand_by(setting).await? else { return Ok(()) };
    if let Some(http) = app.http {
        tracing::info!("health, metrics and the backlog on http://{http}: /healthz, /metrics, /backlog");
    }
    app.run_reloading(reload, PATIENCE).await
}
