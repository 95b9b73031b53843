//! The wallet: the cards people hold, the offers they receive and the requests they answer.

mod answer;
mod cards;
mod history;
mod keys;
mod quota;
mod receive;

use std::sync::Arc;

use selfsame_accounts::Accounts;
pub use selfsame_accounts::{KNOWN_SECONDS, Whence};
use selfsame_crypto::json::weight_of;
use selfsame_net::{Cache, CacheSettings};
use selfsame_oauth::ServerMetadata;
use selfsame_openid4vc::Transport;
use selfsame_openid4vc::wire::metadata::IssuerMetadata;

use self::answer::Answering;
use self::quota::Quotas;
use self::receive::Receiving;

use crate::context::{Context, transport};
use selfsame_core::Shared;

/// The wallet, shared by many people.
pub struct Wallet {
    shared: Arc<Shared>,
    context: Arc<Context>,
    quotas: Quotas,
    accounts: Accounts,
    transport: Transport,
    issuers: Cache<String, KnownIssuer>,
    pub(crate) receiving: Arc<Receiving>,
    pub(crate) answering: Arc<Answering>,
}

/// An issuer's documents, read and checked.
struct KnownIssuer {
    issuer: IssuerMetadata,
    server: ServerMetadata,
    /// Whether they were fetched for an offer of a credential that they do not describe.
    lacks: bool,
}

/// Bytes of memory that all issuers' documents may take together.
const ISSUER_BYTES: usize = 32 * 1024 * 1024;
/// Seconds during which an issuer whose documents do not fit an offer is not asked for them again.
const ISSUER_REST: u64 = 5;

impl KnownIssuer {
    /// Twice the size of the documents as JSON: they are held as typed members, and some members are not serialised.
    fn weight(&self) -> usize {
        let both = weight_of(&self.issuer).saturating_add(weight_of(&self.server));
        both.saturating_mul(2)
    }
}

impl Wallet {
    /// The wallet on this instance's store.
    #[must_use]
    pub fn new(shared: Arc<Shared>, context: Arc<Context>) -> Self {
        let transport = transport(&shared);
        Self {
            accounts: Accounts::new(selfsame_accounts::AccountsParts {
                store: shared.store.clone(),
                clock: shared.clock.clone(),
                work: shared.work.clone(),
                origin: shared.config.origin.clone(),
                registration: context.config.wallet.registration,
            }),
            receiving: Arc::new(Receiving::new(shared.clone())),
            answering: Arc::new(Answering::new()),
            quotas: Quotas::new(shared.clone(), &context.config.wallet),
            shared,
            context,
            transport,
            issuers: Cache::new(
                CacheSettings {
                    capacity: 256,
                    max_bytes: ISSUER_BYTES,
                    ttl: 300,
                    negative_ttl: ISSUER_REST,
                },
                KnownIssuer::weight,
            ),
        }
    }

    /// The accounts of the people who use it.
    #[must_use]
    pub fn accounts(&self) -> &Accounts {
        &self.accounts
    }
}
