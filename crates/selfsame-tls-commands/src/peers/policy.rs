//! The policy for peers, from the command line or settings, and the TLS configuration made from it.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;
use selfsame_app::node::Material;
use selfsame_did::Did;
use selfsame_did::method::{METHODS, Origin};
use selfsame_terminal::exit::Failure;
use selfsame_tls::identity::{
    CertificateIdentity, CertificatePolicy, CrlPolicy, ExpectedPeer, Identities, IdentityPolicy,
    PeerPolicy, SsiIdentity, StaplePolicy, Staples, TrustedIssuer, Vc,
};
use selfsame_tls::profile::{self, Profile};
use selfsame_tls::{ClientAuth, ClientConfig, Config, ConfigError, ServerConfig, SigningKey};
use serde::Deserialize;
use url::Url;

use super::resuming::Resuming;
use super::spoken::Spoken;

/// The claims that an issuer may make about a machine.
const CLAIMS: [&str; 2] = ["dns", "service"];
/// The types of credentials of the sample `machine`: as a W3C credential, and as an SD-JWT VC.
const TYPES: [&str; 2] = ["MachineIdentity", "urn:selfsame:credential:machine"];
/// Maximum age of a revocation list in seconds, within its own validity.
const LIST_AGE: u64 = 7 * 86_400;
const HINT: &str = "name the trusted issuers and the expected peer, such as --trust-issuer DID --expect-claim \
dns=NAME, or --trust-did DID; there is no default";

/// Which peers are admitted. By default none are.
#[derive(Args, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PeerRules {
    /// An issuer whose credentials are accepted, by its DID. May be repeated.
    #[arg(long, value_name = "DID", conflicts_with = "trust_did")]
    trust_issuer: Vec<String>,
    /// A credential type that is accepted. May be repeated.
    #[arg(long, value_name = "TYPE", default_values = TYPES)]
    trust_type: Vec<String>,
    /// An expected peer, by the DID of its credential's subject. May be repeated.
    #[arg(long, value_name = "DID", requires = "trust_issuer")]
    expect_did: Vec<String>,
    /// The expected peer, by a claim in its credential, such as dns=sensor.example.
    #[arg(
        long,
        value_name = "NAME=VALUE",
        requires = "trust_issuer",
        conflicts_with = "expect_did"
    )]
    expect_claim: Option<String>,
    /// Accept any peer with a credential of a trusted issuer; only for accepting connections.
    #[arg(long, requires = "trust_issuer", conflicts_with_all = ["expect_did", "expect_claim"])]
    expect_anybody: bool,
    /// A peer that is trusted by its DID alone, without a credential. May be repeated.
    #[arg(long, value_name = "DID")]
    trust_did: Vec<String>,
    /// Certificates (PEM) of authorities whose X.509 certificates are accepted as well; without them, a DID or a
    /// credential is required.
    #[arg(long, value_name = "FILE")]
    trust_certificates: Option<PathBuf>,
    /// The URL of an authority's certificate revocation list, used instead of a list that the peer staples. May be
    /// repeated; a certificate that no list covers is refused.
    #[arg(long, value_name = "URL", requires = "trust_certificates")]
    revocation_list: Vec<Url>,
    /// The host name that a server's certificate must be valid for.
    #[arg(long, value_name = "HOST", requires = "trust_certificates")]
    server_name: Option<String>,
    /// The host name sent unencrypted to the server, for routing (SNI); default: --server-name, or else the host that
    /// is connected to.
    #[arg(long, value_name = "HOST")]
    sni: Option<String>,
    /// Send no host name unencrypted (no SNI).
    #[arg(long, conflicts_with = "sni")]
    no_sni: bool,
    /// The encoding of identities on the wire; both ends must use the same. The library has more profiles.
    #[arg(long, value_enum, default_value_t = Wire::Selfsame)]
    profile: Wire,
}

/// An encoding of identities on the wire.
#[derive(Clone, Copy, Debug, Default, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
enum Wire {
    /// Selfsame's own: every credential format, the short codes.
    #[default]
    Selfsame,
    /// The paper's messages: for nodes that are known by their DIDs alone, without a credential.
    Paper,
}

impl Wire {
    fn profile(self) -> &'static Profile {
        match self {
            Self::Selfsame => &profile::SELFSAME,
            Self::Paper => &profile::PAPER,
        }
    }
}

/// What this node presents, and its settings that do not depend on the peer's name.
#[derive(Default)]
pub struct Own {
    /// Its identity, if it has one.
    pub material: Option<Material>,
    /// Its certificate, if it has one.
    pub certificate: Option<CertificateIdentity>,
    /// The staples it sends.
    pub staples: Staples,
    /// Its policy for staples of peers; `None` to accept none, the default.
    pub accepts: Option<StaplePolicy>,
    /// Its tickets; without them every handshake is a full one.
    pub resuming: Option<Resuming>,
    /// Application protocols and key exchanges.
    pub spoken: Spoken,
    /// For a client, the address it connects to: HOST:PORT.
    pub called: Option<String>,
}

impl Own {
    /// An identity without staples.
    pub fn of(material: Option<Material>, resuming: Option<Resuming>) -> Self {
        Self {
            material,
            resuming,
            ..Self::default()
        }
    }
}

/// The peers that the policy is for.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Of {
    Servers,
    Clients,
}

impl PeerRules {
    /// Resolves the files that it names relative to this folder.
    pub fn relative_to(&mut self, folder: &Path) {
        if let Some(file) = &mut self.trust_certificates {
            *file = folder.join(&*file);
        }
    }

    /// The configuration to connect to the expected server.
    ///
    /// # Errors
    /// If no peer is expected, or a DID or a file can't be read.
    pub fn client(&self, own: Own) -> Result<Arc<ClientConfig>, Failure> {
        let server = self.peers(Of::Servers, own.accepts.as_ref())?;
        let (resuming, called) = (own.resuming.clone(), own.called.clone());
        let mut common = self.common(own)?;
        common.revalidate = resuming.as_ref().map(|resuming| resuming.servers(&server));
        let config = ClientConfig::new(common, server).map_err(|error| refused(&error))?;
        let config = self.naming(config, called.as_deref())?;
        Ok(Arc::new(match resuming {
            Some(resuming) => resuming.client(config),
            None => config,
        }))
    }

    /// Sets the server name of the ClientHello; `called` is the address connected to.
    fn naming(&self, config: ClientConfig, called: Option<&str>) -> Result<ClientConfig, Failure> {
        match (&self.sni, &self.server_name, called.and_then(host_name)) {
            _ if self.no_sni => Ok(config.without_server_name()),
            (Some(name), ..) => config.with_server_name(name).map_err(|_| {
                Failure::environment(format!("{name} is not a host name"))
                    .hint("write --sni as broker.example.org, without a port")
            }),
            // The address may be a name that a ClientHello can't carry.
            (None, None, Some(host)) => Ok(match config.clone().with_server_name(host) {
                Ok(named) => named,
                Err(_) => config,
            }),
            _ => Ok(config),
        }
    }

    /// The configuration to accept clients; without `asks` they need not authenticate.
    ///
    /// # Errors
    /// As [`PeerRules::client`].
    pub fn server(&self, own: Own, asks: bool) -> Result<Arc<ServerConfig>, Failure> {
        let clients = match asks {
            true => ClientAuth::Required(self.peers(Of::Clients, own.accepts.as_ref())?),
            false => ClientAuth::None,
        };
        if own.material.is_none() && own.certificate.is_none() {
            return Err(Failure::environment("a server needs an identity or a certificate").hint(
                "name the folder of its identity with --identity; selfsame tls identity new creates one. Or name a \
                 certificate with --certificate",
            ));
        }
        let resuming = own.resuming.clone();
        let mut common = self.common(own)?;
        if let (Some(resuming), ClientAuth::Required(policy)) = (&resuming, &clients) {
            common.revalidate = Some(resuming.clients(policy));
        }
        let config = ServerConfig::new(common, clients).map_err(|error| refused(&error))?;
        Ok(Arc::new(match resuming {
            Some(resuming) => resuming.server(config),
            None => config,
        }))
    }

    fn common(&self, own: Own) -> Result<Config, Failure> {
        let mut config = Config {
            profile: self.profile.profile(),
            identities: Identities {
                certificate: own.certificate,
                ssi: match own.material {
                    Some(material) => Some(shown(material, own.staples)?),
                    None => None,
                },
            },
            ..Config::default()
        };
        own.spoken.apply(&mut config);
        Ok(config)
    }

    fn peers(&self, of: Of, accepts: Option<&StaplePolicy>) -> Result<PeerPolicy, Failure> {
        let identities = if !self.trust_issuer.is_empty() {
            Some(self.by_credential(of)?)
        } else if !self.trust_did.is_empty() {
            Some(IdentityPolicy::of_dids(&methods(), peers(&self.trust_did)?))
        } else {
            None
        };
        let identities = identities.map(|identities| match accepts {
            Some(accepts) => identities.with_staples(accepts.clone()),
            None => identities,
        });
        let certificates = self.certificates(of)?;
        if identities.is_none() && certificates.is_none() {
            return Err(Failure::environment("no issuer, DID or authority is trusted").hint(HINT));
        }
        Ok(PeerPolicy {
            certificates,
            identities,
        })
    }

    fn by_credential(&self, of: Of) -> Result<IdentityPolicy, Failure> {
        let expected = match (&self.expect_claim, self.expect_anybody) {
            (Some(claim), _) => {
                let (name, value) = claim.split_once('=').ok_or_else(|| {
                    Failure::environment(format!("{claim} is not a claim"))
                        .hint("write it as NAME=VALUE")
                })?;
                ExpectedPeer::Claim {
                    name: name.to_owned(),
                    value: value.to_owned(),
                }
            }
            (None, true) if of == Of::Clients => ExpectedPeer::Vouched,
            (None, true) => {
                return Err(Failure::environment(
                    "with --expect-anybody every holder of a credential could impersonate the server",
                )
                .hint("name the expected server: --expect-claim dns=NAME or --expect-did DID"));
            }
            (None, false) if self.expect_did.is_empty() => {
                return Err(Failure::environment("no expected peer is named").hint(HINT));
            }
            (None, false) => ExpectedPeer::Dids(peers(&self.expect_did)?.into_iter().collect()),
        };
        let issuers = dids(&self.trust_issuer)?.into_iter();
        let issuers = issuers.map(|did| self.issuer(did)).collect();
        Ok(IdentityPolicy::of_credentials(
            &methods(),
            issuers,
            expected,
        ))
    }

    /// A trusted issuer; its keys are resolved when needed.
    fn issuer(&self, did: Did) -> TrustedIssuer {
        let mut issuer = TrustedIssuer::new(did, Vec::new());
        issuer.types = match self.trust_type.as_slice() {
            // A settings file has no types.
            [] => TYPES.map(str::to_owned).to_vec(),
            types => types.to_vec(),
        };
        issuer.claims = CLAIMS.map(str::to_owned).to_vec();
        let expected = self.expect_claim.as_deref();
        if let Some((name, _)) = expected.and_then(|claim| claim.split_once('=')) {
            issuer.claims.push(name.to_owned());
        }
        issuer
    }

    fn certificates(&self, of: Of) -> Result<Option<CertificatePolicy>, Failure> {
        let Some(file) = &self.trust_certificates else {
            return Ok(None);
        };
        let wrong = |why: String| {
            Failure::environment(format!("{}: {why}", file.display()))
                .hint("name a PEM file with the certificates of the authorities")
        };
        let pem = std::fs::read(file).map_err(|error| wrong(error.to_string()))?;
        let anchors = CertificateDer::pem_slice_iter(&pem)
            .map(|one| one.map(|der| der.to_vec()))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| wrong(error.to_string()))?;
        if anchors.is_empty() {
            return Err(wrong("the file contains no certificate".to_owned()));
        }
        let policy = match (of, &self.server_name) {
            (Of::Clients, _) => CertificatePolicy::for_clients(&anchors),
            (Of::Servers, Some(name)) => CertificatePolicy::for_server(name, &anchors),
            (Of::Servers, None) => {
                return Err(Failure::environment(
                    "no host name is given that the server's certificate must be for",
                )
                .hint("name it with --server-name HOST"));
            }
        };
        let policy = policy.map_err(|error| wrong(error.to_string()))?;
        if self.revocation_list.is_empty() {
            return Ok(Some(policy));
        }
        let lists = CrlPolicy {
            uris: self.revocation_list.iter().map(Url::to_string).collect(),
            required: true,
            max_age: LIST_AGE,
        };
        policy
            .with_crls(lists)
            .map(Some)
            .map_err(|error| refused(&error))
    }
}

/// The host of HOST:PORT if it is a name, not an IP address (RFC 6066 §3).
fn host_name(place: &str) -> Option<&str> {
    let (host, _) = place.rsplit_once(':')?;
    let host = host.strip_suffix('.').unwrap_or(host);
    let is_address = host.starts_with('[') || host.parse::<IpAddr>().is_ok();
    (!is_address && !host.is_empty()).then_some(host)
}

fn dids(texts: &[String]) -> Result<Vec<Did>, Failure> {
    let read = |text: &String| {
        Did::parse(text).map_err(|_| {
            Failure::environment(format!("{text} is not a DID"))
                .hint("a DID begins with did:, such as did:web:issuer.example")
        })
    };
    texts.iter().map(read).collect()
}

/// Whether nodes authenticate by DIDs of this origin. The profiles of TLS have no code for DIDs with logs.
fn is_of_nodes(origin: Origin) -> bool {
    origin.is_resolved_here() && origin != Origin::Log
}

/// The names of the methods that a node resolves.
fn methods() -> Vec<&'static str> {
    let methods = METHODS.iter();
    let resolved = methods.filter(|method| is_of_nodes(method.origin));
    resolved.map(|method| method.name).collect()
}

/// DIDs of peers; each must have a method by which peers can be authenticated.
fn peers(texts: &[String]) -> Result<Vec<Did>, Failure> {
    let peers = dids(texts)?;
    let strange = peers.iter().find(|did| !is_of_nodes(did.origin()));
    match strange {
        Some(did) => Err(Failure::environment(format!(
            "no peer can authenticate as {did}: its DID method is not supported for nodes"
        ))
        .hint(format!(
            "a node's DID is one of: did:{}",
            methods().join(", did:")
        ))),
        None => Ok(peers),
    }
}

/// The identity that this node presents.
fn shown(own: Material, staples: Staples) -> Result<SsiIdentity, Failure> {
    let secret = own
        .key
        .to_pkcs8()
        .map_err(|error| Failure::ours(error.to_string()))?;
    let key = SigningKey::from_pkcs8(secret.expose()).map_err(|error| refused(&error))?;
    let vc = own
        .credential
        .map(|(format, raw)| {
            Vc::of_text(format, &raw).ok_or_else(|| {
                Failure::environment(format!(
                    "a credential of the format {format} can't be presented in a handshake"
                ))
            })
        })
        .transpose()?;
    Ok(SsiIdentity {
        did: own.did,
        key,
        vc,
        staples,
    })
}

fn refused(error: &ConfigError) -> Failure {
    let hint = match error {
        ConfigError::Format | ConfigError::Method => {
            "use --profile selfsame, which supports all of them, or another DID or credential"
        }
        _ => HINT,
    };
    Failure::environment(error.to_string()).hint(hint)
}
