//! The table of contents: every operation of the admin API, with its description.

mod bulk;
mod connection;
mod credentials;
mod exchange;
mod issuing;
mod mediation;
mod messaging;
mod multitenancy;
mod proving;
mod revocation;
mod schemas;
mod server;
mod single_use;
mod wallet;

use crate::operation::{
    AdminOperation, LIST, QueryParameter, delete, flag, get, number, post, put, tagged, text,
};
use crate::settings::AdminSettings;

/// The operations of an agent with these settings.
pub fn all(settings: &AdminSettings) -> Vec<AdminOperation> {
    let sub_wallets = match settings.multitenant {
        true => multitenancy(),
        false => Vec::new(),
    };
    [
        server(),
        connections(),
        messages(),
        mediating(),
        issuing_credentials(),
        issuing_in_bulk(),
        using_up(),
        presenting_proofs(),
        publishing(),
        publishing_anoncreds(),
        credentials(),
        revoking(),
        wallet(),
        ledger(),
        sub_wallets,
    ]
    .concat()
}

fn server() -> Vec<AdminOperation> {
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

fn using_up() -> Vec<AdminOperation> {
    tagged(
        "single use",
        vec![
            post(
                "/present-proof-2.0/records/{pres_ex_id}/use-up",
                single_use::use_up,
            )
            .does("Use up the credential that was shown, or revoke it for its issuer"),
            post("/single-use/delegations", single_use::delegate)
                .does("Let another DID use up or revoke credentials of a definition"),
        ],
    )
}

fn issuing_in_bulk() -> Vec<AdminOperation> {
    tagged(
        "issue-credential v2.0",
        vec![
            post("/issue-credential-2.0/bulk", bulk::give)
                .does("Issue a credential for each of many rows"),
            get("/issue-credential-2.0/bulk", bulk::list).does("The newest orders of many rows"),
            get("/issue-credential-2.0/bulk/{bulk_id}", bulk::show)
                .does("How far an order of many rows is"),
            get("/issue-credential-2.0/bulk/{bulk_id}/rows", bulk::rows)
                .does("The rows of an order, each with its result")
                .asks(&[text("state"), number("offset"), number("limit")]),
            delete("/issue-credential-2.0/bulk/{bulk_id}", bulk::cancel)
                .does("Begin no further row of an order"),
        ],
    )
}

fn connections() -> Vec<AdminOperation> {
    tagged(
        "connection",
        vec![
            get("/connections", connection::list)
                .does("The connections")
                .asks(&[
                    text("alias"),
                    text("connection_protocol"),
                    text("invitation_key"),
                    text("invitation_msg_id"),
                    text("my_did"),
                    text("state"),
                    text("their_did"),
                    text("their_public_did"),
                    text("their_role"),
                ])
                .asks(&LIST),
            post(
                "/connections/create-invitation",
                connection::create_invitation,
            )
            .does("Make an invitation of connections 1.0")
            .asks(&[
                text("alias"),
                flag("auto_accept"),
                flag("multi_use"),
                flag("public"),
            ]),
            post(
                "/connections/receive-invitation",
                connection::receive_invitation,
            )
            .does("Take an invitation of connections 1.0")
            .asks(&[text("alias"), flag("auto_accept"), text("mediation_id")]),
            get("/connections/{conn_id}", connection::show).does("A connection"),
            delete("/connections/{conn_id}", connection::remove).does("Remove a connection"),
            post(
                "/connections/{conn_id}/accept-invitation",
                connection::accept,
            )
            .does("Send the request for an invitation")
            .asks(&[text("my_endpoint"), text("my_label"), text("mediation_id")]),
            post("/connections/{conn_id}/accept-request", connection::accept)
                .does("Answer a request")
                .asks(&[text("my_endpoint")]),
            get("/connections/{conn_id}/endpoints", connection::endpoints)
                .does("The endpoints of both sides"),
            get("/connections/{conn_id}/metadata", connection::metadata)
                .does("What was noted of a connection")
                .asks(&[text("key")]),
            post("/connections/{conn_id}/metadata", connection::note)
                .does("Note something of a connection"),
        ],
    )
}

fn messages() -> Vec<AdminOperation> {
    let ping = post("/connections/{conn_id}/send-ping", messaging::ping);
    let message = post("/connections/{conn_id}/send-message", messaging::send);
    [
        tagged("trustping", vec![ping.does("Send a trust ping")]),
        tagged("basicmessage", vec![message.does("Send a text")]),
    ]
    .concat()
}

fn mediating() -> Vec<AdminOperation> {
    tagged(
        "mediation",
        vec![
            get("/mediation/requests", mediation::list)
                .does("The mediations that peers asked for")
                .asks(&[text("conn_id"), text("state")])
                .asks(&LIST),
            get("/mediation/requests/{mediation_id}", mediation::show).does("A mediation"),
            delete("/mediation/requests/{mediation_id}", mediation::remove)
                .does("Remove a mediation"),
            post("/mediation/requests/{mediation_id}/grant", mediation::grant)
                .does("Grant mediation"),
            post("/mediation/requests/{mediation_id}/deny", mediation::deny)
                .does("Deny mediation, or end it"),
            get("/mediation/keylists", mediation::keylists)
                .does("The keys whose messages are taken")
                .asks(&[text("conn_id"), text("role")]),
        ],
    )
}

/// The parameters of a list of exchanges.
const OF_EXCHANGES: [QueryParameter; 4] = [
    text("connection_id"),
    text("thread_id"),
    text("role"),
    text("state"),
];

fn issuing_credentials() -> Vec<AdminOperation> {
    tagged(
        "issue-credential v2.0",
        vec![
            post("/issue-credential-2.0/create", issuing::create)
                .does("Make an offer for an invitation; the credential is issued on request"),
            post("/issue-credential-2.0/create-offer", issuing::create_offer)
                .does("Make an offer for an invitation"),
            post("/issue-credential-2.0/send", issuing::send)
                .does("Offer a credential, and issue it on request"),
            post("/issue-credential-2.0/send-offer", issuing::send_offer)
                .does("Offer a credential"),
            post(
                "/issue-credential-2.0/send-proposal",
                issuing::send_proposal,
            )
            .does("Propose a credential to its issuer"),
            post(
                "/issue-credential-2.0/send-request",
                issuing::send_request_free,
            )
            .does("Refused: no format here begins with a request"),
            get("/issue-credential-2.0/records", issuing::list)
                .does("The exchanges")
                .asks(&OF_EXCHANGES)
                .asks(&LIST),
            get("/issue-credential-2.0/records/{cred_ex_id}", issuing::show).does("An exchange"),
            delete(
                "/issue-credential-2.0/records/{cred_ex_id}",
                issuing::remove,
            )
            .does("Remove an exchange"),
            post(
                "/issue-credential-2.0/records/{cred_ex_id}/issue",
                issuing::issue,
            )
            .does("Issue what was requested"),
            post(
                "/issue-credential-2.0/records/{cred_ex_id}/problem-report",
                issuing::report,
            )
            .does("End an exchange"),
            post(
                "/issue-credential-2.0/records/{cred_ex_id}/send-offer",
                issuing::offer,
            )
            .does("Answer a proposal with an offer"),
            post(
                "/issue-credential-2.0/records/{cred_ex_id}/send-request",
                issuing::request,
            )
            .does("Request what was offered"),
            post(
                "/issue-credential-2.0/records/{cred_ex_id}/store",
                issuing::store,
            )
            .does("Keep the credential"),
        ],
    )
}

fn presenting_proofs() -> Vec<AdminOperation> {
    tagged(
        "present-proof v2.0",
        vec![
            post("/present-proof-2.0/create-request", proving::create_request)
                .does("Make a request for an invitation"),
            post("/present-proof-2.0/send-proposal", proving::send_proposal)
                .does("Propose to its verifier what to prove"),
            post("/present-proof-2.0/send-request", proving::send_request).does("Request a proof"),
            get("/present-proof-2.0/records", proving::list)
                .does("The exchanges")
                .asks(&OF_EXCHANGES)
                .asks(&LIST),
            get("/present-proof-2.0/records/{pres_ex_id}", proving::show).does("An exchange"),
            delete("/present-proof-2.0/records/{pres_ex_id}", proving::remove)
                .does("Remove an exchange"),
            get(
                "/present-proof-2.0/records/{pres_ex_id}/credentials",
                proving::credentials,
            )
            .does("The credentials that can answer the request")
            .asks(&[
                number("count"),
                number("start"),
                number("limit"),
                number("offset"),
                text("referent"),
                text("extra_query"),
            ]),
            post(
                "/present-proof-2.0/records/{pres_ex_id}/problem-report",
                proving::report,
            )
            .does("End an exchange"),
            post(
                "/present-proof-2.0/records/{pres_ex_id}/send-presentation",
                proving::present,
            )
            .does("Present a proof"),
            post(
                "/present-proof-2.0/records/{pres_ex_id}/send-request",
                proving::request,
            )
            .does("Answer a proposal with a request"),
            post(
                "/present-proof-2.0/records/{pres_ex_id}/verify-presentation",
                proving::verify,
            )
            .does("Verify what was presented"),
        ],
    )
}

fn revoking() -> Vec<AdminOperation> {
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

fn wallet() -> Vec<AdminOperation> {
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
                .does("Name the public DID, which is that of the organisation")
                .asks(&[text("did")]),
        ],
    )
}

fn ledger() -> Vec<AdminOperation> {
    tagged(
        "ledger",
        vec![
            get("/ledger/did-verkey", wallet::verkey)
                .does("The key of a DID of anybody")
                .asks(&[text("did")]),
            get("/ledger/did-endpoint", wallet::endpoint)
                .does("The endpoint of a DID of anybody")
                .asks(&[text("did"), text("endpoint_type")]),
            get("/ledger/taa", wallet::agreement).does("The agreement of the network's authors"),
            post("/ledger/taa/accept", wallet::accept_agreement)
                .does("Accept the agreement of the network's authors"),
        ],
    )
}

fn multitenancy() -> Vec<AdminOperation> {
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

/// The parameters of a list of what the agent has published.
const OF_PUBLISHED: [QueryParameter; 6] = [
    text("cred_def_id"),
    text("issuer_did"),
    text("schema_id"),
    text("schema_issuer_did"),
    text("schema_name"),
    text("schema_version"),
];

fn publishing() -> Vec<AdminOperation> {
    let schemas = vec![
        post("/schemas", schemas::create).does("Publish a schema"),
        get("/schemas/created", schemas::created)
            .does("The schemas that the agent has published")
            .asks(&OF_PUBLISHED),
        get("/schemas/{schema_id}", schemas::show).does("A schema of anybody"),
        post("/schemas/{schema_id}/write_record", schemas::show)
            .does("A schema of anybody; its record was written when it was published"),
    ];
    let definitions = vec![
        post("/credential-definitions", schemas::create_definition)
            .does("Publish a credential definition"),
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

/// The parameters of a list of what the agent has published, in the words of AnonCreds.
const OF_ANONCREDS: [QueryParameter; 5] = [
    text("issuer_id"),
    text("schema_id"),
    text("schema_issuer_id"),
    text("schema_name"),
    text("schema_version"),
];

fn publishing_anoncreds() -> Vec<AdminOperation> {
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
    [
        tagged("AnonCreds - Schemas", schemas),
        tagged("AnonCreds - Credential Definitions", definitions),
    ]
    .concat()
}

fn credentials() -> Vec<AdminOperation> {
    tagged(
        "credentials",
        vec![
            get("/credentials", credentials::list)
                .does("The credentials that the agent holds")
                .asks(&[
                    number("start"),
                    number("count"),
                    number("offset"),
                    number("limit"),
                    text("wql"),
                ]),
            get("/credential/{credential_id}", credentials::show).does("A credential"),
            delete("/credential/{credential_id}", credentials::remove).does("Remove a credential"),
            get(
                "/credential/mime-types/{credential_id}",
                credentials::mime_types,
            )
            .does("The types of a credential's attributes"),
            post("/credentials/w3c", credentials::list_w3c)
                .does("The W3C credentials that the agent holds: none"),
        ],
    )
}
