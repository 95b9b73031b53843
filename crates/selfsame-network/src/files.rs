//! The files of a network besides those of its nodes: the trust root, the trustee's key, each node's address.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use selfsame_crypto::{PrivateKey, SecretString};
use selfsame_driver::data_directory::{TOKEN_FILE, token_from};
use selfsame_driver::private_file;
use selfsame_proof::read::TrustRoot;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::NetworkError;

/// The trust root that readers pin, in the network's folder.
pub const TRUST_ROOT: &str = "trust-root";
/// The trustee's key, in the network's folder.
pub const TRUSTEE: &str = "trustee.key";
/// The address that a node listens on, in its folder.
const SERVE: &str = "serve.json";
/// The public base of its URLs at its last start, in its folder.
const SERVED: &str = "served.json";

/// The address of a node's HTTP interface, unless its command line sets another.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Serve {
    /// The address to listen on.
    pub listen: SocketAddr,
}

impl Serve {
    /// Reads it from a node's folder.
    ///
    /// # Errors
    /// If the file is missing or invalid.
    pub fn read(home: &Path) -> Result<Self, NetworkError> {
        let file = home.join(SERVE);
        let wrong = |why: String| {
            NetworkError::environment(format!("{}: {why}", file.display()))
                .hint("`selfsame registry init` creates a node's folder")
        };
        let bytes = std::fs::read(&file).map_err(|error| wrong(error.to_string()))?;
        serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))
    }

    /// Writes it into a node's folder.
    ///
    /// # Errors
    /// If it exists already or the disk fails.
    pub fn write(&self, home: &Path) -> Result<(), NetworkError> {
        let text =
            serde_json::to_vec(self).map_err(|error| NetworkError::ours(error.to_string()))?;
        Ok(private_file::write(&home.join(SERVE), &text)?)
    }

    /// The base of its URLs, for readers on this machine.
    ///
    /// # Errors
    /// If the address does not form a URL.
    pub fn url(&self) -> Result<Url, NetworkError> {
        let ip = self.listen.ip();
        let port = self.listen.port();
        let text = match ip.is_loopback() {
            true => format!("http://localhost:{port}/"),
            false => format!("https://{}/", self.listen),
        };
        Url::parse(&text).map_err(|error| NetworkError::ours(error.to_string()))
    }
}

/// The address of a node since its last start, from its command line.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Served {
    /// The public base of its URLs.
    origin: Url,
}

/// Records a node's address in its folder, for the commands that are given the folder.
///
/// # Errors
/// If the disk fails.
pub fn note_served(home: &Path, origin: &Url) -> Result<(), NetworkError> {
    let served = Served {
        origin: origin.clone(),
    };
    let text =
        serde_json::to_vec(&served).map_err(|error| NetworkError::ours(error.to_string()))?;
    replace(&home.join(SERVED), &text)
}

/// The base of a node's URLs: from its last start, or for its first one.
///
/// # Errors
/// If its folder has neither.
pub fn url_of(home: &Path) -> Result<Url, NetworkError> {
    let file = home.join(SERVED);
    let bytes = match std::fs::read(&file) {
        Ok(bytes) => bytes,
        Err(_) => return Serve::read(home)?.url(),
    };
    let served: Served = serde_json::from_slice(&bytes).map_err(|error| {
        NetworkError::environment(format!("{}: {error}", file.display()))
            .hint("remove it; the node writes it again at its next start")
    })?;
    Ok(served.origin)
}

/// Replaces a file atomically.
///
/// # Errors
/// If the disk fails.
pub fn replace(file: &Path, bytes: &[u8]) -> Result<(), NetworkError> {
    let new = file.with_extension("new");
    if new.exists() {
        std::fs::remove_file(&new)?;
    }
    private_file::write(&new, bytes)?;
    Ok(std::fs::rename(new, file)?)
}

/// The operator's token of a node that has been started before.
///
/// # Errors
/// If it has not.
pub fn token(home: &Path) -> Result<SecretString, NetworkError> {
    Ok(token_from(&home.join(TOKEN_FILE))?)
}

/// Reads a trust root.
///
/// # Errors
/// If the file is not a valid trust root.
pub fn trust_root(file: &Path) -> Result<TrustRoot, NetworkError> {
    let wrong = |why: String| {
        NetworkError::environment(format!("{}: {why}", file.display()))
            .hint("`selfsame registry init` writes the trust root of a network")
    };
    let bytes = std::fs::read(file).map_err(|error| wrong(error.to_string()))?;
    TrustRoot::from_bytes(&bytes).map_err(|malformed| wrong(malformed.to_string()))
}

/// Reads a trustee's key.
///
/// # Errors
/// If the file is not a valid key.
pub fn trustee(file: &Path) -> Result<PrivateKey, NetworkError> {
    let read = std::fs::read(file)
        .map_err(|error| NetworkError::environment(format!("{}: {error}", file.display())))?;
    let bytes = selfsame_crypto::Secret::new(read);
    PrivateKey::from_pkcs8(bytes.expose()).map_err(|_| {
        NetworkError::environment(format!("{}: not a valid key in PKCS#8", file.display()))
    })
}

/// The nodes' folders in a network's folder, in the order of their numbers.
///
/// # Errors
/// If the folder can't be read.
pub fn homes(network: &Path) -> Result<Vec<PathBuf>, NetworkError> {
    let wrong = |error: std::io::Error| {
        NetworkError::environment(format!("{}: {error}", network.display()))
    };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_asked_where_it_served_last_and_before_that_where_its_folder_says() {
        let home = tempfile::tempdir().unwrap();
        assert!(url_of(home.path()).is_err());
        let listen = "127.0.0.1:7390".parse().unwrap();
        Serve { listen }.write(home.path()).unwrap();
        let url = || url_of(home.path()).unwrap().to_string();
        assert_eq!(url(), "http://localhost:7390/");
        for origin in [
            "https://registry.example/",
            "https://registry.example:7390/",
        ] {
            note_served(home.path(), &Url::parse(origin).unwrap()).unwrap();
            assert_eq!(url(), origin);
        }
        std::fs::write(home.path().join(SERVED), "{}").unwrap();
        let damaged = url_of(home.path()).unwrap_err();
        assert!(damaged.message().contains("served.json"), "{damaged:?}");
    }
}
