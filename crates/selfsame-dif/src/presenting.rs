//! The prover's side: the first credentials that meet a definition, each presented with the key that it is bound to.

use selfsame_aries::wire::fresh_id;
use selfsame_core::gather::Freshness;
use selfsame_credential::evidence::{Evidence, Step};
use selfsame_credential::format::Profile;
use selfsame_credential::format::sd_jwt_vc::KeyBindingClaims;
use selfsame_credential::format::w3c::Present;
use selfsame_credential::verify::Binding;
use selfsame_credential::{ClaimPath, Held, Signer};
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{Algorithm, KeyHandle};
use selfsame_did::{DidUrl, jwk};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_store::{Page, TenantId};
use serde_json::Map;

use crate::DifFormat;
use crate::definition::{DefinedRequest, Descriptor, PresentationDefinition};
use crate::error::malformed;
use crate::holding::{KIND, KeptCredential, type_tag};
use crate::submission::{MadeAnswer, SubmittedProof};

/// For how many seconds a presentation is valid.
const LIFETIME: u64 = 300;
/// The most credentials that are looked at for a descriptor, the newest first.
const LOOKED_AT: usize = 200;

impl DifFormat {
    /// A presentation of what is requested.
    pub(crate) async fn presented(&self, tenant: &TenantId, request: &[u8]) -> Result<Vec<u8>> {
        let request = DefinedRequest::parse(request)?;
        let definition = &request.presentation_definition;
        if definition.wants_integrity() {
            return self.integrity.presented(tenant, &request).await;
        }
        let binding = request.binding()?;
        let mut answers = Vec::new();
        for descriptor in &definition.input_descriptors {
            let found = self.fitting(tenant, definition, descriptor).await?;
            let unmet = || Error::bad_request("aries-dif-unmet").with("id", &descriptor.id);
            let one = found.ok_or_else(unmet)?;
            answers.push(MadeAnswer {
                descriptor: descriptor.id.clone(),
                format: one.held.format.as_str().to_owned(),
                presentation: self.shown(tenant, &one, &binding).await?,
            });
        }
        let id = fresh_id("submission", &self.shared.clock.ctx());
        encode(&SubmittedProof::of(id, &definition.id, answers))
    }

    /// The first credential that meets a descriptor, with the claims that it shows.
    async fn fitting(
        &self,
        tenant: &TenantId,
        definition: &PresentationDefinition,
        descriptor: &Descriptor,
    ) -> Result<Option<FittingCredential>> {
        let (store, page) = (&self.shared.store, Page::newest(LOOKED_AT));
        let mut records = Vec::new();
        for text in descriptor.constants() {
            records = store.find(tenant, KIND, &type_tag(text), &page).await?;
            if !records.is_empty() {
                break;
            }
        }
        if records.is_empty() {
            records = store.list(tenant, KIND, &page).await?;
        }
        for record in &records {
            let kept: KeptCredential = decode(&record.value)?;
            let held = kept.held()?;
            let is_taken = definition.takes(descriptor, held.format.as_str());
            if let Some(paths) = descriptor.met_by(&held).filter(|_| is_taken) {
                let key = kept.key;
                return Ok(Some(FittingCredential { held, key, paths }));
            }
        }
        Ok(None)
    }

    /// A presentation of a credential. It shows the fields alone if its format can withhold claims.
    async fn shown(
        &self,
        tenant: &TenantId,
        one: &FittingCredential,
        binding: &Binding,
    ) -> Result<String> {
        let public = self.shared.keys.public(tenant, &one.key).await?;
        let making = PresentationMaking {
            one,
            algorithm: public.key_type().default_algorithm(),
            kid: jwk::create(&public).kid(),
            binding,
            now: self.shared.clock.now(),
        };
        let freshness = Freshness { max_status_age: 0 };
        let made = self
            .shared
            .run(tenant, freshness, |evidence| making.step(evidence));
        made.await
    }
}

/// A credential that meets a descriptor.
struct FittingCredential {
    held: Held,
    key: KeyHandle,
    /// What it shows.
    paths: Vec<ClaimPath>,
}

/// A presentation to make.
struct PresentationMaking<'a> {
    one: &'a FittingCredential,
    algorithm: Algorithm,
    /// The DID URL of the key.
    kid: Option<String>,
    binding: &'a Binding,
    now: UnixTime,
}

impl PresentationMaking<'_> {
    fn step(&self, evidence: &Evidence) -> Result<Step<String>> {
        match self.one.held.format.describe().profile {
            Profile::SdJwtVc => self.sd_jwt(evidence),
            Profile::W3c => self.w3c(evidence),
            Profile::DataIntegrity => Err(malformed(
                &"a credential with a Data Integrity proof is not presented by an agent",
            )),
            Profile::Mdoc => Err(malformed(&"a mobile document is not presented by an agent")),
            Profile::Compact => Err(malformed(&"a compact credential is not presented")),
        }
    }

    fn sd_jwt(&self, evidence: &Evidence) -> Result<Step<String>> {
        let FittingCredential { held, key, paths } = self.one;
        let sd_jwt = held.sd_jwt();
        let sd_jwt = sd_jwt.ok_or_else(|| Error::internal("a credential can't be read"))?;
        let presentation = sd_jwt.present(paths).map_err(Error::internal)?;
        let claims = KeyBindingClaims {
            audience: self.binding.audience.clone(),
            nonce: self.binding.nonce.clone(),
            issued_at: self.now,
            further: Map::new(),
        };
        let draft = claims.bind(presentation, key.clone(), self.algorithm);
        Ok(draft.step(evidence))
    }

    fn w3c(&self, evidence: &Evidence) -> Result<Step<String>> {
        let FittingCredential { held, key, .. } = self.one;
        let unnamed = || Error::internal("a key has a DID");
        let kid = self.kid.as_deref().ok_or_else(unnamed)?;
        let url = DidUrl::parse(kid).map_err(Error::internal)?;
        let present = Present {
            format: held.format,
            credential: held.raw.clone(),
            holder: Some(url.did.to_string()),
            audience: self.binding.audience.clone(),
            nonce: self.binding.nonce.clone(),
            issued_at: self.now,
            lifetime: LIFETIME,
            signer: Signer::with_kid(key.clone(), self.algorithm, kid),
        };
        let draft = present.draft().map_err(Error::internal)?;
        Ok(draft.step(evidence))
    }
}
