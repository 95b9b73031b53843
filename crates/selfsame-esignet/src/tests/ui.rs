//! eSignet's own user interface: its calls with the bodies, headers and cookies that it sends, in its order. It keeps one
//! token against cross-site requests for all of them, and writes members that it has no value for as `null`.

use axum::body::Body;
use http::Request;
use http::header::{ACCEPT, CONTENT_TYPE, COOKIE, ORIGIN, REFERER, USER_AGENT};

use super::world::{Answered, REDIRECT, World};
use crate::{details_hash, envelope};

const PERSON: &str = "987654321";

/// A browser with the user interface.
struct Page<'a> {
    world: &'a World,
    token: String,
    /// The transaction and the hash of its details, once they are known.
    details: Option<[String; 2]>,
}

impl<'a> Page<'a> {
    async fn open(world: &'a World) -> Self {
        let token = world.get("csrf/token").await;
        Self {
            world,
            token: token.found("\"token\":\"", "\""),
            details: None,
        }
    }

    /// A call as the page makes it: a body in one line, and what a browser adds.
    async fn post(&self, path: &str, request: &str) -> Answered {
        let time = envelope::time(self.world.clock.now());
        let body = format!("{{\"requestTime\":\"{time}\",\"request\":{request}}}");
        let mut call = Request::post(format!("/v1/esignet/authorization/{path}"))
            .header(ACCEPT, "application/json, text/plain, */*")
            .header(CONTENT_TYPE, "application/json")
            .header(COOKIE, format!("lang=en; XSRF-TOKEN={}", self.token))
            .header(ORIGIN, "https://host.example")
            .header(REFERER, "https://host.example/login")
            .header(USER_AGENT, "Mozilla/5.0")
            .header("X-XSRF-TOKEN", &self.token);
        if let Some([transaction, hash]) = &self.details {
            call = call
                .header("oauth-details-hash", hash)
                .header("oauth-details-key", transaction);
        }
        self.world.call(call.body(Body::from(body)).unwrap()).await
    }

    /// Begins a sign-in with what the client had in its link.
    async fn begin(&mut self) -> Answered {
        let request = format!(
            "{{\"nonce\":\"973eieljzng\",\"state\":\"eree2311\",\"clientId\":\"client-1\",\
             \"redirectUri\":\"{REDIRECT}\",\"responseType\":\"code\",\"scope\":\"openid profile\",\
             \"acrValues\":\"mosip:idp:acr:generated-code\",\
             \"claims\":{{\"userinfo\":{{\"name\":{{\"essential\":true}},\"email\":null}},\"id_token\":{{}}}},\
             \"claimsLocales\":\"en\",\"display\":null,\"maxAge\":null,\"prompt\":null,\
             \"uiLocales\":\"en\",\"codeChallenge\":null,\"codeChallengeMethod\":null}}"
        );
        let begun = self.post("v2/oauth-details", &request).await;
        if begun.has("\"errors\":[]") {
            let details = begun.found("\"response\":", ",\"errors\":");
            let transaction = begun.found("\"transactionId\":\"", "\"");
            self.details = Some([transaction, details_hash::of(&details)]);
        }
        begun
    }

    fn transaction(&self) -> &str {
        self.details
            .as_ref()
            .map_or("", |[transaction, _]| transaction)
    }
}

#[tokio::test]
async fn its_user_interface_signs_a_person_in_with_its_own_calls() {
    let world = World::legacy().await;
    world.client().await;
    world.person(PERSON, "Maja Lind").await;
    let mut page = Page::open(&world).await;
    let begun = page.begin().await;
    assert!(begun.has("\"errors\":[]"), "{begun:?}");
    let details = begun.json()["response"].clone();
    assert_eq!(details["essentialClaims"], serde_json::json!(["name"]));
    for config in ["otp.length", "send.otp.channels", "resend.otp.delay.secs"] {
        assert!(!details["configs"][config].is_null(), "{config}");
    }
    let transaction = page.transaction().to_owned();
    let request = format!(
        "{{\"transactionId\":\"{transaction}\",\"individualId\":\"{PERSON}\",\
         \"otpChannels\":[\"email\",\"phone\"],\"captchaToken\":null}}"
    );
    let sent = page.post("send-otp", &request).await;
    assert!(sent.has("\"errors\":[]"), "{sent:?}");
    assert!(sent.has("\"maskedEmail\":\"") && sent.has("\"maskedMobile\":\""));
    let request = format!(
        "{{\"transactionId\":\"{transaction}\",\"individualId\":\"{PERSON}\",\"challengeList\":\
         [{{\"authFactorType\":\"OTP\",\"challenge\":\"111111\",\"format\":\"alpha-numeric\"}}],\
         \"captchaToken\":null}}"
    );
    let proven = page.post("v3/authenticate", &request).await;
    assert_eq!(proven.json()["response"]["consentAction"], "CAPTURE");
    let request = format!(
        "{{\"transactionId\":\"{transaction}\",\"acceptedClaims\":[\"name\"],\
         \"permittedAuthorizeScopes\":[]}}"
    );
    let coded = page.post("auth-code", &request).await.json();
    let response = &coded["response"];
    assert_eq!(response["redirectUri"], REDIRECT);
    assert_eq!(response["state"], "eree2311");
    assert!(
        response["code"]
            .as_str()
            .is_some_and(|code| !code.is_empty())
    );
}

#[tokio::test]
async fn a_page_of_another_site_or_without_the_details_gets_nowhere() {
    let world = World::legacy().await;
    world.client().await;
    world.person(PERSON, "Maja Lind").await;
    let mut page = Page::open(&world).await;
    page.begin().await;
    let transaction = page.transaction().to_owned();
    let request = format!(
        "{{\"transactionId\":\"{transaction}\",\"individualId\":\"{PERSON}\",\
         \"otpChannels\":[\"email\"],\"captchaToken\":null}}"
    );
    let blind = Page {
        details: None,
        token: page.token.clone(),
        world: &world,
    };
    assert_eq!(
        blind.post("send-otp", &request).await.code(),
        "invalid_transaction"
    );
    let time = envelope::time(world.clock.now());
    let body = format!("{{\"requestTime\":\"{time}\",\"request\":{request}}}");
    for (cookie, header) in [
        ("XSRF-TOKEN=a", Some("b")),
        ("XSRF-TOKEN=a", None),
        ("lang=en", Some("a")),
    ] {
        let call = Request::post("/v1/esignet/authorization/send-otp")
            .header(CONTENT_TYPE, "application/json")
            .header(COOKIE, cookie);
        let call = match header {
            Some(token) => call.header("X-XSRF-TOKEN", token),
            None => call,
        };
        let refused = world
            .call(call.body(Body::from(body.clone())).unwrap())
            .await;
        assert_eq!(refused.status, 403, "{cookie} {header:?}");
    }
}
