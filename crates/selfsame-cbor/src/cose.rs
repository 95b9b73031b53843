//! COSE_Sign1, COSE_Mac0 (RFC 9052 §4.2, §6.2) and public keys (§7) as bytes, and the bytes that are signed.

use crate::deterministic::{CborWriter, encode};
use crate::tree::{Cbor, CborError, CborKind, CborLimits};

/// Labels of headers (RFC 9052 §3.1, RFC 9360 §2, RFC 9596 §2).
const ALG: i64 = 1;
const CRIT: i64 = 2;
const KID: i64 = 4;
const TYP: i64 = 16;
const X5CHAIN: i64 = 33;
/// Labels of keys (RFC 9052 §7.1, RFC 9053 §7).
const KTY: i64 = 1;
const CRV: i64 = -1;
const X: i64 = -2;
const Y: i64 = -3;
/// Types of keys (RFC 9053 §7).
const OKP: i64 = 1;
const EC2: i64 = 2;
/// Certificates of a chain.
const CHAIN_MAX: usize = 8;
/// Bounds on a protected header.
const HEADER_LIMITS: CborLimits = CborLimits {
    bytes: 16 * 1024,
    depth: 4,
    items: 64,
};

/// Why a message or a key of COSE is refused.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum CoseError {
    /// The message is not an array of the four parts.
    #[error("not a message of COSE")]
    Shape,
    /// The protected header is not CBOR that can be read.
    #[error("the protected header of COSE: {0}")]
    Protected(CborError),
    /// This header is missing or malformed.
    #[error("the COSE header {0} is missing or malformed")]
    Header(&'static str),
    /// A label is in both headers (RFC 9052 §3).
    #[error("a label stands in both headers of COSE")]
    SharedLabel,
    /// A header must be understood that is not known (RFC 9052 §3.1, `crit`).
    #[error("a critical header of COSE is not known")]
    Critical,
    /// The key has another form than that of its curve.
    #[error("the COSE key: {0}")]
    Key(&'static str),
}

/// A message with one signature or with one tag.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CoseKind {
    /// COSE_Sign1.
    Sign1,
    /// COSE_Mac0.
    Mac0,
}

impl CoseKind {
    /// The tag of CBOR that may stand before the message.
    pub const fn tag(self) -> u64 {
        match self {
            Self::Sign1 => 18,
            Self::Mac0 => 17,
        }
    }

    const fn context(self) -> &'static str {
        match self {
            Self::Sign1 => "Signature1",
            Self::Mac0 => "MAC0",
        }
    }
}

/// A message that was received.
#[derive(Clone, Debug)]
pub struct CoseReceived<'b> {
    /// Its kind.
    pub kind: CoseKind,
    /// The number of its algorithm, from the protected header (IANA, COSE Algorithms).
    pub algorithm: i64,
    /// `kid`, from either header.
    pub key_id: Option<&'b [u8]>,
    /// `typ`, from the protected header.
    pub typ: Option<&'b str>,
    /// `x5chain`, from either header: certificates in DER, the signer's first.
    pub chain: Vec<&'b [u8]>,
    /// The payload, unless it is detached.
    pub payload: Option<&'b [u8]>,
    /// The signature or the tag.
    pub proof: &'b [u8],
    protected: &'b [u8],
}

impl<'b> CoseReceived<'b> {
    /// The message of this item, with or without its tag.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(item: &Cbor<'b>, kind: CoseKind) -> Result<Self, CoseError> {
        let item = match item.kind() {
            CborKind::Tag(tag, content) if *tag == kind.tag() => content,
            _ => item,
        };
        let Some([protected, open, payload, proof]) = item.array() else {
            return Err(CoseError::Shape);
        };
        let protected = protected.bytes().ok_or(CoseError::Shape)?;
        let secured = match protected {
            [] => None,
            bytes => Some(Cbor::parse(bytes, &HEADER_LIMITS).map_err(CoseError::Protected)?),
        };
        let headers = Headers {
            secured: secured.as_ref(),
            open,
        };
        headers.check()?;
        let payload = match payload.kind() {
            CborKind::Null => None,
            CborKind::Bytes(bytes) => Some(*bytes),
            _ => return Err(CoseError::Shape),
        };
        let typ = headers.secured.and_then(|secured| secured.labelled(TYP));
        Ok(Self {
            kind,
            algorithm: headers.algorithm()?,
            key_id: headers.value(KID).and_then(Cbor::bytes),
            typ: typ.and_then(Cbor::text),
            chain: headers.chain()?,
            payload,
            proof: proof.bytes().ok_or(CoseError::Shape)?,
            protected,
        })
    }

    /// The bytes that are signed or authenticated, with this payload and without external data.
    pub fn secured(&self, payload: &[u8]) -> Vec<u8> {
        structure(self.kind, self.protected, payload)
    }
}

struct Headers<'h, 'b> {
    secured: Option<&'h Cbor<'b>>,
    open: &'h Cbor<'b>,
}

impl<'h, 'b> Headers<'h, 'b> {
    fn check(&self) -> Result<(), CoseError> {
        let open = self.open.map().ok_or(CoseError::Shape)?;
        let Some(secured) = self.secured else {
            return Err(CoseError::Header("alg"));
        };
        let secured = secured.map().ok_or(CoseError::Shape)?;
        if self.value(CRIT).is_some() {
            return Err(CoseError::Critical);
        }
        let mut each = open.iter();
        match each.any(|pair| secured.iter().any(|other| other.key == pair.key)) {
            true => Err(CoseError::SharedLabel),
            false => Ok(()),
        }
    }

    fn value(&self, label: i64) -> Option<&'h Cbor<'b>> {
        let secured = self.secured.and_then(|secured| secured.labelled(label));
        secured.or_else(|| self.open.labelled(label))
    }

    fn algorithm(&self) -> Result<i64, CoseError> {
        let number = self.secured.and_then(|secured| secured.labelled(ALG));
        number.and_then(Cbor::int).ok_or(CoseError::Header("alg"))
    }

    /// One certificate, or an array of several (RFC 9360 §2).
    fn chain(&self) -> Result<Vec<&'b [u8]>, CoseError> {
        let wrong = CoseError::Header("x5chain");
        let Some(chain) = self.value(X5CHAIN) else {
            return Ok(Vec::new());
        };
        match chain.kind() {
            CborKind::Bytes(one) => Ok(vec![one]),
            CborKind::Array(all) if (1..=CHAIN_MAX).contains(&all.len()) => {
                let all = all.iter().map(|one| one.bytes().ok_or(wrong));
                all.collect()
            }
            _ => Err(wrong),
        }
    }
}

/// A message that is to be signed or authenticated.
#[derive(Clone, Debug)]
pub struct CoseOutgoing {
    kind: CoseKind,
    protected: Vec<u8>,
    chain: Vec<Vec<u8>>,
}

impl CoseOutgoing {
    /// A message with the algorithm of this number.
    pub fn new(kind: CoseKind, algorithm: i64) -> Self {
        Self {
            kind,
            protected: encode(|to| {
                to.map(1).int(ALG).int(algorithm);
            }),
            chain: Vec::new(),
        }
    }

    /// With this type in the protected header.
    #[must_use]
    pub fn of_type(self, algorithm: i64, typ: &str) -> Self {
        let protected = encode(|to| {
            to.map(2).int(ALG).int(algorithm).int(TYP).text(typ);
        });
        Self { protected, ..self }
    }

    /// With these certificates (DER), the signer's first, in the unprotected header.
    #[must_use]
    pub fn with_chain(self, chain: Vec<Vec<u8>>) -> Self {
        Self { chain, ..self }
    }

    /// The bytes to sign or to authenticate.
    pub fn secured(&self, payload: &[u8]) -> Vec<u8> {
        structure(self.kind, &self.protected, payload)
    }

    /// Writes the message without its tag; without a payload it is detached.
    pub fn write(&self, payload: Option<&[u8]>, proof: &[u8], to: &mut CborWriter) {
        to.array(4).bytes(&self.protected);
        to.map(usize::from(!self.chain.is_empty()));
        if !self.chain.is_empty() {
            to.int(X5CHAIN);
        }
        if self.chain.len() > 1 {
            to.array(self.chain.len());
        }
        for certificate in &self.chain {
            to.bytes(certificate);
        }
        match payload {
            Some(payload) => to.bytes(payload),
            None => to.null(),
        };
        to.bytes(proof);
    }
}

/// Sig_structure and MAC_structure (RFC 9052 §4.4, §6.3), without external data.
fn structure(kind: CoseKind, protected: &[u8], payload: &[u8]) -> Vec<u8> {
    encode(|to| {
        to.array(4).text(kind.context()).bytes(protected);
        to.bytes(&[]).bytes(payload);
    })
}

/// A curve of a public key (IANA, COSE Elliptic Curves).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CoseCurve {
    /// NIST P-256.
    P256,
    /// NIST P-384.
    P384,
    /// X25519.
    X25519,
    /// Ed25519.
    Ed25519,
}

impl CoseCurve {
    const ALL: [Self; 4] = [Self::P256, Self::P384, Self::X25519, Self::Ed25519];

    const fn number(self) -> i64 {
        match self {
            Self::P256 => 1,
            Self::P384 => 2,
            Self::X25519 => 4,
            Self::Ed25519 => 6,
        }
    }

    const fn size(self) -> usize {
        match self {
            Self::P384 => 48,
            Self::P256 | Self::X25519 | Self::Ed25519 => 32,
        }
    }

    const fn has_two_coordinates(self) -> bool {
        matches!(self, Self::P256 | Self::P384)
    }
}

/// A public key.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CosePublic<'b> {
    /// Its curve.
    pub curve: CoseCurve,
    /// The first coordinate, or the whole key, with leading zeros.
    pub x: &'b [u8],
    /// The second coordinate, with leading zeros; empty where a row lacks one.
    pub y: &'b [u8],
}

impl<'b> CosePublic<'b> {
    /// The key of this map (RFC 9052 §7, RFC 9053 §7). Members that say what the key is for are left aside.
    ///
    /// # Errors
    /// `Key` with what is wrong: another type or curve, a coordinate of another length, a compressed point.
    pub fn read(item: &Cbor<'b>) -> Result<Self, CoseError> {
        let number = |label| item.labelled(label).and_then(Cbor::int);
        let curve = number(CRV);
        let curve = CoseCurve::ALL
            .into_iter()
            .find(|known| Some(known.number()) == curve)
            .ok_or(CoseError::Key("an unknown curve"))?;
        let kind = if curve.has_two_coordinates() {
            EC2
        } else {
            OKP
        };
        if number(KTY) != Some(kind) {
            return Err(CoseError::Key("another type than its curve's"));
        }
        let whole = |label| {
            let found = item.labelled(label).and_then(Cbor::bytes);
            let found = found.filter(|bytes| bytes.len() == curve.size());
            found.ok_or(CoseError::Key(
                "a coordinate is missing or of another length",
            ))
        };
        let y = match item.labelled(Y).map(Cbor::kind) {
            Some(CborKind::Bool(_)) => return Err(CoseError::Key("a compressed point")),
            Some(_) if !curve.has_two_coordinates() => {
                return Err(CoseError::Key(
                    "a second coordinate, which its curve does not have",
                ));
            }
            _ if curve.has_two_coordinates() => whole(Y)?,
            _ => &[],
        };
        Ok(Self {
            curve,
            x: whole(X)?,
            y,
        })
    }

    /// Writes the key.
    pub fn write(&self, to: &mut CborWriter) {
        if self.curve.has_two_coordinates() {
            to.map(4)
                .int(KTY)
                .int(EC2)
                .int(CRV)
                .int(self.curve.number());
            to.int(X).bytes(self.x).int(Y).bytes(self.y);
        } else {
            to.map(3)
                .int(KTY)
                .int(OKP)
                .int(CRV)
                .int(self.curve.number());
            to.int(X).bytes(self.x);
        }
    }
}

#[cfg(test)]
mod tests;
