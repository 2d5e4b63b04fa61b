use std::fmt::Write as _;

use crate::config::KeyPath;

/// A key requested by the code.
pub(super) struct DeclaredKey {
    pub path: KeyPath,
    pub variable: Option<String>,
    /// Its default or an example, as TOML.
    pub shown: String,
    pub allowed: String,
    pub about: &'static str,
    /// The operator names its table, so an example is shown.
    pub free: bool,
    /// Its table is an entry of an array of tables.
    pub numbered: bool,
}

impl DeclaredKey {
    pub(super) fn name(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }

    pub(super) fn section(&self) -> &[String] {
        &self.path[..self.path.len() - 1]
    }

    /// The heading above its keys: `[chat]`, `[[chat.channels]]`, or none at the top. Written as a comment, so that sections from elsewhere can be
    /// pasted into the file.
    fn heading(&self) -> Option<String> {
        let section = self.section();
        match section {
            [] => None,
            [above @ .., _] if self.numbered => Some(format!("{EXAMPLE}\n#[[{}]]", above.join("."))),
            _ if self.free => Some(format!("{EXAMPLE}\n#[{}]", section.iter().map(|name| quote_key(name)).collect::<Vec<_>>().join("."))),
            _ => Some(format!("#[{}]", section.join("."))),
        }
    }
}

/// An environment variable without a key in the file.
pub(super) struct DeclaredVariable {
    pub name: String,
    pub example: String,
    pub about: &'static str,
    pub secret: bool,
}

const FILE_HEAD: &str = "\
# Settings of Teamroom. All of them are optional, and each #key shows its default. To change one, remove the # before it and
# before the [heading] above it. Environment variables and lines in .env override this file. Do not put secrets here:
# .env.example shows where they go.
";

/// Above a section whose name the operator chooses.
const EXAMPLE: &str = "# An example.";

const ENV_HEAD: &str = "\
# Secrets and addresses of Teamroom. Copy this file to .env (`teamroom init` does that) and fill in what you have. Everything is
# optional. Remove the # to set a line. The environment of the process overrides .env. Put a value with spaces, $ or # in
# single quotes. Each secret can also be in a file of its own: NAME_FILE=/path/of/the/file instead of NAME=secret.
";

const ENV_KEYS_HEAD: &str = "\
# Every key of teamroom.toml can be set here too. Separate the items of a list with commas. These lines show the defaults.
";

pub(super) fn render_file(keys: &[DeclaredKey]) -> String {
    let mut text = String::from(FILE_HEAD);
    let mut section: Option<&[String]> = None;
    for key in keys {
        push_line(&mut text, "");
        if section.replace(key.section()) != Some(key.section())
            && let Some(heading) = key.heading()
        {
            push_line(&mut text, &heading);
        }
        push_comment(&mut text, key.about);
        push_comment(&mut text, &format!("Allowed: {}.", key.allowed));
        push_line(&mut text, &format!("#{} = {}", quote_key(key.name()), key.shown));
    }
    text
}

pub(super) fn render_env(variables: &[DeclaredVariable], keys: &[DeclaredKey]) -> String {
    let mut text = String::from(ENV_HEAD);
    let mut about = "";
    for variable in variables {
        // Variables with the same help text (the token of each persona) share a paragraph.
        if variable.about != about {
            about = variable.about;
            push_line(&mut text, "");
            push_comment(&mut text, about);
        }
        push_line(&mut text, &format!("#{}={}", variable.name, variable.example));
    }
    push_line(&mut text, "");
    text.push_str(ENV_KEYS_HEAD);
    for key in keys {
        if let Some(variable) = &key.variable {
            push_line(&mut text, "");
            push_comment(&mut text, key.about);
            push_line(&mut text, &format!("#{variable}={}", shell_value(&key.shown)));
        }
    }
    text
}

/// Formats a TOML value for a variable.
fn shell_value(shown: &str) -> String {
    let bare: String = shown.chars().filter(|c| !matches!(c, '"' | '[' | ']')).collect();
    if bare.contains([' ', '#', '$']) { format!("'{bare}'") } else { bare }
}

fn quote_key(key: &str) -> String {
    let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    if bare { key.to_owned() } else { format!("{key:?}") }
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// Wraps at 110 characters for terminals.
fn push_comment(text: &mut String, comment: &str) {
    let mut width = 0;
    for word in comment.split_whitespace() {
        let length = word.chars().count();
        let begins = width == 0 || width + 1 + length > 110;
        let before = if width == 0 {
            "# "
        } else if begins {
            "\n# "
        } else {
            " "
        };
        write!(text, "{before}{word}").expect("a String takes everything");
        width = if begins { length + 2 } else { width + 1 + length };
    }
    text.push('\n');
}
