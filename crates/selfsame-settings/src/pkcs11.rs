//! `[pkcs11]`: the token of a hardware security module that holds signing keys.

use std::sync::Arc;

use selfsame_driver::hsm::Hsm;
use selfsame_pkcs11::{HsmPool, Token, TokenUri};
use selfsame_terminal::exit::Failure;
use selfsame_terminal::master_key::pin_of_environment;
use serde::Deserialize;
use serde::de::Error as _;

/// The number of sessions, unless the settings say another.
const SESSIONS: u16 = 4;

/// A token, and how many sessions are kept with it.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pkcs11Settings {
    /// The token, as a PKCS#11 URI (RFC 7512) with `module-path` and, unless the environment has the PIN, `pin-source`.
    #[serde(deserialize_with = "uri")]
    token: TokenUri,
    /// The number of sessions, each of which signs one thing at a time.
    #[serde(default = "sessions")]
    sessions: u16,
}

impl Pkcs11Settings {
    /// Opens the sessions.
    ///
    /// # Errors
    /// If the module can't be loaded, or the token is absent or refuses the PIN.
    pub fn open(&self) -> Result<Arc<dyn Hsm>, Failure> {
        let token = Token::new(&self.token, pin_of_environment())?;
        Ok(Arc::new(HsmPool::open(&token, self.sessions)?))
    }
}

fn sessions() -> u16 {
    SESSIONS
}

pub(crate) fn uri<'de, D: serde::Deserializer<'de>>(from: D) -> Result<TokenUri, D::Error> {
    let text = String::deserialize(from)?;
    text.parse().map_err(|error: selfsame_driver::Error| {
        D::Error::custom(selfsame_catalogue::english(&error.reason))
    })
}
