//! The table of contents: every address, grouped by who may use it.

pub mod group;
pub mod openapi;

use axum::{Router, routing};
use selfsame_app::config::Roles;

use crate::audience::Audience;
use crate::server::Server;
use crate::{api, assets, protocol, supervision, ui};
use group::{Group, Lane, Route, delete, get, post, put};

/// Every group of addresses that an instance with these roles serves.
pub fn groups(roles: &Roles) -> Vec<Group> {
    let mut groups = vec![
        Group::of(Audience::Supervisor, supervisor()),
        Group::of(Audience::Public, public_pages()),
        Group::of(Audience::Stream, public_streams()),
        Group::of(Audience::Doorway, operator_door()),
    ];
    groups.push(Group::of(Audience::Operator, operator_pages()));
    groups.push(Group::of(Audience::OperatorApi, instance_api()));
    groups.push(Group::of(Audience::PublicApi, resolver()));
    if roles.issuer {
        groups.push(Group::of(Audience::Operator, issuer_pages()));
        groups.push(Group::of(Audience::OperatorApi, issuer_api()));
        groups.push(Group::of(Audience::Protocol, issuance()));
        groups.push(Group::of(Audience::PublicApi, status_lists()).along(Lane::Lists));
    }
    if roles.verifier {
        groups.push(Group::of(Audience::Operator, verifier_pages()));
        groups.push(Group::of(Audience::OperatorStream, verifier_streams()));
        groups.push(Group::of(Audience::OperatorApi, verifier_api()));
        groups.push(Group::of(Audience::OperatorWait, verifier_waits()));
        groups.push(Group::of(Audience::Public, same_device()));
        groups.push(Group::of(Audience::Protocol, presentation()));
        groups.push(Group::of(Audience::Protocol, answers()).along(Lane::Answers));
    }
    if roles.wallet {
        groups.push(Group::of(Audience::Doorway, wallet_door()));
        groups.push(Group::of(Audience::Person, wallet_pages()));
        groups.push(Group::of(Audience::DoorwayApi, wallet_door_api()));
        groups.push(Group::of(Audience::PersonApi, wallet_api()));
        groups.push(Group::of(Audience::OperatorApi, wallet_operator_api()));
        groups.push(Group::of(Audience::Operator, wallet_operator_pages()));
    }
    if roles.registry {
        groups.push(Group::of(Audience::Public, registry_pages()));
        groups.push(Group::of(Audience::Stream, registry_streams()));
        groups.push(Group::of(Audience::PublicApi, registry_reads()).along(Lane::Registry));
        groups.push(Group::of(Audience::Protocol, registry_engine()));
        groups.push(Group::of(Audience::PublicApi, von_network()));
        groups.push(Group::of(Audience::Registrant, von_network_writes()));
        groups.push(Group::of(Audience::RegistrantPage, registry_writes()));
        groups.push(Group::of(Audience::OperatorApi, registry_api()));
    } else {
        groups.push(Group::of(Audience::Public, registry_elsewhere()));
    }
    groups
}

/// Addresses for the process's supervisor.
fn supervisor() -> Vec<Route> {
    vec![
        get("/livez", supervision::live),
        get("/readyz", supervision::ready),
        get("/metrics", supervision::metrics),
    ]
}

/// Pages for anyone.
fn public_pages() -> Vec<Route> {
    vec![
        get("/", ui::home::page),
        get("/resolver", ui::resolver::page).abroad(),
        get("/assets/{version}/{name}", assets::serve),
    ]
}

/// Event streams for anyone.
fn public_streams() -> Vec<Route> {
    vec![get("/events", ui::home::events)]
}

/// The registry's pages, for anyone.
fn registry_pages() -> Vec<Route> {
    vec![
        get("/registry", ui::registry::page),
        get("/registry/search", ui::registry::search::page),
        get("/registry/blocks", ui::registry::blocks::page),
        get("/registry/blocks/{height}", ui::registry::blocks::block),
        get("/registry/register", ui::registry::register::page),
        get("/registry/validators", ui::registry::validators::page),
        get("/registry/object", ui::registry::object::page),
        get("/registry/view/{seq_no}", ui::registry::transaction::page),
        get("/browse/{ledger}", ui::registry::search::view),
    ]
}

/// Redirects to the pages of a registry in another process.
fn registry_elsewhere() -> Vec<Route> {
    vec![
        get("/registry", ui::registry::elsewhere),
        get("/registry/{*rest}", ui::registry::elsewhere),
        get("/browse/{ledger}", ui::registry::elsewhere),
    ]
}

/// The registry's event streams, for anyone.
fn registry_streams() -> Vec<Route> {
    vec![get("/registry/events", ui::registry::events)]
}

/// von-network's addresses, for tools that know them.
fn von_network() -> Vec<Route> {
    vec![
        get("/genesis", protocol::von_network::genesis),
        get("/status", protocol::von_network::status),
        get("/status/text", protocol::von_network::status_text),
        get("/ledger/{ledger}", protocol::von_network::ledger),
        get("/ledger/{ledger}/text", protocol::von_network::ledger_text),
        get(
            "/ledger/{ledger}/{transaction}",
            protocol::von_network::transaction,
        ),
    ]
}

/// The page that registers DIDs.
fn registry_writes() -> Vec<Route> {
    vec![post("/registry/register", ui::registry::register::register)]
}

/// Registration of DIDs, by the operator or by anyone whom the operator lets.
fn von_network_writes() -> Vec<Route> {
    vec![post("/register", protocol::von_network::register::register)]
}

/// The operator's sign-in.
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
        post("/issuer/delegations", ui::issuer::delegate),
        post(
            "/issuer/delegations/{id}/withdraw",
            ui::issuer::withdraw_delegation,
        ),
    ]
}

/// The operator's pages, whatever the roles.
fn operator_pages() -> Vec<Route> {
    vec![post("/operator/sign-out", ui::operator::sign_out)]
}

/// The API of every instance, for the operator's programs.
fn instance_api() -> Vec<Route> {
    vec![
        get("/api/status", api::instance::status),
        post("/api/copies", api::instance::copy),
        post("/api/operator/links", api::instance::link),
        post("/api/dids", api::dids::create),
        get("/api/dids", api::dids::list),
        put("/api/dids/{did}", api::dids::rotate),
        delete("/api/dids/{did}", api::dids::deactivate),
    ]
}

/// The resolver, for anyone's programs.
fn resolver() -> Vec<Route> {
    vec![
        get("/1.0/identifiers/{*did}", protocol::resolver::resolve).abroad(),
        get("/dids/{name}/did.json", protocol::hosted::named),
        get("/openapi.json", openapi::serve),
    ]
}

/// The issuer's API, for the operator's programs.
fn issuer_api() -> Vec<Route> {
    vec![
        get("/api/issuer/templates", api::issuer::templates),
        post("/api/issuer/offers", api::issuer::create_offer),
        get("/api/issuer/offers", api::issuer::offers),
        get("/api/issuer/offers/{id}", api::issuer::offer),
        get("/api/issuer/credentials", api::issuer::credentials),
        get("/api/issuer/credentials/{id}", api::issuer::credential),
        put(
            "/api/issuer/credentials/{id}/status",
            api::issuer::set_status,
        ),
        post("/api/issuer/delegations", api::issuer::delegate),
        get("/api/issuer/delegations", api::issuer::delegations),
        delete(
            "/api/issuer/delegations/{id}",
            api::issuer::withdraw_delegation,
        ),
    ]
}

/// OpenID4VCI, for other people's wallets.
fn issuance() -> Vec<Route> {
    vec![
        get(
            "/.well-known/openid-credential-issuer/issuer",
            protocol::issuer::metadata,
        ),
        get(
            "/.well-known/oauth-authorization-server/issuer",
            protocol::issuer::authorization_server,
        ),
        get(
            "/.well-known/jwt-vc-issuer/issuer",
            protocol::issuer::jwt_vc_issuer,
        ),
        get("/issuer/did.json", protocol::hosted::issuer),
        get("/issuer/offers/{id}", protocol::issuer::offer),
        post("/issuer/token", protocol::issuer::token),
        post("/issuer/nonce", protocol::issuer::nonce),
        post("/issuer/credential", protocol::issuer::credential).abroad_for_proofs(),
    ]
}

/// Status lists, for verifiers.
fn status_lists() -> Vec<Route> {
    vec![
        get("/status/{list}", protocol::issuer::status_list),
        get("/status/{list}/token", protocol::issuer::w3c_token_list),
        get(
            "/status/{list}/registry",
            protocol::issuer::registry_token_list,
        ),
        get("/status/{list}/{purpose}", protocol::issuer::bitstring_list),
    ]
}

/// The verifier's API, for the operator's programs.
fn verifier_api() -> Vec<Route> {
    vec![
        post("/api/verifier/requests", api::verifier::create),
        get("/api/verifier/requests", api::verifier::list),
        post(
            "/api/verifier/requests/{id}/recheck",
            api::verifier::recheck,
        ),
        post("/api/verifier/requests/{id}/revoke", api::verifier::revoke),
        post("/api/verifier/verify", api::verifier::verify),
    ]
}

/// The verifier's API for programs that wait for a verdict.
fn verifier_waits() -> Vec<Route> {
    vec![get("/api/verifier/requests/{id}", api::verifier::one)]
}

/// The verifier's event streams, for pages and programs that follow a request.
fn verifier_streams() -> Vec<Route> {
    vec![
        get("/api/verifier/requests/{id}/events", api::verifier::events),
        get("/verifier/view/{id}/events", api::verifier::events),
    ]
}

/// OpenID4VP, for other people's wallets.
fn presentation() -> Vec<Route> {
    vec![
        get("/verifier/did.json", protocol::hosted::verifier),
        get("/verifier/requests/{id}", protocol::verifier::request),
        post("/verifier/requests/{id}", protocol::verifier::posted),
    ]
}

/// OpenID4VP responses, from other people's wallets.
fn answers() -> Vec<Route> {
    vec![post("/verifier/responses/{id}", protocol::verifier::response).abroad()]
}

/// Where a wallet on the same device sends the person back to.
fn same_device() -> Vec<Route> {
    vec![get("/verifier/results/{id}", ui::verifier::same_device)]
}

/// Registration and sign-in of wallets, for programs.
fn wallet_door_api() -> Vec<Route> {
    vec![
        post("/api/wallet/register", api::wallet::register),
        post("/api/wallet/sessions", api::wallet::sign_in),
    ]
}

/// Invitations to wallets, for the operator's programs.
fn wallet_operator_api() -> Vec<Route> {
    vec![post("/api/wallet/invitations", api::wallet::invite)]
}

/// Invitations to wallets, for the operator's pages.
fn wallet_operator_pages() -> Vec<Route> {
    vec![post("/operator/invitations", ui::operator::invite)]
}

/// A person's wallet API, for their programs.
fn wallet_api() -> Vec<Route> {
    vec![
        delete("/api/wallet/sessions", api::wallet::sign_out),
        post("/api/wallet/offers/preview", api::wallet::preview_offer).abroad(),
        post("/api/wallet/offers/accept", api::wallet::accept_offer).abroad(),
        post("/api/wallet/requests/preview", api::wallet::preview_request).abroad(),
        post("/api/wallet/requests/answer", api::wallet::answer_request).abroad(),
        post("/api/wallet/requests/decline", api::wallet::decline_request).abroad(),
        get("/api/wallet/credentials", api::wallet::cards),
        get("/api/wallet/credentials/{id}", api::wallet::card).abroad(),
        delete("/api/wallet/credentials/{id}", api::wallet::delete_card),
        get("/api/wallet/history", api::wallet::history),
        get("/api/wallet/keys", api::wallet::keys),
        post("/api/wallet/keys", api::wallet::create_key),
        get("/api/wallet/dids", api::wallet::dids),
        post("/api/wallet/dids", api::wallet::create_did),
    ]
}

/// The registry's reads, for anyone who verifies it.
fn registry_reads() -> Vec<Route> {
    vec![
        get("/registry/genesis", protocol::registry::genesis),
        get("/registry/checkpoint", protocol::registry::checkpoint),
        get("/registry/read", protocol::registry::read),
        get("/registry/reads", protocol::registry::reads),
        get("/registry/log", protocol::registry::log),
        get(
            "/registry/inclusion/{seq_no}",
            protocol::von_network::inclusion,
        ),
        get("/registry/consistency", protocol::registry::consistency),
    ]
}

/// The registry's consensus engine, for nodes that join.
fn registry_engine() -> Vec<Route> {
    vec![post("/registry/engine", protocol::registry::engine)]
}

/// The registry's API, for the operator's programs.
fn registry_api() -> Vec<Route> {
    vec![
        get("/api/registry/status", api::registry::status),
        get("/api/registry/node", api::registry::node),
        get("/api/registry/clock", api::registry::clock),
        post("/api/registry/clock", api::registry::confirm_clock),
        get("/api/registry/entries", api::registry::entries),
        get("/api/registry/history", api::registry::history),
        post("/registry/transactions", api::registry::submit),
    ]
}

/// The verifier's pages.
fn verifier_pages() -> Vec<Route> {
    vec![
        get("/verifier", ui::verifier::page),
        get("/verifier/new/{template}", ui::verifier::new),
        post("/verifier/new", ui::verifier::create),
        get("/verifier/view/{id}", ui::verifier::request),
        get("/verifier/view/{id}/result", ui::verifier::result),
        post("/verifier/view/{id}/recheck", ui::verifier::recheck),
        post("/verifier/view/{id}/revoke", ui::verifier::revoke),
    ]
}

/// Registration, sign-in and sign-out of wallets.
fn wallet_door() -> Vec<Route> {
    vec![
        get("/wallet/sign-in", ui::wallet::sign_in::page),
        post("/wallet/sign-in", ui::wallet::sign_in::sign_in),
        get("/wallet/invited", ui::wallet::sign_in::invited),
        post("/wallet/register", ui::wallet::sign_in::register),
    ]
}

/// A person's pages.
fn wallet_pages() -> Vec<Route> {
    vec![
        get("/wallet", ui::wallet::page),
        post("/wallet/open", ui::wallet::open),
        get("/wallet/cards/{card}", ui::wallet::card).abroad(),
        post("/wallet/cards/{card}/delete", ui::wallet::delete_card),
        get("/wallet/offer", ui::wallet::offer::page).abroad(),
        post("/wallet/offer", ui::wallet::offer::accept).abroad(),
        get("/wallet/request", ui::wallet::request::page).abroad(),
        post("/wallet/request", ui::wallet::request::answer).abroad(),
        get("/wallet/history", ui::wallet::history::page),
        get("/wallet/keys", ui::wallet::keys::page),
        post("/wallet/keys", ui::wallet::keys::create_key),
        post("/wallet/dids", ui::wallet::keys::create_did),
        post("/wallet/sign-out", ui::wallet::sign_in::sign_out),
    ]
}

/// What the listener of health checks serves; it lets nobody else in.
pub fn supervised(server: &Server) -> Router {
    Router::new()
        .route("/livez", routing::get(supervision::live))
        .route("/readyz", routing::get(supervision::ready))
        .route("/metrics", routing::get(supervision::figures))
        .with_state(server.clone())
}

/// The routes with all their layers.
pub fn build(server: &Server) -> Router {
    group::assemble(groups(&server.app().config().roles), server)
}
