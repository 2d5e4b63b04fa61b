//! The scripted model of the standup, and the personas' files.

use std::fmt::Write as _;

use serde_json::json;

use crate::model::{Asked, Counted, Script};

/// Approximate bytes per token in English.
const BYTES: usize = 4;

/// The files of the knowledge folder. Some are read by only one persona.
pub(crate) const FILES: &[(&str, &str)] = &[
    (
        "decisions.md",
        "# Decisions\n\n- We keep one region until the second one pays for itself; to be looked at again in March.\n\
         - Refunds above 200 $ need a second person since the case of October.\n- The nightly export stays, since two customers build on it.\n",
    ),
    (
        "voices/forum.md",
        "# Forum\n\nThree users since Tuesday: \"checkout hangs for ten seconds and then works\". One answers that it is their bank.\n\
         A long thread praises the new search and asks for saved filters.\n",
    ),
    (
        "forecasts/november.md",
        "# Forecasts\n\n| claim | odds | decided |\n| --- | --- | --- |\n| p99 of checkout below 500 ms | 35 % | Friday |\n\
         | orders above 1300 a day | 20 % | end of the month |\n",
    ),
];

/// A report of about 600 characters with two signals, a call, or a conclusion, depending on the request.
pub(crate) fn answer(asked: &Asked) -> Script {
    let schema = asked.schema.as_ref().map(ToString::to_string).unwrap_or_default();
    let text = if schema.contains("tldr") {
        conclusion(asked.number)
    } else if schema.contains("confidence") {
        json!({"answer": "no", "confidence": 0.7, "reason": "Four commits landed this week and ten are needed by Friday."}).to_string()
    } else if schema.contains("criteria") {
        // Leaves the items of the report to people, so that only the standup is measured.
        json!({"execution": null, "criteria": []}).to_string()
    } else {
        report(asked.number)
    };
    let counted = Counted { input: count_tokens(asked), output: tokens(text.len()), ..Counted::default() };
    Script::SayCounted(text, counted)
}

/// The tokens of the prompt, including a schema.
pub(crate) fn count_tokens(asked: &Asked) -> u64 {
    let schema = asked.schema.as_ref().map(ToString::to_string).unwrap_or_default();
    tokens(asked.system.len() + asked.prompt().len() + schema.len())
}

pub(crate) fn tokens(bytes: usize) -> u64 {
    bytes.div_ceil(BYTES) as u64
}

/// Each speaker has a different text.
fn report(number: usize) -> String {
    const MATTERS: [&str; 8] = ["checkout", "search", "export", "billing", "support", "disk space", "deployment", "sales"];
    let matter = MATTERS[number % MATTERS.len()];
    let mut text = format!("The {matter} changed most since the last report ({number}).\n");
    for (line, what) in ["latency rose from 410 to 840 ms", "errors fell from 9 to 3", "the backlog grew by 17 items"].iter().enumerate() {
        let _ = writeln!(
            text,
            "- In {matter}, {what} between {}:00 and {}:30; I read it from the figures of this morning and from the note of case {}.",
            line + 6,
            line + 9,
            number * 7 + line
        );
    }
    let _ = write!(text, "What stays open is whether {matter} recovers by itself; I look again at noon and tell the channel.\n\n");
    let signal = |subject: String, direction: &str| json!({"subject": subject, "direction": direction, "confidence": 0.8, "evidence": {"feed": "checkout", "value": "840 ms"}});
    let signals =
        json!([signal(format!("{matter} latency"), "up"), signal("backlog".into(), if number.is_multiple_of(2) { "up" } else { "flat" })]);
    let _ = write!(text, "```signals\n{signals}\n```");
    text
}

fn conclusion(number: usize) -> String {
    let action = |what: &str, owner: &str| {
        let (how, why) = ("With the figures of the last two days at hand.", "Latency doubled since the last report.");
        json!({"what": format!("{what} of case {number}"), "how": how, "why": why, "owner": owner, "urgency": "today"})
    };
    json!({
        "tldr": ["Latency of the checkout doubled.", "Errors fell.", "The call is no, at 70 %."],
        "actions": [action("Compare the slow queries", "Vince"), action("Write down the timeline", "Eliza"), action("Ask the forum", "Echo")],
        "lessons": [{"about": "Vince", "text": format!("Latency doubles on the days of the export ({number}).")}],
    })
    .to_string()
}
