//! What an organisation does with applications.

use std::collections::BTreeMap;
use std::sync::Arc;

use selfsame_core::Shared;
use selfsame_credential::Format;
use selfsame_crypto::encoding::{base64url_encode, hex_encode};
use selfsame_driver::paging::{Listing, Paging, listing, page};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Reason, Result};
use selfsame_openid_view::issuer::{NewOffer, Offer, ProvenOffer};
use selfsame_openid_view::verifier::{PresentationVerdict, RequestState};
use selfsame_prerequisites::document::PathDocument;
use selfsame_prerequisites::fill::{FilledClaim, filled, locked};
use selfsame_prerequisites::judge::{MetPrerequisites, WalletProof, judge};
use selfsame_prerequisites::query::query;
use selfsame_prerequisites::{Prerequisite, Prerequisites};
use selfsame_store::{Batch, Expect, Put, TenantId};
use selfsame_types::asked::definition::{RequestDefinition, RequestPolicy};
use selfsame_types::fill::{at, put};
use selfsame_types::{CredentialType, TypeSet};
use serde_json::{Map, Value};

use crate::proof::{proof, reason, title};
use crate::record::{APPLICATION, ApplicationRecord, ApplicationStage};
use crate::roles::{ApplicationRoles, WrittenWithOffer};
use selfsame_types::form::application::{
    ApplicationState, FilledApplication, NeededCredential, NewApplication, ShownApplication,
};

/// Maximum number of characters of a type's title in a request.
const TITLE_MAX: usize = 100;
/// Seconds for which an application stays in the list.
const KEPT_SECONDS: u64 = 7 * 24 * 3600;

/// The applications of one organisation.
pub struct Applications {
    shared: Arc<Shared>,
    roles: Arc<dyn ApplicationRoles>,
}

/// A type and its rule, with types by their SD-JWT VC types alone.
struct Ruled {
    one: Arc<CredentialType>,
    declared: Prerequisites,
}

impl Ruled {
    fn of(types: &TypeSet, one: &Arc<CredentialType>) -> Result<Self> {
        let free = || Error::bad_request("type-needs-nothing").with("type", &one.id);
        let declared = one.prerequisites.as_deref().ok_or_else(free)?;
        let mut declared = declared.resolved(|id| types.vcts(id));
        for need in &mut declared.needs {
            let named = need.vct_values.iter().find_map(|vct| types.by_vct(vct));
            let title = need.title.take();
            need.title = title.or_else(|| named.map(|one| one.name().to_owned()));
        }
        Ok(Self {
            one: one.clone(),
            declared,
        })
    }
}

impl Applications {
    /// The applications of an organisation.
    #[must_use]
    pub fn new(shared: Arc<Shared>, roles: Arc<dyn ApplicationRoles>) -> Self {
        Self { shared, roles }
    }

    fn tenant(&self) -> &TenantId {
        &self.roles.organisation().issuer
    }

    /// Begins an application: asks for the needed credentials.
    ///
    /// # Errors
    /// `BadRequest` for a type that needs nothing; `NotFound` for an unknown type, and if the organisation is no
    /// verifier.
    pub async fn begin(&self, new: &NewApplication) -> Result<ShownApplication> {
        let types = self.roles.types().await?;
        let ruled = Ruled::of(&types, types.find(&new.type_id)?)?;
        let asked = definition(&ruled);
        let made = self.roles.ask(asked).await?;
        let ctx = self.shared.clock.ctx();
        let id = base64url_encode(&ctx.random::<16>("application/id"));
        let minutes = u64::from(ruled.declared.proof_minutes);
        let record = ApplicationRecord {
            type_id: ruled.one.id.clone(),
            version: ruled.one.version,
            request: made.id,
            uri: made.uri,
            began: ctx.now(),
            until: ctx.now().plus(minutes.saturating_mul(60)),
            identifier: hex_encode(&ctx.random::<8>("application/identifier")),
            label: new.label.clone(),
            state: ApplicationStage::Asked,
        };
        let row = Put::new(APPLICATION, &id, encode(&record)?);
        let row = row.expires(ctx.now().plus(KEPT_SECONDS));
        let batch = Batch::new(self.tenant().clone());
        let batch = batch.expect(APPLICATION, &id, Expect::Absent).put(row);
        self.shared.store.commit(batch).await?;
        tracing::info!(
            application = id,
            "type" = record.type_id,
            "application begun"
        );
        self.shown(&id, &record, &types).await
    }

    /// What a type needs, before an application is begun.
    ///
    /// # Errors
    /// `BadRequest` for a type that needs nothing; `NotFound` for an unknown one.
    pub async fn needed(&self, type_id: &str) -> Result<Vec<NeededCredential>> {
        let types = self.roles.types().await?;
        let ruled = Ruled::of(&types, types.find(type_id)?)?;
        Ok(ruled.declared.needs.iter().map(needed).collect())
    }

    /// What a credential of a type needs, in public.
    ///
    /// # Errors
    /// `NotFound` for an unknown type.
    pub async fn path_document(&self, type_id: &str) -> Result<PathDocument> {
        let types = self.roles.types().await?;
        let one = types.find(type_id)?;
        let ruled = one.prerequisites.is_some().then(|| Ruled::of(&types, one));
        let declared = ruled.transpose()?.map(|ruled| ruled.declared);
        let needs = declared.as_ref().map(PathDocument::needs_of);
        Ok(PathDocument {
            vct: one.vct.clone(),
            title: one.name().to_owned(),
            issuer_name: self.roles.issuer_name()?,
            needs: needs.unwrap_or_default(),
            options: declared
                .map(|declared| declared.options)
                .unwrap_or_default(),
        })
    }

    /// One application.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn one(&self, id: &str) -> Result<ShownApplication> {
        let types = self.roles.types().await?;
        let (record, _) = self.record(id).await?;
        self.shown(id, &record, &types).await
    }

    /// The applications, newest first.
    ///
    /// # Errors
    /// The store's.
    pub async fn list(&self, paging: &Paging) -> Result<Listing<ShownApplication>> {
        let types = self.roles.types().await?;
        let store = &self.shared.store;
        let records = store
            .list(self.tenant(), APPLICATION, &page(paging))
            .await?;
        let listed = listing(&records, paging, |record| Ok(record.clone()))?;
        let mut items = Vec::with_capacity(listed.items.len());
        for record in &listed.items {
            let kept = decode(&record.value)?;
            items.push(self.shown(&record.id, &kept, &types).await?);
        }
        let next = listed.next;
        Ok(Listing { items, next })
    }

    /// Makes the offer of an application, once. What was proven is judged again with statuses fetched now.
    ///
    /// # Errors
    /// `Forbidden` if the rule is not met, or the form has another value for a locked claim; `Conflict`
    /// if the offer was made before, the wallet has not answered yet or the type has a new version; those of offers.
    pub async fn offer(&self, id: &str, form: &FilledApplication) -> Result<Offer> {
        let (record, version) = self.record(id).await?;
        if matches!(record.state, ApplicationStage::Offered { .. }) {
            return Err(Error::new(ErrorKind::Conflict, "application-offered"));
        }
        let types = self.roles.types().await?;
        let ruled = Ruled::of(&types, types.find(&record.type_id)?)?;
        if ruled.one.version != record.version {
            return Err(Error::new(ErrorKind::Conflict, "application-outdated"));
        }
        let proof = self.proven_now(&record).await?;
        let met = self.met(&ruled, &proof)?;
        let filled = filled(&ruled.declared, &met, &record.helped(&ruled.one));
        let claims = completed(&filled, &form.claims)?;
        let left = record.until.seconds_since(self.shared.clock.now());
        let new = offer_of(form, &record, claims, left.max(1));
        let proven = ProvenOffer {
            new: &new,
            application: id,
        };
        let written: WrittenWithOffer<'_> = Box::new(|offer| {
            let state = ApplicationStage::Offered {
                offer: offer.to_owned(),
            };
            let next = ApplicationRecord { state, ..record };
            let row = Put::new(APPLICATION, id, encode(&next)?);
            let row = row.expires(next.began.plus(KEPT_SECONDS));
            let batch = Batch::new(self.tenant().clone());
            Ok(batch
                .expect(APPLICATION, id, Expect::Version(version))
                .put(row))
        });
        let made_before = |error: Error| match error.kind {
            ErrorKind::Conflict => Error::new(ErrorKind::Conflict, "application-offered"),
            _ => error,
        };
        let offer = self
            .roles
            .offer(&proven, written)
            .await
            .map_err(made_before)?;
        tracing::info!(application = id, "application offered");
        Ok(offer)
    }

    /// Judges again what was proven for an application, for the type and the version that it was begun for.
    ///
    /// # Errors
    /// `Forbidden` if the rule is not met now, or the application is for another type; `Unavailable` if statuses can't
    /// be fetched now.
    pub async fn judge(&self, id: &str, one: &CredentialType) -> Result<()> {
        let other = || Error::new(ErrorKind::Forbidden, "application-other");
        let (record, _) = self.record(id).await?;
        if record.type_id != one.id || record.version != one.version {
            return Err(other());
        }
        let types = self.roles.types().await?;
        let known = types.at(&one.id, one.version).ok_or_else(other)?;
        let ruled = Ruled::of(&types, known)?;
        let proof = self.proven_now(&record).await?;
        self.met(&ruled, &proof).map(drop)
    }

    /// What was proven, verified again with statuses fetched now and the issuers trusted now.
    async fn proven_now(&self, record: &ApplicationRecord) -> Result<WalletProof> {
        let status = self.roles.recheck(&record.request).await?;
        let unanswered = || Error::new(ErrorKind::Conflict, "answer-absent");
        proof(&status.verdict.ok_or_else(unanswered)?, record.began)
    }

    fn met<'p>(&self, ruled: &Ruled, proof: &'p WalletProof) -> Result<MetPrerequisites<'p>> {
        judge(&ruled.declared, proof, self.shared.clock.now()).map_err(|unmet| {
            let first = unmet.first().map(|unmet| reason(&ruled.declared, unmet));
            let why = first.unwrap_or_else(|| Reason::new("application-other"));
            let unmet = Reason::new("application-unmet").with_reason("why", why);
            Error::of(ErrorKind::Forbidden, unmet)
        })
    }

    async fn record(&self, id: &str) -> Result<(ApplicationRecord, u64)> {
        let record = self
            .shared
            .store
            .read(self.tenant(), APPLICATION, id)
            .await?;
        let record = record.ok_or_else(|| Error::not_found("application-unknown"))?;
        Ok((decode(&record.value)?, record.version))
    }

    async fn shown(
        &self,
        id: &str,
        record: &ApplicationRecord,
        types: &TypeSet,
    ) -> Result<ShownApplication> {
        let unknown = || Error::not_found("type-not-here").with("type", &record.type_id);
        let one = types.at(&record.type_id, record.version);
        let ruled = Ruled::of(types, one.ok_or_else(unknown)?)?;
        let status = self.roles.asked(&record.request).await?;
        let mut shown = ShownApplication {
            id: id.to_owned(),
            type_id: record.type_id.clone(),
            version: record.version,
            state: ApplicationState::Asked,
            uri: record.uri.clone(),
            until: record.until.rfc3339(),
            needs: ruled.declared.needs.iter().map(needed).collect(),
            unmet: Vec::new(),
            claims: Map::new(),
            locked: Vec::new(),
            offer: None,
            label: record.label.clone(),
        };
        match (status.state, &status.verdict) {
            (RequestState::Answered, Some(verdict)) => {
                self.tell(&mut shown, &ruled, record, verdict);
            }
            (state, _) if state.is_over() => shown.state = ApplicationState::Over,
            _ if self.shared.clock.now() >= record.until => shown.state = ApplicationState::Over,
            _ => {}
        }
        if let ApplicationStage::Offered { offer } = &record.state {
            shown.state = ApplicationState::Offered;
            shown.offer = Some(offer.clone());
        }
        Ok(shown)
    }

    /// Tells what a verdict means for an application.
    fn tell(
        &self,
        shown: &mut ShownApplication,
        ruled: &Ruled,
        record: &ApplicationRecord,
        verdict: &PresentationVerdict,
    ) {
        shown.state = ApplicationState::Refused;
        let proof = match proof(verdict, record.began) {
            Ok(proof) => proof,
            Err(error) => {
                shown.unmet.push(error.reason);
                return;
            }
        };
        match judge(&ruled.declared, &proof, self.shared.clock.now()) {
            Err(unmet) => {
                let reasons = unmet.iter().map(|unmet| reason(&ruled.declared, unmet));
                shown.unmet.extend(reasons);
            }
            Ok(met) => {
                shown.state = ApplicationState::Proven;
                for need in &mut shown.needs {
                    need.is_proven = met.shown(&need.name).is_some();
                }
                for one in filled(&ruled.declared, &met, &record.helped(&ruled.one)) {
                    if one.is_locked {
                        shown.locked.push(one.claim.clone());
                    }
                    if !one.value.is_null() {
                        put(&mut shown.claims, &one.claim, one.value);
                    }
                }
            }
        }
    }
}

/// The claims of a form, completed with what it was filled with.
fn completed(filled: &[FilledClaim], form: &Map<String, Value>) -> Result<Map<String, Value>> {
    let given = Value::Object(form.clone());
    let locked = locked(filled, &given).map_err(|claim| {
        Error::new(ErrorKind::Forbidden, "application-claim-changed")
            .with("claim", &claim.join("."))
    })?;
    let mut claims = form.clone();
    for one in locked.into_iter().filter(|one| !one.value.is_null()) {
        put(&mut claims, &one.claim, one.value.clone());
    }
    let suggested = filled.iter().filter(|one| !one.is_locked);
    for one in suggested {
        if at(&claims, &one.claim).is_none() {
            put(&mut claims, &one.claim, one.value.clone());
        }
    }
    Ok(claims)
}

fn needed(need: &Prerequisite) -> NeededCredential {
    NeededCredential {
        name: need.name.clone(),
        title: title(need),
        vct_values: need.vct_values.clone(),
        issuers: need.issuers.clone(),
        get_at: need.get_at.clone(),
        is_proven: false,
    }
}

/// The request for the needed credentials.
fn definition(ruled: &Ruled) -> RequestDefinition {
    let named = ruled
        .declared
        .needs
        .iter()
        .filter(|need| !need.issuers.is_empty());
    let issuers: BTreeMap<String, Vec<String>> = named
        .flat_map(|need| {
            need.vct_values
                .iter()
                .map(|vct| (vct.clone(), need.issuers.clone()))
        })
        .collect();
    let title: String = ruled.one.name().chars().take(TITLE_MAX).collect();
    RequestDefinition {
        name: "application".to_owned(),
        title: title.clone(),
        purpose: format!("Application: {title}"),
        enabled: true,
        same_device: false,
        spend: false,
        origins: Vec::new(),
        policy: RequestPolicy {
            max_status_age: None,
            trusted_issuers: issuers,
        },
        questions: Vec::new(),
        dcql_query: Some(query(&ruled.declared, Format::DEFAULT.as_str())),
    }
}

/// The offer of an application with these claims, which can be accepted once within this number of seconds.
fn offer_of(
    form: &FilledApplication,
    record: &ApplicationRecord,
    claims: Map<String, Value>,
    expires_in: u64,
) -> NewOffer {
    NewOffer {
        type_id: record.type_id.clone(),
        format: form.format.clone(),
        claims,
        examples: false,
        uses: Some(1),
        tx_code: form.tx_code,
        by_sign_in: false,
        needs_approval: None,
        by_reference: form.by_reference,
        expires_in: Some(expires_in),
        label: record.label.clone(),
    }
}
