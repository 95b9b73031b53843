//! Name resolution for connections. The guard checks the addresses that are then dialled, so a refused address is never
//! connected to.

use std::collections::BTreeMap;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::vec;

use hyper_util::client::legacy::connect::dns::Name;
use tower::Service;
use url::Host;

use crate::guard::{self, GuardRefusal, Reach};
use crate::localhost::LOCALHOST;

/// Maximum number of addresses tried for one name.
const MAX_ADDRESSES: usize = 16;

#[derive(Clone, Debug)]
pub(crate) struct Resolver {
    reach: Reach,
    hosts: Arc<BTreeMap<String, Vec<IpAddr>>>,
    own_hosts: Arc<Vec<Host>>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum ResolveError {
    #[error("unknown host")]
    Unknown,
    #[error("{0}")]
    Refused(GuardRefusal),
}

impl Resolver {
    pub(crate) fn new(
        reach: Reach,
        hosts: Arc<BTreeMap<String, Vec<IpAddr>>>,
        own_hosts: Arc<Vec<Host>>,
    ) -> Self {
        Self {
            reach,
            hosts,
            own_hosts,
        }
    }

    async fn resolve(self, name: Name) -> Result<vec::IntoIter<SocketAddr>, ResolveError> {
        let found = self.look_up(name.as_str()).await?;
        if found.is_empty() {
            return Err(ResolveError::Unknown);
        }
        let is_public = |address: &IpAddr| guard::is_public(*address);
        let allowed: Vec<IpAddr> = match self.reach {
            Reach::Own => found,
            Reach::Beside if !found.iter().any(is_public) => self.own_among(found).await,
            Reach::Beside | Reach::Public => found.into_iter().filter(is_public).collect(),
        };
        if allowed.is_empty() {
            return Err(ResolveError::Refused(GuardRefusal::Address));
        }
        let allowed = allowed
            .into_iter()
            .map(|address| SocketAddr::new(address, 0));
        Ok(allowed.collect::<Vec<_>>().into_iter())
    }

    async fn look_up(&self, name: &str) -> Result<Vec<IpAddr>, ResolveError> {
        let known = self.hosts.get(name);
        let localhost = || match name.ends_with(guard::BELOW_LOCALHOST) {
            true => self.hosts.get(LOCALHOST),
            false => None,
        };
        if let Some(addresses) = known.or_else(localhost) {
            return Ok(addresses.clone());
        }
        let found = tokio::net::lookup_host((name, 0)).await;
        let found = found.map_err(|_| ResolveError::Unknown)?;
        Ok(found.take(MAX_ADDRESSES).map(|found| found.ip()).collect())
    }

    /// Those of these addresses that the instance's own origins have.
    async fn own_among(&self, found: Vec<IpAddr>) -> Vec<IpAddr> {
        let mut own = Vec::new();
        for host in &*self.own_hosts {
            match host {
                Host::Ipv4(address) => own.push(IpAddr::V4(*address)),
                Host::Ipv6(address) => own.push(IpAddr::V6(*address)),
                Host::Domain(name) => own.extend(self.look_up(name).await.unwrap_or_default()),
            }
        }
        found
            .into_iter()
            .filter(|address| own.contains(address))
            .collect()
    }
}

impl Service<Name> for Resolver {
    type Response = vec::IntoIter<SocketAddr>;
    type Error = ResolveError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        Box::pin(self.clone().resolve(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolver(reach: Reach, addresses: &[&str]) -> Resolver {
        let addresses = addresses.iter().map(|a| a.parse().unwrap()).collect();
        let own = vec!["10.0.0.7".parse().unwrap()];
        let hosts = [
            ("a.example".to_owned(), addresses),
            ("id.example".to_owned(), own),
        ];
        let own = vec![Host::Domain("id.example".to_owned())];
        Resolver::new(reach, Arc::new(hosts.into()), Arc::new(own))
    }

    async fn resolve(resolver: Resolver) -> Result<Vec<String>, ResolveError> {
        let found = resolver.resolve("a.example".parse().unwrap()).await?;
        Ok(found.map(|address| address.ip().to_string()).collect())
    }

    #[tokio::test]
    async fn a_name_that_leads_inward_is_refused() {
        let inward = resolver(Reach::Public, &["127.0.0.1", "10.0.0.1", "::ffff:10.0.0.1"]);
        assert_eq!(
            resolve(inward).await,
            Err(ResolveError::Refused(GuardRefusal::Address))
        );
    }

    #[tokio::test]
    async fn of_mixed_addresses_only_the_public_ones_are_dialled() {
        let mixed = resolver(Reach::Public, &["10.0.0.1", "93.184.215.14", "::1"]);
        assert_eq!(resolve(mixed).await, Ok(vec!["93.184.215.14".to_owned()]));
    }

    #[tokio::test]
    async fn a_name_beside_an_own_one_may_have_its_address_and_no_other_private_one() {
        let beside = resolver(Reach::Beside, &["10.0.0.7", "10.0.0.8", "127.0.0.1"]);
        assert_eq!(resolve(beside).await, Ok(vec!["10.0.0.7".to_owned()]));
        let mixed = resolver(Reach::Beside, &["10.0.0.7", "93.184.215.14"]);
        assert_eq!(resolve(mixed).await, Ok(vec!["93.184.215.14".to_owned()]));
        let refused = Err(ResolveError::Refused(GuardRefusal::Address));
        let other = resolver(Reach::Beside, &["10.0.0.8", "127.0.0.1"]);
        assert_eq!(resolve(other).await, refused);
        let public = resolver(Reach::Public, &["10.0.0.7"]);
        assert_eq!(resolve(public).await, refused);
    }

    #[tokio::test]
    async fn a_name_below_localhost_has_the_addresses_of_localhost() {
        let hosts = Arc::new(crate::localhost(None));
        let resolver = Resolver::new(Reach::Own, hosts, Arc::default());
        let found = resolver.resolve("id.clinic.localhost".parse().unwrap());
        let found: Vec<_> = found
            .await
            .unwrap()
            .map(|one| one.ip().to_string())
            .collect();
        assert_eq!(found, ["127.0.0.1", "::1"]);
    }

    #[tokio::test]
    async fn an_own_name_may_lead_inward() {
        let own = resolver(Reach::Own, &["10.0.0.1"]);
        assert_eq!(resolve(own).await, Ok(vec!["10.0.0.1".to_owned()]));
    }

    #[tokio::test]
    async fn a_name_without_addresses_is_unknown() {
        assert_eq!(
            resolve(resolver(Reach::Own, &[])).await,
            Err(ResolveError::Unknown)
        );
    }
}
