use std::collections::BTreeMap;
use std::time::Duration;

use crate::llm::settings::ModelPrice;
use crate::money::{Money, TokenUsage};

/// What writing a token to a cache costs in addition, as a share of its price (Anthropic, for five minutes).
const CACHE_PREMIUM: f64 = 0.25;

/// Token prices by model name. The cost of an unlisted model is unknown and counts as nothing; its tokens are limited.
#[derive(Debug, Default, Clone)]
pub struct Prices(BTreeMap<String, ModelPrice>);

impl Prices {
    pub fn new(prices: BTreeMap<String, ModelPrice>) -> Self {
        Self(prices)
    }

    /// The cost of a call, rounded up to a millionth of a dollar.
    pub fn cost(&self, model: &str, usage: TokenUsage) -> Money {
        self.cost_with_cache(model, usage, 0)
    }

    /// Like [`Self::cost`]. `cache_written`: the tokens of the prompt that were written to a cache.
    pub(super) fn cost_with_cache(&self, model: &str, usage: TokenUsage, cache_written: u64) -> Money {
        let Some(price) = self.0.get(model) else { return Money::ZERO };
        let fresh = usage.input.saturating_sub(usage.cached);
        let premium = share(cache_written.min(fresh), price.input) * CACHE_PREMIUM;
        let cached = share(usage.cached.min(usage.input), price.cached);
        rounded_up(share(fresh, price.input) + premium + cached + share(usage.output, price.output))
    }

    /// The cost of a text that is spoken.
    pub fn cost_of_speech(&self, model: &str, characters: u64) -> Money {
        self.cost(model, TokenUsage { input: characters, ..TokenUsage::default() })
    }

    /// The cost of a recording that is transcribed.
    pub fn cost_of_sound(&self, model: &str, length: Duration) -> Money {
        let price = self.0.get(model).map_or(0.0, |price| price.minute);
        rounded_up(length.as_secs_f64() / 60.0 * price * 1e6)
    }

    /// The worst case of a call without a cache that costs more: nothing cached, and an answer of the maximum length.
    pub fn worst_case(&self, model: &str, prompt: u64, max_output: u32) -> Money {
        self.cost(model, TokenUsage { input: prompt, cached: 0, output: max_output.into() })
    }
}

/// The price of `tokens` in millionths of a dollar. Equals the price in dollars per million tokens times the tokens.
#[expect(clippy::cast_precision_loss, reason = "no call has 2^52 tokens")]
fn share(tokens: u64, dollars_per_million: f64) -> f64 {
    tokens as f64 * dollars_per_million
}

/// Rounded up, so that a reservation is never too small, but ignoring binary rounding errors.
#[expect(clippy::cast_possible_truncation, reason = "a price beyond 9e12 dollars is no price")]
fn rounded_up(micros: f64) -> Money {
    Money((micros - 1e-6).ceil() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prices() -> Prices {
        Prices::new(BTreeMap::from([("small".to_owned(), ModelPrice { input: 0.15, cached: 0.075, output: 0.6, minute: 0.0 })]))
    }

    #[test]
    fn cached_tokens_are_charged_at_their_own_price() {
        let usage = TokenUsage { input: 1_000_000, cached: 400_000, output: 100_000 };
        assert_eq!(prices().cost("small", usage), Money(90_000 + 30_000 + 60_000));
    }

    #[test]
    fn a_fraction_of_a_millionth_rounds_up_and_binary_noise_does_not() {
        assert_eq!(prices().cost("small", TokenUsage { input: 1, cached: 0, output: 0 }), Money(1));
        assert_eq!(prices().cost("small", TokenUsage { input: 1000, cached: 0, output: 0 }), Money(150));
        assert_eq!(prices().cost("small", TokenUsage::default()), Money::ZERO);
    }

    #[test]
    fn speech_is_charged_by_the_character_and_sound_by_the_minute() {
        let price = |input, minute| ModelPrice { input, cached: 0.0, output: 0.0, minute };
        let prices = Prices::new([("says".to_owned(), price(15.0, 0.0)), ("hears".to_owned(), price(0.0, 0.006))].into());
        assert_eq!(prices.cost_of_speech("says", 1000), Money(15_000));
        assert_eq!(prices.cost_of_sound("hears", Duration::from_secs(90)), Money(9000));
        assert_eq!(prices.cost_of_sound("local", Duration::from_secs(90)), Money::ZERO);
    }

    #[test]
    fn an_unlisted_model_costs_nothing() {
        assert_eq!(prices().cost("local", TokenUsage { input: 1_000_000, cached: 0, output: 9 }), Money::ZERO);
    }

    #[test]
    fn tokens_written_to_a_cache_cost_a_quarter_more() {
        let usage = TokenUsage { input: 1_000_000, cached: 400_000, output: 0 };
        assert_eq!(prices().cost_with_cache("small", usage, 200_000), Money(90_000 + 30_000 + 7500));
        assert_eq!(prices().cost_with_cache("small", usage, 2_000_000), Money(90_000 + 30_000 + 22_500), "no more than is fresh");
    }
}
