//! What a device signs or authenticates (ISO/IEC 18013-5 §9.1.3): that this response is for this session.

use selfsame_cbor::deterministic::encode;
use selfsame_crypto::agreement::{AgreementKey, AgreementPrivate};
use selfsame_crypto::hash::{hmac_sha256, sha256};
use selfsame_crypto::{KeyError, Secret};

use crate::transcript::SessionTranscript;

/// HMAC 256/256 (IANA, COSE Algorithms).
pub const HMAC: i64 = 5;
/// What the key of deviceMac is derived for (ISO/IEC 18013-5 §9.1.3.5).
const MAC_INFO: &[u8] = b"EMacKey";
/// The length of a tag in bytes.
const TAG_BYTES: usize = 32;

/// DeviceAuthenticationBytes: the payload of deviceSignature and deviceMac, which is not sent (ISO/IEC 18013-5 §9.1.3.4).
/// `namespaces` are DeviceNameSpacesBytes, as they are sent.
pub(crate) fn authentication(
    transcript: &SessionTranscript,
    doc_type: &str,
    namespaces: &[u8],
) -> Vec<u8> {
    let authentication = encode(|to| {
        to.array(4).text("DeviceAuthentication");
        to.raw(transcript.as_bytes()).text(doc_type).raw(namespaces);
    });
    encode(|to| {
        to.embedded(&authentication);
    })
}

/// The key of deviceMac (ISO/IEC 18013-5 §9.1.3.5), from the private key of one side and the public key of the other.
///
/// # Errors
/// `Unsupported` if the curves differ.
pub fn mac_key(
    private: &AgreementPrivate,
    peer: &AgreementKey,
    transcript: &SessionTranscript,
) -> Result<Secret, KeyError> {
    private.derive(peer, &sha256(&transcript.embedded()), MAC_INFO)
}

/// The tag over these bytes.
pub(crate) fn tag(key: &Secret, secured: &[u8]) -> [u8; TAG_BYTES] {
    hmac_sha256(key.expose(), &[secured])
}
