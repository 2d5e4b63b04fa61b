mod number_formats;
mod office;
mod pdf;

use std::io::Write as _;
use std::time::{Duration, Instant};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

fn archive(files: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in files {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn soon() -> Instant {
    Instant::now() + Duration::from_mins(1)
}

fn text(bytes: &[u8], document: Document) -> Result<String, Unreadable> {
    read(bytes, document, soon()).map(|read| read.text)
}

/// A PDF with these contents of pages.
fn pdf(pages: &[&str]) -> Vec<u8> {
    let mut objects = vec!["<< /Type /Catalog /Pages 2 0 R >>".to_owned()];
    let kids: Vec<String> = (0..pages.len()).map(|page| format!("{} 0 R", 4 + 2 * page)).collect();
    objects.push(format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), pages.len()));
    objects.push("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned());
    for (page, content) in pages.iter().enumerate() {
        let content_id = 5 + 2 * page;
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {content_id} 0 R /Resources << /Font << /F1 3 0 R >> >> >>"
        ));
        objects.push(format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()));
    }
    let mut bytes = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        places.push(bytes.len());
        write!(bytes, "{} 0 obj\n{object}\nendobj\n", number + 1).unwrap();
    }
    let start = bytes.len();
    write!(bytes, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).unwrap();
    for place in places {
        writeln!(bytes, "{place:010} 00000 n ").unwrap();
    }
    write!(bytes, "trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n", objects.len() + 1).unwrap();
    bytes
}

#[test]
fn a_pdf_is_read_page_by_page_with_its_lines_and_words() {
    let first = "BT /F1 12 Tf 72 720 Td (The harbour opens) Tj 0 -14 Td [(in) -250 (M) 20 (ay.)] TJ T* (Then ships come.) Tj ET";
    let second = "BT /F1 12 Tf 1 0 0 1 72 700 Tm (Three) Tj 1 0 0 1 110 700 Tm (ships) Tj ET";
    let read = read(&pdf(&[first, second]), Document::Pdf, soon()).unwrap();
    assert_eq!(read.text, "## Page 1\n\nThe harbour opens\nin May.\nThen ships come.\n\n## Page 2\n\nThree ships");
    assert_eq!((read.pages, read.is_cut), (None, false));
}

#[test]
fn a_word_document_has_headings_and_tables() {
    let xml = r#"<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="w"><w:body>
        <w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Harbour</w:t></w:r></w:p>
        <w:p><w:r><w:t xml:space="preserve">It opens in </w:t></w:r><w:r><w:t>May &amp; closes &#8364;.</w:t></w:r><w:r><w:delText>gone</w:delText></w:r></w:p>
        <w:tbl><w:tr><w:tc><w:p><w:r><w:t>Ship</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>Day</w:t></w:r></w:p></w:tc></w:tr>
        <w:tr><w:tc><w:p><w:r><w:t>Ada</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>Monday</w:t></w:r></w:p></w:tc></w:tr></w:tbl>
        </w:body></w:document>"#;
    let read = text(&archive(&[("word/document.xml", xml)]), Document::Docx).unwrap();
    assert_eq!(read, "# Harbour\n\nIt opens in May & closes €.\n\nShip | Day\nAda | Monday");
}

#[test]
fn slides_come_in_the_order_of_their_numbers() {
    let slide = |text: &str| format!("<p:sld xmlns:a=\"a\"><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:sld>");
    let files = [(2, "Second"), (10, "Tenth"), (1, "First")].map(|(number, text)| (format!("ppt/slides/slide{number}.xml"), slide(text)));
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    assert_eq!(text(&archive(&files), Document::Pptx).unwrap(), "## Slide 1\n\nFirst\n\n## Slide 2\n\nSecond\n\n## Slide 3\n\nTenth");
}

#[test]
fn a_sheet_keeps_its_columns() {
    let files = [
        ("xl/workbook.xml", r#"<workbook xmlns:r="r"><sheets><sheet name="Costs" sheetId="1" r:id="rId7"/></sheets></workbook>"#),
        ("xl/_rels/workbook.xml.rels", r#"<Relationships><Relationship Id="rId7" Target="worksheets/sheet1.xml"/></Relationships>"#),
        ("xl/sharedStrings.xml", "<sst><si><t>Item</t></si><si><r><t>Har</t></r><r><t>bour</t></r></si></sst>"),
        (
            "xl/worksheets/sheet1.xml",
            r#"<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="inlineStr"><is><t>Sum</t></is></c></row>
            <row r="2"><c r="A2" t="s"><v>1</v></c><c r="C2"><v>400.5</v></c></row></sheetData></worksheet>"#,
        ),
    ];
    assert_eq!(text(&archive(&files), Document::Xlsx).unwrap(), "## Sheet Costs\n\nItem |  | Sum\nHarbour |  | 400.5");
}

#[test]
fn an_open_document_is_read_with_its_notes() {
    let xml = r#"<office:document-content xmlns:text="t"><office:body><text:tracked-changes><text:p>old</text:p></text:tracked-changes>
        <text:h text:outline-level="2">Harbour</text:h><text:p>It<text:s/>opens<office:annotation><dc:creator>Ann</dc:creator><text:p>sure?</text:p></office:annotation> in <text:span>May</text:span>.</text:p>
        <table:table table:name="Ships"><table:table-row><table:table-cell><text:p>Ada</text:p></table:table-cell><table:table-cell><text:p>1</text:p></table:table-cell></table:table-row></table:table>
        </office:body></office:document-content>"#;
    let read = text(&archive(&[("content.xml", xml)]), Document::OpenDocument).unwrap();
    assert_eq!(read, "## Harbour\n\nIt opens [comment: sure?] in May.\n\n## Ships\n\nAda | 1");
}

#[test]
fn what_cannot_be_read_is_refused_with_why() {
    let bomb = "A".repeat(MAX_UNPACKED + 1);
    let empty = r#"<w:document xmlns:w="w"><w:body><w:p/></w:body></w:document>"#;
    for (bytes, document, why) in [
        (b"not a document".to_vec(), Document::Docx, Unreadable::Damaged),
        (b"not a document".to_vec(), Document::Pdf, Unreadable::Damaged),
        (Vec::new(), Document::Xlsx, Unreadable::Damaged),
        (archive(&[("other.xml", "<a/>")]), Document::Pptx, Unreadable::Damaged),
        (archive(&[("word/document.xml", "<w:p><w:t>cut off")]), Document::Docx, Unreadable::NoText),
        (archive(&[("word/document.xml", &bomb)]), Document::Docx, Unreadable::Unpacked),
        (archive(&[("word/document.xml", empty)]), Document::Docx, Unreadable::NoText),
        (pdf(&["0 0 m 10 10 l S"]), Document::Pdf, Unreadable::NoText),
        (vec![0xD0, 0xCF, 0x11, 0xE0, 0xA1], Document::Docx, Unreadable::Protected),
    ] {
        let read = text(&bytes, document);
        assert!(
            read == Err(why) || why == Unreadable::NoText && read.is_ok_and(|text| text.contains("cut off")),
            "{document:?}: not {why:?}"
        );
    }
    let late = Instant::now();
    assert_eq!(read(&pdf(&["BT ET"]), Document::Pdf, late), Err(Unreadable::Slow));
}

#[test]
fn a_pdf_that_unpacks_to_too_much_is_refused() {
    use flate2::Compression;
    use flate2::write::ZlibEncoder;
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&vec![b' '; 64 * 1024 * 1024]).unwrap();
    let packed = packed.finish().unwrap();
    let mut bytes =
        b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n"
            .to_vec();
    bytes.extend_from_slice(b"3 0 obj\n<< /Type /Page /Parent 2 0 R /Contents 4 0 R >>\nendobj\n");
    bytes.extend_from_slice(format!("4 0 obj\n<< /Length {} /Filter /FlateDecode >>\nstream\n", packed.len()).as_bytes());
    bytes.extend_from_slice(&packed);
    bytes.extend_from_slice(b"\nendstream\nendobj\ntrailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n0\n%%EOF\n");
    assert_eq!(text(&bytes, Document::Pdf), Err(Unreadable::Unpacked));
}

#[test]
fn many_pages_are_read_in_part() {
    let page = "BT /F1 12 Tf 72 720 Td (Some words.) Tj ET";
    let read = read(&pdf(&vec![page; MAX_PAGES + 5]), Document::Pdf, soon()).unwrap();
    assert_eq!(read.pages, Some((MAX_PAGES, MAX_PAGES + 5)));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
    #[test]
    fn damage_never_breaks_out(at in 0..2000_usize, byte: u8, kind in 0..5_usize) {
        let documents = [Document::Pdf, Document::Docx, Document::Pptx, Document::Xlsx, Document::OpenDocument];
        let xml = "<w:document><w:p><w:t>It opens in May.</w:t></w:p></w:document>";
        let names = ["", "word/document.xml", "ppt/slides/slide1.xml", "xl/workbook.xml", "content.xml"];
        let mut bytes = if kind == 0 { pdf(&["BT /F1 12 Tf (It opens in May.) Tj ET"]) } else { archive(&[(names[kind], xml)]) };
        let at = at % bytes.len();
        bytes[at] = byte;
        let _ = read(&bytes, documents[kind], soon());
    }
}
