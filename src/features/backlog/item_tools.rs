use std::sync::Arc;

use crate::features::backlog::executor::Assignment;
use kernel::agent::OwnTool;

/// Gives tools of its own to the runs of some items. A later feature provides it as [`ItemTools`], because the backlog does not know it.
pub(crate) trait OfferTools: Send + Sync {
    /// The tools for the item's run. Empty if the item does not belong to the feature.
    fn offer<'a>(&'a self, of: &'a Assignment<'a>) -> Vec<Box<dyn OwnTool + 'a>>;
}

/// The service of [`OfferTools`]. Without it runs have only the tools of the backlog.
pub struct ItemTools(pub(crate) Arc<dyn OfferTools>);
