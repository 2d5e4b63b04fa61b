use kernel::config::settings;

settings! {
    /// `[overwatch]`: looking back at missions.
    #[derive(Debug, Clone, PartialEq)]
    pub struct OverwatchSettings {
        enabled: bool = true, "Whether those who took part in a mission look back at it when it is over, on the cheapest model.";
    }
}
