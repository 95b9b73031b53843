//! The keys that a provider signs with: one of each type in use, the next one published ahead, and former ones for as long
//! as something that they signed is valid.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use selfsame_core::Shared;
use selfsame_crypto::jws::Unsigned;
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{Algorithm, Jwk, KeyHandle, KeyType, PrivateKey, PublicKey};
use selfsame_driver::hsm::HsmKey;
use selfsame_driver::keys::KeyPlacement;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_oauth::jwt::{Jwt, VerificationKeys};
use selfsame_oidc::token::TokenKey;
use selfsame_store::{Batch, Expect, Put, StoreError, TenantId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The kind of the record of a provider's keys.
pub const KEY_SET: &str = "oidc_keys";
const OWN: &str = "own";
/// The types of keys that a provider has.
const KINDS: [KeyType; 3] = [KeyType::P256, KeyType::Ed25519, KeyType::Rsa];
/// Seconds for which a former key stays published: longer than any token is valid.
const KEPT_FOR: u64 = 86_400;
/// Seconds for which another process may still use the keys from before a rotation. They stay published for longer.
const FRESH_FOR: u64 = 30;

#[derive(Clone, Deserialize, Serialize)]
struct KeySetRecord {
    keys: Vec<ProviderKey>,
    /// The secret that subjects are made with. It never changes.
    subjects: [u8; 32],
}

#[derive(Clone, Deserialize, Serialize)]
struct ProviderKey {
    handle: KeyHandle,
    #[serde(rename = "type")]
    kind: KeyType,
    public: Value,
    use_: KeyUse,
}

/// What a key is used for.
#[derive(Clone, Copy, Deserialize, Eq, PartialEq, Serialize)]
enum KeyUse {
    Next,
    Current,
    Former { until: UnixTime },
}

/// A provider's keys as they are used.
pub(crate) struct KeySet {
    /// The public keys.
    pub published: VerificationKeys,
    /// The secret that subjects are made with.
    pub subjects: SealingKey,
    current: Vec<ProviderKey>,
}

/// The keys of the providers of one instance.
pub(crate) struct KeySets {
    slots: Mutex<HashMap<TenantId, KeySetSlot>>,
    /// Whether new keys are made in the hardware security module.
    in_hsm: bool,
}

/// One caller reads or makes a provider's keys, the others wait for it: RSA keys are expensive.
type KeySetSlot = Arc<tokio::sync::Mutex<Option<HeldKeySet>>>;

struct HeldKeySet {
    set: Arc<KeySet>,
    read: UnixTime,
}

impl KeySet {
    fn of(record: &KeySetRecord, now: UnixTime) -> Result<Self> {
        let is_known = |key: &&ProviderKey| match key.use_ {
            KeyUse::Former { until } => until > now,
            KeyUse::Next | KeyUse::Current => true,
        };
        let public = record.keys.iter().filter(is_known).map(|key| {
            let jwk = Jwk::from_value(&key.public).map_err(Error::internal)?;
            Ok(Jwk {
                use_: Some("sig".to_owned()),
                ..jwk.with_kid(key.handle.as_str())
            })
        });
        let is_current = |key: &&ProviderKey| key.use_ == KeyUse::Current;
        Ok(Self {
            published: VerificationKeys::of(public.collect::<Result<_>>()?),
            subjects: SealingKey::from_bytes(record.subjects),
            current: record.keys.iter().filter(is_current).cloned().collect(),
        })
    }

    /// The key that signs with this algorithm.
    pub fn key(&self, alg: Algorithm) -> Result<TokenKey> {
        let found = self.find(alg)?;
        Ok(TokenKey {
            kid: found.handle.as_str().to_owned(),
            alg,
        })
    }

    fn find(&self, alg: Algorithm) -> Result<&ProviderKey> {
        let mut current = self.current.iter();
        let found = current.find(|key| key.kind == alg.key_type());
        found.ok_or_else(|| Error::internal("a provider has no key of this type"))
    }
}

/// A token that waits for its signature.
pub(crate) struct TokenDraft {
    /// The algorithm.
    pub alg: Algorithm,
    /// The token.
    pub draft: Unsigned,
}

/// Keys that were made, and the batch that stores them.
struct MadeKeys {
    public: Vec<PublicKey>,
    batch: Batch,
}

impl KeySets {
    pub fn new(in_hsm: bool) -> Self {
        Self {
            slots: Mutex::default(),
            in_hsm,
        }
    }

    /// The keys of a provider, made at their first use.
    ///
    /// # Errors
    /// The store's.
    pub async fn of(&self, shared: &Shared, tenant: &TenantId) -> Result<Arc<KeySet>> {
        let slot = self.slot(tenant);
        let mut held = slot.lock().await;
        let now = shared.clock.now();
        if let Some(held) = held.as_ref()
            && now.seconds_since(held.read) < FRESH_FOR
        {
            return Ok(held.set.clone());
        }
        let record = match kept(shared, tenant).await? {
            Some((record, _)) => record,
            None => self.begun(shared, tenant).await?,
        };
        Ok(held.insert(HeldKeySet::of(&record, now)?).set.clone())
    }

    /// The keys of a provider, read again if this token names one that is not known: another process may have rotated them
    /// since.
    ///
    /// # Errors
    /// The store's.
    pub async fn for_token(
        &self,
        shared: &Shared,
        tenant: &TenantId,
        token: &str,
    ) -> Result<Arc<KeySet>> {
        let set = self.of(shared, tenant).await?;
        let named = Jwt::parse(token)
            .ok()
            .and_then(|jwt| jwt.header().kid.clone());
        let mut known = set.published.keys().iter();
        if named.is_none() || known.any(|key| key.kid == named) {
            return Ok(set);
        }
        *self.slot(tenant).lock().await = None;
        self.of(shared, tenant).await
    }

    /// Signs a token. RSA signatures are made in the pool.
    ///
    /// # Errors
    /// `Unavailable` if a hardware security module can't sign now; the store's.
    pub async fn sign(
        &self,
        shared: &Shared,
        tenant: &TenantId,
        token: TokenDraft,
    ) -> Result<String> {
        let set = self.of(shared, tenant).await?;
        let handle = &set.find(token.alg)?.handle;
        let (alg, draft) = (token.alg, token.draft);
        let key = match shared.keys.place(tenant, handle).await? {
            KeyPlacement::Unsealed(key) => key,
            KeyPlacement::InHsm(key) => {
                let keys = &shared.keys;
                let signature = keys.sign_in_hsm(&key, alg, draft.signing_input()).await?;
                return Ok(draft.finish(&signature));
            }
        };
        let signed = move || {
            let signature = key.sign_with(alg, draft.signing_input());
            signature.map(|signature| draft.finish(&signature))
        };
        let signed = match alg.key_type() {
            KeyType::Rsa => shared.work.run_in_turn(signed).await?,
            _ => signed(),
        };
        signed.map_err(Error::internal)
    }

    /// Signs with the keys that were published as the next ones, and publishes further ones.
    ///
    /// # Errors
    /// The store's; `Conflict` if the keys are being rotated elsewhere.
    pub async fn rotate(&self, shared: &Shared, tenant: &TenantId) -> Result<()> {
        self.of(shared, tenant).await?;
        let kept = kept(shared, tenant).await?;
        let (mut record, version) = kept.ok_or_else(|| Error::internal("no keys were made"))?;
        let now = shared.clock.now();
        record.keys.retain(|key| match key.use_ {
            KeyUse::Former { until } => until > now,
            KeyUse::Next | KeyUse::Current => true,
        });
        for key in &mut record.keys {
            key.use_ = match key.use_ {
                KeyUse::Next => KeyUse::Current,
                KeyUse::Current => KeyUse::Former {
                    until: now.plus(KEPT_FOR),
                },
                former => former,
            };
        }
        let made = self
            .made(shared, tenant, Batch::new(tenant.clone()))
            .await?;
        let next = made.public.iter();
        record
            .keys
            .extend(next.map(|key| ProviderKey::of(key, KeyUse::Next)));
        let value = encode(&record)?;
        let batch = made.batch.update_version(KEY_SET, OWN, version, value);
        shared.store.commit(batch).await?;
        tracing::info!("the keys of an OpenID provider were rotated");
        *self.slot(tenant).lock().await = Some(HeldKeySet::of(&record, now)?);
        Ok(())
    }

    fn slot(&self, tenant: &TenantId) -> KeySetSlot {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.entry(tenant.clone()).or_default().clone()
    }
}

impl HeldKeySet {
    fn of(record: &KeySetRecord, read: UnixTime) -> Result<Self> {
        let set = Arc::new(KeySet::of(record, read)?);
        Ok(Self { set, read })
    }
}

impl ProviderKey {
    fn of(key: &PublicKey, use_: KeyUse) -> Self {
        Self {
            handle: KeyHandle::of(key),
            kind: key.key_type(),
            public: key.to_jwk().to_value(),
            use_,
        }
    }
}

impl KeySets {
    /// Makes a key of each type for the tenant of a batch.
    async fn made(&self, shared: &Shared, tenant: &TenantId, mut batch: Batch) -> Result<MadeKeys> {
        if self.in_hsm {
            return made_in_hsm(shared, tenant, batch).await;
        }
        let made = shared.work.run_in_turn(|| {
            let keys = KINDS.map(|kind| match kind {
                KeyType::Rsa => PrivateKey::generate_rsa(),
                kind => PrivateKey::generate(kind),
            });
            keys.into_iter().collect::<std::result::Result<Vec<_>, _>>()
        });
        let mut public = Vec::new();
        for key in made.await?.map_err(Error::internal)? {
            batch = shared.keys.adopt(tenant, &key, batch)?;
            public.push(key.public().clone());
        }
        Ok(MadeKeys { public, batch })
    }

    /// The first keys of a provider.
    async fn begun(&self, shared: &Shared, tenant: &TenantId) -> Result<KeySetRecord> {
        let mut batch = Batch::new(tenant.clone()).expect(KEY_SET, OWN, Expect::Absent);
        let mut keys = Vec::new();
        for use_ in [KeyUse::Current, KeyUse::Next] {
            let made = self.made(shared, tenant, batch).await?;
            keys.extend(made.public.iter().map(|key| ProviderKey::of(key, use_)));
            batch = made.batch;
        }
        let subjects = shared.clock.ctx().random::<32>("oidc/subjects");
        let record = KeySetRecord { keys, subjects };
        let batch = batch.put(Put::new(KEY_SET, OWN, encode(&record)?));
        match shared.store.commit(batch).await {
            Ok(_) => Ok(record),
            // Another process was faster.
            Err(StoreError::Conflict { .. }) => {
                let kept = kept(shared, tenant).await?;
                let kept = kept.map(|(record, _)| record);
                kept.ok_or_else(|| Error::internal("a provider's keys came and went"))
            }
            Err(other) => Err(other.into()),
        }
    }
}

/// Makes a key of each type in the hardware security module. Labels are drawn: another process may make its own now.
async fn made_in_hsm(shared: &Shared, tenant: &TenantId, mut batch: Batch) -> Result<MadeKeys> {
    let mut public = Vec::new();
    for kind in KINDS {
        let drawn = shared.clock.ctx().token("oidc/key");
        let label = format!("selfsame-{tenant}-{drawn}");
        let made = shared.keys.hsm()?.create(&label, kind).await?;
        let key = HsmKey::new(&label, made.clone());
        (_, batch) = shared.keys.adopt_from_hsm(tenant, &key, batch)?;
        public.push(made);
    }
    Ok(MadeKeys { public, batch })
}

async fn kept(shared: &Shared, tenant: &TenantId) -> Result<Option<(KeySetRecord, u64)>> {
    let record = shared.store.read(tenant, KEY_SET, OWN).await?;
    let read = record.map(|record| Ok((decode(&record.value)?, record.version)));
    read.transpose()
}
