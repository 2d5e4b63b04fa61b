//! The Day Report as files for people and other programs: `reports/YYYY-MM-DD.md`, and the same as JSON.
//!
//! The process that closes the standup writes the files after the report is stored, without a durable job. If it dies before that, the next start
//! writes the missing files.

use std::path::{Path, PathBuf};

use crate::features::standup::model::report::DayReport;
use crate::features::standup::{Standup, render};

/// How many reports are checked at the start for files that a crash left unwritten.
const RECENT: u32 = 10;

impl Standup {
    /// Writes the files of a report. Errors are only logged, because the report is in the store and the next start writes its files.
    pub(super) async fn write_file(&self, report: &DayReport) {
        let (dir, name) = (&self.deps.reports, self.file_name(report).await);
        let json = serde_json::to_string_pretty(report).expect("a report is plain data");
        for (extension, text) in [("md", render::render_report_markdown(report)), ("json", json)] {
            let path = dir.join(format!("{name}.{extension}"));
            // Files do not go through the outbox, which redacts secrets in messages.
            let (text, _) = self.deps.agents.runner.redactor.redact(&text);
            if let Err(error) = write_whole(&path, text.as_bytes()).await {
                tracing::warn!(path = %path.display(), %error, "the Day Report could not be written; it stands in the store");
            }
        }
    }

    /// Writes the files that an earlier process did not write after it stored the report. Called once at the start.
    pub async fn write_missing_file(&self) {
        let reports = match self.deps.store.list_reports(RECENT).await {
            Ok(reports) => reports,
            Err(error) => return tracing::warn!(%error, "cannot look for reports whose files are missing"),
        };
        for stored in reports {
            let path = self.deps.reports.join(format!("{}.json", self.file_name(&stored.report).await));
            let written = tokio::fs::read(&path).await.ok().and_then(|bytes| serde_json::from_slice::<DayReport>(&bytes).ok());
            if written.is_none_or(|written| written.revision < stored.report.revision) {
                self.write_file(&stored.report).await;
            }
        }
    }

    /// The file's name: the day, followed by the channel's id if another channel had the first report of that day.
    async fn file_name(&self, report: &DayReport) -> String {
        let reports = self.deps.store.list_reports(RECENT).await.unwrap_or_default();
        let same_day = reports.iter().filter(|other| other.report.day == report.day);
        let first = same_day.min_by_key(|other| other.created_at).map(|other| &other.report.channel);
        match first {
            Some(first) if *first != report.channel => format!("{}-{}", report.day, slug(report.channel.as_str())),
            _ => report.day.to_string(),
        }
    }
}

/// A channel's id as a part of a file's name. Channel names are not used, because people choose them and two may be alike.
fn slug(name: &str) -> String {
    let slug: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-' || *c == '_').take(60).collect();
    if slug.is_empty() { "other".into() } else { slug }
}

/// Replaces the file as a whole, so that readers never see half of one.
async fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(dir) = path.parent() {
        tokio::fs::create_dir_all(dir).await?;
    }
    let mut beside: PathBuf = path.to_owned();
    beside.as_mut_os_string().push(".new");
    tokio::fs::write(&beside, bytes).await?;
    tokio::fs::rename(&beside, path).await
}
