//! Persona files: YAML front matter between two lines of `---`, then the system prompt in Markdown. Only `name` and `role` are required.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::ids::PersonaSlug;
use crate::persona::front_matter::{Document, Malformed, is_slug};
use crate::persona::roster::RosterError;
use crate::persona::voice::{Voice, VoiceMatter};
use crate::persona::{ChannelHabit, FeedSpec, Persona, StandupDuty, StandupRole, Tier};
use crate::text::fold_name;

/// The largest persona file in bytes. The prompt is sent with every turn, so a long one is probably a mistake.
pub const MAX_BYTES: usize = 64 * 1024;
/// The upper limit for the length of a standup report, in characters.
pub const MAX_CAP: usize = 1200;
/// Discord shows names of up to 32 characters in full.
pub(super) const MAX_NAME: usize = 32;
/// Words with another meaning where names are allowed.
pub(super) const RESERVED: [&str; 9] = ["all", "clyde", "discord", "everyone", "halt", "here", "listen", "stop", "team"];

/// Why a persona file was refused.
#[derive(Debug, thiserror::Error)]
pub enum PersonaFileError {
    #[error("could not be read: {0}")]
    Unreadable(#[from] std::io::Error),
    #[error("is larger than {MAX_BYTES} bytes, the limit for persona files")]
    TooLarge,
    #[error("the name of the file must be lower-case letters, digits and hyphens, such as vince.md")]
    Slug,
    #[error(transparent)]
    Malformed(#[from] Malformed),
    #[error("\"{name}\" is already a name of {holder}. Rename the file")]
    Taken { name: String, holder: String },
    /// Valid on its own, but in conflict with other files.
    #[error("{0}")]
    Clash(RosterError),
}

/// A persona that may read feeds may read their documents.
pub const READ_FEED: &str = "read_feed";
pub const READ_DOCUMENT: &str = "read_document";

/// The tools of a persona whose file names none: those without effects outside the team. `tools: []` means no tools.
pub const DEFAULT_TOOLS: [&str; 14] = [
    "ask_agent",
    READ_FEED,
    READ_DOCUMENT,
    "memory_search",
    "memory_save",
    "memory_forget",
    "backlog_search",
    "backlog_add",
    "reminder_set",
    "board_create",
    "fetch_page",
    "workspace_list",
    "workspace_read",
    "workspace_write",
];
pub(super) const DEFAULT_CAP: usize = 600;
/// Colours for files without one. All are readable on light and dark backgrounds.
const COLORS: [u32; 8] = [0x3B_82_C4, 0x2F_9E_77, 0xC2_55_9D, 0xB7_89_2B, 0x7A_5C_C7, 0xE8_68_4A, 0x5B_6B_7B, 0x1F_9A_A8];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FrontMatter {
    name: String,
    #[serde(default)]
    aliases: Vec<String>,
    role: String,
    #[serde(default)]
    expertise: Vec<String>,
    #[serde(default)]
    color: Option<String>,
    #[serde(default)]
    avatar: Option<String>,
    #[serde(default)]
    tier: Tier,
    #[serde(default)]
    coordinator: bool,
    #[serde(default)]
    tools: Option<Vec<String>>,
    #[serde(default)]
    feeds: Vec<Map<String, Value>>,
    #[serde(default)]
    channels: BTreeMap<String, ChannelHabit>,
    #[serde(default)]
    standup: Standup,
    #[serde(default)]
    voice: VoiceMatter,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Standup {
    role: Option<String>,
    cap: Option<usize>,
    #[serde(default)]
    duty: Option<StandupDuty>,
}

/// A picture file that a persona file names with `avatar:`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NamedPicture {
    /// Relative to the persona file.
    pub(super) path: String,
    pub(super) line: usize,
}

impl NamedPicture {
    pub(super) fn fault(&self, problem: &str) -> PersonaFileError {
        Malformed { line: self.line, problem: format!("avatar: {problem}") }.into()
    }
}

/// Parses a persona file named `slug`, without its picture.
///
/// # Errors
/// The first problem, with its line.
pub fn parse(slug: &str, bytes: &[u8]) -> Result<Persona, PersonaFileError> {
    let Parsed { persona, faults, .. } = parse_in_part(slug, bytes)?;
    faults.into_iter().next().map_or(Ok(persona), Err)
}

/// The content of a persona file.
pub(super) struct Parsed {
    pub(super) persona: Persona,
    /// The picture to read.
    pub(super) picture: Option<NamedPicture>,
    /// Feeds and tools that are left out, and why.
    pub(super) faults: Vec<PersonaFileError>,
}

/// Parses a persona file named `slug`. A bad feed or tool is left out.
pub(super) fn parse_in_part(slug: &str, bytes: &[u8]) -> Result<Parsed, PersonaFileError> {
    if !is_slug(slug) {
        return Err(PersonaFileError::Slug);
    }
    if bytes.len() > MAX_BYTES {
        return Err(PersonaFileError::TooLarge);
    }
    let document = Document::parse(bytes, "a persona file", "the prompt")?;
    let matter: FrontMatter = document.read_settings()?;
    let check = Check { document: &document };
    check.names(&matter)?;
    check.not_empty("role", &matter.role)?;
    let report_on = matter.standup.role.unwrap_or_else(|| format!("Report what is new on {}.", matter.role));
    check.not_empty("standup", &report_on)?;
    let mut tools = matter.tools.unwrap_or_else(|| DEFAULT_TOOLS.map(str::to_owned).into());
    if tools.iter().any(|tool| tool == READ_FEED) && tools.iter().all(|tool| tool != READ_DOCUMENT) {
        tools.push(READ_DOCUMENT.to_owned());
    }
    let mut faults = check.drop_bad_tools(&mut tools);
    let cap = matter.standup.cap.unwrap_or(DEFAULT_CAP);
    if !(1..=MAX_CAP).contains(&cap) {
        return Err(document.refuse("standup", format!("the cap is {cap}. It must be from 1 to {MAX_CAP} characters")).into());
    }
    let (feeds, bad_feeds) = check.feeds(matter.feeds);
    faults.extend(bad_feeds);
    let picture = matter.avatar.map(|path| NamedPicture { path, line: document.line_of("avatar") });
    let persona = Persona {
        slug: PersonaSlug::new(slug),
        avatar: None,
        color: matter.color.map_or_else(|| Ok(default_color(slug)), |color| check.color(&color))?,
        feeds,
        name: matter.name,
        aliases: matter.aliases,
        role: matter.role,
        expertise: matter.expertise,
        tier: matter.tier,
        coordinator: matter.coordinator,
        tools,
        channels: matter.channels.into_iter().map(|(name, habit)| (name.trim_start_matches('#').to_lowercase(), habit)).collect(),
        standup: StandupRole { role: report_on, cap, duty: matter.standup.duty },
        voice: Voice::read(slug, matter.voice).map_err(|problem| document.refuse("voice", problem))?,
        prompt: document.body().to_owned(),
    };
    Ok(Parsed { persona, picture, faults })
}

/// Colours for personas whose default colour another one has.
const MORE_COLORS: [u32; 8] = [0xB2_3A_48, 0x5F_8D_2E, 0x8A_5A_3C, 0x3D_4F_A8, 0x9C_3F_B0, 0x0F_76_6E, 0xA8_6A_00, 0x6D_6A_93];

/// Gives each persona whose file names no colour one that nobody else has, while there are any.
pub(super) fn spread_colors<'a>(personas: impl Iterator<Item = &'a mut Persona>) {
    let (without, with): (Vec<_>, Vec<_>) = personas.partition(|persona| persona.color == default_color(persona.slug.as_str()));
    let mut taken: BTreeSet<u32> = with.iter().map(|persona| persona.color).collect();
    for persona in without {
        let mut free = std::iter::once(persona.color).chain(COLORS).chain(MORE_COLORS).filter(|color| !taken.contains(color));
        persona.color = free.next().unwrap_or(persona.color);
        taken.insert(persona.color);
    }
}

/// Always the same for a slug.
pub(super) fn default_color(slug: &str) -> u32 {
    let sum = slug.bytes().fold(0_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    COLORS[sum % COLORS.len()]
}

/// Checks that YAML cannot do, with the line of the key.
pub(super) struct Check<'a> {
    pub(super) document: &'a Document,
}

impl Check<'_> {
    fn refuse(&self, key: &str, problem: impl Into<String>) -> PersonaFileError {
        self.document.refuse(key, problem).into()
    }

    /// A name is used inside sentences, so it must be one word without another meaning.
    fn names(&self, matter: &FrontMatter) -> Result<(), PersonaFileError> {
        let mut seen = BTreeSet::new();
        let names = [("name", &matter.name)].into_iter().chain(matter.aliases.iter().map(|alias| ("aliases", alias)));
        for (key, name) in names {
            let one_word = name.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_');
            if name.is_empty() || !one_word || name.chars().count() > MAX_NAME {
                return Err(self.refuse(
                    key,
                    format!("\"{name}\" is not allowed. A name is one word of letters, digits, - and _ with at most {MAX_NAME} characters"),
                ));
            }
            if RESERVED.contains(&fold_name(name).as_str()) {
                return Err(self.refuse(key, format!("\"{name}\" already has a meaning in chats. Choose another name")));
            }
            if !seen.insert(fold_name(name)) {
                return Err(self.refuse(key, format!("\"{name}\" stands there twice")));
            }
        }
        Ok(())
    }

    fn not_empty(&self, key: &str, text: &str) -> Result<(), PersonaFileError> {
        if text.trim().is_empty() { Err(self.refuse(key, "is empty. Describe it in a few words")) } else { Ok(()) }
    }

    fn drop_bad_tools(&self, tools: &mut Vec<String>) -> Vec<PersonaFileError> {
        let is_good = |tool: &String| !tool.is_empty() && tool.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        let (good, bad): (Vec<String>, Vec<String>) = std::mem::take(tools).into_iter().partition(is_good);
        *tools = good;
        bad.iter().map(|tool| self.refuse("tools", format!("\"{tool}\" is not a tool name. Names look like ask_agent"))).collect()
    }

    /// `"#5865F2"`. The quotes are needed, because YAML treats a bare `#` as a comment.
    pub(super) fn color(&self, text: &str) -> Result<u32, PersonaFileError> {
        let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.chars().all(|c| c.is_ascii_hexdigit()));
        digits
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .ok_or_else(|| self.refuse("color", format!("\"{text}\" is not allowed. Give six hexadecimal digits such as \"#5865F2\"")))
    }

    /// The good feeds, and what is wrong with the others.
    fn feeds(&self, declared: Vec<Map<String, Value>>) -> (Vec<FeedSpec>, Vec<PersonaFileError>) {
        let mut names = BTreeSet::new();
        let (mut specs, mut faults) = (Vec::new(), Vec::new());
        for (position, settings) in declared.into_iter().enumerate() {
            match read_feed(settings) {
                Ok(spec) if !names.insert(spec.name.clone()) => {
                    let problem = format!("two feeds are called \"{}\". Rename one of them", spec.name);
                    faults.push(self.document.refuse_entry("feeds", position, problem).into());
                }
                Ok(spec) => specs.push(spec),
                Err(problem) => faults.push(self.document.refuse_entry("feeds", position, problem).into()),
            }
        }
        (specs, faults)
    }
}

fn read_feed(mut settings: Map<String, Value>) -> Result<FeedSpec, &'static str> {
    let Some(Value::String(kind)) = settings.remove("kind") else { return Err("each feed needs a kind, such as kind: git") };
    let name = match settings.remove("name") {
        None => kind.clone(),
        Some(Value::String(name)) if !name.trim().is_empty() => name,
        Some(_) => return Err("the name of a feed is a text"),
    };
    Ok(FeedSpec { kind, name, settings })
}

/// A feed or tool of a persona.
#[derive(Debug, Clone, Copy)]
pub enum Entry<'a> {
    Feed(&'a FeedSpec),
    Tool(&'a str),
}

/// The line that declares a feed or tool, or that of the list if it is not found there. Counts also the entries that were left out. None for a
/// file that cannot be read.
pub(super) fn find_line(bytes: &[u8], entry: Entry<'_>) -> Option<usize> {
    let document = Document::parse(bytes, "a persona file", "the prompt").ok()?;
    let matter: FrontMatter = document.read_settings().ok()?;
    let (key, position) = match entry {
        Entry::Feed(feed) => {
            let is_meant = |declared: Map<String, Value>| read_feed(declared).is_ok_and(|declared| declared == *feed);
            ("feeds", matter.feeds.into_iter().position(is_meant))
        }
        Entry::Tool(tool) => ("tools", matter.tools.unwrap_or_default().iter().position(|declared| declared == tool)),
    };
    Some(position.map_or_else(|| document.line_of(key), |position| document.line_of_entry(key, position)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "---\nname: Vince\naliases: [quant]\nrole: data\ncolor: \"#5865F2\"\nfeeds:\n  - kind: ledger\n  - kind: files\n    name: notes\n    folder: notes\nchannels:\n  \"#Costs\": answer\nstandup:\n  role: numbers\n  cap: 900\n---\n\nYou count.\n";

    fn refusal(text: &str) -> String {
        parse("vince", text.as_bytes()).expect_err("a refusal").to_string()
    }

    #[test]
    fn a_good_file_becomes_a_persona_with_defaults_for_what_it_leaves_out() {
        let persona = parse("vince", GOOD.as_bytes()).expect("a persona");
        assert_eq!((persona.slug.as_str(), persona.name.as_str(), persona.color), ("vince", "Vince", 0x58_65_F2));
        assert_eq!((persona.tier, persona.coordinator, persona.tools.len()), (Tier::T1, false, DEFAULT_TOOLS.len()));
        assert_eq!(persona.feeds[0].name, "ledger");
        assert_eq!((persona.feeds[1].name.as_str(), persona.feeds[1].settings["folder"].as_str()), ("notes", Some("notes")));
        assert_eq!(persona.channels["costs"], ChannelHabit::Answer);
        assert_eq!(persona.prompt, "You count.");
    }

    #[test]
    fn a_name_a_role_and_a_prompt_are_enough() {
        let persona = parse("ann", b"---\nname: Ann\nrole: research\n---\nYou look things up.\n").expect("a persona");
        assert_eq!((persona.name.as_str(), persona.role.as_str(), persona.prompt.as_str()), ("Ann", "research", "You look things up."));
        assert_eq!(persona.standup, StandupRole { role: "Report what is new on research.".into(), cap: DEFAULT_CAP, duty: None });
        assert_eq!(persona.tools, DEFAULT_TOOLS);
        assert!(COLORS.contains(&persona.color));
        for (left_out, line) in [("---\nrole: research\n---\nx", 2), ("---\nname: Ann\n---\nx", 2)] {
            let told = refusal(left_out);
            assert!(told.starts_with(&format!("line {line}: ")) && told.contains("missing"), "{told}");
        }
    }

    #[test]
    fn what_is_said_of_the_standup_and_the_tools_is_taken_and_the_rest_is_default() {
        let persona = parse("ann", b"---\nname: Ann\nrole: research\ntools: []\nstandup: {duty: call}\n---\nx").expect("a persona");
        assert!(persona.tools.is_empty());
        assert_eq!((persona.standup.cap, persona.standup.duty), (DEFAULT_CAP, Some(StandupDuty::Call)));
    }

    #[test]
    fn line_ends_and_marks_of_other_editors_change_nothing() {
        let windows = format!("\u{FEFF}{}", GOOD.replace('\n', "\r\n"));
        assert_eq!(parse("vince", windows.as_bytes()).expect("a persona"), parse("vince", GOOD.as_bytes()).expect("a persona"));
    }

    #[test]
    fn each_fault_is_told_with_its_line() {
        let cases = [
            ("name: Vince", "name: [", 2),
            ("role: data", "rolle: data", 4),
            ("name: Vince", "name: Vince Vega", 2),
            ("name: Vince", "name: Team", 2),
            ("[quant]", "[quant, VINCE]", 3),
            ("role: data", "role: \"\"", 4),
            ("\"#5865F2\"", "blue", 5),
            ("\"#5865F2\"", "\"#12345é\"", 5),
            ("  - kind: ledger", "  - name: ledger", 7),
            ("    name: notes", "    name: ledger", 8),
            ("answer", "sing", 12),
            ("cap: 900", "cap: 1201", 13),
            ("cap: 900", "cap: 0", 13),
            ("cap: 900", "cap: many", 15),
            ("You count.", "You\u{200B} count.", 18),
            ("\nYou count.\n", "", 16),
            ("---\n\nYou count.\n", "", 15),
            ("---\nname", "name", 1),
        ];
        for (from, to, line) in cases {
            let told = refusal(&GOOD.replacen(from, to, 1));
            assert!(told.starts_with(&format!("line {line}: ")), "{to}: {told}");
        }
    }

    #[test]
    fn a_bad_feed_or_tool_is_left_out_and_the_rest_is_used() {
        let text = GOOD
            .replace("  - kind: files\n", "  - name: nameless\n  - kind: files\n")
            .replace("channels:", "tools: [ask_agent, Ask!]\nchannels:");
        let Parsed { persona, faults, .. } = parse_in_part("vince", text.as_bytes()).expect("a persona");
        let line = |entry| find_line(text.as_bytes(), entry);
        let lines =
            [Entry::Feed(&persona.feeds[0]), Entry::Feed(&persona.feeds[1]), Entry::Tool("ask_agent"), Entry::Tool("look")].map(line);
        assert_eq!(lines, [Some(7), Some(9), Some(12), Some(12)], "the entries that are left out count too");
        let names: Vec<&str> = persona.feeds.iter().map(|feed| feed.name.as_str()).collect();
        assert_eq!((names, persona.tools), (vec!["ledger", "notes"], vec!["ask_agent".to_owned()]));
        let told: Vec<String> = faults.iter().map(ToString::to_string).collect();
        let expected = [
            "line 12: tools: \"Ask!\" is not a tool name. Names look like ask_agent",
            "line 8: feeds: each feed needs a kind, such as kind: git",
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn the_line_of_an_entry_is_found_however_the_list_is_written() {
        let line = |text: &str, position| {
            let document = Document::parse(format!("---\n{text}\n---\nx").as_bytes(), "a persona file", "the prompt").expect("a file");
            document.line_of_entry("feeds", position)
        };
        let block = "feeds:\n\n  # the first\n  - kind: git\n    values:\n      - a\n  - kind: rss\nrole: x";
        assert_eq!((line(block, 0), line(block, 1), line(block, 2)), (5, 8, 2));
        let flush = "name: x\nfeeds:\n- kind: git\n- kind: rss";
        assert_eq!((line(flush, 1), line("feeds: [{kind: git}]", 0)), (5, 2));
    }

    #[test]
    fn an_unknown_key_is_refused_by_name() {
        assert!(refusal(&GOOD.replace("role: data", "rolle: data")).contains("rolle"));
    }

    #[test]
    fn size_encoding_and_the_file_name_are_checked() {
        assert!(refusal(&format!("{GOOD}{}", "x".repeat(MAX_BYTES))).contains("larger than 65536"));
        let told = parse("vince", b"---\nname: \xff\n---\nx").expect_err("a refusal").to_string();
        assert_eq!(told, "line 2: is not UTF-8 text");
        for slug in ["", "Vince", "../x", "vince vega"] {
            assert!(matches!(parse(slug, GOOD.as_bytes()), Err(PersonaFileError::Slug)), "{slug}");
        }
    }

    #[test]
    fn a_bomb_of_aliases_is_refused_and_not_unfolded() {
        let level = |level: usize| format!("a{level}: &a{level} [{}]\n", vec![format!("*a{}", level - 1); 9].join(","));
        let levels: String = (1..12).map(level).collect();
        let bomb = format!("---\na0: &a0 [x,x,x,x,x,x,x,x,x]\n{levels}---\nprompt\n");
        assert!(refusal(&bomb).starts_with("line "));
    }
}
