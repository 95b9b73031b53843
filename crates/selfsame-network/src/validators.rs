//! Changes of the validators, signed by a trustee.

use selfsame_crypto::PrivateKey;
use selfsame_driver::clock::Clock;
use selfsame_proof::read::TrustRoot;
use selfsame_proof::validators::Validator;
use selfsame_registry::{Genesis, Identifier, Operation, Transaction, UnsignedTransaction};
use url::Url;

use crate::{NetworkError, NodeClient};

/// The name of a member's key in the DID of the genesis.
const FIRST_KEY: &str = "key-1";

/// Validators to add, and the names of those to remove.
#[derive(Default)]
pub struct Turnover {
    /// The new validators.
    pub add: Vec<Validator>,
    /// The names of the former ones.
    pub remove: Vec<String>,
}

/// The genesis of the network that the node at this URL serves.
///
/// # Errors
/// If the node does not answer, or is not of the pinned network.
pub async fn genesis(
    client: &NodeClient,
    node: &Url,
    pinned: Option<&TrustRoot>,
) -> Result<Genesis, NetworkError> {
    let bytes = client.get("registry/genesis").await?;
    let genesis = Genesis::from_bytes(&bytes)
        .map_err(|_| NetworkError::environment(format!("{node}: its genesis is malformed")))?;
    let of = format!("selfsame/{}", genesis.network());
    match pinned {
        Some(root) if root.origin != of => Err(NetworkError::environment(format!(
            "{node} is of {of}, not of {}",
            root.origin
        ))),
        _ => Ok(genesis),
    }
}

impl Turnover {
    /// The transaction that makes this change, signed by a trustee of the network.
    ///
    /// # Errors
    /// If this kind of key can't sign transactions.
    pub fn signed(self, genesis: &Genesis, key: &PrivateKey) -> Result<Transaction, NetworkError> {
        let Self { add, remove } = self;
        let operation = Operation::ChangeValidators { add, remove };
        let ours = |what: &str| NetworkError::ours(what.to_owned());
        let author = Identifier::of_key(key.public())
            .ok_or_else(|| NetworkError::environment("this kind of key can't sign transactions"))?;
        let nonce = u64::from_be_bytes(Clock::default().ctx().random::<8>("nonce"));
        let unsigned = UnsignedTransaction::new(&genesis.network(), author, nonce, operation);
        let signature = key
            .sign(unsigned.signing_bytes())
            .map_err(|error| ours(&error.to_string()))?;
        unsigned
            .signed(FIRST_KEY, &signature)
            .map_err(|malformed| ours(&malformed.to_string()))
    }
}
