//! Bodies of the W3C's API.

use selfsame_vc_api::CallBody;
use serde_json::{Value, json};

/// A body: who takes it does not depend on how the text was written, and nobody takes one with a member that is not known.
pub fn vc_api_body(data: &[u8]) -> bool {
    let takers = CallBody::of(data.to_vec()).takers();
    if takers.is_empty() || data.is_empty() {
        return false;
    }
    let body: Value = serde_json::from_slice(data).expect("it was read");
    let again = CallBody::of(body.to_string()).takers();
    assert_eq!(again, takers, "it is the same body");
    let mut more = body;
    more["a member that is not known"] = 1.into();
    assert!(CallBody::of(more.to_string()).takers().is_empty());
    true
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let entry = json!({"type": "BitstringStatusListEntry"});
    let seeds = [
        json!({"credential": {"type": "VerifiableCredential"}, "options": {
            "type": "DataIntegrityProof", "cryptosuite": "ecdsa-rdfc-2019",
            "credentialId": "a", "credentialStatus": entry,
        }}),
        json!({"credentialId": "a", "status": true, "credentialStatus": {
            "type": "BitstringStatusListEntry", "statusPurpose": "revocation",
        }}),
        json!({"presentation": {}, "options": {
            "challenge": "a", "domain": "b", "proofPurpose": "authentication",
        }}),
        json!({"verifiableCredential": {"proof": {}}, "options": {"returnResults": true}}),
        json!({"verifiablePresentation": {"verifiableCredential": [{
            "type": "EnvelopedVerifiableCredential", "id": "data:application/vc+jwt,e30.e30.AA",
        }]}, "options": {"challenge": "a", "returnPresentation": false}}),
        json!({}),
    ];
    seeds.map(|seed| seed.to_string().into_bytes()).into()
}
