//! DID-linked resources, as defined by cheqd: immutable, addressed by a UUID in the collection of their DID; another
//! one with the same name and type is the next version.

use std::fmt;

use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash::sha256;
use selfsame_did::Did;
use selfsame_proof::cbor::{CborItem, CborReader, CborWriter, Malformed};

use crate::encoding::{optional, write_optional};
use crate::receipt::{Receipt, Version};

/// The UUID of a resource.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ResourceId(pub [u8; 16]);

/// A resource as its DID publishes it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Resource {
    /// Its UUID.
    pub id: ResourceId,
    /// Its name. The versions of a resource have the same name and type.
    pub name: String,
    /// Its type, for example `StatusListDocument`.
    pub kind: String,
    /// A name for this version.
    pub version: Option<String>,
    /// Its media type.
    pub media_type: String,
    /// Other URIs of the same resource.
    pub also_known_as: Vec<String>,
    /// Its bytes, or their digest.
    pub data: ResourceData,
}

/// The bytes of a resource, or their digest if they are kept elsewhere.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ResourceData {
    /// The bytes.
    Bytes(Vec<u8>),
    /// Their SHA-256.
    Digest([u8; 32]),
}

/// The name that all versions of a resource share.
#[derive(Clone, Copy, Debug)]
pub struct ResourceName<'a> {
    /// The DID that the resource belongs to.
    pub did: &'a Did,
    /// The resource's name.
    pub name: &'a str,
    /// The resource's type.
    pub kind: &'a str,
}

/// A resource in the registry.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PublishedResource {
    /// The resource as it was published.
    pub resource: Resource,
    /// The number of this version of its name and type, from 1.
    pub number: u64,
    /// The version before.
    pub previous: Option<ResourceId>,
    /// The receipt of the transaction that published it.
    pub receipt: Receipt,
}

/// A resource and its place among its versions.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LinkedResource {
    /// The resource.
    pub published: PublishedResource,
    /// The version after.
    pub next: Option<ResourceId>,
}

/// A version of a name and type: the resource's UUID.
pub(crate) struct VersionLink {
    pub(crate) id: ResourceId,
    pub(crate) receipt: Receipt,
}

impl ResourceData {
    /// SHA-256 of the bytes.
    pub fn digest(&self) -> [u8; 32] {
        match self {
            Self::Bytes(bytes) => sha256(bytes),
            Self::Digest(digest) => *digest,
        }
    }
}

impl fmt::Display for ResourceId {
    /// RFC 9562 §4.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, byte) in self.0.iter().enumerate() {
            if matches!(at, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            f.write_str(&hex_encode(&[*byte]))?;
        }
        Ok(())
    }
}

impl CborItem for ResourceId {
    fn write(&self, to: &mut CborWriter) {
        to.bytes(&self.0);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.array_of().map(Self)
    }
}

impl CborItem for Resource {
    fn write(&self, to: &mut CborWriter) {
        to.array(7).item(&self.id).text(&self.name).text(&self.kind);
        write_optional(to, self.version.as_ref());
        to.text(&self.media_type)
            .items(&self.also_known_as)
            .item(&self.data);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(7)?;
        Ok(Self {
            id: ResourceId::read(from)?,
            name: from.text()?.to_owned(),
            kind: from.text()?.to_owned(),
            version: optional(from)?,
            media_type: from.text()?.to_owned(),
            also_known_as: from.items()?,
            data: ResourceData::read(from)?,
        })
    }
}

impl CborItem for ResourceData {
    fn write(&self, to: &mut CborWriter) {
        match self {
            Self::Bytes(bytes) => to.array(2).uint(0).bytes(bytes),
            Self::Digest(digest) => to.array(2).uint(1).bytes(digest),
        };
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(2)?;
        match from.uint()? {
            0 => Ok(Self::Bytes(from.bytes()?.to_vec())),
            1 => from.array_of().map(Self::Digest),
            _ => Err(Malformed("a resource is bytes or a digest")),
        }
    }
}

impl CborItem for PublishedResource {
    fn write(&self, to: &mut CborWriter) {
        to.array(4).item(&self.resource).uint(self.number);
        write_optional(to, self.previous.as_ref());
        to.item(&self.receipt);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(4)?;
        Ok(Self {
            resource: Resource::read(from)?,
            number: from.uint()?,
            previous: optional(from)?,
            receipt: Receipt::read(from)?,
        })
    }
}

impl Version for VersionLink {
    fn receipt(&self) -> &Receipt {
        &self.receipt
    }
}

impl CborItem for VersionLink {
    fn write(&self, to: &mut CborWriter) {
        to.array(2).item(&self.id).item(&self.receipt);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(2)?;
        Ok(Self {
            id: ResourceId::read(from)?,
            receipt: Receipt::read(from)?,
        })
    }
}
