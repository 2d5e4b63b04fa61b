//! A sentence model of the BERT family, read from a folder as the usual libraries store it: `config.json`, `tokenizer.json`, `model.safetensors`.

mod layers;
mod weights;

use std::path::{Path, PathBuf};

use ndarray::{Array1, Array2, Axis, Slice};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokenizers::Tokenizer;

use layers::{Layer, Norm};
use weights::Weights;

/// The most tokens of a text if the folder does not say. Later tokens are not read.
const TOKENS: usize = 256;

/// Why a model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error("{path}: {reason}")]
    File { path: PathBuf, reason: String },
    #[error("{0}")]
    Unsupported(String),
    #[error("the text cannot be split into tokens: {0}")]
    Text(String),
}

/// `config.json`.
#[derive(Debug, Deserialize)]
struct Config {
    model_type: String,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    max_position_embeddings: usize,
    #[serde(default = "usual_epsilon")]
    layer_norm_eps: f32,
    #[serde(default = "usual_activation")]
    hidden_act: String,
    #[serde(default)]
    pad_token_id: usize,
}

fn usual_epsilon() -> f32 {
    1e-12
}

fn usual_activation() -> String {
    "gelu".into()
}

/// `1_Pooling/config.json`: how the vectors of tokens become one.
#[derive(Debug, Default, Deserialize)]
struct Pooling {
    #[serde(default)]
    pooling_mode_cls_token: bool,
}

/// `sentence_bert_config.json`.
#[derive(Debug, Default, Deserialize)]
struct Lengths {
    max_seq_length: Option<usize>,
}

pub struct SentenceModel {
    tokenizer: Tokenizer,
    words: Array2<f32>,
    positions: Array2<f32>,
    token_type: Array1<f32>,
    norm: Norm,
    layers: Vec<Layer>,
    is_pooled_by_first: bool,
    longest: usize,
    /// The position number of the first token.
    first: usize,
}

impl SentenceModel {
    /// # Errors
    /// A file is missing or of another form, or the model is of another family.
    pub fn read(folder: &Path) -> Result<Self, ModelError> {
        let config: Config = read_json(&folder.join("config.json"))?;
        let first = match config.model_type.as_str() {
            "bert" => 0,
            "roberta" | "xlm-roberta" => config.pad_token_id + 1,
            other => {
                return Err(ModelError::Unsupported(format!("a model of the type {other:?}. Supported are bert, roberta and xlm-roberta")));
            }
        };
        if config.hidden_act != "gelu" {
            return Err(ModelError::Unsupported(format!("a model with the activation {:?}. Only gelu is supported", config.hidden_act)));
        }
        let heads = config.num_attention_heads;
        if heads == 0 || !config.hidden_size.is_multiple_of(heads) {
            return Err(ModelError::Unsupported(format!("{heads} heads for {} dimensions", config.hidden_size)));
        }
        let path = folder.join("tokenizer.json");
        let mut tokenizer = Tokenizer::from_file(&path).map_err(|error| ModelError::File { path, reason: error.to_string() })?;
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(|error| ModelError::Unsupported(error.to_string()))?;
        let lengths: Lengths = read_optional(&folder.join("sentence_bert_config.json"))?;
        let pooling: Pooling = read_optional(&folder.join("1_Pooling").join("config.json"))?;
        let weights = Weights::read(folder.join("model.safetensors"))?;
        let layer = |number: usize| Layer::read(&weights, &format!("encoder.layer.{number}"), heads, config.layer_norm_eps);
        Ok(Self {
            words: weights.matrix("embeddings.word_embeddings.weight")?,
            positions: weights.matrix("embeddings.position_embeddings.weight")?,
            token_type: weights.matrix("embeddings.token_type_embeddings.weight")?.row(0).to_owned(),
            norm: Norm::read(&weights, "embeddings.LayerNorm", config.layer_norm_eps)?,
            layers: (0..config.num_hidden_layers).map(layer).collect::<Result<_, _>>()?,
            is_pooled_by_first: pooling.pooling_mode_cls_token,
            longest: lengths.max_seq_length.unwrap_or(TOKENS).min(config.max_position_embeddings.saturating_sub(first)).max(2),
            first,
            tokenizer,
        })
    }

    pub fn dimensions(&self) -> usize {
        self.words.ncols()
    }

    /// The vector of a text, of length one.
    ///
    /// # Errors
    /// The text cannot be split into tokens.
    pub fn embed(&self, text: &str) -> Result<Vec<f32>, ModelError> {
        let encoded = self.tokenizer.encode(text, true).map_err(|error| ModelError::Text(error.to_string()))?;
        let mut ids: Vec<usize> = encoded.get_ids().iter().map(|id| *id as usize).collect();
        if let (true, Some(last)) = (ids.len() > self.longest, ids.last().copied()) {
            ids.truncate(self.longest - 1);
            ids.push(last);
        }
        if let Some(unknown) = ids.iter().find(|id| **id >= self.words.nrows()) {
            return Err(ModelError::Text(format!("the model has no token {unknown}")));
        }
        let positions = self.positions.slice_axis(Axis(0), Slice::from(self.first..self.first + ids.len()));
        let mut hidden = self.words.select(Axis(0), &ids) + &positions + &self.token_type;
        self.norm.apply(&mut hidden);
        for layer in &self.layers {
            hidden = layer.apply(&hidden);
        }
        let pooled = if self.is_pooled_by_first { hidden.row(0).to_owned() } else { hidden.mean_axis(Axis(0)).unwrap_or_default() };
        let length = pooled.dot(&pooled).sqrt().max(f32::MIN_POSITIVE);
        Ok(pooled.iter().map(|value| value / length).collect())
    }
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, ModelError> {
    let failed = |reason: String| ModelError::File { path: path.to_owned(), reason };
    let text = std::fs::read(path).map_err(|error| failed(error.to_string()))?;
    serde_json::from_slice(&text).map_err(|error| failed(error.to_string()))
}

fn read_optional<T: DeserializeOwned + Default>(path: &Path) -> Result<T, ModelError> {
    if path.exists() { read_json(path) } else { Ok(T::default()) }
}

#[cfg(test)]
mod tests;
