//! Enters credentials that the organisation's agent holds.

use std::collections::BTreeSet;

use selfsame_anoncreds_wallet::show::KeptCredential;
use selfsame_book::due::{DUE, DueNote, DueWork};
use selfsame_book::entry::{AnonCredsEntry, EntryRecord};
use selfsame_credential::verdict::Outcome;
use selfsame_driver::record::encode;
use selfsame_driver::{Error, Result};
use selfsame_store::{Batch, Put, TenantId};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{claims, entry_id, registries, type_of};
use crate::books::Book;
use crate::loading::{CREDENTIALS_MAX, Candidate, LoadedEntry, Sameness, WrittenBeside, at, facts};

/// AnonCreds credentials to enter into a book.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HeldCredentials {
    /// Their identifiers in the wallet of the organisation's agent; at most 100.
    pub credentials: Vec<String>,
}

impl Book {
    /// Enters AnonCreds credentials that the organisation's agent holds, all or none.
    ///
    /// # Errors
    /// `BadRequest` with the number of the first credential that is revoked, of an issuer that is not trusted, of no type
    /// with a mapping, or does not say what it is about; `NotFound` for one that the agent does not hold.
    pub async fn enter_held(&self, new: &HeldCredentials) -> Result<Vec<LoadedEntry>> {
        if new.credentials.len() > CREDENTIALS_MAX {
            return Err(Error::bad_request("book-many").with("maximum", &CREDENTIALS_MAX));
        }
        let mut candidates = Vec::new();
        let mut seen = BTreeSet::new();
        for (place, id) in new.credentials.iter().enumerate() {
            if !seen.insert(id) {
                continue;
            }
            let candidate = self.held_candidate(id).await;
            candidates.push(candidate.map_err(|error| at(place, error))?);
        }
        self.commit(candidates).await
    }

    async fn held_candidate(&self, id: &str) -> Result<Candidate> {
        let kept = self.anoncreds().kept(self.tenant(), id).await?;
        self.candidate_of(&kept).await
    }

    /// What is written when the organisation's agent keeps a credential; nothing if no type says that it is entered.
    ///
    /// # Errors
    /// The store's.
    pub async fn received(&self, came: &KeptCredential) -> Result<Option<Batch>> {
        let types = self.types().await?;
        let one = type_of(&types, &self.own_names(), came);
        let mapping = one.and_then(|one| one.book.as_ref());
        if !mapping.is_some_and(|mapping| mapping.anoncreds.received) {
            return Ok(None);
        }
        let what = DueWork::EnterReceived;
        let note = DueNote {
            tenant: self.tenant().as_str().to_owned(),
            entry: came.info.referent.clone(),
            what,
        };
        // Holders choose identifiers in their wallets, so those of two organisations can be equal.
        let of = format!("{}/{}", note.tenant, entry_id(&came.info));
        let put = Put::new(DUE, what.note_id(&of), encode(&note)?);
        Ok(Some(Batch::new(TenantId::instance()).put(put)))
    }

    /// Enters a credential that the agent holds.
    ///
    /// # Errors
    /// As [`Self::enter_held`]; `Gone` if the entry was erased.
    pub(crate) async fn enter_kept(&self, kept: &KeptCredential) -> Result<Vec<LoadedEntry>> {
        let candidate = self.candidate_of(kept).await?;
        self.commit(vec![candidate]).await
    }

    /// The identifier of the entry of a credential that the agent holds, and the id of its type if it has one.
    ///
    /// # Errors
    /// The store's.
    pub(crate) async fn named_entry(&self, kept: &KeptCredential) -> Result<NamedEntry> {
        let types = self.types().await?;
        let one = type_of(&types, &self.own_names(), kept);
        Ok(NamedEntry {
            credential_id: entry_id(&kept.info),
            type_id: one.map_or_else(|| kept.schema_name.clone(), |one| one.id.clone()),
        })
    }

    /// An entry of a credential that the agent holds. The agent has checked its signature before it kept it.
    async fn candidate_of(&self, kept: &KeptCredential) -> Result<Candidate> {
        let types = self.types().await?;
        let info = &kept.info;
        let unmapped =
            || Error::bad_request("book-anoncreds-unmapped").with("schema", &kept.schema_id);
        let one = type_of(&types, &self.own_names(), kept).ok_or_else(unmapped)?;
        let named = [&one.vct, &kept.schema_id, &kept.cred_def_id];
        let outcome = match self.trusts(&kept.issuer_id, &named).await? {
            false => Some(Outcome::Untrusted),
            true => {
                let revoked = self
                    .anoncreds()
                    .credential_revoked(self.tenant(), &info.referent);
                revoked.await?.then_some(Outcome::Revoked)
            }
        };
        if let Some(outcome) = outcome {
            return Err(Error::bad_request("book-not-valid").with("outcome", outcome.as_str()));
        }
        let claims = claims::of(one, &info.attrs);
        let place = info.cred_rev_id.as_deref();
        Ok(Candidate {
            facts: facts(one, &claims)?,
            one: one.clone(),
            beside: match &info.rev_reg_id {
                Some(registry) => Some(WrittenBeside {
                    tag: registries::tag(registry),
                    writes: registries::followed(self.tenant(), registry)?,
                }),
                None => None,
            },
            entry: EntryRecord {
                credential_id: entry_id(info),
                type_id: one.id.clone(),
                issuer: kept.issuer_id.clone(),
                claims,
                credential: None,
                held: Some(AnonCredsEntry {
                    referent: info.referent.clone(),
                    schema_id: info.schema_id.clone(),
                    cred_def_id: info.cred_def_id.clone(),
                    rev_reg_id: info.rev_reg_id.clone(),
                    cred_rev_id: place.and_then(|place| place.parse().ok()),
                }),
                issued: None,
                entered: self.shared().clock.now(),
            },
            sameness: Sameness::Id,
        })
    }
}

/// What an entry is called.
pub(crate) struct NamedEntry {
    pub credential_id: String,
    pub type_id: String,
}
