//! Offers and credentials.

use selfsame_driver::{Error, Result};
use selfsame_store::{Batch, TenantId};

use crate::wallet::AnonCreds;

/// Which credential definition an offer is for; what is missing may be anything.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct DefinitionFilter {
    /// The identifier of the definition.
    pub cred_def_id: Option<String>,
    /// Its issuer.
    pub issuer: Option<String>,
    /// The identifier of its schema.
    pub schema_id: Option<String>,
    /// Who published the schema.
    pub schema_issuer: Option<String>,
    /// The schema's name.
    pub schema_name: Option<String>,
    /// The schema's version.
    pub schema_version: Option<String>,
}

/// A credential to be issued.
#[derive(Clone, Debug)]
pub struct NewIssuance<'a> {
    /// The JSON of the offer.
    pub offer: &'a [u8],
    /// The JSON of the holder's request.
    pub request: &'a [u8],
    /// The attributes with their values.
    pub values: Vec<(String, String)>,
}

/// A credential that was issued. It is not issued until `writes` are committed.
pub struct IssuedCredential {
    /// Its JSON.
    pub json: Vec<u8>,
    /// The revocation registry, if it can be revoked.
    pub rev_reg_id: Option<String>,
    /// Its index there.
    pub cred_rev_id: Option<u32>,
    /// What the commit of the exchange writes.
    pub writes: Batch,
}

impl AnonCreds {
    /// The JSON of an offer for the newest credential definition of the tenant that fits.
    ///
    /// # Errors
    /// `BadRequest` (`anoncreds-definition-none`) if none fits; the store's.
    pub async fn offer(&self, _tenant: &TenantId, _of: &DefinitionFilter) -> Result<Vec<u8>> {
        Err(Error::internal("not yet"))
    }

    /// Issues a credential. Of a revocable definition it allots the next index, and waits until a registry with a free
    /// one is published.
    ///
    /// # Errors
    /// `BadRequest` if request and offer do not belong together, or a value is missing; `Unavailable` while no registry
    /// has room; the store's.
    pub async fn issue(
        &self,
        _tenant: &TenantId,
        _issuance: &NewIssuance<'_>,
    ) -> Result<IssuedCredential> {
        Err(Error::internal("not yet"))
    }
}
