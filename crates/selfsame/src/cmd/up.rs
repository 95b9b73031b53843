//! `selfsame up`: starts an instance and runs it until it is stopped.

mod replicas;

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use selfsame_app::config::Roles;
use selfsame_app::traces::Traces;
use selfsame_core::config::ResolverConfig;
use selfsame_ledger::config::{Pin, RegistryNode};
use selfsame_ledger::log_origin;
use selfsame_network::NodeClient;
use selfsame_network::loopback::Loopback;
use selfsame_registry::Genesis;
use selfsame_settings::Role;
use selfsame_settings::files::registry_token;
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::interrupt::{until_the_input_ends, until_told_or, until_told_to_go};
use selfsame_terminal::master_key::MasterKey;
use selfsame_terminal::systemd::ServiceManager;
use selfsame_terminal::{address, output};
use selfsame_wallet::config::Registration;
use serde::Serialize;
use url::Url;

use crate::agents::AgentAddresses;
use crate::cmd::demo;
use crate::cmd::registry::{EngineAt, loopback};
use crate::database::DatabaseOptions;
use crate::instance::{Launch, Running};
use crate::operator_token::OperatorToken;
use crate::private_directory;
use crate::settings::Settings;
use crate::tls::{Certificate, HostCertificates};
use crate::traces::TracesOptions;
use crate::trusting::Trusting;
use selfsame_api_commands::scenario::{self, Cast, Items, Scenario, Story};
use selfsame_api_commands::{Client, Roots};

/// Distance from the instance's port to the first port of a network on this machine.
const BESIDE: u16 = 10;
/// Where the data are, and where the instance listens, if nothing says otherwise.
const DATA: &str = "data";
const LISTEN: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 7380));

const WITHOUT_IT: &str = "the first scenario calls the instance at its own origin; --no-demo starts without the scenario";

/// Start an instance: issuer, wallet, verifier and registry, or some of them.
#[derive(Args)]
#[command(after_help = "Example: selfsame up
         selfsame up --validators 4        runs the registry as a network of four nodes on this machine
         selfsame up --database postgres://selfsame@localhost/selfsame        keeps the records in PostgreSQL
         selfsame up --replicas 3 --database postgres://selfsame@localhost/selfsame        serves by three processes

Four processes on this machine:
         selfsame up --role registry
         selfsame up --role issuer --data issuer-data --listen 127.0.0.1:7381 \\
             --registry http://localhost:7380/ --registry-token-file data/operator-token
         selfsame up --role wallet --data wallet-data --listen 127.0.0.1:7382 \\
             --registry http://localhost:7380/ --registry-token-file data/operator-token \\
             --trust-origin http://localhost:7381/ --trust-origin http://localhost:7383/
         selfsame up --role verifier --data verifier-data --listen 127.0.0.1:7383 \\
             --registry http://localhost:7380/ --registry-token-file data/operator-token \\
             --trust-origin http://localhost:7381/ --trust-issuer did:jwk:… --trust-issuer did:selfsame:…
The wallet calls the issuer and the verifier, and the verifier calls the issuer. --trust-origin allows plain http for it.
The verifier accepts credentials only of issuers that it trusts. `selfsame status` shows an issuer's DIDs: one in most
credentials, and one in single-use credentials.

Environment: SELFSAME_PASSPHRASE derives the master key from a passphrase, instead of reading it from a file.
             SELFSAME_PKCS11_PIN is the PIN of the hardware security module, if no file has it.
             SELFSAME_LOG sets what is logged, such as `info` (default: warnings and refusals).")]
pub struct Up {
    /// The directory of all data; created if it does not exist [default: data].
    #[arg(long)]
    data: Option<PathBuf>,
    /// The address to listen on [default: 127.0.0.1:7380].
    #[arg(long)]
    listen: Option<SocketAddr>,
    /// The public base of all URLs; default: the address listened on.
    #[arg(long)]
    origin: Option<Url>,
    /// The roles of this instance; default: all. May be repeated or separated by commas.
    #[arg(long, value_enum, value_delimiter = ',')]
    role: Vec<Role>,
    /// Run the registry as a network of this many validators on this machine.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=100), conflicts_with = "registry")]
    validators: Option<u16>,
    #[command(flatten)]
    engine: EngineAt,
    /// The base URL of a registry in another process.
    #[arg(long, requires = "registry_token_file", value_parser = address::parse)]
    registry: Option<Url>,
    /// The file that holds that registry's operator token.
    #[arg(long)]
    registry_token_file: Option<PathBuf>,
    /// A Universal Resolver for DID methods that this instance does not support; for all of them, unless the settings
    /// file lists some.
    #[arg(long, value_parser = address::parse)]
    foreign_resolver: Option<Url>,
    /// An exact origin that may be private or use plain http, such as another local instance. A wallet on loopback
    /// needs the origins of each issuer and verifier, a verifier those of each issuer. May be repeated.
    #[arg(long, value_parser = address::parse)]
    trust_origin: Vec<Url>,
    /// An issuer to trust, as DID or URL; without it, only this instance is trusted. May be repeated.
    #[arg(long)]
    trust_issuer: Vec<String>,
    #[command(flatten)]
    database: DatabaseOptions,
    #[command(flatten)]
    traces: TracesOptions,
    /// Run this many processes on the database and on one address, and the registry in a process of its own. One that ends
    /// is started again.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(2..=64), conflicts_with_all = ["validators", "demo", "tls_self_made"])]
    replicas: Option<u16>,
    /// Which of these processes this is.
    #[arg(long, hide = true, requires = "replicas")]
    replica: Option<u16>,
    /// A settings file in TOML, which `selfsame config check` checks: `[instance]` has the data, the listener and the roles, and options win over it; `[admin]`, `[issuer]`, `[verifier]`, `[wallet]`, `[trust]`, `[resolver]`, `[vc_api]`, `[organisations]`, `[database]`,
    /// `[pkcs11]`, `[registry]`, `[tls]`, `[health]`, `[traces]`, `[limits]`, `[[agents]]`. On SIGHUP, `[trust]` and `[[tls.hosts]]` are read again. For a supervisor, `[health] listen` serves `/livez`
    /// on a separate thread.
    #[arg(long)]
    config: Option<PathBuf>,
    #[command(flatten)]
    master_key: MasterKey,
    #[command(flatten)]
    token: OperatorToken,
    #[command(flatten)]
    certificate: Certificate,
    #[command(flatten)]
    roots: Roots,
    /// Do not run the first scenario: an immunization is issued, shown, revoked and refused. It runs only on data
    /// without any credential or offer, and never with --config.
    #[arg(long)]
    no_demo: bool,
    /// Run the first scenario, although the data have credentials or offers already.
    #[arg(long, conflicts_with_all = ["no_demo", "config"])]
    demo: bool,
    /// Print one JSON object once the instance serves, instead of text.
    #[arg(long)]
    json: bool,
}

/// The warning for an instance whose DIDs only its own registry resolves.
const TO_FEW: &str = "  Credentials name a did:selfsame, which can't be resolved without this registry. For wallets of other software, begin with new data, without issuer_did = \"own\" under [issuer] (docs/settings.md).";

/// When it starts with the first scenario, and how it prints.
#[derive(Clone, Copy)]
struct Manner {
    demo: Demo,
    json: bool,
}

/// When it starts with the first scenario.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Demo {
    Never,
    OnFreshData,
    Always,
}

impl Up {
    /// Starts the instance, prints its addresses, and runs it.
    pub async fn run(self) -> End {
        selfsame_terminal::log::start();
        let settled = self.settled()?;
        match (settled.replicas, settled.replica) {
            (Some(_), Some(number)) => settled.part_of(number)?.run_alone().await,
            (Some(count), None) => settled.supervise(count).await,
            (None, _) => settled.run_alone().await,
        }
    }

    /// With what `[instance]` of the settings file says where no option does.
    fn settled(mut self) -> Result<Self, Failure> {
        let file = self.config.as_deref().map(Settings::read).transpose()?;
        let file = file.unwrap_or_default().instance;
        self.data = self.data.or_else(|| file.data.clone());
        self.listen = self.listen.or(file.listen);
        self.origin = self.origin.or(file.origin.clone());
        if self.role.is_empty() {
            self.role.clone_from(&file.roles);
        }
        self.certificate.unless_named(&file);
        self.master_key
            .unless_named(file.master_key_file, file.master_key_pkcs11);
        if let Some(file) = file.operator_token_file {
            self.token.unless_named(file);
        }
        Ok(self)
    }

    fn data(&self) -> &Path {
        self.data.as_deref().unwrap_or(Path::new(DATA))
    }

    fn listen(&self) -> SocketAddr {
        self.listen.unwrap_or(LISTEN)
    }

    async fn run_alone(self) -> End {
        let manner = Manner {
            demo: match (self.no_demo || self.config.is_some(), self.demo) {
                (true, _) => Demo::Never,
                (false, true) => Demo::Always,
                (false, false) => Demo::OnFreshData,
            },
            json: self.json,
        };
        if self.validators.is_some() && !self.role.is_empty() {
            return Err(Failure::environment("--validators starts all roles, so it can't be combined with --role")
                .hint("leave out --role; or create the network separately (selfsame registry init) and name its nodes to each role (docs/network.md)"));
        }
        let network = match self.validators {
            Some(count) => Some(self.network(count).await?),
            None => None,
        };
        let ended = self.serve(network.as_ref(), manner).await;
        if let Some(network) = network {
            network.stop().await;
        }
        ended
    }

    /// Starts the network that is this instance's registry.
    async fn network(&self, count: u16) -> Result<Loopback, Failure> {
        let engine = self.engine.find().await?;
        private_directory::take(self.data())?;
        let port = self.listen().port().saturating_add(BESIDE);
        let keeping = loopback::keeping(&engine)?;
        Ok(Loopback::start(self.data(), count, port, &keeping).await?)
    }

    async fn serve(self, network: Option<&Loopback>, manner: Manner) -> End {
        let is_leashed = self.replica.is_some();
        let mut launch = self.launch()?;
        let all = launch.roles == Roles::ALL;
        if let Some(network) = network {
            if !launch.registry.is_empty() {
                return Err(Failure::environment(
                    "--validators creates a registry, but the settings file names another one",
                )
                .hint("leave out --validators, or [registry] in the settings file"));
            }
            launch.roles.registry = false;
            launch.registry.clone_from(&network.nodes);
            launch.pin = Some(network.pin.clone());
        }
        if !launch.witnesses.is_empty() && !launch.roles.registry {
            return Err(Failure::environment(
                "[registry] witnesses receive checkpoints of an embedded registry, but none runs here",
            )
            .hint("leave it out; for a registry in another process, name its nodes too, and only the witnesses' keys (docs/registry.md)"));
        }
        agree(&launch).await?;
        // The demonstration's person creates a wallet as anyone would.
        let anybody = launch.wallet.registration == Registration::Open;
        let leash = is_leashed.then(until_the_input_ends).transpose()?;
        let traces = launch.traces.take().map(Traces::start).transpose()?;
        let running = launch.start().await?;
        let story = match all && anybody {
            true => {
                let story = first_scenario(&running, manner).await;
                story.map_err(|failure| failure.hint(WITHOUT_IT))?
            }
            false => None,
        };
        let link = running.sign_in_link().await?;
        if manner.json {
            output::json(&Said::of(&running, link, network, story));
        } else {
            tell(&running, &link);
            if let Some(network) = network {
                tell_of(network);
            }
            output::say("  Ctrl-C stops it.");
        }
        let manager = ServiceManager::of_environment();
        manager.ready();
        let told = async {
            match leash {
                Some(leash) => until_told_or(leash).await,
                None => until_told_to_go().await,
            }
            manager.stopping();
        };
        running.until(told).await?;
        if let Some(traces) = traces {
            traces.stop().await;
        }
        Ok(Answer::Yes)
    }

    fn launch(self) -> Result<Launch, Failure> {
        let mut launch = Launch::new(self.data().to_owned(), self.listen());
        let file = self
            .config
            .as_deref()
            .map(Settings::read)
            .transpose()?
            .unwrap_or_default();
        let registry = match (self.registry, &self.registry_token_file) {
            (Some(origin), Some(file)) => {
                let token = registry_token(file)?;
                vec![RegistryNode { origin, token }]
            }
            _ => file.registry.nodes()?,
        };
        launch.acme = file.tls.iter().find_map(|tls| tls.acme.clone());
        launch.tls_hosts = HostCertificates {
            settings: self.config.clone(),
            is_ordered: launch.acme.is_some(),
            listed: file.tls.iter().flat_map(|tls| tls.hosts.clone()).collect(),
        };
        let node = file.tls.filter(|tls| tls.identity.is_some());
        launch.trusting = self.config.map(|path| Trusting {
            file: path,
            issuers: self.trust_issuer.clone(),
            origins: file.trust.origins.clone(),
        });
        launch.roots = self.roots.read()?;
        launch.origin = self.origin;
        launch.roles = roles(&self.role, !registry.is_empty());
        launch.issuer = file.issuer;
        launch.verifier = file.verifier;
        launch.wallet = file.wallet;
        launch.sign_in = file.sign_in;
        launch.trust = file.trust;
        launch.trust.origins.extend(self.trust_origin);
        launch.trust.issuers.extend(self.trust_issuer);
        launch.registry = registry;
        launch.pin = file.registry.pin()?;
        launch.standstill = file.registry.standstill();
        if launch.registry.is_empty() && self.validators.is_none() {
            file.registry.without_nodes()?;
        }
        match launch.registry.is_empty() {
            true => launch.witnesses = file.registry.shown_to()?,
            false => launch.quorum = file.registry.quorum()?,
        }
        for node in &launch.registry {
            address::check_unless_trusted(&node.origin, &launch.trust.origins)?;
        }
        launch.open_registration = file.registry.open_registration;
        launch.vc_api = file.vc_api;
        launch.resolver = resolver(file.resolver, self.foreign_resolver);
        launch.organisations = file.organisations;
        launch.agents = file.agents;
        launch.hsm = file.pkcs11;
        launch.database = self.database.database(file.database)?;
        launch.traces = self.traces.config(file.traces, &launch.roots)?;
        launch.custody = self.master_key.custody(&launch.data)?;
        launch.token = self.token;
        launch.tls = self.certificate.source_or(launch.acme.is_some())?;
        launch.nodes = node.map(Arc::new);
        launch.plain_anywhere = self.certificate.plain_anywhere();
        launch.health = file.health.listen;
        launch.admin = file.admin;
        launch.limits = file.limits.limits()?;
        launch.shares_address = self.replica.is_some();
        Ok(launch)
    }
}

/// Checks that the registry's nodes, as far as they respond, are of the pinned network.
async fn agree(launch: &Launch) -> Result<(), Failure> {
    let pinned = match &launch.pin {
        Some(Pin::Trust(root)) => root.origin.clone(),
        Some(Pin::Network(name)) => format!("selfsame/{name}"),
        None => return Ok(()),
    };
    for node in &launch.registry {
        let client = NodeClient::checked(&node.origin, &launch.roots.clone().into())?;
        let Ok(genesis) = client.get("registry/genesis").await else {
            continue;
        };
        let served = match Genesis::from_bytes(&genesis) {
            Ok(genesis) => log_origin(&genesis.network()),
            Err(malformed) => malformed.to_string(),
        };
        if served != pinned {
            return Err(Failure::environment(format!(
                "the registry at {} is refused: it is {served}, but [registry] pins {pinned}",
                node.origin
            ))
            .hint("use the trust root that was created with this network, or the network that belongs to this trust root"));
        }
    }
    Ok(())
}

fn resolver(mut settings: ResolverConfig, universal: Option<Url>) -> ResolverConfig {
    if let Some(universal) = universal {
        settings.universal = Some(universal);
        if settings.universal_methods.is_empty() {
            settings
                .universal_methods
                .push(ResolverConfig::EVERY_METHOD.to_owned());
        }
    }
    settings
}

fn roles(named: &[Role], registry_elsewhere: bool) -> Roles {
    let all = named.is_empty();
    let has = |role| all || named.contains(&role);
    Roles {
        issuer: has(Role::Issuer),
        wallet: has(Role::Wallet),
        verifier: has(Role::Verifier),
        registry: has(Role::Registry) && !registry_elsewhere,
    }
}

/// Whether nothing was issued or offered yet.
async fn is_fresh(operator: &Client) -> Result<bool, Failure> {
    for list in ["credentials", "offers"] {
        let path = format!("/api/issuer/{list}?limit=1");
        let listed: Items<serde_json::Value> = operator.get(&path).await?;
        if !listed.items.is_empty() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Runs the first scenario, if it is wanted on these data.
async fn first_scenario(running: &Running, manner: Manner) -> Result<Option<Story>, Failure> {
    if manner.demo == Demo::Never {
        return Ok(None);
    }
    let operator = running.operator()?;
    if manner.demo == Demo::OnFreshData && !is_fresh(&operator).await? {
        return Ok(None);
    }
    let cast = Cast {
        issuer: operator.clone(),
        wallet: operator.clone(),
        verifier: operator,
    };
    let mut tell = |step: &scenario::StepTime| {
        if !manner.json {
            output::say(&format!("  {:<18} {:>8.2} ms", step.name, step.ms));
        }
    };
    if !manner.json {
        output::say("immunization");
    }
    let story = scenario::play(Scenario::Immunization, &cast, &mut tell).await?;
    if !manner.json {
        demo::tell_people(&story);
    }
    Ok(Some(story))
}

/// What the command prints in JSON once the instance serves.
#[derive(Serialize)]
struct Said {
    origin: Url,
    /// The file of the operator's token, if it is kept in one.
    operator_token_file: Option<PathBuf>,
    /// The operator's token, if it is new and kept in no file.
    operator_token: Option<String>,
    /// Where those who work for organisations call it, if that is elsewhere.
    admin: Option<Url>,
    /// A link that signs in the operator: works once, for ten minutes.
    sign_in: String,
    /// Whether only those who know its registry can verify what it issues.
    issues_to_few: bool,
    /// The nodes of the network that is its registry.
    validators: Vec<Url>,
    /// The Aries agents.
    agents: Vec<AgentAddresses>,
    /// The first scenario, if it was run.
    demo: Option<Story>,
}

impl Said {
    fn of(
        running: &Running,
        sign_in: String,
        network: Option<&Loopback>,
        demo: Option<Story>,
    ) -> Self {
        let nodes = network.map(|network| network.nodes.iter());
        Self {
            origin: running.origin.clone(),
            operator_token_file: running.token_file.clone(),
            operator_token: running
                .untold_token
                .as_ref()
                .map(|token| token.expose().to_owned()),
            admin: running.admin.clone(),
            sign_in,
            issues_to_few: running.issues_to_few(),
            validators: (nodes.into_iter().flatten())
                .map(|node| node.origin.clone())
                .collect(),
            agents: running.agents.clone(),
            demo,
        }
    }
}

fn tell(running: &Running, link: &str) {
    output::say("");
    output::say(&format!("  {}", running.origin));
    if let Some(admin) = &running.admin {
        output::say(&format!("  Those who work for organisations call {admin}"));
    }
    output::say(&format!(
        "  sign in as the operator (works once, for ten minutes): {link}"
    ));
    match (&running.token_file, &running.untold_token) {
        (Some(file), _) => {
            output::say(&format!("  The operator's token is in {}.", file.display()))
        }
        (None, Some(token)) => output::say(&format!(
            "  The operator's token, shown only now (keep it in a password manager): {}",
            token.expose()
        )),
        (None, None) => {
            output::say(
                "  The operator's token was shown once; --new-operator-token creates another.",
            );
        }
    }
    output::say(&format!("  {}", running.custody));
    for agent in &running.agents {
        let AgentAddresses {
            organisation,
            admin,
            endpoint,
        } = agent;
        output::say(&format!(
            "  The agent of {organisation}: admin API at http://{admin}/api/doc, peers at {endpoint}"
        ));
    }
    if running.issues_to_few() {
        output::say(TO_FEW);
    }
    if let Some(doubt) = running.clock_doubt() {
        output::say(&format!(
            "  The registry writes nothing yet: {doubt}. If the clock is right: selfsame registry clock --confirm"
        ));
    }
}

fn tell_of(network: &Loopback) {
    let goes_on = match network.spares_one {
        true => "it continues if any one of them is killed",
        false => "it stops while any one of them is down",
    };
    output::say(&format!(
        "  The registry is a network of validators; {goes_on}:"
    ));
    for node in &network.nodes {
        output::say(&format!("    {}registry", node.origin));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resolver_of_the_command_line_is_asked_for_all_methods_unless_the_file_lists_some() {
        let url = || Some(Url::parse("https://resolver.example/").unwrap());
        let all = resolver(ResolverConfig::default(), url());
        assert!(all.asks_universal("ion") && !all.asks_universal("web"));
        let listed = ResolverConfig {
            universal_methods: vec!["ebsi".to_owned()],
            ..ResolverConfig::default()
        };
        let some = resolver(listed, url());
        assert!(some.asks_universal("ebsi") && !some.asks_universal("ion"));
        assert!(
            resolver(ResolverConfig::default(), None)
                .universal
                .is_none()
        );
    }
}
