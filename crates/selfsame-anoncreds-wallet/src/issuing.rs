//! Offers and credentials.

use selfsame_anoncreds::format::{
    CredentialDefinitionId, CredentialOffer, CredentialRequest, Message as _, SchemaId, Text as _,
};
use selfsame_anoncreds::issuer::{Issuance, Place, Registry, create_offer};
use selfsame_anoncreds_roles::issuer::{issue, values_of};
use selfsame_driver::{Error, Result};
use selfsame_store::{Batch, TenantId};

use crate::error::{refused, unknown};
use crate::publication::{DefinitionFilter, Publication};
use crate::registries::issuance as noted;
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

/// An offer of a credential.
#[derive(Clone, Debug)]
pub struct DefinitionOffer {
    /// Its JSON.
    pub json: Vec<u8>,
    /// The credential definition.
    pub definition_id: String,
    /// The attributes of the schema.
    pub attributes: Vec<String>,
}

/// A credential that was issued. It is not issued until `writes` are committed.
pub struct CompletedIssuance {
    /// Its JSON.
    pub json: Vec<u8>,
    /// Its definition.
    pub cred_def_id: String,
    /// The revocation registry, if it can be revoked.
    pub rev_reg_id: Option<String>,
    /// Its index there.
    pub cred_rev_id: Option<u32>,
    /// What the commit of the exchange writes.
    pub writes: Batch,
}

impl AnonCreds {
    /// An offer for the newest credential definition of the tenant that fits, or for its successor.
    ///
    /// # Errors
    /// `BadRequest` (`anoncreds-definition-none`) if none fits; the store's.
    pub async fn offer(&self, tenant: &TenantId, of: &DefinitionFilter) -> Result<DefinitionOffer> {
        let found = self.published_that_fit(tenant, "definition", of).await?;
        let none = || Error::bad_request("anoncreds-definition-none");
        let newest = found.into_iter().next().ok_or_else(none)?;
        let newest = self.in_force(tenant, newest).await?;
        let id = newest.definition_id.as_deref().unwrap_or_default();
        let key = self.keys.of(tenant, &newest.id(), id).await?;
        if newest.revocable {
            // By the time of the request they are there.
            self.keep_registries(tenant, &newest).await?;
        }
        let offer = create_offer(
            &SchemaId::new(newest.schema_id.as_str()).map_err(refused)?,
            &CredentialDefinitionId::new(id).map_err(refused)?,
            &key.correctness,
            &self.shared.clock.ctx(),
        );
        Ok(DefinitionOffer {
            json: offer.to_json().map_err(refused)?.into_bytes(),
            definition_id: id.to_owned(),
            attributes: newest.schema.attr_names,
        })
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
    ) -> Result<CompletedIssuance> {
        let offer = CredentialOffer::from_json(issuance.offer).map_err(refused)?;
        let request = CredentialRequest::from_json(issuance.request).map_err(refused)?;
        let values = values_of(issuance.values.iter().cloned()).map_err(refused)?;
        let id = offer.cred_def_id.as_str();
        let publication = self.publication_of(tenant, id).await?;
        let publication = publication.filter(Publication::is_published);
        let publication = publication.ok_or_else(|| unknown("the credential definition", id))?;
        self.unexpired_definition(id).await?;
        let key = self.keys.of(tenant, &publication.id(), id).await?;
        let taken = match publication.revocable {
            true => Some(self.take_place(tenant, &publication).await?),
            false => None,
        };
        let open = match &taken {
            Some(taken) => Some((
                self.registries
                    .workshop
                    .opened(tenant, &taken.registry)
                    .await?,
                taken.registry.list()?,
                taken.index,
            )),
            None => None,
        };
        let ctx = self.shared.clock.ctx();
        let issuing = move || {
            let place = open.as_ref().map(|(open, list, index)| Place {
                registry: Registry {
                    definition: &open.definition,
                    private: &open.private,
                },
                list,
                index: *index,
            });
            let issuance = Issuance {
                offer: &offer,
                request: &request,
                values: &values,
                place,
            };
            let issued = issue(&key.issuer, &issuance, &ctx).map_err(refused)?;
            let json = issued.credential.to_json().map_err(refused)?;
            Ok::<_, Error>(json.as_json().as_bytes().to_vec())
        };
        let json = self.shared.work.run_in_turn(issuing).await??;
        let writes = match &taken {
            Some(taken) => {
                let now = self.shared.clock.now();
                noted(tenant, taken, issuance.exchange, now)?
            }
            None => Batch::new(tenant.clone()),
        };
        Ok(CompletedIssuance {
            json,
            cred_def_id: publication.definition_id.clone().unwrap_or_default(),
            rev_reg_id: taken.as_ref().map(|taken| taken.registry.id.clone()),
            cred_rev_id: taken.map(|taken| taken.index),
            writes,
        })
    }
}
