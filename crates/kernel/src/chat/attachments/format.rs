//! What a file is, by its first bytes. Names lie: an export called `.xls` is often a page, and a build log has no ending at all.

use super::Media;

/// A format that is no text: how people call it, and what to send instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    pub name: &'static str,
    pub remedy: &'static str,
    pub media: Option<Media>,
}

/// How many bytes are looked at to see whether a file begins as text.
const HEAD: usize = 512;

const FILES: &str = "Please send the files in it.";
const PACKED: &str = "Please send the file in it.";
const SOURCE: &str = "Please send its source code, or what it prints.";
const EXPORT: &str = "Please export what matters as CSV.";
const AS_DOCX: &str = "Please save it as .docx, .xlsx, .pptx or PDF.";
const AS_PICTURE: &str = "Please send it as PNG or JPEG, with that ending.";
const AS_SOUND: &str = "Please send it with the ending of its format, such as .mp3 or .ogg.";
const IN_WORDS: &str = "Please write what matters in it.";

/// A position, the bytes there, the name, the remedy.
type Known = (usize, &'static [u8], &'static str, &'static str, Option<Media>);

/// Formats by the bytes that they have at a position.
#[rustfmt::skip] // One format a line.
const KNOWN: &[Known] = &[
    (0, b"PK\x03\x04", "a ZIP archive", FILES, None),
    (0, b"PK\x05\x06", "an empty ZIP archive", FILES, None),
    (0, b"\x1F\x8B", "a packed file (gzip)", PACKED, None),
    (0, b"BZh", "a packed file (bzip2)", PACKED, None),
    (0, b"\xFD7zXZ\0", "a packed file (xz)", PACKED, None),
    (0, b"\x28\xB5\x2F\xFD", "a packed file (Zstandard)", PACKED, None),
    (0, b"\x04\x22\x4D\x18", "a packed file (LZ4)", PACKED, None),
    (0, b"7z\xBC\xAF\x27\x1C", "a 7-Zip archive", FILES, None),
    (0, b"Rar!\x1A\x07", "a RAR archive", FILES, None),
    (257, b"ustar", "a tar archive", FILES, None),
    (0, b"\x7FELF", "a program for Linux", SOURCE, None),
    (0, b"MZ", "a program for Windows", SOURCE, None),
    (0, b"\xCF\xFA\xED\xFE", "a program for macOS", SOURCE, None),
    (0, b"\xCA\xFE\xBA\xBE", "a compiled program (Java or macOS)", SOURCE, None),
    (0, b"\0asm", "a program (WebAssembly)", SOURCE, None),
    (0, b"SQLite format 3\0", "a database (SQLite)", EXPORT, None),
    (0, b"PAR1", "a table of data (Parquet)", EXPORT, None),
    (0, b"ARROW1", "a table of data (Arrow)", EXPORT, None),
    (0, b"\x89HDF\r\n\x1A\n", "a file of data (HDF5)", EXPORT, None),
    (0, b"\x93NUMPY", "a file of data (NumPy)", EXPORT, None),
    (0, b"\xD0\xCF\x11\xE0", "a file of an old Office program (Word, Excel, PowerPoint or Outlook)", AS_DOCX, None),
    (0, b"8BPS", "a Photoshop picture", AS_PICTURE, Some(Media::Picture)),
    (0, b"\x89PNG", "a PNG picture", AS_PICTURE, Some(Media::Picture)),
    (0, b"\xFF\xD8\xFF", "a JPEG picture", AS_PICTURE, Some(Media::Picture)),
    (0, b"GIF8", "a GIF picture", AS_PICTURE, Some(Media::Picture)),
    (8, b"WEBP", "a WebP picture", AS_PICTURE, Some(Media::Picture)),
    (0, b"II*\0", "a TIFF picture", AS_PICTURE, Some(Media::Picture)),
    (0, b"MM\0*", "a TIFF picture", AS_PICTURE, Some(Media::Picture)),
    (0, b"\0\0\x01\0", "an icon", AS_PICTURE, Some(Media::Picture)),
    (0, b"BM", "a BMP picture", AS_PICTURE, Some(Media::Picture)),
    (0, b"\0\0\0\x0CJXL ", "a JPEG XL picture", AS_PICTURE, Some(Media::Picture)),
    (0, b"\xFF\x0A", "a JPEG XL picture", AS_PICTURE, Some(Media::Picture)),
    (0, b"ID3", "a sound file (MP3)", AS_SOUND, Some(Media::Sound)),
    (0, b"\xFF\xFB", "a sound file (MP3)", AS_SOUND, Some(Media::Sound)),
    (0, b"\xFF\xF3", "a sound file (MP3)", AS_SOUND, Some(Media::Sound)),
    (0, b"OggS", "a sound file (Ogg)", AS_SOUND, Some(Media::Sound)),
    (0, b"fLaC", "a sound file (FLAC)", AS_SOUND, Some(Media::Sound)),
    (8, b"WAVE", "a sound file (WAV)", AS_SOUND, Some(Media::Sound)),
    (0, b"MThd", "music (MIDI)", IN_WORDS, Some(Media::Sound)),
    (8, b"AVI ", "a video (AVI)", IN_WORDS, Some(Media::Video)),
    (0, b"\x1A\x45\xDF\xA3", "a video (WebM or Matroska)", IN_WORDS, Some(Media::Video)),
    (0, b"OTTO", "a font", IN_WORDS, None),
    (0, b"\0\x01\0\0\0", "a font", IN_WORDS, None),
    (0, b"wOF", "a font", IN_WORDS, None),
    (0, b"\x30\x82", "a certificate or key", IN_WORDS, None),
];

impl Format {
    /// The format of a file that is no text. None: unknown, or it begins as text.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let head = &bytes[..bytes.len().min(HEAD)];
        if head.iter().all(|byte| *byte >= b' ' || byte.is_ascii_whitespace()) && std::str::from_utf8(head).is_ok() {
            return None;
        }
        of_box(bytes).or_else(|| of_archive(bytes)).or_else(|| {
            let found = KNOWN.iter().find(|(at, magic, ..)| bytes.get(*at..).is_some_and(|rest| rest.starts_with(magic)));
            found.map(|(_, _, name, remedy, media)| Self { name, remedy, media: *media })
        })
    }
}

/// Files of boxes, which name their brand first: pictures of phones, sound and videos.
fn of_box(bytes: &[u8]) -> Option<Format> {
    if bytes.get(4..8) != Some(b"ftyp") {
        return None;
    }
    // The first box holds the brand and those that it is compatible with.
    let brands = bytes[8..bytes.len().min(64)].chunks_exact(4);
    let has = |wanted: &[&[u8]]| brands.clone().any(|brand| wanted.contains(&brand));
    let (name, remedy, media) = match () {
        () if has(&[b"avif", b"avis"]) => ("an AVIF picture", AS_PICTURE, Media::Picture),
        () if has(&[b"heic", b"heix", b"hevc", b"heim", b"mif1", b"msf1"]) => ("a HEIC picture", AS_PICTURE, Media::Picture),
        () if has(&[b"M4A ", b"M4B "]) => ("a sound file (M4A)", AS_SOUND, Media::Sound),
        () if has(&[b"qt  "]) => ("a video (QuickTime)", IN_WORDS, Media::Video),
        () => ("a video (MP4)", IN_WORDS, Media::Video),
    };
    Some(Format { name, remedy, media: Some(media) })
}

/// Formats that are ZIP archives, by a name in them. Names in an archive are not packed.
const ARCHIVES: [(&[u8], &str, &str); 5] = [
    (b"application/epub+zip", "an e-book (EPUB)", "Please send it as PDF."),
    (b"xl/workbook.bin", "a binary Excel file", "Please save it as .xlsx."),
    (b"Index/Document.iwa", "a file of Pages, Numbers or Keynote", "Please export it as PDF or for Microsoft Office."),
    (b"AndroidManifest.xml", "an app for Android", SOURCE),
    (b"META-INF/MANIFEST.MF", "a Java program", SOURCE),
];

fn of_archive(bytes: &[u8]) -> Option<Format> {
    let has = |name: &[u8]| bytes.windows(name.len()).any(|window| window == name);
    let found = ARCHIVES.iter().find(|(mark, ..)| bytes.starts_with(b"PK\x03\x04") && has(mark))?;
    Some(Format { name: found.1, remedy: found.2, media: None })
}
