//! Sign-in with what a person has: the wallet or the passkey.

use askama::Template;

use crate::frame::SignInFrame;
use crate::said::Saying;

/// The page on which a wallet is asked for a credential.
#[derive(Template)]
#[template(path = "wallet.html")]
pub struct WalletWayPage {
    /// What stands around it.
    pub frame: SignInFrame,
    /// The titles of the credentials that are asked for.
    pub credentials: Vec<String>,
    /// The request for a wallet on another device as a QR code: an `<svg>` element; empty without one.
    pub code: String,
    /// The link that opens a wallet on this device.
    pub link: String,
    /// The page that shows whether the wallet has answered. It redirects once it has; reading it changes nothing.
    pub look: String,
    /// The page with the other ways, if there are any.
    pub back: Option<String>,
    /// What was wrong with an answer.
    pub problem: Option<Saying>,
}

/// The page on which a passkey is asked.
#[derive(Template)]
#[template(path = "passkey.html")]
pub struct PasskeyWayPage {
    /// What stands around it.
    pub frame: SignInFrame,
    /// What the browser is asked, as JSON.
    pub options: String,
    /// Where the answer goes.
    pub action: String,
    /// The page with the other ways, if there are any.
    pub back: Option<String>,
    /// What was wrong with an answer.
    pub problem: Option<Saying>,
}
