//! The table of contents: the addresses of each face, grouped by who may use them.

mod api;
pub mod group;
pub mod openapi;
mod pages;
mod protocol;

use axum::{Router, routing};
use selfsame_app::config::Roles;

use crate::audience::Audience;
use crate::server::Server;
use crate::supervision;
use group::{Lane, Routes};

/// Every group of addresses that an instance with these roles serves.
pub fn groups(roles: &Roles) -> Vec<Routes> {
    let mut groups = vec![
        Routes::of(Audience::Supervisor, protocol::supervisor()),
        Routes::of(Audience::Public, pages::public()),
        Routes::of(Audience::Stream, pages::public_streams()),
        Routes::of(Audience::Doorway, pages::operator_door()),
    ];
    groups.push(Routes::of(Audience::Operator, pages::operator()));
    groups.push(Routes::of(Audience::OperatorApi, api::instance()));
    groups.push(Routes::of(Audience::OperatorApi, api::webhooks()));
    groups.push(Routes::of(Audience::PublicApi, protocol::resolver()));
    if roles.issuer {
        groups.push(Routes::of(Audience::Operator, pages::issuer()).of_organisations());
        groups.push(Routes::of(Audience::OperatorApi, api::issuer()).of_organisations());
        groups.push(Routes::of(Audience::OperatorStream, api::issuer_streams()).of_organisations());
        groups.push(Routes::of(Audience::Protocol, protocol::issuance()).of_organisations());
        groups.push(
            Routes::of(Audience::PublicApi, protocol::status_lists())
                .along(Lane::Lists)
                .of_organisations(),
        );
        groups.push(Routes::of(Audience::PublicApi, protocol::type_documents()).of_organisations());
    }
    if roles.verifier {
        groups.push(Routes::of(Audience::Operator, pages::verifier()).of_organisations());
        groups
            .push(Routes::of(Audience::OperatorStream, api::verifier_streams()).of_organisations());
        groups.push(Routes::of(Audience::OperatorApi, api::verifier()).of_organisations());
        groups.push(Routes::of(Audience::OperatorWait, api::verifier_waits()).of_organisations());
        groups.push(Routes::of(Audience::Public, pages::same_device()).of_organisations());
        groups.push(Routes::of(Audience::Protocol, protocol::presentation()).of_organisations());
        groups.push(
            Routes::of(Audience::Protocol, protocol::answers())
                .along(Lane::Answers)
                .of_organisations(),
        );
    }
    if roles.wallet {
        groups.push(Routes::of(Audience::Doorway, pages::wallet_door()));
        groups.push(Routes::of(Audience::Person, pages::wallet()));
        groups.push(Routes::of(Audience::DoorwayApi, api::wallet_door()));
        groups.push(Routes::of(Audience::PersonApi, api::wallet()));
        groups.push(Routes::of(Audience::OperatorApi, api::invitations()));
        groups.push(Routes::of(Audience::Operator, pages::invitations()));
    }
    if roles.registry {
        groups.push(Routes::of(Audience::Public, pages::registry()));
        groups.push(Routes::of(Audience::Stream, pages::registry_streams()));
        groups.push(
            Routes::of(Audience::PublicApi, protocol::registry_reads()).along(Lane::Registry),
        );
        groups.push(Routes::of(Audience::Protocol, protocol::registry_engine()));
        groups.push(Routes::of(Audience::PublicApi, protocol::von_network()));
        groups.push(Routes::of(
            Audience::Registrant,
            protocol::von_network_writes(),
        ));
        groups.push(Routes::of(
            Audience::RegistrantPage,
            pages::registry_writes(),
        ));
        groups.push(Routes::of(Audience::OperatorApi, api::registry()));
    } else {
        groups.push(Routes::of(Audience::Public, pages::registry_elsewhere()));
    }
    groups
}

/// What the listener of health checks serves, the metrics to everyone who reaches it.
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
