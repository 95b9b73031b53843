//! The addresses, by who uses them.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::middleware::{from_fn, from_fn_with_state};
use selfsame_http::middleware::known;
use selfsame_http::route::{Route, described, get, post};
use selfsame_pages::Frame;

use crate::here::BookHere;
use crate::meter::{self, BookMeter};
use crate::{keeping, pages, v1, v2, v3, v4};

pub use crate::loaded::LOAD_MAX;

/// The largest body with a link of a verifier's request, which may be the whole request.
pub const LINK_MAX: usize = 300 * 1024;

/// OrgBook's API in all its versions, for anybody's programs.
pub fn reads<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    BookHere: FromRequestParts<S>,
{
    let mut routes = vec![
        described(v4::__path_search, v4::search),
        described(v4::__path_facets, v4::facets),
        described(v4::__path_autocomplete, v4::autocomplete),
        described(v4::__path_fuzzy, v4::fuzzy),
        described(v4::__path_topic, v4::topic),
        described(v4::__path_sets, v4::sets),
        described(v4::__path_credential, v4::credential),
        described(v4::__path_verify, v4::verify).abroad(),
        described(v4::__path_credential_types, v4::credential_types),
    ];
    routes.extend(of_version_1());
    routes.extend(of_version_2());
    routes.extend(of_version_3());
    metered(routes)
}

fn of_version_1<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    BookHere: FromRequestParts<S>,
{
    vec![
        described(v1::__path_organisations, v1::organisations),
        described(v1::__path_organisation, v1::organisation),
        described(v1::__path_claims, v1::claims),
        described(v1::__path_locations, v1::locations),
        described(v1::__path_assumed_names, v1::assumed_names),
        described(v1::__path_verify, v1::verify).abroad(),
    ]
}

fn of_version_2<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    BookHere: FromRequestParts<S>,
{
    vec![
        described(v2::__path_search, v2::search),
        described(v2::__path_facets, v2::facets),
        described(v2::__path_autocomplete, v2::autocomplete),
        described(v2::__path_topic, v2::topic),
        described(v2::__path_formatted_topic, v2::formatted_topic),
        described(v2::__path_topic_named, v2::topic_named),
        described(v2::__path_formatted_topic_named, v2::formatted_topic_named),
        described(v2::__path_credentials, v2::credentials),
        described(v2::__path_active_credentials, v2::active_credentials),
        described(
            v2::__path_historical_credentials,
            v2::historical_credentials,
        ),
        described(v2::__path_sets, v2::sets),
        described(v2::__path_credential, v2::credential),
        described(v2::__path_formatted_credential, v2::formatted_credential),
        described(v2::__path_latest, v2::latest),
        described(v2::__path_verify, v2::verify).abroad(),
        described(v2::__path_credential_types, v2::credential_types),
    ]
}

fn of_version_3<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    BookHere: FromRequestParts<S>,
{
    vec![
        described(v3::__path_search, v3::search),
        described(v3::__path_autocomplete, v3::autocomplete),
        described(v3::__path_by_attribute, v3::by_attribute),
        described(v3::__path_topic, v3::topic),
        described(v3::__path_credential, v3::credential),
        described(v3::__path_latest, v3::latest),
        described(v3::__path_verify, v3::verify).abroad(),
        described(v3::__path_credential_types, v3::credential_types),
    ]
}

/// The routes, which answer without a body to those who have the page.
fn unless_known<S>(routes: Vec<Route<S>>) -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
{
    let known = |mut route: Route<S>| {
        route.handler = route.handler.layer(from_fn(known::unless_known));
        route
    };
    routes.into_iter().map(known).collect()
}

/// The routes, whose answers are counted for each network together.
fn metered<S>(routes: Vec<Route<S>>) -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
{
    let meter = Arc::new(BookMeter::default());
    let metered = |mut route: Route<S>| {
        let counted = from_fn_with_state(meter.clone(), meter::metered);
        route.handler = route.handler.layer(counted);
        route
    };
    routes.into_iter().map(metered).collect()
}

/// Proofs for verifiers that anybody names. They take a request each.
pub fn proofs<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    BookHere: FromRequestParts<S>,
{
    vec![described(v4::__path_prove, v4::prove).abroad()]
}

/// The form of a page by which anybody has an entry proven to a verifier.
pub fn proof_pages<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    BookHere: FromRequestParts<S>,
    Frame: FromRequestParts<S>,
{
    vec![post("/book/entry/{id}/verify", pages::prove).abroad()]
}

/// Entries and the index, for those who keep the book.
pub fn keeping<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    BookHere: FromRequestParts<S>,
{
    vec![
        described(keeping::__path_enter, keeping::enter).abroad(),
        described(keeping::__path_quick_load, keeping::quick_load),
        described(keeping::__path_revoke, keeping::revoke),
        described(keeping::__path_erase, keeping::erase),
        described(keeping::__path_rebuild, keeping::rebuild),
        described(keeping::__path_rebuilding, keeping::rebuilding),
    ]
}

/// The pages of a book, for anybody.
pub fn pages<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    BookHere: FromRequestParts<S>,
    Frame: FromRequestParts<S>,
{
    metered(unless_known(vec![
        get("/book", pages::search),
        get("/book/topic/{id}", pages::topic),
        get("/book/entry/{id}", pages::entry),
        get("/book/entry/{id}/verify", pages::verify).abroad(),
        get("/book/sitemap.xml", pages::site),
        get("/book/sitemap/{from}/{to}", pages::site_part),
    ]))
}
