//! Files that others read than the package whose folder they are in: vectors, documents, and modules that several
//! test executables share. `cargo xtask tidy` checks that every reader is named.

/// Who reads the files at a path.
pub struct Row {
    /// A file; or a folder, if it ends with `/`. The longest path that matches a file counts.
    pub path: &'static str,
    pub readers: Readers,
    pub reason: &'static str,
}

pub enum Readers {
    /// All packages, or the checks themselves.
    Everything,
    /// `PACKAGE/SUITE` is a test executable: an integration test, or `unit` for the tests in `src`, or `doc` for those
    /// in documentation. `PACKAGE` is a package's own code, which others build on. No other package reads the file;
    /// `tidy` always runs.
    These(&'static [&'static str]),
}

use Readers::{Everything, These};

const fn row(path: &'static str, readers: Readers, reason: &'static str) -> Row {
    Row {
        path,
        readers,
        reason,
    }
}

const BUILD: &str = "every package is built by it";
const DOCUMENT: &str = "a document that no test reads";
const COMPARED: &str = "a test compares the program with it";
const VECTORS: &str = "vectors of tests";
const SHARED: &str = "several tests share it";
const PINNED: &str = "tests install it, and xtask checks its hashes";

pub const ROWS: &[Row] = &[
    // What builds and checks.
    row("Cargo.toml", Everything, BUILD),
    row("Cargo.lock", Everything, BUILD),
    row("rust-toolchain.toml", Everything, BUILD),
    row(".cargo/", Everything, BUILD),
    row("clippy.toml", Everything, "every package is linted by it"),
    row("xtask/", Everything, "it decides what runs"),
    row(".gitignore", These(&[]), "no step reads it"),
    row(
        "fuzz/",
        These(&[]),
        "it is outside the workspace, and no step builds it",
    ),
    row(
        "crates/selfsame-acme/tests/server/",
        These(&["selfsame-acme/unit", "selfsame/e2e"]),
        SHARED,
    ),
    row(
        "crates/selfsame-store/tests/conformance/",
        These(&[
            "selfsame-store/conformance",
            "selfsame-postgres/conformance",
        ]),
        SHARED,
    ),
    row(
        "crates/selfsame-postgres/tests/server/",
        These(&[
            "selfsame-postgres/unit",
            "selfsame-postgres/certificates",
            "selfsame-postgres/checks",
            "selfsame-book-index/conformance",
            "selfsame-postgres/conformance",
            "selfsame-postgres/copies",
            "selfsame-postgres/erasure",
            "selfsame-postgres/faults",
            "selfsame-postgres/restores",
            "selfsame-postgres/rotation",
            "selfsame-postgres/shared",
            "selfsame-mediation/waiting",
            "selfsame-moving/askar",
            "selfsame-moving/moves",
            "selfsame/bench",
            "selfsame/clocks",
            "selfsame/e2e",
            "selfsame/patroni",
            "selfsame/sign_in",
        ]),
        SHARED,
    ),
    // What operators install.
    row(
        "deploy/",
        These(&["selfsame/e2e", "xtask/unit"]),
        "packages are made of it, and tests check its settings",
    ),
    // Documents.
    row("LICENSE", These(&[]), DOCUMENT),
    row("ARCHITECTURE.md", These(&[]), DOCUMENT),
    row("CHANGELOG.md", These(&[]), DOCUMENT),
    row("CONTRIBUTING.md", These(&[]), DOCUMENT),
    row("SECURITY.md", These(&[]), DOCUMENT),
    row("README.md", These(&["selfsame/readme"]), COMPARED),
    row("docs/", These(&[]), DOCUMENT),
    row(
        "docs/anoncreds.md",
        These(&["selfsame/anoncreds"]),
        COMPARED,
    ),
    row(
        "docs/examples/",
        These(&["selfsame/browser", "xtask/unit"]),
        "a test serves it to a browser",
    ),
    row(
        "docs/aries-protocols.md",
        These(&["selfsame-aries/protocols"]),
        COMPARED,
    ),
    row(
        "docs/examples/patroni.yml",
        These(&["selfsame/patroni"]),
        "tests start servers with it",
    ),
    row("docs/benchmarks.md", These(&["selfsame/bench"]), COMPARED),
    row(
        "docs/credential-types.md",
        These(&["selfsame-types/unit"]),
        COMPARED,
    ),
    row(
        "docs/did-method.md",
        These(&["selfsame-registry/registry"]),
        COMPARED,
    ),
    row(
        "docs/high-availability.md",
        These(&["selfsame/e2e"]),
        "a test recovers a database with its settings",
    ),
    row("docs/api.md", These(&[]), DOCUMENT),
    row(
        "docs/openapi.json",
        These(&["selfsame-server/unit", "selfsame/clients"]),
        COMPARED,
    ),
    row(
        "docs/first-credential.md",
        These(&["selfsame/e2e"]),
        "its examples are run",
    ),
    row(
        "docs/guides/",
        These(&["selfsame/e2e"]),
        "their examples are run",
    ),
    row(
        "docs/upgrading.md",
        These(&["selfsame/e2e"]),
        "its examples are run",
    ),
    row("docs/resolution.md", These(&["selfsame/unit"]), COMPARED),
    row(
        "docs/reasons.md",
        These(&["selfsame-catalogue/unit"]),
        COMPARED,
    ),
    row(
        "docs/troubleshooting.md",
        These(&["selfsame-catalogue/unit"]),
        COMPARED,
    ),
    row(
        "docs/settings.md",
        These(&["selfsame/unit", "selfsame-settings/unit"]),
        COMPARED,
    ),
    row(
        "docs/tls-library.md",
        These(&["selfsame-tls-io/doc"]),
        "its examples are compiled",
    ),
    row(
        "docs/webhooks.md",
        These(&["selfsame-webhooks/documented"]),
        "its examples are run",
    ),
    // Vectors.
    row(
        "vectors/anoncreds/",
        These(&[
            "selfsame/anoncreds",
            "selfsame-anoncreds-w3c",
            "selfsame-anoncreds/samples",
            "selfsame-anoncreds/unit",
            "selfsame-registry/registry",
            "selfsame-testkit",
        ]),
        VECTORS,
    ),
    row(
        "crates/selfsame-anoncreds-wallet/tests/wallet/world.rs",
        These(&["selfsame-anoncreds-wallet/wallet", "selfsame-agent/agents"]),
        SHARED,
    ),
    row(
        "vectors/aries/",
        These(&[
            "selfsame-agent/agents",
            "selfsame-aries-v2/unit",
            "selfsame-aries/protocols",
            "selfsame-testkit",
        ]),
        VECTORS,
    ),
    row(
        "vectors/attestation/",
        These(&["selfsame-attestation/unit"]),
        VECTORS,
    ),
    row(
        "vectors/askar/",
        These(&[
            "selfsame-askar/askar",
            "selfsame-moving/askar",
            "selfsame/askar_show",
        ]),
        VECTORS,
    ),
    row(
        "vectors/data-integrity/",
        These(&[
            "selfsame-data-integrity/crossed",
            "selfsame-data-integrity/unit",
            "selfsame-testkit",
        ]),
        VECTORS,
    ),
    row(
        "vectors/dcql/",
        These(&["selfsame-openid4vc/dcql_vectors", "selfsame-testkit"]),
        VECTORS,
    ),
    row(
        "vectors/did/",
        These(&["selfsame-crypto/keys", "selfsame-did/unit"]),
        VECTORS,
    ),
    row(
        "vectors/didcomm/",
        These(&["selfsame-didcomm/peers", "selfsame-didcomm/unit"]),
        VECTORS,
    ),
    row(
        "vectors/jose/",
        These(&["selfsame-crypto/jws", "selfsame-crypto/keys"]),
        VECTORS,
    ),
    row(
        "vectors/jose/ecdh_1pu.json",
        These(&["selfsame-crypto/unit"]),
        VECTORS,
    ),
    row(
        "vectors/mdoc/",
        These(&[
            "selfsame/explain",
            "selfsame-mdoc/unit",
            "selfsame-show/unit",
            "selfsame-testkit",
        ]),
        VECTORS,
    ),
    row(
        "vectors/openid4vc/",
        These(&["selfsame-dc-api/unit", "selfsame-openid4vc/vectors"]),
        VECTORS,
    ),
    row(
        "vectors/registry/",
        These(&["selfsame-registry/registry"]),
        VECTORS,
    ),
    row(
        "vectors/sd-jwt/",
        These(&["selfsame-credential/sd_jwt_vectors", "selfsame-show/unit"]),
        VECTORS,
    ),
    row(
        "vectors/status/",
        These(&["selfsame-credential/status_vectors"]),
        VECTORS,
    ),
    row(
        "vectors/tls/",
        These(&[
            "selfsame-credential/unit",
            "selfsame-show/unit",
            "selfsame-tls/unit",
            "selfsame-testkit",
        ]),
        VECTORS,
    ),
    row(
        "vectors/vc-jwt/",
        These(&["selfsame-credential/vc_jwt_vectors", "selfsame-show/unit"]),
        VECTORS,
    ),
    row(
        "crates/selfsame-passkeys/tests/ceremonies/authenticator.rs",
        These(&[
            "selfsame-passkeys/ceremonies",
            "selfsame-accounts/passkeys",
            "selfsame-server/unit",
        ]),
        SHARED,
    ),
    row(
        "vectors/webauthn/",
        These(&["selfsame-passkeys/ceremonies", "selfsame-testkit"]),
        VECTORS,
    ),
    row(
        "crates/selfsame-proof/vectors/",
        These(&["selfsame-proof/unit", "selfsame-testkit"]),
        VECTORS,
    ),
    row(
        "crates/selfsame-registry/vectors/",
        These(&[
            "selfsame-registry/registry",
            "selfsame-registry/unit",
            "selfsame-testkit",
        ]),
        VECTORS,
    ),
    // Files beside the code.
    row(
        "crates/selfsame-abci/examples/node.rs",
        These(&["selfsame-abci/network"]),
        "the tests start it",
    ),
    row(
        "crates/selfsame-abci/oracle/",
        These(&["selfsame-abci/unit"]),
        "the engine's own rules, which ours are compared with",
    ),
    row(
        "crates/selfsame-bignum/proptest-regressions/",
        These(&["selfsame-bignum/unit"]),
        "cases that failed once",
    ),
    row(
        "crates/selfsame-anoncreds/tests/oracle/",
        These(&[
            "selfsame-anoncreds-w3c/cross",
            "selfsame-anoncreds-w3c/samples",
            "selfsame-anoncreds/cross",
            "selfsame-anoncreds/samples",
            "selfsame-anoncreds/unit",
        ]),
        SHARED,
    ),
    row(
        "crates/selfsame-anoncreds/tests/cross/dice.rs",
        These(&["selfsame-anoncreds/cross", "selfsame-anoncreds/unit"]),
        SHARED,
    ),
    row(
        "crates/selfsame-bench/openssl/",
        These(&["selfsame/bench"]),
        "the bench's end with OpenSSL",
    ),
    row(
        "crates/selfsame-askar/tests/askar/requirements.txt",
        These(&[
            "selfsame-askar/askar",
            "selfsame-moving/askar",
            "xtask/unit",
        ]),
        PINNED,
    ),
    row(
        "crates/selfsame-askar/tests/askar/wallets.py",
        These(&["selfsame-askar/askar", "selfsame-moving/askar"]),
        SHARED,
    ),
    row(
        "crates/selfsame-askar/tests/askar/writer.rs",
        These(&["selfsame-askar/askar", "selfsame-moving/askar"]),
        SHARED,
    ),
    row(
        "crates/selfsame-moving/tests/askar/requirements.txt",
        These(&[
            "selfsame/aries",
            "selfsame-didcomm/peers",
            "selfsame-moving/askar",
            "xtask/unit",
        ]),
        PINNED,
    ),
    row(
        "crates/selfsame-moving/tests/moves/home.rs",
        These(&["selfsame-moving/askar", "selfsame-moving/moves"]),
        SHARED,
    ),
    row(
        "crates/selfsame-credential/tests/package/requirements.txt",
        These(&["selfsame-credential/package", "xtask/unit"]),
        PINNED,
    ),
    row(
        "crates/selfsame/tests/clients/python/requirements.txt",
        These(&["selfsame/clients", "xtask/unit"]),
        PINNED,
    ),
    row(
        "crates/selfsame/tests/parties/python/requirements.txt",
        These(&["selfsame/parties", "xtask/unit"]),
        PINNED,
    ),
    row(
        "crates/selfsame/tests/aries/credo/requirements.txt",
        These(&["selfsame/aries", "xtask/unit"]),
        PINNED,
    ),
    row(
        "crates/selfsame-net/tests/mail/requirements.txt",
        These(&["selfsame-net/mail", "xtask/unit"]),
        PINNED,
    ),
    row(
        "crates/selfsame-didcomm/tests/peers/requirements.txt",
        These(&["selfsame-didcomm/peers", "xtask/unit"]),
        PINNED,
    ),
    row(
        "crates/selfsame-mdoc/tests/python/requirements.txt",
        These(&["selfsame-mdoc/documents", "xtask/unit"]),
        PINNED,
    ),
    row(
        "crates/selfsame-webvh/tests/python/requirements.txt",
        These(&["selfsame-webvh/logs", "xtask/unit"]),
        PINNED,
    ),
    row(
        "crates/selfsame-testkit/shared/peer.rs",
        These(&[
            "selfsame-data-integrity/crossed",
            "selfsame-mdoc/documents",
            "selfsame-server/unit",
            "selfsame-webvh/logs",
        ]),
        SHARED,
    ),
    row(
        "crates/selfsame-testkit/shared/port.rs",
        These(&[
            "selfsame-abci/network",
            "selfsame-book-index/conformance",
            "selfsame-mediation/waiting",
            "selfsame-moving/askar",
            "selfsame-moving/moves",
            "selfsame-net/mail",
            "selfsame-postgres/unit",
            "selfsame-postgres/certificates",
            "selfsame-postgres/checks",
            "selfsame-postgres/conformance",
            "selfsame-postgres/copies",
            "selfsame-postgres/erasure",
            "selfsame-postgres/faults",
            "selfsame-postgres/restores",
            "selfsame-postgres/rotation",
            "selfsame-postgres/shared",
            "selfsame/bench",
            "selfsame/browser",
            "selfsame/clocks",
            "selfsame/e2e",
            "selfsame/patroni",
            "selfsame/sign_in",
            "xtask/unit",
        ]),
        SHARED,
    ),
    row(
        "crates/selfsame-tls/tests/second/requirements.txt",
        These(&["selfsame-tls/unit", "xtask/unit"]),
        PINNED,
    ),
    row(
        "crates/selfsame/tests/anoncreds.transcript",
        These(&["selfsame/anoncreds"]),
        COMPARED,
    ),
    row(
        "crates/selfsame/tests/anoncreds-wrong.transcript",
        These(&["selfsame/anoncreds"]),
        COMPARED,
    ),
    row(
        "crates/selfsame/tests/browser/",
        These(&["selfsame/browser", "xtask/unit"]),
        "xtask reads the names of its tests",
    ),
    row(
        "crates/selfsame/tests/support/http.rs",
        These(&[
            "selfsame/aries",
            "selfsame/browser",
            "selfsame/clients",
            "selfsame/crash",
            "selfsame/e2e",
            "selfsame/log",
            "selfsame/network",
            "selfsame/openid4vc",
            "selfsame/parties",
            "selfsame/patroni",
            "selfsame/siege",
            "selfsame/sign_in",
            "selfsame/tls",
            "xtask/unit",
        ]),
        SHARED,
    ),
    row(
        "crates/selfsame/tests/e2e/foreign.rs",
        These(&["selfsame/e2e", "selfsame/siege"]),
        SHARED,
    ),
    row(
        "crates/selfsame/tests/e2e/rig.rs",
        These(&[
            "selfsame/e2e",
            "selfsame/network",
            "selfsame/patroni",
            "selfsame/siege",
            "selfsame/tls",
        ]),
        SHARED,
    ),
];
