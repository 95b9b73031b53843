//! The addresses, by who uses them.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::middleware::{from_fn, from_fn_with_state};
use selfsame_http::middleware::known;
use selfsame_http::route::{Route, described, get, post};
use selfsame_pages::Frame;

use crate::here::BookHere;
use crate::meter::{self, BookMeter};
use crate::{
    entering, hooks, keeping, keeping_pages, mapping, mapping_pages, pages, v1, v2, v3, v4,
};

pub use crate::loaded::LOAD_MAX;

/// The largest body with a link of a verifier's request, which may be the whole request.
pub const LINK_MAX: usize = 300 * 1024;

/// The largest body with a subscriber or a subscription.
pub const HOOK_MAX: usize = 16 * 1024;

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
        described(v4::__path_search_credentials, v4::search_credentials),
        described(v4::__path_issuers, v4::issuers),
        described(v4::__path_issuer, v4::issuer),
        described(v4::__path_schemas, v4::schemas),
        described(v4::__path_schema, v4::schema),
        described(v4::__path_credential_type, v4::credential_type),
        described(v4::__path_language, v4::language),
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
        described(v2::__path_search_credentials, v2::search_credentials),
        described(v2::__path_issuers, v2::issuers),
        described(v2::__path_issuer, v2::issuer),
        described(v2::__path_schemas, v2::schemas),
        described(v2::__path_schema, v2::schema),
        described(v2::__path_credential_type, v2::credential_type),
        described(v2::__path_language, v2::language),
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
        described(v3::__path_search_credentials, v3::search_credentials),
        described(v3::__path_issuers, v3::issuers),
        described(v3::__path_issuer, v3::issuer),
        described(v3::__path_schemas, v3::schemas),
        described(v3::__path_schema, v3::schema),
        described(v3::__path_credential_type, v3::credential_type),
        described(v3::__path_search_new, v3::search_new),
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
        described(keeping::__path_enter_held, keeping::enter_held).abroad(),
        described(keeping::__path_policy, keeping::policy),
        described(keeping::__path_set_policy, keeping::set_policy),
        described(keeping::__path_quick_load, keeping::quick_load),
        described(keeping::__path_revoke, keeping::revoke),
        described(keeping::__path_erase, keeping::erase),
        described(keeping::__path_rebuild, keeping::rebuild),
        described(keeping::__path_rebuilding, keeping::rebuilding),
        described(hooks::__path_register, hooks::register),
        described(entering::__path_subscribers, entering::subscribers),
        described(
            entering::__path_remove_subscriber,
            entering::remove_subscriber,
        ),
        described(
            entering::__path_change_subscription,
            entering::change_subscription,
        ),
        described(
            entering::__path_end_subscription,
            entering::end_subscription,
        ),
        described(entering::__path_refused, entering::refused),
        described(entering::__path_enter_refused, entering::enter_refused).abroad(),
        described(entering::__path_drop_refused, entering::drop_refused),
    ]
}

/// Subscriptions, for programs that show the name and the password of a subscriber.
pub fn subscribing<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    BookHere: FromRequestParts<S>,
{
    vec![
        described(hooks::__path_registration, hooks::registration),
        described(hooks::__path_change, hooks::change),
        described(hooks::__path_remove, hooks::remove),
        described(hooks::__path_subscriptions, hooks::subscriptions),
        described(hooks::__path_subscribe, hooks::subscribe),
        described(hooks::__path_subscription, hooks::subscription),
        described(hooks::__path_replace, hooks::replace),
        described(hooks::__path_patch, hooks::patch),
        described(hooks::__path_unsubscribe, hooks::unsubscribe),
    ]
}

/// The pages of those who keep the book.
pub fn keeping_pages<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    BookHere: FromRequestParts<S>,
    Frame: FromRequestParts<S>,
{
    vec![
        get("/issuer/book", keeping_pages::shown),
        post("/issuer/book/policy", keeping_pages::set_policy),
        post("/issuer/book/subscribers", keeping_pages::register),
        post(
            "/issuer/book/subscribers/{username}/remove",
            keeping_pages::remove,
        ),
        post(
            "/issuer/book/subscribers/{username}/subscriptions/{id}/enabled",
            keeping_pages::set_enabled,
        ),
        post(
            "/issuer/book/subscribers/{username}/subscriptions/{id}/end",
            keeping_pages::end,
        ),
        post("/issuer/book/refused/{id}/enter", keeping_pages::enter).abroad(),
        post("/issuer/book/refused/{id}/drop", keeping_pages::leave_out),
    ]
}

/// How types appear in the book, for those who edit types.
pub fn mappings<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    BookHere: FromRequestParts<S>,
{
    vec![
        described(mapping::__path_show, mapping::show),
        described(mapping::__path_replace, mapping::replace),
        described(mapping::__path_remove, mapping::remove),
        described(mapping::__path_preview, mapping::preview),
    ]
}

/// The same, on a page.
pub fn mapping_pages<S>() -> Vec<Route<S>>
where
    S: Clone + Send + Sync + 'static,
    BookHere: FromRequestParts<S>,
    Frame: FromRequestParts<S>,
{
    vec![
        get("/types/view/{id}/book", mapping_pages::edit),
        post("/types/view/{id}/book", mapping_pages::change),
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
