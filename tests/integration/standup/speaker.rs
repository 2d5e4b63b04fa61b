//! A persona's contributions to a standup, with a scripted model over HTTP.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, TimeZone as _, Utc};
use chrono_tz::Tz;
use kernel::agent::{Agents, RunError};
use kernel::chat::message::{Channel, Place};
use kernel::commands::Services;
use kernel::config::Sources;
use kernel::feeds::condition::{Comparison, SettlingRule};
use kernel::ids::PersonaSlug;
use kernel::llm::ModelError;
use kernel::llm::settings::ProviderKind;
use kernel::money::{CostGroup, TokenUsage};
use kernel::persona::roster::Roster;
use kernel::persona::{file, load};
use kernel::time::{ManualClock, SharedClock};
use secrecy::SecretString;
use serde_json::json;
use teamroom::features::meeting::model::{CalledBy, Contribution, Meeting, MeetingState};
use teamroom::features::meeting::signal::Direction;
use teamroom::features::standup::StandupTerms;
use teamroom::features::standup::model::page::{PageFeed, PageReading, PageValue, SharedPage};
use teamroom::features::standup::model::prediction::{Answer, Call, Scoreboard};
use teamroom::features::standup::model::report::ValueChange;
use teamroom::features::standup::model::tension::CrossCheck;
use teamroom::features::standup::turns::{CallAsked, ConcludeAsked, Conclusion, QuestionAsked, ReportAsked, Turns};
use teamroom::store::Store;
use teamroom::{app, config};
use tokio_util::sync::CancellationToken;

use crate::support::migrated;
use crate::support::model::{Script, ScriptedModel};
use crate::support::team::use_model;

const BOTH: [ProviderKind; 2] = [ProviderKind::OpenAi, ProviderKind::Anthropic];
const REPORT: &str = "Latency rose to 840 ms.\n\n```signals\n[{\"subject\": \"checkout latency\", \"direction\": \"up\", \"confidence\": 0.8, \
                      \"evidence\": {\"feed\": \"shop\", \"value\": \"840 ms\"}}]\n```";

fn now() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 11, 21, 9, 0, 0).unwrap()
}

/// The built-in team with a scripted model.
struct Stage {
    agents: Agents,
    meeting: Meeting,
    page: SharedPage,
    rule: SettlingRule,
    _dir: tempfile::TempDir,
}

impl Stage {
    async fn with(model: &ScriptedModel, kind: ProviderKind) -> Self {
        Self::new(Some((model, kind))).await
    }

    async fn new(model: Option<(&ScriptedModel, ProviderKind)>) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let mut config = config::load(Sources { dir: dir.path().into(), ..Sources::default() }).expect("the defaults are valid");
        // A model that stops in the middle of an answer is given up after this time.
        config.models.idle_timeout = Duration::from_secs(3);
        if let Some((model, kind)) = model {
            use_model(&mut config, kind, model);
        }
        let url = SecretString::from(migrated::sqlite(&dir.path().join("teamroom.db")));
        let store = Store::open(&url, now()).await.expect("the store opens");
        let personas = load::BUILT_IN.iter().map(|(name, text)| file::parse(name.trim_end_matches(".md"), text.as_bytes()));
        let roster = Arc::new(Roster::new(personas.map(|persona| persona.expect("a persona")).collect()).expect("a roster"));
        let clock: SharedClock = Arc::new(ManualClock::new(now()));
        let agents = app::agents(&config, &roster, &store, &clock, &Services::new("nobody commands here")).expect("the agents").agents;
        Self { agents, meeting: meeting(), page: page(), rule: rule(), _dir: dir }
    }

    async fn report(&self, cancel: &CancellationToken) -> Result<Contribution, RunError> {
        let asked = ReportAsked {
            persona: &PersonaSlug::from("vince"),
            meeting: &self.meeting,
            page: &self.page,
            before: &[],
            hints: &[],
            items: &[],
            lessons: &[],
            findings: &[],
            question: Some(self.question()),
            open_calls: &[],
            scoreboard: &Scoreboard::default(),
            last_report: None,
            moved: &[],
            rated: (0, 0),
            told: &[],
            delta_context: true,
        };
        Turns::new(&self.agents).report(&asked, cancel).await
    }

    async fn call(&self) -> Call {
        let asked = CallAsked {
            persona: &PersonaSlug::from("solus"),
            meeting: &self.meeting,
            page: &self.page,
            seats: &[],
            cross_check: &CrossCheck::default(),
            question: self.question(),
            scoreboard: &Scoreboard::default(),
        };
        Turns::new(&self.agents).call(&asked, &CancellationToken::new()).await
    }

    async fn conclude(&self) -> Conclusion {
        let asked = ConcludeAsked {
            meeting: &self.meeting,
            page: &self.page,
            seats: &[],
            cross_check: &CrossCheck::default(),
            call: None,
            question: None,
            last_report: None,
            moved: &[],
            open: &[],
            people: &[],
            told: &[],
        };
        Turns::new(&self.agents).conclude(&asked, &CancellationToken::new()).await
    }

    fn question(&self) -> QuestionAsked<'_> {
        let expires_at = now() + TimeDelta::days(6);
        QuestionAsked {
            text: "Will latency be below 500 ms by Friday?",
            rule: &self.rule,
            base: 840.0,
            history: &[],
            expires_at,
            only_rises: false,
        }
    }

    /// Calls and tokens in the ledger under `standup`.
    async fn ledger(&self) -> (u64, TokenUsage) {
        let day = TimeDelta::days(1);
        let lines = self.agents.store.costs(now() - day, now() + day, CostGroup::Purpose).await.expect("the ledger");
        lines.iter().find(|line| line.key == "standup").map(|line| (line.calls, line.usage)).unwrap_or_default()
    }
}

fn meeting() -> Meeting {
    let terms = StandupTerms {
        facilitator: "kelly".into(),
        zone: Tz::UTC,
        session: Duration::from_mins(30),
        budget: None,
        checkin_lead: Duration::ZERO,
    };
    let channel = Channel { id: "10".into(), name: "daily-standup".into(), place: Place::Server, private: false, shared: false };
    Meeting { id: "meeting-1".into(), state: MeetingState::Running, ..terms.call(channel, CalledBy::CommandLine, now()) }
}

fn page() -> SharedPage {
    let latency = PageValue { name: "latency".into(), number: 840.0, unit: "ms".into() };
    let (source, as_of) = ("shop figures".into(), now());
    let reading =
        PageReading { source, as_of, items: Vec::new(), total: 0, values: vec![latency], note: None, story: Vec::new(), seen: Vec::new() };
    let yesterday = now() - TimeDelta::days(1);
    let change = ValueChange {
        feed: "shop".into(),
        name: "latency".into(),
        unit: "ms".into(),
        before: 410.0,
        before_at: yesterday,
        now: 840.0,
        now_at: now(),
        usual: None,
    };
    let shop =
        PageFeed { feed: "shop".into(), kind: "http_json".into(), of: vec!["vince".into()], outcome: Ok(reading), expect: Vec::new() };
    SharedPage { read_at: now(), since: yesterday, is_first: false, feeds: vec![shop], changes: vec![change], people: Vec::new() }
}

fn rule() -> SettlingRule {
    let (feed, value, unit) = ("shop".into(), "latency".into(), "ms".into());
    SettlingRule { feed, value, unit, comparison: Comparison::Below, threshold: 500.0 }
}

async fn reported(script: Script, kind: ProviderKind) -> (Result<Contribution, RunError>, usize) {
    let model = ScriptedModel::start().await;
    model.on(move |_| script.clone());
    let stage = Stage::with(&model, kind).await;
    let said = stage.report(&CancellationToken::new()).await;
    (said, model.count())
}

#[tokio::test]
async fn good_signals_are_read_and_not_posted() {
    for kind in BOTH {
        let model = ScriptedModel::start().await;
        model.next([Script::say(REPORT)]);
        let stage = Stage::with(&model, kind).await;
        let said = stage.report(&CancellationToken::new()).await.expect("a report");
        assert_eq!((said.text.as_str(), said.model.as_deref()), ("Latency rose to 840 ms.", Some("scripted/scripted-1")));
        assert_eq!((said.signals[0].subject.as_str(), said.signals[0].direction), ("checkout latency", Direction::Up));
        assert!(!said.partial && said.problems.is_empty());
        let asked = model.requests().remove(0);
        assert!(asked.system.contains("You are Vince") && asked.tools.is_empty());
        assert!(asked.prompt().contains("shop latency 410 → 840 ms (+430) since Fri 20 Nov, 09:00"), "{}", asked.prompt());
        let (calls, usage) = stage.ledger().await;
        assert_eq!((calls, usage), (1, said.usage));
    }
}

#[tokio::test]
async fn bad_signals_cost_the_report_nothing() {
    let bad = "Latency rose to 840 ms.\n```signals\n[{\"direction\": \"up\"}, 7, {\"sub\n```";
    for kind in BOTH {
        let (said, asked) = reported(Script::say(bad), kind).await;
        let said = said.expect("a report");
        assert_eq!((said.text.as_str(), said.signals.len(), asked), ("Latency rose to 840 ms.", 0, 1));
        assert!(!said.problems.is_empty());
    }
}

#[tokio::test]
async fn a_report_without_signals_is_a_report() {
    let said = reported(Script::say("Nothing to report."), ProviderKind::OpenAi).await.0.expect("a report");
    assert_eq!((said.text.as_str(), said.signals.len(), said.problems.len()), ("Nothing to report.", 0, 0));
}

#[tokio::test]
async fn a_refusal_is_an_error_and_never_a_report() {
    for kind in BOTH {
        let (said, _) = reported(Script::Filtered, kind).await;
        assert!(matches!(said, Err(RunError::Model(ModelError::Declined { .. }))), "{said:?}");
        let (said, _) = reported(Script::say(r#"{"refusal": "I cannot help with that."}"#), kind).await;
        assert!(matches!(said, Err(RunError::Nothing)), "{said:?}");
    }
}

#[tokio::test]
async fn an_empty_answer_is_nothing() {
    for script in [Script::Empty, Script::say("\u{200b}\u{2060}"), Script::say(" \n")] {
        let (said, asked) = reported(script, ProviderKind::OpenAi).await;
        assert!(matches!(said, Err(RunError::Nothing)), "{said:?}");
        assert_eq!(asked, 2, "an empty answer is asked for once more");
    }
}

#[tokio::test]
async fn fifty_thousand_characters_are_cut_at_the_cap() {
    let said = reported(Script::SayWhole("It rose again. ".repeat(3_400)), ProviderKind::OpenAi).await.0.expect("a report");
    assert!(said.text.chars().count() <= 1200 && said.text.ends_with("again."), "{}", said.text.len());
}

#[tokio::test]
async fn of_a_truncated_stream_whole_sentences_are_kept() {
    for kind in BOTH {
        let (said, asked) = reported(Script::Truncated("Latency rose to 840 ms. It is the provi".into()), kind).await;
        let said = said.expect("a report");
        assert_eq!((said.text.as_str(), said.partial, asked), ("Latency rose to 840 ms.", true, 1));
        let (said, _) = reported(Script::CutOff, kind).await;
        let said = said.expect("a report by rules, because no sentence was whole");
        assert!(said.text.contains("No language model answered") && said.model.is_none(), "{}", said.text);
    }
}

#[tokio::test]
async fn a_model_that_falls_silent_has_said_what_it_had_said() {
    for kind in BOTH {
        let (said, asked) = reported(Script::SayAndHang("Latency rose to 840 ms. It is the provi".into()), kind).await;
        let said = said.expect("a report");
        assert_eq!((said.text.as_str(), said.partial, asked), ("Latency rose to 840 ms.", true, 1));
        assert_eq!(said.problems, ["the answer broke off: scripted took too long"]);
    }
}

#[tokio::test]
async fn at_the_time_limit_a_partial_report_is_kept_and_paid_for() {
    for kind in BOTH {
        let model = ScriptedModel::start().await;
        // The model says a word every 50 ms, so it is never silent for long, and does not end.
        let text = "Latency rose. ".repeat(500);
        model.next([Script::SaySlowly { text, pause: Duration::from_millis(50) }]);
        let stage = Stage::with(&model, kind).await;
        let limit = CancellationToken::new();
        let reach_limit = async {
            model.wait_for(1).await;
            // In steps: a machine that pauses has time for the words afterwards.
            for _ in 0..30 {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            limit.cancel();
        };
        let (said, ()) = tokio::join!(stage.report(&limit), reach_limit);
        let said = said.expect("a report");
        assert!(said.partial && said.text.ends_with("Latency rose."), "{}", said.text);
        let (calls, usage) = stage.ledger().await;
        assert_eq!((calls, usage), (1, said.usage));
        assert!(usage.output > 0);
    }
}

#[tokio::test]
async fn at_the_time_limit_nothing_said_is_cancelled() {
    let model = ScriptedModel::start().await;
    model.next([Script::Hang]);
    let stage = Stage::with(&model, ProviderKind::OpenAi).await;
    let limit = CancellationToken::new();
    let (said, ()) = tokio::join!(stage.report(&limit), async {
        model.wait_for(1).await;
        limit.cancel();
    });
    assert!(matches!(said, Err(RunError::Cancelled)), "{said:?}");
}

#[tokio::test]
async fn secrets_are_taken_out_of_words_and_of_signals() {
    let key = "sk-scripted-0123456789abcdef";
    let said = reported(Script::say(REPORT.replace("840 ms", key)), ProviderKind::OpenAi).await.0.expect("a report");
    let signal = said.signals[0].evidence.as_ref().expect("evidence");
    assert!(!said.text.contains(key) && !signal.value.contains(key), "{said:?}");
}

#[tokio::test]
async fn a_call_comes_from_the_model_within_its_bounds() {
    for kind in BOTH {
        let model = ScriptedModel::start().await;
        model.next([Script::Json(json!({"answer": "no", "confidence": 0.8, "reason": "It doubled since Friday."}))]);
        let call = Stage::with(&model, kind).await.call().await;
        assert_eq!((call.answer, call.by.as_str(), call.model.as_deref()), (Answer::No, "solus", Some("scripted/scripted-1")));
        assert!((call.confidence - 0.8).abs() < 1e-9);
    }
}

#[tokio::test]
async fn a_call_that_no_model_gives_is_made_by_rule_and_says_so() {
    for (script, asked) in [
        (Script::say("I would say no."), 2),
        (Script::Json(json!({"answer": "perhaps", "confidence": 0.8, "reason": "So."})), 2),
        (Script::Json(json!({"answer": "no", "confidence": -3, "reason": "So."})), 1),
        // A model that refuses without a reason may refuse the schema.
        (Script::status(400), 2),
    ] {
        let model = ScriptedModel::start().await;
        model.on(move |_| script.clone());
        let call = Stage::with(&model, ProviderKind::OpenAi).await.call().await;
        assert!(
            call.reason.ends_with("Computed, because the model gave no valid prediction.") && call.reason.contains("840 ms"),
            "{call:?}"
        );
        assert_eq!((call.answer, call.model, model.count()), (Answer::Uncertain, None, asked));
    }
}

#[tokio::test]
async fn a_conclusion_comes_from_the_model_and_its_owners_are_names_and_nothing_more() {
    for kind in BOTH {
        let model = ScriptedModel::start().await;
        let action =
            json!({"what": "Call the provider", "how": "By phone.", "why": "840 ms.", "owner": "<@&everyone>", "urgency": "today"});
        let lesson = json!({"about": "Vince", "text": "Latency doubles on Saturdays."});
        model.next([Script::Json(json!({"tldr": ["Latency doubled to 840 ms."], "actions": [action], "lessons": [lesson]}))]);
        let conclusion = Stage::with(&model, kind).await.conclude().await;
        assert_eq!(conclusion.tldr, ["Latency doubled to 840 ms."]);
        assert_eq!((conclusion.actions[0].owner.as_str(), conclusion.model.as_deref()), ("<@&everyone>", Some("scripted/scripted-1")));
        assert_eq!(conclusion.lessons, [(Some("vince".into()), "Latency doubles on Saturdays.".into())]);
    }
}

#[tokio::test]
async fn a_conclusion_that_no_model_gives_is_put_together_by_rule() {
    let model = ScriptedModel::start().await;
    model.on(|_| Script::say("All fine."));
    let conclusion = Stage::with(&model, ProviderKind::OpenAi).await.conclude().await;
    let offline = Stage::new(None).await.conclude().await;
    assert_eq!((conclusion.tldr, conclusion.actions), (offline.tldr.clone(), offline.actions));
    assert_eq!(offline.tldr, ["shop latency 410 → 840 ms (+430)."]);
    assert!(conclusion.model.is_none() && conclusion.problems[0].starts_with("concluded without a model: "), "{:?}", conclusion.problems);
    assert!(offline.problems.is_empty());
}

#[tokio::test]
async fn without_a_model_nothing_is_asked_and_nothing_is_charged() {
    let stage = Stage::new(None).await;
    let said = stage.report(&CancellationToken::new()).await.expect("a report");
    assert_eq!((said.text.as_str(), said.model), ("**shop**: latency 840 ms, +430 since Fri 20 Nov, 09:00", None));
    assert!(stage.call().await.model.is_none() && stage.conclude().await.model.is_none());
    assert_eq!(stage.ledger().await.0, 0);
}
