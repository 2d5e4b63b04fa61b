//! Separates a model's words for people from everything around them: reasoning, calls written as text, tokens of chat templates, role prefixes.
//!
//! Servers with the right parser do this themselves. Others pass on whatever the model wrote. Text in a code block or between backticks is never
//! touched, because answers may be about such marks.

mod calls;

use std::ops::Range;

use crate::llm::ToolSpec;

pub(super) use calls::WrittenCall;

/// An answer's text, taken apart.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Content {
    /// Empty if nothing is left for people.
    pub(super) text: String,
    pub(super) calls: Vec<WrittenCall>,
    /// The model has thought aloud.
    pub(super) reasoned: bool,
}

/// How reasoning begins and ends, in lower case: `DeepSeek` and Qwen, Claude's habit, Gemma, Mistral, Seed, Kimi, `OpenThinker`, Cohere.
const REASONING: [(&str, &str); 9] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("[think]", "[/think]"),
    ("<seed:think>", "</seed:think>"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|start_thinking|>", "<|end_thinking|>"),
];

/// Marks of turns that are not written as `<|…|>`.
const TURN_MARKS: [&str; 2] = ["<end_of_turn>", "<start_of_turn>"];
/// Marks that are also something else, such as strikethrough in HTML. They count at the very beginning and at the very end.
const EDGE_MARKS: [&str; 8] = ["</s>", "<s>", "<eos>", "<bos>", "[/inst]", "[inst]", "<pad>", "<unk>"];

/// The most marks of one kind that are looked for. More means that the model is stuck in a loop.
pub(super) const MOST_MARKS: usize = 64;

/// The longest token of a template.
const TOKEN_CHARS: usize = 40;

pub(super) fn read(raw: &str, tools: &[ToolSpec]) -> Content {
    let mut content = Content::default();
    let text = match read_channels(raw, &mut content) {
        Some(text) => text,
        None => without_beginning(raw).to_owned(),
    };
    let text = without_reasoning(text, &mut content.reasoned);
    let text = calls::take(&text, tools, &mut content.calls);
    let text = without_tokens(&text);
    without_role(without_edges(&text)).trim().clone_into(&mut content.text);
    content
}

/// Reads the channels of OpenAI's harmony format. Only `final` is for people; a channel with a recipient is a call.
fn read_channels(raw: &str, content: &mut Content) -> Option<String> {
    const CHANNEL: &str = "<|channel|>";
    if !raw.contains(CHANNEL) {
        // Some servers remove the tokens and keep the words between them.
        let (_, said) = raw.trim_start().strip_prefix("analysis")?.split_once("assistantfinal")?;
        content.reasoned = true;
        return Some(said.to_owned());
    }
    let mut said = String::new();
    let mut before = "";
    for (number, part) in raw.split(CHANNEL).enumerate() {
        if number > 0 {
            let (header, rest) = part.split_once("<|message|>").unwrap_or((part, ""));
            let ends = ["<|end|>", "<|return|>", "<|call|>", "<|start|>"];
            let end = ends.iter().filter_map(|mark| rest.find(mark)).min().unwrap_or(rest.len());
            let recipient = [header, before].into_iter().find_map(|text| text.split_once("to=functions."));
            if let Some((_, name)) = recipient {
                let name = name.split(|c: char| c.is_whitespace() || c == '<').next().unwrap_or_default();
                content.calls.extend(WrittenCall::parse(name, &rest[..end]));
            } else if header.trim_start().starts_with("final") {
                said.push_str(&rest[..end]);
            }
            before = &rest[end..];
        } else {
            before = part;
        }
    }
    content.reasoned = true;
    Some(said)
}

/// The text without tokens that open the model's turn: `<|im_start|>assistant`.
fn without_beginning(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        let Some(token) = token_at(text).filter(|token| token.name.contains("start") || token.name.contains("begin")) else { return text };
        if ["tool", "think", "thought"].iter().any(|meaning| token.name.contains(meaning)) {
            return text;
        }
        text = &text[token.length..];
        text = text.strip_prefix("assistant").or_else(|| text.strip_prefix("model")).unwrap_or(text);
        // `<|start_header_id|>assistant<|end_header_id|>`
        text = token_at(text).filter(|token| token.name.contains("header")).map_or(text, |token| &text[token.length..]);
    }
}

/// A token of a chat template at the beginning of a text.
struct Token {
    /// In lower case.
    name: String,
    length: usize,
}

fn token_at(text: &str) -> Option<Token> {
    [("<|", "|>"), ("<｜", "｜>")].into_iter().find_map(|(open, close)| {
        let inside = text.strip_prefix(open)?;
        let end = inside.find(close)?;
        let name = &inside[..end];
        let fits = name.chars().count() <= TOKEN_CHARS && name.chars().all(|c| c.is_ascii_alphanumeric() || "_▁-/".contains(c));
        (fits && !name.is_empty()).then(|| Token { name: name.to_lowercase(), length: open.len() + end + close.len() })
    })
}

/// The parts of a text that stand in code blocks or between backticks, in order.
pub(super) struct Code(Vec<Range<usize>>);

impl Code {
    pub(super) fn of(text: &str) -> Self {
        let mut parts = Vec::new();
        let mut fence = None;
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let end = at + line.len();
            if line.trim_start().starts_with("```") {
                match fence.take() {
                    Some(begun) => parts.push(begun..end),
                    None => fence = Some(at),
                }
            } else if fence.is_none() {
                let ticks: Vec<usize> = line.match_indices('`').map(|(tick, _)| at + tick).collect();
                parts.extend(ticks.chunks_exact(2).map(|pair| pair[0]..pair[1]));
            }
            at = end;
        }
        parts.extend(fence.map(|begun| begun..text.len()));
        Self(parts)
    }

    pub(super) fn holds(&self, at: usize) -> bool {
        let next = self.0.partition_point(|part| part.end <= at);
        self.0.get(next).is_some_and(|part| part.contains(&at))
    }

    /// Where a mark first stands outside of code.
    pub(super) fn find_outside(&self, text: &str, mark: &str) -> Option<usize> {
        text.match_indices(mark).map(|(at, _)| at).find(|at| !self.holds(*at))
    }
}

/// Removes reasoning: between its tags, before an end whose beginning the template has written, and after a beginning without an end.
fn without_reasoning(mut text: String, reasoned: &mut bool) -> String {
    for _ in 0..MOST_MARKS {
        let lower = text.to_ascii_lowercase();
        let code = Code::of(&lower);
        let begins_line = |at: usize| lower[..at].rsplit('\n').next().is_some_and(|before| before.trim().is_empty());
        let opened = REASONING.iter().filter_map(|(open, close)| {
            let mut places = lower.match_indices(open).map(|(at, _)| at);
            places.find(|at| begins_line(*at) && !code.holds(*at)).map(|at| (at, open.len(), *close))
        });
        let closed = REASONING.iter().filter_map(|(open, close)| {
            let at = code.find_outside(&lower, close)?;
            (!lower[..at].contains(open)).then_some((at, at + close.len()))
        });
        match (opened.min(), closed.min()) {
            (None, None) => break,
            (Some((at, _, _)), Some((lone, end))) if lone < at => text.drain(..end),
            (None, Some((_, end))) => text.drain(..end),
            (Some((at, length, close)), _) => {
                let end = lower[at + length..].find(close).map_or(text.len(), |found| at + length + found + close.len());
                text.drain(at..end)
            }
        };
        *reasoned = true;
    }
    text
}

/// Removes tokens of templates. What follows the end of the model's turn was invented by the model.
fn without_tokens(text: &str) -> String {
    let code = Code::of(text);
    let mut kept = String::new();
    let mut at = 0;
    while let Some(found) = text[at..].find('<').map(|found| at + found) {
        kept.push_str(&text[at..found]);
        let rest = &text[found..];
        let turn = TURN_MARKS.iter().find(|mark| rest.starts_with(**mark)).map(|mark| (mark.len(), true));
        let token = token_at(rest).map(|token| {
            let ends = ["end", "eot", "eom", "eos", "return", "start"].iter().any(|part| token.name.contains(part));
            (token.length, ends)
        });
        at = match turn.or(token).filter(|_| !code.holds(found)) {
            Some((_, true)) if !kept.trim().is_empty() => return kept,
            Some((length, _)) => found + length,
            None => {
                kept.push('<');
                found + 1
            }
        };
    }
    kept.push_str(&text[at..]);
    kept
}

fn without_edges(text: &str) -> &str {
    let mut text = text.trim();
    loop {
        let lower = text.to_ascii_lowercase();
        let begins = EDGE_MARKS.iter().find(|mark| lower.starts_with(**mark) && !is_element(&lower, mark));
        let ends = EDGE_MARKS.iter().find(|mark| lower.ends_with(**mark) && !is_element(&lower, mark));
        text = match (begins, ends) {
            (Some(mark), _) => text[mark.len()..].trim_start(),
            (_, Some(mark)) => text[..text.len() - mark.len()].trim_end(),
            _ => return text,
        };
    }
}

/// Whether a mark is half of an element: `<s>struck out</s>`.
fn is_element(lower: &str, mark: &str) -> bool {
    matches!(mark, "<s>" | "</s>") && lower.contains("<s>") && lower.contains("</s>")
}

/// Removes the role that a model puts before its answer, and the other side's turn that it then invents.
fn without_role(text: &str) -> &str {
    let text = text.trim_start();
    let lower = text.to_ascii_lowercase();
    let prefix =
        ["assistant:", "### assistant:", "### response:", "**assistant:**", "assistant\n"].iter().find(|role| lower.starts_with(**role));
    let Some(prefix) = prefix else { return text };
    let said = &text[prefix.len()..];
    let turn = ["\nuser:", "\nhuman:", "\n### user:", "\n### instruction:", "\n**user:**"];
    let end = turn.iter().filter_map(|mark| lower[prefix.len()..].find(mark)).min().unwrap_or(said.len());
    &said[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(raw: &str) -> String {
        read(raw, &[]).text
    }

    #[test]
    fn reasoning_is_no_answer_however_it_is_marked() {
        for raw in [
            "<think>The user greets.</think>Hello.",
            "<think>\nThe user greets.\n</think>\n\nHello.",
            "The user greets.</think>\n\nHello.",
            "<think></think>Hello.",
            "<Thinking>Hm.</Thinking>\nHello.",
            "[THINK]Hm.[/THINK]Hello.",
            "◁think▷Hm.◁/think▷Hello.",
            "<think>One.</think>\n<think>Two.</think>\nHello.",
            "<|im_start|>assistant\n<think>Hm.</think>\nHello.<|im_end|>",
            "<|channel|>analysis<|message|>The user greets.<|end|><|start|>assistant<|channel|>final<|message|>Hello.<|return|>",
            "analysisThe user greets.assistantfinalHello.",
        ] {
            let read = read(raw, &[]);
            assert_eq!((read.text.as_str(), read.reasoned), ("Hello.", true), "{raw}");
        }
        for raw in ["<think>I wonder", "<think>Hm.</think>", "<|channel|>analysis<|message|>Hm.", "Hm.</think>\n"] {
            let read = read(raw, &[]);
            assert_eq!((read.text.as_str(), read.reasoned), ("", true), "{raw}");
        }
    }

    #[test]
    fn an_answer_about_such_marks_stays_whole() {
        for raw in [
            "Models put `<think>` and `</think>` around it.",
            "```\n<think>\nHm.\n</think>\n<|im_end|>\n```\nThat is all.",
            "The tags <think> and </think> stand around it.",
            "It was <s>nine</s> ten dollars.",
            "if a <| b then `<|im_end|>` ends the turn, a<b and <b>bold</b>.",
            "Assistant professors: three.",
            "The user: Ann.",
        ] {
            assert_eq!(read(raw, &[]), Content { text: raw.into(), ..Content::default() });
        }
    }

    #[test]
    fn tokens_of_templates_and_invented_turns_are_left_out() {
        for raw in [
            "Hello.<|im_end|>",
            "Hello.<|im_end|>\n<|im_start|>user\nAnd now?",
            "<|start_header_id|>assistant<|end_header_id|>\n\nHello.<|eot_id|>",
            "Hello.</s>",
            "<s>Hello.",
            "Hello.<end_of_turn>\n<start_of_turn>user\nHi",
            "<start_of_turn>Hello.",
            "Hello.<｜end▁of▁sentence｜>",
            "<|assistant|>Hello.<|endoftext|>",
            "Assistant: Hello.",
            "assistant\n\nHello.",
            "### Response:\nHello.",
            "Assistant: Hello.\nUser: And now?\nAssistant: Hm.",
            "[/INST] Hello.",
        ] {
            assert_eq!(shown(raw), "Hello.", "{raw}");
        }
        assert_eq!(shown("<|im_end|>"), "");
    }
}
