//! Scripted speech and transcription, by the APIs of `OpenAI` and `ElevenLabs`. A text sounds for ten milliseconds a character.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Multipart, Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use kernel::llm::Sound;
use serde_json::{Value, json};

use super::{ScriptedModel, Shared, lock};

const RATE: u32 = 24_000;
/// `OpenAI`'s limit.
const LONGEST: usize = 4096;

/// How the endpoints behave.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    #[default]
    Works,
    /// 401
    Refuses,
    /// 503
    IsDown,
    /// Answers nothing.
    Hangs,
    /// Status 200 and no sound, or no JSON.
    SendsRubbish,
    /// Transcribes without saying how sure it is, and refuses to be asked for it.
    IsPlain,
}

#[derive(Default)]
pub(super) struct Voice {
    manner: Mutex<Manner>,
    /// The number of texts that are still spoken. Later requests hang.
    left: Mutex<Option<usize>>,
    spoken: Mutex<Vec<Spoken>>,
    heard: Mutex<Vec<Heard>>,
    transcripts: Mutex<VecDeque<Value>>,
}

/// A request for speech.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Spoken {
    pub(crate) model: String,
    pub(crate) voice: String,
    pub(crate) text: String,
    pub(crate) speed: f64,
}

/// A request for a transcript.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Heard {
    pub(crate) model: String,
    pub(crate) file: String,
    pub(crate) bytes: usize,
}

impl ScriptedModel {
    pub(crate) fn set_voice(&self, manner: Manner) {
        *lock(&self.shared.voice.manner) = manner;
        *lock(&self.shared.voice.left) = None;
    }

    /// Speaks this many texts more. Later requests hang.
    pub(crate) fn speak_only(&self, texts: usize) {
        *lock(&self.shared.voice.left) = Some(texts);
    }

    /// All requests for speech, failed ones too.
    pub(crate) fn spoken(&self) -> Vec<Spoken> {
        lock(&self.shared.voice.spoken).clone()
    }

    /// All requests for transcripts, failed ones too.
    pub(crate) fn heard(&self) -> Vec<Heard> {
        lock(&self.shared.voice.heard).clone()
    }

    /// Sets the words that the next recording is transcribed to.
    pub(crate) fn hear_next(&self, words: &str) {
        lock(&self.shared.voice.transcripts).push_back(json!({"text": words}));
    }

    /// Sets the words of the next recording, with how likely it is that nobody speaks and how sure the model is of them.
    pub(crate) fn hear_next_unsurely(&self, words: &str, nobody: f64, sure: f64) {
        let segment = json!({"id": 0, "text": words, "no_speech_prob": nobody, "avg_logprob": sure, "compression_ratio": 0.8});
        lock(&self.shared.voice.transcripts).push_back(json!({"text": words, "segments": [segment]}));
    }
}

/// The answer of an endpoint that does not work.
async fn fail(voice: &Voice) -> Option<Response> {
    let manner = *lock(&voice.manner);
    let is_over = match &mut *lock(&voice.left) {
        Some(0) => true,
        Some(left) => {
            *left -= 1;
            false
        }
        None => false,
    };
    match manner {
        _ if is_over => std::future::pending().await,
        Manner::Works | Manner::IsPlain => None,
        Manner::Refuses => {
            let error = json!({"error": {"message": "Incorrect API key", "type": "invalid_request_error", "code": "invalid_api_key"}});
            Some((StatusCode::UNAUTHORIZED, Json(error)).into_response())
        }
        Manner::IsDown => Some((StatusCode::SERVICE_UNAVAILABLE, "down").into_response()),
        Manner::Hangs => std::future::pending().await,
        Manner::SendsRubbish => Some(([(header::CONTENT_TYPE, "text/html")], "<html>Please log in</html>").into_response()),
    }
}

fn sound_of(text: &str) -> Sound {
    let samples = (0..text.chars().count() * 240).map(|at| if at / 60 % 2 == 0 { 3000 } else { -3000 });
    Sound { rate: RATE, samples: samples.collect() }
}

/// `POST /v1/audio/speech`
pub(super) async fn speak(State(shared): State<Arc<Shared>>, Json(body): Json<Value>) -> Response {
    let text_of = |key: &str| super::text_of(&body, key).to_owned();
    let speed = body["speed"].as_f64().unwrap_or(1.0);
    let (model, voice, text) = (text_of("model"), text_of("voice"), text_of("input"));
    let is_right = !model.is_empty()
        && !voice.is_empty()
        && (1..=LONGEST).contains(&text.chars().count())
        && (0.25..=4.0).contains(&speed)
        && body["response_format"] == "wav";
    if !is_right {
        return (StatusCode::BAD_REQUEST, Json(json!({"error": {"message": format!("not a request: {body}")}}))).into_response();
    }
    lock(&shared.voice.spoken).push(Spoken { model, voice, text: text.clone(), speed });
    if let Some(failure) = fail(&shared.voice).await {
        return failure;
    }
    ([(header::CONTENT_TYPE, "audio/wav")], sound_of(&text).to_wav()).into_response()
}

/// `POST /v1/text-to-speech/{voice}`, of `ElevenLabs`.
pub(super) async fn speak_as(
    State(shared): State<Arc<Shared>>,
    Path(voice): Path<String>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    if !headers.contains_key("xi-api-key") {
        return (StatusCode::UNAUTHORIZED, Json(json!({"detail": {"status": "needs_authorization"}}))).into_response();
    }
    let (text, model) = (super::text_of(&body, "text").to_owned(), super::text_of(&body, "model_id").to_owned());
    let speed = body["voice_settings"]["speed"].as_f64().unwrap_or(1.0);
    if text.is_empty() || !(0.7..=1.2).contains(&speed) {
        return (StatusCode::UNPROCESSABLE_ENTITY, Json(json!({"detail": "speed"}))).into_response();
    }
    lock(&shared.voice.spoken).push(Spoken { model, voice, text: text.clone(), speed });
    if let Some(failure) = fail(&shared.voice).await {
        return failure;
    }
    let bytes: Vec<u8> = sound_of(&text).samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
    ([(header::CONTENT_TYPE, "audio/pcm")], bytes).into_response()
}

/// `POST /v1/audio/transcriptions`
pub(super) async fn transcribe(State(shared): State<Arc<Shared>>, mut form: Multipart) -> Response {
    let (mut model, mut format, mut file) = (String::new(), String::new(), None::<(String, Bytes)>);
    while let Ok(Some(field)) = form.next_field().await {
        match field.name().unwrap_or_default() {
            "model" => model = field.text().await.unwrap_or_default(),
            "response_format" => format = field.text().await.unwrap_or_default(),
            "file" => {
                let name = field.file_name().unwrap_or_default().to_owned();
                file = Some((name, field.bytes().await.unwrap_or_default()));
            }
            _ => {}
        }
    }
    let Some((name, bytes)) = file.filter(|(name, _)| !model.is_empty() && name.contains('.')) else {
        return (StatusCode::BAD_REQUEST, Json(json!({"error": {"message": "file and model are required"}}))).into_response();
    };
    if *lock(&shared.voice.manner) == Manner::IsPlain && format != "json" {
        let error = json!({"error": {"message": format!("response_format '{format}' is not compatible with model '{model}'"), "param": "response_format"}});
        return (StatusCode::BAD_REQUEST, Json(error)).into_response();
    }
    lock(&shared.voice.heard).push(Heard { model, file: name, bytes: bytes.len() });
    if let Some(failure) = fail(&shared.voice).await {
        return failure;
    }
    let mut answer = lock(&shared.voice.transcripts).pop_front().unwrap_or_else(|| json!({"text": ""}));
    answer["usage"] = json!({"type": "duration", "seconds": 30});
    if format != "verbose_json" {
        answer["segments"] = Value::Null;
    }
    Json(answer).into_response()
}
