//! What an answer speaks of, by rules: acts, colleagues, searches. They only decide whether a model is asked what it claims.

use crate::persona::Persona;
use crate::persona::roster::Roster;
use crate::text::{without_invisible, without_quotes_and_code};

/// An answer of at most this many characters may claim what the question asks for, whatever its words are: "Done!", "👍".
const SHORT: usize = 80;

/// A longer answer that names a colleague tells of one.
const BRIEF: usize = 400;

/// What an answer states: without quotations, code and questions. "Shall I add it?" claims nothing, and "Added, anything else?" does.
pub(super) fn statements(answer: &str) -> String {
    let spoken = without_quotes_and_code(answer);
    let ends = |c: char| matches!(c, '.' | '!' | '?' | '\n' | '。' | '！' | '？' | '؟' | '।');
    spoken.split_inclusive(ends).map(without_question).collect()
}

/// A sentence without its last clause, if that asks something.
fn without_question(sentence: &str) -> &str {
    if !sentence.trim_end().ends_with(['?', '？', '؟']) {
        return sentence;
    }
    let mut marks = sentence.rmatch_indices([',', ';', ':', '-', '–', '—', '…', '，', '；', '：', '、', '،', '؛']);
    let last = marks.find(|(at, mark)| {
        let next = sentence[at + mark.len()..].chars().next().unwrap_or(' ');
        // No mark of a clause: "10:30", "follow-up".
        if *mark == "-" { next.is_whitespace() } else { !next.is_ascii_digit() }
    });
    last.map_or("", |(at, _)| &sentence[..at])
}

/// Whether a short answer names a colleague without addressing them.
pub(super) fn names_colleague(said: &str, roster: &Roster, of: Option<&Persona>) -> bool {
    if said.chars().count() > BRIEF {
        return false;
    }
    let is_colleague = |word: &str| roster.find_named(word).is_some_and(|named| of.is_none_or(|of| of.slug != named.slug));
    let words: Vec<&str> = said.split(|c: char| !(c.is_alphanumeric() || c == '@')).collect();
    let addresses = |word: &&str| word.starts_with('@') && is_colleague(word);
    !words.iter().any(addresses) && words.iter().any(|word| word.chars().next().is_some_and(char::is_uppercase) && is_colleague(word))
}

/// Whether an answer names a search, or the web.
pub(super) fn names_search(said: &str) -> bool {
    let said = without_invisible(said).to_lowercase();
    let begins = |word: &str| SEARCHES.split('|').any(|stem| word.starts_with(stem));
    said.chars().count() <= BRIEF
        && (said.split(|c: char| !c.is_alphanumeric()).any(begins) || SEARCHES_UNSPACED.split('|').any(|part| said.contains(part)))
}

const SEARCHES: &str =
    "search|suche|websuche|internet|recherch|búsqued|buscador|pesquis|ricerca|поиск|wyszuk|arama|zoekfunct|pencarian|tool|werkzeug";
const SEARCHES_UNSPACED: &str = "搜索|検索|검색|खोज|بحث";

/// Whether an answer may claim an act: it contains a word for one, or it is short and the question contains such a word.
pub(super) fn may_claim(question: &str, answer: &str) -> bool {
    let said = statements(answer);
    holds_act(&said) || (!said.trim().is_empty() && answer.chars().count() <= SHORT && holds_act(question))
}

fn holds_act(text: &str) -> bool {
    let text = without_invisible(text).to_lowercase();
    let begins = |word: &str| STEMS.iter().any(|stems| stems.split('|').any(|stem| word.starts_with(stem)));
    text.split(|c: char| !c.is_alphanumeric()).any(begins) || UNSPACED.split('|').any(|part| text.contains(part))
}

/// The beginnings of words for adding, noting, remembering, reminding, scheduling, sending, and for "done". They only decide whether a model is asked.
const STEMS: [&str; 6] = [
    "sending|sent|forward|notif|schick|sende|weitergeleit|weitergeb|leite|melde|kümmer|übernehm|enví|reenv|avis|envoi|envoy|transm|préven|encaminh|\
     inoltr|invi|отправ|переда|wysył|wysł|przekaż|gönder|ilet|hallet|stuur",
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
    fn promises_to_pass_something_on_lead_to_a_check() {
        let roster = crate::testing::roster::roster();
        let kelly = roster.find_named("kelly");
        for answer in [
            "I'm sending this to Eliza now.",
            "Das geht jetzt an Eliza.",
            "Eliza has it.",
            "Eliza ya lo tiene.",
            "Eliza’ya iletiyorum.",
            "Eliza s'en occupe.",
            "Vince kümmert sich.",
            "Passing it to Vince (analyst).",
        ] {
            assert!(may_claim("", answer) || names_colleague(&statements(answer), &roster, kelly), "{answer}");
        }
        for answer in ["@Eliza, can you look?", "Shall I ask Eliza?", "> Eliza has it\nSo she wrote.", "Kelly here.", "What about Vince?"] {
            assert!(!names_colleague(&statements(answer), &roster, kelly), "{answer}");
        }
    }

    #[test]
    fn a_search_that_nobody_made_leads_to_a_check() {
        for answer in
            ["The search is down.", "Die Suche geht gerade nicht.", "La búsqueda no funciona.", "搜索坏了。", "My tools fail right now."]
        {
            assert!(names_search(&statements(answer)), "{answer}");
        }
        assert!(!names_search(&statements("Shall I search for it?")));
    }

    #[test]
    fn a_question_or_a_quotation_claims_nothing() {
        for answer in ["Shall I add it to the backlog?", "> I added it\nThat is what it says.", "Soll ich es notieren?", "要我记下来吗？"]
        {
            assert!(!may_claim("", answer), "{answer}");
        }
        assert!(may_claim("", "Added. Anything else?"));
    }

    #[test]
    fn what_is_said_before_a_question_is_checked() {
        for answer in [
            "Added it to the backlog, anything else?",
            "I've noted it, shall I also remind you?",
            "Noted: what else?",
            "Done - anything else?",
            "It is noted — when shall it be?",
            "Ist eingetragen; soll ich noch etwas tun?",
            "已经添加，还需要什么吗？",
            "تمت الإضافة، هل من شيء آخر؟",
        ] {
            assert!(may_claim("", answer), "{answer}");
        }
        assert!(may_claim("kelly, put it into the backlog", "Sure thing, anything else?"), "a short answer is checked as a whole");
        for answer in ["Shall I remind you at 10:30?", "Shall I schedule the follow-up?", "Kelly here, shall I note it?"] {
            assert!(!may_claim("", answer), "{answer}");
        }
        assert!(!may_claim("kelly, put it into the backlog", "Shall I add it to the backlog?"));
    }

    #[test]
    fn answers_without_such_words_cost_no_check() {
        for answer in ["Two commits since Monday.", "The address is example.org.", "Nothing to report.", "It silts up."] {
            assert!(!may_claim("what is new?", answer), "{answer}");
        }
    }
}
