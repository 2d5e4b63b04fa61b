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
const AGAINST: [&str; 25] = [
    "disadvantage",
    "disadvantages",
    "drawback",
    "drawbacks",
    "cons",
    "downside",
    "downsides",
    "risk",
    "risks",
    "against",
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

/// Beginnings of questions that have two sides.
const TWO_SIDED: [&str; 12] = ["should", "shall", "do", "can", "could", "would", "is", "are", "soll", "sollen", "sollten", "faut"];

const NEEDS_MODEL: &str = "What of this speaks for it and what against it takes a language model to judge.";

/// Sorts the quotations on a question with two sides. Those that do not say on which side they are stay together. Blank lines separate them.
pub fn sort(topic: &str, found: &str) -> String {
    let asks = words_of(topic).first().is_some_and(|word| TWO_SIDED.contains(&word.as_str()));
    let blocks: Vec<&str> = found.split("\n\n").map(str::trim).filter(|block| !block.is_empty()).collect();
    if !asks || blocks.is_empty() {
        return found.trim().to_owned();
    }
    let of = |side: Option<Side>| blocks.iter().filter(|block| side_of(block) == side).copied().collect::<Vec<_>>();
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    For,
    Against,
}

/// None if a text says both or nothing.
fn side_of(text: &str) -> Option<Side> {
    let words = words_of(text);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
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
    const LOCKS: &str = "> It has no locks.\n[notes.md, Advantages, line 5]";
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
    fn a_question_without_sides_gets_what_was_found() {
        let all = [PRICE, MOVE].join("\n\n");
        assert_eq!(sort("When does the queue move?", &all), all);
        assert_eq!(sort("Should we?", ""), "");
    }
}
