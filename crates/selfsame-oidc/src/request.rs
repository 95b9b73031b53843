//! Authorization requests (RFC 6749 §4.1.1, OpenID Connect Core §3.1.2.1): read, and checked against the client.

use selfsame_oauth::pkce::CodeChallenge;
use selfsame_oauth::{AuthorizationDetail, Code, Error, Form, ScopeSet};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::claims::{ClaimQuestion, RequestedClaims, claim_scopes};
use crate::locales::languages;
use crate::prompt::Prompts;
use crate::relying_party::RelyingParty;
use crate::response_mode::ResponseMode;
use crate::rules::ProviderRules;

/// The longest `state`, `nonce` and other text that is kept, in bytes.
const MAX_TEXT: usize = 2_048;
/// The maximum number of classes that a request names.
const MAX_ACR: usize = 16;
/// A thumbprint in base64url, in characters.
const THUMBPRINT: usize = 43;

/// An authorization request that may be answered. It is kept with the sign-in.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct AuthorizationRequest {
    /// The client.
    pub client_id: String,
    /// Where the response goes.
    pub redirect_uri: String,
    /// Whether the request named the redirect URI; then the token request does too (RFC 6749 §4.1.3).
    pub names_redirect_uri: bool,
    /// How the response gets there.
    pub mode: ResponseMode,
    /// The scopes, as far as the client may ask for them and they are known.
    pub scope: ScopeSet,
    /// What comes back with the response.
    pub state: Option<String>,
    /// What comes back in the ID token.
    pub nonce: Option<String>,
    /// The code challenge.
    pub challenge: Option<CodeChallenge>,
    /// The thumbprint of the key that the code is bound to (RFC 9449 §10).
    pub dpop_jkt: Option<String>,
    /// What is demanded of the conversation with the person.
    pub prompts: Prompts,
    /// How old a sign-in may be, in seconds.
    pub max_age: Option<u64>,
    /// The languages for pages, best first.
    pub ui_locales: Vec<String>,
    /// The languages for claims, best first.
    pub claims_locales: Vec<String>,
    /// What the client knows of the person's identifier.
    pub login_hint: Option<String>,
    /// The ID token of the person that the client expects.
    pub id_token_hint: Option<String>,
    /// The classes of sign-in that will do, best first; empty for any.
    pub acr: Vec<String>,
    /// Whether none but these will do (OpenID Connect Core §5.5.1.1).
    pub acr_is_essential: bool,
    /// The claims that are asked for by name.
    pub claims: RequestedClaims,
    /// The credentials that are asked for one by one (OpenID4VCI 1.0 §5.1.1).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<AuthorizationDetail>,
    /// What tells a credential offer by (OpenID4VCI 1.0 §5.1.3). It authorises nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer_state: Option<String>,
}

/// An authorization request that is refused.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum RequestRefusal {
    /// The person is told, because the response has no trusted address to go to (RFC 6749 §4.1.2.1).
    Shown(Error),
    /// The client is told.
    Returned(Box<ReturnedError>),
}

/// An error that goes to the client.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ReturnedError {
    /// Where it goes.
    pub redirect_uri: String,
    /// How it gets there.
    pub mode: ResponseMode,
    /// The client's `state`.
    pub state: Option<String>,
    /// The error.
    pub error: Error,
}

impl AuthorizationRequest {
    /// Reads a request of this client. Unknown parameters are ignored (RFC 6749 §3.1).
    ///
    /// # Errors
    /// A refusal: to the person as long as the redirect URI is in doubt, then to the client.
    pub fn parse(
        mut form: Form,
        client: &RelyingParty,
        rules: &ProviderRules,
    ) -> Result<Self, RequestRefusal> {
        if form.take("client_id").is_some_and(|id| id != client.id) {
            let reason = "client_id is not that of the request";
            return Err(RequestRefusal::Shown(invalid(reason)));
        }
        let asked = form.take("redirect_uri");
        let redirect_uri = client.redirect_uri(asked.as_deref(), rules);
        let unknown = invalid("redirect_uri is not registered for this client");
        let redirect_uri = redirect_uri.ok_or(RequestRefusal::Shown(unknown))?;
        let state = form.take("state");
        let named = form.take("response_mode");
        let mode = match named.as_deref() {
            None => Some(ResponseMode::Query),
            Some(name) => ResponseMode::parse(name),
        };
        let returned = |error| {
            RequestRefusal::Returned(Box::new(ReturnedError {
                redirect_uri: redirect_uri.clone(),
                mode: mode.unwrap_or_default(),
                state: state.clone().filter(|state| state.len() <= MAX_TEXT),
                error,
            }))
        };
        let mode = mode.ok_or_else(|| returned(invalid("response_mode is not supported")))?;
        let rest = Rest::take(form, client, rules).map_err(returned)?;
        let state = bounded(state.clone()).map_err(returned)?;
        Ok(rest.with(Self {
            client_id: client.id.clone(),
            redirect_uri: redirect_uri.clone(),
            names_redirect_uri: asked.is_some(),
            mode,
            state,
            ..Self::empty()
        }))
    }

    /// The claims that the person is asked about.
    pub fn question(&self, client: &RelyingParty) -> ClaimQuestion {
        let allows = |claim: &str| client.may_know(claim);
        self.claims.question(&self.scope, allows)
    }

    /// The scopes that the person is asked about: those that do not stand for claims.
    pub fn asked_scopes(&self) -> ScopeSet {
        let stands_for_claims = |scope: &str| claim_scopes().any(|one| one == scope);
        self.scope
            .keep(|scope| scope != "openid" && !stands_for_claims(scope))
    }

    /// The subject that the ID token must have (OpenID Connect Core §5.5.1).
    pub fn demanded_subject(&self) -> Option<&str> {
        let wish = self.claims.id_token.get("sub")?;
        wish.values.first().and_then(Value::as_str)
    }

    fn empty() -> Self {
        Self {
            client_id: String::new(),
            redirect_uri: String::new(),
            names_redirect_uri: false,
            mode: ResponseMode::Query,
            scope: ScopeSet::default(),
            state: None,
            nonce: None,
            challenge: None,
            dpop_jkt: None,
            prompts: Prompts::default(),
            max_age: None,
            ui_locales: Vec::new(),
            claims_locales: Vec::new(),
            login_hint: None,
            id_token_hint: None,
            acr: Vec::new(),
            acr_is_essential: false,
            claims: RequestedClaims::default(),
            details: Vec::new(),
            issuer_state: None,
        }
    }
}

/// The parameters whose errors go to the client.
struct Rest(AuthorizationRequest);

impl Rest {
    fn take(mut form: Form, client: &RelyingParty, rules: &ProviderRules) -> Result<Self, Error> {
        response_type(form.take("response_type").as_deref())?;
        let claims = form.take("claims");
        let claims = claims.map(|claims| RequestedClaims::parse(&claims));
        let claims = claims.transpose()?.unwrap_or_default();
        let named = form.take("acr_values").unwrap_or_default();
        let named: Vec<String> = named.split(' ').map(str::to_owned).collect();
        let acr = acr_of(&claims, named, client);
        let max_age = form.take("max_age").map(|age| age.parse::<u64>());
        let max_age = max_age.transpose();
        let max_age = max_age.map_err(|_| invalid("max_age is not a number of seconds"))?;
        let prompts = form.take("prompt").map(|text| Prompts::parse(&text));
        let locales = |text: Option<String>| text.map(|text| languages(&text));
        let details = form.take("authorization_details");
        let details = details.map(|text| AuthorizationDetail::parse_request(&text));
        let details = details.transpose()?.unwrap_or_default();
        let scope = scope_of(form.take("scope"), client)?;
        if scope.is_empty() && details.is_empty() {
            let reason = "scope is missing, or has nothing that the client may ask for";
            return Err(Error::new(Code::InvalidScope, reason));
        }
        Ok(Self(AuthorizationRequest {
            scope,
            details,
            issuer_state: bounded(form.take("issuer_state"))?,
            nonce: bounded(form.take("nonce"))?,
            challenge: challenge(&mut form, rules)?,
            dpop_jkt: thumbprint(form.take("dpop_jkt"))?,
            prompts: prompts.transpose()?.unwrap_or_default(),
            max_age: max_age.or(client.default_max_age),
            ui_locales: locales(form.take("ui_locales")).unwrap_or_default(),
            claims_locales: locales(form.take("claims_locales")).unwrap_or_default(),
            login_hint: bounded(form.take("login_hint"))?,
            id_token_hint: form.take("id_token_hint"),
            acr_is_essential: claims.demanded("acr").is_some_and(|acr| !acr.is_empty()),
            acr,
            claims,
            ..AuthorizationRequest::empty()
        }))
    }

    fn with(self, addressed: AuthorizationRequest) -> AuthorizationRequest {
        AuthorizationRequest {
            client_id: addressed.client_id,
            redirect_uri: addressed.redirect_uri,
            names_redirect_uri: addressed.names_redirect_uri,
            mode: addressed.mode,
            state: addressed.state,
            ..self.0
        }
    }
}

fn response_type(name: Option<&str>) -> Result<(), Error> {
    match name {
        Some("code") => Ok(()),
        None => Err(invalid("response_type is missing")),
        Some(_) => Err(Error::new(
            Code::UnsupportedResponseType,
            "response_type is not `code`",
        )),
    }
}

/// Scopes that the client may not ask for are left out; what was granted is told (RFC 6749 §3.3).
fn scope_of(text: Option<String>, client: &RelyingParty) -> Result<ScopeSet, Error> {
    let asked = ScopeSet::parse(text.as_deref().unwrap_or_default())?;
    Ok(asked.keep(|scope| client.may_ask(scope)))
}

fn challenge(form: &mut Form, rules: &ProviderRules) -> Result<Option<CodeChallenge>, Error> {
    let method = form.take("code_challenge_method");
    match form.take("code_challenge") {
        Some(text) => CodeChallenge::parse(&text, method.as_deref()).map(Some),
        None if rules.requires_pkce => Err(invalid("code_challenge is missing")),
        None if method.is_some() => Err(invalid("code_challenge_method lacks its challenge")),
        None => Ok(None),
    }
}

fn thumbprint(text: Option<String>) -> Result<Option<String>, Error> {
    match text {
        Some(text) if text.len() != THUMBPRINT => Err(invalid("dpop_jkt is not a thumbprint")),
        text => Ok(text),
    }
}

/// OpenID Connect Core §5.5.1.1: the claim `acr` of the ID token, else `acr_values`, else the client's default.
fn acr_of(claims: &RequestedClaims, named: Vec<String>, client: &RelyingParty) -> Vec<String> {
    let texts = |values: &Vec<Value>| {
        let texts = values.iter().filter_map(Value::as_str);
        texts.map(str::to_owned).collect::<Vec<_>>()
    };
    let by_claim = claims.id_token.get("acr").map(|wish| texts(&wish.values));
    let by_claim = by_claim.filter(|names| !names.is_empty());
    let named: Vec<String> = named.into_iter().filter(|name| !name.is_empty()).collect();
    let by_request = by_claim.or_else(|| (!named.is_empty()).then_some(named));
    let mut acr = by_request.unwrap_or_else(|| client.default_acr.clone());
    acr.truncate(MAX_ACR);
    acr
}

fn bounded(text: Option<String>) -> Result<Option<String>, Error> {
    match text {
        Some(text) if text.len() > MAX_TEXT => Err(invalid("a parameter is too long")),
        text => Ok(text),
    }
}

const fn invalid(reason: &'static str) -> Error {
    Error::new(Code::InvalidRequest, reason)
}

#[cfg(test)]
mod tests {
    use selfsame_oauth::form;

    use super::*;
    use crate::registration::ClientRegistration;
    use crate::rules::Preset;

    const URI: &str = "https://rp.example/cb";
    const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

    fn parse(change: &[(&str, &str)]) -> Result<AuthorizationRequest, RequestRefusal> {
        let rules = ProviderRules::of(Preset::Strict);
        let mut registration = ClientRegistration::web(URI);
        registration.scope = Some("openid email records".to_owned());
        let client = RelyingParty::parse("rp", &registration, &rules).unwrap();
        let mut all = vec![
            ("client_id", "rp"),
            ("redirect_uri", URI),
            ("response_type", "code"),
            ("scope", "openid email profile records"),
            ("state", "s"),
            ("code_challenge", CHALLENGE),
            ("code_challenge_method", "S256"),
        ];
        for (name, value) in change {
            all.retain(|(one, _)| one != name);
            all.push((name, value));
        }
        let form = Form::parse(form::encode(&all).as_bytes()).unwrap();
        AuthorizationRequest::parse(form, &client, &rules)
    }

    fn code(change: &[(&str, &str)]) -> Code {
        match parse(change).unwrap_err() {
            RequestRefusal::Returned(returned) => {
                assert_eq!(returned.redirect_uri, URI);
                returned.error.code
            }
            RequestRefusal::Shown(error) => panic!("shown: {error}"),
        }
    }

    #[test]
    fn a_request_keeps_what_the_client_may_ask_for() {
        let request = parse(&[("max_age", "60"), ("ui_locales", "fr en")]).unwrap();
        assert_eq!(request.scope.to_string(), "email openid records");
        assert_eq!(request.asked_scopes().to_string(), "records");
        assert_eq!(request.max_age, Some(60));
        assert_eq!(request.ui_locales, ["fr", "en"]);
        let text = serde_json::to_string(&request).unwrap();
        assert_eq!(
            serde_json::from_str::<AuthorizationRequest>(&text).unwrap(),
            request
        );
    }

    #[test]
    fn as_long_as_the_redirect_uri_is_in_doubt_the_error_stays_here() {
        for change in [
            [("redirect_uri", "https://evil.example/cb")],
            [("redirect_uri", "https://rp.example/cb/..")],
            [("client_id", "other")],
        ] {
            let refusal = parse(&change).unwrap_err();
            assert!(matches!(refusal, RequestRefusal::Shown(_)), "{change:?}");
        }
    }

    #[test]
    fn other_errors_go_to_the_client_with_its_state() {
        assert_eq!(
            code(&[("response_type", "token")]),
            Code::UnsupportedResponseType
        );
        assert_eq!(code(&[("scope", "address")]), Code::InvalidScope);
        for change in [
            ("response_type", ""),
            ("code_challenge", ""),
            ("code_challenge_method", "plain"),
            ("code_challenge_method", ""),
            ("response_mode", "fragment"),
            ("prompt", "none login"),
            ("max_age", "-1"),
            ("claims", "{"),
            ("dpop_jkt", "short"),
        ] {
            assert_eq!(code(&[change]), Code::InvalidRequest, "{change:?}");
        }
        let RequestRefusal::Returned(returned) = parse(&[("scope", "\"")]).unwrap_err() else {
            panic!("shown");
        };
        assert_eq!(returned.state.as_deref(), Some("s"));
    }

    #[test]
    fn the_classes_are_those_of_the_claim_before_those_of_the_parameter() {
        let claims = r#"{"id_token":{"acr":{"essential":true,"values":["phr"]}}}"#;
        let request = parse(&[("acr_values", "a b"), ("claims", claims)]).unwrap();
        assert_eq!(
            (request.acr, request.acr_is_essential),
            (vec!["phr".to_owned()], true)
        );
        let request = parse(&[("acr_values", "a b")]).unwrap();
        assert_eq!((request.acr.len(), request.acr_is_essential), (2, false));
    }
}
