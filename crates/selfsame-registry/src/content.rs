//! The content of a DID: keys, services, other names. Resolution builds the DID document from it.

use std::ops::BitOr;

use selfsame_crypto::{KeyType, PublicKey};

use crate::encoding::public_key;
use crate::rules::Rules;
use selfsame_proof::cbor::{CborItem, CborReader, CborWriter, Malformed};

const MAX_FRAGMENT_BYTES: usize = 64;
const MAX_TYPE_BYTES: usize = 64;

/// Keys, services and other names of a DID at one version.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Content {
    /// Its keys; at least one may change the DID.
    pub keys: Vec<Key>,
    /// Its services.
    pub services: Vec<Service>,
    /// Other URIs of the same subject.
    pub also_known_as: Vec<String>,
}

/// A verification method.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Key {
    /// Its fragment in the document, without `#`.
    pub id: String,
    /// The public key.
    pub public: PublicKey,
    /// Its verification relationships.
    pub uses: Uses,
}

/// A service.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Service {
    /// Its fragment in the document, without `#`.
    pub id: String,
    /// Its type.
    pub kind: String,
    /// Its endpoint, a URI.
    pub endpoint: String,
}

/// Verification relationships, as bits.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Uses(u64);

/// Why content is refused.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ContentFault {
    /// Larger than the network allows.
    #[error("it is larger than the network allows")]
    TooLarge,
    /// Too many keys.
    #[error("it has more keys than the network allows")]
    TooManyKeys,
    /// Too many services.
    #[error("it has more services than the network allows")]
    TooManyServices,
    /// Too many other names.
    #[error("it has more other names than the network allows")]
    TooManyNames,
    /// The name of a key or service is not a plain fragment.
    #[error("a key or service has a name that is not a plain fragment")]
    Fragment,
    /// Two keys or services have the same name.
    #[error("two keys or services have the same name")]
    DuplicateName,
    /// No key could change the DID any more.
    #[error("no Ed25519 or P-256 key has capabilityInvocation, so nothing could change the DID")]
    NoInvocationKey,
    /// A key has no use, or a use that its type does not support.
    #[error("a key has no use, or one its type is not made for")]
    Use,
    /// A key that is not a point of its curve, so that no private key belongs to it.
    #[error("an Ed25519 key is not a point of its curve, so no private key belongs to it")]
    NoPoint,
    /// A service's type is malformed.
    #[error("a service has a malformed type")]
    ServiceType,
    /// An endpoint, another name or a status list's URI is malformed or too long.
    #[error("a URI is malformed or longer than the network allows")]
    Uri,
}

impl Uses {
    /// `authentication`
    pub const AUTHENTICATION: Self = Self(1);
    /// `assertionMethod`
    pub const ASSERTION: Self = Self(2);
    /// `keyAgreement`
    pub const AGREEMENT: Self = Self(4);
    /// `capabilityInvocation`: signs transactions of the DID.
    pub const INVOCATION: Self = Self(8);
    /// `capabilityDelegation`
    pub const DELEGATION: Self = Self(16);
    /// Authentication, assertion and capability invocation: the uses of a DID's only key.
    pub const SIGNING: Self = Self(1 | 2 | 8);

    const ALL: u64 = 31;

    /// Whether all uses in `other` are among these.
    pub fn include(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Uses {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Content {
    /// The content of a DID with a single key, which has the uses of a signing key.
    pub fn of_key(id: &str, public: PublicKey) -> Self {
        Self {
            keys: vec![Key {
                id: id.to_owned(),
                public,
                uses: Uses::SIGNING,
            }],
            ..Self::default()
        }
    }

    /// The key with this name, if it may sign transactions.
    pub fn invocation_key(&self, id: &str) -> Option<&PublicKey> {
        let key = self.keys.iter().find(|key| key.id == id)?;
        key.signs_transactions().then_some(&key.public)
    }

    pub(crate) fn check(&self, rules: &Rules) -> Result<(), ContentFault> {
        self.has_an_allowed_size(rules)?;
        self.has_plain_and_unique_names()?;
        self.can_be_changed()?;
        self.keys.iter().try_for_each(Key::has_uses_of_its_type)?;
        self.keys.iter().try_for_each(|key| is_point(&key.public))?;
        self.services.iter().try_for_each(Service::has_a_type)?;
        let endpoints = self.services.iter().map(|service| &service.endpoint);
        let mut uris = endpoints.chain(&self.also_known_as);
        uris.try_for_each(|uri| is_uri(uri, rules))
    }

    fn has_an_allowed_size(&self, rules: &Rules) -> Result<(), ContentFault> {
        let over =
            |length: usize, limit: u64| u64::try_from(length).is_ok_and(|length| length > limit);
        if over(self.keys.len(), rules.max_keys) {
            return Err(ContentFault::TooManyKeys);
        }
        if over(self.services.len(), rules.max_services) {
            return Err(ContentFault::TooManyServices);
        }
        if over(self.also_known_as.len(), rules.max_also_known_as) {
            return Err(ContentFault::TooManyNames);
        }
        if over(self.to_cbor().len(), rules.max_content_bytes) {
            return Err(ContentFault::TooLarge);
        }
        Ok(())
    }

    /// Keys and services share one namespace: the names are fragments of the same document.
    fn has_plain_and_unique_names(&self) -> Result<(), ContentFault> {
        let keys = self.keys.iter().map(|key| key.id.as_str());
        let services = self.services.iter().map(|service| service.id.as_str());
        let mut names: Vec<&str> = keys.chain(services).collect();
        if !names.iter().all(|name| is_fragment(name)) {
            return Err(ContentFault::Fragment);
        }
        names.sort_unstable();
        match names
            .windows(2)
            .any(|pair| matches!(pair, [a, b] if a == b))
        {
            true => Err(ContentFault::DuplicateName),
            false => Ok(()),
        }
    }

    fn can_be_changed(&self) -> Result<(), ContentFault> {
        match self.keys.iter().any(Key::signs_transactions) {
            true => Ok(()),
            false => Err(ContentFault::NoInvocationKey),
        }
    }
}

impl Key {
    fn signs_transactions(&self) -> bool {
        let fit = matches!(self.public.key_type(), KeyType::Ed25519 | KeyType::P256);
        fit && self.uses.include(Uses::INVOCATION)
    }

    /// Ed25519 and RSA keys only sign; the other types also support key agreement.
    fn has_uses_of_its_type(&self) -> Result<(), ContentFault> {
        let signs_only = matches!(self.public.key_type(), KeyType::Ed25519 | KeyType::Rsa);
        match self.uses.0 == 0 || (signs_only && self.uses.include(Uses::AGREEMENT)) {
            true => Err(ContentFault::Use),
            false => Ok(()),
        }
    }
}

/// A key that is not a point has no private key, so its owner could never sign again (RFC 8032 §5.1.3).
pub(crate) fn is_point(key: &PublicKey) -> Result<(), ContentFault> {
    match key.is_point() {
        true => Ok(()),
        false => Err(ContentFault::NoPoint),
    }
}

impl Service {
    fn has_a_type(&self) -> Result<(), ContentFault> {
        let length = self.kind.len();
        let plain = self.kind.bytes().all(|byte| byte.is_ascii_graphic());
        match (1..=MAX_TYPE_BYTES).contains(&length) && plain {
            true => Ok(()),
            false => Err(ContentFault::ServiceType),
        }
    }
}

pub(crate) fn is_fragment(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (1..=MAX_FRAGMENT_BYTES).contains(&name.len()) && name.bytes().all(plain)
}

/// RFC 3986 §3: a scheme, a colon, a non-empty rest, and no character that URIs exclude.
pub(crate) fn is_uri(text: &str, rules: &Rules) -> Result<(), ContentFault> {
    let short = u64::try_from(text.len()).is_ok_and(|length| length <= rules.max_uri_bytes);
    let Some((scheme, rest)) = text.split_once(':') else {
        return Err(ContentFault::Uri);
    };
    let named = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
    let never = |b: u8| {
        matches!(
            b,
            b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}'
        )
    };
    let plain = rest.bytes().all(|b| b.is_ascii_graphic() && !never(b));
    match short && named && plain && !rest.is_empty() {
        true => Ok(()),
        false => Err(ContentFault::Uri),
    }
}

impl CborItem for Content {
    fn write(&self, to: &mut CborWriter) {
        to.array(3)
            .items(&self.keys)
            .items(&self.services)
            .items(&self.also_known_as);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(3)?;
        Ok(Self {
            keys: from.items()?,
            services: from.items()?,
            also_known_as: from.items()?,
        })
    }
}

impl CborItem for Key {
    fn write(&self, to: &mut CborWriter) {
        to.array(3)
            .text(&self.id)
            .bytes(&self.public.to_multicodec())
            .uint(self.uses.0);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(3)?;
        Ok(Self {
            id: from.text()?.to_owned(),
            public: public_key(from)?,
            uses: match from.uint()? {
                bits if bits <= Uses::ALL => Uses(bits),
                _ => return Err(Malformed("a key has an unknown use")),
            },
        })
    }
}

impl CborItem for Service {
    fn write(&self, to: &mut CborWriter) {
        to.array(3)
            .text(&self.id)
            .text(&self.kind)
            .text(&self.endpoint);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(3)?;
        Ok(Self {
            id: from.text()?.to_owned(),
            kind: from.text()?.to_owned(),
            endpoint: from.text()?.to_owned(),
        })
    }
}
