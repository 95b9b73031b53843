//! Members: who may give or take a role, and that a trustee stays.

use crate::authority::{Act, Role};
use crate::history::{History, role_of};
use crate::identifier::Identifier;
use crate::member::{Count, Membership};
use crate::refusal::{CheckError, GovernanceFault, Refusal};
use crate::state::{Key, StateError, read};

use super::{Step, active};

impl Step<'_> {
    /// Gives a registered DID a role, or takes it.
    pub(super) fn set_role(
        &mut self,
        subject: Identifier,
        role: Option<Role>,
    ) -> Result<(), CheckError> {
        self.active_author()?;
        let before = role_of(&self.to, subject)?;
        let whose = self.whose(subject);
        if let Some(before) = before {
            // Whoever gets another role loses this one.
            self.authorise(Act::TakeRole, whose)?;
            self.leaves_a_trustee(before, role)?;
        }
        self.authorise(role.map_or(Act::TakeRole, Role::addition), whose)?;
        active(&self.to, subject).map_err(|error| match error {
            CheckError::Refused(_) => Refusal::Governance(GovernanceFault::NotRegistered).into(),
            error @ CheckError::State(_) => error,
        })?;
        if before == role {
            return Err(Refusal::Governance(GovernanceFault::Unchanged).into());
        }
        self.put_role(subject, (before, role))
    }

    /// Takes the role of a DID that ends: a deactivated DID signs nothing, so it governs nothing.
    pub(super) fn end_role(&mut self) -> Result<(), CheckError> {
        match role_of(&self.to, self.author)? {
            None => Ok(()),
            Some(before) => {
                self.leaves_a_trustee(before, None)?;
                self.put_role(self.author, (Some(before), None))
            }
        }
    }

    fn put_role(
        &mut self,
        subject: Identifier,
        (before, role): (Option<Role>, Option<Role>),
    ) -> Result<(), CheckError> {
        let key = Key::Role(subject);
        let number = History::<Membership>::new(&self.to, key).count()?;
        let membership = Membership {
            role,
            by: Some(self.author),
            receipt: self.receipt,
        };
        let number = number.saturating_add(1);
        self.to.put_version(&key, (number, false), &membership);
        self.count_trustees(before, role)
    }

    /// Without a trustee nobody could ever govern the network again.
    fn leaves_a_trustee(&self, before: Role, after: Option<Role>) -> Result<(), CheckError> {
        let leaves = before == Role::Trustee && after != Some(Role::Trustee);
        match leaves && self.trustees()? <= 1 {
            true => Err(Refusal::Governance(GovernanceFault::LastTrustee).into()),
            false => Ok(()),
        }
    }

    fn trustees(&self) -> Result<u64, StateError> {
        Ok(read::<Count>(&self.to, &Key::Trustees)?
            .unwrap_or_default()
            .0)
    }

    fn count_trustees(
        &mut self,
        before: Option<Role>,
        after: Option<Role>,
    ) -> Result<(), CheckError> {
        let is = |role| u64::from(role == Some(Role::Trustee));
        if is(before) != is(after) {
            let count = self.trustees()?.saturating_add(is(after));
            let count = Count(count.saturating_sub(is(before)));
            self.to.put(&Key::Trustees, &count);
        }
        Ok(())
    }
}
