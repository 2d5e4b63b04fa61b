//! Loads the folder of persona files, or the built-in team.

use std::io;
use std::path::{Path, PathBuf};

use crate::ids::PersonaSlug;
use crate::persona::file::{Entry, MAX_BYTES, NamedPicture, Parsed, PersonaFileError};
use crate::persona::front_matter::{list_markdown, read_at_most};
use crate::persona::picture::{self, Picture};
use crate::persona::roster::{Roster, RosterError};
use crate::persona::{Persona, file};

macro_rules! built_in {
    ($($name:literal),+ $(,)?) => {
        [$(($name, include_str!(concat!("../../../../personas/", $name)))),+]
    };
}

/// The built-in team: file names and texts.
pub const BUILT_IN: [(&str, &str); 7] = built_in!["echo.md", "eliza.md", "kelly.md", "oracle.md", "sentinel.md", "solus.md", "vince.md"];

/// The result of loading a folder.
#[derive(Debug)]
pub struct Loaded {
    pub roster: Result<Roster, NoRoster>,
    /// Files that are not used, and why.
    pub refused: Vec<(PathBuf, PersonaFileError)>,
    /// Files that are used without their picture, a feed or a tool, and why.
    pub in_part: Vec<(PathBuf, PersonaFileError)>,
}

/// Why the valid files do not form a team.
#[derive(Debug, thiserror::Error)]
#[error("{reason}{}", render_refused(refused))]
pub struct NoRoster {
    pub reason: RosterError,
    /// The refused files as `path: why`. The missing persona may be one of them.
    pub refused: Vec<String>,
}

fn render_refused(refused: &[String]) -> String {
    if refused.is_empty() { String::new() } else { format!(" (refused: {})", refused.join("; ")) }
}

/// Loads `dir/*.md`, or the built-in team if the folder does not exist. Invalid files are skipped.
pub fn load(dir: &Path) -> Loaded {
    let mut refused = Vec::new();
    let mut in_part = Vec::new();
    let mut personas = Vec::new();
    for (path, persona) in read_folder(dir) {
        match persona {
            Ok((persona, faults)) => {
                in_part.extend(faults.into_iter().map(|fault| (path.clone(), fault)));
                personas.push((path, persona));
            }
            Err(error) => refused.push((path, error)),
        }
    }
    file::spread_colors(personas.iter_mut().map(|(_, persona)| persona));
    // A single persona becomes the coordinator, but not if it is single only because other files are invalid.
    if let ([(_, only)], []) = (personas.as_mut_slice(), refused.as_slice()) {
        only.coordinator = true;
    }
    let roster = make_roster(personas, &mut refused).map_err(|reason| {
        let refused = refused.iter().map(|(path, error)| format!("{}: {error}", path.display())).collect();
        NoRoster { reason, refused }
    });
    Loaded { roster, refused, in_part }
}

/// Skips a persona whose name is taken, so that a copied file does not stop the team.
fn make_roster(mut personas: Vec<(PathBuf, Persona)>, refused: &mut Vec<(PathBuf, PersonaFileError)>) -> Result<Roster, RosterError> {
    loop {
        match Roster::new(personas.iter().map(|(_, persona)| persona.clone()).collect()) {
            Err(RosterError::SharedName { name, first, second }) => {
                let Some(index) = personas.iter().position(|(_, persona)| persona.slug == second) else {
                    return Err(RosterError::SharedName { name, first, second });
                };
                let (path, _) = personas.remove(index);
                refused.push((path, PersonaFileError::Clash(RosterError::SharedName { name, first, second })));
            }
            made => return made,
        }
    }
}

/// A persona, and why it lacks what else its file names.
type WithFaults = (Persona, Vec<PersonaFileError>);
type ReadPersona = (PathBuf, Result<WithFaults, PersonaFileError>);

fn read_folder(dir: &Path) -> Vec<ReadPersona> {
    match list_markdown(dir) {
        Ok(paths) => paths.into_iter().map(|path| (path.clone(), read_file(&path))).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => read_built_in(),
        Err(error) => vec![(dir.to_owned(), Err(error.into()))],
    }
}

fn read_built_in() -> Vec<ReadPersona> {
    let read = |name: &str, text: &str| Ok((file::parse(name.trim_end_matches(".md"), text.as_bytes())?, Vec::new()));
    BUILT_IN.iter().map(|(name, text)| (PathBuf::from(name), read(name, text))).collect()
}

fn read_file(path: &Path) -> Result<WithFaults, PersonaFileError> {
    let bytes = read_at_most(path, MAX_BYTES)?;
    let slug = path.file_stem().unwrap_or_default().to_string_lossy();
    let Parsed { persona, picture, mut faults } = file::parse_in_part(&slug, &bytes)?;
    let avatar = match picture.map(|named| read_picture(path, &named)).transpose() {
        Ok(avatar) => avatar,
        Err(fault) => {
            faults.push(fault);
            None
        }
    };
    Ok((Persona { avatar, ..persona }, faults))
}

/// The place of a feed or tool: `personas/vince.md, line 12`. Without the line for a persona that has no file.
pub fn locate(dir: &Path, persona: &PersonaSlug, entry: Entry<'_>) -> String {
    let path = dir.join(format!("{persona}.md"));
    let line = read_at_most(&path, MAX_BYTES).ok().and_then(|bytes| file::find_line(&bytes, entry));
    line.map_or_else(|| format!("persona {persona}"), |line| format!("{}, line {line}", path.display()))
}

pub(super) fn read_picture(persona: &Path, named: &NamedPicture) -> Result<Picture, PersonaFileError> {
    let path = persona.parent().unwrap_or(Path::new("")).join(&named.path);
    let bytes = read_at_most(&path, picture::MAX_BYTES).map_err(|error| named.fault(&format!("{} cannot be read: {error}", named.path)))?;
    if bytes.len() > picture::MAX_BYTES {
        let most = picture::MAX_BYTES / 1024;
        return Err(named.fault(&format!("{} is larger than {most} KiB. Make the picture smaller", named.path)));
    }
    let not_a_picture = || named.fault(&format!("{} is not a picture. Give a PNG, JPEG, GIF or WebP file", named.path));
    Picture::recognise(bytes.into()).ok_or_else(not_a_picture)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn persona(name: &str, more: &str) -> String {
        format!("---\nname: {name}\nrole: r\ncolor: \"#000000\"\nstandup: {{ role: r, cap: 100 }}\n{more}\n---\nPrompt.\n")
    }

    fn folder(files: &[(&str, String)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a directory");
        for (name, text) in files {
            fs::write(dir.path().join(name), text).expect("written");
        }
        dir
    }

    #[test]
    fn without_a_folder_the_built_in_seven_are_the_team() {
        let loaded = load(Path::new("/nowhere/personas"));
        assert!(loaded.refused.is_empty(), "{:?}", loaded.refused);
        let roster = loaded.roster.expect("a roster");
        let names: Vec<_> = roster.personas().iter().map(|persona| persona.name.as_str()).collect();
        assert_eq!(names, ["Echo", "Eliza", "Kelly", "Oracle", "Sentinel", "Solus", "Vince"]);
        assert_eq!(roster.coordinator().slug.as_str(), "kelly");
    }

    #[test]
    fn a_bad_file_is_refused_and_the_others_load() {
        let dir = folder(&[
            ("a.md", persona("Ann", "coordinator: true")),
            ("b.md", persona("Bob", "sings: true")),
            ("README.md", "Not a persona.".into()),
            ("notes.txt", "Nor this.".into()),
        ]);
        let loaded = load(dir.path());
        assert_eq!(loaded.roster.expect("a roster").personas().len(), 1);
        assert_eq!(loaded.refused.len(), 1);
        assert!(loaded.refused[0].0.ends_with("b.md") && loaded.refused[0].1.to_string().contains("sings"), "{:?}", loaded.refused);
    }

    #[test]
    fn a_persona_alone_is_the_coordinator_and_of_two_one_must_say_so() {
        let dir = folder(&[("ann.md", "---\nname: Ann\nrole: research\n---\nYou look things up.\n".into())]);
        assert_eq!(load(dir.path()).roster.expect("a roster").coordinator().name, "Ann");
        fs::write(dir.path().join("bob.md"), "---\nname: Bob\nrole: data\n---\nYou count.\n").expect("written");
        assert!(matches!(load(dir.path()).roster, Err(NoRoster { reason: RosterError::NoCoordinator, .. })));
    }

    #[test]
    fn a_persona_without_a_colour_gets_one_that_nobody_else_has() {
        let colored = |name: &str, color: &str| format!("---\nname: {name}\nrole: r\n{color}---\nPrompt.\n");
        let mut files: Vec<(String, String)> = Vec::new();
        for (number, (name, text)) in BUILT_IN.iter().enumerate() {
            files.push(((*name).to_owned(), (*text).to_owned()));
            files.push((format!("new{number}.md"), colored(&format!("New{number}"), "")));
        }
        files.push(("own.md".to_owned(), colored("Own", "color: \"#3B82C4\"\n")));
        let files: Vec<(&str, String)> = files.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
        let roster = load(folder(&files).path()).roster.expect("a roster");
        let find = |name: &str| roster.find(&name.into()).expect("it is there").color;
        let mut seen: Vec<u32> = roster.personas().iter().filter(|persona| persona.name != "Own").map(|persona| persona.color).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 14, "each has its own");
        assert_eq!((find("own"), find("vince")), (0x3B_82_C4, 0x3B_82_C4), "what a file says is kept");
    }

    #[test]
    fn a_refused_coordinator_is_named_as_the_reason_that_there_is_no_roster() {
        let dir = folder(&[("a.md", persona("Ann", "coordinator: maybe")), ("b.md", persona("Bob", ""))]);
        let told = load(dir.path()).roster.expect_err("no roster").to_string();
        assert!(told.starts_with("no persona is the coordinator") && told.contains("a.md: line 6"), "{told}");
    }

    #[test]
    fn a_file_that_takes_a_name_is_refused_and_two_coordinators_make_no_team() {
        let dir = folder(&[("a.md", persona("Ann", "coordinator: true")), ("b.md", persona("ann", "")), ("c.md", persona("Cid", ""))]);
        let loaded = load(dir.path());
        assert_eq!(loaded.roster.expect("a roster").personas().len(), 2);
        assert!(loaded.refused[0].1.to_string().contains("both use the name \"ann\""), "{:?}", loaded.refused);

        fs::write(dir.path().join("c.md"), persona("Cid", "coordinator: true")).expect("written");
        assert!(load(dir.path()).roster.expect_err("no roster").to_string().starts_with("a and c are both coordinator"));
    }

    #[test]
    fn a_persona_has_the_picture_that_its_file_names_or_the_reason_why_not() {
        let png = b"\x89PNG\r\n\x1a\n".to_vec();
        let large = [png.clone(), vec![0; picture::MAX_BYTES]].concat();
        let named = |name, avatar: &str| persona(name, &format!("avatar: {avatar}"));
        let dir = folder(&[
            ("ann.md", persona("Ann", "coordinator: true\navatar: faces/ann.png")),
            ("ben.md", named("Ben", "missing.png")),
            ("cid.md", named("Cid", "large.png")),
            ("dan.md", named("Dan", "dan.md")),
        ]);
        fs::create_dir(dir.path().join("faces")).expect("a folder");
        fs::write(dir.path().join("faces/ann.png"), &png).expect("written");
        fs::write(dir.path().join("large.png"), large).expect("written");
        let loaded = load(dir.path());
        assert!(loaded.refused.is_empty(), "{:?}", loaded.refused);
        let roster = loaded.roster.expect("a roster");
        let pictures: Vec<_> = roster.personas().iter().map(|persona| persona.avatar.as_ref().map(|avatar| avatar.media_type)).collect();
        assert_eq!(pictures, [Some("image/png"), None, None, None]);
        let told: Vec<String> = loaded.in_part.iter().map(|(_, fault)| fault.to_string()).collect();
        assert!(told[0].starts_with("line 6: avatar: missing.png cannot be read: "), "{told:?}");
        assert_eq!(told[1], "line 6: avatar: large.png is larger than 256 KiB. Make the picture smaller");
        assert_eq!(told[2], "line 6: avatar: dan.md is not a picture. Give a PNG, JPEG, GIF or WebP file");
    }

    #[test]
    fn an_empty_folder_and_a_file_in_its_place_are_told() {
        let dir = folder(&[]);
        assert!(matches!(load(dir.path()).roster, Err(NoRoster { reason: RosterError::Empty, .. })));
        fs::write(dir.path().join("personas"), "x").expect("written");
        let loaded = load(&dir.path().join("personas"));
        assert!(loaded.roster.is_err() && loaded.refused[0].1.to_string().contains("could not be read"));
    }
}
