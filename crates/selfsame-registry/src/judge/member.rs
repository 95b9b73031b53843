//! Members: who may give or take a role, and that a trustee stays.

use crate::authority::{Act, Role};
use crate::history::{History, PresentVersion, role_of};
use crate::identifier::Identifier;
use crate::member::{Count, Membership};
use crate::refusal::{CheckError, GovernanceFault, Refusal};
use crate::state::{StateError, StateKey, read};

use super::{JudgedStep, active};

/// The role of a DID before and after an operation; `None` without a role.
#[derive(Clone, Copy)]
struct RoleChange {
    before: Option<Role>,
    after: Option<Role>,
}

impl JudgedStep<'_> {
    /// Gives a registered DID a role, or takes it.
    pub(super) fn set_role(
        &mut self,
        subject: Identifier,
        role: Option<Role>,
    ) -> Result<(), CheckError> {
        self.active_author()?;
        let before = role_of(&self.to, subject)?;
        let change = RoleChange {
            before,
            after: role,
        };
        let whose = self.whose(subject);
        if before.is_some() {
            // A DID has one role, so a new role takes the present one away.
            self.authorise(Act::TakeRole, whose)?;
            self.leaves_a_trustee(change)?;
        }
        self.authorise(role.map_or(Act::TakeRole, Role::addition), whose)?;
        active(&self.to, subject).map_err(|error| match error {
            CheckError::Refused(_) => Refusal::Governance(GovernanceFault::NotRegistered).into(),
            error @ CheckError::State(_) => error,
        })?;
        if before == role {
            return Err(Refusal::Governance(GovernanceFault::Unchanged).into());
        }
        self.put_role(subject, change)
    }

    /// Takes the role of the author, whose DID ends: a deactivated DID can't sign, so it can't govern.
    pub(super) fn end_role(&mut self) -> Result<(), CheckError> {
        let before = role_of(&self.to, self.author)?;
        if before.is_none() {
            return Ok(());
        }
        let change = RoleChange {
            before,
            after: None,
        };
        self.leaves_a_trustee(change)?;
        self.put_role(self.author, change)
    }

    fn put_role(&mut self, subject: Identifier, change: RoleChange) -> Result<(), CheckError> {
        let key = StateKey::Role(subject);
        let number = History::<Membership>::new(&self.to, key).count()?;
        let membership = Membership {
            role: change.after,
            by: Some(self.author),
            receipt: self.receipt,
        };
        let present = PresentVersion::open(number.saturating_add(1));
        self.to.put_version(&key, present, &membership);
        self.count_trustees(change)
    }

    /// Without a trustee the network could never be governed again.
    fn leaves_a_trustee(&self, change: RoleChange) -> Result<(), CheckError> {
        let leaves = is_trustee(change.before) && !is_trustee(change.after);
        match leaves && self.trustees()? <= 1 {
            true => Err(Refusal::Governance(GovernanceFault::LastTrustee).into()),
            false => Ok(()),
        }
    }

    fn trustees(&self) -> Result<u64, StateError> {
        Ok(read::<Count>(&self.to, &StateKey::Trustees)?
            .unwrap_or_default()
            .0)
    }

    fn count_trustees(&mut self, change: RoleChange) -> Result<(), CheckError> {
        let [before, after] = [change.before, change.after].map(is_trustee).map(u64::from);
        if before != after {
            let count = self.trustees()?.saturating_add(after);
            let count = Count(count.saturating_sub(before));
            self.to.put(&StateKey::Trustees, &count);
        }
        Ok(())
    }
}

fn is_trustee(role: Option<Role>) -> bool {
    role == Some(Role::Trustee)
}
