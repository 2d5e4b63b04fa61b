//! The rules of the house that no compiler checks: which way imports go, which files belong together, what must not be written.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use teamroom::domain::ids::PersonaSlug;
use teamroom::persona::file;
use teamroom::{config, persona};

/// Imports go only to earlier rows; rooms of one row do not import each other. `lib.rs` lists them and is no room.
const ROWS: [&[&str]; 12] = [
    &["domain"],
    &["clock", "containment", "shutdown"],
    &["config"],
    &["telemetry"],
    &["store", "llm", "chat"],
    &["outbox", "schedule", "memory", "tools", "feeds"],
    &["persona"],
    &["conversation", "meeting", "work", "coordination"],
    &["discord", "slack", "http"],
    &["app"],
    &["cli"],
    &["main"],
];
/// The sandbox is a Discord, and knows nothing of the team; only what starts it may name it.
const ALONE: &str = "sandbox";
const STARTS_IT: [&str; 3] = ["app", "cli", "main"];

/// Crates that stay in one room, so that they could be replaced.
const CONFINED: [(&str, &[&str]); 3] = [("sqlx", &["store"]), ("serenity", &["discord", "app"]), ("poise", &["discord", "app"])];

/// A file above this many lines is listed, not refused: it is cut where an idea ends, not where a number does.
const LONG: usize = 400;

struct Source {
    /// Relative to the crate.
    path: PathBuf,
    text: String,
}

impl Source {
    /// The top-level module that the file belongs to.
    fn room(&self) -> &str {
        let first = self.path.components().nth(1).expect("a file below src").as_os_str().to_str().expect("a Unicode name");
        first.trim_end_matches(".rs")
    }

    /// The code without comments, in which names stand for other things.
    fn code(&self) -> String {
        self.text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn rust_files(folder: &str) -> Vec<Source> {
    let mut folders = vec![root().join(folder)];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.expect("a readable folder").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("a readable file");
                files.push(Source { path: path.strip_prefix(root()).expect("below the root").to_owned(), text });
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

fn file_names(folder: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(root().join(folder)).into_iter().flatten();
    entries.map(|entry| entry.expect("a readable folder").file_name().to_string_lossy().into_owned()).collect()
}

/// The rooms that a text names as `crate::room` or `crate::{room::…, room::…}`; in `main.rs` the crate is `teamroom`.
fn imported_rooms(code: &str) -> BTreeSet<String> {
    let mut rooms = BTreeSet::new();
    for after in code.split("crate::").skip(1).chain(code.split("teamroom::").skip(1)) {
        let Some(group) = after.strip_prefix('{') else {
            rooms.insert(identifier(after));
            continue;
        };
        let mut depth = 0;
        let mut begins = true;
        for (at, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => begins = true,
                c if begins && !c.is_whitespace() => {
                    rooms.insert(identifier(&group[at..]));
                    begins = false;
                }
                _ => {}
            }
        }
    }
    rooms
}

fn identifier(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// The row of a room; an error of this test if nobody has said where it belongs.
fn row(room: &str) -> usize {
    ROWS.iter().position(|rooms| rooms.contains(&room)).unwrap_or_else(|| panic!("{room}: add this room to a row of tests/tidy.rs"))
}

fn may_import(room: &str, imported: &str) -> bool {
    room == imported
        || (imported == ALONE && STARTS_IT.contains(&room))
        || (room != ALONE && imported != ALONE && row(imported) < row(room))
}

#[test]
fn imports_go_one_way_and_the_sandbox_stands_alone() {
    let mut wrong = String::new();
    for source in rust_files("src").iter().filter(|source| source.room() != "lib") {
        for imported in imported_rooms(&source.code()).iter().filter(|imported| !may_import(source.room(), imported)) {
            writeln!(wrong, "{} imports {imported}", source.path.display()).expect("a String takes everything");
        }
    }
    assert!(wrong.is_empty(), "imports against the direction of the rows:\n{wrong}");
}

#[test]
fn imports_are_found_in_every_form_and_judged() {
    let code = "use crate::domain::{ids, text};\nuse crate::{\n    llm::{Tool, x},\n    store,\n};\nfn f() { crate::clock::now() }";
    assert_eq!(imported_rooms(code).into_iter().collect::<Vec<_>>(), ["clock", "domain", "llm", "store"]);
    assert!(may_import("store", "domain") && may_import("cli", "sandbox") && may_import("sandbox", "sandbox"));
    for (room, imported) in [("domain", "store"), ("store", "llm"), ("sandbox", "domain"), ("chat", "sandbox"), ("feeds", "tools")] {
        assert!(!may_import(room, imported), "{room} may not import {imported}");
    }
}

#[test]
fn some_crates_stay_in_their_room() {
    for source in rust_files("src") {
        let code = source.code();
        for (name, rooms) in CONFINED.iter().filter(|(_, rooms)| !rooms.contains(&source.room())) {
            assert!(
                !code.contains(&format!("{name}::")),
                "{} uses {name}, which belongs to {}",
                source.path.display(),
                rooms.join(" and ")
            );
        }
    }
}

#[test]
fn migrations_come_in_pairs() {
    let (sqlite, postgres) = (file_names("migrations/sqlite"), file_names("migrations/postgres"));
    assert_eq!(sqlite, postgres, "each migration stands in both folders under the same name");
    assert_eq!(sqlite.is_empty(), !root().join("src/store").exists(), "a store has migrations");
    for (index, name) in sqlite.iter().enumerate() {
        assert!(name.starts_with(&format!("{:04}_", index + 1)), "{name}: migrations are numbered from 0001 without a gap");
    }
}

#[test]
fn the_example_of_the_environment_is_what_the_configuration_declares() {
    let personas: Vec<PersonaSlug> = persona_files().iter().map(|path| PersonaSlug::new(stem(path))).collect();
    let declared = config::default_env(&personas);
    let example = fs::read_to_string(root().join(".env.example")).expect(".env.example");
    if example != declared {
        let expected = Path::new(env!("CARGO_TARGET_TMPDIR")).join("env.example");
        fs::write(&expected, declared).expect("a writable target folder");
        panic!("the configuration has changed; cp {} .env.example", expected.display());
    }
}

#[test]
fn every_persona_file_parses_and_together_they_are_the_built_in_team() {
    for path in persona_files() {
        let bytes = fs::read(&path).expect("a readable file");
        if let Err(error) = file::parse(&stem(&path), &bytes) {
            panic!("{}: {error}", path.display());
        }
    }
    let loaded = persona::load::load(&root().join("personas"));
    assert!(loaded.refused.is_empty(), "{:?}", loaded.refused);
    assert_eq!(loaded.roster.expect("a roster").coordinator().name, "Kelly");
    let built_in: BTreeSet<_> = persona::load::BUILT_IN.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(built_in, file_names("personas"));
}

fn persona_files() -> Vec<PathBuf> {
    file_names("personas").iter().map(|name| root().join("personas").join(name)).collect()
}

fn stem(path: &Path) -> String {
    path.file_stem().expect("a name").to_string_lossy().into_owned()
}

#[test]
fn the_clock_the_environment_and_bare_clients_are_banned() {
    let clippy = fs::read_to_string(root().join(".clippy.toml")).expect(".clippy.toml");
    for banned in ["chrono::Utc::now", "chrono::Local::now", "std::env::var", "reqwest::Client::new"] {
        assert!(clippy.contains(&format!("path = \"{banned}\"")), "{banned} is not banned by .clippy.toml");
    }
}

#[test]
fn nothing_is_left_for_later() {
    let later = ["todo!(", "unimplemented!(", "#[ignore", "#[allow(", "dbg!("];
    let sources = ["src", "tests", "benches"].into_iter().flat_map(rust_files);
    for source in sources.filter(|source| source.path != Path::new("tests/tidy.rs")) {
        let code = source.code();
        for word in later {
            assert!(!code.contains(word), "{} holds {word}", source.path.display());
        }
    }
}

#[test]
fn every_room_says_what_it_is() {
    for source in rust_files("src").iter().filter(|source| source.path.ends_with("mod.rs")) {
        assert!(source.text.starts_with("//! "), "{} does not begin with what the folder does", source.path.display());
    }
}

#[test]
fn long_files_are_listed() {
    let files: Vec<_> = ["src", "tests", "benches"].into_iter().flat_map(rust_files).collect();
    assert!(files.len() > 10, "the list is made of all files");
    for source in files.iter().filter(|source| source.text.lines().count() > LONG) {
        println!("{} has {} lines: is there a second noun in it?", source.path.display(), source.text.lines().count());
    }
}
