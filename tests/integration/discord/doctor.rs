//! The findings of `teamroom doctor` about accounts and channels.

use kernel::finding::{Finding, Grade};
use kernel::time::{Clock, SystemClock};
use sandbox::{Sandbox, Switch};
use teamroom::adapters::discord;
use teamroom::adapters::discord::settings::DiscordSettings;

use super::stage::{Setting, roster, settings};

async fn check(settings: &DiscordSettings, used: &[&str]) -> Vec<Finding> {
    let used: Vec<String> = used.iter().map(|&channel| channel.to_owned()).collect();
    discord::check(settings, &roster(), &used, SystemClock.now()).await.unwrap()
}

fn deny(sandbox: &Sandbox, channel: &str, permission: &str) {
    let (_, channel) = sandbox.channels().into_iter().find(|(name, _)| name == channel).unwrap();
    let (bot, permission) = ("vince".to_owned(), permission.to_owned());
    sandbox.misbehaviour().set(Switch::Deny { bot, channel, permission, on: true }).unwrap();
}

fn told(findings: &[Finding], grade: Grade) -> Vec<&str> {
    findings.iter().filter(|finding| finding.grade == grade).map(|finding| finding.text.as_str()).collect()
}

#[tokio::test]
async fn a_missing_permission_is_told_with_its_channel_and_fails_only_where_the_settings_need_it() {
    let sandbox = Setting::new().sandbox().await;
    let settings = settings(&sandbox);
    let found = check(&settings, &["ops"]).await;
    assert_eq!((told(&found, Grade::Warn), told(&found, Grade::Fail)), (vec![], vec![]));

    deny(&sandbox, "general", "ATTACH_FILES");
    deny(&sandbox, "knowledge", "ATTACH_FILES");
    deny(&sandbox, "ops", "SEND_MESSAGES");
    let found = check(&settings, &["ops", "nowhere"]).await;
    let (warned, failed) = (told(&found, Grade::Warn), told(&found, Grade::Fail));
    assert!(warned.contains(&"Vince: lacks Attach Files in #general and #knowledge"), "{warned:?}");
    assert!(warned.iter().any(|text| text.starts_with("channel nowhere: the settings name it")), "{warned:?}");
    assert_eq!(failed, ["Vince: lacks Send Messages in #ops"]);
    assert!(found.iter().filter(|finding| finding.grade != Grade::Ok).all(|finding| finding.remedy.is_some()));
    sandbox.stop().await;
}

#[tokio::test]
async fn a_wrong_token_and_a_closed_intent_are_told_with_the_remedy() {
    let mut setting = Setting::new();
    setting.sandbox.bots[1].intents_content = false;
    let sandbox = setting.sandbox().await;
    let mut settings = settings(&sandbox);
    settings.tokens.insert("kelly".into(), "not-a-token".to_owned().into());
    let found = check(&settings, &[]).await;
    let failed: Vec<_> = found.iter().filter(|finding| finding.grade == Grade::Fail).collect();
    let has = |text: &str, remedy: &str| {
        failed.iter().any(|finding| finding.text.contains(text) && finding.remedy.as_ref().is_some_and(|found| found.contains(remedy)))
    };
    assert!(has("Kelly: ", "DISCORD_TOKEN_KELLY"), "{failed:?}");
    assert!(has("Echo: the Message Content Intent is off", "developer portal"), "{failed:?}");
    assert_eq!(failed.len(), 2, "{failed:?}");
    sandbox.stop().await;
}
