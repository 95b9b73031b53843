//! Which organisation has a host name.

use selfsame_driver::Result;

use super::hosts::ReservedHost;
use super::{HostName, OrganisationName, Organisations};

impl Organisations {
    /// The organisation that has this host name. A text that is not a host name costs no read, a host name at most one.
    ///
    /// # Errors
    /// The store's.
    pub async fn of_host(&self, host: &str) -> Result<Option<OrganisationName>> {
        let Ok(host) = HostName::parse(host) else {
            return Ok(None);
        };
        let look = async {
            let found = ReservedHost::like(&self.shared.store, &host).await?;
            let found = found.filter(|reserved| reserved.host == host);
            Ok(found.map(|reserved| reserved.organisation.into()))
        };
        let now = self.shared.clock.now();
        let found = self.shared.hosts.get(host.as_str(), now, look).await?;
        found.map(OrganisationName::try_from).transpose()
    }

    /// The hosts of all organisations, those of erased ones too.
    ///
    /// # Errors
    /// The store's.
    pub async fn hosts(&self) -> Result<Vec<HostName>> {
        let all = ReservedHost::all(&self.shared.store).await?;
        Ok(all.into_iter().map(|reserved| reserved.host).collect())
    }
}
