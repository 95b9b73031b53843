//! The API: each address of a person's or the operator's programs, as its handler describes it; health and metrics.

use selfsame_http::route::{described, get, post, tagged};

use super::group::Route;
use super::openapi;
use crate::api::{
    audit, dids, export, instance, issuer, organisations, people, registry, saved, trust, types,
    verifier, wallet,
};
use crate::supervision;

const JSON: &str = "application/json";
const TEXT: &str = "text/plain";

/// The API of every instance, for the operator's programs.
pub fn instance() -> Vec<Route> {
    vec![
        described(instance::__path_status, instance::status),
        described(instance::__path_copy, instance::copy),
        described(instance::__path_link, instance::link),
        described(instance::__path_master_key, instance::master_key),
        described(instance::__path_rotate, instance::rotate),
    ]
}

/// The DIDs of the instance, for the operator's programs.
pub fn dids() -> Vec<Route> {
    vec![
        described(dids::__path_create, dids::create),
        described(dids::__path_list, dids::list),
        described(dids::__path_rotate, dids::rotate),
        described(dids::__path_deactivate, dids::deactivate),
    ]
}

/// The organisations of the instance, for the operator's programs.
pub fn organisations() -> Vec<Route> {
    vec![
        described(organisations::__path_create, organisations::create),
        described(organisations::__path_list, organisations::list),
        described(organisations::__path_show, organisations::show),
        described(organisations::__path_change, organisations::change),
        described(organisations::__path_forecast, organisations::forecast),
        described(organisations::__path_erase, organisations::erase),
    ]
}

/// The exports of organisations, for those who run the instance.
pub fn exports() -> Vec<Route> {
    vec![described(export::__path_named, export::named)]
}

/// The export of an organisation, for those who work for it; it takes as long as the organisation is.
pub fn own_export() -> Vec<Route> {
    vec![
        described(export::__path_own, export::own),
        get("/organisation/export", export::own),
    ]
}

/// What an organisation decides about itself, for its programs.
pub fn settings() -> Vec<Route> {
    vec![
        described(organisations::__path_look, organisations::look),
        described(
            organisations::__path_change_look,
            organisations::change_look,
        ),
    ]
}

/// The people and the API keys of an organisation.
pub fn people() -> Vec<Route> {
    vec![
        described(people::__path_list, people::list),
        described(people::__path_invite, people::invite),
        described(people::__path_set_roles, people::set_roles),
        described(people::__path_remove, people::remove),
        described(people::__path_keys, people::keys),
        described(people::__path_create_key, people::create_key),
        described(people::__path_revoke_key, people::revoke_key),
    ]
}

/// Who is signed in, for everyone who is.
pub fn oneself() -> Vec<Route> {
    vec![described(people::__path_oneself, people::oneself)]
}

/// The audit trail of an organisation.
pub fn audit() -> Vec<Route> {
    vec![
        described(audit::__path_list, audit::list),
        described(audit::__path_export, audit::export),
        described(audit::__path_anchors, audit::anchors),
    ]
}

/// The issuers that an organisation trusts, for its programs.
pub fn trust() -> Vec<Route> {
    vec![
        described(trust::__path_list, trust::list),
        described(trust::__path_add, trust::add),
        described(trust::__path_remove, trust::remove),
    ]
}

/// Credential types, for the operator's programs.
pub fn types() -> Vec<Route> {
    vec![
        described(types::__path_list, types::list),
        described(types::__path_create, types::create),
        described(types::__path_import_type, types::import_type),
        described(types::__path_show, types::show),
        described(types::__path_replace, types::replace),
        described(types::__path_delete_draft, types::delete_draft),
        described(types::__path_publish, types::publish),
        described(types::__path_retire, types::retire),
    ]
}

/// The issuer's API that takes many rows or ids.
pub fn bulk() -> Vec<Route> {
    vec![
        described(issuer::__path_create_offers, issuer::create_offers),
        described(issuer::__path_set_statuses, issuer::set_statuses),
    ]
}

/// The issuer's API, for the operator's programs.
pub fn issuer() -> Vec<Route> {
    vec![
        described(issuer::__path_create_offer, issuer::create_offer),
        described(issuer::__path_offers, issuer::offers),
        described(issuer::__path_offer, issuer::offer),
        described(issuer::__path_credentials, issuer::credentials),
        described(issuer::__path_credential, issuer::credential),
        described(issuer::__path_set_status, issuer::set_status),
        described(issuer::__path_delegate, issuer::delegate),
        described(issuer::__path_delegations, issuer::delegations),
        described(
            issuer::__path_withdraw_delegation,
            issuer::withdraw_delegation,
        ),
    ]
}

/// The verifier's API, for the operator's programs.
pub fn verifier() -> Vec<Route> {
    vec![
        described(verifier::__path_create, verifier::create),
        described(verifier::__path_list, verifier::list),
        described(verifier::__path_recheck, verifier::recheck),
        described(verifier::__path_revoke, verifier::revoke),
        described(verifier::__path_verify, verifier::verify),
    ]
}

/// The API of a verifier's saved requests, for the operator's programs.
pub fn saved_requests() -> Vec<Route> {
    vec![
        described(saved::__path_list, saved::list),
        described(saved::__path_create, saved::create),
        described(saved::__path_check, saved::check),
        described(saved::__path_one, saved::one),
        described(saved::__path_replace, saved::replace),
        described(saved::__path_delete, saved::delete),
        described(saved::__path_open, saved::open),
    ]
}

/// The verifier's API for programs that wait for a verdict.
pub fn verifier_waits() -> Vec<Route> {
    vec![described(verifier::__path_one, verifier::one)]
}

/// The issuer's event streams, for pages and programs that follow an offer.
pub fn issuer_streams() -> Vec<Route> {
    vec![
        described(issuer::__path_offer_events, issuer::offer_events),
        get("/issuer/view/{id}/events", issuer::offer_events),
    ]
}

/// The verifier's event streams, for pages and programs that follow a request.
pub fn verifier_streams() -> Vec<Route> {
    vec![
        described(verifier::__path_events, verifier::events),
        get("/verifier/view/{id}/events", verifier::events),
    ]
}

/// Registration and sign-in of wallets, for programs.
pub fn wallet_door() -> Vec<Route> {
    vec![
        described(wallet::__path_register, wallet::register),
        described(wallet::__path_sign_in, wallet::sign_in),
    ]
}

/// Invitations to wallets, for the operator's programs.
pub fn invitations() -> Vec<Route> {
    vec![described(wallet::__path_invite, wallet::invite)]
}

/// A person's wallet API, for their programs.
pub fn wallet() -> Vec<Route> {
    vec![
        described(wallet::__path_sign_out, wallet::sign_out),
        described(wallet::__path_preview_offer, wallet::preview_offer).abroad(),
        described(wallet::__path_accept_offer, wallet::accept_offer).abroad(),
        described(wallet::__path_preview_request, wallet::preview_request).abroad(),
        described(wallet::__path_answer_request, wallet::answer_request).abroad(),
        described(wallet::__path_decline_request, wallet::decline_request).abroad(),
        described(wallet::__path_card, wallet::card).abroad(),
        described(wallet::__path_delete_card, wallet::delete_card),
        described(wallet::__path_begin_export, wallet::begin_export),
        described(wallet::__path_export, wallet::export),
        described(wallet::__path_import, wallet::import),
        described(wallet::__path_history, wallet::history),
        described(wallet::__path_keys, wallet::keys),
        described(wallet::__path_create_key, wallet::create_key),
        described(wallet::__path_dids, wallet::dids),
        described(wallet::__path_create_did, wallet::create_did),
    ]
}

/// The registry's API, for the operator's programs.
pub fn registry() -> Vec<Route> {
    vec![
        described(registry::__path_status, registry::status),
        described(registry::__path_node, registry::node),
        described(registry::__path_clock, registry::clock),
        described(registry::__path_confirm_clock, registry::confirm_clock),
        described(registry::__path_entries, registry::entries),
        described(registry::__path_history, registry::history),
        post("/registry/transactions", registry::submit)
            .gives(
                JSON,
                "Submits a signed transaction; submitting it again returns its first receipt.",
            )
            .named("registry_submit_transaction")
            .tag("registry")
            .by("docs/registry-objects.md")
            .takes("application/cbor"),
    ]
}

/// Addresses for the process's supervisor.
pub fn supervisor() -> Vec<Route> {
    tagged(
        "supervision",
        vec![
            get("/livez", supervision::live)
                .named("supervision_live")
                .gives(
                    TEXT,
                    "Whether the process is alive; 503 while an event loop is stuck.",
                ),
            get("/readyz", supervision::ready)
                .named("supervision_ready")
                .gives(
                    TEXT,
                    "Whether the instance is ready to serve requests; 503 if not.",
                ),
        ],
    )
}

/// The address of the metrics.
pub fn metrics() -> Vec<Route> {
    vec![
        get("/metrics", supervision::metrics)
            .named("supervision_metrics")
            .gives(
                TEXT,
                "Metrics, for the operator and for this machine; 401 for others.",
            )
            .tag("supervision")
            .by("Prometheus text format 0.0.4"),
    ]
}

/// The description of all addresses for programs.
pub fn description() -> Vec<Route> {
    vec![
        get("/openapi.json", openapi::serve)
            .named("supervision_openapi")
            .gives(JSON, "This description.")
            .tag("supervision")
            .by("OpenAPI 3.1"),
    ]
}
