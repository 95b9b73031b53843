//! The list of issuers that an organisation adds for its verifier. The verifier also trusts the issuers that the instance
//! trusts.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use selfsame_credential::verdict::can_name_issuer;
use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash::sha256;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::{Batch, Expect, Put, StoreError, TenantId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::shared::Shared;
use crate::trust::Trusted;
use crate::view::readable;

/// The kind and the id of the record with the list.
const TRUST: &str = "organisation_trust";
const LIST: &str = "issuers";
/// Maximum number of issuers of a list.
const ISSUERS_MAX: usize = 200;
/// Maximum number of bytes of an identifier, and of a type.
const IDENTIFIER_MAX: usize = 2_000;
/// Maximum number of characters of a name.
const NAME_MAX: usize = 100;
/// Maximum number of types of an issuer.
const TYPES_MAX: usize = 50;
/// Number of bytes of an entry's id.
const ID_BYTES: usize = 16;

/// An issuer that the verifier of an organisation trusts, in addition to those that the instance trusts.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct TrustedIssuer {
    /// Its id in this list.
    pub id: String,
    /// Its identifier: a DID, an https URL, or the name of a certificate (`x509_san_dns:` or `x509_hash:`).
    pub issuer: String,
    /// Its name for the people of the organisation.
    pub name: String,
    /// The types of credentials (`vct`, or W3C types) that are accepted from it; empty for every type.
    pub types: Vec<String>,
    /// When it was added or changed, RFC 3339.
    pub added: String,
}

/// An issuer to trust.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTrustedIssuer {
    /// Its identifier: a DID, an https URL, or the name of a certificate (`x509_san_dns:` or `x509_hash:`).
    pub issuer: String,
    /// Its name for the people of the organisation, 100 characters at most.
    pub name: String,
    /// The types of credentials (`vct`, or W3C types except `VerifiableCredential`) to accept from it; empty, the
    /// default, for every type.
    #[serde(default)]
    pub types: Vec<String>,
}

/// The list of trusted issuers of one organisation.
pub struct OrganisationTrust {
    shared: Arc<Shared>,
    tenant: TenantId,
    held: RwLock<Arc<TrustList>>,
}

/// A list of trusted issuers as it was read last, and the version of its record.
#[derive(Default)]
pub struct TrustList {
    version: Option<u64>,
    /// The issuers, in the order in which they were added.
    pub entries: Vec<TrustedIssuer>,
}

/// What a verifier trusts in all.
pub struct TrustInAll {
    /// The issuers.
    pub issuers: Vec<String>,
    /// The types that an issuer may issue, if it is listed.
    pub types: BTreeMap<String, Vec<String>>,
}

impl OrganisationTrust {
    /// The list of the organisation whose verifier has this tenant.
    #[must_use]
    pub fn new(shared: Arc<Shared>, tenant: TenantId) -> Self {
        Self {
            shared,
            tenant,
            held: RwLock::default(),
        }
    }

    /// The list as it was last read. A verification that uses this list must first call [`Self::now`].
    #[must_use]
    pub fn latest(&self) -> Arc<TrustList> {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        held.clone()
    }

    /// The list as it is now. If it can't be read, no credential may be verified.
    ///
    /// # Errors
    /// The store's.
    pub async fn now(&self) -> Result<Arc<TrustList>> {
        let (store, tenant) = (&self.shared.store, &self.tenant);
        let version = store.version(tenant, TRUST, LIST).await?;
        let held = self.latest();
        if held.version == version {
            return Ok(held);
        }
        let list = match store.read(tenant, TRUST, LIST).await? {
            Some(record) => TrustList {
                version: Some(record.version),
                entries: decode(&record.value)?,
            },
            None => TrustList::default(),
        };
        let list = Arc::new(list);
        *self.held.write().unwrap_or_else(PoisonError::into_inner) = list.clone();
        Ok(list)
    }

    /// Trusts an issuer; one that is trusted already gets this name and these types.
    ///
    /// # Errors
    /// `BadRequest` for a malformed identifier, name or type; `Conflict` if the list is full, or if others change the list
    /// at the same time.
    pub async fn trust(&self, new: &NewTrustedIssuer) -> Result<TrustedIssuer> {
        let added = self.shared.clock.now().rfc3339();
        let entry = checked(new, added)?;
        let now = self.now().await?;
        let mut entries = now.entries.clone();
        let is_full = entries.len() >= ISSUERS_MAX;
        match entries.iter_mut().find(|known| known.id == entry.id) {
            Some(known) => *known = entry.clone(),
            None if is_full => {
                return Err(
                    Error::new(ErrorKind::Conflict, "trust-full").with("maximum", &ISSUERS_MAX)
                );
            }
            None => entries.push(entry.clone()),
        }
        self.store(now.version, &entries).await?;
        Ok(entry)
    }

    /// Trusts an issuer no longer. Earlier verdicts are not revised.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` if others change the list at the same time.
    pub async fn distrust(&self, id: &str) -> Result<()> {
        let now = self.now().await?;
        let mut entries = now.entries.clone();
        entries.retain(|known| known.id != id);
        if entries.len() == now.entries.len() {
            return Err(Error::not_found("trust-unknown"));
        }
        self.store(now.version, &entries).await
    }

    async fn store(&self, seen: Option<u64>, entries: &[TrustedIssuer]) -> Result<()> {
        let expected = seen.map_or(Expect::Absent, Expect::Version);
        let batch = Batch::new(self.tenant.clone())
            .expect(TRUST, LIST, expected)
            .put(Put::new(TRUST, LIST, encode(&entries)?));
        match self.shared.store.commit(batch).await {
            Ok(_) => Ok(()),
            Err(StoreError::Conflict { .. }) => {
                Err(Error::new(ErrorKind::Conflict, "organisation-changed"))
            }
            Err(other) => Err(other.into()),
        }
    }
}

impl TrustInAll {
    /// What the instance trusts, the organisation's own issuer, and what the organisation adds.
    #[must_use]
    pub fn of(instance: &Trusted, own: &[String], entries: &[TrustedIssuer]) -> Self {
        let mut all = Self {
            issuers: [&instance.issuers[..], own].concat(),
            types: instance.types.clone(),
        };
        for entry in entries {
            all.add(entry);
        }
        all
    }

    fn add(&mut self, entry: &TrustedIssuer) {
        let is_new = !self.issuers.contains(&entry.issuer);
        if is_new {
            self.issuers.push(entry.issuer.clone());
        }
        match self.types.get_mut(&entry.issuer) {
            // An issuer without a list of types is trusted for all.
            Some(_) if entry.types.is_empty() => drop(self.types.remove(&entry.issuer)),
            Some(types) => types.extend(entry.types.iter().cloned()),
            None if is_new && !entry.types.is_empty() => {
                self.types.insert(entry.issuer.clone(), entry.types.clone());
            }
            None => {}
        }
    }
}

fn checked(new: &NewTrustedIssuer, added: String) -> Result<TrustedIssuer> {
    let issuer = new.issuer.trim();
    if issuer.len() > IDENTIFIER_MAX || !can_name_issuer(issuer) {
        return Err(Error::bad_request("trust-issuer-malformed"));
    }
    let name = new.name.trim();
    let is_short = (1..=NAME_MAX).contains(&name.chars().count());
    if !is_short || name.chars().any(char::is_control) || readable(name) != name {
        return Err(Error::bad_request("trust-name-malformed").with("maximum", &NAME_MAX));
    }
    let is_type = |name: &String| {
        let is_short = (1..=IDENTIFIER_MAX).contains(&name.len());
        is_short && name.bytes().all(|byte| byte.is_ascii_graphic())
    };
    if new.types.len() > TYPES_MAX || !new.types.iter().all(is_type) {
        return Err(Error::bad_request("trust-types-malformed").with("maximum", &TYPES_MAX));
    }
    let digest = hex_encode(&sha256(issuer.as_bytes()));
    Ok(TrustedIssuer {
        id: digest.chars().take(2 * ID_BYTES).collect(),
        issuer: issuer.to_owned(),
        name: name.to_owned(),
        types: new.types.clone(),
        added,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NAMES: [&str; 3] = [
        "did:web:a.example",
        "https://b.example",
        "x509_san_dns:c.example",
    ];
    const TYPES: [&str; 3] = ["x", "y", "z"];

    fn entry(issuer: &str, types: &[&str]) -> TrustedIssuer {
        let new = NewTrustedIssuer {
            issuer: issuer.to_owned(),
            name: "Somebody".to_owned(),
            types: types.iter().map(|name| (*name).to_owned()).collect(),
        };
        checked(&new, String::new()).unwrap()
    }

    fn trusts(all: &TrustInAll, issuer: &str, name: &str) -> bool {
        let is_listed = all.issuers.iter().any(|known| known == issuer);
        let types = all.types.get(issuer);
        is_listed && types.is_none_or(|types| types.iter().any(|known| known == name))
    }

    fn some_types() -> impl Strategy<Value = Vec<&'static str>> {
        proptest::sample::subsequence(TYPES.to_vec(), 0..=TYPES.len())
    }

    fn some_entries() -> impl Strategy<Value = Vec<(&'static str, Vec<&'static str>)>> {
        let one = (proptest::sample::select(NAMES.to_vec()), some_types());
        proptest::collection::vec(one, 0..5)
    }

    proptest! {
        #[test]
        fn an_organisation_trusts_what_its_instance_or_its_own_list_trusts_and_nothing_else(
            instance in some_entries(),
            entries in some_entries(),
        ) {
            let mut trusted = Trusted::default();
            for (issuer, types) in &instance {
                if trusted.issuers.iter().any(|known| known == issuer) {
                    continue;
                }
                trusted.issuers.push((*issuer).to_owned());
                if !types.is_empty() {
                    let types = types.iter().map(|name| (*name).to_owned()).collect();
                    trusted.types.insert((*issuer).to_owned(), types);
                }
            }
            let alone = TrustInAll::of(&trusted, &[], &[]);
            let entries: Vec<_> =
                entries.iter().map(|(issuer, types)| entry(issuer, types)).collect();
            let all = TrustInAll::of(&trusted, &[], &entries);
            for issuer in NAMES {
                for name in TYPES {
                    let adds = |entry: &TrustedIssuer| {
                        let is_of_all = entry.types.is_empty();
                        entry.issuer == issuer
                            && (is_of_all || entry.types.iter().any(|known| known == name))
                    };
                    let expected = trusts(&alone, issuer, name) || entries.iter().any(adds);
                    prop_assert_eq!(trusts(&all, issuer, name), expected);
                }
            }
        }
    }

    #[test]
    fn the_organisations_own_issuer_is_trusted_for_every_type() {
        let own = ["did:web:own.example".to_owned()];
        let all = TrustInAll::of(&Trusted::default(), &own, &[entry(&own[0], &["x"])]);
        assert!(trusts(&all, &own[0], "x") && trusts(&all, &own[0], "y"));
        assert!(!trusts(&all, "did:web:other.example", "x"));
    }

    #[test]
    fn an_entry_names_an_issuer_in_full() {
        let refused = |issuer: &str, name: &str, types: &[&str]| {
            let new = NewTrustedIssuer {
                issuer: issuer.to_owned(),
                name: name.to_owned(),
                types: types.iter().map(|name| (*name).to_owned()).collect(),
            };
            let refused = checked(&new, String::new()).err();
            refused.map(|error| error.reason.id().to_owned())
        };
        let issuer = "did:web:a.example";
        for known in NAMES {
            assert_eq!(refused(known, "A", &["urn:x"]), None, "{known}");
        }
        for wrong in [
            "",
            "a.example",
            "did:web",
            "x509_san_dns:",
            "ftp://a.example",
            "javascript:x",
        ] {
            let told = refused(wrong, "A", &[]);
            assert_eq!(told.as_deref(), Some("trust-issuer-malformed"), "{wrong}");
        }
        let told = refused(issuer, "\u{202e}A", &[]);
        assert_eq!(told.as_deref(), Some("trust-name-malformed"));
        let told = refused(issuer, "A", &["two words"]);
        assert_eq!(told.as_deref(), Some("trust-types-malformed"));
    }
}
