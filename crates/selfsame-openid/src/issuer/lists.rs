//! Status lists: allots places in them, keeps the statuses, and keeps signed lists ready to be served.

mod following;

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use selfsame_credential::Signer;
use selfsame_credential::format::StatusForm;
use selfsame_credential::status::cwt_list::{CwtListDraft, CwtTerms};
use selfsame_credential::status::{
    Bits, Permutation, Purpose, Reference, Terms, Width, bitstring, token_list,
};
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{encoding, hash, jws};
use selfsame_driver::{Error, Result};
use selfsame_openid4vc::issuer::credential::Status;
use selfsame_store::{MAX_PAGE, Page};
use serde_json::json;

pub use super::signing::CredentialKind;
use super::signing::{self, Signatory, signatory};
use crate::context::Context;
use crate::view::issuer::{CredentialStatus, ServedList};
pub use crate::view::list_faces::{ListFace, ListPlace};
use following::Statuses;
pub(crate) use following::changes;
use selfsame_core::Shared;
use selfsame_core::identity::Identity;

/// The entries of a list: the minimum that hides one credential among many (Bitstring Status List §3.2).
const SIZE: u64 = 131_072;
/// Changes within this number of seconds are published together.
const COALESCED_SECONDS: u64 = 1;
/// The kind of the records of the last anchored digest of each list.
pub(crate) const ANCHORED: &str = "anchored";
/// Number of signed lists kept ready; other lists are signed on request.
const SERVED_MAX: usize = 256;

/// All status lists of one issuer.
pub struct Lists {
    shared: Arc<Shared>,
    context: Arc<Context>,
    identity: Arc<Identity>,
    key: [u8; 32],
    /// The credentials that are not valid, by list: about 32 bytes of memory each.
    withdrawn: Mutex<HashMap<u64, Withdrawn>>,
    served: Mutex<HashMap<(u64, ListFace), SignedList>>,
    signing: tokio::sync::Mutex<()>,
    /// The highest number of a list that a credential refers to.
    newest: AtomicU64,
    /// Lists whose last change is not anchored in the registry yet.
    unanchored: Mutex<BTreeSet<u64>>,
    /// Held while a status is read and shown.
    following: tokio::sync::Mutex<()>,
    /// The event before which the lists were read, and whether what came after it was not followed yet.
    read_at: tokio::sync::Mutex<Option<String>>,
    is_behind: AtomicBool,
}

/// The credentials of one list that are not valid.
#[derive(Default)]
struct Withdrawn {
    statuses: Statuses,
    /// Number of changes since the start.
    changes: u64,
}

#[derive(Clone)]
struct SignedList {
    list: ServedList,
    at: UnixTime,
    /// Number of changes that it includes.
    changes: u64,
}

impl Lists {
    /// Opens the lists, rebuilt from the register of issued credentials.
    ///
    /// # Errors
    /// The store's.
    pub async fn open(
        shared: Arc<Shared>,
        context: Arc<Context>,
        identity: Arc<Identity>,
    ) -> Result<Self> {
        let tenant = &context.organisation.issuer;
        let key = shared.instance_key("status").await?.mac(b"places");
        let is_shared = shared.store.is_shared();
        let read_at = match is_shared {
            true => shared.store.newest_event().await?,
            false => None,
        };
        let mut withdrawn: HashMap<u64, Withdrawn> = HashMap::new();
        for (list, statuses) in following::withdrawn(&shared, tenant).await? {
            withdrawn.entry(list).or_default().statuses = statuses;
        }
        let newest = following::newest(&shared, tenant).await?;
        let anchored = shared
            .store
            .list(tenant, ANCHORED, &Page::first(MAX_PAGE))
            .await?;
        let unanchored = anchored.iter().filter_map(|record| record.id.parse().ok());
        // Whether a list changed since it was last anchored is checked when anchoring.
        let unanchored = withdrawn.keys().copied().chain(unanchored).collect();
        Ok(Self {
            newest: AtomicU64::new(newest),
            unanchored: Mutex::new(unanchored),
            shared,
            context,
            identity,
            key,
            withdrawn: Mutex::new(withdrawn),
            following: tokio::sync::Mutex::default(),
            read_at: tokio::sync::Mutex::new(read_at),
            is_behind: AtomicBool::new(is_shared),
            served: Mutex::default(),
            signing: tokio::sync::Mutex::default(),
        })
    }

    /// A new random place that was never allotted before, not even before a crash.
    ///
    /// # Errors
    /// The store's.
    pub async fn place(&self) -> Result<ListPlace> {
        let counter = self
            .shared
            .store
            .allocate(&self.context.organisation.issuer, "status_place", 1)
            .await?
            .start;
        let (list, within) = (counter / SIZE, counter % SIZE);
        let key = hash::sha256_parts(&[&self.key, &list.to_be_bytes()]);
        let index = Permutation::new(key, SIZE)
            .at(within)
            .ok_or_else(|| Error::internal("an index beyond the end of a status list"))?;
        self.newest.fetch_max(list, Ordering::Relaxed);
        Ok(ListPlace { list, index })
    }

    /// The status entry of a credential with this place.
    ///
    /// VCDM 1.1 §4.9 shows `credentialStatus` as one object, and readers of `jwt_vc_json` accept nothing else. So it
    /// holds the revocation entry there, and the claim `status` covers suspension too.
    #[must_use]
    pub fn entry(&self, place: &ListPlace, kind: CredentialKind) -> Status {
        let token = |face| Reference::token(self.uri(place.list, face), place.index).to_value();
        let bitstring = |face, purpose| {
            Reference::bitstring(self.uri(place.list, face), place.index, purpose).to_value()
        };
        let revocation = || bitstring(ListFace::Revocation, Purpose::Revocation);
        match kind.format.describe().status {
            StatusForm::Claim => Status {
                claim: Some(token(self.token_face(kind))),
                member: None,
            },
            StatusForm::SecurityObject => Status {
                claim: Some(token(ListFace::Document)),
                member: None,
            },
            StatusForm::ClaimByDid => Status {
                claim: Some(token(ListFace::TokenOfW3c)),
                member: None,
            },
            StatusForm::ClaimAndMember => Status {
                claim: Some(token(ListFace::TokenOfW3c)),
                member: Some(revocation()),
            },
            StatusForm::Member => Status {
                claim: None,
                member: Some(json!([
                    revocation(),
                    bitstring(ListFace::Suspension, Purpose::Suspension)
                ])),
            },
        }
    }

    /// The Token Status List of an SD-JWT VC: a separate one for single-use credentials that have another issuer.
    fn token_face(&self, kind: CredentialKind) -> ListFace {
        match kind.has_handle && self.identity.portable().is_some() {
            true => ListFace::Registry,
            false => ListFace::Token,
        }
    }

    /// The lists that credentials of this kind refer to.
    fn faces(&self, kind: CredentialKind) -> &'static [ListFace] {
        match (kind.format.describe().status, self.token_face(kind)) {
            (StatusForm::Claim, ListFace::Registry) => &[ListFace::Registry],
            (StatusForm::Claim, _) => &[ListFace::Token],
            (StatusForm::SecurityObject, _) => &[ListFace::Document, ListFace::DocumentCwt],
            (StatusForm::ClaimByDid, _) => &[ListFace::TokenOfW3c],
            (StatusForm::ClaimAndMember, _) => &[ListFace::TokenOfW3c, ListFace::Revocation],
            (StatusForm::Member, _) => &[ListFace::Revocation, ListFace::Suspension],
        }
    }

    /// The URI of the list with two-bit statuses for credentials of this kind.
    pub(super) fn uri_for(&self, list: u64, kind: CredentialKind) -> String {
        let face = match kind.format.describe().status {
            StatusForm::Claim => self.token_face(kind),
            StatusForm::SecurityObject => ListFace::Document,
            StatusForm::ClaimByDid => ListFace::TokenOfW3c,
            StatusForm::ClaimAndMember | StatusForm::Member => ListFace::Token,
        };
        self.uri(list, face)
    }

    /// The URI of a list.
    #[must_use]
    pub fn uri(&self, list: u64, face: ListFace) -> String {
        let base = &self.context.organisation.base;
        match face {
            ListFace::Token => format!("{base}status/{list}"),
            ListFace::Registry => format!("{base}status/{list}/registry"),
            ListFace::TokenOfW3c => format!("{base}status/{list}/token"),
            ListFace::Document | ListFace::DocumentCwt => format!("{base}status/{list}/mdoc"),
            ListFace::Revocation => format!("{base}status/{list}/revocation"),
            ListFace::Suspension => format!("{base}status/{list}/suspension"),
        }
    }

    /// Sets a credential's status, which is already durable; the served lists show it within a second.
    pub fn set(&self, place: &ListPlace, status: CredentialStatus) {
        let mut withdrawn = locked(&self.withdrawn);
        let list = withdrawn.entry(place.list).or_default();
        match status {
            CredentialStatus::Valid => list.statuses.remove(&place.index),
            CredentialStatus::Revoked | CredentialStatus::Suspended => {
                list.statuses.insert(place.index, status)
            }
        };
        list.changes = list.changes.saturating_add(1);
        drop(withdrawn);
        self.is_unanchored(place.list);
    }

    /// The signed bytes of a list.
    ///
    /// # Errors
    /// `NotFound` for a list that no credential refers to.
    pub async fn serve(&self, list: u64, face: ListFace) -> Result<ServedList> {
        if let Some(ready) = self.ready(list, face) {
            return Ok(ready);
        }
        let _one_at_a_time = self.signing.lock().await;
        if let Some(ready) = self.ready(list, face) {
            return Ok(ready);
        }
        if !self.is_used(list).await? {
            return Err(Error::not_found("status-list-unknown"));
        }
        let now = self.shared.clock.now();
        let (token, changes) = self.signed(list, face, now).await?;
        let etag = format!("\"{}\"", encoding::base64url_encode(&hash::sha256(&token)));
        let ready = ServedList {
            body: token.into(),
            content_type: face.content_type(),
            etag,
            max_age: COALESCED_SECONDS,
        };
        let signed = SignedList {
            list: ready.clone(),
            at: now,
            changes,
        };
        let mut served = locked(&self.served);
        if served.len() >= SERVED_MAX {
            let oldest = served.iter().min_by_key(|(_, signed)| signed.at);
            let oldest = oldest.map(|(key, _)| *key);
            oldest.and_then(|key| served.remove(&key));
        }
        served.insert((list, face), signed);
        Ok(ready)
    }

    /// Signs each list with waiting changes, so that a change is published even if no verifier fetches its list.
    ///
    /// # Errors
    /// The key store's.
    pub(crate) async fn renew(&self) -> Result<()> {
        for (list, face) in self.waiting() {
            self.serve(list, face).await?;
        }
        Ok(())
    }

    /// The signed lists that lack changes, and may be signed again.
    fn waiting(&self) -> Vec<(u64, ListFace)> {
        let served: Vec<_> = locked(&self.served)
            .iter()
            .map(|(key, signed)| (*key, signed.changes))
            .collect();
        let waits = |((list, face), changes): &((u64, ListFace), u64)| {
            *changes < self.changes(*list) && self.kept(*list, *face).is_none()
        };
        served
            .into_iter()
            .filter(waits)
            .map(|(key, _)| key)
            .collect()
    }

    fn ready(&self, list: u64, face: ListFace) -> Option<ServedList> {
        self.kept(list, face).map(|signed| signed.list)
    }

    /// The signed list that is served now; `None` if the list must be signed again.
    fn kept(&self, list: u64, face: ListFace) -> Option<SignedList> {
        let signed = locked(&self.served).get(&(list, face))?.clone();
        let now = self.shared.clock.now();
        // The clock was set back: for others this list is from the future, and so not valid yet.
        let is_premature = now < signed.at;
        let age = now.seconds_since(signed.at);
        let changes_wait = signed.changes < self.changes(list) && age >= COALESCED_SECONDS;
        let grows_old = age >= self.ttl() / 2;
        (!is_premature && !changes_wait && !grows_old).then_some(signed)
    }

    fn changes(&self, list: u64) -> u64 {
        let withdrawn = locked(&self.withdrawn);
        withdrawn.get(&list).map_or(0, |list| list.changes)
    }

    /// Signs the list as it is now; also returns the number of changes included, to notice a change during signing.
    async fn signed(&self, list: u64, face: ListFace, now: UnixTime) -> Result<(Vec<u8>, u64)> {
        let changes = self.changes(list);
        let bits = self.bits(list, face)?;
        let uri = self.uri(list, face);
        let end = now.plus(self.ttl().saturating_mul(10));
        let Signatory { issuer, signer } = match face {
            ListFace::Registry => signing::by_own_did(&self.identity),
            ListFace::Document | ListFace::DocumentCwt => Signatory {
                issuer: self.context.organisation.identifier.clone(),
                signer: self.context.document_signer(end).await?.signer,
            },
            _ => signatory(
                &self.context,
                &self.identity,
                CredentialKind::of(face.format()),
            ),
        };
        if face == ListFace::DocumentCwt {
            let terms = CwtTerms {
                uri: &uri,
                issued_at: now,
                expires_at: Some(end),
                ttl: Some(self.ttl()),
                algorithm: signer.algorithm,
                chain: signer.x5c.clone(),
            };
            let draft = CwtListDraft::new(&bits, terms).map_err(Error::internal)?;
            let signature = self.signature(&signer, &draft.signing_bytes()).await?;
            return Ok((draft.finish(&signature), changes));
        }
        let header = signing::header(&signer);
        let terms = Terms {
            uri: &uri,
            issuer: &issuer,
            header: &header,
            issued_at: now,
            expires_at: Some(end),
            ttl: Some(self.ttl()),
        };
        let unsigned: jws::Unsigned = match face {
            ListFace::Revocation => bitstring::encode(&bits, Purpose::Revocation, &terms),
            ListFace::Suspension => bitstring::encode(&bits, Purpose::Suspension, &terms),
            _ => token_list::encode(&bits, &terms),
        }
        .map_err(Error::internal)?;
        let signature = self.signature(&signer, unsigned.signing_input()).await?;
        Ok((unsigned.finish(&signature).into_bytes(), changes))
    }

    async fn signature(&self, signer: &Signer, bytes: &[u8]) -> Result<Vec<u8>> {
        let keys = &self.shared.keys;
        keys.sign(self.identity.tenant(), &signer.key, bytes).await
    }

    fn bits(&self, list: u64, face: ListFace) -> Result<Bits> {
        let width = match face {
            ListFace::Revocation | ListFace::Suspension => Width::One,
            _ => Width::Two,
        };
        let mut bits = Bits::new(width, SIZE).map_err(Error::internal)?;
        let withdrawn = locked(&self.withdrawn);
        let statuses = withdrawn.get(&list).map(|list| &list.statuses);
        for (index, status) in statuses.into_iter().flatten() {
            if let Some(value) = face.value_of(*status) {
                bits.set(*index, value).map_err(Error::internal)?;
            }
        }
        Ok(bits)
    }

    /// For how many seconds verifiers may go on using a list.
    pub(super) fn ttl(&self) -> u64 {
        self.context.config.issuer.status_ttl.max(2)
    }

    /// Whether the lists served now, of those that credentials of this kind refer to, all include the latest changes.
    pub(super) fn is_published(&self, list: u64, kind: CredentialKind) -> bool {
        let changes = self.changes(list);
        let says_all = |face| {
            self.kept(list, face)
                .is_none_or(|signed| signed.changes >= changes)
        };
        self.faces(kind).iter().copied().all(says_all)
    }

    /// Takes the lists that changed since the last call.
    pub(super) fn take_unanchored(&self) -> BTreeSet<u64> {
        std::mem::take(&mut *locked(&self.unanchored))
    }

    /// Whether lists wait to be anchored.
    pub(super) fn has_unanchored(&self) -> bool {
        !locked(&self.unanchored).is_empty()
    }

    pub(super) fn is_unanchored(&self, list: u64) {
        locked(&self.unanchored).insert(list);
    }

    /// The digest that the registry anchors for a list. It covers the statuses alone, not the signature or its time.
    ///
    /// # Errors
    /// `Internal`.
    pub fn digest(&self, list: u64) -> Result<[u8; 32]> {
        Ok(hash::sha256(self.bits(list, ListFace::Token)?.as_bytes()))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The data behind these locks is consistent at all times.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
