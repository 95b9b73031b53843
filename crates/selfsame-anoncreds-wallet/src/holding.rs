//! Requests, credentials, and presentations.

use std::collections::BTreeMap;

use selfsame_driver::paging::{Listing, Paging};
use selfsame_driver::{Error, Result};
use selfsame_store::{Batch, TenantId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::wallet::AnonCreds;

/// A request for a credential.
pub struct RequestedCredential {
    /// Its JSON, for the issuer.
    pub request: Vec<u8>,
    /// The JSON of what the holder needs to finish the credential. Secret.
    pub metadata: String,
}

/// A credential that was accepted. It is not held until `writes` are committed.
pub struct StoredCredential {
    /// Its identifier in the wallet.
    pub id: String,
    /// What it is.
    pub info: CredentialInfo,
    /// What the commit of the exchange writes.
    pub writes: Batch,
}

/// A credential as controllers see it. The members have the names of ACA-Py's admin API.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct CredentialInfo {
    /// Its identifier in the wallet.
    pub referent: String,
    /// The attributes with their raw values.
    pub attrs: BTreeMap<String, String>,
    /// The identifier of the schema.
    pub schema_id: String,
    /// The identifier of the credential definition.
    pub cred_def_id: String,
    /// The revocation registry.
    pub rev_reg_id: Option<String>,
    /// The index there.
    pub cred_rev_id: Option<String>,
}

/// A credential that can answer some of what a request asks for.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct MatchingCredential {
    /// The credential.
    pub cred_info: CredentialInfo,
    /// The interval in which it must not be revoked.
    pub interval: Option<Value>,
    /// The referents of the request that it can answer.
    pub presentation_referents: Vec<String>,
}

/// What a holder shows.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct ChosenCredentials {
    /// The credential for each attribute referent.
    #[serde(default)]
    pub requested_attributes: BTreeMap<String, ShownAttribute>,
    /// The credential for each predicate referent.
    #[serde(default)]
    pub requested_predicates: BTreeMap<String, ShownPredicate>,
    /// Values that the holder states without a credential.
    #[serde(default)]
    pub self_attested_attributes: BTreeMap<String, String>,
}

/// The credential for an attribute.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ShownAttribute {
    /// The credential's identifier in the wallet.
    pub cred_id: String,
    /// Whether its value is shown.
    pub revealed: bool,
    /// As of when it is proven not to be revoked, in seconds since 1970; the newest state without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<u64>,
}

/// The credential for a predicate.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ShownPredicate {
    /// The credential's identifier in the wallet.
    pub cred_id: String,
    /// As for an attribute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<u64>,
}

impl AnonCreds {
    /// Requests an offered credential.
    ///
    /// # Errors
    /// `BadRequest` if the offer is not one, or its proof of the issuer's key is wrong; the registry's.
    pub async fn request(
        &self,
        _tenant: &TenantId,
        _offer: &[u8],
        _holder_did: Option<&str>,
    ) -> Result<RequestedCredential> {
        Err(Error::internal("not yet"))
    }

    /// Checks a credential that arrived, finishes it, and gives the writes that keep it.
    ///
    /// # Errors
    /// `BadRequest` if it is not the requested one; the registry's and the store's.
    pub async fn accept(
        &self,
        _tenant: &TenantId,
        _credential: &[u8],
        _metadata: &str,
    ) -> Result<StoredCredential> {
        Err(Error::internal("not yet"))
    }

    /// A credential of the tenant.
    ///
    /// # Errors
    /// `NotFound` if there is none; the store's.
    pub async fn credential(&self, _tenant: &TenantId, _id: &str) -> Result<CredentialInfo> {
        Err(Error::internal("not yet"))
    }

    /// The tenant's credentials that a query in WQL fits, newest first.
    ///
    /// # Errors
    /// `BadRequest` for a query that is none; the store's.
    pub async fn credentials(
        &self,
        _tenant: &TenantId,
        _query: &Value,
        _paging: &Paging,
    ) -> Result<Listing<CredentialInfo>> {
        Err(Error::internal("not yet"))
    }

    /// Removes a credential.
    ///
    /// # Errors
    /// `NotFound` if there is none; the store's.
    pub async fn remove_credential(&self, _tenant: &TenantId, _id: &str) -> Result<()> {
        Err(Error::internal("not yet"))
    }

    /// The tenant's credentials that can answer a presentation request, found by tags. `referents` narrows to these
    /// referents of the request if it has any; `extra` is a query in WQL for each referent.
    ///
    /// # Errors
    /// `BadRequest` if the request is not one; the store's.
    pub async fn matching(
        &self,
        _tenant: &TenantId,
        _request: &[u8],
        _referents: &[String],
        _extra: &BTreeMap<String, Value>,
    ) -> Result<Vec<MatchingCredential>> {
        Err(Error::internal("not yet"))
    }

    /// The credentials with which the tenant answers a request if nobody chooses: for each referent the first that fits.
    ///
    /// # Errors
    /// `BadRequest` if a referent can't be answered; the store's.
    pub async fn first_choice(
        &self,
        _tenant: &TenantId,
        _request: &[u8],
    ) -> Result<ChosenCredentials> {
        Err(Error::internal("not yet"))
    }

    /// Makes the JSON of a presentation.
    ///
    /// # Errors
    /// `BadRequest` if the choice does not answer the request, or a predicate is not met; the registry's.
    pub async fn present(
        &self,
        _tenant: &TenantId,
        _request: &[u8],
        _chosen: &ChosenCredentials,
    ) -> Result<Vec<u8>> {
        Err(Error::internal("not yet"))
    }
}
