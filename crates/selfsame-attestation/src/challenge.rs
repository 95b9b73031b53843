//! The challenges of a server (draft -07 §8). They need no record: each states its time under a keyed hash, and a proof of
//! possession counts once by its `jti`.

use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::encoding::{base64url_decode, base64url_encode};
use selfsame_crypto::hash::ct_eq;
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use serde::{Deserialize, Serialize};

use crate::fault::AttestationFault;

/// Bytes of the time, of the random part, and of the keyed hash.
const TIME: usize = 8;
const RANDOM: usize = 16;
const MAC: usize = 16;
/// The longest challenge that a client sends back, in bytes.
const MAX: usize = 1024;

/// The challenges of an instance.
#[derive(Clone, Debug)]
pub struct Challenges {
    /// The key that authenticates them.
    pub key: SealingKey,
    /// Their lifetime, in seconds.
    pub lifetime: u64,
}

/// The answer of a challenge endpoint.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ChallengeAnswer {
    /// The challenge.
    pub attestation_challenge: String,
}

impl Challenges {
    /// A challenge of the server with this identifier.
    #[must_use]
    pub fn make(&self, server: &str, ctx: &Ctx) -> String {
        let mut bytes = ctx.now().0.to_be_bytes().to_vec();
        bytes.extend_from_slice(&ctx.random::<RANDOM>("attestation/challenge"));
        let mac = self.mac(server, &bytes);
        bytes.extend_from_slice(&mac);
        base64url_encode(&bytes)
    }

    /// Checks that the server with this identifier gave the challenge, not too long ago.
    ///
    /// # Errors
    /// [`AttestationFault::Challenge`], also for none.
    pub fn check(
        &self,
        challenge: Option<&str>,
        server: &str,
        now: UnixTime,
    ) -> Result<(), AttestationFault> {
        let wrong = AttestationFault::Challenge;
        let bytes = challenge.and_then(|text| base64url_decode(text).ok());
        let bytes = bytes.ok_or(wrong)?;
        let (body, mac) = bytes
            .split_at_checked(TIME.saturating_add(RANDOM))
            .ok_or(wrong)?;
        let time = body.first_chunk::<TIME>().ok_or(wrong)?;
        let made = UnixTime(u64::from_be_bytes(*time));
        let is_ours = ct_eq(&self.mac(server, body), mac);
        match is_ours && made <= now && now < made.plus(self.lifetime) {
            true => Ok(()),
            false => Err(wrong),
        }
    }

    fn mac(&self, server: &str, body: &[u8]) -> Vec<u8> {
        let key = self.key.derive(b"attestation challenge");
        let mac = key.derive(server.as_bytes()).mac(body);
        mac.into_iter().take(MAC).collect()
    }
}

/// A challenge that a server gave, if it is one that a client sends back.
pub fn usable_challenge(given: &str) -> Option<&str> {
    let is_plain = given.bytes().all(|byte| byte.is_ascii_graphic());
    (!given.is_empty() && given.len() <= MAX && is_plain).then_some(given)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER: &str = "https://as.example";
    const NOW: UnixTime = UnixTime(10_000);

    fn challenges(seed: u8) -> Challenges {
        Challenges {
            key: SealingKey::from_bytes([seed; 32]),
            lifetime: 300,
        }
    }

    fn made() -> String {
        challenges(1).make(SERVER, &Ctx::new(NOW, [2; 32]))
    }

    #[test]
    fn a_challenge_holds_at_its_server_for_its_time() {
        let made = made();
        let check = |server, now| challenges(1).check(Some(&made), server, UnixTime(now));
        assert_eq!(check(SERVER, 10_000), Ok(()));
        assert_eq!(check(SERVER, 10_299), Ok(()));
        let refused = Err(AttestationFault::Challenge);
        assert_eq!(check(SERVER, 10_300), refused);
        assert_eq!(check(SERVER, 9_999), refused);
        assert_eq!(check("https://other.example", 10_000), refused);
    }

    #[test]
    fn a_challenge_of_somebody_else_or_none_is_refused() {
        let refused = Err(AttestationFault::Challenge);
        let made = made();
        assert_eq!(challenges(2).check(Some(&made), SERVER, NOW), refused);
        let changed = made.replace(&made[10..11], if &made[10..11] == "A" { "B" } else { "A" });
        for wrong in ["", "AAAA", "%", changed.as_str()] {
            assert_eq!(
                challenges(1).check(Some(wrong), SERVER, NOW),
                refused,
                "{wrong}"
            );
        }
        assert_eq!(challenges(1).check(None, SERVER, NOW), refused);
    }

    #[test]
    fn a_challenge_that_no_claim_should_hold_is_not_sent_back() {
        assert_eq!(usable_challenge("AYjcy"), Some("AYjcy"));
        for wrong in ["", "a b", "\u{e4}", &"c".repeat(MAX + 1)] {
            assert_eq!(usable_challenge(wrong), None);
        }
    }
}
