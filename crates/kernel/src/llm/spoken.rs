//! What of a transcript was spoken. Models that transcribe were trained with subtitles, and write their thanks and credits where nobody speaks.

use crate::llm::provider::{Heard, Segment};

/// How likely it is that nobody speaks in a part, and how unsure its words are. The first pair is near to Whisper's own limits of 0.6 and -1, which
/// leave made-up thanks in.
const NOBODY: [(f64, f64); 2] = [(0.6, -0.6), (0.9, -0.3)];
/// Words that repeat each other so much are made up if anything else speaks for it: Whisper's own limit.
const REPEATED: f64 = 2.4;
const UNSURE: (f64, f64) = (0.3, -1.0);
/// Up to here somebody certainly speaks.
const SURE: f64 = 0.2;

/// What models write where nobody speaks. It counts only if nothing says that somebody spoke, because people say thank you too.
const THANKS: [&str; 24] = [
    "thank you",
    "thank you very much",
    "thank you so much for watching",
    "thank you for watching",
    "thanks for watching",
    "please subscribe",
    "you",
    "bye",
    "vielen dank",
    "vielen dank fürs zuschauen",
    "danke fürs zuschauen",
    "bis zum nächsten mal",
    "gracias",
    "gracias por ver el video",
    "merci",
    "merci d'avoir regardé cette vidéo",
    "obrigado",
    "grazie",
    "grazie per la visione",
    "спасибо за просмотр",
    "продолжение следует",
    "ご視聴ありがとうございました",
    "谢谢观看",
    "시청해주셔서 감사합니다",
];
const CREDITS: [&str; 9] =
    ["subtitles by", "transcription by", "untertitel", "sous-titr", "subtítulos", "legendas", "sottotitoli", "субтитры", "字幕"];

/// The words that were spoken. Empty: none. `is_sound`: the recording itself sounds like speech.
pub(super) fn spoken(heard: &Heard, is_sound: bool) -> String {
    let kept: Vec<&str> = heard.segments.iter().filter(|segment| !is_made_up(segment)).map(|segment| segment.text.trim()).collect();
    let words = if kept.len() == heard.segments.len() { heard.text.trim().to_owned() } else { kept.join(" ").trim().to_owned() };
    let is_doubtful = |segment: &Segment| segment.no_speech_prob.is_none_or(|nobody| nobody > SURE);
    let is_unproven = if heard.segments.is_empty() { !is_sound } else { heard.segments.iter().any(is_doubtful) };
    if !words.chars().any(char::is_alphanumeric) || is_unproven && is_stock(&words) { String::new() } else { words }
}

fn is_made_up(segment: &Segment) -> bool {
    let (nobody, sure) = (segment.no_speech_prob.unwrap_or(0.0), segment.avg_logprob.unwrap_or(0.0));
    let repeats = segment.compression_ratio.unwrap_or(1.0) > REPEATED;
    NOBODY.iter().any(|limit| nobody > limit.0 && sure < limit.1) || repeats && (nobody > UNSURE.0 || sure < UNSURE.1)
}

fn is_stock(words: &str) -> bool {
    let words = words.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let mut sentences = words.split(['.', '!', '?', '。', ',', '\n']).map(str::trim).filter(|sentence| !sentence.is_empty());
    CREDITS.iter().any(|credit| words.starts_with(credit)) || sentences.all(|sentence| THANKS.contains(&sentence))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::TokenUsage;

    fn segment(text: &str, nobody: f64, sure: f64, repeats: f64) -> Segment {
        Segment { text: text.to_owned(), no_speech_prob: Some(nobody), avg_logprob: Some(sure), compression_ratio: Some(repeats) }
    }

    fn words(segments: &[Segment], is_sound: bool) -> String {
        let text = segments.iter().map(|segment| segment.text.as_str()).collect::<Vec<_>>().join(" ");
        spoken(&Heard { text, segments: segments.to_vec(), length: None, usage: TokenUsage::default() }, is_sound)
    }

    #[test]
    fn parts_in_which_nobody_speaks_are_left_out() {
        for (segments, expected) in [
            (vec![segment("Remind me tomorrow at nine.", 0.02, -0.2, 1.1)], "Remind me tomorrow at nine."),
            (vec![segment("Remind me tomorrow.", 0.75, -0.8, 1.1)], ""),
            (vec![segment("Thank you.", 0.95, -0.4, 0.6)], ""),
            (vec![segment("Thank you.", 0.5, -0.2, 0.6)], ""),
            (vec![segment("Thank you.", 0.05, -0.2, 0.6)], "Thank you."),
            (vec![segment("We ship on Friday.", 0.1, -0.3, 1.2), segment("Thanks for watching!", 0.7, -0.9, 0.8)], "We ship on Friday."),
            (vec![segment("no no no no no no no no", 0.4, -0.2, 6.0)], ""),
            // Somebody speaks quietly, or repeats themselves: it counts.
            (vec![segment("Call Ben at four.", 0.7, -0.2, 1.0)], "Call Ben at four."),
            (vec![segment("no no no no no no no no", 0.1, -0.2, 6.0)], "no no no no no no no no"),
            (vec![segment(" ... ", 0.1, -0.2, 1.0)], ""),
        ] {
            assert_eq!(words(&segments, true), expected, "{segments:?}");
        }
    }

    #[test]
    fn stock_phrases_count_only_if_nothing_says_that_somebody_spoke() {
        let say = |text: &str, is_sound| {
            spoken(&Heard { text: text.into(), segments: Vec::new(), length: None, usage: TokenUsage::default() }, is_sound)
        };
        for phrase in [
            "Thank you.",
            "Thank you. Thank you.",
            "Thanks for watching!",
            "Untertitel im Auftrag des ZDF für funk, 2017",
            "ご視聴ありがとうございました",
            "♪ Subtitles by the Amara.org community",
        ] {
            assert_eq!(say(phrase, false), "", "{phrase}");
            assert_eq!(say(phrase, true), phrase);
        }
        for phrase in ["Thank you Vince, how many commits are there?", "You forgot the budget.", "Remind me at nine."] {
            assert_eq!(say(phrase, false), phrase);
        }
    }
}
