//! The baseline: rustls with equal chains, keys, group and cipher suite.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::{ClientConfig, Connection, RootCertStore, ServerConfig};

use super::cell::{Cell, Draw};
use super::ours::failed;
use super::world::{NAME, Party, World};
use crate::Error;

/// Both sides in rustls.
pub struct Theirs {
    provider: Arc<CryptoProvider>,
    roots: Arc<RootCertStore>,
    verifier: Arc<dyn ClientCertVerifier>,
    servers: Party,
    clients: Party,
}

type OwnSide = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

impl Theirs {
    /// Parses the world's certificates and keys.
    ///
    /// # Errors
    /// If the root is refused.
    pub fn new(world: &World) -> Result<Self, Error> {
        let provider = Arc::new(CryptoProvider {
            cipher_suites: vec![aws_lc_rs::cipher_suite::TLS13_AES_256_GCM_SHA384],
            kx_groups: vec![aws_lc_rs::kx_group::X25519],
            ..aws_lc_rs::default_provider()
        });
        let mut roots = RootCertStore::empty();
        let root = CertificateDer::from(world.root.clone());
        roots.add(root).map_err(failed)?;
        let roots = Arc::new(roots);
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::clone(&roots), Arc::clone(&provider));
        Ok(Self {
            provider,
            roots,
            verifier: verifier.build().map_err(failed)?,
            servers: world.servers.clone(),
            clients: world.clients.clone(),
        })
    }

    /// Creates the client of this draw.
    ///
    /// # Errors
    /// If the configuration is refused.
    pub fn client(&self, cell: Cell, draw: Draw) -> Result<Connection, Error> {
        let builder = ClientConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(failed)?
            .with_root_certificates(Arc::clone(&self.roots));
        let mut config = match cell.client {
            None => builder.with_no_client_auth(),
            Some(_) => {
                let (chain, key) = own(&self.clients, draw.client)?;
                builder.with_client_auth_cert(chain, key).map_err(failed)?
            }
        };
        config.resumption = Resumption::disabled();
        let name = ServerName::try_from(NAME).map_err(failed)?;
        let client = rustls::ClientConnection::new(Arc::new(config), name);
        Ok(client.map_err(failed)?.into())
    }

    /// Creates the server of this draw.
    ///
    /// # Errors
    /// If the configuration is refused.
    pub fn server(&self, cell: Cell, draw: Draw) -> Result<Connection, Error> {
        let builder = ServerConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(failed)?;
        let builder = match cell.client {
            None => builder.with_no_client_auth(),
            Some(_) => builder.with_client_cert_verifier(Arc::clone(&self.verifier)),
        };
        let (chain, key) = own(&self.servers, draw.server)?;
        let mut config = builder.with_single_cert(chain, key).map_err(failed)?;
        config.send_tls13_tickets = 0;
        config.session_storage = Arc::new(NoServerSessionStorage {});
        let server = rustls::ServerConnection::new(Arc::new(config));
        Ok(server.map_err(failed)?.into())
    }
}

/// Performs the handshake over the stream and returns the number of bytes sent.
///
/// # Errors
/// If the handshake fails.
pub fn shake(connection: &mut Connection, stream: &mut TcpStream) -> Result<usize, Error> {
    let mut sent = 0_usize;
    let mut buffer = [0; 16 * 1024];
    let mut outgoing = Vec::with_capacity(buffer.len());
    loop {
        outgoing.clear();
        while connection.wants_write() {
            connection.write_tls(&mut outgoing)?;
        }
        stream.write_all(&outgoing)?;
        sent = sent.saturating_add(outgoing.len());
        if !connection.is_handshaking() {
            return Ok(sent);
        }
        let read = stream.read(&mut buffer)?;
        let mut received = buffer.get(..read).unwrap_or_default();
        if received.is_empty() {
            return Err(failed("the peer went away"));
        }
        while !received.is_empty() {
            connection.read_tls(&mut received)?;
            connection.process_new_packets().map_err(failed)?;
        }
    }
}

fn own(party: &Party, at: usize) -> Result<OwnSide, Error> {
    let member = party.members.get(at);
    let member = member.ok_or_else(|| failed("no such identity"))?;
    let key = party.keys.get(member.key);
    let key = key.ok_or_else(|| failed("no such key"))?;
    let chain = member.chain.iter().cloned().map(CertificateDer::from);
    Ok((
        chain.collect(),
        PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.clone())),
    ))
}
