//! The Day Report as a file, where people and other programs look for it: `reports/YYYY-MM-DD.md`, and the same as JSON.
//!
//! No durable job writes it. The process that closes the standup does, after the report is stored. If it dies before that, the next start finds that
//! the file is missing, and writes it.

use std::path::{Path, PathBuf};

use crate::features::standup::model::report::DayReport;
use crate::features::standup::{Standup, render};

/// How many reports are looked at after a start, for files that a crash left unwritten.
const RECENT: u32 = 10;

impl Standup {
    /// Writes the files of a report. What fails is logged: the report itself stands in the store and is written at the next start.
    pub(super) async fn write_file(&self, report: &DayReport) {
        let (dir, name) = (&self.deps.reports, self.file_name(report).await);
        let json = serde_json::to_string_pretty(report).expect("a report is plain data");
        for (extension, text) in [("md", render::render_report_markdown(report)), ("json", json)] {
            let path = dir.join(format!("{name}.{extension}"));
            // A file does not leave through the outbox, which takes secrets out of everything else.
            let (text, _) = self.deps.agents.runner.redactor.redact(&text);
            if let Err(error) = write_whole(&path, text.as_bytes()).await {
                tracing::warn!(path = %path.display(), %error, "the Day Report could not be written; it stands in the store");
            }
        }
    }

    /// Writes what an earlier process stored and did not come to write. Called once at the start.
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

    /// The day; with the channel's id behind it where another channel had its report of that day before.
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

/// A channel's id as a part of a file's name. Names of channels come from people, and two may be alike.
fn slug(name: &str) -> String {
    let slug: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-' || *c == '_').take(60).collect();
    if slug.is_empty() { "other".into() } else { slug }
}

/// Readers see the old file or the new one, never half of one.
async fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(dir) = path.parent() {
        tokio::fs::create_dir_all(dir).await?;
    }
    let mut beside: PathBuf = path.to_owned();
    beside.as_mut_os_string().push(".new");
    tokio::fs::write(&beside, bytes).await?;
    tokio::fs::rename(&beside, path).await
}
