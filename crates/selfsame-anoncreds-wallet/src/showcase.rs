//! Credentials that anybody may be shown: who says so.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use selfsame_driver::Result;
use selfsame_store::{Batch, TenantId};

use crate::view::{ChosenCredentials, CredentialInfo};

/// What shows some credentials of tenants to anybody, such as a public register.
#[async_trait]
pub trait Showcase: Send + Sync {
    /// What is written in the commit that keeps a credential which came.
    ///
    /// # Errors
    /// The store's. The credential is not kept then.
    async fn kept(&self, tenant: &TenantId, came: &KeptCredential) -> Result<Option<Batch>>;

    /// The credentials with which a request is answered, whoever asks; `None` to leave it to the controller.
    ///
    /// # Errors
    /// `BadRequest` if the request is not one; the store's.
    async fn choice(&self, tenant: &TenantId, request: &[u8]) -> Result<Option<ChosenCredentials>>;
}

/// Judges what anybody may be shown.
#[async_trait]
pub trait MayShow: Send + Sync {
    /// Whether anybody may be shown these attributes of a credential.
    ///
    /// # Errors
    /// The store's.
    async fn may_show(&self, info: &CredentialInfo, names: &[&str]) -> Result<bool>;
}

/// A credential as its holder keeps it, and who made it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KeptCredential {
    /// What it is.
    pub info: CredentialInfo,
    /// The identifier of its schema, in the qualified form.
    pub schema_id: String,
    /// The identifier of its credential definition, in the qualified form.
    pub cred_def_id: String,
    /// The issuer of its credential definition.
    pub issuer_id: String,
    /// Who published its schema.
    pub schema_issuer_id: String,
    /// The name of its schema.
    pub schema_name: String,
}

/// The showcase of a process, once it is set.
pub(crate) type ShowcaseCell = Arc<OnceLock<Arc<dyn Showcase>>>;
