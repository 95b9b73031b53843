//! The addresses: each that a specification or a document describes, and which one.

use axum::extract::{FromRef, FromRequestParts};
use selfsame_http::route::{Route, delete, get, patch, post, put, tagged};

use crate::instance::{Instance, RolesHere};
use crate::remote_wallet::{self, RemoteWalletHere};
use crate::{hosted, issuer, registry, resolver, tails, verifier, von_network};

const JSON: &str = "application/json";
const JSON_LINES: &str = "text/jsonl";
const JWT: &str = "application/jwt";
const FORM: &str = "application/x-www-form-urlencoded";
const CBOR: &str = "application/cbor";
const TEXT: &str = "text/plain";
const BYTES: &str = "application/octet-stream";
const FILES: &str = "multipart/form-data";
const DID_DOCUMENT: &str = "application/did";
const RESOLUTION: &str = "application/did-resolution";
const DEREFERENCING: &str = "application/did-url-dereferencing";
const REQUEST_OBJECT: &str = "application/oauth-authz-req+jwt";

/// The state of a server, which gives its endpoints what they need.
pub trait ServerState: Clone + Send + Sync + 'static {}

impl<S: Clone + Send + Sync + 'static> ServerState for S {}

/// von-network's addresses, for tools that know them.
pub fn von_network<S: ServerState>() -> Vec<Route<S>>
where
    Instance: FromRef<S>,
{
    tagged(
        "von-network",
        vec![
            get("/genesis", von_network::genesis)
                .named("von_network_genesis")
                .gives(
                    TEXT,
                    "The trust root and the network's genesis, one JSON object per line.",
                )
                .by("docs/registry-pages.md"),
            get("/status", von_network::status)
                .named("von_network_status")
                .gives(
                    JSON,
                    "The status of the registry; with `validators`, also of each validator.",
                )
                .by("docs/registry-pages.md")
                .asks(&["validators?"]),
            get("/status/text", von_network::status_text)
                .named("von_network_status_text")
                .gives(TEXT, "The validators as plain text.")
                .by("docs/registry-pages.md"),
            get("/ledger/{ledger}", von_network::ledger)
                .named("von_network_ledger")
                .gives(JSON, "A page of one of Indy's ledgers.")
                .by("docs/registry-pages.md")
                .asks(&["page?", "page_size?", "query?", "type?"]),
            get("/ledger/{ledger}/text", von_network::ledger_text)
                .named("von_network_ledger_text")
                .gives(TEXT, "A page of one of Indy's ledgers as plain text.")
                .by("docs/registry-pages.md")
                .asks(&["page?", "page_size?", "query?", "type?"]),
            get("/ledger/{ledger}/{transaction}", von_network::transaction)
                .named("von_network_transaction")
                .gives(JSON, "One transaction, by its number or its hash.")
                .by("docs/registry-pages.md"),
        ],
    )
}

/// Registration of DIDs, by the operator or by anyone whom the operator lets.
pub fn von_network_writes<S: ServerState>() -> Vec<Route<S>>
where
    Instance: FromRef<S>,
{
    tagged("von-network", vec![post("/register", von_network::register::register).named("von_network_register").gives(JSON, "Registers a DID by seed or key; for the operator, or for everyone if the operator allows it.").by("docs/registry-pages.md")
    .takes(JSON)])
}

/// The rows of remote Indy wallets, for programs with an API key.
pub fn remote_wallets<S: ServerState>() -> Vec<Route<S>>
where
    RemoteWalletHere: FromRequestParts<S>,
{
    let by = |route: Route<S>| route.by("docs/remote-wallet.md");
    let routes = vec![
        post("/api/v1/api-token-auth/", remote_wallet::sign_in)
            .named("remote_wallet_sign_in")
            .gives(
                JSON,
                "The token of further calls, for the name and the secret of an API key.",
            )
            .takes(JSON),
        post("/api/v1/keyval/", remote_wallet::create)
            .named("remote_wallet_create")
            .gives(JSON, "Creates a row.")
            .takes(JSON),
        get("/api/v1/keyval/{row}/", remote_wallet::show)
            .named("remote_wallet_show")
            .gives(JSON, "A row by its number."),
        put("/api/v1/keyval/{row}/", remote_wallet::replace)
            .named("remote_wallet_replace")
            .gives(JSON, "Replaces a row, whose names stay.")
            .takes(JSON),
        patch("/api/v1/keyval/{row}/", remote_wallet::change)
            .named("remote_wallet_change")
            .gives(JSON, "Replaces members of a row, whose names stay.")
            .takes(JSON),
        delete("/api/v1/keyval/{row}/", remote_wallet::remove)
            .named("remote_wallet_remove")
            .gives(TEXT, "Removes a row."),
        get(
            "/api/v1/keyval/{wallet_name}/{item_type}/",
            remote_wallet::listed,
        )
        .named("remote_wallet_list")
        .gives(
            JSON,
            "The rows of a wallet and a type: 1,000, and a header `Link` if there are more.",
        )
        .asks(&["after?"]),
        get(
            "/api/v1/keyval/{wallet_name}/{item_type}/{item_id}/",
            remote_wallet::named,
        )
        .named("remote_wallet_find")
        .gives(
            JSON,
            "The row with these names, as a list with one row or none.",
        ),
    ];
    tagged("remote-wallet", routes.into_iter().map(by).collect())
}

/// The resolver, for anyone's programs.
pub fn resolution<S: ServerState>() -> Vec<Route<S>>
where
    Instance: FromRef<S>,
{
    tagged("resolution", vec![
        get("/1.0/identifiers/{*did}", resolver::resolve).named("resolution_resolve").abroad().gives(RESOLUTION, "Resolves a DID, or dereferences a DID URL of a linked resource; the document alone if `Accept` asks for it.").by("DID Resolution §7.1")
    .asks(&["versionId?", "versionNumber?", "versionTime?"])
    .or(&[
        DID_DOCUMENT,
        "application/did+json",
        "application/did+ld+json",
        DEREFERENCING,
    ])
    .refuses(&[RESOLUTION, DEREFERENCING]),
        get("/attester/jwks", issuer::attester).named("wallet_attester_keys").gives(JSON, "The keys of the attester of the wallet here, for issuers that trust it; 404 without a wallet.").tag("wallet").by("RFC 7517 §5"),
        get("/dids/{name}/did.json", hosted::named).named("resolution_hosted_document").gives(DID_DOCUMENT, "A did:web document that the operator hosts here.").by("did:web"),
        get("/dids/{name}/did.jsonl", hosted::log).named("resolution_hosted_log").gives(JSON_LINES, "The log of a did:webvh that the operator hosts here.").by("did:webvh v1.0"),
        get("/dids/{name}/did-witness.json", hosted::witnesses).named("resolution_hosted_witness_proofs").gives(JSON, "The proofs of the witnesses of such a log.").by("did:webvh v1.0"),
    ])
}

/// OpenID4VCI, for other people's wallets.
pub fn issuance<S: ServerState>() -> Vec<Route<S>>
where
    Instance: FromRef<S>,
    RolesHere: FromRequestParts<S>,
{
    tagged(
        "issuance",
        vec![
            get(
                "/.well-known/openid-credential-issuer/issuer",
                issuer::metadata,
            )
            .named("issuance_issuer_metadata")
            .gives(JSON, "The issuer's metadata.")
            .by("OpenID4VCI 1.0 §12.2"),
            get(
                "/.well-known/oauth-authorization-server/issuer",
                issuer::authorization_server,
            )
            .named("issuance_authorization_server_metadata")
            .gives(JSON, "The authorization server's metadata.")
            .by("RFC 8414"),
            get("/issuer/offers/{id}", issuer::offer)
                .named("issuance_offer")
                .gives(JSON, "An offer by reference; 410 once it has ended.")
                .by("OpenID4VCI 1.0 §4.1.3"),
            post("/issuer/token", issuer::token)
                .named("issuance_token")
                .gives(JSON, "Redeems a pre-authorized code.")
                .by("OpenID4VCI 1.0 §6")
                .takes(FORM),
            post("/issuer/challenge", issuer::challenge)
                .named("issuance_challenge")
                .gives(
                    JSON,
                    "A challenge for the proof that a wallet has its attested key; 404 where attestations do not count.",
                )
                .by("attestation-based client authentication, draft -07 §8"),
            post("/issuer/nonce", issuer::nonce)
                .named("issuance_nonce")
                .gives(JSON, "A nonce for proofs.")
                .by("OpenID4VCI 1.0 §7"),
            post("/issuer/credential", issuer::credential)
                .named("issuance_credential")
                .abroad_by_body()
                .gives(JSON, "Credentials, for an access token and proofs.")
                .by("OpenID4VCI 1.0 §8")
                .takes(JSON),
            post("/issuer/deferred", issuer::deferred)
                .named("issuance_deferred_credential")
                .gives(
                    JSON,
                    "Credentials that were asked for before; 202 while they are not ready.",
                )
                .by("OpenID4VCI 1.0 §9")
                .takes(JSON),
            post("/issuer/notification", issuer::notification)
                .named("issuance_notification")
                .gives(
                    JSON,
                    "Takes what a wallet says of the credentials that it got.",
                )
                .by("OpenID4VCI 1.0 §11")
                .takes(JSON),
        ],
    )
}

/// The issuer's keys, for verifiers.
pub fn issuer_keys<S: ServerState>() -> Vec<Route<S>>
where
    RolesHere: FromRequestParts<S>,
{
    tagged(
        "issuance",
        vec![
            get("/.well-known/jwt-vc-issuer/issuer", issuer::jwt_vc_issuer)
                .named("issuance_jwt_vc_issuer_metadata")
                .gives(JSON, "The keys that SD-JWT VCs are signed with.")
                .by("SD-JWT VC, JWT VC Issuer Metadata"),
            get("/issuer/authority", issuer::authority)
                .named("issuance_authority")
                .gives("application/pem-certificate-chain", "The certificate of the authority (IACA) of the issuer's mobile documents. 404 before the first of them was issued.")
                .by("ISO/IEC 18013-5 §B.1.2"),
            get("/issuer/did.json", hosted::issuer)
                .named("resolution_issuer_document")
                .gives(DID_DOCUMENT, "The issuer's did:web document.")
                .tag("resolution")
                .by("did:web"),
        ],
    )
}

/// The documents of credential types, for wallets and verifiers.
pub fn type_documents<S: ServerState>() -> Vec<Route<S>>
where
    RolesHere: FromRequestParts<S>,
{
    tagged(
        "types",
        vec![
            get("/types/{id}/{version}", issuer::type_metadata)
                .named("types_metadata")
                .gives(JSON, "The type metadata of an SD-JWT VC; its bytes never change.")
                .by("SD-JWT VC, Type Metadata"),
            get("/types/{id}/{version}/{document}", issuer::type_document)
                .named("types_document")
                .gives(
                    "application/schema+json",
                    "The JSON Schema (`schema`), the JSON-LD context (`context`), the logo or the background of a type.",
                )
                .by("docs/credential-types.md")
                .or(&["application/ld+json", "image/png", "image/jpeg", "image/webp", "image/svg+xml"]),
        ],
    )
}

/// The logo of each organisation, for wallets.
pub fn logos<S: ServerState>() -> Vec<Route<S>>
where
    RolesHere: FromRequestParts<S>,
{
    tagged(
        "organisations",
        vec![
            get("/logo/{digest}", issuer::logo)
                .named("organisations_logo")
                .gives(
                    "image/png",
                    "The organisation's logo with this SHA-256 digest; its bytes never change.",
                )
                .by("docs/organisations.md")
                .or(&["image/jpeg", "image/webp", "image/svg+xml"]),
        ],
    )
}

/// Status lists, for verifiers.
pub fn status_lists<S: ServerState>() -> Vec<Route<S>>
where
    RolesHere: FromRequestParts<S>,
{
    tagged("issuance", vec![
        get("/status/{list}", issuer::status_list).named("issuance_status_list").gives("application/statuslist+jwt", "A signed Token Status List.").by("Token Status List §8"),
        get("/status/{list}/token", issuer::w3c_token_list).named("issuance_status_list_w3c").gives("application/statuslist+jwt", "The Token Status List, signed as W3C credentials are.").by("Token Status List §8"),
        get("/status/{list}/registry", issuer::registry_token_list).named("issuance_status_list_registry").gives("application/statuslist+jwt", "The Token Status List, signed by the issuer's DID in the registry, for single-use credentials.").by("Token Status List §8"),
        get("/status/{list}/mdoc", issuer::document_list).named("issuance_status_list_mdoc").gives("application/statuslist+jwt", "The Token Status List of mobile documents, signed by the document signer; as a CWT, if the request accepts `application/statuslist+cwt` alone or rather.").by("Token Status List §8"),
        get("/status/{list}/{purpose}", issuer::bitstring_list).named("issuance_bitstring_status_list").gives(JWT, "A signed Bitstring Status List of one purpose.").by("Bitstring Status List 1.0"),
    ])
}

/// The tails files of revocation registries, at the addresses of indy-tails-server, and the proofs of issuers' keys: for
/// holders.
pub fn tails_files<S: ServerState>() -> Vec<Route<S>>
where
    Instance: FromRef<S>,
{
    tagged(
        "tails",
        vec![
            get("/tails/hash/{hash}", tails::by_hash)
                .named("tails_by_hash")
                .gives(
                    BYTES,
                    "The tails file with this hash; its bytes never change.",
                )
                .by("docs/anoncreds.md"),
            get("/tails/{*registry}", tails::of_registry)
                .named("tails_of_registry")
                .gives(BYTES, "The tails file of this revocation registry.")
                .by("docs/anoncreds.md"),
            get("/key-proofs/{hash}", tails::key_proof)
                .named("tails_key_proof")
                .gives(
                    JSON,
                    "The whole proof of an issuer's key, with the hash that its offers name.",
                )
                .by("docs/anoncreds.md"),
        ],
    )
}

/// Uploads of tails files, by those who work here.
pub fn tails_uploads<S: ServerState>() -> Vec<Route<S>>
where
    Instance: FromRef<S>,
{
    tagged(
        "tails",
        vec![
            put("/tails/hash/{hash}", tails::upload_by_hash)
                .named("tails_upload_by_hash")
                .gives(TEXT, "Keeps a tails file; its hash.")
                .by("docs/anoncreds.md")
                .takes(FILES),
            put("/tails/{*registry}", tails::upload)
                .named("tails_upload")
                .gives(
                    TEXT,
                    "Keeps the tails file of a revocation registry that the instance's registry has; its hash.",
                )
                .by("docs/anoncreds.md")
                .takes(FILES),
        ],
    )
}

/// OpenID4VP, for other people's wallets.
pub fn presentation<S: ServerState>() -> Vec<Route<S>>
where
    RolesHere: FromRequestParts<S>,
{
    tagged(
        "presentation",
        vec![
            get("/verifier/did.json", hosted::verifier)
                .named("resolution_verifier_document")
                .gives(DID_DOCUMENT, "The verifier's did:web document.")
                .tag("resolution")
                .by("did:web"),
            get("/verifier/requests/{id}", verifier::request)
                .named("presentation_get_request")
                .gives(
                    REQUEST_OBJECT,
                    "A signed request object; 410 once it has ended.",
                )
                .by("OpenID4VP 1.0 §5.10"),
            post("/verifier/requests/{id}", verifier::posted)
                .named("presentation_post_request")
                .gives(
                    REQUEST_OBJECT,
                    "A signed request object with the wallet's nonce.",
                )
                .by("OpenID4VP 1.0 §5.10")
                .takes(FORM),
        ],
    )
}

/// OpenID4VP responses, from other people's wallets.
pub fn answers<S: ServerState>() -> Vec<Route<S>>
where
    RolesHere: FromRequestParts<S>,
{
    tagged(
        "presentation",
        vec![
            post("/verifier/responses/{id}", verifier::response)
                .named("presentation_respond")
                .abroad()
                .gives(JSON, "A wallet's response.")
                .by("OpenID4VP 1.0 §8.2")
                .takes(FORM),
        ],
    )
}

/// The registry's reads, for anyone who verifies it.
pub fn registry_reads<S: ServerState>() -> Vec<Route<S>>
where
    Instance: FromRef<S>,
{
    tagged("registry", vec![
        get("/registry/genesis", registry::genesis).named("registry_get_genesis").gives(CBOR, "The network's genesis.").by("docs/registry.md"),
        get("/registry/checkpoint", registry::checkpoint).named("registry_get_checkpoint").gives(TEXT, "The newest signed checkpoint.").by("C2SP tlog-checkpoint"),
        get("/registry/read", registry::read).named("registry_read_object").gives(CBOR, "An object of the state with its proof.").by("docs/registry.md")
    .asks(&["key", "trusted_height?"]),
        get("/registry/reads", registry::reads).named("registry_read_objects").gives(CBOR, "An object of the state and the objects that it leads to, with proofs: for a DID, its present version and its first.").by("docs/registry.md")
    .asks(&["key", "trusted_height?"]),
        get("/registry/log", registry::log).named("registry_read_log").gives(CBOR, "Transactions with the proofs that they are in the log.").by("docs/registry.md")
    .asks(&["numbers", "trusted_height?"]),
        get("/registry/inclusion/{seq_no}", von_network::inclusion).named("registry_prove_inclusion").gives(JSON, "The proof that a transaction is in the log.").by("RFC 9162 §2.1.3"),
        get("/registry/consistency", registry::consistency).named("registry_prove_consistency").gives("application/octet-stream", "The proof that the log of one size extends the log of another.").by("RFC 9162 §2.1.4")
    .asks(&["old", "new"]),
    ])
}

/// The registry's consensus engine, for nodes that join.
pub fn registry_engine<S: ServerState>() -> Vec<Route<S>>
where
    Instance: FromRef<S>,
{
    tagged(
        "registry",
        vec![
            post("/registry/engine", registry::engine)
                .named("registry_call_engine")
                .gives(
                    JSON,
                    "Headers and validators of the consensus engine, for nodes that join.",
                )
                .by("CometBFT RPC")
                .takes(JSON),
        ],
    )
}
