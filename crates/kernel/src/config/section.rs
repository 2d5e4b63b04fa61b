use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use secrecy::SecretString;

use crate::config::declared::DeclaredKey;
use crate::config::error::ConfigError;
use crate::config::setting::Setting;
use crate::config::{KeyPath, Reader};

/// Keys with a variable name that other Discord tools use too.
const OWN_NAMES: [(&str, &str); 2] = [("discord.api_url", "DISCORD_API_URL"), ("discord.gateway_url", "DISCORD_GATEWAY_URL")];

/// A table of the configuration.
pub struct Section<'r> {
    reader: &'r mut Reader,
    path: KeyPath,
    /// True in a table whose keys the operator names. Such keys have no variable.
    free: bool,
}

impl<'r> Section<'r> {
    pub fn root(reader: &'r mut Reader) -> Self {
        Self { reader, path: Vec::new(), free: false }
    }

    pub fn section(&mut self, name: &str) -> Section<'_> {
        let path = self.path_of(name);
        Section { reader: self.reader, path, free: self.free }
    }

    /// Whether the default file is written, so that nothing is set.
    pub fn is_describing(&self) -> bool {
        self.reader.describing
    }

    /// The names of the tables inside the table `name`, in file order.
    pub fn list_entries(&mut self, name: &str, example: &str) -> Vec<String> {
        if self.reader.describing {
            return vec![example.to_owned()];
        }
        let path = self.path_of(name);
        let (dotted, numbered) = (path.join("."), example.parse::<usize>().is_ok());
        let heading = if numbered { format!("[[{dotted}]]") } else { format!("[{dotted}.{example}]") };
        self.reader.free_tables.insert(path.clone(), heading);
        let tables = self.reader.document.tables.iter();
        let mut found: Vec<_> = tables.filter(|(table, _)| table.len() == path.len() + 1 && table.starts_with(&path)).collect();
        found.sort_by_key(|(_, line)| **line);
        found.into_iter().filter_map(|(table, _)| table.last().cloned()).collect()
    }

    /// One of [`Section::list_entries`].
    pub fn entry(&mut self, name: &str, entry: &str) -> Section<'_> {
        let mut path = self.path_of(name);
        path.push(entry.to_owned());
        Section { reader: self.reader, path, free: true }
    }

    /// Reads another file beside `teamroom.toml` as part of the table `name`, and returns its whole path. Its errors are recorded.
    pub fn include(&mut self, name: &str, file: &Path, required: bool) -> PathBuf {
        let (path, table) = (self.reader.document.dir.join(file), self.path_of(name));
        if !self.reader.describing {
            let errors = self.reader.document.include(&path, required, &table);
            self.reader.errors.extend(errors);
        }
        path
    }

    /// The value of a key, or its default.
    pub fn read<T: Setting>(&mut self, key: &str, default: T, about: &'static str) -> T {
        self.read_where(key, default, &T::allowed(), about, |_| true)
    }

    /// Like `read`, for a number or a time with limits.
    pub fn read_within<T>(&mut self, key: &str, default: T, range: RangeInclusive<T>, about: &'static str) -> T
    where
        T: Setting + PartialOrd,
    {
        let allowed = format!("{} from {} to {}", T::allowed(), range.start().render(), range.end().render());
        self.read_where(key, default, &allowed, about, |value| range.contains(value))
    }

    /// Like `read`, for values that `fits` accepts. `allowed` describes them.
    pub fn read_where<T: Setting>(&mut self, key: &str, default: T, allowed: &str, about: &'static str, fits: impl Fn(&T) -> bool) -> T {
        self.declare(key, default.render(), allowed, about);
        self.find(key, allowed, fits).unwrap_or(default)
    }

    /// A required key. If it is missing, an error is recorded and the result is None.
    pub fn require<T: Setting>(&mut self, key: &str, example: T, about: &'static str) -> Option<T> {
        self.require_where(key, example, &T::allowed(), about, |_| true)
    }

    pub fn require_where<T: Setting>(
        &mut self,
        key: &str,
        example: T,
        allowed: &str,
        about: &'static str,
        fits: impl Fn(&T) -> bool,
    ) -> Option<T> {
        self.declare(key, example.render(), allowed, about);
        if self.reader.describing {
            return Some(example);
        }
        if !self.is_set(key) {
            self.refuse(key, format!("is missing. Give {allowed}"));
            return None;
        }
        self.find(key, allowed, fits)
    }

    /// See [`Reader::variable`].
    pub fn variable(&mut self, name: &str, example: &str, about: &'static str) -> Option<String> {
        self.reader.variable(name, example, about)
    }

    /// See [`Reader::secret`].
    pub fn secret(&mut self, name: &str, about: &'static str) -> Option<SecretString> {
        self.reader.secret(name, about)
    }

    /// The names of all variables that are set.
    pub fn list_variables(&self) -> Vec<String> {
        self.reader.variables.keys().cloned().collect()
    }

    /// Reads a key of another section, which declares and checks it.
    pub fn peek<T: Setting>(&self, path: &[&str]) -> Option<T> {
        let path: KeyPath = path.iter().map(|&name| name.to_owned()).collect();
        self.reader.find(&path, Some(&variable_of(&path))).and_then(|found| T::parse(&found.given))
    }

    /// Whether a key is set.
    pub fn is_set(&self, key: &str) -> bool {
        let path = self.path_of(key);
        self.reader.find(&path, self.variable_of(&path).as_deref()).is_some()
    }

    /// Records an error for a key, with the place where it is set or else its table.
    pub fn refuse(&mut self, key: &str, problem: impl Into<String>) {
        let path = self.path_of(key);
        let found = self.reader.find(&path, self.variable_of(&path).as_deref());
        let document = &self.reader.document;
        let place = || document.tables.get(&self.path).map_or_else(|| document.name().to_owned(), |line| document.place(*line));
        let (place, key) = found.map_or_else(|| (place(), path.join(".")), |found| (found.place, found.key));
        self.reader.errors.push(ConfigError { place, key, problem: problem.into() });
    }

    /// Records an error for a variable without a key.
    pub fn refuse_variable(&mut self, name: &str, problem: impl Into<String>) {
        self.reader.refuse_variable(name, problem);
    }

    fn declare(&mut self, key: &str, shown: String, allowed: &str, about: &'static str) {
        let path = self.path_of(key);
        let variable = self.variable_of(&path);
        let numbered = self.path.last().is_some_and(|name| name.parse::<usize>().is_ok());
        self.reader.keys.push(DeclaredKey { path, variable, shown, allowed: allowed.into(), about, free: self.free, numbered });
    }

    fn find<T: Setting>(&mut self, key: &str, allowed: &str, fits: impl Fn(&T) -> bool) -> Option<T> {
        let path = self.path_of(key);
        let found = self.reader.find(&path, self.variable_of(&path).as_deref())?;
        let value = T::parse(&found.given).filter(fits);
        if value.is_none() {
            let problem = format!("{} is not allowed. Give {allowed}", found.given);
            self.reader.errors.push(ConfigError { place: found.place, key: found.key, problem });
        }
        value
    }

    fn path_of(&self, key: &str) -> KeyPath {
        self.path.iter().cloned().chain([key.to_owned()]).collect()
    }

    fn variable_of(&self, path: &KeyPath) -> Option<String> {
        (!self.free).then(|| variable_of(path))
    }
}

fn variable_of(path: &KeyPath) -> String {
    let dotted = path.join(".");
    let own = OWN_NAMES.iter().find(|(key, _)| *key == dotted).map(|(_, name)| (*name).to_owned());
    own.unwrap_or_else(|| format!("TEAMROOM_{}", path.join("_").to_uppercase()))
}
