use kernel::config::{choice, settings};
use kernel::money::Money;

settings! {
    /// `[missions]`: directives that take several steps.
    #[derive(Debug, Clone, PartialEq)]
    pub struct MissionSettings {
        approve_above: Option<Money> = Some(Money(2_000_000)),
            "A plan that is expected to cost more dollars waits for a person's word. 0: every plan with a cost; none: no plan.";
        approve_steps: u32 = 12, in 1..=41, "A plan with at least so many steps waits for a person's word. 41: no plan.";
        classify: bool = true, "Whether a model judges if a message with a document asks for a mission. Otherwise rules do.";
        new_personas: NewPersonas = NewPersonas::Ask,
            "What becomes of a role that nobody on the team fills. \"ask\": a persona is drafted, and an operator decides; \"at once\": it is added without asking; \"never\": the plan only says that the role is missing.";
    }
}

/// What becomes of a role that nobody on the team fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewPersonas {
    Ask,
    AtOnce,
    Never,
}

choice!(NewPersonas { "ask" => Self::Ask, "at once" => Self::AtOnce, "never" => Self::Never });
