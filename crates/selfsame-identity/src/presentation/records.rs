//! What is kept: the rules of each organisation, and what the wallet of each sign-in was asked for.

use selfsame_crypto::{SecretString, encoding, hash};
use selfsame_oauth::secret;
use serde::{Deserialize, Serialize};

use super::desk::OpenedPresentation;
use super::rules::PresentationRules;

/// The kind of the records of rules.
pub(super) const RULES: &str = "sign_in_wallet";
/// The id of the only record of rules of an organisation.
pub(super) const ONLY: &str = "rules";
/// The kind of the records of what the wallets of sign-ins were asked for.
pub(super) const ASKED: &str = "sign_in_wallet_asked";

/// What the wallet of one sign-in was asked for.
#[derive(Clone, Default, Deserialize, Serialize)]
pub(super) struct AskedRecord {
    /// How often something was asked for.
    pub times: u32,
    /// What can be answered.
    pub open: Option<OpenQuestion>,
}

/// A question that can be answered, on either device.
#[derive(Clone, Deserialize, Serialize)]
pub(super) struct OpenQuestion {
    /// The rules when it was asked.
    pub rules: PresentationRules,
    /// For a wallet on the device of the browser.
    pub here: OpenedPresentation,
    /// For a wallet on another device.
    pub elsewhere: Option<OpenedPresentation>,
    /// The secret by which the verifier knows the browser. The browser itself has another one.
    #[serde(with = "secret")]
    pub browser: SecretString,
}

/// The id of the record of a sign-in.
pub(super) fn asked_id(sign_in: &str) -> String {
    let parts = [b"presentation\0", sign_in.as_bytes()];
    encoding::base64url_encode(&hash::sha256_parts(&parts))
}
