//! `teamroom sandbox`: the whole product on one machine, without other services.

use std::fs::File;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;

use crate::adapters::http::settings::ServerSettings;
use crate::app::{App, Reload, Setting, shutdown, telemetry};
use crate::cli::sandbox_ports::{self, Ports};
use crate::cli::sandbox_server::{LocalServer, ServerOptions};
use crate::cli::{confirm, setting};
use crate::config::Config;
use kernel::commands::refuse;
use kernel::llm::nearby::{SERVERS, find_server};
use kernel::persona::Persona;
use kernel::persona::roster::Roster;
use kernel::time::SystemClock;
use sandbox::{About, AboutPersona};

/// The default port of the page, and that of the page of the local Slack. Both can run.
const PORT: u16 = 4800;
const SLACK_PORT: u16 = 4801;

/// Any port, for the backlog, unless the sandbox remembers one or the configuration names one.
const ANY: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// How long the identities may take to come online.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct Args {
    /// Use a local Slack instead of a local Discord. It has a directory of its own, so that what you try in one changes nothing in the other.
    #[arg(long)]
    slack: bool,
    /// Where the chat server and the team keep their state; with `DATABASE_URL` set, the team keeps its own there.
    #[arg(long, default_value = setting::SANDBOX, default_value_if("slack", "true", setting::SLACK_SANDBOX))]
    dir: PathBuf,
    /// The port on 127.0.0.1; 0 takes any. By default that of the last start, at first 4800 (for Slack 4801), or any if that is taken.
    #[arg(long)]
    port: Option<u16>,
    /// Delete everything that was said and done there, before the start. Asks first.
    #[arg(long)]
    reset: bool,
    /// Do not ask before `--reset`.
    #[arg(long, requires = "reset")]
    yes: bool,
    /// Print one line of JSON once every identity is ready: page, api, channels, people, personas, models, backlog, metrics; on Discord gateway and guild too, on Slack team.
    #[arg(long)]
    json: bool,
    /// Take part in the terminal instead of the browser; on the local Discord only. The log goes into `team.log` of the directory.
    #[arg(long, conflicts_with = "json")]
    terminal: bool,
    /// People in the server; each gets a token of its own. The first one is the operator.
    #[arg(long, value_name = "NAME", value_delimiter = ',', default_value = "You")]
    people: Vec<String>,
    /// Channels to begin with, in place of general, daily-standup, knowledge and ops.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    channels: Vec<String>,
    /// Serve the chat server alone. Its `/sandbox/info` has the addresses and tokens for any client, such as `teamroom run` with `DISCORD_API_URL` and `DISCORD_GATEWAY_URL`.
    #[arg(long)]
    no_team: bool,
    /// Do not look for a model server on this machine (Ollama, LM Studio, llama.cpp, vLLM) when no model is configured.
    #[arg(long)]
    no_local_model: bool,
    /// Answer requests at any rate, for measurements.
    #[arg(long)]
    no_rate_limits: bool,
    /// How many shards of one Discord bot may log in within five seconds, as `GET /gateway/bot` says it (`max_concurrency`).
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    max_concurrency: u64,
}

pub(super) async fn run(file: Option<PathBuf>, args: Args) -> anyhow::Result<()> {
    if args.slack && args.terminal {
        refuse("--terminal works with the local Discord only. Leave out --slack, or leave out --terminal and open the page in a browser")?;
    }
    if args.reset && !args.yes && holds_something(&args.dir) {
        confirm::ask(&format!("delete everything that was said and done in {}", args.dir.display()))?;
    }
    let mut setting = read(file.clone(), &args, setting::read_roster)?;
    let _telemetry = telemetry::start(&setting.config.server, open_log(&args)?)?;
    let mut ports = Ports::read(&args.dir);
    let server = start_server(&args, &setting.roster, &mut ports).await?;
    // Files in the sandbox's folder belong in no repository.
    std::fs::write(args.dir.join(".gitignore"), "*\n").with_context(|| format!("cannot write into {}", args.dir.display()))?;
    ports.write(&args.dir)?;
    if args.no_team {
        announce(&args, &server, None)?;
        shutdown::signalled().await;
        server.stop().await;
        return Ok(());
    }
    if args.reset {
        forget(&args.dir)?;
    }
    let read_again = || read(file.clone(), &args, setting::reload_roster);
    let reload = Reload::new(setting.clone(), setting::list_files(file.as_deref())?, Box::new(read_again));
    join(&mut setting.config, &server);
    let nearby = if args.no_local_model || !setting.config.models.is_empty() { None } else { find_server(&SERVERS).await };
    if let Some(found) = &nearby {
        setting.config.models.use_nearby(found);
        eprintln!(
            "Using {} of {} at {}, because no other model is configured. Start with --no-local-model to go without.",
            found.model, found.name, found.base_url
        );
    }
    let keeps_port = setting.config.server.listen == Some(ANY);
    if keeps_port {
        setting.config.server.listen = Some(SocketAddr::new(ANY.ip(), sandbox_ports::choose(ports.backlog, "the backlog")));
    }
    let mut about = describe(&setting);
    let app = App::start(setting).await?;
    about.links.extend(app.http.map(|http| ("Backlog".to_owned(), format!("http://{http}/backlog"))));
    if keeps_port {
        ports.backlog = app.http.map(|http| http.port());
        ports.write(&args.dir)?;
    }
    server.set_about(about.clone());
    app.ready(PATIENCE).await?;
    announce(&args, &server, Some(&app))?;
    if args.terminal {
        server.run_terminal().await?;
        app.stop_within(Duration::from_secs(2)).await;
    } else {
        let listen = app.http;
        let reload = reload.prepared_by(Box::new(|setting| {
            server.set_team(&setting.roster);
            join(&mut setting.config, &server);
            if let Some(found) = nearby.as_ref().filter(|_| setting.config.models.is_empty()) {
                setting.config.models.use_nearby(found);
            }
            // The printed addresses stay valid.
            setting.config.server.listen = listen;
            server.set_about(About { links: about.links.clone(), ..describe(setting) });
        }));
        app.run_reloading(reload, PATIENCE).await?;
    }
    server.stop().await;
    Ok(())
}

fn read(file: Option<PathBuf>, args: &Args, read_roster: impl Fn(&Config) -> anyhow::Result<Roster>) -> anyhow::Result<Setting> {
    let mut config = setting::read_config_with(file, "data", args.dir.display().to_string())?;
    let roster = read_roster(&config)?;
    quieten(&mut config.server);
    Ok(Setting { config, roster, clock: Arc::new(SystemClock) })
}

/// Where the log goes while the terminal shows the chat.
fn open_log(args: &Args) -> anyhow::Result<Option<File>> {
    if !args.terminal {
        return Ok(None);
    }
    let path = args.dir.join("team.log");
    let open = || {
        std::fs::create_dir_all(&args.dir)?;
        File::options().create(true).append(true).open(&path)
    };
    open().map(Some).with_context(|| format!("cannot write {}", path.display()))
}

/// On the port that is asked for, or else that of the last start, or else the usual one, or else any.
async fn start_server(args: &Args, roster: &Roster, ports: &mut Ports) -> anyhow::Result<LocalServer> {
    let start = |port| {
        let options = ServerOptions {
            slack: args.slack,
            dir: args.dir.join("server"),
            port,
            reset: args.reset,
            people: args.people.clone(),
            channels: args.channels.clone(),
            has_rate_limits: !args.no_rate_limits,
            max_concurrency: args.max_concurrency,
        };
        LocalServer::start(options, roster)
    };
    if let Some(port) = args.port {
        return start(port).await;
    }
    let usual = ports.page.unwrap_or(if args.slack { SLACK_PORT } else { PORT });
    let server = match start(usual).await {
        Err(error) if LocalServer::lacks_port(&error) => {
            eprintln!("Port {usual} is used by another program, so the page gets a new address.");
            start(0).await?
        }
        started => started?,
    };
    ports.page = Some(server.port());
    Ok(server)
}

/// What the page says about the team.
fn describe(setting: &Setting) -> About {
    let mut models: Vec<&str> = setting.config.models.tiers.values().flatten().map(|model| model.model.as_str()).collect();
    models.dedup();
    About {
        links: Vec::new(),
        personas: setting.roster.personas().iter().map(about_persona).collect(),
        models: (!models.is_empty()).then(|| format!("Language model: {}", models.join(", "))),
    }
}

fn about_persona(persona: &Persona) -> AboutPersona {
    AboutPersona { slug: persona.slug.to_string(), name: persona.name.clone(), role: persona.role.clone() }
}

fn join(config: &mut Config, server: &LocalServer) {
    server.join(config);
    // The first person. Without a list it is whoever may manage the workspace.
    config.chat.operators = server.operator().into_iter().collect();
    config.chat.direct_messages = true;
}

/// Changes defaults only: the log shows warnings only, because people came to chat, and a second sandbox needs its own port.
fn quieten(server: &mut ServerSettings) {
    let default = ServerSettings::default();
    if server.log == default.log {
        server.log = "warn".into();
    }
    if server.listen == default.listen {
        server.listen = Some(ANY);
    }
}

/// Whether a chat server or a team kept something in a sandbox's folder.
fn holds_something(dir: &Path) -> bool {
    ["server", "teamroom.db"].into_iter().any(|name| dir.join(name).exists())
}

/// Removes the team's database of the sandbox. A database elsewhere is kept, because it may hold other data.
fn forget(dir: &Path) -> anyhow::Result<()> {
    for name in ["teamroom.db", "teamroom.db-wal", "teamroom.db-shm"] {
        let path = dir.join(name);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("cannot remove {}", path.display()));
            }
            _ => {}
        }
    }
    Ok(())
}

fn announce(args: &Args, server: &LocalServer, app: Option<&App>) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if args.json {
        let mut info = server.info(args.no_team);
        if let Some((fields, http)) = info.as_object_mut().zip(app.and_then(|app| app.http)) {
            fields.insert("metrics".into(), format!("http://{http}/metrics").into());
            fields.insert("backlog".into(), format!("http://{http}/backlog").into());
        }
        writeln!(out, "{info}")?;
    } else if !args.terminal {
        let who = if args.no_team { "The chat server runs without the team" } else { "The team is in" };
        writeln!(out, "{who}. Open {} in a browser; Ctrl-C ends it.", server.page_url())?;
        if let Some(http) = app.and_then(|app| app.http) {
            writeln!(out, "The backlog, live: http://{http}/backlog")?;
        }
    }
    out.flush()?;
    Ok(())
}
