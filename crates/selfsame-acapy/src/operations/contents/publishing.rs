//! What an issuer publishes and revokes.

use crate::operation::{AdminOperation, QueryParameter, flag, get, post, tagged, text};
use crate::operations::{registries, revocation, schemas, transactions};

/// The parameters of a list of what the agent has published.
const OF_PUBLISHED: [QueryParameter; 6] = [
    text("cred_def_id"),
    text("issuer_did"),
    text("schema_id"),
    text("schema_issuer_did"),
    text("schema_name"),
    text("schema_version"),
];

/// The parameters of a list of what the agent has published, in the words of AnonCreds.
const OF_ANONCREDS: [QueryParameter; 5] = [
    text("issuer_id"),
    text("schema_id"),
    text("schema_issuer_id"),
    text("schema_name"),
    text("schema_version"),
];

/// The parameters of what can be published through an endorser.
const THROUGH_ENDORSER: [QueryParameter; 2] =
    [text("conn_id"), flag("create_transaction_for_endorser")];

/// Schemas and credential definitions.
pub fn publishing() -> Vec<AdminOperation> {
    let schemas = vec![
        post("/schemas", schemas::create)
            .does("Publish a schema")
            .asks(&THROUGH_ENDORSER),
        get("/schemas/created", schemas::created)
            .does("The schemas that the agent has published")
            .asks(&OF_PUBLISHED),
        get("/schemas/{schema_id}", schemas::show).does("A schema of anybody"),
        post("/schemas/{schema_id}/write_record", schemas::show)
            .does("A schema of anybody; its record was written when it was published"),
    ];
    let definitions = vec![
        post("/credential-definitions", schemas::create_definition)
            .does("Publish a credential definition")
            .asks(&THROUGH_ENDORSER),
        get(
            "/credential-definitions/created",
            schemas::created_definitions,
        )
        .does("The credential definitions that the agent has published")
        .asks(&OF_PUBLISHED),
        get(
            "/credential-definitions/{cred_def_id}",
            schemas::show_definition,
        )
        .does("A credential definition of anybody"),
        post(
            "/credential-definitions/{cred_def_id}/write_record",
            schemas::show_definition,
        )
        .does("A credential definition; its record was written when it was published"),
    ];
    [
        tagged("schema", schemas),
        tagged("credential-definition", definitions),
    ]
    .concat()
}

/// The same, in the words of AnonCreds.
pub fn publishing_anoncreds() -> Vec<AdminOperation> {
    let schemas = vec![
        post("/anoncreds/schema", schemas::create_anoncreds).does("Publish a schema"),
        get("/anoncreds/schema/{schema_id}", schemas::show_anoncreds).does("A schema of anybody"),
        get("/anoncreds/schemas", schemas::created)
            .does("The schemas that the agent has published")
            .asks(&OF_ANONCREDS),
    ];
    let definitions = vec![
        post(
            "/anoncreds/credential-definition",
            schemas::create_anoncreds_definition,
        )
        .does("Publish a credential definition"),
        get(
            "/anoncreds/credential-definition/{cred_def_id}",
            schemas::show_anoncreds_definition,
        )
        .does("A credential definition of anybody"),
        get(
            "/anoncreds/credential-definitions",
            schemas::created_definitions,
        )
        .does("The credential definitions that the agent has published")
        .asks(&OF_ANONCREDS),
    ];
    let registries = vec![
        post(
            "/anoncreds/revocation-registry-definition",
            registries::create,
        )
        .does("Publish a revocation registry beside those that are kept"),
    ];
    [
        tagged("AnonCreds - Schemas", schemas),
        tagged("AnonCreds - Credential Definitions", definitions),
        tagged("AnonCreds - Revocation", registries),
    ]
    .concat()
}

/// Transactions that need an endorser.
pub fn endorsing() -> Vec<AdminOperation> {
    let by_id = "/transactions/{tran_id}";
    tagged(
        "endorse-transaction",
        vec![
            get("/transactions", transactions::list).does("The transactions of both sides"),
            get(by_id, transactions::show).does("A transaction"),
            post("/transactions/create-request", transactions::request)
                .does("Ask the endorser, as the author")
                .asks(&[text("tran_id")]),
            post("/transactions/{tran_id}/endorse", transactions::endorse)
                .does("Endorse, as the endorser")
                .asks(&[text("endorser_did")]),
            post("/transactions/{tran_id}/refuse", transactions::refuse)
                .does("Refuse, as the endorser"),
            post("/transactions/{tran_id}/cancel", transactions::cancel)
                .does("Take a request back, as the author"),
            // ACA-Py's address has the singular.
            post("/transaction/{tran_id}/resend", transactions::resend)
                .does("Ask again, as the author"),
            post("/transactions/{tran_id}/resend", transactions::resend)
                .does("Ask again, as the author"),
            post("/transactions/{tran_id}/write", transactions::write)
                .does("Write an endorsed transaction, as the author"),
            post(
                "/transactions/{conn_id}/set-endorser-role",
                transactions::set_role,
            )
            .does("Say which side the agent is on a connection")
            .asks(&[text("transaction_my_job")]),
            post(
                "/transactions/{conn_id}/set-endorser-info",
                transactions::set_info,
            )
            .does("Say who the endorser at the other end of a connection is")
            .asks(&[text("endorser_did"), text("endorser_name")]),
        ],
    )
}

/// Revocation.
pub fn revoking() -> Vec<AdminOperation> {
    tagged(
        "revocation",
        vec![
            post("/revocation/revoke", revocation::revoke).does("Revoke a credential"),
            post("/revocation/publish-revocations", revocation::publish)
                .does("Publish pending revocations"),
            post("/revocation/clear-pending-revocations", revocation::clear)
                .does("Take back pending revocations"),
            get("/revocation/credential-record", revocation::record)
                .does("An issued credential")
                .asks(&[text("cred_ex_id"), text("rev_reg_id"), text("cred_rev_id")]),
            get("/revocation/registries/created", revocation::created)
                .does("The revocation registries that the agent keeps")
                .asks(&[text("cred_def_id"), text("state")]),
            get("/revocation/registry/{rev_reg_id}", revocation::show).does("A registry"),
            get(
                "/revocation/registry/{rev_reg_id}/issued",
                revocation::issued,
            )
            .does("The number of credentials that have a place in a registry"),
            get(
                "/revocation/registry/{rev_reg_id}/issued/details",
                revocation::issued_details,
            )
            .does("The credentials that have a place in a registry"),
            get(
                "/revocation/registry/{rev_reg_id}/difference",
                revocation::difference,
            )
            .does("How the ledger's state of a registry differs from the agent's, and why"),
            get(
                "/revocation/active-registry/{cred_def_id}",
                revocation::active,
            )
            .does("The registry in which the next credential gets its place"),
            post(
                "/revocation/active-registry/{cred_def_id}/rotate",
                revocation::rotate,
            )
            .does("Begin other registries"),
        ],
    )
}
