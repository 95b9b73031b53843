//! AnonCreds as W3C credentials with Data Integrity proofs: issued as RFC 0809 attaches them, presented as DIF Presentation
//! Exchange has them. What an agent holds is the same AnonCreds credential.

mod asking;
mod presenting;
mod verifying;

use std::sync::Arc;

use async_trait::async_trait;
use selfsame_anoncreds_w3c::attachment::{self, OfferedAttribute, OfferedForm};
use selfsame_anoncreds_w3c::{IssuedBy, credential};
use selfsame_anoncreds_wallet::issue::{DefinitionOrigin, NewIssuance};
use selfsame_anoncreds_wallet::single_use::{is_single_use, new_handle};
use selfsame_anoncreds_wallet::{AnonCreds, DefinitionFilter};
use selfsame_aries::exchange::{Preview, PreviewAttribute};
use selfsame_aries::formats::CredentialFilter;
use selfsame_aries::formats::vc_di::FORMAT;
use selfsame_core::Shared;
use selfsame_credential::single_use::HANDLE;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::{Error, Result};
use selfsame_mediation::beside::{
    BesideFormat, BesideVerdict, CameBeside, IssuedBeside, KeptBeside, MadeAttachment, OfferBeside,
    ProofBeside, RequestBeside,
};
use selfsame_store::TenantId;
use serde_json::Value;

use crate::error::malformed;

/// To how many seconds the date of issuance is rounded down. Nothing signs it, and an exact one would tell credentials apart.
const DAY: u64 = 86_400;

/// The format of attachments of an issuing.
#[derive(Clone)]
pub struct IntegrityFormat {
    shared: Arc<Shared>,
    anoncreds: AnonCreds,
}

impl IntegrityFormat {
    /// The format on the AnonCreds of an instance.
    #[must_use]
    pub fn new(anoncreds: AnonCreds) -> Self {
        let shared = anoncreds.shared().clone();
        Self { shared, anoncreds }
    }

    async fn origin(&self, cred_def_id: &str) -> Result<DefinitionOrigin> {
        self.anoncreds.definition_origin(cred_def_id).await
    }

    /// The date of issuance.
    fn today(&self) -> UnixTime {
        self.shared.clock.now().rounded_down(DAY)
    }

    /// Adds the handle of a credential that can be used once.
    fn handle(&self, preview: &mut Preview) {
        let mut attributes = preview.attributes.iter();
        if !attributes.any(|one| one.name == HANDLE) {
            preview.attributes.push(PreviewAttribute {
                name: HANDLE.to_owned(),
                mime_type: None,
                value: new_handle(&self.shared.clock.ctx()),
            });
        }
    }
}

#[async_trait]
impl BesideFormat for IntegrityFormat {
    fn name(&self) -> &'static str {
        FORMAT.name
    }

    async fn offer(&self, tenant: &TenantId, offered: OfferBeside<'_>) -> Result<MadeAttachment> {
        let of = definitions(offered.filter);
        let own = self.anoncreds.offer(tenant, &of).await?;
        if is_single_use(&own.attributes) {
            self.handle(offered.preview);
        }
        let attributes = offered.preview.attributes.iter();
        let attributes = attributes.map(|one| OfferedAttribute {
            name: one.name.clone(),
            value: one.value.clone(),
        });
        let origin = self.origin(&own.definition_id).await?;
        let bytes = attachment::offer(&OfferedForm {
            offer: &own.json,
            attributes: &attributes.collect::<Vec<_>>(),
            issued: IssuedBy {
                issuer: &origin.issuer_id,
                at: self.today(),
            },
        });
        Ok(MadeAttachment {
            bytes: bytes.map_err(|why| malformed(&why))?,
            secret: String::new(),
        })
    }

    async fn request(&self, tenant: &TenantId, offer: &[u8]) -> Result<MadeAttachment> {
        let own = self.own_offer(offer).await?;
        let requested = self.anoncreds.request(tenant, &own, None).await?;
        let bytes = attachment::request(&requested.request);
        Ok(MadeAttachment {
            bytes: bytes.map_err(|why| malformed(&why))?,
            secret: requested.metadata,
        })
    }

    async fn issue(&self, tenant: &TenantId, asked: RequestBeside<'_>) -> Result<IssuedBeside> {
        let offer = self.own_offer(asked.offer).await?;
        let request = attachment::own_request_of(asked.request).map_err(|why| malformed(&why))?;
        let values = asked.preview.map_or(&[][..], |one| &one.attributes[..]);
        let values = values.iter();
        let issuance = NewIssuance {
            offer: &offer,
            request: &request,
            values: values
                .map(|one| (one.name.clone(), one.value.clone()))
                .collect(),
            exchange: Some(asked.exchange),
        };
        let issued = self.anoncreds.issue(tenant, &issuance).await?;
        let origin = self.origin(&issued.cred_def_id).await?;
        let form = credential::to_w3c(
            &issued.json,
            IssuedBy {
                issuer: &origin.issuer_id,
                at: self.today(),
            },
        );
        let form = form.map_err(Error::internal)?;
        Ok(IssuedBeside {
            bytes: attachment::credential(&form),
            format: (FORMAT.id)(selfsame_aries::formats::Artefact::Credential).to_owned(),
            id: None,
            cred_def_id: issued.cred_def_id,
            rev_reg_id: issued.rev_reg_id,
            cred_rev_id: issued.cred_rev_id,
            writes: issued.writes,
        })
    }

    async fn keep(&self, tenant: &TenantId, came: CameBeside<'_>) -> Result<KeptBeside> {
        let form = attachment::credential_of(came.bytes).map_err(|why| malformed(&why))?;
        let own = credential::from_w3c(&form).map_err(|why| malformed(&why))?;
        let origin = self.origin(&own.cred_def_id).await?;
        if own.issuer != origin.issuer_id {
            return Err(malformed(&"the credential definition is another issuer's"));
        }
        let accepted = self
            .anoncreds
            .accept(tenant, &own.json, came.secret, came.id);
        let accepted = accepted.await?;
        let index = accepted.info.cred_rev_id.as_deref();
        Ok(KeptBeside {
            id: accepted.id,
            rev_reg_id: accepted.info.rev_reg_id,
            cred_rev_id: index.and_then(|index| index.parse().ok()),
            writes: accepted.writes,
        })
    }

    async fn ask(&self, _tenant: &TenantId, _request: &Value) -> Result<Vec<u8>> {
        Err(unproven())
    }

    async fn present(&self, _tenant: &TenantId, _request: &[u8]) -> Result<Vec<u8>> {
        Err(unproven())
    }

    async fn verify(&self, _tenant: &TenantId, _proof: ProofBeside<'_>) -> Result<BesideVerdict> {
        Err(unproven())
    }
}

impl IntegrityFormat {
    /// AnonCreds' own offer of an attachment.
    async fn own_offer(&self, offer: &[u8]) -> Result<Vec<u8>> {
        let definition = attachment::offered_definition(offer).map_err(|why| malformed(&why))?;
        let origin = self.origin(&definition).await?;
        let own = attachment::own_offer_of(offer, &origin.schema_id);
        own.map_err(|why| malformed(&why))
    }
}

/// What is proven has the format of DIF Presentation Exchange.
fn unproven() -> Error {
    Error::bad_request("aries-format-unknown").with("format", &FORMAT.name)
}

/// The credential definitions that fit.
fn definitions(filter: &CredentialFilter) -> DefinitionFilter {
    let filter = filter.clone();
    DefinitionFilter {
        cred_def_id: filter.cred_def_id,
        issuer: filter.issuer,
        schema_id: filter.schema_id,
        schema_issuer: filter.schema_issuer,
        schema_name: filter.schema_name,
        schema_version: filter.schema_version,
    }
}
