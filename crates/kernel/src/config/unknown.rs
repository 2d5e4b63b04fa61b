use crate::config::declared::DeclaredKey;
use crate::config::error::ConfigError;
use crate::config::nearest::find_nearest;
use crate::config::setting::Given;
use crate::config::{ENVIRONMENT, KeyPath, Reader};

/// Variables with our prefix that only tests and scripts use.
const OF_TESTS: [&str; 3] = ["TEAMROOM_DISCORD_DATA", "TEAMROOM_REQUIRE", "TEAMROOM_TEST_"];
/// Unknown variables with these prefixes are reported as mistakes.
const OURS: [&str; 4] = ["TEAMROOM_", "DISCORD_TOKEN", "DISCORD_API_", "DISCORD_GATEWAY_"];

/// All given values that no section declared.
pub(super) fn list_unknown(reader: &Reader) -> Vec<ConfigError> {
    let tables = reader.document.tables.iter().filter_map(|(path, line)| {
        let problem = explain_table(reader, path)?;
        Some((*line, path, problem))
    });
    let keys = reader.document.entries.iter().filter_map(|(path, entry)| {
        let problem =
            if entry.given == Given::List(Vec::new()) && reader.free_tables.contains_key(path) { None } else { explain_key(reader, path) }?;
        Some((entry.line, path, problem))
    });
    let mut in_file: Vec<_> = tables.chain(keys).collect();
    in_file.sort_by_key(|(line, ..)| *line);
    let in_file =
        in_file.into_iter().map(|(line, path, problem)| ConfigError { place: reader.document.place(line), key: path.join("."), problem });
    in_file.chain(list_variables(reader)).chain(list_overrides(reader)).collect()
}

fn explain_key(reader: &Reader, path: &KeyPath) -> Option<String> {
    if reader.keys.iter().any(|key| key.path == *path) {
        return None;
    }
    if let Some(variable) = find_secret(path) {
        return Some(format!("secrets do not belong in this file; put it into .env as {variable}"));
    }
    let (name, section) = path.split_last()?;
    if let Some(heading) = [path, section].into_iter().find_map(|table| reader.free_tables.get(table)) {
        return Some(format!("is not allowed; write a heading such as {heading} and its keys below"));
    }
    if is_section(reader, path) {
        return Some(format!("is a section; write [{}] and its keys below", path.join(".")));
    }
    if let Some(elsewhere) = reader.keys.iter().find(|key| section.is_empty() && key.name() == name && !key.free) {
        return Some(format!("belongs under the heading [{}]", elsewhere.section().join(".")));
    }
    let siblings: Vec<_> = reader.keys.iter().filter(|key| key.section() == section).map(DeclaredKey::name).collect();
    // The unknown table was reported already.
    (!siblings.is_empty()).then(|| match find_nearest(name, siblings.iter().copied()) {
        Some(meant) => format!("unknown key; did you mean {meant}?"),
        None => format!("unknown key; allowed here: {}", siblings.join(", ")),
    })
}

fn explain_table(reader: &Reader, path: &KeyPath) -> Option<String> {
    if reader.keys.iter().any(|key| key.path == *path) {
        return Some("is one value, no table".into());
    }
    let (_, above) = path.split_last()?;
    if is_section(reader, path) || !is_section(reader, above) || holds_secrets_only(reader, path) {
        return None;
    }
    let mut sections: Vec<_> = reader.keys.iter().map(|key| key.section().join(".")).filter(|name| !name.is_empty()).collect();
    sections.dedup();
    Some(match find_nearest(&path.join("."), sections.iter().map(String::as_str)) {
        Some(meant) => format!("unknown section; did you mean [{meant}]?"),
        None => format!("unknown section; there are {}", sections.join(", ")),
    })
}

fn is_section(reader: &Reader, path: &[String]) -> bool {
    path.is_empty() || reader.free_tables.contains_key(path) || reader.keys.iter().any(|key| key.path.starts_with(path))
}

/// Whether a table contains only secrets. Such a table needs no error of its own, because each key has a more specific one.
fn holds_secrets_only(reader: &Reader, path: &KeyPath) -> bool {
    let mut inside = reader.document.entries.keys().filter(|entry| entry.starts_with(path)).peekable();
    inside.peek().is_some() && inside.all(|entry| find_secret(entry).is_some())
}

/// The variable for a secret that was put into the file.
fn find_secret(path: &KeyPath) -> Option<String> {
    let name = path.last()?.to_lowercase();
    let above = path.iter().rev().nth(1).map_or("", String::as_str);
    let upper = |text: &str| text.to_uppercase().replace('-', "_");
    if name == "database_url" {
        return Some("DATABASE_URL".into());
    }
    if above == "tokens" {
        return Some(format!("DISCORD_TOKEN_{}", upper(&name)));
    }
    if let Some(persona) = name.strip_prefix("token_").or_else(|| name.strip_prefix("discord_token_")) {
        return Some(format!("DISCORD_TOKEN_{}", upper(persona)));
    }
    match name.as_str() {
        "token" if above == "server" => Some("TEAMROOM_SERVER_TOKEN".into()),
        "token" | "bot_token" | "discord_token" => Some("DISCORD_TOKEN_<PERSONA>".into()),
        "key" | "api_key" | "apikey" | "secret" | "password" if above.is_empty() || above == "models" => Some("<PROVIDER>_API_KEY".into()),
        "key" | "api_key" | "apikey" | "secret" | "password" => Some(format!("{}_API_KEY", upper(above))),
        _ => name.strip_suffix("_api_key").map(|provider| format!("{}_API_KEY", upper(provider))),
    }
}

fn list_variables(reader: &Reader) -> Vec<ConfigError> {
    let secrets = reader.declared_variables.iter().filter(|variable| variable.secret);
    let files: Vec<_> = secrets.map(|variable| format!("{}_FILE", variable.name)).collect();
    let declared = reader.declared_variables.iter().map(|variable| variable.name.as_str());
    let of_keys = reader.keys.iter().filter_map(|key| key.variable.as_deref());
    let known: Vec<&str> = declared.chain(of_keys).chain(files.iter().map(String::as_str)).collect();
    let ours = reader
        .variables
        .keys()
        .filter(|name| OURS.iter().any(|prefix| name.starts_with(prefix)) && !OF_TESTS.iter().any(|prefix| name.starts_with(prefix)));
    ours.filter(|name| !known.contains(&name.as_str()))
        .map(|name| {
            let problem = match find_nearest(name, known.iter().copied()) {
                _ if name == "DISCORD_TOKEN" => "a token belongs to a persona; name it, such as DISCORD_TOKEN_KELLY".into(),
                Some(meant) => format!("unknown variable; did you mean {meant}?"),
                None => "unknown variable; .env.example lists all there are".into(),
            };
            ConfigError { place: ENVIRONMENT.into(), key: name.clone(), problem }
        })
        .collect()
}

fn list_overrides(reader: &Reader) -> Vec<ConfigError> {
    let keys: Vec<_> = reader.keys.iter().map(|key| key.path.join(".")).collect();
    let unknown = reader.overrides.keys().filter(|name| !keys.contains(name));
    unknown
        .map(|name| {
            let meant = find_nearest(name, keys.iter().map(String::as_str)).map(|meant| format!("; did you mean {meant}?"));
            let problem = format!("unknown key{}", meant.unwrap_or_default());
            ConfigError { place: super::COMMAND_LINE.into(), key: name.clone(), problem }
        })
        .collect()
}
