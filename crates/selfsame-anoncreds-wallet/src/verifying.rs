//! The verification of presentations.

use std::collections::{BTreeMap, BTreeSet};

use selfsame_anoncreds::format::{
    CredentialIdentifiers, Interval, Message as _, Presentation, PresentationRequest,
    RevocationStatusList,
};
use selfsame_anoncreds::verdict::Rule;
use selfsame_anoncreds::verifier::Encoding;
use selfsame_anoncreds_roles::PublishedObjects;
use selfsame_anoncreds_roles::verifier::{Leniency, verify};
use selfsame_crypto::time::UnixTime;
use selfsame_driver::Result;

use crate::error::refused;
use crate::objects::KnownDefinition;
use crate::wallet::AnonCreds;

/// What a verification found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProofVerdict {
    /// Whether the presentation is valid.
    pub is_valid: bool,
    /// What was found, as `verified_msgs` of ACA-Py's admin API: a code for each finding, such as
    /// `RMV_RFNT_NRI::attr1`.
    pub messages: Vec<String>,
}

/// The published objects that a presentation names.
#[derive(Default)]
struct NamedObjects {
    published: PublishedObjects,
    definitions: BTreeMap<String, KnownDefinition>,
    /// Lists that were the newest when an interval begins.
    in_force: Vec<RevocationStatusList>,
}

impl AnonCreds {
    /// Verifies a presentation against its request. The objects that it names are read from the registry.
    ///
    /// # Errors
    /// `BadRequest` if the request is not one; the registry's, if it can't be asked. A presentation that is not valid is
    /// no error.
    pub async fn verify(&self, request: &[u8], presentation: &[u8]) -> Result<ProofVerdict> {
        let request = PresentationRequest::from_json(request).map_err(refused)?;
        let request = self.naming().request(request).await?;
        let presentation = match Presentation::from_json(presentation) {
            Ok(presentation) => presentation,
            Err(error) => return Ok(ProofVerdict::invalid("VALUE_ERROR", &error.to_string())),
        };
        let named = self.named(&request, &presentation).await?;
        let mut messages = notices(&request, &presentation, &named.definitions);
        let expired = expired(&named.definitions, self.shared.clock.now());
        let used = self.used_handles(&request, &presentation).await?;
        let prepared = self.objects.prepared.clone();
        let verifying = move || {
            let NamedObjects {
                mut published,
                definitions,
                in_force,
            } = named;
            for (id, known) in &definitions {
                let definition = prepared.of(known)?;
                published.definitions.insert(id.clone(), definition);
            }
            let leniency = Leniency {
                in_force,
                encoding: Encoding::Recommended,
            };
            verify(&presentation, &request, published, leniency).map_err(refused)
        };
        let judged = self.shared.work.run_in_turn(verifying).await??;
        let verdict = judged.presentation.verdict;
        if let Some(rule) = verdict.reason().filter(|_| !verdict.is_valid()) {
            messages.push(finding(rule));
        }
        let is_valid = verdict.is_valid() && expired.is_empty() && used.is_empty();
        messages.extend(expired);
        messages.extend(used);
        Ok(ProofVerdict { is_valid, messages })
    }

    /// Reads what a presentation names. What the registry does not have is left out, and the verdict says so.
    async fn named(
        &self,
        request: &PresentationRequest,
        presentation: &Presentation,
    ) -> Result<NamedObjects> {
        let mut named = NamedObjects::default();
        for one in &presentation.identifiers {
            let (schema_id, definition_id) = (one.schema_id.as_str(), one.cred_def_id.as_str());
            if let Some(known) = self.objects.schema(schema_id).await? {
                let schema = known.schema.as_ref().clone();
                let schemas = &mut named.published.schemas;
                schemas.insert(schema_id.to_owned(), schema);
            }
            if let Some(known) = self.objects.definition(definition_id).await? {
                named.definitions.insert(definition_id.to_owned(), known);
            }
            self.name_registry(one, request, &mut named).await?;
        }
        Ok(named)
    }

    /// Reads the registry and the status list that a credential is proven from.
    async fn name_registry(
        &self,
        one: &CredentialIdentifiers,
        request: &PresentationRequest,
        named: &mut NamedObjects,
    ) -> Result<()> {
        let (Some(id), Some(at)) = (&one.rev_reg_id, one.timestamp) else {
            return Ok(());
        };
        let Some(registry) = self.objects.registry(id.as_str()).await? else {
            return Ok(());
        };
        let definition = registry.definition.as_ref().clone();
        let registries = &mut named.published.registries;
        registries.insert(id.to_string(), definition);
        let Some(known) = self.objects.list(&registry, Some(UnixTime(at))).await? else {
            return Ok(());
        };
        // The list in force at a time is the one of the newest entry up to then.
        let list = RevocationStatusList {
            timestamp: Some(at),
            ..known.list.as_ref().clone()
        };
        for from in begins(request).filter(|from| at < *from) {
            let then = self.objects.list(&registry, Some(UnixTime(from))).await?;
            if then.is_some_and(|then| then.version == known.version) {
                named.in_force.push(list.clone());
                break;
            }
        }
        named.published.lists.push(list);
        Ok(())
    }
}

impl ProofVerdict {
    fn invalid(code: &str, detail: &str) -> Self {
        Self {
            is_valid: false,
            messages: vec![format!("{code}::{detail}")],
        }
    }
}

/// The findings for definitions whose keys are refused by now. A thief of such a key can make credentials and proofs as of
/// any time, so that a proof as of an earlier time is refused too.
fn expired(definitions: &BTreeMap<String, KnownDefinition>, now: UnixTime) -> Vec<String> {
    let ends = definitions.iter();
    let ends = ends.filter_map(|(id, known)| Some((id, known.valid_until?)));
    let ended = ends.filter(|(_, end)| *end <= now);
    let finding = |(id, end): (&String, UnixTime)| {
        format!(
            "VERIFY_ERROR::definition: {id} expired at {}",
            end.rfc3339()
        )
    };
    ended.map(finding).collect()
}

/// The beginnings of the requested intervals, each once.
fn begins(request: &PresentationRequest) -> impl Iterator<Item = u64> {
    let attributes = request.requested_attributes.values();
    let predicates = request.requested_predicates.values();
    let own = attributes.map(|asked| asked.non_revoked);
    let all = own
        .chain(predicates.map(|asked| asked.non_revoked))
        .chain([request.non_revoked]);
    let begins: BTreeSet<u64> = all.filter_map(|interval| interval?.from).collect();
    begins.into_iter()
}

/// The code of ACA-Py's admin API for a rule that does not hold: a presentation that differs from the request or is not
/// what its issuer signed, and a proof or a registry's object that does not verify.
fn finding(rule: &Rule) -> String {
    let code = match &*rule.name {
        "evidence" | "non_revocation" | "proof" => "VERIFY_ERROR",
        _ => "VALUE_ERROR",
    };
    format!("{code}::{}: {}", rule.name, rule.detail)
}

/// What a controller is told of a presentation, valid or not.
fn notices(
    request: &PresentationRequest,
    presentation: &Presentation,
    definitions: &BTreeMap<String, KnownDefinition>,
) -> Vec<String> {
    let proof = &presentation.requested_proof;
    let credential = |index: u32| {
        let index = usize::try_from(index).ok()?;
        presentation.identifiers.get(index)
    };
    let is_revocable = |one: &CredentialIdentifiers| {
        let known = definitions.get(one.cred_def_id.as_str());
        known.is_some_and(|known| known.definition.value.revocation.is_some())
    };
    let mut messages = Vec::new();
    let mut note = |referent: &str, own: Option<Interval>, index: u32| {
        let Some(one) = credential(index) else { return };
        if own.is_some() && !is_revocable(one) {
            messages.push(format!("RMV_RFNT_NRI::{referent}"));
        }
        let interval = own.or(request.non_revoked);
        if let (Some(interval), Some(at)) = (interval, one.timestamp)
            && !interval.contains(at)
        {
            messages.push(format!("TS_OUT_NRI::{referent}"));
        }
    };
    for (referent, asked) in &request.requested_attributes {
        let alone = proof.revealed_attrs.get(referent);
        let group = proof.revealed_attr_groups.get(referent);
        let hidden = proof.unrevealed_attrs.get(referent);
        let index = alone
            .map(|answer| answer.sub_proof_index)
            .or(group.map(|answer| answer.sub_proof_index))
            .or(hidden.map(|answer| answer.sub_proof_index));
        if let Some(index) = index {
            note(referent, asked.non_revoked, index);
        }
    }
    for (referent, asked) in &request.requested_predicates {
        if let Some(answer) = proof.predicates.get(referent) {
            note(referent, asked.non_revoked, answer.sub_proof_index);
        }
    }
    let hidden = proof.unrevealed_attrs.keys();
    messages.extend(hidden.map(|referent| format!("UNRVL_ATTR::{referent}")));
    let mut identifiers = presentation.identifiers.iter();
    if request.non_revoked.is_some() && !identifiers.any(is_revocable) {
        messages.push("RMV_GLB_NRI".to_owned());
    }
    messages
}
