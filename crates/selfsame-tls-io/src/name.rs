//! The name of a peer in a log.

use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash::sha256;
use selfsame_crypto::x509;
use selfsame_tls::identity::PeerKind;

/// A peer's name for a log line: its DID, or the subject of its certificate; if the subject is empty, the certificate's
/// SHA-256. The name proves nothing: an authority may certify any subject.
#[must_use]
pub fn name_of(kind: &PeerKind) -> String {
    match kind {
        PeerKind::Anonymous => "nobody".to_owned(),
        PeerKind::Certificate(chain) => {
            let leaf = chain.first().map(Vec::as_slice).unwrap_or_default();
            match x509::named(leaf) {
                Some(named) if !named.subject.is_empty() => named.subject,
                _ => format!("sha256:{}", hex_encode(&sha256(leaf))),
            }
        }
        PeerKind::Did(did) => did.to_string(),
        PeerKind::Credential(credential) => credential.subject.to_string(),
    }
}
