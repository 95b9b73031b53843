//! What `selfsame config check` finds in settings of the right form.

use std::path::Path;

use selfsame_terminal::exit::Failure;

use crate::database::DatabaseOptions;
use crate::settings::Settings;
use crate::tls;

/// Each reason why an instance could not start with the settings in this file.
pub fn failures(file: &Path) -> Vec<Failure> {
    match Settings::read(file) {
        Ok(read) => failures_of(read),
        Err(failure) => vec![failure],
    }
}

fn failures_of(read: Settings) -> Vec<Failure> {
    let registry = &read.registry;
    let nodes = registry.nodes();
    let of_registry = match &nodes {
        Ok(nodes) if nodes.is_empty() => registry.shown_to().map(drop),
        _ => registry.quorum().map(drop),
    };
    let is_alone = nodes.as_ref().is_ok_and(Vec::is_empty);
    let readers = is_alone.then(|| registry.without_nodes());
    let hosts = read.tls.iter().flat_map(|tls| tls.hosts.clone());
    let hosts = tls::faults(&hosts.collect::<Vec<_>>(), &[]);
    let acme = read.tls.iter().find_map(|tls| tls.acme.as_ref());
    let listens = &read.instance;
    let has_another = listens.tls_certificate.is_some() || listens.tls_self_made;
    let acme = acme.map(|acme| acme.check_beside(has_another, listens.origin.as_ref()));
    let listener = match (&read.instance.tls_certificate, &read.instance.tls_key) {
        (Some(certificate), Some(key)) => tls::read(certificate, key).map(drop),
        (None, None) => Ok(()),
        _ => Err(Failure::environment(
            "[instance] tls_certificate needs tls_key, and tls_key needs tls_certificate",
        )),
    };
    let agents = read.agents.iter().map(|agent| -> Result<(), Failure> {
        agent.admin()?;
        agent.inbound()?;
        agent.controllers()?;
        Ok(())
    });
    let mut checks: Vec<Result<(), Failure>> = agents.collect();
    checks.extend(readers.into_iter().chain(acme));
    checks.extend([
        nodes.map(drop),
        of_registry,
        listener,
        registry.pin().map(drop),
        hosts.map(drop),
        read.limits.limits().map(drop),
        read.issuer.check().map_err(Failure::from),
        read.verifier.check().map_err(Failure::from),
        read.wallet.check().map_err(Failure::from),
        read.organisations.check().map_err(Failure::from),
        read.trust.check().map_err(Failure::from),
        read.resolver.check(&read.trust).map_err(Failure::from),
        DatabaseOptions::default().database(read.database).map(drop),
    ]);
    checks.into_iter().filter_map(Result::err).collect()
}
