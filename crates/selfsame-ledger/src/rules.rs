//! The registry's machine as the rules by which TLS judges what peers staple.

use std::sync::Arc;

use selfsame_did::selfsame::Network;
use selfsame_did::{Did, Options, Resolution};
use selfsame_registry::{StateError, StateMachine, StateRead};
use selfsame_tls::identity::{KnownState, ListAnchor, NetworkRules};

/// The rules of a network, by its machine.
pub struct MachineRules(pub Arc<StateMachine>);

impl NetworkRules for MachineRules {
    fn network(&self) -> &Network {
        self.0.network()
    }

    fn resolve(&self, state: &dyn KnownState, did: &Did) -> Resolution {
        self.0
            .resolve(&KnownStateRead(state), did, &Options::default())
    }

    fn anchor(&self, state: &dyn KnownState, issuer: &Did, list: &str) -> Option<ListAnchor> {
        let anchor = self
            .0
            .status_anchor(&KnownStateRead(state), issuer, list)
            .ok()??;
        Some(ListAnchor {
            digest: anchor.digest,
            issued: anchor.issued,
        })
    }

    fn never_changes(&self, key: &[u8]) -> bool {
        StateMachine::never_changes(key)
    }
}

struct KnownStateRead<'a>(&'a dyn KnownState);

impl StateRead for KnownStateRead<'_> {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
        let known = self.0.get(key);
        known.ok_or_else(|| StateError("the value is not known".to_owned()))
    }
}
