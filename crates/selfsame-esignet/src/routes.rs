//! The addresses, and where each is described.

use axum::extract::FromRef;
use selfsame_http::route::{Route, get, post, put, tagged};

use crate::mock::{self, MockDoor};

const JSON: &str = "application/json";
const GUIDE: &str = "docs/esignet.md";

/// The mock identity system. For everyone who reaches it: there is no person in it who is not made up.
pub fn mock_identity_system<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    MockDoor: FromRef<S>,
{
    let below = |path: &str| format!("/v1/mock-identity-system/{path}");
    let mut routes = vec![
        post(&below("identity"), mock::create)
            .named("mock_identity_create")
            .takes(JSON)
            .gives(JSON, "Adds a person who is made up."),
        put(&below("identity"), mock::update)
            .named("mock_identity_update")
            .takes(JSON)
            .gives(JSON, "Changes members of a person who is made up."),
        get(&below("identity/{individual_id}"), mock::show)
            .named("mock_identity_show")
            .gives(JSON, "Shows a person who is made up."),
        post(&below("send-otp/{party}/{client}"), mock::send_otp)
            .named("mock_identity_send_otp")
            .takes(JSON)
            .gives(
                JSON,
                "Pretends to send a one-time password, which is always 111111.",
            ),
    ];
    for (version, name) in [
        ("", "mock_identity_kyc_auth"),
        ("v2/", "mock_identity_kyc_auth_v2"),
    ] {
        let path = below(&format!("{version}kyc-auth/{{party}}/{{client}}"));
        let route = post(&path, mock::kyc_auth).named(name);
        routes.push(route.takes(JSON).gives(JSON, "Authenticates a person."));
    }
    for (version, name) in [
        ("", "mock_identity_kyc_exchange"),
        ("v2/", "mock_identity_kyc_exchange_v2"),
        ("v3/", "mock_identity_kyc_exchange_v3"),
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
