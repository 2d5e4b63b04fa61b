//! The pictures that an endpoint refuses. They are left out of later questions as long as the process runs.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;

use crate::llm::{ModelRequest, Picture};
use crate::text::join_with_and;

/// Limit of what is remembered for an endpoint. The oldest is forgotten first.
const REMEMBERED: usize = 200;

/// Pictures that were refused, by their bytes. Errors seldom say which one of several is meant, so these are refused together.
#[derive(Debug, Default)]
pub(super) struct RefusedPictures(Mutex<Vec<Refused>>);

#[derive(Debug)]
struct Refused {
    pictures: BTreeSet<u64>,
    /// What the endpoint said.
    why: String,
}

impl RefusedPictures {
    /// The request without the pictures that are known to be refused, with a sentence about those that the person asks about. None: all may be sent.
    pub(super) fn leave_out(&self, request: &ModelRequest) -> Option<(ModelRequest, Vec<String>)> {
        let known = self.0.lock().expect("no code panics while it holds the lock");
        if known.is_empty() || request.pictures.is_empty() {
            return None;
        }
        let shown = keys(&request.pictures);
        let (mut left_out, mut sentences) = (BTreeSet::<u64>::new(), Vec::new());
        for Refused { pictures, why } in known.iter().filter(|refused| refused.pictures.is_subset(&shown)) {
            let of = |picture: &&Picture| pictures.contains(&key(picture)) && !left_out.contains(&key(picture));
            let new: Vec<&Picture> = request.pictures.iter().filter(of).collect();
            if new.iter().any(|picture| picture.is_meant) {
                sentences.push(describe(&new, why));
            }
            left_out.extend(pictures);
        }
        (!left_out.is_empty()).then(|| (request.without_pictures(|picture| left_out.contains(&key(picture))), sentences))
    }

    /// Remembers pictures without which the endpoint took the request. Returns a sentence for the person.
    pub(super) fn add(&self, pictures: &[Picture], why: String) -> String {
        let sentence = describe(&pictures.iter().collect::<Vec<_>>(), &why);
        let mut known = self.0.lock().expect("no code panics while it holds the lock");
        let pictures = keys(pictures);
        known.retain(|refused| !refused.pictures.is_superset(&pictures));
        known.push(Refused { pictures, why });
        if known.len() > REMEMBERED {
            known.remove(0);
        }
        sentence
    }
}

fn keys(pictures: &[Picture]) -> BTreeSet<u64> {
    pictures.iter().map(key).collect()
}

fn key(picture: &Picture) -> u64 {
    let mut hasher = DefaultHasher::new();
    picture.bytes.hash(&mut hasher);
    hasher.finish()
}

fn describe(pictures: &[&Picture], why: &str) -> String {
    let names = join_with_and(&pictures.iter().map(|picture| picture.name.as_str()).collect::<Vec<_>>());
    let why = why.trim_end_matches('.');
    let because = |them: &str| match why {
        "" => format!("the language model refused {them}"),
        why => format!("the language model refused {them} (“{why}”)"),
    };
    match pictures.len() {
        1 => format!("I answered without {names}, because {}. Please send it as a smaller JPEG or PNG.", because("it")),
        _ => format!("I answered without {names}, because {}. Please send them one at a time.", because("at least one of them")),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::llm::ModelMessage;

    fn picture(name: &str, is_meant: bool) -> Picture {
        Picture { name: name.into(), media_type: "image/png", bytes: Arc::new(name.as_bytes().to_vec()), is_meant }
    }

    fn request(names: &[&str]) -> ModelRequest {
        let pictures = names.iter().map(|name| picture(name, false)).collect();
        ModelRequest { messages: vec![ModelMessage::User("Look!".into())], pictures, ..ModelRequest::default() }
    }

    /// The names of the pictures that are sent.
    fn sent(refused: &RefusedPictures, names: &[&str]) -> String {
        let request = request(names);
        let request = refused.leave_out(&request).map_or(request, |(request, _)| request);
        request.pictures.into_iter().map(|picture| picture.name).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn pictures_that_were_refused_together_are_tried_alone() {
        let refused = RefusedPictures::default();
        let told = refused.add(&request(&["a", "b"]).pictures, "bad image.".into());
        let expected = "I answered without a and b, because the language model refused at least one of them (“bad image”). Please send them one at a time.";
        assert_eq!(told, expected);
        assert_eq!([sent(&refused, &["a", "b", "c"]), sent(&refused, &["a", "c"]), sent(&refused, &["b"])], ["c", "a c", "b"]);
        // Now it is known which one it was.
        refused.add(&request(&["b"]).pictures, String::new());
        assert_eq!([sent(&refused, &["a", "b"]), sent(&refused, &["b"])], ["a", ""]);
    }

    #[test]
    fn a_known_picture_is_spoken_of_only_where_it_is_meant() {
        let refused = RefusedPictures::default();
        refused.add(&[picture("a", true)], String::new());
        let (blind, told) = refused.leave_out(&request(&["a"])).expect("it is left out");
        assert_eq!((blind.pictures.len(), told), (0, Vec::new()));
        assert!(matches!(&blind.messages[0], ModelMessage::User(text) if text.contains("cannot be shown to you")));
        let asked = ModelRequest { pictures: vec![picture("a", true)], ..request(&[]) };
        let (_, told) = refused.leave_out(&asked).expect("it is left out");
        assert_eq!(told, ["I answered without a, because the language model refused it. Please send it as a smaller JPEG or PNG."]);
        assert_eq!(refused.leave_out(&request(&["c"])), None);
    }
}
