use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::config::error::ConfigError;
use crate::config::setting::Given;
use crate::config::{KeyPath, Sources};

/// `teamroom.toml` and the files that it includes, flattened: each value by the path of its key, with its line. Tables of an array are numbered from 1.
#[derive(Default)]
pub(super) struct Document {
    /// The folder of `teamroom.toml`.
    pub dir: PathBuf,
    /// The files as they are shown, `teamroom.toml` first.
    names: Vec<String>,
    pub entries: BTreeMap<KeyPath, Entry>,
    /// The first line of each table. Needed for empty tables.
    pub tables: BTreeMap<KeyPath, Line>,
}

pub(super) struct Entry {
    pub line: Line,
    pub given: Given,
}

/// A line of one of the files. Those of `teamroom.toml` come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Line {
    file: usize,
    number: usize,
}

impl Document {
    /// Reads the file. A file named by the operator must exist; `teamroom.toml` is optional.
    pub(super) fn read(sources: &Sources) -> (Self, Vec<ConfigError>) {
        let path = sources.file.clone().unwrap_or_else(|| sources.dir.join("teamroom.toml"));
        let mut document = Self { dir: sources.dir.join(&path).parent().unwrap_or(&sources.dir).to_owned(), ..Self::default() };
        let name = path.strip_prefix(&sources.dir).unwrap_or(&path).display().to_string();
        let errors = document.add(name, &path, sources.file.is_some(), Vec::new());
        (document, errors)
    }

    /// Reads another file, whose tables count as those of `table`. Tables that `teamroom.toml` has itself win.
    pub(super) fn include(&mut self, path: &Path, required: bool, table: &KeyPath) -> Vec<ConfigError> {
        let mut other = Self { names: self.names.clone(), ..Self::default() };
        let name = path.strip_prefix(&self.dir).unwrap_or(path).display().to_string();
        let errors = other.add(name, path, required, table.clone());
        let is_known = |path: &KeyPath| self.tables.contains_key(&path[..path.len().min(table.len() + 1)]);
        other.entries.retain(|path, _| !is_known(path));
        other.tables.retain(|path, _| !is_known(path));
        self.names = other.names;
        self.entries.append(&mut other.entries);
        self.tables.append(&mut other.tables);
        errors
    }

    /// Continues after a syntax error, so that one run reports all errors.
    fn add(&mut self, name: String, path: &Path, required: bool, mut table: KeyPath) -> Vec<ConfigError> {
        self.names.push(name.clone());
        let text = match read_text(path, required) {
            Ok(text) => text,
            Err(problem) => return vec![ConfigError { place: name, key: "file".into(), problem }],
        };
        let (parsed, syntax) = DeTable::parse_recoverable(&text);
        self.flatten(&text, &mut table, parsed.get_ref());
        syntax.iter().map(|error| self.explain(&text, error)).collect()
    }

    /// `teamroom.toml`, or the file in its place.
    pub(super) fn name(&self) -> &str {
        self.names.first().map_or("teamroom.toml", String::as_str)
    }

    fn explain(&self, text: &str, error: &toml::de::Error) -> ConfigError {
        let span = error.span().unwrap_or_default();
        let line = self.line_at(text, span.start);
        if error.message() == "duplicate key"
            && let Some((key, first)) = self.find_first(text, line, text.get(span).unwrap_or_default())
        {
            let problem = format!("stands here for the second time, first in line {}. Put everything into one place", first.number);
            return ConfigError { place: self.place(line), key, problem };
        }
        let problem = error.message().lines().collect::<Vec<_>>().join("; ");
        ConfigError { place: self.place(line), key: "syntax".into(), problem }
    }

    /// The first place of a heading or a key that `line` repeats.
    fn find_first(&self, text: &str, line: Line, key: &str) -> Option<(String, Line)> {
        let heading = |line: &str| line.split('#').next().unwrap_or_default().trim().to_owned();
        let repeated = heading(text.lines().nth(line.number - 1)?);
        if repeated.starts_with('[') {
            let first = Line { number: text.lines().position(|line| heading(line) == repeated)? + 1, ..line };
            return (first < line).then_some((repeated, first));
        }
        let key = key.trim().trim_matches('"');
        let is_before = |before: Line| before.file == line.file && before < line;
        let before = self.entries.iter().filter(|(path, entry)| is_before(entry.line) && path.last().is_some_and(|name| name == key));
        before.max_by_key(|(_, entry)| entry.line).map(|(path, entry)| (path.join("."), entry.line))
    }

    /// `teamroom.toml:12`.
    pub(super) fn place(&self, line: Line) -> String {
        format!("{}:{}", self.names[line.file], line.number)
    }

    /// A place in the file that was added last. Lines are counted from 1.
    fn line_at(&self, text: &str, offset: usize) -> Line {
        let number = text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1;
        Line { file: self.names.len() - 1, number }
    }

    fn flatten(&mut self, text: &str, path: &mut KeyPath, table: &DeTable<'_>) {
        for (key, value) in table {
            path.push(key.get_ref().to_string());
            self.record(text, path, self.line_at(text, key.span().start), value);
            path.pop();
        }
    }

    fn record(&mut self, text: &str, path: &mut KeyPath, line: Line, value: &Spanned<DeValue<'_>>) {
        match value.get_ref() {
            DeValue::Table(table) => {
                self.tables.insert(path.clone(), line);
                self.flatten(text, path, table);
            }
            DeValue::Array(items) if !items.is_empty() && items.iter().all(|item| item.get_ref().is_table()) => {
                for (number, item) in (1..).zip(items.iter()) {
                    path.push(number.to_string());
                    self.record(text, path, self.line_at(text, item.span().start), item);
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
