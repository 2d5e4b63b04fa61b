//! "add to the backlog: renew the certificate" in a message.
//!
//! A verb, the backlog by its name, and what is to be done: as plain as a command that is typed without a slash. Everything else is for personas with
//! a model, which have the tool `backlog_add`, and for `/backlog add`.

use chrono::Month;

use kernel::chat::text::split_mention;
use kernel::text::fold_name;

/// What somebody wants added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) wanted: Wanted,
    /// As written, after "for".
    pub(super) owner: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    /// One thing, with how it is to be done if that is said too.
    One {
        what: String,
        how: String,
    },
    Several(Vec<String>),
    /// "this": what the message replies to.
    Pointed,
    /// The message does not say what is to be done.
    Nothing,
}

/// The most words before the verb.
const LONGEST_ADDRESS: usize = 8;

/// The most words of a name.
const LONGEST_NAME: usize = 3;

/// What may stand before the verb besides names and mentions.
const BEFORE: &str = "hey hi hello ok okay and please pls also so hallo bitte und mal hola por favor y salut bonjour s'il te vous plaît et olá oi e \
     ciao per favore привет пожалуйста";

/// These make a question a request.
const POLITE: &str = "can could would will you kannst könntest könnt du ihr puedes podrías peux-tu pourrais-tu pouvez-vous tu peux pode podes poderia \
     você puoi potresti можешь можете ты";

const VERBS: &str = "add put append füge füg setze setz nimm schreib schreibe pack packe trag trage añade agrega pon anota ajoute ajoutez mets mettez \
     adiciona adicione acrescenta acrescente coloca coloque aggiungi metti voeg zet добавь добавьте запиши dodaj dopisz";

const BACKLOG: &str = "backlog бэклог беклог бэклога backlogu";

const ARTICLES: &str = "the our your my team team's teams das den dem unser unseren unserem euer el la nuestro le notre o nosso il lo nostro de het ons \
     onze наш";

const PLACES: &str = "to into onto on in zum ins im auf a al en au dans sur ao no na nel sul aan op в во к do";

/// What may follow the backlog's name.
const AFTER: &str = "please pls thanks thank you too also now hinzu auf ein bitte danke toe por favor gracias merci s'il te vous plaît obrigado \
     obrigada per favore grazie пожалуйста спасибо";

/// Before a colon these only announce what follows it. Alone they point at something.
const POINTING: &str = "this that it das dies es esto eso ça ceci isso isto questo dit это";
const ANNOUNCING: &str = "the a an new one two three four five some few following item items task tasks thing things todo todos these ein eine neue neuen \
     neues aufgabe aufgaben folgendes una un une tarea tâche tarefa uma um";

/// Of the announcing words, those that announce more than one thing.
const SEVERAL: &str = "these two three four five some few following items tasks things todos neue neuen aufgaben folgendes";

/// With one of each, an entry of a list waits for the other entries: "once the other three are there".
const WAITING: &str = "once after when soon wenn sobald nachdem cuando quand quando après después dopo depois když gdy когда после";
const OTHERS: &str = "other others rest these those all anderen andere übrigen restlichen allen otros otras demás autres altri altre outros outras остальные всех";

/// An entry that begins with one of these waits for the one before it.
const THEN: &str = "then afterwards danach dann anschließend luego después ensuite puis poi depois затем потом daarna potem";

/// The separate part of a separable verb.
const PARTICLES: &str = "toe hinzu";

fn is_in(list: &str, word: &str) -> bool {
    !word.is_empty() && list.split(' ').any(|listed| listed == word)
}

struct Word<'t> {
    /// In lower case, without what surrounds it.
    bare: String,
    start: usize,
    end: usize,
    raw: &'t str,
}

/// Reads a message. None: it is no such request. `names` are those of the personas, who may be spoken to first.
pub(super) fn parse_request(text: &str, names: &[&str]) -> Option<Request> {
    let text = text.trim();
    let words = words_of(text);
    let is_name = |word: &str| names.iter().any(|name| fold_name(name).split_whitespace().any(|part| part == word));
    let verb = words.iter().take(LONGEST_ADDRESS + 1).position(|word| is_in(VERBS, &word.bare))?;
    let is_before = |word: &Word<'_>| {
        let bare = word.bare.as_str();
        split_mention(word.raw).is_some() || bare.is_empty() || is_in(BEFORE, bare) || is_in(POLITE, bare) || is_name(bare)
    };
    if !words[..verb].iter().all(is_before) {
        return None;
    }
    let is_polite = words[..verb].iter().any(|word| is_in(POLITE, &word.bare));
    if text.ends_with(['?', '？']) && !is_polite {
        return None;
    }
    let backlog = verb + 1 + words[verb + 1..].iter().position(|word| is_in(BACKLOG, &word.bare))?;
    let articles = words[verb + 1..backlog].iter().rev().take_while(|word| is_in(ARTICLES, &word.bare)).count();
    let place = (backlog - articles).checked_sub(1).filter(|place| *place > verb && is_in(PLACES, &words[*place].bare))?;
    let middle = unquote(&text[words[verb].end..words[place].start]);
    let mut middle_words = words_of(middle);
    let middle = match middle_words.last() {
        Some(last) if is_in(PARTICLES, &last.bare) => unquote(&middle[..last.start]),
        _ => middle,
    };
    middle_words.retain(|word| word.start < middle.len());
    if middle_words.first().is_some_and(|word| word.bare == "up") {
        return None;
    }
    let (tail, owner) = split_owner(&text[words[backlog].end..]);
    let said = strip_colon(tail);
    let (said, follows) = match said {
        Some(said) => (said, true),
        None => (tail, false),
    };
    let rest = without_after(said, follows);
    let announces = middle_words.iter().all(|word| is_in(POINTING, &word.bare) || is_in(ANNOUNCING, &word.bare));
    let points = !middle_words.is_empty() && middle_words.iter().all(|word| is_in(POINTING, &word.bare));
    let wanted = match (announces, rest.is_empty()) {
        (true, true) if points => Wanted::Pointed,
        (true, true) => Wanted::Nothing,
        (true, false) if middle_words.is_empty() || follows => list_of(rest, middle_words.iter().any(|word| is_in(SEVERAL, &word.bare))),
        (false, true) => Wanted::One { what: clean(middle), how: String::new() },
        (false, false) if follows => Wanted::One { what: clean(middle), how: clean(rest) },
        _ => return None,
    };
    Some(Request { wanted, owner })
}

fn words_of(text: &str) -> Vec<Word<'_>> {
    text.split_whitespace()
        .map(|raw| {
            let start = raw.as_ptr().addr() - text.as_ptr().addr();
            let bare = raw.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
            Word { bare, start, end: start + raw.trim_end_matches(|c: char| !c.is_alphanumeric()).len(), raw }
        })
        .collect()
}

/// The due date in words of "renew the certificate by Friday".
pub(super) fn find_due(what: &str, is_time: impl Fn(&str) -> bool) -> Option<&str> {
    let by = words_of(what).into_iter().rfind(|word| is_in("by due", &word.bare))?;
    let due = what[by.end..].trim();
    let mut words = due.split_whitespace();
    let is_number = words.next().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
    // "By 2 weeks" is by how much. "By December" may mean any day of it.
    let is_span = is_number && words.next().is_none_or(|word| word.parse::<Month>().is_err());
    (by.start > 0 && !is_span && due.parse::<Month>().is_err() && is_time(due)).then_some(due)
}

/// What follows a colon or a dash at the beginning of a text, or stands on the next line.
fn strip_colon(tail: &str) -> Option<&str> {
    let tail = tail.trim_start_matches(['"', '“', '”', '*', '_']);
    let rest = tail.trim_start_matches([' ', '\t']);
    rest.strip_prefix([':', '：', '–', '—', '-', '\n']).map(str::trim)
}

/// The text without polite words behind the backlog's name, and without question marks at the end.
fn without_after(said: &str, follows: bool) -> &str {
    let said = said.trim().trim_end_matches(['?', '？']).trim_end();
    if follows {
        return said;
    }
    let words = words_of(said);
    let after = words.iter().take_while(|word| word.bare.is_empty() || is_in(AFTER, &word.bare)).count();
    words.get(after).map_or("", |word| &said[word.start..])
}

/// "for Ann" right behind the backlog's name.
fn split_owner(tail: &str) -> (&str, Option<String>) {
    let words = words_of(tail);
    let is_for = words.first().is_some_and(|word| is_in("for für para pour per voor для", &word.bare));
    if !is_for || words[0].start > 1 {
        return (tail, None);
    }
    let ends = |word: &Word<'_>| word.raw.ends_with([':', ',', '.', '!', '?']) || is_in(AFTER, &word.bare);
    let length = words[1..]
        .iter()
        .take(LONGEST_NAME)
        .position(ends)
        .map_or(words.len() - 1, |at| if is_in(AFTER, &words[at + 1].bare) { at } else { at + 1 });
    if length == 0 || length > LONGEST_NAME {
        return (tail, None);
    }
    let last = &words[length];
    let end = split_mention(&tail[last.start..]).map_or(last.end, |(_, rest)| tail.len() - rest.len());
    (&tail[end..], Some(tail[words[1].start..end].to_owned()))
}

/// One thing, or the entries of a list. `several`: more than one thing was announced, so words around the list belong to all of its entries.
fn list_of(said: &str, several: bool) -> Wanted {
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    let entries: Vec<String> = lines.iter().filter_map(|line| entry(line)).filter(|entry| !entry.is_empty()).collect();
    let is_list = lines.iter().all(|line| entry(line).is_some());
    match entries.as_slice() {
        [_, _, ..] if is_list || several => Wanted::Several(entries),
        [only] if is_list => Wanted::One { what: only.clone(), how: String::new() },
        _ => {
            let (first, rest) = said.split_once('\n').unwrap_or((said, ""));
            Wanted::One { what: clean(first), how: rest.trim().to_owned() }
        }
    }
}

/// The text of a list entry.
fn entry(line: &str) -> Option<String> {
    let line = line.trim();
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = (number.len() < line.len()).then(|| number.strip_prefix(['.', ')'])).flatten();
    let bullet = ["- [ ] ", "- ", "* ", "• ", "+ "].iter().find_map(|mark| line.strip_prefix(mark));
    bullet.or(numbered).map(clean)
}

/// For each entry of a list the entries that it says it waits for.
pub(super) fn find_order(entries: &[String]) -> Vec<Vec<usize>> {
    let words: Vec<Vec<Word<'_>>> = entries.iter().map(|text| words_of(text)).collect();
    let waits_for_others = |words: &[Word<'_>]| {
        let is_after = |at: usize| words[at + 1..].iter().take(3).any(|word| is_in(OTHERS, &word.bare));
        words.iter().enumerate().any(|(at, word)| is_in(WAITING, &word.bare) && is_after(at))
    };
    let is_next = |words: &[Word<'_>]| words.first().is_some_and(|word| is_in(THEN, &word.bare));
    let free: Vec<usize> = (0..entries.len()).filter(|&index| !waits_for_others(&words[index]) && !is_next(&words[index])).collect();
    let needs = |index: usize| match &words[index] {
        entry if waits_for_others(entry) => free.clone(),
        entry if is_next(entry) => index.checked_sub(1).into_iter().collect(),
        _ => Vec::new(),
    };
    (0..entries.len()).map(needs).collect()
}

/// The text without quotation marks around it, and without a full stop.
fn clean(text: &str) -> String {
    unquote(text).trim_end_matches(['.', ';']).trim().to_owned()
}

fn unquote(text: &str) -> &str {
    let text = text.trim().trim_end_matches(',').trim_end();
    let pairs = [('"', '"'), ('“', '”'), ('„', '“'), ('\'', '\''), ('«', '»'), ('`', '`'), ('‘', '’')];
    let inner = pairs.iter().find_map(|(open, close)| text.strip_prefix(*open)?.strip_suffix(*close));
    inner.filter(|inner| !inner.is_empty()).unwrap_or(text).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 2] = ["Kelly", "Big Ear"];

    fn read(text: &str) -> Option<String> {
        let Request { wanted, owner } = parse_request(text, &NAMES)?;
        let wanted = match wanted {
            Wanted::One { what, how } if how.is_empty() => what,
            Wanted::One { what, how } => format!("{what} // {how}"),
            Wanted::Several(all) => all.join(" | "),
            Wanted::Pointed => "(this)".to_owned(),
            Wanted::Nothing => "(nothing)".to_owned(),
        };
        Some(owner.map_or(wanted.clone(), |owner| format!("{wanted} @ {owner}")))
    }

    #[test]
    fn what_is_to_be_done_stands_before_or_behind_the_backlog() {
        for text in [
            "add renew the certificate to the backlog",
            "Add \"renew the certificate\" to the backlog.",
            "kelly, add to the backlog: renew the certificate",
            "hey Kelly, please add this to our backlog: renew the certificate.",
            "<user:discord:7> can you add \"renew the certificate\" to the team's backlog, please?",
            "could you put renew the certificate on the backlog?",
            "Kelly add a new task to the backlog - renew the certificate",
            "add to the backlog renew the certificate",
            "add to the backlog\nrenew the certificate",
            "add to backlog: \"renew the certificate\"",
        ] {
            assert_eq!(read(text).as_deref(), Some("renew the certificate"), "{text}");
        }
    }

    #[test]
    fn other_languages_that_speak_of_a_backlog_are_read_too() {
        for (text, what) in [
            ("Kelly, füge \"Zertifikat erneuern\" zum Backlog hinzu", "Zertifikat erneuern"),
            ("kannst du bitte das Zertifikat ins Backlog aufnehmen?", ""),
            ("Nimm ins Backlog auf: Zertifikat erneuern", "Zertifikat erneuern"),
            ("setz Zertifikat erneuern auf das Backlog", "Zertifikat erneuern"),
            ("añade al backlog: renovar el certificado", "renovar el certificado"),
            ("Kelly, agrega renovar el certificado al backlog por favor", "renovar el certificado"),
            ("ajoute au backlog : renouveler le certificat", "renouveler le certificat"),
            ("peux-tu ajoute renouveler le certificat au backlog ?", "renouveler le certificat"),
            ("adicione renovar o certificado ao backlog", "renovar o certificado"),
            ("aggiungi al backlog: rinnovare il certificato", "rinnovare il certificato"),
            ("voeg certificaat vernieuwen toe aan het backlog", "certificaat vernieuwen"),
            ("добавь в бэклог: обновить сертификат", "обновить сертификат"),
            ("dodaj do backlogu: odnowić certyfikat", "odnowić certyfikat"),
        ] {
            assert_eq!(read(text).unwrap_or_default(), what, "{text}");
        }
    }

    #[test]
    fn an_owner_a_list_and_how_are_read() {
        assert_eq!(read("add renew the certificate to the backlog for Ann").as_deref(), Some("renew the certificate @ Ann"));
        assert_eq!(read("add to the backlog for Ann Lee: renew it").as_deref(), Some("renew it @ Ann Lee"));
        assert_eq!(read("add to the backlog for <user:discord:9>: renew it").as_deref(), Some("renew it @ <user:discord:9>"));
        assert_eq!(read("add \"renew it\" to the backlog for vince, please").as_deref(), Some("renew it @ vince"));
        assert_eq!(read("add these to the backlog:\n- renew it\n- tell Ann\n").as_deref(), Some("renew it | tell Ann"));
        assert_eq!(read("add two things to the backlog:\n1. renew it\n2) tell Ann").as_deref(), Some("renew it | tell Ann"));
        assert_eq!(read("add renew it to the backlog: it ends on Friday").as_deref(), Some("renew it // it ends on Friday"));
        assert_eq!(read("add this to the backlog: renew it\nby the CA's form").as_deref(), Some("renew it // by the CA's form"));
    }

    #[test]
    fn words_around_a_list_belong_to_its_entries_if_several_things_were_announced() {
        let letters = "add these to the backlog: letters to our three customers, each in its own tone\n- one to Bo\n- one to Cy\nThe tone is in tone.md.";
        assert_eq!(read(letters).as_deref(), Some("one to Bo | one to Cy"));
        let steps = "add to the backlog: move the server\n- pack it\n- drive";
        assert_eq!(read(steps).as_deref(), Some("move the server // - pack it\n- drive"));
    }

    #[test]
    fn the_entries_of_a_list_say_which_others_they_wait_for() {
        let order = |entries: &[&str]| find_order(&entries.iter().map(|entry| (*entry).to_owned()).collect::<Vec<_>>());
        assert_eq!(
            order(&["write a.md", "write b.md", "a cover note, once the other two are there", "then send all"]),
            [vec![], vec![], vec![0, 1], vec![2]]
        );
        assert_eq!(order(&["die Texte", "der Umschlag, sobald die anderen fertig sind"]), [vec![], vec![0]]);
        assert_eq!(order(&["after lunch: call Bo", "write it when Ann is back"]), [vec![0_usize; 0], vec![]]);
    }

    #[test]
    fn what_is_pointed_at_and_what_is_missing_are_told_apart() {
        assert_eq!(read("kelly, add this to the backlog").as_deref(), Some("(this)"));
        assert_eq!(read("can you put it on the backlog please?").as_deref(), Some("(this)"));
        assert_eq!(read("kelly, add to the backlog:").as_deref(), Some("(nothing)"));
        assert_eq!(read("add a task to the backlog").as_deref(), Some("(nothing)"));
    }

    #[test]
    fn questions_and_talk_about_the_backlog_are_none() {
        for text in [
            "what is in the backlog?",
            "kelly, what did we add to the backlog?",
            "did you add the certificate to the backlog?",
            "should we add it to the backlog?",
            "add it to the backlog?",
            "Bob, add it to the backlog",
            "I'd add that to the backlog",
            "can you add up what is in the backlog?",
            "don't add it to the backlog",
            "we add too much to the backlog",
            "add a column to the backlog table",
            "add the backlog to the report",
            "put the team on the backlog page and tell me",
            "the backlog: renew the certificate",
            "show the backlog",
            "add",
            "",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn a_due_date_at_the_end_is_read() {
        let is_time = |due: &str| ["Friday", "on Friday", "tomorrow at 9", "december", "1 december", "2 weeks"].contains(&due);
        for (what, due) in [
            ("renew the certificate by Friday", "Friday"),
            ("finish the report due by Friday", "Friday"),
            ("the report is due on Friday", "on Friday"),
            ("call Ann, by tomorrow at 9", "tomorrow at 9"),
            ("pay the bill by 1 december", "1 december"),
        ] {
            assert_eq!(find_due(what, is_time), Some(due), "{what}");
        }
        let none =
            ["walk by the river", "by Friday", "write the list by december", "stand by", "extend it by 2 weeks", "wait until Friday"];
        for what in none {
            assert_eq!(find_due(what, is_time), None, "{what}");
        }
    }
}
