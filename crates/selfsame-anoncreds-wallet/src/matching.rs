//! Which credentials answer a presentation request, found by tags.

use std::collections::{BTreeMap, BTreeSet};

use selfsame_anoncreds::format::{
    CredentialDefinitionId, Interval, Known, Message as _, PresentationRequest, Query, QueryAnswer,
    RequestedPredicate, RevocationRegistryId, SchemaId, encode_attribute, normalise_attribute,
};
use selfsame_crypto::time::UnixTime;
use selfsame_driver::{Error, Result};
use selfsame_store::TenantId;
use serde_json::{Value, json};

use crate::error::refused;
use crate::held::{FoundCredential, HeldRecord, HeldSearch};
use crate::view::{ChosenCredentials, CredentialInfo, ShownAttribute, ShownPredicate};
use crate::wallet::AnonCreds;
use crate::wql;

pub use crate::view::MatchingCredential;

/// Credentials given for a referent at most, the newest.
const MATCHES_MAX: usize = 100;

/// Credentials of which one that is not revoked is chosen.
const CHOICES_MAX: usize = 5;

/// Which of the credentials that answer a request are asked for.
#[derive(Clone, Debug)]
pub struct CredentialsWanted<'a> {
    /// These referents of the request alone, if it names any.
    pub referents: &'a [String],
    /// A further query in WQL for each referent.
    pub extra: &'a BTreeMap<String, Value>,
    /// The newest ones up to this number, and at most 100 for each referent.
    pub most: usize,
}

/// What one referent of a request asks for.
pub(crate) struct AskedReferent<'a> {
    referent: &'a str,
    /// The attributes, of one credential.
    pub(crate) names: Vec<&'a str>,
    restrictions: Option<&'a Query>,
    predicate: Option<&'a RequestedPredicate>,
    /// When the credential must not be revoked.
    pub(crate) interval: Option<Interval>,
    /// What the controller asks for beside the request.
    extra: Option<Query>,
}

impl<'a> AskedReferent<'a> {
    /// All referents of a request: those of attributes first.
    pub(crate) fn all(request: &'a PresentationRequest) -> Vec<Self> {
        let attributes = request.requested_attributes.iter();
        let attributes = attributes.map(|(referent, asked)| Self {
            referent,
            names: asked.names().collect(),
            restrictions: asked.restrictions.as_ref(),
            predicate: None,
            interval: asked.non_revoked.or(request.non_revoked),
            extra: None,
        });
        let predicates = request.requested_predicates.iter();
        let predicates = predicates.map(|(referent, asked)| Self {
            referent,
            names: vec![&asked.name],
            restrictions: asked.restrictions.as_ref(),
            predicate: Some(asked),
            interval: asked.non_revoked.or(request.non_revoked),
            extra: None,
        });
        attributes.chain(predicates).collect()
    }

    /// A query that all answers fit. It decides only where to look.
    fn query(&self) -> Query {
        let markers = self.names.iter().take(1);
        let markers =
            markers.map(|name| Query::Eq(format!("attr::{name}::marker"), "1".to_owned()));
        let given = self.restrictions.into_iter().chain(&self.extra).cloned();
        Query::And(given.chain(markers).collect())
    }

    /// Answers it with this credential.
    pub(crate) fn choose(&self, cred_id: String, chosen: &mut ChosenCredentials) {
        let (referent, timestamp) = (self.referent.to_owned(), None);
        if self.predicate.is_some() {
            let shown = ShownPredicate { cred_id, timestamp };
            chosen.requested_predicates.insert(referent, shown);
        } else {
            let shown = ShownAttribute {
                cred_id,
                revealed: true,
                timestamp,
            };
            chosen.requested_attributes.insert(referent, shown);
        }
    }

    /// Whether a credential answers it, as a verifier would judge.
    pub(crate) fn is_answered_by(&self, record: &HeldRecord) -> Result<bool> {
        let info = &record.info;
        let value = |name: &str| {
            let name = normalise_attribute(name);
            let mut values = info.attrs.iter();
            values.find(|(known, _)| normalise_attribute(known) == name)
        };
        if !self.names.iter().all(|name| value(name).is_some()) {
            return Ok(false);
        }
        if let Some(extra) = &self.extra
            && !wql::holds(extra, &record.tags())
        {
            return Ok(false);
        }
        if let Some(asked) = self.predicate {
            let raw = value(&asked.name).map_or("", |(_, raw)| raw);
            let number = encode_attribute(raw).parse::<i32>();
            let holds = |number: i32| asked.p_type.holds(number.into(), asked.p_value.into());
            if !number.is_ok_and(holds) {
                return Ok(false);
            }
        }
        let Some(restrictions) = self.restrictions else {
            return Ok(true);
        };
        let shown = match self.predicate {
            Some(_) => BTreeMap::new(),
            None => self
                .names
                .iter()
                .filter_map(|name| Some((normalise_attribute(name), value(name)?.1.as_str())))
                .collect(),
        };
        let registry_id = info.rev_reg_id.as_deref().map(RevocationRegistryId::new);
        let registry_id = registry_id.transpose().map_err(refused)?;
        let known = Known {
            schema_id: &SchemaId::new(info.schema_id.as_str()).map_err(refused)?,
            schema: &record.schema,
            schema_is_certain: true,
            definition_id: &CredentialDefinitionId::new(info.cred_def_id.as_str())
                .map_err(refused)?,
            issuer_id: &record.issuer_id,
            // A verifier accepts a registry only where a proof of non-revocation is asked for.
            registry_id: self.interval.and(registry_id.as_ref()),
            shown,
        };
        Ok(known.judge(restrictions) == QueryAnswer::Holds)
    }
}

impl AnonCreds {
    /// The tenant's credentials that can answer a presentation request, found by tags; the newest first.
    ///
    /// # Errors
    /// `BadRequest` if the request is not one; the store's.
    pub async fn matching(
        &self,
        tenant: &TenantId,
        request: &[u8],
        wanted: &CredentialsWanted<'_>,
    ) -> Result<Vec<MatchingCredential>> {
        let request = PresentationRequest::from_json(request).map_err(refused)?;
        let request = self.naming().request(request).await?;
        let mut found: BTreeMap<u64, MatchingCredential> = BTreeMap::new();
        for mut asked in AskedReferent::all(&request) {
            let mut referents = wanted.referents.iter();
            if !wanted.referents.is_empty() && !referents.any(|one| one == asked.referent) {
                continue;
            }
            asked.extra = match wanted.extra.get(asked.referent) {
                Some(extra) => Some(self.naming().query(&wql::parsed(extra)?).await?),
                None => None,
            };
            // One of the newest of all is also among as many of the newest of each referent that it answers.
            let most = wanted.most.min(MATCHES_MAX);
            for one in self.answers(tenant, &asked, most).await? {
                let interval = asked
                    .interval
                    .filter(|_| one.record.info.rev_reg_id.is_some());
                let known = found.entry(one.seq).or_insert_with(|| MatchingCredential {
                    cred_info: one.record.info,
                    interval: interval.map(|interval| json!(interval)),
                    presentation_referents: Vec::new(),
                });
                known.presentation_referents.push(asked.referent.to_owned());
            }
        }
        Ok(found.into_values().rev().take(wanted.most).collect())
    }

    /// The credentials with which the tenant answers a request if the holder does not choose: those that anybody may be
    /// shown, if they are all that it asks for; or else for each referent one that answers others too, or the newest that
    /// fits.
    ///
    /// # Errors
    /// `BadRequest` if a referent can't be answered; the store's.
    pub async fn first_choice(
        &self,
        tenant: &TenantId,
        request: &[u8],
    ) -> Result<ChosenCredentials> {
        if let Some(chosen) = self.public_choice(tenant, request).await? {
            return Ok(chosen);
        }
        let request = PresentationRequest::from_json(request).map_err(refused)?;
        let request = self.naming().request(request).await?;
        let mut taken: Vec<FoundCredential> = Vec::new();
        let mut chosen = ChosenCredentials::default();
        for asked in AskedReferent::all(&request) {
            let mut known = None;
            for one in &taken {
                if known.is_none() && asked.is_answered_by(&one.record)? {
                    known = Some(one.record.info.referent.clone());
                }
            }
            let cred_id = match known {
                Some(id) => id,
                None => {
                    let newest = self.newest_unrevoked(tenant, &asked).await?;
                    let none = || {
                        Error::bad_request("anoncreds-credential-none")
                            .with("referent", asked.referent)
                    };
                    let newest = newest.ok_or_else(none)?;
                    let id = newest.record.info.referent.clone();
                    taken.push(newest);
                    id
                }
            };
            asked.choose(cred_id, &mut chosen);
        }
        Ok(chosen)
    }

    /// The newest credential that answers a referent: among the newest few one that is not revoked, if non-revocation is
    /// asked for.
    async fn newest_unrevoked(
        &self,
        tenant: &TenantId,
        asked: &AskedReferent<'_>,
    ) -> Result<Option<FoundCredential>> {
        let most = asked.interval.map_or(1, |_| CHOICES_MAX);
        let mut first = None;
        for found in self.answers(tenant, asked, most).await? {
            let at = asked.interval.and_then(|interval| interval.to);
            let is_revoked = asked.interval.is_some()
                && self
                    .is_revoked(&found.record.info, at.map(UnixTime))
                    .await?;
            if !is_revoked {
                return Ok(Some(found));
            }
            first = first.or(Some(found));
        }
        // To make the presentation then says why not.
        Ok(first)
    }

    /// Whether a credential of the tenant is revoked now.
    ///
    /// # Errors
    /// `NotFound` if the tenant has no such credential; the registry's.
    pub async fn credential_revoked(&self, tenant: &TenantId, id: &str) -> Result<bool> {
        let info = self.credential(tenant, id).await?;
        self.is_revoked(&info, None).await
    }

    /// Whether a credential was revoked at a time that is not to come, or is now.
    pub(crate) async fn is_revoked(
        &self,
        info: &CredentialInfo,
        at: Option<UnixTime>,
    ) -> Result<bool> {
        let index = info.cred_rev_id.as_deref();
        let index = index.and_then(|index| index.parse::<u32>().ok());
        let (Some(id), Some(index)) = (&info.rev_reg_id, index) else {
            return Ok(false);
        };
        let registry = self.known_registry(id).await?;
        let now = self.shared.clock.now();
        let at = at.filter(|at| *at < now);
        let known = self.objects.list(&registry, at).await?;
        let bit = known.map(|known| known.list.revocation_list.is_revoked(index));
        Ok(bit.transpose().map_err(refused)?.unwrap_or(false))
    }

    /// The newest credentials that answer a referent.
    pub(crate) async fn answers(
        &self,
        tenant: &TenantId,
        asked: &AskedReferent<'_>,
        most: usize,
    ) -> Result<Vec<FoundCredential>> {
        let search = HeldSearch {
            store: &self.shared.store,
            tenant,
            leads: wql::leads(&asked.query()),
            after: None,
        };
        let found = search.find(most, |record| asked.is_answered_by(record));
        found.await
    }
}

/// The credentials of a choice, each once.
pub(crate) fn named(chosen: &ChosenCredentials) -> BTreeSet<&str> {
    let attributes = chosen.requested_attributes.values();
    let attributes = attributes.map(|shown| shown.cred_id.as_str());
    let predicates = chosen.requested_predicates.values();
    let predicates = predicates.map(|shown| shown.cred_id.as_str());
    attributes.chain(predicates).collect()
}
