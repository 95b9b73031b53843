//! The sub-wallets of an agent: each is an organisation of its own, which a controller reaches by a token.

use selfsame_agent::AgentTerms;
use selfsame_core::organisation::OrganisationName;
use selfsame_core::organisation::view::{ErasureOrder, NewOrganisation};
use selfsame_crypto::SecretString;
use selfsame_crypto::encoding::{base64url_decode, base64url_encode, hex_encode};
use selfsame_crypto::hash::{ct_eq, sha256};
use selfsame_crypto::time::UnixTime;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::{Batch, Expect, MAX_PAGE, Page, Put, Record, StoreError, Tag, TenantId};
use selfsame_webhooks::AgentController;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::App;

/// The kind of their records, which the instance holds. The identifier is the wallet's.
const WALLET: &str = "agent_wallet";
/// The tag of the wallets of an agent.
const OF: &str = "of";
/// The tag of a wallet's name.
const NAMED: &str = "named";
/// What the tokens are signed for.
const TOKENS: &str = "agent wallet tokens";
/// The beginning of the names of their organisations.
const PREFIX: &str = "wallet-";
/// The header of a token (RFC 7515, RFC 7518 §3.2).
const HEADER: &str = r#"{"alg":"HS256","typ":"JWT"}"#;

/// A sub-wallet as it is kept.
#[derive(Clone, Deserialize, Serialize)]
pub struct SubWallet {
    /// The name of the organisation whose agent it belongs to.
    pub agent: String,
    /// Its name for the controller.
    pub name: String,
    /// The name of its own organisation.
    pub organisation: String,
    /// The tenant of its records.
    pub tenant: String,
    /// How its agent calls itself.
    pub label: String,
    /// What the controller said of it, as the API shows it.
    pub settings: Map<String, Value>,
    /// SHA-256 of the key without which no token is given; `None` if the instance alone manages it.
    pub key_hash: Option<Vec<u8>>,
    /// When its token was given; earlier ones are not taken any more.
    pub token_at: Option<u64>,
    /// When it was created.
    pub created: UnixTime,
    /// When it was changed last.
    pub updated: UnixTime,
}

/// A sub-wallet with its identifier.
#[derive(Clone)]
pub struct FoundWallet {
    /// Its identifier.
    pub id: String,
    /// What is kept of it.
    pub wallet: SubWallet,
    version: u64,
}

/// A sub-wallet to be created.
#[derive(Clone, Debug)]
pub struct NewWallet {
    /// The name of the organisation whose agent it belongs to.
    pub agent: String,
    /// Its name for the controller.
    pub name: String,
    /// How its agent presents itself.
    pub terms: AgentTerms,
    /// What the controller said of it.
    pub settings: Map<String, Value>,
    /// The key without which no token is given.
    pub key: Option<SecretString>,
    /// The controllers that hear of its records.
    pub controllers: Vec<AgentController>,
}

/// What changes of a sub-wallet. What is absent stays.
#[derive(Clone, Debug, Default)]
pub struct WalletChange {
    /// How its agent calls itself.
    pub label: Option<String>,
    /// What the controller says of it.
    pub settings: Map<String, Value>,
    /// The controllers that hear of its records.
    pub controllers: Option<Vec<AgentController>>,
}

/// What a token says.
#[derive(Deserialize, Serialize)]
struct WalletClaims {
    wallet_id: String,
    iat: u64,
}

impl FoundWallet {
    fn read(record: &Record) -> Result<Self> {
        Ok(Self {
            id: record.id.clone(),
            wallet: decode(&record.value)?,
            version: record.version,
        })
    }

    /// The tenant of its records.
    ///
    /// # Errors
    /// `Internal` for a record that is damaged.
    pub fn tenant(&self) -> Result<TenantId> {
        TenantId::parse(&self.wallet.tenant).map_err(Error::internal)
    }

    /// Whether this is the key of the wallet; of one that the instance manages, any is.
    #[must_use]
    pub fn is_opened_by(&self, key: Option<&SecretString>) -> bool {
        match (&self.wallet.key_hash, key) {
            (None, _) => true,
            (Some(hash), Some(key)) => ct_eq(hash, &sha256(key.expose().as_bytes())),
            (Some(_), None) => false,
        }
    }
}

impl App {
    /// Creates a sub-wallet, with an organisation of its own.
    ///
    /// # Errors
    /// `Conflict` if the agent has a wallet of this name; those of the organisation.
    pub async fn create_wallet(&self, new: NewWallet) -> Result<FoundWallet> {
        if self.wallet_named(&new.agent, &new.name).await?.is_some() {
            return Err(Error::new(ErrorKind::Conflict, "agent-wallet-exists"));
        }
        let ctx = self.shared.clock.ctx();
        let id = uuid(&ctx.random::<16>("agent/wallet"));
        let organisation = format!("{PREFIX}{}", id.replace('-', ""));
        self.create_organisation(&NewOrganisation {
            name: organisation.clone(),
            title: new.terms.label.clone(),
            issuer: true,
            verifier: true,
            samples: false,
            did_method: None,
            host: None,
        })
        .await?;
        let name = OrganisationName::parse(&organisation)?;
        let hosted = self.organisations().find(&name).await?;
        let hosted = hosted.ok_or_else(|| Error::not_found("organisation-unknown"))?;
        let tenant = hosted.tenant()?;
        let wallet = SubWallet {
            agent: new.agent,
            name: new.name,
            organisation,
            tenant: tenant.to_string(),
            label: new.terms.label.clone(),
            settings: new.settings,
            key_hash: new.key.map(|key| sha256(key.expose().as_bytes()).to_vec()),
            token_at: None,
            created: ctx.now(),
            updated: ctx.now(),
        };
        let batch = Batch::new(TenantId::instance()).expect(WALLET, &id, Expect::Absent);
        let batch = batch.put(put(&id, &wallet)?);
        self.shared.store.commit(batch).await?;
        self.agents.set_terms(&tenant, new.terms);
        self.heard_by(&id, &tenant, new.controllers).await?;
        self.wallet_of(&wallet.agent, &id).await
    }

    /// A sub-wallet of an agent.
    ///
    /// # Errors
    /// `NotFound` if it has none with this identifier.
    pub async fn wallet_of(&self, agent: &str, id: &str) -> Result<FoundWallet> {
        let absent = || Error::not_found("agent-wallet-absent");
        let store = &self.shared.store;
        let found = store.read(&TenantId::instance(), WALLET, id).await?;
        let found = FoundWallet::read(&found.ok_or_else(absent)?)?;
        match found.wallet.agent == agent {
            true => Ok(found),
            false => Err(absent()),
        }
    }

    /// The sub-wallet whose organisation has this name.
    ///
    /// # Errors
    /// The store's.
    pub(super) async fn wallet_at(&self, organisation: &str) -> Result<Option<FoundWallet>> {
        let Some(id) = id_of(organisation) else {
            return Ok(None);
        };
        let store = &self.shared.store;
        let found = store.read(&TenantId::instance(), WALLET, &id).await?;
        found.as_ref().map(FoundWallet::read).transpose()
    }

    /// The sub-wallets of an agent, the oldest first.
    ///
    /// # Errors
    /// The store's.
    pub async fn wallets_of(&self, agent: &str) -> Result<Vec<FoundWallet>> {
        let (store, tag) = (&self.shared.store, Tag::hashed(OF, agent));
        let (mut all, mut page) = (Vec::new(), Page::first(MAX_PAGE));
        loop {
            let instance = TenantId::instance();
            let found = store.find(&instance, WALLET, &tag, &page).await?;
            for record in &found {
                all.push(FoundWallet::read(record)?);
            }
            match found.last() {
                Some(last) if found.len() == MAX_PAGE => page = page.after(last.cursor()),
                _ => return Ok(all),
            }
        }
    }

    /// Changes a sub-wallet.
    ///
    /// # Errors
    /// `NotFound` if it does not exist; `Conflict` if it changes at the same time.
    pub async fn change_wallet(
        &self,
        found: FoundWallet,
        terms: &AgentTerms,
        change: WalletChange,
    ) -> Result<FoundWallet> {
        let FoundWallet {
            id,
            mut wallet,
            version,
        } = found;
        wallet.label = change.label.unwrap_or(wallet.label);
        wallet.settings.extend(change.settings);
        wallet.updated = self.shared.clock.now();
        self.store_wallet(&id, &wallet, version).await?;
        let tenant = TenantId::parse(&wallet.tenant).map_err(Error::internal)?;
        let terms = AgentTerms {
            label: wallet.label.clone(),
            ..terms.clone()
        };
        self.agents.set_terms(&tenant, terms);
        if let Some(controllers) = change.controllers {
            self.webhooks.remove_controllers(&tenant).await?;
            self.heard_by(&id, &tenant, controllers).await?;
        }
        self.wallet_of(&wallet.agent, &id).await
    }

    /// Removes a sub-wallet and erases its organisation with all its keys.
    ///
    /// # Errors
    /// `NotFound` if it does not exist; those of the erasure.
    pub async fn remove_wallet(&self, found: &FoundWallet) -> Result<()> {
        let name = OrganisationName::parse(&found.wallet.organisation)?;
        let order = ErasureOrder {
            confirm: name.to_string(),
            now: true,
        };
        self.webhooks.remove_controllers(&found.tenant()?).await?;
        self.erase_organisation(&name, &order).await?;
        let batch = Batch::new(TenantId::instance()).delete(WALLET, &found.id);
        self.shared.store.commit(batch).await?;
        Ok(())
    }

    /// A new token of a sub-wallet. Those given before are not taken any more.
    ///
    /// # Errors
    /// `Conflict` if another is given at the same time; the store's.
    pub async fn wallet_token(&self, found: &FoundWallet) -> Result<SecretString> {
        let iat = self.shared.clock.now().0;
        let wallet = SubWallet {
            token_at: Some(iat),
            ..found.wallet.clone()
        };
        if found.wallet.token_at != Some(iat) {
            self.store_wallet(&found.id, &wallet, found.version).await?;
        }
        let claims = WalletClaims {
            wallet_id: found.id.clone(),
            iat,
        };
        let claims = serde_json::to_vec(&claims).map_err(Error::internal)?;
        let parts = [HEADER.as_bytes(), claims.as_slice()].map(base64url_encode);
        let signed = parts.join(".");
        let mac = self.token_mac(&signed).await?;
        Ok(format!("{signed}.{}", base64url_encode(&mac)).into())
    }

    /// The sub-wallet of an agent that a token is of.
    ///
    /// # Errors
    /// `Unauthenticated` for a token that is not of it, or not the last one.
    pub async fn wallet_of_token(&self, agent: &str, token: &str) -> Result<FoundWallet> {
        let refused = || Error::new(ErrorKind::Unauthenticated, "agent-token-refused");
        let (signed, mac) = token.rsplit_once('.').ok_or_else(refused)?;
        let (_, claims) = signed.split_once('.').ok_or_else(refused)?;
        let mac = base64url_decode(mac).map_err(|_| refused())?;
        if !ct_eq(&mac, &self.token_mac(signed).await?) {
            return Err(refused());
        }
        let claims = base64url_decode(claims).map_err(|_| refused())?;
        let claims: WalletClaims = serde_json::from_slice(&claims).map_err(|_| refused())?;
        let found = self.wallet_of(agent, &claims.wallet_id).await;
        let found = found.map_err(|error| match error.kind {
            ErrorKind::NotFound => refused(),
            _ => error,
        })?;
        match found.wallet.token_at == Some(claims.iat) {
            true => Ok(found),
            false => Err(refused()),
        }
    }

    async fn token_mac(&self, signed: &str) -> Result<[u8; 32]> {
        let key = self.shared.instance_key(TOKENS).await?;
        Ok(key.mac(signed.as_bytes()))
    }

    async fn wallet_named(&self, agent: &str, name: &str) -> Result<Option<FoundWallet>> {
        let (instance, page) = (TenantId::instance(), Page::first(1));
        let tag = Tag::hashed(NAMED, named(agent, name));
        let found = self.shared.store.find(&instance, WALLET, &tag, &page);
        found.await?.first().map(FoundWallet::read).transpose()
    }

    async fn store_wallet(&self, id: &str, wallet: &SubWallet, version: u64) -> Result<()> {
        let batch = Batch::new(TenantId::instance())
            .expect(WALLET, id, Expect::Version(version))
            .put(put(id, wallet)?);
        match self.shared.store.commit(batch).await {
            Ok(_) => Ok(()),
            Err(StoreError::Conflict { .. }) => {
                Err(Error::new(ErrorKind::Conflict, "changed-meanwhile"))
            }
            Err(other) => Err(other.into()),
        }
    }

    async fn heard_by(
        &self,
        id: &str,
        tenant: &TenantId,
        controllers: Vec<AgentController>,
    ) -> Result<()> {
        for controller in controllers {
            let controller = AgentController {
                wallet: Some(id.to_owned()),
                ..controller
            };
            self.webhooks.add_controller(tenant, &controller).await?;
        }
        Ok(())
    }
}

fn put(id: &str, wallet: &SubWallet) -> Result<Put> {
    Ok(Put::new(WALLET, id, encode(wallet)?)
        .tag(Tag::hashed(OF, &wallet.agent))
        .tag(Tag::hashed(NAMED, named(&wallet.agent, &wallet.name))))
}

/// A wallet's name among those of all agents.
fn named(agent: &str, name: &str) -> String {
    json!([agent, name]).to_string()
}

/// A random identifier in the form of RFC 9562 §5.4, which ACA-Py's clients expect.
fn uuid(random: &[u8; 16]) -> String {
    let number = u128::from_be_bytes(*random);
    let version = 0xf000 << 64;
    let variant = 0xc000 << 48;
    let number = (number & !version & !variant) | (0x4000 << 64) | (0x8000 << 48);
    dashed(&hex_encode(&number.to_be_bytes()))
}

/// The identifier of the sub-wallet whose organisation has this name; `None` for another organisation.
pub(super) fn id_of(organisation: &str) -> Option<String> {
    let text = organisation.strip_prefix(PREFIX)?;
    (text.len() == 32).then(|| dashed(text))
}

/// 32 digits in the form of RFC 9562 §4.
fn dashed(text: &str) -> String {
    let part = |from, to| text.get(from..to).unwrap_or_default();
    let parts = [
        part(0, 8),
        part(8, 12),
        part(12, 16),
        part(16, 20),
        part(20, 32),
    ];
    parts.join("-")
}

#[cfg(test)]
mod tests {
    use super::{PREFIX, id_of, uuid};

    #[test]
    fn an_identifier_has_the_version_and_the_variant_of_a_random_one() {
        assert_eq!(uuid(&[0xff; 16]), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_eq!(uuid(&[0; 16]), "00000000-0000-4000-8000-000000000000");
    }

    #[test]
    fn the_name_of_an_organisation_tells_its_sub_wallet() {
        let id = uuid(&[0xff; 16]);
        let organisation = format!("{PREFIX}{}", id.replace('-', ""));
        assert_eq!(id_of(&organisation), Some(id));
        assert_eq!(id_of("wallet-of-somebody"), None);
        assert_eq!(id_of("clinic"), None);
    }
}
