//! The arguments of a call as a type.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::tools::ToolError;

/// Reads arguments that fit the schema of their tool.
///
/// # Errors
/// Refused where they do not after all.
pub fn parse_arguments<T: DeserializeOwned>(arguments: &Value) -> Result<T, ToolError> {
    T::deserialize(arguments).map_err(|error| ToolError::Refused(format!("the arguments do not fit: {error}")))
}
