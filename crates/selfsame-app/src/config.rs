//! What an instance is told at its start; parsed by the binary, judged here.

use selfsame_crypto::SecretString;
use serde::{Deserialize, Serialize};
use url::Url;

/// The configuration of one instance.
#[derive(Clone, Debug)]
pub struct Config {
    /// The public base of all its URLs, such as `http://127.0.0.1:7380/`.
    pub origin: Url,
    /// What it does.
    pub roles: Roles,
    /// The issuer's settings.
    pub issuer: IssuerConfig,
    /// The verifier's settings.
    pub verifier: VerifierConfig,
    /// Whom it trusts.
    pub trust: TrustConfig,
    /// Where its registry is.
    pub registry: RegistryConfig,
    /// Resolves the DID methods that this instance does not know: a Universal Resolver's base URL.
    pub foreign_resolver: Option<Url>,
}

/// What an instance does.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Roles {
    /// Issues credentials.
    pub issuer: bool,
    /// Keeps people's credentials.
    pub wallet: bool,
    /// Asks for presentations.
    pub verifier: bool,
    /// Runs the registry.
    pub registry: bool,
}

impl Roles {
    /// Everything in one process.
    pub const ALL: Self = Self {
        issuer: true,
        wallet: true,
        verifier: true,
        registry: true,
    };
}

/// The issuer's settings.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct IssuerConfig {
    /// Its name for people.
    pub name: String,
    /// The method of the DID that is made for it.
    pub did_method: DidMethod,
    /// A DID that exists already, of any method, whose document holds this issuer's key; none is made then.
    pub did: Option<String>,
    /// What the types of its SD-JWT VCs begin with; the template's type follows.
    pub vct_base: String,
    /// How an SD-JWT VC names its key.
    pub identify_by: IdentifyBy,
    /// The certificate chain for `identify_by = "x5c"`, PEM, the leaf first; in a file of settings the path to it.
    pub certificate: Option<String>,
    /// The key of the certificate, PKCS#8 in PEM; in a file of settings the path to it.
    #[serde(skip_serializing)]
    pub certificate_key: Option<SecretString>,
    /// How many copies with keys of their own a wallet may ask for at once.
    pub batch_size: usize,
    /// Times in credentials are rounded down to so many seconds, so that they do not tell people apart.
    pub round_times_to: u64,
    /// How long a verifier may use a status list without asking again, in seconds.
    pub status_ttl: u64,
}

impl Default for IssuerConfig {
    fn default() -> Self {
        Self {
            name: "Selfsame Clinic".to_owned(),
            did_method: DidMethod::Selfsame,
            did: None,
            vct_base: "urn:selfsame:credential:".to_owned(),
            identify_by: IdentifyBy::Did,
            certificate: None,
            certificate_key: None,
            batch_size: 10,
            round_times_to: 3600,
            status_ttl: 60,
        }
    }
}

/// The DID methods an instance can make identifiers of.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DidMethod {
    /// `did:key`, P-256 or Ed25519.
    Key,
    /// `did:jwk`.
    Jwk,
    /// `did:web`, hosted here.
    Web,
    /// `did:selfsame`, anchored in the registry.
    Selfsame,
}

/// How an SD-JWT VC names its issuer's key.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IdentifyBy {
    /// By its DID: this project's documented profile.
    Did,
    /// By `/.well-known/jwt-vc-issuer` (SD-JWT VC §4).
    Metadata,
    /// By the chain of [`IssuerConfig::certificate`] in the header (SD-JWT VC §2.5). The leaf must name the issuer as
    /// a subject alternative name: its identifier as URI, or the host of its https origin as DNS name.
    X5c,
}

/// The verifier's settings.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct VerifierConfig {
    /// Its name for people.
    pub name: String,
    /// The method of the DID that is made for it.
    pub did_method: DidMethod,
    /// How it identifies itself unless a request says otherwise.
    pub client_id_prefix: String,
    /// The certificate chain for `x509_san_dns`, PEM, the leaf first; in a file of settings the path to it. The leaf
    /// must be for the origin's host.
    pub certificate: Option<String>,
    /// The key of the certificate, PKCS#8 in PEM; in a file of settings the path to it.
    #[serde(skip_serializing)]
    pub certificate_key: Option<SecretString>,
    /// How old a status list may be, in seconds.
    pub max_status_age: u64,
    /// How long a request can be answered, in seconds.
    pub request_lifetime: u64,
}

impl Default for VerifierConfig {
    fn default() -> Self {
        Self {
            name: "Selfsame Border Control".to_owned(),
            did_method: DidMethod::Selfsame,
            client_id_prefix: "decentralized_identifier".to_owned(),
            certificate: None,
            certificate_key: None,
            max_status_age: 5,
            request_lifetime: 600,
        }
    }
}

/// Whom an instance trusts. Empty lists trust nobody but this instance itself.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrustConfig {
    /// Issuers whose credentials count: DIDs or issuer URLs.
    pub issuers: Vec<String>,
    /// Verifiers that the wallet calls trusted: client identifiers.
    pub verifiers: Vec<String>,
    /// Certificates that anchor `x5c` chains and `x509_san_dns`, PEM; in a file of settings paths to them.
    pub certificates: Vec<String>,
    /// Origins that may be private or plain http, each exact: this instance's sister processes.
    pub origins: Vec<Url>,
}

/// Where the registry is.
#[derive(Clone, Debug)]
pub enum RegistryConfig {
    /// In this process.
    Embedded {
        /// The network's name for people; its name in DIDs is made of its genesis.
        name: String,
    },
    /// In another process.
    Remote {
        /// Its origin.
        origin: Url,
        /// Its operator's token, for writes.
        token: SecretString,
    },
    /// Nowhere: `did:selfsame` is not resolved.
    None,
}
