use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::tools::ToolError;

/// Parses arguments that match their tool's schema.
///
/// # Errors
/// Refused if they do not match.
pub fn parse_arguments<T: DeserializeOwned>(arguments: &Value) -> Result<T, ToolError> {
    T::deserialize(arguments).map_err(|error| ToolError::Refused(format!("the arguments do not fit: {error}")))
}
