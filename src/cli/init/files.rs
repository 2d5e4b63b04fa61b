use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::cli::init::{Answers, ModelChoice};
use crate::config;
use kernel::persona::expert::EXAMPLES;
use kernel::persona::load::BUILT_IN;

/// The `.env.example` of this version. `tests/tidy.rs` compares it with the configuration.
const ENV_EXAMPLE: &str = include_str!("../../../.env.example");

/// Files that must not get into a repository.
const IGNORED: [&str; 2] = [".env", ".teamroom/"];

/// Folders of documents: that of the built-in personas, and those that many repositories have.
const DOCUMENTS: [&str; 5] = ["knowledge", "docs", "doc", "documentation", "notes"];

/// What a feed of a persona file begins with, and its folder.
const FEED: &str = "\n  - kind: ";
const PATH: &str = "    path: ";

/// What happened to a file.
pub(super) struct Written {
    path: PathBuf,
    outcome: Outcome,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    New,
    Kept,
    /// A `.gitignore` that does not cover our files.
    Uncovered,
}

impl fmt::Display for Written {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match self.outcome {
            Outcome::New => write!(formatter, "{path}: written"),
            Outcome::Kept => write!(formatter, "{path}: is there already and stays as it is"),
            Outcome::Uncovered => write!(formatter, "{path}: is there already. Please add these lines to it: {}", IGNORED.join(" and ")),
        }
    }
}

/// Writes the files into `dir`. Existing files are kept.
///
/// # Errors
/// A file could not be written. The files before it exist.
pub(super) fn write_files(dir: &Path, answers: &Answers) -> anyhow::Result<Vec<Written>> {
    // An existing folder has its own files, so the built-in ones are not added.
    let folders = [(dir.join("personas"), &BUILT_IN[..]), (dir.join("experts"), &EXAMPLES[..])];
    let (known, new): (Vec<_>, Vec<_>) = folders.into_iter().partition(|(folder, _)| folder.exists());
    for (folder, _) in &new {
        std::fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    }
    // The `.gitignore` comes first, so that a folder with a key always ignores it.
    let ignored = format!("{}\n", IGNORED.join("\n"));
    let mut files = vec![
        (dir.join(".gitignore"), ignored, 0o644),
        (dir.join("teamroom.toml"), settings_file(answers), 0o644),
        (dir.join(".env"), env_file(answers), 0o600),
        (dir.join(".env.example"), ENV_EXAMPLE.to_owned(), 0o644),
    ];
    let work = answers.repository.as_deref().unwrap_or(dir);
    for (folder, built_in) in &new {
        files.extend(built_in.iter().map(|(name, text)| (folder.join(name), with_documents_of(work, text), 0o644)));
    }
    let mut outcome = Vec::new();
    for (path, text, mode) in files {
        let is_new = write_new(&path, &text, mode).with_context(|| format!("writing {}", path.display()))?;
        let is_uncovered = !is_new && path.ends_with(".gitignore") && !covers(&path);
        let written = if is_new { Outcome::New } else { Outcome::Kept };
        outcome.push(Written { path, outcome: if is_uncovered { Outcome::Uncovered } else { written } });
    }
    outcome.extend(known.into_iter().map(|(path, _)| Written { path, outcome: Outcome::Kept }));
    Ok(outcome)
}

/// A persona file that reads what is there. A folder that is not there is replaced by one that is, or by the history of the repository. If there is
/// nothing to read, the feed stays: it keeps quiet until the folder exists.
fn with_documents_of(work: &Path, persona: &str) -> String {
    let Some((matter, prompt)) = persona.split_once("\n---\n") else { return persona.to_owned() };
    let folder = DOCUMENTS.into_iter().find(|folder| work.join(folder).is_dir());
    let mut may_read_history = work.join(".git").exists() && !matter.contains(&format!("{FEED}git\n"));
    let mut feeds: Vec<String> = Vec::new();
    for feed in matter.split(FEED) {
        let missing = feed.split_once(PATH).and_then(|(before, rest)| {
            let (path, after) = rest.split_at(rest.find('\n').unwrap_or(rest.len()));
            (!work.join(path).is_dir()).then_some((before, after))
        });
        feeds.push(match (missing, folder) {
            (Some((before, after)), Some(folder)) => format!("{before}{PATH}{folder}{after}"),
            (Some((before, after)), None) if may_read_history && before.starts_with("files\n") => {
                may_read_history = false;
                format!("git\n    name: repository{after}")
            }
            _ => feed.to_owned(),
        });
    }
    format!("{}\n---\n{prompt}", feeds.join(FEED))
}

/// All settings as comments, below those that were answered.
fn settings_file(answers: &Answers) -> String {
    let default = config::default_file();
    match &answers.repository {
        Some(repository) => format!("work = {}\n\n{default}", serde_json::Value::from(repository.display().to_string())),
        None => default,
    }
}

fn env_file(answers: &Answers) -> String {
    let (url, model) = match &answers.model {
        ModelChoice::At { url, model } => (Some(url.as_str()), model.as_deref()),
        _ => (None, None),
    };
    let set = |name: &str, value: Option<&str>| value.map_or_else(|| format!("#{name}="), |value| format!("{name}={value}"));
    let fill_in = |name: &str, is_chosen: bool| if is_chosen { format!("{name}=") } else { format!("#{name}=") };
    [
        "# Keys and tokens of the team. Keep this file to yourself. .env.example lists everything that can stand here.".to_owned(),
        "# Remove the # before a line that you fill in.".to_owned(),
        String::new(),
        "# The language model: one of these three. Without one, answers come from feeds and files.".to_owned(),
        set("TEAMROOM_MODEL_URL", url),
        model.map_or_else(|| fill_in("TEAMROOM_MODEL", url.is_some()), |model| format!("TEAMROOM_MODEL={model}")),
        fill_in("ANTHROPIC_API_KEY", answers.model == ModelChoice::Anthropic),
        fill_in("OPENAI_API_KEY", answers.model == ModelChoice::OpenAi),
        String::new(),
        "# Discord: the token of each persona's bot. The coordinator's is enough to begin with.".to_owned(),
        "#DISCORD_TOKEN_KELLY=".to_owned(),
        "#DISCORD_TOKEN_VINCE=".to_owned(),
        "# The server, if the bots are on several.".to_owned(),
        set("TEAMROOM_DISCORD_GUILD", answers.server.as_deref()),
        String::new(),
    ]
    .join("\n")
}

/// Whether a `.gitignore` has a line for each of our files.
fn covers(gitignore: &Path) -> bool {
    let text = std::fs::read_to_string(gitignore).unwrap_or_default();
    let lines: Vec<&str> = text.lines().map(|line| line.trim().trim_matches('/')).collect();
    IGNORED.iter().all(|ignored| lines.contains(&ignored.trim_matches('/')) || lines.contains(&"*"))
}

/// False if the file exists.
fn write_new(path: &Path, text: &str, mode: u32) -> io::Result<bool> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    // `.env` will hold tokens, so only its owner may read it from the first byte on.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    match options.open(path) {
        Ok(mut file) => file.write_all(text.as_bytes()).map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::config::{Config, load};
    use kernel::config::Sources;

    fn read(dir: &Path) -> Config {
        load(Sources::from_process(dir.into(), None).expect("a file")).unwrap_or_else(|errors| panic!("{errors}"))
    }

    #[test]
    fn what_init_writes_loads_as_the_defaults_and_the_built_in_team() {
        let dir = tempfile::tempdir().expect("a directory");
        write_files(dir.path(), &Answers::default()).expect("written");
        let config = read(dir.path());
        let roster = kernel::persona::load::load(&config.personas).roster.expect("a roster");
        assert_eq!((config.team.as_str(), roster.personas().len(), config.models.is_empty()), ("Teamroom", 7, true));
        let experts = kernel::persona::expert::load(&config.experts, &roster);
        assert_eq!((experts.experts.len(), experts.refused.len()), (EXAMPLES.len(), 0));
        assert!(fs::read_to_string(dir.path().join(".env")).expect("a file").lines().count() <= 15);
        for (model, key) in [(ModelChoice::Anthropic, "\nANTHROPIC_API_KEY=\n"), (ModelChoice::OpenAi, "\nOPENAI_API_KEY=\n")] {
            assert!(env_file(&Answers { model, ..Answers::default() }).contains(key), "{key}");
        }
        assert_eq!(fs::read_to_string(dir.path().join(".gitignore")).expect("a file"), ".env\n.teamroom/\n");
    }

    #[test]
    fn what_was_answered_is_what_the_team_uses() {
        let dir = tempfile::tempdir().expect("a directory");
        let answers = Answers {
            model: ModelChoice::At { url: "http://10.0.0.5:8080/v1".into(), model: Some("qwen3".into()) },
            repository: Some(dir.path().join("it's \"here\"")),
            server: Some("80351110224678912".into()),
        };
        write_files(dir.path(), &answers).expect("written");
        let config = read(dir.path());
        assert_eq!(config.models.providers[0].base_url, "http://10.0.0.5:8080/v1");
        assert_eq!(config.work, dir.path().join("it's \"here\""));
        assert_eq!(config.discord.guild.as_deref(), Some("80351110224678912"));
    }

    #[test]
    fn every_example_of_the_guides_can_be_pasted_into_the_file() {
        let guides = Path::new(env!("CARGO_MANIFEST_DIR"));
        let guides = fs::read_dir(guides.join("docs")).expect("a folder").map(|entry| entry.expect("an entry").path());
        let guides: Vec<String> = guides.filter_map(|path| fs::read_to_string(path).ok()).collect();
        let examples: Vec<&str> =
            guides.iter().flat_map(|text| text.split("```toml\n").skip(1)).filter_map(|rest| rest.split("```").next()).collect();
        assert!(examples.len() > 4, "{}", examples.len());
        for example in examples {
            let dir = tempfile::tempdir().expect("a directory");
            write_files(dir.path(), &Answers { repository: Some("/srv".into()), ..Answers::default() }).expect("written");
            let mut file = fs::read_to_string(dir.path().join("teamroom.toml")).expect("a file");
            file.push_str(example);
            fs::write(dir.path().join("teamroom.toml"), file).expect("written");
            // The search needs its key.
            fs::write(dir.path().join(".env"), "BRAVE_API_KEY=x\n").expect("written");
            read(dir.path());
        }
    }

    #[test]
    fn what_is_there_already_is_never_overwritten() {
        let dir = tempfile::tempdir().expect("a directory");
        fs::write(dir.path().join(".env"), "DISCORD_TOKEN_KELLY=x").expect("written");
        fs::write(dir.path().join(".gitignore"), "target\n").expect("written");
        for folder in ["personas", "experts"] {
            fs::create_dir(dir.path().join(folder)).expect("created");
        }
        let written = write_files(dir.path(), &Answers::default()).expect("written");
        let outcomes: Vec<_> =
            written.iter().map(|one| (one.path.file_name().expect("a name").to_str().expect("text"), one.outcome)).collect();
        let (new, kept) = (Outcome::New, Outcome::Kept);
        let ignore = (".gitignore", Outcome::Uncovered);
        let files = [ignore, ("teamroom.toml", new), (".env", kept), (".env.example", new), ("personas", kept), ("experts", kept)];
        assert_eq!(outcomes, files);
        assert_eq!(fs::read_to_string(dir.path().join(".env")).expect("readable"), "DISCORD_TOKEN_KELLY=x");
        assert_eq!(fs::read_to_string(dir.path().join(".gitignore")).expect("readable"), "target\n");
        assert_eq!(fs::read_dir(dir.path().join("personas")).expect("readable").count(), 0);
        fs::write(dir.path().join(".gitignore"), "/.env\n.teamroom\n").expect("written");
        let written = write_files(dir.path(), &Answers::default()).expect("written");
        assert_eq!(written[0].outcome, kept);
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_can_read_the_secrets() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().expect("a directory");
        write_files(dir.path(), &Answers::default()).expect("written");
        let mode = fs::metadata(dir.path().join(".env")).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_directory_that_cannot_be_written_is_an_error_with_its_path() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("file");
        fs::write(&file, "").expect("written");
        let error = format!("{:#}", write_files(&file, &Answers::default()).map(|_| ()).expect_err("no directory"));
        assert!(error.contains("file/personas"), "{error}");
    }

    #[test]
    fn personas_read_the_documents_that_are_there() {
        let paths = |folders: &[&str]| {
            let dir = tempfile::tempdir().expect("a directory");
            for folder in folders {
                fs::create_dir(dir.path().join(folder)).expect("a folder");
            }
            write_files(dir.path(), &Answers::default()).expect("written");
            let read = |name: &str| fs::read_to_string(dir.path().join("personas").join(name)).expect("readable");
            let path = |text: String| text.lines().find_map(|line| line.trim().strip_prefix("path: ").map(str::to_owned)).expect("a path");
            [path(read("eliza.md")), path(read("echo.md"))]
        };
        assert_eq!(paths(&[]), ["knowledge", "knowledge/voices"]);
        assert_eq!(paths(&["docs"]), ["docs", "docs"]);
        assert_eq!(paths(&["docs", "knowledge"]), ["knowledge", "knowledge"]);
        assert_eq!(paths(&["knowledge", "knowledge/voices"]), ["knowledge", "knowledge/voices"]);
    }

    #[test]
    fn without_documents_personas_read_the_history_of_the_repository_once() {
        let dir = tempfile::tempdir().expect("a directory");
        fs::create_dir(dir.path().join(".git")).expect("a folder");
        write_files(dir.path(), &Answers::default()).expect("written");
        let kinds = |name: &str| {
            let text = fs::read_to_string(dir.path().join("personas").join(name)).expect("readable");
            text.lines().filter_map(|line| line.strip_prefix("  - kind: ").map(str::to_owned)).collect::<Vec<_>>()
        };
        assert_eq!(kinds("echo.md").iter().filter(|kind| *kind == "git").count(), 1);
        assert_eq!(kinds("kelly.md").iter().filter(|kind| *kind == "git").count(), 1, "it had it before");
        let roster = kernel::persona::load::load(&read(dir.path()).personas).roster.expect("a roster");
        assert!(roster.faults().is_empty(), "{:?}", roster.faults());
    }
}
