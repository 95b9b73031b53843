//! Authenticator data: what an authenticator says of itself and of the ceremony (§6.1).

use crate::cbor;
use crate::cose::CoseKey;
use crate::error::PasskeyError;

/// Longest id of a passkey, in bytes (§7.1 step 25).
pub const ID_MAX: usize = 1_023;

/// What an authenticator says, all of which it signs when it answers.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AuthenticatorData {
    /// SHA-256 of the id of the relying party.
    pub rp_id_hash: [u8; 32],
    /// The flags.
    pub flags: AuthenticatorFlags,
    /// How often the passkey has answered; zero if the authenticator does not count.
    pub sign_count: u32,
    /// The passkey that was created; `None` in an answer of one.
    pub attested: Option<AttestedCredential>,
}

/// The flags of authenticator data.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct AuthenticatorFlags(u8);

/// A passkey as its authenticator describes it (§6.5.1).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AttestedCredential {
    /// The make of the authenticator, as it claims.
    pub aaguid: [u8; 16],
    /// The id of the passkey.
    pub id: Vec<u8>,
    pub(crate) key: CoseKey,
}

impl AuthenticatorFlags {
    const PRESENT: u8 = 1;
    const VERIFIED: u8 = 1 << 2;
    const BACKUP_ELIGIBLE: u8 = 1 << 3;
    const BACKED_UP: u8 = 1 << 4;
    const ATTESTED: u8 = 1 << 6;
    const EXTENSIONS: u8 = 1 << 7;

    fn has(self, flag: u8) -> bool {
        self.0 & flag != 0
    }

    /// UP: a person touched the authenticator.
    #[must_use]
    pub fn is_present(self) -> bool {
        self.has(Self::PRESENT)
    }

    /// UV: the authenticator verified who is there.
    #[must_use]
    pub fn is_verified(self) -> bool {
        self.has(Self::VERIFIED)
    }

    /// BE: the passkey may be copied to other devices of its owner.
    #[must_use]
    pub fn is_backup_eligible(self) -> bool {
        self.has(Self::BACKUP_ELIGIBLE)
    }

    /// BS: it has been copied.
    #[must_use]
    pub fn is_backed_up(self) -> bool {
        self.has(Self::BACKED_UP)
    }
}

impl AuthenticatorData {
    /// Reads authenticator data. Nothing may follow them.
    ///
    /// # Errors
    /// `Malformed`, and `Algorithm` for a key of an algorithm that is not offered.
    pub fn read(bytes: &[u8]) -> Result<Self, PasskeyError> {
        let malformed = PasskeyError::Malformed("authenticator data");
        let (rp_id_hash, rest) = bytes.split_first_chunk::<32>().ok_or(malformed)?;
        let (flags, rest) = rest.split_first().ok_or(malformed)?;
        let (sign_count, rest) = rest.split_first_chunk::<4>().ok_or(malformed)?;
        let flags = AuthenticatorFlags(*flags);
        // §6.1.3: what may not be copied is not copied (§7.1 step 17, §7.2 step 18).
        if flags.is_backed_up() && !flags.is_backup_eligible() {
            return Err(malformed);
        }
        let (attested, rest) = match flags.has(AuthenticatorFlags::ATTESTED) {
            true => {
                let (attested, rest) = AttestedCredential::first(rest)?;
                (Some(attested), rest)
            }
            false => (None, rest),
        };
        // Extensions were not asked for, so their outputs are read over.
        let rest = match flags.has(AuthenticatorFlags::EXTENSIONS) {
            true => {
                let (outputs, rest) = cbor::first(rest)?;
                cbor::pairs(&outputs)?;
                rest
            }
            false => rest,
        };
        match rest {
            [] => Ok(Self {
                rp_id_hash: *rp_id_hash,
                flags,
                sign_count: u32::from_be_bytes(*sign_count),
                attested,
            }),
            _ => Err(malformed),
        }
    }
}

impl AttestedCredential {
    fn first(bytes: &[u8]) -> Result<(Self, &[u8]), PasskeyError> {
        let malformed = PasskeyError::Malformed("attested credential data");
        let (aaguid, rest) = bytes.split_first_chunk::<16>().ok_or(malformed)?;
        let (length, rest) = rest.split_first_chunk::<2>().ok_or(malformed)?;
        let length = usize::from(u16::from_be_bytes(*length));
        let (id, rest) = rest.split_at_checked(length).ok_or(malformed)?;
        if id.is_empty() || id.len() > ID_MAX {
            return Err(malformed);
        }
        let (key, rest) = cbor::first(rest)?;
        let attested = Self {
            aaguid: *aaguid,
            id: id.to_vec(),
            key: CoseKey::of(&key)?,
        };
        Ok((attested, rest))
    }
}
