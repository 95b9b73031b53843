//! Properties of requests and answers that a browser brings (OpenID4VP 1.0 Appendix A).

use selfsame_credential::evidence::{Evidence, Step};
use selfsame_crypto::json::{self, Limits};
use selfsame_crypto::time::UnixTime;
use selfsame_dc_api::{BroughtAnswer, BroughtRequest};
use selfsame_openid4vc::Transport;
use selfsame_openid4vc::holder::request::WalletTrust;
use selfsame_openid4vc::wire::response::{PostedResponse, VpResponse};
use serde_json::{Value, json};

/// The origin that the browser states, whatever the request says.
const ORIGIN: &str = "https://verifier.example";
const NOW: UnixTime = UnixTime(1_800_000_000);

/// A request by a browser, unsigned or signed: it is for the origin that the browser states; without a signature that a
/// known key has made, nobody is authenticated.
pub fn browser_request(data: &[u8]) -> bool {
    let Ok(data) = json::parse(data, &Limits::default()) else {
        return false;
    };
    let read = |protocol| reads(protocol, &data);
    let unsigned = read("openid4vp-v1-unsigned");
    let signed = read("openid4vp-v1-signed");
    let several = read("openid4vp-v1-multisigned");
    unsigned || signed || several
}

fn reads(protocol: &str, data: &Value) -> bool {
    let transport = Transport::default();
    let brought = BroughtRequest::new(ORIGIN, protocol, data.clone(), &transport)
        .expect("the origin and the protocol are good ones");
    let trust = WalletTrust {
        transport: &transport,
        anchors: &[],
        transactions: &[],
    };
    match brought.open(&trust, &Evidence::default(), NOW) {
        // A signature is looked at once its key is known.
        Ok(Step::Needs(needs)) => {
            assert!(!needs.is_empty());
            assert_ne!(protocol, "openid4vp-v1-unsigned", "nothing is looked up");
            true
        }
        Ok(Step::Done(asked)) => {
            assert!(!asked.verifier.authenticated, "no key is known here");
            assert_eq!(asked.request.audience(), format!("origin:{ORIGIN}"));
            assert_eq!(asked.request.page.expect("a page asks").origin, ORIGIN);
            assert_eq!(asked.request.state, None);
            true
        }
        Err(refused) => {
            assert!(refused.code().is_some(), "a refusal has a code: {refused}");
            false
        }
    }
}

/// What a browser brought back to a verifier: an answer is one thing, and in the clear reads back as itself.
pub fn browser_answer(data: &[u8]) -> bool {
    let Ok(data) = json::parse(data, &Limits::default()) else {
        return false;
    };
    let Ok(answer) = BroughtAnswer::read("openid4vp-v1-signed", &data) else {
        return false;
    };
    match answer.posted {
        PostedResponse::Encrypted(token) => assert_eq!(data["response"], json!(token)),
        PostedResponse::Plain(response) => {
            let again = BroughtAnswer::read("openid4vp-v1-signed", &response.to_object());
            let again = again.expect("what we write can be read");
            assert_eq!(again.posted, PostedResponse::Plain(response.clone()));
            if let VpResponse::Presented(vp_token) = response.answer {
                assert!(vp_token.values().all(|list| !list.is_empty()));
            }
        }
    }
    true
}

pub(super) fn request_seeds() -> Vec<Vec<u8>> {
    let query = json!({"credentials": [{
        "id": "pid", "format": "dc+sd-jwt", "meta": {"vct_values": ["urn:pid"]},
    }]});
    let parameters = json!({
        "response_type": "vp_token", "response_mode": "dc_api", "nonce": "n", "dcql_query": query,
    });
    vec![parameters.to_string().into_bytes()]
}

pub(super) fn answer_seeds() -> Vec<Vec<u8>> {
    let answers = [
        json!({"vp_token": {"pid": ["a~b~"], "other": [{"type": "VerifiablePresentation"}]}}),
        json!({"error": "access_denied"}),
        json!({"response": "a.b.c.d.e"}),
    ];
    answers
        .iter()
        .map(|one| one.to_string().into_bytes())
        .collect()
}
