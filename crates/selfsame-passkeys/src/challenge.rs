//! Sealed challenges: nothing is kept until one is answered, and any replica finishes what another one began.

use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::hash;
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;

use crate::error::PasskeyError;

/// Seconds in which a challenge is to be answered: five minutes (§15.1).
pub const CHALLENGE_SECONDS: u64 = 300;
const NONCE_BYTES: usize = 16;
const TIME_BYTES: usize = 8;

/// A challenge: `nonce ‖ end ‖ MAC`. The MAC also covers what the challenge is for, so that it serves nothing else.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PasskeyChallenge {
    bytes: Vec<u8>,
    /// When it expires.
    pub ends: UnixTime,
}

impl PasskeyChallenge {
    /// A new challenge for this purpose.
    #[must_use]
    pub fn new(key: &SealingKey, purpose: &[u8], ctx: &Ctx) -> Self {
        let ends = ctx.now().plus(CHALLENGE_SECONDS);
        let mut bytes = ctx.random::<NONCE_BYTES>("passkey challenge").to_vec();
        bytes.extend(ends.0.to_be_bytes());
        let tag = key.mac(&signed(&bytes, purpose));
        bytes.extend(tag);
        Self { bytes, ends }
    }

    /// The challenge of these bytes, if it was made with this key for this purpose and has not expired.
    ///
    /// # Errors
    /// `Challenge`.
    pub fn opened(
        key: &SealingKey,
        purpose: &[u8],
        bytes: &[u8],
        now: UnixTime,
    ) -> Result<Self, PasskeyError> {
        let refused = PasskeyError::Challenge;
        let body = bytes.split_at_checked(NONCE_BYTES.saturating_add(TIME_BYTES));
        let (body, tag) = body.ok_or(refused)?;
        let (_, ends) = body.split_at_checked(NONCE_BYTES).ok_or(refused)?;
        let ends = <[u8; TIME_BYTES]>::try_from(ends).map_err(|_| refused)?;
        let ends = UnixTime(u64::from_be_bytes(ends));
        match hash::ct_eq(tag, &key.mac(&signed(body, purpose))) && now < ends {
            true => Ok(Self {
                bytes: bytes.to_vec(),
                ends,
            }),
            false => Err(refused),
        }
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Its bytes in base64url.
    #[must_use]
    pub fn text(&self) -> String {
        base64url_encode(&self.bytes)
    }
}

fn signed(body: &[u8], purpose: &[u8]) -> Vec<u8> {
    [b"passkey challenge\0", body, purpose].concat()
}
