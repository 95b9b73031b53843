//! What the handlers need of the instance that serves them.

use std::sync::Arc;

use selfsame_webhooks::{WebhookOwner, Webhooks};

/// The webhooks of the organisation whose address was called.
pub struct WebhooksHere {
    /// Those of the instance.
    pub webhooks: Arc<Webhooks>,
    /// The tenant whose webhooks are meant.
    pub owner: WebhookOwner,
}
