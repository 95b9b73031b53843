//! The issuer, the wallet and the verifier of one instance, as far as it has these roles.

use std::sync::{Arc, OnceLock};

use selfsame_core::config::NamedDid;
use selfsame_core::dids::Dids;
use selfsame_core::identity::{Identity, Wish};
use selfsame_core::{Correspondent, Shared, ShortLived};
use selfsame_driver::Result;
use selfsame_types::Types;
use tokio::sync::watch;

use crate::certificate::Certificates;
use crate::config::{RoleSet, RolesConfig};
use crate::context::Context;
use crate::issuer::Issuer;
use crate::parties;
use crate::verifier::Verifier;
use crate::wallet::Wallet;

/// The roles of one instance. An instance has each of them or not.
pub struct Roles {
    /// Its issuer.
    pub issuer: Option<Arc<Issuer>>,
    /// Its wallet.
    pub wallet: Option<Arc<Wallet>>,
    /// Its verifier.
    pub verifier: Option<Arc<Verifier>>,
}

impl Roles {
    /// Opens the roles; the issuer and the verifier get their identities at the first start. Moves the keys of
    /// certificates from the settings into the key store, sealed.
    ///
    /// # Errors
    /// `BadRequest` for settings that cannot work; the store's and the registry's errors.
    pub async fn open(
        shared: &Arc<Shared>,
        wanted: RoleSet,
        mut config: RolesConfig,
    ) -> Result<Self> {
        let origin = shared.config.origin.clone();
        let certificates = Certificates::open(&mut config, wanted, &origin, &shared.keys).await?;
        certificates.report(&shared.trust.now().anchors, shared.clock.now());
        let samples = config
            .issuer
            .samples
            .then_some(config.issuer.vct_base.as_str());
        let types = Arc::new(Types::new(shared.store.clone(), samples));
        let context = Arc::new(Context {
            types,
            config,
            origin,
            issuer_certificate: certificates.issuer,
            verifier_certificate: certificates.verifier,
            own_issuers: OnceLock::new(),
            own_verifier: OnceLock::new(),
        });
        let issuer = match wanted.issuer {
            true => Some(Arc::new(issuer(shared, &context).await?)),
            false => None,
        };
        let verifier = match wanted.verifier {
            true => Some(Arc::new(verifier(shared, &context).await?)),
            false => None,
        };
        let wallet = wanted.wallet.then(|| Wallet::new(shared.clone(), context));
        Ok(Self {
            issuer,
            wallet: wallet.map(Arc::new),
            verifier,
        })
    }

    /// The machines that get answers to calls.
    #[must_use]
    pub fn correspondents(&self) -> Vec<Arc<dyn Correspondent>> {
        let mut all: Vec<Arc<dyn Correspondent>> = Vec::new();
        if let Some(wallet) = &self.wallet {
            all.push(wallet.receiving.clone());
            all.push(wallet.answering.clone());
        }
        if let Some(verifier) = &self.verifier {
            all.push(verifier.clone());
        }
        all
    }

    /// The identities, whose DIDs must be registered before the instance is ready: the issuer's, then the verifier's.
    pub fn identities(&self) -> impl Iterator<Item = &Arc<Identity>> {
        let issuer = self.issuer.as_ref().map(|issuer| issuer.identity());
        let verifier = self.verifier.as_ref().map(|verifier| verifier.identity());
        issuer.into_iter().chain(verifier)
    }

    /// The kinds of records of the roles that can be used once or for a limited time.
    #[must_use]
    pub fn short_lived() -> [ShortLived; 3] {
        let (issuer, verifier) = (parties::issuer, parties::verifier);
        [
            ShortLived::of(issuer().clone(), crate::issuer::OFFER),
            ShortLived::of(issuer().clone(), crate::issuer::GRANT),
            ShortLived {
                tenant: verifier().clone(),
                kind: crate::verifier::VERIFICATION,
                is_open: crate::verifier::is_open,
            },
        ]
    }

    /// Starts the background tasks, which end when `stopping` becomes true.
    pub fn start(&self, dids: &Dids, stopping: watch::Receiver<bool>) {
        if let Some(issuer) = &self.issuer {
            tokio::spawn(crate::issuer::anchors(
                issuer.clone(),
                dids.clone(),
                stopping,
            ));
        }
    }
}

async fn issuer(shared: &Arc<Shared>, context: &Arc<Context>) -> Result<Issuer> {
    let config = &context.config.issuer;
    let wish = Wish {
        tenant: parties::issuer().clone(),
        method: config.did_method,
        web_path: "issuer",
        existing: config.did.as_deref(),
        named: config.issuer_did,
    };
    let identity = Arc::new(Identity::open(shared, &wish).await?);
    let issuer = Issuer::open(shared.clone(), context.clone(), identity).await?;
    let mut own = issuer.identity().names();
    own.push(issuer.identifier());
    let _ = context.own_issuers.set(own);
    Ok(issuer)
}

async fn verifier(shared: &Arc<Shared>, context: &Arc<Context>) -> Result<Verifier> {
    let wish = Wish {
        tenant: parties::verifier().clone(),
        method: context.config.verifier.did_method,
        web_path: "verifier",
        existing: None,
        // Which name a verifier asks under is a setting of each request.
        named: NamedDid::Own,
    };
    let identity = Arc::new(Identity::open(shared, &wish).await?);
    let verifier = Verifier::new(shared.clone(), context.clone(), identity);
    let own = format!("decentralized_identifier:{}", verifier.client_did());
    let _ = context.own_verifier.set(own);
    Ok(verifier)
}
