//! Gateway failures: identities reconnect or report why not, and messages in between arrive once.

use std::time::{Duration, Instant};

use kernel::chat::{ChatPlatform, IdentityState, PlatformEvent, SendError};
use kernel::time::{Clock, SystemClock};
use sandbox::{BotAccount, Cut, Exchange, RestFault, Switch};
use teamroom::adapters::discord::ConnectError;

use super::stage::PATIENCE;
use super::stage::{Memory, Setting, Stage, TEAM, connect, hurried, roster_of, row, until};

/// The number of payloads with this opcode sent by an account.
fn sent(stage: &Stage, slug: &str, operation: u64) -> usize {
    let bot = stage.sandbox.bots().into_iter().find(|bot| bot.slug == slug).unwrap();
    let is_it = |exchange: &&Exchange| {
        matches!(exchange, Exchange::Frame(frame)
            if frame.payload["op"] == operation && frame.direction == sandbox::Direction::Received
                && frame.user.as_deref().is_none_or(|sender| sender == bot.id)
                && (![IDENTIFY, RESUME].contains(&operation) || frame.payload["d"]["token"] == bot.token))
    };
    stage.sandbox.journal().iter().filter(is_it).count()
}

/// Whether the server greeted a new connection.
fn is_hello(exchange: &Exchange) -> bool {
    matches!(exchange, Exchange::Frame(frame) if frame.payload["op"] == 10 && frame.direction == sandbox::Direction::Sent)
}

const IDENTIFY: u64 = 2;
const RESUME: u64 = 6;

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_token_of_one_of_seven_is_told_once_and_the_others_go_on() {
    let mut setting = Setting::new();
    setting.adapt = Box::new(|settings| {
        settings.tokens.insert("vince".into(), "sandbox.1.wrong".to_owned().into());
    });
    let mut stage = setting.open().await;
    let (persona, told) = stage.events.trouble().await;
    assert_eq!(persona.as_str(), "vince");
    assert!(told.contains("DISCORD_TOKEN_VINCE") && !told.contains("wrong"), "{told}");
    for slug in TEAM.iter().filter(|slug| **slug != "vince") {
        stage.until_state(slug, IdentityState::Ready).await;
    }
    assert_eq!(stage.status("vince").state, IdentityState::Down);
    let general = stage.channel("general");
    stage.discord.send(&row("kelly", &general, "we go on")).await.unwrap();
    stage.discord.send(&row("vince", &general, "I speak through a webhook")).await.unwrap();
    let posted = stage.history(&general).await;
    assert!(posted.iter().any(|message| message["webhook_id"].is_string() && message["author"]["username"] == "Vince"), "{posted:?}");
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(!stage.events.drain().iter().any(|event| matches!(event, PlatformEvent::Trouble { .. })));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_token_of_the_coordinator_is_told_once_though_two_calls_meet_it() {
    let mut setting = Setting::new();
    setting.adapt = Box::new(|settings| {
        settings.tokens.insert("kelly".into(), "sandbox.1.wrong".to_owned().into());
    });
    let mut stage = setting.open().await;
    stage.until_state("kelly", IdentityState::Down).await;
    let (persona, told) = stage.events.trouble().await;
    assert_eq!(persona.as_str(), "kelly");
    assert!(told.contains("DISCORD_TOKEN_KELLY"), "{told}");
    stage.until_state("echo", IdentityState::Ready).await;
    assert!(!stage.events.drain().iter().any(|event| matches!(event, PlatformEvent::Trouble { .. })));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_switched_off_content_intent_names_the_switch_and_is_not_tried_again() {
    let mut setting = Setting::new();
    setting.sandbox.bots[3].intents_content = false;
    let slug = setting.sandbox.bots[3].slug.clone();
    let mut stage = setting.open().await;
    let (persona, told) = stage.events.trouble().await;
    assert_eq!(persona.as_str(), slug);
    assert!(told.contains("Message Content Intent"), "{told}");
    tokio::time::sleep(Duration::from_millis(600)).await;
    assert_eq!((stage.status(&slug).state, sent(&stage, &slug, IDENTIFY)), (IdentityState::Down, 1));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_account_logs_in_by_its_own_limit_and_resumes_without_a_login() {
    let mut setting = Setting::new();
    setting.sandbox.rate_limits = sandbox::RateLimits::Discord;
    setting.sandbox.bots.push(BotAccount { slug: "zoe".into(), name: "Zoe".into(), color: None, intents_content: true });
    // Whoever waits for a second turn never gets it.
    setting.sandbox.windows.identify = Duration::from_hours(1);
    setting.timing.login_spacing = Duration::from_hours(1);
    let team: Vec<String> = setting.sandbox.bots.iter().map(|bot| bot.slug.clone()).collect();
    let mut stage = setting.open_with(roster_of(&team)).await;
    stage.all_ready().await;
    stage.misbehave(Switch::Drop { bot: None, how: Cut::Reset });
    for slug in &team {
        until(|| sent(&stage, slug, RESUME) == 1, || format!("{slug} does not resume")).await;
        stage.until_state(slug, IdentityState::Ready).await;
        assert_eq!(sent(&stage, slug, IDENTIFY), 1, "{slug}");
    }
    assert_eq!(team.len(), 8);
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn personas_with_one_token_log_in_one_after_the_other() {
    let mut setting = Setting::new();
    setting.timing.login_spacing = Duration::from_hours(1);
    setting.adapt = Box::new(|settings| {
        settings.tokens.retain(|slug, _| ["kelly", "vince"].contains(&slug.as_str()));
        let shared = settings.tokens[&"kelly".into()].clone();
        settings.tokens.insert("vince".into(), shared);
    });
    let mut stage = setting.open().await;
    stage.events.next(|event| matches!(event, PlatformEvent::Ready { .. })).await;
    let until_both = || stage.sandbox.journal().iter().filter(|exchange| is_hello(exchange)).count() == 2;
    until(until_both, || "one did not connect".into()).await;
    assert_eq!(sent(&stage, "kelly", IDENTIFY), 1);
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn all_logins_wait_while_discord_blocks_the_network_address() {
    let setting = Setting::new();
    let sandbox = setting.sandbox().await;
    let with = RestFault::RateLimited { retry_after: 1.0, headers: false, global: false };
    sandbox.misbehaviour().set(Switch::Rest { bot: None, method: None, path: "/gateway/bot".to_owned(), times: 100, with }).unwrap();
    let mut stage = setting.open_on(sandbox).await;
    for slug in TEAM {
        let waits = || stage.status(slug).trouble.is_some_and(|trouble| trouble.contains("network address"));
        until(waits, || format!("{slug} does not wait")).await;
        assert_eq!(sent(&stage, slug, IDENTIFY), 0, "{slug}");
    }
    let (_, told) = stage.events.trouble().await;
    assert!(told.contains("this network address"), "{told}");
    assert!(!stage.events.drain().iter().any(|event| matches!(event, PlatformEvent::Trouble { .. })), "told once");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_connection_is_resumed_and_what_was_said_meanwhile_comes_once() {
    let mut stage = Stage::ready().await;
    let general = stage.channel("general");
    for how in [Cut::Reset, Cut::Close(4000), Cut::Close(1001)] {
        stage.misbehave(Switch::Drop { bot: None, how });
        let said = stage.say(&general, "did you hear?").await;
        assert_eq!(stage.events.message().await.id.bare(), said, "{how:?}");
        for slug in TEAM {
            stage.until_state(slug, IdentityState::Ready).await;
        }
    }
    stage.misbehave(Switch::Reconnect { bot: None });
    let said = stage.say(&general, "and now?").await;
    assert_eq!(stage.events.message().await.id.bare(), said);
    tokio::time::sleep(Duration::from_millis(300)).await;
    let rest = stage.events.drain();
    assert!(!rest.iter().any(|event| matches!(event, PlatformEvent::Message(_) | PlatformEvent::Ready { .. })), "{rest:?}");
    assert_eq!(sent(&stage, "vince", IDENTIFY), 1);
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_resume_costs_one_login_and_is_no_failure() {
    let mut setting = Setting::new();
    // A failure would double these pauses.
    setting.timing.first_pause = Duration::from_secs(30);
    setting.timing.longest_pause = Duration::from_mins(1);
    let mut stage = setting.open().await;
    stage.all_ready().await;
    for round in 1..=3 {
        let began = Instant::now();
        stage.misbehave(Switch::RefuseResume { bot: Some("vince".to_owned()), times: 1 });
        stage.misbehave(Switch::Drop { bot: Some("vince".to_owned()), how: Cut::Reset });
        let ready = stage.events.next(|event| matches!(event, PlatformEvent::Ready { .. })).await;
        assert!(matches!(ready, PlatformEvent::Ready { persona, .. } if persona.as_str() == "vince"));
        stage.until_state("vince", IdentityState::Ready).await;
        println!("refused RESUME {round}: back after {:?}, IDENTIFYs so far: {}", began.elapsed(), sent(&stage, "vince", IDENTIFY));
        assert_eq!((sent(&stage, "vince", RESUME), sent(&stage, "vince", IDENTIFY)), (round, round + 1));
        assert_eq!(stage.status("vince").trouble, None);
    }
    assert!(!stage.events.drain().iter().any(|event| matches!(event, PlatformEvent::Trouble { .. })));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_sequence_and_a_timed_out_session_start_a_new_one_at_once() {
    let mut setting = Setting::new();
    setting.timing.first_pause = Duration::from_secs(30);
    let mut stage = setting.open().await;
    stage.all_ready().await;
    for (round, code) in [(1, 4007), (2, 4009)] {
        let began = Instant::now();
        stage.misbehave(Switch::Drop { bot: Some("vince".to_owned()), how: Cut::Close(code) });
        stage.events.next(|event| matches!(event, PlatformEvent::Ready { persona, .. } if persona.as_str() == "vince")).await;
        println!("{code}: back after {:?}", began.elapsed());
        assert_eq!((sent(&stage, "vince", RESUME), sent(&stage, "vince", IDENTIFY)), (0, round + 1), "{code}");
    }
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_close_code_that_says_never_is_told_with_the_remedy_and_not_tried_again() {
    for (code, remedy) in [(4010, "report this as a bug"), (4011, "too many servers"), (4012, "Update Teamroom"), (4013, "Update Teamroom")]
    {
        let mut stage = Stage::ready().await;
        stage.misbehave(Switch::Drop { bot: Some("vince".to_owned()), how: Cut::Close(code) });
        let (persona, told) = stage.events.trouble().await;
        println!("{code}: {told}");
        assert!(persona.as_str() == "vince" && told.contains(remedy) && told.contains("Vince"), "{told}");
        tokio::time::sleep(Duration::from_millis(500)).await;
        let tried = (sent(&stage, "vince", RESUME), sent(&stage, "vince", IDENTIFY));
        assert_eq!((stage.status("vince").state, tried), (IdentityState::Down, (0, 1)), "{code}");
        // The next start, as after a change of the configuration, tries again.
        stage.discord.close().await;
        let (again, mut events) = connect(stage.settings.clone(), hurried(), &stage.memory).await;
        events.next(|event| matches!(event, PlatformEvent::Ready { persona, .. } if persona.as_str() == "vince")).await;
        again.unwrap().close().await;
        stage.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_without_acknowledgements_is_replaced_and_its_session_taken_up() {
    let mut setting = Setting::new();
    setting.sandbox.windows.heartbeat = Duration::from_secs(1);
    let mut stage = setting.open().await;
    stage.all_ready().await;
    stage.misbehave(Switch::WithholdAcks { bot: Some("vince".to_owned()), on: true });
    until(|| sent(&stage, "vince", RESUME) > 0, || "it is not replaced".into()).await;
    stage.misbehave(Switch::WithholdAcks { bot: Some("vince".to_owned()), on: false });
    stage.until_state("vince", IdentityState::Ready).await;
    let general = stage.channel("general");
    let said = stage.say(&general, "did you hear?").await;
    assert_eq!(stage.events.message().await.id.bare(), said);
    println!("no acknowledgements: {} RESUMEs, {} IDENTIFY", sent(&stage, "vince", RESUME), sent(&stage, "vince", IDENTIFY));
    assert_eq!(sent(&stage, "vince", IDENTIFY), 1, "nothing was missed");
    // The others have only heartbeats, because nobody posts anything.
    tokio::time::sleep(Duration::from_millis(3500)).await;
    for slug in TEAM {
        stage.until_state(slug, IdentityState::Ready).await;
        assert_eq!(sent(&stage, slug, IDENTIFY), 1, "{slug} began no new session");
    }
    assert!(stage.status("echo").latency.is_some());
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_answers_with_errors_or_a_page_at_the_start_is_asked_again() {
    let mut setting = Setting::new();
    let sandbox = setting.sandbox().await;
    let settings = super::stage::settings(&sandbox);
    let api_faults = [RestFault::Status(503), RestFault::BadGateway, RestFault::Status(500)];
    for with in api_faults {
        let rest = |path: &str, times| Switch::Rest { bot: None, method: None, path: path.to_owned(), times, with };
        // The address of the gateway, how many logins are left, and the slash commands.
        for (path, times) in [("/gateway", 4), ("/applications", 2)] {
            sandbox.misbehaviour().set(rest(path, times)).unwrap();
        }
        let memory = std::sync::Arc::new(Memory::default());
        let began = Instant::now();
        let (discord, mut events) = connect(settings.clone(), hurried(), &memory).await;
        let discord = discord.unwrap_or_else(|error| panic!("{with:?}: {error}"));
        for _ in TEAM {
            events.next(|event| matches!(event, PlatformEvent::Ready { .. })).await;
        }
        until(|| !memory.registered.lock().unwrap().is_empty(), || format!("{with:?}: no commands")).await;
        println!("{with:?} at the start: seven online and the commands registered after {:?}", began.elapsed());
        discord.close().await;
    }
    setting.timing = hurried();
    sandbox.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_commands_go_to_the_next_account_and_back() {
    let mut setting = Setting::new();
    setting.adapt = Box::new(|settings| {
        settings.tokens.insert("kelly".into(), "sandbox.1.wrong".to_owned().into());
    });
    let stage = setting.open().await;
    let path = |slug: &str| format!("/applications/{}/commands", stage.bot_id(slug));
    let registered = |slug: &str| stage.memory.registered.lock().unwrap().get(&path(slug)).cloned();
    until(|| registered("echo").is_some(), || "nobody has the commands".into()).await;
    assert_eq!(registered("eliza"), None, "one has them");
    stage.discord.close().await;
    // Starts again with a valid token for the coordinator.
    let (again, _events) = connect(super::stage::settings(&stage.sandbox), hurried(), &stage.memory).await;
    let with_deputy = registered("echo");
    until(|| registered("kelly").is_some() && registered("echo") != with_deputy, || "they did not go back".into()).await;
    let commands = async |slug: &str| {
        let token = stage.sandbox.bots().into_iter().find(|bot| bot.slug == slug).unwrap().token;
        let url = format!("{}/api/v10{}", stage.sandbox.api_url(), path(slug));
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let answer = client.get(url).header("authorization", format!("Bot {token}")).send().await.unwrap();
        answer.json::<serde_json::Value>().await.unwrap().as_array().map_or(0, Vec::len)
    };
    assert!(commands("kelly").await > 5);
    assert_eq!(commands("echo").await, 0);
    again.unwrap().close().await;
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_that_is_never_answered_and_a_hello_that_never_comes_are_given_up() {
    let stage = Stage::ready().await;
    // The account may log in or resume. Only a login is reported.
    let logins = || sent(&stage, "vince", IDENTIFY) + sent(&stage, "vince", RESUME);
    for fault in [Switch::IgnoreUpgrades { times: 1 }, Switch::WithholdHello { times: 1 }] {
        let (began, before) = (Instant::now(), logins());
        stage.misbehave(fault.clone());
        stage.misbehave(Switch::Drop { bot: Some("vince".to_owned()), how: Cut::Reset });
        until(|| logins() > before, || "it does not come back".into()).await;
        println!("{fault:?}: back after {:?}", began.elapsed());
        // The account's state is outdated until the next check. The next fault should hit an established session.
        tokio::time::sleep(Duration::from_secs(1)).await;
        stage.until_state("vince", IdentityState::Ready).await;
    }
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_that_is_always_cut_off_stops_at_twenty_an_hour_and_is_told() {
    let mut setting = Setting::new();
    setting.timing.first_pause = Duration::from_millis(1);
    setting.timing.longest_pause = Duration::from_millis(2);
    setting.timing.ready = Duration::from_millis(400);
    setting.timing.new_session = Duration::from_millis(2);
    setting.adapt = Box::new(|settings| settings.tokens.retain(|slug, _| ["kelly", "vince"].contains(&slug.as_str())));
    let mut stage = setting.open().await;
    stage.events.next(|event| matches!(event, PlatformEvent::Ready { persona, .. } if persona.as_str() == "kelly")).await;
    stage.until_state("vince", IdentityState::Ready).await;
    // Most of the hour's logins count as made before a restart.
    for _ in 0..14 {
        stage.memory.identifies.lock().unwrap().push(("vince".into(), SystemClock.now()));
    }
    // Each of these needs a new session.
    stage.misbehave(Switch::CloseAfterIdentify { bot: Some("vince".to_owned()), code: 4009, times: 1000 });
    stage.misbehave(Switch::InvalidateSession { bot: Some("vince".to_owned()), resumable: false });
    let told = loop {
        let (_, told) = stage.events.trouble().await;
        if told.contains("20 times") {
            break told;
        }
        assert!(told.contains("cannot reach Discord"), "{told}");
    };
    println!("{told}");
    let identifies = sent(&stage, "vince", IDENTIFY);
    assert!((2..=6).contains(&identifies), "{identifies}");
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(sent(&stage, "vince", IDENTIFY), identifies);
    assert_eq!(stage.status("kelly").state, IdentityState::Ready);
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_platform_that_goes_away_and_comes_back_finds_the_team_again() {
    let mut setting = Setting::new();
    setting.timing.redial = Duration::from_millis(500);
    let mut stage = setting.open().await;
    stage.all_ready().await;
    let addr = stage.sandbox.api_url().trim_start_matches("http://").parse().unwrap();
    let stopped = std::mem::replace(&mut stage.sandbox, Setting::new().sandbox().await);
    stopped.stop().await;
    let vince = || stage.status("vince").state;
    until(|| vince() == IdentityState::Reconnecting, || format!("{:?}", vince())).await;
    let lost = stage.discord.send(&row("vince", "1", "hello?")).await;
    assert!(matches!(lost, Err(SendError::Unreachable(_))), "{lost:?}");
    stage.reopen(addr).await;
    stage.all_ready().await;
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_team_leaves_at_once_and_together() {
    let stage = Stage::ready().await;
    tokio::time::timeout(PATIENCE, stage.discord.close()).await.expect("nobody waits for a dead connection");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_does_not_answer_is_told_and_nothing_else_is_dialled() {
    let unused = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let stage = Setting::new().open().await;
    let mut settings = stage.settings.clone();
    settings.api_url = Some(format!("http://{unused}"));
    let memory = std::sync::Arc::new(Memory::default());
    let (waiting, mut events) = connect(settings.clone(), hurried(), &memory).await;
    let (_, told) = events.trouble().await;
    println!("{told}");
    assert!(told.contains("cannot reach"), "{told}");
    assert!(memory.identifies.lock().unwrap().is_empty());
    waiting.expect("it waits for the server").close().await;
    // An API that names a gateway on another host: the token is not sent there.
    let app = axum::Router::new().route("/api/v10/gateway", axum::routing::get(|| async { r#"{"url": "wss://gateway.discord.gg"}"# }));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    settings.api_url = Some(format!("http://{}", listener.local_addr().unwrap()));
    tokio::spawn(async move { axum::serve(listener, app).await });
    let (refused, _) = connect(settings, hurried(), &memory).await;
    assert!(matches!(refused, Err(ConnectError::ForeignGateway { .. })), "{:?}", refused.err());
    stage.close().await;
}
