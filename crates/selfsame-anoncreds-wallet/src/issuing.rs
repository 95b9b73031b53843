//! Offers and credentials.

use std::sync::Arc;

use selfsame_anoncreds::cl::KeyCorrectnessProof;
use selfsame_anoncreds::format::{
    CredentialDefinitionId, CredentialDefinitionPrivate, CredentialOffer, CredentialRequest,
    Message as _, SchemaId, Text as _,
};
use selfsame_anoncreds::issuer::{Issuance, Issuer, create_offer};
use selfsame_anoncreds_roles::issuer::{issue, values_of};
use selfsame_crypto::Secret;
use selfsame_driver::record::decode;
use selfsame_driver::{Error, Result};
use selfsame_store::{Batch, Record, TenantId};

use crate::error::{refused, unknown};
use crate::keys::IssuingKey;
use crate::publication::{
    DEFINITION, DefinitionFilter, DefinitionRecord, PRIVATE_KEY, Publication,
};
use crate::wallet::AnonCreds;

/// A credential to be issued.
#[derive(Clone, Debug)]
pub struct NewIssuance<'a> {
    /// The JSON of the offer.
    pub offer: &'a [u8],
    /// The JSON of the holder's request.
    pub request: &'a [u8],
    /// The attributes with their values.
    pub values: Vec<(String, String)>,
    /// The exchange that issues it, by which it can be revoked later.
    pub exchange: Option<&'a str>,
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
    pub async fn offer(&self, tenant: &TenantId, of: &DefinitionFilter) -> Result<Vec<u8>> {
        let found = self.published_that_fit(tenant, "definition", of).await?;
        let none = || Error::bad_request("anoncreds-definition-none");
        let newest = found.into_iter().next().ok_or_else(none)?;
        let key = self.issuing_key(tenant, &newest).await?;
        let (schema_id, cred_def_id) = (&newest.schema_id, newest.definition_id.as_deref());
        let offer = create_offer(
            &SchemaId::new(schema_id.as_str()).map_err(refused)?,
            &CredentialDefinitionId::new(cred_def_id.unwrap_or_default()).map_err(refused)?,
            &key.correctness,
            &self.shared.clock.ctx(),
        );
        Ok(offer.to_json().map_err(refused)?.into_bytes())
    }

    /// Issues a credential. Of a revocable definition it allots the next index, and waits until a registry with a free
    /// one is published.
    ///
    /// # Errors
    /// `BadRequest` if request and offer do not belong together, or a value is missing; `Unavailable` while no registry
    /// has room; the store's.
    pub async fn issue(
        &self,
        tenant: &TenantId,
        issuance: &NewIssuance<'_>,
    ) -> Result<IssuedCredential> {
        let offer = CredentialOffer::from_json(issuance.offer).map_err(refused)?;
        let request = CredentialRequest::from_json(issuance.request).map_err(refused)?;
        let values = values_of(issuance.values.iter().cloned()).map_err(refused)?;
        let id = offer.cred_def_id.as_str();
        let publication = self.publication_of(tenant, id).await?;
        let publication = publication.filter(Publication::is_published);
        let publication = publication.ok_or_else(|| unknown("the credential definition", id))?;
        if publication.revocable {
            return Err(Error::bad_request("anoncreds-revocation-absent"));
        }
        let key = self.issuing_key(tenant, &publication).await?;
        let ctx = self.shared.clock.ctx();
        let issuing = move || {
            let issuance = Issuance {
                offer: &offer,
                request: &request,
                values: &values,
                place: None,
            };
            let issued = issue(&key.issuer, &issuance, &ctx).map_err(refused)?;
            let json = issued.credential.to_json().map_err(refused)?;
            Ok(json.as_json().as_bytes().to_vec())
        };
        Ok(IssuedCredential {
            json: self.compute(issuing).await?,
            rev_reg_id: None,
            cred_rev_id: None,
            writes: Batch::new(tenant.clone()),
        })
    }

    /// The key of a published definition of the tenant.
    async fn issuing_key(
        &self,
        tenant: &TenantId,
        publication: &Publication,
    ) -> Result<Arc<IssuingKey>> {
        let (store, id) = (&self.shared.store, publication.id());
        if let Some(version) = store.version(tenant, PRIVATE_KEY, &id).await?
            && let Some(held) = self.keys.0.get(&version)
        {
            return Ok(held);
        }
        let private = store.read(tenant, PRIVATE_KEY, &id).await?;
        let made = store.read(tenant, DEFINITION, &id).await?;
        let gone = || Error::damaged("a published definition has no key");
        let (private, made) = private.zip(made).ok_or_else(gone)?;
        let version = private.version;
        let key = Arc::new(self.unsealed(publication, private, &made).await?);
        self.keys.0.keep(version, key.clone());
        Ok(key)
    }

    async fn unsealed(
        &self,
        publication: &Publication,
        private: Record,
        made: &Record,
    ) -> Result<IssuingKey> {
        let made: DefinitionRecord = decode(&made.value)?;
        let id = publication.definition_id.clone().unwrap_or_default();
        let known = self.objects.definition(&id).await?;
        let known = known.ok_or_else(|| unknown("the credential definition", &id))?;
        let prepared = self.objects.prepared.clone();
        let private = Secret::new(private.value);
        let joining = move || {
            let prepared = prepared.of(&known)?;
            prepared.prepare();
            let private = CredentialDefinitionPrivate::from_json(private.expose());
            let private = private.map_err(Error::damaged)?;
            let correctness = KeyCorrectnessProof::from_json(made.correctness.as_bytes());
            Ok(IssuingKey {
                issuer: Issuer::of(prepared, &private).map_err(Error::damaged)?,
                correctness: correctness.map_err(Error::damaged)?,
            })
        };
        self.compute(joining).await
    }
}
