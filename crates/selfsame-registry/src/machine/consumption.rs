//! Reads the use of a credential for single use.

use selfsame_did::Did;

use crate::consumption::Consumption;
use crate::identifier::Identifier;
use crate::state::{StateError, StateKey, StateRead, read};

use super::StateMachine;

impl StateMachine {
    /// The use or the revocation of an issuer's credential; `None` if it is neither used up nor revoked.
    pub fn consumption(
        &self,
        state: &dyn StateRead,
        issuer: &Did,
        digest: &[u8; 32],
    ) -> Result<Option<Consumption>, StateError> {
        match Identifier::of_did(issuer, self.network()) {
            Some(issuer) => read(&self.begun(state), &StateKey::Use(issuer, digest)),
            None => Ok(None),
        }
    }
}
