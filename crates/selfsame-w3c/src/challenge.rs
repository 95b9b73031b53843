//! Challenges: a verifier's values that a presentation must answer. One that is given out here counts for one
//! presentation, within a time; nothing is stored until it is used.

use selfsame_crypto::encoding::{base64url_decode, base64url_encode};
use selfsame_crypto::hash::{ct_eq, sha256};
use selfsame_crypto::time::UnixTime;
use selfsame_store::{Batch, Expect, Put, StoreError};

use crate::W3cDesk;
use crate::problem::{VcProblem, W3cError, code};

/// For how many seconds a challenge can be answered.
pub const CHALLENGE_LIFETIME: u64 = 600;

/// The kind of the records of challenges that were used.
const USED: &str = "vc_challenge";
const TIME: usize = 8;
const RANDOM: usize = 16;
const TAG: usize = 16;

/// Whether a challenge counts.
pub(crate) enum ChallengeFinding {
    /// It was not made here: its maker knows what it is good for.
    Foreign,
    /// It was made here, and can be answered until this time.
    Open(UnixTime),
    /// It was made here, and its time is over.
    Over,
}

impl W3cDesk {
    /// A new challenge.
    ///
    /// # Errors
    /// The store's.
    pub async fn challenge(&self) -> Result<String, W3cError> {
        let ctx = self.shared.clock.ctx();
        let until = ctx.now().plus(CHALLENGE_LIFETIME);
        let mut bytes = until.0.to_be_bytes().to_vec();
        bytes.extend(ctx.random::<RANDOM>("w3c/challenge"));
        let tag = self.tag(&bytes).await?;
        bytes.extend(tag);
        Ok(base64url_encode(&bytes))
    }

    /// What a challenge is.
    pub(crate) async fn challenge_finding(&self, text: &str) -> Result<ChallengeFinding, W3cError> {
        let bytes = base64url_decode(text).unwrap_or_default();
        let Some((said, tag)) = bytes.split_at_checked(TIME + RANDOM) else {
            return Ok(ChallengeFinding::Foreign);
        };
        if tag.len() != TAG || !ct_eq(tag, &self.tag(said).await?) {
            return Ok(ChallengeFinding::Foreign);
        }
        let time = said.first_chunk::<TIME>().copied().unwrap_or_default();
        let until = UnixTime(u64::from_be_bytes(time));
        Ok(match self.shared.clock.now() <= until {
            true => ChallengeFinding::Open(until),
            false => ChallengeFinding::Over,
        })
    }

    /// Uses a challenge that was made here.
    ///
    /// # Errors
    /// `Refused` if it was used before; the store's.
    pub(crate) async fn use_challenge(&self, text: &str, until: UnixTime) -> Result<(), W3cError> {
        let id = base64url_encode(&sha256(text.as_bytes()));
        let put = Put::new(USED, &id, Vec::new()).expires(until.plus(1));
        let batch = Batch::new(self.roles.organisation.verifier.clone());
        let batch = batch.expect(USED, &id, Expect::Absent).put(put);
        match self.shared.store.commit(batch).await {
            Ok(_) => Ok(()),
            Err(StoreError::Conflict { .. }) => {
                let detail = "the challenge was answered before";
                Err(VcProblem::new(code::CHALLENGE, detail).into())
            }
            Err(other) => Err(selfsame_driver::Error::from(other).into()),
        }
    }

    /// What proves that a challenge was made for this organisation.
    async fn tag(&self, said: &[u8]) -> Result<Vec<u8>, W3cError> {
        let key = self.shared.instance_key("w3c-challenge").await?;
        let tenant = self.roles.organisation.verifier.to_string();
        let tag = key.mac(&[tenant.as_bytes(), b"\0", said].concat());
        Ok(tag.iter().take(TAG).copied().collect())
    }
}
