//! The prover's side: the first credentials that meet a definition, in one proof.

use std::collections::BTreeMap;

use selfsame_anoncreds_w3c::presentation::{self, ToWrite};
use selfsame_anoncreds_w3c::request::{AskedDefinition, AskedOfCard, Derived, Valid};
use selfsame_anoncreds_w3c::subject;
use selfsame_anoncreds_wallet::{
    ChosenCredentials, CredentialInfo, ShownAttribute, ShownPredicate,
};
use selfsame_aries::wire::fresh_id;
use selfsame_driver::paging::Paging;
use selfsame_driver::record::encode;
use selfsame_driver::{Error, Result};
use selfsame_store::TenantId;
use serde_json::{Value, json};

use super::IntegrityFormat;
use super::asking::JudgedSide;
use crate::definition::{DefinedRequest, Descriptor, INTEGRITY};
use crate::error::malformed;
use crate::submission::{DescriptorPlace, Submission};

/// The most credentials that are looked at for a descriptor, the newest first.
const LOOKED_AT: usize = 200;
/// Of those that meet a descriptor, how many are asked whether they are revoked.
const CHOICES_MAX: usize = 5;

/// A credential that meets a descriptor.
struct FittingCredential {
    info: CredentialInfo,
    issuer: String,
    claims: Value,
}

impl IntegrityFormat {
    /// A presentation of what is requested.
    pub(crate) async fn presented(
        &self,
        tenant: &TenantId,
        request: &DefinedRequest,
    ) -> Result<Vec<u8>> {
        let definition = &request.presentation_definition;
        let challenge = request.options.challenge.as_deref();
        let unbound = || malformed(&"the request has no challenge");
        let (mut asked, mut issuers) = (Vec::new(), BTreeMap::new());
        let mut ids = Vec::new();
        for descriptor in &definition.input_descriptors {
            let found = self.fitting(tenant, descriptor).await?;
            let unmet = || Error::bad_request("aries-dif-unmet").with("id", &descriptor.id);
            let one = found.ok_or_else(unmet)?;
            asked.push(AskedOfCard {
                cred_def_id: one.info.cred_def_id.clone(),
                place: ids.len(),
                valid: self.valid(descriptor, &one.info),
                ..descriptor.asked(&one.claims)?
            });
            issuers.insert(one.info.cred_def_id, one.issuer);
            ids.push(one.info.referent);
        }
        let derived = AskedDefinition {
            name: definition.name.as_deref(),
            challenge: challenge.ok_or_else(unbound)?,
            asked: &asked,
        };
        let derived = derived.derived();
        let chosen = chosen(&asked, &derived, &ids);
        let own = self.anoncreds.present(tenant, &derived.json, &chosen);
        let own = own.await?;
        let form = presentation::to_w3c(&ToWrite {
            request: &derived.json,
            presentation: &own,
            issuers: &issuers,
            at: self.today(),
        });
        let mut form = form.map_err(|why| malformed(&why))?;
        let submission = self.submission(&definition.id, &asked, &own)?;
        form["presentation_submission"] = json!(submission);
        encode(&form)
    }

    /// The newest credential that meets a descriptor; one that is not revoked if that is asked for.
    async fn fitting(
        &self,
        tenant: &TenantId,
        descriptor: &Descriptor,
    ) -> Result<Option<FittingCredential>> {
        let query = match descriptor.first_attribute() {
            Some(name) => json!({ format!("attr::{name}::marker"): "1" }),
            None => json!({}),
        };
        let (mut paging, mut looked_at, mut met) = (Paging::longest(), 0, 0);
        let mut first = None;
        while looked_at < LOOKED_AT && met < CHOICES_MAX {
            let listed = self.anoncreds.credentials(tenant, &query, &paging).await?;
            for info in listed.items {
                looked_at = looked_at.saturating_add(1);
                let issuer = self.origin(&info.cred_def_id).await?.issuer_id;
                let claims = claims(&info, &issuer);
                if !descriptor.meets(&claims, JudgedSide::Held) {
                    continue;
                }
                let is_revoked = descriptor.asks_for_status()
                    && self
                        .anoncreds
                        .credential_revoked(tenant, &info.referent)
                        .await?;
                let one = FittingCredential {
                    info,
                    issuer,
                    claims,
                };
                if !is_revoked {
                    return Ok(Some(one));
                }
                met = met.saturating_add(1);
                first = first.or(Some(one));
            }
            match listed.next {
                Some(next) => paging.after = Some(next),
                None => break,
            }
        }
        // To make the presentation then says why not.
        Ok(first)
    }

    /// When a credential is proven not to be revoked: now, if that is asked for and it can be revoked.
    fn valid(&self, descriptor: &Descriptor, info: &CredentialInfo) -> Option<Valid> {
        let now = self.shared.clock.now().0;
        let is_asked = descriptor.asks_for_status() && info.rev_reg_id.is_some();
        is_asked.then_some(Valid { from: now, to: now })
    }

    /// Where the credential for each descriptor is.
    fn submission(
        &self,
        definition: &str,
        asked: &[AskedOfCard],
        own: &[u8],
    ) -> Result<Submission> {
        let places = presentation::places(own).map_err(Error::internal)?;
        let place = |one: &AskedOfCard| {
            let index = one.referents().find_map(|referent| places.get(&referent));
            Some(DescriptorPlace {
                id: one.id.clone(),
                format: INTEGRITY.to_owned(),
                path: format!("$.verifiableCredential[{}]", index?),
            })
        };
        Ok(Submission {
            id: fresh_id("submission", &self.shared.clock.ctx()),
            definition_id: definition.to_owned(),
            descriptor_map: asked.iter().filter_map(place).collect(),
        })
    }
}

/// A credential as its W3C form says it, for the paths of fields.
fn claims(info: &CredentialInfo, issuer: &str) -> Value {
    json!({
        "type": ["VerifiableCredential"],
        "issuer": issuer,
        "credentialSubject": subject::of_attributes(&info.attrs),
    })
}

/// The credential for each referent, all of them revealed.
fn chosen(asked: &[AskedOfCard], derived: &Derived, ids: &[String]) -> ChosenCredentials {
    let mut chosen = ChosenCredentials::default();
    for one in asked {
        let mut referents = one.referents();
        let attributes = usize::from(!one.names.is_empty());
        let id = |referent: &String| {
            let place = derived.places.get(referent).copied();
            place
                .and_then(|place| ids.get(place).cloned())
                .unwrap_or_default()
        };
        for referent in referents.by_ref().take(attributes) {
            let shown = ShownAttribute {
                cred_id: id(&referent),
                revealed: true,
                timestamp: None,
            };
            chosen.requested_attributes.insert(referent, shown);
        }
        for referent in referents {
            let shown = ShownPredicate {
                cred_id: id(&referent),
                timestamp: None,
            };
            chosen.requested_predicates.insert(referent, shown);
        }
    }
    chosen
}
