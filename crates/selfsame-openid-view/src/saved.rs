//! The types of saved requests: as they are listed, opened, and seen by visitors.

use selfsame_credential::verdict::Outcome;

use super::verifier::RequestState;

/// A request that a visitor has opened, as far as they may see it: without any claim.
#[derive(Clone, Debug)]
pub struct VisitorsRequest {
    /// Its id.
    pub id: String,
    /// Its state.
    pub state: RequestState,
    /// The outcome, once there is one.
    pub outcome: Option<Outcome>,
    /// The text of the page that opened it.
    pub reference: Option<String>,
    /// The link for the wallet.
    pub uri: String,
    /// Whether the result waits for the person to return from their wallet to this browser.
    pub awaits_return: bool,
}
