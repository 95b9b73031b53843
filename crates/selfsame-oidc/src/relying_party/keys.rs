//! The public keys of a client: in its registration, or at an address of its own.

use selfsame_oauth::Error;
use selfsame_oauth::jwt::VerificationKeys;
use url::Url;

use crate::member::invalid;
use crate::registration::ClientRegistration;

/// Where a client's public keys are.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum PartyKeys {
    /// It has none.
    None,
    /// In its registration.
    Registered(VerificationKeys),
    /// At this address.
    At(Url),
}

impl PartyKeys {
    pub(super) fn of(from: &ClientRegistration) -> Result<Self, Error> {
        match (&from.jwks, &from.jwks_uri) {
            (Some(_), Some(_)) => Err(invalid("jwks and jwks_uri exclude each other")),
            (None, None) => Ok(Self::None),
            (Some(set), None) => {
                let keys = VerificationKeys::from_value(set);
                let keys = keys.map_err(|_| invalid("jwks is malformed or has a private key"))?;
                Ok(Self::Registered(keys))
            }
            (None, Some(uri)) if matches!(uri.scheme(), "https" | "http") => {
                Ok(Self::At(uri.clone()))
            }
            (None, Some(_)) => Err(invalid("jwks_uri is not an address of the web")),
        }
    }
}
