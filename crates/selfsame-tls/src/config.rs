//! Configuration of client and server. It is checked once, so that no handshake fails because of it.

mod again;

use std::sync::Arc;

use rustls_pki_types::DnsName;
use selfsame_crypto::time::UnixTime;

use crate::codec::SsiParameters;
use crate::core::Limits;
use crate::digest::Digest;
use crate::error::ConfigError;
use crate::identity::{CertificateIdentity, CertificatePolicy, Identities, Peer, PeerPolicy};
use crate::named::{Group, Suite};
use crate::profile::{PAPER, Profile};
use crate::provider::{Cipher, has_group};
use crate::resumption::{EarlyData, Revalidate, Sessions, TicketKeys};

/// Settings of both client and server.
#[derive(Clone, Debug)]
pub struct Config {
    /// The wire numbers of the identity messages.
    pub profile: &'static Profile,
    /// The cipher suites, the preferred first.
    pub suites: Vec<Suite>,
    /// The key exchange groups, the preferred first. A client sends a share of the first; if that is
    /// [`Group::X25519_MLKEM768`], it also sends one of [`Group::X25519`], if listed. A server prefers a share of
    /// [`Group::X25519_MLKEM768`] to all others.
    pub groups: Vec<Group>,
    /// Application protocols (ALPN), the preferred first; empty for no negotiation.
    pub protocols: Vec<Vec<u8>>,
    /// Our identities.
    pub identities: Identities,
    /// Whether a client's hello looks to middleboxes like the resumption of a TLS 1.2 session (RFC 8446 §D.4), which
    /// costs 32 bytes each way and a record.
    pub middleboxes: bool,
    /// Limits on what a peer may send, and on how long a handshake may wait.
    pub limits: Limits,
    /// Pads each protected record with zeros to a multiple of this many bytes, so that its length reveals less about
    /// its content (RFC 8446 §5.4); 0 for no padding. It costs half of this per record on average.
    pub padding: u16,
    /// Judges peers again that resume; without it, what was proved counts until it expires.
    pub revalidate: Option<Arc<dyn Revalidate>>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            profile: &PAPER,
            suites: vec![
                Suite::AES_128_GCM_SHA256,
                Suite::AES_256_GCM_SHA384,
                Suite::CHACHA20_POLY1305_SHA256,
            ],
            groups: vec![
                Group::X25519_MLKEM768,
                Group::X25519,
                Group::SECP256R1,
                Group::SECP384R1,
            ],
            protocols: Vec::new(),
            identities: Identities::default(),
            middleboxes: true,
            limits: Limits::default(),
            padding: 0,
            revalidate: None,
        }
    }
}

impl Config {
    /// The current status epoch.
    pub(crate) fn epoch(&self) -> u64 {
        self.revalidate.as_ref().map_or(0, |known| known.epoch())
    }

    /// Whether a peer proved in `epoch` is still accepted.
    pub(crate) fn still_holds(&self, peer: &Peer, epoch: u64, now: UnixTime) -> bool {
        let known = self.revalidate.as_ref();
        known.is_none_or(|known| known.still_holds(peer, epoch, now))
    }

    /// A hash over the settings and the peer policy, for `purpose`.
    fn digest(&self, purpose: &str, peers: Option<&PeerPolicy>) -> Digest {
        let mut digest = Digest::new(purpose);
        digest.part(self.profile.name.as_bytes());
        self.identities.digest(&mut digest);
        digest.list(self.protocols.iter(), |digest, name| digest.part(name));
        digest.option(peers, |digest, policy| policy.digest(digest));
        digest
    }

    fn check(&self) -> Result<(), ConfigError> {
        let has_suites = self
            .suites
            .iter()
            .all(|suite| Cipher::new(*suite).is_some());
        let has_groups = self.groups.iter().all(|group| has_group(*group));
        if !has_suites || !has_groups || self.suites.is_empty() || self.groups.is_empty() {
            return Err(ConfigError::Nothing);
        }
        match &self.identities.ssi {
            Some(ssi) => ssi.check(self.profile),
            None => Ok(()),
        }
    }
}

/// Configuration of a client of one server.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    pub(crate) common: Config,
    pub(crate) server: PeerPolicy,
    pub(crate) ssi: Option<SsiParameters>,
    pub(crate) sessions: Option<Sessions>,
    pub(crate) is_early: bool,
    /// The server name for the hello; without it, the name in the policy.
    name: Option<DnsName<'static>>,
    /// Whether the hello contains no server name.
    is_silent: bool,
    /// Hash of policy and identity, by which tickets are found.
    pub(crate) digest: [u8; 32],
}

impl ClientConfig {
    /// A client of the server that `server` expects.
    pub fn new(common: Config, server: PeerPolicy) -> Result<Self, ConfigError> {
        common.check()?;
        server.check(common.profile, true)?;
        let ssi = match (&server.identities, &common.identities.ssi) {
            (Some(policy), _) => Some(policy.parameters(common.profile)?),
            // Only a certificate is accepted, but the server may ask for our DID or credential (paper, figure 2b).
            (None, Some(_)) => Some(SsiParameters::default()),
            (None, None) => None,
        };
        let digest = common.digest("client", Some(&server)).finish();
        Ok(Self {
            common,
            server,
            ssi,
            sessions: None,
            is_early: false,
            name: None,
            is_silent: false,
            digest,
        })
    }

    /// Stores and uses tickets. The store may be shared with other configurations; each finds only its own tickets.
    #[must_use]
    pub fn with_sessions(self, sessions: Sessions) -> Self {
        let sessions = Some(sessions);
        Self { sessions, ..self }
    }

    /// Allows early data with a hello that resumes ([`crate::Connection::send_early`]). It is only sent to a server
    /// that [`Config::revalidate`] still accepts, never without `revalidate`; the server may process it twice.
    #[must_use]
    pub fn with_early_data(self) -> Self {
        let is_early = true;
        Self { is_early, ..self }
    }

    /// Names this server in the hello (RFC 6066 §3), for proxies that route by name. The name is sent unencrypted and
    /// proves nothing; the policy decides which server is accepted.
    pub fn with_server_name(mut self, name: &str) -> Result<Self, ConfigError> {
        let name = DnsName::try_from(name.to_owned()).map_err(|_| ConfigError::Name)?;
        let mut digest = Digest::new("client that names a server");
        digest.part(&self.digest);
        digest.part(name.as_ref().as_bytes());
        self.digest = digest.finish();
        self.name = Some(name);
        self.is_silent = false;
        Ok(self)
    }

    /// Sends no server name in the hello, not even that of a certificate policy.
    #[must_use]
    pub fn without_server_name(mut self) -> Self {
        let mut digest = Digest::new("client that names no server");
        digest.part(&self.digest);
        self.digest = digest.finish();
        self.name = None;
        self.is_silent = true;
        self
    }

    pub(crate) fn server_name(&self) -> Option<&str> {
        if self.is_silent {
            return None;
        }
        let certificates = self.server.certificates.as_ref();
        let named = self.name.as_ref().map(AsRef::as_ref);
        named.or_else(|| certificates.and_then(CertificatePolicy::dns_name))
    }
}

/// Configuration of a server.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    pub(crate) common: Config,
    pub(crate) clients: ClientAuth,
    /// Further certificates, for clients that ask for their names.
    named: Vec<CertificateIdentity>,
    pub(crate) tickets: Option<TicketKeys>,
    pub(crate) early: Option<EarlyData>,
    /// Hash of policy and identity, which a ticket has to match.
    pub(crate) digest: [u8; 32],
}

/// Whether clients have to authenticate.
#[derive(Clone, Debug)]
pub enum ClientAuth {
    /// Clients are not asked.
    None,
    /// Clients are asked; those without a certificate are accepted as anonymous.
    Optional(PeerPolicy),
    /// Clients are asked, and must authenticate.
    Required(PeerPolicy),
}

impl ClientAuth {
    pub(crate) fn policy(&self) -> Option<&PeerPolicy> {
        match self {
            Self::None => None,
            Self::Optional(policy) | Self::Required(policy) => Some(policy),
        }
    }

    pub(crate) fn is_required(&self) -> bool {
        matches!(self, Self::Required(_))
    }
}

impl ServerConfig {
    /// A server with an identity of its own.
    pub fn new(common: Config, clients: ClientAuth) -> Result<Self, ConfigError> {
        common.check()?;
        let own = &common.identities;
        if own.certificate.is_none() && own.ssi.is_none() {
            return Err(ConfigError::Policy);
        }
        if let Some(policy) = clients.policy() {
            policy.check(common.profile, false)?;
        }
        let mut digest = common.digest("server", clients.policy());
        digest.number(u8::from(clients.is_required()));
        Ok(Self {
            common,
            clients,
            named: Vec::new(),
            tickets: None,
            early: None,
            digest: digest.finish(),
        })
    }

    /// Adds a certificate for clients that ask for its server name (SNI); all others get the one in [`Identities`]. If
    /// several match a name, the first that the client can verify is sent.
    #[must_use]
    pub fn with_certificate(mut self, certificate: CertificateIdentity) -> Self {
        let mut digest = Digest::new("server with a further certificate");
        digest.part(&self.digest);
        certificate.digest(&mut digest);
        self.digest = digest.finish();
        self.named.push(certificate);
        self
    }

    /// The certificates for a client that asks for `name`, the best first, each with whether it matches the name.
    pub(crate) fn certificates<'a>(
        &'a self,
        name: Option<&'a str>,
    ) -> impl Iterator<Item = (&'a CertificateIdentity, bool)> {
        let named = self.named.iter();
        let named = named.filter(move |one| name.is_some_and(|name| one.is_for(name)));
        let default = self.common.identities.certificate.iter();
        let named = named.map(|one| (one, true));
        named.chain(default.map(|one| (one, false)))
    }

    /// Issues and accepts tickets sealed with these keys.
    #[must_use]
    pub fn with_tickets(self, keys: TicketKeys) -> Self {
        let tickets = Some(keys);
        Self { tickets, ..self }
    }

    /// Accepts early data from clients that resume ([`crate::Connection::take_early_data`]): those that were not asked
    /// to authenticate, and those that [`Config::revalidate`] accepts at that moment.
    #[must_use]
    pub fn with_early_data(self, early: EarlyData) -> Self {
        let early = Some(early);
        Self { early, ..self }
    }
}
