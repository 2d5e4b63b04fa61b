use std::path::PathBuf;

use ndarray::{Array1, Array2};
use safetensors::{Dtype, SafeTensors};

use super::ModelError;

/// The numbers of a model.
pub(super) struct Weights {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Weights {
    pub(super) fn read(path: PathBuf) -> Result<Self, ModelError> {
        let bytes = std::fs::read(&path).map_err(|error| ModelError::File { path: path.clone(), reason: error.to_string() })?;
        let weights = Self { path, bytes };
        weights.tensors()?;
        Ok(weights)
    }

    pub(super) fn vector(&self, name: &str) -> Result<Array1<f32>, ModelError> {
        let (_, values) = self.find(name, 1)?;
        Ok(Array1::from(values))
    }

    pub(super) fn matrix(&self, name: &str) -> Result<Array2<f32>, ModelError> {
        let (shape, values) = self.find(name, 2)?;
        Array2::from_shape_vec((shape[0], shape[1]), values).map_err(|error| self.failed(format!("{name}: {error}")))
    }

    /// Finds a tensor. Some models put the name of the family before it.
    fn find(&self, name: &str, dimensions: usize) -> Result<(Vec<usize>, Vec<f32>), ModelError> {
        let tensors = self.tensors()?;
        let names = [name.to_owned(), format!("bert.{name}"), format!("roberta.{name}")];
        let tensor = names.iter().find_map(|name| tensors.tensor(name).ok()).ok_or_else(|| self.failed(format!("{name} is missing")))?;
        if tensor.shape().len() != dimensions {
            return Err(self.failed(format!("{name} has the shape {:?}", tensor.shape())));
        }
        if tensor.dtype() != Dtype::F32 {
            return Err(self.failed(format!("{name} is stored as {:?}. Only 32-bit numbers (F32) are supported", tensor.dtype())));
        }
        let number = |bytes: &[u8]| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        Ok((tensor.shape().to_vec(), tensor.data().chunks_exact(4).map(number).collect()))
    }

    fn tensors(&self) -> Result<SafeTensors<'_>, ModelError> {
        SafeTensors::deserialize(&self.bytes).map_err(|error| self.failed(error.to_string()))
    }

    fn failed(&self, reason: String) -> ModelError {
        ModelError::File { path: self.path.clone(), reason }
    }
}
