//! A sentence model that runs in this process.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use vectors::sentence_model::SentenceModel;

use crate::llm::ModelError;
use crate::memory::embedder::Embedder;

pub struct LocalModel {
    /// The name of its folder.
    name: String,
    model: Arc<SentenceModel>,
}

impl LocalModel {
    /// # Errors
    /// The folder has no model that can run here.
    pub fn read(folder: &Path) -> anyhow::Result<Self> {
        let model = SentenceModel::read(folder)?;
        let name = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy();
        Ok(Self { name: format!("folder {name}, {} dimensions", model.dimensions()), model: Arc::new(model) })
    }
}

#[async_trait]
impl Embedder for LocalModel {
    fn name(&self) -> &str {
        &self.name
    }

    /// On a thread of its own, because a text takes some milliseconds of computing.
    async fn embed(&self, texts: &[String], patience: Duration) -> Result<Vec<Vec<f32>>, ModelError> {
        let (model, texts) = (self.model.clone(), texts.to_vec());
        let embedding = tokio::task::spawn_blocking(move || texts.iter().map(|text| model.embed(text)).collect::<Result<Vec<_>, _>>());
        let garbled = |reason: String| ModelError::Garbled { provider: self.name.clone(), reason };
        match tokio::time::timeout(patience, embedding).await {
            Ok(Ok(vectors)) => vectors.map_err(|error| garbled(error.to_string())),
            Ok(Err(error)) => Err(garbled(error.to_string())),
            Err(_) => Err(ModelError::TimedOut { provider: self.name.clone() }),
        }
    }
}
