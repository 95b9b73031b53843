//! Application protocols and key exchanges.

use clap::{Args, ValueEnum};
use selfsame_tls::{Config, Group};

/// The application protocols and key exchanges of a connection.
#[derive(Args, Clone, Default)]
pub struct Spoken {
    /// An application protocol to agree on (ALPN), such as h2 or http/1.1; the preferred one first. May be repeated.
    /// Without it, none is agreed.
    #[arg(long, value_name = "PROTOCOL", value_parser = protocol)]
    alpn: Vec<String>,
    /// The allowed key exchanges, the preferred one first; default: all of them.
    #[arg(long, value_name = "GROUP", value_enum, value_delimiter = ',')]
    groups: Vec<Exchange>,
}

/// A key exchange.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Exchange {
    /// X25519.
    X25519,
    /// P-256.
    Secp256r1,
    /// P-384.
    Secp384r1,
    /// X25519 and ML-KEM-768 together, which stays secret from quantum computers.
    X25519mlkem768,
}

impl Exchange {
    fn group(self) -> Group {
        match self {
            Self::X25519 => Group::X25519,
            Self::Secp256r1 => Group::SECP256R1,
            Self::Secp384r1 => Group::SECP384R1,
            Self::X25519mlkem768 => Group::X25519_MLKEM768,
        }
    }
}

impl Spoken {
    /// Sets both in a TLS configuration.
    pub fn apply(&self, config: &mut Config) {
        let protocols = self.alpn.iter();
        config.protocols = protocols.map(|name| name.as_bytes().to_vec()).collect();
        if !self.groups.is_empty() {
            config.groups = self.groups.iter().map(|one| one.group()).collect();
        }
    }
}

/// A name of 1 to 255 bytes (RFC 7301 §3.1).
fn protocol(name: &str) -> Result<String, String> {
    match name.len() {
        1..=255 => Ok(name.to_owned()),
        _ => Err("a protocol's name has 1 to 255 bytes".to_owned()),
    }
}
