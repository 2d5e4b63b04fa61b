//! What was found for a board meeting without a model, sorted by what it says about itself.

use kernel::memory::retrieval::words_of;

/// Words by which a text says that it speaks for something. "Cheaper" is none: it may speak for the other side.
const FOR: [&str; 21] = [
    "advantage",
    "advantages",
    "benefit",
    "benefits",
    "pros",
    "upside",
    "upsides",
    "vorteil",
    "vorteile",
    "vorteilen",
    "avantage",
    "avantages",
    "ventaja",
    "ventajas",
    "vantaggio",
    "vantaggi",
    "vantagem",
    "vantagens",
    "dafür",
    "favour",
    "favor",
];
/// "Against" is none: "insured against fire".
const AGAINST: [&str; 24] = [
    "disadvantage",
    "disadvantages",
    "drawback",
    "drawbacks",
    "cons",
    "downside",
    "downsides",
    "risk",
    "risks",
    "danger",
    "dangers",
    "nachteil",
    "nachteile",
    "nachteilen",
    "risiko",
    "risiken",
    "dagegen",
    "inconvénient",
    "inconvénients",
    "risque",
    "risques",
    "desventaja",
    "desventajas",
    "riesgo",
];

/// Words that may turn the side of a text: "no advantage". Those like "isn't" are found by their ending.
#[rustfmt::skip]
const NEGATIONS: [&str; 48] = [
    "no", "not", "none", "never", "nothing", "neither", "nor", "without", "cannot", "hardly", "barely", "lack", "lacks",
    "nicht", "nichts", "kein", "keine", "keinen", "keinem", "keiner", "keines", "ohne", "nie", "niemals", "weder", "kaum",
    "pas", "aucun", "aucune", "sans", "jamais", "non", "ne", "ni", "sin", "ningún", "ninguna", "nunca", "tampoco",
    "senza", "nessun", "nessuno", "nessuna", "não", "nem", "sem", "nenhum", "nenhuma",
];
const NEGATED: [&str; 11] = ["isnt", "arent", "wasnt", "werent", "doesnt", "dont", "didnt", "hasnt", "havent", "wont", "cant"];

/// Beginnings of questions that have two sides.
const TWO_SIDED: [&str; 12] = ["should", "shall", "do", "can", "could", "would", "is", "are", "soll", "sollen", "sollten", "faut"];

const NEEDS_MODEL: &str = "What of this speaks for it and what against it takes a language model to judge.";

/// Sorts the quotations on a question with two sides. Those that do not say on which side they are stay together. Blank lines separate them.
pub fn sort(topic: &str, found: &str) -> String {
    let asks = words_of(topic).first().is_some_and(|word| TWO_SIDED.contains(&word.as_str()));
    let blocks = blocks_of(found);
    if !asks || blocks.is_empty() {
        return found.trim().to_owned();
    }
    let of = |side: Option<Side>| blocks.iter().filter(|block| side_of(block) == side).map(String::as_str).collect::<Vec<_>>();
    let sorted = [("Speaks for it:", of(Some(Side::For))), ("Speaks against it:", of(Some(Side::Against)))];
    let mut parts: Vec<String> =
        sorted.into_iter().filter(|(_, of)| !of.is_empty()).map(|(label, of)| format!("{label}\n{}", of.join("\n\n"))).collect();
    let (is_sorted, rest) = (!parts.is_empty(), of(None));
    if !rest.is_empty() {
        parts.push(format!("{}{}", if is_sorted { "Also about it:\n" } else { "" }, rest.join("\n\n")));
        parts.push(NEEDS_MODEL.to_owned());
    }
    parts.join("\n\n")
}

/// The texts between blank lines. A quotation goes on over a blank line until the line that names its place.
fn blocks_of(found: &str) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    for part in found.split("\n\n").map(str::trim).filter(|part| !part.is_empty()) {
        match blocks.last_mut().filter(|block| part.starts_with('>') && is_open(block)) {
            Some(block) => {
                block.push_str("\n\n");
                block.push_str(part);
            }
            None => blocks.push(part.to_owned()),
        }
    }
    blocks
}

/// Whether a text ends in a quotation without its place.
fn is_open(block: &str) -> bool {
    block.lines().next_back().is_some_and(|line| line.starts_with('>'))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    For,
    Against,
}

/// None if a text says both or nothing, or negates something.
fn side_of(text: &str) -> Option<Side> {
    let words = words_of(text);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    if has(&NEGATIONS) || has(&NEGATED) {
        return None;
    }
    match (has(&FOR), has(&AGAINST)) {
        (true, false) => Some(Side::For),
        (false, true) => Some(Side::Against),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICE: &str = "> PostgreSQL costs $20 a month more.\n[notes.md, line 3]";
    const LOCKS: &str = "> It locks rows.\n[notes.md, Advantages, line 5]";
    const MOVE: &str = "> The risk is the move.\n[notes.md, line 9]";

    #[test]
    fn what_says_its_side_is_sorted_and_the_rest_needs_a_model() {
        let all = [PRICE, LOCKS, MOVE].join("\n\n");
        let sorted = format!("Speaks for it:\n{LOCKS}\n\nSpeaks against it:\n{MOVE}\n\nAlso about it:\n{PRICE}\n\n{NEEDS_MODEL}");
        assert_eq!(sort("Should we move to PostgreSQL?", &all), sorted);
        assert_eq!(sort("Sollen wir umziehen?", LOCKS), format!("Speaks for it:\n{LOCKS}"));
        assert_eq!(sort("Should we move to PostgreSQL?", PRICE), format!("{PRICE}\n\n{NEEDS_MODEL}"));
        let both = "> One advantage and one risk.";
        assert_eq!(sort("Is it worth it?", both), format!("{both}\n\n{NEEDS_MODEL}"));
    }

    #[test]
    fn what_negates_something_or_only_has_the_word_against_stays_unsorted() {
        for text in [
            "> There is no advantage.",
            "> It isn't a risk.",
            "> Das ist kein Vorteil.",
            "> We are insured against fire.",
            "> It has no locks.\n[notes.md, Advantages, line 5]",
        ] {
            assert_eq!(sort("Should we move?", text), format!("{text}\n\n{NEEDS_MODEL}"));
        }
    }

    #[test]
    fn a_quotation_with_a_blank_line_stays_whole() {
        let quote = "> One advantage is the price.\n\n> It costs $20.\n[notes.md, line 3]";
        let sorted = format!("Speaks for it:\n{quote}\n\nSpeaks against it:\n{MOVE}");
        assert_eq!(sort("Should we move?", &format!("{quote}\n\n{MOVE}")), sorted);
    }

    #[test]
    fn a_question_without_sides_gets_what_was_found() {
        let all = [PRICE, MOVE].join("\n\n");
        assert_eq!(sort("When does the queue move?", &all), all);
        assert_eq!(sort("Should we?", ""), "");
    }
}
