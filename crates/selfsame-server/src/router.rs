//! The table of contents: every address, by who may use it.

pub mod group;

use axum::Router;
use selfsame_app::config::Roles;

use crate::server::Server;
use crate::{assets, supervision, ui};
use group::{Audience, Group, Route, get, post};

/// Every group of addresses that an instance with these roles serves.
pub fn groups(roles: &Roles) -> Vec<Group> {
    let mut groups = vec![
        Group::of(Audience::Supervisor, supervisor()),
        Group::of(Audience::Public, public_pages()),
        Group::of(Audience::Stream, public_streams()),
        Group::of(Audience::Doorway, operator_door()),
    ];
    if roles.issuer {
        groups.push(Group::of(Audience::Operator, issuer_pages()));
    }
    if roles.verifier {
        groups.push(Group::of(Audience::Operator, verifier_pages()));
    }
    if roles.wallet {
        groups.push(Group::of(Audience::Doorway, wallet_door()));
        groups.push(Group::of(Audience::Person, wallet_pages()));
    }
    if roles.registry {
        groups.push(Group::of(Audience::Public, registry_pages()));
    }
    groups
}

/// What watches over the process.
fn supervisor() -> Vec<Route> {
    vec![
        get("/livez", supervision::live),
        get("/readyz", supervision::ready),
        get("/metrics", supervision::metrics),
    ]
}

/// What anybody may look at.
fn public_pages() -> Vec<Route> {
    vec![
        get("/", ui::home::page),
        get("/resolver", ui::resolver::page),
        get("/assets/{version}/{name}", assets::serve),
    ]
}

/// What anybody may follow live.
fn public_streams() -> Vec<Route> {
    vec![get("/events", ui::home::events)]
}

/// What anybody may look up in the registry.
fn registry_pages() -> Vec<Route> {
    vec![
        get("/registry", ui::registry::page),
        get("/registry/object", ui::registry::object),
        get("/registry/view/{seq_no}", ui::registry::entry),
    ]
}

/// Where the operator signs in.
fn operator_door() -> Vec<Route> {
    vec![
        get("/operator", ui::operator::page),
        get("/operator/sign-in", ui::operator::sign_in_by_link),
        post("/operator/sign-in", ui::operator::sign_in),
    ]
}

/// The issuer's pages.
fn issuer_pages() -> Vec<Route> {
    vec![
        get("/issuer", ui::issuer::page),
        get("/issuer/new/{template}", ui::issuer::new),
        post("/issuer/new", ui::issuer::create),
        get("/issuer/view/{offer}", ui::issuer::offer),
        post("/issuer/issued/{credential}/status", ui::issuer::set_status),
        post("/operator/sign-out", ui::operator::sign_out),
    ]
}

/// The verifier's pages.
fn verifier_pages() -> Vec<Route> {
    vec![
        get("/verifier", ui::verifier::page),
        get("/verifier/new/{template}", ui::verifier::new),
        post("/verifier/new", ui::verifier::create),
        get("/verifier/view/{request}", ui::verifier::request),
        get("/verifier/view/{request}/result", ui::verifier::result),
        post("/verifier/view/{request}/recheck", ui::verifier::recheck),
    ]
}

/// Where people make, open and close their wallets.
fn wallet_door() -> Vec<Route> {
    vec![
        get("/wallet/sign-in", ui::wallet::sign_in::page),
        post("/wallet/sign-in", ui::wallet::sign_in::sign_in),
        post("/wallet/register", ui::wallet::sign_in::register),
    ]
}

/// A person's pages.
fn wallet_pages() -> Vec<Route> {
    vec![
        get("/wallet", ui::wallet::page),
        post("/wallet/open", ui::wallet::open),
        get("/wallet/cards/{card}", ui::wallet::card),
        post("/wallet/cards/{card}/delete", ui::wallet::delete_card),
        get("/wallet/offer", ui::wallet::offer::page),
        post("/wallet/offer", ui::wallet::offer::accept),
        get("/wallet/request", ui::wallet::request::page),
        post("/wallet/request", ui::wallet::request::answer),
        get("/wallet/history", ui::wallet::history::page),
        get("/wallet/keys", ui::wallet::keys::page),
        post("/wallet/keys", ui::wallet::keys::create_key),
        post("/wallet/dids", ui::wallet::keys::create_did),
        post("/wallet/sign-out", ui::wallet::sign_in::sign_out),
    ]
}

/// The routes with everything around them.
pub fn build(server: &Server) -> Router {
    group::assemble(groups(&server.app().config().roles), server)
}
