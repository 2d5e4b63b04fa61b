//! The budget of a mission. The meter refuses calls beyond it, and the steps wait. Here people are told, and can raise it.

use chrono::{DateTime, Utc};

use crate::features::backlog::model::{Wait, WorkItem};
use crate::features::backlog::service::Asker;
use crate::features::mission::follow::Follower;
use crate::features::mission::model::Mission;
use crate::features::mission::render;
use crate::features::mission::service::{MissionError, Missions, named, refused};
use kernel::chat::outbound::OutboundMessage;
use kernel::db::StoreError;
use kernel::money::{Limit, Money, Refused};

/// People are told when this share of the budget is used, in percent.
const MOST: i64 = 80;

/// The refusal by the mission's own budget that an item waits for.
pub(super) fn find_refused(item: &WorkItem) -> Option<&Refused> {
    match &item.wait {
        Some(Wait::Budget { refused, .. }) if refused.limit.mission().is_some() => Some(refused),
        _ => None,
    }
}

impl Follower {
    /// Reports that most of the budget is used, once for each amount of the budget.
    pub(super) async fn watch_budget(&self, mission: &Mission, cost: Money, now: DateTime<Utc>) -> Result<(), StoreError> {
        let limit = Limit::Mission(mission.id.clone());
        let Some(allowed) = self.store.find_allowed(&limit, &self.budgets, now).await? else { return Ok(()) };
        if cost.0.saturating_mul(100) >= allowed.saturating_mul(MOST) {
            let used = Refused { limit, spent: cost.0, allowed };
            let notice = render::budget_low(mission, &used, self.budgets.step(&used.limit), &self.roster);
            self.tell_once(mission, "low", &used, notice, now).await?;
        }
        Ok(())
    }

    /// Reports that the remaining steps wait for a higher budget, unless it has been raised since.
    pub(super) async fn tell_used_up(&self, mission: &Mission, used: &Refused, now: DateTime<Utc>) -> Result<(), StoreError> {
        let allowed = self.store.find_allowed(&used.limit, &self.budgets, now).await?;
        if allowed.is_none_or(|allowed| allowed > used.allowed) {
            return Ok(());
        }
        let notice = render::budget_used_up(mission, used, self.budgets.step(&used.limit), &self.roster);
        self.tell_once(mission, "used-up", used, notice, now).await
    }

    async fn tell_once(
        &self,
        mission: &Mission,
        what: &str,
        used: &Refused,
        notice: OutboundMessage,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let id = mission.message_id(&format!("{what}-{}-{}", used.limit.as_str(), used.allowed));
        self.store.enqueue_once(&OutboundMessage { id, ..notice }, now).await?;
        Ok(())
    }
}

impl Missions {
    /// The mission's current budget. None: no limit.
    pub(super) async fn budget_of(&self, mission: &Mission) -> Result<Option<Money>, MissionError> {
        let limit = Limit::Mission(mission.id.clone());
        let allowed = self.store().find_allowed(&limit, self.budgets(), self.clock().now()).await?;
        Ok(allowed.map(Money))
    }

    /// Raises the budget if it is still `from`, and wakes the steps. Returns the increase, for people.
    pub(super) async fn raise(&self, mission: &Mission, tokens: bool, from: i64, asker: &Asker) -> Result<String, MissionError> {
        if !asker.operates() {
            return Err(refused("Only operators can raise a budget."));
        }
        if mission.status.is_over() {
            return Err(refused(format!("{} is over already: it is {}.", named(mission), mission.status.as_str())));
        }
        let (id, now) = (mission.id.clone(), self.clock().now());
        let limit = if tokens { Limit::MissionTokens(id) } else { Limit::Mission(id) };
        let Some(budget) = self.budgets().find(&limit) else { return Err(refused("This mission has no limit any more.")) };
        let amount = self.budgets().step(&limit);
        if !self.store().raise_limit_once(&limit, from - budget, amount, asker.name(), now).await? {
            return Err(refused("This budget has been changed already."));
        }
        // If the process dies here, the planner of the backlog finds that the limit is higher, and each start looks at all missions.
        let (whole, steps) = (self.store().find_item(&mission.id).await?, self.items_of(mission).await?);
        for item in whole.iter().chain(&steps) {
            if find_refused(item).is_some_and(|used| used.limit == limit) {
                self.store().wake_item(&item.id, Some(asker.name()), now).await?;
            }
        }
        self.store().wake_one_mission(&mission.id, now).await?;
        Ok(limit.render(amount))
    }
}
