//! Codes of offers that attested wallets alone redeem.

use selfsame_attestation::made::{AttesterHeader, ClientAttestationDraft, PopDraft};
use selfsame_attester::{AttestationConfig, AttestationHeaders};
use selfsame_crypto::jws::Unsigned;
use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_openid::issuer::TokenHeaders;
use serde_json::json;

use crate::issuing::token_request;
use crate::world::Site;

const ATTESTER: &str = "https://attester.example";
const CLIENT: &str = "a wallet";

fn key() -> PrivateKey {
    PrivateKey::generate(KeyType::P256).unwrap()
}

fn signed(key: &PrivateKey, draft: Unsigned) -> String {
    let signature = key.sign(draft.signing_input()).unwrap();
    draft.finish(&signature)
}

/// A wallet from elsewhere, whose attester a site trusts.
struct Stranger {
    site: Site,
    instance: PrivateKey,
    attestation: String,
}

impl Stranger {
    async fn new() -> Self {
        let (attester, instance) = (key(), key());
        let jwk = attester.public().to_jwk().to_value();
        let config: AttestationConfig = serde_json::from_value(json!({
            "wallets": "required", "attesters": [{"issuer": ATTESTER, "keys": [jwk]}]
        }))
        .unwrap();
        let site = Site::attesting(config).await;
        let draft = ClientAttestationDraft {
            attester: ATTESTER,
            client_id: CLIENT,
            instance: instance.public(),
            wallet_name: None,
            lifetime: 600,
        };
        let header = AttesterHeader {
            algorithm: attester.algorithm(),
            kid: None,
            x5c: &[],
        };
        let draft = draft.draft(&header, site.app.clock().now());
        Self {
            attestation: signed(&attester, draft),
            instance,
            site,
        }
    }

    fn pop(&self) -> String {
        let main = self.site.app.main();
        let issuer = main.issuer().unwrap();
        let challenge = issuer.challenge().unwrap().attestation_challenge;
        let server = issuer.identifier();
        let draft = PopDraft {
            client_id: CLIENT,
            server: &server,
            challenge: Some(&challenge),
        };
        let ctx = self.site.app.clock().ctx();
        signed(&self.instance, draft.draft(self.instance.public(), &ctx))
    }

    /// The code of the refusal, if a new offer's code is not redeemed with this proof.
    async fn refused(&self, pop: Option<&str>) -> Option<&'static str> {
        let offer = self.site.offer("immunization").await;
        let body = token_request(&self.site, &offer.uri);
        let attestation = pop.map(|pop| AttestationHeaders {
            attestation: &self.attestation,
            pop,
        });
        let headers = TokenHeaders {
            attestation,
            dpop: None,
        };
        let main = self.site.app.main();
        let redeemed = main.issuer().unwrap().token_for(&body, headers).await;
        redeemed.err().map(|error| error.code.unwrap())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wallet_from_elsewhere_redeems_codes_if_its_attester_is_trusted() {
    let stranger = Stranger::new().await;
    assert_eq!(stranger.refused(Some(&stranger.pop())).await, None);
    assert_eq!(stranger.refused(None).await, Some("invalid_client"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proof_of_possession_redeems_one_code_alone() {
    let stranger = Stranger::new().await;
    let pop = stranger.pop();
    assert_eq!(stranger.refused(Some(&pop)).await, None);
    let replayed = stranger.refused(Some(&pop)).await;
    assert_eq!(replayed, Some("invalid_client_attestation"));
    assert_eq!(stranger.refused(Some(&stranger.pop())).await, None);
}
