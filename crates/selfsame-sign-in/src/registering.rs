//! Dynamic registration (RFC 7591, OpenID Connect Dynamic Client Registration 1.0) behind an initial token, and what a
//! client may do with its own registration (RFC 7592).

use std::sync::Arc;

use selfsame_core::gather::Freshness;
use selfsame_credential::evidence::{Need, Step};
use selfsame_crypto::SecretString;
use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::hash::sha256;
use selfsame_crypto::json::{self, Limits};
use selfsame_driver::paging::{Listing, Paging};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_oauth::{Code, secret};
use selfsame_oidc::{ClientRegistration, ProviderRules, RelyingParty};
use selfsame_store::{Batch, Put};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::clients::{ChangedClient, FoundClient, RegisteredClient, WantedClient};
use crate::refusal::refuse;
use crate::service::SignIns;

/// The kind of the records of initial tokens.
pub const INITIAL_TOKEN: &str = "oidc_initial";
const LIMITS: Limits = Limits {
    max_bytes: 64 * 1024,
    max_depth: 8,
    max_members: 1_000,
};

#[derive(Deserialize, Serialize)]
struct InitialRecord {
    left: u32,
}

/// An initial token that is to be made.
#[derive(Clone, Copy, Debug)]
pub struct WantedInitialToken {
    /// How many clients may be registered with it.
    pub uses: u32,
    /// Its lifetime, in seconds.
    pub lifetime: u64,
}

/// A registration as its client sees it (RFC 7591 §3.2.1).
#[derive(Clone, Debug, Serialize)]
pub struct ClientInformation {
    /// Its identifier.
    pub client_id: String,
    /// When it was registered, in seconds since the epoch.
    pub client_id_issued_at: u64,
    /// Its secret, shown once.
    #[serde(with = "secret::option", skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<SecretString>,
    /// When the secret ends: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_secret_expires_at: Option<u64>,
    /// The token for changes, shown once.
    #[serde(with = "secret::option", skip_serializing_if = "Option::is_none")]
    pub registration_access_token: Option<SecretString>,
    /// Where it is changed.
    pub registration_client_uri: Url,
    /// The logo that pages show, as a `data:` URI.
    #[serde(skip)]
    pub logo: Option<String>,
    /// The registration.
    #[serde(flatten)]
    pub registration: ClientRegistration,
}

impl SignIns {
    /// Registers a client for the operator.
    ///
    /// # Errors
    /// `invalid_client_metadata` or `invalid_redirect_uri`; `Conflict` if the identifier is taken.
    pub async fn register(&self, wanted: WantedClient) -> Result<ClientInformation> {
        let logo = match wanted.fetches_logo && self.is_possible(&wanted) {
            true => self.fetched_logo(&wanted.registration).await,
            false => None,
        };
        let made = self.clients().register(wanted, logo).await?;
        self.information(made)
    }

    /// Makes a token with which programs register clients.
    ///
    /// # Errors
    /// The store's.
    pub async fn initial_token(&self, wanted: WantedInitialToken) -> Result<SecretString> {
        let ctx = self.shared().clock.ctx();
        let token = SecretString::from(ctx.token("oidc/initial"));
        let value = encode(&InitialRecord { left: wanted.uses })?;
        let put = Put::new(INITIAL_TOKEN, token_id(&token), value);
        let put = put.expires(ctx.now().plus(wanted.lifetime));
        let batch = Batch::new(self.place.tenant.clone()).put(put);
        self.shared().store.commit(batch).await?;
        Ok(token)
    }

    /// The registration endpoint (RFC 7591 §3).
    ///
    /// # Errors
    /// `invalid_token` without an initial token that is valid; `invalid_client_metadata` or `invalid_redirect_uri`.
    pub async fn register_dynamically(
        &self,
        token: Option<&SecretString>,
        body: &[u8],
    ) -> Result<ClientInformation> {
        self.use_initial(token).await?;
        let registration = parse(body)?;
        self.check_sector(&registration).await?;
        self.register(WantedClient {
            client_id: None,
            registration,
            preset: self.service.parts.preset,
            reads_tokens: false,
            fetches_logo: true,
        })
        .await
    }

    /// Whether a registration is one that can be kept: nothing is fetched for another one.
    fn is_possible(&self, wanted: &WantedClient) -> bool {
        let rules = ProviderRules::of(wanted.preset);
        let id = wanted.client_id.as_deref().unwrap_or_default();
        RelyingParty::parse(id, &wanted.registration, &rules).is_ok()
    }

    /// Replaces a registration. Its logo is fetched if its address is another one.
    async fn replace(&self, old: &FoundClient, changed: ChangedClient) -> Result<()> {
        let ChangedClient {
            registration,
            fetches_logo,
        } = changed;
        let is_same = registration.logo_uri == old.registration.logo_uri;
        let is_kept = RelyingParty::parse(&old.party.id, &registration, &old.rules).is_ok();
        let logo = match (is_same, fetches_logo && is_kept) {
            (true, _) => old.held_logo.clone(),
            (false, true) => self.fetched_logo(&registration).await,
            (false, false) => None,
        };
        self.clients().change(old, registration, logo).await
    }

    /// Uses an initial token once. Tokens are few, so a lost race is a refusal.
    async fn use_initial(&self, token: Option<&SecretString>) -> Result<()> {
        let refused = || {
            refuse(
                Code::InvalidToken,
                "the initial access token is unknown or used up",
            )
        };
        let id = token.map(token_id).ok_or_else(refused)?;
        let (store, tenant) = (&self.shared().store, &self.place.tenant);
        let record = store.read(tenant, INITIAL_TOKEN, &id).await?;
        let record = record.ok_or_else(refused)?;
        let mut kept: InitialRecord = decode(&record.value)?;
        kept.left = kept.left.checked_sub(1).ok_or_else(refused)?;
        let batch = Batch::new(tenant.clone());
        let batch = batch.update(INITIAL_TOKEN, &record, encode(&kept)?);
        store.commit(batch).await?;
        Ok(())
    }

    /// OpenID Connect Dynamic Client Registration §5: the address of a sector lists all redirect URIs.
    async fn check_sector(&self, registration: &ClientRegistration) -> Result<()> {
        let Some(uri) = &registration.sector_identifier_uri else {
            return Ok(());
        };
        let need = || Need::JwkSet(uri.to_string());
        let fresh = Freshness { max_status_age: 0 };
        let fetching = self.shared().run(&self.place.tenant, fresh, |evidence| {
            Ok(match evidence.jwk_set(uri.as_str()) {
                None => Step::Needs(vec![need()]),
                Some(fetched) => Step::Done(fetched.value.clone().ok()),
            })
        });
        let document = fetching.await?;
        let listed = document.and_then(|bytes| json::parse_as::<Vec<String>>(&bytes, &LIMITS).ok());
        let has_all = |listed: &Vec<String>| {
            let mut uris = registration.redirect_uris.iter();
            uris.all(|uri| listed.contains(uri))
        };
        match listed.as_ref().is_some_and(has_all) {
            true => Ok(()),
            false => Err(refuse(
                Code::InvalidClientMetadata,
                "sector_identifier_uri can't be read, or lacks a redirect URI",
            )),
        }
    }

    /// A client's own registration (RFC 7592 §2.1).
    ///
    /// # Errors
    /// `invalid_token` for another token than the client's.
    pub async fn own_registration(
        &self,
        client_id: &str,
        token: Option<&SecretString>,
    ) -> Result<ClientInformation> {
        let found = self.managed(client_id, token).await?;
        self.shown_again(&found)
    }

    /// Changes a client's own registration (RFC 7592 §2.2).
    ///
    /// # Errors
    /// `invalid_token` for another token than the client's; `invalid_client_metadata` or `invalid_redirect_uri`.
    pub async fn change_own_registration(
        &self,
        client_id: &str,
        token: Option<&SecretString>,
        body: &[u8],
    ) -> Result<ClientInformation> {
        let found = self.managed(client_id, token).await?;
        let registration = parse(body)?;
        self.check_sector(&registration).await?;
        let changed = ChangedClient {
            registration,
            fetches_logo: true,
        };
        self.replace(&found, changed).await?;
        self.own_registration(client_id, token).await
    }

    /// Removes a client's own registration (RFC 7592 §2.3).
    ///
    /// # Errors
    /// `invalid_token` for another token than the client's.
    pub async fn remove_own_registration(
        &self,
        client_id: &str,
        token: Option<&SecretString>,
    ) -> Result<()> {
        self.managed(client_id, token).await?;
        self.clients().remove(client_id).await
    }

    async fn managed(&self, id: &str, token: Option<&SecretString>) -> Result<Arc<FoundClient>> {
        let refused = || {
            refuse(
                Code::InvalidToken,
                "this is not the client's registration token",
            )
        };
        let found = self.clients().find(id).await?;
        let is_its = |found: &Arc<FoundClient>| token.is_some_and(|token| found.has_manager(token));
        found.filter(is_its).ok_or_else(refused)
    }

    fn information(&self, made: RegisteredClient) -> Result<ClientInformation> {
        Ok(ClientInformation {
            registration_client_uri: self
                .place
                .endpoint(&format!("register/{}", made.client_id))?,
            client_id: made.client_id,
            client_id_issued_at: made.made.0,
            client_secret_expires_at: made.secret.as_ref().map(|_| 0),
            client_secret: made.secret,
            registration_access_token: Some(made.manager),
            logo: made.logo,
            registration: without_credentials(made.registration),
        })
    }

    fn shown_again(&self, found: &FoundClient) -> Result<ClientInformation> {
        let id = found.party.id.clone();
        Ok(ClientInformation {
            registration_client_uri: self.place.endpoint(&format!("register/{id}"))?,
            client_id: id,
            client_id_issued_at: found.made.0,
            client_secret: None,
            client_secret_expires_at: None,
            registration_access_token: None,
            logo: found.logo().map(str::to_owned),
            registration: without_credentials(found.registration.clone()),
        })
    }

    pub(crate) async fn known(&self, client_id: &str) -> Result<Arc<FoundClient>> {
        let found = self.clients().find(client_id).await?;
        found.ok_or_else(|| Error::new(ErrorKind::NotFound, "client-unknown"))
    }

    /// A client, for the operator.
    ///
    /// # Errors
    /// `NotFound`; the store's.
    pub async fn client(&self, client_id: &str) -> Result<ClientInformation> {
        let found = self.known(client_id).await?;
        self.shown_again(&found)
    }

    /// The clients, newest first, for the operator.
    ///
    /// # Errors
    /// The store's.
    pub async fn client_list(&self, paging: &Paging) -> Result<Listing<ClientInformation>> {
        let Listing { items, next } = self.clients().list(paging).await?;
        let items = items.into_iter().map(|found| self.shown_again(&found));
        let items = items.collect::<Result<_>>()?;
        Ok(Listing { items, next })
    }

    /// Replaces a client's registration, for the operator.
    ///
    /// # Errors
    /// `NotFound`; `invalid_client_metadata` or `invalid_redirect_uri`; `Conflict` if it was changed meanwhile.
    pub async fn change_client(&self, client_id: &str, to: ChangedClient) -> Result<()> {
        let found = self.known(client_id).await?;
        self.replace(&found, to).await
    }

    /// Gives a client a new secret, for the operator. The old one ends at once.
    ///
    /// # Errors
    /// `NotFound`; `BadRequest` if it authenticates in another way.
    pub async fn new_client_secret(&self, client_id: &str) -> Result<SecretString> {
        let found = self.known(client_id).await?;
        self.clients().new_secret(&found).await
    }

    /// Removes a client, for the operator.
    ///
    /// # Errors
    /// `NotFound`; the store's.
    pub async fn remove_client(&self, client_id: &str) -> Result<()> {
        let found = self.known(client_id).await?;
        self.clients().remove(&found.party.id).await
    }
}

/// Members that the server itself states are no part of a registration.
fn without_credentials(mut registration: ClientRegistration) -> ClientRegistration {
    for stated in [
        "client_id",
        "client_id_issued_at",
        "client_secret",
        "client_secret_expires_at",
        "registration_access_token",
        "registration_client_uri",
    ] {
        registration.other.remove(stated);
    }
    registration
}

fn parse(body: &[u8]) -> Result<ClientRegistration> {
    let read = json::parse_as(body, &LIMITS);
    let read =
        read.map_err(|_| refuse(Code::InvalidClientMetadata, "the registration is malformed"));
    read.map(without_credentials)
}

fn token_id(token: &SecretString) -> String {
    base64url_encode(&sha256(token.expose().as_bytes()))
}
