//! The bits of a revocation status list: which credentials are revoked, and the changes between two lists.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeSeq as _, Serializer};

use crate::error::Error;

/// The most credentials a registry may have room for; the tails file of such a registry has 268 MB.
pub const MAX_CREDENTIALS: u32 = 1 << 20;

/// Which credentials of a new registry count as issued from the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IssuedAtStart {
    /// All: only a revocation changes the accumulator. The specification recommends this.
    ByDefault,
    /// None: every issuance changes the accumulator, and a new status list must be published with it.
    OnDemand,
}

/// The `revocationList` of a status list: one bit for each place, 1 for revoked or not issued yet.
///
/// The bit at position `j` belongs to the credential with revocation index `j`. Index 0 is never assigned, since
/// revoking it would publish the one point of the accumulator that must stay secret. The list has as many bits as the
/// registry has room for credentials, so the last index has no bit and is not assigned either.
#[derive(Clone, PartialEq, Eq)]
pub struct RevocationList {
    revoked: Vec<bool>,
}

impl RevocationList {
    /// The first list of a registry with room for `capacity` credentials.
    ///
    /// # Errors
    /// [`Error::TooLarge`] beyond [`MAX_CREDENTIALS`], [`Error::Registry`] for a capacity of 0.
    pub fn new(capacity: u32, issuance: IssuedAtStart) -> Result<Self, Error> {
        check_capacity(capacity)?;
        let places = usize::try_from(capacity).map_err(|_| TOO_LARGE)?;
        Ok(Self {
            revoked: vec![issuance == IssuedAtStart::OnDemand; places],
        })
    }

    /// The number of credentials that the registry has room for (`maxCredNum`).
    pub fn capacity(&self) -> u32 {
        // However the list was made, it is not longer than MAX_CREDENTIALS.
        u32::try_from(self.revoked.len()).unwrap_or(MAX_CREDENTIALS)
    }

    /// Whether the credential with this index is revoked, or not issued yet.
    ///
    /// # Errors
    /// [`Error::Registry`] for an index without a bit.
    pub fn is_revoked(&self, index: u32) -> Result<bool, Error> {
        self.bit(index).ok_or(OUT_OF_RANGE)
    }

    /// The indices of all credentials that are not revoked, in ascending order.
    pub fn active(&self) -> impl Iterator<Item = u32> + '_ {
        (0_u32..)
            .zip(&self.revoked)
            .skip(1)
            .filter_map(|(index, revoked)| (!revoked).then_some(index))
    }

    /// The indices to issue and to revoke to get from this list to `newer`.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the lists have different lengths.
    pub fn changes_to(&self, newer: &Self) -> Result<Changes, Error> {
        if self.revoked.len() != newer.revoked.len() {
            return Err(Error::Mismatch {
                what: "the revocation list",
                why: "the older list has another length",
            });
        }
        let mut changes = Changes::default();
        let pairs = self.revoked.iter().zip(&newer.revoked);
        for (index, (before, after)) in (0_u32..).zip(pairs).skip(1) {
            match (before, after) {
                (false, true) => changes.revoked.insert(index),
                (true, false) => changes.issued.insert(index),
                (false, false) | (true, true) => false,
            };
        }
        Ok(changes)
    }

    /// The list after these changes.
    ///
    /// # Errors
    /// [`Error::Registry`] for an index without a bit, for one that is to be revoked and already is, and for one that
    /// is to be issued and already is.
    pub fn changed(&self, changes: &Changes) -> Result<Self, Error> {
        let mut list = self.clone();
        for (indices, revoked) in [(&changes.issued, false), (&changes.revoked, true)] {
            for index in indices {
                list.turn(*index, revoked)?;
            }
        }
        Ok(list)
    }

    fn bit(&self, index: u32) -> Option<bool> {
        let place = usize::try_from(index).ok().filter(|place| *place != 0)?;
        self.revoked.get(place).copied()
    }

    fn turn(&mut self, index: u32, revoked: bool) -> Result<(), Error> {
        match (self.bit(index).ok_or(OUT_OF_RANGE)?, revoked) {
            (true, true) => return Err(Error::Registry("the credential is revoked already")),
            (false, false) => return Err(Error::Registry("the index is taken already")),
            (true, false) | (false, true) => {}
        }
        let place = usize::try_from(index).map_err(|_| OUT_OF_RANGE)?;
        if let Some(bit) = self.revoked.get_mut(place) {
            *bit = revoked;
        }
        Ok(())
    }
}

impl fmt::Debug for RevocationList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let revoked = self.revoked.iter().filter(|revoked| **revoked).count();
        write!(
            f,
            "RevocationList({revoked} of {} revoked)",
            self.revoked.len()
        )
    }
}

impl Serialize for RevocationList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bits = serializer.serialize_seq(Some(self.revoked.len()))?;
        for revoked in &self.revoked {
            bits.serialize_element(&u8::from(*revoked))?;
        }
        bits.end()
    }
}

impl<'de> Deserialize<'de> for RevocationList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bits;

        impl<'de> Visitor<'de> for Bits {
            type Value = RevocationList;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array of 0 and 1")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut bits: A) -> Result<Self::Value, A::Error> {
                let mut revoked = Vec::new();
                while let Some(bit) = bits.next_element::<u8>()? {
                    if u32::try_from(revoked.len()).is_ok_and(|length| length >= MAX_CREDENTIALS) {
                        return Err(A::Error::custom("the revocation list is too long"));
                    }
                    revoked.push(match bit {
                        0 => false,
                        1 => true,
                        _ => return Err(A::Error::custom("a status is neither 0 nor 1")),
                    });
                }
                if revoked.is_empty() {
                    return Err(A::Error::custom("the revocation list is empty"));
                }
                Ok(RevocationList { revoked })
            }
        }

        deserializer.deserialize_seq(Bits)
    }
}

/// Credentials that were issued, or revoked, between two states of a registry. No index is in both sets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    issued: BTreeSet<u32>,
    revoked: BTreeSet<u32>,
}

impl Changes {
    /// Changes from both sets of indices.
    ///
    /// # Errors
    /// [`Error::Registry`] for index 0 and for an index in both sets.
    pub fn new(issued: BTreeSet<u32>, revoked: BTreeSet<u32>) -> Result<Self, Error> {
        if issued.contains(&0) || revoked.contains(&0) {
            return Err(OUT_OF_RANGE);
        }
        if issued.intersection(&revoked).next().is_some() {
            return Err(Error::Registry("an index is both issued and revoked"));
        }
        Ok(Self { issued, revoked })
    }

    /// Changes in which these credentials were issued.
    #[cfg(test)]
    pub(crate) fn issue(indices: impl IntoIterator<Item = u32>) -> Result<Self, Error> {
        Self::new(indices.into_iter().collect(), BTreeSet::new())
    }

    /// Changes in which these credentials were revoked.
    #[cfg(test)]
    pub(crate) fn revoke(indices: impl IntoIterator<Item = u32>) -> Result<Self, Error> {
        Self::new(BTreeSet::new(), indices.into_iter().collect())
    }

    /// The issued indices, in ascending order.
    pub fn issued(&self) -> &BTreeSet<u32> {
        &self.issued
    }

    /// The revoked indices, in ascending order.
    pub fn revoked(&self) -> &BTreeSet<u32> {
        &self.revoked
    }

    #[cfg(test)]
    pub(crate) fn into_sets(self) -> (BTreeSet<u32>, BTreeSet<u32>) {
        (self.issued, self.revoked)
    }

    /// Whether there are no changes.
    pub fn is_empty(&self) -> bool {
        self.issued.is_empty() && self.revoked.is_empty()
    }
}

/// Refuses a registry that is empty or larger than [`MAX_CREDENTIALS`].
pub(crate) fn check_capacity(capacity: u32) -> Result<(), Error> {
    match capacity {
        0 => Err(Error::Registry("it has no room for a credential")),
        1..=MAX_CREDENTIALS => Ok(()),
        _ => Err(TOO_LARGE),
    }
}

/// Refuses an index that a registry with this capacity does not have.
pub(crate) fn check_index(index: u32, capacity: u32) -> Result<(), Error> {
    check_capacity(capacity)?;
    if (1..=capacity).contains(&index) {
        Ok(())
    } else {
        Err(OUT_OF_RANGE)
    }
}

pub(crate) const OUT_OF_RANGE: Error = Error::Registry("the index is out of range");

const TOO_LARGE: Error = Error::TooLarge {
    what: "the revocation registry",
    limit: 1 << 20,
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_new_list_is_all_active_or_all_revoked() {
        let open = RevocationList::new(4, IssuedAtStart::ByDefault).unwrap();
        assert_eq!(serde_json::to_string(&open).unwrap(), "[0,0,0,0]");
        assert_eq!(open.active().collect::<Vec<_>>(), [1, 2, 3]);
        let closed = RevocationList::new(4, IssuedAtStart::OnDemand).unwrap();
        assert_eq!(serde_json::to_string(&closed).unwrap(), "[1,1,1,1]");
        assert_eq!(closed.active().count(), 0);
    }

    #[test]
    fn a_registry_is_neither_empty_nor_enormous() {
        for capacity in [0, MAX_CREDENTIALS + 1, u32::MAX] {
            assert!(RevocationList::new(capacity, IssuedAtStart::ByDefault).is_err());
        }
        assert!(RevocationList::new(MAX_CREDENTIALS, IssuedAtStart::ByDefault).is_ok());
    }

    #[test]
    fn indices_without_a_bit_are_refused() {
        let list = RevocationList::new(4, IssuedAtStart::ByDefault).unwrap();
        for index in [0, 4, 5, u32::MAX] {
            assert_eq!(list.is_revoked(index), Err(OUT_OF_RANGE), "{index}");
        }
        assert_eq!(
            list.changed(&Changes::revoke([4]).unwrap()),
            Err(OUT_OF_RANGE)
        );
        assert_eq!(Changes::revoke([0]), Err(OUT_OF_RANGE));
    }

    #[test]
    fn an_index_is_not_revoked_twice_nor_issued_twice() {
        let list = RevocationList::new(4, IssuedAtStart::ByDefault).unwrap();
        let once = Changes::revoke([2]).unwrap();
        let after = list.changed(&once).unwrap();
        assert_eq!(
            after.changed(&once),
            Err(Error::Registry("the credential is revoked already"))
        );
        let again = Changes::issue([2]).unwrap();
        assert_eq!(after.changed(&again).unwrap(), list);
        assert_eq!(
            list.changed(&again),
            Err(Error::Registry("the index is taken already"))
        );
        assert!(Changes::new([2].into(), [2].into()).is_err());
    }

    #[test]
    fn only_arrays_of_zeros_and_ones_are_lists() {
        for text in [
            "[]", "[2]", "[0,1,-1]", "[true]", "[0.0]", "\"01\"", "{}", "null",
        ] {
            assert!(
                serde_json::from_str::<RevocationList>(text).is_err(),
                "{text}"
            );
        }
        let long = format!("[0{}]", ",0".repeat(MAX_CREDENTIALS as usize));
        assert!(serde_json::from_str::<RevocationList>(&long).is_err());
    }

    #[test]
    fn lists_of_different_lengths_have_no_changes_between_them() {
        let short = RevocationList::new(3, IssuedAtStart::ByDefault).unwrap();
        let long = RevocationList::new(4, IssuedAtStart::ByDefault).unwrap();
        assert!(short.changes_to(&long).is_err());
    }

    proptest! {
        #[test]
        fn the_changes_between_two_lists_lead_from_one_to_the_other(
            bits in prop::collection::vec((any::<bool>(), any::<bool>()), 1..200),
        ) {
            let (mut before, mut after): (Vec<_>, Vec<_>) = bits.into_iter().unzip();
            before[0] = false;
            after[0] = false;
            let (before, after) = (RevocationList { revoked: before }, RevocationList { revoked: after });
            let changes = before.changes_to(&after).unwrap();
            prop_assert_eq!(before.changed(&changes).unwrap(), after.clone());
            let text = serde_json::to_string(&after).unwrap();
            prop_assert_eq!(serde_json::from_str::<RevocationList>(&text).unwrap(), after);
        }
    }
}
