//! Texts for people about the language models.

use crate::agent::Agents;
use crate::text::join_with_and;

impl Agents {
    /// The state of the language models in one line, for `/status`.
    pub async fn describe_models(&self) -> String {
        if self.is_offline() {
            return "No language model is connected. Answers come from feeds and files only.".into();
        }
        let providers: Vec<_> = self
            .runner
            .models
            .status()
            .into_iter()
            .map(|provider| {
                let lacks = provider.lacks.iter().map(|(model, lacks)| format!("; {model} works without {}", join_with_and(lacks)));
                let lacks = lacks.collect::<Vec<_>>().concat();
                let trouble = provider.last_error.map_or(String::new(), |(at, error)| {
                    let since = self.roster.show_time(provider.failing_since.unwrap_or(at));
                    format!(", failing since {since}: {error}. Until it answers, answers, standups and boards come from feeds and files")
                });
                format!(
                    "{} ({}; {} of {} calls under way{lacks}{trouble})",
                    provider.name,
                    provider.models.join(", "),
                    provider.in_flight,
                    provider.parallel
                )
            })
            .collect();
        let today = self.roster.today(self.runner.clock.now());
        let resting = self.runner.models.list_resting().await.into_iter();
        let resting = resting.map(|(model, until)| format!(" {} is used up until {}.", model.model, today.show(until)));
        let resting = resting.collect::<Vec<_>>().concat();
        let prices = self.describe_unpriced().map_or(String::new(), |unpriced| format!(" {unpriced}"));
        format!("Language models: {}.{resting}{prices}", providers.join("; "))
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
