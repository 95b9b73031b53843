//! Compact credentials: COSE_Sign1 (RFC 9052 §4.2) over a CWT (RFC 8392) of our own profile (docs/tls.md). Each has
//! exactly one encoding, and its issuer is found by a short key identifier.

use selfsame_credential::status::Reference;
use selfsame_credential::validity::Validity;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{Algorithm, KeyType, PublicKey};
use selfsame_did::{Did, key};
use selfsame_proof::cbor::{self, Any, CborItem, CborReader, CborWriter, Malformed};
use serde_json::{Map, Value};

use super::credential::{Credential, MALFORMED, UNSIGNED, UNTRUSTED};
use super::policy::{IdentityPolicy, TrustedIssuer};
use crate::alert::Refusal;
use crate::codec::{Vc, from_binary, to_binary};
use crate::error::ConfigError;
use crate::named::VcFormat;

/// The purpose of the signature, as `external_aad` (RFC 9052 §4.3). It is signed but not sent.
const PURPOSE: &[u8] = b"selfsame credential 1";
/// The type that every credential has.
const BASE_TYPE: &str = "VerifiableCredential";
const MAX_TYPES: usize = 8;
const MAX_CLAIMS: usize = 32;

/// The bytes of a key's short identifier.
pub const KEY_ID_BYTES: usize = 8;

// Claims (RFC 8392 §4, RFC 8747 §3.1, Token Status List §6.3), and those of ours (private use).
const SUB: i64 = 2;
const EXP: i64 = 4;
const NBF: i64 = 5;
const CNF: i64 = 8;
const STATUS: i64 = 65_535;
const STATUS_INDEX: i64 = -65_537;
const TYPES: i64 = -65_538;
const CLAIMS: i64 = -65_539;

/// The content of a compact credential.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CoseVc {
    /// The subject.
    pub subject: CoseSubject,
    /// The credential is not valid before this time.
    pub not_before: Option<UnixTime>,
    /// The credential is not valid from this time on.
    pub expires: UnixTime,
    /// Its types besides `VerifiableCredential`.
    pub types: Vec<String>,
    /// Its claims: texts, non-negative numbers, booleans, lists of texts.
    pub claims: Map<String, Value>,
    /// Where its status is published.
    pub status: Option<CoseStatus>,
}

/// How a compact credential names its subject.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum CoseSubject {
    /// By a DID that has a binary form (`sub`).
    Did(Did),
    /// By its key, Ed25519 or P-256 (`cnf`).
    Key(PublicKey),
}

/// Where the status of a compact credential is published.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum CoseStatus {
    /// An index into the list that the verifier knows for the issuer.
    Index(u64),
    /// An index into a list at a URI.
    List {
        /// The index.
        index: u64,
        /// The URI of the list.
        uri: String,
    },
}

/// A compact credential without its signature.
#[derive(Clone, Debug)]
pub struct CoseDraft {
    algorithm: Algorithm,
    protected: Vec<u8>,
    payload: Vec<u8>,
}

/// The short identifier of a key: the first bytes of its JWK thumbprint (RFC 7638).
pub fn short_key_id(key: &PublicKey) -> [u8; KEY_ID_BYTES] {
    let thumbprint = key.thumbprint();
    thumbprint.first_chunk().copied().unwrap_or_default()
}

impl CoseVc {
    /// The credential for the issuer with this key to sign. Fails if a part has no compact form.
    pub fn draft(&self, issuer: &PublicKey) -> Result<CoseDraft, ConfigError> {
        let header = CoseHeader {
            algorithm: algorithm_of(issuer.key_type()).ok_or(ConfigError::Format)?,
            key_id: short_key_id(issuer),
        };
        let payload = self.to_cbor();
        // A value that does not read back as itself has no compact form.
        match Self::from_cbor(&payload) {
            Ok(again) if again == *self => Ok(CoseDraft {
                algorithm: header.algorithm,
                protected: header.to_cbor(),
                payload,
            }),
            _ => Err(ConfigError::Format),
        }
    }

    /// Parses a credential, and verifies that a trusted issuer's key signed it.
    pub(super) fn accept(vc: Vc, policy: &IdentityPolicy) -> Result<Credential, Refusal> {
        let message = Sign1::from_cbor(&vc.bytes).map_err(|_| MALFORMED)?;
        let header = CoseHeader::from_cbor(&message.protected).map_err(|_| MALFORMED)?;
        let read = Self::from_cbor(&message.payload).map_err(|_| MALFORMED)?;
        let (issuer, key_id, key) = signer(policy, &header)?;
        let signed = to_be_signed(&message.protected, PURPOSE, &message.payload);
        let genuine = key.verify(header.algorithm, &signed, &message.signature);
        genuine.map_err(|_| UNSIGNED)?;
        let types = std::iter::once(BASE_TYPE.to_owned()).chain(read.types);
        Ok(Credential {
            issuer: issuer.did.clone(),
            key_id: key_id.to_owned(),
            subject: match read.subject {
                CoseSubject::Did(did) => did,
                CoseSubject::Key(key) => key::create(&key),
            },
            validity: Validity {
                not_before: read.not_before,
                expires: Some(read.expires),
            },
            types: types.collect(),
            claims: read.claims,
            statuses: match read.status {
                None => Vec::new(),
                Some(CoseStatus::List { index, uri }) => vec![Reference::token(uri, index)],
                Some(CoseStatus::Index(index)) => {
                    let list = issuer.status_list.clone().ok_or(UNTRUSTED)?;
                    vec![Reference::token(list, index)]
                }
            },
            vc,
        })
    }
}

impl CoseDraft {
    /// The algorithm to sign with.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The bytes to sign.
    pub fn signing_bytes(&self) -> Vec<u8> {
        to_be_signed(&self.protected, PURPOSE, &self.payload)
    }

    /// The credential with this signature (ECDSA: r and s, RFC 9053 §2.1).
    pub fn finish(self, signature: &[u8]) -> Vc {
        let message = Sign1 {
            protected: self.protected,
            payload: self.payload,
            signature: signature.to_vec(),
        };
        Vc {
            format: VcFormat::COSE,
            bytes: message.to_cbor(),
        }
    }
}

/// The one key with this identifier among the policy's issuers; if two keys match, the signer would be ambiguous.
fn signer<'a>(
    policy: &'a IdentityPolicy,
    header: &CoseHeader,
) -> Result<(&'a TrustedIssuer, &'a str, &'a PublicKey), Refusal> {
    let issuers = policy.issuers.iter();
    let keys = issuers.flat_map(|issuer| issuer.keys.iter().map(move |key| (issuer, key)));
    let mut named = keys.filter(|(_, (_, key))| short_key_id(key) == header.key_id);
    match (named.next(), named.next()) {
        (Some((issuer, (key_id, key))), None) => Ok((issuer, key_id, key)),
        _ => Err(UNTRUSTED),
    }
}

/// Sig_structure (RFC 9052 §4.4).
fn to_be_signed(protected: &[u8], purpose: &[u8], payload: &[u8]) -> Vec<u8> {
    cbor::encode(|to| {
        to.array(4)
            .text("Signature1")
            .bytes(protected)
            .bytes(purpose)
            .bytes(payload);
    })
}

/// COSE_Sign1, without a tag.
struct Sign1 {
    protected: Vec<u8>,
    payload: Vec<u8>,
    signature: Vec<u8>,
}

impl CborItem for Sign1 {
    fn write(&self, to: &mut CborWriter) {
        to.array(4).bytes(&self.protected).map(0);
        to.bytes(&self.payload).bytes(&self.signature);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(4)?;
        let protected = from.bytes()?.to_vec();
        if from.map()? != 0 {
            return Err(Malformed("a parameter is not protected"));
        }
        Ok(Self {
            protected,
            payload: from.bytes()?.to_vec(),
            signature: from.bytes()?.to_vec(),
        })
    }
}

/// The protected header: `alg` and `kid`, nothing else (RFC 9052 §3.1).
struct CoseHeader {
    algorithm: Algorithm,
    key_id: [u8; KEY_ID_BYTES],
}

impl CborItem for CoseHeader {
    fn write(&self, to: &mut CborWriter) {
        let mut known = ALGORITHMS.iter();
        let number = known.find(|(_, algorithm)| *algorithm == self.algorithm);
        to.map(2)
            .int(1)
            .int(number.map_or(0, |(number, _)| *number));
        to.int(4).bytes(&self.key_id);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        if from.map()? != 2 || from.int()? != 1 {
            return Err(Malformed("a header with other members"));
        }
        let number = from.int()?;
        let mut known = ALGORITHMS.iter();
        let algorithm = known.find(|(known, _)| *known == number);
        let (_, algorithm) = algorithm.ok_or(Malformed("an unknown algorithm"))?;
        if from.int()? != 4 {
            return Err(Malformed("a header with other members"));
        }
        Ok(Self {
            algorithm: *algorithm,
            key_id: from.array_of()?,
        })
    }
}

/// Each algorithm by its fully-specified number (RFC 9864 §2.2, RFC 8230 §5, RFC 9964 §3).
const ALGORITHMS: [(i64, Algorithm); 6] = [
    (-19, Algorithm::EdDsa),
    (-9, Algorithm::Es256),
    (-51, Algorithm::Es384),
    (-37, Algorithm::Ps256),
    (-48, Algorithm::MlDsa44),
    (-49, Algorithm::MlDsa65),
];

fn algorithm_of(kind: KeyType) -> Option<Algorithm> {
    let mut known = ALGORITHMS.iter();
    let fits = known.find(|(_, algorithm)| algorithm.key_type() == kind);
    fits.map(|(_, algorithm)| *algorithm)
}

impl CborItem for CoseVc {
    /// The claims in the order of their encoded names: those above zero first.
    fn write(&self, to: &mut CborWriter) {
        let optional = [
            self.not_before.is_some(),
            self.status.is_some(),
            !self.types.is_empty(),
            !self.claims.is_empty(),
        ];
        let further = optional.iter().filter(|is_there| **is_there).count();
        to.map(further.saturating_add(2));
        if let CoseSubject::Did(did) = &self.subject {
            to.int(SUB).bytes(&subject_bytes(did));
        }
        to.int(EXP).uint(self.expires.0);
        if let Some(time) = self.not_before {
            to.int(NBF).uint(time.0);
        }
        if let CoseSubject::Key(key) = &self.subject {
            to.int(CNF).map(1).int(1);
            write_key(key, to);
        }
        match &self.status {
            None => {}
            Some(CoseStatus::Index(index)) => {
                to.int(STATUS_INDEX).uint(*index);
            }
            Some(CoseStatus::List { index, uri }) => {
                to.int(STATUS).map(1).text("status_list");
                to.map(2).text("idx").uint(*index).text("uri").text(uri);
            }
        }
        if !self.types.is_empty() {
            to.int(TYPES).items(&self.types);
        }
        if !self.claims.is_empty() {
            to.int(CLAIMS);
            write_claims(&self.claims, to);
        }
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        let mut parts = CoseParts::default();
        for _ in 0..from.map()? {
            match from.int()? {
                SUB => parts.did = Some(read_subject(from.bytes()?)?),
                EXP => parts.expires = Some(UnixTime(from.uint()?)),
                NBF => parts.not_before = Some(UnixTime(from.uint()?)),
                CNF => parts.key = Some(read_cnf(from)?),
                STATUS => parts.status = Some(read_status(from)?),
                STATUS_INDEX if parts.status.is_none() => {
                    parts.status = Some(CoseStatus::Index(from.uint()?));
                }
                TYPES => parts.types = read_types(from)?,
                CLAIMS => parts.claims = read_claims(from)?,
                _ => return Err(Malformed("an unknown claim")),
            }
        }
        let subject = match (parts.did, parts.key) {
            (Some(did), None) => CoseSubject::Did(did),
            (None, Some(key)) => CoseSubject::Key(key),
            _ => return Err(Malformed("not exactly one subject")),
        };
        Ok(Self {
            subject,
            not_before: parts.not_before,
            expires: parts.expires.ok_or(Malformed("the expiry is missing"))?,
            types: parts.types,
            claims: parts.claims,
            status: parts.status,
        })
    }
}

/// The claims as they are read.
#[derive(Default)]
struct CoseParts {
    did: Option<Did>,
    key: Option<PublicKey>,
    expires: Option<UnixTime>,
    not_before: Option<UnixTime>,
    types: Vec<String>,
    claims: Map<String, Value>,
    status: Option<CoseStatus>,
}

fn subject_bytes(did: &Did) -> Vec<u8> {
    // A DID without a binary form is detected when the claims are read back.
    let (code, bytes) = to_binary(did).unwrap_or_default();
    [&[code], bytes.as_slice()].concat()
}

fn read_subject(bytes: &[u8]) -> Result<Did, Malformed> {
    let (code, bytes) = bytes.split_first().ok_or(Malformed("no subject"))?;
    from_binary(*code, bytes).map_err(|_| Malformed("the subject is not a DID"))
}

fn read_status(from: &mut CborReader<'_>) -> Result<CoseStatus, Malformed> {
    let other = Malformed("a status of another kind");
    if from.map()? != 1 || from.text()? != "status_list" {
        return Err(other);
    }
    if from.map()? != 2 || from.text()? != "idx" {
        return Err(other);
    }
    let index = from.uint()?;
    match from.text()? {
        "uri" => Ok(CoseStatus::List {
            index,
            uri: from.text()?.to_owned(),
        }),
        _ => Err(other),
    }
}

fn read_types(from: &mut CborReader<'_>) -> Result<Vec<String>, Malformed> {
    match from.array()? {
        length @ 1..=MAX_TYPES => (0..length).map(|_| String::read(from)).collect(),
        _ => Err(Malformed("no types, or too many")),
    }
}

/// A COSE_Key (RFC 9052 §7, RFC 9053 §7): Ed25519 or P-256.
fn write_key(key: &PublicKey, to: &mut CborWriter) {
    match (key.key_type(), key.bytes()) {
        (KeyType::P256, [_, point @ ..]) => {
            let (x, y) = point.split_at_checked(32).unwrap_or_default();
            to.map(4).int(1).int(2).int(-1).int(1);
            to.int(-2).bytes(x).int(-3).bytes(y);
        }
        // A key of another type is detected when the claims are read back.
        (_, bytes) => {
            to.map(3).int(1).int(1).int(-1).int(6);
            to.int(-2).bytes(bytes);
        }
    }
}

fn read_cnf(from: &mut CborReader<'_>) -> Result<PublicKey, Malformed> {
    const OTHER: Malformed = Malformed("a key of another kind");
    let expect = |found: i64, number: i64| match found == number {
        true => Ok(()),
        false => Err(OTHER),
    };
    if from.map()? != 1 {
        return Err(OTHER);
    }
    expect(from.int()?, 1)?;
    let members = from.map()?;
    expect(from.int()?, 1)?;
    let kind = from.int()?;
    expect(from.int()?, -1)?;
    let curve = from.int()?;
    expect(from.int()?, -2)?;
    let x: [u8; 32] = from.array_of()?;
    let key = match (members, kind, curve) {
        (3, 1, 6) => PublicKey::from_raw(KeyType::Ed25519, &x),
        (4, 2, 1) => {
            expect(from.int()?, -3)?;
            let y: [u8; 32] = from.array_of()?;
            PublicKey::from_raw(KeyType::P256, &[&[4], &x[..], &y[..]].concat())
        }
        _ => return Err(OTHER),
    };
    key.map_err(|_| OTHER)
}

/// The claims in the order of their encoded names: shorter ones first (RFC 8949 §4.2.1).
fn write_claims(claims: &Map<String, Value>, to: &mut CborWriter) {
    let mut names: Vec<&String> = claims.keys().collect();
    names.sort_by_key(|name| (name.len(), name.as_bytes()));
    to.map(names.len());
    for name in names {
        to.text(name);
        match claims.get(name) {
            Some(Value::String(text)) => {
                to.text(text);
            }
            Some(Value::Bool(is_so)) => {
                to.bool(*is_so);
            }
            Some(Value::Array(all)) => {
                to.array(all.len());
                for text in all {
                    to.text(text.as_str().unwrap_or_default());
                }
            }
            // A value that is not a number either is detected when the claims are read back.
            other => {
                to.uint(other.and_then(Value::as_u64).unwrap_or_default());
            }
        }
    }
}

fn read_claims(from: &mut CborReader<'_>) -> Result<Map<String, Value>, Malformed> {
    let length = from.map()?;
    if length == 0 || length > MAX_CLAIMS {
        return Err(Malformed("no claims, or too many"));
    }
    let mut claims = Map::new();
    for _ in 0..length {
        let name = from.text()?.to_owned();
        claims.insert(name, value(Any::read(from)?)?);
    }
    Ok(claims)
}

fn value(any: Any) -> Result<Value, Malformed> {
    let text = |any| match any {
        Any::Text(text) => Ok(Value::from(text)),
        _ => Err(Malformed("a list of values that are not texts")),
    };
    match any {
        Any::Uint(number) => Ok(Value::from(number)),
        Any::Bool(is_so) => Ok(Value::from(is_so)),
        Any::Text(text) => Ok(Value::from(text)),
        Any::Array(all) => all.into_iter().map(text).collect::<Result<_, _>>(),
        Any::Bytes(_) => Err(Malformed("a claim of another kind")),
    }
}

#[cfg(test)]
mod tests;
