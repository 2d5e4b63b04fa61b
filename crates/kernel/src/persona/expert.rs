//! Expert files: guests of meetings, without an account. YAML front matter between two lines of `---` (`name` and `expertise` are required), then
//! persona and background in Markdown.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::ids::PersonaSlug;
use crate::persona::file::{Check, DEFAULT_CAP, MAX_BYTES, MAX_NAME, NamedPicture, PersonaFileError, RESERVED, default_color};
use crate::persona::front_matter::{Document, is_slug, list_markdown, read_at_most};
use crate::persona::load::read_picture;
use crate::persona::roster::Roster;
use crate::persona::{Persona, StandupRole, Tier, Voice};
use crate::text::{fold_name, join_with_and};

macro_rules! examples {
    ($($name:literal),+ $(,)?) => {
        [$(($name, include_str!(concat!("../../../../experts/", $name)))),+]
    };
}

/// Examples: file names and texts. A team has them only if its folder does.
pub const EXAMPLES: [(&str, &str); 3] = examples!["database-engineer.md", "privacy-lawyer.md", "usability-researcher.md"];

/// The result of loading a folder.
#[derive(Debug, Default)]
pub struct Loaded {
    pub experts: Vec<Persona>,
    /// Files that are not used, and why.
    pub refused: Vec<(PathBuf, PersonaFileError)>,
    /// Files that are used without their picture, and why.
    pub without_picture: Vec<(PathBuf, PersonaFileError)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FrontMatter {
    name: String,
    expertise: Vec<String>,
    #[serde(default)]
    tier: Tier,
    #[serde(default)]
    color: Option<String>,
    #[serde(default)]
    avatar: Option<String>,
}

/// Loads `dir/*.md`. Invalid files are skipped, and so are those that take a name of the team. Without the folder there are no experts.
pub fn load(dir: &Path, team: &Roster) -> Loaded {
    let mut loaded = Loaded::default();
    let paths = match list_markdown(dir) {
        Ok(paths) => paths,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return loaded,
        Err(error) => {
            loaded.refused.push((dir.to_owned(), error.into()));
            return loaded;
        }
    };
    for path in paths {
        match read_file(&path, team, &loaded.experts) {
            Ok((expert, fault)) => {
                loaded.without_picture.extend(fault.map(|fault| (path, fault)));
                loaded.experts.push(expert);
            }
            Err(error) => loaded.refused.push((path, error)),
        }
    }
    loaded
}

fn read_file(path: &Path, team: &Roster, others: &[Persona]) -> Result<(Persona, Option<PersonaFileError>), PersonaFileError> {
    let bytes = read_at_most(path, MAX_BYTES)?;
    let slug = path.file_stem().unwrap_or_default().to_string_lossy();
    let (expert, named) = parse(&slug, &bytes, |name| {
        let expert = others.iter().find(|other| [other.slug.as_str(), &other.name].iter().any(|known| fold_name(known) == fold_name(name)));
        team.find_named(name).or(expert).map(|holder| holder.name.clone())
    })?;
    Ok(match named.map(|named| read_picture(path, &named)).transpose() {
        Ok(avatar) => (Persona { avatar, ..expert }, None),
        Err(fault) => (expert, Some(fault)),
    })
}

/// Parses an expert file named `slug`, without its picture. `holder_of`: finds who already has a name.
fn parse(
    slug: &str,
    bytes: &[u8],
    holder_of: impl Fn(&str) -> Option<String>,
) -> Result<(Persona, Option<NamedPicture>), PersonaFileError> {
    if !is_slug(slug) {
        return Err(PersonaFileError::Slug);
    }
    if let Some(holder) = holder_of(slug) {
        return Err(PersonaFileError::Taken { name: slug.to_owned(), holder });
    }
    if bytes.len() > MAX_BYTES {
        return Err(PersonaFileError::TooLarge);
    }
    let document = Document::parse(bytes, "an expert file", "the text about the expert")?;
    let matter: FrontMatter = document.read_settings()?;
    check_name(&document, &matter.name)?;
    if let Some(holder) = holder_of(&matter.name) {
        return Err(document.refuse("name", format!("\"{}\" is already a name of {holder}. Choose another one", matter.name)).into());
    }
    if matter.expertise.is_empty() || matter.expertise.iter().any(|subject| subject.trim().is_empty()) {
        return Err(document.refuse("expertise", "is empty. Name the subjects, such as [databases, queues]").into());
    }
    let check = Check { document: &document };
    let picture = matter.avatar.map(|path| NamedPicture { path, line: document.line_of("avatar") });
    let expert = Persona {
        slug: PersonaSlug::new(slug),
        name: matter.name,
        aliases: Vec::new(),
        role: join_with_and(&matter.expertise),
        expertise: matter.expertise,
        color: matter.color.map_or_else(|| Ok(default_color(slug)), |color| check.color(&color))?,
        avatar: None,
        tier: matter.tier,
        coordinator: false,
        tools: Vec::new(),
        feeds: Vec::new(),
        channels: BTreeMap::new(),
        standup: StandupRole { role: String::new(), cap: DEFAULT_CAP, duty: None },
        voice: Voice::of(slug),
        prompt: document.body().to_owned(),
    };
    Ok((expert, picture))
}

/// Nobody addresses an expert in chat, so unlike the name of a persona it may have several words.
fn check_name(document: &Document, name: &str) -> Result<(), PersonaFileError> {
    let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '\''));
    if !name.split(' ').all(is_word) || name.chars().count() > MAX_NAME {
        let problem =
            format!("\"{name}\" is not allowed. A name has letters, digits, single spaces and - _ . ' and at most {MAX_NAME} characters");
        return Err(document.refuse("name", problem).into());
    }
    if RESERVED.contains(&fold_name(name).as_str()) {
        return Err(document.refuse("name", format!("\"{name}\" already has a meaning in chats. Choose another name")).into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::testing::persona::roster;

    const GOOD: &str = "---\nname: Ada Byron\nexpertise: [databases, queues]\ntier: t2\n---\n\nYou have run databases for thirty years.\n";

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a directory");
        for (name, text) in files {
            fs::write(dir.path().join(name), text).expect("written");
        }
        dir
    }

    #[test]
    fn an_expert_is_read_and_a_team_without_a_folder_has_none() {
        let dir = folder(&[("ada.md", GOOD), ("README.md", "Not an expert.")]);
        let loaded = load(dir.path(), &roster());
        assert!(loaded.refused.is_empty(), "{:?}", loaded.refused);
        let ada = &loaded.experts[0];
        assert_eq!((ada.slug.as_str(), ada.name.as_str(), ada.role.as_str()), ("ada", "Ada Byron", "databases and queues"));
        assert_eq!((ada.tier, ada.prompt.as_str()), (Tier::T2, "You have run databases for thirty years."));
        assert!(ada.tools.is_empty() && ada.feeds.is_empty());
        let loaded = load(&dir.path().join("nothing"), &roster());
        assert!(loaded.experts.is_empty() && loaded.refused.is_empty());
    }

    #[test]
    fn each_fault_is_told_with_its_line_and_the_others_are_read() {
        for (from, to, told) in [
            ("---\nname", "name", "line 1: an expert file begins with a line ---"),
            ("tier: t2", "tier: t9", "line 4: "),
            ("tier: t2", "tools: [web_search]", "line 4: "),
            ("Ada Byron", "Ada, Byron", "line 2: name: \"Ada, Byron\" is not allowed. A name has letters"),
            ("Ada Byron", "everyone", "line 2: name: \"everyone\" already has a meaning in chats"),
            ("Ada Byron", "Vince", "line 2: name: \"Vince\" is already a name of Vince. Choose another one"),
            ("[databases, queues]", "[]", "line 3: expertise: is empty. Name the subjects"),
            ("You have run databases for thirty years.", "", "line 5: the text about the expert below the settings is missing"),
        ] {
            let dir = folder(&[("ada.md", &GOOD.replacen(from, to, 1)), ("bob.md", &GOOD.replace("Ada Byron", "Bob"))]);
            let loaded = load(dir.path(), &roster());
            assert_eq!(loaded.experts.len(), 1, "{to}: {:?}", loaded.refused);
            let (path, error) = &loaded.refused[0];
            assert!(path.ends_with("ada.md") && error.to_string().starts_with(told), "{to}: {error}");
        }
    }

    #[test]
    fn a_name_of_the_team_or_of_another_expert_is_refused() {
        let dir = folder(&[("ada.md", GOOD), ("bea.md", GOOD), ("vince.md", &GOOD.replace("Ada Byron", "Cid"))]);
        let loaded = load(dir.path(), &roster());
        let told: Vec<String> = loaded.refused.iter().map(|(_, error)| error.to_string()).collect();
        assert_eq!(loaded.experts.len(), 1);
        assert_eq!(told[0], "line 2: name: \"Ada Byron\" is already a name of Ada Byron. Choose another one");
        assert_eq!(told[1], "\"vince\" is already a name of Vince. Rename the file");
    }

    #[test]
    fn a_file_in_place_of_the_folder_is_told() {
        let dir = folder(&[("experts", "x")]);
        let loaded = load(&dir.path().join("experts"), &roster());
        assert!(loaded.experts.is_empty() && loaded.refused[0].1.to_string().contains("could not be read"));
    }
}
