//! The place of each crate of the faces, the program and development.

use super::{ASIDE, Place, place};

/// The layers of ARCHITECTURE.md above the use cases.
pub const UPPER: &[Place] = &[
    Place {
        // A sentence needs the reason alone.
        not: &[
            "selfsame-store",
            "selfsame-net",
            "selfsame-accounts",
            "selfsame-core",
            "selfsame-ledger",
            "selfsame-openid",
            "selfsame-wallet",
            "selfsame-app",
        ],
        ..place("selfsame-catalogue", 4)
    },
    Place {
        beside: &["selfsame-catalogue"],
        // It takes the router, the origin, the limits and the handshake as values, so that it can serve other faces.
        not: &[
            "selfsame-store",
            "selfsame-net",
            "selfsame-accounts",
            "selfsame-ledger",
            "selfsame-app",
            "selfsame-tls-io",
        ],
        ..place("selfsame-http", 4)
    },
    Place {
        beside: &["selfsame-catalogue", "selfsame-http"],
        // It takes the instance by a trait, and shows nothing to people.
        not: &[
            "selfsame-store",
            "selfsame-net",
            "selfsame-accounts",
            "selfsame-operators",
            "selfsame-wallet",
            "selfsame-app",
        ],
        ..place("selfsame-endpoints", 4)
    },
    Place {
        beside: &["selfsame-catalogue"],
        // As selfsame-pages, which puts the frame around what it makes.
        not: &["selfsame-store", "selfsame-net", "selfsame-book-role"],
        ..place("selfsame-book-pages", 4)
    },
    Place {
        beside: &[
            "selfsame-book-pages",
            "selfsame-catalogue",
            "selfsame-endpoints",
            "selfsame-http",
            "selfsame-pages",
        ],
        // The server gives it the book of the organisation that was called.
        not: &[
            "selfsame-store",
            "selfsame-net",
            "selfsame-core",
            "selfsame-app",
        ],
        ..place("selfsame-book-ui", 4)
    },
    Place {
        beside: &["selfsame-http"],
        // The server gives it the provider of the organisation that was called.
        not: &[
            "selfsame-store",
            "selfsame-net",
            "selfsame-core",
            "selfsame-app",
        ],
        ..place("selfsame-oidc-endpoints", 4)
    },
    Place {
        beside: &["selfsame-catalogue", "selfsame-http"],
        // It takes the provider and the mock identity system, and no instance.
        not: &[
            "selfsame-store",
            "selfsame-net",
            "selfsame-accounts",
            "selfsame-operators",
            "selfsame-wallet",
            "selfsame-app",
        ],
        ..place("selfsame-esignet", 4)
    },
    Place {
        beside: &["selfsame-endpoints", "selfsame-http"],
        // What its calls do is the desk's.
        not: &[
            "selfsame-store",
            "selfsame-net",
            "selfsame-core",
            "selfsame-credential",
            "selfsame-openid",
            "selfsame-app",
        ],
        ..place("selfsame-vc-api", 4)
    },
    Place {
        // A face beside the server's: who may call it is for itself to say, and it shows nothing to people.
        beside: &["selfsame-catalogue", "selfsame-http"],
        not: &["selfsame-net", "selfsame-wallet"],
        ..place("selfsame-acapy", 4)
    },
    Place {
        beside: &["selfsame-catalogue"],
        // It shows what use cases return, and calls none.
        not: &[
            "selfsame-store",
            "selfsame-net",
            "selfsame-accounts",
            "selfsame-app",
        ],
        ..place("selfsame-pages", 4)
    },
    Place {
        beside: &["selfsame-catalogue"],
        // As selfsame-pages, which puts the frame around what it makes.
        not: &["selfsame-store", "selfsame-net", "selfsame-agent"],
        ..place("selfsame-agent-pages", 4)
    },
    Place {
        beside: &["selfsame-catalogue"],
        // As selfsame-pages, which puts the frame around what it makes.
        not: &["selfsame-store", "selfsame-net", "selfsame-accounts"],
        ..place("selfsame-issuer-pages", 4)
    },
    Place {
        beside: &["selfsame-catalogue"],
        // As selfsame-pages.
        not: &["selfsame-store", "selfsame-net", "selfsame-accounts"],
        ..place("selfsame-sign-in-pages", 4)
    },
    Place {
        beside: &[
            "selfsame-catalogue",
            "selfsame-http",
            "selfsame-oidc-endpoints",
            "selfsame-pages",
            "selfsame-sign-in-pages",
        ],
        // It takes the instance by traits, so that the way down stays short.
        not: &["selfsame-store", "selfsame-net", "selfsame-app"],
        ..place("selfsame-sign-in-ui", 4)
    },
    Place {
        beside: &["selfsame-http", "selfsame-pages", "selfsame-sign-in-pages"],
        // It calls a provider by its addresses alone, which can be another's too.
        not: &["selfsame-store", "selfsame-sign-in", "selfsame-app"],
        ..place("selfsame-sample", 4)
    },
    Place {
        beside: &[
            "selfsame-agent-pages",
            "selfsame-catalogue",
            "selfsame-http",
            "selfsame-pages",
        ],
        // It takes the instance by a trait, so that the way down stays short. Of the store it takes a tenant's name.
        not: &["selfsame-net", "selfsame-accounts", "selfsame-app"],
        ..place("selfsame-agent-ui", 4)
    },
    Place {
        beside: &[
            "selfsame-catalogue",
            "selfsame-http",
            "selfsame-issuer-pages",
            "selfsame-pages",
        ],
        // It takes the issuer of the organisation that was called as a value, so that the way down stays short.
        not: &[
            "selfsame-store",
            "selfsame-net",
            "selfsame-accounts",
            "selfsame-app",
        ],
        ..place("selfsame-issuer-ui", 4)
    },
    Place {
        beside: &["selfsame-catalogue", "selfsame-http", "selfsame-pages"],
        // It takes the verifier that was called, and the wallet of a person, as values.
        not: &[
            "selfsame-store",
            "selfsame-net",
            "selfsame-accounts",
            "selfsame-app",
        ],
        ..place("selfsame-dc-api-ui", 4)
    },
    Place {
        beside: &["selfsame-agent-pages", "selfsame-http", "selfsame-pages"],
        // It takes the flows of the organisation that was called as a value.
        not: &[
            "selfsame-store",
            "selfsame-net",
            "selfsame-accounts",
            "selfsame-app",
        ],
        ..place("selfsame-wire-ui", 4)
    },
    Place {
        beside: &["selfsame-http", "selfsame-pages"],
        // It takes the webhooks of the organisation that was called as a value.
        not: &[
            "selfsame-store",
            "selfsame-net",
            "selfsame-accounts",
            "selfsame-app",
        ],
        ..place("selfsame-webhooks-ui", 4)
    },
    Place {
        beside: &[
            "selfsame-agent-ui",
            "selfsame-dc-api-ui",
            "selfsame-wire-ui",
            "selfsame-issuer-ui",
            "selfsame-book-ui",
            "selfsame-catalogue",
            "selfsame-endpoints",
            "selfsame-esignet",
            "selfsame-oidc-endpoints",
            "selfsame-http",
            "selfsame-pages",
            "selfsame-sign-in-ui",
            "selfsame-vc-api",
            "selfsame-webhooks-ui",
        ],
        not: &["selfsame-store", "selfsame-net"],
        ..place("selfsame-server", 4)
    },
    Place {
        beside: &["selfsame-catalogue"],
        not: &["selfsame-app"],
        ..place("selfsame-abci", 4)
    },
    Place {
        beside: &["selfsame-abci", "selfsame-catalogue"],
        not: &["selfsame-app"],
        ..place("selfsame-network", 4)
    },
    Place {
        not: &["selfsame-app"],
        ..place("selfsame-proxy", 4)
    },
    Place {
        // Which hosts an instance has is told by a function.
        beside: &["selfsame-http", "selfsame-terminal"],
        not: &["selfsame-core", "selfsame-app"],
        ..place("selfsame-acme", 4)
    },
    Place {
        // The sections of the roles and of the server are structs of others.
        beside: &[
            "selfsame-catalogue",
            "selfsame-network",
            "selfsame-terminal",
        ],
        not: &[
            "selfsame-store",
            "selfsame-net",
            "selfsame-core",
            "selfsame-app",
        ],
        ..place("selfsame-settings", 4)
    },
    Place {
        // It knows no instance, so that each family of commands can stand on it.
        beside: &["selfsame-catalogue"],
        not: &[
            "selfsame-net",
            "selfsame-ledger",
            "selfsame-core",
            "selfsame-openid",
            "selfsame-wallet",
            "selfsame-app",
        ],
        ..place("selfsame-terminal", 4)
    },
    Place {
        // Its messages are files; what an instance keeps and publishes is for others.
        beside: &["selfsame-terminal"],
        not: &[
            "selfsame-net",
            "selfsame-store",
            "selfsame-core",
            "selfsame-anoncreds-wallet",
            "selfsame-app",
        ],
        ..place("selfsame-anoncreds-commands", 4)
    },
    Place {
        // Its certificates are files; those that an instance makes are its own.
        beside: &["selfsame-terminal"],
        not: &[
            "selfsame-net",
            "selfsame-store",
            "selfsame-core",
            "selfsame-app",
        ],
        ..place("selfsame-certificate-commands", 4)
    },
    Place {
        // The server and the roles are an instance's, which takes the policy for peers from here.
        beside: &["selfsame-proxy", "selfsame-terminal"],
        not: &["selfsame-openid", "selfsame-wallet"],
        ..place("selfsame-tls-commands", 4)
    },
    Place {
        // It calls an instance, and starts none.
        beside: &["selfsame-catalogue", "selfsame-http", "selfsame-terminal"],
        not: &["selfsame-store", "selfsame-ledger"],
        ..place("selfsame-api-commands", 4)
    },
    Place {
        // It calls an instance by its public API alone.
        beside: &["selfsame-bench", "selfsame-store-bench"],
        not: &["selfsame-store", "selfsame-net", "selfsame-app"],
        ..place("selfsame-wallet-bench", 4)
    },
    Place {
        not: &["selfsame-store", "selfsame-net", "selfsame-app"],
        ..place("selfsame-bench", 4)
    },
    Place {
        // It measures the store itself beside a server that stands on it.
        beside: &["selfsame-bench"],
        not: &["selfsame-net", "selfsame-app"],
        ..place("selfsame-store-bench", 4)
    },
    Place {
        // It calls agents by their admin APIs alone, which can be others' too.
        beside: &["selfsame-bench", "selfsame-store-bench"],
        not: &[
            "selfsame-store",
            "selfsame-net",
            "selfsame-app",
            "selfsame-agent",
        ],
        ..place("selfsame-aries-bench", 4)
    },
    Place {
        // It calls providers and identity systems by their addresses alone, which can be others' too.
        beside: &["selfsame-bench", "selfsame-store-bench"],
        not: &[
            "selfsame-store",
            "selfsame-net",
            "selfsame-app",
            "selfsame-sign-in",
            "selfsame-identity",
        ],
        ..place("selfsame-sign-in-bench", 4)
    },
    Place {
        // It starts the other load tests as processes, and knows of them what they write.
        beside: &["selfsame-bench"],
        not: &["selfsame-store", "selfsame-net", "selfsame-app"],
        ..place("selfsame-study", 4)
    },
    place("selfsame", 5),
    place("selfsame-testkit", ASIDE),
    place("xtask", ASIDE),
];
