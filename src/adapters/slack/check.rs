use std::sync::Arc;

use kernel::finding::Finding;
use kernel::persona::roster::Roster;
use serde_json::Value;

use crate::adapters::slack::accounts::Apps;
use crate::adapters::slack::api::{Api, Arguments};
use crate::adapters::slack::connect::CALL;
use crate::adapters::slack::manifest::SCOPES;
use crate::adapters::slack::settings::SlackSettings;

/// Tries the tokens of each app: whether it can speak and listen, and which scopes are missing.
///
/// # Errors
/// The address of the API is invalid.
pub async fn check(settings: &SlackSettings, roster: &Arc<Roster>) -> anyhow::Result<Vec<Finding>> {
    let api = Api::new(settings.api_url.as_deref(), CALL)?;
    let mut findings = Vec::new();
    for app in Apps::new(settings, roster).all() {
        let name = roster.name_of(&app.persona);
        match api.introduce(&app.speaking).await {
            Ok((answer, scopes)) => {
                let text = |key: &str| answer.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
                findings.push(Finding::good(format!("Slack: {name} speaks as {} in {}", text("user"), text("team"))));
                findings.extend(check_scopes(&scopes, name));
            }
            Err(failure) => {
                let remedy = "Copy the bot token (xoxb-...) from \"OAuth & Permissions\" of the app. docs/slack.md shows how.";
                findings.push(Finding::fault(format!("Slack: the app of {name} cannot speak: {failure}"), remedy));
            }
        }
        if let Err(failure) = api.call(&app.listening, "apps.connections.open", Arguments::default()).await {
            let remedy =
                "Make an app token (xapp-...) with the scope connections:write under \"Basic Information\", and switch Socket Mode on.";
            findings.push(Finding::fault(format!("Slack: the app of {name} cannot listen: {failure}"), remedy));
        }
    }
    Ok(findings)
}

fn check_scopes(scopes: &[String], name: &str) -> Option<Finding> {
    let missing: Vec<&str> = SCOPES.into_iter().filter(|scope| !scopes.iter().any(|known| known == scope)).collect();
    let remedy = "Paste the manifest again (`teamroom slack-manifest`), and install the app again.";
    // Another server than Slack's may not say them.
    (!scopes.is_empty() && !missing.is_empty())
        .then(|| Finding::fault(format!("Slack: {name}'s app lacks the scopes {}", missing.join(", ")), remedy))
}
