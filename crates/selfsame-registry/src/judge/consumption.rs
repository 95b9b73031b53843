//! Single use: the first use of a handle is accepted, by the issuer or a delegate.

use crate::authority::{Act, Whose};
use crate::consumption::{Consume, Consumption, use_digest};
use crate::delegation::{GivenDelegation, is_type};
use crate::refusal::{CheckError, DelegationFault, Refusal};
use crate::state::{StateKey, read};

use super::{JudgedStep, active};

impl JudgedStep<'_> {
    pub(super) fn consume(&mut self, consume: &Consume) -> Result<(), CheckError> {
        self.active_author()?;
        let whose = self.whose(consume.issuer);
        self.authorise(Act::Consume, whose)?;
        if !is_type(&consume.kind) {
            return Err(Refusal::Delegation(DelegationFault::Malformed).into());
        }
        active(&self.to, consume.issuer)?;
        self.is_the_issuer_or_his_delegate(consume, whose)?;
        let digest = use_digest(&consume.kind, &consume.handle);
        let key = StateKey::Use(consume.issuer, &digest);
        if let Some(first) = read::<Consumption>(&self.to, &key)? {
            let receipt = first.receipt;
            return Err(Refusal::Used { receipt }.into());
        }
        let consumption = Consumption {
            action: consume.action,
            kind: consume.kind.clone(),
            by: self.author,
            delegation: consume.delegation.clone(),
            receipt: self.receipt,
        };
        self.to.put(&key, &consumption);
        Ok(())
    }

    fn is_the_issuer_or_his_delegate(
        &self,
        consume: &Consume,
        whose: Whose,
    ) -> Result<(), CheckError> {
        let fault = match (whose, &consume.delegation) {
            (Whose::Own, None) => return Ok(()),
            (Whose::Own, Some(_)) => Some(DelegationFault::Needless),
            (Whose::Other, None) => Some(DelegationFault::Unknown),
            (Whose::Other, Some(name)) => {
                let given = self.delegation_of(consume.issuer, name)?;
                self.fault_of(&given, consume)
            }
        };
        match fault {
            None => Ok(()),
            Some(fault) => Err(Refusal::Delegation(fault).into()),
        }
    }

    /// Why a delegation does not cover this use by the author; `None` if it does.
    fn fault_of(&self, given: &GivenDelegation, consume: &Consume) -> Option<DelegationFault> {
        let GivenDelegation {
            delegation,
            withdrawn,
            ..
        } = given;
        let fault = if delegation.to != self.author {
            DelegationFault::Delegate
        } else if withdrawn.is_some() {
            DelegationFault::Withdrawn
        } else if self.at.time >= delegation.until {
            DelegationFault::Expired
        } else if delegation.action != consume.action {
            DelegationFault::Action
        } else if !delegation.scope.contains(&consume.kind) {
            DelegationFault::Scope
        } else {
            return None;
        };
        Some(fault)
    }
}
