//! Reads the roles of members.

use selfsame_crypto::time::UnixTime;
use selfsame_did::Did;

use crate::authority::Role;
use crate::history::{History, role_of};
use crate::identifier::Identifier;
use crate::member::Membership;
use crate::state::{StateError, StateKey, StateRead};

use super::StateMachine;

impl StateMachine {
    /// The role of a DID now; `None` for a DID without a role.
    pub fn role(&self, state: &dyn StateRead, did: &Did) -> Result<Option<Role>, StateError> {
        match Identifier::of_did(did, self.network()) {
            Some(id) => role_of(&self.begun(state), id),
            None => Ok(None),
        }
    }

    /// The role a DID had at a time.
    pub fn role_at(
        &self,
        state: &dyn StateRead,
        did: &Did,
        time: UnixTime,
    ) -> Result<Option<Role>, StateError> {
        let Some(id) = Identifier::of_did(did, self.network()) else {
            return Ok(None);
        };
        let state = self.begun(state);
        let membership = History::<Membership>::new(&state, StateKey::Role(id)).at(time)?;
        Ok(membership.and_then(|membership| membership.role))
    }

    /// The last `count` changes of a DID's role, oldest first.
    pub fn memberships(
        &self,
        state: &dyn StateRead,
        did: &Did,
        count: usize,
    ) -> Result<Vec<Membership>, StateError> {
        match Identifier::of_did(did, self.network()) {
            Some(id) => {
                History::<Membership>::new(&self.begun(state), StateKey::Role(id)).latest(count)
            }
            None => Ok(Vec::new()),
        }
    }
}
