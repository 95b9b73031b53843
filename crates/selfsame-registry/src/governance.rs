//! Governance: who validates, and by which rules, from which height on.

use selfsame_crypto::time::UnixTime;
use selfsame_proof::cbor::{Item, Malformed, Reader, Writer};
use selfsame_proof::validators::{Validator, ValidatorSet};

use crate::authority::{Act, Whose};
use crate::encoding::{Maybe, optional, write_optional};
use crate::history::{History, Version};
use crate::identifier::Identifier;
use crate::judge::{Situation, Step};
use crate::machine::Machine;
use crate::operation::Operation;
use crate::refusal::{CheckError, GovernanceFault, Refusal};
use crate::rules::{Rules, Schedule};
use crate::state::{Key, Receipt, StateError, StateRead, read};
use crate::transaction::Transaction;

/// The validators as a transaction, or the genesis, set them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ValidatorChange {
    /// The validators from the next height on.
    pub set: ValidatorSet,
    /// When.
    pub receipt: Receipt,
}

impl Step<'_> {
    /// Removes validators by name and adds others, from the next height on. Somebody who is in both
    /// is replaced.
    pub(crate) fn change_validators(
        &mut self,
        add: &[Validator],
        remove: &[String],
    ) -> Result<(), CheckError> {
        self.active_author()?;
        let set: ValidatorSet = read(&self.to, &Key::Validators)?
            .ok_or_else(|| StateError("there are no validators".to_owned()))?;
        let mut validators = set.validators().to_vec();
        for name in remove {
            let before = validators.len();
            validators.retain(|validator| validator.name != *name);
            if validators.len() == before {
                return Err(Refusal::Governance(GovernanceFault::UnknownValidator).into());
            }
            self.remove_validator(name)?;
        }
        let least = validators.iter().map(|validator| validator.power).min();
        for validator in add {
            validator
                .has_points()
                .map_err(|Malformed(why)| Refusal::Governance(GovernanceFault::Validators(why)))?;
            self.add_validator(validator, least)?;
            validators.push(validator.clone());
        }
        let after = ValidatorSet::new(validators)
            .map_err(|Malformed(why)| Refusal::Governance(GovernanceFault::Validators(why)))?;
        if after == set {
            return Err(Refusal::Governance(GovernanceFault::Unchanged).into());
        }
        if !after.agrees_on_an_engine() {
            return Err(Refusal::Governance(GovernanceFault::Engine).into());
        }
        if set.is_in_engine() && !after.is_in_engine() {
            return Err(Refusal::Governance(GovernanceFault::EngineLeft).into());
        }
        let change = ValidatorChange {
            set: after,
            receipt: self.receipt,
        };
        let number = History::<ValidatorChange>::new(&self.to, Key::ValidatorChanges).count()?;
        let number = (number.saturating_add(1), false);
        self.to.put(&Key::Validators, &change.set);
        self.to.put_version(&Key::ValidatorChanges, number, &change);
        Ok(())
    }

    fn remove_validator(&mut self, name: &str) -> Result<(), CheckError> {
        let owner: Maybe<Identifier> = read(&self.to, &Key::OwnerOf(name))?.unwrap_or_default();
        let whose = match owner.0 {
            Some(owner) => self.whose(owner),
            None => Whose::Other,
        };
        self.authorise(Act::RemoveValidator, whose)?;
        if let Some(owner) = owner.0 {
            self.to
                .put(&Key::ValidatorOf(owner), &Maybe::<String>(None));
            self.to.put(&Key::OwnerOf(name), &Maybe::<Identifier>(None));
        }
        Ok(())
    }

    /// A trustee adds any. A steward adds one of his own, no mightier than the least of the others,
    /// or he could outvote them all.
    fn add_validator(
        &mut self,
        validator: &Validator,
        least: Option<u64>,
    ) -> Result<(), CheckError> {
        if self.authorise(Act::AddValidator, Whose::Other).is_ok() {
            return Ok(());
        }
        self.authorise(Act::AddValidator, Whose::Own)?;
        let has: Maybe<String> =
            read(&self.to, &Key::ValidatorOf(self.author))?.unwrap_or_default();
        if has.0.is_some() {
            return Err(Refusal::Governance(GovernanceFault::OneEach).into());
        }
        if least.is_none_or(|least| validator.power > least) {
            return Err(Refusal::Governance(GovernanceFault::Power).into());
        }
        let (name, owner) = (validator.name.clone(), self.author);
        self.to
            .put(&Key::OwnerOf(&validator.name), &Maybe(Some(owner)));
        self.to.put(&Key::ValidatorOf(owner), &Maybe(Some(name)));
        Ok(())
    }

    /// Other rules from a later height on. They take the place of changes that were to come at that
    /// height or later.
    pub(crate) fn change_rules(&mut self, from: u64, rules: &Rules) -> Result<(), CheckError> {
        self.active_author()?;
        self.authorise(Act::ChangeRules, Whose::Other)?;
        if from <= self.at.height {
            return Err(Refusal::Governance(GovernanceFault::Height).into());
        }
        rules
            .check()
            .map_err(|Malformed(why)| Refusal::Governance(GovernanceFault::Rules(why)))?;
        let schedule: Schedule = read(&self.to, &Key::Rules)?
            .ok_or_else(|| StateError("there are no rules".to_owned()))?;
        let before = schedule.at(from.saturating_sub(1));
        let before = before.unwrap_or(self.at.rules).machine_version;
        let next = before.saturating_add(1);
        if !(before..=next).contains(&rules.machine_version) {
            return Err(Refusal::Governance(GovernanceFault::Machine).into());
        }
        self.at.knows(rules)?;
        let schedule = schedule
            .changed(self.at.height, from, rules)
            .ok_or(Refusal::Governance(GovernanceFault::TooManyChanges))?;
        self.to.put(&Key::Rules, &schedule);
        Ok(())
    }
}

impl Situation<'_> {
    /// A program that does not have a machine stops where the network goes over to it, before it could say anything
    /// else than the others.
    pub(crate) fn knows(&self, rules: &Rules) -> Result<(), StateError> {
        match rules.machine_version <= self.known {
            true => Ok(()),
            false => Err(StateError(format!(
                "the network goes over to machine {}, and this program has {} of them: install a newer one",
                rules.machine_version, self.known
            ))),
        }
    }
}

impl Machine {
    /// Why a transaction may not be proposed here, though others may accept it: it has the network go over to a machine
    /// that this program does not have. A network goes over once programs of more than two thirds of the power have it.
    pub fn is_unready_for(&self, tx: &Transaction) -> Option<Refusal> {
        let unknown = |operation: &Operation| match operation {
            Operation::ChangeRules { rules, .. } => rules.machine_version > self.known(),
            _ => false,
        };
        let mut operations = tx.body().operations.iter();
        operations
            .any(unknown)
            .then_some(Refusal::Governance(GovernanceFault::MachineUnknown))
    }

    /// The validators of the next height.
    pub fn validators(&self, state: &dyn StateRead) -> Result<ValidatorSet, StateError> {
        read(&self.begun(state), &Key::Validators)?
            .ok_or_else(|| StateError("there are no validators".to_owned()))
    }

    /// The validators as they were set last before or at a time.
    pub fn validators_at(
        &self,
        state: &dyn StateRead,
        time: UnixTime,
    ) -> Result<Option<ValidatorChange>, StateError> {
        History::new(&self.begun(state), Key::ValidatorChanges).at(time)
    }

    /// The last `count` changes of the validators, oldest first; the genesis is the first.
    pub fn validator_changes(
        &self,
        state: &dyn StateRead,
        count: usize,
    ) -> Result<Vec<ValidatorChange>, StateError> {
        History::new(&self.begun(state), Key::ValidatorChanges).latest(count)
    }

    /// The heights from `first` on, before `end`, at which transactions changed the validators: the lowest, `most` of them.
    pub fn validators_changed_at(
        &self,
        state: &dyn StateRead,
        (first, end): (u64, u64),
        most: usize,
    ) -> Result<Vec<u64>, StateError> {
        let state = self.begun(state);
        let changes = History::<ValidatorChange>::new(&state, Key::ValidatorChanges);
        // The genesis is no transaction.
        let first = first.max(1);
        let before = changes.numbered_while(|receipt| receipt.height < first)?;
        let mut heights = Vec::new();
        for number in before.saturating_add(1)..=changes.count()? {
            let height = changes.version(number)?.receipt.height;
            // A block may change them several times.
            if heights.last() == Some(&height) {
                continue;
            }
            if height >= end || heights.len() >= most {
                break;
            }
            heights.push(height);
        }
        Ok(heights)
    }

    /// The steward who runs a validator; none where the genesis or a trustee added it.
    pub fn validator_owner(
        &self,
        state: &dyn StateRead,
        name: &str,
    ) -> Result<Option<Identifier>, StateError> {
        let owner = read::<Maybe<Identifier>>(&self.begun(state), &Key::OwnerOf(name))?;
        Ok(owner.unwrap_or_default().0)
    }

    /// The rules a block of that height is judged by, as far as they are decided.
    pub fn rules(&self, state: &dyn StateRead, height: u64) -> Result<Rules, StateError> {
        let schedule: Option<Schedule> = read(&self.begun(state), &Key::Rules)?;
        schedule
            .and_then(|schedule| schedule.at(height))
            .ok_or_else(|| StateError("there are no rules".to_owned()))
    }

    /// The rules and the heights they hold from, ascending.
    pub fn schedule(&self, state: &dyn StateRead) -> Result<Vec<(u64, Rules)>, StateError> {
        let schedule: Option<Schedule> = read(&self.begun(state), &Key::Rules)?;
        Ok(schedule.unwrap_or_default().0)
    }
}

impl Version for ValidatorChange {
    fn receipt(&self) -> &Receipt {
        &self.receipt
    }
}

impl Item for ValidatorChange {
    fn write(&self, to: &mut Writer) {
        to.array(2).item(&self.set).item(&self.receipt);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.tuple(2)?;
        Ok(Self {
            set: ValidatorSet::read(from)?,
            receipt: Receipt::read(from)?,
        })
    }
}

impl<T: Item> Item for Maybe<T> {
    fn write(&self, to: &mut Writer) {
        write_optional(to, self.0.as_ref());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        optional(from).map(Self)
    }
}
