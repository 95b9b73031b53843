//! The listener of `[admin]`: those who work for organisations are served there, and nowhere else.

use std::collections::BTreeSet;

use http::{Method, StatusCode};
use selfsame_app::config::Roles;
use selfsame_http::origin::Origin;

use super::instance::{Instance, call, get, open, post};
use super::surface::concrete;
use crate::router::{self, groups};
use crate::server::{ServedSettings, Server};

const PUBLIC: &str = "http://localhost:7380";
const PUBLIC_HOST: &str = "localhost:7380";
const ADMIN: &str = "http://localhost:7390/";
const ADMIN_HOST: &str = "localhost:7390";

/// The two listeners of one instance: the public one, and that of `[admin]`.
async fn listeners() -> [Instance; 2] {
    let origin = Origin::of(&ADMIN.parse().unwrap()).unwrap();
    let settings = ServedSettings {
        admin_origin: Some(origin.clone()),
        ..ServedSettings::default()
    };
    let (app, token) = open(PUBLIC).await;
    let server = Server::new(app.clone(), settings).unwrap();
    [
        (router::build(&server), PUBLIC_HOST),
        (router::administration(&server, &origin), ADMIN_HOST),
    ]
    .map(|(router, host)| Instance {
        app: app.clone(),
        router,
        token: token.clone(),
        host: host.to_owned(),
    })
}

/// The patterns of addresses of the operators' groups, or else those of all others.
fn patterns(administering: bool) -> BTreeSet<String> {
    let groups = groups(&Roles::ALL).into_iter();
    let groups = groups.filter(|group| group.is_administering() == administering);
    let routes = groups.flat_map(|group| group.routes);
    routes.map(|route| route.path).collect()
}

/// Their addresses, each with some parameters.
fn addresses(administering: bool) -> BTreeSet<String> {
    let patterns = patterns(administering);
    patterns.iter().map(|pattern| concrete(pattern)).collect()
}

/// Whether a pattern has this address.
fn has(pattern: &str, path: &str) -> bool {
    let (pattern, path) = (pattern.split('/'), path.split('/'));
    let is_long = pattern.clone().count() == path.clone().count();
    let mut parts = pattern.zip(path);
    is_long && parts.all(|(one, other)| one.starts_with('{') || one == other)
}

#[tokio::test]
async fn the_public_listener_has_every_address_but_those_of_operators_and_their_listener_has_all() {
    let [public, admin] = listeners().await;
    let (of_operators, of_others) = (addresses(true), addresses(false));
    assert!(of_operators.len() > 100, "{of_operators:?}");
    // No address has this method, so that none of them begins to work or to stream.
    let answered = async |instance: &Instance, path: &str| {
        let answer = instance.call(call(Method::TRACE, path)).await;
        (path.to_owned(), answer.status)
    };
    let patterns = patterns(false);
    for path in of_operators.difference(&of_others) {
        let unknown = (path.clone(), StatusCode::NOT_FOUND);
        // An address with parameters can be that of a public route, which answers its own methods.
        if !patterns.iter().any(|pattern| has(pattern, path)) {
            assert_eq!(answered(&public, path).await, unknown);
        }
        assert_ne!(answered(&admin, path).await, unknown);
    }
    for path in &of_others {
        let unknown = (path.clone(), StatusCode::NOT_FOUND);
        assert_ne!(answered(&public, path).await, unknown);
        assert_ne!(answered(&admin, path).await, unknown);
    }
}

#[tokio::test]
async fn an_address_with_a_public_method_lends_the_public_listener_none_of_its_operators_methods() {
    let [public, _] = listeners().await;
    let others = addresses(false);
    let groups = groups(&Roles::ALL).into_iter();
    let of_operators = groups.filter(|group| group.is_administering());
    for route in of_operators.flat_map(|group| group.routes) {
        let path = concrete(&route.path);
        if others.contains(&path) {
            let answer = public.call(call(route.method.clone(), &path)).await;
            let refused = StatusCode::METHOD_NOT_ALLOWED;
            assert_eq!(answer.status, refused, "{} {path}", route.method);
        }
    }
}

#[tokio::test]
async fn links_for_those_who_work_here_lead_to_their_listener() {
    let [_, admin] = listeners().await;
    let bearer = &admin.token;
    let link = admin.call(post("/api/operator/links").bearer(bearer)).await;
    assert_eq!(link.status, StatusCode::OK, "{}", link.body);
    let url = format!("{ADMIN}operator/sign-in?code=");
    assert!(link.body.contains(&url), "{}", link.body);
    let invitation = post("/api/people/invitations").bearer(bearer);
    let invited = admin
        .call(invitation.json(r#"{"roles":["administrator"]}"#))
        .await;
    let url = format!("{ADMIN}operator/invited?token=");
    assert!(invited.body.contains(&url), "{}", invited.body);
    // The page that the link opens signs the browser in there.
    let path = admin.sign_in_link().await;
    let page = admin.call(get(&path)).await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
}

#[tokio::test]
async fn the_listener_answers_to_its_own_name_alone() {
    let [_, admin] = listeners().await;
    for host in ["rebound.example:7390", PUBLIC_HOST] {
        let answer = admin.call(get("/operator").host(host)).await;
        assert_eq!(answer.status, StatusCode::MISDIRECTED_REQUEST, "{host}");
    }
    let forged = post("/api/operator/links").bearer(&admin.token);
    let forged = admin.call(forged.header("origin", PUBLIC)).await;
    assert_eq!(forged.status, StatusCode::FORBIDDEN, "{}", forged.body);
}
