//! Whether the team may write where it keeps its files, before it starts.

use std::io;
use std::path::Path;

use anyhow::Context as _;

/// Checks the folder of the team's data and that of its reports, if they are there.
///
/// # Errors
/// One of them cannot be written. With its path, its owner and what to do.
pub(super) fn check(data: &Path) -> anyhow::Result<()> {
    for folder in [data.to_path_buf(), data.join("reports")] {
        if folder.exists() {
            try_write(&folder).with_context(|| describe(&folder))?;
        }
    }
    Ok(())
}

fn try_write(folder: &Path) -> io::Result<()> {
    let file = folder.join(format!(".teamroom-{}", std::process::id()));
    std::fs::File::create(&file)?;
    std::fs::remove_file(file)
}

fn describe(folder: &Path) -> String {
    let place = folder.display();
    match owners(folder) {
        Some((owner, own)) if owner != own => format!(
            "the folder {place} belongs to user {owner}, and this process is user {own}, so it cannot write there; run `chown -R {own} {place}`, or run the team as user {owner}"
        ),
        _ => format!("the folder {place} cannot be written; make it writable for this user"),
    }
}

/// The ids of the users whom the folder and this process belong to. None on systems without them.
#[cfg(unix)]
fn owners(folder: &Path) -> Option<(u32, u32)> {
    use std::os::unix::fs::MetadataExt as _;
    Some((std::fs::metadata(folder).ok()?.uid(), std::fs::metadata("/proc/self").ok()?.uid()))
}

#[cfg(not(unix))]
fn owners(_folder: &Path) -> Option<(u32, u32)> {
    None
}
