//! What a peer is called in a log.

use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash::sha256;
use selfsame_crypto::x509;
use selfsame_tls::identity::PeerKind;

/// What a peer is called where one line tells of it: by its DID, or by the subject of its certificate; where that names
/// nobody, by the certificate's SHA-256. It proves nothing to who reads it: an authority may certify any subject.
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
