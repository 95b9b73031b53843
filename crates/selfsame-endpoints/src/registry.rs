//! The registry's own endpoints: genesis, checkpoint and entries, for readers that verify it.

use axum::extract::State;
use axum::response::IntoResponse as _;
use http::header::CONTENT_TYPE;
use selfsame_crypto::encoding::base64url_decode;
use selfsame_driver::Error;
use selfsame_http::error::Handled;
use selfsame_http::extract::{Query, Raw};
use selfsame_http::response::open_to_all;
use selfsame_ledger::ENTRIES_MAX;
use selfsame_proof::tree::MAX_KEY_BYTES;
use serde::Deserialize;

use crate::instance::Instance;

/// The genesis; its digest is the network's name.
pub async fn genesis(State(instance): State<Instance>) -> Handled {
    let genesis = instance.registry()?.genesis().await?;
    Ok(open_to_all(
        ([(CONTENT_TYPE, "application/cbor")], genesis).into_response(),
    ))
}

/// The object to read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WantedObject {
    /// The object's key, base64url.
    key: String,
    /// The height whose validators the reader trusts.
    #[serde(default)]
    trusted_height: u64,
}

/// An object of the state with its proof, for a reader that trusts this registry's validators, but not this node.
pub async fn read(State(instance): State<Instance>, Query(wanted): Query<WantedObject>) -> Handled {
    let key = wanted.key()?;
    let registry = instance.registry()?;
    let bundle = registry.read(&key, wanted.trusted_height).await?.to_bytes();
    Ok(open_to_all(
        ([(CONTENT_TYPE, "application/cbor")], bundle).into_response(),
    ))
}

/// The object and the objects that its reader needs next, under one checkpoint.
pub async fn reads(
    State(instance): State<Instance>,
    Query(wanted): Query<WantedObject>,
) -> Handled {
    let key = wanted.key()?;
    let registry = instance.registry()?;
    let reads = registry.reads(&key, wanted.trusted_height).await?;
    Ok(open_to_all(
        ([(CONTENT_TYPE, "application/cbor")], reads.to_bytes()).into_response(),
    ))
}

impl WantedObject {
    fn key(&self) -> Result<Vec<u8>, Error> {
        let key =
            base64url_decode(&self.key).map_err(|_| Error::bad_request("key-not-base64url"))?;
        match key.is_empty() || key.len() > MAX_KEY_BYTES {
            true => Err(Error::bad_request("key-length")),
            false => Ok(key),
        }
    }
}

/// The transactions to read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Numbers {
    /// Their numbers, separated by commas.
    numbers: String,
    /// The height whose validators the reader trusts.
    #[serde(default)]
    trusted_height: u64,
}

/// Transactions, with proofs that they are in the log.
pub async fn log(State(instance): State<Instance>, Query(asked): Query<Numbers>) -> Handled {
    let numbers = asked.numbers.split(',').map(str::parse::<u64>);
    let numbers: Vec<u64> = numbers
        .take(ENTRIES_MAX)
        .collect::<Result<_, _>>()
        .map_err(|_| Error::bad_request("numbers-malformed"))?;
    let registry = instance.registry()?;
    let proven = registry.proven(&numbers, asked.trusted_height).await?;
    Ok(open_to_all(
        ([(CONTENT_TYPE, "application/cbor")], proven.to_bytes()).into_response(),
    ))
}

/// Two sizes of the log.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sizes {
    old: u64,
    new: u64,
}

/// Proof that the log of one size is a prefix of the log of the other: 32 bytes a hash (RFC 9162 §2.1.4).
pub async fn consistency(State(instance): State<Instance>, Query(sizes): Query<Sizes>) -> Handled {
    let registry = instance.registry()?;
    let proof = registry.consistency(sizes.old, sizes.new).await?.concat();
    Ok(open_to_all(
        ([(CONTENT_TYPE, "application/octet-stream")], proof).into_response(),
    ))
}

/// The signed checkpoint, a C2SP note.
pub async fn checkpoint(State(instance): State<Instance>) -> Handled {
    let checkpoint = instance.registry()?.status().await?.checkpoint;
    Ok(open_to_all(
        ([(CONTENT_TYPE, "text/plain; charset=utf-8")], checkpoint).into_response(),
    ))
}

/// The consensus engine's headers, validators and limits, as its light clients request them (JSON-RPC 2.0). A node
/// that joins by a snapshot needs them.
pub async fn engine(State(instance): State<Instance>, Raw(call): Raw) -> Handled {
    let answer = instance.registry()?.light(&call).await?;
    Ok(open_to_all(
        ([(CONTENT_TYPE, "application/json")], answer).into_response(),
    ))
}
