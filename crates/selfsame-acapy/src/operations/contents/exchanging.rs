//! Credentials and proofs.

use crate::operation::{
    AdminOperation, LIST, QueryParameter, delete, get, number, post, tagged, text,
};
use crate::operations::issuing::first as first_issuing;
use crate::operations::proving::first as first_proving;
use crate::operations::{bulk, credential_types, credentials, issuing, proving, single_use};

/// The parameters of a list of exchanges.
const OF_EXCHANGES: [QueryParameter; 4] = [
    text("connection_id"),
    text("thread_id"),
    text("role"),
    text("state"),
];

/// Issuing, version 2.0.
pub fn issuing_credentials() -> Vec<AdminOperation> {
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
            get("/issue-credential-2.0/records", issuing::list::<2>)
                .does("The exchanges")
                .asks(&OF_EXCHANGES)
                .asks(&LIST),
            get(
                "/issue-credential-2.0/records/{cred_ex_id}",
                issuing::show::<2>,
            )
            .does("An exchange"),
            delete(
                "/issue-credential-2.0/records/{cred_ex_id}",
                issuing::remove::<2>,
            )
            .does("Remove an exchange"),
            post(
                "/issue-credential-2.0/records/{cred_ex_id}/issue",
                issuing::issue::<2>,
            )
            .does("Issue what was requested"),
            post(
                "/issue-credential-2.0/records/{cred_ex_id}/problem-report",
                issuing::report::<2>,
            )
            .does("End an exchange"),
            post(
                "/issue-credential-2.0/records/{cred_ex_id}/send-offer",
                issuing::offer,
            )
            .does("Answer a proposal with an offer"),
            post(
                "/issue-credential-2.0/records/{cred_ex_id}/send-request",
                issuing::request::<2>,
            )
            .does("Request what was offered"),
            post(
                "/issue-credential-2.0/records/{cred_ex_id}/store",
                issuing::store::<2>,
            )
            .does("Keep the credential"),
        ],
    )
}

/// Presenting, version 2.0.
pub fn presenting_proofs() -> Vec<AdminOperation> {
    tagged(
        "present-proof v2.0",
        vec![
            post("/present-proof-2.0/create-request", proving::create_request)
                .does("Make a request for an invitation"),
            post("/present-proof-2.0/send-proposal", proving::send_proposal)
                .does("Propose to its verifier what to prove"),
            post("/present-proof-2.0/send-request", proving::send_request).does("Request a proof"),
            get("/present-proof-2.0/records", proving::list::<2>)
                .does("The exchanges")
                .asks(&OF_EXCHANGES)
                .asks(&LIST),
            get(
                "/present-proof-2.0/records/{pres_ex_id}",
                proving::show::<2>,
            )
            .does("An exchange"),
            delete(
                "/present-proof-2.0/records/{pres_ex_id}",
                proving::remove::<2>,
            )
            .does("Remove an exchange"),
            get(
                "/present-proof-2.0/records/{pres_ex_id}/credentials",
                proving::credentials::<2>,
            )
            .does("The credentials that can answer the request")
            .asks(&OF_MATCHES),
            post(
                "/present-proof-2.0/records/{pres_ex_id}/problem-report",
                proving::report::<2>,
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
                proving::verify::<2>,
            )
            .does("Verify what was presented"),
        ],
    )
}

/// Issuing, version 1.0.
pub fn issuing_first() -> Vec<AdminOperation> {
    let beginning = vec![
        post("/issue-credential/create", first_issuing::create)
            .does("Make an offer for an invitation; the credential is issued on request"),
        post(
            "/issue-credential/create-offer",
            first_issuing::create_offer,
        )
        .does("Make an offer for an invitation"),
        post("/issue-credential/send", first_issuing::send)
            .does("Offer a credential, and issue it on request"),
        post("/issue-credential/send-offer", first_issuing::send_offer).does("Offer a credential"),
        post(
            "/issue-credential/send-proposal",
            first_issuing::send_proposal,
        )
        .does("Propose a credential to its issuer"),
        get("/issue-credential/records", issuing::list::<1>)
            .does("The exchanges")
            .asks(&OF_EXCHANGES)
            .asks(&LIST),
    ];
    let steps = vec![
        get("/issue-credential/records/{cred_ex_id}", issuing::show::<1>).does("An exchange"),
        delete(
            "/issue-credential/records/{cred_ex_id}",
            issuing::remove::<1>,
        )
        .does("Remove an exchange"),
        post(
            "/issue-credential/records/{cred_ex_id}/issue",
            issuing::issue::<1>,
        )
        .does("Issue what was requested"),
        post(
            "/issue-credential/records/{cred_ex_id}/problem-report",
            issuing::report::<1>,
        )
        .does("End an exchange"),
        post(
            "/issue-credential/records/{cred_ex_id}/send-offer",
            first_issuing::offer,
        )
        .does("Answer a proposal with an offer"),
        post(
            "/issue-credential/records/{cred_ex_id}/send-request",
            issuing::request::<1>,
        )
        .does("Request what was offered"),
        post(
            "/issue-credential/records/{cred_ex_id}/store",
            issuing::store::<1>,
        )
        .does("Keep the credential"),
    ];
    tagged("issue-credential v1.0", [beginning, steps].concat())
}

/// The parameters of a search for credentials that can answer a request.
const OF_MATCHES: [QueryParameter; 6] = [
    number("count"),
    number("start"),
    number("limit"),
    number("offset"),
    text("referent"),
    text("extra_query"),
];

/// Presenting, version 1.0.
pub fn presenting_first() -> Vec<AdminOperation> {
    let beginning = vec![
        post(
            "/present-proof/create-request",
            first_proving::create_request,
        )
        .does("Make a request for an invitation"),
        post("/present-proof/send-proposal", first_proving::send_proposal)
            .does("Propose to its verifier what to prove"),
        post("/present-proof/send-request", first_proving::send_request).does("Request a proof"),
        get("/present-proof/records", proving::list::<1>)
            .does("The exchanges")
            .asks(&OF_EXCHANGES)
            .asks(&LIST),
    ];
    let steps = vec![
        get("/present-proof/records/{pres_ex_id}", proving::show::<1>).does("An exchange"),
        delete("/present-proof/records/{pres_ex_id}", proving::remove::<1>)
            .does("Remove an exchange"),
        get(
            "/present-proof/records/{pres_ex_id}/credentials",
            proving::credentials::<1>,
        )
        .does("The credentials that can answer the request")
        .asks(&OF_MATCHES),
        post(
            "/present-proof/records/{pres_ex_id}/problem-report",
            proving::report::<1>,
        )
        .does("End an exchange"),
        post(
            "/present-proof/records/{pres_ex_id}/send-presentation",
            first_proving::present,
        )
        .does("Present a proof"),
        post(
            "/present-proof/records/{pres_ex_id}/send-request",
            first_proving::request,
        )
        .does("Answer a proposal with a request"),
        post(
            "/present-proof/records/{pres_ex_id}/verify-presentation",
            proving::verify::<1>,
        )
        .does("Verify what was presented"),
    ];
    tagged("present-proof v1.0", [beginning, steps].concat())
}

/// What the agent holds.
pub fn credentials() -> Vec<AdminOperation> {
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

/// Orders of many credentials, which are this agent's own.
pub fn issuing_in_bulk() -> Vec<AdminOperation> {
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

/// Credentials of the organisation's types, which are this agent's own.
pub fn issuing_types() -> Vec<AdminOperation> {
    tagged(
        "issue-credential v2.0",
        vec![
            get("/credential-types/{type_id}", credential_types::show)
                .does("What the registry has of a type of the organisation"),
            post("/credential-types/{type_id}/send", credential_types::send)
                .does("Offer a credential of a type, and issue it on request"),
        ],
    )
}

/// Credentials that can be used once, which are this agent's own.
pub fn using_up() -> Vec<AdminOperation> {
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
