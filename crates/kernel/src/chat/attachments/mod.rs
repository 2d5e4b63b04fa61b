//! Attachments as text: which are read (CHAT-26), how bytes are decoded, and how text and files are joined (CHAT-27).
//!
//! A file is what its bytes say: text is decoded, PDF and office documents are read by `documents`, and everything else is refused by its [`Format`].
//! Pictures and recordings are only named here: models see and hear them. Their names say which they are, and how much is downloaded. A name never
//! becomes a path.

mod documents;
mod format;

use std::path::Path;
use std::time::{Duration, Instant};

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

use crate::chat::message::Attachment;
use crate::text::is_invisible;
pub use documents::{Document, Unreadable};
pub use format::Format;

/// The most files read per message (CHAT-26).
pub const MAX_FILES: usize = 10;
/// The size limit of one file.
pub const MAX_FILE_BYTES: u64 = 1024 * 1024;
/// The size limit of all files of a message.
pub const MAX_TOTAL_BYTES: u64 = 2 * 1024 * 1024;
/// The size limits of a PDF or office document, and of all such documents of a message. Such documents also contain pictures and fonts. No more text
/// is kept of them than of a text file.
pub const MAX_DOCUMENT_BYTES: u64 = 8 * 1024 * 1024;
pub const MAX_TOTAL_DOCUMENT_BYTES: u64 = 16 * 1024 * 1024;
/// The size limit of a picture, and of all pictures that a model is shown. Providers take no larger ones.
pub const MAX_PICTURE_BYTES: u64 = 3 * 1024 * 1024 + 512 * 1024;
pub const MAX_SHOWN_BYTES: usize = 8 * 1024 * 1024;
/// The size limit of a recording: more than half an hour of a voice message.
pub const MAX_RECORDING_BYTES: u64 = 8 * 1024 * 1024;
/// The most recordings of a message that are transcribed.
const MAX_RECORDINGS: usize = 3;
/// The most pictures that a model is shown.
pub const MAX_SHOWN: usize = 4;
/// How long reading a document may take.
const DOCUMENT_TIME: Duration = Duration::from_secs(10);
/// The name that Discord's client gives to a pasted text that was too long.
const LONG_PASTE: &str = "message.txt";
/// The longest file name shown.
const MAX_NAME: usize = 80;

/// Why a file is not read, as a sentence for its sender.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("{name} is too large: {} of at most {}. Please send only the part that matters.", in_words(*size), in_words(*limit))]
    TooLarge { name: String, size: u64, limit: u64 },
    #[error(
        "{name} is one file too many. I can read {MAX_FILES} files and {} per message. Please send the rest in another message.",
        in_words(MAX_TOTAL_BYTES)
    )]
    TooMuch { name: String },
    #[error("{name} is not a text file, so I skipped it.")]
    Binary { name: String },
    #[error("I can't read {name}: {why}.")]
    Document { name: String, why: Unreadable },
    #[error("{name} is {}, which I can't read. {}", format.name, format.remedy)]
    Format { name: String, format: Format },
    #[error("{name} is empty.")]
    Empty { name: String },
    #[error("{name} is {format} ({}), which I can't read. Please send it as JPEG or PNG.", in_words(*size))]
    PictureFormat { name: String, format: &'static str, size: u64 },
    #[error("{name} is too large for a picture: {} of at most {}. Please send a smaller one as JPEG or PNG.", in_words(*size), in_words(MAX_PICTURE_BYTES))]
    LargePicture { name: String, size: u64 },
    #[error("{name} ({}) is damaged or no picture. Please send it again as JPEG or PNG.", in_words(*size))]
    NoPicture { name: String, size: u64 },
    #[error("{}, so I skipped {name}.", media.cannot())]
    Media { media: Media, name: String },
}

/// Pictures, sound and videos, by the ending of their name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Media {
    Picture,
    VoiceMessage,
    Sound,
    Video,
}

impl Media {
    pub fn of(name: &str) -> Option<Self> {
        match ending_of(name)?.as_str() {
            "png" | "jpg" | "jpeg" | "jpe" | "jfif" | "gif" | "webp" | "bmp" | "ico" | "heic" | "heif" | "avif" | "tif" | "tiff" => {
                Some(Self::Picture)
            }
            // The names that Discord's and Slack's clients give to recorded messages.
            "ogg" | "m4a" if ["voice-message", "audio_message"].iter().any(|known| name.starts_with(known)) => Some(Self::VoiceMessage),
            "mp3" | "ogg" | "wav" | "flac" | "m4a" | "opus" => Some(Self::Sound),
            "mp4" | "mov" | "webm" | "mkv" => Some(Self::Video),
            _ => None,
        }
    }

    pub fn is_sound(self) -> bool {
        matches!(self, Self::VoiceMessage | Self::Sound)
    }

    /// The words for the file, and for a file that no model has seen or heard: `a picture`, `not seen`.
    pub fn describe(self) -> (&'static str, &'static str) {
        match self {
            Self::Picture => ("a picture", "not seen"),
            Self::VoiceMessage => ("a voice message", "not heard"),
            Self::Sound => ("a sound file", "not heard"),
            Self::Video => ("a video", "not seen"),
        }
    }

    fn cannot(self) -> &'static str {
        match self {
            Self::Picture => "I can't see pictures yet",
            Self::VoiceMessage => "I can't listen to voice messages yet",
            Self::Sound => "I can't listen to sound files yet",
            Self::Video => "I can't watch videos yet",
        }
    }
}

/// The pictures of a message for models that see, each with the reason if it is refused before its download.
pub fn select_pictures(attachments: &[Attachment]) -> Vec<(&Attachment, Result<(), Refusal>)> {
    let pictures = attachments.iter().filter(|attachment| Media::of(&attachment.name) == Some(Media::Picture));
    let size = |attachment: &Attachment| match attachment.size {
        size if size > MAX_PICTURE_BYTES => Err(Refusal::LargePicture { name: display_name(&attachment.name), size }),
        _ => Ok(()),
    };
    pictures.take(MAX_FILES).map(|attachment| (attachment, size(attachment))).collect()
}

/// The recordings of a message for a model that hears, each with the reason if it is refused.
pub fn select_recordings(attachments: &[Attachment]) -> Vec<(&Attachment, Result<(), Refusal>)> {
    let recordings = attachments.iter().filter(|attachment| Media::of(&attachment.name).is_some_and(Media::is_sound));
    let size = |attachment: &Attachment| match attachment.size {
        size if size > MAX_RECORDING_BYTES => {
            Err(Refusal::TooLarge { name: display_name(&attachment.name), size, limit: MAX_RECORDING_BYTES })
        }
        _ => Ok(()),
    };
    recordings.take(MAX_RECORDINGS).map(|attachment| (attachment, size(attachment))).collect()
}

/// The type of a picture that models take, detected by its first bytes.
pub fn picture_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xFF, 0xD8, 0xFF, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// Checks that models take these bytes as a picture.
///
/// # Errors
/// Why they do not, as a sentence for the person.
pub fn read_picture(bytes: &[u8], attachment: &Attachment) -> Result<(), Refusal> {
    let (name, size) = (display_name(&attachment.name), bytes.len() as u64);
    match picture_type(bytes) {
        _ if bytes.is_empty() => Err(Refusal::Empty { name }),
        _ if size > MAX_PICTURE_BYTES => Err(Refusal::LargePicture { name, size }),
        Some(media_type) if is_complete(bytes, media_type) => Ok(()),
        Some(_) => Err(Refusal::NoPicture { name, size }),
        None => match Format::of(bytes) {
            Some(Format { name: format, media: Some(Media::Picture), .. }) => Err(Refusal::PictureFormat { name, format, size }),
            _ => Err(Refusal::NoPicture { name, size }),
        },
    }
}

/// Whether a picture has its end. Providers refuse those that were cut off, and some cameras write more behind the end.
fn is_complete(bytes: &[u8], media_type: &str) -> bool {
    let has = |end: &[u8]| bytes.windows(end.len()).rev().any(|window| window == end);
    match (media_type, bytes) {
        ("image/png", _) => has(b"IEND\xAE\x42\x60\x82"),
        ("image/jpeg", _) => has(b"\xFF\xD9"),
        ("image/gif", _) => has(b";"),
        // The length of what follows it stands in the header.
        (_, [_, _, _, _, a, b, c, d, rest @ ..]) => rest.len() as u64 >= u64::from(u32::from_le_bytes([*a, *b, *c, *d])),
        _ => false,
    }
}

/// The note on a stored picture that no model can see.
pub fn unseen(name: &str) -> String {
    Refusal::Media { media: Media::Picture, name: name.to_owned() }.to_string()
}

/// Checks before download, from the announced name and size.
///
/// # Errors
/// The refusal, as a sentence for the person.
pub fn accept(attachment: &Attachment) -> Result<(), Refusal> {
    let name = display_name(&attachment.name);
    match Media::of(&attachment.name) {
        Some(media) => Err(Refusal::Media { media, name }),
        None if attachment.size > MAX_DOCUMENT_BYTES => {
            let is_document = Document::of(&attachment.name).is_some();
            let limit = if is_document { MAX_DOCUMENT_BYTES } else { MAX_FILE_BYTES };
            Err(Refusal::TooLarge { name, size: attachment.size, limit })
        }
        None => Ok(()),
    }
}

/// The most bytes of a file that are downloaded. Text has a lower limit, but whether it is text is only known then.
pub fn limit_of(attachment: &Attachment) -> u64 {
    match Media::of(&attachment.name) {
        Some(Media::Picture) => MAX_PICTURE_BYTES,
        Some(media) if media.is_sound() => MAX_RECORDING_BYTES,
        _ => MAX_DOCUMENT_BYTES,
    }
}

/// The files to download, in order, and the others with why they are refused.
pub fn select(attachments: &[Attachment]) -> (Vec<&Attachment>, Vec<(&Attachment, Refusal)>) {
    let (mut accepted, mut refused) = (Vec::new(), Vec::new());
    let (mut texts, mut documents) = (0_u64, 0_u64);
    for attachment in attachments {
        let is_document = attachment.size > MAX_FILE_BYTES || Document::of(&attachment.name).is_some();
        let (total, limit) = if is_document { (&mut documents, MAX_TOTAL_DOCUMENT_BYTES) } else { (&mut texts, MAX_TOTAL_BYTES) };
        match accept(attachment) {
            Err(refusal) => refused.push((attachment, refusal)),
            Ok(()) if accepted.len() == MAX_FILES || *total + attachment.size > limit => {
                refused.push((attachment, Refusal::TooMuch { name: display_name(&attachment.name) }));
            }
            Ok(()) => {
                *total += attachment.size;
                accepted.push(attachment);
            }
        }
    }
    (accepted, refused)
}

/// The ending of a name in small letters, without its dot.
fn ending_of(name: &str) -> Option<String> {
    name.rsplit_once('.').map(|(_, ending)| ending.trim().to_ascii_lowercase())
}

/// Whether Discord's client made this file from a pasted text that was too long. It counts as message text.
pub fn is_long_paste(attachment: &Attachment) -> bool {
    attachment.name == LONG_PASTE
}

/// Whether the text of a file with this name is appended to its message: a long paste or a recording.
pub fn is_appended(name: &str) -> bool {
    name == LONG_PASTE || Media::of(name).is_some_and(Media::is_sound)
}

/// What a person typed of a message, without the texts of files that were appended to it. Only their names say what these files are, so their texts
/// may be anybody's.
pub fn typed<'t>(message: &'t str, appended: &[String]) -> &'t str {
    let mut typed = message.trim();
    let before = |typed: &'t str, text: &str| {
        let rest = typed.strip_suffix(text).filter(|rest| !text.is_empty() && (rest.is_empty() || rest.ends_with(char::is_whitespace)))?;
        Some(rest.trim_end())
    };
    while let Some(rest) = appended.iter().find_map(|text| before(typed, text.trim())) {
        typed = rest;
    }
    typed
}

/// The text of a file, and a note if it is not all of it. A document blocks its thread for up to [`DOCUMENT_TIME`].
///
/// # Errors
/// Why there is no text, as a sentence for the person.
pub fn read(bytes: &[u8], attachment: &Attachment) -> Result<(String, Option<String>), Refusal> {
    let name = display_name(&attachment.name);
    if bytes.is_empty() {
        return Err(Refusal::Empty { name });
    }
    if let Some(document) = documents::recognise(bytes, &attachment.name) {
        return read_document(bytes, document, name);
    }
    decode(bytes, attachment).map(|text| (text, None)).map_err(|refusal| match Format::of(bytes) {
        Some(format) => Refusal::Format { name, format },
        None if Document::of(&attachment.name).is_some() => Refusal::Document { name, why: Unreadable::Damaged },
        None => refusal,
    })
}

/// Whether reading these bytes may take long.
pub fn is_document(bytes: &[u8], attachment: &Attachment) -> bool {
    documents::recognise(bytes, &attachment.name).is_some()
}

fn read_document(bytes: &[u8], document: Document, name: String) -> Result<(String, Option<String>), Refusal> {
    if bytes.len() as u64 > MAX_DOCUMENT_BYTES {
        return Err(Refusal::TooLarge { name, size: bytes.len() as u64, limit: MAX_DOCUMENT_BYTES });
    }
    match documents::read(bytes, document, Instant::now() + DOCUMENT_TIME) {
        Ok(read) => {
            let note = match read.pages {
                Some((shown, all)) => Some(format!("I read only the first {shown} of {all} pages of {name}.")),
                None => read.is_cut.then(|| format!("I read only the first 1 MiB of the text of {name}.")),
            };
            Ok((read.text, note))
        }
        Err(why) => Err(Refusal::Document { name, why }),
    }
}

/// Decodes a file: by its byte order mark, as UTF-8, or by a detected encoding.
///
/// # Errors
/// [`Refusal::Binary`] if it is not text, [`Refusal::TooLarge`] if it is larger than announced.
pub fn decode(bytes: &[u8], attachment: &Attachment) -> Result<String, Refusal> {
    let name = || display_name(&attachment.name);
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(Refusal::TooLarge { name: name(), size: bytes.len() as u64, limit: MAX_FILE_BYTES });
    }
    let text = match Encoding::for_bom(bytes) {
        Some((encoding, mark)) => decode_as(encoding, &bytes[mark..]),
        // Only UTF-16 text has zero bytes. Most binary formats have them too.
        None if bytes.contains(&0) => guess_utf_16(bytes).and_then(|encoding| decode_as(encoding, bytes)),
        None => std::str::from_utf8(bytes).map(str::to_owned).ok().or_else(|| decode_as(guess_encoding(bytes), bytes)),
    };
    text.filter(|text| !has_binary_characters(text)).map(|text| text.replace("\r\n", "\n")).ok_or_else(|| Refusal::Binary { name: name() })
}

fn decode_as(encoding: &'static Encoding, bytes: &[u8]) -> Option<String> {
    encoding.decode_without_bom_handling_and_without_replacement(bytes).map(Into::into)
}

fn guess_encoding(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    detector.guess(None, Utf8Detection::Deny)
}

/// UTF-16 without a byte order mark: in western text nearly every second byte is zero, always on the same side.
fn guess_utf_16(bytes: &[u8]) -> Option<&'static Encoding> {
    let pairs = bytes.chunks_exact(2);
    if bytes.len() < 4 || !pairs.remainder().is_empty() {
        return None;
    }
    let (mut first, mut second, mut all) = (0, 0, 0);
    for pair in pairs {
        first += usize::from(pair[0] == 0);
        second += usize::from(pair[1] == 0);
        all += 1;
    }
    match (first, second) {
        (0, zeros) if zeros * 2 > all => Some(UTF_16LE),
        (zeros, 0) if zeros * 2 > all => Some(UTF_16BE),
        _ => None,
    }
}

/// Control characters that do not occur in text. A few escapes are allowed, as in logs.
fn has_binary_characters(text: &str) -> bool {
    let odd = text.chars().filter(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\u{000C}' | '\u{001B}' | '\u{0085}')).count();
    text.contains('\0') || odd * 100 > text.len()
}

/// A file name that is safe to display: the last path component, without invisible characters and Markdown, shortened. Never empty.
pub fn display_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let safe = last.chars().filter(|c| !is_invisible(*c) && !matches!(c, '\n' | '\t' | '`' | '*' | '<' | '>' | '|' | '#' | '@' | '"'));
    let safe: String = safe.collect();
    let safe = safe.trim().trim_start_matches('-');
    let is_hidden_file = safe.strip_prefix('.').is_some_and(|rest| rest.starts_with(char::is_alphanumeric));
    let safe = if is_hidden_file { safe } else { safe.trim_start_matches(['.', '-']) };
    match safe.chars().count() {
        0 => "file".to_owned(),
        length if length > MAX_NAME => shorten(safe),
        _ => safe.to_owned(),
    }
}

/// Shortens a name in the middle and keeps its extension.
fn shorten(name: &str) -> String {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending).filter(|ending| ending.chars().count() <= 10);
    let tail = ending.map_or_else(|| "…".to_owned(), |ending| format!("….{ending}"));
    let head: String = name.chars().take(MAX_NAME - tail.chars().count()).collect();
    head + &tail
}

/// The message and its files as one text, each file under a heading with its name.
///
/// The prompt adds the data markers later.
pub fn join(text: &str, files: &[(String, String)]) -> String {
    let mut content = text.trim_end().to_owned();
    for (name, file) in files {
        if !content.is_empty() {
            content.push_str("\n\n");
        }
        content.push_str("## ");
        content.push_str(&display_name(name));
        content.push_str("\n\n");
        content.push_str(file.trim_end());
    }
    content
}

fn in_words(bytes: u64) -> String {
    const MIB: u64 = 1024 * 1024;
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..MIB => format!("{} KiB", bytes.div_ceil(1024)),
        // In tenths and rounded up, so that a size over the limit never looks equal to it.
        _ => match (bytes * 10).div_ceil(MIB) {
            tenths if tenths % 10 == 0 => format!("{} MiB", tenths / 10),
            tenths => format!("{}.{} MiB", tenths / 10, tenths % 10),
        },
    }
}

/// Reads a file of this machine like an attachment of a message.
///
/// # Errors
/// Why it cannot be read, for the person who named it.
pub async fn read_local(path: &Path) -> Result<(String, String), String> {
    read_local_as(path, &path.display().to_string()).await
}

/// Like [`read_local`], with another name for the file in errors.
///
/// # Errors
/// Why it cannot be read.
pub async fn read_local_as(path: &Path, shown: &str) -> Result<(String, String), String> {
    let cannot = |why: &dyn std::fmt::Display| format!("cannot read {shown}: {why}");
    let name = path.file_name().map_or_else(|| "document".to_owned(), |name| name.to_string_lossy().into_owned());
    let size = tokio::fs::metadata(path).await.map_err(|error| cannot(&error))?.len();
    let document = Attachment { id: String::new(), name: name.clone(), size, content_type: None, url: String::new() };
    accept(&document).map_err(|why| cannot(&why))?;
    let bytes = tokio::fs::read(path).await.map_err(|error| cannot(&error))?;
    let read = tokio::task::spawn_blocking(move || read(&bytes, &document)).await.map_err(|error| cannot(&error))?;
    Ok((name, read.map_err(|why| cannot(&why))?.0))
}

#[cfg(test)]
mod tests;
