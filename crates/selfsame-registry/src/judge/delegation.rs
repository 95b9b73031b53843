//! Delegations: an issuer gives and withdraws its own.

use crate::authority::{Act, Whose};
use crate::content::is_fragment;
use crate::delegation::{Delegation, GivenDelegation, is_type};
use crate::refusal::{CheckError, DelegationFault, Refusal};
use crate::state::StateKey;

use super::{JudgedStep, active};

impl JudgedStep<'_> {
    pub(super) fn delegate(&mut self, delegation: &Delegation) -> Result<(), CheckError> {
        self.active_author()?;
        self.authorise(Act::Delegate, Whose::Own)?;
        self.is_well_formed(delegation)?;
        active(&self.to, delegation.to).map_err(|error| match error {
            CheckError::Refused(_) => Refusal::Delegation(DelegationFault::Delegate).into(),
            error @ CheckError::State(_) => error,
        })?;
        let key = StateKey::Delegation(self.author, &delegation.name);
        if self.to.has(&key)? {
            return Err(Refusal::Delegation(DelegationFault::NameUsed).into());
        }
        let given = GivenDelegation {
            delegation: delegation.clone(),
            receipt: self.receipt,
            withdrawn: None,
        };
        self.to.put(&key, &given);
        Ok(())
    }

    pub(super) fn withdraw_delegation(&mut self, name: &str) -> Result<(), CheckError> {
        self.active_author()?;
        self.authorise(Act::Delegate, Whose::Own)?;
        let given = self.delegation_of(self.author, name)?;
        if given.withdrawn.is_some() {
            return Err(Refusal::Delegation(DelegationFault::Withdrawn).into());
        }
        let withdrawn = GivenDelegation {
            withdrawn: Some(self.receipt),
            ..given
        };
        self.to
            .put(&StateKey::Delegation(self.author, name), &withdrawn);
        Ok(())
    }

    fn is_well_formed(&self, delegation: &Delegation) -> Result<(), Refusal> {
        let rules = &self.at.rules;
        let many = u64::try_from(delegation.scope.len()).is_ok_and(|many| many > rules.max_scope);
        let typed = delegation.scope.iter().all(|kind| is_type(kind));
        if !is_fragment(&delegation.name) || delegation.scope.is_empty() || many || !typed {
            return Err(Refusal::Delegation(DelegationFault::Malformed));
        }
        let latest = self.at.time.plus(rules.max_delegation);
        match delegation.until > self.at.time && delegation.until <= latest {
            true => Ok(()),
            false => Err(Refusal::Delegation(DelegationFault::Until)),
        }
    }
}
