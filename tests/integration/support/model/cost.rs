//! What the prompts of a run of tests cost, by purpose and part. Written to a file that an environment variable names; `tests/prompt-cost` sums it up.

use std::io::Write as _;

use super::Asked;

/// The file to which a line is appended for each request: the purpose, and the tokens of each part.
const FILE: &str = "TEAMROOM_TEST_PROMPT_COST";

/// Purposes by a sentence that only their prompts have.
const PURPOSES: [(&str, &str); 27] = [
    ("You carry out one work item", "work"),
    ("about to hand in a work item", "work: own critique"),
    ("and you judge what", "work: review"),
    ("divide the matter into the questions", "work: questions"),
    ("were rejected several times", "work: amendment"),
    ("judge whether a reply answers a question", "work: answer check"),
    ("take part in a board meeting", "board: turn"),
    ("A board meeting is over", "board: document"),
    ("about to discuss a question in a meeting", "board: restate"),
    ("daily standup, and it is your turn", "standup: report"),
    ("in the daily standup; you", "standup: call and conclusion"),
    ("Plan a mission", "mission: plan"),
    ("Look at each step of a plan", "mission: feasible"),
    ("Find another way to what it is for", "mission: replan"),
    ("something that takes several steps", "mission: understand"),
    ("A mission is under way", "mission: change"),
    ("works on a step of a mission", "mission: colleague"),
    ("a role that a mission needs", "mission: persona"),
    ("Somebody writes in the thread of a mission", "mission: wish"),
    ("Somebody writes to a team of AI colleagues", "mission: classify"),
    ("of the team is over, and you took part", "look back"),
    ("an answer or an action of an assistant", "chat: for whom"),
    ("which of the acts below the answer claims", "chat: claims"),
    ("summarise a stretch of a team's channel", "chat: summary"),
    (" says to you", "chat"),
    (" asks you through ", "chat"),
    (" addressed you. Answer", "chat"),
];

/// The parts of a prompt, in the order of a line.
pub(crate) const PARTS: [&str; 9] = ["system", "tools", "schema", "instructions", "feeds", "files", "history", "memory", "rounds"];

/// Labels of data blocks by the part that they belong to. The others belong to the instructions: they are the task.
const LABELS: [(&str, usize); 14] = [
    ("feed ", 4),
    ("feeds", 4),
    ("other feeds", 4),
    ("what the team has found out", 4),
    ("file ", 5),
    ("part of ", 5),
    ("beginning of ", 5),
    ("files", 5),
    ("transcript", 6),
    ("summaries", 6),
    ("first message of this thread", 6),
    ("what was said before", 7),
    ("what people taught", 7),
    ("lessons", 7),
];

/// The purpose of a request, and the tokens of each of [`PARTS`].
pub(crate) fn count(asked: &Asked) -> (&'static str, [usize; PARTS.len()]) {
    let mut chars = [0; PARTS.len()];
    let length = |value: Option<&serde_json::Value>| value.map_or(0, |value| value.to_string().chars().count());
    chars[0] = asked.system.chars().count();
    chars[1] = length(asked.body.get("tools"));
    chars[2] = length(asked.schema.as_ref());
    let mut messages = asked.messages.iter();
    let first = messages.next().map_or("", |said| said.text.as_str());
    let mut rest = first;
    while let Some(at) = rest.find("<<data ") {
        chars[3] += rest[..at].chars().count();
        rest = &rest[at..];
        let end = rest.find("\n<<end ").map_or(rest.len(), |end| end + 1);
        let label = rest.split_once("| ").map_or("", |(_, label)| label);
        let part = LABELS.iter().find(|(begins, _)| label.starts_with(begins)).map_or(3, |(_, part)| *part);
        chars[part] += rest[..end].chars().count();
        rest = &rest[end..];
    }
    chars[3] += rest.chars().count();
    for said in messages {
        let part = if said.text.starts_with("Answer with exactly one JSON value") { 2 } else { 8 };
        chars[part] += said.text.chars().count();
    }
    let purpose = PURPOSES.iter().find(|(sentence, _)| first.contains(sentence) || asked.system.contains(sentence));
    (purpose.map_or("other", |(_, purpose)| purpose), chars.map(|chars| chars.div_ceil(4)))
}

pub(super) fn note(asked: &Asked) {
    let Some(path) = std::env::var_os(FILE) else { return };
    let (purpose, tokens) = count(asked);
    let tokens: Vec<String> = tokens.iter().map(ToString::to_string).collect();
    let mut file = std::fs::File::options().create(true).append(true).open(path).expect("the file of the costs can be written");
    file.write_all(format!("{purpose}\t{}\n", tokens.join("\t")).as_bytes()).expect("the file of the costs can be written");
}
