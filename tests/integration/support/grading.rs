//! The answers of a scripted grader.

use serde_json::{Value, json};

use super::model::Asked;

pub(crate) fn is_grading(asked: &Asked) -> bool {
    asked.schema.as_ref().is_some_and(|schema| schema.to_string().contains("grades"))
}

/// A verdict that all criteria are met, shown by the first passage of the result.
pub(crate) fn all_met(asked: &Asked) -> Value {
    all_shown_by(asked, &find_passage(&asked.prompt()))
}

/// A verdict that all criteria are met, shown by these words.
pub(crate) fn all_shown_by(asked: &Asked, shown_by: &str) -> Value {
    let grade = |number: usize| json!({"criterion": number, "met": true, "shown_by": shown_by, "missing": ""});
    with_scores(asked, [3, 4, 4, 3], json!({"grades": (1..=count_criteria(asked)).map(grade).collect::<Vec<_>>()}))
}

/// Whether a request asks an author to judge its own work.
pub(crate) fn is_critique(asked: &Asked) -> bool {
    asked.schema.as_ref().is_some_and(|schema| schema.to_string().contains("\"open\""))
}

/// Adds scores for depth, accuracy, actionability and completeness if the request asks for them.
pub(crate) fn with_scores(asked: &Asked, scores: [u8; 4], mut verdict: Value) -> Value {
    let named = ["depth", "accuracy", "actionability", "completeness"].into_iter().zip(scores);
    if is_critique(asked) {
        for (name, score) in named {
            verdict[name] = json!({"score": score, "why": format!("The {name} of the second part.")});
        }
    } else {
        verdict["scores"] = named.map(|(name, score)| (name.to_owned(), json!(score))).collect::<serde_json::Map<_, _>>().into();
    }
    verdict
}

/// A verdict that the first criterion is not met.
pub(crate) fn not_met(asked: &Asked, missing: &str) -> Value {
    let grade =
        |number: usize| json!({"criterion": number, "met": number > 1, "shown_by": "", "missing": if number == 1 { missing } else { "" }});
    with_scores(asked, [3, 4, 4, 3], json!({"grades": (1..=count_criteria(asked)).map(grade).collect::<Vec<_>>()}))
}

fn count_criteria(asked: &Asked) -> usize {
    let prompt = asked.prompt();
    prompt.split("| its criteria>>\n").nth(1).map_or(0, |block| block.lines().take_while(|line| !line.starts_with("<<end")).count())
}

/// The first line of the result that may show something: of a file, a reply, a part, or the findings of code.
fn find_passage(prompt: &str) -> String {
    let blocks = ["| file ", "| reply of ", "| part ", "| what code found>>"];
    let behind = blocks.iter().find_map(|label| prompt.split(label).nth(1)).unwrap_or_default();
    let lines = behind.lines().skip(1).take_while(|line| !line.starts_with("<<end"));
    // Neither the title of an item nor its author's summary counts as evidence.
    let titles = ["#", "what: ", "came of it: "];
    let passage =
        lines.map(|line| line.trim_start_matches("- ")).find(|line| line.len() > 4 && !titles.iter().any(|title| line.starts_with(title)));
    passage.unwrap_or_default().to_owned()
}
