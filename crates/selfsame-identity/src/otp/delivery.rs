//! The seam to whatever brings a code to a person.

use async_trait::async_trait;
use selfsame_crypto::SecretString;
use selfsame_sign_in::identity::OtpChannel;

use super::OtpAddress;

/// Brings codes to addresses of one kind.
#[async_trait]
pub trait OtpCarrier: Send + Sync {
    /// The kind of addresses.
    fn channel(&self) -> OtpChannel;

    /// Hands a code to the carrier. Returns when the carrier has it.
    ///
    /// # Errors
    /// If the carrier has not taken it.
    async fn deliver(&self, message: &OtpMessage<'_>) -> Result<(), Undelivered>;

    /// Whether the carrier would take a code now. It takes about as long as delivering one.
    async fn is_there(&self) -> bool;

    /// The code that it shows on the screen for a sign-in, if that is how it brings codes to people.
    ///
    /// # Errors
    /// The store's.
    async fn shown(&self, _sign_in: &str) -> selfsame_driver::Result<Option<SecretString>> {
        Ok(None)
    }
}

/// A code on its way.
#[derive(Clone, Copy, Debug)]
pub struct OtpMessage<'a> {
    /// The sign-in.
    pub sign_in: &'a str,
    /// Where it goes.
    pub to: OtpAddress<'a>,
    /// The code.
    pub code: &'a SecretString,
    /// The number of the code among those of its sign-in.
    pub number: u64,
    /// Seconds for which it is accepted.
    pub lifetime: u64,
}

/// Why a code was not delivered.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Undelivered {
    /// The carrier refuses this address for good.
    Refused,
    /// The carrier does not answer, or can't take it now.
    Away,
}
