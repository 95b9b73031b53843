//! Master keys: their check values, secrets wrapped under one of them or under two, and the list of the master keys of a
//! store, from which a process learns which one to use.

use std::fmt;

use zeroize::Zeroizing;

use super::{SealError, SealingKey};
use crate::{encoding, frame, hash};

/// The length of a check value, in bytes.
const CHECK_BYTES: usize = 16;
/// The longest wrap under a single key, in bytes: a secret of 32 bytes with its marks, its nonce and its tag. Two wraps
/// with their check values are longer.
const BARE_MAX: usize = 96;

/// A keyed hash that names a master key. It reveals nothing of the key.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct KeyCheck([u8; CHECK_BYTES]);

impl KeyCheck {
    /// A check value as stored: 16 bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// The 16 bytes to store.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for KeyCheck {
    /// Lower-case hexadecimal digits.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&encoding::hex_encode(&self.0))
    }
}

/// A master key, for wrapping secrets.
#[derive(Clone)]
pub struct MasterKey {
    check: KeyCheck,
    wrap: SealingKey,
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "MasterKey({})", self.check)
    }
}

impl MasterKey {
    /// The wrapping key and the check value that follow from a master key.
    #[must_use]
    pub fn of(master: &SealingKey) -> Self {
        let mac = master.derive(b"selfsame/store/check").mac(b"check value");
        let mut check = [0; CHECK_BYTES];
        for (to, from) in check.iter_mut().zip(mac) {
            *to = from;
        }
        Self {
            check: KeyCheck(check),
            wrap: master.derive(b"selfsame/store/wrap"),
        }
    }

    /// Its check value.
    #[must_use]
    pub fn check(&self) -> KeyCheck {
        self.check
    }

    /// 256 secret bits that follow from this key: those of the sum, for data that have no list of master keys yet.
    #[must_use]
    pub fn derive_seed(&self, info: &[u8]) -> Zeroizing<[u8; 32]> {
        self.wrap.derive_seed(info)
    }
}

/// A secret that was wrapped.
pub struct Unwrapped {
    /// The secret.
    pub secret: Zeroizing<Vec<u8>>,
    /// The check values of the keys that it is wrapped under.
    pub under: Vec<KeyCheck>,
}

/// Wraps a secret of 32 to 64 bytes under these keys. Under one key the result is what [`SealingKey::seal`] gives; under
/// two it has both wraps with the check values of their keys. The same keys must not be given this nonce again.
///
/// # Errors
/// If the secret can't be sealed.
pub fn wrap(
    keys: &[MasterKey],
    nonce: [u8; 12],
    bound: &[u8],
    secret: &[u8],
) -> Result<Vec<u8>, SealError> {
    if let [key] = keys {
        return key.wrap.seal(nonce, bound, secret);
    }
    let mut wrapped = Vec::new();
    for key in keys {
        frame::add(&mut wrapped, key.check.as_bytes());
        frame::add(&mut wrapped, &key.wrap.seal(nonce, bound, secret)?);
    }
    Ok(wrapped)
}

/// Opens what [`wrap`] gave, with any of the keys at hand that it is wrapped under.
///
/// # Errors
/// If none of them opens it, or it was changed.
pub fn unwrap(held: &[MasterKey], bound: &[u8], wrapped: &[u8]) -> Result<Unwrapped, SealError> {
    if wrapped.len() <= BARE_MAX {
        let opened = held.iter().find_map(|key| {
            let secret = key.wrap.open(bound, wrapped).ok()?;
            let secret = Zeroizing::new(secret);
            let under = vec![key.check];
            Some(Unwrapped { secret, under })
        });
        return opened.ok_or(SealError);
    }
    let wraps = listed(&frame::split(wrapped).ok_or(SealError)?).ok_or(SealError)?;
    let find = |wrap: &ListedKey| held.iter().find(|key| key.check == wrap.check);
    let opens = wraps.iter().find_map(|wrap| Some((find(wrap)?, wrap)));
    let (key, wrap) = opens.ok_or(SealError)?;
    Ok(Unwrapped {
        secret: Zeroizing::new(key.wrap.open(bound, &wrap.sealed)?),
        under: wraps.iter().map(|wrap| wrap.check).collect(),
    })
}

/// How far the rotation of a store's master key is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RotationStage {
    /// There is one master key.
    Settled,
    /// There are two. All secrets open with the first one; those that were wrapped again open with both.
    Begun,
    /// All secrets open with the only key listed; some are still wrapped under the former one too.
    Ending,
}

impl RotationStage {
    fn byte(self) -> u8 {
        match self {
            Self::Settled => 0,
            Self::Begun => 1,
            Self::Ending => 2,
        }
    }

    fn of(byte: &[u8]) -> Option<Self> {
        let stages = [Self::Settled, Self::Begun, Self::Ending];
        stages.into_iter().find(|stage| byte == [stage.byte()])
    }
}

/// The list of the master keys of a store, with the seed of the sum's key sealed under each of them. The sum's key stays
/// the same when the master key changes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KeyList {
    /// How far a rotation is.
    pub stage: RotationStage,
    /// The key that the last rotation replaced, if there was one.
    pub former: Option<KeyCheck>,
    keys: Vec<ListedKey>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
struct ListedKey {
    check: KeyCheck,
    sealed: Vec<u8>,
}

/// What is in a list: the list, and the seed of the sum's key.
pub struct OpenedList {
    /// The list.
    pub list: KeyList,
    /// The seed of the sum's key.
    pub seed: Zeroizing<[u8; 32]>,
}

/// Why a list does not open.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ListError {
    /// It is not as it was written.
    Damaged,
    /// It is of other keys than those at hand.
    NotHeld(KeyList),
}

impl KeyList {
    /// A list of these keys: the present one, then the next one if a rotation has begun.
    ///
    /// # Errors
    /// If the seed can't be sealed.
    pub fn new(
        stage: RotationStage,
        keys: &[MasterKey],
        nonce: [u8; 12],
        seed: &[u8; 32],
    ) -> Result<Self, SealError> {
        let mut list = Self {
            stage,
            former: None,
            keys: Vec::with_capacity(keys.len()),
        };
        for key in keys {
            let sealed = key.wrap.seal(nonce, &place_of(key.check), seed)?;
            let check = key.check;
            list.keys.push(ListedKey { check, sealed });
        }
        Ok(list)
    }

    /// The list with a note which key the last rotation replaced.
    #[must_use]
    pub fn after(mut self, former: Option<KeyCheck>) -> Self {
        self.former = former;
        self
    }

    /// The check value of the present key.
    #[must_use]
    pub fn present(&self) -> Option<KeyCheck> {
        self.keys.first().map(|key| key.check)
    }

    /// The check value of the next key, while a rotation has begun.
    #[must_use]
    pub fn next(&self) -> Option<KeyCheck> {
        self.keys.get(1).map(|key| key.check)
    }

    /// The bytes to store as this version of the list, with a MAC under the sum's key.
    #[must_use]
    pub fn to_bytes(&self, version: u64, seed: &[u8; 32]) -> Vec<u8> {
        let mut bytes = self.body();
        let mac = mac(seed, version, &bytes);
        frame::add(&mut bytes, &mac);
        bytes
    }

    /// Reads a version of the list with the keys at hand.
    ///
    /// # Errors
    /// If it was changed, or lists none of these keys.
    pub fn open(bytes: &[u8], version: u64, held: &[MasterKey]) -> Result<OpenedList, ListError> {
        let (list, found) = Self::parse(bytes).ok_or(ListError::Damaged)?;
        let find = |listed: &ListedKey| held.iter().find(|key| key.check == listed.check);
        let opens = list.keys.iter().find_map(|one| Some((find(one)?, one)));
        let Some((key, listed)) = opens else {
            return Err(ListError::NotHeld(list));
        };
        let seed = key.wrap.open(&place_of(key.check), &listed.sealed);
        let seed = Zeroizing::new(seed.map_err(|_| ListError::Damaged)?);
        let seed = <[u8; 32]>::try_from(seed.as_slice()).map_err(|_| ListError::Damaged)?;
        let seed = Zeroizing::new(seed);
        match hash::ct_eq(&mac(&seed, version, &list.body()), &found) {
            true => Ok(OpenedList { list, seed }),
            false => Err(ListError::Damaged),
        }
    }

    fn body(&self) -> Vec<u8> {
        let mut body = Vec::new();
        frame::add(&mut body, &[self.stage.byte()]);
        let former = self.former.as_ref().map_or(&[][..], KeyCheck::as_bytes);
        frame::add(&mut body, former);
        for key in &self.keys {
            frame::add(&mut body, key.check.as_bytes());
            frame::add(&mut body, &key.sealed);
        }
        body
    }

    /// The list and its MAC.
    fn parse(bytes: &[u8]) -> Option<(Self, [u8; 32])> {
        let parts = frame::split(bytes)?;
        let [stage, former, keys @ .., mac] = parts.as_slice() else {
            return None;
        };
        let stage = RotationStage::of(stage)?;
        let keys = listed(keys)?;
        let wanted = match stage {
            RotationStage::Begun => 2,
            RotationStage::Settled | RotationStage::Ending => 1,
        };
        let former = match former.is_empty() {
            true => None,
            false => Some(KeyCheck::of(former)?),
        };
        let list = Self {
            stage,
            former,
            keys,
        };
        let mac = <[u8; 32]>::try_from(*mac).ok()?;
        (list.keys.len() == wanted).then_some((list, mac))
    }
}

/// Check values, each followed by what is sealed under its key.
fn listed(parts: &[&[u8]]) -> Option<Vec<ListedKey>> {
    let (pairs, rest) = parts.as_chunks::<2>();
    let pair = |[check, sealed]: &[&[u8]; 2]| {
        Some(ListedKey {
            check: KeyCheck::of(check)?,
            sealed: sealed.to_vec(),
        })
    };
    rest.is_empty()
        .then(|| pairs.iter().map(pair).collect())
        .flatten()
}

fn place_of(check: KeyCheck) -> Vec<u8> {
    frame::join(&[b"selfsame/store/list", check.as_bytes()])
}

fn mac(seed: &[u8; 32], version: u64, body: &[u8]) -> [u8; 32] {
    let key = SealingKey::from_bytes(*seed).derive(b"selfsame/store/list");
    key.mac(&frame::join(&[&version.to_be_bytes(), body]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEED: [u8; 32] = [9; 32];

    fn key(byte: u8) -> MasterKey {
        MasterKey::of(&SealingKey::from_bytes([byte; 32]))
    }

    fn list(stage: RotationStage, keys: &[MasterKey]) -> KeyList {
        KeyList::new(stage, keys, [3; 12], &SEED).unwrap()
    }

    /// The format is stored: what earlier releases wrote must open.
    #[test]
    fn check_values_and_lists_stay_as_they_were_written() {
        assert_eq!(key(1).check().to_string().len(), 32);
        assert_eq!(key(1).check(), key(1).check());
        assert_ne!(key(1).check(), key(2).check());
        let bytes = list(RotationStage::Settled, &[key(1)]).to_bytes(7, &SEED);
        assert_eq!(
            encoding::hex_encode(&hash::sha256(&bytes)),
            "775e071c057dea0e44895773c3bd17a3d8c339da81c21da261c53183da586e1d"
        );
    }

    #[test]
    fn a_secret_under_two_keys_opens_with_either_and_under_one_with_that_one() {
        let secret = [5; 34];
        let two = wrap(&[key(1), key(2)], [1; 12], b"place", &secret).unwrap();
        for byte in [1, 2] {
            let opened = unwrap(&[key(7), key(byte)], b"place", &two).unwrap();
            assert_eq!(*opened.secret, secret);
            assert_eq!(opened.under, [key(1).check(), key(2).check()]);
        }
        assert!(unwrap(&[key(3)], b"place", &two).is_err());
        assert!(unwrap(&[key(1)], b"elsewhere", &two).is_err());
        let one = wrap(&[key(2)], [1; 12], b"place", &secret).unwrap();
        let opened = unwrap(&[key(1), key(2)], b"place", &one).unwrap();
        assert_eq!(opened.under, [key(2).check()]);
        assert!(unwrap(&[key(1)], b"place", &one).is_err());
    }

    #[test]
    fn a_list_opens_with_each_key_on_it_and_says_which_keys_it_wants() {
        let begun = list(RotationStage::Begun, &[key(1), key(2)]);
        let bytes = begun.to_bytes(7, &SEED);
        for byte in [1, 2] {
            let opened = KeyList::open(&bytes, 7, &[key(byte)]).ok().unwrap();
            assert_eq!(*opened.seed, SEED);
            assert_eq!(opened.list, begun);
            assert_eq!(opened.list.next(), Some(key(2).check()));
        }
        let other = KeyList::open(&bytes, 7, &[key(3)]).err();
        assert_eq!(other, Some(ListError::NotHeld(begun)));
    }

    #[test]
    fn a_list_with_any_byte_changed_or_of_another_version_does_not_open() {
        let mut settled = list(RotationStage::Ending, &[key(1)]);
        settled.former = Some(key(2).check());
        let bytes = settled.to_bytes(7, &SEED);
        assert!(KeyList::open(&bytes, 7, &[key(1)]).is_ok());
        assert!(KeyList::open(&bytes, 8, &[key(1)]).is_err());
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(KeyList::open(&changed, 7, &[key(1)]).is_err(), "{at}");
            assert!(KeyList::open(&bytes[..at], 7, &[key(1)]).is_err(), "{at}");
        }
    }

    proptest::proptest! {
        #[test]
        fn bytes_from_outside_never_panic(bytes: Vec<u8>) {
            let held = [key(1)];
            proptest::prop_assert!(KeyList::open(&bytes, 1, &held).is_err());
            proptest::prop_assert!(unwrap(&held, b"", &bytes).is_err());
        }
    }
}
