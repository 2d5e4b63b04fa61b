//! "Let's do a new standup", understood (STAND-1). No model decides whether to hold a standup that a person asked for.

use crate::features::meeting::agenda::Phrase;
use kernel::chat::text::without_mentions;
use kernel::text::fold_name;

/// Words without a meaning here.
#[rustfmt::skip] // One word a line would bury the list.
const FILLERS: &[&str] = &[
    "a", "an", "the", "our", "we", "us", "you", "please", "now", "ok", "okay", "hey", "hi", "hello", "so", "then", "and", "just", "can", "could", "would",
    "will", "shall", "should", "lets", "let", "s", "go", "new", "another", "daily", "todays", "today", "morning", "team", "everyone", "everybody", "all",
    "for", "to", "with", "its", "time", "it", "this", "up", "ahead", "right", "here", "quick", "again",
    "das", "den", "ein", "neues", "bitte", "jetzt", "mal", "wir", "uns", "ihr", "können", "könnt", "lass", "lasst", "heute", "und", "für", "fürs", "zeit",
    "el", "la", "un", "una", "nuevo", "por", "favor", "ahora", "hoy", "podemos", "vamos", "hora", "de", "del",
    "le", "notre", "nouveau", "sil", "te", "vous", "plaît", "svp", "maintenant", "on", "peut", "o", "novo", "agora", "hoje", "il", "lo", "nuovo", "ora", "adesso",
    "per", "favore",
];

/// Verbs that begin a standup.
#[rustfmt::skip]
const BEGIN: &[&str] = &[
    "start", "begin", "run", "do", "hold", "have", "open", "kick", "kickoff", "launch",
    "starte", "starten", "beginne", "beginnen", "mach", "machen", "halten", "eröffne",
    "empecemos", "empieza", "empezar", "inicia", "iniciemos", "iniciar", "comencemos", "comienza", "hagamos", "hacer",
    "commence", "commençons", "commencer", "lance", "lançons", "démarre", "démarrons", "faisons", "faire",
    "comece", "começar", "comecemos", "começa", "inicie", "façamos", "fazer", "iniziamo", "inizia", "iniziare", "facciamo", "fare",
];

/// Verbs that begin a standup only in a wish. "Do we have a standup?" is no wish.
#[rustfmt::skip]
const DO: &[&str] = &["do", "have", "machen", "halten", "hacer", "faire", "fazer", "fare"];

/// Phrases that end a standup.
const WRAPS: &[&[&str]] = &[
    &["wrap"],
    &["wrap", "standup"],
    &["day", "report"],
    &["wrap", "day", "report"],
    &["end", "standup"],
    &["finish", "standup"],
    &["close", "standup"],
    &["stop", "standup"],
    &["beende", "standup"],
    &["standup", "beenden"],
    &["tagesbericht"],
    &["termina", "standup"],
    &["termine", "standup"],
    &["terminons", "standup"],
    &["encerra", "standup"],
    &["encerre", "standup"],
    &["chiudi", "standup"],
];

/// Words that make "do" and "have" a wish: "let's do …", "can we have …", not "do we have …".
const WISHES: &[&str] = &[
    "lets", "let", "can", "could", "shall", "please", "should", "now", "lass", "lasst", "können", "könnt", "bitte", "vamos", "podemos",
    "peut",
];

/// Finds the wish for a standup in a text that says nothing else. `names` are those of the coordinator, which may stand in the text as an address. A
/// mention counts like such a name, because nobody else would answer in a standup channel.
///
/// Every word must be known, so that "let's talk about the standup" does not count.
pub(super) fn find_standup_phrase(text: &str, names: &[&str]) -> Option<Phrase> {
    let names: Vec<String> = names.iter().flat_map(|name| name.split_whitespace()).map(fold_name).collect();
    let text =
        without_mentions(&text.to_lowercase()).replace("stand-up", "standup").replace("stand up", "standup").replace(['\'', '’'], "");
    let text = text.replace("kick off", "kickoff");
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    if words.len() > 14 {
        return None;
    }
    let told: Vec<&str> = words.iter().copied().filter(|word| !FILLERS.contains(word) && !names.contains(&fold_name(word))).collect();
    if WRAPS.contains(&told.as_slice()) {
        return Some(Phrase::Wrap);
    }
    if !told.contains(&"standup") || told.iter().any(|word| *word != "standup" && !BEGIN.contains(word)) {
        return None;
    }
    let wishes = words.iter().any(|word| WISHES.contains(word)) && words.first() != Some(&"do");
    let begins = told.iter().any(|word| BEGIN.contains(word) && !DO.contains(word));
    let announces = ["new", "time", "neues", "zeit", "nuevo", "hora", "nouveau", "novo", "nuovo"].iter().any(|word| words.contains(word));
    // Only the word, or the word with a name: "standup kelly!".
    let bare = told == ["standup"] && words.len() <= 3;
    (begins || wishes || announces || bare).then_some(Phrase::Start)
}

#[cfg(test)]
mod tests {
    use super::Phrase::{Start, Wrap};
    use super::*;

    fn find(text: &str) -> Option<Phrase> {
        find_standup_phrase(text, &["Kelly", "kel"])
    }

    #[test]
    fn a_standup_begins_when_a_person_says_so() {
        for text in [
            "let's do a new standup kelly",
            "Let’s do a standup!",
            "start the standup",
            "Kelly, start the standup please",
            "hey kel, can we do the daily standup now?",
            "lets start a new stand-up",
            "new standup",
            "standup",
            "Standup, Kelly!",
            "time for the standup",
            "kick off the daily standup",
            "@Kelly run the stand up",
            "<user:discord:1573896481927069702> start the standup",
            "hey <user:discord:42>, let's have a standup",
            "could you start the standup?",
            "Kelly, starte bitte das Standup",
            "lasst uns das Stand-up machen",
            "Zeit fürs Standup!",
            "empecemos el standup",
            "vamos a hacer el standup",
            "on peut commencer le standup ?",
            "faisons le standup",
            "vamos começar o standup",
            "iniziamo lo standup",
        ] {
            assert_eq!(find(text), Some(Start), "{text}");
        }
    }

    #[test]
    fn it_ends_when_a_person_says_so() {
        for text in [
            "wrap up",
            "Wrap it up, Kelly",
            "ok, wrap up please",
            "day report",
            "the day report please",
            "Kelly, today's day report",
            "end the standup",
            "beende das Standup",
            "Tagesbericht bitte",
            "terminons le standup",
        ] {
            assert_eq!(find(text), Some(Wrap), "{text}");
        }
    }

    #[test]
    fn talk_about_standups_is_talk() {
        for text in [
            "let's talk about the standup",
            "don't start the standup",
            "when does the standup start?",
            "what was in the last standup?",
            "the standup was good today",
            "call off the standup",
            "hold off the standup",
            "Good standup!",
            "good standup, thanks",
            "have a good standup everyone",
            "next standup?",
            "do we have a standup today?",
            "who was skipped in the standup?",
            "how did the standup go",
            "I wrapped up the release notes",
            "what does the day report say?",
            "start the deployment",
            "wann startet das Standup?",
            "machen wir heute ein Standup?",
            "das Standup war gut",
            "el standup de hoy",
            "il y a un standup ?",
            "não comece o standup",
            "good morning everyone",
            "can you explain the new standup format",
            "",
            "🙂",
        ] {
            assert_eq!(find(text), None, "{text}");
        }
    }
}
