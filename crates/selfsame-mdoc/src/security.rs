//! The mobile security object (ISO/IEC 18013-5 §9.1.2.4): what the issuer signs.

use std::collections::{BTreeMap, BTreeSet};

use selfsame_cbor::cose::CosePublic;
use selfsame_cbor::deterministic::{CborWriter, encode};
use selfsame_cbor::{Cbor, CborKind};
use selfsame_crypto::PublicKey;
use selfsame_crypto::time::UnixTime;

use crate::cose_keys;
use crate::digest::DigestAlgorithm;
use crate::error::MdocError;
use crate::{ELEMENTS_MAX, NAMESPACES_MAX};

/// The version that is written, and whose later revisions are read.
const VERSION: &str = "1.0";
/// The tag of a date and time (RFC 8949 §3.4.1).
const DATE_TIME: u64 = 0;
/// A digest identifier is below 2^31 (ISO/IEC 18013-5 §9.1.2.4).
const ID_END: u64 = 1 << 31;

/// A mobile security object that was read.
#[derive(Clone, Debug)]
pub struct SecurityObject<'b> {
    /// How digests are computed.
    pub digest_algorithm: DigestAlgorithm,
    /// The digests of each namespace.
    pub digests: Vec<NamespaceDigests<'b>>,
    /// The key of the device.
    pub device_key: PublicKey,
    /// What the device may sign itself.
    pub authorizations: KeyAuthorizations,
    /// The type of the document.
    pub doc_type: &'b str,
    /// When the document is valid.
    pub validity: ValidityInfo,
    /// Where its status is published.
    pub status: MdocStatus,
}

/// The digests of one namespace.
#[derive(Clone, Debug)]
pub struct NamespaceDigests<'b> {
    /// The namespace.
    pub namespace: &'b str,
    /// The digest of each identifier, in the order of the identifiers.
    digests: Vec<ItemDigest<'b>>,
}

#[derive(Clone, Copy, Debug)]
struct ItemDigest<'b> {
    id: u64,
    digest: &'b [u8],
}

impl<'b> NamespaceDigests<'b> {
    /// The digest with this identifier.
    pub fn digest(&self, id: u64) -> Option<&'b [u8]> {
        let at = self.digests.binary_search_by_key(&id, |one| one.id).ok()?;
        self.digests.get(at).map(|one| one.digest)
    }

    /// The number of digests, decoys included.
    pub fn len(&self) -> usize {
        self.digests.len()
    }

    /// Whether the namespace has no digests.
    pub fn is_empty(&self) -> bool {
        self.digests.is_empty()
    }
}

/// When a document is valid (ISO/IEC 18013-5 §9.1.2.4).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ValidityInfo {
    /// When the security object was signed.
    pub signed: UnixTime,
    /// The document is not valid before this time.
    pub valid_from: UnixTime,
    /// The document is not valid after this time.
    pub valid_until: UnixTime,
    /// When the issuer expects to sign the next one.
    pub expected_update: Option<UnixTime>,
}

/// The elements that a device may sign itself (ISO/IEC 18013-5 §9.1.2.4, KeyAuthorizations).
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct KeyAuthorizations {
    /// The namespaces of which it may sign every element.
    pub namespaces: BTreeSet<String>,
    /// Single elements of other namespaces.
    pub elements: BTreeMap<String, BTreeSet<String>>,
}

impl KeyAuthorizations {
    /// Whether the device may sign this element.
    pub fn allows(&self, namespace: &str, element: &str) -> bool {
        let single = self.elements.get(namespace);
        self.namespaces.contains(namespace) || single.is_some_and(|some| some.contains(element))
    }

    fn is_empty(&self) -> bool {
        self.namespaces.is_empty() && self.elements.is_empty()
    }
}

/// Where the status of a document is published.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum MdocStatus {
    /// Nowhere.
    #[default]
    None,
    /// In a status list (Token Status List §6.3).
    List {
        /// The place in the list.
        index: u64,
        /// The URI of the list.
        uri: String,
    },
    /// In a way that is not known here, so that the status cannot be judged.
    Unknown,
}

impl<'b> SecurityObject<'b> {
    /// The security object of this item.
    ///
    /// # Errors
    /// `Unsupported` for another major version or digest algorithm; `Malformed` with the member.
    pub fn read(item: &Cbor<'b>) -> Result<Self, MdocError> {
        let text =
            |name: &'static str| member(item, name)?.text().ok_or(MdocError::Malformed(name));
        let version = text("version")?;
        if version != VERSION && !version.starts_with("1.") {
            return Err(MdocError::Unsupported(
                "this version of the security object",
            ));
        }
        let algorithm = DigestAlgorithm::named(text("digestAlgorithm")?);
        let algorithm = algorithm.ok_or(MdocError::Unsupported("this digest algorithm"))?;
        let device = member(item, "deviceKeyInfo")?;
        let key = CosePublic::read(member(device, "deviceKey")?)?;
        Ok(Self {
            digest_algorithm: algorithm,
            digests: digests(member(item, "valueDigests")?, algorithm)?,
            device_key: cose_keys::public_key(&key)?,
            authorizations: authorizations(device.named("keyAuthorizations"))?,
            doc_type: text("docType")?,
            validity: validity(member(item, "validityInfo")?)?,
            status: status(item.named("status")),
        })
    }

    /// The digests of a namespace.
    pub fn namespace(&self, name: &str) -> Option<&NamespaceDigests<'b>> {
        self.digests.iter().find(|one| one.namespace == name)
    }
}

/// The member of a map with this name.
pub(crate) fn member<'i, 'b>(
    item: &'i Cbor<'b>,
    name: &'static str,
) -> Result<&'i Cbor<'b>, MdocError> {
    item.named(name).ok_or(MdocError::Malformed(name))
}

fn digests<'b>(
    item: &Cbor<'b>,
    algorithm: DigestAlgorithm,
) -> Result<Vec<NamespaceDigests<'b>>, MdocError> {
    const WRONG: MdocError = MdocError::Malformed("valueDigests");
    let namespaces = item.map().ok_or(WRONG)?;
    if namespaces.len() > NAMESPACES_MAX {
        return Err(MdocError::TooMany);
    }
    let one = |pair: &selfsame_cbor::CborPair<'b>| {
        let entries = pair.value.map().ok_or(WRONG)?;
        if entries.len() > ELEMENTS_MAX {
            return Err(MdocError::TooMany);
        }
        let entries = entries.iter().map(|entry| {
            let digest = entry.value.bytes();
            Some(ItemDigest {
                id: entry.key.uint().filter(|id| *id < ID_END)?,
                digest: digest.filter(|digest| digest.len() == algorithm.size())?,
            })
        });
        let mut digests: Vec<ItemDigest<'b>> = entries.collect::<Option<_>>().ok_or(WRONG)?;
        digests.sort_unstable_by_key(|one| one.id);
        Ok(NamespaceDigests {
            namespace: pair.key.text().ok_or(WRONG)?,
            digests,
        })
    };
    namespaces.iter().map(one).collect()
}

/// A namespace must not be in both lists (ISO/IEC 18013-5 §9.1.2.4).
fn authorizations(item: Option<&Cbor<'_>>) -> Result<KeyAuthorizations, MdocError> {
    const WRONG: MdocError = MdocError::Malformed("keyAuthorizations");
    let mut read = KeyAuthorizations::default();
    let Some(item) = item else {
        return Ok(read);
    };
    let texts = |item: &Cbor<'_>| {
        let texts = item.array()?.iter();
        let texts = texts.map(|one| one.text().map(str::to_owned));
        texts.collect::<Option<BTreeSet<String>>>()
    };
    if let Some(namespaces) = item.named("nameSpaces") {
        read.namespaces = texts(namespaces).ok_or(WRONG)?;
    }
    if let Some(elements) = item.named("dataElements") {
        for pair in elements.map().ok_or(WRONG)? {
            let namespace = pair.key.text().ok_or(WRONG)?.to_owned();
            if read.namespaces.contains(&namespace) {
                return Err(WRONG);
            }
            let some = texts(&pair.value).ok_or(WRONG)?;
            read.elements.insert(namespace, some);
        }
    }
    Ok(read)
}

fn validity(item: &Cbor<'_>) -> Result<ValidityInfo, MdocError> {
    let time =
        |name: &'static str| date_time(member(item, name)?).ok_or(MdocError::Malformed(name));
    let update = item.named("expectedUpdate");
    let update = update.map(|item| date_time(item).ok_or(MdocError::Malformed("expectedUpdate")));
    Ok(ValidityInfo {
        signed: time("signed")?,
        valid_from: time("validFrom")?,
        valid_until: time("validUntil")?,
        expected_update: update.transpose()?,
    })
}

/// A date and time of tag 0, in UTC. Fractions of seconds, which the standard forbids, are dropped.
fn date_time(item: &Cbor<'_>) -> Option<UnixTime> {
    let text = item.tagged(DATE_TIME)?.text()?;
    let text = text.ends_with('Z').then_some(text)?;
    UnixTime::parse_rfc3339(text)
}

fn status(item: Option<&Cbor<'_>>) -> MdocStatus {
    let Some(item) = item else {
        return MdocStatus::None;
    };
    let list = item.named("status_list");
    let index = list.and_then(|list| list.named("idx")).and_then(Cbor::uint);
    let uri = list.and_then(|list| list.named("uri")).and_then(Cbor::text);
    match (index, uri) {
        (Some(index), Some(uri)) => MdocStatus::List {
            index,
            uri: uri.to_owned(),
        },
        _ => MdocStatus::Unknown,
    }
}

/// A security object that is to be signed.
#[derive(Debug)]
pub(crate) struct SecurityDraft<'a> {
    pub digest_algorithm: DigestAlgorithm,
    pub digests: Vec<DraftDigests<'a>>,
    pub device_key: &'a PublicKey,
    pub authorizations: &'a KeyAuthorizations,
    pub doc_type: &'a str,
    pub validity: ValidityInfo,
    pub status: &'a MdocStatus,
}

/// The digests of one namespace, at the place of their identifiers.
#[derive(Debug)]
pub(crate) struct DraftDigests<'a> {
    pub namespace: &'a str,
    pub digests: Vec<Vec<u8>>,
}

impl SecurityDraft<'_> {
    /// The payload of the issuer's signature: the object as a byte string of tag 24.
    pub fn payload(&self) -> Result<Vec<u8>, MdocError> {
        let mut device_key = Vec::new();
        let mut failed = None;
        let key = encode(|to| failed = cose_keys::write_key(self.device_key, to).err());
        if let Some(error) = failed {
            return Err(error);
        }
        device_key.extend(key);
        let mut members = vec![
            entry("version", |to| {
                to.text(VERSION);
            }),
            entry("digestAlgorithm", |to| {
                to.text(self.digest_algorithm.as_str());
            }),
            entry("valueDigests", |to| self.write_digests(to)),
            entry("deviceKeyInfo", |to| self.write_device(&device_key, to)),
            entry("docType", |to| {
                to.text(self.doc_type);
            }),
            entry("validityInfo", |to| write_validity(&self.validity, to)),
        ];
        if let MdocStatus::List { index, uri } = self.status {
            members.push(entry("status", |to| {
                to.map(1).text("status_list").map(2);
                to.text("idx").uint(*index).text("uri").text(uri);
            }));
        }
        let object = encode(|to| {
            to.sorted(members);
        });
        Ok(encode(|to| {
            to.embedded(&object);
        }))
    }

    fn write_digests(&self, to: &mut CborWriter) {
        to.sorted(self.digests.iter().map(|one| {
            let digests = encode(|to| {
                to.map(one.digests.len());
                for (id, digest) in one.digests.iter().enumerate() {
                    to.uint(u64::try_from(id).unwrap_or(u64::MAX)).bytes(digest);
                }
            });
            (text(one.namespace), digests)
        }));
    }

    fn write_device(&self, key: &[u8], to: &mut CborWriter) {
        let mut members = vec![(text("deviceKey"), key.to_vec())];
        if !self.authorizations.is_empty() {
            members.push(entry("keyAuthorizations", |to| {
                write_authorizations(self.authorizations, to);
            }));
        }
        to.sorted(members);
    }
}

fn write_validity(validity: &ValidityInfo, to: &mut CborWriter) {
    let time = |name: &str, time: UnixTime| {
        entry(name, |to| {
            to.tag(DATE_TIME).text(&time.rfc3339());
        })
    };
    let mut members = vec![
        time("signed", validity.signed),
        time("validFrom", validity.valid_from),
        time("validUntil", validity.valid_until),
    ];
    members.extend(
        validity
            .expected_update
            .map(|at| time("expectedUpdate", at)),
    );
    to.sorted(members);
}

fn write_authorizations(authorizations: &KeyAuthorizations, to: &mut CborWriter) {
    let texts = |some: &BTreeSet<String>, to: &mut CborWriter| {
        to.array(some.len());
        some.iter().for_each(|one| {
            to.text(one);
        });
    };
    let mut members = Vec::new();
    if !authorizations.namespaces.is_empty() {
        members.push(entry("nameSpaces", |to| {
            texts(&authorizations.namespaces, to)
        }));
    }
    if !authorizations.elements.is_empty() {
        members.push(entry("dataElements", |to| {
            let pairs = authorizations.elements.iter();
            to.sorted(
                pairs.map(|(namespace, some)| (text(namespace), encode(|to| texts(some, to)))),
            );
        }));
    }
    to.sorted(members);
}

/// A member of a map that is sorted by its keys.
pub(crate) fn entry(name: &str, write: impl FnOnce(&mut CborWriter)) -> (Vec<u8>, Vec<u8>) {
    (text(name), encode(write))
}

fn text(text: &str) -> Vec<u8> {
    encode(|to| {
        to.text(text);
    })
}

/// Whether an item is of a kind that a digest identifier has.
pub(crate) fn digest_id(item: &Cbor<'_>) -> Option<u64> {
    match item.kind() {
        CborKind::Int(_) => item.uint().filter(|id| *id < ID_END),
        _ => None,
    }
}
