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

use crate::guard::{self, GuardRefusal, Reach};

/// Maximum number of addresses tried for one name.
const MAX_ADDRESSES: usize = 16;

#[derive(Clone, Debug)]
pub(crate) struct Resolver {
    reach: Reach,
    hosts: Arc<BTreeMap<String, Vec<IpAddr>>>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum ResolveError {
    #[error("unknown host")]
    Unknown,
    #[error("{0}")]
    Refused(GuardRefusal),
}

impl Resolver {
    pub(crate) fn new(reach: Reach, hosts: Arc<BTreeMap<String, Vec<IpAddr>>>) -> Self {
        Self { reach, hosts }
    }

    async fn resolve(self, name: Name) -> Result<vec::IntoIter<SocketAddr>, ResolveError> {
        let found: Vec<SocketAddr> = match self.hosts.get(name.as_str()) {
            Some(addresses) => addresses.iter().map(|ip| SocketAddr::new(*ip, 0)).collect(),
            None => tokio::net::lookup_host((name.as_str(), 0))
                .await
                .map_err(|_| ResolveError::Unknown)?
                .take(MAX_ADDRESSES)
                .collect(),
        };
        if found.is_empty() {
            return Err(ResolveError::Unknown);
        }
        let allowed: Vec<SocketAddr> = found
            .into_iter()
            .filter(|address| self.reach == Reach::Own || guard::is_public(address.ip()))
            .collect();
        if allowed.is_empty() {
            return Err(ResolveError::Refused(GuardRefusal::Address));
        }
        Ok(allowed.into_iter())
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
        Resolver::new(
            reach,
            Arc::new([("a.example".to_owned(), addresses)].into()),
        )
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
