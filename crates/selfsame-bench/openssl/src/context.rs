//! OpenSSL's configuration for each draw: chains, keys, group and cipher suite equal those of the other
//! implementations.

use std::error::Error;
use std::path::Path;

use openssl::pkey::{Id, PKey, Private};
use openssl::ssl::{
    SslContext, SslContextBuilder, SslMethod, SslOptions, SslSessionCacheMode, SslVerifyMode,
    SslVersion,
};
use openssl::x509::X509;
use serde::Deserialize;

/// The server's name in certificates.
pub const NAME: &str = "server.example";

/// The certificates and keys of both sides.
#[derive(Deserialize)]
pub struct World {
    root: Vec<u8>,
    servers: Party,
    clients: Party,
}

#[derive(Deserialize)]
struct Party {
    /// PKCS #8.
    keys: Vec<Vec<u8>>,
    members: Vec<Member>,
}

#[derive(Deserialize)]
struct Member {
    /// The index of its key among the side's keys.
    key: usize,
    /// Its certificate and the intermediate authority's (DER).
    chain: Vec<Vec<u8>>,
}

impl World {
    /// Reads the file that the bench has written.
    pub fn read(file: &Path) -> Result<Self, Box<dyn Error>> {
        Ok(serde_json::from_slice(&std::fs::read(file)?)?)
    }

    /// The server with this index; with `is_mutual` it requires a client certificate.
    pub fn server(&self, at: usize, is_mutual: bool) -> Result<SslContext, Box<dyn Error>> {
        let mut context = self.common(SslMethod::tls_server())?;
        self.servers.show(&mut context, at)?;
        // As in the other implementations, there are no tickets and no resumption.
        context.set_num_tickets(0)?;
        context.set_options(SslOptions::NO_TICKET);
        context.set_verify(match is_mutual {
            true => SslVerifyMode::PEER | SslVerifyMode::FAIL_IF_NO_PEER_CERT,
            false => SslVerifyMode::NONE,
        });
        Ok(context.build())
    }

    /// A client; with an index, it presents that client identity.
    pub fn client(&self, at: Option<usize>) -> Result<SslContext, Box<dyn Error>> {
        let mut context = self.common(SslMethod::tls_client())?;
        if let Some(at) = at {
            self.clients.show(&mut context, at)?;
        }
        context.set_verify(SslVerifyMode::PEER);
        Ok(context.build())
    }

    fn common(&self, method: SslMethod) -> Result<SslContextBuilder, Box<dyn Error>> {
        let mut context = SslContextBuilder::new(method)?;
        context.set_min_proto_version(Some(SslVersion::TLS1_3))?;
        context.set_ciphersuites("TLS_AES_256_GCM_SHA384")?;
        context.set_groups_list("X25519")?;
        context.set_session_cache_mode(SslSessionCacheMode::OFF);
        context
            .cert_store_mut()
            .add_cert(X509::from_der(&self.root)?)?;
        Ok(context)
    }
}

impl Party {
    fn show(&self, context: &mut SslContextBuilder, at: usize) -> Result<(), Box<dyn Error>> {
        let member = self.members.get(at).ok_or("no such identity")?;
        let key = self.keys.get(member.key).ok_or("no such key")?;
        let key = private_key(key)?;
        let (leaf, authorities) = member.chain.split_first().ok_or("an empty chain")?;
        context.set_certificate(&*X509::from_der(leaf)?)?;
        for authority in authorities {
            context.add_extra_chain_cert(X509::from_der(authority)?)?;
        }
        context.set_private_key(&*key)?;
        Ok(context.check_private_key()?)
    }
}

/// The bytes before the 32 bytes of an Ed25519 key in PKCS #8: the version, the algorithm, two octet strings (RFC 8410
/// §7).
const ED25519: [u8; 14] = [2, 1, 1, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];

/// OpenSSL 3.0 does not read version 2 of PKCS #8, which also contains the public key (RFC 5958).
fn private_key(pkcs8: &[u8]) -> Result<PKey<Private>, Box<dyn Error>> {
    let inner = pkcs8
        .get(2..)
        .and_then(|inner| inner.strip_prefix(&ED25519));
    let key = match inner.and_then(|inner| inner.first_chunk::<32>()) {
        Some(seed) => PKey::private_key_from_raw_bytes(seed, Id::ED25519)?,
        None => PKey::private_key_from_pkcs8(pkcs8)?,
    };
    Ok(key)
}
