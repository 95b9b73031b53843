//! Certificates for further hosts of the listener, `[[tls.hosts]]`: a client gets that of the host that it names.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use selfsame_app::{App, DatedChain};
use selfsame_core::organisation::HostName;
use selfsame_driver::clock::Clock;
use selfsame_server::{ShownEnd, Tls, TlsHost};
use selfsame_terminal::exit::Failure;
use selfsame_terminal::output;
use selfsame_terminal::systemd::Reloading;
use tokio::signal::unix::{SignalKind, signal};

use super::{host_of, read, refused};
use crate::settings::{HostCertificate, Settings};

/// What a name begins with that stands for any one label.
const ANY: &str = "*.";
/// The most hosts without a certificate that are named.
const NAMED: usize = 10;
const NEEDS_OWN: &str = "[[tls.hosts]] adds hosts to a listener with TLS: give its own certificate too (--tls-certificate with --tls-key, or --tls-self-made), or leave [[tls.hosts]] to the proxy";

/// The certificates for further hosts, and where they are listed.
#[derive(Clone, Default)]
pub struct HostCertificates {
    /// The settings file, which is read again.
    pub settings: Option<PathBuf>,
    /// `[[tls.hosts]]` at the start.
    pub listed: Vec<HostCertificate>,
    /// Whether an authority gives the certificates of other hosts.
    pub is_ordered: bool,
}

impl HostCertificates {
    /// Lets the listener show them; returns the certificates of all its hosts, DER.
    ///
    /// # Errors
    /// If a file or a name is invalid, a name is listed twice, or the listener has no TLS.
    pub fn load(&self, tls: Option<&Tls>) -> Result<Vec<Vec<u8>>, Failure> {
        let hosts = all(&self.listed)?;
        let Some(tls) = tls else {
            return match hosts.is_empty() {
                true => Ok(Vec::new()),
                false => {
                    let what = "[[tls.hosts]] is set, but the listener has no TLS";
                    Err(Failure::environment(what).hint(NEEDS_OWN))
                }
            };
        };
        tls.renew_hosts(&hosts);
        for why in hosts.iter().filter_map(complaint) {
            output::complain(&format!("selfsame: {why}: clients will refuse it"));
        }
        let all = hosts.iter().map(|host| &host.tls).chain([tls]);
        Ok(all.flat_map(|tls| tls.certificates.clone()).collect())
    }

    /// Warns of organisations whose hosts no certificate is for, now and on each SIGHUP, which also renews the list; lets
    /// the instance watch when the certificates end.
    ///
    /// # Errors
    /// If signals can't be received.
    pub async fn watch(&self, tls: Option<&Tls>, app: &Arc<App>) -> Result<(), Failure> {
        let Some(tls) = tls else {
            return Ok(());
        };
        self.tell_uncovered(tls, app).await;
        let (shown, own) = (tls.clone(), host_of(&app.config().origin).to_owned());
        app.watch_certificates(move || {
            shown
                .ends()
                .into_iter()
                .map(|end| dated(end, &own))
                .collect()
        });
        self.renew_on_hangup(tls, app)
    }

    /// On each SIGHUP reads the settings file's list and the files that it names again, and uses them from then on; if
    /// something of it is invalid, nothing changes.
    fn renew_on_hangup(&self, tls: &Tls, app: &Arc<App>) -> Result<(), Failure> {
        let Some(file) = self.settings.clone() else {
            return Ok(());
        };
        let mut hangup = signal(SignalKind::hangup())?;
        let (certificates, tls, app) = (self.clone(), tls.clone(), app.clone());
        tokio::spawn(async move {
            while hangup.recv().await.is_some() {
                let _reloading = Reloading::begin().await;
                let next = Settings::read(&file).and_then(|settings| {
                    let listed = settings.tls.map(|tls| tls.hosts).unwrap_or_default();
                    better(all(&listed)?, &tls)
                });
                match next {
                    Ok(next) => {
                        tls.renew_hosts(&next);
                        let (file, count) = (file.display(), next.len());
                        output::complain(&format!(
                            "selfsame: {file}: {count} certificates of [[tls.hosts]] were read again"
                        ));
                        certificates.tell_uncovered(&tls, &app).await;
                    }
                    Err(failure) => output::complain(&format!(
                        "selfsame: the certificates of [[tls.hosts]] stay unchanged: {}",
                        failure.message()
                    )),
                }
            }
        });
        Ok(())
    }

    /// Warns of organisations to whose hosts no certificate of the listener belongs, unless an authority gives them.
    async fn tell_uncovered(&self, tls: &Tls, app: &App) {
        if self.is_ordered {
            return;
        }
        let hosts = match app.organisations().hosts().await {
            Ok(hosts) => hosts,
            Err(error) => {
                tracing::warn!(%error, "the hosts of organisations can't be read now");
                return;
            }
        };
        let uncovered: Vec<_> = hosts.iter().filter(|host| !is_covered(tls, host)).collect();
        for host in uncovered.iter().take(NAMED) {
            output::complain(&format!(
                "selfsame: no certificate is for {host}, the host of an organisation: clients will refuse it; add one under [[tls.hosts]], then send SIGHUP"
            ));
        }
        let more = uncovered.len().saturating_sub(NAMED);
        if more > 0 {
            output::complain(&format!("selfsame: nor for {more} more hosts"));
        }
    }
}

/// A chain that the listener shows; its own is for this host.
fn dated(shown: ShownEnd, own: &str) -> DatedChain {
    DatedChain {
        purpose: match shown.host {
            Some(_) => "host",
            None => "listener",
        },
        name: shown.host.unwrap_or_else(|| own.to_owned()),
        ends: shown.ends,
    }
}

/// What clients will refuse at these hosts of organisations: listed certificates that are not for their names or not valid
/// now, and hosts that no listed certificate is for. Each in words.
///
/// # Errors
/// If a file or a name is invalid, or a name is listed twice.
pub fn faults(listed: &[HostCertificate], hosts: &[HostName]) -> Result<Vec<String>, Failure> {
    let all = all(listed)?;
    let mut faults: Vec<String> = all.iter().filter_map(complaint).collect();
    // A client gets the certificate that is listed under the name that it asks for.
    let covers = |one: &TlsHost, host: &HostName| {
        let (_, rest) = host.as_str().split_once('.').unwrap_or_default();
        let is_it = |name: &String| {
            let any = name.strip_prefix(ANY);
            any.map_or(name == host.as_str(), |above| above == rest)
        };
        let leaf = one.tls.certificates.first();
        one.names.iter().any(is_it) && leaf.is_some_and(|leaf| Tls::covers(leaf, host.as_str()))
    };
    let uncovered = hosts
        .iter()
        .filter(|host| !all.iter().any(|one| covers(one, host)));
    faults.extend(uncovered.map(|host| {
        format!("no certificate under [[tls.hosts]] is for {host}, the host of an organisation")
    }));
    Ok(faults)
}

fn is_covered(tls: &Tls, host: &HostName) -> bool {
    let shown = tls.certificate_for(host.as_str());
    shown.is_some_and(|shown| Tls::covers(&shown, host.as_str()))
}

/// The listed certificates with their names.
fn all(listed: &[HostCertificate]) -> Result<Vec<TlsHost>, Failure> {
    let mut seen = BTreeSet::new();
    for name in listed.iter().flat_map(|host| &host.names) {
        HostName::parse(name.strip_prefix(ANY).unwrap_or(name)).map_err(|_| {
            Failure::environment(format!("[[tls.hosts]]: `{name}` is not the name of a host"))
                .hint("names = [\"id.clinic.example\", \"*.school.example\"]")
        })?;
        if !seen.insert(name) {
            let what = format!("[[tls.hosts]]: `{name}` is listed twice");
            return Err(Failure::environment(what).hint("name each host once"));
        }
    }
    let hosts = listed.iter().map(|host| {
        if host.names.is_empty() {
            let what = format!("[[tls.hosts]]: {} has no names", host.certificate.display());
            return Err(Failure::environment(what).hint("names = [\"id.clinic.example\"]"));
        }
        Ok(TlsHost {
            names: host.names.clone(),
            tls: read(&host.certificate, &host.certificate_key)?,
        })
    });
    hosts.collect()
}

/// The next certificates, unless clients would refuse one of them and accept the one that they get now.
fn better(next: Vec<TlsHost>, shown: &Tls) -> Result<Vec<TlsHost>, Failure> {
    for host in &next {
        let Some(why) = complaint(host) else {
            continue;
        };
        let is_taken = |name: &String| {
            let example = example(name);
            let leaf = shown.certificate_for(&example).unwrap_or_default();
            refused(&leaf, &example, Clock::default().now()).is_none()
        };
        if host.names.iter().any(is_taken) {
            return Err(Failure::environment(format!(
                "{why}: clients will refuse it"
            )));
        }
    }
    Ok(next)
}

/// Why clients will refuse a certificate at one of its hosts now.
fn complaint(host: &TlsHost) -> Option<String> {
    let leaf = host.tls.certificates.first()?;
    let now = Clock::default().now();
    let mut why = host.names.iter().filter_map(|name| {
        let why = refused(leaf, &example(name), now)?;
        Some(format!("[[tls.hosts]] {name}: {why}"))
    });
    why.next()
}

/// A host that a name stands for.
fn example(name: &str) -> String {
    match name.strip_prefix(ANY) {
        Some(rest) => format!("any.{rest}"),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn listed(folder: &Path, names: &[&str], of: &str) -> HostCertificate {
        let made = Tls::self_made(of).unwrap();
        let file = |kind: &str, text: &str| {
            let path = folder.join(format!("{of}.{kind}.pem"));
            std::fs::write(&path, text).unwrap();
            path
        };
        HostCertificate {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            certificate: file("chain", &made.certificate_pem),
            certificate_key: file("key", made.key_pem.expose()),
        }
    }

    #[test]
    fn each_name_is_a_host_or_stands_for_one_label_and_is_listed_once() {
        let folder = tempfile::tempdir().unwrap();
        let of = |names: &[&str]| all(&[listed(folder.path(), names, "id.clinic.example")]);
        assert_eq!(
            of(&["id.clinic.example", "*.clinic.example"])
                .unwrap()
                .len(),
            1
        );
        for wrong in [
            &[][..],
            &["ID.clinic.example"],
            &["id.clinic.example:443"],
            &["*.*.example"],
            &["a.*.example"],
            &["*"],
            &["192.0.2.1"],
            &["id.clinic.example", "id.clinic.example"],
        ] {
            assert!(of(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_certificate_that_clients_will_refuse_does_not_take_the_place_of_one_that_they_take() {
        let folder = tempfile::tempdir().unwrap();
        let host = |of: &str| all(&[listed(folder.path(), &["id.clinic.example"], of)]).unwrap();
        let own = all(&[listed(folder.path(), &["id.example"], "id.example")]).unwrap();
        let own = own[0].tls.clone();
        // Nothing better is shown yet.
        let wrong = host("other.example");
        assert!(
            complaint(&wrong[0])
                .unwrap()
                .contains("not for id.clinic.example")
        );
        assert!(better(wrong.clone(), &own).is_ok());
        own.renew_hosts(&host("id.clinic.example"));
        assert!(better(wrong, &own).is_err());
        assert!(better(host("id.clinic.example"), &own).is_ok());
    }

    #[test]
    fn a_host_without_a_certificate_and_a_certificate_of_another_host_are_faults() {
        let folder = tempfile::tempdir().unwrap();
        let hosts =
            ["id.clinic.example", "id.school.example"].map(|host| HostName::parse(host).unwrap());
        let own = listed(folder.path(), &["id.clinic.example"], "id.clinic.example");
        let wrong = listed(folder.path(), &["id.school.example"], "other.example");
        let found = |all: &[HostCertificate]| faults(all, &hosts).ok().unwrap().join("; ");
        let missing = "no certificate under [[tls.hosts]] is for id.school.example";
        assert!(found(std::slice::from_ref(&own)).starts_with(missing));
        let both = found(&[own, wrong]);
        assert!(
            both.contains("not for id.school.example") && both.contains(missing),
            "{both}"
        );
    }

    #[test]
    fn a_listener_without_tls_has_no_further_hosts() {
        let folder = tempfile::tempdir().unwrap();
        let some = HostCertificates {
            settings: None,
            is_ordered: false,
            listed: vec![listed(
                folder.path(),
                &["id.clinic.example"],
                "id.clinic.example",
            )],
        };
        assert!(some.load(None).is_err());
        assert!(HostCertificates::default().load(None).is_ok());
    }
}
