//! Reads the author agreement.

use crate::agreement::AgreementInForce;
use crate::history::History;
use crate::state::{StateError, StateKey, StateRead};

use super::StateMachine;

impl StateMachine {
    /// The author agreement in force.
    pub fn agreement(&self, state: &dyn StateRead) -> Result<Option<AgreementInForce>, StateError> {
        let state = self.begun(state);
        let last = History::<AgreementInForce>::new(&state, StateKey::Agreement).last()?;
        Ok(last
            .map(|(_, set)| set)
            .filter(|set| set.agreement.is_some()))
    }

    /// The last `count` changes of the author agreement, oldest first.
    pub fn agreements(
        &self,
        state: &dyn StateRead,
        count: usize,
    ) -> Result<Vec<AgreementInForce>, StateError> {
        History::new(&self.begun(state), StateKey::Agreement).latest(count)
    }
}
