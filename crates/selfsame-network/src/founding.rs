//! Founding a network: the folders of its nodes, the trust root for readers, the trustee's key.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};

use selfsame_abci::{Addresses, Beginning, Founding, Member, Network};
use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_driver::clock::Clock;
use selfsame_driver::private_file;
use selfsame_ledger::embedded::Embedded;
use selfsame_ledger::trust_root;
use selfsame_proof::read::TrustRoot;
use selfsame_registry::{Rules, network};
use serde::Serialize;

use crate::files::{Serve, TRUST_ROOT, TRUSTEE};
use crate::{NetworkError, archive};

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// The log that a carried-over network begins with, for nodes that join later.
const CARRIED: &str = "carried.selfsame";
/// CometBFT's default port, for nodes on different machines.
const P2P: u16 = 26_656;
/// On one machine, the distance from the HTTP ports to the engines' ports.
const BESIDE: u16 = 100;

/// What network is to be made.
pub struct FoundingPlan {
    /// The number of validators; of four, one may fail, of seven two, of ten three.
    pub validators: u16,
    /// The network's name, for people.
    pub name: String,
    /// The IP addresses of the nodes' machines, one for each validator; if empty, all nodes run on this machine.
    pub hosts: Vec<IpAddr>,
    /// The HTTP port of the first node; further nodes on the same machine get the ports after it.
    pub port: u16,
    /// The folder to create.
    pub directory: PathBuf,
}

/// A network that continues an instance's registry, before that registry is read. Nothing is written yet.
pub struct Continuation {
    directory: PathBuf,
    places: Vec<NodeAddresses>,
    founding: Founding,
}

/// A new network.
#[derive(Serialize)]
pub struct NewNetwork {
    /// The network's name in DIDs: the digest of its genesis.
    pub network: String,
    /// The file of the trust root, which readers pin.
    pub trust_root: PathBuf,
    /// The file of the trustee's key.
    pub trustee_key: PathBuf,
    /// The nodes' folders.
    pub nodes: Vec<MadeNode>,
}

/// A node of the new network.
#[derive(Serialize)]
pub struct MadeNode {
    /// Its folder.
    pub home: PathBuf,
    /// The address of its HTTP interface.
    pub listen: SocketAddr,
    /// The address of its engine for other engines.
    pub p2p: SocketAddr,
}

/// The addresses of a node.
pub struct NodeAddresses {
    /// The address for readers and writers.
    pub http: SocketAddr,
    /// The addresses of the engine.
    pub engine: Addresses,
}

/// The addresses of a further node.
///
/// # Errors
/// If no ports are free.
pub fn place(host: Option<IpAddr>, port: u16) -> Result<NodeAddresses, NetworkError> {
    let places = match host {
        Some(host) => apart(&[host], port),
        None => on_this_machine(port, 1)?,
    };
    let place = places.into_iter().next();
    place.ok_or_else(|| NetworkError::ours("a node has a place"))
}

impl FoundingPlan {
    /// Creates the network.
    ///
    /// # Errors
    /// If the folder exists already or can't be written, or if the plan is impossible.
    pub fn create(&self) -> Result<NewNetwork, NetworkError> {
        let places = self.places()?;
        let members = Self::members(&places);
        let trustee = PrivateKey::generate(KeyType::Ed25519)
            .map_err(|error| NetworkError::ours(error.to_string()))?;
        let beginning = Beginning {
            name: self.name.clone(),
            time: Clock::default().now(),
            rules: Rules::default(),
            authorities: vec![network::Member {
                key: trustee.public().clone(),
                role: network::Role::Trustee,
            }],
        };
        let network = Network::create(&self.directory, beginning, &members)?;
        keep_trustee(&self.directory, &trustee)?;
        let root = trust_root(network.genesis());
        finish(&self.directory, &network, &root, &places)
    }

    /// Prepares a network that continues an instance's registry.
    ///
    /// # Errors
    /// As [`FoundingPlan::create`].
    pub fn continuation(&self) -> Result<Continuation, NetworkError> {
        let places = self.places()?;
        let founding = Founding::new(&self.directory, &Self::members(&places))?;
        Ok(Continuation {
            directory: self.directory.clone(),
            places,
            founding,
        })
    }

    fn places(&self) -> Result<Vec<NodeAddresses>, NetworkError> {
        let count = usize::from(self.validators);
        if self.hosts.is_empty() {
            return on_this_machine(self.port, self.validators);
        }
        if self.hosts.len() != count {
            return Err(NetworkError::environment(format!(
                "there are {count} validators, but {} hosts are named",
                self.hosts.len()
            ))
            .hint("name one host for each validator, repeated if two share a machine; --validators sets the number of validators"));
        }
        Ok(apart(&self.hosts, self.port))
    }

    fn members(places: &[NodeAddresses]) -> Vec<Member> {
        let numbered = places.iter().zip(1..);
        numbered
            .map(|(place, number)| Member {
                name: format!("node-{number}"),
                addresses: place.engine,
            })
            .collect()
    }
}

impl Continuation {
    /// Creates the network: the registry's last block hands over to the new validators. Each node begins with the whole
    /// log, so every transaction keeps its number.
    ///
    /// # Errors
    /// If the folder can't be written, or the registry was carried over before.
    pub async fn of(self, embedded: &Embedded) -> Result<NewNetwork, NetworkError> {
        let validators = self.founding.validators()?;
        let trustee = embedded.trustee().await?;
        self.founding.keep()?;
        keep_trustee(&self.directory, &trustee)?;
        embedded.hand_over(&validators).await?;
        let file = self.directory.join(CARRIED);
        let archived = archive::to_file(embedded, &file).await?;
        let genesis = embedded.own_genesis().clone();
        let network = self.founding.begin(genesis, archived.height)?;
        for home in network.homes() {
            archive::into(&file, home, None).await?;
        }
        // New readers need not trust the former single validator.
        let root = TrustRoot {
            set: validators,
            from_height: archived.height.saturating_add(1),
            ..trust_root(network.genesis())
        };
        finish(&self.directory, &network, &root, &self.places)
    }
}

/// CometBFT's default ports on each host; further nodes on the same host get the ports after them.
fn apart(hosts: &[IpAddr], port: u16) -> Vec<NodeAddresses> {
    let mut seen: BTreeMap<IpAddr, u16> = BTreeMap::new();
    let mut places = Vec::with_capacity(hosts.len());
    for host in hosts {
        let before = seen.entry(*host).or_default();
        let http = port.saturating_add(*before);
        let p2p = P2P.saturating_add(before.saturating_mul(2));
        places.push(NodeAddresses {
            http: SocketAddr::new(*host, http),
            engine: Addresses {
                p2p: SocketAddr::new(*host, p2p),
                rpc: SocketAddr::new(LOOPBACK, p2p.saturating_add(1)),
            },
        });
        *before = before.saturating_add(1);
    }
    places
}

fn keep_trustee(directory: &Path, trustee: &PrivateKey) -> Result<(), NetworkError> {
    let secret = trustee
        .to_pkcs8()
        .map_err(|error| NetworkError::ours(error.to_string()))?;
    Ok(private_file::write(
        &directory.join(TRUSTEE),
        secret.expose(),
    )?)
}

/// Writes the files besides the nodes' own.
fn finish(
    directory: &Path,
    network: &Network,
    root: &TrustRoot,
    places: &[NodeAddresses],
) -> Result<NewNetwork, NetworkError> {
    let trust_root = directory.join(TRUST_ROOT);
    private_file::write(&trust_root, &root.to_bytes())?;
    let mut nodes = Vec::with_capacity(places.len());
    for (home, place) in network.homes().iter().zip(places) {
        Serve { listen: place.http }.write(home)?;
        nodes.push(MadeNode {
            home: home.clone(),
            listen: place.http,
            p2p: place.engine.p2p,
        });
    }
    Ok(NewNetwork {
        network: network.genesis().network().to_string(),
        trust_root,
        trustee_key: directory.join(TRUSTEE),
        nodes,
    })
}

/// Consecutive ports from the given one if they are free, otherwise any free ports.
fn on_this_machine(port: u16, count: u16) -> Result<Vec<NodeAddresses>, NetworkError> {
    let at = |port: Option<u16>| Some(SocketAddr::new(LOOPBACK, port?));
    let wished = (0..count).map(|number| {
        let http = port.checked_add(number)?;
        let p2p = http.checked_add(BESIDE)?;
        Some([http, p2p, p2p.checked_add(BESIDE)?])
    });
    let mut places = Vec::with_capacity(usize::from(count));
    // All sockets stay open until all ports are found, so that no port is found twice.
    let mut held = Vec::new();
    for ports in wished {
        let mut addresses = [SocketAddr::new(LOOPBACK, 0); 3];
        for (index, address) in addresses.iter_mut().enumerate() {
            let wish = at(ports.and_then(|ports| ports.get(index).copied()));
            let listener = wish
                .and_then(|wish| TcpListener::bind(wish).ok())
                .map_or_else(|| TcpListener::bind((LOOPBACK, 0)), Ok)?;
            *address = listener.local_addr()?;
            held.push(listener);
        }
        let [http, p2p, rpc] = addresses;
        let engine = Addresses { p2p, rpc };
        places.push(NodeAddresses { http, engine });
    }
    Ok(places)
}

#[cfg(test)]
mod tests {
    use selfsame_abci::Home;

    use super::*;

    fn plan(directory: PathBuf, hosts: &[&str], validators: u16) -> FoundingPlan {
        FoundingPlan {
            validators,
            name: "test".to_owned(),
            hosts: hosts.iter().map(|host| host.parse().unwrap()).collect(),
            port: 7390,
            directory,
        }
    }

    #[test]
    fn nodes_on_one_machine_never_share_a_port() {
        let places = on_this_machine(u16::MAX - 1, 4).unwrap();
        let mut ports: Vec<u16> = places
            .iter()
            .flat_map(|place| [place.http, place.engine.p2p, place.engine.rpc])
            .map(|address| address.port())
            .collect();
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports.len(), 12);
    }

    #[test]
    fn each_validator_has_a_host_and_two_on_one_have_ports_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        let hosts = ["10.0.0.1", "10.0.0.2", "10.0.0.1"];
        let made = plan(place("three"), &hosts, 3).create().unwrap();
        let p2p: Vec<String> = made.nodes.iter().map(|node| node.p2p.to_string()).collect();
        assert_eq!(p2p, ["10.0.0.1:26656", "10.0.0.2:26656", "10.0.0.1:26658"]);
        assert_eq!(made.nodes[2].listen.to_string(), "10.0.0.1:7391");
        assert!(plan(place("four"), &hosts, 4).create().is_err());
        assert!(!place("four").exists());
    }

    #[test]
    fn where_nothing_can_be_written_the_place_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let refused = plan(file.join("network"), &[], 1).create();
        let failure = refused.err().unwrap();
        assert_eq!(failure.who(), selfsame_driver::WhoActs::Caller);
        let place = file.display().to_string();
        assert!(failure.message().starts_with(&place), "{failure:?}");
        assert!(failure.what_to_do().is_some());
    }

    #[test]
    fn what_readers_pin_and_who_governs_stand_in_the_folder_and_are_never_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let plan = plan(folder.path().join("network"), &[], 2);
        let made = plan.create().unwrap();
        let root = crate::files::trust_root(&made.trust_root).unwrap();
        assert_eq!(root.origin, format!("selfsame/{}", made.network));
        assert_eq!(root.set.validators().len(), 2);
        let key = crate::files::trustee(&made.trustee_key).unwrap();
        let home = Home::open(&made.nodes[0].home).unwrap();
        assert_eq!(home.genesis().members()[0].key, *key.public());
        assert!(plan.create().is_err());
    }
}
