//! Detects the intent of a question from its words. The first matching rule wins.

use crate::agent::SpeechAct;
use crate::ids::PersonaSlug;
use crate::memory::retrieval::{Query, cut, terms_of, words_of};
use crate::persona::Persona;
use crate::persona::roster::Roster;
use crate::text::without_invisible;
use crate::time::Today;
use crate::when::{TimeRange, find_range};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Intent {
    Greeting,
    Thanks,
    /// Who is on the team?
    Team,
    /// What can you do?
    Help,
    /// What did it cost?
    Costs,
    /// What happened?
    Changes,
    /// What is in this file?
    Outline,
    /// An opinion, a choice or a forecast, which a search cannot answer.
    Judgement,
    /// Anything that a document or a feed might answer.
    Question,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Understood {
    pub intent: Intent,
    /// The time range in the question.
    pub range: Option<TimeRange>,
    /// The subject, without the words used for `intent` and `range`.
    pub topic: Query,
    /// The whole question without names and the range.
    pub whole: Query,
    /// The question asks for an action other than looking something up: "send an email".
    pub wants_deed: bool,
    /// It says nothing but names: "kelly?".
    pub only_calls: bool,
    /// It says nothing but a range: "and last week?".
    pub only_range: bool,
}

#[rustfmt::skip]
const GREETINGS: &[&str] = &[
    "hello", "hey", "hi", "hiya", "howdy", "morning", "evening", "afternoon", "yo", "ping", "greetings",
    "hallo", "guten", "gutn", "moin", "servus", "grüezi", "salü", "grüß", "grüss", "tach", "mahlzeit",
    "salut", "bonjour", "bonsoir", "coucou", "hola", "buenas", "buenos", "olá", "ola", "oi", "bom", "boa", "ciao", "buongiorno", "buonasera", "salve",
    "hoi", "goedemorgen", "goedendag", "hej", "hejsan", "godmorgon", "moi", "hei", "cześć", "ahoj", "szia", "merhaba", "selam", "günaydın",
    "привет", "здравствуйте", "добрый", "доброе", "привіт", "γεια", "שלום", "مرحبا", "السلام", "नमस्ते",
    "おはよう", "おはようございます", "こんにちは", "こんばんは", "你好", "您好", "大家好", "早上好", "早安", "안녕", "안녕하세요",
];
#[rustfmt::skip]
const GREETING_FILLERS: &[&str] = &[
    "good", "there", "all", "team", "everyone", "everybody", "you", "again", "to", "day", "folks", "guys",
    "morgen", "tag", "abend", "mittag", "gott", "dich", "euch", "zusammen", "alle", "allen", "allerseits", "miteinander", "leute", "liebe", "liebes",
    "à", "a", "tous", "toutes", "et", "le", "la", "les", "monde", "tout", "léquipe", "lequipe", "équipe", "equipe", "amis",
    "días", "dias", "tardes", "noches", "todos", "todas", "equipo", "dia", "tarde", "noite", "pessoal", "tutti", "squadra", "giorno", "di", "nuovo",
    "allemaal", "iedereen", "alla", "kaikki", "wszystkim", "herkese", "день", "утро", "вечер", "всем", "команда",
    "عليكم", "みんな", "皆さん", "みなさん", "さん", "ちゃん", "여러분",
];
/// Whether somebody is there: "anyone here?", "are you still there?".
const SOMEBODY: &[&str] = &["anyone", "anybody", "somebody", "someone", "you"];
const PRESENT: &[&str] = &["here", "there", "awake", "around", "online"];
const PRESENCE_FILLERS: &[&str] = &["is", "are", "still", "hello", "hi", "hey", "all"];
const THANKS: &[&str] = &["thanks", "thank", "thx", "cheers"];
const THANKS_FILLERS: &[&str] =
    &["you", "a", "lot", "very", "much", "so", "all", "team", "everyone", "great", "nice", "work", "job", "that", "helped"];
const COSTS: &[&str] = &["cost", "costs", "spend", "spent", "spending", "budget", "bill", "ledger", "expensive", "tokens"];
const CHANGES: &[&str] = &[
    "activity",
    "change",
    "changed",
    "changelog",
    "changes",
    "commit",
    "commits",
    "committed",
    "done",
    "going",
    "happen",
    "happened",
    "happening",
    "new",
    "news",
    "progress",
    "release",
    "released",
    "releases",
    "report",
    "ship",
    "shipped",
    "standup",
    "status",
    "update",
    "updates",
];
const OUTLINE: &[&str] = &["summarise", "summarize", "summary", "outline", "overview", "tldr"];
/// Verbs that ask for information, besides outline verbs and stop words.
const LOOKING_UP: &[&str] =
    &["answer", "check", "describe", "go", "help", "list", "quote", "read", "report", "see", "search", "speak", "talk"];
/// Places of changes. They are not a subject in a question about changes.
const SURROUNDINGS: &[&str] = &[
    "around",
    "branch",
    "branches",
    "code",
    "codebase",
    "daily",
    "git",
    "here",
    "last",
    "lately",
    "latest",
    "main",
    "project",
    "recent",
    "recently",
    "repo",
    "repository",
    "tags",
    "team",
    "today",
    "week",
    "work",
    "world",
];

/// Whether a passage with these stems is about money that the question asks about.
pub(super) fn names_costs(query: &Query, said: &[String]) -> bool {
    let costs: Vec<String> = COSTS.iter().flat_map(|word| terms_of(word)).collect();
    query.terms.iter().any(|(term, _)| costs.contains(term) && said.contains(term))
}

/// Longer text is pasted; the question comes first.
const MAX_CHARS: usize = 2000;

/// Interprets a question to `persona`.
pub(super) fn understand(text: &str, act: SpeechAct, persona: &Persona, roster: &Roster, today: Today) -> Understood {
    let mut words = words_said(text, roster);
    let range = find_range(&words, today).map(|(range, taken)| {
        words.drain(taken);
        range
    });
    let intent = intent_of(&words, range.is_some());
    let mut ignored: Vec<String> = roster.personas().iter().flat_map(|p| words_of(&p.name)).collect();
    ignored.extend(words_of(&persona.name));
    let whole = Query::parse(&words.join(" "), &ignored);
    ignored.extend(words_used_up(intent).map(str::to_owned));
    let only_calls = words.is_empty() && range.is_none();
    let only_range = range.is_some() && only_joins(&words);
    let wants_deed = asks_for_deed(&words, act, intent);
    ignored.extend(find_verb(&words, act).filter(|verb| looks_up(verb)).map(str::to_owned));
    Understood { wants_deed, intent, topic: Query::parse(&words.join(" "), &ignored), whole, range, only_calls, only_range }
}

/// Whether a text asks for an action other than looking something up: "send an email", but not "summarise it".
pub fn wants_deed(text: &str, act: SpeechAct, roster: &Roster) -> bool {
    let words = words_said(text, roster);
    asks_for_deed(&words, act, intent_of(&words, false))
}

/// Whether a text to a persona only greets, or asks whether somebody is there. The persona may be called by its name.
pub fn only_greets(text: &str, persona: &PersonaSlug) -> bool {
    let called = words_of(persona.as_str());
    let mut words = words_of(&cut(&without_invisible(text), MAX_CHARS));
    words.retain(|word| !called.contains(word));
    intent_of(&words, false) == Intent::Greeting
}

/// Without the names of personas.
fn words_said(text: &str, roster: &Roster) -> Vec<String> {
    let mut words = words_of(&cut(&without_invisible(text), MAX_CHARS));
    words.retain(|word| roster.find_named(word).is_none());
    words
}

fn asks_for_deed(words: &[String], act: SpeechAct, intent: Intent) -> bool {
    find_verb(words, act).is_some_and(|verb| !looks_up(verb)) && matches!(intent, Intent::Question | Intent::Judgement)
}

fn intent_of(words: &[String], has_range: bool) -> Intent {
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let only =
        |list: &[&str], fillers: &[&str]| has(list) && words.iter().all(|w| list.contains(&w.as_str()) || fillers.contains(&w.as_str()));
    let says = |phrase: &str| format!(" {} ", words.join(" ")).contains(&format!(" {phrase} "));
    let asks_who_is_there = has(SOMEBODY)
        && has(PRESENT)
        && words.iter().all(|w| [SOMEBODY, PRESENT, PRESENCE_FILLERS].iter().any(|l| l.contains(&w.as_str())));
    if only(GREETINGS, GREETING_FILLERS) || asks_who_is_there || asks_how_one_is(words) {
        Intent::Greeting
    } else if only(THANKS, THANKS_FILLERS) {
        Intent::Thanks
    } else if [
        "who is on the team",
        "whos on the team",
        "who is here",
        "who are you",
        "introduce yourself",
        "introduce yourselves",
        "who is who",
    ]
    .iter()
    .any(|phrase| says(phrase))
    {
        Intent::Team
    } else if only(&["help"], &["me", "please", "i", "need"])
        || ["can you do", "do you do", "can you help", "can i ask", "how do you work"].iter().any(|phrase| says(phrase))
    {
        Intent::Help
    } else if has(COSTS) {
        Intent::Costs
    } else if is_judgement(words, says) {
        Intent::Judgement
    } else if has(OUTLINE) && (has_range || (has(&["what", "whats"]) && has(CHANGES))) {
        Intent::Changes
    } else if has(OUTLINE) || ["what is in", "whats in", "this about", "it about"].iter().any(|phrase| says(phrase)) {
        Intent::Outline
    } else if has(CHANGES) || (has_range && only_joins(words)) {
        Intent::Changes
    } else {
        Intent::Question
    }
}

/// The verb of a request: "kelly, please send …", "could you send …".
fn find_verb(words: &[String], act: SpeechAct) -> Option<&str> {
    let asks_you = |pair: &[String]| ["can", "could", "would", "will"].contains(&pair[0].as_str()) && pair[1] == "you";
    let at = match words.windows(2).position(asks_you) {
        Some(at) => at + 2,
        None if act == SpeechAct::Request => 0,
        None => return None,
    };
    words[at..].iter().map(String::as_str).find(|word| !["please", "kindly", "just", "also", "and", "now", "ok", "hey"].contains(word))
}

/// Whether a verb asks for information.
fn looks_up(verb: &str) -> bool {
    LOOKING_UP.contains(&verb) || OUTLINE.contains(&verb) || Query::parse(verb, &[]).terms.is_empty()
}

/// Whether the words only connect to the question before: "and … ?".
fn only_joins(words: &[String]) -> bool {
    words.iter().all(|word| ["and", "what", "how", "about", "for", "the", "in"].contains(&word.as_str()))
}

/// "How are you?", "are you ready?": a few words with at most one search term.
fn asks_how_one_is(words: &[String]) -> bool {
    let speaks = words.windows(2).any(|pair| pair[0] == "are" && pair[1] == "you");
    speaks && words.len() <= 5 && Query::parse(&words.join(" "), &[]).terms.len() <= 1
}

fn is_judgement(words: &[String], says: impl Fn(&str) -> bool) -> bool {
    let asks_both = |a: &[&str], b: &[&str]| [a, b].iter().all(|list| words.iter().any(|word| list.contains(&word.as_str())));
    // "Is that a lot?" is about what was said before.
    let evaluates = |pair: &[String]| {
        ["is", "was", "are", "were"].contains(&pair[0].as_str()) && ["that", "this", "it", "these", "those"].contains(&pair[1].as_str())
    };
    words.get(..2).is_some_and(evaluates)
        || asks_both(&["which", "who"], &["right", "wrong", "best", "better"])
        || asks_both(&["you", "your"], &["think", "opinion", "view", "agree", "believe", "recommend", "prefer", "feel", "guess"])
        || ["which of you", "should we", "should i", "shall we", "how likely", "will it", "will we", "what if"]
            .iter()
            .any(|phrase| says(phrase))
}

fn words_used_up(intent: Intent) -> impl Iterator<Item = &'static str> {
    let lists: &[&[&str]] = match intent {
        Intent::Changes => &[CHANGES, SURROUNDINGS, OUTLINE],
        Intent::Costs => &[
            COSTS,
            &[
                "all", "by", "detail", "details", "each", "list", "me", "model", "models", "money", "much", "persona", "show", "team",
                "tell", "think", "total",
            ],
        ],
        Intent::Outline => &[OUTLINE],
        Intent::Judgement => {
            &[&["think", "opinion", "view", "agree", "believe", "recommend", "prefer", "feel", "guess", "right", "wrong", "best", "better"]]
        }
        _ => &[],
    };
    lists.iter().flat_map(|list| list.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::feeds::today;
    use crate::testing::persona::roster;

    fn understood(text: &str) -> Understood {
        let roster = roster();
        understand(text, SpeechAct::Other, roster.coordinator(), &roster, today())
    }

    #[test]
    fn a_text_only_greets_or_asks_for_something() {
        for text in ["Kelly", "hello kelly, what is new?", "kelly, thanks"] {
            assert!(!only_greets(text, &"kelly".into()), "{text}");
        }
        for text in ["Hello Kelly!", "hola kelly", "kelly, are you there?", "good morning team"] {
            assert!(only_greets(text, &"kelly".into()), "{text}");
        }
    }

    #[test]
    fn questions_are_understood_by_their_words() {
        for (text, intent) in [
            ("hello!", Intent::Greeting),
            ("good morning team", Intent::Greeting),
            ("hey Vince", Intent::Greeting),
            ("hola kelly", Intent::Greeting),
            ("guten Morgen zusammen", Intent::Greeting),
            ("Guten Abend, Vince!", Intent::Greeting),
            ("salut l'équipe", Intent::Greeting),
            ("bonjour à tous", Intent::Greeting),
            ("buenos días kelly", Intent::Greeting),
            ("ciao Kelly", Intent::Greeting),
            ("おはよう kelly", Intent::Greeting),
            ("kelly さん、おはようございます", Intent::Greeting),
            ("你好 kelly", Intent::Greeting),
            ("привет всем", Intent::Greeting),
            ("guten Morgen, wann kommt der Kran?", Intent::Question),
            ("hola, ¿cuándo llega la grúa?", Intent::Question),
            ("thanks a lot", Intent::Thanks),
            ("who is on the team?", Intent::Team),
            ("kelly, are you still there?", Intent::Greeting),
            ("anyone here?", Intent::Greeting),
            ("is the file there?", Intent::Question),
            ("vince, are you ready?", Intent::Greeting),
            ("how are you today, Kelly?", Intent::Greeting),
            ("are you aware of the merger?", Intent::Question),
            ("could you summarise what changed this week, eliza?", Intent::Changes),
            ("summarise the release notes", Intent::Outline),
            ("is that a lot?", Intent::Judgement),
            ("what can you do?", Intent::Help),
            ("help", Intent::Help),
            ("vince, what did we spend this week?", Intent::Costs),
            ("vince, list all costs in detail", Intent::Costs),
            ("What do you think about our costs?", Intent::Costs),
            ("sentinel, what happened this week?", Intent::Changes),
            ("Sentinel: what's new?", Intent::Changes),
            ("and last week?", Intent::Changes),
            ("which of you is right?", Intent::Judgement),
            ("what do you think about zombies?", Intent::Judgement),
            ("should we ship it?", Intent::Judgement),
            ("summarise this", Intent::Outline),
            ("why were zombie steps a problem?", Intent::Question),
            ("hey, why were zombie steps a problem?", Intent::Question),
            ("", Intent::Question),
        ] {
            assert_eq!(understood(text).intent, intent, "{text}");
        }
    }

    #[test]
    fn names_times_and_the_asking_itself_are_no_topic() {
        for text in
            ["sentinel, what happened this week?", "what's new in the repo since monday", "any updates?", "what did we spend today?"]
        {
            assert!(understood(text).topic.is_empty(), "{text}: {:?}", understood(text).topic);
        }
        let topic = understood("sentinel, what changed with the soft stop this week?").topic;
        assert_eq!(topic.terms.iter().map(|(term, _)| term.as_str()).collect::<Vec<_>>(), ["soft", "stop"]);
    }

    #[test]
    fn to_do_something_is_told_from_looking_something_up() {
        let roster = roster();
        let wants = |text: &str, act| wants_deed(text, act, &roster);
        for text in ["kelly, add it to the backlog", "please send an email to Ann", "remember that the crane is blue"] {
            assert!(wants(text, SpeechAct::Request), "{text}");
        }
        assert!(wants("kelly, can you call the printer?", SpeechAct::Question));
        for text in
            ["kelly, show me the plan", "search for the port strike", "vince, list all costs", "summarise the plan", "kelly, report"]
        {
            assert!(!wants(text, SpeechAct::Request), "{text}");
        }
        for text in ["could you tell me who did it?", "what does the plan say?", "can you look at the costs?"] {
            assert!(!wants(text, SpeechAct::Question), "{text}");
        }
    }

    #[test]
    fn hidden_characters_change_nothing() {
        assert_eq!(understood("wh\u{200b}at happened th\u{200d}is week?"), understood("what happened this week?"));
    }
}
