//! The insights of personas that look back, and whether the run supports them. Pure.

use std::collections::{BTreeSet, HashSet};
use std::fmt;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use kernel::ids::{ChannelId, MeetingId, OutboxId, PersonaSlug, WorkItemId};
use kernel::memory::retrieval::terms_of;
use kernel::persona::roster::Roster;
use kernel::text::tokens::{is_capital, shows_names, tokens};
use kernel::text::{Shingles, fold_name, one_line};

/// The most insights of one persona, and the most words of one (OVER-3).
pub const MOST: usize = 3;
const WORDS: usize = 200;
/// The maximum length of a task.
const TASK: usize = 300;

/// Insights whose wording is this similar are about the same theme.
const THEME: f64 = 0.45;

/// The same in other words: the significant words in common, their share of the shorter text, and their share of both.
const COMMON: usize = 2;
const OF_SHORTER: f64 = 0.4;
const OF_BOTH: f64 = 0.2;

/// The subject of a look back. Stored as one word.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Subject {
    /// The item of a mission.
    Mission(WorkItemId),
    Meeting(MeetingId),
}

const MEETING: &str = "meeting:";

impl From<String> for Subject {
    fn from(word: String) -> Self {
        match word.strip_prefix(MEETING) {
            Some(meeting) => Self::Meeting(meeting.into()),
            None => Self::Mission(word.into()),
        }
    }
}

impl From<Subject> for String {
    fn from(subject: Subject) -> Self {
        subject.to_string()
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mission(item) => f.write_str(item.as_str()),
            Self::Meeting(meeting) => write!(f, "{MEETING}{meeting}"),
        }
    }
}

/// A run that is over, in the form in which personas look back at it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LookBack {
    pub subject: Subject,
    /// The kind in one word: `mission`, `standup`.
    #[serde(default = "mission")]
    pub kind: String,
    pub title: String,
    /// The request, the actions or statements of each participant, the result and the cost, as text.
    pub digest: String,
    /// Who took part.
    pub personas: Vec<PersonaSlug>,
    pub channel: ChannelId,
    pub private_to: Option<ChannelId>,
    /// The message on which the thread hangs. None: in the channel.
    pub opening: Option<OutboxId>,
    /// When it ended. A mission that is tried again ends more than once.
    pub ended_at: DateTime<Utc>,
}

/// Jobs of earlier versions are about missions.
fn mission() -> String {
    "mission".to_owned()
}

impl LookBack {
    /// Identifies this end of the run in messages and rows.
    pub fn key(&self) -> String {
        key_of(&self.subject, self.ended_at)
    }
}

pub fn key_of(subject: &Subject, ended_at: DateTime<Utc>) -> String {
    format!("{subject}-{}", ended_at.timestamp())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InsightKind {
    /// What one did works against what another did.
    CrossConcern,
    /// It happens again and again.
    Pattern,
    /// How the team worked.
    Process,
    /// The result moves away from what was asked for.
    Drift,
    Risk,
    /// No tension.
    None,
}

impl InsightKind {
    pub const ALL: [Self; 6] = [Self::CrossConcern, Self::Pattern, Self::Process, Self::Drift, Self::Risk, Self::None];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::CrossConcern => "cross-concern",
            Self::Pattern => "pattern",
            Self::Process => "process",
            Self::Drift => "drift",
            Self::Risk => "risk",
            Self::None => "none",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// What a persona gives, not checked yet.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Given {
    /// At most three. None at all if you see no tension.
    #[serde(default)]
    pub insights: Vec<GivenInsight>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct GivenInsight {
    /// The name of the persona to whom it matters, or "team".
    pub to: String,
    pub kind: InsightKind,
    /// At most 200 words.
    pub message: String,
    /// What somebody should do about it, as a task in one sentence. Null if nobody can do anything.
    #[serde(default)]
    pub task: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Insight {
    pub id: String,
    pub subject: Subject,
    pub title: String,
    pub by: PersonaSlug,
    /// None: the team.
    pub to: Option<PersonaSlug>,
    pub kind: InsightKind,
    pub text: String,
    /// Somebody can do something about it.
    pub actionable: bool,
    /// What to do about it. Insights of earlier versions have none.
    pub task: Option<String>,
    /// Everything that the insight names occurs in the run. Other insights are not told to later plans (OVER-4).
    pub supported: bool,
    pub private_to: Option<ChannelId>,
    /// The item that was made of the insight.
    pub item: Option<WorkItemId>,
    pub at: DateTime<Utc>,
}

impl Insight {
    /// The key of its look back: see [`LookBack::key`].
    pub fn run_key(&self) -> Option<&str> {
        let (run, _) = self.id.rsplit_once('-')?;
        run.strip_suffix(self.by.as_str())?.strip_suffix('-')
    }
}

/// Makes insights of a persona's answer, within the limits. An empty answer or a single `none` becomes an insight of the kind "no tension".
pub fn read_given(given: &Given, by: &PersonaSlug, run: &LookBack, roster: &Roster, at: DateTime<Utc>) -> Vec<Insight> {
    let insight = |kind: InsightKind, given: Option<&GivenInsight>| {
        let text = given.map_or_else(String::new, |given| cut_words(&given.message));
        let task = given.and_then(|given| given.task.as_deref()).map(|task| one_line(task, TASK)).filter(|task| !task.is_empty());
        let said = format!("{text}\n{}", task.as_deref().unwrap_or_default());
        Insight {
            id: String::new(),
            subject: run.subject.clone(),
            title: run.title.clone(),
            by: by.clone(),
            to: given.and_then(|given| roster.find_named(&fold_name(&given.to))).map(|persona| persona.slug.clone()).filter(|to| to != by),
            kind,
            actionable: task.is_some(),
            supported: find_unsupported(&said, &run.digest, roster).is_empty(),
            text,
            task,
            private_to: run.private_to.clone(),
            item: None,
            at,
        }
    };
    let seen = given.insights.iter().filter(|given| given.kind != InsightKind::None && !given.message.trim().is_empty());
    let mut insights: Vec<Insight> = seen.take(MOST).map(|given| insight(given.kind, Some(given))).collect();
    if insights.is_empty() {
        insights.push(insight(InsightKind::None, None));
    }
    for (number, insight) in insights.iter_mut().enumerate() {
        insight.id = format!("{}-{by}-{number}", run.key());
    }
    insights
}

fn cut_words(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let cut = words.iter().take(WORDS).copied().collect::<Vec<_>>().join(" ");
    one_line(&if words.len() > WORDS { format!("{cut}…") } else { cut }, 1800)
}

/// The files, numbers and names in an insight that do not occur in the run.
pub fn find_unsupported(text: &str, digest: &str, roster: &Roster) -> Vec<String> {
    let there: HashSet<String> = tokens(digest).map(|(token, _)| token.to_lowercase()).collect();
    let words: Vec<(&str, bool)> = tokens(text).collect();
    let names_show = shows_names(&words);
    let is_known = |word: &str| {
        let word = word.to_lowercase();
        there.contains(&word) || roster.find_named(&word).is_some() || there.contains(word.trim_end_matches("'s").trim_end_matches("’s"))
    };
    let names_something = |(word, first): &(&str, bool)| {
        let has_digit = word.contains(|c: char| c.is_numeric());
        // An abbreviation such as "e.g." names no file.
        let is_file = word
            .rsplit_once('.')
            .is_some_and(|(name, ending)| name.len() > 1 && ending.len() > 1 && ending.chars().all(char::is_alphanumeric));
        has_digit || is_file || (names_show && !first && is_capital(word))
    };
    let found: BTreeSet<String> =
        words.iter().filter(|word| names_something(word) && !is_known(word.0)).map(|(word, _)| (*word).to_owned()).collect();
    found.into_iter().collect()
}

/// A theme that comes up in several runs (OVER-6).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trend {
    /// Its last wording.
    pub text: String,
    pub kind: InsightKind,
    /// The number of runs in which it came up.
    pub count: usize,
    pub last_seen: DateTime<Utc>,
    /// An item made of it is done, and the theme has not come up since.
    pub resolved: bool,
}

/// Themes of at least two runs, the most frequent first. `done` gives the time at which the item of an insight was done.
pub fn find_trends(insights: &[Insight], done: impl Fn(&WorkItemId) -> Option<DateTime<Utc>>) -> Vec<Trend> {
    let mut themes: Vec<Vec<(Wording, &Insight)>> = Vec::new();
    let mut usable: Vec<&Insight> = insights.iter().filter(|insight| insight.supported && insight.kind != InsightKind::None).collect();
    usable.sort_by_key(|insight| insight.at);
    for insight in usable {
        let wording = Wording::of(&insight.text);
        // Two personas word one theme differently, so that a third may be like one of them only.
        match themes.iter_mut().find(|theme| theme.iter().any(|(known, _)| known.is_about_the_same(&wording))) {
            Some(theme) => theme.push((wording, insight)),
            None => themes.push(vec![(wording, insight)]),
        }
    }
    let trend = |theme: Vec<(Wording, &Insight)>| {
        let members: Vec<&Insight> = theme.into_iter().map(|(_, insight)| insight).collect();
        let runs: HashSet<&Subject> = members.iter().map(|insight| &insight.subject).collect();
        let last = *members.last()?;
        let solved = members.iter().filter_map(|insight| done(insight.item.as_ref()?)).max();
        (runs.len() > 1).then(|| Trend {
            text: last.text.clone(),
            kind: last.kind,
            count: runs.len(),
            last_seen: last.at,
            resolved: solved.is_some_and(|solved| solved > last.at),
        })
    };
    let mut trends: Vec<Trend> = themes.into_iter().filter_map(trend).collect();
    trends.sort_by_key(|trend| (trend.resolved, std::cmp::Reverse(trend.count), std::cmp::Reverse(trend.last_seen)));
    trends
}

/// What an insight says, for comparison with others.
struct Wording {
    shingles: Shingles,
    terms: BTreeSet<String>,
}

impl Wording {
    fn of(text: &str) -> Self {
        Self { shingles: Shingles::of(text), terms: terms_of(text).into_iter().collect() }
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of words are far below 2^52")]
    fn is_about_the_same(&self, other: &Self) -> bool {
        let common = self.terms.intersection(&other.terms).count();
        let share = |of: usize| if of == 0 { 0.0 } else { common as f64 / of as f64 };
        let in_other_words = common >= COMMON
            && share(self.terms.len().min(other.terms.len())) >= OF_SHORTER
            && share(self.terms.len() + other.terms.len() - common) >= OF_BOTH;
        in_other_words || self.shingles.similarity(&other.shingles) >= THEME
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::testing::persona::roster;

    const DIGEST: &str = "Mission \"Tea shop\": 3 steps, $0.42 of $1.00. Step 1 \"Describe the cart\" by Vince: done after 2 attempts, files cart.md. \
         Rejected: the prices are missing. Step 2 \"Describe the payment\" by Solus: done, files payment.md.";

    #[test]
    fn what_occurs_in_the_run_is_supported() {
        let roster = roster();
        for text in [
            "The cart took 2 attempts because prices came late; next time ask for prices first.",
            "cart.md and payment.md name the sum differently.",
            "Vince and Solus described the same total twice.",
            "It went well. Nobody waited.",
            "The prices, e.g. of the cart, came late (i.e. after it was described).",
            "Die Preise im Warenkorb und in der Zahlung haben verschiedene Namen.",
        ] {
            assert_eq!(find_unsupported(text, DIGEST, &roster), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn two_hundred_insights_with_invented_names_files_and_numbers_are_all_marked() {
        let roster = roster();
        let inventions =
            ["7 attempts", "14 days", "stock.md", "checkout.rs", "92 %", "Barbara", "step 12", "$9.99", "Zurich", "report-final.pdf"];
        let frames = [
            "The team lost time because of {} in the end.",
            "next time, look at {} before the cart is described",
            "Prices were late, and {} was never mentioned again.",
            "I would rather have known about {} from the beginning.",
            "The payment and {} do not fit each other.",
        ];
        let mut marked = 0;
        for round in 0..4 {
            for (number, invention) in inventions.iter().enumerate() {
                for frame in frames {
                    let text = frame.replace("{}", invention);
                    let more = if (round + number) % 2 == 0 { " It was quick." } else { "" };
                    let found = find_unsupported(&format!("{text}{more}"), DIGEST, &roster);
                    assert!(!found.is_empty(), "{text}");
                    marked += 1;
                }
            }
        }
        assert_eq!(marked, 200);
    }

    fn insight(subject: &str, text: &str, at: i64, item: Option<&str>) -> Insight {
        Insight {
            id: format!("{subject}-{at}"),
            subject: subject.to_owned().into(),
            title: subject.to_owned(),
            by: "vince".into(),
            to: None,
            kind: InsightKind::Process,
            text: text.to_owned(),
            actionable: true,
            task: None,
            supported: true,
            private_to: None,
            item: item.map(WorkItemId::new),
            at: DateTime::from_timestamp(at, 0).unwrap(),
        }
    }

    #[test]
    fn themes_that_come_up_again_are_trends_and_those_that_were_solved_say_so() {
        let late = "Prices came late, so the cart was described twice.";
        let all = [
            insight("a", late, 100, None),
            insight("a", "Prices came late, so the cart was described again.", 101, None),
            insight("b", "Prices came late again, so the cart was described twice.", 200, Some("item")),
            insight("b", "Nobody has asked what invoices need.", 201, None),
        ];
        let trends = find_trends(&all, |_| None);
        assert_eq!(trends.len(), 1, "{trends:#?}");
        assert_eq!((trends[0].count, trends[0].resolved), (2, false));
        assert!(find_trends(&all, |_| DateTime::from_timestamp(300, 0))[0].resolved);
        assert!(!find_trends(&all, |_| DateTime::from_timestamp(150, 0))[0].resolved);
    }

    #[test]
    fn a_theme_is_known_in_other_words() {
        let all = [
            insight("a", "Prices came late, so the cart was described twice.", 100, None),
            insight("b", "We described the cart a second time because the prices were missing at the start.", 200, None),
            insight("c", "The cart had to be redone: nobody had the prices when we began.", 300, None),
            insight("a", "The reviewer rejected the letter because it had no sources.", 101, None),
            insight("b", "Approvals waited two hours for Dana, who was away.", 201, None),
            insight("c", "The tests were written before there was any data.", 301, None),
        ];
        let trends = find_trends(&all, |_| None);
        assert_eq!(trends.iter().map(|trend| trend.count).collect::<Vec<_>>(), [3], "{trends:#?}");
        assert!(trends[0].text.starts_with("The cart had to be redone"));
    }

    #[test]
    fn at_most_three_are_kept_and_none_is_no_tension() {
        let roster = roster();
        let run = LookBack {
            subject: "m".to_owned().into(),
            kind: mission(),
            title: "Tea".into(),
            digest: DIGEST.to_owned(),
            personas: Vec::new(),
            channel: "10".into(),
            private_to: None,
            opening: None,
            ended_at: DateTime::UNIX_EPOCH,
        };
        let given = |count: usize| Given {
            insights: (0..count)
                .map(|_| GivenInsight { to: "Solus".into(), kind: InsightKind::Risk, message: "word ".repeat(300), task: None })
                .collect(),
        };
        let read = |given: Given| read_given(&given, &"vince".into(), &run, &roster, DateTime::UNIX_EPOCH);
        let insights = read(given(5));
        assert_eq!(insights.len(), MOST);
        assert!(insights.iter().all(|insight| insight.text.split_whitespace().count() <= WORDS && insight.to == Some("solus".into())));
        let none = read(given(0));
        assert_eq!((none.len(), none[0].kind), (1, InsightKind::None));
    }
}
