//! Reads the anchors of status lists.

use selfsame_did::Did;

use crate::history::History;
use crate::identifier::Identifier;
use crate::state::{StateError, StateKey, StateRead};
use crate::status::Anchor;

use super::StateMachine;

impl StateMachine {
    /// The last anchor of a DID's status list under a URI.
    pub fn status_anchor(
        &self,
        state: &dyn StateRead,
        author: &Did,
        list: &str,
    ) -> Result<Option<Anchor>, StateError> {
        let Some(author) = Identifier::of_did(author, &self.network) else {
            return Ok(None);
        };
        let history = History::<Anchor>::new(state, StateKey::List(author, list));
        Ok(history.last()?.map(|(_, anchor)| anchor))
    }
}
