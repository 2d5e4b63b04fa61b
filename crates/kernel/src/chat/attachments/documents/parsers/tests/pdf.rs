//! Words of a PDF by their positions, and passwords.

use lopdf::encryption::crypt_filters::{Aes128CryptFilter, Aes256CryptFilter, CryptFilter};
use lopdf::{EncryptionState, EncryptionVersion, Object, Permissions, StringFormat};

use super::*;

/// What is read of a page with this content.
fn page(content: &str) -> String {
    text(&pdf(&[content]), Document::Pdf).unwrap().trim_start_matches("## Page 1\n\n").to_owned()
}

#[test]
fn words_are_put_together_by_their_positions() {
    for (content, shown) in [
        // A word in two pieces: the second begins where the first ends.
        ("BT /F1 10 Tf 50 700 Td (T) Tj 6.1 0 Td (otal) Tj ET", "Total"),
        ("BT /F1 10 Tf 1 0 0 1 50 700 Tm (T) Tj 1 0 0 1 55.6 700 Tm (otal) Tj ET", "Total"),
        ("BT /F1 10 Tf 50 700 Td (T) Tj ET BT /F1 10 Tf 56.1 700 Td (otal) Tj ET", "Total"),
        ("q 1 0 0 1 50 700 cm BT /F1 10 Tf (T) Tj ET Q q 1 0 0 1 56.1 700 cm BT /F1 10 Tf (otal) Tj ET Q", "Total"),
        ("q 10 0 0 10 50 700 cm BT /F1 1 Tf (T) Tj 0.61 0 Td (otal) Tj ET Q", "Total"),
        ("BT /F1 10 Tf 50 700 Td [(T) 80 (otal)] TJ ET", "Total"),
        // Two words without a space between them.
        ("BT /F1 10 Tf 50 700 Td (Grand) Tj 29.7 0 Td (total) Tj ET", "Grand total"),
        ("BT /F1 10 Tf 50 700 Td [(Grand) -300 (total)] TJ ET", "Grand total"),
        // Columns of numbers.
        ("BT /F1 10 Tf 50 700 Td (100) Tj 20 0 Td (200) Tj 40 0 Td (300) Tj ET", "100 200  300"),
        ("BT /F1 10 Tf 50 700 Td (100) Tj ET BT /F1 10 Tf 70 700 Td (200) Tj ET", "100 200"),
        ("BT /F1 10 Tf 50 700 Td (1) Tj 8 0 Td (2) Tj 8 0 Td (3) Tj 8 0 Td (4) Tj ET", "1 2 3 4"),
        // The space after each character belongs to the word.
        ("BT /F1 10 Tf 3 Tc 50 700 Td (T) Tj 9.1 0 Td (otal) Tj ET", "Total"),
        ("BT /F1 10 Tf 50 700 Td [(T) -250 (O) -250 (T) -250 (A) -250 (L) -750 (A) -250 (L) -250 (L)] TJ ET", "TOTAL ALL"),
        ("BT /F1 10 Tf 50 Tz 50 700 Td (T) Tj 3.05 0 Td (otal) Tj ET", "Total"),
        // An exponent stays in its line, the next line is one of its own.
        ("BT /F1 10 Tf 50 700 Td (10 m) Tj 3.5 Ts /F1 6 Tf (2) Tj 0 Ts /F1 10 Tf 0 -12 Td (Next) Tj ET", "10 m2\nNext"),
        // Drawn in another order, twice for bold letters, and sideways.
        ("BT /F1 10 Tf 100 700 Td (5 euros) Tj -50 0 Td (Total:) Tj ET", "Total:  5 euros"),
        ("BT /F1 10 Tf 50 700 Td (Total) Tj 0.3 0 Td (Total) Tj ET", "Total"),
        ("BT /F1 10 Tf 0 1 -1 0 50 100 Tm (T) Tj 6.1 0 Td (otal) Tj 0 -12 Td (Next) Tj ET", "Total\nNext"),
        ("BT /F1 10 Tf 12 TL 50 700 Td (One) Tj (Two) ' 0 0 (Three) \" ET", "One\nTwo\nThree"),
    ] {
        assert_eq!(page(content), shown, "{content}");
    }
}

/// A PDF whose font is another one.
fn pdf_with(font: &str, more: &str, content: &str) -> String {
    pdf_with_fonts("/F1 3 0 R", font, more, content)
}

/// A PDF whose page has other names of fonts, and the font at 3 is another one.
fn pdf_with_fonts(names: &str, font: &str, more: &str, content: &str) -> String {
    let plain = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>";
    let bytes = String::from_utf8(pdf(&[content])).unwrap().replace("/F1 3 0 R", names);
    let bytes = bytes.replace(plain, font).replace("trailer", &format!("{more}\ntrailer"));
    // Without its table of places, which are others now, a file is read from the start.
    let bytes = bytes.replace("startxref", "startxref\n0\n%").into_bytes();
    text(&bytes, Document::Pdf).unwrap_or_default().trim_start_matches("## Page 1\n\n").to_owned()
}

/// The object 90, which maps codes of two bytes to characters.
fn map(range: &str) -> String {
    let ranges = format!("1 begincodespacerange <0000> <FFFF> endcodespacerange 1 beginbfrange {range} endbfrange");
    let end = "endcmap CMapName currentdict /CMap defineresource pop end end";
    let map = format!("/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def {ranges} {end}");
    format!("90 0 obj\n<< /Length {} >>\nstream\n{map}\nendstream\nendobj", map.len())
}

#[test]
fn a_font_with_many_names_is_made_once_and_a_page_has_few_fonts() {
    let lines = |count: usize, text: &str| {
        let line = |number: usize| format!("BT /F{number} 10 Tf 50 {} Td {text} Tj ET ", number * 20);
        (1..=count).map(line).collect::<String>()
    };
    let shown = |count: usize, font: &str, text: &str| {
        let name = |number: usize| format!("/F{number} {font} ");
        let names: String = (1..=count).map(name).collect();
        let wide = "<< /Type /Font /Subtype /Type0 /BaseFont /Odd /Encoding /Identity-H /DescendantFonts [<< /W [0 65535 500] >>] >>";
        pdf_with_fonts(&names, wide, &map("<0000> <FFFF> <0000>"), &lines(count, text)).lines().filter(|line| *line == "Word").count()
    };
    assert_eq!(shown(2000, "3 0 R", "(Word)"), 2000);
    let plain = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>";
    assert_eq!(shown(200, plain, "(Word)"), 128);
    // Each of them maps all codes of two bytes.
    let all = "<< /Type /Font /Subtype /Type0 /BaseFont /Odd /Encoding /Identity-H /ToUnicode 90 0 R >>";
    assert_eq!(shown(10, all, "<0057006F00720064>"), 8);
}

#[test]
fn a_map_of_too_many_codes_is_not_read() {
    use crate::chat::attachments::documents::parsers::pdf::maps::is_too_large;
    for (map, expected) in [
        ("<00000000> <FFFFFFFF> <0041>", true),
        ("<000000><FFFFFF>\t<0041>", true),
        ("<00000000> <0000FFFF> <0041>\n<00010000> <0001FFFF> [<0041>]", true),
        ("% [\n<00000000> <FFFFFFFF> <0041>", true),
        ("<0000> <FFFF> <D83DDE00> <0001> <0001> <D83EDD14>", false),
        ("<0001> <0002> [<00660066> <00740074>]\n<00000041> <00000042> <0041>", false),
        ("<0001> <D83DDE00>\n<0002> <D83EDD14>", false),
        ("<00000000> <FFFF", false),
        ("", false),
    ] {
        assert_eq!(is_too_large(map.as_bytes()), expected, "{map}");
    }
    let font = "<< /Type /Font /Subtype /Type0 /BaseFont /Odd /Encoding /Identity-H /ToUnicode 90 0 R >>";
    for (range, shown) in [("<0000> <FFFF> <0000>", "Word"), ("<00000000> <FFFFFFFF> <0000>", "")] {
        assert_eq!(pdf_with(font, &map(range), "BT /F1 10 Tf 50 700 Td <0057006F00720064> Tj ET"), shown, "{range}");
    }
}

#[test]
fn the_time_counts_within_a_page() {
    let document = lopdf::Document::load_mem(&pdf(&["BT /F1 10 Tf (Total) Tj ET"])).unwrap();
    let read = |until: Instant| crate::chat::attachments::documents::parsers::pdf::page_text(&document, document.get_pages()[&1], until);
    assert_eq!(read(soon()), Ok("Total".to_owned()));
    assert_eq!(read(Instant::now()), Err(Unreadable::Slow));
}

#[test]
fn the_widths_of_a_font_count() {
    let narrow = "<< /Type /Font /Subtype /TrueType /BaseFont /Odd /Encoding /WinAnsiEncoding /FirstChar 84 /LastChar 84 /Widths [300] /FontDescriptor << /MissingWidth 300 >> >>";
    assert_eq!(pdf_with(narrow, "", "BT /F1 10 Tf 50 700 Td (T) Tj 3 0 Td (otal) Tj ET"), "Total");
    assert_eq!(pdf_with(narrow, "", "BT /F1 10 Tf 50 700 Td (T) Tj 6.1 0 Td (otal) Tj ET"), "T otal");
    // Nothing is known of its widths: each piece is a word.
    let unknown = "<< /Type /Font /Subtype /TrueType /BaseFont /Odd /Encoding /WinAnsiEncoding >>";
    for (content, shown) in [
        ("(Grand) Tj 30 0 Td (total) Tj", "Grand total"),
        ("[(Grand) -300 (total)] TJ", "Grand total"),
        // Nothing advances: pieces stay in their order, equal ones stay, and a small move is no space.
        ("[(A) 120 (V) -20 (A)] TJ", "AVA"),
        ("(1) Tj (0) Tj (0) Tj", "100"),
        ("[(1) (0) 5 (0)] TJ", "100"),
    ] {
        assert_eq!(pdf_with(unknown, "", &format!("BT /F1 10 Tf 50 700 Td {content} ET")), shown, "{content}");
    }
    // Codes of two bytes, with widths by ranges.
    let map = map("<0041> <007A> <0041>");
    for (widths, shown) in [("/DW 500 /W [84 [600] 97 120 400]", "Total"), ("/DW 300 /W [97 120 400]", "T otal")] {
        let font = format!(
            "<< /Type /Font /Subtype /Type0 /BaseFont /Odd /Encoding /Identity-H /ToUnicode 90 0 R /DescendantFonts [<< {widths} >>] >>"
        );
        let content = "BT /F1 10 Tf 50 700 Td <0054> Tj 6.1 0 Td <006F00740061006C> Tj ET";
        assert_eq!(pdf_with(&font, &map, content), shown, "{widths}");
    }
}

/// The PDF with a password of its owner, and one for readers.
fn protect(version: impl Fn(&lopdf::Document) -> EncryptionState) -> Vec<u8> {
    let mut document = lopdf::Document::load_mem(&pdf(&["BT /F1 12 Tf 72 720 Td (It opens in May.) Tj ET"])).unwrap();
    let id = Object::String(b"0123456789abcdef".to_vec(), StringFormat::Literal);
    document.trailer.set("ID", Object::Array(vec![id.clone(), id]));
    let state = version(&document);
    document.encrypt(&state).unwrap();
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).unwrap();
    bytes
}

#[test]
fn a_password_of_the_owner_hinders_nobody_and_one_of_the_reader_does() {
    let permissions = Permissions::PRINTABLE;
    let filter = |filter: std::sync::Arc<dyn CryptFilter>| std::collections::BTreeMap::from([(b"StdCF".to_vec(), filter)]);
    for (user_password, shown) in [("", Ok("## Page 1\n\nIt opens in May.".to_owned())), ("secret", Err(Unreadable::Protected))] {
        let owner_password = "owner";
        let old = protect(|document| {
            EncryptionVersion::V2 { document, owner_password, user_password, key_length: 128, permissions }.try_into().unwrap()
        });
        let aes = protect(|document| {
            let crypt_filters = filter(std::sync::Arc::new(Aes128CryptFilter));
            let (stream_filter, string_filter) = (b"StdCF".to_vec(), b"StdCF".to_vec());
            let version = EncryptionVersion::V4 {
                document,
                encrypt_metadata: true,
                crypt_filters,
                stream_filter,
                string_filter,
                owner_password,
                user_password,
                permissions,
            };
            version.try_into().unwrap()
        });
        let new = protect(|_| {
            let crypt_filters = filter(std::sync::Arc::new(Aes256CryptFilter));
            let (stream_filter, string_filter) = (b"StdCF".to_vec(), b"StdCF".to_vec());
            let version = EncryptionVersion::V5 {
                encrypt_metadata: true,
                crypt_filters,
                file_encryption_key: &[7; 32],
                stream_filter,
                string_filter,
                owner_password,
                user_password,
                permissions,
            };
            version.try_into().unwrap()
        });
        for bytes in [old, aes, new] {
            assert_eq!(text(&bytes, Document::Pdf), shown, "{user_password:?}");
        }
    }
}
