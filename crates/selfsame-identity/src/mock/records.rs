//! The records of the mock identity system.

use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::{encoding, hash};
use serde::{Deserialize, Serialize};

/// People.
pub(super) const PERSON: &str = "mock_person";
/// Transactions for which a one-time password was sent.
pub(super) const OTP: &str = "mock_otp";
/// Authentications whose claims can be fetched once.
pub(super) const KYC: &str = "mock_kyc";
/// Where the key is named that claims are signed with.
pub(super) const SIGNING: &str = "mock_signing";
/// Seconds for which a one-time password and an authentication count.
pub(super) const SECONDS: u64 = 180;

/// An authentication.
#[derive(Deserialize, Serialize)]
pub(super) struct KycRecord {
    pub transaction: String,
    pub individual_id: String,
    pub subject: String,
}

/// A transaction and the person whom a one-time password was sent to.
pub(super) struct OtpTransaction<'a> {
    transaction: &'a str,
    individual_id: &'a str,
}

impl<'a> OtpTransaction<'a> {
    pub(super) fn of(transaction: &'a str, individual_id: &'a str) -> Self {
        Self {
            transaction,
            individual_id,
        }
    }

    pub(super) fn text(&self) -> String {
        format!("{}\0{}", self.transaction, self.individual_id)
    }
}

/// The id of a record about a person: it reveals nothing without the key.
pub(super) fn named(key: &SealingKey, what: &str, text: &str) -> String {
    encoding::base64url_encode(&key.mac(format!("{what}\0{text}").as_bytes()))
}

/// The id of the record of a token.
pub(super) fn token_id(token: &str) -> String {
    encoding::base64url_encode(&hash::sha256_parts(&[b"kyc token\0", token.as_bytes()]))
}
