//! The messages of issuance that wallets and issuers send in the clear: requests for credentials, and for those that take
//! their time.

use selfsame_openid4vc::wire::credential::CredentialRequest;
use selfsame_openid4vc::wire::deferred::{DeferredRequest, DeferredResponse};

/// A request for a credential, a request for one that was deferred, or the answer that defers it.
pub fn credential_request(data: &[u8]) -> bool {
    let request = CredentialRequest::parse(data).map(|request| {
        let again = CredentialRequest::parse(request.to_json().as_bytes());
        assert_eq!(again, Ok(request));
    });
    let deferred = DeferredRequest::parse(data).map(|request| {
        assert!(!request.transaction_id.is_empty());
        let again = DeferredRequest::parse(request.to_json().as_bytes());
        assert_eq!(again, Ok(request));
    });
    let answer = DeferredResponse::parse(data, "").map(|answer| {
        assert!(answer.interval > 0 && !answer.transaction_id.is_empty());
        let again = serde_json::to_vec(&answer).unwrap_or_default();
        assert_eq!(DeferredResponse::parse(&again, ""), Ok(answer));
    });
    request.is_ok() || deferred.is_ok() || answer.is_ok()
}

pub(super) fn credential_request_seeds() -> Vec<Vec<u8>> {
    [
        r#"{"credential_configuration_id":"a","proofs":{"jwt":["a.b.c"]}}"#,
        r#"{"credential_identifier":"a","credential_response_encryption":{"jwk":{"kty":"EC","alg":"ECDH-ES"},"enc":"A256GCM"}}"#,
        r#"{"transaction_id":"8xLOxBtZp8"}"#,
        r#"{"transaction_id":"8xLOxBtZp8","interval":3600.5}"#,
    ]
    .map(|text| text.as_bytes().to_vec())
    .into()
}
