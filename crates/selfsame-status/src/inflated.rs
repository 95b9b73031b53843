//! The bytes of a list in memory. In most lists nearly every status is 0. Such a list is stored as the positions and
//! values of its other bytes.

use selfsame_crypto::hash::sha256;

/// A list is sparse if at most one byte in this many is not 0. Each of these bytes takes eight bytes of memory.
const SPARSE_FROM: usize = 32;

/// The inflated bytes of a list.
#[derive(Clone)]
pub(super) enum Inflated {
    /// All bytes.
    Dense(Vec<u8>),
    /// The number of bytes, and those that are not 0 by their positions, in order.
    Sparse { len: usize, set: Box<[SetByte]> },
}

/// A byte that is not 0.
#[derive(Clone, Copy)]
pub(super) struct SetByte {
    at: u32,
    value: u8,
}

impl From<Vec<u8>> for Inflated {
    fn from(bytes: Vec<u8>) -> Self {
        let len = bytes.len();
        let count = bytes.iter().filter(|byte| **byte != 0).count();
        if u32::try_from(len).is_err() || count > len.checked_div(SPARSE_FROM).unwrap_or(0) {
            return Self::Dense(bytes);
        }
        let set = (0_u32..).zip(bytes).filter(|(_, value)| *value != 0);
        let set = set.map(|(at, value)| SetByte { at, value }).collect();
        Self::Sparse { len, set }
    }
}

impl Inflated {
    /// The number of bytes.
    pub fn len(&self) -> usize {
        match self {
            Self::Dense(bytes) => bytes.len(),
            Self::Sparse { len, .. } => *len,
        }
    }

    /// The byte at this position.
    pub fn get(&self, position: usize) -> Option<u8> {
        match self {
            Self::Dense(bytes) => bytes.get(position).copied(),
            Self::Sparse { len, set } => {
                let at = u32::try_from(position).ok().filter(|_| position < *len)?;
                let found = set.binary_search_by_key(&at, |byte| byte.at).ok();
                let found = found.and_then(|found| set.get(found));
                Some(found.map_or(0, |byte| byte.value))
            }
        }
    }

    /// The memory that it takes, in bytes.
    pub fn weight(&self) -> usize {
        match self {
            Self::Dense(bytes) => bytes.capacity(),
            Self::Sparse { set, .. } => size_of_val(&**set),
        }
    }

    /// SHA-256 of all bytes.
    pub fn sha256(&self) -> [u8; 32] {
        match self {
            Self::Dense(bytes) => sha256(bytes),
            Self::Sparse { len, set } => {
                let mut bytes = vec![0; *len];
                for SetByte { at, value } in set {
                    let position = usize::try_from(*at).unwrap_or(usize::MAX);
                    if let Some(byte) = bytes.get_mut(position) {
                        *byte = *value;
                    }
                }
                sha256(&bytes)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_list_reads_the_same_however_it_is_held(
            len in 0_usize..2_000,
            set in prop::collection::vec((0_usize..2_000, 1_u8..), 0..80),
        ) {
            let mut bytes = vec![0; len];
            for (at, value) in set {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = value;
                }
            }
            let held = Inflated::from(bytes.clone());
            prop_assert_eq!(held.len(), len);
            for at in 0..len + 2 {
                prop_assert_eq!(held.get(at), bytes.get(at).copied());
            }
            prop_assert_eq!(held.sha256(), sha256(&bytes));
        }
    }

    #[test]
    fn a_list_without_a_status_takes_next_to_no_memory_and_a_full_one_what_it_has() {
        assert_eq!(Inflated::from(vec![0; 32_768]).weight(), 0);
        assert_eq!(Inflated::from(vec![1; 32_768]).weight(), 32_768);
        let mut few = vec![0; 32_768];
        few[7] = 1;
        assert_eq!(Inflated::from(few).weight(), 8);
    }
}
