//! The pages of a sign-in at the OpenID provider: who one is, what one agrees to, and the way back to the client.

use http::StatusCode;
use serde_json::{Value, json};

use super::instance::{Answered, Instance, form, get, post};
use super::organisations::with_acme;

const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
pub const PERSON: &str = "rosa@example.org";
pub const PASSWORD: &str = "a long password";

/// A browser at a sign-in: its cookies, and the address of the page.
pub struct AtSignIn<'i> {
    instance: &'i Instance,
    cookies: Vec<String>,
    pub page: String,
}

impl<'i> AtSignIn<'i> {
    /// A sign-in that a client begins at an organisation, with further parameters.
    pub async fn begun(instance: &'i Instance, prefix: &str, further: &[(&str, &str)]) -> Self {
        let new = json!({"redirect_uris": ["https://rp.example/cb"], "client_name": "Library",
            "client_name#fr": "Bibliothèque", "token_endpoint_auth_method": "client_secret_post"});
        let asked = post(&format!("{prefix}/api/sign-in/clients")).bearer(&instance.token);
        let made = instance.call(asked.json(&new.to_string())).await;
        let made: Value = serde_json::from_str(&made.body).unwrap();
        let mut all = vec![
            ("client_id", made["client_id"].as_str().unwrap()),
            ("redirect_uri", "https://rp.example/cb"),
            ("response_type", "code"),
            ("scope", "openid email"),
            ("code_challenge", CHALLENGE),
            ("code_challenge_method", "S256"),
        ];
        all.extend(further);
        let one = Self::led(instance, &format!("{prefix}/oidc/authorize?{}", form(&all))).await;
        let start = format!("{prefix}/sign-in/");
        assert!(one.page.starts_with(&start), "{}", one.page);
        one
    }

    /// A sign-in that this address begins.
    pub async fn led(instance: &'i Instance, authorize: &str) -> Self {
        let begun = instance.call(get(authorize)).await;
        let mut one = Self {
            instance,
            cookies: Vec::new(),
            page: begun.header("location").to_owned(),
        };
        one.keep(&begun);
        let led = get(&one.page).header("accept", "text/html,*/*");
        let led = instance.call(led.cookie(&one.cookies.join("; "))).await;
        assert_eq!(led.status, StatusCode::SEE_OTHER, "{}", led.body);
        one.page = led.header("location").to_owned();
        one
    }

    fn keep(&mut self, answer: &Answered) {
        for set in answer.headers.get_all("set-cookie") {
            let pair = set.to_str().unwrap().split(';').next().unwrap();
            let name = pair.split('=').next().unwrap();
            self.cookies
                .retain(|kept| kept.split('=').next() != Some(name));
            self.cookies.push(pair.to_owned());
        }
    }

    pub async fn open(&mut self, path: &str) -> Answered {
        let call = get(path).cookie(&self.cookies.join("; "));
        let answer = self.instance.call(call).await;
        self.keep(&answer);
        answer
    }

    /// Sends the first form of the sign-in's page.
    pub async fn send(&mut self, step: &str, fields: &[(&str, &str)]) -> Answered {
        let page = self.page.clone();
        let token = self.open(&page).await.form_token();
        self.submit(step, &token, fields).await
    }

    /// Sends a form that has this token.
    pub async fn submit(&mut self, step: &str, token: &str, fields: &[(&str, &str)]) -> Answered {
        let page = self.page.clone();
        let mut all = vec![("form_token", token)];
        all.extend(fields);
        let call = post(&format!("{page}{step}")).cookie(&self.cookies.join("; "));
        let answer = self.instance.call(call.form(form(&all))).await;
        self.keep(&answer);
        answer
    }

    /// Takes a step as a program does, by JSON, and returns the answer.
    pub async fn step(&mut self, step: &str, body: &Value) -> Answered {
        let (prefix, id) = self.page.split_once("/sign-in/").unwrap();
        let call = post(&format!("{prefix}/oidc/sign-in/{id}{step}"));
        let call = call.cookie(&self.cookies.join("; "));
        let answer = self.instance.call(call.json(&body.to_string())).await;
        self.keep(&answer);
        answer
    }

    pub async fn prove(&mut self, password: &str) -> Answered {
        let fields = [("identifier", PERSON), ("password", password)];
        self.send("/proof", &fields).await
    }
}

#[tokio::test]
async fn a_person_signs_in_and_agrees_on_pages_in_their_language() {
    let instance = with_acme().await;
    instance.person_cookie(PERSON).await;
    for prefix in ["", "/o/acme"] {
        let mut at = AtSignIn::begun(&instance, prefix, &[("ui_locales", "de fr")]).await;
        let page = at.page.clone();
        let shown = at.open(&page).await;
        assert_eq!(shown.status, StatusCode::OK, "{}", shown.body);
        assert!(
            shown.body.contains("<html lang=\"fr\" dir=\"ltr\">"),
            "{}",
            shown.body
        );
        assert!(shown.body.contains("Bibliothèque"), "{}", shown.body);
        let wrong = at.prove("another password").await;
        assert_eq!(wrong.status, StatusCode::UNAUTHORIZED, "{}", wrong.body);
        assert!(wrong.body.contains("Vérifiez votre saisie") && wrong.body.contains(PERSON));
        let proven = at.prove(PASSWORD).await;
        assert_eq!(proven.status, StatusCode::SEE_OTHER, "{}", proven.body);
        assert_eq!(proven.header("location"), page);
        let asked = at.open(&page).await;
        assert!(asked.body.contains("name=\"decision\""), "{}", asked.body);
        let arabic = at.open(&format!("{page}?ui_locales=ar")).await;
        assert!(arabic.body.contains("dir=\"rtl\""), "{}", arabic.body);
        let agreed = [
            ("decision", "agree"),
            ("claim", "email"),
            ("claim", "email_verified"),
        ];
        let left = at.send("/agreement", &agreed).await;
        assert_eq!(left.status, StatusCode::OK, "{}", left.body);
        let refresh = left.header("refresh");
        assert!(
            refresh.starts_with("0; url=https://rp.example/cb?"),
            "{refresh}"
        );
        assert!(refresh.contains("code="), "{refresh}");
    }
}

#[tokio::test]
async fn who_declines_is_led_back_and_another_browser_gets_no_page() {
    let instance = with_acme().await;
    instance.person_cookie(PERSON).await;
    let mut at = AtSignIn::begun(&instance, "", &[]).await;
    let elsewhere = instance.call(get(&at.page)).await;
    let status = elsewhere.status;
    assert_eq!(status, StatusCode::NOT_FOUND, "{}", elsewhere.body);
    assert!(
        elsewhere.body.contains("This sign-in took too long"),
        "{}",
        elsewhere.body
    );
    let left = at.send("/agreement", &[("decision", "decline")]).await;
    assert!(
        left.header("refresh").contains("error=access_denied"),
        "{}",
        left.body
    );
}

#[tokio::test]
async fn a_person_sees_sessions_and_agreements_and_ends_them() {
    let instance = with_acme().await;
    instance.person_cookie(PERSON).await;
    let mut at = AtSignIn::begun(&instance, "", &[]).await;
    let refused = at.open("/signed-in/sessions").await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
    at.prove(PASSWORD).await;
    at.send("/agreement", &[("decision", "agree"), ("claim", "email")])
        .await;
    let agreements = at.open("/signed-in/agreements").await;
    assert!(agreements.body.contains("Library"), "{}", agreements.body);
    let sessions = at.open("/signed-in/sessions").await;
    assert!(sessions.body.contains("this browser"), "{}", sessions.body);
    for page in [agreements, sessions] {
        let action = page.body.split("action=\"").nth(1).unwrap();
        let action = action.split('"').next().unwrap().to_owned();
        let fields = [("form_token", page.form_token())];
        let fields = fields
            .each_ref()
            .map(|(name, value)| (*name, value.as_str()));
        let call = post(&action)
            .cookie(&at.cookies.join("; "))
            .form(form(&fields));
        let ended = instance.call(call).await;
        assert_eq!(
            ended.status,
            StatusCode::SEE_OTHER,
            "{action} {}",
            ended.body
        );
    }
    let over = at.open("/signed-in/sessions").await;
    assert_eq!(over.status, StatusCode::UNAUTHORIZED);
}
