//! How much a text is about money.

use std::collections::HashSet;
use std::sync::LazyLock;

use kernel::memory::retrieval::terms_of;

/// Codes and words for money. They only rank who takes part and what is shown, so a missing one does no harm.
const WORDS: &str = "aud brl cad chf cny czk dkk eur gbp inr jpy krw mxn nok pln sek usd zar dollar euro franc pound yen rupee \
    money price pricing cost fee pay paid payment budget spend spending spent expense expensive cheap invoice bill salary wage revenue \
    profit margin refund discount subscription rent loan finance financial \
    geld preis kosten gebühr gehalt rechnung ausgaben budget argent prix coût salaire facture dinero precio coste factura sueldo";

static TERMS: LazyLock<HashSet<String>> = LazyLock::new(|| terms_of(WORDS).into_iter().collect());

/// How often a text speaks of money: amounts with a sign, currencies, and words such as "price".
pub fn count_money(text: &str) -> usize {
    let is_sign = |letter: &char| matches!(letter, '$' | '£' | '¥' | '\u{20A0}'..='\u{20CF}');
    text.chars().filter(is_sign).count() + terms_of(text).iter().filter(|term| TERMS.contains(*term)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_currencies_and_prices_are_money_and_other_numbers_are_not() {
        for text in ["Is $4,800 fine?", "4 800 CHF a year", "zu welchem Preis?", "it costs 3 €", "Who pays the invoices?"] {
            assert!(count_money(text) > 0, "{text}");
        }
        for text in ["Should we move the 40 jobs to PostgreSQL 17?", "Who answers within 2 days?", ""] {
            assert_eq!(count_money(text), 0, "{text}");
        }
    }
}
