//! Governance: changes of the validators and of the rules.

use selfsame_proof::cbor::Malformed;
use selfsame_proof::validators::{Validator, ValidatorSet};

use crate::authority::{Act, Whose};
use crate::encoding::Maybe;
use crate::governance::ValidatorChange;
use crate::history::{History, PresentVersion};
use crate::identifier::Identifier;
use crate::refusal::{CheckError, GovernanceFault, Refusal};
use crate::rules::{Rules, Schedule};
use crate::state::{StateError, StateKey, read};

use super::{JudgedStep, Situation};

impl JudgedStep<'_> {
    /// Removes validators by name and adds others, from the next height on. A validator in both lists is replaced.
    pub(super) fn change_validators(
        &mut self,
        add: &[Validator],
        remove: &[String],
    ) -> Result<(), CheckError> {
        self.active_author()?;
        let set: ValidatorSet = read(&self.to, &StateKey::Validators)?
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
        let number =
            History::<ValidatorChange>::new(&self.to, StateKey::ValidatorChanges).count()?;
        let present = PresentVersion::open(number.saturating_add(1));
        self.to.put(&StateKey::Validators, &change.set);
        self.to
            .put_version(&StateKey::ValidatorChanges, present, &change);
        Ok(())
    }

    fn remove_validator(&mut self, name: &str) -> Result<(), CheckError> {
        let owner: Maybe<Identifier> =
            read(&self.to, &StateKey::OwnerOf(name))?.unwrap_or_default();
        let whose = match owner.0 {
            Some(owner) => self.whose(owner),
            None => Whose::Other,
        };
        self.authorise(Act::RemoveValidator, whose)?;
        if let Some(owner) = owner.0 {
            self.to
                .put(&StateKey::ValidatorOf(owner), &Maybe::<String>(None));
            self.to
                .put(&StateKey::OwnerOf(name), &Maybe::<Identifier>(None));
        }
        Ok(())
    }

    /// A trustee may add any validator. A steward may add one, with no more power than the least of the others, since
    /// with more it could outvote them all.
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
            read(&self.to, &StateKey::ValidatorOf(self.author))?.unwrap_or_default();
        if has.0.is_some() {
            return Err(Refusal::Governance(GovernanceFault::OneEach).into());
        }
        if least.is_none_or(|least| validator.power > least) {
            return Err(Refusal::Governance(GovernanceFault::Power).into());
        }
        let (name, owner) = (validator.name.clone(), self.author);
        self.to
            .put(&StateKey::OwnerOf(&validator.name), &Maybe(Some(owner)));
        self.to
            .put(&StateKey::ValidatorOf(owner), &Maybe(Some(name)));
        Ok(())
    }

    /// Changes the rules from a later height on. This replaces changes planned for that height or later.
    pub(super) fn change_rules(&mut self, from: u64, rules: &Rules) -> Result<(), CheckError> {
        self.active_author()?;
        self.authorise(Act::ChangeRules, Whose::Other)?;
        if from <= self.at.height {
            return Err(Refusal::Governance(GovernanceFault::Height).into());
        }
        rules
            .check()
            .map_err(|Malformed(why)| Refusal::Governance(GovernanceFault::Rules(why)))?;
        let schedule: Schedule = read(&self.to, &StateKey::Rules)?
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
        self.to.put(&StateKey::Rules, &schedule);
        Ok(())
    }
}

impl Situation<'_> {
    /// A program that lacks a machine stops at the height where the network changes to it, before its results could
    /// differ from those of the others.
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
