//! Organisations: each has keys, records, addresses and settings of its own on one instance.

mod by_host;
mod erasing;
mod erasure;
mod host;
mod hosts;
mod logos;
pub mod look;
mod moving;
mod name;
mod records;
pub mod trust;
pub mod view;

use selfsame_driver::{Error, Result};
use selfsame_store::TenantId;
use url::Url;

use crate::shared::below;

pub use erasure::{Erasure, ErasureWork, Urgency, erased};
pub use host::HostName;
pub use hosts::{HOST, ReservedHost};
pub use moving::{MovingOrganisation, tenant_of};
pub use name::OrganisationName;
pub use records::{HostedOrganisation, OrganisationRecord, Organisations, wish};

/// What the names of the tenants of hosted organisations begin with.
pub const TENANT: &str = "o-";

/// Where the records and the addresses of one organisation are.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Organisation {
    /// Its name in addresses.
    pub name: OrganisationName,
    /// The tenant of its issuer's records.
    pub issuer: TenantId,
    /// The tenant of its verifier's records.
    pub verifier: TenantId,
    /// What all its addresses begin with; ends with a slash.
    pub base: Url,
    /// Its identifier as an issuer (OpenID4VCI 1.0 §12.2.1).
    pub identifier: String,
}

impl Organisation {
    /// The organisation that every instance has. Its addresses begin with the instance's origin, and its issuer and
    /// verifier have a tenant each.
    ///
    /// # Errors
    /// `Internal` for an origin that no address can stand below.
    pub fn main(origin: &Url) -> Result<Self> {
        Ok(Self {
            name: OrganisationName::main(),
            issuer: tenant("issuer")?,
            verifier: tenant("verifier")?,
            base: origin.clone(),
            identifier: below(origin, "issuer")?.into(),
        })
    }

    /// Another organisation, whose addresses stand below `/o/` and its name, or begin with a host of its own.
    ///
    /// # Errors
    /// `Internal` for an origin that no address can stand below.
    pub fn named(
        name: OrganisationName,
        tenant: TenantId,
        origin: &Url,
        host: Option<&HostName>,
    ) -> Result<Self> {
        let (base, identifier) = match host {
            Some(host) => {
                let own = host.beside(origin)?;
                let identifier = below(&own, "issuer")?;
                (own, identifier)
            }
            None => {
                let base = below(origin, &format!("o/{name}/"))?;
                (base, below(origin, &format!("o/{name}"))?)
            }
        };
        Ok(Self {
            issuer: tenant.clone(),
            verifier: tenant,
            base,
            identifier: identifier.into(),
            name,
        })
    }

    /// Where its people work: on the instance's own host, wherever its addresses for others are.
    ///
    /// # Errors
    /// `Internal` for an origin that no address can stand below.
    pub fn workplace(&self, origin: &Url) -> Result<Url> {
        match self.name.is_main() {
            true => Ok(origin.clone()),
            false => below(origin, &format!("o/{}/", self.name)),
        }
    }

    /// The address of its issuer's metadata, which stands between the origin and its identifier's path (OpenID4VCI 1.0
    /// §12.2.2).
    ///
    /// # Errors
    /// `Internal` for an identifier that no address can be made of.
    pub fn metadata_address(identifier: &str) -> Result<Url> {
        let mut address = Url::parse(identifier).map_err(Error::internal)?;
        let path = format!("/.well-known/openid-credential-issuer{}", address.path());
        address.set_path(&path);
        Ok(address)
    }

    /// The URL at this path below its base.
    ///
    /// # Errors
    /// `Internal` for a path that is not one.
    pub fn url(&self, path: &str) -> Result<Url> {
        below(&self.base, path)
    }
}

fn tenant(name: &str) -> Result<TenantId> {
    Ok(TenantId::parse(name)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_addresses_of_each_organisation_begin_with_its_base() {
        let origin: Url = "https://host.example/".parse().unwrap();
        let main = Organisation::main(&origin).unwrap();
        assert_eq!(main.identifier, "https://host.example/issuer");
        let url = main.url("issuer/token").unwrap();
        assert_eq!(url.as_str(), "https://host.example/issuer/token");
        let name = OrganisationName::parse("acme").unwrap();
        let tenant = TenantId::parse("o-1").unwrap();
        let acme = Organisation::named(name.clone(), tenant.clone(), &origin, None).unwrap();
        assert_eq!(acme.identifier, "https://host.example/o/acme");
        let metadata = Organisation::metadata_address(&acme.identifier).unwrap();
        let expected = "https://host.example/.well-known/openid-credential-issuer/o/acme";
        assert_eq!(metadata.as_str(), expected);
        let url = acme.url("issuer/token").unwrap();
        assert_eq!(url.as_str(), "https://host.example/o/acme/issuer/token");
        let host = HostName::parse("id.acme.example").unwrap();
        let acme = Organisation::named(name, tenant, &origin, Some(&host)).unwrap();
        assert_eq!(acme.identifier, "https://id.acme.example/issuer");
        let url = acme.url("issuer/token").unwrap();
        assert_eq!(url.as_str(), "https://id.acme.example/issuer/token");
        let workplace = acme.workplace(&origin).unwrap();
        assert_eq!(workplace.as_str(), "https://host.example/o/acme/");
    }
}
