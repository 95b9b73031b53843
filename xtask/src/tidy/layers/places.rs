//! The place of each of our crates.

mod upper;

/// The layer of crates that only development uses. Only tests may depend on them.
pub const ASIDE: u8 = 9;

/// A crate's place among the layers.
pub struct Place {
    pub name: &'static str,
    pub layer: u8,
    /// Crates of its own layer that it may depend on.
    pub beside: &'static [&'static str],
    /// Crates of lower layers that it must not depend on.
    pub not: &'static [&'static str],
}

const fn place(name: &'static str, layer: u8) -> Place {
    Place {
        name,
        layer,
        beside: &[],
        not: &[],
    }
}

/// The places of all crates.
pub fn places() -> impl Iterator<Item = &'static Place> {
    LOWER.iter().chain(upper::UPPER)
}

/// The layers of ARCHITECTURE.md up to the use cases.
const LOWER: &[Place] = &[
    place("selfsame-crypto", 0),
    Place {
        // Its tests alone take a hash and random numbers from there, so that the chain of crates is no longer for it.
        beside: &["selfsame-crypto"],
        not: &["selfsame-crypto"],
        ..place("selfsame-bignum", 0)
    },
    // The words of all families of credentials. It takes nothing from ours, so that no chain of crates is longer for it.
    place("selfsame-verdict", 0),
    // Bytes alone: keys and what items mean are for others.
    place("selfsame-cbor", 0),
    place("selfsame-did", 1),
    Place {
        // Logs of DID documents; the method's name and its URLs are in the table of methods.
        beside: &["selfsame-did"],
        ..place("selfsame-webvh", 1)
    },
    place("selfsame-status", 1),
    // What is read is for the formats: it knows no issuer and no verdict.
    place("selfsame-sd-jwt", 1),
    // A format beside the others: the table of formats has the use of it, and it knows nothing of the table.
    place("selfsame-mdoc", 1),
    // So is it with proofs in W3C's documents, which are more than credentials: keys come from the caller.
    place("selfsame-data-integrity", 1),
    Place {
        beside: &[
            "selfsame-data-integrity",
            "selfsame-did",
            "selfsame-mdoc",
            "selfsame-proof",
            "selfsame-sd-jwt",
            "selfsame-status",
        ],
        ..place("selfsame-credential", 1)
    },
    place("selfsame-anoncreds", 1),
    place("selfsame-book", 1),
    place("selfsame-proof", 1),
    place("selfsame-anoncreds-w3c", 2),
    place("selfsame-oauth", 2),
    Place {
        // Tokens about clients and keys; of credentials it knows nothing.
        beside: &["selfsame-oauth"],
        not: &["selfsame-credential", "selfsame-did", "selfsame-proof"],
        ..place("selfsame-attestation", 2)
    },
    Place {
        // Passkeys belong to accounts; of credentials they know nothing.
        not: &["selfsame-credential", "selfsame-anoncreds", "selfsame-did"],
        ..place("selfsame-passkeys", 2)
    },
    Place {
        // What a message says of credentials, DIDs and queries is for the sides that exchange it.
        beside: &["selfsame-oauth"],
        not: &["selfsame-credential", "selfsame-did", "selfsame-proof"],
        ..place("selfsame-openid4vc-messages", 2)
    },
    Place {
        beside: &[
            "selfsame-attestation",
            "selfsame-oauth",
            "selfsame-openid4vc-messages",
        ],
        ..place("selfsame-openid4vc", 2)
    },
    Place {
        // A provider signs tokens about people and knows no credential.
        beside: &["selfsame-oauth"],
        not: &["selfsame-credential", "selfsame-did", "selfsame-proof"],
        ..place("selfsame-oidc", 2)
    },
    Place {
        // It shows what the formats below it and the protocols beside it read. Validity is for a verifier to say.
        beside: &[
            "selfsame-aries",
            "selfsame-didcomm",
            "selfsame-openid4vc",
            "selfsame-openid4vc-messages",
        ],
        ..place("selfsame-show", 2)
    },
    // Words for a secret; what it opens is for others.
    place("selfsame-recovery", 2),
    // Tables and paper; what a column means is for others.
    place("selfsame-sheets", 2),
    // Whatever wants a second factor takes it, and it needs no protocol.
    place("selfsame-otp", 2),
    Place {
        // It judges claims that others have verified, so it needs no format.
        not: &["selfsame-credential", "selfsame-did", "selfsame-proof"],
        ..place("selfsame-prerequisites", 2)
    },
    Place {
        // What is in a message is for the protocols above it.
        not: &[
            "selfsame-credential",
            "selfsame-anoncreds",
            "selfsame-proof",
        ],
        ..place("selfsame-didcomm", 2)
    },
    Place {
        // Of credentials it knows what a step needs; what is attached are bytes.
        beside: &["selfsame-didcomm"],
        not: &["selfsame-anoncreds", "selfsame-proof", "selfsame-status"],
        ..place("selfsame-aries", 2)
    },
    Place {
        beside: &["selfsame-aries", "selfsame-didcomm"],
        not: &[
            "selfsame-anoncreds",
            "selfsame-credential",
            "selfsame-proof",
            "selfsame-status",
        ],
        ..place("selfsame-aries-v2", 2)
    },
    place("selfsame-registry", 2),
    Place {
        // A program that embeds TLS contains neither the registry nor AnonCreds; tests judge staples of a registry.
        beside: &["selfsame-registry"],
        not: &["selfsame-registry", "selfsame-anoncreds"],
        ..place("selfsame-tls", 2)
    },
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
    // Who shows these data needs no use case.
    place("selfsame-book-view", 3),
    Place {
        beside: &[
            "selfsame-book-index",
            "selfsame-book-view",
            "selfsame-core",
            "selfsame-driver",
            "selfsame-openid",
            "selfsame-store",
            "selfsame-types",
            // A book is a holder too: it opens the requests of verifiers as the wallet does.
            "selfsame-wallet",
        ],
        not: &["selfsame-tls", "selfsame-proof", "selfsame-anoncreds"],
        ..place("selfsame-book-role", 3)
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
            "selfsame-openid",
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
        // The roles of organisations; what people own is in the wallet.
        beside: &[
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
        beside: &[
            "selfsame-attester",
            "selfsame-accounts",
            "selfsame-core",
            "selfsame-driver",
            "selfsame-store",
            "selfsame-net",
            "selfsame-openid-view",
            "selfsame-types",
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
            "selfsame-attester",
            "selfsame-accounts",
            "selfsame-agent",
            "selfsame-anoncreds-wallet",
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
            "selfsame-anoncreds-wallet",
            "selfsame-traces",
            "selfsame-types",
            "selfsame-wallet",
            "selfsame-webhooks",
        ],
        ..place("selfsame-app", 3)
    },
];
