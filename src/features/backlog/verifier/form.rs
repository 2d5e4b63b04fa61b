//! Checks that a file has the format of its name.

use serde::de::DeserializeOwned;
use serde_json::Value;

use kernel::memory::retrieval::headings_of;

/// A document with fewer words below its headings is rejected.
const WORDS: usize = 10;

/// Extensions of text files.
const TEXTS: [&str; 8] = ["csv", "json", "markdown", "md", "toml", "txt", "yaml", "yml"];

/// The result of reading a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Form {
    /// A description: `Markdown, 60 lines, 3 headings, 410 words`.
    pub(super) description: String,
    /// The text with escapes resolved. None for binary files.
    pub(super) text: Option<String>,
}

/// Checks a file by its extension.
///
/// # Errors
/// The problem, as the end of a sentence that began with its name.
pub(super) fn read_form(path: &str, bytes: &[u8], must_be_text: bool) -> Result<Form, String> {
    let ending = path.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
    let text = match std::str::from_utf8(bytes) {
        Ok(text) if text.trim().is_empty() => return Err("is empty".into()),
        Ok(text) => text,
        Err(_) if must_be_text || TEXTS.contains(&ending.as_str()) => return Err("is no UTF-8 text".into()),
        Err(_) => return Ok(Form { description: format!("binary, {} bytes", bytes.len()), text: None }),
    };
    let of_value = |name: &str, value: Value| {
        let words = format!("{name}, {}", describe(&value));
        // An escape in a JSON string may hide an address.
        (words, format!("{text}\n{}", strings_of(&value).join("\n")))
    };
    let (words, text) = match ending.as_str() {
        "md" | "markdown" => (markdown(text)?, text.to_owned()),
        "csv" => (csv(text)?, text.to_owned()),
        "json" => of_value("JSON", parsed("JSON", serde_json::from_str(text))?),
        "toml" => of_value("TOML", parsed("TOML", toml::from_str(text))?),
        "yaml" | "yml" => of_value("YAML", parsed("YAML", serde_saphyr::from_str(text))?),
        _ => (format!("text, {}, {}", counted(text.lines().count(), "line"), counted(words_in(text), "word")), text.to_owned()),
    };
    Ok(Form { description: words, text: Some(text) })
}

/// A document needs text below its headings. A letter has none.
fn markdown(text: &str) -> Result<String, String> {
    let headings = headings_of(text);
    let (mut words, mut fenced) = (0, false);
    for (index, line) in text.lines().enumerate() {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        if !fence && !fenced && !headings.iter().any(|heading| heading.line == index + 1) {
            words += words_in(line);
        }
    }
    if words < WORDS {
        return Err(format!("says nothing below its headings: {}", counted(words, "word")));
    }
    let lines = counted(text.lines().count(), "line");
    Ok(format!("Markdown, {lines}, {}, {}", counted(headings.len(), "heading"), counted(words, "word")))
}

/// A table needs a header, rows, and the same number of fields in each.
fn csv(text: &str) -> Result<String, String> {
    let first = text.trim_start().lines().next().unwrap_or_default();
    let separator =
        [',', ';', '\t'].into_iter().max_by_key(|separator| (first.matches(*separator).count(), *separator == ',')).unwrap_or(',');
    let records = fields_by_record(text, separator)?;
    let columns = records.first().copied().unwrap_or_default();
    if let Some(at) = records.iter().position(|fields| *fields != columns) {
        return Err(format!("is no table: its row {} has {} and its header {columns}", at + 1, counted(records[at], "field")));
    }
    if records.len() < 2 {
        return Err("has no row below its header".into());
    }
    Ok(format!("CSV, {}, {}", counted(columns, "column"), counted(records.len() - 1, "row")))
}

/// The number of fields per record. Quoted fields may contain separators, line breaks and doubled quotes.
fn fields_by_record(text: &str, separator: char) -> Result<Vec<usize>, String> {
    let (mut records, mut fields, mut quoted, mut blank) = (Vec::new(), 1, false, true);
    for c in text.trim_end().chars().chain(['\n']) {
        match c {
            '\n' if !quoted => {
                if !blank {
                    records.push(fields);
                }
                (fields, blank) = (1, true);
            }
            '\r' => {}
            c => {
                fields += usize::from(c == separator && !quoted);
                quoted ^= c == '"';
                blank = false;
            }
        }
    }
    if quoted { Err("has a quote that is never closed".into()) } else { Ok(records) }
}

fn parsed<T: DeserializeOwned, E: std::fmt::Display>(name: &str, value: Result<T, E>) -> Result<T, String> {
    value.map_err(|error| {
        let why = error.to_string();
        format!("is no {name}: {}", why.lines().next().unwrap_or_default())
    })
}

fn describe(value: &Value) -> String {
    match value {
        Value::Object(fields) => counted(fields.len(), "field"),
        Value::Array(entries) => counted(entries.len(), "entry"),
        _ => "one value".into(),
    }
}

/// All strings in a value, including keys.
fn strings_of(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(entries) => entries.iter().flat_map(strings_of).collect(),
        Value::Object(fields) => fields.iter().flat_map(|(name, value)| std::iter::once(name.as_str()).chain(strings_of(value))).collect(),
        _ => Vec::new(),
    }
}

fn words_in(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count()
}

fn counted(count: usize, what: &str) -> String {
    match (count, what.strip_suffix('y')) {
        (1, _) => format!("1 {what}"),
        (count, Some(stem)) => format!("{count} {stem}ies"),
        (count, None) => format!("{count} {what}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROSE: &str = "# Prices\n\nThe three shops that we looked at ask between four and nine dollars for it.\n";

    fn words(path: &str, text: &str) -> Result<String, String> {
        read_form(path, text.as_bytes(), true).map(|form| form.description)
    }

    #[test]
    fn files_of_their_form_are_described() {
        for (path, text, words) in [
            ("a.md", PROSE, "Markdown, 3 lines, 1 heading, 15 words"),
            ("A.MD", PROSE, "Markdown, 3 lines, 1 heading, 15 words"),
            ("a.json", r#"{"a": 1, "b": []}"#, "JSON, 2 fields"),
            ("a.json", "[1]", "JSON, 1 entry"),
            ("a.toml", "[a]\nb = 1", "TOML, 1 field"),
            ("a.md", "Dear neighbours, we open on Saturday and ask you in for a free coffee.", "Markdown, 1 line, 0 headings, 14 words"),
            (
                "a.md",
                "```\n# no heading\n```\nIt is only a comment of some code and never a heading.",
                "Markdown, 4 lines, 0 headings, 12 words",
            ),
            ("a.yaml", "- a\n- b", "YAML, 2 entries"),
            ("a.csv", "a,b\n1,2\n\"3, 4\n\"\"x\"\"\",5\n", "CSV, 2 columns, 2 rows"),
            ("a.csv", "a;b\r\n1,5;2\r\n", "CSV, 2 columns, 1 row"),
            ("notes.txt", "One line\nand another.", "text, 2 lines, 4 words"),
            ("Makefile", "all:", "text, 1 line, 1 word"),
        ] {
            assert_eq!(self::words(path, text).as_deref(), Ok(words), "{path}: {text}");
        }
    }

    #[test]
    fn files_of_another_form_are_refused_with_what_is_wrong() {
        for (path, text, why) in [
            ("a.md", " \n\t\n", "is empty"),
            ("a.md", "# Prices\n## More\n", "says nothing below its headings: 0 words"),
            ("a.md", "# Prices\n```\na b c d e f g h i j k l m n o p\n```\nSoon.", "says nothing below its headings: 1 word"),
            ("a.json", "{\"a\": 1", "is no JSON: EOF while parsing an object at line 1 column 7"),
            ("a.csv", "a,b\n1,2,3\n", "is no table: its row 2 has 3 fields and its header 2"),
            ("a.csv", "a,b\n", "has no row below its header"),
            ("a.csv", "a,b\n\"1,2\n", "has a quote that is never closed"),
        ] {
            assert_eq!(words(path, text), Err(why.to_owned()), "{path}: {text}");
        }
        for (path, text, why) in [("a.toml", "a = ", "is no TOML: "), ("a.yaml", "a: [1", "is no YAML: ")] {
            assert!(words(path, text).is_err_and(|error| error.starts_with(why)), "{path}");
        }
    }

    #[test]
    fn only_what_is_built_may_be_no_text() {
        let picture = [0x89, b'P', b'N', b'G', 0xff];
        assert_eq!(read_form("a.png", &picture, false).expect("a picture").description, "binary, 5 bytes");
        assert_eq!(read_form("a.png", &picture, true), Err("is no UTF-8 text".into()));
        assert_eq!(read_form("a.md", &picture, false), Err("is no UTF-8 text".into()));
    }

    #[test]
    fn what_strings_spell_by_escapes_is_in_the_text() {
        let form = read_form("a.json", br#"{"a": ["https\u003a\u002f\u002fa.example"]}"#, true).expect("JSON");
        assert!(form.text.expect("a text").contains("https://a.example"));
    }
}
