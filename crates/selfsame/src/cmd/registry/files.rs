//! The files of a network beside those of its nodes: the trust root, the trustee's key, where each node serves.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use selfsame_crypto::{PrivateKey, SecretString};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::client::token_from;
use crate::exit::Failure;
use crate::private_file;

/// What readers pin, in the network's folder.
pub const TRUST_ROOT: &str = "trust-root";
/// The key that governs, in the network's folder.
pub const TRUSTEE: &str = "trustee.key";
/// Where a node serves, in its folder.
const SERVE: &str = "serve.json";

/// Where a node serves its registry over HTTP, unless its command line says otherwise.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Serve {
    /// The address it listens on.
    pub listen: SocketAddr,
}

impl Serve {
    /// What a node's folder says.
    ///
    /// # Errors
    /// If it says nothing.
    pub fn read(home: &Path) -> Result<Self, Failure> {
        let file = home.join(SERVE);
        let wrong = |why: String| {
            Failure::environment(format!("{}: {why}", file.display()))
                .hint("a node's folder is made by `selfsame registry init`")
        };
        let bytes = std::fs::read(&file).map_err(|error| wrong(error.to_string()))?;
        serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))
    }

    /// Puts it into a node's folder.
    ///
    /// # Errors
    /// If it is there already or the disk fails.
    pub fn write(&self, home: &Path) -> Result<(), Failure> {
        let text = serde_json::to_vec(self).map_err(|error| Failure::ours(error.to_string()))?;
        private_file::write(&home.join(SERVE), &text)
    }

    /// The base of its addresses, as readers on this machine have it.
    ///
    /// # Errors
    /// If the address makes no URL.
    pub fn url(&self) -> Result<Url, Failure> {
        let ip = self.listen.ip();
        let port = self.listen.port();
        let text = match ip.is_loopback() {
            true => format!("http://localhost:{port}/"),
            false => format!("https://{}/", self.listen),
        };
        Url::parse(&text).map_err(|error| Failure::ours(error.to_string()))
    }
}

/// The operator's token of a node that was started once.
///
/// # Errors
/// If it was not.
pub fn token(home: &Path) -> Result<SecretString, Failure> {
    token_from(&home.join("operator-token"))
}

/// Reads a key that governs.
///
/// # Errors
/// If the file is none.
pub fn trustee(file: &Path) -> Result<PrivateKey, Failure> {
    let read = std::fs::read(file)
        .map_err(|error| Failure::environment(format!("{}: {error}", file.display())))?;
    let bytes = selfsame_crypto::Secret::new(read);
    PrivateKey::from_pkcs8(bytes.expose())
        .map_err(|_| Failure::environment(format!("{}: this is no key in PKCS#8", file.display())))
}

/// The nodes' folders below a network's, in the order of their numbers.
///
/// # Errors
/// If the folder can't be read.
pub fn homes(network: &Path) -> Result<Vec<PathBuf>, Failure> {
    let wrong =
        |error: std::io::Error| Failure::environment(format!("{}: {error}", network.display()));
    let mut homes = Vec::new();
    for entry in std::fs::read_dir(network).map_err(wrong)? {
        let name = entry.map_err(wrong)?.file_name();
        let number = name
            .to_str()
            .and_then(|name| name.strip_prefix("node-")?.parse::<u32>().ok());
        if let Some(number) = number {
            homes.push((number, network.join(name)));
        }
    }
    homes.sort();
    Ok(homes.into_iter().map(|(_, home)| home).collect())
}
