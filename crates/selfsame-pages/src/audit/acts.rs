//! What acts are, in words: from the summaries of the API, and for forms from those of the same acts there.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde_json::Value;

/// Forms and views of pages, and the operation of the API that does the same.
pub const SAME: [(&str, &str); 65] = [
    ("POST /issuer/book/policy", "PUT /api/book/policy"),
    (
        "POST /verifier/view/{id}/browser",
        "POST /api/verifier/requests/{id}/browser",
    ),
    ("POST /issuer/lists", "POST /api/issuer/lists"),
    (
        "POST /issuer/lists/{id}/issue",
        "POST /api/issuer/lists/{id}/issue",
    ),
    (
        "POST /issuer/lists/{id}/cancel",
        "POST /api/issuer/lists/{id}/cancel",
    ),
    (
        "POST /issuer/issued/status",
        "POST /api/issuer/credentials/status",
    ),
    (
        "POST /issuer/approvals/{id}/approve",
        "POST /api/issuer/approvals/{id}/approve",
    ),
    (
        "POST /issuer/approvals/{id}/refuse",
        "POST /api/issuer/approvals/{id}/refuse",
    ),
    (
        "GET /issuer/approvals/{id}",
        "GET /api/issuer/approvals/{id}",
    ),
    ("POST /issuer/new", "POST /api/issuer/offers"),
    ("POST /issuer/applications", "POST /api/issuer/applications"),
    (
        "POST /issuer/applications/{id}",
        "POST /api/issuer/applications/{id}/offer",
    ),
    (
        "POST /issuer/issued/{credential}/status",
        "PUT /api/issuer/credentials/{id}/status",
    ),
    ("POST /issuer/delegations", "POST /api/issuer/delegations"),
    (
        "POST /issuer/delegations/{id}/withdraw",
        "DELETE /api/issuer/delegations/{id}",
    ),
    ("POST /issuer/book/subscribers", "POST /hooks/register"),
    (
        "POST /issuer/book/subscribers/{username}/remove",
        "DELETE /api/book/subscribers/{username}",
    ),
    (
        "POST /issuer/book/subscribers/{username}/subscriptions/{id}/enabled",
        "PATCH /api/book/subscribers/{username}/subscriptions/{id}",
    ),
    (
        "POST /issuer/book/subscribers/{username}/subscriptions/{id}/end",
        "DELETE /api/book/subscribers/{username}/subscriptions/{id}",
    ),
    (
        "POST /issuer/book/refused/{id}/enter",
        "POST /api/book/refused/{credential_id}/enter",
    ),
    (
        "POST /issuer/book/refused/{id}/drop",
        "DELETE /api/book/refused/{credential_id}",
    ),
    ("POST /types/view/{id}/book", "PUT /api/types/{id}/book"),
    ("POST /verifier/new", "POST /api/verifier/requests"),
    (
        "POST /verifier/view/{id}/recheck",
        "POST /api/verifier/requests/{id}/recheck",
    ),
    (
        "POST /verifier/view/{id}/revoke",
        "POST /api/verifier/requests/{id}/revoke",
    ),
    ("GET /verifier/view/{id}", "GET /api/verifier/requests/{id}"),
    (
        "POST /verifier/saved/new",
        "POST /api/verifier/saved-requests",
    ),
    (
        "POST /verifier/saved/{name}",
        "PUT /api/verifier/saved-requests/{name}",
    ),
    (
        "POST /verifier/saved/{name}/open",
        "POST /api/verifier/saved-requests/{name}/open",
    ),
    (
        "POST /verifier/saved/{name}/delete",
        "DELETE /api/verifier/saved-requests/{name}",
    ),
    ("POST /operator/invitations", "POST /api/wallet/invitations"),
    ("POST /people/invitations", "POST /api/people/invitations"),
    ("POST /people/view/{id}/roles", "PUT /api/people/{id}/roles"),
    ("POST /people/view/{id}/remove", "DELETE /api/people/{id}"),
    ("POST /people/keys", "POST /api/keys"),
    ("POST /people/keys/{id}/revoke", "DELETE /api/keys/{id}"),
    ("POST /organisations", "POST /api/organisations"),
    (
        "POST /organisations/{name}",
        "PATCH /api/organisations/{name}",
    ),
    (
        "POST /organisations/{name}/erase",
        "POST /api/organisations/{name}/erase",
    ),
    ("POST /wire/switch", "PUT /api/wire"),
    ("POST /wire/erase", "DELETE /api/wire"),
    (
        "POST /wire/sign-ins/{id}/erase",
        "DELETE /api/wire/sign-ins/{id}",
    ),
    (
        "POST /issuer/wire/{id}/erase",
        "DELETE /api/issuer/wire/{id}",
    ),
    (
        "POST /verifier/wire/{id}/erase",
        "DELETE /api/verifier/wire/{id}",
    ),
    ("GET /organisation/export", "GET /api/export"),
    ("POST /organisation/look", "PATCH /api/look"),
    ("POST /trust", "POST /api/trust"),
    ("POST /trust/{id}/remove", "DELETE /api/trust/{id}"),
    ("POST /types/new", "POST /api/types"),
    ("POST /types/edit/{id}", "PUT /api/types/{id}"),
    ("POST /types/import", "POST /api/types/import"),
    (
        "POST /types/view/{id}/publish",
        "POST /api/types/{id}/publish",
    ),
    (
        "POST /types/view/{id}/retire",
        "POST /api/types/{id}/retire",
    ),
    ("POST /types/view/{id}/delete", "DELETE /api/types/{id}"),
    ("POST /webhooks", "POST /api/webhooks"),
    ("POST /webhooks/{id}", "PATCH /api/webhooks/{id}"),
    ("POST /webhooks/{id}/enabled", "PATCH /api/webhooks/{id}"),
    (
        "POST /webhooks/{id}/rotate",
        "POST /api/webhooks/{id}/rotate",
    ),
    ("POST /webhooks/{id}/test", "POST /api/webhooks/{id}/test"),
    (
        "POST /webhooks/{id}/replay",
        "POST /api/webhooks/{id}/replay",
    ),
    ("POST /webhooks/{id}/remove", "DELETE /api/webhooks/{id}"),
    (
        "POST /webhooks/{id}/deliveries/{delivery}/resend",
        "POST /api/webhooks/{id}/deliveries/{delivery}/resend",
    ),
    ("POST /clients", "POST /api/sign-in/clients"),
    (
        "POST /clients/{id}/secret",
        "POST /api/sign-in/clients/{client_id}/secret",
    ),
    (
        "POST /clients/{id}/remove",
        "DELETE /api/sign-in/clients/{client_id}",
    ),
];
/// Acts that the API does not have.
pub const OWN: [(&str, &str); 32] = [
    (
        "POST /issuer/issued",
        "Asks whether the statuses of several credentials shall change",
    ),
    (
        "POST /agent/issue",
        "Offers a credential to a peer of the agent",
    ),
    ("POST /agent/ask", "Asks a peer of the agent for a proof"),
    (
        "POST /agent/invitations",
        "Makes an invitation to the agent",
    ),
    (
        "POST /agent/invitations/{id}/remove",
        "Removes an invitation to the agent",
    ),
    (
        "POST /agent/received",
        "Accepts an invitation for the agent",
    ),
    (
        "POST /agent/connections/{id}/accept",
        "Goes on with a connection of the agent",
    ),
    (
        "POST /agent/connections/{id}/ping",
        "Sends a trust ping to a peer of the agent",
    ),
    (
        "POST /agent/connections/{id}/message",
        "Sends a message to a peer of the agent",
    ),
    (
        "POST /agent/connections/{id}/features",
        "Asks a peer of the agent what it can do",
    ),
    (
        "POST /agent/connections/{id}/remove",
        "Removes a connection of the agent",
    ),
    (
        "GET /agent/proofs/{id}",
        "Shows what a peer presented to the agent",
    ),
    (
        "POST /agent/registry/revoke",
        "Revokes a credential that the agent issued",
    ),
    (
        "POST /agent/registry/publish",
        "Publishes pending revocations of the agent",
    ),
    (
        "POST /agent/registry/clear",
        "Takes back pending revocations of the agent",
    ),
    (
        "GET /verifier/view/{id}/result",
        "Shows the result of a request",
    ),
    ("POST /operator/sign-in", "Signs in"),
    ("POST /operator/passkey", "Signs in with a passkey"),
    ("POST /operator/account/passkeys", "Begins to add a passkey"),
    ("POST /operator/account/passkeys/add", "Adds a passkey"),
    (
        "POST /operator/account/passkeys/{id}/name",
        "Renames a passkey",
    ),
    (
        "POST /operator/account/passkeys/{id}/remove",
        "Removes a passkey",
    ),
    ("GET /operator/sign-in", "Signs in by a link"),
    ("POST /operator/invited", "Accepts an invitation"),
    ("POST /operator/sign-out", "Signs out"),
    (
        "DELEGATE /issuer/delegations",
        "Let its own verifier use up credentials of a type",
    ),
    (
        "ERASE /organisations/{name}",
        "Removed what an erased organisation had of people",
    ),
    (
        "CLOSE /organisations/{name}",
        "Stopped serving what an erased organisation had published",
    ),
    (
        "DESTROY /organisations/{name}",
        "Destroyed the keys and all records of an erased organisation",
    ),
    (
        "EXPORT /organisations/{name}",
        "Wrote all records and keys of an organisation into a file, for another instance",
    ),
    (
        "IMPORT /organisations/{name}",
        "Took an organisation in with all its records and keys, from another instance",
    ),
    (
        "IMPORT /wallets",
        "Took the records and keys of another agent's wallet in",
    ),
];

/// What acts of the instance itself begin with.
pub const OF_THE_INSTANCE: [&str; 6] = [
    "DELEGATE ",
    "ERASE ",
    "CLOSE ",
    "DESTROY ",
    "EXPORT ",
    "IMPORT ",
];

/// What each act is, in words, by the API's description. It is read once.
pub fn all(description: &'static str) -> &'static BTreeMap<String, String> {
    static WORDS: OnceLock<BTreeMap<String, String>> = OnceLock::new();
    WORDS.get_or_init(|| read(description))
}

fn read(description: &str) -> BTreeMap<String, String> {
    let description: Value = serde_json::from_str(description).unwrap_or_default();
    let paths = description.get("paths").and_then(Value::as_object);
    let mut words = BTreeMap::new();
    for (path, operations) in paths.into_iter().flatten() {
        for (method, operation) in operations.as_object().into_iter().flatten() {
            if let Some(summary) = operation.get("summary").and_then(Value::as_str) {
                let act = format!("{} {path}", method.to_uppercase());
                words.insert(act, first_sentence(summary));
            }
        }
    }
    for (form, same) in SAME {
        if let Some(known) = words.get(same).cloned() {
            words.insert(form.to_owned(), known);
        }
    }
    let own = OWN.map(|(act, known)| (act.to_owned(), known.to_owned()));
    words.extend(own);
    words
}

fn first_sentence(summary: &str) -> String {
    let first = summary.split_once(". ").map_or(summary, |(first, _)| first);
    first.trim_end_matches('.').replace('\n', " ")
}
