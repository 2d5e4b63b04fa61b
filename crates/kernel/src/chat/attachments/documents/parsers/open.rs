//! The documents of `LibreOffice`.

use std::time::Instant;

use super::archive::Archive;
use super::dialects::Open;
use super::{Read, Unreadable, tidy};

pub(super) fn read_open_document(bytes: &[u8], until: Instant) -> Result<Read, Unreadable> {
    let mut archive = Archive::open(bytes, until)?;
    let manifest = archive.read("META-INF/manifest.xml")?.unwrap_or_default();
    if String::from_utf8_lossy(&manifest).contains("encryption-data") {
        return Err(Unreadable::Protected);
    }
    let text = archive.walk("content.xml", &mut Open::default())?;
    Ok(Read { text: tidy(&text), ..Read::default() })
}
