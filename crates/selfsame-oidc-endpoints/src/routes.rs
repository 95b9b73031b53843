//! The addresses: each that a specification or a document describes, and which one.

use axum::extract::FromRequestParts;
use selfsame_http::route::{Route, delete, described, get, post, put, tagged};

use crate::here::ProviderHere;
use crate::{browser, elsewhere, operator, provider, registration, wallet_rules};

const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";
const SVG: &str = "image/svg+xml";
const HTML: &str = "text/html";
const GUIDE: &str = "docs/sign-in.md";

/// The state of a server, which gives its endpoints the provider that was called.
pub trait EndpointState: Clone + Send + Sync + 'static {}

impl<S: Clone + Send + Sync + 'static> EndpointState for S {}

/// What anyone may read.
pub fn documents<S: EndpointState>() -> Vec<Route<S>>
where
    ProviderHere: FromRequestParts<S>,
{
    tagged(
        "sign-in",
        vec![
            get("/oidc/.well-known/openid-configuration", provider::metadata)
                .named("sign_in_configuration")
                .gives(JSON, "The provider's metadata.")
                .by("OpenID Connect Discovery 1.0 §4"),
            get(
                "/.well-known/oauth-authorization-server/oidc",
                provider::metadata,
            )
            .named("sign_in_authorization_server")
            .gives(JSON, "The provider's metadata.")
            .by("RFC 8414"),
            get("/oidc/jwks", provider::keys)
                .named("sign_in_keys")
                .gives(JSON, "The keys that tokens are signed with.")
                .by("RFC 7517 §5"),
            get("/oidc/button.svg", provider::button)
                .named("sign_in_button")
                .gives(SVG, "The picture on a button that leads to a sign-in.")
                .by(GUIDE),
        ],
    )
}

/// What clients call.
pub fn clients<S: EndpointState>() -> Vec<Route<S>>
where
    ProviderHere: FromRequestParts<S>,
{
    tokens().into_iter().chain(registrations()).collect()
}

/// Where clients get and use tokens.
fn tokens<S: EndpointState>() -> Vec<Route<S>>
where
    ProviderHere: FromRequestParts<S>,
{
    tagged(
        "sign-in",
        vec![
            post("/oidc/authorize", browser::authorize_by_form)
                .named("sign_in_authorize_by_form")
                .gives(
                    HTML,
                    "Begins a sign-in; leads to its page or back to the client.",
                )
                .by("OpenID Connect Core 1.0 §3.1.2")
                .takes(FORM),
            post("/oidc/par", provider::push)
                .named("sign_in_push")
                .gives(JSON, "Takes a request ahead of the person's browser.")
                .created()
                .by("RFC 9126")
                .takes(FORM),
            post("/oidc/challenge", provider::challenge)
                .named("sign_in_challenge")
                .gives(
                    JSON,
                    "A challenge for the proof that a wallet has its attested key; 404 where attestations do not count.",
                )
                .by("attestation-based client authentication, draft -07 §8"),
            post("/oidc/token", provider::token)
                .named("sign_in_token")
                .gives(JSON, "Redeems a code or a refresh token.")
                .by("OpenID Connect Core 1.0 §3.1.3")
                .takes(FORM),
            get("/oidc/userinfo", provider::userinfo)
                .named("sign_in_userinfo")
                .gives(JSON, "The claims that the person agreed to.")
                .by("OpenID Connect Core 1.0 §5.3")
                .or(&["application/jwt"]),
            post("/oidc/userinfo", provider::userinfo)
                .named("sign_in_userinfo_by_post")
                .gives(JSON, "The claims that the person agreed to.")
                .by("OpenID Connect Core 1.0 §5.3")
                .or(&["application/jwt"]),
            post("/oidc/introspect", provider::introspect)
                .named("sign_in_introspect")
                .gives(JSON, "Whether a token is valid, and what for.")
                .by("RFC 7662")
                .takes(FORM),
            post("/oidc/revoke", provider::revoke)
                .named("sign_in_revoke")
                .gives(JSON, "Ends a token.")
                .by("RFC 7009")
                .takes(FORM),
            post("/oidc/logout", browser::logout_by_form)
                .named("sign_in_logout_by_form")
                .gives(HTML, "Signs a person out.")
                .by("OpenID Connect RP-Initiated Logout 1.0")
                .takes(FORM),
        ],
    )
}

/// Where clients register themselves.
fn registrations<S: EndpointState>() -> Vec<Route<S>>
where
    ProviderHere: FromRequestParts<S>,
{
    tagged(
        "sign-in",
        vec![
            post("/oidc/register", registration::register)
                .named("sign_in_register")
                .gives(JSON, "Registers a client, with an initial token.")
                .created()
                .by("RFC 7591")
                .takes(JSON),
            get("/oidc/register/{client_id}", registration::read)
                .named("sign_in_registration")
                .gives(JSON, "A client's own registration.")
                .by("RFC 7592 §2.1"),
            put("/oidc/register/{client_id}", registration::change)
                .named("sign_in_change_registration")
                .gives(JSON, "Replaces a client's own registration.")
                .by("RFC 7592 §2.2")
                .takes(JSON),
            delete("/oidc/register/{client_id}", registration::remove)
                .named("sign_in_remove_registration")
                .gives(JSON, "Removes a client's own registration.")
                .by("RFC 7592 §2.3"),
        ],
    )
}

/// What an organisation's operators call.
pub fn operators<S: EndpointState>() -> Vec<Route<S>>
where
    ProviderHere: FromRequestParts<S>,
{
    vec![
        described(operator::__path_register, operator::register),
        described(operator::__path_clients, operator::clients),
        described(operator::__path_client, operator::client),
        described(operator::__path_past, operator::past),
        described(operator::__path_remove, operator::remove),
        described(operator::__path_new_secret, operator::new_secret),
        described(operator::__path_initial_token, operator::initial_token),
        described(operator::__path_rotate, operator::rotate),
        described(wallet_rules::__path_rules, wallet_rules::rules),
        described(wallet_rules::__path_set_rules, wallet_rules::set_rules),
        described(
            wallet_rules::__path_remove_rules,
            wallet_rules::remove_rules,
        ),
    ]
}

/// Where clients send browsers.
pub fn browsers<S: EndpointState>() -> Vec<Route<S>>
where
    ProviderHere: FromRequestParts<S>,
{
    vec![
        get("/oidc/authorize", browser::authorize),
        get("/oidc/logout", browser::logout),
    ]
}

/// The steps of a sign-in, for pages and programs in the browser that began it.
pub fn sign_ins<S: EndpointState>() -> Vec<Route<S>>
where
    ProviderHere: FromRequestParts<S>,
{
    tagged(
        "sign-in",
        vec![
            get("/oidc/sign-in/{id}", browser::sign_in)
                .named("sign_in_flow")
                .gives(JSON, "A sign-in: who asks, for what, and what comes next.")
                .by(GUIDE),
            post("/oidc/sign-in/{id}/otp", browser::send_otp)
                .named("sign_in_send_otp")
                .gives(JSON, "Has a one-time password sent.")
                .by(GUIDE)
                .takes(JSON),
            get("/oidc/sign-in/{id}/otp", browser::code_on_screen)
                .named("sign_in_code_on_screen")
                .gives(
                    JSON,
                    "The one-time password, where codes are shown on the screen for trying out.",
                )
                .by(GUIDE),
            post("/oidc/sign-in/{id}/wallet", elsewhere::ask_wallet)
                .named("sign_in_ask_wallet")
                .gives(
                    JSON,
                    "Asks a wallet for a credential; the answer has the links for it.",
                )
                .by(GUIDE)
                .takes(JSON),
            post("/oidc/sign-in/{id}/passkey", elsewhere::ask_passkey)
                .named("sign_in_ask_passkey")
                .gives(
                    JSON,
                    "The options with which the browser asks for a passkey.",
                )
                .by(GUIDE)
                .takes(JSON),
            post("/oidc/sign-in/{id}/authentication", browser::authenticate)
                .named("sign_in_authenticate")
                .gives(JSON, "Checks what the person gives to prove who they are.")
                .by(GUIDE)
                .takes(JSON),
            post("/oidc/sign-in/{id}/agreement", browser::agree)
                .named("sign_in_agree")
                .gives(
                    JSON,
                    "Agrees to claims and scopes; the answer leads to the client.",
                )
                .by(GUIDE)
                .takes(JSON),
            post("/oidc/sign-in/{id}/refusal", browser::decline)
                .named("sign_in_decline")
                .gives(JSON, "Declines; the answer leads to the client.")
                .by(GUIDE),
            get("/oidc/sign-out", browser::session)
                .named("sign_in_session")
                .gives(JSON, "Whether the browser has a session.")
                .by(GUIDE),
            post("/oidc/sign-out", browser::sign_out)
                .named("sign_in_sign_out")
                .gives(JSON, "Signs the person out who says so here.")
                .by(GUIDE)
                .takes(JSON),
        ],
    )
}
