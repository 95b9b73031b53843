//! The place of each of our crates.

mod roles;
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
    LOWER.iter().chain(roles::ROLES).chain(upper::UPPER)
}

/// The layers of ARCHITECTURE.md below the use cases.
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
    place("selfsame-status", 1),
    // What is read is for the formats: it knows no issuer and no verdict.
    place("selfsame-sd-jwt", 1),
    // A format beside the others: the table of formats has the use of it, and it knows nothing of the table.
    place("selfsame-mdoc", 1),
    // So is it with proofs in W3C's documents, which are more than credentials: keys come from the caller.
    place("selfsame-data-integrity", 1),
    Place {
        // Logs of DID documents; the method's name and its URLs are in the table of methods. Each entry has a proof.
        beside: &["selfsame-data-integrity", "selfsame-did"],
        ..place("selfsame-webvh", 1)
    },
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
        // Rules about facts. The messages that these are read from are for the roles.
        not: &["selfsame-did", "selfsame-proof", "selfsame-status"],
        ..place("selfsame-haip", 2)
    },
    Place {
        // The same requests and answers, brought by a browser.
        beside: &["selfsame-openid4vc", "selfsame-openid4vc-messages"],
        ..place("selfsame-dc-api", 2)
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
];
