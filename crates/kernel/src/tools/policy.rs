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

/// The table of TRUST-3, for an offered call with valid arguments.
///
/// | effect of the call | only trusted text | text from outside |
/// | --- | --- | --- |
/// | `read` | allowed | allowed |
/// | `write` | allowed | by approval |
/// | `reach-out` | allowed | by approval |
///
/// `tainted`: the context contains text from outside, which may have caused the call.
pub(super) fn decide(tool: &str, risk: Risk, tainted: bool) -> Decision {
    let does = match risk {
        _ if !tainted => return Decision::Allowed { risk },
        Risk::Read => return Decision::Allowed { risk },
        Risk::Write => "changes the team's data",
        Risk::ReachOut => "is visible to others",
    };
    Decision::NeedsApproval { risk, why: format!("{tool} {does}, and it has read text from outside") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_takes_away_all_but_reading() {
        for risk in [Risk::Read, Risk::Write, Risk::ReachOut] {
            assert_eq!(decide("x", risk, false), Decision::Allowed { risk });
        }
        assert_eq!(decide("x", Risk::Read, true), Decision::Allowed { risk: Risk::Read });
        let why = "memory_save changes the team's data, and it has read text from outside".to_owned();
        assert_eq!(decide("memory_save", Risk::Write, true), Decision::NeedsApproval { risk: Risk::Write, why });
        let why = "fetch_page is visible to others, and it has read text from outside".to_owned();
        assert_eq!(decide("fetch_page", Risk::ReachOut, true), Decision::NeedsApproval { risk: Risk::ReachOut, why });
    }
}
