//! The pages: each address that shows or changes something for people.

use axum::extract::State;
use selfsame_audit::AuditFilter;
use selfsame_http::route::{get, post};

use super::group::Route;
use super::openapi;
use crate::assets;
use crate::extract::Query;
use crate::server::Server;
use crate::ui::{
    Frame, ask, audit, home, operator, organisations, people, reference, registry, resolver, saved,
    trust, types, verifier, wallet,
};

/// Pages for anyone.
pub fn public() -> Vec<Route> {
    vec![
        get("/", home::page),
        get("/api", |State(server): State<Server>, frame: Frame| {
            reference::page(server, frame, openapi::text())
        }),
        get("/resolver", resolver::page).abroad(),
    ]
}

/// The files of all pages.
pub fn files() -> Vec<Route> {
    vec![get("/assets/{version}/{name}", assets::serve)]
}

/// Event streams for anyone.
pub fn public_streams() -> Vec<Route> {
    vec![get("/events", home::events)]
}

/// The registry's pages, for anyone.
pub fn registry() -> Vec<Route> {
    vec![
        get("/registry", registry::page),
        get("/registry/search", registry::search::page),
        get("/registry/blocks", registry::blocks::page),
        get("/registry/blocks/{height}", registry::blocks::block),
        get("/registry/register", registry::register::page),
        get("/registry/validators", registry::validators::page),
        get("/registry/object", registry::object::page),
        get("/registry/view/{seq_no}", registry::transaction::page),
        get("/browse/{ledger}", registry::search::view),
    ]
}

/// Redirects to the pages of a registry in another process.
pub fn registry_elsewhere() -> Vec<Route> {
    vec![
        get("/registry", registry::elsewhere),
        get("/registry/{*rest}", registry::elsewhere),
        get("/browse/{ledger}", registry::elsewhere),
    ]
}

/// The registry's event streams, for anyone.
pub fn registry_streams() -> Vec<Route> {
    vec![get("/registry/events", registry::events)]
}

/// The page that registers DIDs.
pub fn registry_writes() -> Vec<Route> {
    vec![post("/registry/register", registry::register::register)]
}

/// The operator's sign-in.
pub fn operator_door() -> Vec<Route> {
    vec![
        get("/operator", operator::page),
        get("/operator/sign-in", operator::sign_in_by_link),
        post("/operator/sign-in", operator::sign_in),
        get("/operator/invited", operator::invited::page),
        post("/operator/invited", operator::invited::accept),
    ]
}

/// The pages of credential types.
pub fn types() -> Vec<Route> {
    vec![
        get("/types", types::page),
        get("/types/new", types::editor::new),
        post("/types/new", types::editor::create),
        post("/types/import", types::editor::import_file),
        get("/types/edit/{id}", types::editor::edit),
        post("/types/edit/{id}", types::editor::change),
        get("/types/view/{id}", types::view),
        get("/types/view/{id}/file", types::file),
        post("/types/view/{id}/publish", types::publish),
        post("/types/view/{id}/retire", types::retire),
        post("/types/view/{id}/delete", types::delete_draft),
    ]
}

/// The operator's pages, whatever the roles.
pub fn operator() -> Vec<Route> {
    vec![post("/operator/sign-out", operator::sign_out)]
}

/// The people and the API keys of an organisation.
pub fn people() -> Vec<Route> {
    vec![
        get("/people", people::page),
        post("/people/invitations", people::invite),
        get("/people/view/{id}", people::person),
        post("/people/view/{id}/roles", people::set_roles),
        post("/people/view/{id}/remove", people::remove),
        post("/people/keys", people::create_key),
        post("/people/keys/{id}/revoke", people::revoke_key),
    ]
}

/// The audit trail of an organisation.
pub fn audit() -> Vec<Route> {
    let page = |here: audit::TrailHere, frame: Frame, Query(filter): Query<AuditFilter>| {
        audit::page(here, frame, filter, openapi::text())
    };
    vec![get("/audit", page)]
}

/// The download of the audit trail, which takes as long as the trail is.
pub fn audit_export() -> Vec<Route> {
    vec![get("/audit/export", audit::export)]
}

/// The organisations of the instance.
pub fn organisations() -> Vec<Route> {
    vec![
        get("/organisations", organisations::list),
        post("/organisations", organisations::create),
        post("/organisations/{name}", organisations::change),
        get("/organisations/{name}/erase", organisations::erasure::page),
        post("/organisations/{name}/erase", organisations::erasure::erase),
    ]
}

/// The page of an organisation, for everyone who works for it.
pub fn organisation() -> Vec<Route> {
    vec![get("/organisation", organisations::page)]
}

/// What an organisation decides about itself.
pub fn settings() -> Vec<Route> {
    vec![post("/organisation/look", organisations::change_look)]
}

/// The issuers that an organisation trusts.
pub fn trust() -> Vec<Route> {
    vec![
        get("/trust", trust::page),
        post("/trust", trust::add),
        post("/trust/{id}/remove", trust::remove),
    ]
}

/// Where a wallet on the same device sends the person back to.
pub fn same_device() -> Vec<Route> {
    vec![get("/verifier/results/{id}", verifier::same_device)]
}

/// Saved requests, for those who open their link.
pub fn asked() -> Vec<Route> {
    vec![
        get("/ask/{name}", ask::page),
        post("/ask/{name}", ask::open),
        get("/ask/{name}/{id}", ask::request),
    ]
}

/// The script of buttons on other people's pages.
pub fn embedded() -> Vec<Route> {
    vec![get("/embed.js", assets::embed)]
}

/// Invitations to wallets, for the operator's pages.
pub fn invitations() -> Vec<Route> {
    vec![post("/operator/invitations", operator::invite)]
}

/// The verifier's pages.
pub fn verifier() -> Vec<Route> {
    vec![
        get("/verifier", verifier::page),
        get("/verifier/new/{type}", verifier::new),
        post("/verifier/new", verifier::create),
        get("/verifier/view/{id}", verifier::request),
        get("/verifier/view/{id}/result", verifier::result),
        post("/verifier/view/{id}/recheck", verifier::recheck),
        get("/verifier/view/{id}/revoke", verifier::ask_revoke),
        post("/verifier/view/{id}/revoke", verifier::revoke),
        get("/verifier/saved/new", saved::new),
        post("/verifier/saved/new", saved::create),
        get("/verifier/saved/{name}", saved::edit),
        post("/verifier/saved/{name}", saved::change),
        post("/verifier/saved/{name}/open", saved::open),
        post("/verifier/saved/{name}/delete", saved::delete),
    ]
}

/// A person's pages.
pub fn wallet() -> Vec<Route> {
    vec![
        post("/wallet/open", wallet::open),
        post("/wallet/check", wallet::check).abroad(),
        get("/wallet/cards/{card}", wallet::card).abroad(),
        post("/wallet/cards/{card}/delete", wallet::delete_card),
        get("/wallet/offer", wallet::offer::page).abroad(),
        post("/wallet/offer", wallet::offer::accept).abroad(),
        get("/wallet/request", wallet::request::page).abroad(),
        post("/wallet/request", wallet::request::answer).abroad(),
        get("/wallet/path", wallet::path).abroad(),
        get("/wallet/history", wallet::history::page),
        get("/wallet/keys", wallet::keys::page),
        post("/wallet/keys", wallet::keys::create_key),
        post("/wallet/dids", wallet::keys::create_did),
    ]
}
