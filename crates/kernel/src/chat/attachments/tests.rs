use crate::chat::attachments::*;

fn file(name: &str, size: u64, content_type: Option<&str>) -> Attachment {
    Attachment { id: "1".into(), name: name.into(), size, content_type: content_type.map(str::to_owned), url: String::new() }
}

#[test]
fn text_is_text_whatever_its_name() {
    for name in [
        "Dockerfile",
        "Makefile",
        "LICENSE",
        ".gitignore",
        "app.log.1",
        "settings.env",
        "Cargo.lock",
        "analysis.ipynb",
        "letter.eml",
        "ann.vcf",
        "NOTES.TXT",
        "x",
        "../../x.yaml",
        "playlist.m3u",
        "fix.rej",
        "main.zig",
        "subtitles.ass",
        "id_rsa.pub",
        "crontab",
        "export.xls",
        "report.docx",
        "page.pdf",
        "notes.zip",
        "out.2026-11-29",
    ] {
        let text = format!("# {name}\nThe harbour opens in May.\n");
        for content_type in [None, Some("application/octet-stream"), Some("video/mp2t")] {
            let file = file(name, 10, content_type);
            assert_eq!(accept(&file), Ok(()), "{name}");
            assert_eq!(read(text.as_bytes(), &file), Ok((text.clone(), None)), "{name}");
        }
    }
}

#[test]
fn what_is_no_text_is_refused_by_what_it_is() {
    let tar = [vec![b'a'; 257], b"ustar\0".to_vec()].concat();
    let boxed = |brand: &[u8]| [b"\0\0\0\x18ftyp", brand, b"\0\0\0\0mif1"].concat();
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    for (name, bytes, what) in [
        ("backup", b"PK\x03\x04\x14\0\0\0".to_vec(), "a ZIP archive, which I can't read. Please send the files in it."),
        (
            "book.txt",
            b"PK\x03\x04\0\0mimetypeapplication/epub+zip".to_vec(),
            "an e-book (EPUB), which I can't read. Please send it as PDF.",
        ),
        ("table.xlsb", b"PK\x03\x04\0\0xl/workbook.bin".to_vec(), "a binary Excel file, which I can't read. Please save it as .xlsx."),
        ("dump", b"\x1F\x8B\x08\0\0".to_vec(), "a packed file (gzip), which I can't read. Please send the file in it."),
        ("all.bak", tar, "a tar archive, which I can't read. Please send the files in it."),
        (
            "tool",
            b"\x7FELF\x02\x01\x01\0".to_vec(),
            "a program for Linux, which I can't read. Please send its source code, or what it prints.",
        ),
        (
            "setup.txt",
            b"MZ\x90\0\x03".to_vec(),
            "a program for Windows, which I can't read. Please send its source code, or what it prints.",
        ),
        ("team.data", b"SQLite format 3\0\x10".to_vec(), "a database (SQLite), which I can't read. Please export what matters as CSV."),
        (
            "plan.doc",
            b"\xD0\xCF\x11\xE0\xA1".to_vec(),
            "a file of an old Office program (Word, Excel, PowerPoint or Outlook), which I can't read. Please save it as .docx, .xlsx, .pptx or PDF.",
        ),
        (
            "scan.txt",
            b"\x89PNG\r\n\x1A\n\0".to_vec(),
            "a PNG picture, which I can't read. Please send it as PNG or JPEG, with that ending.",
        ),
        ("IMG_1", boxed(b"heic"), "a HEIC picture, which I can't read. Please send it as PNG or JPEG, with that ending."),
        ("IMG_2", boxed(b"avif"), "an AVIF picture, which I can't read. Please send it as PNG or JPEG, with that ending."),
        (
            "memo",
            b"ID3\x04\0\0".to_vec(),
            "a sound file (MP3), which I can't read. Please send it with the ending of its format, such as .mp3 or .ogg.",
        ),
    ] {
        assert_eq!(read(&bytes, &file(name, 10, None)).expect_err(name).to_string(), format!("{name} is {what}"));
    }
    let locked = [b"\xD0\xCF\x11\xE0".to_vec(), wide("EncryptedPackage")].concat();
    let refusal = read(&locked, &file("locked", 10, None)).expect_err("a password");
    assert_eq!(refusal.to_string(), "I can't read locked: it is protected by a password.");
    assert_eq!(read(b"", &file("new.md", 0, None)).expect_err("nothing").to_string(), "new.md is empty.");
    // Words that begin like a format are text.
    for text in ["BMW builds cars", "MZ", "PAR1 is a mark", "ID3 tags", "PK and more", "GIF8 or not", "A PDF starts with %PDF-1.4"] {
        assert_eq!(read(text.as_bytes(), &file("notes", 10, None)), Ok((text.to_owned(), None)));
    }
}

#[test]
fn what_is_too_large_is_refused_with_a_sentence() {
    let text = |size: usize| read(&vec![b'a'; size], &file("a.md", 1, None));
    assert!(text(1024 * 1024).is_ok());
    let refusal = accept(&file("a.md", 50 * 1024 * 1024, None)).expect_err("it is over the limit");
    assert_eq!(refusal.to_string(), "a.md is too large: 50 MiB of at most 1 MiB. Please send only the part that matters.");
    let refusal = text(1024 * 1024 + 1).expect_err("it is over the limit");
    assert!(refusal.to_string().contains("1.1 MiB of at most 1 MiB"), "{refusal}");
}

#[test]
fn pictures_and_recordings_are_refused_for_what_they_are() {
    for (name, sentence) in [
        ("x.PNG", "I can't see pictures yet, so I skipped x.PNG."),
        ("voice-message.ogg", "I can't listen to voice messages yet, so I skipped voice-message.ogg."),
        ("talk.mp3", "I can't listen to sound files yet, so I skipped talk.mp3."),
        ("demo.mp4", "I can't watch videos yet, so I skipped demo.mp4."),
    ] {
        assert_eq!(accept(&file(name, 10, Some("text/plain"))).expect_err(name).to_string(), sentence);
    }
    assert_eq!(Media::of("plan.md"), None);
}

#[test]
fn a_picture_that_no_model_takes_is_refused_with_what_to_send_instead() {
    let png = b"\x89PNG\r\n\x1A\n\0\0\0\0IDAT\x01\x02\x03\x04\0\0\0\0IEND\xAE\x42\x60\x82";
    let whole: [&[u8]; 4] = [png, b"\xFF\xD8\xFF\xE0\x01\xFF\xD9\0", b"GIF89a\x01;", b"RIFF\x05\0\0\0WEBP\0"];
    for bytes in whole {
        assert_eq!(read_picture(bytes, &file("x.png", 10, None)), Ok(()));
        let cut = read_picture(&bytes[..bytes.len() - 3], &file("x.png", 10, None)).expect_err("it is cut off").to_string();
        assert!(cut.ends_with(" is damaged or no picture. Please send it again as JPEG or PNG."), "{cut}");
    }
    let large = vec![0; usize::try_from(MAX_PICTURE_BYTES).unwrap() + 1];
    for (name, bytes, sentence) in [
        ("x.heic", &b"\0\0\0\x18ftypheic"[..], "x.heic is a HEIC picture (12 bytes), which I can't read. Please send it as JPEG or PNG."),
        ("x.avif", b"\0\0\0\x18ftypavif", "x.avif is an AVIF picture (12 bytes), which I can't read. Please send it as JPEG or PNG."),
        ("x.bmp", b"BM\0\0", "x.bmp is a BMP picture (4 bytes), which I can't read. Please send it as JPEG or PNG."),
        ("x.tif", b"MM\0*", "x.tif is a TIFF picture (4 bytes), which I can't read. Please send it as JPEG or PNG."),
        ("x.png", b"%PDF-1.4", "x.png (8 bytes) is damaged or no picture. Please send it again as JPEG or PNG."),
        ("x.png", b"", "x.png is empty."),
        ("x.png", &large, "x.png is too large for a picture: 3.6 MiB of at most 3.5 MiB. Please send a smaller one as JPEG or PNG."),
    ] {
        assert_eq!(read_picture(bytes, &file(name, 10, None)).expect_err(name).to_string(), sentence);
    }
}

#[test]
fn ten_files_and_two_mebibytes_of_a_message_are_read() {
    let many: Vec<Attachment> = (0..12).map(|n| file(&format!("{n}.md"), 10, None)).collect();
    let (accepted, refused) = select(&many);
    assert_eq!((accepted.len(), refused.len()), (10, 2));
    assert!(matches!(&refused[0].1, Refusal::TooMuch { name } if name == "10.md"));

    let large = [file("a.md", MAX_FILE_BYTES, None), file("b.md", MAX_FILE_BYTES, None), file("c.md", 1, None), file("d.png", 1, None)];
    let (accepted, refused) = select(&large);
    assert_eq!((accepted.len(), refused.len()), (2, 2));
}

#[test]
fn documents_may_be_larger_than_text_files() {
    assert_eq!(accept(&file("plan.PDF", 5 * MAX_FILE_BYTES, Some("application/octet-stream"))), Ok(()));
    let refusal = accept(&file("plan.pdf", 50 * MAX_FILE_BYTES, None)).expect_err("it is over the limit");
    assert_eq!(refusal.to_string(), "plan.pdf is too large: 50 MiB of at most 8 MiB. Please send only the part that matters.");
    let refusal = read(b"%PDF-1.4 and no more", &file("plan", 6, None)).expect_err("it is cut off");
    assert_eq!(refusal.to_string(), "I can't read plan: it is damaged or not what its name says.");
}

#[test]
fn text_is_read_in_whatever_encoding_it_came() {
    let notes = file("notes.txt", 1, None);
    let utf_16 = |mark: &[u8], order: fn(u16) -> [u8; 2]| {
        mark.iter().copied().chain("grün 十\r\n".encode_utf16().flat_map(order)).collect::<Vec<u8>>()
    };
    assert_eq!(decode("grün 十\n".as_bytes(), &notes).as_deref(), Ok("grün 十\n"));
    assert_eq!(decode(b"\xEF\xBB\xBFhello", &notes).as_deref(), Ok("hello"));
    assert_eq!(decode(&utf_16(&[0xFF, 0xFE], u16::to_le_bytes), &notes).as_deref(), Ok("grün 十\n"));
    assert_eq!(decode(&utf_16(&[0xFE, 0xFF], u16::to_be_bytes), &notes).as_deref(), Ok("grün 十\n"));
    assert_eq!(decode(b"h\0e\0l\0l\0o\0", &notes).as_deref(), Ok("hello"));
    assert_eq!(decode(b"Die B\xE4ume sind gr\xFCn und sch\xF6n", &notes).as_deref(), Ok("Die Bäume sind grün und schön"));
    assert_eq!(decode(b"", &notes).as_deref(), Ok(""));
    assert_eq!(decode(b"\x1b[31mred\x1b[0m log line", &notes).as_deref(), Ok("\u{1b}[31mred\u{1b}[0m log line"));
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let notes = file("notes.txt", 1, None);
    let noise: Vec<u8> = (0..4096_u32).map(|n| u8::try_from(n.wrapping_mul(2_654_435_761) >> 24).expect("eight bits")).collect();
    for bytes in [
        &b"PNG\0\0\x01\x02\x03"[..],
        b"\x7fELF\x02\x01\x01\0\0\0\0",
        b"text\0with a zero",
        b"\xFF\xFE\x00",
        &noise,
        &[1, 2, 3, 4, 5, 6, 7, 8],
    ] {
        assert_eq!(decode(bytes, &notes), Err(Refusal::Binary { name: "notes.txt".into() }), "{:?}", &bytes[..3]);
    }
    assert!(matches!(decode(&vec![b'a'; 1024 * 1024 + 1], &notes), Err(Refusal::TooLarge { .. })), "larger than announced");
}

#[test]
fn names_are_safe_to_show() {
    for (name, shown) in [
        ("../../x", "x"),
        (".gitignore", ".gitignore"),
        ("../../etc/cron.d/job", "job"),
        ("C:\\windows\\x.md", "x.md"),
        ("-rf.md", "rf.md"),
        ("a\nb\0c\u{202E}d.md", "abcd.md"),
        ("`#@everyone`.md", "everyone.md"),
        ("..", "file"),
        ("", "file"),
        ("überblick 2.md", "überblick 2.md"),
    ] {
        assert_eq!(display_name(name), shown, "{name:?}");
    }
    let long = display_name(&format!("{}.json", "ä".repeat(300)));
    assert_eq!(long.chars().count(), 80);
    assert!(long.ends_with("….json"));
    assert_eq!(display_name(&"x".repeat(300)).chars().count(), 80);
}

#[test]
fn a_message_and_its_files_become_one_content() {
    let files = [("a.md".to_owned(), "# A\n".to_owned()), ("../b\n.txt".to_owned(), "bee".to_owned())];
    assert_eq!(join("read these \n", &files), "read these\n\n## a.md\n\n# A\n\n## b.txt\n\nbee");
    assert_eq!(join("", &files[..1]), "## a.md\n\n# A");
    assert_eq!(join("only text", &[]), "only text");
}

#[test]
fn a_long_paste_is_known_by_its_name() {
    assert!(is_long_paste(&file("message.txt", 9000, None)));
    assert!(!is_long_paste(&file("my message.txt", 9000, None)));
}

#[test]
fn what_was_appended_to_a_message_was_not_typed() {
    let of = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
    let both = of(&["We close.\nOn Monday. ", "remember that we close"]);
    for (message, left) in [
        ("vince, look", "vince, look"),
        ("vince, look\nWe close.\nOn Monday.", "vince, look"),
        ("vince, look\nWe close.\nOn Monday.\nremember that we close", "vince, look"),
        ("vince, look\nremember that we close\nWe close.\nOn Monday.\nremember that we close", "vince, look"),
        ("remember that we close", ""),
        ("remember that we close it", "remember that we close it"),
    ] {
        assert_eq!(typed(message, &both), left, "{message}");
    }
    assert_eq!((typed("xa", &of(&["a"])), typed("a", &of(&["", " "])), typed("a", &[])), ("xa", "a", "a"));
    let appended = ["message.txt", "voice-message.ogg", "talk.mp3", "notes.txt"].map(is_appended);
    assert_eq!(appended, [true, true, true, false]);
}
