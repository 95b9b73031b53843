//! Presentations.

use std::collections::BTreeMap;
use std::sync::Arc;

use selfsame_anoncreds::format::{
    Interval, Message as _, PresentationRequest, RevocationStatusList,
};
use selfsame_anoncreds_roles::answer::{AnswerDraft, AssignedReferents, HoldersChoice, StateNeed};
use selfsame_anoncreds_roles::{HeldCredential, PublishedObjects, RoleError};
use selfsame_crypto::hash::sha256;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::TenantId;

use crate::error::{refused, unknown};
use crate::matching::named;
use crate::objects::KnownDefinition;
use crate::states::{ProvenState, ProvenStates};
use crate::view::ChosenCredentials;
use crate::wallet::AnonCreds;

/// The credentials of a presentation, with their published objects.
#[derive(Default)]
struct Gathered {
    held: Vec<HeldCredential>,
    /// Their identifiers in the wallet.
    ids: Vec<String>,
    published: PublishedObjects,
    definitions: Vec<KnownDefinition>,
    /// The tails files of the registries that are proven from.
    tails: BTreeMap<String, Arc<Vec<u8>>>,
}

impl AnonCreds {
    /// Makes the JSON of a presentation.
    ///
    /// # Errors
    /// `BadRequest` if the choice does not answer the request, a predicate is not met, or a credential is revoked where
    /// it must not be; the registry's.
    pub async fn present(
        &self,
        tenant: &TenantId,
        request: &[u8],
        chosen: &ChosenCredentials,
    ) -> Result<Vec<u8>> {
        let request = PresentationRequest::from_json(request).map_err(refused)?;
        self.presented(tenant, request, chosen).await
    }

    /// Makes the JSON of a presentation of what is chosen, and leaves out the rest of the request. If something is left
    /// out, the verifier finds that the presentation does not match its request.
    ///
    /// # Errors
    /// As [`Self::present`]; if nothing is chosen too.
    pub async fn present_part(
        &self,
        tenant: &TenantId,
        request: &[u8],
        chosen: &ChosenCredentials,
    ) -> Result<Vec<u8>> {
        let request = PresentationRequest::from_json(request).map_err(refused)?;
        self.presented(tenant, answered(request, chosen), chosen)
            .await
    }

    async fn presented(
        &self,
        tenant: &TenantId,
        request: PresentationRequest,
        chosen: &ChosenCredentials,
    ) -> Result<Vec<u8>> {
        let request = self.naming().request(request).await?;
        let mut gathered = Gathered::default();
        for id in named(chosen) {
            self.gather(tenant, id, &mut gathered).await?;
            let asked = asked_interval(&request, chosen, id);
            if let Some(asked) = asked {
                self.gather_state(&asked, &mut gathered).await?;
            }
        }
        let assigned = assigned(chosen, &gathered.ids);
        let choice = holders_choice(chosen);
        let secret = self.secrets.of(tenant).await?;
        let (prepared, ctx) = (self.objects.prepared.clone(), self.shared.clock.ctx());
        let states = self.states.clone();
        let presenting = move || {
            for known in &gathered.definitions {
                let definition = prepared.of(known)?;
                let definitions = &mut gathered.published.definitions;
                definitions.insert(known.id.to_string(), definition);
            }
            let (held, published) = (&gathered.held, &gathered.published);
            let draft = AnswerDraft::new(&request, held, published, &choice);
            let mut draft = draft.map_err(refused)?.assigned(&assigned);
            while let Some(need) = draft.need().map_err(refused)? {
                prove(&mut draft, &need, &gathered, &states)?;
            }
            let presentation = draft.present_accepted(&secret, &ctx).map_err(refused)?;
            Ok(presentation.to_json().map_err(refused)?.into_bytes())
        };
        self.shared.work.run_in_turn(presenting).await?
    }

    async fn gather(&self, tenant: &TenantId, id: &str, gathered: &mut Gathered) -> Result<()> {
        let record = self
            .held(tenant, id)
            .await
            .map_err(|error| match error.kind {
                ErrorKind::NotFound => unheld(id),
                _ => error,
            })?;
        let (schema_id, definition_id) = (&record.info.schema_id, &record.info.cred_def_id);
        let schemas = &mut gathered.published.schemas;
        schemas.insert(schema_id.clone(), record.schema.clone());
        let known = self.objects.definition(definition_id).await?;
        let known = known.ok_or_else(|| unknown("the credential definition", definition_id))?;
        gathered.definitions.push(known);
        gathered.held.push(record.opened()?);
        gathered.ids.push(id.to_owned());
        Ok(())
    }

    /// Reads what the newest gathered credential proves that it is not revoked from.
    async fn gather_state(&self, asked: &AskedInterval, gathered: &mut Gathered) -> Result<()> {
        let newest = gathered.held.last();
        let id = newest.and_then(|held| held.credential().rev_reg_id.clone());
        let Some(id) = id else { return Ok(()) };
        let registry = self.known_registry(id.as_str()).await?;
        let now = self.shared.clock.now();
        let at = asked.timestamp.or(asked.interval.to);
        let at = at.map(UnixTime).filter(|at| *at < now);
        if let Some(known) = self.objects.list(&registry, at).await? {
            gathered.published.lists.push(known.list.as_ref().clone());
        }
        let tails = self.tails.of(&registry).await?;
        gathered.tails.insert(id.to_string(), tails);
        let definition = registry.definition.as_ref().clone();
        let registries = &mut gathered.published.registries;
        registries.insert(id.to_string(), definition);
        Ok(())
    }
}

/// The part of a request that a choice answers; all of it for a choice of nothing, which answers no request.
fn answered(request: PresentationRequest, chosen: &ChosenCredentials) -> PresentationRequest {
    let mut part = request.clone();
    let attested = &chosen.self_attested_attributes;
    part.requested_attributes.retain(|referent, _| {
        chosen.requested_attributes.contains_key(referent) || attested.contains_key(referent)
    });
    part.requested_predicates
        .retain(|referent, _| chosen.requested_predicates.contains_key(referent));
    match part.requested_attributes.is_empty() && part.requested_predicates.is_empty() {
        true => request,
        false => part,
    }
}

/// What is asked of a credential about its revocation.
struct AskedInterval {
    interval: Interval,
    /// The time that the holder chose in it.
    timestamp: Option<u64>,
}

/// The interval in which a chosen credential must not be revoked: that of all its referents together (AnonCreds v1.0,
/// "Request Non-Revocation Proofs").
fn asked_interval(
    request: &PresentationRequest,
    chosen: &ChosenCredentials,
    id: &str,
) -> Option<AskedInterval> {
    let mut timestamp = None;
    let mut intervals = Vec::new();
    for (referent, shown) in &chosen.requested_attributes {
        if shown.cred_id == id {
            timestamp = timestamp.or(shown.timestamp);
            let asked = request.requested_attributes.get(referent);
            intervals.extend(asked.and_then(|asked| asked.non_revoked.or(request.non_revoked)));
        }
    }
    for (referent, shown) in &chosen.requested_predicates {
        if shown.cred_id == id {
            timestamp = timestamp.or(shown.timestamp);
            let asked = request.requested_predicates.get(referent);
            intervals.extend(asked.and_then(|asked| asked.non_revoked.or(request.non_revoked)));
        }
    }
    let interval = intervals.into_iter().reduce(Interval::narrowed)?;
    Some(AskedInterval {
        interval,
        timestamp,
    })
}

/// Gives a draft the state of one of its credentials. A state that was proven from before saves reading all tails.
fn prove<'a>(
    draft: &mut AnswerDraft<'a>,
    need: &StateNeed<'a>,
    gathered: &Gathered,
    states: &ProvenStates,
) -> Result<()> {
    let missing = || refused(RoleError::Missing(need.missing_tails()));
    let tails = gathered.tails.get(need.id).ok_or_else(missing)?;
    // The signature tells it from any credential of another tenant or of another time.
    let held = gathered.held.get(need.credential());
    let key = held
        .map(|held| sha256(held.json().expose()))
        .unwrap_or_default();
    let older = states.0.get(&key);
    let is_same = |older: &&Arc<ProvenState>| *older.list == *need.list;
    if let Some(same) = older.as_ref().filter(is_same) {
        draft.give_state(need, same.state.clone());
        return Ok(());
    }
    let from = older.as_ref().map(|older| (&older.state, &*older.list));
    let state = draft.state(need, tails, from).map_err(refused)?;
    let state = state.ok_or_else(missing)?;
    let list: Arc<RevocationStatusList> = Arc::new(need.list.clone());
    let proven = ProvenState {
        state: state.clone(),
        list,
    };
    states.0.keep(key, Arc::new(proven));
    draft.give_state(need, state);
    Ok(())
}

/// The places of the chosen credentials among those gathered.
fn assigned(chosen: &ChosenCredentials, ids: &[String]) -> AssignedReferents {
    let place = |id: &str| ids.iter().position(|known| known == id);
    let attributes = chosen.requested_attributes.iter();
    let predicates = chosen.requested_predicates.iter();
    AssignedReferents {
        attributes: attributes
            .filter_map(|(referent, shown)| Some((referent.clone(), place(&shown.cred_id)?)))
            .collect(),
        predicates: predicates
            .filter_map(|(referent, shown)| Some((referent.clone(), place(&shown.cred_id)?)))
            .collect(),
    }
}

fn holders_choice(chosen: &ChosenCredentials) -> HoldersChoice {
    let hidden = chosen.requested_attributes.iter();
    let hidden = hidden.filter(|(_, shown)| !shown.revealed);
    HoldersChoice {
        hidden: hidden.map(|(referent, _)| referent.clone()).collect(),
        attested: chosen.self_attested_attributes.clone(),
    }
}

fn unheld(id: &str) -> Error {
    Error::bad_request("anoncreds-credential-unheld").with("id", id)
}
