//! A TLS node: its folder with keys and credential, and how it resolves the DIDs of its peers.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clap::Args;
use selfsame_app::config::{Config, Roles};
use selfsame_app::node::Material;
use selfsame_app::tls::{Gatherer, Reuse, Stapler};
use selfsame_app::{App, Parts};
use selfsame_crypto::SecretString;
use selfsame_crypto::seal::{SealingKey, random_seed};
use selfsame_driver::data_directory::token_from;
use selfsame_ledger::config::{Pin, RegistryConfig, RegistryNode};
use selfsame_net::{Net, Settings as NetSettings};
use selfsame_store::{Memory, Store, Vault};
use selfsame_terminal::exit::Failure;
use selfsame_terminal::master_key::MasterKey;
use selfsame_terminal::{address, output, records};
use selfsame_tls::identity::StaplePolicy;
use selfsame_tls_io::{Gather, HandshakeSettings as Connections};
use tokio::task::JoinHandle;
use url::Url;

use crate::hooks::{Hooks, NamedRegistry};
use crate::peers::{Own, OwnCertificate, Resuming};

/// The file of the records in a node's folder.
const KEPT: &str = selfsame_store::backend::STORE_FILE;
const NOTHING_HERE: &str = "create one: selfsame tls identity new --identity FOLDER";

/// A node: its identity, and how it resolves its peers.
#[derive(Args)]
pub struct Node {
    /// The folder of this node's identity; without one, and without a certificate, this node does not authenticate.
    #[arg(long, value_name = "FOLDER", env = "SELFSAME_IDENTITY")]
    identity: Option<PathBuf>,
    #[command(flatten)]
    certificate: OwnCertificate,
    #[command(flatten)]
    master_key: MasterKey,
    #[command(flatten)]
    world: World,
    /// Seconds for which data looked up about a peer is reused. Up to this long, a peer whose DID or credential was
    /// revoked is still admitted. Open connections are verified again at the same interval.
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    reuse: u64,
    /// Make every handshake a full one: neither issue nor use tickets.
    #[arg(long)]
    no_resumption: bool,
    /// Staple the registry's proofs about this node, and accept staples of peers up to this many seconds old:
    /// handshakes then need no lookup that shows who connects to whom. A deactivated peer is admitted for up to this
    /// long.
    #[arg(long, value_name = "SECONDS", requires = "registry")]
    staples: Option<u64>,
}

/// What a node needs for its connections.
pub struct Standing {
    /// The clock, and DID resolution.
    pub app: Arc<App>,
    /// Fetches the evidence that handshakes need.
    pub gather: Arc<Gatherer>,
    /// Tickets, and the peers that may resume with one; `None` if tickets are not used.
    resuming: Option<Resuming>,
    /// What the program does for this node.
    hooks: Hooks,
    /// The task that renews the staples of the node's identity.
    stapling: Mutex<Option<JoinHandle<()>>>,
}

/// The sources for resolving peers.
#[derive(Args, Default)]
pub struct World {
    /// A registry node that resolves did:selfsame; its answers are verified.
    #[arg(long, value_name = "URL", value_parser = address::parse)]
    registry: Option<Url>,
    /// The file that holds the registry's operator token; only needed to register, change or deactivate a DID there.
    #[arg(long, value_name = "FILE", requires = "registry")]
    registry_token_file: Option<PathBuf>,
    /// The trust root of the registry's network; without one, the registry's first answer is trusted.
    #[arg(long, value_name = "FILE", requires = "registry")]
    registry_trust_root: Option<PathBuf>,
    /// An exact origin that may be private or use plain http, such as an issuer on this machine. May be repeated.
    #[arg(long, value_name = "URL", value_parser = address::parse)]
    trust_origin: Vec<Url>,
    /// A settings file, as for `selfsame up`: `[trust]`, `[resolver]` and `[registry]` are used.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl Node {
    /// Builds what resolves the DIDs of peers. Results are kept in memory, so the folder stays free for the command
    /// `selfsame tls identity`.
    ///
    /// # Errors
    /// If a file can't be read, or the settings are inconsistent.
    pub async fn stand(&self, hooks: Hooks) -> Result<Standing, Failure> {
        let vault = Vault::from_master(SealingKey::from_bytes(random_seed()));
        let store = Store::open(Arc::new(Memory::new()), vault).await;
        let store = store.map_err(|error| Failure::ours(error.to_string()))?;
        let app = self.world.open(store, hooks)?.await?;
        let reuse = Reuse {
            did: self.reuse,
            status_list: self.reuse,
            ..Reuse::default()
        };
        let gather = Arc::new(Gatherer::new(&app, reuse));
        let at_hand = Arc::clone(&gather);
        Ok(Standing {
            app,
            gather,
            resuming: (!self.no_resumption).then(|| Resuming::new(at_hand)),
            hooks,
            stapling: Mutex::default(),
        })
    }

    /// The interval at which connected peers are verified again.
    pub fn judged_every(&self) -> Duration {
        Duration::from_secs(self.reuse.max(1))
    }

    /// Opens the identity, reads what this node presents, and closes it. Staples are renewed until the next call.
    ///
    /// # Errors
    /// If the folder has no identity, is used by another process, or can't be opened with this master key; if there is
    /// no registry to staple from.
    pub async fn own(&self, standing: &Standing) -> Result<Own, Failure> {
        let material = match &self.identity {
            Some(folder) => {
                let store = kept(folder, &self.master_key).await?;
                let app = self.world.open(store, standing.hooks)?.await?;
                let material = app.node()?.material().await?;
                standing.warn_of_end(&material)?;
                Some(material)
            }
            None => None,
        };
        let mut own = Own::of(material, standing.resuming.clone());
        own.certificate = self.certificate.read()?;
        match self.staples {
            Some(seconds) => standing.stapling(own, seconds).await,
            None => Ok(own),
        }
    }
}

/// A credential that expires within this many seconds causes a warning.
const SOON: u64 = 86_400;

impl Standing {
    /// Fails if the node's credential has expired, since no peer would accept it; warns if it expires soon.
    fn warn_of_end(&self, material: &Material) -> Result<(), Failure> {
        let now = self.app.clock().now();
        let Some(end) = material.expires else {
            return Ok(());
        };
        if end <= now {
            let what = format!("this node's credential expired at {}", end.rfc3339());
            return Err(Failure::environment(what)
                .hint("fetch a new one: selfsame tls identity fetch OFFER --identity FOLDER"));
        }
        if end.seconds_since(now) < SOON {
            output::complain(&format!(
                "this node's credential expires at {}: fetch a new one with selfsame tls identity fetch",
                end.rfc3339()
            ));
        }
        Ok(())
    }

    /// Adds staples, and renews them until this process ends or the next call replaces them.
    async fn stapling(&self, mut own: Own, seconds: u64) -> Result<Own, Failure> {
        let ledger = self.gather.ledger().await?.ok_or_else(|| {
            Failure::environment("staples need a registry").hint("name it with --registry")
        })?;
        own.accepts = Some(StaplePolicy {
            max_age: seconds,
            behind: seconds,
            ..StaplePolicy::new(ledger)
        });
        if let Some(material) = &own.material {
            let stapler = Stapler::new(&self.app, material.did.clone(), material.lists.clone());
            own.staples = stapler.staples();
            stapler.renew().await?;
            let every = Duration::from_secs((seconds / 3).max(1));
            let renewing = tokio::spawn(async move { stapler.keep(every).await });
            let mut stapling = self.stapling.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(before) = stapling.replace(renewing) {
                before.abort();
            }
        }
        Ok(own)
    }
}

/// Resolution by this registry, without an identity and without storage.
///
/// # Errors
/// As [`Node::stand`].
pub async fn resolving(registry: Url, hooks: Hooks) -> Result<Gatherer, Failure> {
    let world = World {
        registry: Some(registry),
        ..World::default()
    };
    let vault = Vault::from_master(SealingKey::from_bytes(random_seed()));
    let store = Store::open(Arc::new(Memory::new()), vault).await;
    let store = store.map_err(|error| Failure::ours(error.to_string()))?;
    let app = world.open(store, hooks)?.await?;
    Ok(Gatherer::new(&app, Reuse::default()))
}

/// What the identity in a node's folder presents; its master key is beside it. The folder is closed again.
///
/// # Errors
/// As [`Node::stand`].
pub async fn material_of(folder: &Path, hooks: Hooks) -> Result<Material, Failure> {
    let (master_key, world) = (MasterKey::default(), World::default());
    let store = kept(folder, &master_key).await?;
    let app = world.open(store, hooks)?.await?;
    Ok(app.node()?.material().await?)
}

/// The clock and the time limits of a node's connections.
pub fn settings(app: &Arc<App>, gather: Arc<dyn Gather>) -> Connections<dyn Gather> {
    let app = Arc::clone(app);
    Connections {
        clock: Arc::new(move || app.clock().ctx()),
        ..Connections::of(gather)
    }
}

/// Reports whether a configuration could be read again; returns it if so.
pub fn reloaded<T>(read: Result<T, Failure>) -> Option<T> {
    output::complain(&match &read {
        Ok(_) => "the identity and the policy were read again".to_owned(),
        Err(failure) => {
            let message = failure.message();
            format!("the identity and the policy stay unchanged: {message}")
        }
    });
    read.ok()
}

/// Opens the records in a node's folder, which is created if it does not exist.
///
/// # Errors
/// If the folder can't be created or made private, or its records can't be opened with this master key.
pub async fn create(folder: &Path, master_key: &MasterKey, hooks: Hooks) -> Result<Store, Failure> {
    (hooks.take_directory)(folder)?;
    records::open(folder, &master_key.custody(folder)?).await
}

/// Opens the records in a node's folder.
///
/// # Errors
/// If the folder has none, or they can't be opened with this master key.
pub async fn kept(folder: &Path, master_key: &MasterKey) -> Result<Store, Failure> {
    if !folder.join(KEPT).exists() {
        return Err(Failure::environment(format!(
            "{}: the folder contains no identity",
            folder.display()
        ))
        .hint(NOTHING_HERE));
    }
    records::open(folder, &master_key.custody(folder)?).await
}

impl World {
    /// An instance on this store that serves nothing.
    ///
    /// # Errors
    /// If a file can't be read, or the settings are inconsistent.
    pub fn open(
        &self,
        store: Store,
        hooks: Hooks,
    ) -> Result<impl Future<Output = Result<Arc<App>, Failure>> + use<>, Failure> {
        let config = self.settings(hooks)?;
        let net = net(&config)?;
        let parts = Parts {
            store,
            net,
            ledger: None,
            hsm: None,
            book_index: None,
        };
        Ok(async move { Ok(App::open(config, parts).await?.0) })
    }

    /// Whether a registry is named, or a settings file, which may name one.
    pub fn has_registry(&self) -> bool {
        self.registry.is_some() || self.config.is_some()
    }

    fn settings(&self, hooks: Hooks) -> Result<Config, Failure> {
        let file = self
            .config
            .as_deref()
            .map(hooks.read_settings)
            .transpose()?;
        let file = file.unwrap_or_default();
        let mut trust = file.trust;
        trust.origins.extend(self.trust_origin.iter().cloned());
        let (nodes, pin) = match &self.registry {
            Some(origin) => {
                let token = match &self.registry_token_file {
                    Some(file) => token_from(file)?,
                    None => SecretString::new(String::new()),
                };
                let root = self
                    .registry_trust_root
                    .as_deref()
                    .map(hooks.read_trust_root);
                let origin = origin.clone();
                let node = RegistryNode { origin, token };
                (vec![node], root.transpose()?.map(Pin::Trust))
            }
            None => {
                let NamedRegistry { nodes, pin } = file.registry?;
                (nodes, pin)
            }
        };
        for node in &nodes {
            address::check_unless_trusted(&node.origin, &trust.origins)?;
        }
        let registry = match nodes.is_empty() {
            true => RegistryConfig::None,
            false => RegistryConfig::Remote {
                nodes,
                pin,
                standstill: file.standstill,
                witnesses: file.witnesses?,
            },
        };
        let origin = Url::parse(ORIGIN).map_err(|error| Failure::ours(error.to_string()))?;
        Ok(Config {
            origin,
            roles: ROLES,
            issuer: Default::default(),
            verifier: Default::default(),
            wallet: Default::default(),
            trust,
            registry,
            resolver: file.resolver,
            organisations: Default::default(),
            agents: Vec::new(),
        })
    }
}

/// A node has no address of its own; names under `.invalid` never exist (RFC 6761 §6.4).
const ORIGIN: &str = "https://node.invalid/";
/// A wallet keeps the credential.
const ROLES: Roles = Roles {
    issuer: false,
    wallet: true,
    verifier: false,
    registry: false,
};

fn net(config: &Config) -> Result<Net, Failure> {
    let nodes = match &config.registry {
        RegistryConfig::Remote { nodes, .. } => nodes.as_slice(),
        RegistryConfig::Embedded { .. } | RegistryConfig::None => &[],
    };
    let mut own_origins: Vec<_> = config.trust.origins.iter().map(Url::origin).collect();
    own_origins.extend(nodes.iter().map(|node| node.origin.origin()));
    own_origins.extend(config.resolver.addresses().map(Url::origin));
    let settings = NetSettings {
        own_origins,
        hosts: selfsame_net::localhost(None),
        ..NetSettings::default()
    };
    Net::new(settings).map_err(|error| Failure::environment(error.to_string()))
}
