//! Reads delegations.

use selfsame_did::Did;

use crate::content::is_fragment;
use crate::delegation::GivenDelegation;
use crate::identifier::Identifier;
use crate::state::{StateError, StateKey, StateRead, read};

use super::StateMachine;

impl StateMachine {
    /// A delegation of an issuer, in force or ended.
    pub fn delegation(
        &self,
        state: &dyn StateRead,
        issuer: &Did,
        name: &str,
    ) -> Result<Option<GivenDelegation>, StateError> {
        match Identifier::of_did(issuer, self.network()) {
            Some(issuer) if is_fragment(name) => {
                read(&self.begun(state), &StateKey::Delegation(issuer, name))
            }
            _ => Ok(None),
        }
    }
}
