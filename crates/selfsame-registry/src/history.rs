//! History: records that never change, numbered from 1, and the number of the present one.

use std::marker::PhantomData;

use selfsame_crypto::time::UnixTime;

use crate::authority::Role;
use crate::identifier::Identifier;
use crate::member::Membership;
use crate::receipt::{Receipt, Version};
use crate::state::{Overlay, StateError, StateKey, StateRead, read};
use selfsame_proof::cbor::{CborItem, CborReader, CborWriter, Malformed};

/// The number of the present version, and whether no further version can follow it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct PresentVersion {
    pub(crate) version: u64,
    pub(crate) deactivated: bool,
}

impl PresentVersion {
    /// A version that others may follow.
    pub(crate) fn open(version: u64) -> Self {
        Self {
            version,
            deactivated: false,
        }
    }
}

/// The versions under one key.
pub(crate) struct History<'a, T> {
    state: &'a dyn StateRead,
    key: StateKey<'a>,
    records: PhantomData<T>,
}

impl<'a, T: Version> History<'a, T> {
    pub(crate) fn new(state: &'a dyn StateRead, key: StateKey<'a>) -> Self {
        Self {
            state,
            key,
            records: PhantomData,
        }
    }

    /// The number of the present version; `None` if there is no version.
    pub(crate) fn present(&self) -> Result<Option<PresentVersion>, StateError> {
        read(self.state, &self.key)
    }

    /// The number of the present version; 0 before the first version.
    pub(crate) fn count(&self) -> Result<u64, StateError> {
        Ok(self.present()?.unwrap_or_default().version)
    }

    /// The present version and its number.
    pub(crate) fn last(&self) -> Result<Option<(u64, T)>, StateError> {
        match self.present()? {
            Some(present) => Ok(Some((present.version, self.version(present.version)?))),
            None => Ok(None),
        }
    }

    /// The version with this number; an error if it is missing.
    pub(crate) fn version(&self, number: u64) -> Result<T, StateError> {
        read(self.state, &StateKey::Version(&self.key, number))?
            .ok_or_else(|| StateError(format!("version {number} of {} is missing", self.key)))
    }

    /// The number of the last version that is not later than `time`.
    pub(crate) fn number_at(&self, time: UnixTime) -> Result<Option<u64>, StateError> {
        let held = self.numbered_while(|receipt| receipt.time <= time)?;
        Ok((held > 0).then_some(held))
    }

    /// The number of the last version for which `holds` is true, 0 where there is no such version. It has to be true up
    /// to that version and false from then on, as comparisons of times and heights are, so a binary search finds it.
    pub(crate) fn numbered_while(
        &self,
        holds: impl Fn(&Receipt) -> bool,
    ) -> Result<u64, StateError> {
        let (mut held, mut later) = (0_u64, self.count()?.saturating_add(1));
        while held.saturating_add(1) < later {
            let middle = u64::midpoint(held, later);
            match holds(self.version(middle)?.receipt()) {
                true => held = middle,
                false => later = middle,
            }
        }
        Ok(held)
    }

    /// The last version that is not later than `time`.
    pub(crate) fn at(&self, time: UnixTime) -> Result<Option<T>, StateError> {
        match self.number_at(time)? {
            Some(number) => self.version(number).map(Some),
            None => Ok(None),
        }
    }

    /// The last `count` versions, oldest first.
    pub(crate) fn latest(&self, count: usize) -> Result<Vec<T>, StateError> {
        let present = self.count()?;
        let before = present.saturating_sub(u64::try_from(count).unwrap_or(u64::MAX));
        (before.saturating_add(1)..=present)
            .map(|number| self.version(number))
            .collect()
    }
}

impl Overlay<'_> {
    /// Puts a further version under a key, and says that it is the present one.
    pub(crate) fn put_version(
        &mut self,
        key: &StateKey<'_>,
        present: PresentVersion,
        item: &impl Version,
    ) {
        self.put(key, &present);
        self.put(&StateKey::Version(key, present.version), item);
    }
}

/// The role that a DID has now.
pub(crate) fn role_of(state: &dyn StateRead, id: Identifier) -> Result<Option<Role>, StateError> {
    let membership = History::<Membership>::new(state, StateKey::Role(id)).last()?;
    Ok(membership.and_then(|(_, membership)| membership.role))
}

impl CborItem for PresentVersion {
    fn write(&self, to: &mut CborWriter) {
        to.array(2).uint(self.version).bool(self.deactivated);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(2)?;
        Ok(Self {
            version: from.uint()?,
            deactivated: from.bool()?,
        })
    }
}
