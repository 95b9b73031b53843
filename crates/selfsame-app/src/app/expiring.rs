//! When the certificates end that an instance shows or signs with: a metric, and a warning while there is time to renew
//! them.

use std::sync::{Mutex, OnceLock, PoisonError};

use selfsame_core::certificate::anchors;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::x509;

use super::App;

/// Seconds before the end of a certificate in which the log warns.
const SOON: u64 = 14 * DAY;
/// Seconds between two warnings.
const DAY: u64 = 86_400;

/// A chain of certificates, and when it ends.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DatedChain {
    /// What it is used for: `listener`, `host`, `issuer`, `verifier` or `wallet`.
    pub purpose: &'static str,
    /// The host or the issuer that it is for.
    pub name: String,
    /// When the first certificate of the chain ends.
    pub ends: UnixTime,
}

/// Lists the chains that a listener shows now.
type ShownChains = dyn Fn() -> Vec<DatedChain> + Send + Sync;

/// What is known of the ends of certificates.
#[derive(Default)]
pub(crate) struct Expiry {
    /// The listener's chains; set at the start.
    shown: OnceLock<Box<ShownChains>>,
    /// The chains whose metrics were set.
    noted: Mutex<Vec<DatedChain>>,
    /// When the log warned last.
    warned: Mutex<Option<UnixTime>>,
}

impl App {
    /// Watches the ends of the chains that the listener shows, as this function lists them.
    pub fn watch_certificates(&self, shown: impl Fn() -> Vec<DatedChain> + Send + Sync + 'static) {
        // The first listener is the one that people reach.
        let _ = self.expiry.shown.set(Box::new(shown));
    }

    /// The chains that the listener shows, and that the first organisation's issuer and verifier and the wallet's attester
    /// sign with.
    #[must_use]
    pub fn certificate_ends(&self) -> Vec<DatedChain> {
        let shown = self.expiry.shown.get();
        let mut chains = shown.map_or_else(Vec::new, |shown| shown());
        let signing = self.roles.certificates().filter_map(|(purpose, one)| {
            Some(DatedChain {
                purpose,
                name: one.name.clone(),
                ends: x509::chain_not_after(one.signer.x5c.iter().map(Vec::as_slice))?,
            })
        });
        chains.extend(signing);
        let attester = self.config().wallet.certificate.iter();
        chains.extend(attester.filter_map(|pem| {
            let x5c = anchors(std::slice::from_ref(pem)).ok()?;
            Some(DatedChain {
                purpose: "wallet",
                name: self.config().origin.to_string(),
                ends: x509::chain_not_after(x5c.iter().map(Vec::as_slice))?,
            })
        }));
        chains
    }

    /// Sets the metrics. That of a chain that is no longer used is set to no number.
    pub(crate) fn note_certificate_ends(&self) {
        let (now, chains) = (self.clock().now(), self.certificate_ends());
        let mut noted = self
            .expiry
            .noted
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let is_used = |one: &DatedChain| {
            chains
                .iter()
                .any(|other| other.purpose == one.purpose && other.name == one.name)
        };
        for gone in noted.iter().filter(|one| !is_used(one)) {
            gone.note(f64::NAN);
        }
        for chain in &chains {
            chain.note(chain.ends.0 as f64 - now.0 as f64);
        }
        *noted = chains;
    }

    /// Warns once a day of the chains that end soon.
    pub(crate) fn warn_of_certificate_ends(&self) {
        let now = self.clock().now();
        let mut warned = self
            .expiry
            .warned
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if warned.is_some_and(|last| now.seconds_since(last) < DAY) {
            return;
        }
        *warned = Some(now);
        for chain in self.certificate_ends() {
            let (certificate, name) = (chain.purpose, &chain.name);
            let ends = chain.ends.rfc3339();
            match chain.days_left(now) {
                Some(0) => tracing::error!(
                    certificate,
                    name,
                    ends,
                    "a certificate has ended, or ends today: renew it"
                ),
                Some(days) => tracing::warn!(
                    certificate,
                    name,
                    ends,
                    days,
                    "a certificate ends soon: renew it"
                ),
                None => {}
            }
        }
    }
}

impl DatedChain {
    fn note(&self, seconds: f64) {
        metrics::gauge!(
            "selfsame_certificate_expiry_seconds",
            "use" => self.purpose, "name" => self.name.clone()
        )
        .set(seconds);
    }

    /// The whole days until it ends, if they are few.
    fn days_left(&self, now: UnixTime) -> Option<u64> {
        let left = self.ends.seconds_since(now);
        (left < SOON).then_some(left / DAY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_warns_of_a_certificate_in_the_fortnight_before_its_end_and_after_it() {
        let chain = DatedChain {
            purpose: "listener",
            name: "id.example".to_owned(),
            ends: UnixTime(100 * DAY),
        };
        let left = |day: u64| chain.days_left(UnixTime(day * DAY));
        assert_eq!([left(86), left(87), left(99)], [None, Some(13), Some(1)]);
        assert_eq!([left(100), left(200)], [Some(0), Some(0)]);
    }
}
