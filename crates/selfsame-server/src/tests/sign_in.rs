//! The OpenID provider at its addresses: cookies, redirects, errors in the form that each caller reads.

use http::header::SET_COOKIE;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::instance::{Answered, Call, Instance, ORIGIN, call, form, get, post};
use super::organisations::with_acme;

const URI: &str = "https://rp.example/cb";
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

struct Client {
    id: String,
    secret: String,
}

async fn client(instance: &Instance, prefix: &str) -> Client {
    let new = json!({"redirect_uris": [URI], "id_token_signed_response_alg": "ES256",
        "token_endpoint_auth_method": "client_secret_post"});
    let asked = post(&format!("{prefix}/api/sign-in/clients")).bearer(&instance.token);
    let made = instance.call(asked.json(&new.to_string())).await;
    assert_eq!(made.status, StatusCode::CREATED, "{}", made.body);
    let made: Value = serde_json::from_str(&made.body).unwrap();
    Client {
        id: made["client_id"].as_str().unwrap().to_owned(),
        secret: made["client_secret"].as_str().unwrap().to_owned(),
    }
}

impl Client {
    fn authorize(&self, prefix: &str, further: &[(&str, &str)]) -> Call {
        let mut all = vec![
            ("client_id", self.id.as_str()),
            ("redirect_uri", URI),
            ("response_type", "code"),
            ("scope", "openid"),
            ("code_challenge", CHALLENGE),
            ("code_challenge_method", "S256"),
        ];
        for change in further {
            all.retain(|(name, _)| *name != change.0);
            all.push(*change);
        }
        get(&format!("{prefix}/oidc/authorize?{}", form(&all)))
    }

    fn redeem(&self, prefix: &str, code: &str) -> Call {
        post(&format!("{prefix}/oidc/token")).form(form(&[
            ("grant_type", "authorization_code"),
            ("client_id", &self.id),
            ("client_secret", &self.secret),
            ("code", code),
            ("redirect_uri", URI),
            ("code_verifier", VERIFIER),
        ]))
    }
}

/// The cookies that an answer sets, as a browser sends them.
fn cookies(answer: &Answered) -> String {
    let set = answer.headers.get_all(SET_COOKIE).iter();
    let pairs = set.map(|set| set.to_str().unwrap().split(';').next().unwrap());
    pairs.collect::<Vec<_>>().join("; ")
}

fn read(answer: &Answered) -> Value {
    assert!(
        answer.status.is_success(),
        "{} {}",
        answer.status,
        answer.body
    );
    serde_json::from_str(&answer.body).unwrap()
}

#[tokio::test]
async fn a_person_signs_in_at_each_organisation_by_its_own_addresses() {
    let instance = with_acme().await;
    instance.person_cookie("rosa@example.org").await;
    for prefix in ["", "/o/acme"] {
        let issuer = format!("{ORIGIN}{prefix}/oidc");
        let metadata = format!("{prefix}/oidc/.well-known/openid-configuration");
        let metadata = read(&instance.call(get(&metadata)).await);
        assert_eq!(metadata["issuer"], issuer);
        let inserted = format!("/.well-known/oauth-authorization-server{prefix}/oidc");
        assert_eq!(read(&instance.call(get(&inserted)).await), metadata);

        let client = client(&instance, prefix).await;
        let begun = instance.call(client.authorize(prefix, &[])).await;
        assert_eq!(begun.status, StatusCode::SEE_OTHER, "{}", begun.body);
        let place = begun.header("location").to_owned();
        assert!(
            place.starts_with(&format!("{prefix}/oidc/sign-in/")),
            "{place}"
        );
        let cookie = cookies(&begun);
        let attempt = json!({"identifier": "rosa@example.org", "challenges": [
            {"factor": "password", "value": "a long password"}]});
        let attempt = post(&format!("{place}/authentication")).json(&attempt.to_string());
        let signed_in = instance.call(attempt.cookie(&cookie)).await;
        assert_eq!(read(&signed_in)["stage"], "agreed");
        let session = cookies(&signed_in);
        let agreed = post(&format!("{place}/agreement"))
            .json("{}")
            .cookie(&cookie);
        let landing = read(&instance.call(agreed).await);
        assert_eq!(landing["parameters"]["iss"], issuer);
        let code = landing["parameters"]["code"].as_str().unwrap();
        let tokens = read(&instance.call(client.redeem(prefix, code)).await);
        let access = tokens["access_token"].as_str().unwrap();
        let userinfo = get(&format!("{prefix}/oidc/userinfo")).bearer(access);
        assert!(read(&instance.call(userinfo).await)["sub"].is_string());

        // The session serves for a page that posts the next response by itself.
        let both = format!("{cookie}; {session}");
        let again = client.authorize(prefix, &[("response_mode", "form_post"), ("state", "<s>")]);
        let page = instance.call(again.cookie(&both)).await;
        assert_eq!(page.status, StatusCode::OK);
        assert!(page.body.contains("value=\"&lt;s&gt;\""), "{}", page.body);
        assert!(
            page.header("content-security-policy")
                .starts_with("default-src 'none'")
        );
    }
}

#[tokio::test]
async fn each_caller_reads_errors_in_its_own_form() {
    let instance = Instance::start().await;
    let client = client(&instance, "").await;
    let elsewhere = [("redirect_uri", "https://evil.example/cb")];
    let shown = instance.call(client.authorize("", &elsewhere)).await;
    assert_eq!(shown.status, StatusCode::BAD_REQUEST);
    assert!(shown.header("content-type").starts_with("text/html"));
    let returned = client.authorize("", &[("response_type", "token")]);
    let returned = instance.call(returned).await;
    let place = returned.header("location");
    assert!(
        place.starts_with(&format!("{URI}?error=unsupported_response_type")),
        "{place}"
    );
    let refused = instance.call(client.redeem("", "a.b")).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.body.contains("\"error\":\"invalid_grant\""));
    let stranger = Client {
        id: client.id.clone(),
        secret: "wrong".to_owned(),
    };
    let refused = instance.call(stranger.redeem("", "a.b")).await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
    assert!(refused.header("www-authenticate").starts_with("Basic"));
    let nobody = instance.call(get("/oidc/userinfo").bearer("x")).await;
    assert_eq!(
        nobody.header("www-authenticate"),
        "Bearer error=\"invalid_token\""
    );
}

#[tokio::test]
async fn another_site_takes_no_step_of_a_sign_in() {
    let instance = Instance::start().await;
    let client = client(&instance, "").await;
    let begun = instance.call(client.authorize("", &[])).await;
    let (place, cookie) = (begun.header("location").to_owned(), cookies(&begun));
    let step = |name: &str| post(&format!("{place}/{name}")).json("{}").cookie(&cookie);
    let foreign = step("refusal").header("origin", "https://evil.example");
    let refused = instance.call(foreign).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    let without = call(Method::GET, &place);
    assert_eq!(instance.call(without).await.status, StatusCode::NOT_FOUND);
    let declined = read(&instance.call(step("refusal")).await);
    assert_eq!(declined["parameters"]["error"], "access_denied");
}

#[tokio::test]
async fn a_person_who_is_signed_in_says_that_they_sign_out() {
    let instance = Instance::start().await;
    instance.person_cookie("rosa@example.org").await;
    let client = client(&instance, "").await;
    let begun = instance.call(client.authorize("", &[])).await;
    let (place, cookie) = (begun.header("location").to_owned(), cookies(&begun));
    let attempt = json!({"identifier": "rosa@example.org", "challenges": [
        {"factor": "password", "value": "a long password"}]});
    let attempt = post(&format!("{place}/authentication")).json(&attempt.to_string());
    let session = cookies(&instance.call(attempt.cookie(&cookie)).await);
    let state = async || read(&instance.call(get("/oidc/sign-out").cookie(&session)).await);
    assert_eq!(state().await["signed_in"], true);
    let asked = instance.call(get("/oidc/logout").cookie(&session)).await;
    assert_eq!(asked.header("location"), "/oidc/sign-out");
    assert_eq!(state().await["signed_in"], true);
    let out = post("/oidc/sign-out").json("{}").cookie(&session);
    assert_eq!(instance.call(out).await.status, StatusCode::NO_CONTENT);
    assert_eq!(state().await["signed_in"], false);
}

#[tokio::test]
async fn pages_of_others_show_the_picture_of_the_button() {
    let instance = Instance::start().await;
    let picture = instance.call(get("/oidc/button.svg")).await;
    assert_eq!(picture.status, StatusCode::OK);
    assert_eq!(picture.header("content-type"), "image/svg+xml");
    assert_eq!(
        picture.header("cross-origin-resource-policy"),
        "cross-origin"
    );
    assert!(picture.body.starts_with("<svg"));
}
