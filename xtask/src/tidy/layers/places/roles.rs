//! The use cases: layer 3 of ARCHITECTURE.md.

use super::{Place, place};

/// Their places.
pub const ROLES: &[Place] = &[
    // Whatever does something tells of it here, so it takes nothing from ours, and no chain of crates is longer for it.
    place("selfsame-traces", 3),
    Place {
        beside: &["selfsame-traces"],
        ..place("selfsame-store", 3)
    },
    Place {
        beside: &["selfsame-store"],
        ..place("selfsame-postgres", 3)
    },
    Place {
        // What it indexes comes from records that it does not know. From the records' database it takes the connections.
        beside: &["selfsame-postgres"],
        not: &["selfsame-credential", "selfsame-did", "selfsame-openid4vc"],
        ..place("selfsame-book-index", 3)
    },
    Place {
        // Who shows these data needs no use case.
        beside: &["selfsame-driver"],
        ..place("selfsame-book-view", 3)
    },
    Place {
        beside: &[
            // Its organisation's agent holds AnonCreds credentials; how it presents them is the app's to say.
            "selfsame-agent-view",
            "selfsame-anoncreds-wallet",
            "selfsame-book-index",
            "selfsame-book-view",
            "selfsame-core",
            "selfsame-driver",
            "selfsame-openid-view",
            "selfsame-store",
            "selfsame-types",
            // A book is a holder too: it opens the requests of verifiers as the wallet does.
            "selfsame-holder",
            "selfsame-webhooks",
        ],
        not: &["selfsame-tls", "selfsame-proof", "selfsame-anoncreds"],
        ..place("selfsame-book-role", 3)
    },
    Place {
        // Both sides of one exchange: the verifier, and any holder. Who agrees is for the holder.
        beside: &[
            "selfsame-core",
            "selfsame-driver",
            "selfsame-holder",
            "selfsame-openid",
        ],
        not: &["selfsame-tls", "selfsame-proof", "selfsame-anoncreds"],
        ..place("selfsame-dc-api-role", 3)
    },
    place("selfsame-anoncreds-roles", 3),
    Place {
        // What a tenant publishes and keeps of AnonCreds; the registry is behind a trait of the core.
        beside: &[
            "selfsame-anoncreds-roles",
            "selfsame-core",
            "selfsame-driver",
            "selfsame-net",
            "selfsame-store",
        ],
        not: &[
            "selfsame-openid4vc",
            "selfsame-tls",
            "selfsame-proof",
            "selfsame-didcomm",
        ],
        ..place("selfsame-anoncreds-wallet", 3)
    },
    // Of ours it takes the cryptography alone; where records go is for others to say.
    Place {
        not: &["selfsame-credential", "selfsame-anoncreds", "selfsame-did"],
        ..place("selfsame-askar", 3)
    },
    place("selfsame-tls-io", 3),
    Place {
        beside: &["selfsame-traces"],
        not: &["selfsame-tls", "selfsame-registry"],
        ..place("selfsame-net", 3)
    },
    Place {
        beside: &["selfsame-store", "selfsame-traces"],
        ..place("selfsame-driver", 3)
    },
    Place {
        // Which key is for what is for others to say.
        beside: &["selfsame-driver"],
        not: &["selfsame-credential", "selfsame-did", "selfsame-openid4vc"],
        ..place("selfsame-pkcs11", 3)
    },
    Place {
        beside: &["selfsame-driver", "selfsame-store"],
        not: &["selfsame-net", "selfsame-credential", "selfsame-openid4vc"],
        ..place("selfsame-accounts", 3)
    },
    Place {
        // Who shows these data needs no ledger.
        beside: &["selfsame-driver"],
        not: &["selfsame-registry", "selfsame-proof", "selfsame-did"],
        ..place("selfsame-ledger-view", 3)
    },
    Place {
        beside: &[
            "selfsame-driver",
            "selfsame-ledger-view",
            "selfsame-net",
            "selfsame-store",
        ],
        not: &["selfsame-credential", "selfsame-openid4vc"],
        ..place("selfsame-ledger", 3)
    },
    Place {
        beside: &["selfsame-driver", "selfsame-store"],
        not: &[
            "selfsame-net",
            "selfsame-oauth",
            "selfsame-openid4vc",
            "selfsame-registry",
            "selfsame-tls",
        ],
        ..place("selfsame-types", 3)
    },
    Place {
        // A registry is a trait here, and a protocol family is a role's.
        beside: &[
            "selfsame-driver",
            "selfsame-store",
            "selfsame-net",
            "selfsame-traces",
        ],
        not: &["selfsame-openid4vc", "selfsame-tls", "selfsame-proof"],
        ..place("selfsame-core", 3)
    },
    Place {
        // Whom an instance trusts to attest wallets; what the wallets are given is for the roles.
        beside: &["selfsame-driver", "selfsame-store"],
        not: &[
            "selfsame-net",
            "selfsame-credential",
            "selfsame-openid4vc",
            "selfsame-tls",
        ],
        ..place("selfsame-attester", 3)
    },
    Place {
        // How messages reach peers; what they say is for the agent. Its tests alone have a network, and several back ends.
        beside: &[
            "selfsame-core",
            "selfsame-driver",
            "selfsame-net",
            "selfsame-postgres",
            "selfsame-store",
        ],
        not: &[
            "selfsame-openid4vc",
            "selfsame-tls",
            "selfsame-proof",
            "selfsame-anoncreds",
        ],
        ..place("selfsame-mediation", 3)
    },
    Place {
        beside: &["selfsame-driver"], // Who shows a record needs no store.
        not: &["selfsame-openid4vc", "selfsame-tls", "selfsame-proof"],
        ..place("selfsame-agent-view", 3)
    },
    Place {
        // A role beside that of OpenID4VC; the registry is behind a trait of the core. Its tests alone have a network.
        beside: &[
            "selfsame-agent-view",
            "selfsame-anoncreds-wallet",
            "selfsame-core",
            "selfsame-driver",
            "selfsame-mediation",
            "selfsame-net",
            "selfsame-store",
        ],
        not: &["selfsame-openid4vc", "selfsame-tls", "selfsame-proof"],
        ..place("selfsame-agent", 3)
    },
    Place {
        beside: &[
            "selfsame-agent",
            "selfsame-anoncreds-wallet",
            "selfsame-core",
            "selfsame-driver",
            "selfsame-store",
        ],
        not: &["selfsame-openid4vc", "selfsame-tls", "selfsame-proof"],
        ..place("selfsame-bulk", 3)
    },
    Place {
        // Records. Who may use them is known behind a trait of its own.
        beside: &["selfsame-core", "selfsame-driver", "selfsame-store"],
        not: &["selfsame-openid4vc", "selfsame-tls", "selfsame-proof"],
        ..place("selfsame-remote-wallet", 3)
    },
    Place {
        // It judges what the verifier has verified, and offers what the issuer issues.
        beside: &[
            "selfsame-core",
            "selfsame-driver",
            "selfsame-openid-view",
            "selfsame-store",
            "selfsame-types",
        ],
        not: &["selfsame-openid4vc", "selfsame-tls", "selfsame-proof"],
        ..place("selfsame-applications", 3)
    },
    Place {
        // Who shows these data needs no use case.
        beside: &["selfsame-driver"],
        not: &["selfsame-credential", "selfsame-did", "selfsame-openid4vc"],
        ..place("selfsame-issuing-view", 3)
    },
    Place {
        // It offers what the issuer issues. Of the network it takes the mail server.
        beside: &[
            "selfsame-core",
            "selfsame-driver",
            "selfsame-issuing-view",
            "selfsame-net",
            "selfsame-openid",
            "selfsame-store",
            "selfsame-types",
        ],
        not: &["selfsame-openid4vc", "selfsame-tls", "selfsame-proof"],
        ..place("selfsame-issuing-lists", 3)
    },
    Place {
        // The connections of agents are behind a trait of its own.
        beside: &[
            "selfsame-anoncreds-wallet",
            "selfsame-core",
            "selfsame-driver",
            "selfsame-mediation",
            "selfsame-store",
        ],
        not: &["selfsame-openid4vc", "selfsame-tls", "selfsame-proof"],
        ..place("selfsame-endorsement", 3)
    },
    Place {
        // Keys and one record: the roles that sign with it, and whom others trust, are above.
        beside: &["selfsame-driver", "selfsame-store"],
        not: &["selfsame-openid4vc", "selfsame-tls", "selfsame-proof"],
        ..place("selfsame-document-signer", 3)
    },
    Place {
        // Data that faces and roles share, which are above.
        beside: &["selfsame-driver"],
        not: &["selfsame-openid4vc", "selfsame-tls", "selfsame-proof"],
        ..place("selfsame-openid-view", 3)
    },
    Place {
        // What a verifier asks for, as data; who asks is above.
        beside: &["selfsame-driver", "selfsame-openid-view", "selfsame-types"],
        not: &["selfsame-tls", "selfsame-proof"],
        ..place("selfsame-asked", 3)
    },
    Place {
        // What a verifier asks for, as data; requests are the verifier's.
        beside: &[
            "selfsame-asked",
            "selfsame-core",
            "selfsame-driver",
            "selfsame-openid",
            "selfsame-openid-view",
            "selfsame-store",
            "selfsame-types",
        ],
        not: &["selfsame-tls", "selfsame-proof"],
        ..place("selfsame-saved-requests", 3)
    },
    Place {
        // Data that faces and the wallet share, which are above.
        beside: &[
            "selfsame-accounts",
            "selfsame-core",
            "selfsame-driver",
            "selfsame-openid-view",
        ],
        not: &["selfsame-tls", "selfsame-proof", "selfsame-registry"],
        ..place("selfsame-wallet-view", 3)
    },
    Place {
        // Records and decisions; how keys are proven and credentials made is above.
        beside: &["selfsame-driver", "selfsame-store"],
        not: &[
            "selfsame-credential",
            "selfsame-did",
            "selfsame-openid4vc",
            "selfsame-tls",
        ],
        ..place("selfsame-approvals", 3)
    },
    Place {
        // The roles of organisations; what people own is in the wallet.
        beside: &[
            "selfsame-approvals",
            "selfsame-attester",
            "selfsame-core",
            "selfsame-document-signer",
            "selfsame-driver",
            "selfsame-openid-view",
            "selfsame-store",
            "selfsame-types",
        ],
        not: &["selfsame-tls", "selfsame-proof"],
        ..place("selfsame-openid", 3)
    },
    Place {
        // Documents alone: what is offered and requested by a protocol is the roles'.
        beside: &[
            "selfsame-core",
            "selfsame-driver",
            "selfsame-openid",
            "selfsame-store",
        ],
        not: &[
            "selfsame-net",
            "selfsame-openid4vc",
            "selfsame-registry",
            "selfsame-tls",
        ],
        ..place("selfsame-w3c", 3)
    },
    Place {
        // Of AnonCreds it takes the wallet and the W3C form; the mathematics are below both.
        beside: &[
            "selfsame-anoncreds-wallet",
            "selfsame-core",
            "selfsame-driver",
            "selfsame-mediation",
            "selfsame-openid",
            "selfsame-store",
        ],
        not: &["selfsame-tls", "selfsame-proof", "selfsame-anoncreds"],
        ..place("selfsame-dif", 3)
    },
    Place {
        // Who knows people is behind its seam.
        beside: &[
            "selfsame-attester",
            "selfsame-core",
            "selfsame-driver",
            "selfsame-net",
            "selfsame-store",
            // Images of logos.
            "selfsame-types",
        ],
        not: &["selfsame-openid4vc", "selfsame-registry", "selfsame-tls"],
        ..place("selfsame-sign-in", 3)
    },
    Place {
        // It answers a sign-in, and begins none.
        beside: &[
            "selfsame-accounts",
            "selfsame-driver",
            "selfsame-net",
            "selfsame-sign-in",
            "selfsame-store",
        ],
        not: &["selfsame-credential", "selfsame-did", "selfsame-openid4vc"],
        ..place("selfsame-identity", 3)
    },
    Place {
        // What people's wallets and registers of credentials share.
        beside: &[
            "selfsame-core",
            "selfsame-driver",
            "selfsame-net",
            "selfsame-store",
            "selfsame-wire",
        ],
        not: &["selfsame-tls", "selfsame-proof", "selfsame-registry"],
        ..place("selfsame-holder", 3)
    },
    Place {
        beside: &[
            "selfsame-attester",
            "selfsame-accounts",
            "selfsame-core",
            "selfsame-driver",
            "selfsame-holder",
            "selfsame-store",
            "selfsame-net",
            "selfsame-openid-view",
            "selfsame-types",
            "selfsame-card-index",
            "selfsame-wallet-view",
            "selfsame-wire",
        ],
        not: &["selfsame-tls", "selfsame-proof", "selfsame-registry"],
        ..place("selfsame-wallet", 3)
    },
    Place {
        beside: &[
            "selfsame-accounts",
            "selfsame-core",
            "selfsame-driver",
            "selfsame-store",
        ],
        not: &[
            "selfsame-net",
            "selfsame-credential",
            "selfsame-openid4vc",
            "selfsame-tls",
        ],
        ..place("selfsame-operators", 3)
    },
    Place {
        beside: &["selfsame-core", "selfsame-driver", "selfsame-store"],
        not: &[
            "selfsame-net",
            "selfsame-credential",
            "selfsame-openid4vc",
            "selfsame-tls",
        ],
        ..place("selfsame-audit", 3)
    },
    Place {
        // What a card is, is for the wallet.
        beside: &["selfsame-driver", "selfsame-store"],
        not: &[
            "selfsame-net",
            "selfsame-credential",
            "selfsame-openid4vc",
            "selfsame-tls",
        ],
        ..place("selfsame-card-index", 3)
    },
    Place {
        // It takes bytes as they went over the wire, and needs no protocol.
        beside: &["selfsame-driver", "selfsame-store"],
        not: &[
            "selfsame-net",
            "selfsame-credential",
            "selfsame-openid4vc",
            "selfsame-tls",
        ],
        ..place("selfsame-wire", 3)
    },
    Place {
        // It reads events, whatever tells them.
        beside: &[
            "selfsame-core",
            "selfsame-driver",
            "selfsame-store",
            "selfsame-net",
            "selfsame-traces",
        ],
        not: &["selfsame-credential", "selfsame-openid4vc", "selfsame-tls"],
        ..place("selfsame-webhooks", 3)
    },
    Place {
        // It works on records, and starts no instance.
        beside: &[
            "selfsame-anoncreds-wallet",
            "selfsame-askar",
            "selfsame-audit",
            // What the instance keeps of a book follows from the book's records.
            "selfsame-book-role",
            "selfsame-core",
            "selfsame-driver",
            "selfsame-postgres",
            "selfsame-store",
            "selfsame-webhooks",
        ],
        not: &["selfsame-net", "selfsame-openid4vc", "selfsame-tls"],
        ..place("selfsame-moving", 3)
    },
    Place {
        beside: &[
            "selfsame-asked",
            "selfsame-attester",
            "selfsame-accounts",
            "selfsame-agent",
            "selfsame-anoncreds-wallet",
            "selfsame-approvals",
            "selfsame-audit",
            "selfsame-book-index",
            "selfsame-book-role",
            "selfsame-core",
            "selfsame-dif",
            "selfsame-driver",
            "selfsame-endorsement",
            "selfsame-identity",
            "selfsame-issuing-lists",
            "selfsame-ledger",
            "selfsame-mediation",
            "selfsame-applications",
            "selfsame-openid",
            "selfsame-operators",
            "selfsame-remote-wallet",
            "selfsame-sign-in",
            "selfsame-store",
            "selfsame-net",
            "selfsame-tls-io",
            // Its tests alone take the roles themselves.
            "selfsame-anoncreds-roles",
            "selfsame-dc-api-role",
            "selfsame-anoncreds-wallet",
            "selfsame-traces",
            "selfsame-saved-requests",
            "selfsame-types",
            "selfsame-wallet",
            "selfsame-webhooks",
            "selfsame-wire",
        ],
        not: &["selfsame-dc-api-role"],
        ..place("selfsame-app", 3)
    },
];
