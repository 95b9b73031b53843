//! A status list as fetched: parsed and inflated, but not yet verified.

use std::{
    any::Any,
    fmt, str,
    sync::{Arc, OnceLock},
};

use selfsame_crypto::{
    PublicKey, SignatureError,
    encoding::{base64url_decode, base64url_encode},
    jws,
    time::UnixTime,
};

use super::{
    MAX_TOKEN_BYTES, Purpose, StatusError, Value,
    bits::{self, Order, Width},
    bitstring, cwt_list,
    inflated::Inflated,
    list_claims::{ListClaims, ListKind, Times},
    reference::{Mechanism, Reference},
    token_list,
};

/// Tolerated clock difference, in seconds, if a list's time is in the future.
const SKEW: u64 = 60;

/// A status list, parsed and inflated. Its signature must still be verified, with [`List::issuer`] and
/// [`List::verify`].
#[derive(Clone)]
pub struct List {
    pub(super) uri: String,
    pub(super) kind: ListKind,
    pub(super) bytes: Inflated,
    pub(super) issuer: Option<String>,
    pub(super) times: Times,
    signed: SignedForm,
    /// The digest of the key that was found to have signed it.
    pub(super) judged: OnceLock<[u8; 32]>,
    /// Memory that is reserved as long as the list is kept.
    _held: Option<Arc<dyn Any + Send + Sync>>,
}

/// The form in which a list was signed.
#[derive(Clone)]
enum SignedForm {
    /// As a JWT, whose payload was read and is not kept.
    Jwt(Box<jws::Compact>),
    /// As a CWT.
    Cwt(Box<SignedCwt>),
}

/// A CWT as it was received, and its headers in the words of JOSE.
#[derive(Clone)]
struct SignedCwt {
    header: jws::Header,
    body: Vec<u8>,
}

impl List {
    /// The memory that it takes, in bytes: its inflated bits as they are held, and its token.
    pub fn weight(&self) -> usize {
        let signed = match &self.signed {
            SignedForm::Jwt(token) => token.weight(),
            SignedForm::Cwt(signed) => signed.body.len().saturating_mul(2),
        };
        let signed = signed.saturating_add(self.uri.len());
        self.bytes.weight().saturating_add(signed)
    }

    /// Parses the response from `uri`, at the verifier's time `now`.
    pub fn parse(
        uri: &str,
        content_type: Option<&str>,
        body: &[u8],
        now: UnixTime,
    ) -> Result<Self, StatusError> {
        let (list, typ) = match cwt_list::is_like(body) {
            true => (Self::read_cwt(uri, body)?, cwt_list::TYP),
            false => Self::read(uri, body)?,
        };
        if content_type.is_some_and(|content_type| !names(content_type, typ)) {
            return Err(StatusError::WrongType);
        }
        list.is_current(now, SKEW)?;
        Ok(list)
    }

    /// Whether [`List::parse`] would read this very list from a response, without reading it again.
    pub fn is_read_from(&self, content_type: Option<&str>, body: &[u8], now: UnixTime) -> bool {
        let (typ, is_same) = match (&self.signed, &self.kind) {
            (SignedForm::Cwt(signed), _) => (cwt_list::TYP, signed.body == body),
            (SignedForm::Jwt(token), ListKind::Token(_)) => (token_list::TYP, is_text(token, body)),
            (SignedForm::Jwt(token), ListKind::Bitstring(_)) => {
                (bitstring::TYP, is_text(token, body))
            }
        };
        is_same
            && content_type.is_none_or(|content_type| names(content_type, typ))
            && self.is_current(now, SKEW).is_ok()
    }

    /// The signed list as text: the JWT, or the CWT in base64url.
    pub fn to_text(&self) -> String {
        match &self.signed {
            SignedForm::Jwt(token) => {
                let signed = String::from_utf8_lossy(token.signing_input());
                format!("{signed}.{}", base64url_encode(token.signature()))
            }
            SignedForm::Cwt(signed) => base64url_encode(&signed.body),
        }
    }

    /// Reads a list that was parsed before ([`List::to_text`]), whatever the time is.
    pub fn reread(uri: &str, text: &str) -> Result<Self, StatusError> {
        if text.contains('.') {
            return Self::read(uri, text.as_bytes()).map(|(list, _)| list);
        }
        let body = base64url_decode(text).map_err(|_| StatusError::NotAToken("not base64url"))?;
        Self::read_cwt(uri, &body)
    }

    /// The list, and the type of its token.
    fn read(uri: &str, body: &[u8]) -> Result<(Self, &'static str), StatusError> {
        if body.len() > MAX_TOKEN_BYTES {
            return Err(StatusError::TooLarge);
        }
        let text = str::from_utf8(body).map_err(|_| StatusError::NotAToken("not text"))?;
        let mut token = jws::Compact::parse_within(text, MAX_TOKEN_BYTES)
            .map_err(|_| StatusError::NotAToken("not a JWT that can be verified"))?;
        let claims = token
            .claims()
            .map_err(|_| StatusError::NotAToken("its payload is not JSON"))?;
        let claims = claims
            .as_object()
            .ok_or(StatusError::NotAToken("its payload is not a JSON object"))?;
        let (typ, read) = match &token.header {
            header if header.is_of_type(token_list::TYP) => {
                (token_list::TYP, token_list::read(uri, claims)?)
            }
            header if header.is_of_type(bitstring::TYP) => {
                (bitstring::TYP, bitstring::read(uri, claims)?)
            }
            _ => return Err(StatusError::WrongType),
        };
        // The list is kept, and has read all that the payload says.
        token.payload = Vec::new();
        Ok((Self::new(uri, read, SignedForm::Jwt(Box::new(token))), typ))
    }

    fn read_cwt(uri: &str, body: &[u8]) -> Result<Self, StatusError> {
        let read = cwt_list::read(uri, body)?;
        let signed = SignedCwt {
            header: read.header,
            body: body.to_vec(),
        };
        let signed = SignedForm::Cwt(Box::new(signed));
        Ok(Self::new(uri, read.claims, signed))
    }

    fn new(uri: &str, read: ListClaims, signed: SignedForm) -> Self {
        Self {
            uri: uri.to_owned(),
            kind: read.kind,
            bytes: read.bytes.into(),
            issuer: read.issuer,
            times: read.times,
            signed,
            judged: OnceLock::new(),
            _held: None,
        }
    }

    /// The list with something that is kept as long as the list: the reservation of its memory.
    #[must_use]
    pub fn holding(self, what: impl Any + Send + Sync) -> Self {
        Self {
            _held: Some(Arc::new(what)),
            ..self
        }
    }

    /// The URI that it was fetched from.
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// The issuer that it states. A Token Status List may omit it; the credential's issuer is then meant (Token Status
    /// List §11.3).
    pub fn issuer(&self) -> Option<&str> {
        self.issuer.as_deref()
    }

    /// The header of its token; that of a CWT in the words of JOSE.
    pub fn header(&self) -> &jws::Header {
        match &self.signed {
            SignedForm::Jwt(token) => &token.header,
            SignedForm::Cwt(signed) => &signed.header,
        }
    }

    /// Whether it is a JWT.
    pub fn is_jwt(&self) -> bool {
        matches!(self.signed, SignedForm::Jwt(_))
    }

    /// Whether a key was found to have signed it.
    pub fn is_judged(&self) -> bool {
        self.judged.get().is_some()
    }

    /// Whether this key signed it. A valid signature is remembered, so that a cached list is not hashed again for every
    /// credential.
    pub fn verify(&self, key: &PublicKey) -> Result<(), SignatureError> {
        let digest = key.digest();
        if self.judged.get() == Some(&digest) {
            return Ok(());
        }
        match &self.signed {
            SignedForm::Jwt(token) => token.verify(key)?,
            SignedForm::Cwt(signed) => cwt_list::verify(&signed.body, key)?,
        }
        // A second key with a valid signature is not remembered.
        let _ = self.judged.set(digest);
        Ok(())
    }

    /// When it was issued.
    pub fn issued_at(&self) -> Option<UnixTime> {
        self.times.issued_at
    }

    /// When it was signed, as it states: `iat`, or else the beginning of its validity.
    pub fn signed_at(&self) -> Option<UnixTime> {
        self.times.issued_at.or(self.times.not_before)
    }

    /// When it expires.
    pub fn expires_at(&self) -> Option<UnixTime> {
        self.times.expires_at
    }

    /// SHA-256 of all statuses of a Token Status List, which a registry may anchor. It does not depend on the signer or
    /// the time.
    pub fn digest(&self) -> Option<[u8; 32]> {
        match self.kind {
            ListKind::Token(_) => Some(self.bytes.sha256()),
            ListKind::Bitstring(_) => None,
        }
    }

    /// For how many seconds it may be cached.
    pub fn ttl(&self) -> Option<u64> {
        self.times.ttl
    }

    /// Until when a copy that was fetched at this time may be used without fetching again: `exp` and `ttl` take
    /// precedence over HTTP (Token Status List §8.2).
    pub fn fresh_until(&self, fetched_at: UnixTime) -> Option<UnixTime> {
        let ttl = self.times.ttl.map(|ttl| fetched_at.plus(ttl));
        [ttl, self.times.expires_at].into_iter().flatten().min()
    }

    /// Whether it is valid at this time, with a tolerance of some seconds.
    pub fn is_current(&self, now: UnixTime, leeway: u64) -> Result<(), StatusError> {
        let latest = now.plus(leeway);
        let begins = [self.times.issued_at, self.times.not_before];
        if begins.into_iter().flatten().any(|begin| begin > latest) {
            return Err(StatusError::NotYetValid);
        }
        match self.times.expires_at {
            Some(end) if end.plus(leeway) <= now => Err(StatusError::Expired),
            _ => Ok(()),
        }
    }

    /// The number of entries; of one-bit entries in a Bitstring Status List.
    pub fn len(&self) -> u64 {
        bits::entries(self.bytes.len(), self.width_and_order().0)
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.bytes.len() == 0
    }

    /// The status at `index`, whatever its purpose is.
    pub fn get(&self, index: u64) -> Result<Value, StatusError> {
        let (width, order) = self.width_and_order();
        bits::read(|at| self.bytes.get(at), width, order, index)
            .map(Value::from)
            .ok_or(StatusError::OutOfRange)
    }

    /// The status of the credential with this reference.
    pub fn status(&self, reference: &Reference) -> Result<Value, StatusError> {
        if reference.uri != self.uri {
            return Err(StatusError::WrongSubject);
        }
        match (&self.kind, reference.mechanism) {
            (ListKind::Token(_), Mechanism::Token) => self.get(reference.index),
            (ListKind::Bitstring(purposes), Mechanism::Bitstring { purpose, size }) => {
                if !purposes.contains(&purpose) {
                    return Err(StatusError::WrongPurpose);
                }
                if bits::entries(self.bytes.len(), size) < bitstring::MIN_ENTRIES {
                    return Err(StatusError::TooShort);
                }
                // Bitstring Status List §3.2: anything but 0 is not valid.
                match bits::read(
                    |at| self.bytes.get(at),
                    size,
                    Order::MostFirst,
                    reference.index,
                ) {
                    None => Err(StatusError::OutOfRange),
                    Some(0) => Ok(Value::Valid),
                    Some(_) => Ok(match purpose {
                        Purpose::Revocation => Value::Invalid,
                        Purpose::Suspension => Value::Suspended,
                    }),
                }
            }
            _ => Err(StatusError::WrongPurpose),
        }
    }

    fn width_and_order(&self) -> (Width, Order) {
        match self.kind {
            ListKind::Token(width) => (width, Order::LeastFirst),
            ListKind::Bitstring(_) => (Width::One, Order::MostFirst),
        }
    }
}

impl fmt::Debug for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("List")
            .field("uri", &self.uri)
            .field("kind", &self.kind)
            .field("bytes", &self.bytes.len())
            .field("issuer", &self.issuer)
            .field("times", &self.times)
            .finish_non_exhaustive()
    }
}

/// Whether this is the text of a token.
fn is_text(token: &jws::Compact, body: &[u8]) -> bool {
    let signed = body.strip_prefix(token.signing_input());
    let signature = signed.and_then(|rest| rest.strip_prefix(b"."));
    let signature = signature.and_then(|text| str::from_utf8(text).ok());
    let signature = signature.and_then(|text| base64url_decode(text).ok());
    signature.is_some_and(|signature| signature == token.signature())
}

/// Whether a `Content-Type` is `application/<typ>`, whatever its parameters.
fn names(content_type: &str, typ: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    essence
        .to_ascii_lowercase()
        .strip_prefix("application/")
        .is_some_and(|essence| essence == typ)
}
