//! The records of held credentials, and the search for them.

use std::collections::VecDeque;

use selfsame_anoncreds::format::{Credential, IssuerId, Schema};
use selfsame_anoncreds_roles::HeldCredential;
use selfsame_crypto::SecretString;
use selfsame_driver::record::decode;
use selfsame_driver::{Error, Result};
use selfsame_store::{Page, Record, Store, Tag, TenantId};
use serde::{Deserialize, Serialize};

use crate::error::refused;
use crate::view::CredentialInfo;
use crate::{secret_text, wql};

/// The kind of their records.
pub(crate) const CREDENTIAL: &str = "anoncreds_credential";
/// The most tags that a record has, and the most bytes of one.
const TAGS_MAX: usize = 32;
const TAG_BYTES_MAX: usize = 2_048;
/// Records read at once at most.
const STEP_MAX: usize = 50;

/// A credential as it is stored.
#[derive(Deserialize, Serialize)]
pub(crate) struct HeldRecord {
    /// What controllers see.
    pub(crate) info: CredentialInfo,
    /// Its schema.
    pub(crate) schema: Schema,
    /// Its issuer.
    pub(crate) issuer_id: IssuerId,
    /// The JSON of the credential.
    #[serde(serialize_with = "secret_text::exposed")]
    credential: SecretString,
}

/// A credential that was found, and its place in the order of insertion.
pub(crate) struct FoundCredential {
    pub(crate) record: HeldRecord,
    pub(crate) seq: u64,
}

/// Where to search, newest first.
pub(crate) struct HeldSearch<'a> {
    pub(crate) store: &'a Store,
    pub(crate) tenant: &'a TenantId,
    /// The tags of which what is found has one; `None` to look at all.
    pub(crate) leads: Option<Vec<Tag>>,
    /// The cursor to go on after.
    pub(crate) after: Option<&'a str>,
}

/// The records with one tag, or all, read a few at a time.
struct Lead {
    tag: Option<Tag>,
    read: VecDeque<Record>,
    next: Option<Page>,
}

impl HeldRecord {
    pub(crate) fn new(
        info: CredentialInfo,
        schema: Schema,
        issuer_id: IssuerId,
        held: &HeldCredential,
    ) -> Result<Self> {
        let json = String::from_utf8(held.json().expose().to_vec()).map_err(Error::internal)?;
        Ok(Self {
            info,
            schema,
            issuer_id,
            credential: SecretString::from(json),
        })
    }

    /// The credential itself.
    pub(crate) fn opened(&self) -> Result<HeldCredential> {
        HeldCredential::from_json(self.credential.expose().as_bytes()).map_err(refused)
    }

    /// The tags by which it is stored. If its attributes are too many or too long for that, one tag stands for all of theirs.
    pub(crate) fn stored_tags(&self) -> Vec<Tag> {
        let mut tags = self.tags();
        if tags.len() > TAGS_MAX || tags.iter().any(|tag| bytes(tag) > TAG_BYTES_MAX) {
            tags.retain(|tag| !wql::is_of_attribute(tag));
            tags.push(wql::wide());
        }
        tags
    }

    /// The tags by which queries judge it.
    pub(crate) fn tags(&self) -> Vec<Tag> {
        let (info, schema) = (&self.info, &self.schema);
        let mut tags = vec![
            Tag::hashed("schema_id", &info.schema_id),
            Tag::hashed("schema_issuer", schema.issuer_id.as_str()),
            Tag::hashed("schema_name", &schema.name),
            Tag::hashed("schema_version", &schema.version),
            Tag::hashed("issuer", self.issuer_id.as_str()),
            Tag::hashed("cred_def_id", &info.cred_def_id),
        ];
        tags.extend(
            info.rev_reg_id
                .as_ref()
                .map(|id| Tag::hashed("rev_reg_id", id)),
        );
        for (name, value) in &info.attrs {
            tags.push(wql::marker(name));
            tags.push(wql::value_of(name, value));
        }
        tags
    }
}

fn bytes(tag: &Tag) -> usize {
    let (Tag::Hashed { name, value } | Tag::Plain { name, value }) = tag;
    name.len().saturating_add(value.len())
}

/// What controllers see of a credential.
pub(crate) fn info(referent: String, credential: &Credential) -> CredentialInfo {
    let values = credential.values.0.iter();
    let index = credential.revocation_index();
    CredentialInfo {
        referent,
        attrs: values
            .map(|(name, value)| (name.clone(), value.raw.clone()))
            .collect(),
        schema_id: credential.schema_id.to_string(),
        cred_def_id: credential.cred_def_id.to_string(),
        rev_reg_id: credential.rev_reg_id.as_ref().map(ToString::to_string),
        cred_rev_id: index.map(|index| index.to_string()),
    }
}

impl HeldSearch<'_> {
    /// The newest credentials that fit, at most as many as asked for.
    pub(crate) async fn find(
        &self,
        most: usize,
        mut fits: impl FnMut(&HeldRecord) -> Result<bool>,
    ) -> Result<Vec<FoundCredential>> {
        let page = Page::newest(most.clamp(1, STEP_MAX));
        let page = match self.after {
            Some(cursor) => page.after(cursor),
            None => page,
        };
        let lead = |tag| Lead {
            tag,
            read: VecDeque::new(),
            next: Some(page.clone()),
        };
        let mut leads: Vec<Lead> = match &self.leads {
            Some(tags) => tags.iter().cloned().map(Some).map(lead).collect(),
            None => vec![lead(None)],
        };
        let mut found: Vec<FoundCredential> = Vec::new();
        let mut last = None;
        while found.len() < most {
            let Some(record) = self.newest(&mut leads).await? else {
                break;
            };
            // A record with two of the tags comes twice.
            if last.replace(record.seq) == Some(record.seq) {
                continue;
            }
            let held: HeldRecord = decode(&record.value)?;
            if fits(&held)? {
                let (record, seq) = (held, record.seq);
                found.push(FoundCredential { record, seq });
            }
        }
        Ok(found)
    }

    /// The newest record that no lead has given yet.
    async fn newest(&self, leads: &mut [Lead]) -> Result<Option<Record>> {
        for lead in leads.iter_mut() {
            self.fill(lead).await?;
        }
        let newest = leads
            .iter_mut()
            .filter(|lead| !lead.read.is_empty())
            .max_by_key(|lead| lead.read.front().map(|record| record.seq));
        Ok(newest.and_then(|lead| lead.read.pop_front()))
    }

    async fn fill(&self, lead: &mut Lead) -> Result<()> {
        if !lead.read.is_empty() {
            return Ok(());
        }
        let Some(page) = lead.next.take() else {
            return Ok(());
        };
        let (store, tenant) = (self.store, self.tenant);
        let records = match &lead.tag {
            Some(tag) => store.find(tenant, CREDENTIAL, tag, &page).await?,
            None => store.list(tenant, CREDENTIAL, &page).await?,
        };
        if records.len() == page.limit
            && let Some(last) = records.last()
        {
            let further = Page::newest(STEP_MAX).after(last.cursor());
            lead.next = Some(further);
        }
        lead.read = records.into();
        Ok(())
    }
}
