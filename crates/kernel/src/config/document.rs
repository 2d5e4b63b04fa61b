use std::collections::BTreeMap;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::config::error::ConfigError;
use crate::config::setting::Given;
use crate::config::{KeyPath, Sources};

/// `teamroom.toml`, flattened: each value by the path of its key, with its line. Tables of an array are numbered from 1.
#[derive(Default)]
pub(super) struct Document {
    pub name: String,
    pub entries: BTreeMap<KeyPath, Entry>,
    /// The first line of each table. Needed for empty tables.
    pub tables: BTreeMap<KeyPath, usize>,
}

pub(super) struct Entry {
    pub line: usize,
    pub given: Given,
}

impl Document {
    /// Reads the file. A file named by the operator must exist; `teamroom.toml` is optional.
    pub(super) fn read(sources: &Sources) -> (Self, Vec<ConfigError>) {
        let path = sources.file.clone().unwrap_or_else(|| sources.dir.join("teamroom.toml"));
        let name = path.strip_prefix(&sources.dir).unwrap_or(&path).display().to_string();
        match read_text(&path, sources.file.is_some()) {
            Ok(text) => Self::parse(name, &text),
            Err(problem) => {
                let error = ConfigError { place: name.clone(), key: "file".into(), problem };
                (Self { name, ..Self::default() }, vec![error])
            }
        }
    }

    /// Continues after a syntax error, so that one run reports all errors.
    fn parse(name: String, text: &str) -> (Self, Vec<ConfigError>) {
        let (table, syntax) = DeTable::parse_recoverable(text);
        let mut document = Self { name, ..Self::default() };
        document.flatten(text, &mut Vec::new(), table.get_ref());
        let errors = syntax.iter().map(|error| document.explain(text, error)).collect();
        (document, errors)
    }

    fn explain(&self, text: &str, error: &toml::de::Error) -> ConfigError {
        let span = error.span().unwrap_or_default();
        let line = line_at(text, span.start);
        if error.message() == "duplicate key"
            && let Some((key, first)) = self.find_first(text, line, text.get(span).unwrap_or_default())
        {
            let problem = format!("stands here for the second time, first in line {first}. Put everything into one place");
            return ConfigError { place: self.place(line), key, problem };
        }
        let problem = error.message().lines().collect::<Vec<_>>().join("; ");
        ConfigError { place: self.place(line), key: "syntax".into(), problem }
    }

    /// Where the heading or the key of a line stood before.
    fn find_first(&self, text: &str, line: usize, key: &str) -> Option<(String, usize)> {
        let heading = |line: &str| line.split('#').next().unwrap_or_default().trim().to_owned();
        let repeated = heading(text.lines().nth(line - 1)?);
        if repeated.starts_with('[') {
            let first = text.lines().position(|line| heading(line) == repeated)? + 1;
            return (first < line).then_some((repeated, first));
        }
        let key = key.trim().trim_matches('"');
        let before = self.entries.iter().filter(|(path, entry)| entry.line < line && path.last().is_some_and(|name| name == key));
        before.max_by_key(|(_, entry)| entry.line).map(|(path, entry)| (path.join("."), entry.line))
    }

    /// `teamroom.toml:12`.
    pub(super) fn place(&self, line: usize) -> String {
        format!("{}:{line}", self.name)
    }

    fn flatten(&mut self, text: &str, path: &mut KeyPath, table: &DeTable<'_>) {
        for (key, value) in table {
            path.push(key.get_ref().to_string());
            self.record(text, path, line_at(text, key.span().start), value);
            path.pop();
        }
    }

    fn record(&mut self, text: &str, path: &mut KeyPath, line: usize, value: &Spanned<DeValue<'_>>) {
        match value.get_ref() {
            DeValue::Table(table) => {
                self.tables.insert(path.clone(), line);
                self.flatten(text, path, table);
            }
            DeValue::Array(items) if !items.is_empty() && items.iter().all(|item| item.get_ref().is_table()) => {
                for (number, item) in (1..).zip(items.iter()) {
                    path.push(number.to_string());
                    self.record(text, path, line_at(text, item.span().start), item);
                    path.pop();
                }
            }
            value => {
                self.entries.insert(path.clone(), Entry { line, given: given(value) });
            }
        }
    }
}

fn read_text(path: &Path, required: bool) -> Result<String, String> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !required => Ok(String::new()),
        Err(error) => Err(format!("cannot be read: {error}")),
    }
}

/// Lines are counted from 1.
fn line_at(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}

fn given(value: &DeValue<'_>) -> Given {
    match value {
        DeValue::String(text) => Given::Text(text.to_string()),
        DeValue::Boolean(value) => Given::Boolean(*value),
        DeValue::Integer(number) => {
            i64::from_str_radix(number.as_str(), number.radix()).map_or_else(|_| Given::Other(number.as_str().into()), Given::Integer)
        }
        DeValue::Float(number) => number.as_str().parse().map_or_else(|_| Given::Other(number.as_str().into()), Given::Float),
        DeValue::Array(items) => Given::List(items.iter().map(|item| given(item.get_ref())).collect()),
        DeValue::Datetime(time) => Given::Other(time.to_string()),
        DeValue::Table(_) => Given::Other("a table".into()),
    }
}
