//! Reads settings: one declaration per key, all errors collected.
//!
//! A section asks for its keys one by one with name, default and help text. The same code reads the settings, writes the commented default
//! file and `.env.example`, and detects unknown keys.

mod declared;
mod document;
mod error;
mod nearest;
mod section;
mod setting;
mod sources;
mod table;
mod unknown;
mod values;

use std::collections::BTreeMap;
use std::path::Path;

use secrecy::SecretString;

pub use error::{ConfigError, ConfigErrors};
pub use nearest::find_nearest;
pub use section::Section;
pub use setting::{Given, Setting, choice, setting};
pub use sources::Sources;
pub use table::{hours, millis, mins, secs, settings};

use declared::{DeclaredKey, DeclaredVariable};
use document::Document;

/// The names of tables and keys from the top of the file down.
type KeyPath = Vec<String>;

/// The source of a value, for error messages.
const ENVIRONMENT: &str = "environment or .env";
const COMMAND_LINE: &str = "command line";

/// The given values, the declared keys and the errors.
#[derive(Default)]
pub struct Reader {
    document: Document,
    variables: BTreeMap<String, String>,
    overrides: BTreeMap<String, String>,
    /// True while the default file is written. Tables with free names then return an example.
    describing: bool,
    keys: Vec<DeclaredKey>,
    /// Tables whose entries the operator names, with the heading of one entry.
    free_tables: BTreeMap<KeyPath, String>,
    declared_variables: Vec<DeclaredVariable>,
    errors: Vec<ConfigError>,
}

/// A value and its source.
struct Found {
    place: String,
    /// The key as the operator wrote it: `chat.max_responders` or the name of a variable.
    key: String,
    given: Given,
}

impl Reader {
    pub fn new(sources: Sources) -> Self {
        let (document, errors) = Document::read(&sources);
        // Empty variables count as not set, because Compose files and CI pass them.
        let variables = sources.env.into_iter().filter(|(_, value)| !value.trim().is_empty()).collect();
        Self { document, variables, overrides: sources.overrides, errors, ..Self::default() }
    }

    /// A reader without values, which collects the declarations. `named`: variables that exist only for a persona.
    pub fn describing(named: impl IntoIterator<Item = String>) -> Self {
        let variables = named.into_iter().map(|name| (name, String::new())).collect();
        Self { describing: true, variables, ..Self::default() }
    }

    /// The keys before the first section.
    pub fn root(&mut self) -> Section<'_> {
        Section::root(self)
    }

    /// Finishes reading. Unknown keys are errors.
    pub fn finish(mut self) -> Result<(), ConfigErrors> {
        let unknown = unknown::list_unknown(&self);
        self.errors.extend(unknown);
        if self.errors.is_empty() { Ok(()) } else { Err(ConfigErrors(self.errors)) }
    }

    /// The commented default file as TOML.
    pub fn render_file(&self) -> String {
        declared::render_file(&self.keys)
    }

    /// The commented default `.env`.
    pub fn render_env(&self) -> String {
        declared::render_env(&self.declared_variables, &self.keys)
    }

    /// The command line overrides the environment, which overrides the file.
    fn find(&self, path: &KeyPath, variable: Option<&str>) -> Option<Found> {
        let key = path.join(".");
        if let Some(text) = self.overrides.get(&key) {
            return Some(Found { place: COMMAND_LINE.into(), key, given: Given::Variable(text.clone()) });
        }
        if let Some((name, text)) = variable.and_then(|name| self.variables.get_key_value(name)) {
            return Some(Found { place: ENVIRONMENT.into(), key: name.clone(), given: Given::Variable(text.clone()) });
        }
        let entry = self.document.entries.get(path)?;
        Some(Found { place: self.document.place(entry.line), key, given: entry.given.clone() })
    }

    /// A variable without a key in the file.
    fn variable(&mut self, name: &str, example: &str, about: &'static str) -> Option<String> {
        self.declare_variable(name, example, about, false);
        self.variables.get(name).map(|text| text.trim().to_owned())
    }

    /// A secret from the variable `name`, or from the file named by `<name>_FILE`.
    fn secret(&mut self, name: &str, about: &'static str) -> Option<SecretString> {
        self.declare_variable(name, "", about, true);
        let file_variable = format!("{name}_FILE");
        let secret = match (self.variables.get(name), self.variables.get(&file_variable)) {
            (Some(_), Some(_)) => Err((name, format!("is set, and so is {file_variable}. Keep only one"))),
            (None, Some(path)) => read_secret(Path::new(path.trim())).map_err(|problem| (file_variable.as_str(), problem)),
            (value, None) => Ok(value.map(|text| text.trim().to_owned())),
        };
        match secret {
            Ok(Some(text)) if text.chars().any(|c| c.is_whitespace() || c.is_control()) => {
                self.refuse_variable(name, "contains a space or line break. Give only the secret");
                None
            }
            Ok(text) => text.map(SecretString::from),
            Err((variable, problem)) => {
                let variable = variable.to_owned();
                self.refuse_variable(&variable, problem);
                None
            }
        }
    }

    fn declare_variable(&mut self, name: &str, example: &str, about: &'static str, secret: bool) {
        if !self.declared_variables.iter().any(|known| known.name == name) {
            self.declared_variables.push(DeclaredVariable { name: name.into(), example: example.into(), about, secret });
        }
    }

    fn refuse_variable(&mut self, name: &str, problem: impl Into<String>) {
        self.errors.push(ConfigError { place: ENVIRONMENT.into(), key: name.into(), problem: problem.into() });
    }
}

fn read_secret(path: &Path) -> Result<Option<String>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    if text.trim().is_empty() { Err(format!("{} is empty", path.display())) } else { Ok(Some(text.trim().to_owned())) }
}
