//! Checks whether an answer claims something that was not done. Only a successful call does something, so code knows what was done. Words decide only
//! whether a model is asked what the answer claims.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::context::{Cleaner, new_marker};
use crate::agent::prompt::Template;
use crate::agent::run::{Prompt, Run, Session};
use crate::agent::{RunError, run::Tools};
use crate::llm::ToolCall;
use crate::persona::Tier;
use crate::text::without_invisible;
use crate::tools::{Act, Trace};

static PROMPT: Template = Template::new(include_str!("claims.md.j2"));

const OUTPUT_TOKENS: u32 = 300;

/// The most bytes of the question and of the answer that are looked at.
const QUESTION: usize = 4000;
const ANSWER: usize = 12_000;

/// An answer of at most this many characters may claim what the question asks for, whatever its words are: "Done!", "👍".
const SHORT: usize = 80;

/// Added below an answer that no model could check. The sentence is true whatever the answer says.
const UNCHECKED: &str = "Nothing was added, remembered or scheduled with this answer.";

/// What follows from the claims of an answer.
pub(super) enum Claims {
    /// The answer stands, with these corrections below it.
    Corrected(Vec<String>),
    /// The model is told this, and answers once more.
    SentBack(String),
}

/// The claims of an answer, according to a model.
#[derive(Debug, Deserialize, JsonSchema)]
struct Claimed {
    /// The names of the acts that the answer claims. Empty if it claims none.
    acts: Vec<String>,
}

#[derive(Serialize)]
struct Checked<'a> {
    marker: &'a str,
    acts: Vec<Shown>,
    question: String,
    answer: String,
}

#[derive(Serialize)]
struct Shown {
    name: &'static str,
    claim: &'static str,
}

impl Session<'_> {
    pub(super) async fn find_false_claims(&self, answer: &str) -> Result<Claims, RunError> {
        let Some(tools) = self.tools.as_ref().filter(|tools| tools.in_chat.is_some()) else { return Ok(Claims::Corrected(Vec::new())) };
        let question = tools.asked_by.as_ref().map_or("", |asked| asked.text.as_str());
        let open: Vec<Act> = self.runner.tools.acts().iter().filter(|act| !self.is_settled(act)).copied().collect();
        let may_claim = || self.has_failed_at(&open) || may_claim(question, answer);
        if open.is_empty() || self.only_proposed() || !may_claim() {
            return Ok(Claims::Corrected(Vec::new()));
        }
        let left = self.calls_left().await?.unwrap_or(u32::MAX);
        let claimed = if left == 0 { None } else { self.ask_what_is_claimed(tools, question, answer, &open).await? };
        let Some(claimed) = claimed else { return Ok(Claims::Corrected(vec![UNCHECKED.to_owned()])) };
        if claimed.is_empty() {
            return Ok(Claims::Corrected(Vec::new()));
        }
        // `left` was counted before the check, which took one call.
        if self.progress.sent_back || left < 2 {
            return Ok(Claims::Corrected(claimed.iter().map(|act| act.correction.to_owned()).collect()));
        }
        let what: Vec<&str> = claimed.iter().map(|act| act.claim).collect();
        Ok(Claims::SentBack(format!(
            "Your answer was not sent. It says that {}, but no call has done that. If you have the tool, call it now. Otherwise answer again \
             and do not say so.",
            what.join(", and that ")
        )))
    }

    /// Whether nothing was carried out, and a person is asked by a button below the answer. That says what is not done yet.
    fn only_proposed(&self) -> bool {
        self.progress.done.is_empty() && !self.progress.proposed.is_empty()
    }

    /// Whether an act was done, or a person is asked to allow it.
    fn is_settled(&self, act: &Act) -> bool {
        let is_done = |(tool, trace): &(String, Trace)| match trace {
            Trace::Confirmed { id, .. } => is_in_group(act, id) || act.done_by.contains(&tool.as_str()),
            _ => act.done_by.contains(&tool.as_str()),
        };
        self.progress.done.iter().any(is_done) || self.progress.proposed.iter().any(|call| is_for(act, call))
    }

    /// Whether one of the acts was tried and not done. Then any answer may claim it, in whatever words.
    fn has_failed_at(&self, acts: &[Act]) -> bool {
        self.progress.failed.iter().any(|call| acts.iter().any(|act| is_for(act, call)))
    }

    /// None if no model could tell.
    async fn ask_what_is_claimed(
        &self,
        tools: &Tools<'_>,
        question: &str,
        answer: &str,
        open: &[Act],
    ) -> Result<Option<Vec<Act>>, RunError> {
        let marker = new_marker();
        let cleaner = Cleaner { marker: &marker };
        let acts = open.iter().map(|act| Shown { name: act.name, claim: act.claim }).collect();
        let message = PROMPT.render(Checked {
            marker: &marker,
            acts,
            question: cleaner.text(question, QUESTION),
            answer: cleaner.text(answer, ANSWER),
        });
        let prompt = Prompt { system: String::new(), message, holds_outside: true, remarks: Vec::new() };
        if let Some(watch) = tools.in_chat.and_then(|in_chat| in_chat.watch) {
            watch("Checking my answer".to_owned());
        }
        let run = Run {
            persona: self.persona,
            purpose: self.call.purpose,
            subject: &self.call.subject,
            tier: Tier::T1,
            allowance: self.call.allowance.clone(),
            pictures: Vec::new(),
            prompt: Box::pin(std::future::ready(Ok(prompt))),
            max_output_tokens: OUTPUT_TOKENS,
            keep_partial: false,
            tools: None,
            journal: None,
            cancel: self.cancel,
        };
        // Boxed, because this run is part of another run.
        match Box::pin(self.runner.run_structured::<Claimed>(run)).await {
            Ok(claimed) => {
                let names: HashSet<String> = claimed.value.acts.iter().map(|name| name.trim().to_lowercase()).collect();
                Ok(Some(open.iter().filter(|act| names.contains(act.name)).copied().collect()))
            }
            Err(error @ (RunError::Cancelled | RunError::Lost | RunError::Store(_))) => Err(error),
            Err(error) => {
                tracing::warn!(subject = self.call.subject, %error, "what an answer claims could not be checked");
                Ok(None)
            }
        }
    }
}

fn is_in_group(act: &Act, command: &str) -> bool {
    command.split(' ').next().is_some_and(|group| act.done_by.contains(&group))
}

/// Whether a call is one of those that do an act.
fn is_for(act: &Act, call: &ToolCall) -> bool {
    let command = call.arguments.get("command").and_then(Value::as_str);
    act.done_by.contains(&call.name.as_str()) || command.is_some_and(|command| is_in_group(act, command))
}

/// Whether an answer may claim an act: it contains a word for one, or it is short and the question contains such a word.
fn may_claim(question: &str, answer: &str) -> bool {
    holds_act(answer) || (answer.chars().count() <= SHORT && holds_act(question))
}

fn holds_act(text: &str) -> bool {
    let text = without_invisible(text).to_lowercase();
    let begins = |word: &str| STEMS.iter().any(|stems| stems.split('|').any(|stem| word.starts_with(stem)));
    text.split(|c: char| !c.is_alphanumeric()).any(begins) || UNSPACED.split('|').any(|part| text.contains(part))
}

/// The beginnings of words for adding, noting, remembering, reminding, scheduling, and for "done". They only decide whether a model is asked.
const STEMS: [&str; 5] = [
    "added|adding|backlog|noted|noting|jotted|remember|memor|remind|schedul|recorded|recording|saved|saving|stored|logged|created|\
     booked|tracked|filed|calendar|done|captured|appended|forgot|erased|deleted",
    "hinzugef|notier|gemerkt|merke|erinner|eingetrag|gespeichert|vermerk|angelegt|eingeplant|geplant|aufgenommen|aufgeschrieben|erledigt|vergessen|gelöscht|\
     gemacht|toegevoegd|genoteerd|onthoud|onthouden|herinner|ingepland|opgeslagen|gedaan",
    "añad|anot|agreg|apunt|recuerd|recordar|programad|guard|agend|hecho|registr|olvid|oubli|esquec|ajout|noté|rappel|enregistr|planifi|retien|souvien|fait|\
     adicion|lembr|salv|feito|aggiun|annot|ricord|segnat|pianific|fatto|tambah|catat|ingat|jadwal|simpan",
    "добав|запис|запомн|напомн|заплан|сохран|сделан|готово|занес|внес|doda|zapis|zapamięt|przypomn|zaplan|zrobione|ekle|kaydet|hatırl|\
     planla|tamam",
    "أضفت|أضيف|اضيف|تمت|تم|سجلت|سأذكر|أذكرك|حفظت|دونت|شامل|یاد|نوٹ|درج|محفوظ",
];

/// The same for scripts in which letters alone do not show where a word begins.
const UNSPACED: &str = "जोड़|याद|नोट|दर्ज|सहेज|যোগ|মনে|নোট|লিখে|添加|加入|加到|记住|记下|记录|提醒|安排|保存|已经|好了|追加|記録|覚え|リマインド|予定|メモ|登録|保存しました|완료|추가|기록|기억|알려|예약|저장";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_acts_in_many_languages_lead_to_a_check() {
        for answer in [
            "Added.",
            "I've added it to the list",
            "Noted!",
            "I'll remind you on Friday.",
            "Ich habe es notiert.",
            "Ist eingetragen",
            "Lo he añadido",
            "C'est noté",
            "Anotado",
            "Я добавил это",
            "已经添加",
            "登録しました",
            "تمت الإضافة",
            "मैंने जोड़ दिया",
        ] {
            assert!(may_claim("", answer), "{answer}");
        }
    }

    #[test]
    fn a_short_answer_to_a_request_is_checked_whatever_it_says() {
        assert!(may_claim("kelly, put the certificate into the backlog", "Sure thing 👍"));
        assert!(!may_claim("kelly, how is the weather?", "Sure thing 👍"));
        let long = "The harbour silts up from the north, and the pilots have said so since spring. The survey of March agrees with them.";
        assert!(!may_claim("kelly, remember what we know about the harbour?", long));
    }

    #[test]
    fn answers_without_such_words_cost_no_check() {
        for answer in ["Two commits since Monday.", "The address is example.org.", "Nothing to report.", "It silts up."] {
            assert!(!may_claim("what is new?", answer), "{answer}");
        }
    }
}
