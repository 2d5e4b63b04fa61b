//! How often the right message is among the first five: a year of a team's channels, and questions of which a third is worded differently.
//! With `--features sentence-model` and a folder in `TEAMROOM_SENTENCE_MODEL`, a real sentence model takes part.

use std::fmt::Write as _;

use chrono::NaiveDate;
use serde::Deserialize;

use super::*;
use crate::memory::{Origin, Teacher};

const FIRST: usize = 5;

#[derive(Deserialize)]
struct Said {
    id: String,
    at: NaiveDate,
    channel: String,
    by: String,
    text: String,
}

#[derive(Deserialize)]
struct Labelled {
    question: String,
    answer: String,
    #[serde(default)]
    reworded: bool,
}

fn read<T: serde::de::DeserializeOwned>(lines: &str) -> Vec<T> {
    lines.lines().map(|line| serde_json::from_str(line).expect("a line of the data")).collect()
}

/// Vectors of texts by meaning, and the least similarity. None: no model is there.
fn meanings(texts: &[String]) -> Option<(Vec<Vec<u8>>, f32)> {
    #[cfg(feature = "sentence-model")]
    {
        let folder = std::env::var_os("TEAMROOM_SENTENCE_MODEL")?;
        let model = crate::memory::local_model::LocalModel::read(std::path::Path::new(&folder)).expect("the folder has a model");
        let meaning = Meaning::new(Arc::new(model));
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        runtime.block_on(async {
            let (_, least) = meaning.ask("warm up", true).await.expect("the model answers");
            Some((meaning.embed(texts, std::time::Duration::from_secs(600)).await.expect("the model answers"), least))
        })
    }
    #[cfg(not(feature = "sentence-model"))]
    {
        let _ = texts;
        None
    }
}

fn build(messages: &[Said], vectors: Option<&[Vec<u8>]>) -> Index {
    let mut index = Index::default();
    for (position, said) in messages.iter().enumerate() {
        let by = Teacher { id: Some(said.by.to_lowercase().into()), name: said.by.clone() };
        let origin = Origin { by, channel: said.channel.clone().into(), channel_name: said.channel.clone(), part: None };
        let entry = Entry {
            number: i64::try_from(position).expect("few messages"),
            kind: MemoryKind::Conversation,
            persona: None,
            place: None,
            person: Some(origin.by),
            message: None,
            at: said.at.and_time(chrono::NaiveTime::MIN).and_utc(),
            significance: 0.2,
            is_live: true,
            words: to_store(&said.text),
            hashed: Vector::of(&said.text).to_bytes(),
            meaning: vectors.map(|vectors| ("model".to_owned(), vectors[position].clone())),
        };
        index.set(&entry, Some("model"));
    }
    index
}

/// The ways of searching that one row of the table measures.
#[derive(Clone, Copy)]
struct Ways {
    words: bool,
    letters: bool,
    meaning: bool,
}

#[test]
fn joined_ways_find_more_than_each_alone() {
    let messages: Vec<Said> = read(include_str!("../../../../../tests/data/recall/messages.jsonl"));
    let questions: Vec<Labelled> = read(include_str!("../../../../../tests/data/recall/questions.jsonl"));
    let reworded = questions.iter().filter(|question| question.reworded).count();
    assert!(questions.len() >= 200 && reworded * 3 >= questions.len(), "{} questions, {reworded} reworded", questions.len());
    let texts: Vec<String> =
        messages.iter().map(|said| said.text.clone()).chain(questions.iter().map(|asked| asked.question.clone())).collect();
    let vectors = meanings(&texts);
    let index = build(&messages, vectors.as_ref().map(|(vectors, _)| &vectors[..messages.len()]));
    let all: Vec<i64> = (0..).take(messages.len()).collect();
    let measure = |ways: Ways| -> (usize, usize) {
        let (mut right, mut right_reworded) = (0, 0);
        for (position, labelled) in questions.iter().enumerate() {
            let asked = Recall::new(&labelled.question, &Scope::TEAM, FIRST).everything();
            let question = Question::parse(&asked, &index);
            let meaning =
                vectors.as_ref().filter(|_| ways.meaning).map(|(vectors, least)| (vectors[messages.len() + position].clone(), *least));
            let letters = ways.letters.then(|| Vector::of(&labelled.question).to_bytes());
            let search = Search {
                question: &question,
                admission: &index.admission(&asked),
                letters: letters.as_deref(),
                meaning: meaning.as_ref(),
                is_loose: true,
            };
            let found = index.rank(&search, &index.find_near(&search), if ways.words { &all } else { &[] });
            let is_right = found.iter().take(FIRST).any(|number| messages[usize::try_from(*number).unwrap()].id == labelled.answer);
            right += usize::from(is_right);
            right_reworded += usize::from(is_right && labelled.reworded);
        }
        (right, right_reworded)
    };
    let ways = |words, letters, meaning| Ways { words, letters, meaning };
    let (words, letters, both) = (measure(ways(true, false, false)), measure(ways(false, true, false)), measure(ways(true, true, false)));
    let mut rows = vec![("words alone", words), ("letters alone", letters), ("words and letters", both)];
    assert!(both.0 >= words.0.max(letters.0), "{rows:?}");
    assert!(both.0 * 100 >= questions.len() * 60, "{rows:?}");
    if vectors.is_some() {
        let (meaning, joined) = (measure(ways(false, false, true)), measure(ways(true, true, true)));
        rows.extend([("sentence model alone", meaning), ("all joined", joined)]);
        assert!(joined.0 >= both.0.max(meaning.0), "{rows:?}");
    }
    let mut table = format!("\n{:<22} {:>9} {:>9}\n", format!("of {}", questions.len()), "all", "reworded");
    for (name, (right, right_reworded)) in rows {
        #[expect(clippy::cast_precision_loss, reason = "shares of a few hundred")]
        let share = |part: usize, of: usize| part as f64 * 100.0 / of as f64;
        let _ = writeln!(table, "{name:<22} {:>7.1} % {:>7.1} %", share(right, questions.len()), share(right_reworded, reworded));
    }
    println!("{table}");
}
