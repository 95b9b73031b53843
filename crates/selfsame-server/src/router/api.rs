//! The API: each address of a person's or the operator's programs, as its handler describes it.

use selfsame_http::route::{described, get, post};

use super::group::Route;
use crate::api::{dids, instance, issuer, registry, verifier, wallet};

/// The API of every instance, for the operator's programs.
pub fn instance() -> Vec<Route> {
    vec![
        described(instance::__path_status, instance::status).named("instance_get_status"),
        described(instance::__path_copy, instance::copy).named("instance_create_backup"),
        described(instance::__path_link, instance::link).named("instance_create_sign_in_link"),
        described(dids::__path_create, dids::create).named("dids_create"),
        described(dids::__path_list, dids::list).named("dids_list"),
        described(dids::__path_rotate, dids::rotate).named("dids_rotate"),
        described(dids::__path_deactivate, dids::deactivate).named("dids_deactivate"),
    ]
}

/// The issuer's API, for the operator's programs.
pub fn issuer() -> Vec<Route> {
    vec![
        described(issuer::__path_templates, issuer::templates).named("issuer_list_templates"),
        described(issuer::__path_create_offer, issuer::create_offer).named("issuer_create_offer"),
        described(issuer::__path_offers, issuer::offers).named("issuer_list_offers"),
        described(issuer::__path_offer, issuer::offer).named("issuer_get_offer"),
        described(issuer::__path_credentials, issuer::credentials).named("issuer_list_credentials"),
        described(issuer::__path_credential, issuer::credential).named("issuer_get_credential"),
        described(issuer::__path_set_status, issuer::set_status).named("issuer_set_status"),
        described(issuer::__path_delegate, issuer::delegate).named("issuer_create_delegation"),
        described(issuer::__path_delegations, issuer::delegations).named("issuer_list_delegations"),
        described(
            issuer::__path_withdraw_delegation,
            issuer::withdraw_delegation,
        )
        .named("issuer_withdraw_delegation"),
    ]
}

/// The verifier's API, for the operator's programs.
pub fn verifier() -> Vec<Route> {
    vec![
        described(verifier::__path_create, verifier::create).named("verifier_create_request"),
        described(verifier::__path_list, verifier::list).named("verifier_list_requests"),
        described(verifier::__path_recheck, verifier::recheck).named("verifier_recheck_request"),
        described(verifier::__path_revoke, verifier::revoke).named("verifier_revoke_credential"),
        described(verifier::__path_verify, verifier::verify).named("verifier_verify_credential"),
    ]
}

/// The verifier's API for programs that wait for a verdict.
pub fn verifier_waits() -> Vec<Route> {
    vec![described(verifier::__path_one, verifier::one).named("verifier_get_request")]
}

/// The verifier's event streams, for pages and programs that follow a request.
pub fn verifier_streams() -> Vec<Route> {
    vec![
        described(verifier::__path_events, verifier::events).named("verifier_follow_request"),
        get("/verifier/view/{id}/events", verifier::events),
    ]
}

/// Registration and sign-in of wallets, for programs.
pub fn wallet_door() -> Vec<Route> {
    vec![
        described(wallet::__path_register, wallet::register).named("wallet_register"),
        described(wallet::__path_sign_in, wallet::sign_in).named("wallet_sign_in"),
    ]
}

/// Invitations to wallets, for the operator's programs.
pub fn invitations() -> Vec<Route> {
    vec![described(wallet::__path_invite, wallet::invite).named("wallet_create_invitation")]
}

/// A person's wallet API, for their programs.
pub fn wallet() -> Vec<Route> {
    vec![
        described(wallet::__path_sign_out, wallet::sign_out).named("wallet_sign_out"),
        described(wallet::__path_preview_offer, wallet::preview_offer)
            .named("wallet_preview_offer")
            .abroad(),
        described(wallet::__path_accept_offer, wallet::accept_offer)
            .named("wallet_accept_offer")
            .abroad(),
        described(wallet::__path_preview_request, wallet::preview_request)
            .named("wallet_preview_request")
            .abroad(),
        described(wallet::__path_answer_request, wallet::answer_request)
            .named("wallet_answer_request")
            .abroad(),
        described(wallet::__path_decline_request, wallet::decline_request)
            .named("wallet_decline_request")
            .abroad(),
        described(wallet::__path_cards, wallet::cards).named("wallet_list_cards"),
        described(wallet::__path_card, wallet::card)
            .named("wallet_get_card")
            .abroad(),
        described(wallet::__path_delete_card, wallet::delete_card).named("wallet_delete_card"),
        described(wallet::__path_history, wallet::history).named("wallet_list_history"),
        described(wallet::__path_keys, wallet::keys).named("wallet_list_keys"),
        described(wallet::__path_create_key, wallet::create_key).named("wallet_create_key"),
        described(wallet::__path_dids, wallet::dids).named("wallet_list_dids"),
        described(wallet::__path_create_did, wallet::create_did).named("wallet_create_did"),
    ]
}

/// The registry's API, for the operator's programs.
pub fn registry() -> Vec<Route> {
    vec![
        described(registry::__path_status, registry::status).named("registry_get_status"),
        described(registry::__path_node, registry::node).named("registry_get_node"),
        described(registry::__path_clock, registry::clock).named("registry_get_clock"),
        described(registry::__path_confirm_clock, registry::confirm_clock)
            .named("registry_confirm_clock"),
        described(registry::__path_entries, registry::entries).named("registry_list_entries"),
        described(registry::__path_history, registry::history).named("registry_list_history"),
        post("/registry/transactions", registry::submit)
            .gives(
                "application/json",
                "Submits a signed transaction; submitting it again returns its first receipt.",
            )
            .named("registry_submit_transaction")
            .tag("registry")
            .by("docs/registry-objects.md")
            .takes("application/cbor"),
    ]
}
