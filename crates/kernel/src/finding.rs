//! What a check of the set-up found, for `teamroom doctor`.

use std::fmt;

use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Grade {
    Ok,
    /// Works, but somebody should know.
    Warn,
    /// Does not work.
    Fail,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub grade: Grade,
    pub text: String,
    /// What to do about it. Missing where nothing is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl Finding {
    pub fn good(text: impl Into<String>) -> Self {
        Self { grade: Grade::Ok, text: text.into(), remedy: None }
    }

    pub fn warning(text: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { grade: Grade::Warn, text: text.into(), remedy: Some(remedy.into()) }
    }

    pub fn fault(text: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { grade: Grade::Fail, text: text.into(), remedy: Some(remedy.into()) }
    }
}

/// One line, and a second one with the remedy.
impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let grade = match self.grade {
            Grade::Ok => "ok",
            Grade::Warn => "WARN",
            Grade::Fail => "FAIL",
        };
        write!(formatter, "{grade:<4} {}", self.text)?;
        self.remedy.as_ref().map_or(Ok(()), |remedy| write!(formatter, "\n     {remedy}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remedy_has_a_line_of_its_own() {
        assert_eq!(Finding::good("disk: 3 GB free").to_string(), "ok   disk: 3 GB free");
        assert_eq!(Finding::warning("clock: 6 s off", "Set it.").to_string(), "WARN clock: 6 s off\n     Set it.");
        let fault = Finding::fault("disk: full", "Make room.");
        assert_eq!(serde_json::json!(fault), serde_json::json!({"grade": "fail", "text": "disk: full", "remedy": "Make room."}));
    }
}
