//! Sign-in with a credential: a wallet shows it, and the client learns what the rules take from it.

use std::sync::Arc;

use selfsame_app::App;
use selfsame_crypto::SecretString;
use selfsame_crypto::encoding::base64_encode;
use selfsame_driver::paging::Paging;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_identity::config::{People, SignInConfig};
use selfsame_oauth::jwt::Jwt;
use selfsame_oauth::{Form, form};
use selfsame_oidc::{FactorKind, Preset};
use selfsame_openid::view::issuer::CredentialStatus;
use selfsame_sign_in::clients::WantedClient;
use selfsame_sign_in::identity::{
    AskedElsewhere, AskedPresentation, Challenge, PresentedChallenge, SignInAttempt,
};
use selfsame_sign_in::registering::ClientInformation;
use selfsame_sign_in::view::{BegunSignIn, PersonsAgreement, SignedInView};
use selfsame_sign_in::{
    ArrivingBrowser, AttemptLimits, CalledEndpoint, SignInVisitor, SignIns, WantedElsewhere,
};
use selfsame_wallet::view::Person;
use serde_json::json;

use crate::network::newest;
use crate::verifying::holder;
use crate::world::Site;

const URI: &str = "https://rp.example/cb";
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// A provider with rules for immunization records, a client, and a person with a record in a wallet of their own.
struct Scene {
    site: Site,
    wallet: Arc<App>,
    person: Person,
    client: ClientInformation,
}

impl Scene {
    /// With the site's own issuer as the only one that is accepted.
    async fn new() -> Self {
        Self::accepting(None).await
    }

    async fn accepting(issuer: Option<&str>) -> Self {
        let site = Site::start().await;
        site.app.know_people(&mocked()).unwrap();
        let (wallet, person) = holder(&site, "immunization").await;
        let provider = provider(&site.app);
        let own = site.app.main().issuer().unwrap().identity().did();
        let issuer = issuer.map_or_else(|| own.to_string(), str::to_owned);
        let types = site.app.main().verifier().unwrap().types().await.unwrap();
        let rules = json!({
            "purpose": "To sign you in",
            "credentials": [{
                "title": "Immunization record",
                "type": types.find("immunization").unwrap().vct,
                "issuers": [issuer],
                "subject": ["patient", "family_name"],
                "claims": {"given_name": ["patient", "given_name"], "email": ["patient", "email"]},
                "optional": ["email"]
            }]
        });
        let settings = provider.wallet_settings().unwrap();
        let tenant = &provider.place().tenant;
        settings.set(tenant, rules).await.unwrap();
        let registration = json!({
            "redirect_uris": [URI],
            "id_token_signed_response_alg": "ES256"
        });
        let client = provider.register(WantedClient {
            client_id: None,
            registration: serde_json::from_value(registration).unwrap(),
            preset: Preset::Strict,
            reads_tokens: false,
            fetches_logo: true,
        });
        Self {
            client: client.await.unwrap(),
            site,
            wallet,
            person,
        }
    }

    fn provider(&self) -> SignIns {
        provider(&self.site.app)
    }

    /// A sign-in in a browser with this secret.
    async fn begun(&self, browser: &str) -> SignInVisitor {
        let claims = json!({"id_token": {"given_name": {"essential": true}, "email": null}});
        let parameters = [
            ("client_id", self.client.client_id.as_str()),
            ("redirect_uri", URI),
            ("response_type", "code"),
            ("scope", "openid"),
            ("claims", &claims.to_string()),
            ("acr_values", "urn:selfsame:acr:presentation"),
            ("code_challenge", CHALLENGE),
            ("code_challenge_method", "S256"),
        ];
        let parameters = parameters.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let browser = ArrivingBrowser {
            secret: Some(browser.into()),
            session: None,
        };
        let form = Form::of_parameters(parameters.to_vec());
        let begun = self.provider().begin(form, &browser).await.unwrap();
        let BegunSignIn::Asking(view) = begun else {
            panic!("nothing is asked")
        };
        assert_eq!(view.factors, [[FactorKind::Presentation]]);
        SignInVisitor {
            sign_in: view.id,
            browser: browser.secret,
            from: None,
            limits: AttemptLimits::default(),
        }
    }

    async fn ask(&self, visitor: &SignInVisitor) -> Result<AskedPresentation> {
        let wanted = WantedElsewhere {
            factor: FactorKind::Presentation,
            page: "sign-in/1/wallet".to_owned(),
        };
        match self.provider().ask(visitor, wanted).await? {
            AskedElsewhere::Presentation(asked) => Ok(asked),
            other => panic!("{other:?}"),
        }
    }

    /// Has the wallet answer; returns whether the verifier accepted that, and where the wallet sends the browser.
    async fn answer(&self, uri: &str) -> WalletsAnswer {
        let wallet = self.wallet.wallet().unwrap();
        let answered = wallet.answer_request(&self.person, &newest(uri)).await;
        let answered = answered.unwrap();
        WalletsAnswer {
            is_accepted: answered.delivered,
            back: answered.redirect_uri,
        }
    }

    async fn tokens(&self, code: &SecretString) -> Jwt {
        let url = self.provider().place().endpoint("token").unwrap();
        let secret = self.client.client_secret.as_ref().unwrap();
        let basic = format!("{}:{}", self.client.client_id, secret.expose());
        let body = form::encode(&[
            ("grant_type", "authorization_code".to_owned()),
            ("code", code.expose().to_owned()),
            ("redirect_uri", URI.to_owned()),
            ("code_verifier", VERIFIER.to_owned()),
        ]);
        let provider = self.provider();
        let basic = base64_encode(basic.as_bytes());
        let called = CalledEndpoint {
            url: &url,
            method: "POST",
            basic: Some(&basic),
            proof: None,
            attestation: None,
            body: body.as_bytes(),
        };
        let granted = provider.token(&called).await.unwrap();
        let id_token = granted.id_token.unwrap();
        Jwt::parse(id_token.expose()).unwrap()
    }
}

struct WalletsAnswer {
    is_accepted: bool,
    back: Option<String>,
}

/// Settings without accounts: the site has no wallets.
fn mocked() -> SignInConfig {
    SignInConfig {
        people: People::Mock,
        ..SignInConfig::default()
    }
}

fn provider(app: &App) -> SignIns {
    app.sign_ins(&app.main().organisation).unwrap()
}

fn challenge(id: &str, code: Option<&str>) -> SecretString {
    let given = PresentedChallenge {
        id: id.to_owned(),
        code: code.map(str::to_owned),
    };
    given.value()
}

async fn prove(
    provider: &SignIns,
    visitor: &SignInVisitor,
    value: SecretString,
) -> Result<SignedInView> {
    let attempt = SignInAttempt {
        identifier: "".into(),
        challenges: vec![Challenge {
            factor: FactorKind::Presentation,
            format: None,
            value,
        }],
    };
    provider.authenticate(visitor, attempt).await
}

fn refused(result: Result<SignedInView>) -> Error {
    match result {
        Ok(_) => panic!("somebody is signed in"),
        Err(error) => error,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_signs_in_by_a_wallet_on_another_device_and_the_client_learns_what_they_agree_to()
{
    let scene = Scene::new().await;
    let visitor = scene.begun("browser").await;
    let asked = scene.ask(&visitor).await.unwrap();
    assert!(!asked.is_answered);
    let answer = scene.answer(asked.elsewhere.as_ref().unwrap()).await;
    assert!(answer.is_accepted && answer.back.is_none());
    assert!(scene.ask(&visitor).await.unwrap().is_answered);
    // Another process takes the answer, and the next one the agreement.
    let other = scene.site.reopened().await;
    other.know_people(&mocked()).unwrap();
    let given = || challenge(&asked.id, None);
    let signed_in = prove(&provider(&other), &visitor, given()).await;
    let signed_in = signed_in.unwrap();
    assert!(signed_in.session.is_some());
    let again = refused(prove(&scene.provider(), &visitor, given()).await);
    assert_eq!(again.kind, ErrorKind::Conflict);
    let agreed = PersonsAgreement {
        claims: signed_in.sign_in.essential.clone(),
        scopes: Vec::new(),
    };
    let landing = scene.provider().agree(&visitor, &agreed).await.unwrap();
    let token = scene.tokens(&landing.code.unwrap()).await;
    let claims = token.claims();
    assert_eq!(claims["given_name"], "Maja");
    assert_eq!(claims["acr"], "urn:selfsame:acr:presentation");
    assert_eq!(claims["amr"], json!(["pop"]));
    assert!(claims.get("email").is_none(), "the record has none");
    assert!(!token.text("sub").unwrap().contains("Musterfrau"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wallet_on_the_same_device_sends_the_browser_back_and_no_other_browser_gets_in() {
    let scene = Scene::new().await;
    let visitor = scene.begun("browser").await;
    let asked = scene.ask(&visitor).await.unwrap();
    let answer = scene.answer(&asked.here).await;
    let back = answer.back.unwrap();
    let start = format!("{}sign-in/1/wallet/", scene.site.origin);
    let (id, code) = back
        .strip_prefix(&start)
        .and_then(|rest| rest.split_once("?response_code="))
        .unwrap_or_else(|| panic!("{back}"));
    assert!(!scene.ask(&visitor).await.unwrap().is_answered);
    let provider = scene.provider();
    let given = |code| challenge(id, code);
    for wrong in [None, Some("another code")] {
        let error = refused(prove(&provider, &visitor, given(wrong)).await);
        assert_eq!(error.kind, ErrorKind::Unauthenticated, "{wrong:?}");
    }
    // Somebody who has the link back, in a browser of their own.
    let elsewhere = SignInVisitor {
        browser: Some("another browser".into()),
        ..visitor.clone()
    };
    let error = refused(prove(&provider, &elsewhere, given(Some(code))).await);
    assert_eq!(error.kind, ErrorKind::NotFound);
    // And with a sign-in of their own there.
    let own = scene.begun("another browser").await;
    scene.ask(&own).await.unwrap();
    let error = refused(prove(&provider, &own, given(Some(code))).await);
    assert_eq!(error.kind, ErrorKind::Unauthenticated);
    prove(&provider, &visitor, given(Some(code))).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_another_sign_in_asked_for_signs_nobody_in() {
    let scene = Scene::new().await;
    let theirs = scene.begun("their browser").await;
    let asked = scene.ask(&theirs).await.unwrap();
    let link = asked.elsewhere.clone().unwrap();
    assert!(scene.answer(&link).await.is_accepted);
    let visitor = scene.begun("browser").await;
    scene.ask(&visitor).await.unwrap();
    let given = || challenge(&asked.id, None);
    let error = refused(prove(&scene.provider(), &visitor, given()).await);
    assert_eq!(error.kind, ErrorKind::Unauthenticated);
    // A request is answered once.
    let wallet = scene.wallet.wallet().unwrap();
    let replayed = wallet.answer_request(&scene.person, &newest(&link)).await;
    assert!(replayed.is_err());
    prove(&scene.provider(), &theirs, given()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credential_of_another_issuer_signs_nobody_in() {
    let scene = Scene::accepting(Some("did:web:other.example")).await;
    let visitor = scene.begun("browser").await;
    let asked = scene.ask(&visitor).await.unwrap();
    assert!(
        !scene
            .answer(&asked.elsewhere.clone().unwrap())
            .await
            .is_accepted
    );
    assert_eq!(scene.ask(&visitor).await.unwrap(), asked);
    let given = challenge(&asked.id, None);
    let error = refused(prove(&scene.provider(), &visitor, given).await);
    assert_eq!(error.kind, ErrorKind::Unauthenticated);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_credential_signs_nobody_in_and_the_wallet_is_asked_anew() {
    let scene = Scene::new().await;
    let issuer = scene.site.app.main().issuer().unwrap();
    let issued = issuer.issued(None, &Paging::default()).await.unwrap();
    let id = &issued.items[0].id;
    issuer
        .set_status(id, CredentialStatus::Revoked)
        .await
        .unwrap();
    // A changed list is served within a second.
    scene.site.app.clock().advance(2);
    scene.wallet.clock().advance(2);
    let visitor = scene.begun("browser").await;
    let asked = scene.ask(&visitor).await.unwrap();
    scene.answer(asked.elsewhere.as_ref().unwrap()).await;
    assert!(scene.ask(&visitor).await.unwrap().is_answered);
    let given = challenge(&asked.id, None);
    let error = refused(prove(&scene.provider(), &visitor, given).await);
    assert_eq!(error.kind, ErrorKind::Unauthenticated);
    let anew = scene.ask(&visitor).await.unwrap();
    assert!(anew.id != asked.id && !anew.is_answered);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_wallet_answers_too_late_signs_nobody_in() {
    let scene = Scene::new().await;
    let visitor = scene.begun("browser").await;
    let asked = scene.ask(&visitor).await.unwrap();
    scene.answer(asked.elsewhere.as_ref().unwrap()).await;
    scene.site.app.clock().advance(601);
    let given = challenge(&asked.id, None);
    let error = refused(prove(&scene.provider(), &visitor, given).await);
    assert_eq!(error.kind, ErrorKind::NotFound);
}
