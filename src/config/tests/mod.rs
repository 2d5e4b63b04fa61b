//! Reading a whole `teamroom.toml`.

mod models;
mod tools;

use std::time::Duration;

use secrecy::ExposeSecret;
use tempfile::TempDir;

use crate::adapters::http::settings::LogFormat;
use crate::config::*;
use crate::features::chat::settings::{ChannelRules, FallbackAnswer};
use kernel::chat::message::ChannelKind;
use kernel::llm::settings::{ModelPrice, ModelRef, ProviderKind};
use kernel::money::Money;
use kernel::persona::{Persona, Tier};

/// A directory with this `teamroom.toml`, and these variables.
fn sources(file: &str, env: &[(&str, &str)]) -> (TempDir, Sources) {
    let dir = tempfile::tempdir().expect("a directory");
    if !file.is_empty() {
        std::fs::write(dir.path().join("teamroom.toml"), file).expect("written");
    }
    let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let sources = Sources { dir: dir.path().into(), env, ..Sources::default() };
    (dir, sources)
}

pub(crate) fn loaded(file: &str, env: &[(&str, &str)]) -> Config {
    let (_dir, sources) = sources(file, env);
    load(sources).unwrap_or_else(|errors| panic!("{errors}"))
}

/// The errors as lines.
pub(crate) fn refused(file: &str, env: &[(&str, &str)]) -> Vec<String> {
    let (_dir, sources) = sources(file, env);
    load(sources).expect_err("a refusal").0.iter().map(ToString::to_string).collect()
}

/// `#key = 1` without the mark. Prose begins with `# ` and stays.
fn uncommented(line: &str) -> &str {
    line.strip_prefix('#').filter(|key| !key.starts_with(' ')).unwrap_or(line)
}

#[test]
fn nothing_configured_gives_the_defaults_and_no_provider() {
    let (dir, sources) = sources("", &[]);
    let config = load(sources).expect("the defaults");
    assert_eq!(config.chat, ChatSettings::default());
    assert_eq!(config.guard, GuardLimits::default());
    assert_eq!(config.budgets, Budgets::default());
    assert_eq!(format!("{:?}", config.server), format!("{:?}", ServerSettings::default()));
    assert!(config.models.providers.is_empty() && config.models.tiers.is_empty() && config.discord.tokens.is_empty());
    assert_eq!(config.personas, dir.path().join("personas"));
    assert_eq!(config.database_url.expose_secret(), format!("sqlite:{}", dir.path().join(".teamroom/teamroom.db").display()));
}

#[test]
fn the_default_file_gives_the_defaults_as_it_stands_and_with_every_line_uncommented() {
    let keys_only = |text: &str| {
        // The lines from "An example" up to the next heading are no defaults.
        let sections = text.replace("# An example.\n#[", "# An example.");
        let fixed = sections.split("\n#[").map(|section| section.split("# An example.").next().unwrap_or_default());
        fixed.collect::<Vec<_>>().join("\n#[").lines().map(uncommented).collect::<Vec<_>>().join("\n")
    };
    let keys = keys_only(&default_file());
    assert!(keys.contains("\ncoalesce_ms = 1200\n"), "{keys}");
    let dir = tempfile::tempdir().expect("a directory");
    let debug = |file: &str| {
        std::fs::write(dir.path().join("teamroom.toml"), file).expect("written");
        let sources = Sources { dir: dir.path().into(), ..Sources::default() };
        format!("{:?}", load(sources).unwrap_or_else(|errors| panic!("{errors}")))
    };
    let nothing = debug("");
    assert_eq!(debug(&default_file()), nothing);
    assert_eq!(debug(&keys), nothing);
}

#[test]
fn the_examples_of_the_default_file_load() {
    let text = default_file();
    let examples: Vec<_> = text.lines().map(uncommented).collect();
    let config = loaded(&examples.join("\n").replace("t1 = []", "t1 = [\"local/llama\"]"), &[]);
    assert_eq!(config.models.providers[0].base_url, "http://127.0.0.1:8080/v1");
    assert_eq!(config.models.prices["example-model"], ModelPrice::default());
    assert_eq!(config.chat.channels.kinds, ChannelRules::default().kinds);
}

#[test]
fn a_file_sets_every_sort_of_value() {
    let config = loaded(
        r#"
        team = "Night shift"
        data = "/var/lib/team"
        [chat]
        coalesce_ms = 0
        ask_timeout = "2m"
        direct_messages = true
        allowed_users = [80351110224678912, "7"]
        [guard]
        similarity = 1
        [budgets]
        day = "none"
        persona_day = 0.25
        [discord]
        guild = 42
        api_url = "http://127.0.0.1:4000/"
        [server]
        listen = "none"
        log_format = "json"
        "#,
        &[],
    );
    assert_eq!(config.team, "Night shift");
    assert_eq!(config.database_url.expose_secret(), "sqlite:/var/lib/team/teamroom.db");
    assert_eq!((config.chat.coalesce, config.chat.ask_timeout), (Duration::ZERO, Duration::from_mins(2)));
    assert_eq!(config.chat.allowed_users, [UserId::new("discord:80351110224678912"), UserId::new("discord:7")]);
    assert!((config.guard.similarity - 1.0).abs() < f64::EPSILON);
    assert_eq!((config.budgets.day, config.budgets.persona_day), (None, Some(Money(250_000))));
    assert_eq!((config.discord.guild.as_deref(), config.discord.api_url.as_deref()), (Some("42"), Some("http://127.0.0.1:4000")));
    assert_eq!((config.server.listen, config.server.log_format), (None, LogFormat::Json));
}

#[test]
fn all_errors_are_told_at_once_with_line_key_and_what_is_allowed() {
    let file = "[chat]\nmax_responders = 0\ncoalesce = 3\nask_timeout = \"soon\"\n\n[chatt]\na = 1\nb = 2\n[server]\nlisten = 9464\n";
    let errors = refused(file, &[("TEAMROOM_GUARD_RUN", "many"), ("TEAMROOM_CHAT_MAX_AGES", "1h"), ("PATH", "/bin")]);
    let expected = [
        "teamroom.toml:2: chat.max_responders: 0 is not allowed. Give a whole number from 1 to 20",
        "teamroom.toml:4: chat.ask_timeout: \"soon\" is not allowed. Give a time (\"500ms\", \"90s\", \"5m\", \"1h\") from \"1s\" to \"1h\"",
        "environment or .env: TEAMROOM_GUARD_RUN: \"many\" is not allowed. Give a whole number from 1 to 100",
        "teamroom.toml:10: server.listen: 9464 is not allowed. Give an address with a port such as \"127.0.0.1:9464\", or \"none\"",
        "teamroom.toml:3: chat.coalesce: unknown key; did you mean coalesce_ms?",
        "teamroom.toml:6: chatt: unknown section; did you mean [chat]?",
        "environment or .env: TEAMROOM_CHAT_MAX_AGES: unknown variable; did you mean TEAMROOM_CHAT_MAX_AGE?",
    ];
    assert_eq!(errors, expected);
}

#[test]
fn what_stands_there_twice_is_told_with_both_lines() {
    let errors = refused("[chat]\nmax_responders = 2\n[budgets]\nitem = 1.0\nitem = 2.0\n[chat] # again\ncoalesce_ms = 5\n", &[]);
    let again = "stands here for the second time, first in line";
    assert!(errors.iter().any(|error| error.starts_with(&format!("teamroom.toml:5: budgets.item: {again} 4"))), "{errors:?}");
    assert!(errors.iter().any(|error| error.starts_with(&format!("teamroom.toml:6: [chat]: {again} 1"))), "{errors:?}");
}

#[test]
fn a_key_above_all_headings_is_told_where_it_belongs() {
    let errors = refused("coalesce_ms = 5\n", &[]);
    assert_eq!(errors, ["teamroom.toml:1: coalesce_ms: belongs under the heading [chat]"]);
}

#[test]
fn errors_of_syntax_are_told_with_their_line_beside_the_others() {
    let errors = refused("team = \"x\n[chat]\nmax_responders = 99\n", &[]);
    assert!(errors.iter().any(|error| error.starts_with("teamroom.toml:1: syntax:")), "{errors:?}");
    assert!(errors.iter().any(|error| error.starts_with("teamroom.toml:3: chat.max_responders: 99")), "{errors:?}");
}

#[test]
fn a_key_in_the_place_of_a_section_and_the_reverse_are_told() {
    let errors = refused("chat = 3\n[team]\n", &[]);
    assert_eq!(
        errors,
        ["teamroom.toml:1: chat: is a section; write [chat] and its keys below", "teamroom.toml:2: team: is one value, no table"]
    );
}

#[test]
fn tables_with_free_names_may_be_empty_and_hold_tables_only() {
    loaded("[chat]\nchannels = []\n[models.prices]\n[models.providers]\n", &[]);
    assert_eq!(
        refused("[models.prices]\nllama = 3\n[chat]\nchannels = [\"general\"]\n", &[]),
        [
            "teamroom.toml:2: models.prices.llama: is not allowed; write a heading such as [models.prices.example-model] and its keys below",
            "teamroom.toml:4: chat.channels: is not allowed; write a heading such as [[chat.channels]] and its keys below",
        ]
    );
}

#[test]
fn a_lease_outlasts_a_missed_heartbeat() {
    let jobs = loaded("[jobs]\nheartbeat = \"1s\"\nlease = \"3s\"\n", &[]).jobs;
    assert_eq!((jobs.heartbeat, jobs.lease), (Duration::from_secs(1), Duration::from_secs(3)));
    let errors = refused("[jobs]\nheartbeat = \"4s\"\n", &[]);
    assert_eq!(errors, ["teamroom.toml:1: jobs.lease: must be at least twice `heartbeat`"]);
}

#[test]
fn secrets_in_the_file_are_refused_with_the_place_they_belong_to_and_never_repeated() {
    let file = "database_url = \"postgres://hunter2@x\"\n[discord]\ntoken_vince = \"hunter2\"\n[discord.tokens]\nkelly = \"hunter2\"\n\
                [models.providers.openai]\nkey = \"hunter2\"\n";
    let errors = refused(file, &[("OPENAI_API_KEY", "sk-x")]);
    for (line, variable) in [(1, "DATABASE_URL"), (3, "DISCORD_TOKEN_VINCE"), (5, "DISCORD_TOKEN_KELLY"), (7, "OPENAI_API_KEY")] {
        let told =
            errors.iter().any(|error| error.starts_with(&format!("teamroom.toml:{line}: ")) && error.ends_with(&format!("as {variable}")));
        assert!(told, "{variable}: {errors:#?}");
    }
    assert_eq!(errors.len(), 4, "{errors:#?}");
    assert!(errors.iter().all(|error| !error.contains("hunter2")));
}

#[test]
fn the_command_line_wins_over_the_environment_and_that_over_the_file() {
    let (dir, mut sources) =
        sources("team = \"file\"\nwork = \"file\"\ndata = \"file\"\n", &[("TEAMROOM_TEAM", "env"), ("TEAMROOM_WORK", "env")]);
    sources.overrides.insert("team".into(), "flag".into());
    let config = load(sources.clone()).expect("a configuration");
    assert_eq!((config.team.as_str(), config.work, config.data), ("flag", dir.path().join("env"), dir.path().join("file")));
    sources.overrides.insert("teem".into(), "flag".into());
    let error = load(sources).expect_err("an unknown key").to_string();
    assert!(error.contains("command line: teem: unknown key; did you mean team?"), "{error}");
}

#[test]
fn a_named_file_must_be_there_and_the_usual_one_need_not() {
    let (dir, mut sources) = sources("", &[]);
    sources.file = Some(dir.path().join("other.toml"));
    let error = load(sources).expect_err("no such file").to_string();
    assert!(error.contains("other.toml: file: cannot be read"), "{error}");
}

#[test]
fn tokens_come_from_variables_or_from_files_they_name() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("token");
    std::fs::write(&path, "abc.def\n").expect("written");
    let path = path.display().to_string();
    let config = loaded("", &[("DISCORD_TOKEN_KELLY", " one "), ("DISCORD_TOKEN_DATA_DOG_FILE", &path), ("DISCORD_TOKEN_VINCE", "")]);
    let tokens: Vec<_> = config.discord.tokens.iter().map(|(slug, token)| (slug.as_str(), token.expose_secret())).collect();
    assert_eq!(tokens, [("data-dog", "abc.def"), ("kelly", "one")]);
    assert!(!format!("{config:?}").contains("abc.def"));

    let errors = refused(
        "",
        &[
            ("DISCORD_TOKEN_A", "x"),
            ("DISCORD_TOKEN_A_FILE", "y"),
            ("DISCORD_TOKEN_B_FILE", "/nowhere"),
            ("DISCORD_TOKEN_C", "Bot x"),
            ("DISCORD_TOKEN", "z"),
        ],
    );
    assert_eq!(errors.len(), 4, "{errors:#?}");
    assert!(errors[0].contains("DISCORD_TOKEN_A: is set, and so is DISCORD_TOKEN_A_FILE"));
    assert!(errors[1].contains("DISCORD_TOKEN_B_FILE: /nowhere cannot be read"));
    assert!(errors[2].contains("DISCORD_TOKEN_C: contains a space"));
    assert!(errors[3].contains("name it, such as DISCORD_TOKEN_KELLY"));
}

#[test]
fn the_token_of_the_board_is_a_secret_that_nobody_guesses() {
    let config = loaded("[server]\nhosts = [\"team.example.com\", \"[::1]\"]\n", &[("TEAMROOM_SERVER_TOKEN", "correct-horse-battery")]);
    let secrets: Vec<_> = config.list_secrets().into_iter().map(secrecy::ExposeSecret::expose_secret).collect();
    assert_eq!(secrets, ["correct-horse-battery"], "it is taken out of what the team writes");
    assert!(!format!("{config:?}").contains("correct-horse"));

    let short = refused("", &[("TEAMROOM_SERVER_TOKEN", "hunter2")]);
    assert_eq!(short, ["environment or .env: TEAMROOM_SERVER_TOKEN: has 7 characters; give at least 16, at random"]);
    let in_the_file = refused("[server]\ntoken = \"hunter2\"\n", &[]);
    assert!(in_the_file[0].ends_with("as TEAMROOM_SERVER_TOKEN") && !in_the_file[0].contains("hunter2"), "{in_the_file:?}");
    for host in ["https://team.example.com", "team.example.com:443", "team.example.com/backlog", "a b", ""] {
        assert_eq!(refused(&format!("[server]\nhosts = [\"{host}\"]\n"), &[]).len(), 1, "{host:?}");
    }
}

#[test]
fn an_id_in_the_settings_may_leave_out_its_platform() {
    let config = loaded(
        r#"
        [chat]
        operators = ["*", "42", "discord:43", "slack:U1"]
        allowed_users = ["42", "slack:U1"]
        allowed_bots = [44]
        allowed_channels = ["7", "general"]
        [[chat.channels]]
        name = "7"
        kind = "work"
        persona = "vince"
        answer = "never"
        [backlog]
        channel = "6"
        [discord]
        ops_channel = "8"
        [schedules.hello]
        cron = "0 9 * * *"
        action = "post: 9"
        channel = "9"
        "#,
        &[],
    );
    let chat = &config.chat;
    assert_eq!(chat.operators, ["*", "discord:42", "discord:43", "slack:U1"]);
    assert_eq!(
        (&chat.allowed_users[..], &chat.allowed_bots[..]),
        (&["discord:42".into(), "slack:U1".into()][..], &["discord:44".into()][..])
    );
    assert_eq!(chat.allowed_channels, ["discord:7", "general"]);
    let here = "discord:7".into();
    let rules = (chat.channels.kind_of(&here, "x"), chat.channels.find_binding(&here, "x"), chat.channels.fallback_of(&here, "x"));
    assert_eq!(rules, (ChannelKind::Work, Some("vince"), FallbackAnswer::Never));
    assert_eq!((config.backlog.channel.as_deref(), config.discord.ops_channel.as_deref()), (Some("discord:6"), Some("discord:8")));
    let job = config.schedules.jobs.iter().find(|job| job.name.as_str() == "hello").expect("the job");
    assert_eq!((job.channel.as_deref(), job.action.to_string().as_str()), (Some("discord:9"), "post: 9"));
}

#[test]
fn channel_rules_of_the_file_stand_before_the_defaults() {
    let config = loaded(
        "[chat]\nanswer = \"never\"\n[[chat.channels]]\nname = \"standup-archive\"\nkind = \"ignore\"\n[[chat.channels]]\nname = \"code\"\npersona = \"Sentinel\"\nanswer = \"always\"\n",
        &[],
    );
    let rules = &config.chat.channels;
    assert_eq!(rules.kind_of(&"1".into(), "standup-archive"), ChannelKind::Ignore);
    assert_eq!(rules.kind_of(&"1".into(), "standup"), ChannelKind::Standup);
    assert_eq!(rules.find_binding(&"1".into(), "code"), Some("sentinel"));
    assert_eq!(rules.fallback_of(&"1".into(), "code"), FallbackAnswer::Always);
    assert_eq!(rules.fallback_of(&"1".into(), "general"), FallbackAnswer::Never);

    let errors = refused("[[chat.channels]]\nkind = \"stand-up\"\nnme = \"x\"\n", &[]);
    assert_eq!(errors.len(), 3, "{errors:#?}");
    assert!(errors[0].starts_with("teamroom.toml:1: chat.channels.1.name: is missing"));
}

#[test]
fn a_database_address_is_checked_and_not_repeated() {
    let config = loaded("", &[("DATABASE_URL", "postgres://me:hunter2@localhost/team")]);
    assert!(config.database_url.expose_secret().starts_with("postgres://"));
    assert_eq!(config.list_secrets().len(), 1);
    let errors = refused("", &[("DATABASE_URL", "mysql://me:hunter2@localhost/team")]);
    assert!(errors[0].contains("postgres:// or sqlite:") && !errors[0].contains("hunter2"), "{errors:?}");
}

fn persona(slug: &str, coordinator: bool) -> Persona {
    Persona { coordinator, ..kernel::testing::persona::persona(slug, "", &[]) }
}

#[test]
fn tokens_and_channels_of_personas_that_are_not_on_the_team_are_warnings() {
    let roster = Roster::new(vec![persona("kelly", true), persona("sentinel", false), persona("vince", false)]).expect("a roster");
    let rule = |persona: &str| format!("[[chat.channels]]\nname = \"code\"\npersona = \"{persona}\"\n");
    let config = loaded(&rule("sentinal"), &[("DISCORD_TOKEN_VINCE", "x"), ("DISCORD_TOKEN_VICNE", "x"), ("DISCORD_TOKEN_ZAPHOD", "x")]);
    let expected = [
        "DISCORD_TOKEN_VICNE names a persona vicne, which is not on the team; did you mean vince?",
        "DISCORD_TOKEN_ZAPHOD names a persona zaphod, which is not on the team; there are kelly, sentinel, vince",
        "the rule of chat.channels for code names a persona sentinal, which is not on the team; did you mean sentinel?",
    ];
    assert_eq!(config.list_unknown_personas(&roster), expected);
    assert!(loaded(&rule("listen"), &[]).list_unknown_personas(&roster).is_empty());
}

#[test]
fn times_have_limits_and_a_limit_itself_is_allowed() {
    assert_eq!(loaded("[chat]\nask_timeout = \"1h\"\n", &[]).chat.ask_timeout, Duration::from_hours(1));
    for wrong in ["0ms", "999ms", "61m"] {
        assert_eq!(refused(&format!("[chat]\nask_timeout = \"{wrong}\"\n"), &[]).len(), 1, "{wrong}");
    }
}
