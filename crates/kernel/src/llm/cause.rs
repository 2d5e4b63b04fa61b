use crate::llm::settings::SHORT_PATH;

/// The cause of a failed call, as far as the endpoint says so. It decides what people are told, and never what somebody may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// No connection was made.
    Unreachable,
    /// The model is being loaded.
    Loading,
    Overloaded,
    /// Too many requests or tokens at a time.
    RateLimit,
    /// The plan's limit for a day or a month.
    Quota,
    /// The account has no money left.
    Credit,
    Key,
    MissingModel,
    ContextLength,
    Filter,
    /// None of these, or not said.
    Other,
}

/// The name of a provider for people. One that is set by variables has none.
pub(crate) fn shown(provider: &str) -> &str {
    if provider == SHORT_PATH { "the model server" } else { provider }
}

impl Cause {
    /// What happened, with the provider's name.
    pub fn in_words(self, provider: &str) -> String {
        let provider = shown(provider);
        match self {
            Self::Unreachable => format!("{provider} could not be reached"),
            Self::Loading => format!("the language model at {provider} is still loading"),
            Self::Overloaded => format!("{provider} has too much to do right now"),
            Self::RateLimit => format!("{provider} limits how often it may be asked"),
            Self::Quota => format!("the limit at {provider} for this period is used up"),
            Self::Credit => format!("the account at {provider} has no credit left"),
            Self::Key => format!("{provider} does not accept the team's key"),
            Self::MissingModel => format!("{provider} does not have the configured model"),
            Self::ContextLength => format!("this is more text than the language model at {provider} can read at once"),
            Self::Filter => format!("the content filter of {provider} blocked it"),
            Self::Other => format!("{provider} reported an error"),
        }
    }

    /// What the person can do.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Unreachable => "An operator can check its address and whether it runs, for example with `teamroom doctor`.",
            Self::Loading => "Please ask again in a minute.",
            Self::Overloaded | Self::RateLimit => "Please ask again in a few minutes.",
            Self::Quota => "It resets by itself. An operator can also raise the limit there, or add a second provider.",
            Self::Credit => "An operator can add credit there, or add a second provider.",
            Self::Key => "An operator can renew the key and run `teamroom doctor`.",
            Self::MissingModel => "An operator can correct the model's name, or load the model there. `teamroom doctor` shows the name.",
            Self::ContextLength => {
                "Please ask about a shorter file or a smaller part. An operator can also give the model a longer context."
            }
            Self::Filter => "Please put it in other words.",
            Self::Other => "An operator can run `teamroom doctor` to find the problem.",
        }
    }
}
