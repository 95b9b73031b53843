//! The clients of a provider: registered, found, changed, removed.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use selfsame_core::Shared;
use selfsame_crypto::SecretString;
use selfsame_crypto::hash::{ct_eq, sha256};
use selfsame_crypto::time::UnixTime;
use selfsame_driver::paging::{Listing, Paging, listing, page};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_oauth::Code;
use selfsame_oidc::{ClientRegistration, Preset, ProviderRules, RelyingParty};
use selfsame_store::{Batch, Expect, Put, StoreError, TenantId};
use serde::{Deserialize, Serialize};

use crate::refusal::{refusal, refuse};

/// The kind of the records of clients.
pub const CLIENT: &str = "oidc_client";

#[derive(Clone, Deserialize, Serialize)]
struct ClientRecord {
    registration: ClientRegistration,
    preset: Preset,
    /// SHA-256 of its secret, which has 256 random bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret: Option<[u8; 32]>,
    /// SHA-256 of the token with which it changes its registration (RFC 7592 §3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    manager: Option<[u8; 32]>,
    /// Whether it may ask about the tokens of all clients.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    reads_tokens: bool,
    made: UnixTime,
    /// The logo that was fetched for it, as a `data:` URI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    logo: Option<String>,
}

/// A client as it was found.
pub struct FoundClient {
    /// The client.
    pub party: RelyingParty,
    /// The rules for it.
    pub rules: ProviderRules,
    /// Its registration.
    pub registration: ClientRegistration,
    /// When it was registered.
    pub made: UnixTime,
    /// The preset of its rules.
    pub preset: Preset,
    /// Whether it may ask about the tokens of all clients.
    pub reads_tokens: bool,
    /// The logo that was fetched for it, as a `data:` URI.
    pub(crate) held_logo: Option<String>,
    secret: Option<[u8; 32]>,
    manager: Option<[u8; 32]>,
    version: u64,
}

/// A client that was just registered, with what is shown only once.
pub struct RegisteredClient {
    /// Its identifier.
    pub client_id: String,
    /// Its secret, if it authenticates with one.
    pub secret: Option<SecretString>,
    /// The token with which it changes its registration.
    pub manager: SecretString,
    /// Its registration.
    pub registration: ClientRegistration,
    /// The logo that was fetched for it, as a `data:` URI.
    pub logo: Option<String>,
    /// When.
    pub made: UnixTime,
}

/// A client that is to be registered.
pub struct WantedClient {
    /// Its identifier; drawn if absent.
    pub client_id: Option<String>,
    /// Its registration.
    pub registration: ClientRegistration,
    /// The preset of its rules.
    pub preset: Preset,
    /// Whether it is a resource server, which may ask about the tokens of all clients.
    pub reads_tokens: bool,
    /// Whether its logo is fetched: not for callers who are not known, as each call would make one to elsewhere.
    pub fetches_logo: bool,
}

/// A client's registration that is to be replaced.
pub struct ChangedClient {
    /// The registration.
    pub registration: ClientRegistration,
    /// As [`WantedClient::fetches_logo`], if the address of the logo is another one.
    pub fetches_logo: bool,
}

/// The clients of one organisation.
pub(crate) struct Clients<'a> {
    pub shared: &'a Shared,
    pub tenant: &'a TenantId,
    pub read: &'a ReadClients,
}

/// The maximum number of clients that stay parsed; the one read first is dropped first.
const READ_MAX: usize = 256;

/// Clients that were read, by the versions of their records. Each call of a sign-in looks its client up, and a client
/// changes rarely. The store gives each version number once, so a version that is still there is the client as it is.
#[derive(Default)]
pub(crate) struct ReadClients(Mutex<VecDeque<Arc<FoundClient>>>);

impl ReadClients {
    fn of(&self, version: u64) -> Option<Arc<FoundClient>> {
        let held = self.held();
        held.iter().find(|one| one.version == version).cloned()
    }

    fn hold(&self, client: &Arc<FoundClient>) {
        let mut held = self.held();
        if held.len() >= READ_MAX {
            held.pop_front();
        }
        held.push_back(client.clone());
    }

    fn held(&self) -> MutexGuard<'_, VecDeque<Arc<FoundClient>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FoundClient {
    fn of(id: &str, record: ClientRecord, version: u64) -> Result<Self> {
        let rules = ProviderRules::of(record.preset);
        let party = RelyingParty::parse(id, &record.registration, &rules);
        Ok(Self {
            party: party.map_err(Error::internal)?,
            rules,
            registration: record.registration,
            made: record.made,
            preset: record.preset,
            reads_tokens: record.reads_tokens,
            held_logo: record.logo,
            secret: record.secret,
            manager: record.manager,
            version,
        })
    }

    /// Whether this is its secret.
    pub(crate) fn has_secret(&self, given: &SecretString) -> bool {
        is(self.secret.as_ref(), given)
    }

    /// Whether this is the token with which it changes its registration.
    pub(crate) fn has_manager(&self, given: &SecretString) -> bool {
        is(self.manager.as_ref(), given)
    }
}

fn is(kept: Option<&[u8; 32]>, given: &SecretString) -> bool {
    let hash = sha256(given.expose().as_bytes());
    kept.is_some_and(|kept| ct_eq(kept, &hash))
}

impl Clients<'_> {
    /// Registers a client.
    ///
    /// # Errors
    /// `invalid_client_metadata` or `invalid_redirect_uri`; `Conflict` if the identifier is taken.
    pub async fn register(
        &self,
        wanted: WantedClient,
        logo: Option<String>,
    ) -> Result<RegisteredClient> {
        let ctx = self.shared.clock.ctx();
        let drawn = || ctx.token("oidc/client_id");
        let client_id = wanted.client_id.unwrap_or_else(drawn);
        if client_id.is_empty() || client_id.len() > selfsame_oauth::client::MAX_CLIENT_ID {
            let reason = "client_id is empty or too long";
            return Err(refuse(Code::InvalidClientMetadata, reason));
        }
        let rules = ProviderRules::of(wanted.preset);
        let party = RelyingParty::parse(&client_id, &wanted.registration, &rules);
        let has_secret = party.map_err(refusal)?.method.has_secret();
        let secret = has_secret.then(|| SecretString::from(ctx.token("oidc/client_secret")));
        let manager = SecretString::from(ctx.token("oidc/registration_token"));
        let hash = |secret: &SecretString| sha256(secret.expose().as_bytes());
        let record = ClientRecord {
            registration: wanted.registration,
            preset: wanted.preset,
            secret: secret.as_ref().map(hash),
            manager: Some(hash(&manager)),
            reads_tokens: wanted.reads_tokens,
            made: ctx.now(),
            logo,
        };
        let put = Put::new(CLIENT, &client_id, encode(&record)?);
        let batch = Batch::new(self.tenant.clone()).expect(CLIENT, &client_id, Expect::Absent);
        match self.shared.store.commit(batch.put(put)).await {
            Ok(_) => {
                tracing::info!(client = client_id, "a client was registered");
                Ok(RegisteredClient {
                    client_id,
                    secret,
                    manager,
                    registration: record.registration,
                    logo: record.logo,
                    made: record.made,
                })
            }
            Err(StoreError::Conflict { .. }) => {
                Err(Error::new(ErrorKind::Conflict, "client-exists"))
            }
            Err(other) => Err(other.into()),
        }
    }

    /// The client with this identifier.
    ///
    /// # Errors
    /// The store's.
    pub async fn find(&self, id: &str) -> Result<Option<Arc<FoundClient>>> {
        let store = &self.shared.store;
        let version = store.version(self.tenant, CLIENT, id).await?;
        if let Some(known) = version.and_then(|version| self.read.of(version)) {
            return Ok(Some(known));
        }
        let Some(record) = store.read(self.tenant, CLIENT, id).await? else {
            return Ok(None);
        };
        let found = FoundClient::of(id, decode(&record.value)?, record.version)?;
        let found = Arc::new(found);
        self.read.hold(&found);
        Ok(Some(found))
    }

    /// The clients, newest first.
    ///
    /// # Errors
    /// The store's.
    pub async fn list(&self, paging: &Paging) -> Result<Listing<FoundClient>> {
        let store = &self.shared.store;
        let found = store.list(self.tenant, CLIENT, &page(paging)).await?;
        listing(&found, paging, |record| {
            FoundClient::of(&record.id, decode(&record.value)?, record.version)
        })
    }

    /// The client with this identifier, unless it is switched off.
    ///
    /// # Errors
    /// The store's.
    pub async fn active(&self, id: &str) -> Result<Option<Arc<FoundClient>>> {
        let found = self.find(id).await?;
        Ok(found.filter(|client| !client.registration.is_inactive()))
    }

    /// Replaces a client's registration.
    ///
    /// # Errors
    /// `invalid_client_metadata` or `invalid_redirect_uri`; `Conflict` if it was changed meanwhile.
    pub async fn change(
        &self,
        old: &FoundClient,
        to: ClientRegistration,
        logo: Option<String>,
    ) -> Result<()> {
        let party = RelyingParty::parse(&old.party.id, &to, &old.rules).map_err(refusal)?;
        if party.method.has_secret() && old.secret.is_none() {
            let reason = "a client without a secret can't change to a method with one";
            return Err(refuse(Code::InvalidClientMetadata, reason));
        }
        let record = ClientRecord {
            registration: to,
            preset: old.preset,
            secret: old.secret.filter(|_| party.method.has_secret()),
            manager: old.manager,
            reads_tokens: old.reads_tokens,
            made: old.made,
            logo,
        };
        self.write(old, &record).await
    }

    /// Gives a client a new secret; the old one ends at once.
    ///
    /// # Errors
    /// `BadRequest` if it authenticates in another way; `Conflict` if it was changed meanwhile.
    pub async fn new_secret(&self, old: &FoundClient) -> Result<SecretString> {
        if !old.party.method.has_secret() {
            return Err(Error::bad_request("client-has-no-secret"));
        }
        let secret = SecretString::from(self.shared.clock.ctx().token("oidc/client_secret"));
        let record = ClientRecord {
            registration: old.registration.clone(),
            preset: old.preset,
            secret: Some(sha256(secret.expose().as_bytes())),
            manager: old.manager,
            reads_tokens: old.reads_tokens,
            made: old.made,
            logo: old.held_logo.clone(),
        };
        self.write(old, &record).await?;
        Ok(secret)
    }

    /// Removes a client. Its tokens end, because each call that is about them looks for the client.
    ///
    /// # Errors
    /// The store's.
    pub async fn remove(&self, id: &str) -> Result<()> {
        let batch = Batch::new(self.tenant.clone()).delete(CLIENT, id);
        self.shared.store.commit(batch).await?;
        tracing::info!(client = id, "a client was removed");
        Ok(())
    }

    async fn write(&self, old: &FoundClient, record: &ClientRecord) -> Result<()> {
        let batch = Batch::new(self.tenant.clone());
        let value = encode(record)?;
        let batch = batch.update_version(CLIENT, &old.party.id, old.version, value);
        self.shared.store.commit(batch).await?;
        Ok(())
    }
}
