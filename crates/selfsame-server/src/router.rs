//! The table of contents: the addresses of each face, grouped by who may use them.

mod api;
pub mod group;
pub mod openapi;
mod pages;

use axum::{Router, routing};
use selfsame_agent_ui::routes as agent;
use selfsame_app::config::Roles;
use selfsame_book_ui::routes as book;
use selfsame_dc_api_ui::{MESSAGE_MAX, routes as browser};
use selfsame_endpoints::routes as endpoints;
use selfsame_endpoints::tails::TAILS_MAX;
use selfsame_esignet::routes as esignet;
use selfsame_http::origin::Origin;
use selfsame_issuer_ui::routes as issuer;
use selfsame_oidc_endpoints::routes as provider;
use selfsame_operators::Area;
use selfsame_sign_in_ui::routes as sign_in;
use selfsame_vc_api::{VcApiConfig, VcApiFace, routes as vc_api};
use selfsame_webhooks_ui::routes as webhooks;
use selfsame_wire_ui::routes as wire;

use crate::audience::{Audience, UPLOAD_MAX};
use crate::server::Server;
use crate::supervision;
use group::{Lane, Route, Routes};

/// Every group of addresses that an instance with these roles serves, unless its settings open some.
pub fn groups(roles: &Roles) -> Vec<Routes> {
    groups_with(roles, &VcApiConfig::default())
}

fn groups_with(roles: &Roles, opened: &VcApiConfig) -> Vec<Routes> {
    let mut groups = of_every_instance();
    if roles.issuer {
        groups.extend(of_issuers());
        groups.push(w3c(VcApiFace::Issue, opened));
    }
    if roles.verifier {
        groups.extend(of_verifiers());
        groups.push(w3c(VcApiFace::Verify, opened));
    }
    if roles.wallet {
        groups.extend(of_wallets());
    }
    match roles.registry {
        true => groups.extend(of_the_registry()),
        false => groups.push(Routes::of(Audience::Public, pages::registry_elsewhere())),
    }
    groups
}

/// What each organisation's operators may do in an area, by the API.
fn api_of(area: Area, routes: Vec<Route>) -> Routes {
    Routes::of(Audience::OperatorApi, routes)
        .needing(area)
        .of_organisations()
}

/// The pages on which each organisation's operators may do something in an area.
fn pages_of(area: Area, routes: Vec<Route>) -> Routes {
    Routes::of(Audience::Operator, routes)
        .needing(area)
        .of_organisations()
}

/// A part of the W3C's API, which the settings may open to anyone.
fn w3c(face: VcApiFace, opened: &VcApiConfig) -> Routes {
    let (area, routes) = match face {
        VcApiFace::Issue => (Area::Issuer, vc_api::issuing()),
        VcApiFace::Verify => (Area::Verifier, vc_api::verifying(opened.unverified)),
    };
    let group = match opened.is_open(face) {
        true => Routes::of(Audience::PublicApi, routes).of_organisations(),
        false => api_of(area, routes),
    };
    group.receiving(vc_api::BODY_MAX)
}

fn of_every_instance() -> Vec<Routes> {
    let api = |area, routes| Routes::of(Audience::OperatorApi, routes).needing(area);
    let page = |area, routes| Routes::of(Audience::Operator, routes).needing(area);
    vec![
        Routes::of(Audience::Supervisor, api::supervisor()),
        Routes::of(Audience::Supervisor, api::metrics()).administering(),
        Routes::of(Audience::Public, pages::public()),
        Routes::of(Audience::Public, pages::files()).at_each_host(),
        Routes::of(Audience::Stream, pages::public_streams()),
        Routes::of(Audience::Doorway, pages::operator_door()).administering(),
        Routes::of(Audience::Doorway, sign_in::door("/operator")).administering(),
        Routes::of(Audience::Operator, pages::operator()),
        Routes::of(Audience::Operator, sign_in::account("/operator")),
        pages_of(Area::People, pages::people()),
        pages_of(Area::Audit, pages::audit()).outliving(),
        Routes::of(Audience::OperatorStream, pages::audit_export())
            .needing(Area::Audit)
            .of_organisations()
            .outliving(),
        page(Area::Organisations, pages::organisations()),
        page(Area::Organisations, pages::organisation())
            .of_organisations()
            .outliving()
            .read_by_all_who_work_here(),
        pages_of(Area::Settings, pages::settings()).receiving(UPLOAD_MAX),
        pages_of(Area::Settings, wire::settings()),
        api_of(Area::Settings, wire::settings_api()),
        pages_of(Area::Webhooks, webhooks::pages()),
        pages_of(Area::Agent, agent::connections()),
        pages_of(Area::Issuer, agent::issued()),
        pages_of(Area::Verifier, agent::proofs()),
        api(Area::Instance, api::instance()),
        api(Area::Dids, api::dids()),
        api(Area::Organisations, api::organisations()),
        Routes::of(Audience::OperatorStream, api::exports()).needing(Area::Organisations),
        Routes::of(Audience::OperatorStream, api::own_export())
            .needing(Area::Organisations)
            .of_organisations()
            .read_by_all_who_work_here(),
        api_of(Area::Settings, api::settings()).receiving(UPLOAD_MAX),
        api_of(Area::Webhooks, webhooks::api()),
        api_of(Area::People, api::people()),
        api_of(Area::Audit, api::audit()).outliving(),
        Routes::of(Audience::OperatorApi, api::oneself()).of_organisations(),
        Routes::of(Audience::PublicApi, endpoints::logos()).of_organisations(),
        Routes::of(Audience::PublicApi, endpoints::resolution()),
        Routes::of(Audience::PublicApi, endpoints::tails_files()),
        api(Area::Issuer, endpoints::tails_uploads()).receiving(TAILS_MAX),
        Routes::of(Audience::PublicApi, api::description()),
    ]
}

fn of_issuers() -> Vec<Routes> {
    let of = |audience, routes| Routes::of(audience, routes).of_organisations();
    vec![
        of(Audience::Operator, issuer::pages()).needing(Area::Issuer),
        pages_of(Area::Issuer, issuer::files()).receiving(issuer::FORM_MAX),
        pages_of(Area::Issuer, book::keeping_pages()),
        of(Audience::OperatorStream, issuer::fetched()).needing(Area::Issuer),
        api_of(Area::Issuer, issuer::portions()).receiving(UPLOAD_MAX),
        pages_of(Area::Issuer, wire::issuer()),
        api_of(Area::Issuer, wire::issuer_api()),
        of(Audience::Public, issuer::paths()),
        pages_of(Area::Types, pages::types()).receiving(UPLOAD_MAX),
        pages_of(Area::Types, book::mapping_pages()),
        api_of(Area::Types, book::mappings()),
        api_of(Area::Issuer, api::issuer()),
        api_of(Area::Issuer, issuer::programs()),
        api_of(Area::Issuer, api::bulk()).receiving(UPLOAD_MAX),
        api_of(Area::Types, api::types()),
        of(Audience::OperatorStream, api::issuer_streams()).needing(Area::Issuer),
        of(Audience::Protocol, endpoints::issuance()),
        of(Audience::Protocol, endpoints::issuer_keys()).outliving(),
        of(Audience::PublicApi, endpoints::status_lists())
            .along(Lane::Lists)
            .outliving(),
        of(Audience::PublicApi, endpoints::type_documents()).outliving(),
        of(Audience::Public, book::pages()),
        of(Audience::PublicApi, book::reads()),
        of(Audience::Public, book::proof_pages()).receiving(book::LINK_MAX),
        of(Audience::PublicApi, book::proofs()).receiving(book::LINK_MAX),
        api_of(Area::Issuer, book::keeping()).receiving(book::LOAD_MAX),
        of(Audience::PublicApi, book::subscribing()).receiving(book::HOOK_MAX),
    ]
}

fn of_verifiers() -> Vec<Routes> {
    let of = |audience, routes| Routes::of(audience, routes).of_organisations();
    vec![
        of(Audience::Operator, pages::verifier()).needing(Area::Verifier),
        of(Audience::OperatorStream, api::verifier_streams()).needing(Area::Verifier),
        api_of(Area::Verifier, api::verifier()),
        api_of(Area::Verifier, browser::verifier_api()).receiving(MESSAGE_MAX),
        pages_of(Area::Verifier, browser::verifier()).receiving(MESSAGE_MAX),
        pages_of(Area::Verifier, wire::verifier()),
        api_of(Area::Verifier, wire::verifier_api()),
        api_of(Area::Settings, api::trust()),
        pages_of(Area::Settings, pages::trust()),
        api_of(Area::Verifier, api::saved_requests()),
        of(Audience::OperatorWait, api::verifier_waits()).needing(Area::Verifier),
        of(Audience::Public, pages::same_device()),
        of(Audience::Doorway, pages::asked()),
        of(Audience::Doorway, browser::visitors()).receiving(MESSAGE_MAX),
        Routes::of(Audience::Public, pages::embedded()).at_each_host(),
        of(Audience::Protocol, endpoints::presentation()),
        of(Audience::Protocol, endpoints::answers()).along(Lane::Answers),
    ]
}

fn of_wallets() -> Vec<Routes> {
    let of = |audience, routes| Routes::of(audience, routes).of_organisations();
    vec![
        of(Audience::PublicApi, provider::documents()),
        of(Audience::Protocol, provider::clients()).along(Lane::SignIns),
        of(Audience::Public, provider::browsers()).along(Lane::SignIns),
        of(Audience::DoorwayApi, provider::sign_ins()).along(Lane::SignIns),
        of(Audience::Doorway, sign_in::provider()).along(Lane::SignIns),
        api_of(Area::Settings, provider::operators()),
        pages_of(Area::Settings, sign_in::clients()),
        of(Audience::Protocol, endpoints::remote_wallets()),
        of(Audience::PublicApi, esignet::documents()),
        of(Audience::Protocol, esignet::interface()).along(Lane::SignIns),
        Routes::of(Audience::Protocol, esignet::mock_identity_system()).along(Lane::SignIns),
        Routes::of(Audience::Doorway, sign_in::wallet_door()),
        Routes::of(Audience::Person, pages::wallet()),
        Routes::of(Audience::Person, sign_in::wallet()),
        Routes::of(Audience::Person, sign_in::recovery()).receiving(sign_in::COPY_FORM_MAX),
        Routes::of(Audience::Person, sign_in::account("/wallet")),
        Routes::of(Audience::DoorwayApi, api::wallet_door()),
        Routes::of(Audience::PersonApi, api::wallet()),
        Routes::of(Audience::Person, browser::wallet()).receiving(MESSAGE_MAX),
        Routes::of(Audience::PersonApi, browser::wallet_api()).receiving(MESSAGE_MAX),
        Routes::of(Audience::Person, wire::wallet()),
        Routes::of(Audience::PersonApi, wire::wallet_api()),
        Routes::of(Audience::PersonApi, sign_in::receiving()),
        Routes::of(Audience::OperatorApi, api::invitations()).needing(Area::Wallets),
        Routes::of(Audience::Operator, pages::invitations()).needing(Area::Wallets),
    ]
}

fn of_the_registry() -> Vec<Routes> {
    vec![
        Routes::of(Audience::Public, pages::registry()),
        Routes::of(Audience::Stream, pages::registry_streams()),
        Routes::of(Audience::PublicApi, endpoints::registry_reads()).along(Lane::Registry),
        Routes::of(Audience::Protocol, endpoints::registry_engine()),
        Routes::of(Audience::PublicApi, endpoints::von_network()),
        Routes::of(Audience::Registrant, endpoints::von_network_writes()),
        Routes::of(Audience::RegistrantPage, pages::registry_writes()),
        Routes::of(Audience::OperatorApi, api::registry()).needing(Area::Registry),
    ]
}

/// What the listener of health checks serves, the metrics to everyone who reaches it.
pub fn supervised(server: &Server) -> Router {
    Router::new()
        .route("/livez", routing::get(supervision::live))
        .route("/readyz", routing::get(supervision::ready))
        .route("/metrics", routing::get(supervision::figures))
        .with_state(server.clone())
}

/// The routes of the main listener with all their layers: all, unless those who work for organisations have a listener of
/// their own.
pub fn build(server: &Server) -> Router {
    let mut groups = groups_with(&server.app().config().roles, server.vc_api());
    groups.retain(|group| server.admin_origin().is_none() || !group.is_administering());
    group::assemble(groups, server, server.origin())
}

/// The routes of the listener of `[admin]`: all, at its origin.
pub fn administration(server: &Server, origin: &Origin) -> Router {
    let groups = groups_with(&server.app().config().roles, server.vc_api());
    group::assemble(groups, server, origin)
}
