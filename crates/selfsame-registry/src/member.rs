//! Members: who has which role, since when, and by whom.

use selfsame_crypto::time::UnixTime;
use selfsame_did::Did;
use selfsame_proof::cbor::{Item, Malformed, Reader, Writer};

use crate::authority::Role;
use crate::encoding::{optional, write_optional};
use crate::history::{History, Version, role_of};
use crate::identifier::Identifier;
use crate::machine::Machine;
use crate::state::{Key, Receipt, StateError, StateRead};

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
