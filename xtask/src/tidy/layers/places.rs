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
    place("selfsame-did", 1),
    place("selfsame-status", 1),
    Place {
        beside: &["selfsame-did", "selfsame-proof", "selfsame-status"],
        ..place("selfsame-credential", 1)
    },
    place("selfsame-anoncreds", 1),
    place("selfsame-proof", 1),
    place("selfsame-oauth", 2),
    Place {
        // Passkeys belong to accounts; of credentials they know nothing.
        not: &["selfsame-credential", "selfsame-anoncreds", "selfsame-did"],
        ..place("selfsame-passkeys", 2)
    },
    Place {
        beside: &["selfsame-oauth"],
        ..place("selfsame-openid4vc", 2)
    },
    Place {
        // A provider signs tokens about people and knows no credential.
        beside: &["selfsame-oauth"],
        not: &["selfsame-credential", "selfsame-did", "selfsame-proof"],
        ..place("selfsame-oidc", 2)
    },
    // Whatever wants a second factor takes it, and it needs no protocol.
    place("selfsame-otp", 2),
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
        // The roles of organisations; what people own is in the wallet.
        beside: &[
            "selfsame-core",
            "selfsame-driver",
            "selfsame-store",
            "selfsame-types",
        ],
        not: &["selfsame-tls", "selfsame-proof"],
        ..place("selfsame-openid", 3)
    },
    Place {
        beside: &[
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
            "selfsame-core",
            "selfsame-driver",
            "selfsame-net",
            "selfsame-store",
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
            "selfsame-accounts",
            "selfsame-core",
            "selfsame-driver",
            "selfsame-store",
            "selfsame-net",
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
            "selfsame-accounts",
            "selfsame-agent",
            "selfsame-anoncreds-wallet",
            "selfsame-audit",
            "selfsame-core",
            "selfsame-dif",
            "selfsame-driver",
            "selfsame-endorsement",
            "selfsame-identity",
            "selfsame-ledger",
            "selfsame-mediation",
            "selfsame-openid",
            "selfsame-operators",
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
