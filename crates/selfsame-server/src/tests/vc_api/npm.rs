//! Documents crossed with another implementation: `cargo xtask cross data-integrity`.

#[path = "../../../../selfsame-testkit/shared/peer.rs"]
mod peer;

use selfsame_core::config::DidMethod;
use selfsame_crypto::encoding::multibase_base58_encode;
use selfsame_crypto::{KeyType, PrivateKey};

use super::*;
use peer::Peer;

const PACKAGE: Peer = Peer::node("SELFSAME_DATA_INTEGRITY_PEERS", "peer.mjs");
const DOMAIN: &str = "https://verifier.example";

/// Lets the program do a job with the contexts, and returns what it says.
fn said(job: Value) -> Value {
    let context = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let mut job = job;
    job["contexts"] = json!({
        V1: context(include_str!("../../../../selfsame-data-integrity/contexts/credentials-v1.jsonld")),
        V2: context(include_str!("../../../../selfsame-data-integrity/contexts/credentials-v2.jsonld")),
        TERMS: context(include_str!(
            "../../../../selfsame-data-integrity/contexts/credentials-undefined-terms-v2.jsonld"
        )),
        "https://w3id.org/security/data-integrity/v2":
            context(include_str!("../../../../selfsame-data-integrity/contexts/data-integrity-v2.jsonld")),
        "https://w3id.org/security/multikey/v1":
            context(include_str!("../../../../selfsame-data-integrity/contexts/multikey-v1.jsonld")),
        "https://www.w3.org/ns/did/v1":
            context(include_str!("../../../../selfsame-data-integrity/contexts/cid-v1.jsonld")),
    });
    PACKAGE.said(&job)
}

/// An instance whose issuer is a `did:key`, which the program resolves, and that trusts this issuer.
async fn instance(trusted: &str) -> Instance {
    let mut config = config_of(ORIGIN);
    config.issuer.did_method = Some(DidMethod::named("key").unwrap());
    config.trust.issuers = vec![trusted.to_owned()];
    Instance::served(opened(config).await, ServedSettings::default())
}

struct PackageKey {
    did: String,
    members: Value,
}

impl PackageKey {
    fn new(suite: &str) -> Self {
        let key = PrivateKey::generate(KeyType::P256).unwrap();
        let multikey = key.public().to_multikey();
        let pkcs8 = key.to_pkcs8().unwrap();
        let secret = [&[0x86, 0x26], &pkcs8.expose()[36..68]].concat();
        Self {
            did: format!("did:key:{multikey}"),
            members: json!({
                "suite": suite,
                "multikey": multikey,
                "secret": multibase_base58_encode(&secret),
            }),
        }
    }
}

#[tokio::test]
#[ignore = "needs the packages: cargo xtask cross data-integrity"]
async fn what_is_signed_through_the_api_holds_for_the_package() {
    let instance = instance("did:example:nobody").await;
    for suite in ["ecdsa-rdfc-2019", "ecdsa-jcs-2019"] {
        let body = json!({"credential": credential(&instance), "options": {"cryptosuite": suite}});
        let signed = issued(&instance, &body).await;
        let verify = |credential: &Value| {
            said(json!({"do": "verify", "credential": credential, "suite": suite}))
        };
        let found = verify(&signed);
        assert_eq!(found["verified"], true, "{suite} {found}");
        let mut changed = signed.clone();
        changed["credentialSubject"]["degree"] = "Master".into();
        assert_eq!(verify(&changed)["verified"], false);
        let presentation = json!({
            "@context": [V2], "type": ["VerifiablePresentation"], "verifiableCredential": [signed],
        });
        let options = json!({"cryptosuite": suite, "challenge": "a", "domain": DOMAIN});
        let body = json!({"presentation": presentation, "options": options});
        let presentation = made(&instance, "/presentations", &body, "verifiablePresentation").await;
        for (challenge, verified) in [("a", true), ("b", false)] {
            let found = said(json!({
                "do": "verifyPresentation", "presentation": presentation, "suite": suite,
                "challenge": challenge, "domain": DOMAIN,
            }));
            assert_eq!(found["verified"], verified, "{suite} {found}");
        }
    }
}

#[tokio::test]
#[ignore = "needs the packages: cargo xtask cross data-integrity"]
async fn what_the_package_signs_is_verified_through_the_api() {
    for suite in ["ecdsa-rdfc-2019", "ecdsa-jcs-2019"] {
        let theirs = PackageKey::new(suite);
        let instance = instance(&theirs.did).await;
        let mut document = credential(&instance);
        document["issuer"] = theirs.did.as_str().into();
        let given = said(json!({"do": "issue", "credential": document, "key": theirs.members}));
        let mut signed = given["document"].clone();
        let (status, found) = verified(&instance, &signed).await;
        assert_eq!(status, StatusCode::OK, "{suite} {found}");
        let presentation = json!({
            "@context": [V2], "type": ["VerifiablePresentation"], "holder": theirs.did,
            "verifiableCredential": [signed],
        });
        let challenge = challenge(&instance).await;
        let given = said(json!({
            "do": "present", "presentation": presentation, "key": theirs.members,
            "challenge": challenge, "domain": DOMAIN,
        }));
        let options = json!({"challenge": challenge, "domain": DOMAIN});
        let presented = presentation_verified(&instance, &given["document"], options);
        let (status, found) = presented.await;
        assert_eq!(status, StatusCode::OK, "{suite} {found}");
        signed["credentialSubject"]["degree"] = "Master".into();
        let (status, _) = verified(&instance, &signed).await;
        assert_eq!(status, StatusCode::BAD_REQUEST);
    }
}
