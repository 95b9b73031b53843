//! Members: who has which role, since when, and by whom.

use selfsame_crypto::time::UnixTime;
use selfsame_did::Did;
use selfsame_proof::cbor::{Item, Malformed, Reader, Writer};

use crate::authority::{Act, Role, Whose};
use crate::encoding::{optional, write_optional};
use crate::history::{History, Version};
use crate::identifier::Identifier;
use crate::judge::{Step, active};
use crate::machine::Machine;
use crate::refusal::{CheckError, GovernanceFault, Refusal};
use crate::state::{Key, Receipt, StateError, StateRead, read};

/// A role as it was given or taken.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Membership {
    /// The role; none once it is taken.
    pub role: Option<Role>,
    /// Who gave or took it; nobody did in a genesis.
    pub by: Option<Identifier>,
    /// When.
    pub receipt: Receipt,
}

impl Step<'_> {
    /// Gives a registered DID a role, or takes it.
    pub(crate) fn set_role(
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
    pub(crate) fn end_role(&mut self) -> Result<(), CheckError> {
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

    /// Whether what belongs to `owner` is the author's own.
    pub(crate) fn whose(&self, owner: Identifier) -> Whose {
        match owner == self.author {
            true => Whose::Own,
            false => Whose::Other,
        }
    }

    /// Asks the table, and nothing else, whether the author may.
    pub(crate) fn authorise(&self, act: Act, whose: Whose) -> Result<(), CheckError> {
        if act.needs_agreement() {
            self.at.agreement.map_err(CheckError::Refused)?;
        }
        let role = role_of(&self.to, self.author)?;
        match act.is_allowed((role, whose), self.at.rules.mode, self.endorsed) {
            true => Ok(()),
            false => Err(Refusal::NotAllowed { act }.into()),
        }
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

impl Machine {
    /// The role of a DID now; none for whoever has none.
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
        let membership = History::<Membership>::new(&state, Key::Role(id)).at(time)?;
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
            Some(id) => History::<Membership>::new(&self.begun(state), Key::Role(id)).latest(count),
            None => Ok(Vec::new()),
        }
    }
}

/// The role of a DID.
pub(crate) fn role_of(state: &dyn StateRead, id: Identifier) -> Result<Option<Role>, StateError> {
    let membership = History::<Membership>::new(state, Key::Role(id)).last()?;
    Ok(membership.and_then(|(_, membership)| membership.role))
}

/// A number in the state.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Count(pub(crate) u64);

impl Item for Count {
    fn write(&self, to: &mut Writer) {
        to.uint(self.0);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.uint().map(Self)
    }
}

impl Version for Membership {
    fn receipt(&self) -> &Receipt {
        &self.receipt
    }
}

impl Item for Membership {
    fn write(&self, to: &mut Writer) {
        to.array(3).item(&self.receipt);
        write_optional(to, self.role.as_ref());
        write_optional(to, self.by.as_ref());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.tuple(3)?;
        Ok(Self {
            receipt: Receipt::read(from)?,
            role: optional(from)?,
            by: optional(from)?,
        })
    }
}
