//! What client and server are set up with. Checked once, so that a handshake cannot fail for it.

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

/// What both sides have in common.
#[derive(Clone, Debug)]
pub struct Config {
    /// The wire numbers of the identity messages.
    pub profile: &'static Profile,
    /// The cipher suites, the best first.
    pub suites: Vec<Suite>,
    /// The key exchange groups, the best first; a client sends a share of the first, and where that is
    /// [`Group::X25519_MLKEM768`] one of [`Group::X25519`] too, if it is among them. A server takes a share of
    /// [`Group::X25519_MLKEM768`] before all others.
    pub groups: Vec<Group>,
    /// Application protocols (ALPN), the best first; none for no such choice.
    pub protocols: Vec<Vec<u8>>,
    /// Who we are.
    pub identities: Identities,
    /// Whether a client's hello looks to middleboxes like the resumption of a session of TLS 1.2 (RFC 8446 §D.4), which
    /// costs 32 bytes each way and a record.
    pub middleboxes: bool,
    /// How much a peer may send, and how long it may wait.
    pub limits: Limits,
    /// The bytes of which each protected record holds a multiple, filled up with zeros, so that its length tells less of
    /// what is in it (RFC 8446 §5.4); none if 0. It costs half of that a record on average.
    pub padding: u16,
    /// What is known by now of those who resume; without it, what was proved is believed until it ends.
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
    /// The epoch of what is known of others by now.
    pub(crate) fn epoch(&self) -> u64 {
        self.revalidate.as_ref().map_or(0, |known| known.epoch())
    }

    /// Whether somebody who was proved in that epoch is to be believed still.
    pub(crate) fn still_holds(&self, peer: &Peer, epoch: u64, now: UnixTime) -> bool {
        let known = self.revalidate.as_ref();
        known.is_none_or(|known| known.still_holds(peer, epoch, now))
    }

    /// Who we are, to whom, for what.
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

/// A client that wants one server.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    pub(crate) common: Config,
    pub(crate) server: PeerPolicy,
    pub(crate) ssi: Option<SsiParameters>,
    pub(crate) sessions: Option<Sessions>,
    pub(crate) is_early: bool,
    /// The name that the hello says beside or in place of that of the policy.
    name: Option<DnsName<'static>>,
    /// Whether the hello says none at all.
    is_silent: bool,
    /// Policy and identity, by which tickets are found.
    pub(crate) digest: [u8; 32],
}

impl ClientConfig {
    /// A client for the server that `server` expects.
    pub fn new(common: Config, server: PeerPolicy) -> Result<Self, ConfigError> {
        common.check()?;
        server.check(common.profile, true)?;
        let ssi = match (&server.identities, &common.identities.ssi) {
            (Some(policy), _) => Some(policy.parameters(common.profile)?),
            // Only a certificate is accepted, but a DID or credential of our own can be asked for (paper, figure 2b).
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

    /// The same, keeping and using tickets. They may be shared with other configurations, which find none but their own.
    #[must_use]
    pub fn with_sessions(self, sessions: Sessions) -> Self {
        let sessions = Some(sessions);
        Self { sessions, ..self }
    }

    /// The same, which may send data along with a hello that resumes ([`crate::Connection::send_early`]). It is sent to
    /// the server that [`Config::revalidate`] still believes in, and never without that; the server may take it twice.
    #[must_use]
    pub fn with_early_data(self) -> Self {
        let is_early = true;
        Self { is_early, ..self }
    }

    /// The same, which says in its hello that this server is meant (RFC 6066 §3), as whoever routes by names has to know.
    /// It is read by everybody on the way, and proves nothing: who is let in says the policy.
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

    /// The same, which names no server in its hello, not even that of a certificate policy.
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

/// A server.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    pub(crate) common: Config,
    pub(crate) clients: ClientAuth,
    /// Further certificates, for clients that ask for their names.
    named: Vec<CertificateIdentity>,
    pub(crate) tickets: Option<TicketKeys>,
    pub(crate) early: Option<EarlyData>,
    /// Policy and identity, which a ticket has to be of.
    pub(crate) digest: [u8; 32],
}

/// Whether clients are asked who they are.
#[derive(Clone, Debug)]
pub enum ClientAuth {
    /// They are not.
    None,
    /// They are, but those without a certificate are let in as nobody.
    Optional(PeerPolicy),
    /// They are, and must answer.
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

    /// The same with a further certificate, which is shown to clients that ask for a server it is for (SNI); the one of
    /// [`Identities`] is shown to all others. Of several for a name the first is shown that the client can verify.
    #[must_use]
    pub fn with_certificate(mut self, certificate: CertificateIdentity) -> Self {
        let mut digest = Digest::new("server with a further certificate");
        digest.part(&self.digest);
        certificate.digest(&mut digest);
        self.digest = digest.finish();
        self.named.push(certificate);
        self
    }

    /// The certificates for a client that asks for this name, the best first; whether each is one for the name.
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

    /// The same, giving and taking tickets sealed with these keys.
    #[must_use]
    pub fn with_tickets(self, keys: TicketKeys) -> Self {
        let tickets = Some(keys);
        Self { tickets, ..self }
    }

    /// The same, taking early data of who resumes ([`crate::Connection::take_early_data`]): of clients that were not
    /// asked who they are, and of those that [`Config::revalidate`] believes at that moment.
    #[must_use]
    pub fn with_early_data(self, early: EarlyData) -> Self {
        let early = Some(early);
        Self { early, ..self }
    }
}
