//! What an issuer signed (ISO/IEC 18013-5 §8.3.2.1.2.2, IssuerSigned): as issued, as held, and within a response.

use std::collections::BTreeSet;

use selfsame_cbor::cose::{CoseKind, CoseReceived};
use selfsame_cbor::deterministic::{CborWriter, encode};
use selfsame_cbor::{Cbor, CborLimits, CborPair};

use crate::error::MdocError;
use crate::security::{self, SecurityObject, digest_id, member};
use crate::{ELEMENTS_MAX, LIMITS, NAMESPACES_MAX};

/// The least length of an item's random part (ISO/IEC 18013-5 §9.1.2.5).
const RANDOM_MIN: usize = 16;

/// A document as its issuer signed it. Nothing is verified yet.
#[derive(Clone, Debug)]
pub struct IssuerSigned<'b> {
    /// The items, by namespace.
    pub namespaces: Vec<SignedNamespace<'b>>,
    /// The issuer's signature.
    pub issuer_auth: CoseReceived<'b>,
    /// What the signature is over, as it was received.
    pub payload: &'b [u8],
    issuer_auth_bytes: &'b [u8],
}

/// The items of one namespace.
#[derive(Clone, Debug)]
pub struct SignedNamespace<'b> {
    /// The namespace.
    pub name: &'b str,
    /// Its items.
    pub items: Vec<SignedItem<'b>>,
}

/// One element with the bytes of which its issuer signed the digest.
#[derive(Clone, Debug)]
pub struct SignedItem<'b> {
    /// The item, tag and length included, as it was received.
    pub bytes: &'b [u8],
    /// The identifier of its digest.
    pub digest_id: u64,
    /// The name of the element.
    pub element: &'b str,
    /// Its value.
    pub value: Cbor<'b>,
}

impl<'b> IssuerSigned<'b> {
    /// Reads what an issuer sent.
    ///
    /// # Errors
    /// What is malformed, unsupported or too large.
    pub fn parse(bytes: &'b [u8]) -> Result<Self, MdocError> {
        Self::read(&Cbor::parse(bytes, &LIMITS)?)
    }

    /// The document of this item.
    ///
    /// # Errors
    /// As [`IssuerSigned::parse`].
    pub fn read(item: &Cbor<'b>) -> Result<Self, MdocError> {
        let auth = member(item, "issuerAuth")?;
        let issuer_auth = CoseReceived::read(auth, CoseKind::Sign1)?;
        let payload = issuer_auth.payload;
        let namespaces = match item.named("nameSpaces") {
            Some(namespaces) => read_namespaces(namespaces)?,
            None => Vec::new(),
        };
        Ok(Self {
            namespaces,
            issuer_auth,
            payload: payload.ok_or(MdocError::Malformed("issuerAuth"))?,
            issuer_auth_bytes: auth.raw(),
        })
    }

    /// The security object. Whether it is genuine is for a verification to say.
    ///
    /// # Errors
    /// What is malformed or unsupported.
    pub fn security_object(&self) -> Result<SecurityObject<'b>, MdocError> {
        let outer = Cbor::parse(self.payload, &LIMITS)?;
        SecurityObject::read(&outer.embedded(&LIMITS)?)
    }

    /// The item of an element.
    pub fn item(&self, namespace: &str, element: &str) -> Option<&SignedItem<'b>> {
        let found = self.namespaces.iter().find(|one| one.name == namespace)?;
        found.items.iter().find(|item| item.element == element)
    }

    /// Writes the document with these elements alone.
    ///
    /// # Errors
    /// `NoElement` for one that it does not have.
    pub fn disclose(&self, chosen: &[ElementPath<'_>]) -> Result<Vec<u8>, MdocError> {
        let mut kept: Vec<(&str, Vec<&[u8]>)> = Vec::new();
        for path in chosen {
            let item = self.item(path.namespace, path.element);
            let item = item.ok_or_else(|| MdocError::NoElement(path.element.to_owned()))?;
            match kept.iter_mut().find(|(name, _)| *name == path.namespace) {
                Some((_, items)) if items.contains(&item.bytes) => {}
                Some((_, items)) => items.push(item.bytes),
                None => kept.push((path.namespace, vec![item.bytes])),
            }
        }
        Ok(write_issuer_signed(&kept, self.issuer_auth_bytes))
    }
}

/// The place of an element.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct ElementPath<'a> {
    /// The namespace.
    pub namespace: &'a str,
    /// The element.
    pub element: &'a str,
}

/// Writes the items by namespace, and the issuer's signature, each encoded already.
pub(crate) fn write_issuer_signed(
    namespaces: &[(&str, Vec<&[u8]>)],
    issuer_auth: &[u8],
) -> Vec<u8> {
    let items = |items: &[&[u8]], to: &mut CborWriter| {
        to.array(items.len());
        items.iter().for_each(|item| {
            to.raw(item);
        });
    };
    let mut members = vec![security::entry("issuerAuth", |to| {
        to.raw(issuer_auth);
    })];
    if !namespaces.is_empty() {
        let each = namespaces.iter();
        let each = each.map(|(name, all)| security::entry(name, |to| items(all, to)));
        members.push(security::entry("nameSpaces", |to| {
            to.sorted(each);
        }));
    }
    encode(|to| {
        to.sorted(members);
    })
}

fn read_namespaces<'b>(item: &Cbor<'b>) -> Result<Vec<SignedNamespace<'b>>, MdocError> {
    let pairs = item.map().ok_or(MdocError::Malformed("nameSpaces"))?;
    if pairs.len() > NAMESPACES_MAX {
        return Err(MdocError::TooMany);
    }
    // The items of all elements count together, so that a document takes little more memory than its bytes.
    let mut limits = LIMITS;
    let namespaces = pairs.iter().map(|pair| read_namespace(pair, &mut limits));
    namespaces.collect()
}

fn read_namespace<'b>(
    pair: &CborPair<'b>,
    limits: &mut CborLimits,
) -> Result<SignedNamespace<'b>, MdocError> {
    const WRONG: MdocError = MdocError::Malformed("nameSpaces");
    let items = pair.value.array().ok_or(WRONG)?;
    if items.len() > ELEMENTS_MAX {
        return Err(MdocError::TooMany);
    }
    let (mut names, mut ids) = (BTreeSet::new(), BTreeSet::new());
    let mut read: Vec<SignedItem<'b>> = Vec::with_capacity(items.len());
    for item in items {
        let item = read_item(item, limits)?;
        // The standard has neither twice; which of the two values counts would be anybody's guess.
        if !names.insert(item.element) || !ids.insert(item.digest_id) {
            return Err(MdocError::Malformed("elementIdentifier"));
        }
        read.push(item);
    }
    Ok(SignedNamespace {
        name: pair.key.text().ok_or(WRONG)?,
        items: read,
    })
}

fn read_item<'b>(outer: &Cbor<'b>, limits: &mut CborLimits) -> Result<SignedItem<'b>, MdocError> {
    let item = outer.embedded_counted(limits)?;
    let random = member(&item, "random")?.bytes();
    if random.is_none_or(|random| random.len() < RANDOM_MIN) {
        return Err(MdocError::Malformed("random"));
    }
    let id = digest_id(member(&item, "digestID")?);
    let element = member(&item, "elementIdentifier")?.text();
    Ok(SignedItem {
        bytes: outer.raw(),
        digest_id: id.ok_or(MdocError::Malformed("digestID"))?,
        element: element.ok_or(MdocError::Malformed("elementIdentifier"))?,
        value: member(&item, "elementValue")?.clone(),
    })
}
