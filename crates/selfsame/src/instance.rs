//! Builds an instance from its data directory and settings, runs it, and stops it.

mod administration;
mod ordering;
mod public;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use selfsame_abci::{CheckpointKey, Engine, Home, Node, Setup};
use selfsame_acapy::AgentSection;
use selfsame_acme::AcmeSettings;
use selfsame_app::backup::Backups;
use selfsame_app::config::{Config, Roles};
use selfsame_app::traces::TracesConfig;
use selfsame_app::{App, Parts};
use selfsame_book_index::{BookIndex, SqliteIndex};
use selfsame_catalogue::english;
use selfsame_core::config::{OrganisationsConfig, ResolverConfig, TrustConfig};
use selfsame_crypto::{KeyHandle, SecretString};
use selfsame_driver::clock::Clock;
use selfsame_driver::data_directory::{SALT_FILE, WRAPPED_FILE};
use selfsame_driver::keys::Keys;
use selfsame_identity::config::{People, SignInConfig};
use selfsame_ledger::config::{
    Pin, RegistryConfig, RegistryNode, RegistryWitness, STANDSTILL, WitnessQuorum,
};
use selfsame_net::{Net, Settings};
use selfsame_openid::config::{IssuerConfig, VerifierConfig};
use selfsame_postgres::Company;
use selfsame_server::{Pulse, ServerLimits, ServerSettings, Tls};
use selfsame_settings::{AdminSettings, Pkcs11Settings};
use selfsame_store::{Store, TenantId};
use selfsame_terminal::exit::Failure;
use selfsame_terminal::master_key::Custody;
use selfsame_terminal::serving::Serving;
use selfsame_terminal::{records, watchdog};
use selfsame_vc_api::VcApiConfig;
use selfsame_wallet::config::WalletConfig;
use tokio::net::TcpListener;
use url::Url;

use crate::agents::{AgentAddresses, BoundAgent};
use crate::database::Database;
use crate::operator_token::{Keeping, OperatorToken};
use crate::private_directory;
use crate::settings::TlsSettings;
use crate::trusting::Trusting;
use selfsame_api_commands::Client;
use selfsame_terminal::listening::{bind, bind_beside, bind_health};

/// The directory of the search indexes of credential books, in the data directory.
const BOOKS: &str = "books";

/// The settings of an instance.
pub struct Launch {
    /// The data directory.
    pub data: PathBuf,
    /// The database that keeps the records, in place of a file in that directory.
    pub database: Option<Database>,
    /// The address it listens on.
    pub listen: SocketAddr,
    /// The public base of its URLs; derived from `listen` by default.
    pub origin: Option<Url>,
    /// The roles it has.
    pub roles: Roles,
    /// The issuer's settings.
    pub issuer: IssuerConfig,
    /// The verifier's settings.
    pub verifier: VerifierConfig,
    /// The wallet's settings.
    pub wallet: WalletConfig,
    /// Who knows people.
    pub sign_in: SignInConfig,
    /// The parties it trusts.
    pub trust: TrustConfig,
    /// Where the trusted parties are read from again.
    pub trusting: Option<Trusting>,
    /// The nodes of a registry in other processes; empty if the registry is not elsewhere.
    pub registry: Vec<RegistryNode>,
    /// The network that these nodes must be of.
    pub pin: Option<Pin>,
    /// How long, in seconds, that network is read while it makes no new block.
    pub standstill: u64,
    /// The witnesses to which the registry that runs here sends its checkpoints.
    pub witnesses: Vec<RegistryWitness>,
    /// The witnesses that must have cosigned the checkpoints of a registry elsewhere.
    pub quorum: WitnessQuorum,
    /// A node of a network that runs as this instance's registry; the node's folder is the data directory.
    pub node: Option<Validating>,
    /// The resolvers for DIDs that this instance can't resolve itself.
    pub resolver: ResolverConfig,
    /// The organisations that this instance hosts.
    pub organisations: OrganisationsConfig,
    /// The Aries agents of this instance.
    pub agents: Vec<AgentSection>,
    /// Whether anyone may register DIDs.
    pub open_registration: bool,
    /// The settings of the W3C's API.
    pub vc_api: VcApiConfig,
    /// Where the master key is kept.
    pub custody: Custody,
    /// The hardware security module that holds signing keys.
    pub hsm: Option<Pkcs11Settings>,
    /// The certificate of its listener.
    pub tls: Option<crate::tls::CertificateSource>,
    /// Its certificates for further hosts.
    pub tls_hosts: crate::tls::HostCertificates,
    /// The authority that gives its certificates.
    pub acme: Option<AcmeSettings>,
    /// DER certificates that are trusted in addition to the system's.
    pub roots: Vec<Vec<u8>>,
    /// Connections with nodes that authenticate by DIDs and credentials.
    pub nodes: Option<Arc<TlsSettings>>,
    /// Who keeps the operator's token.
    pub token: OperatorToken,
    /// A second listener for health checks, besides `listen`.
    pub health: Option<SocketAddr>,
    /// The listener for those who work for organisations.
    pub admin: AdminSettings,
    /// Whether plain http is served to other machines.
    pub plain_anywhere: bool,
    /// Limits for all clients together, and for one address.
    pub limits: ServerLimits,
    /// Whether other processes listen on the same address.
    pub shares_address: bool,
    /// Where traces of this process go.
    pub traces: Option<TracesConfig>,
    /// A directory that is removed with the instance.
    pub temporary: Option<tempfile::TempDir>,
}

/// A node of a network of validators.
pub struct Validating {
    /// The node's folder.
    pub home: Home,
    /// The consensus engine's program.
    pub engine: Engine,
}

/// What decides which calls out are allowed, beside the settings.
struct CallingOut<'a> {
    roots: &'a [Vec<u8>],
    agents: &'a [BoundAgent],
}

/// An instance that is serving.
pub struct Running {
    /// Its base URL.
    pub origin: Url,
    /// Where those who work for organisations call it, if that is elsewhere.
    pub admin: Option<Url>,
    /// A new operator's token that was not written to a file, to be printed once.
    pub untold_token: Option<SecretString>,
    /// The file that the operator's token is kept in.
    pub token_file: Option<PathBuf>,
    /// Where the master key is kept, in words.
    pub custody: &'static str,
    /// Where its Aries agents are.
    pub agents: Vec<AgentAddresses>,
    /// DER certificates that are trusted in addition to the system's, with the instance's own.
    roots: Vec<Vec<u8>>,
    serving: Serving,
    app: Arc<App>,
    node: Option<Arc<Node>>,
    _temporary: Option<tempfile::TempDir>,
}

impl Launch {
    /// An instance with everything embedded, on this data directory.
    pub fn new(data: PathBuf, listen: SocketAddr) -> Self {
        Self {
            custody: Custody::BesideTheData,
            data,
            database: None,
            listen,
            origin: None,
            roles: Roles::ALL,
            issuer: IssuerConfig::default(),
            verifier: VerifierConfig::default(),
            wallet: WalletConfig::default(),
            sign_in: SignInConfig::default(),
            trust: TrustConfig::default(),
            trusting: None,
            registry: Vec::new(),
            pin: None,
            standstill: STANDSTILL,
            witnesses: Vec::new(),
            quorum: WitnessQuorum::default(),
            node: None,
            resolver: ResolverConfig::default(),
            organisations: OrganisationsConfig::default(),
            agents: Vec::new(),
            open_registration: false,
            vc_api: VcApiConfig::default(),
            hsm: None,
            tls: None,
            tls_hosts: crate::tls::HostCertificates::default(),
            acme: None,
            roots: Vec::new(),
            nodes: None,
            token: OperatorToken::default(),
            health: None,
            admin: AdminSettings::default(),
            plain_anywhere: false,
            limits: ServerLimits::default(),
            shares_address: false,
            traces: None,
            temporary: None,
        }
    }

    /// An instance on a free port; its data are removed with it.
    ///
    /// # Errors
    /// If a temporary directory can't be created.
    pub fn ephemeral() -> Result<Self, Failure> {
        let directory = tempfile::tempdir()?;
        let mut launch = Self::new(
            directory.path().to_owned(),
            SocketAddr::from(([127, 0, 0, 1], 0)),
        );
        launch.temporary = Some(directory);
        Ok(launch)
    }

    /// Tells the instance who knows people, unless it has neither accounts nor another identity system.
    fn name_people(&self, app: &App) -> Result<(), Failure> {
        match self.roles.wallet || self.sign_in.people != People::Accounts {
            true => Ok(app.know_people(&self.sign_in)?),
            false => Ok(()),
        }
    }

    /// Starts its node of a network of validators, if it is one.
    async fn validating(&self, store: &Store) -> Result<Option<Arc<Node>>, Failure> {
        Ok(match &self.node {
            Some(validating) => Some(validating.start(&self.data, store).await?),
            None => None,
        })
    }

    /// Reads on SIGHUP what can change while it runs: whom it trusts, and the certificates for further hosts.
    async fn watch_files(&self, tls: Option<&Tls>, app: &Arc<App>) -> Result<(), Failure> {
        if let Some(trusting) = &self.trusting {
            trusting.renew_on_hangup(app)?;
        }
        self.tls_hosts.watch(tls, app).await
    }

    /// Starts it: opens the data, binds, serves.
    ///
    /// # Errors
    /// What prevents it from starting, and what to do about it.
    pub async fn start(self) -> Result<Running, Failure> {
        private_directory::take(&self.data)?;
        let listener = self.bind(self.listen).await?;
        let bound = listener.local_addr()?;
        let health = self.health.map(bind_health).transpose()?;
        let agents = BoundAgent::bind_all(&self.agents, self.shares_address).await?;
        let origin = self.public_origin(bound)?;
        let admin = self.bind_admin(&origin).await?;
        // First, because this locks the data: a second process must not replace the certificate of a running one.
        let store = self.records().await?;
        let (tls, roots) = self.certificates(&store, &origin).await?;
        let called = CallingOut {
            roots: &roots,
            agents: &agents,
        };
        let parts = self.parts(store, &origin, bound, called)?;
        let custody = self.custody.words();
        let (net, store) = (parts.net.clone(), parts.store.clone());
        let config = self.config(origin.clone(), &agents);
        let node = self.validating(&parts.store).await?;
        let keeping = self.keeping();
        keeping.renew(&parts.store).await?;
        let (app, new_token) = match &node {
            Some(node) => App::open_on(node.clone(), config, parts).await?,
            None => App::open(config, parts).await?,
        };
        self.name_people(&app)?;
        self.watch_files(tls.as_ref(), &app).await?;
        let untold_token = keeping.keep(new_token, app.operator())?;
        let nodes = match &self.nodes {
            Some(settings) => settings.open(&app, &net).await?,
            None => None,
        };
        let addresses = agents.iter().map(|agent| agent.at.clone()).collect();
        let mut further = BoundAgent::serve_all(agents, &app);
        further.extend(self.order_certificates(store, tls.as_ref(), &app).await?);
        let pulse = Pulse::default();
        watch_over(&pulse, health.is_some())?;
        let admin_origin = admin.as_ref().map(|admin| admin.url.clone());
        let admin = admin.map(|admin| admin.listener);
        let settings = ServerSettings {
            tls,
            nodes,
            further,
            health,
            plain_anywhere: self.plain_anywhere,
            limits: self.limits,
            backups: Some(backups(&self.data)),
            open_registration: self.open_registration,
            vc_api: self.vc_api,
            admin,
            pulse,
        };
        let serving = serving(listener, app.clone(), settings);
        app.start().await?;
        Ok(Running {
            origin,
            admin: admin_origin,
            untold_token,
            token_file: keeping.file,
            custody,
            agents: addresses,
            roots,
            serving,
            app,
            node,
            _temporary: self.temporary,
        })
    }

    /// The certificate of its listener, and those that are trusted in addition to the system's.
    async fn certificates(
        &self,
        store: &Store,
        origin: &Url,
    ) -> Result<(Option<Tls>, Vec<Vec<u8>>), Failure> {
        let tls = match &self.tls {
            Some(source) => Some(source.load(&self.data, store, origin).await?),
            None => None,
        };
        // A demonstration does not outlive its terminal.
        if self.temporary.is_none() {
            crate::tls::renew_on_hangup(self.tls.clone().zip(tls.clone()), origin)?;
        }
        let mut roots = self.tls_hosts.load(tls.as_ref())?;
        roots.extend(self.roots.clone());
        Ok((tls, roots))
    }

    async fn bind(&self, at: SocketAddr) -> Result<TcpListener, Failure> {
        match self.shares_address {
            true => bind_beside(at),
            false => bind(at).await,
        }
    }

    async fn records(&self) -> Result<Store, Failure> {
        match &self.database {
            Some(database) => {
                let (data, custody) = (&self.data, &self.custody);
                database.open(data, custody, self.company()).await
            }
            None => records::open(&self.data, &self.custody).await,
        }
    }

    /// Whether other processes may use the records: a registry in this process can't be shared, and a file neither.
    fn company(&self) -> Company {
        let has_registry = self.roles.registry && self.registry.is_empty();
        match self.database.is_some() && !has_registry && self.node.is_none() {
            true => Company::Shared,
            false => Company::Alone,
        }
    }

    fn keeping(&self) -> Keeping {
        let is_shared = self.company() == Company::Shared;
        Keeping::of(&self.data, &self.custody, &self.token, is_shared)
    }

    /// The search index of credential books: where the records are.
    fn book_index(&self) -> Result<Arc<dyn BookIndex>, Failure> {
        Ok(match &self.database {
            Some(database) => Arc::new(database.book_index()?),
            None => Arc::new(SqliteIndex::new(self.data.join(BOOKS))),
        })
    }

    fn parts(
        &self,
        store: Store,
        origin: &Url,
        bound: SocketAddr,
        called: CallingOut<'_>,
    ) -> Result<Parts, Failure> {
        let ledger = if self.roles.registry && self.node.is_none() {
            Some(private_directory::ledger(&self.data)?)
        } else {
            None
        };
        let mut own_origins = vec![origin.origin()];
        own_origins.extend(self.trust.origins.iter().map(Url::origin));
        own_origins.extend(self.registry.iter().map(|node| node.origin.origin()));
        let traced_origins = own_origins.clone();
        own_origins.extend(self.resolver.addresses().map(Url::origin));
        own_origins.extend(self.witnesses.iter().map(|witness| witness.url.origin()));
        own_origins.extend(self.nodes.iter().flat_map(|nodes| nodes.origins()));
        own_origins.extend(called.agents.iter().flat_map(BoundAgent::origins));
        let net = Net::new(Settings {
            own_origins,
            traced_origins,
            extra_roots: called.roots.to_vec(),
            hosts: selfsame_net::localhost(Some(bound.ip())),
            ..Settings::default()
        })
        .map_err(|error| Failure::environment(error.to_string()))?;
        let hsm = self.hsm.as_ref().map(Pkcs11Settings::open).transpose()?;
        Ok(Parts {
            store,
            net,
            ledger,
            hsm,
            book_index: Some(self.book_index()?),
        })
    }

    fn config(&self, origin: Url, agents: &[BoundAgent]) -> Config {
        let registry = if !self.registry.is_empty() {
            RegistryConfig::Remote {
                nodes: self.registry.clone(),
                pin: self.pin.clone(),
                standstill: self.standstill,
                witnesses: self.quorum.clone(),
            }
        } else if self.roles.registry && self.node.is_none() {
            RegistryConfig::Embedded {
                name: "loopback".to_owned(),
                witnesses: self.witnesses.clone(),
            }
        } else {
            RegistryConfig::None
        };
        Config {
            origin,
            roles: self.roles,
            issuer: self.issuer.clone(),
            verifier: self.verifier.clone(),
            wallet: self.wallet.clone(),
            trust: self.trust.clone(),
            registry,
            resolver: self.resolver.clone(),
            organisations: self.organisations,
            agents: agents.iter().map(BoundAgent::config).collect(),
        }
    }
}

impl Validating {
    /// Starts the node and its engine, with the checkpoint's key in the instance's store.
    async fn start(&self, data: &Path, store: &Store) -> Result<Arc<Node>, Failure> {
        let keys = Keys::new(store.clone());
        let tenant =
            TenantId::parse("registry").map_err(|error| Failure::ours(error.to_string()))?;
        let key = self.home.checkpoint_key()?;
        let handle = KeyHandle::of(key.public());
        keys.import(&tenant, key).await?;
        let signer = CheckpointKey {
            name: self.home.name().to_owned(),
            keys,
            tenant,
            key: handle,
        };
        let (home, engine, ledger) = (
            self.home.clone(),
            self.engine.clone(),
            private_directory::ledger(data)?,
        );
        let setup = Setup::new(home, engine, ledger, signer, Clock::default());
        Ok(Arc::new(Node::start(setup).await?))
    }
}

impl Running {
    /// A client that acts as the operator.
    pub fn operator(&self) -> Result<Client, Failure> {
        let token = Some(self.app.operator().pass());
        let origin = self.admin.as_ref().unwrap_or(&self.origin);
        Client::new(origin.clone(), token, self.roots.clone())
    }

    /// A link that signs in the operator's browser.
    ///
    /// # Errors
    /// If it can't be stored.
    pub async fn sign_in_link(&self) -> Result<String, Failure> {
        let link = self.app.operator().link().await?.url;
        Ok(
            match (&self.admin, link.strip_prefix(self.origin.as_str())) {
                (Some(admin), Some(path)) => format!("{admin}{path}"),
                _ => link,
            },
        )
    }

    /// Whether only a few verifiers can verify what its issuer issues.
    pub fn issues_to_few(&self) -> bool {
        self.app.issues_to_few()
    }

    /// Why its registry distrusts the clock; `None` if it trusts it, or if the instance has no registry of its own.
    pub fn clock_doubt(&self) -> Option<String> {
        self.app.times()?.view().doubt.as_ref().map(english)
    }

    /// Serves until `told` completes; then finishes the open requests and closes the data.
    ///
    /// # Errors
    /// If serving ended by itself, or failed.
    pub async fn until(self, told: impl Future<Output = ()>) -> Result<(), Failure> {
        let ended = self.serving.until(told).await;
        self.app.stop().await;
        if let Some(node) = self.node {
            node.stop().await;
        }
        ended
    }
}

/// Serves until it is told to stop.
fn serving(listener: TcpListener, app: Arc<App>, settings: ServerSettings) -> Serving {
    Serving::start(|stopped| {
        let stopped = async {
            let _ = stopped.await;
        };
        selfsame_server::serve(listener, app, settings, stopped)
    })
}

/// Answers the watchdog of systemd while event loops turn. Counts the seconds of the pulse if nothing else does.
fn watch_over(pulse: &Pulse, is_counted: bool) -> Result<(), Failure> {
    let (stuck, counted) = (pulse.clone(), pulse.clone());
    watchdog::start(move || stuck.standstill(), async move {
        if !is_counted {
            counted.count().await;
        }
    })
}

/// Where backups are written, and the files of the master key that are kept with them.
fn backups(data: &Path) -> Backups {
    Backups {
        folder: data.join("backups"),
        with: vec![data.join(SALT_FILE), data.join(WRAPPED_FILE)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_listens_is_called_by_a_name_that_leads_there_or_by_its_address() {
        let origin = |listen: &str| {
            let bound: SocketAddr = listen.parse().unwrap();
            let mut launch = Launch::new(PathBuf::from("data"), bound);
            launch.tls = Some(crate::tls::CertificateSource::SelfMade);
            launch.public_origin(bound).unwrap().to_string()
        };
        assert_eq!(origin("127.0.0.1:7380"), "https://localhost:7380/");
        assert_eq!(origin("[::1]:7380"), "https://localhost:7380/");
        assert_eq!(origin("[::ffff:127.0.0.1]:7380"), "https://localhost:7380/");
        assert_eq!(origin("127.0.0.2:7380"), "https://127.0.0.2:7380/");
        assert_eq!(origin("[fd00::77]:7380"), "https://[fd00::77]:7380/");
    }

    #[test]
    fn plain_http_is_served_to_other_machines_only_where_it_is_allowed() {
        let bound: SocketAddr = "0.0.0.0:7380".parse().unwrap();
        let mut launch = Launch::new(PathBuf::from("data"), bound);
        launch.origin = Some(Url::parse("http://localhost:7380/").unwrap());
        let refused = launch.public_origin(bound).unwrap_err();
        assert_eq!(refused.code(), 2);
        let hint = refused.what_to_do().unwrap();
        assert!(hint.contains("--allow-plain-http"), "{hint}");
        launch.plain_anywhere = true;
        assert!(launch.public_origin(bound).is_ok());
    }

    #[tokio::test]
    async fn a_start_on_data_that_are_in_use_leaves_their_certificate_alone() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        private_directory::take(&data).unwrap();
        let _running = records::open(&data, &Custody::BesideTheData).await.unwrap();
        let certificate = data.join("tls-certificate.pem");
        std::fs::write(&certificate, "that of who runs").unwrap();
        let mut second = Launch::new(data, SocketAddr::from(([127, 0, 0, 1], 0)));
        second.tls = Some(crate::tls::CertificateSource::SelfMade);
        second.origin = Some(Url::parse("https://new.example/").unwrap());
        let refused = second.start().await.err().unwrap();
        assert_eq!(refused.code(), 2, "{refused:?}");
        assert_eq!(
            std::fs::read_to_string(certificate).unwrap(),
            "that of who runs"
        );
    }
}
