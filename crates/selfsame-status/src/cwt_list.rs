//! Token Status List in its CWT form (draft-ietf-oauth-status-list §5.2): COSE_Sign1 over the claims.

use selfsame_cbor::cose::{CoseKind, CoseOutgoing, CoseReceived};
use selfsame_cbor::deterministic::{CborWriter, encode};
use selfsame_cbor::{Cbor, CborError, CborLimits};
use selfsame_crypto::{
    Algorithm, PublicKey, SignatureError, encoding::base64url_encode, jws, time::UnixTime,
};
use serde_json::Map;

use super::{
    MAX_TOKEN_BYTES, StatusError,
    bits::{Bits, Width},
    inflate,
    list_claims::{ListClaims, ListKind, Times},
};

/// The media type for requesting and serving a list, which is its type too (§8.2).
pub const MEDIA_TYPE: &str = "application/statuslist+cwt";
/// The media type without `application/`.
pub(super) const TYP: &str = "statuslist+cwt";

/// The claims (RFC 8392 §4, Token Status List §5.2).
const SUB: i64 = 2;
const EXP: i64 = 4;
const IAT: i64 = 6;
const STATUS_LIST: i64 = 65_533;
const TTL: i64 = 65_534;
const LIMITS: CborLimits = CborLimits {
    bytes: MAX_TOKEN_BYTES,
    depth: 8,
    items: 256,
};

/// Whether a body is CBOR and not the text of a JWT: an array of four, with or without the tag of COSE_Sign1.
pub(super) fn is_like(body: &[u8]) -> bool {
    matches!(body.first(), Some(0xd2 | 0x84))
}

/// What a list as a CWT says.
pub(super) struct ReadCwt {
    pub claims: ListClaims,
    /// Its headers in the words of JOSE.
    pub header: jws::Header,
}

/// Reads the response from `uri`, whatever the time is. A tag before the message may be absent (§5.2).
pub(super) fn read(uri: &str, body: &[u8]) -> Result<ReadCwt, StatusError> {
    if body.len() > MAX_TOKEN_BYTES {
        return Err(StatusError::TooLarge);
    }
    let item = Cbor::parse(body, &LIMITS).map_err(no_cbor)?;
    let message = message(&item)?;
    if message.typ != Some(MEDIA_TYPE) {
        return Err(StatusError::WrongType);
    }
    let algorithm = Algorithm::from_cose(message.algorithm);
    let payload = message.payload.unwrap_or_default();
    let claims = CwtClaims(Cbor::parse(payload, &LIMITS).map_err(no_cbor)?);
    if claims.value(SUB).and_then(Cbor::text) != Some(uri) {
        return Err(StatusError::WrongSubject);
    }
    let (width, bytes) = claims.list()?;
    let issued_at = claims.number(IAT, "iat")?;
    let ttl = claims.number(TTL, "ttl")?;
    if ttl == Some(0) {
        return Err(StatusError::Malformed("ttl"));
    }
    let read = ListClaims {
        kind: ListKind::Token(width),
        bytes,
        issuer: None,
        times: Times {
            issued_at: Some(UnixTime(issued_at.ok_or(StatusError::Malformed("iat"))?)),
            not_before: None,
            expires_at: claims.number(EXP, "exp")?.map(UnixTime),
            ttl,
        },
    };
    let chain: Vec<Vec<u8>> = message.chain.iter().map(|one| one.to_vec()).collect();
    let header = jws::Header {
        alg: algorithm.ok_or(StatusError::NotAToken("an unknown algorithm"))?,
        typ: None,
        kid: message.key_id.map(base64url_encode),
        jwk: None,
        x5c: (!chain.is_empty()).then_some(chain),
        other: Map::new(),
    };
    Ok(ReadCwt {
        claims: read,
        header,
    })
}

/// Whether this key signed the message.
pub(super) fn verify(body: &[u8], key: &PublicKey) -> Result<(), SignatureError> {
    let item = Cbor::parse(body, &LIMITS).map_err(|_| SignatureError::Invalid)?;
    let message = message(&item).map_err(|_| SignatureError::Invalid)?;
    let algorithm = Algorithm::from_cose(message.algorithm).ok_or(SignatureError::Invalid)?;
    let signed = message.secured(message.payload.unwrap_or_default());
    key.verify(algorithm, &signed, message.proof)
}

fn message<'b>(item: &Cbor<'b>) -> Result<CoseReceived<'b>, StatusError> {
    let message = CoseReceived::read(item, CoseKind::Sign1);
    message.map_err(|_| StatusError::NotAToken("not a COSE_Sign1"))
}

fn no_cbor(_: CborError) -> StatusError {
    StatusError::NotAToken("its CBOR can't be read")
}

struct CwtClaims<'b>(Cbor<'b>);

impl<'b> CwtClaims<'b> {
    fn value(&self, label: i64) -> Option<&Cbor<'b>> {
        self.0.labelled(label)
    }

    /// A number of seconds; fractions are dropped nowhere, since no issuer has a reason to write them.
    fn number(&self, label: i64, name: &'static str) -> Result<Option<u64>, StatusError> {
        let value = self.value(label);
        let number = value.map(|value| value.uint().ok_or(StatusError::Malformed(name)));
        number.transpose()
    }

    fn list(&self) -> Result<(Width, Vec<u8>), StatusError> {
        let list = self.value(STATUS_LIST);
        let list = list.ok_or(StatusError::Malformed("status_list"))?;
        let width = list.named("bits").and_then(Cbor::uint);
        let width = width.and_then(Width::from_bits);
        let bytes = list.named("lst").and_then(Cbor::bytes);
        let bytes = bytes.ok_or(StatusError::Malformed("lst"))?;
        let width = width.ok_or(StatusError::Malformed("bits"))?;
        Ok((width, inflate::from_zlib(bytes)?))
    }
}

/// The terms of a list, besides its bits.
#[derive(Clone, Debug)]
pub struct CwtTerms<'a> {
    /// The URI of the list; credentials refer to it.
    pub uri: &'a str,
    /// When it was issued.
    pub issued_at: UnixTime,
    /// When it expires.
    pub expires_at: Option<UnixTime>,
    /// For how many seconds it may be cached.
    pub ttl: Option<u64>,
    /// The algorithm of the signature.
    pub algorithm: Algorithm,
    /// The certificates of the signer (DER), its own first.
    pub chain: Vec<Vec<u8>>,
}

/// A list without its signature.
#[derive(Clone, Debug)]
pub struct CwtListDraft {
    message: CoseOutgoing,
    payload: Vec<u8>,
}

impl CwtListDraft {
    /// The list of these statuses.
    ///
    /// # Errors
    /// `Unsupported` for an algorithm that has no number in COSE.
    pub fn new(bits: &Bits, terms: CwtTerms<'_>) -> Result<Self, StatusError> {
        let number = terms.algorithm.cose_numbers().last().copied();
        let number = number.ok_or(StatusError::Unsupported)?;
        let compressed = inflate::to_zlib(bits.as_bytes())?;
        let further = [terms.expires_at.is_some(), terms.ttl.is_some()];
        let further = further.iter().filter(|is_there| **is_there).count();
        let write = |to: &mut CborWriter| {
            to.map(further.saturating_add(3)).int(SUB).text(terms.uri);
            if let Some(end) = terms.expires_at {
                to.int(EXP).uint(end.0);
            }
            to.int(IAT).uint(terms.issued_at.0);
            to.int(STATUS_LIST).map(2);
            to.text("lst").bytes(&compressed);
            to.text("bits").uint(u64::from(bits.width().bits()));
            if let Some(ttl) = terms.ttl {
                to.int(TTL).uint(ttl);
            }
        };
        let message = CoseOutgoing::new(CoseKind::Sign1, number).of_type(number, MEDIA_TYPE);
        Ok(Self {
            payload: encode(write),
            message: message.with_chain(terms.chain),
        })
    }

    /// The bytes to sign.
    pub fn signing_bytes(&self) -> Vec<u8> {
        self.message.secured(&self.payload)
    }

    /// The list with this signature, tagged as a COSE_Sign1 (§5.2).
    pub fn finish(&self, signature: &[u8]) -> Vec<u8> {
        encode(|to| {
            let to = to.tag(CoseKind::Sign1.tag());
            self.message.write(Some(&self.payload), signature, to);
        })
    }
}

#[cfg(test)]
mod tests {
    use selfsame_crypto::encoding::hex_decode;
    use selfsame_crypto::{KeyType, PrivateKey};

    use super::*;
    use crate::{List, Value};

    const URI: &str = "https://example.com/statuslists/1";
    const NOW: UnixTime = UnixTime(1_700_000_000);
    /// Token Status List §5.2.
    const EXAMPLE: &str = "d2845820a2012610781a6170706c69636174696f6e2f7374617475736c6973742b637774a1044231325850a502782168747470733a2f2f6578616d706c652e636f6d2f7374617475736c697374732f31061a648c5bea041a8898dfea19fffe19a8c019fffda2646269747301636c73744a78dadbb918000217015d584093fa4d01032b18c35e2fe1101b77fd6cc9440022caa4694450c4e4e9feab4e99d1fa6d9772ce2bf3a12e0323ded7c982c5e101a5e67f0cbc1e2b6f57ce99c279";

    #[test]
    fn the_example_of_the_specification_is_read() {
        let bytes = hex_decode(EXAMPLE).unwrap();
        for body in [&bytes[..], &bytes[1..]] {
            let list = List::parse(URI, Some(MEDIA_TYPE), body, NOW).unwrap();
            let statuses: Vec<u8> = (0..16).map(|at| list.get(at).unwrap().into()).collect();
            assert_eq!(statuses, [1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 1, 0, 1]);
            assert_eq!(list.get(16), Err(StatusError::OutOfRange));
            assert_eq!(
                (list.ttl(), list.header().kid.as_deref()),
                (Some(43_200), Some("MTI"))
            );
        }
    }

    fn list(change: impl FnOnce(&mut CwtTerms<'_>)) -> (Vec<u8>, PublicKey) {
        let mut bits = Bits::new(Width::Two, 8).unwrap();
        bits.set(5, 2).unwrap();
        let mut terms = CwtTerms {
            uri: URI,
            issued_at: NOW,
            expires_at: Some(NOW.plus(3_600)),
            ttl: Some(600),
            algorithm: Algorithm::Es256,
            chain: vec![vec![1], vec![2]],
        };
        change(&mut terms);
        let key = PrivateKey::generate(KeyType::P256).unwrap();
        let draft = CwtListDraft::new(&bits, terms).unwrap();
        let signature = key.sign(&draft.signing_bytes()).unwrap();
        (draft.finish(&signature), key.public().clone())
    }

    #[test]
    fn a_list_is_read_as_it_was_written_and_verified_by_its_key_alone() {
        let (body, key) = list(|_| {});
        assert_eq!(body[0], 0xd2);
        let list = List::parse(URI, None, &body, NOW).unwrap();
        assert_eq!(
            (list.get(4), list.get(5)),
            (Ok(Value::Valid), Ok(Value::Suspended))
        );
        assert_eq!((list.len(), list.is_empty()), (8, false));
        let chain = vec![vec![1], vec![2]];
        assert_eq!(list.header().x5c, Some(chain));
        assert!(list.is_read_from(Some(MEDIA_TYPE), &body, NOW) && !list.is_jwt());
        let again = List::reread(URI, &list.to_text()).unwrap();
        assert_eq!(again.verify(&key), Ok(()));
        assert_eq!(list.verify(&key), Ok(()));
        let other = PrivateKey::generate(KeyType::P256).unwrap();
        assert!(list.verify(other.public()).is_err());
    }

    #[test]
    fn a_list_of_another_uri_type_or_time_is_refused() {
        let refused =
            |uri: &str, typ: Option<&str>, body: &[u8]| List::parse(uri, typ, body, NOW).err();
        let (body, _) = list(|_| {});
        assert_eq!(
            refused("https://example.com/2", None, &body),
            Some(StatusError::WrongSubject)
        );
        let other = Some("application/statuslist+jwt");
        assert_eq!(refused(URI, other, &body), Some(StatusError::WrongType));
        let (old, _) = list(|terms| terms.expires_at = Some(NOW.minus(61)));
        assert_eq!(refused(URI, None, &old), Some(StatusError::Expired));
        let (early, _) = list(|terms| terms.issued_at = NOW.plus(61));
        assert_eq!(refused(URI, None, &early), Some(StatusError::NotYetValid));
        for body in [&[][..], &[0x80], &[0xd1, 0x80], &body[..20]] {
            let refused = refused(URI, None, body);
            assert!(
                matches!(refused, Some(StatusError::NotAToken(_))),
                "{refused:?}"
            );
        }
        let at = body.windows(4).position(|part| part == b"+cwt").unwrap();
        let mut untyped = body.clone();
        untyped[at] = b'-';
        assert_eq!(refused(URI, None, &untyped), Some(StatusError::WrongType));
    }
}
