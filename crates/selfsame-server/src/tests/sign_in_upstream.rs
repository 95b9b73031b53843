//! Sign-in by another OpenID provider: that of an organisation of another instance.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use http::StatusCode;
use selfsame_core::config::ResolverConfig;
use selfsame_crypto::Algorithm;
use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::seal::random_seed;
use selfsame_identity::config::{SignInConfig, UpstreamSection};
use serde_json::{Value, json};
use url::Url;

use super::instance::{Instance, ORIGIN, get, post};
use super::sign_in_pages::AtSignIn;

const PERSON: &str = "rosa@example.org";
const PASSWORD: &str = "a long password";

/// An instance where people sign in by the provider of `acme` at another instance.
struct Scene {
    theirs: Instance,
    ours: Instance,
    secret: PathBuf,
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.secret);
    }
}

impl Scene {
    async fn new() -> Self {
        let theirs = Instance::listening().await;
        let new = json!({"name": "acme", "title": "Acme Corporation"});
        let made = post("/api/organisations").bearer(&theirs.token);
        let made = theirs.call(made.json(&new.to_string())).await;
        assert!(made.status.is_success(), "{}", made.body);
        let accounts = theirs.app.wallet().unwrap().accounts();
        accounts.register(PERSON, PASSWORD.into()).await.unwrap();
        let client = json!({
            "redirect_uris": [format!("{ORIGIN}/oidc/upstream")],
            "client_name": "Our own provider",
            "token_endpoint_auth_method": "client_secret_post",
            "userinfo_signed_response_alg": "ES256"
        });
        let made = post("/o/acme/api/sign-in/clients").bearer(&theirs.token);
        let made = theirs.call(made.json(&client.to_string())).await;
        let client: Value = serde_json::from_str(&made.body).unwrap();
        let there: Url = format!("http://{}/", theirs.host).parse().unwrap();
        let ours = Instance::resolving(ResolverConfig {
            universal: Some(there.clone()),
            universal_methods: vec!["slow".to_owned()],
            ..ResolverConfig::default()
        });
        let secret = kept(client["client_secret"].as_str().unwrap());
        let config = SignInConfig {
            upstream: Some(UpstreamSection {
                issuer: there.join("o/acme/oidc").unwrap(),
                client_id: client["client_id"].as_str().unwrap().to_owned(),
                client_secret_file: secret.clone(),
                scope: None,
                userinfo_signed_response_alg: Some(Algorithm::Es256),
            }),
            ..SignInConfig::default()
        };
        let ours = ours.await;
        ours.app.know_people(&config).unwrap();
        Self {
            theirs,
            ours,
            secret,
        }
    }

    /// A sign-in here, and the address at the other provider that it leads to.
    async fn begun(&self) -> Led<'_> {
        let mut at = AtSignIn::begun(&self.ours, "", &[]).await;
        let page = at.page.clone();
        let first = at.open(&page).await;
        let way = format!("{page}/upstream");
        assert!(
            first.body.contains(&format!("href=\"{way}\"")),
            "{}",
            first.body
        );
        let led = at.open(&way).await;
        assert_eq!(led.status, StatusCode::SEE_OTHER, "{}", led.body);
        let start = format!("http://{}", self.theirs.host);
        let there = led.header("location").strip_prefix(&start);
        let there = there.unwrap_or_else(|| panic!("{}", led.header("location")));
        assert!(there.starts_with("/o/acme/oidc/authorize?"), "{there}");
        Led {
            at,
            there: there.to_owned(),
        }
    }

    /// Where the other provider sends the browser back after this decision.
    async fn back(&self, there: &str, decision: &str) -> String {
        let mut at = AtSignIn::led(&self.theirs, there).await;
        let fields = [("identifier", PERSON), ("password", PASSWORD)];
        let proven = at.send("/proof", &fields).await;
        assert_eq!(proven.status, StatusCode::SEE_OTHER, "{}", proven.body);
        let fields = [
            ("decision", decision),
            ("claim", "email"),
            ("claim", "email_verified"),
        ];
        let left = at.send("/agreement", &fields).await;
        let back = left.header("refresh").strip_prefix("0; url=");
        let back = back.unwrap_or_else(|| panic!("{}", left.body));
        back.strip_prefix(ORIGIN).unwrap().to_owned()
    }
}

/// A sign-in that leads elsewhere.
struct Led<'i> {
    at: AtSignIn<'i>,
    there: String,
}

/// A file that its owner alone reads.
fn kept(secret: &str) -> PathBuf {
    let name = format!("selfsame-upstream-{}", base64url_encode(&random_seed()));
    let path = std::env::temp_dir().join(name);
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path);
    file.unwrap().write_all(secret.as_bytes()).unwrap();
    path
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_signs_in_with_an_account_at_another_provider() {
    let scene = Scene::new().await;
    let Led { mut at, there } = scene.begun().await;
    let back = scene.back(&there, "agree").await;
    assert!(back.starts_with("/oidc/upstream?"), "{back}");
    let led = at.open(&back).await;
    assert_eq!(led.status, StatusCode::SEE_OTHER, "{}", led.body);
    let own = led
        .header("location")
        .strip_prefix(ORIGIN)
        .unwrap()
        .to_owned();
    assert!(own.starts_with(&format!("{}/upstream?", at.page)), "{own}");
    // A browser that did not begin this sign-in gets nothing of it.
    let elsewhere = scene.ours.call(get(&own)).await;
    assert_eq!(elsewhere.status, StatusCode::NOT_FOUND);
    let proven = at.open(&own).await;
    assert_eq!(proven.status, StatusCode::SEE_OTHER, "{}", proven.body);
    assert_eq!(proven.header("location"), at.page);
    let fields = [("decision", "agree"), ("claim", "email")];
    let left = at.send("/agreement", &fields).await;
    assert!(left.header("refresh").contains("code="), "{}", left.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_declines_there_or_brings_back_the_answer_of_another_sign_in_is_not_signed_in() {
    let scene = Scene::new().await;
    let Led { mut at, there } = scene.begun().await;
    let back = scene.back(&there, "decline").await;
    let own = at.open(&back).await.header("location").replace(ORIGIN, "");
    let declined = at.open(&own).await;
    assert_eq!(
        declined.status,
        StatusCode::UNAUTHORIZED,
        "{}",
        declined.body
    );
    assert!(
        declined.body.contains("did not sign you in"),
        "{}",
        declined.body
    );
    let Led { mut at, .. } = scene.begun().await;
    let other = scene.begun().await;
    let theirs = scene.back(&other.there, "agree").await;
    let query = theirs.split_once('?').unwrap().1;
    let stolen = format!("{}/upstream?{query}", at.page);
    let refused = at.open(&stolen).await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "{}", refused.body);
    let nowhere = at.open("/oidc/upstream?code=c&state=unknown").await;
    assert_eq!(nowhere.status, StatusCode::UNAUTHORIZED, "{}", nowhere.body);
}
