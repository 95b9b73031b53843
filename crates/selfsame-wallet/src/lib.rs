//! The wallet: the cards people hold, the offers they receive and the requests they answer (OpenID4VCI, OpenID4VP).
//!
//! Owns: what people own, and what a holder does in terms of the protocols below and of the core. Does not own: who a
//! person is, the roles of organisations, status codes, HTML, terminals, SQL, sockets.

mod answer;
mod cards;
mod carry;
pub mod config;
mod everything;
mod history;
mod keys;
mod known;
mod leaving;
mod logo;
mod path;
mod profile;
mod quota;
mod receive;
mod technical;
mod trust;
mod wire;

use std::sync::Arc;

use selfsame_accounts::{Accounts, AccountsParts};
use selfsame_attester::Attester;
use selfsame_core::organisation::Organisation;
use selfsame_core::{Correspondent, Shared};
use selfsame_haip::WantedProfile;
use selfsame_net::{Cache, CacheSettings};
use selfsame_openid4vc::Transport;
use selfsame_openid4vc::wire::transaction::{TransactionType, known_types};
use selfsame_types::Types;

use answer::Answering;
pub use cards::search::{CardOrder, WhichCards};
use cards::upgrade::Retagged;
pub use carry::{BegunCopy, CopyPart, RefusedLine, RestoredCopy};
use config::{WalletConfig, WantedMetadata};
use known::{KnownIssuer, RecentIssuers};
use quota::Quotas;
use receive::{NotifyingIssuer, Receiving};

pub use everything::{HeldPart, HeldSection};
pub use selfsame_accounts::{KNOWN_SECONDS, Whence};
pub use selfsame_card_index::{CardGroup, CardGroups, GroupBy, Grouping};
pub use selfsame_holder::{refusal, transport};
pub use selfsame_wire::WalletWire;
pub use trust::OwnParties;

/// What the wallet takes and returns.
pub mod view {
    pub use selfsame_accounts::{Invitation, NewSession, Person};
    pub use selfsame_wallet_view::cards::{
        Card, CardSummary, ClaimLine, Display, PreparedCredential,
    };
    pub use selfsame_wallet_view::entries::{DidInfo, HistoryEntry, KeyInfo, OneUse};
    pub use selfsame_wallet_view::named::{NamedValue, NamedValues};
    pub use selfsame_wallet_view::offers::{
        AcceptOffer, OfferPreview, OfferedCredential, SignInForOffer, TxCodePrompt,
    };
    pub use selfsame_wallet_view::requests::{
        AnswerRequest, Answered, Asker, Choice, RequestPreview, ReturnedAnswer, Share, ShareSet,
        TransactionFact, TransactionText,
    };
    pub use selfsame_wallet_view::table::{ClaimTable, MemberLabel, plain};
    pub use selfsame_wallet_view::{carried, export_file, path, sent, words};
}

/// The parts that a wallet is built on.
pub struct WalletParts {
    /// What the roles of its instance share.
    pub shared: Arc<Shared>,
    /// Its settings.
    pub config: WalletConfig,
    /// The issuer and the verifier of its instance.
    pub own: OwnParties,
    /// The credential types of every organisation.
    pub types: Arc<Types>,
    /// The organisation whose types it knows by their titles.
    pub organisation: Organisation,
    /// Records its calls, while the organisation has that switched on.
    pub wire: WalletWire,
}

/// The wallet, shared by many people.
pub struct Wallet {
    shared: Arc<Shared>,
    own: OwnParties,
    types: Arc<Types>,
    organisation: Organisation,
    quotas: Quotas,
    client_id: String,
    profile: Option<WantedProfile>,
    signed_metadata: WantedMetadata,
    transactions: Vec<TransactionType>,
    accounts: Accounts,
    transport: Transport,
    issuers: Cache<String, KnownIssuer>,
    recent: RecentIssuers,
    receiving: Arc<Receiving>,
    answering: Arc<Answering>,
    notifying: Arc<NotifyingIssuer>,
    attester: Attester,
    retagged: Retagged,
    wire: WalletWire,
}

/// The most issuers whose documents are kept.
const ISSUERS: usize = 2_048;
/// Bytes of memory that all issuers' documents may take together.
const ISSUER_BYTES: usize = 32 * 1024 * 1024;
/// Seconds during which an issuer whose documents do not fit an offer is not asked for them again.
const ISSUER_REST: u64 = 5;

impl Wallet {
    /// The wallet on these parts.
    #[must_use]
    pub fn new(parts: WalletParts) -> Self {
        let WalletParts {
            shared,
            config,
            own,
            types,
            organisation,
            wire,
        } = parts;
        let known = CacheSettings {
            capacity: ISSUERS,
            max_bytes: ISSUER_BYTES,
            ttl: 300,
            negative_ttl: ISSUER_REST,
        };
        Self {
            accounts: Accounts::new(AccountsParts {
                store: shared.store.clone(),
                clock: shared.clock.clone(),
                work: shared.work.clone(),
                origin: shared.config.origin.clone(),
                registration: config.registration,
            }),
            receiving: Arc::new(Receiving::new(shared.clone(), wire.clone(), config.profile)),
            answering: Arc::new(Answering::new(wire.clone())),
            notifying: Arc::new(NotifyingIssuer::new(shared.clone())),
            attester: Attester::new(
                shared.store.clone(),
                shared.keys.clone(),
                shared.clock.clone(),
                &shared.config.origin,
            ),
            retagged: Retagged::default(),
            client_id: config.client_id.clone(),
            profile: config.profile,
            signed_metadata: config.signed_metadata,
            transactions: known_types(&config.transaction_types),
            quotas: Quotas::new(shared.clone(), config),
            transport: transport(&shared),
            issuers: Cache::new(known, KnownIssuer::weight),
            recent: RecentIssuers::default(),
            own,
            types,
            organisation,
            wire,
            shared,
        }
    }

    /// The accounts of the people who use it.
    #[must_use]
    pub fn accounts(&self) -> &Accounts {
        &self.accounts
    }

    /// The attester of this wallet and of its keys, which issuers may trust.
    #[must_use]
    pub fn attester(&self) -> &Attester {
        &self.attester
    }

    /// The machines that get answers to calls.
    #[must_use]
    pub fn correspondents(&self) -> [Arc<dyn Correspondent>; 3] {
        [
            self.receiving.clone(),
            self.answering.clone(),
            self.notifying.clone(),
        ]
    }
}
