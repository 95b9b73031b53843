//! Counts callers: by network, and by the identifier that they ask about.

use std::net::IpAddr;

use selfsame_crypto::SecretString;
use selfsame_crypto::hash::sha256_parts;
use selfsame_driver::crowd::counted_address;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_oauth::Code;

use crate::identity::PersonsDevice;
use crate::service::SignIns;

impl SignIns {
    /// Counts a call that costs something from an address. This machine is not counted: it speaks for many.
    ///
    /// # Errors
    /// `TooMany` with the time to wait.
    pub fn count_call(&self, from: IpAddr) -> Result<()> {
        let Some(network) = network(from) else {
            return Ok(());
        };
        let now = self.shared().clock.now();
        let counted = self.service.callers.networks.count(network, now);
        counted.map_err(too_many)
    }

    /// Makes a call of a client, of which wrong authentications are counted alone: one address speaks for many people.
    ///
    /// # Errors
    /// `TooMany` with the time to wait; those of the call.
    pub async fn counting<T>(
        &self,
        from: Option<IpAddr>,
        call: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let Some(network) = from.and_then(network) else {
            return call.await;
        };
        let networks = &self.service.callers.networks;
        let now = self.shared().clock.now();
        networks.admits(&network, now).map_err(too_many)?;
        let done = call.await;
        let wrong = [Code::InvalidClient, Code::InvalidClientAttestation].map(Code::as_str);
        let is_refused = |error: &Error| error.code.is_some_and(|code| wrong.contains(&code));
        if done.as_ref().is_err_and(is_refused) {
            networks.add(network, now);
        }
        done
    }

    /// Counts a one-time password for somebody.
    pub(crate) fn count_send(&self, identifier: &SecretString) -> Result<()> {
        let now = self.shared().clock.now();
        let about = self.about(identifier, None);
        let counted = self.service.callers.sends.count(about, now);
        counted.map_err(blocked)
    }

    /// Whether an attempt to be somebody may be made from this device.
    pub(crate) fn admits_attempt(
        &self,
        identifier: &SecretString,
        from: Option<&PersonsDevice>,
    ) -> Result<()> {
        if names_nobody(identifier) {
            return Ok(());
        }
        let now = self.shared().clock.now();
        let about = self.about(identifier, from);
        let admitted = self.service.callers.wrong.admits(&about, now);
        admitted.map_err(blocked)
    }

    /// Counts a wrong attempt to be somebody.
    pub(crate) fn count_wrong(&self, identifier: &SecretString, from: Option<&PersonsDevice>) {
        if names_nobody(identifier) {
            return;
        }
        let about = self.about(identifier, from);
        let now = self.shared().clock.now();
        self.service.callers.wrong.add(about, now);
    }

    fn about(&self, identifier: &SecretString, from: Option<&PersonsDevice>) -> [u8; 32] {
        let network = from.and_then(|from| network(from.address));
        let network = network.map(|network| network.to_string());
        sha256_parts(&[
            self.place.tenant.as_str().as_bytes(),
            b"\0",
            network.unwrap_or_default().as_bytes(),
            b"\0",
            identifier.expose().trim().to_lowercase().as_bytes(),
        ])
    }
}

/// Whether a challenge is to identify the person: a passkey or a presentation, which cannot be guessed. Counted together,
/// all people of one network would share their wrong attempts.
fn names_nobody(identifier: &SecretString) -> bool {
    identifier.expose().trim().is_empty()
}

/// What an address is counted as: itself, or its /64, all of which one host may use. `None` for this machine.
fn network(address: IpAddr) -> Option<IpAddr> {
    let is_here = address.to_canonical().is_loopback();
    (!is_here).then(|| counted_address(address))
}

fn too_many(retry_after: u64) -> Error {
    tracing::warn!(seconds = retry_after, "the sign-ins of a network pause");
    Error::new(ErrorKind::TooMany { retry_after }, "sign-ins-too-many")
}

fn blocked(retry_after: u64) -> Error {
    tracing::warn!(seconds = retry_after, "the sign-ins of a person pause");
    Error::new(ErrorKind::TooMany { retry_after }, "identity-blocked")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_counted_by_its_network_and_this_machine_is_not() {
        let of = |text: &str| network(text.parse().unwrap()).map(|network| network.to_string());
        assert_eq!(of("127.0.0.1"), None);
        assert_eq!(of("::1"), None);
        assert_eq!(of("::ffff:192.0.2.1").as_deref(), Some("192.0.2.1"));
        assert_eq!(of("2001:db8:1:2:3::4").as_deref(), Some("2001:db8:1:2::"));
    }
}
