//! The details of a sign-in: what a client asks for, and what a user interface is told of it.

use std::collections::BTreeMap;

use axum::response::Response;
use http::HeaderMap;
use selfsame_crypto::hash::ct_eq;
use selfsame_driver::Error;
use selfsame_http::extract::Raw;
use selfsame_oauth::{Form, form};
use selfsame_sign_in::ArrivingBrowser;
use selfsame_sign_in::view::{BegunSignIn, Landing, SignInView};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::door::{EsignetDoor, EsignetHere, EsignetSettings};
use crate::factors::{AuthFactor, combinations};
use crate::{codes, csrf, details_hash, envelope};

/// The claims of eSignet's scope `profile` that are not of OpenID Connect's (OpenID Connect Core §5.4).
const OF_PROFILE: [&str; 3] = ["email", "phone_number", "address"];

/// What a client asks for, as its parameters came to the user interface.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
pub struct DetailsRequest {
    client_id: String,
    scope: String,
    response_type: String,
    redirect_uri: String,
    display: Option<String>,
    prompt: Option<String>,
    nonce: Option<String>,
    state: Option<String>,
    acr_values: Option<String>,
    max_age: Option<Value>,
    claims: Option<Value>,
    claims_locales: Option<String>,
    ui_locales: Option<String>,
    code_challenge: Option<String>,
    code_challenge_method: Option<String>,
}

/// What a user interface is told. Its JSON text is what it hashes.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OauthDetails<'a> {
    transaction_id: &'a str,
    logo_url: Option<&'a str>,
    auth_factors: Vec<Vec<AuthFactor>>,
    authorize_scopes: Vec<&'a String>,
    essential_claims: &'a [String],
    voluntary_claims: &'a [String],
    configs: &'a serde_json::Map<String, Value>,
    redirect_uri: &'a str,
    client_name: ClientName,
    credential_scopes: Vec<&'a String>,
}

/// The name of a client: one text, or, in newer versions, one for each language.
#[derive(Serialize)]
#[serde(untagged)]
enum ClientName {
    One(String),
    ByLanguage(BTreeMap<String, String>),
}

/// Which version of the call was made.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum DetailsVersion {
    First,
    Second,
}

/// The token against cross-site requests.
pub async fn csrf_token(here: EsignetHere) -> Response {
    let door = &here.door;
    let token = csrf::CsrfToken::new(&door.clock.ctx());
    let cookie = token.cookie(
        door.settings.base.path(),
        door.settings.base.scheme() == "https",
    );
    csrf::answer(&token, cookie)
}

/// Begins a sign-in.
pub async fn oauth_details(here: EsignetHere, headers: HeaderMap, Raw(body): Raw) -> Response {
    match here.let_in(&headers) {
        Ok(()) => here.door.details(&body, DetailsVersion::Second).await,
        Err(refusal) => *refusal,
    }
}

/// Begins a sign-in, by the first version of the call.
pub async fn oauth_details_v1(here: EsignetHere, headers: HeaderMap, Raw(body): Raw) -> Response {
    match here.let_in(&headers) {
        Ok(()) => here.door.details(&body, DetailsVersion::First).await,
        Err(refusal) => *refusal,
    }
}

/// What a wallet is told that takes over a sign-in.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LinkedDetails {
    link_transaction_id: String,
    logo_url: Option<String>,
    auth_factors: Vec<Vec<AuthFactor>>,
    authorize_scopes: Vec<String>,
    essential_claims: Vec<String>,
    voluntary_claims: Vec<String>,
    configs: serde_json::Map<String, Value>,
    client_name: ClientName,
    credential_scopes: Vec<String>,
}

impl LinkedDetails {
    /// The details of a sign-in that a wallet has taken over under this name.
    pub(crate) fn of(linked: String, view: &SignInView, settings: &EsignetSettings) -> Self {
        let is_of_credential = |scope: &String| settings.credential_scopes.contains(scope);
        let scopes = view.scopes.iter().cloned();
        let (credential_scopes, authorize_scopes) = scopes.partition(is_of_credential);
        Self {
            link_transaction_id: linked,
            logo_url: view.client.logo_uri.as_ref().map(ToString::to_string),
            auth_factors: combinations(&view.factors),
            authorize_scopes,
            essential_claims: view.essential.clone(),
            voluntary_claims: view.voluntary.clone(),
            configs: settings.ui.clone(),
            client_name: ClientName::by_language(&view.client.names),
            credential_scopes,
        }
    }
}

impl ClientName {
    /// The names by language; the one without a language is under `@none`.
    fn by_language(names: &BTreeMap<String, String>) -> Self {
        let named = |(language, name): (&String, &String)| match language.as_str() {
            "" => ("@none".to_owned(), name.clone()),
            language => (language.to_owned(), name.clone()),
        };
        Self::ByLanguage(names.iter().map(named).collect())
    }
}

impl EsignetDoor {
    async fn details(&self, body: &[u8], version: DetailsVersion) -> Response {
        let now = self.clock.now();
        let view = match envelope::request(body, now) {
            Ok(request) => self.begin(request).await,
            Err(code) => Err(code),
        };
        let view = match view {
            Ok(view) => view,
            Err(code) => return envelope::answer::<()>(Err(code), now),
        };
        envelope::answer(Ok(self.told(&view, version)), now)
    }

    /// Whether a hash is that of the details of a sign-in, as either version of the call told them. They follow from the
    /// sign-in, so nothing is kept of them; if the client was changed since, the sign-in is begun again.
    pub(crate) fn has_told(&self, view: &SignInView, hash: &str) -> bool {
        let is_of = |version| {
            let details = serde_json::to_string(&self.told(view, version));
            details.is_ok_and(|text| ct_eq(details_hash::of(&text).as_bytes(), hash.as_bytes()))
        };
        [DetailsVersion::Second, DetailsVersion::First]
            .into_iter()
            .any(is_of)
    }

    async fn begin(&self, request: DetailsRequest) -> Result<SignInView, &'static str> {
        request.check()?;
        let client = self.sign_ins.client(&request.client_id).await;
        let registration = client.map_err(|_| "invalid_client_id")?.registration;
        if registration.is_inactive() {
            return Err("invalid_client_id");
        }
        let registered = &registration.default_acr_values;
        if registered.is_empty() {
            return Err("no_acr_registered");
        }
        let form = request.form(registered)?;
        match self.sign_ins.begin(form, &ArrivingBrowser::default()).await {
            Ok(BegunSignIn::Asking(view)) => Ok(*view),
            Ok(BegunSignIn::Landed(landing)) => Err(code_of(&landing)),
            Err(error) => Err(code_of_refusal(&error)),
        }
    }

    fn told<'a>(&'a self, view: &'a SignInView, version: DetailsVersion) -> OauthDetails<'a> {
        let is_of_credential = |scope: &&String| self.settings.credential_scopes.contains(scope);
        let names = &view.client.names;
        let name = match version {
            DetailsVersion::First => ClientName::One(names.get("").cloned().unwrap_or_default()),
            DetailsVersion::Second => ClientName::by_language(names),
        };
        OauthDetails {
            transaction_id: &view.id,
            logo_url: view.client.logo_uri.as_ref().map(|logo| logo.as_str()),
            auth_factors: combinations(&view.factors),
            authorize_scopes: view
                .scopes
                .iter()
                .filter(|one| !is_of_credential(one))
                .collect(),
            essential_claims: &view.essential,
            voluntary_claims: &view.voluntary,
            configs: &self.settings.ui,
            redirect_uri: &view.redirect_uri,
            client_name: name,
            credential_scopes: view.scopes.iter().filter(is_of_credential).collect(),
        }
    }
}

impl DetailsRequest {
    /// Whether parameters can't be right.
    ///
    /// # Errors
    /// eSignet's code.
    pub fn check(&self) -> Result<(), &'static str> {
        let among = |value: &Option<String>, all: &[&str]| {
            let value = value.as_deref().filter(|value| !value.is_empty());
            value.is_none_or(|value| all.contains(&value))
        };
        if self.client_id.is_empty() {
            return Err("invalid_client_id");
        }
        if self.response_type != "code" {
            return Err("invalid_response_type");
        }
        if self.redirect_uri.is_empty() {
            return Err("invalid_redirect_uri");
        }
        if !among(&self.display, &["page", "popup", "touch", "wap"]) {
            return Err("invalid_display");
        }
        if !among(
            &self.prompt,
            &["none", "login", "consent", "select_account"],
        ) {
            return Err("invalid_prompt");
        }
        match (&self.code_challenge, self.code_challenge_method.as_deref()) {
            (None, None) => {}
            (Some(challenge), _) if challenge.is_empty() => return Err("invalid_pkce_challenge"),
            (Some(_), Some("S256")) => {}
            (Some(_), Some(_)) => return Err("unsupported_pkce_challenge_method"),
            _ => return Err("invalid_pkce_challenge"),
        }
        self.check_scope()
    }

    /// Claims and the scopes of OpenID Connect need `openid`.
    fn check_scope(&self) -> Result<(), &'static str> {
        let has = |wanted: &str| self.scope.split(' ').any(|scope| scope == wanted);
        let of_openid = ["profile", "email", "phone", "address"]
            .into_iter()
            .any(has);
        let asks_claims = self
            .claims
            .as_ref()
            .is_some_and(|claims| !claims["userinfo"].is_null());
        match has("openid") || !(of_openid || asks_claims) {
            true if !self.scope.trim().is_empty() => Ok(()),
            _ => Err("invalid_scope"),
        }
    }

    /// The parameters of the request. The classes are those that are registered; if none of them is asked for, all
    /// registered ones will do.
    ///
    /// # Errors
    /// eSignet's code, for too many or too long ones.
    pub fn form(&self, registered: &[String]) -> Result<Form, &'static str> {
        let claims = self.wished(registered);
        let classes = self.acr_values.as_deref().unwrap_or_default().split(' ');
        let classes: Vec<&str> = classes
            .filter(|acr| registered.iter().any(|one| one == acr))
            .collect();
        let classes = match classes.is_empty() {
            true => registered.join(" "),
            false => classes.join(" "),
        };
        let max_age = self
            .max_age
            .as_ref()
            .and_then(Value::as_u64)
            .filter(|age| *age > 0);
        // The other prompts are for the user interface: there is no session here that they could be about.
        let prompt = self.prompt.clone().filter(|prompt| prompt == "consent");
        let parameters = [
            ("client_id", Some(self.client_id.clone())),
            ("scope", Some(self.scope.clone())),
            ("response_type", Some(self.response_type.clone())),
            ("redirect_uri", Some(self.redirect_uri.clone())),
            ("prompt", prompt),
            ("nonce", self.nonce.clone()),
            ("state", self.state.clone()),
            ("acr_values", Some(classes)),
            ("max_age", max_age.map(|age| age.to_string())),
            ("claims", claims.map(|claims| claims.to_string())),
            ("claims_locales", self.claims_locales.clone()),
            ("ui_locales", self.ui_locales.clone()),
            ("code_challenge", self.code_challenge.clone()),
            ("code_challenge_method", self.code_challenge_method.clone()),
        ];
        let given = parameters.into_iter();
        let given =
            given.filter_map(|(name, value)| Some((name, value.filter(|one| !one.is_empty())?)));
        let text = form::encode(&given.collect::<Vec<_>>());
        Form::parse(text.as_bytes()).map_err(|_| envelope::INVALID_REQUEST)
    }

    /// The claims by name: those that are asked for, and those that eSignet's scope `profile` has beyond OpenID Connect's.
    /// The values of `acr` are registered ones.
    fn wished(&self, registered: &[String]) -> Option<Value> {
        let mut claims = self.claims.clone().filter(Value::is_object);
        if self.scope.split(' ').any(|scope| scope == "profile") {
            let claims = claims.get_or_insert_with(|| json!({}));
            if !claims["userinfo"].is_object() {
                claims["userinfo"] = json!({});
            }
            if let Some(userinfo) = claims["userinfo"].as_object_mut() {
                for name in OF_PROFILE {
                    userinfo.entry(name).or_insert(Value::Null);
                }
            }
        }
        let values = claims
            .as_mut()
            .and_then(|claims| claims.pointer_mut("/id_token/acr/values"));
        if let Some(values) = values.and_then(Value::as_array_mut) {
            values.retain(|acr| registered.iter().any(|one| acr == one));
        }
        claims
    }
}

/// The code of a response that would have gone to the client.
fn code_of(landing: &Landing) -> &'static str {
    let mut parameters = landing.parameters.iter();
    let error = parameters.find(|(name, _)| *name == "error");
    match error.map(|(_, error)| error.as_str()) {
        Some("invalid_scope") => "invalid_scope",
        Some("unmet_authentication_requirements") => "no_acr_registered",
        Some("unsupported_response_type") => "invalid_response_type",
        _ => envelope::INVALID_REQUEST,
    }
}

/// The code of a refusal that the person would have been shown.
fn code_of_refusal(error: &Error) -> &'static str {
    match error.code {
        Some("invalid_client") => "invalid_client_id",
        Some("invalid_request") => "invalid_redirect_uri",
        _ => codes::of(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(change: Value) -> DetailsRequest {
        let mut all = json!({
            "clientId": "c", "scope": "openid profile", "responseType": "code",
            "redirectUri": "https://rp.example/cb", "acrValues": "mosip:idp:acr:generated-code"
        });
        let members = change.as_object().unwrap().clone();
        all.as_object_mut().unwrap().extend(members);
        serde_json::from_value(all).unwrap()
    }

    #[test]
    fn parameters_that_cannot_be_right_have_codes_of_their_own() {
        assert_eq!(request(json!({})).check(), Ok(()));
        for (change, code) in [
            (json!({"clientId": ""}), "invalid_client_id"),
            (json!({"responseType": "token"}), "invalid_response_type"),
            (json!({"redirectUri": ""}), "invalid_redirect_uri"),
            (json!({"display": "poster"}), "invalid_display"),
            (json!({"prompt": "please"}), "invalid_prompt"),
            (json!({"codeChallenge": "c"}), "invalid_pkce_challenge"),
            (
                json!({"codeChallenge": "", "codeChallengeMethod": "S256"}),
                "invalid_pkce_challenge",
            ),
            (
                json!({"codeChallengeMethod": "S256"}),
                "invalid_pkce_challenge",
            ),
            (
                json!({"codeChallenge": "c", "codeChallengeMethod": "plain"}),
                "unsupported_pkce_challenge_method",
            ),
            (json!({"scope": "profile"}), "invalid_scope"),
            (json!({"scope": ""}), "invalid_scope"),
            (
                json!({"scope": "resident", "claims": {"userinfo": {"name": null}}}),
                "invalid_scope",
            ),
        ] {
            assert_eq!(request(change.clone()).check(), Err(code), "{change}");
        }
        assert_eq!(request(json!({"scope": "resident"})).check(), Ok(()));
    }

    #[test]
    fn only_registered_classes_are_asked_for_or_all_of_them() {
        let registered = ["a".to_owned(), "b".to_owned()];
        let classes = |asked: &str| {
            let mut form = request(json!({"acrValues": asked}))
                .form(&registered)
                .unwrap();
            form.take("acr_values").unwrap()
        };
        assert_eq!(classes("c b"), "b");
        assert_eq!(classes("c"), "a b");
        assert_eq!(classes(""), "a b");
        let claims = json!({"claims": {"id_token": {"acr": {"values": ["c", "a"]}}}});
        let mut form = request(claims).form(&registered).unwrap();
        let claims: Value = serde_json::from_str(&form.take("claims").unwrap()).unwrap();
        assert_eq!(claims["id_token"]["acr"]["values"], json!(["a"]));
    }
}
