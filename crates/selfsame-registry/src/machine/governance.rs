//! Reads the validators and the rules.

use std::ops::Range;

use selfsame_crypto::time::UnixTime;
use selfsame_proof::validators::ValidatorSet;

use crate::encoding::Maybe;
use crate::governance::ValidatorChange;
use crate::history::History;
use crate::identifier::Identifier;
use crate::operation::Operation;
use crate::refusal::{GovernanceFault, Refusal};
use crate::rules::{Rules, Schedule};
use crate::state::{StateError, StateKey, StateRead, read};
use crate::transaction::Transaction;

use super::StateMachine;

impl StateMachine {
    /// Why this node may not propose a transaction, though other nodes may accept it: it changes the network to a
    /// machine that this program lacks. A network changes once the programs of more than two thirds of the power have
    /// the machine.
    pub fn is_unready_for(&self, tx: &Transaction) -> Option<Refusal> {
        let unknown = |operation: &Operation| match operation {
            Operation::ChangeRules { rules, .. } => rules.machine_version > self.known,
            _ => false,
        };
        let mut operations = tx.body().operations.iter();
        operations
            .any(unknown)
            .then_some(Refusal::Governance(GovernanceFault::MachineUnknown))
    }

    /// The validators of the next height.
    pub fn validators(&self, state: &dyn StateRead) -> Result<ValidatorSet, StateError> {
        read(&self.begun(state), &StateKey::Validators)?
            .ok_or_else(|| StateError("there are no validators".to_owned()))
    }

    /// The validators at a time, by the last change up to then.
    pub fn validators_at(
        &self,
        state: &dyn StateRead,
        time: UnixTime,
    ) -> Result<Option<ValidatorChange>, StateError> {
        History::new(&self.begun(state), StateKey::ValidatorChanges).at(time)
    }

    /// The last `count` changes of the validators, oldest first; the genesis is the first.
    pub fn validator_changes(
        &self,
        state: &dyn StateRead,
        count: usize,
    ) -> Result<Vec<ValidatorChange>, StateError> {
        History::new(&self.begun(state), StateKey::ValidatorChanges).latest(count)
    }

    /// The heights in a range at which transactions changed the validators: the lowest, `most` of them.
    pub fn validators_changed_at(
        &self,
        state: &dyn StateRead,
        range: Range<u64>,
        most: usize,
    ) -> Result<Vec<u64>, StateError> {
        let state = self.begun(state);
        let changes = History::<ValidatorChange>::new(&state, StateKey::ValidatorChanges);
        // The genesis is no transaction.
        let first = range.start.max(1);
        let before = changes.numbered_while(|receipt| receipt.height < first)?;
        let mut heights = Vec::new();
        for number in before.saturating_add(1)..=changes.count()? {
            let height = changes.version(number)?.receipt.height;
            // A block may change them several times.
            if heights.last() == Some(&height) {
                continue;
            }
            if height >= range.end || heights.len() >= most {
                break;
            }
            heights.push(height);
        }
        Ok(heights)
    }

    /// The steward who runs a validator; `None` if the genesis or a trustee added it.
    pub fn validator_owner(
        &self,
        state: &dyn StateRead,
        name: &str,
    ) -> Result<Option<Identifier>, StateError> {
        let owner = read::<Maybe<Identifier>>(&self.begun(state), &StateKey::OwnerOf(name))?;
        Ok(owner.unwrap_or_default().0)
    }

    /// The rules for a block of a height, as decided so far.
    pub fn rules(&self, state: &dyn StateRead, height: u64) -> Result<Rules, StateError> {
        let schedule: Option<Schedule> = read(&self.begun(state), &StateKey::Rules)?;
        schedule
            .and_then(|schedule| schedule.at(height))
            .ok_or_else(|| StateError("there are no rules".to_owned()))
    }

    /// The rules, each with the first height it holds for, ascending.
    pub fn schedule(&self, state: &dyn StateRead) -> Result<Vec<(u64, Rules)>, StateError> {
        let schedule: Option<Schedule> = read(&self.begun(state), &StateKey::Rules)?;
        Ok(schedule.unwrap_or_default().0)
    }
}
