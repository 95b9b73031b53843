//! Evidence in the form in which it is saved and read again.

use std::collections::BTreeMap;
use std::sync::Arc;

use selfsame_crypto::time::UnixTime;
use selfsame_did::{AsOf, Did, Resolution};
use serde::{Deserialize, Serialize};

use super::{Evidence, EvidenceMemory, Fetched, Need, SignatureRequest};
use crate::single_use::Use;
use crate::status::{List, StatusError};

/// Evidence as it is saved. Documents are as fetched, and status lists are their signed tokens.
#[derive(Deserialize, Serialize)]
pub(super) struct SavedEvidence {
    dids: BTreeMap<Did, Fetched<SavedResolution>>,
    issuer_metadata: BTreeMap<String, Fetched<SavedBytes>>,
    jwk_sets: BTreeMap<String, Fetched<SavedBytes>>,
    status_lists: BTreeMap<String, Fetched<SavedList>>,
    uses: Vec<SavedUse>,
    signatures: Vec<SavedSignature>,
    began: Option<UnixTime>,
    asked_again: Vec<Need>,
}

/// A resolution, with the metadata that is never read from other resolvers. What concerns the operator of this resolver
/// alone is left out.
#[derive(Deserialize, Serialize)]
struct SavedResolution {
    result: Resolution,
    trusted_resolver: Option<String>,
    as_of: Option<SavedState>,
    reason: Option<String>,
    retry_after: Option<u64>,
}

/// The registry state of a resolution.
#[derive(Deserialize, Serialize)]
struct SavedState {
    time: UnixTime,
    height: u64,
}

#[derive(Deserialize, Serialize)]
struct SavedBytes(#[serde(with = "base64url")] Vec<u8>);

#[derive(Deserialize, Serialize)]
struct SavedList {
    uri: String,
    token: String,
}

#[derive(Deserialize, Serialize)]
struct SavedUse {
    issuer: Did,
    digest: [u8; 32],
    used: Fetched<Option<Use>>,
}

#[derive(Deserialize, Serialize)]
struct SavedSignature {
    request: SignatureRequest,
    signature: SavedBytes,
}

impl<T> Fetched<T> {
    fn map<U>(self, convert: impl FnOnce(T) -> U) -> Fetched<U> {
        let Self { value, at } = self;
        let value = value.map(convert);
        Fetched { value, at }
    }
}

impl From<Evidence> for SavedEvidence {
    fn from(evidence: Evidence) -> Self {
        let uses = evidence.uses.into_iter();
        let mut uses: Vec<SavedUse> = uses
            .map(|((issuer, digest), used)| SavedUse {
                issuer,
                digest,
                used,
            })
            .collect();
        uses.sort_by(|a, b| (&a.issuer, &a.digest).cmp(&(&b.issuer, &b.digest)));
        let signatures = evidence.signatures.into_iter();
        let mut signatures: Vec<SavedSignature> = signatures
            .map(|(request, signature)| SavedSignature {
                request,
                signature: SavedBytes(signature),
            })
            .collect();
        signatures.sort_by(|a, b| a.request.cmp(&b.request));
        let mut asked_again: Vec<Need> = evidence.asked_again.into_iter().collect();
        asked_again.sort();
        Self {
            dids: each(evidence.dids, |resolution| (&*resolution).into()),
            issuer_metadata: each(evidence.issuer_metadata, SavedBytes),
            jwk_sets: each(evidence.jwk_sets, SavedBytes),
            status_lists: each(evidence.status_lists, |list| (&*list).into()),
            uses,
            signatures,
            began: evidence.began,
            asked_again,
        }
    }
}

impl TryFrom<SavedEvidence> for Evidence {
    type Error = StatusError;

    fn try_from(saved: SavedEvidence) -> Result<Self, StatusError> {
        let uses = saved.uses.into_iter();
        let signatures = saved.signatures.into_iter();
        let lists = saved.status_lists.into_iter();
        Ok(Self {
            dids: each(saved.dids, |saved| Arc::new(saved.into())),
            issuer_metadata: each(saved.issuer_metadata, |bytes| bytes.0),
            jwk_sets: each(saved.jwk_sets, |bytes| bytes.0),
            status_lists: lists
                .map(|(uri, fetched)| Ok((uri, reread(fetched)?)))
                .collect::<Result<_, _>>()?,
            uses: uses
                .map(|saved| ((saved.issuer, saved.digest), saved.used))
                .collect(),
            signatures: signatures
                .map(|saved| (saved.request, saved.signature.0))
                .collect(),
            began: saved.began,
            asked_again: saved.asked_again.into_iter().collect(),
            memory: EvidenceMemory::default(),
        })
    }
}

/// The same things, converted.
fn each<K, T, U, M: FromIterator<(K, Fetched<U>)>>(
    all: impl IntoIterator<Item = (K, Fetched<T>)>,
    convert: impl Fn(T) -> U,
) -> M {
    let each = all.into_iter();
    each.map(|(key, fetched)| (key, fetched.map(&convert)))
        .collect()
}

fn reread(saved: Fetched<SavedList>) -> Result<Fetched<Arc<List>>, StatusError> {
    let Fetched { value, at } = saved;
    let value = match value {
        Ok(saved) => Ok(Arc::new(List::reread(&saved.uri, &saved.token)?)),
        Err(unavailable) => Err(unavailable),
    };
    Ok(Fetched { value, at })
}

impl From<&Resolution> for SavedResolution {
    fn from(resolution: &Resolution) -> Self {
        let metadata = &resolution.metadata;
        Self {
            trusted_resolver: metadata.trusted_resolver.clone(),
            as_of: metadata.as_of.map(|state| SavedState {
                time: state.time,
                height: state.height,
            }),
            reason: metadata.reason.clone(),
            retry_after: metadata.retry_after,
            result: resolution.clone(),
        }
    }
}

impl From<SavedResolution> for Resolution {
    fn from(saved: SavedResolution) -> Self {
        let mut resolution = saved.result;
        let metadata = &mut resolution.metadata;
        metadata.trusted_resolver = saved.trusted_resolver;
        metadata.as_of = saved.as_of.map(|state| AsOf {
            time: state.time,
            height: state.height,
        });
        metadata.reason = saved.reason;
        metadata.retry_after = saved.retry_after;
        resolution
    }
}

impl From<&List> for SavedList {
    fn from(list: &List) -> Self {
        Self {
            uri: list.uri().to_owned(),
            token: list.to_text(),
        }
    }
}

/// Bytes as base64url.
pub(super) mod base64url {
    use selfsame_crypto::encoding::{base64url_decode, base64url_encode};
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&base64url_encode(bytes))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        base64url_decode(&text).map_err(D::Error::custom)
    }
}
