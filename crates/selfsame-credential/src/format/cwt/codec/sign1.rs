//! COSE_Sign1 (RFC 9052 §4.2) over the claims: an issuer drafts it; a wallet or a verifier reads it.

use selfsame_crypto::{Algorithm, KeyType, PublicKey};
use selfsame_proof::cbor::{self, CborItem, CborReader, CborWriter, Malformed};

use super::content::CoseVc;

/// The purpose of the signature, as `external_aad` (RFC 9052 §4.3). It is signed but not sent.
const PURPOSE: &[u8] = b"selfsame credential 1";

/// The bytes of a key's short identifier.
pub const KEY_ID_BYTES: usize = 8;

/// The content has no compact form, or the issuer's key has no number in COSE.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "the credential has no compact form: claims are texts, numbers from 0, booleans and lists of texts, and the key \
     of a subject is Ed25519 or P-256"
)]
pub struct NotCompact;

/// A compact credential without its signature.
#[derive(Clone, Debug)]
pub struct CoseDraft {
    algorithm: Algorithm,
    protected: Vec<u8>,
    payload: Vec<u8>,
}

/// A compact credential, well formed; its signature is not verified yet.
#[derive(Clone, Debug)]
pub struct CoseMessage {
    /// The content.
    pub content: CoseVc,
    /// The algorithm of the signature.
    pub algorithm: Algorithm,
    /// The short identifier of the key that is stated to have signed ([`short_key_id`]).
    pub key_id: [u8; KEY_ID_BYTES],
    signed: Vec<u8>,
    signature: Vec<u8>,
}

impl CoseMessage {
    /// Its memory, in bytes, besides what its content takes as JSON.
    pub fn weight(&self) -> usize {
        self.signed.len().saturating_add(self.signature.len())
    }
}

/// The short identifier of a key: the first bytes of its JWK thumbprint (RFC 7638).
pub fn short_key_id(key: &PublicKey) -> [u8; KEY_ID_BYTES] {
    let thumbprint = key.thumbprint();
    thumbprint.first_chunk().copied().unwrap_or_default()
}

impl CoseVc {
    /// The credential for the issuer with this key to sign. Fails if a part has no compact form.
    pub fn draft(&self, issuer: &PublicKey) -> Result<CoseDraft, NotCompact> {
        let header = CoseHeader {
            algorithm: algorithm_of(issuer.key_type()).ok_or(NotCompact)?,
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
            _ => Err(NotCompact),
        }
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
    pub fn finish(self, signature: &[u8]) -> Vec<u8> {
        let message = Sign1 {
            protected: self.protected,
            payload: self.payload,
            signature: signature.to_vec(),
        };
        message.to_cbor()
    }
}

impl CoseMessage {
    /// Reads a credential, in the one form that it can have.
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let message = Sign1::from_cbor(bytes)?;
        let header = CoseHeader::from_cbor(&message.protected)?;
        Ok(Self {
            content: CoseVc::from_cbor(&message.payload)?,
            algorithm: header.algorithm,
            key_id: header.key_id,
            signed: to_be_signed(&message.protected, PURPOSE, &message.payload),
            signature: message.signature,
        })
    }

    /// Whether this key signed it.
    pub fn is_signed_by(&self, key: &PublicKey) -> bool {
        let checked = key.verify(self.algorithm, &self.signed, &self.signature);
        checked.is_ok()
    }
}

/// Sig_structure (RFC 9052 §4.4).
pub(super) fn to_be_signed(protected: &[u8], purpose: &[u8], payload: &[u8]) -> Vec<u8> {
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
        to.map(2).int(1);
        to.int(number_of(self.algorithm).unwrap_or_default());
        to.int(4).bytes(&self.key_id);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        if from.map()? != 2 || from.int()? != 1 {
            return Err(Malformed("a header with other members"));
        }
        let number = from.int()?;
        let algorithm = Algorithm::from_cose(number);
        let algorithm = algorithm.filter(|algorithm| number_of(*algorithm) == Some(number));
        let algorithm = algorithm.ok_or(Malformed("an unknown algorithm"))?;
        if from.int()? != 4 {
            return Err(Malformed("a header with other members"));
        }
        Ok(Self {
            algorithm,
            key_id: from.array_of()?,
        })
    }
}

/// The fully specified number of an algorithm (RFC 9864 §2): the only one that this profile has.
fn number_of(algorithm: Algorithm) -> Option<i64> {
    algorithm.cose_numbers().first().copied()
}

/// The numbers by which COSE names these algorithms (OpenID4VCI 1.0 §A.2.2 lists numbers for COSE).
pub fn numbers(algorithms: &[Algorithm]) -> Vec<i64> {
    let all = Algorithm::ALL.into_iter();
    let listed = all.filter(|algorithm| algorithms.contains(algorithm));
    listed.filter_map(number_of).collect()
}

fn algorithm_of(kind: KeyType) -> Option<Algorithm> {
    let mut known = Algorithm::ALL.into_iter();
    known.find(|algorithm| number_of(*algorithm).is_some() && algorithm.key_type() == kind)
}
