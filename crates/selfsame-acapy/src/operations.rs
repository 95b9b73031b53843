//! The table of contents: every operation of the admin API, with its description.

mod bulk;
mod connection;
mod contents;
mod credential_types;
mod credentials;
mod did_exchange;
mod did_rotate;
mod discovering;
mod exchange;
mod issuing;
mod ledger;
mod mediation;
mod messaging;
mod multitenancy;
mod out_of_band;
mod proving;
mod registries;
mod revocation;
mod schemas;
mod server;
mod single_use;
mod transactions;
mod wallet;

use contents::{connecting, exchanging, instance, publishing};

use crate::operation::AdminOperation;
use crate::settings::AdminSettings;

/// The operations of an agent with these settings.
pub fn all(settings: &AdminSettings) -> Vec<AdminOperation> {
    let sub_wallets = match settings.multitenant {
        true => instance::multitenancy(),
        false => Vec::new(),
    };
    [
        instance::server(),
        connecting::connections(),
        connecting::out_of_band(),
        connecting::did_exchange(),
        connecting::rotation_and_features(),
        connecting::messages(),
        connecting::mediating(),
        exchanging::issuing_credentials(),
        exchanging::issuing_in_bulk(),
        exchanging::issuing_types(),
        exchanging::presenting_proofs(),
        exchanging::using_up(),
        exchanging::issuing_first(),
        exchanging::presenting_first(),
        publishing::publishing(),
        publishing::publishing_anoncreds(),
        exchanging::credentials(),
        publishing::revoking(),
        publishing::endorsing(),
        instance::wallet(),
        instance::ledger(),
        sub_wallets,
    ]
    .concat()
}
