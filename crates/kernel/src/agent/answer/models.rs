//! Texts for people about the language models.

use crate::agent::Agents;
use crate::llm::ProviderStatus;
use crate::text::join_with_and;

impl Agents {
    /// The state of the language models in one line, for `/status`.
    pub async fn describe_models(&self) -> String {
        if self.is_offline() {
            return "No language model is connected. Answers come from feeds and files only.".into();
        }
        let providers = self.runner.models.status();
        let described: Vec<_> = providers.iter().map(|provider| self.describe_provider(provider)).collect();
        let instead = if is_silent(&providers) { " While no model answers, the team uses feeds and files." } else { "" };
        let today = self.roster.today(self.runner.clock.now());
        let resting = self.runner.models.list_resting().await.into_iter();
        let resting = resting.map(|(model, until)| format!(" {} is used up until {}.", model.model, today.show(until)));
        let resting = resting.collect::<Vec<_>>().concat();
        let prices = self.describe_unpriced().map_or(String::new(), |unpriced| format!(" {unpriced}"));
        format!("Language models: {}.{instead}{resting}{prices}", described.join("; "))
    }

    fn describe_provider(&self, provider: &ProviderStatus) -> String {
        let lacks = provider.lacks.iter().map(|(model, lacks)| format!("; {model} works without {}", join_with_and(lacks)));
        let lacks = lacks.collect::<Vec<_>>().concat();
        let trouble = provider.last_error.as_ref().map_or(String::new(), |(at, error)| {
            let since = self.roster.show_time(provider.failing_since.unwrap_or(*at));
            format!(", failing since {since}: {error}")
        });
        let models = provider.models.join(", ");
        format!("{} ({models}; {} of {} calls under way{lacks}{trouble})", provider.name, provider.in_flight, provider.parallel)
    }

    /// Says which models have no known price, and what follows from that. None if all have one.
    pub fn describe_unpriced(&self) -> Option<String> {
        let unpriced: Vec<&str> = self.runner.models.unpriced().iter().map(String::as_str).collect();
        let example = unpriced.first()?.split_once('/')?.1;
        Some(format!(
            "The price of {} is not known, so its cost is missing in all sums and a limit on tokens applies. Add [models.prices.\"{example}\"] to teamroom.toml.",
            join_with_and(&unpriced)
        ))
    }
}

/// Whether none of the providers that tiers use answers.
fn is_silent(providers: &[ProviderStatus]) -> bool {
    let mut used = providers.iter().filter(|provider| !provider.models.is_empty()).peekable();
    used.peek().is_some() && used.all(|provider| provider.is_silent)
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::llm::BreakerState;

    #[test]
    fn a_team_is_without_models_if_all_that_it_uses_are_silent() {
        let provider = |models: &[&str], is_silent| ProviderStatus {
            name: "local".into(),
            models: models.iter().map(|model| (*model).to_owned()).collect(),
            breaker: BreakerState::default(),
            in_flight: 0,
            parallel: 1,
            last_error: Some((DateTime::UNIX_EPOCH, "it failed".into())),
            failing_since: Some(DateTime::UNIX_EPOCH),
            is_silent,
            lacks: Vec::new(),
        };
        assert!(is_silent(&[provider(&["small"], true), provider(&["large"], true), provider(&[], false)]));
        assert!(!is_silent(&[provider(&["small"], true), provider(&["large"], false)]));
        assert!(!is_silent(&[provider(&["small"], false)]), "an answer that was declined is an answer");
        assert!(!is_silent(&[]));
    }
}
