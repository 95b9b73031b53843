//! The identity of a machine that connects to others: its DID, the key that proves it, and the credential that
//! describes it. It has keys like an instance and accepts credentials like a wallet, but serves nothing.

use std::sync::Arc;

use selfsame_credential::{Format, Held};
use selfsame_crypto::PrivateKey;
use selfsame_crypto::time::UnixTime;
use selfsame_did::method::{METHODS, Origin};
use selfsame_did::{Did, key};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::{Batch, Put, TenantId};
use serde::{Deserialize, Serialize};

use crate::view::node::{NodeCredential, NodeIdentity};
use selfsame_core::Shared;
use selfsame_core::dids::Dids;
use selfsame_core::view::NewDid;
use selfsame_wallet::Wallet;
use selfsame_wallet::view::{AcceptOffer, Person};

const KIND: &str = "node";
/// The id of the only record.
const ID: &str = "identity";

/// The identity of a machine.
pub struct MachineNode<'a> {
    shared: &'a Arc<Shared>,
    dids: &'a Dids,
    wallet: &'a Arc<Wallet>,
    tenant: TenantId,
}

/// What a machine proves its identity with.
pub struct Material {
    /// Its DID. If the credential is bound to a key and not to a DID, it is the did:key of that key.
    pub did: Did,
    /// The key for `authentication`.
    pub key: Arc<PrivateKey>,
    /// The credential, if it has one.
    pub credential: Option<(Format, String)>,
    /// When the credential expires, if it states that.
    pub expires: Option<UnixTime>,
    /// The status lists that tell whether the credential is valid, each with its issuer.
    pub lists: Vec<(Did, String)>,
}

/// The stored record.
#[derive(Clone, Deserialize, Serialize)]
struct Record {
    did: Did,
    /// The wallet's card that holds its credential.
    card: Option<String>,
}

impl<'a> MachineNode<'a> {
    pub(crate) fn new(shared: &'a Arc<Shared>, dids: &'a Dids, wallet: &'a Arc<Wallet>) -> Self {
        Self {
            shared,
            dids,
            wallet,
            tenant: TenantId::instance(),
        }
    }

    /// Creates the DID. A `did:selfsame` is anchored before this returns.
    ///
    /// # Errors
    /// `Conflict` if there is a DID already, `BadRequest` for an unsupported method or kind of key; the registry's and
    /// the store's errors.
    pub async fn create(&self, new: &NewDid) -> Result<NodeIdentity> {
        if let Some(record) = self.record().await? {
            return Err(
                Error::new(ErrorKind::Conflict, "node-identity-exists").with("did", &record.did)
            );
        }
        let origin = METHODS.named(&new.method).map(|method| method.origin);
        if !matches!(origin, Some(Origin::Itself | Origin::Registry)) {
            let names = |origin| METHODS.names(|method| method.origin == origin);
            return Err(Error::bad_request("node-did-method")
                .with("method", &new.method)
                .with("of_key", &names(Origin::Itself))
                .with("of_registry", &names(Origin::Registry)));
        }
        let made = self.dids.create(new).await?;
        let did = Did::parse(&made.did).map_err(Error::internal)?;
        self.keep(&Record { did, card: None }).await?;
        self.show().await
    }

    /// The present identity.
    ///
    /// # Errors
    /// `NotFound` if there is no DID yet, and the store's errors.
    pub async fn show(&self) -> Result<NodeIdentity> {
        let record = self.known().await?;
        let own = self.dids.show(&record.did).await?;
        let held = self.held(&record).await?;
        Ok(NodeIdentity {
            did: own.did,
            key: own.key,
            state: own.state,
            credential: held.map(|shown| NodeCredential {
                format: shown.held.format.as_str().to_owned(),
                types: shown.held.types().into_iter().map(str::to_owned).collect(),
                expires: shown.held.expires().map(|expires| expires.rfc3339()),
                issuer: shown.issuer,
            }),
        })
    }

    /// Gives the DID a new key. A credential that is bound to the former key, and not to the DID, is dropped.
    ///
    /// # Errors
    /// `BadRequest` for a DID that is its key, `Gone` once it is deactivated; the registry's and the store's errors.
    pub async fn rotate(&self) -> Result<NodeIdentity> {
        let record = self.known().await?;
        self.dids.rotate(record.did.as_str()).await?;
        if let Some(shown) = self.held(&record).await?
            && !shown.names_did()
        {
            self.keep(&Record {
                card: None,
                ..record
            })
            .await?;
        }
        self.show().await
    }

    /// Deactivates the DID for good. Peers that resolve it no longer accept it.
    ///
    /// # Errors
    /// `BadRequest` for a DID that is its key, `Gone` once it is deactivated; the registry's and the store's errors.
    pub async fn deactivate(&self) -> Result<NodeIdentity> {
        let record = self.known().await?;
        self.dids.deactivate(record.did.as_str()).await?;
        self.show().await
    }

    /// Accepts an issuer's offer. The credential is bound to the DID's key and is presented from now on.
    ///
    /// # Errors
    /// The error in the offer, at its issuer, or in the transaction code.
    pub async fn take(&self, offer: &str, tx_code: Option<String>) -> Result<NodeIdentity> {
        let record = self.known().await?;
        let (handle, kid) = self.dids.current(&record.did).await?;
        let accept = AcceptOffer {
            offer: offer.to_owned(),
            tx_code,
            copies: None,
            did: Some(record.did.to_string()),
        };
        self.wallet
            .lend_did(&self.tenant, &record.did, &kid, &handle)
            .await?;
        let cards = self
            .wallet
            .accept_for_machine(&self.person(), &accept)
            .await?;
        let card = cards.into_iter().next();
        let card = card.ok_or_else(|| Error::upstream("credential-not-sent"))?;
        self.keep(&Record {
            card: Some(card.id),
            ..record
        })
        .await?;
        self.show().await
    }

    /// What proves the identity. The key leaves the key store here, since a TLS connection signs with keys in memory.
    ///
    /// # Errors
    /// `NotFound` if there is no DID yet, and the store's errors.
    pub async fn material(&self) -> Result<Material> {
        let record = self.known().await?;
        let private = self.key(&record).await?;
        let held = self.held(&record).await?;
        let did = match &held {
            // Such a credential names a key, which is a DID of its own.
            Some(shown) if !shown.names_did() => key::create(private.public()),
            _ => record.did,
        };
        Ok(Material {
            did,
            key: private,
            expires: held.as_ref().and_then(|shown| shown.held.expires()),
            lists: held.as_ref().map_or_else(Vec::new, NodeCard::lists),
            credential: held.map(|shown| (shown.held.format, shown.held.raw)),
        })
    }

    async fn key(&self, record: &Record) -> Result<Arc<PrivateKey>> {
        let (handle, _) = self.dids.current(&record.did).await?;
        self.shared.keys.unsealed(&self.tenant, &handle).await
    }

    async fn held(&self, record: &Record) -> Result<Option<NodeCard>> {
        let Some(card) = &record.card else {
            return Ok(None);
        };
        let card = self.wallet.raw_card(&self.tenant, card).await?;
        let held = Held::parse(&card.raw, card.format).map_err(Error::internal)?;
        Ok(Some(NodeCard {
            held,
            issuer: card.issuer,
        }))
    }

    /// The owner as the wallet sees them. No one signs in here, since the folder is the owner's.
    fn person(&self) -> Person {
        Person {
            tenant: self.tenant.clone(),
            email: String::new(),
            session: String::new(),
        }
    }

    async fn known(&self) -> Result<Record> {
        self.record()
            .await?
            .ok_or_else(|| Error::not_found("node-did-absent"))
    }

    async fn record(&self) -> Result<Option<Record>> {
        let stored = self.shared.store.read(&self.tenant, KIND, ID).await?;
        stored.map(|stored| decode(&stored.value)).transpose()
    }

    async fn keep(&self, record: &Record) -> Result<()> {
        let put = Put::new(KIND, ID, encode(record)?);
        let batch = Batch::new(self.tenant.clone()).put(put);
        self.shared.store.commit(batch).await?;
        Ok(())
    }
}

/// The credential of a machine, and its issuer.
struct NodeCard {
    held: Held,
    issuer: String,
}

impl NodeCard {
    /// Whether the credential is bound to a DID, and not to a key.
    fn names_did(&self) -> bool {
        self.held.format.describe().binds_to_did && self.held.holder_key().is_none()
    }

    /// The status lists that the credential refers to.
    fn lists(&self) -> Vec<(Did, String)> {
        let Ok(issuer) = Did::parse(&self.issuer) else {
            return Vec::new();
        };
        let statuses = self.held.statuses().iter();
        let lists = statuses.map(|status| (issuer.clone(), status.uri.clone()));
        lists.collect()
    }
}
