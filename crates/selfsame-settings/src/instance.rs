//! `[instance]`: where an instance listens, where its data and keys are, and its roles, named like the options of `up`.
//! `[admin]`: the listener for those who work for organisations.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use selfsame_pkcs11::TokenUri;
use selfsame_terminal::exit::Failure;
use serde::Deserialize;
use url::Url;

use crate::files::beside;
use crate::pkcs11::uri;

/// What the options of `up` say too, which win.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InstanceSettings {
    /// The directory of all data.
    pub data: Option<PathBuf>,
    /// The address to listen on.
    pub listen: Option<SocketAddr>,
    /// The public base of all URLs.
    pub origin: Option<Url>,
    /// The roles; all if there are none.
    pub roles: Vec<Role>,
    /// The certificate chain of the listener.
    pub tls_certificate: Option<PathBuf>,
    /// The certificate's key.
    pub tls_key: Option<PathBuf>,
    /// Whether the certificate is self-signed.
    pub tls_self_made: bool,
    /// Whether plain http is served to other machines too.
    pub allow_plain_http: bool,
    /// The file with the master key.
    pub master_key_file: Option<PathBuf>,
    /// The key of a hardware security module that encrypts the master key.
    #[serde(deserialize_with = "some_uri")]
    pub master_key_pkcs11: Option<TokenUri>,
    /// The file with the operator's token.
    pub operator_token_file: Option<PathBuf>,
}

/// A role of an instance.
#[derive(Clone, Copy, Deserialize, Eq, PartialEq, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Issues credentials.
    Issuer,
    /// Keeps people's credentials.
    Wallet,
    /// Requests and verifies presentations.
    Verifier,
    /// Runs the registry.
    Registry,
}

/// The listener for those who work for organisations.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AdminSettings {
    /// The address to listen on.
    pub listen: Option<SocketAddr>,
    /// The base of its URLs.
    pub origin: Option<Url>,
}

impl InstanceSettings {
    /// Makes its paths relative to the directory of the file.
    ///
    /// # Errors
    /// If a certificate or a key stands in place of a path.
    pub fn relative_to(&mut self, directory: &Path) -> Result<(), Failure> {
        let files = [
            &mut self.data,
            &mut self.tls_certificate,
            &mut self.tls_key,
            &mut self.master_key_file,
            &mut self.operator_token_file,
        ];
        for file in files.into_iter().flatten() {
            *file = beside(directory, file)?;
        }
        Ok(())
    }
}

fn some_uri<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<TokenUri>, D::Error> {
    uri(from).map(Some)
}
