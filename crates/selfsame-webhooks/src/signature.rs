//! The signature of a message: HMAC-SHA256 under the endpoint's secrets (Standard Webhooks, "Signature scheme").

use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::encoding::{base64_decode, base64_encode};
use selfsame_crypto::hash::hmac_sha256;
use selfsame_crypto::{Secret, SecretString};
use selfsame_oauth::secret;
use serde::{Deserialize, Serialize};

/// The prefix of a secret in text.
const PREFIX: &str = "whsec_";
/// The number of random bytes of a new secret; 24 to 64 are allowed.
const SECRET_BYTES: usize = 32;

/// The secret of an endpoint: `whsec_` and the base64 of its bytes.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(transparent)]
pub struct WebhookSecret(#[serde(with = "secret")] SecretString);

impl WebhookSecret {
    /// A new secret.
    #[must_use]
    pub fn generate(ctx: &Ctx) -> Self {
        let bytes: [u8; SECRET_BYTES] = ctx.random("webhook/secret");
        Self(SecretString::new(format!(
            "{PREFIX}{}",
            base64_encode(&bytes)
        )))
    }

    /// The secret of this text; `None` if it is not one, or has fewer than 24 or more than 64 bytes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let secret = Self(SecretString::new(text.to_owned()));
        let length = secret.key()?.expose().len();
        (24..=64).contains(&length).then_some(secret)
    }

    /// The secret as text, to be shown once.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.0.expose()
    }

    fn key(&self) -> Option<Secret> {
        let encoded = self.0.expose().strip_prefix(PREFIX)?;
        base64_decode(encoded).ok().map(Secret::new)
    }
}

/// What is signed and sent.
pub(crate) struct SignedMessage<'a> {
    /// `webhook-id`. It has no full stop.
    pub id: &'a str,
    /// `webhook-timestamp`: the time of the attempt, in seconds since the epoch.
    pub timestamp: &'a str,
    /// The body, byte for byte as it is sent.
    pub body: &'a [u8],
}

impl SignedMessage<'_> {
    /// The header `webhook-signature`: a signature with each secret.
    pub fn signatures<'a>(&self, secrets: impl Iterator<Item = &'a WebhookSecret>) -> String {
        let sign = |secret: &WebhookSecret| {
            let parts = [
                self.id.as_bytes(),
                b".",
                self.timestamp.as_bytes(),
                b".",
                self.body,
            ];
            let tag = hmac_sha256(secret.key()?.expose(), &parts);
            Some(format!("v1,{}", base64_encode(&tag)))
        };
        let signed: Vec<String> = secrets.filter_map(sign).collect();
        signed.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use selfsame_crypto::time::UnixTime;

    use super::*;

    fn signature(secret: &str, message: &SignedMessage<'_>) -> String {
        let secret = WebhookSecret::parse(secret).unwrap();
        message.signatures([&secret].into_iter())
    }

    #[test]
    fn the_signatures_are_those_of_the_published_libraries() {
        // libraries/python/tests/test_webhooks.py and libraries/rust/src/lib.rs of the specification's repository.
        let python = SignedMessage {
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            timestamp: "1614265330",
            body: br#"{"test": 2432232314}"#,
        };
        assert_eq!(
            signature("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", &python),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        );
        let rust = SignedMessage {
            id: "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk",
            timestamp: "1649367553",
            body: br#"{"email":"test@example.com","username":"test_user"}"#,
        };
        assert_eq!(
            signature("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD", &rust),
            "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw="
        );
    }

    #[test]
    fn two_secrets_give_two_signatures_with_a_space_between_them() {
        let ctx = |seed| Ctx::new(UnixTime(7), [seed; 32]);
        let secrets = [1, 2].map(|seed| WebhookSecret::generate(&ctx(seed)));
        let message = SignedMessage {
            id: "msg_1",
            timestamp: "7",
            body: b"{}",
        };
        let both = message.signatures(secrets.iter());
        let each = secrets
            .iter()
            .map(|secret| signature(secret.expose(), &message));
        assert_eq!(both, each.collect::<Vec<_>>().join(" "));
    }

    #[test]
    fn a_secret_that_is_short_or_long_or_not_base64_is_refused() {
        for wrong in ["", "whsec_", "whsec_AAAA", "whsec_?", "AAAA"] {
            assert!(WebhookSecret::parse(wrong).is_none(), "{wrong}");
        }
        let long = format!("whsec_{}", base64_encode(&[0; 65]));
        assert!(WebhookSecret::parse(&long).is_none());
    }

    #[test]
    fn the_debug_output_of_a_secret_does_not_show_it() {
        let secret = WebhookSecret::generate(&Ctx::new(UnixTime(7), [1; 32]));
        let encoded = secret.expose().strip_prefix("whsec_").unwrap();
        assert!(!format!("{secret:?}").contains(encoded));
    }
}
