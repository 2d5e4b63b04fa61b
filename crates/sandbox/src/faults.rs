//! The active faults, and how they change the next request, connection or frame. `misbehave` sets them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use local_server::{Counted, take};
use serde::{Deserialize, Serialize};

/// An error in place of the real response.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RestFault {
    /// 429 with `retry_after` seconds. Without headers it looks like a ban by the proxy in front of the API.
    RateLimited { retry_after: f64, headers: bool, global: bool },
    /// An error as Discord's JSON with this HTTP status, such as 401, 403, 500.
    Status(u16),
    /// 502 with an HTML page.
    BadGateway,
    /// No response.
    Hang,
    /// A connection reset before the request is run.
    ResetBefore,
    /// A connection reset after the request was run.
    ResetAfter,
    /// The real response with invalid rate-limit headers.
    GarbageHeaders,
}

/// A fault in the event frames of one bot, or of all.
#[derive(Clone, Debug, Default)]
pub(crate) struct FrameFault {
    pub(crate) bot: Option<String>,
    pub(crate) delay: Duration,
    pub(crate) duplicate: f64,
    pub(crate) reorder: f64,
    pub(crate) reorder_by: Duration,
}

/// How faults change one frame.
pub(crate) struct FrameEffect {
    /// Delays this frame and all later ones.
    pub(crate) delay: Duration,
    pub(crate) copies: u32,
    /// Holds back this frame for so long. Later frames overtake it.
    pub(crate) hold: Option<Duration>,
}

impl FrameEffect {
    const NORMAL: Self = Self { delay: Duration::ZERO, copies: 1, hold: None };
}

/// The requests to which a REST fault applies.
#[derive(Clone, Debug)]
pub(crate) struct RestRule {
    pub(crate) method: Option<String>,
    /// Prefix of the path, without `/api/v10`.
    pub(crate) path: String,
    pub(crate) fault: RestFault,
}

#[derive(Default)]
pub(crate) struct Switches {
    pub(crate) refuse_resume: Vec<Counted<()>>,
    pub(crate) close_after_identify: Vec<Counted<u16>>,
    pub(crate) withhold_acks: Vec<Counted<()>>,
    pub(crate) ignore_upgrades: u32,
    pub(crate) withhold_hellos: u32,
    pub(crate) frames: Vec<FrameFault>,
    pub(crate) rest: Vec<Counted<RestRule>>,
    /// The ids of people who take no direct messages from bots.
    pub(crate) closed_direct: Vec<String>,
    pub(crate) nonce_window: Option<Duration>,
    pub(crate) random: fastrand::Rng,
}

#[derive(Default)]
pub(crate) struct Faults {
    /// Avoids the lock on each frame while no fault is set.
    frames_disturbed: AtomicBool,
    switches: Mutex<Switches>,
}

impl Faults {
    /// Changes the switches.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Switches)) {
        let mut switches = self.switches();
        change(&mut switches);
        self.frames_disturbed.store(!switches.frames.is_empty(), Ordering::SeqCst);
    }

    fn switches(&self) -> MutexGuard<'_, Switches> {
        self.switches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn ignores_upgrade(&self) -> bool {
        take_one(&mut self.switches().ignore_upgrades)
    }

    pub(crate) fn withholds_hello(&self) -> bool {
        take_one(&mut self.switches().withhold_hellos)
    }

    pub(crate) fn withholds_acks(&self, bot: Option<&str>) -> bool {
        self.switches().withhold_acks.iter().any(|fault| fault.applies_to(bot))
    }

    pub(crate) fn refuses_resume(&self, bot: Option<&str>) -> bool {
        take(&mut self.switches().refuse_resume, bot, |()| true).is_some()
    }

    pub(crate) fn closes_after_identify(&self, bot: Option<&str>) -> Option<u16> {
        take(&mut self.switches().close_after_identify, bot, |_| true)
    }

    pub(crate) fn take_rest_fault(&self, bot: Option<&str>, method: &str, path: &str) -> Option<RestFault> {
        let matches_request = |rule: &RestRule| {
            rule.method.as_deref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(method)) && path.starts_with(&rule.path)
        };
        take(&mut self.switches().rest, bot, matches_request).map(|rule| rule.fault)
    }

    pub(crate) fn has_closed_direct(&self, person: &str) -> bool {
        self.switches().closed_direct.iter().any(|closed| closed == person)
    }

    pub(crate) fn nonce_window(&self, usual: Duration) -> Duration {
        self.switches().nonce_window.unwrap_or(usual)
    }

    pub(crate) fn frame_effect(&self, bot: Option<&str>, event: &str) -> FrameEffect {
        // A client ignores events before READY or RESUMED, so these are not changed.
        if !self.frames_disturbed.load(Ordering::SeqCst) || ["READY", "RESUMED"].contains(&event) {
            return FrameEffect::NORMAL;
        }
        let mut switches = self.switches();
        let Switches { frames, random, .. } = &mut *switches;
        let mut effect = FrameEffect::NORMAL;
        for fault in frames.iter().filter(|fault| fault.bot.is_none() || fault.bot.as_deref() == bot) {
            effect.delay = effect.delay.max(fault.delay);
            if random.f64() < fault.duplicate {
                effect.copies = 2;
            }
            if random.f64() < fault.reorder {
                effect.hold = Some(fault.reorder_by.mul_f64(random.f64()));
            }
        }
        effect
    }
}

fn take_one(times: &mut u32) -> bool {
    let is_due = *times > 0;
    *times = times.saturating_sub(1);
    is_due
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_gives_one_sequence_of_fates() {
        let copies = |seed| {
            let faults = Faults::default();
            faults.change(|switches| {
                switches.random = fastrand::Rng::with_seed(seed);
                switches.frames.push(FrameFault { duplicate: 0.5, ..FrameFault::default() });
            });
            (0..64).map(|_| faults.frame_effect(None, "MESSAGE_CREATE").copies).collect::<Vec<_>>()
        };
        assert_eq!(copies(7), copies(7));
        assert!(copies(7).contains(&1) && copies(7).contains(&2));
    }
}
