//! Which calls are allowed (TRUST-3).

use crate::tools::approval::Risk;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    Allowed {
        risk: Risk,
    },
    /// A person must approve exactly this call. `why` is for the person.
    NeedsApproval {
        risk: Risk,
        why: String,
    },
    /// Nobody can approve it. `why` is for the model.
    Refused {
        why: String,
    },
}

/// Why a call may not be what the person wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubt {
    None,
    /// The context contains text from outside, which may have caused the call.
    Outside,
    /// It throws work away.
    Discards,
}

/// Decides about an offered call with valid arguments.
///
/// | effect of the call | only trusted text | text from outside | throws work away |
/// | --- | --- | --- | --- |
/// | `read` | allowed | allowed | allowed |
/// | `write` | allowed | by approval | by approval |
/// | `reach-out` | allowed | by approval | by approval |
pub(super) fn decide(tool: &str, risk: Risk, doubt: Doubt) -> Decision {
    let does = match risk {
        Risk::Read => return Decision::Allowed { risk },
        Risk::Write => "changes the team's data",
        Risk::ReachOut => "is visible to others",
    };
    let why = match doubt {
        Doubt::None => return Decision::Allowed { risk },
        Doubt::Outside => "what it has read may have suggested it",
        Doubt::Discards => "it throws work away",
    };
    Decision::NeedsApproval { risk, why: format!("{tool} {does}, and {why}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_takes_away_all_but_reading() {
        for risk in [Risk::Read, Risk::Write, Risk::ReachOut] {
            assert_eq!(decide("x", risk, Doubt::None), Decision::Allowed { risk });
        }
        assert_eq!(decide("x", Risk::Read, Doubt::Outside), Decision::Allowed { risk: Risk::Read });
        let why = "memory_save changes the team's data, and what it has read may have suggested it".to_owned();
        assert_eq!(decide("memory_save", Risk::Write, Doubt::Outside), Decision::NeedsApproval { risk: Risk::Write, why });
        let why = "fetch_page is visible to others, and what it has read may have suggested it".to_owned();
        assert_eq!(decide("fetch_page", Risk::ReachOut, Doubt::Outside), Decision::NeedsApproval { risk: Risk::ReachOut, why });
        let why = "team_command changes the team's data, and it throws work away".to_owned();
        assert_eq!(decide("team_command", Risk::Write, Doubt::Discards), Decision::NeedsApproval { risk: Risk::Write, why });
    }
}
