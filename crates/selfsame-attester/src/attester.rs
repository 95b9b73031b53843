//! The attester of the instance's own wallet. Its key is made at its first use and kept in the key store, so what it
//! attests is that the wallet of this instance has a key, and no more.

use selfsame_attestation::made::{AttesterHeader, ClientAttestationDraft, SoftwareKeysDraft};
use selfsame_attestation::trust::KnownAttester;
use selfsame_crypto::jws::Unsigned;
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::x509::CertificateContents;
use selfsame_crypto::{Jwk, KeyHandle, KeyType, PublicKey};
use selfsame_driver::clock::Clock;
use selfsame_driver::keys::{Keys, instance_key};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_oauth::jwt::VerificationKeys;
use selfsame_store::{Batch, Expect, Put, Store, StoreError, TenantId};
use serde::{Deserialize, Serialize};
use url::Url;

/// The kind and the id of the record that names the key.
const KIND: &str = "attester";
const OWN: &str = "own";
/// Seconds for which an attestation of a client or of keys is valid: one offer.
const LIFETIME: u64 = 24 * 3600;
/// How often another process that makes the key at the same time is met before the call fails.
const ATTEMPTS: usize = 3;

/// The id of the record that names the key of a certificate, which goes before.
const CERTIFIED: &str = "certified";

/// The key of an attester and its certificates, as they are stored.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct AttesterKey {
    /// The key, which is the instance's.
    pub key: KeyHandle,
    /// Its certificates (DER), its own first, without the anchor; none if the key is known otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub x5c: Vec<Vec<u8>>,
}

/// The attester of the instance's own wallet.
pub struct Attester {
    store: Store,
    keys: Keys,
    clock: Clock,
    issuer: String,
}

impl Attester {
    /// That of the instance at this address, which is its name.
    #[must_use]
    pub fn new(store: Store, keys: Keys, clock: Clock, origin: &Url) -> Self {
        Self {
            store,
            keys,
            clock,
            issuer: origin.as_str().trim_end_matches('/').to_owned(),
        }
    }

    /// A symmetric key of the instance for one purpose, created at its first use.
    pub(crate) async fn symmetric_key(&self, purpose: &'static str) -> Result<SealingKey> {
        instance_key(&self.store, &self.clock, purpose).await
    }

    /// Its name and its public key, for those who trust it.
    ///
    /// # Errors
    /// The store's.
    pub async fn known(&self) -> Result<KnownAttester> {
        let AttesterKey { key, .. } = self.key().await?;
        let public = self.public(&key).await?;
        let jwk = public.to_jwk().with_kid(key.as_str());
        Ok(KnownAttester {
            issuer: self.issuer.clone(),
            keys: VerificationKeys::of(vec![jwk]),
        })
    }

    /// Attests that an instance of the wallet has this key.
    ///
    /// # Errors
    /// The store's and the key store's.
    pub async fn attest_client(&self, client_id: &str, instance: &PublicKey) -> Result<String> {
        let draft = ClientAttestationDraft {
            attester: &self.issuer,
            client_id,
            instance,
            wallet_name: None,
            lifetime: LIFETIME,
        };
        let now = self.clock.now();
        self.signed(|header| draft.draft(header, now)).await
    }

    /// Attests that the wallet has these keys. It claims no protection, because they have none but the key store's.
    ///
    /// # Errors
    /// The store's and the key store's.
    pub async fn attest_keys(&self, keys: &[&Jwk]) -> Result<String> {
        let draft = SoftwareKeysDraft {
            attester: &self.issuer,
            keys,
            lifetime: LIFETIME,
            nonce: None,
        };
        let now = self.clock.now();
        self.signed(|header| draft.draft(header, now)).await
    }

    async fn signed(
        &self,
        draft: impl FnOnce(&AttesterHeader<'_>) -> Unsigned + Send,
    ) -> Result<String> {
        let AttesterKey { key, x5c } = self.key().await?;
        let public = self.public(&key).await?;
        let draft = draft(&AttesterHeader {
            algorithm: public.key_type().default_algorithm(),
            kid: x5c.is_empty().then_some(key.as_str()),
            x5c: &x5c,
        });
        let tenant = TenantId::instance();
        let signing = self.keys.sign(&tenant, &key, draft.signing_input());
        let signature = signing.await?;
        Ok(draft.finish(&signature))
    }

    /// From now on signs with the key of these certificates, or with a key of its own if there are none.
    ///
    /// # Errors
    /// `BadRequest` if a certificate signed itself, as anchors do (HAIP 1.0 §4.4.1); the store's.
    pub async fn certify(&self, certified: Option<AttesterKey>) -> Result<()> {
        let x5c = certified.iter().flat_map(|one| &one.x5c);
        if x5c.into_iter().any(|der| signed_itself(der)) {
            return Err(Error::bad_request("attester-self-signed"));
        }
        let tenant = TenantId::instance();
        let held = self.store.read(&tenant, KIND, CERTIFIED).await?;
        let batch = Batch::new(tenant);
        let batch = match (certified, held) {
            (None, None) => return Ok(()),
            (None, Some(_)) => batch.delete(KIND, CERTIFIED),
            (Some(certified), _) => batch.put(Put::new(KIND, CERTIFIED, encode(&certified)?)),
        };
        self.store.commit(batch).await?;
        Ok(())
    }

    async fn public(&self, key: &KeyHandle) -> Result<PublicKey> {
        self.keys.public(&TenantId::instance(), key).await
    }

    async fn key(&self) -> Result<AttesterKey> {
        let tenant = TenantId::instance();
        if let Some(record) = self.store.read(&tenant, KIND, CERTIFIED).await? {
            return decode(&record.value);
        }
        for _ in 0..ATTEMPTS {
            if let Some(record) = self.store.read(&tenant, KIND, OWN).await? {
                return decode(&record.value);
            }
            self.made(&tenant).await?;
        }
        Err(Error::internal("the key of the attester can't be kept"))
    }

    /// Makes the key, unless another process was faster.
    async fn made(&self, tenant: &TenantId) -> Result<()> {
        let batch = Batch::new(tenant.clone()).expect(KIND, OWN, Expect::Absent);
        let made = self.keys.create(tenant, KeyType::P256, batch)?;
        let (_, key, batch) = made;
        let put = Put::new(
            KIND,
            OWN,
            encode(&AttesterKey {
                key,
                x5c: Vec::new(),
            })?,
        );
        match self.store.commit(batch.put(put)).await {
            Ok(_) => {
                tracing::info!("the key of the attester was made");
                Ok(())
            }
            Err(StoreError::Conflict { .. }) => Ok(()),
            Err(other) => Err(other.into()),
        }
    }
}

/// Whether a certificate names itself as its issuer.
fn signed_itself(der: &[u8]) -> bool {
    CertificateContents::parse(der).is_some_and(|read| read.issuer == read.subject)
}
