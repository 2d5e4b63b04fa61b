//! What people see in office files beyond plain text.

use super::*;

const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

fn relations(targets: &[(&str, &str, &str)]) -> String {
    let each =
        |(id, kind, target): &(&str, &str, &str)| format!(r#"<Relationship Id="{id}" Type="{RELATIONS}/{kind}" Target="{target}"/>"#);
    format!("<Relationships>{}</Relationships>", targets.iter().map(each).collect::<String>())
}

/// An Excel file with a sheet and these further parts.
fn workbook(properties: &str, sheet: &str, more: &[(&str, &str)]) -> String {
    let book = format!(r#"<workbook xmlns:r="r">{properties}<sheets><sheet name="Plan" sheetId="1" r:id="rId1"/></sheets></workbook>"#);
    let targets = relations(&[("rId1", "worksheet", "worksheets/sheet1.xml")]);
    let mut files = vec![("xl/workbook.xml", book.as_str()), ("xl/_rels/workbook.xml.rels", &targets), ("xl/worksheets/sheet1.xml", sheet)];
    files.extend(more);
    text(&archive(&files), Document::Xlsx).unwrap()
}

const STYLES: &str = r##"<styleSheet><numFmts count="2"><numFmt numFmtId="164" formatCode="dd\.mm\.yyyy"/>
    <numFmt numFmtId="165" formatCode="#,##0.00\ &quot;€&quot;"/></numFmts><cellStyleXfs><xf numFmtId="9"/></cellStyleXfs>
    <cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="9"/><xf numFmtId="165"/><xf numFmtId="20"/></cellXfs></styleSheet>"##;

const CELLS: &str = r#"<worksheet><sheetData><row r="1"><c r="A1" s="1"><v>46205</v></c><c r="B1" s="2"><v>0.25</v></c>
    <c r="C1" s="3"><v>1200</v></c><c r="D1" s="4"><v>0.5</v></c><c r="E1" t="b"><v>1</v></c><c r="F1"><v>46205</v></c></row></sheetData></worksheet>"#;

#[test]
fn cells_are_shown_by_their_number_formats() {
    let styles = ("xl/styles.xml", STYLES);
    let shown = "2026-07-02 | 25% | 1,200.00 € | 12:00 | TRUE | 46205";
    assert_eq!(workbook("", CELLS, &[styles]), format!("## Sheet Plan\n\n{shown}"));
    let since_1904 = workbook(r#"<workbookPr date1904="1"/>"#, CELLS, &[styles]);
    assert!(since_1904.contains("2030-07-03 | 25%"), "{since_1904}");
    // Broken styles cost the formats and not the file.
    for styles in ["<styleSheet><cellXfs><xf numFmtId=", "no XML & at all", ""] {
        let raw = workbook("", CELLS, &[("xl/styles.xml", styles)]);
        assert_eq!(raw, "## Sheet Plan\n\n46205 | 0.25 | 1200 | 0.5 | TRUE | 46205", "{styles}");
    }
}

#[test]
fn formulas_without_a_value_are_marked() {
    let sheet = r#"<worksheet><sheetData><row r="1"><c r="A1"><f>SUM(B1:B3)</f></c><c r="B1"><f>1+1</f><v>2</v></c>
        <c r="C1"><f t="shared" si="0"/><v/></c><c r="D1" t="str"><f>IF(1,"","x")</f><v></v></c><c r="E1" t="e"><f>1/0</f><v>#DIV/0!</v></c></row></sheetData></worksheet>"#;
    let shown = "=SUM(B1:B3) (not calculated) | 2 | (formula, not calculated) |  | #DIV/0!";
    assert_eq!(workbook("", sheet, &[]), format!("## Sheet Plan\n\n{shown}"));
}

#[test]
fn hidden_sheets_rows_and_columns_are_marked() {
    let sheet = r#"<worksheet><cols><col min="2" max="2" hidden="1"/><col min="5" max="16384" hidden="1"/></cols><sheetData>
        <row r="1"><c r="A1"><v>1</v></c><c r="B1"><v>2</v></c></row><row r="2" hidden="1"><c r="A2"><v>3</v></c></row></sheetData>
        <headerFooter><oddHeader>&amp;L&amp;"Arial,Bold"&amp;12Draft R&amp;&amp;D&amp;RPage &amp;P</oddHeader><oddFooter>&amp;P</oddFooter></headerFooter></worksheet>"#;
    let book = r#"<workbook xmlns:r="r"><sheets><sheet name="Seen" sheetId="1" r:id="rId1"/>
        <sheet name="Costs" state="hidden" sheetId="2" r:id="rId2"/><sheet name="Keys" state="veryHidden" sheetId="3" r:id="rId2"/></sheets></workbook>"#;
    let targets = relations(&[("rId1", "worksheet", "worksheets/sheet1.xml"), ("rId2", "worksheet", "/xl/worksheets/sheet2.xml")]);
    let second = "<worksheet><sheetData><row><c><v>7</v></c></row></sheetData></worksheet>";
    let files = [
        ("xl/workbook.xml", book),
        ("xl/_rels/workbook.xml.rels", &targets),
        ("xl/worksheets/sheet1.xml", sheet),
        ("xl/worksheets/sheet2.xml", second),
    ];
    let shown = "## Sheet Seen\n\n(hidden columns: B)\n1 | 2\n(hidden row) 3\nHeader: Draft R&D Page\n\n## Sheet Costs (hidden)\n\n7\n\n## Sheet Keys (hidden)\n\n7";
    assert_eq!(text(&archive(&files), Document::Xlsx).unwrap(), shown);
}

#[test]
fn comments_on_cells_are_read_once() {
    let sheet = r#"<worksheet><sheetData><row r="1"><c r="A1"><v>1</v></c></row></sheetData></worksheet>"#;
    let targets =
        relations(&[("rId1", "comments", "../comments1.xml"), ("rId2", "threadedComment", "../threadedComments/threadedComment1.xml")]);
    let comments = r#"<comments><authors><author>Ben</author><author>tc={1}</author></authors><commentList>
        <comment ref="A1" authorId="1"><text><t>[Threaded comment] Is it right?</t></text></comment>
        <comment ref="B2" authorId="0"><text><r><t>Check</t></r><r><t xml:space="preserve"> this</t></r></text></comment></commentList></comments>"#;
    let threaded = r#"<ThreadedComments><threadedComment ref="A1" personId="{A}" id="{1}"><text>Is it right?</text></threadedComment>
        <threadedComment ref="A1" personId="{B}" id="{2}" parentId="{1}"><text>Yes.</text></threadedComment></ThreadedComments>"#;
    let people = r#"<personList><person displayName="Ann" id="{A}"/></personList>"#;
    let files = [
        ("xl/worksheets/_rels/sheet1.xml.rels", targets.as_str()),
        ("xl/comments1.xml", comments),
        ("xl/threadedComments/threadedComment1.xml", threaded),
        ("xl/persons/person.xml", people),
    ];
    let shown = "## Sheet Plan\n\n1\nComment on A1 by Ann: Is it right?\nComment on A1: Yes.\nComment on B2 by Ben: Check this";
    assert_eq!(workbook("", sheet, &files), shown);
    // Damaged comments cost themselves.
    let damaged = [files[0], ("xl/comments1.xml", "<comments><comment ref="), files[3]];
    assert_eq!(workbook("", sheet, &damaged), "## Sheet Plan\n\n1");
}

#[test]
fn a_word_document_shows_changes_comments_notes_and_margins() {
    let document = r#"<w:document xmlns:w="w" xmlns:mc="m"><w:body>
        <w:p><w:pPr><w:tabs><w:tab w:val="left"/></w:tabs><w:rPr><w:ins w:author="Ann"/></w:rPr></w:pPr><w:r><w:t>The price is</w:t></w:r>
        <w:del w:author="Ann"><w:r><w:delText xml:space="preserve"> 100</w:delText></w:r></w:del>
        <w:ins w:author="Ann"><w:r><w:t xml:space="preserve"> 120</w:t></w:r></w:ins><w:ins w:author="Ann"><w:r><w:t xml:space="preserve"> euros</w:t></w:r></w:ins>
        <w:r><w:t xml:space="preserve"> a day</w:t></w:r><w:r><w:commentReference w:id="0"/></w:r><w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:t>.</w:t></w:r></w:p>
        <w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>Margin 40</w:t></w:r><w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t xml:space="preserve"> seen</w:t></w:r></w:p>
        <w:p><mc:AlternateContent><mc:Choice><w:r><w:t>A box</w:t></w:r></mc:Choice><mc:Fallback><w:r><w:t>A box</w:t></w:r></mc:Fallback></mc:AlternateContent>
        <w:r><w:endnoteReference w:id="1"/></w:r></w:p></w:body></w:document>"#;
    let comments = r#"<w:comments xmlns:w="w"><w:comment w:id="0" w:author="Ben"><w:p><w:r><w:t>Too</w:t></w:r></w:p><w:p><w:r><w:t>high?</w:t></w:r></w:p></w:comment></w:comments>"#;
    let footnotes = r#"<w:footnotes xmlns:w="w"><w:footnote w:type="separator" w:id="-1"><w:p/></w:footnote><w:footnote w:id="2"><w:p><w:r><w:t>Without tax</w:t></w:r></w:p></w:footnote></w:footnotes>"#;
    let endnotes = r#"<w:endnotes xmlns:w="w"><w:endnote w:id="1"><w:p><w:r><w:t>See the plan</w:t></w:r></w:p></w:endnote></w:endnotes>"#;
    let margin = |text: &str| format!(r#"<w:hdr xmlns:w="w"><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:hdr>"#);
    let (header, footer) = (margin("Confidential"), margin("12"));
    let files = [
        ("word/document.xml", document),
        ("word/comments.xml", comments),
        ("word/footnotes.xml", footnotes),
        ("word/endnotes.xml", endnotes),
        ("word/header1.xml", &header),
        ("word/header2.xml", &header),
        ("word/footer1.xml", &footer),
    ];
    let shown = "Header: Confidential\n\nThe price is [deleted by Ann: 100] [inserted by Ann: 120 euros] a day [comment by Ben: Too high?] \
                 [footnote: Without tax].\n\n[hidden: Margin 40] seen\n\nA box [endnote: See the plan]";
    assert_eq!(text(&archive(&files), Document::Docx).unwrap(), shown);
    let damaged = [files[0], ("word/comments.xml", "<w:comments><w:comment w:id=")];
    assert!(text(&archive(&damaged), Document::Docx).unwrap().contains(" a day."));
}

#[test]
fn slides_come_in_their_order_with_notes_and_comments_and_hidden_ones_are_marked() {
    let slide = |attributes: &str, text: &str| {
        format!(
            r#"<p:sld xmlns:p="p" xmlns:a="a"{attributes}><a:p><a:r><a:t>{text}</a:t></a:r></a:p><a:p><a:fld type="slidenum"><a:t>9</a:t></a:fld></a:p></p:sld>"#
        )
    };
    let (first, second) = (slide("", "Costs"), slide(r#" show="0""#, "Backup"));
    let order = r#"<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst><p:sldId id="256" r:id="rId9"/><p:sldId id="257" r:id="rId8"/></p:sldIdLst></p:presentation>"#;
    let targets = relations(&[("rId8", "slide", "slides/slide1.xml"), ("rId9", "slide", "slides/slide2.xml")]);
    let of_slide = relations(&[("rId1", "notesSlide", "../notesSlides/notesSlide1.xml"), ("rId2", "comments", "../comments/comment1.xml")]);
    let notes = slide("", "Say it slowly").replace("p:sld", "p:notes");
    let comments = r#"<p:cmLst xmlns:p="p"><p:cm authorId="0" idx="1"><p:pos x="1" y="2"/><p:text>More figures</p:text></p:cm></p:cmLst>"#;
    let authors = r#"<p:cmAuthorLst xmlns:p="p"><p:cmAuthor id="0" name="Ann"/></p:cmAuthorLst>"#;
    let files = [
        ("ppt/presentation.xml", order),
        ("ppt/_rels/presentation.xml.rels", &targets),
        ("ppt/slides/slide1.xml", &second),
        ("ppt/slides/slide2.xml", &first),
        ("ppt/slides/_rels/slide2.xml.rels", &of_slide),
        ("ppt/notesSlides/notesSlide1.xml", &notes),
        ("ppt/comments/comment1.xml", comments),
        ("ppt/commentAuthors.xml", authors),
    ];
    let shown = "## Slide 1\n\nCosts\n\nSpeaker's notes: Say it slowly\n\nComment by Ann: More figures\n\n## Slide 2 (hidden)\n\nBackup";
    assert_eq!(text(&archive(&files), Document::Pptx).unwrap(), shown);
}

#[test]
fn a_long_text_that_many_cells_share_is_read_as_far_as_there_is_room() {
    let shared = format!("<sst><si><t>{}</t></si></sst>", "a".repeat(1024 * 1024));
    let row = |cells: &str| format!(r#"<worksheet><sheetData><row r="1">{cells}</row></sheetData></worksheet>"#);
    let cell = r#"<c t="s"><v>0</v></c>"#;
    let read = |cells: usize| workbook("", &row(&cell.repeat(cells)), &[("xl/sharedStrings.xml", &shared)]).matches('a').count() - 1;
    // The name of the sheet has the other one.
    assert_eq!(read(1), 4 * 32_767);
    assert!(read(256) > MAX_TEXT / 2);
}

#[test]
fn fields_of_an_open_document_are_text_and_what_describes_its_notes_is_not() {
    let letter = r#"<office:text xmlns:text="t"><text:p>Bonn, <text:date>2 July 2026</text:date>, <text:creator>Ann</text:creator><office:annotation>
        <dc:creator>Ben</dc:creator><dc:date>2026-07-03</dc:date><meta:creator-initials>B</meta:creator-initials><text:p>late?</text:p></office:annotation></text:p>
        <text:p>Dear Ada<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Since <text:date>May</text:date></text:p></text:note-body></text:note></text:p></office:text>"#;
    let shown = "Bonn, 2 July 2026, Ann [comment: late?]\n\nDear Ada [footnote: Since May]";
    assert_eq!(text(&archive(&[("content.xml", letter)]), Document::OpenDocument).unwrap(), shown);
    let slides = r#"<office:presentation xmlns:text="t"><draw:page><text:p>Costs</text:p><presentation:notes><text:p>Say it slowly</text:p></presentation:notes></draw:page>
        <draw:page><text:p>Next title</text:p><presentation:notes><text:p/></presentation:notes></draw:page></office:presentation>"#;
    let shown = "Costs\n\nSpeaker's notes: Say it slowly\n\nNext title";
    assert_eq!(text(&archive(&[("content.xml", slides)]), Document::OpenDocument).unwrap(), shown);
}
