//! `[registry]`: the registry that runs here, or the nodes and the network of one elsewhere.

use std::path::{Path, PathBuf};

use selfsame_ledger::config::{
    Pin, RegistryNode, RegistryWitness, STANDSTILL, WitnessQuorum, witness_key,
};
use selfsame_network::files::trust_root;
use selfsame_terminal::exit::Failure;
use serde::Deserialize;
use url::Url;

use crate::files::{beside, registry_token};

/// The registry that runs here, or one elsewhere.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RegistrySettings {
    /// Whether anyone may register DIDs at `/register` of the registry that runs here; otherwise only the operator.
    pub open_registration: bool,
    /// Its nodes: the first that responds is used.
    nodes: Vec<NodeSettings>,
    /// The network that the nodes must be of: its name, as in its DIDs.
    network: Option<String>,
    /// The path of the trust root that verifies the network; better than the name alone if the validators have changed.
    trust_root: Option<PathBuf>,
    /// How long, in seconds, its last checkpoint is used while it makes no new block; a day by default.
    standstill_s: Option<u64>,
    /// The witnesses to which the registry that runs here sends its checkpoints; for a registry elsewhere, the
    /// witnesses whose cosignatures count.
    witnesses: Vec<WitnessSettings>,
    /// How many of the witnesses must have cosigned the checkpoints of a registry elsewhere.
    witnesses_needed: Option<usize>,
}

/// A witness: one whose cosignatures count, or one to request cosignatures from.
#[derive(Deserialize)]
#[serde(untagged)]
enum WitnessSettings {
    /// The witness's key.
    Key(String),
    /// The witness's key and submission prefix.
    At(WitnessAt),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WitnessAt {
    key: String,
    url: Url,
}

/// A node of a registry elsewhere.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeSettings {
    /// Its base URL.
    url: Url,
    /// The path of the file with its operator's token.
    token_file: PathBuf,
}

impl RegistrySettings {
    /// Makes its paths relative to the directory of the file.
    ///
    /// # Errors
    /// If a certificate or a key stands in place of a path.
    pub fn relative_to(&mut self, directory: &Path) -> Result<(), Failure> {
        let nodes = self.nodes.iter_mut().map(|node| &mut node.token_file);
        for file in nodes.chain(&mut self.trust_root) {
            *file = beside(directory, file)?;
        }
        Ok(())
    }

    /// How long, in seconds, a network that makes no new block is read.
    pub fn standstill(&self) -> u64 {
        self.standstill_s.unwrap_or(STANDSTILL)
    }

    /// Checks, where no nodes are named, that no settings for a registry elsewhere are present.
    ///
    /// # Errors
    /// If the standstill, the network or the trust root is set: otherwise a new registry would start instead.
    pub fn without_nodes(&self) -> Result<(), Failure> {
        let of_readers = [
            ("standstill_s", self.standstill_s.is_some()),
            ("network", self.network.is_some()),
            ("trust_root", self.trust_root.is_some()),
        ];
        match of_readers.iter().find(|(_, is_set)| *is_set) {
            Some((name, _)) => Err(Failure::environment(format!(
                "[registry] {name} applies only to a registry in another process"
            ))
            .hint("leave it out, or name the registry's nodes too ([[registry.nodes]])")),
            None => Ok(()),
        }
    }

    /// The witnesses to which the registry that runs here sends its checkpoints.
    ///
    /// # Errors
    /// If a witness has no address or an invalid key, or if settings for readers are present.
    pub fn shown_to(&self) -> Result<Vec<RegistryWitness>, Failure> {
        if self.witnesses_needed.is_some() {
            let what = "[registry] witnesses_needed applies only to a registry in another process";
            return Err(
                Failure::environment(what).hint("leave it out, or name the registry's nodes too")
            );
        }
        let witnesses = self.witnesses.iter().map(|witness| match witness {
            WitnessSettings::At(WitnessAt { key, url }) => Ok(RegistryWitness {
                key: witness_key(key)?,
                url: url.clone(),
            }),
            WitnessSettings::Key(key) => Err(Failure::environment(format!(
                "[registry] witnesses: {key} has no URL"
            ))
            .hint("witnesses = [{ key = \"name+id+key\", url = \"https://…\" }]")),
        });
        witnesses.collect()
    }

    /// The witnesses that must have cosigned the checkpoints of a registry elsewhere.
    ///
    /// # Errors
    /// If a key is invalid or has an address, or if the number required is impossible.
    pub fn quorum(&self) -> Result<WitnessQuorum, Failure> {
        let keys = self.witnesses.iter().map(|witness| match witness {
            WitnessSettings::Key(key) => Ok(witness_key(key)?),
            WitnessSettings::At(WitnessAt { url, .. }) => Err(Failure::environment(format!(
                "[registry] witnesses: {url} is not used, since the registry runs in another process"
            ))
            .hint("witnesses = [\"name+id+key\"], and witnesses_needed = how many of them")),
        });
        let keys: Vec<_> = keys.collect::<Result<_, Failure>>()?;
        Ok(WitnessQuorum::new(keys, self.witnesses_needed)?)
    }

    /// The nodes with their tokens.
    ///
    /// # Errors
    /// If a token can't be read.
    pub fn nodes(&self) -> Result<Vec<RegistryNode>, Failure> {
        let nodes = self.nodes.iter().map(|node| {
            Ok(RegistryNode {
                origin: node.url.clone(),
                token: registry_token(&node.token_file)?,
            })
        });
        nodes.collect()
    }

    /// The pinned network.
    ///
    /// # Errors
    /// If the trust root can't be read, or contradicts the network's name.
    pub fn pin(&self) -> Result<Option<Pin>, Failure> {
        let Some(file) = &self.trust_root else {
            return Ok(self.network.clone().map(Pin::Network));
        };
        let root = trust_root(file)?;
        match &self.network {
            Some(name) if root.origin != format!("selfsame/{name}") => {
                Err(Failure::environment(format!(
                    "{}: this is the trust root of {}, but [registry] network is {name}",
                    file.display(),
                    root.origin
                )))
            }
            _ => Ok(Some(Pin::Trust(root))),
        }
    }
}

#[cfg(test)]
mod tests;
