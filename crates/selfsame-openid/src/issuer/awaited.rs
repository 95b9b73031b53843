//! What a grant's record has of the responses that wallets are to tell of (OpenID4VCI 1.0 §11).

use selfsame_openid4vc::wire::notification::NotificationEvent;
use serde::{Deserialize, Serialize};

/// A response that a wallet is to tell of.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct AwaitedNotification {
    /// The name of the response.
    pub id: String,
    /// The credentials in it.
    pub credentials: Vec<String>,
    /// What the wallet said last.
    pub event: Option<NotificationEvent>,
}

impl AwaitedNotification {
    /// Of a response of this name with these credentials.
    pub fn new(id: String, credentials: Vec<String>) -> Self {
        Self {
            id,
            credentials,
            event: None,
        }
    }
}
