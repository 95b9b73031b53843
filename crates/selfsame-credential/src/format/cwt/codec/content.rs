//! The claims of a compact credential: a CWT (RFC 8392) of our own profile with exactly one encoding (docs/tls.md).

use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyType, PublicKey};
use selfsame_did::{Did, key};
use selfsame_proof::cbor::{Any, CborItem, CborReader, CborWriter, Malformed};
use serde_json::{Map, Value, json};

/// The type that every credential has; a compact one does not state it.
pub const BASE_TYPE: &str = "VerifiableCredential";
/// Maximum number of types besides `VerifiableCredential`.
pub const MAX_TYPES: usize = 8;
/// Maximum number of claims.
pub const MAX_CLAIMS: usize = 32;

// Claims (RFC 8392 §4, RFC 8747 §3.1, Token Status List §6.3), and those of ours (private use).
pub(super) const SUB: i64 = 2;
pub(super) const EXP: i64 = 4;
const NBF: i64 = 5;
pub(super) const CNF: i64 = 8;
pub(super) const STATUS: i64 = 65_535;
pub(super) const STATUS_INDEX: i64 = -65_537;
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

impl CoseVc {
    /// Its types, with the one that every credential has.
    pub fn all_types(&self) -> Vec<&str> {
        let named = self.types.iter().map(String::as_str);
        std::iter::once(BASE_TYPE).chain(named).collect()
    }

    /// The DID of its subject: of a key, its did:key.
    pub fn subject_did(&self) -> Did {
        match &self.subject {
            CoseSubject::Did(did) => did.clone(),
            CoseSubject::Key(key) => key::create(key),
        }
    }

    /// The content as JSON, for people and programs: the claims about the subject stand below `claims`.
    pub fn to_json(&self) -> Value {
        let mut json = json!({
            "type": self.all_types(),
            "sub": self.subject_did(),
            "exp": self.expires.0,
            "claims": self.claims,
        });
        let status = self.status.as_ref().map(|status| match status {
            CoseStatus::Index(index) => json!({"status_list": {"idx": index}}),
            CoseStatus::List { index, uri } => json!({"status_list": {"idx": index, "uri": uri}}),
        });
        let not_before = self.not_before.map(|time| Value::from(time.0));
        if let Some(members) = json.as_object_mut() {
            let optional = [("nbf", not_before), ("status", status)].into_iter();
            members.extend(optional.filter_map(|(name, value)| Some((name.to_owned(), value?))));
        }
        json
    }
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

pub(super) fn subject_bytes(did: &Did) -> Vec<u8> {
    // A DID without a binary form is detected when the claims are read back.
    let (code, bytes) = did.to_binary().unwrap_or_default();
    [&[code], bytes.as_slice()].concat()
}

fn read_subject(bytes: &[u8]) -> Result<Did, Malformed> {
    let (code, bytes) = bytes.split_first().ok_or(Malformed("no subject"))?;
    Did::from_binary(*code, bytes).map_err(|_| Malformed("the subject is not a DID"))
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
pub(super) fn write_key(key: &PublicKey, to: &mut CborWriter) {
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
