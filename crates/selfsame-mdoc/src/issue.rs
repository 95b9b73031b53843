//! Issues a document (ISO/IEC 18013-5 §9.1.2): items with random parts and digest identifiers, decoys, the signature.

use selfsame_cbor::cose::{CoseKind, CoseOutgoing};
use selfsame_cbor::deterministic::encode;
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::{Algorithm, PublicKey};

use crate::digest::DigestAlgorithm;
use crate::error::MdocError;
use crate::held::write_issuer_signed;
use crate::security::{
    DraftDigests, KeyAuthorizations, MdocStatus, SecurityDraft, ValidityInfo, entry,
};
use crate::{ELEMENTS_MAX, NAMESPACES_MAX};

/// The length of an item's random part.
const RANDOM: usize = 32;

/// What is issued.
#[derive(Clone, Debug)]
pub struct MdocIssuance<'a> {
    /// The type of the document.
    pub doc_type: &'a str,
    /// The elements, by namespace.
    pub namespaces: &'a [IssuedNamespace],
    /// The key of the holder's device.
    pub device_key: &'a PublicKey,
    /// What the device may sign itself.
    pub authorizations: &'a KeyAuthorizations,
    /// When the document is valid.
    pub validity: ValidityInfo,
    /// Where its status is published.
    pub status: &'a MdocStatus,
    /// How digests are computed.
    pub digest_algorithm: DigestAlgorithm,
    /// Digests without an element, for each namespace, so that their number does not tell which elements there are.
    pub decoys: usize,
}

/// The elements of one namespace.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct IssuedNamespace {
    /// The namespace.
    pub name: String,
    /// Its elements.
    pub elements: Vec<IssuedElement>,
}

/// An element with its value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct IssuedElement {
    /// The name of the element.
    pub name: String,
    /// Its value in CBOR.
    pub value: Vec<u8>,
}

/// A document without its signature.
#[derive(Clone, Debug)]
pub struct IssuedDraft {
    namespaces: Vec<(String, Vec<Vec<u8>>)>,
    auth: CoseOutgoing,
    payload: Vec<u8>,
}

impl MdocIssuance<'_> {
    /// The document for a document signer with this algorithm and these certificates (DER, the signer's first, without
    /// the authority's) to sign.
    ///
    /// # Errors
    /// `TooMany` elements, a key that has no form in COSE, or `Unsupported` for an algorithm without a number in COSE.
    pub fn draft(
        &self,
        algorithm: Algorithm,
        chain: Vec<Vec<u8>>,
        ctx: &Ctx,
    ) -> Result<IssuedDraft, MdocError> {
        if self.namespaces.len() > NAMESPACES_MAX {
            return Err(MdocError::TooMany);
        }
        let number = algorithm_number(algorithm)?;
        let (mut namespaces, mut digests) = (Vec::new(), Vec::new());
        for namespace in self.namespaces {
            let drawn = self.namespace(namespace, ctx)?;
            digests.push(DraftDigests {
                namespace: &namespace.name,
                digests: drawn.digests,
            });
            namespaces.push((namespace.name.clone(), drawn.items));
        }
        let security = SecurityDraft {
            digest_algorithm: self.digest_algorithm,
            digests,
            device_key: self.device_key,
            authorizations: self.authorizations,
            doc_type: self.doc_type,
            validity: self.validity,
            status: self.status,
        };
        Ok(IssuedDraft {
            namespaces,
            auth: CoseOutgoing::new(CoseKind::Sign1, number).with_chain(chain),
            payload: security.payload()?,
        })
    }

    /// The items in the order of the elements; their digests and the decoys at random places.
    fn namespace(&self, namespace: &IssuedNamespace, ctx: &Ctx) -> Result<Drawn, MdocError> {
        let count = namespace.elements.len().saturating_add(self.decoys);
        if count > ELEMENTS_MAX {
            return Err(MdocError::TooMany);
        }
        let label = |what: &str, at: usize| format!("mdoc/{}/{what}/{at}", namespace.name);
        let ids = permutation(count, |at, bound| ctx.below(&label("id", at), bound));
        let mut drawn = Drawn {
            items: Vec::with_capacity(namespace.elements.len()),
            digests: vec![Vec::new(); count],
        };
        for (at, id) in ids.iter().enumerate() {
            let random = ctx.random::<RANDOM>(&label("random", at));
            let digest = match namespace.elements.get(at) {
                Some(element) => {
                    let item = item(*id, &random, element);
                    let digest = self.digest_algorithm.digest(&item);
                    drawn.items.push(item);
                    digest
                }
                // Without the random bytes, a reader cannot tell it from the digest of an item.
                None => self.digest_algorithm.digest(&random),
            };
            if let Some(place) = drawn.digests.get_mut(*id) {
                *place = digest;
            }
        }
        Ok(drawn)
    }
}

struct Drawn {
    items: Vec<Vec<u8>>,
    digests: Vec<Vec<u8>>,
}

impl IssuedDraft {
    /// The bytes to sign.
    pub fn signing_bytes(&self) -> Vec<u8> {
        self.auth.secured(&self.payload)
    }

    /// The document with this signature (ECDSA: r and s, RFC 9053 §2.1): IssuerSigned in CBOR.
    pub fn finish(&self, signature: &[u8]) -> Vec<u8> {
        let auth = encode(|to| self.auth.write(Some(&self.payload), signature, to));
        let namespaces = self.namespaces.iter().map(|(name, items)| {
            let items = items.iter().map(Vec::as_slice).collect();
            (name.as_str(), items)
        });
        write_issuer_signed(&namespaces.collect::<Vec<_>>(), &auth)
    }
}

/// The number under which the standard names an algorithm (ISO/IEC 18013-5 §9.1.2.4): the one that all readers know.
pub(crate) fn algorithm_number(algorithm: Algorithm) -> Result<i64, MdocError> {
    let numbers = match algorithm {
        Algorithm::Es256 | Algorithm::Es384 | Algorithm::EdDsa => algorithm.cose_numbers(),
        Algorithm::Es256k
        | Algorithm::Rs256
        | Algorithm::Rs384
        | Algorithm::Rs512
        | Algorithm::Ps256
        | Algorithm::Ps384
        | Algorithm::Ps512
        | Algorithm::MlDsa44
        | Algorithm::MlDsa65 => &[],
    };
    let number = numbers.last().copied();
    number.ok_or(MdocError::Unsupported("this algorithm"))
}

/// IssuerSignedItemBytes.
fn item(id: usize, random: &[u8], element: &IssuedElement) -> Vec<u8> {
    let item = encode(|to| {
        to.sorted([
            entry("digestID", |to| {
                to.uint(u64::try_from(id).unwrap_or(u64::MAX));
            }),
            entry("random", |to| {
                to.bytes(random);
            }),
            entry("elementIdentifier", |to| {
                to.text(&element.name);
            }),
            entry("elementValue", |to| {
                to.raw(&element.value);
            }),
        ]);
    });
    encode(|to| {
        to.embedded(&item);
    })
}

/// The numbers below `count` in a random order (Fisher and Yates).
fn permutation(count: usize, below: impl Fn(usize, u64) -> u64) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..count).collect();
    for at in (1..count).rev() {
        let bound = u64::try_from(at.saturating_add(1)).unwrap_or(u64::MAX);
        let other = usize::try_from(below(at, bound)).unwrap_or(at);
        numbers.swap(at, other.min(at));
    }
    numbers
}
