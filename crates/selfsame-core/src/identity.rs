//! An organisation's identity on this instance: its DID, its key, and its anchoring in the registry.

use selfsame_crypto::{Algorithm, KeyHandle, KeyType, PublicKey};
use selfsame_did::method::Origin;
use selfsame_did::{Did, Document, Representation, jwk};
use selfsame_driver::hsm::HsmKey;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_store::{Batch, Expect, Put, StoreError, TenantId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::config::{DidMethod, NamedDid};
use crate::shared::Shared;

/// The kind of the records of identities.
pub const IDENTITY: &str = "identity";
/// The fragment of the only key in documents that are made here.
pub const KEY_FRAGMENT: &str = "key-1";

/// A signer: an issuer or a verifier of this instance.
pub struct Identity {
    tenant: TenantId,
    did: Did,
    key: KeyHandle,
    public: PublicKey,
    kid: String,
    portable: Option<Did>,
}

#[derive(Deserialize, Serialize)]
struct IdentityRecord {
    did: Did,
    key: KeyHandle,
    kid: String,
    /// Older data have none and keep none: a list signed by another issuer revokes nothing of theirs.
    #[serde(default)]
    portable: Option<Did>,
}

/// What an identity is created from at the first start.
pub struct Wish<'a> {
    /// The tenant that holds its key.
    pub tenant: TenantId,
    /// The method of its DID, if the settings name one.
    pub method: Option<DidMethod>,
    /// The URL below which the document of a `did:web` is hosted.
    pub web_url: &'a str,
    /// An existing DID.
    pub existing: Option<&'a str>,
    /// The DID to name in what it signs.
    pub named: NamedDid,
    /// Its key.
    pub key: WishedKey<'a>,
}

/// The key that an identity is created with.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WishedKey<'a> {
    /// A new one, sealed in the store.
    Sealed,
    /// A new one of this type in the hardware security module.
    NewInHsm(KeyType),
    /// The one with this label in the hardware security module.
    InHsm(&'a str),
}

impl<'a> WishedKey<'a> {
    /// The key with this label in the hardware security module, or a new one that is sealed in the store.
    #[must_use]
    pub fn labelled(label: Option<&'a str>) -> Self {
        label.map_or(Self::Sealed, Self::InHsm)
    }

    /// The key's public half and its handle, with the batch that stores it for the tenant.
    async fn made(
        self,
        shared: &Shared,
        tenant: &TenantId,
        batch: Batch,
    ) -> Result<(PublicKey, KeyHandle, Batch)> {
        let keys = &shared.keys;
        let (label, public) = match self {
            Self::Sealed => {
                let (key, handle, batch) = keys.create(tenant, KeyType::P256, batch)?;
                return Ok((key.public().clone(), handle, batch));
            }
            Self::NewInHsm(kind) => {
                // A tenant's id is random, so that no other instance on the module has this label.
                let label = format!("selfsame-{tenant}");
                let public = keys.hsm()?.create(&label, kind).await?;
                (label, public)
            }
            Self::InHsm(label) => (label.to_owned(), keys.hsm()?.find(label).await?),
        };
        let key = HsmKey::new(&label, public.clone());
        let (handle, batch) = keys.adopt_from_hsm(tenant, &key, batch)?;
        Ok((public, handle, batch))
    }

    /// Checks that the settings agree with the key of the first start, and that the module still has that key.
    async fn agrees_with(self, shared: &Shared, tenant: &TenantId, kept: &KeyHandle) -> Result<()> {
        let Self::InHsm(told) = self else {
            return Ok(());
        };
        let Some(key) = shared.keys.in_hsm(tenant, kept).await? else {
            return Err(Error::bad_request("issuer-key-sealed").with("told", told));
        };
        let found = match key.label() == told {
            true => shared.keys.hsm()?.find(told).await?,
            false => {
                return Err(Error::bad_request("issuer-key-other")
                    .with("kept", key.label())
                    .with("told", told));
            }
        };
        match found == *key.public() {
            true => Ok(()),
            false => Err(Error::bad_request("issuer-key-replaced").with("told", told)),
        }
    }
}

impl Wish<'_> {
    /// Checks that the settings agree with the DID of the first start, which all that was issued names.
    fn agrees_with(&self, kept: &Did) -> Result<()> {
        match self.existing {
            Some(told) if told != kept.as_str() => Err(Error::bad_request("issuer-did-other")
                .with("kept", kept)
                .with("told", told)),
            None => {
                if let Some(told) = self.method.filter(|told| told.name() != kept.method()) {
                    tracing::warn!(
                        "did_method is `{}` for {}, but this data directory already has a DID, which stays: {kept}",
                        told.name(),
                        self.web_url
                    );
                }
                Ok(())
            }
            Some(_) => Ok(()),
        }
    }

    /// The DID that any party can resolve, beside a DID that was created here and that few can resolve.
    fn portable(&self, did: &Did, public: &PublicKey) -> Option<Did> {
        let is_wanted = self.named == NamedDid::Portable && self.existing.is_none();
        (is_wanted && !is_portable(did)).then(|| jwk::create(public))
    }
}

/// Whether any party can resolve DIDs of this method.
pub fn is_portable(did: &Did) -> bool {
    did.origin().is_portable()
}

/// Parses a DID that existed before the key that is now made for it.
fn of_another_key(existing: &str) -> Result<Did> {
    let did = Did::parse(existing)
        .map_err(|error| Error::bad_request("issuer-did-malformed").with("detail", &error))?;
    // DIDs of these methods are one key, and this issuer's key has only just been made.
    if did.origin() == Origin::Itself {
        return Err(Error::bad_request("issuer-did-of-other-key")
            .with("did", &did)
            .with("method", did.method()));
    }
    Ok(did)
}

impl Identity {
    /// The identity in the store, or a new one.
    ///
    /// # Errors
    /// `BadRequest` for settings that can't work, and the store's errors.
    pub async fn open(shared: &Shared, wish: &Wish<'_>) -> Result<Self> {
        if let Some(kept) = Self::kept(shared, wish).await? {
            return Ok(kept);
        }
        let batch = Batch::new(wish.tenant.clone()).expect(IDENTITY, "own", Expect::Absent);
        let (public, handle, batch) = wish.key.made(shared, &wish.tenant, batch).await?;
        let did = match wish.existing {
            Some(existing) => of_another_key(existing)?,
            None => {
                let unless_named = DidMethod::unless_named(shared.registry.is_some());
                let method = wish.method.unwrap_or(unless_named);
                let (name, url) = (method.name(), wish.web_url);
                shared.new_did(name, &public, url).await?
            }
        };
        let kid = kid_of(&did);
        let record = IdentityRecord {
            portable: wish.portable(&did, &public),
            did,
            key: handle,
            kid,
        };
        let batch = batch.put(Put::new(IDENTITY, "own", encode(&record)?));
        match shared.store.commit(batch).await {
            Ok(_) => Self::of(shared, wish.tenant.clone(), record).await,
            // Another process on the same store was faster.
            Err(StoreError::Conflict { .. }) => {
                let kept = Self::kept(shared, wish).await?;
                kept.ok_or_else(|| Error::internal("an identity came and went"))
            }
            Err(other) => Err(other.into()),
        }
    }

    async fn kept(shared: &Shared, wish: &Wish<'_>) -> Result<Option<Self>> {
        let Some(record) = shared.store.read(&wish.tenant, IDENTITY, "own").await? else {
            return Ok(None);
        };
        let kept: IdentityRecord = decode(&record.value)?;
        wish.agrees_with(&kept.did)?;
        let agreed = wish.key.agrees_with(shared, &wish.tenant, &kept.key);
        agreed.await?;
        let kept = Self::of(shared, wish.tenant.clone(), kept).await?;
        Ok(Some(kept))
    }

    async fn of(shared: &Shared, tenant: TenantId, record: IdentityRecord) -> Result<Self> {
        Ok(Self {
            public: shared.keys.public(&tenant, &record.key).await?,
            tenant,
            did: record.did,
            key: record.key,
            kid: record.kid,
            portable: record.portable,
        })
    }

    /// The tenant that holds its key.
    #[must_use]
    pub fn tenant(&self) -> &TenantId {
        &self.tenant
    }

    /// Its DID.
    #[must_use]
    pub fn did(&self) -> &Did {
        &self.did
    }

    /// The handle of its key.
    #[must_use]
    pub fn key(&self) -> &KeyHandle {
        &self.key
    }

    /// Its public key.
    #[must_use]
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// The DID URL of its key.
    #[must_use]
    pub fn kid(&self) -> &str {
        &self.kid
    }

    /// The `did:jwk` of its key, if few can resolve its own DID and the settings ask for this one.
    #[must_use]
    pub fn portable(&self) -> Option<&Did> {
        self.portable.as_ref()
    }

    /// The DIDs that may be named in what it signs.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let both = self.portable.iter().chain([&self.did]);
        both.map(|did| did.as_str().to_owned()).collect()
    }

    /// Its DID document, if its method hosts the document at this instance.
    ///
    /// # Errors
    /// `NotFound` for a DID of another method, whose document is not hosted here.
    pub fn document(&self) -> Result<Value> {
        if self.did.origin() != Origin::Host {
            return Err(Error::not_found("did-not-hosted"));
        }
        let mut document = Document::new(self.did.clone());
        let added = document.add_key(KEY_FRAGMENT, &self.public, true);
        added.map_err(Error::internal)?;
        Ok(document.to_value(Representation::Did))
    }

    /// The algorithm of its signatures.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        self.public.key_type().default_algorithm()
    }
}

/// The DID URL of a DID's own key, by the rule of its method.
pub fn kid_of(did: &Did) -> String {
    let fixed = did.kid();
    fixed.unwrap_or_else(|| format!("{did}#{KEY_FRAGMENT}"))
}

#[cfg(test)]
mod tests {
    use selfsame_crypto::PrivateKey;

    use super::*;

    fn wish(existing: Option<&str>) -> Wish<'_> {
        Wish {
            tenant: TenantId::instance(),
            method: Some(DidMethod::of(&selfsame_did::web::METHOD)),
            web_url: "https://issuer.example/issuer",
            existing,
            named: NamedDid::Portable,
            key: WishedKey::Sealed,
        }
    }

    #[test]
    fn the_did_of_an_issuer_that_has_issued_is_not_changed_by_a_setting() {
        let kept = Did::parse("did:web:issuer.example").unwrap();
        assert!(wish(None).agrees_with(&kept).is_ok());
        assert!(
            wish(Some("did:web:issuer.example"))
                .agrees_with(&kept)
                .is_ok()
        );
        let refused = wish(Some("did:web:other.example")).agrees_with(&kept);
        let refused = refused.unwrap_err();
        assert_eq!(
            refused.to_string(),
            "issuer-did-other (kept: did:web:issuer.example, told: did:web:other.example)"
        );
    }

    #[test]
    fn data_of_an_earlier_build_go_by_the_did_that_they_have() {
        let key = PrivateKey::generate(KeyType::P256).unwrap();
        let public = key.public();
        let did = Did::parse("did:selfsame:test:abc").unwrap();
        let record = serde_json::json!({
            "did": did, "key": KeyHandle::of(public), "kid": format!("{did}#{KEY_FRAGMENT}"),
        });
        let kept: IdentityRecord = serde_json::from_value(record).unwrap();
        assert_eq!(kept.portable, None);
        // New data have a second DID, unless the settings exclude that or any party can resolve the first.
        let portable = wish(None).portable(&did, public).unwrap();
        assert_eq!(portable, jwk::create(public));
        let own = Wish {
            named: NamedDid::Own,
            ..wish(None)
        };
        assert_eq!(own.portable(&did, public), None);
        assert_eq!(wish(Some(did.as_str())).portable(&did, public), None);
        for did in [
            jwk::create(public),
            Did::parse("did:web:a.example").unwrap(),
        ] {
            assert_eq!(wish(None).portable(&did, public), None);
        }
    }

    #[test]
    fn a_did_that_is_another_key_is_not_the_issuers() {
        let key = PrivateKey::generate(KeyType::P256).unwrap();
        for did in [
            selfsame_did::key::create(key.public()),
            jwk::create(key.public()),
        ] {
            let refused = of_another_key(did.as_str()).unwrap_err();
            assert_eq!(refused.reason.id(), "issuer-did-of-other-key");
        }
        assert!(of_another_key("did:web:issuer.example").is_ok());
    }
}
