//! The certificates that the listener of this process shows.

use std::collections::{BTreeMap, BTreeSet};

use selfsame_driver::clock::Clock;
use selfsame_http::tls::{Tls, TlsHost};
use selfsame_store::Store;
use selfsame_terminal::exit::Failure;
use url::Url;

use crate::records::HostRecord;

/// What the listener of this origin shows when it starts: the certificate that is kept for its host, or one that it signs
/// itself until an authority has given one.
///
/// # Errors
/// If the store can't be read, or no certificate can be made for the host.
pub async fn first_certificate(store: &Store, origin: &Url) -> Result<Tls, Failure> {
    let host = origin.host_str().unwrap_or("localhost");
    let kept = HostRecord::read(store, host).await?;
    if let Some(tls) = tls_of(&kept) {
        if !kept.state.is_served(Clock::default().now()) {
            tracing::warn!(
                host,
                "the certificate has ended: clients will refuse it until an authority has given the next"
            );
        }
        return Ok(tls);
    }
    tracing::warn!(
        host,
        "there is no certificate yet: clients will refuse the listener's own until an authority has given one"
    );
    let made = Tls::self_made(host).map_err(|error| Failure::ours(error.to_string()))?;
    let (chain, key) = (
        made.certificate_pem.as_bytes(),
        made.key_pem.expose().as_bytes(),
    );
    Tls::from_pem(chain, key).map_err(|error| Failure::ours(error.to_string()))
}

/// The certificates of hosts, each with the stamp of the record that it is from.
pub(crate) struct ShownHosts {
    tls: Tls,
    own: String,
    hosts: BTreeMap<String, ShownHost>,
}

struct ShownHost {
    stamp: Option<u64>,
    tls: Tls,
}

impl ShownHosts {
    /// None yet. `own` is the host of clients that name none.
    pub fn new(tls: Tls, own: &str) -> Self {
        Self {
            tls,
            own: own.to_owned(),
            hosts: BTreeMap::new(),
        }
    }

    /// Shows the certificates of these hosts, and no others, from the next handshake on. What can't be used leaves what was
    /// shown before.
    pub fn show(&mut self, records: &[HostRecord]) {
        let wanted: BTreeSet<&str> = records.iter().map(|record| &*record.host).collect();
        let before = self.hosts.len();
        self.hosts.retain(|host, _| wanted.contains(&**host));
        let mut is_changed = self.hosts.len() != before;
        for record in records {
            let known = self.hosts.get(&record.host);
            if known.is_some_and(|known| known.stamp == record.stamp()) {
                continue;
            }
            let Some(tls) = tls_of(record) else {
                continue;
            };
            let is_same = known.is_some_and(|known| known.tls.certificates == tls.certificates);
            if !is_same {
                is_changed = true;
                tracing::info!(host = record.host, "the listener shows another certificate");
            }
            if record.host == self.own && !is_same {
                self.tls.renew(&tls);
            }
            let stamp = record.stamp();
            self.hosts
                .insert(record.host.clone(), ShownHost { stamp, tls });
        }
        if is_changed {
            let further = self.hosts.iter().filter(|(host, _)| **host != self.own);
            let further: Vec<_> = further
                .map(|(host, shown)| TlsHost {
                    names: vec![host.clone()],
                    tls: shown.tls.clone(),
                })
                .collect();
            self.tls.renew_ordered(&further);
        }
    }
}

/// The certificate of a record, ready for handshakes.
fn tls_of(record: &HostRecord) -> Option<Tls> {
    let kept = record.state.certificate()?;
    let (chain, key) = (
        kept.given.chain.as_bytes(),
        kept.given.key.expose().as_bytes(),
    );
    let tls = Tls::from_pem(chain, key);
    tls.inspect_err(|error| {
        tracing::error!(host = record.host, %error, "a certificate that was kept can't be used");
    })
    .ok()
}
