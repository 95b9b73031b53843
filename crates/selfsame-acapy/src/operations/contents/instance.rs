//! The process, its sub-wallets, its DIDs and its ledger.

use crate::operation::{AdminOperation, LIST, delete, get, patch, post, put, tagged, text};
use crate::operations::{ledger, multitenancy, server, wallet};

/// The process and its description.
pub fn server() -> Vec<AdminOperation> {
    tagged(
        "server",
        vec![
            get("/status", server::status).does("The agent's status"),
            get("/status/live", server::live)
                .does("Whether the process is alive")
                .open(),
            get("/status/ready", server::ready)
                .does("Whether requests are served")
                .open(),
            get("/status/config", server::config).does("The agent's settings"),
            get("/shutdown", server::shutdown).does("Refused: an agent stops with its instance"),
            get("/plugins", server::plugins).does("The protocols' modules"),
            get("/api/doc", server::listed).does("This list").open(),
            get("/api/docs/swagger.json", server::swagger)
                .does("The description of the API for programs")
                .open(),
        ],
    )
}

/// The agent's DIDs.
pub fn wallet() -> Vec<AdminOperation> {
    tagged(
        "wallet",
        vec![
            get("/wallet/did", wallet::list)
                .does("The agent's DIDs")
                .asks(&[
                    text("did"),
                    text("verkey"),
                    text("posture"),
                    text("method"),
                    text("key_type"),
                ]),
            post("/wallet/did/create", wallet::create).does("Make a key and its DID"),
            get("/wallet/did/public", wallet::public).does("The public DID"),
            post("/wallet/did/public", wallet::set_public)
                .does("Set the DID that invitations name as the public one")
                .asks(&[text("did")]),
        ],
    )
}

/// What the registry has.
pub fn ledger() -> Vec<AdminOperation> {
    tagged(
        "ledger",
        vec![
            get("/ledger/did-verkey", ledger::verkey)
                .does("The key of a DID of anybody")
                .asks(&[text("did")]),
            get("/ledger/did-endpoint", ledger::endpoint)
                .does("The endpoint of a DID of anybody")
                .asks(&[text("did"), text("endpoint_type")]),
            post("/ledger/register-nym", ledger::register)
                .does("Whether a DID is registered with a key; the agent's own is")
                .asks(&[text("did"), text("verkey"), text("alias"), text("role")]),
            get("/ledger/get-nym-role", ledger::role)
                .does("The role of a DID of anybody: each may publish in its own name")
                .asks(&[text("did")]),
            patch("/ledger/rotate-public-did-keypair", ledger::rotate_key)
                .does("Refused: the key is the organisation's"),
            get("/ledger/taa", ledger::agreement).does("The agreement of the network's authors"),
            post("/ledger/taa/accept", ledger::accept_agreement)
                .does("Accept the agreement of the network's authors"),
        ],
    )
}

/// Sub-wallets.
pub fn multitenancy() -> Vec<AdminOperation> {
    let all = tagged(
        "multitenancy",
        vec![
            post("/multitenancy/wallet", multitenancy::create).does("Create a sub-wallet"),
            get("/multitenancy/wallets", multitenancy::list)
                .does("The sub-wallets")
                .asks(&[text("wallet_name")])
                .asks(&LIST),
            get("/multitenancy/wallet/{wallet_id}", multitenancy::show).does("A sub-wallet"),
            put("/multitenancy/wallet/{wallet_id}", multitenancy::update)
                .does("Change a sub-wallet"),
            delete("/multitenancy/wallet/{wallet_id}", multitenancy::remove)
                .does("Remove a sub-wallet"),
            post(
                "/multitenancy/wallet/{wallet_id}/remove",
                multitenancy::remove,
            )
            .does("Remove a sub-wallet"),
            post(
                "/multitenancy/wallet/{wallet_id}/token",
                multitenancy::token,
            )
            .does("A new token of a sub-wallet"),
        ],
    );
    all.into_iter()
        .map(AdminOperation::of_base_wallet)
        .collect()
}
