use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an answer is worth to the asker. Given by code if code wrote the answer, otherwise by somebody other than its author.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerVerdict {
    Answers,
    /// It answers a part of the question.
    InPart,
    /// It says that the answer is unknown, or only where to look for it.
    DoesNotKnow,
    /// It declines to answer.
    Refuses,
    /// It asks something that has to be answered first.
    AsksBack,
}

impl AnswerVerdict {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Answers => "answers",
            Self::InPart => "in_part",
            Self::DoesNotKnow => "does_not_know",
            Self::Refuses => "refuses",
            Self::AsksBack => "asks_back",
        }
    }
}
