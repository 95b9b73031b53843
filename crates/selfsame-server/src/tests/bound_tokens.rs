//! Access tokens that are bound to a wallet's key, from the pushed request to the credential (RFC 9449), where the server
//! wants its nonces in all proofs. The first test's wallet is ours; the others take its place.

use http::StatusCode;
use selfsame_crypto::{KeyType, PrivateKey, SecretString};
use selfsame_oauth::client::authorization::RequestedCode;
use selfsame_oauth::client::possession::{ProvenRequest, thumbprint};
use selfsame_oauth::{Form, ServerMetadata};

use super::by_sign_in::{Desk, read};
use super::instance::{Answered, Call, form, get, post};

/// A wallet that is written here, with the key that its token is bound to.
struct Holder {
    desk: Desk,
    key: PrivateKey,
    requested: RequestedCode,
}

/// A call that a proof is made for.
#[derive(Clone, Copy, Default)]
struct Proven<'a> {
    path: &'a str,
    token: Option<&'a str>,
    nonce: &'a str,
}

impl Holder {
    async fn new() -> Self {
        let desk = Desk::of_wallets("wallets").await;
        let metadata = get("/.well-known/oauth-authorization-server/oidc");
        let metadata = desk.call(metadata).await;
        let issuer = desk.origin.join("oidc").unwrap();
        let server = ServerMetadata::parse(metadata.body.as_bytes(), issuer.as_str()).unwrap();
        let back = desk.origin.join("wallet/received").unwrap();
        let ctx = desk.instance.app.clock().ctx();
        let requested = RequestedCode::new(&server, "selfsame-wallet", &back, &ctx);
        Self {
            desk,
            key: PrivateKey::generate(KeyType::P256).unwrap(),
            requested,
        }
    }

    fn proof_by(&self, key: &PrivateKey, of: Proven<'_>) -> String {
        let url = self.desk.origin.join(of.path).unwrap();
        let token = of.token.map(|token| SecretString::from(token.to_owned()));
        let request = ProvenRequest {
            method: "POST",
            url: &url,
            access_token: token.as_ref(),
            nonce: Some(of.nonce).filter(|nonce| !nonce.is_empty()),
        };
        let draft = request.draft(key.public(), &self.desk.instance.app.clock().ctx());
        let signature = key.sign(draft.signing_input()).unwrap();
        draft.finish(&signature)
    }

    fn proof(&self, of: Proven<'_>) -> String {
        self.proof_by(&self.key, of)
    }

    async fn sent(&self, call: Call, proof: &str) -> Answered {
        self.desk.call(call.header("dpop", proof)).await
    }

    async fn pushed(&self, nonce: &str, jkt: &str) -> Answered {
        let further = vec![("scope", "staff".to_owned()), ("dpop_jkt", jkt.to_owned())];
        let parameters = self.requested.parameters(further);
        let pairs = parameters
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()));
        let body = form(&pairs.collect::<Vec<_>>());
        let path = "/oidc/par";
        let of = Proven {
            path,
            nonce,
            ..Proven::default()
        };
        self.sent(post(path).form(body), &self.proof(of)).await
    }

    /// The code of somebody who signed in, and the server's last nonce.
    async fn code(&self) -> (SecretString, String) {
        let jkt = thumbprint(self.key.public());
        let first = self.pushed("", &jkt).await;
        assert_eq!(first.status, StatusCode::BAD_REQUEST, "{}", first.body);
        assert!(first.body.contains("use_dpop_nonce"), "{}", first.body);
        let pushed = self.pushed(first.header("dpop-nonce"), &jkt).await;
        let request_uri = read(&pushed)["request_uri"].as_str().unwrap().to_owned();
        let endpoint = self.desk.origin.join("oidc/authorize").unwrap();
        let url = self.requested.pushed_address(&endpoint, &request_uri);
        let back = self.desk.sign_in(&url).await;
        let response = Form::of_query(back.query().unwrap()).unwrap();
        let code = self.requested.code(response).unwrap();
        (code, pushed.header("dpop-nonce").to_owned())
    }

    async fn redeemed(&self, code: &SecretString, proof: &str) -> Answered {
        let body = self.requested.redemption(code, &[]).expose().to_owned();
        self.sent(post("/oidc/token").form(body), proof).await
    }

    async fn token(&self) -> String {
        let (code, nonce) = self.code().await;
        let of = Proven {
            path: "/oidc/token",
            nonce: &nonce,
            ..Proven::default()
        };
        let given = read(&self.redeemed(&code, &self.proof(of)).await);
        assert_eq!(given["token_type"], "DPoP");
        given["access_token"].as_str().unwrap().to_owned()
    }

    /// Asks for a credential with an empty request, which is refused for that alone if the token and its proof hold.
    async fn asked(&self, scheme: &str, token: &str, proof: &str) -> Answered {
        let call = post("/issuer/credential")
            .header("authorization", &format!("{scheme} {token}"))
            .json("{}");
        self.sent(call, proof).await
    }

    /// The issuer's nonce.
    async fn nonce(&self) -> String {
        let answer = self.desk.call(post("/issuer/nonce")).await;
        assert_eq!(answer.header("cache-control"), "no-store");
        answer.header("dpop-nonce").to_owned()
    }
}

fn is_refused(answer: &Answered, code: &str) {
    let told = (answer.status, &answer.body);
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{told:?}");
    assert!(answer.body.contains(code), "{told:?}");
    let challenge = answer.header("www-authenticate");
    assert!(
        challenge.contains(&format!("error=\"{code}\"")),
        "{challenge}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn our_wallet_proves_its_key_with_the_nonces_of_the_servers() {
    let desk = Desk::of_wallets("wallets").await;
    let offer = desk.offer().await;
    let back = desk.sign_in(&desk.begin(&offer).await).await;
    let cards = read(&desk.come_back(&back).await);
    assert_eq!(cards["items"].as_array().map(Vec::len), Some(1), "{cards}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credential_is_refused_without_the_nonce_and_given_with_it() {
    let holder = Holder::new().await;
    let token = holder.token().await;
    let mut of = Proven {
        path: "/issuer/credential",
        token: Some(&token),
        nonce: "",
    };
    let first = holder.asked("DPoP", &token, &holder.proof(of)).await;
    is_refused(&first, "use_dpop_nonce");
    assert!(first.header("www-authenticate").contains("algs="));
    of.nonce = first.header("dpop-nonce");
    let second = holder.asked("DPoP", &token, &holder.proof(of)).await;
    assert!(
        second.body.contains("invalid_credential_request"),
        "{}",
        second.body
    );
    assert!(!second.header("dpop-nonce").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bound_token_is_refused_with_another_key_another_url_another_token_or_a_proof_used_before()
 {
    let holder = Holder::new().await;
    let token = holder.token().await;
    let nonce = holder.nonce().await;
    let of = Proven {
        path: "/issuer/credential",
        token: Some(&token),
        nonce: &nonce,
    };
    let thief = PrivateKey::generate(KeyType::P256).unwrap();
    let stolen = holder
        .asked("DPoP", &token, &holder.proof_by(&thief, of))
        .await;
    is_refused(&stolen, "invalid_token");
    for wrong in [
        Proven {
            path: "/issuer/token",
            ..of
        },
        Proven {
            token: Some("another"),
            ..of
        },
        Proven { token: None, ..of },
    ] {
        let refused = holder.asked("DPoP", &token, &holder.proof(wrong)).await;
        is_refused(&refused, "invalid_dpop_proof");
    }
    let as_bearer = holder.asked("Bearer", &token, &holder.proof(of)).await;
    is_refused(&as_bearer, "invalid_token");
    let proof = holder.proof(of);
    let taken = holder.asked("DPoP", &token, &proof).await;
    assert!(
        taken.body.contains("invalid_credential_request"),
        "{}",
        taken.body
    );
    is_refused(
        &holder.asked("DPoP", &token, &proof).await,
        "invalid_dpop_proof",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pushed_request_and_its_proof_name_one_key() {
    let holder = Holder::new().await;
    let other = PrivateKey::generate(KeyType::P256).unwrap();
    let jkt = thumbprint(other.public());
    let first = holder.pushed("", &jkt).await;
    let refused = holder.pushed(first.header("dpop-nonce"), &jkt).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(
        refused.body.contains("invalid_dpop_proof"),
        "{}",
        refused.body
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_that_was_asked_for_with_a_key_is_redeemed_with_no_other() {
    let holder = Holder::new().await;
    let (code, nonce) = holder.code().await;
    let of = Proven {
        path: "/oidc/token",
        nonce: &nonce,
        ..Proven::default()
    };
    let thief = PrivateKey::generate(KeyType::P256).unwrap();
    let stolen = holder.redeemed(&code, &holder.proof_by(&thief, of)).await;
    assert_eq!(stolen.status, StatusCode::BAD_REQUEST);
    assert!(stolen.body.contains("invalid_grant"), "{}", stolen.body);
    let given = read(&holder.redeemed(&code, &holder.proof(of)).await);
    assert_eq!(given["token_type"], "DPoP");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_nonce_endpoint_has_nothing_for_proofs_where_nobody_signs_in() {
    let instance = super::instance::Instance::start().await;
    let answer = instance.call(post("/issuer/nonce")).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.header("dpop-nonce"), "");
}
