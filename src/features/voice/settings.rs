use kernel::config::settings;

settings! {
    /// `[voice]`: listening to meetings. What speaks is set in `[models]`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct VoiceSettings {
        characters: u32 = 12_000, in 500..=40_000, "The most characters of a meeting that are spoken; about 1000 a minute. The rest is left out, and the audio says so.";
        cache_days: u32 = 30, in 0..=365, "How many days spoken parts are kept, so that they are not paid for again.";
        cache_megabytes: u32 = 100, in 0..=10_000, "How much room they may take. The oldest go first.";
    }
}
