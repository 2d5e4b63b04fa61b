//! Rules that no compiler checks: import directions, matching files, forbidden text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use kernel::commands::{Services, render_table};
use kernel::ids::PersonaSlug;
use kernel::persona;
use kernel::persona::file;
use teamroom::config;

/// The features in order. A feature may import only earlier ones.
const FEATURES: [&str; 13] = [
    "relationships",
    "chat",
    "memory",
    "backlog",
    "schedule",
    "meeting",
    "voice",
    "reminders",
    "standup",
    "board",
    "overwatch",
    "mission",
    "backup",
];

/// The features that others build on. Nothing mentions any of the other features, so that each of those can be removed.
const FOUNDATIONS: [&str; 7] = ["relationships", "chat", "backlog", "schedule", "meeting", "voice", "overwatch"];

/// Exceptions: files that mention another feature all the same. They have to be changed when it is removed.
const MENTIONS: [(&str, &str); 4] = [
    // They offer to remember what was learnt from an item.
    ("memory", "src/features/backlog/judging.rs"),
    ("memory", "src/features/backlog/running.rs"),
    // This one does so for a standup.
    ("memory", "src/features/standup/closing.rs"),
    // This one does so for a board meeting.
    ("memory", "src/features/board/closing.rs"),
];

/// Crates that only some folders may use, so that they can be replaced.
const CONFINED: [(&str, &[&str]); 2] = [
    ("sqlx", &["crates/kernel/src/db", "crates/kernel/src/events", "crates/kernel/src/jobs", "store", "crates/kernel/src/lib.rs"]),
    ("serenity", &["src/adapters/discord", "src/app"]),
];

/// Folders without unusual words, except for `jobs`.
const WORDED: [&str; 3] = ["src", "crates", "benches"];

/// Words that a newcomer, or a reader whose first language is not English, would have to look up.
const UNUSUAL: [&str; 14] = [
    "vigil",
    "turnstile",
    "endurance",
    "sighting",
    "doings",
    "errand",
    "lest",
    "anew",
    "betake",
    "in vain",
    "heed",
    "heeded",
    "thence",
    "whence",
];

/// Longer files are listed, not refused.
const LONG: usize = 400;

struct Source {
    /// Relative to the package.
    path: PathBuf,
    text: String,
}

impl Source {
    /// The feature that the file belongs to.
    fn feature(&self) -> Option<&str> {
        let inside = self.path.strip_prefix("src/features").ok()?.to_str()?;
        inside.split_once('/').map(|(folder, _)| folder)
    }

    fn is_below(&self, folder: &str) -> bool {
        self.path.starts_with(folder) || self.path.iter().any(|part| part == folder) || self.path.ends_with(format!("{folder}.rs"))
    }

    /// The code without comments.
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

/// The features imported as `features::name` or `features::{name, …}`.
fn imported_features(code: &str) -> BTreeSet<String> {
    let mut features = BTreeSet::new();
    for after in code.split("features::").skip(1) {
        match after.strip_prefix('{').and_then(|group| group.split_once('}')) {
            Some((group, _)) => features.extend(group.split(',').map(|name| identifier(name.trim()))),
            None => _ = features.insert(identifier(after)),
        }
    }
    features.retain(|name| root().join("src/features").join(name).is_dir());
    features
}

fn identifier(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

fn place(feature: &str) -> usize {
    FEATURES.iter().position(|known| *known == feature).unwrap_or_else(|| panic!("{feature}: add this feature to tests/tidy.rs"))
}

#[test]
fn features_import_only_those_before_them() {
    let mut wrong = String::new();
    for source in rust_files("src/features") {
        let Some(feature) = source.feature() else { continue };
        for imported in imported_features(&source.code()) {
            if place(&imported) > place(feature) {
                writeln!(wrong, "{} imports {imported}", source.path.display()).expect("a String takes everything");
            }
        }
    }
    assert!(wrong.is_empty(), "imports against the order of the features:\n{wrong}");
}

#[test]
fn a_feature_that_nobody_builds_on_is_mentioned_nowhere_else() {
    let mut mentions = BTreeSet::new();
    for source in ["src", "tests", "benches"].into_iter().flat_map(rust_files) {
        let path = source.path.to_string_lossy().into_owned();
        for feature in imported_features(&source.code()) {
            let is_its_own =
                source.path.components().any(|part| part.as_os_str().to_string_lossy().trim_end_matches(".rs").starts_with(&feature));
            if !FOUNDATIONS.contains(&feature.as_str()) && !is_its_own {
                mentions.insert((feature, path.clone()));
            }
        }
    }
    let allowed: BTreeSet<_> = MENTIONS.iter().map(|(feature, path)| ((*feature).to_owned(), (*path).to_owned())).collect();
    assert_eq!(mentions, allowed, "who else mentions a feature");
}

/// The names of the methods in the `impl Store` blocks of a file.
fn store_methods(code: &str) -> Vec<String> {
    let mut methods = Vec::new();
    let mut inside = false;
    for line in code.lines() {
        inside = if line.starts_with("impl") { line.starts_with("impl Store {") } else { inside && line != "}" };
        let signature = line.trim_start().trim_start_matches("pub(crate) ").trim_start_matches("pub ").trim_start_matches("async ");
        if let Some(name) = signature.strip_prefix("fn ").filter(|_| inside) {
            methods.push(identifier(name));
        }
    }
    methods
}

/// A method of the store can be called without an import, so the rule above does not see it. The kernel is another package, so the compiler checks it.
#[test]
fn features_call_only_methods_of_the_store_that_they_or_earlier_ones_define() {
    let sources = rust_files("src/features");
    let of_features = || sources.iter().filter_map(|source| Some((source, place(source.feature()?))));
    let mut first_definer: BTreeMap<String, usize> = BTreeMap::new();
    for (source, feature) in of_features() {
        for method in store_methods(&source.code()) {
            let first = first_definer.entry(method).or_insert(feature);
            *first = feature.min(*first);
        }
    }
    assert!(first_definer.len() > 100, "only {} methods of the store were found", first_definer.len());
    let mut wrong = String::new();
    for (source, feature) in of_features() {
        let code: String = source.code().split_whitespace().collect();
        for called in code.split("store.").chain(code.split("store().")).skip(1).map(identifier) {
            if let Some(definer) = first_definer.get(&called).filter(|definer| **definer > feature) {
                writeln!(wrong, "{} calls {called} of {}", source.path.display(), FEATURES[*definer]).expect("a String takes everything");
            }
        }
    }
    assert!(wrong.is_empty(), "calls against the order of the features:\n{wrong}");
}

#[test]
fn adapters_are_named_only_where_the_team_is_put_together() {
    for source in rust_files("src/features").into_iter().chain(rust_files("crates/kernel")) {
        assert!(!source.code().contains("adapters::"), "{} names an adapter", source.path.display());
    }
}

#[test]
fn some_crates_stay_in_their_folders() {
    for source in rust_files("src").into_iter().chain(rust_files("crates/kernel")) {
        let code = source.code();
        for (name, folders) in CONFINED.iter().filter(|(_, folders)| !folders.iter().any(|folder| source.is_below(folder))) {
            assert!(
                !code.contains(&format!("{name}::")),
                "{} uses {name}, which belongs to {}",
                source.path.display(),
                folders.join(" and ")
            );
        }
    }
}

#[test]
fn migrations_come_in_pairs() {
    let (sqlite, postgres) = (file_names("migrations/sqlite"), file_names("migrations/postgres"));
    assert_eq!(sqlite, postgres, "each migration stands in both folders under the same name");
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
fn the_readme_lists_the_commands_that_are_registered() {
    let registry = teamroom::features::registry("discord", &Services::new("not here"), kernel::commands::permit_all());
    let readme = fs::read_to_string(root().join("README.md")).expect("README.md");
    let (begin, end) = ("tests/tidy.rs compares. -->\n", "<!-- /commands -->");
    let (before, rest) = readme.split_once(begin).expect("the table of commands has a beginning");
    let (table, after) = rest.split_once(end).expect("the table of commands has an end");
    let registered = format!("\n{}\n", render_table(registry.commands()));
    if table != registered {
        let expected = Path::new(env!("CARGO_TARGET_TMPDIR")).join("README.md");
        fs::write(&expected, format!("{before}{begin}{registered}{end}{after}")).expect("a writable target folder");
        panic!("the commands have changed; cp {} README.md", expected.display());
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

#[test]
fn every_skill_file_is_built_in_and_somebody_has_it() {
    let roster = persona::load::load(&root().join("personas")).roster.expect("a roster");
    let loaded = persona::skill::load::load(&root().join("skills"));
    assert!(loaded.refused.is_empty(), "{:?}", loaded.refused);
    let built_in: BTreeSet<_> = persona::skill::load::BUILT_IN.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(built_in, file_names("skills"));
    for skill in loaded.skills {
        assert!(roster.personas().iter().any(|persona| skill.is_for(persona)), "nobody has {}", skill.name);
    }
}

#[test]
fn every_expert_file_is_an_example_and_parses() {
    let roster = persona::load::load(&root().join("personas")).roster.expect("a roster");
    let loaded = persona::expert::load(&root().join("experts"), &roster);
    assert!(loaded.refused.is_empty(), "{:?}", loaded.refused);
    let examples: BTreeSet<_> = persona::expert::EXAMPLES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(examples, file_names("experts"));
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
    let later = ["todo!(", "unimplemented!(", "#[ignore]", "#[allow(", "dbg!("];
    let sources = ["src", "crates", "tests", "benches"].into_iter().flat_map(rust_files);
    for source in sources.filter(|source| source.path != Path::new("tests/tidy.rs")) {
        let code = source.code();
        for word in later {
            assert!(!code.contains(word), "{} holds {word}", source.path.display());
        }
    }
}

#[test]
fn names_and_comments_use_known_words() {
    for source in WORDED.into_iter().flat_map(rust_files).filter(|source| !source.is_below("crates/kernel/src/jobs")) {
        let text = source.text.to_lowercase();
        for word in UNUSUAL {
            let found = text.match_indices(word).any(|(at, _)| {
                let letter = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphabetic());
                !letter(text[..at].chars().next_back()) && !letter(text[at + word.len()..].chars().next())
            });
            assert!(!found, "{} says {word}, which readers would have to look up", source.path.display());
        }
    }
}

#[test]
fn every_folder_says_what_it_is() {
    for source in rust_files("src").iter().filter(|source| source.path.ends_with("mod.rs")) {
        assert!(source.text.starts_with("//! "), "{} does not begin with what the folder does", source.path.display());
    }
}

#[test]
fn long_files_are_listed() {
    let files: Vec<_> = ["src", "crates", "tests", "benches"].into_iter().flat_map(rust_files).collect();
    assert!(files.len() > 10, "the list is made of all files");
    for source in files.iter().filter(|source| source.text.lines().count() > LONG) {
        println!("{} has {} lines: is there a second noun in it?", source.path.display(), source.text.lines().count());
    }
}

/// Whether `docker build` sends a file to its image, by the rules of `.dockerignore`: the last pattern that names the file or a folder of it decides.
fn is_sent_to_docker(rules: &str, path: &Path) -> bool {
    let is_named = |pattern: &str, path: &Path| {
        let segments: Vec<_> = pattern.trim_matches('/').split('/').collect();
        let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
        segments.len() <= parts.len() && segments.iter().zip(&parts).all(|(segment, part)| *segment == "*" || segment == part)
    };
    rules.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).fold(true, |sent, line| {
        let pattern = line.trim_start_matches('!');
        assert!(pattern == "*" || !pattern.contains(['*', '?', '[']), "{pattern} is not understood here");
        if is_named(pattern, path) { line.starts_with('!') } else { sent }
    })
}

/// The path without `..`, relative to the package.
fn normalized(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut whole, part| {
        if part == std::path::Component::ParentDir {
            _ = whole.pop();
        } else {
            whole.push(part);
        }
        whole
    })
}

#[test]
fn docker_gets_every_file_that_the_program_embeds() {
    let rules = fs::read_to_string(root().join(".dockerignore")).expect("a file");
    let embeds =
        regex::Regex::new(r#"\b(include_str|include_bytes|include_dir|migrate)!\(\s*(?:concat!\(\s*)?"([^"]+)""#).expect("a pattern");
    let mut embedded: BTreeSet<PathBuf> = ["Cargo.toml", "Cargo.lock"].map(PathBuf::from).into();
    for source in ["src", "crates", "tests", "benches"].into_iter().flat_map(rust_files) {
        for found in embeds.captures_iter(&source.code()) {
            // Migrations are named from the package, all others from the file.
            let is_migration = &found[1] == "migrate";
            let from = source.path.ancestors().skip(1).find(|folder| !is_migration || root().join(folder).join("Cargo.toml").exists());
            let path = normalized(&from.expect("a folder").join(&found[2]));
            assert!(root().join(&path).exists(), "{} embeds {}, which is not there", source.path.display(), path.display());
            embedded.insert(path);
        }
    }
    for folder in ["migrations/sqlite", "migrations/postgres", "skills", "experts", "personas", ".env.example"] {
        assert!(embedded.contains(Path::new(folder)), "{folder} is not found by this test");
    }
    for path in &embedded {
        assert!(is_sent_to_docker(&rules, path), "{} is embedded, and .dockerignore leaves it out", path.display());
    }
    assert!(!is_sent_to_docker(&rules, Path::new(".env")) && !is_sent_to_docker(&rules, Path::new("target/debug/teamroom")));
}
