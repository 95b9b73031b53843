//! The provider whose address was called, and the browser or client that called it.

use std::net::IpAddr;
use std::sync::Arc;

use axum::response::Response;
use http::header::{ACCESS_CONTROL_EXPOSE_HEADERS, AUTHORIZATION, CACHE_CONTROL, SET_COOKIE};
use http::{Extensions, HeaderMap, HeaderValue};
use selfsame_attester::{AttestationHeaders, headers as names};
use selfsame_crypto::SecretString;
use selfsame_driver::{Error, Result};
use selfsame_http::cookie::{self, Jar};
use selfsame_http::error::Handled;
use selfsame_http::origin::{CalledOrigin, Origin};
use selfsame_http::peer::Peer;
use selfsame_sign_in::identity::PersonsDevice;
use selfsame_sign_in::{ArrivingBrowser, AttemptLimits, SignInVisitor, SignIns};

const DPOP: &str = "dpop";

/// The provider of the organisation whose address was called.
pub struct ProviderHere {
    /// The provider.
    pub provider: SignIns,
    /// The name of the organisation, which is part of the names of cookies.
    pub organisation: String,
    /// The origin that was called.
    pub origin: Arc<Origin>,
    /// The path of the endpoints, with a slash at the end.
    pub root: String,
    /// Whether the organisation was called by a host of its own, where nothing is known of the instance's passkeys.
    pub is_own_host: bool,
    /// The address that calls.
    pub caller: IpAddr,
}

impl ProviderHere {
    /// This provider, called by a request with these extensions. What its paths begin with names the organisation.
    ///
    /// # Errors
    /// `Internal` for a request without a client.
    pub fn of(
        provider: SignIns,
        prefix: String,
        extensions: &Extensions,
        own: &Origin,
    ) -> Handled<Self> {
        let called = extensions.get::<CalledOrigin>();
        let origin = called.map(|CalledOrigin(origin)| origin.clone());
        let peer = extensions.get::<Peer>();
        let peer = peer.ok_or_else(|| Error::internal("a request has no peer"))?;
        let name = prefix.rsplit('/').next().filter(|name| !name.is_empty());
        Ok(Self {
            provider,
            organisation: name.unwrap_or("main").to_owned(),
            origin: origin.unwrap_or_else(|| Arc::new(own.clone())),
            is_own_host: called.is_some(),
            root: format!("{prefix}/oidc/"),
            caller: peer.address(),
        })
    }

    /// A call of a client, whose wrong authentications are counted by its address.
    ///
    /// # Errors
    /// `TooMany` with the time to wait; those of the call.
    pub async fn client_call<T>(&self, call: impl Future<Output = Result<T>>) -> Result<T> {
        self.provider.counting(Some(self.caller), call).await
    }

    fn cookie(&self, what: &str) -> String {
        let prefix = if self.origin.secure() { "__Host-" } else { "" };
        let port = self.origin.port();
        format!("{prefix}selfsame-{what}-{}-{port}", self.organisation)
    }

    /// The browser that calls.
    pub fn browser(&self, headers: &HeaderMap) -> ArrivingBrowser {
        let read = |what| cookie::read(headers, &self.cookie(what)).map(SecretString::from);
        ArrivingBrowser {
            secret: read("sign-in"),
            session: read("provider"),
        }
    }

    /// The visitor of a sign-in.
    pub fn visitor(&self, sign_in: String, headers: &HeaderMap) -> SignInVisitor {
        SignInVisitor {
            sign_in,
            browser: self.browser(headers).secret,
            from: Some(PersonsDevice {
                address: self.caller,
                known: None,
            }),
            limits: AttemptLimits::default(),
        }
    }

    /// A response that gives the browser its secret.
    ///
    /// # Errors
    /// `Internal` for a secret that no cookie can hold.
    pub fn with_secret(&self, response: Response, secret: &SecretString) -> Handled {
        self.with_cookie(response, "sign-in", secret)
    }

    /// A response that gives the browser a session.
    ///
    /// # Errors
    /// `Internal` for a token that no cookie can hold.
    pub fn with_session(&self, response: Response, token: &SecretString) -> Handled {
        self.with_cookie(response, "provider", token)
    }

    /// A response that takes the session from the browser.
    pub fn without_session(&self, mut response: Response) -> Response {
        let name = self.cookie("provider");
        if let Some(cookie) = Jar::lax(&name).gone(&self.origin) {
            response.headers_mut().append(SET_COOKIE, cookie);
        }
        response
    }

    fn with_cookie(&self, mut response: Response, what: &str, value: &SecretString) -> Handled {
        let name = self.cookie(what);
        // Clients send browsers here by links and forms of their own, so the cookies come along with those.
        let cookie = Jar::lax(&name).value(value.expose(), &self.origin);
        let cookie = cookie.ok_or_else(|| Error::internal("a secret is no cookie's value"))?;
        response.headers_mut().append(SET_COOKIE, cookie);
        Ok(response)
    }
}

/// What follows a scheme in the header `Authorization`.
pub(crate) fn after<'h>(headers: &'h HeaderMap, scheme: &str) -> Option<&'h str> {
    selfsame_http::extract::after(headers.get(AUTHORIZATION)?, scheme)
}

/// The header `DPoP`; two of them are refused (RFC 9449 §4.3).
pub(crate) fn proof(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(DPOP).iter();
    let first = all.next()?.to_str().ok()?;
    match all.next() {
        None => Some(first),
        Some(_) => Some(""),
    }
}

/// The headers by which a wallet is attested.
pub(crate) fn attestation(headers: &HeaderMap) -> Option<AttestationHeaders<'_>> {
    let all = |name: &'static str| headers.get_all(name).iter().map(HeaderValue::as_bytes);
    AttestationHeaders::read(all(names::ATTESTATION), all(names::POP))
}

/// A response with a challenge for the next proof that a wallet has its attested key (attestation-based client
/// authentication, draft -07 §8.1).
pub(crate) fn with_challenge(here: &ProviderHere, mut response: Response) -> Response {
    let given = here.provider.challenge();
    let given = given.and_then(|given| HeaderValue::try_from(given.attestation_challenge).ok());
    if let Some(challenge) = given {
        let headers = response.headers_mut();
        headers.insert(names::CHALLENGE, challenge);
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

/// A response with a nonce for the next proofs (RFC 9449 §8.2).
pub(crate) async fn with_nonce(here: &ProviderHere, mut response: Response) -> Handled {
    let nonce = here.provider.next_nonce().await?;
    if let Ok(nonce) = HeaderValue::from_str(&nonce) {
        let headers = response.headers_mut();
        headers.insert("dpop-nonce", nonce);
        // Scripts of other origins may read it.
        let exposed = HeaderValue::from_static("DPoP-Nonce, WWW-Authenticate");
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    }
    Ok(response)
}
