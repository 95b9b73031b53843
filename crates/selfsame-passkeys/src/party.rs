//! The site that passkeys belong to, and the checks that both ceremonies share.

use selfsame_crypto::hash;
use url::{Host, Url};

use crate::authenticator::AuthenticatorData;
use crate::client::{CeremonyKind, ClientData};
use crate::error::PasskeyError;

/// The site that passkeys belong to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RelyingParty {
    /// Its domain. A passkey answers at no other.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Whether the authenticator must verify its owner, for example by PIN or fingerprint.
    pub verifies: bool,
    origin: String,
}

impl RelyingParty {
    /// The site at this origin, where a passkey stands for password and second factor. `None` if browsers have no passkeys there: it must be https or on this machine, with a
    /// domain and not an address (§5.1.3 step 7).
    #[must_use]
    pub fn at(origin: &Url, name: &str) -> Option<Self> {
        let Some(Host::Domain(domain)) = origin.host() else {
            return None;
        };
        let is_local = domain == "localhost" || domain.ends_with(".localhost");
        (origin.scheme() == "https" || is_local).then(|| Self {
            id: domain.to_owned(),
            name: name.to_owned(),
            verifies: true,
            origin: origin.origin().ascii_serialization(),
        })
    }

    /// The same site where a passkey is the second factor: that it is there is enough.
    #[must_use]
    pub fn as_second_factor(self) -> Self {
        Self {
            verifies: false,
            ..self
        }
    }

    /// How browsers are asked for verification (§5.8.6).
    pub(crate) fn verification(&self) -> &'static str {
        match self.verifies {
            true => "required",
            false => "preferred",
        }
    }

    /// Checks client data: the ceremony, and a page of this site that is not within another one (§7.1 steps 7–11,
    /// §7.2 steps 11–15).
    pub(crate) fn called(
        &self,
        client: &ClientData,
        kind: CeremonyKind,
    ) -> Result<(), PasskeyError> {
        if client.kind != kind {
            return Err(PasskeyError::OtherCeremony);
        }
        match client.origin == self.origin && !client.is_framed {
            true => Ok(()),
            false => Err(PasskeyError::Origin),
        }
    }

    /// Checks authenticator data: this site, a person who is there, and whom the authenticator has verified if that is
    /// needed (§7.1 steps 14–16, §7.2 steps 16–18).
    pub(crate) fn met(&self, data: &AuthenticatorData) -> Result<(), PasskeyError> {
        if data.rp_id_hash != hash::sha256(self.id.as_bytes()) {
            return Err(PasskeyError::OtherParty);
        }
        if !data.flags.is_present() {
            return Err(PasskeyError::NotPresent);
        }
        match data.flags.is_verified() || !self.verifies {
            true => Ok(()),
            false => Err(PasskeyError::NotVerified),
        }
    }
}
