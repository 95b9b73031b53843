//! The addresses, and where each is described.

use axum::extract::FromRequestParts;
use axum::handler::Handler;
use selfsame_http::route::{HandlerFuture, Route, get, patch, post, put, tagged};

use crate::door::{BASE, EsignetHere};
use crate::mock::{self, MockDoor};
use crate::{authorization, clients, details, linked, oauth};

const JSON: &str = "application/json";
const JWT: &str = "application/jwt";
const FORM: &str = "application/x-www-form-urlencoded";
const GUIDE: &str = "docs/esignet.md";

/// The mock identity system. For everyone who reaches it: there is no person in it who is not made up.
pub fn mock_identity_system<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    MockDoor: FromRequestParts<S>,
{
    let below = |path: &str| format!("/v1/mock-identity-system/{path}");
    let mut routes = vec![
        post(&below("identity"), mock::create)
            .named("mock_identity_system_create")
            .takes(JSON)
            .gives(JSON, "Adds a person who is made up."),
        put(&below("identity"), mock::update)
            .named("mock_identity_system_update")
            .takes(JSON)
            .gives(JSON, "Changes members of a person who is made up."),
        get(&below("identity/{individual_id}"), mock::show)
            .named("mock_identity_system_show")
            .gives(JSON, "Shows a person who is made up."),
        post(&below("send-otp/{party}/{client}"), mock::send_otp)
            .named("mock_identity_system_send_otp")
            .takes(JSON)
            .gives(
                JSON,
                "Pretends to send a one-time password, which is always 111111.",
            ),
    ];
    for (version, name) in [
        ("", "mock_identity_system_kyc_auth"),
        ("v2/", "mock_identity_system_kyc_auth_v2"),
    ] {
        let path = below(&format!("{version}kyc-auth/{{party}}/{{client}}"));
        let route = post(&path, mock::kyc_auth).named(name);
        routes.push(route.takes(JSON).gives(JSON, "Authenticates a person."));
    }
    for (version, name) in [
        ("", "mock_identity_system_kyc_exchange"),
        ("v2/", "mock_identity_system_kyc_exchange_v2"),
        ("v3/", "mock_identity_system_kyc_exchange_v3"),
    ] {
        let path = below(&format!("{version}kyc-exchange/{{party}}/{{client}}"));
        let route = post(&path, mock::kyc_exchange).named(name);
        routes.push(
            route
                .takes(JSON)
                .gives(JSON, "Gives a client the claims of a person, signed."),
        );
    }
    let routes = routes.into_iter().map(|route| route.by(GUIDE));
    tagged("mock-identity-system", routes.collect())
}

/// The state of a server that has the provider.
pub trait ProviderState: Clone + Send + Sync + 'static {}

impl<S: Clone + Send + Sync + 'static> ProviderState for S {}

/// All that user interfaces, wallets, relying parties and the operator's programs call.
pub fn interface<S: ProviderState>() -> Vec<Route<S>>
where
    EsignetHere: FromRequestParts<S>,
{
    let mut all = authorization();
    all.extend(linked_authorization());
    all.extend(relying_parties());
    all.extend(client_management());
    all
}

/// What a user interface calls.
fn authorization<S: ProviderState>() -> Vec<Route<S>>
where
    EsignetHere: FromRequestParts<S>,
{
    let token = get(&format!("{BASE}/csrf/token"), details::csrf_token);
    let token = token.named("esignet_csrf_token");
    let mut routes = vec![
        token.gives(
            JSON,
            "A token against cross-site requests, which is a cookie too.",
        ),
        step("oauth-details", details::oauth_details_v1)
            .named("esignet_oauth_details_v1")
            .gives(JSON, "Begins a sign-in."),
        step("v2/oauth-details", details::oauth_details)
            .named("esignet_oauth_details")
            .gives(JSON, "Begins a sign-in."),
        step("send-otp", authorization::send_otp)
            .named("esignet_send_otp")
            .gives(JSON, "Has a one-time password sent."),
        step("authenticate", authorization::authenticate_v1)
            .named("esignet_authenticate_v1")
            .gives(JSON, "Authenticates a person."),
        step("auth-code", authorization::auth_code)
            .named("esignet_auth_code")
            .gives(JSON, "Ends a sign-in with a code."),
    ];
    for (version, name) in [
        ("v2", "esignet_authenticate_v2"),
        ("v3", "esignet_authenticate"),
    ] {
        let route = step(
            &format!("{version}/authenticate"),
            authorization::authenticate,
        );
        routes.push(route.named(name).gives(JSON, "Authenticates a person."));
    }
    described(routes)
}

/// What a wallet calls that takes over a sign-in from a browser, and the browser that waits for it.
fn linked_authorization<S: ProviderState>() -> Vec<Route<S>>
where
    EsignetHere: FromRequestParts<S>,
{
    let at = |path: &str| format!("{BASE}/linked-authorization/{path}");
    let mut routes = vec![
        post(&at("link-code"), linked::link_code)
            .named("esignet_link_code")
            .gives(JSON, "Gives a browser a code for its screen."),
        post(&at("link-status"), linked::link_status)
            .named("esignet_link_status")
            .gives(JSON, "Tells a browser that its code was scanned, as soon as it was."),
        post(&at("link-auth-code"), linked::link_auth_code)
            .named("esignet_link_auth_code")
            .gives(JSON, "Gives a browser the code that its client redeems, as soon as the person has agreed."),
        post(&at("send-otp"), linked::send_otp)
            .named("esignet_linked_send_otp")
            .gives(JSON, "Has a one-time password sent for a wallet's half of a sign-in."),
    ];
    for (version, [link, prove, agree]) in [
        (
            "",
            [
                "esignet_link_transaction_v1",
                "esignet_linked_authenticate_v1",
                "esignet_linked_consent_v1",
            ],
        ),
        (
            "v2/",
            [
                "esignet_link_transaction",
                "esignet_linked_authenticate",
                "esignet_linked_consent",
            ],
        ),
    ] {
        routes.extend([
            post(
                &at(&format!("{version}link-transaction")),
                linked::link_transaction,
            )
            .named(link)
            .gives(JSON, "A wallet takes over the sign-in of a code."),
            post(&at(&format!("{version}authenticate")), linked::authenticate)
                .named(prove)
                .gives(
                    JSON,
                    "Authenticates the person of a wallet's half of a sign-in.",
                ),
            post(&at(&format!("{version}consent")), linked::consent)
                .named(agree)
                .gives(JSON, "Keeps what the person agrees to in their wallet."),
        ]);
    }
    described(routes)
}

/// What relying parties call.
fn relying_parties<S: ProviderState>() -> Vec<Route<S>>
where
    EsignetHere: FromRequestParts<S>,
{
    let at = |path: &str| format!("{BASE}/{path}");
    let routes = vec![
        post(&at("oauth/token"), oauth::token_v1)
            .named("esignet_token_v1")
            .gives(JSON, "Redeems a code.")
            .takes(FORM),
        post(&at("oauth/v2/token"), oauth::token)
            .named("esignet_token")
            .gives(JSON, "Redeems a code.")
            .takes(FORM),
        get(&at("oidc/userinfo"), oauth::userinfo)
            .named("esignet_userinfo")
            .gives(JWT, "The claims of the person."),
    ];
    tagged(
        "esignet",
        routes.into_iter().map(|route| route.by(GUIDE)).collect(),
    )
}

/// What a provider publishes, under both of eSignet's addresses.
pub fn documents<S: ProviderState>() -> Vec<Route<S>>
where
    EsignetHere: FromRequestParts<S>,
{
    let at = |path: &str| format!("{BASE}/{path}");
    let routes = vec![
        get(
            &at("oidc/.well-known/openid-configuration"),
            oauth::metadata,
        )
        .named("esignet_openid_configuration")
        .gives(JSON, "The metadata of the provider."),
        get(
            &at("oauth/.well-known/oauth-authorization-server"),
            oauth::metadata,
        )
        .named("esignet_authorization_server_metadata")
        .gives(JSON, "The metadata of the provider."),
        get(&at("oauth/.well-known/jwks.json"), oauth::keys)
            .named("esignet_keys")
            .gives(JSON, "The keys of the provider and of the identity system."),
    ];
    tagged(
        "esignet",
        routes.into_iter().map(|route| route.by(GUIDE)).collect(),
    )
}

/// The management of clients, for the operator's programs; with the tolerances of older versions, for anyone.
fn client_management<S: ProviderState>() -> Vec<Route<S>>
where
    EsignetHere: FromRequestParts<S>,
{
    let mut routes = Vec::new();
    for (family, [create, update]) in [
        (
            "oidc-client",
            ["esignet_create_oidc_client", "esignet_update_oidc_client"],
        ),
        (
            "oauth-client",
            ["esignet_create_oauth_client", "esignet_update_oauth_client"],
        ),
        ("client", ["esignet_create_client", "esignet_update_client"]),
    ] {
        let all = format!("{BASE}/client-mgmt/{family}");
        let one = format!("{all}/{{client_id}}");
        routes.extend([
            post(&all, clients::create)
                .named(create)
                .gives(JSON, "Registers a client."),
            put(&one, clients::update)
                .named(update)
                .gives(JSON, "Replaces what a client may do."),
        ]);
    }
    let one = format!("{BASE}/client-mgmt/client/{{client_id}}");
    routes.push(
        patch(&one, clients::patch)
            .named("esignet_patch_client")
            .gives(JSON, "Changes some of what a client may do."),
    );
    described(routes)
}

fn step<S, H, T>(path: &str, handler: H) -> Route<S>
where
    S: ProviderState,
    H: Handler<T, S, Future = HandlerFuture>,
    T: 'static,
{
    post(&format!("{BASE}/authorization/{path}"), handler)
}

/// Calls in eSignet's envelopes.
fn described<S>(routes: Vec<Route<S>>) -> Vec<Route<S>> {
    let routes = routes.into_iter();
    let routes = routes.map(|route| match route.method == http::Method::GET {
        true => route.by(GUIDE),
        false => route.by(GUIDE).takes(JSON),
    });
    tagged("esignet", routes.collect())
}
