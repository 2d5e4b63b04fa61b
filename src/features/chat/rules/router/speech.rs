//! What a text says, and whom it speaks to.

use crate::features::chat::rules::addressing::spoken;
use crate::features::chat::rules::ask_phrase::find_ask;
use crate::features::chat::rules::intent;
use crate::features::chat::rules::names::Names;
use crate::features::chat::rules::sentence::sentences;
use kernel::agent::SpeechAct;
use kernel::ids::PersonaSlug;
use kernel::persona::roster::{Accounts, Roster};

/// Whether a message is only a stop phrase, in any case and punctuation, perhaps with a name or a "please": "Stop!", "just stop it, vince". A stop
/// phrase to another person does not count.
pub fn is_stop(text: &str, phrases: &[String], roster: &Roster, accounts: &Accounts) -> bool {
    let (spoken, names) = (spoken(text), Names::of_personas(roster, accounts));
    let text = sentences(&spoken);
    intent::is_stop(&text, phrases, &names) && !names.speaks_only_to_others(&text)
}

/// Whether a message only calls off what is being done, and does not say so to another person.
pub(crate) fn calls_off(text: &str, roster: &Roster, accounts: &Accounts) -> bool {
    let (spoken, names) = (spoken(text), Names::of_personas(roster, accounts));
    let text = sentences(&spoken);
    intent::calls_off(&text, &names) && !names.speaks_only_to_others(&text)
}

/// The personas that a text calls by name. A call begins a new burst.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Calls {
    Nobody,
    Personas(Vec<PersonaSlug>),
    /// The text calls the team or another person, or it wants a persona to be asked.
    Other,
}

impl Calls {
    pub(crate) fn is_of_personas(&self) -> bool {
        matches!(self, Self::Personas(_))
    }
}

pub(crate) fn find_calls(text: &str, roster: &Roster, accounts: &Accounts) -> Calls {
    let spoken = spoken(text);
    let addressed = Names::of_personas(roster, accounts).find_addressed(&sentences(&spoken));
    match () {
        () if addressed.team || addressed.others || find_ask(&spoken).is_some() => Calls::Other,
        () if addressed.personas.is_empty() => Calls::Nobody,
        () => Calls::Personas(addressed.personas),
    }
}

/// Whether a text only states something: it asks nothing, requests nothing, and is no greeting or thanks.
pub(crate) fn only_tells(text: &str, roster: &Roster) -> bool {
    let (spoken, accounts) = (spoken(text), Accounts::default());
    let names = Names::of_personas(roster, &accounts);
    let said = after_addressees(&spoken, names.find_addressed(&sentences(&spoken)).rest);
    let sentences = sentences(said);
    let wants = find_ask(said).is_some() || intent::is_question(&sentences) || intent::is_request(&sentences);
    !(wants || intent::is_greeting(&sentences) || intent::is_thanks(&sentences, &names))
}

/// The speech act of a text. A question counts before a request, and both count before a statement.
pub(crate) fn find_speech_act(text: &str, roster: &Roster) -> SpeechAct {
    let (spoken, accounts) = (spoken(text), Accounts::default());
    let names = Names::of_personas(roster, &accounts);
    let said = after_addressees(&spoken, names.find_addressed(&sentences(&spoken)).rest);
    let sentences = sentences(said);
    match () {
        () if intent::is_question(&sentences) => SpeechAct::Question,
        () if find_ask(said).is_some() || intent::is_request(&sentences) || intent::is_imperative(&sentences) => SpeechAct::Request,
        () if intent::is_greeting(&sentences) => SpeechAct::Greeting,
        () if intent::is_thanks(&sentences, &names) => SpeechAct::Other,
        () if intent::is_statement(&sentences) => SpeechAct::Statement,
        () => SpeechAct::Other,
    }
}

/// Whether a text speaks to a persona: it begins with a persona's name, or consists of a single question.
pub fn speaks_to_a_persona(text: &str, roster: &Roster, accounts: &Accounts) -> bool {
    let spoken = spoken(text);
    let sentences = sentences(&spoken);
    let asks = matches!(sentences.as_slice(), [only] if only.asks);
    asks || !Names::of_personas(roster, accounts).find_addressed(&sentences).leading.is_empty()
}

/// The text after the addressees at its beginning.
pub(super) fn after_addressees(text: &str, end: usize) -> &str {
    text[end..].trim_start_matches(|c: char| !c.is_alphanumeric() && !"@<\"“".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::testing::roster as sample;

    #[test]
    fn what_a_text_does_is_told_by_its_form() {
        let roster = sample::roster();
        for (text, act) in [
            ("kelly, this stays here: the budget is 40000", SpeechAct::Statement),
            ("vince, we spent too much", SpeechAct::Statement),
            ("Kelly, wir fangen später an", SpeechAct::Statement),
            ("vince, das Budget ist zu klein", SpeechAct::Statement),
            ("kelly, el presupuesto es pequeño", SpeechAct::Statement),
            ("vince, costs this week", SpeechAct::Other),
            ("kelly", SpeechAct::Other),
            ("good morning kelly", SpeechAct::Other),
            ("добрый день", SpeechAct::Greeting),
            ("merhaba", SpeechAct::Greeting),
            ("vince, is the budget 40000?", SpeechAct::Question),
            ("how much is left", SpeechAct::Question),
            ("kelly, the build is red. can you look?", SpeechAct::Question),
            ("kelly, check the build", SpeechAct::Request),
            ("ask vince what he thinks", SpeechAct::Request),
        ] {
            assert_eq!(find_speech_act(text, &roster), act, "{text}");
        }
    }
}
