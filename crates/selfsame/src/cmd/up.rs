//! `selfsame up`: starts an instance and stays until it is told to go.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use selfsame_app::config::{ResolverConfig, Roles};
use selfsame_crypto::SecretString;
use url::Url;

use crate::client::token_from;
use crate::cmd::demo;
use crate::exit::{Answer, End, Failure};
use crate::instance::{Launch, Running};
use crate::master_key::Custody;
use crate::output;
use crate::scenario::{self, Cast, Scenario};
use crate::settings::Settings;
use crate::tls::Source;

/// Start an instance: issuer, wallet, verifier and registry, or some of them.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame up --role issuer --data issuer-data --listen 127.0.0.1:7381

Environment: SELFSAME_PASSPHRASE makes the master key of a passphrase, in place of a file.
             SELFSAME_LOG says what is logged, such as `info` (default: warnings and refusals)."
)]
pub struct Up {
    /// The directory of all data; made if it is not there.
    #[arg(long, default_value = "data")]
    data: PathBuf,
    /// Where to listen.
    #[arg(long, default_value = "127.0.0.1:7380")]
    listen: SocketAddr,
    /// The public base of all URLs, unless it is the address listened on.
    #[arg(long)]
    origin: Option<Url>,
    /// What to do; everything unless told. May be repeated or separated by commas.
    #[arg(long, value_enum, value_delimiter = ',')]
    role: Vec<Role>,
    /// A registry in another process.
    #[arg(long, requires = "registry_token_file")]
    registry: Option<Url>,
    /// The file that holds that registry's operator token.
    #[arg(long)]
    registry_token_file: Option<PathBuf>,
    /// A Universal Resolver for the DID methods that are not known here; for all of them, unless the file of settings
    /// lists some.
    #[arg(long)]
    foreign_resolver: Option<Url>,
    /// An exact origin that may be private or plain http: a sister process. May be repeated.
    #[arg(long)]
    trust_origin: Vec<Url>,
    /// An issuer to trust, as DID or URL. May be repeated.
    #[arg(long)]
    trust_issuer: Vec<String>,
    /// A file of settings, TOML: `[issuer]`, `[verifier]`, `[trust]`, `[resolver]`, `[registry]`.
    #[arg(long)]
    config: Option<PathBuf>,
    /// The file with the master key.
    #[arg(long, conflicts_with = "passphrase")]
    master_key_file: Option<PathBuf>,
    /// The passphrase that the master key is made of; only by the environment.
    #[arg(long, env = "SELFSAME_PASSPHRASE", hide = true, hide_env_values = true)]
    passphrase: Option<String>,
    /// The TLS certificate chain, PEM.
    #[arg(long, requires = "tls_key")]
    tls_certificate: Option<PathBuf>,
    /// The certificate's key, PEM.
    #[arg(long, requires = "tls_certificate")]
    tls_key: Option<PathBuf>,
    /// Serve TLS with a certificate made for this purpose.
    #[arg(long, conflicts_with = "tls_certificate")]
    tls_self_made: bool,
    /// Do not walk the first scenario.
    #[arg(long)]
    no_demo: bool,
}

/// A role of an instance.
#[derive(Clone, Copy, Eq, PartialEq, ValueEnum)]
enum Role {
    /// Issues credentials.
    Issuer,
    /// Keeps people's credentials.
    Wallet,
    /// Asks for presentations.
    Verifier,
    /// Runs the registry.
    Registry,
}

impl Up {
    /// Starts, tells where to look, and stays.
    pub async fn run(self) -> End {
        crate::log::start();
        let (no_demo, data) = (self.no_demo, self.data.clone());
        let launch = self.launch()?;
        let all = launch.roles == Roles::ALL;
        let running = launch.start().await?;
        if all && !no_demo {
            first_scenario(&running).await?;
        }
        tell(&running, &data);
        until_told_to_go().await;
        running.stop().await;
        Ok(Answer::Yes)
    }

    fn launch(self) -> Result<Launch, Failure> {
        let file = self
            .config
            .as_deref()
            .map(Settings::read)
            .transpose()?
            .unwrap_or_default();
        let registry = match (self.registry, &self.registry_token_file) {
            (Some(url), Some(token)) => Some((url, token_from(token)?)),
            _ => None,
        };
        let mut launch = Launch::new(self.data, self.listen);
        launch.origin = self.origin;
        launch.roles = roles(&self.role, registry.is_some());
        launch.issuer = file.issuer;
        launch.verifier = file.verifier;
        launch.trust = file.trust;
        launch.trust.origins.extend(self.trust_origin);
        launch.trust.issuers.extend(self.trust_issuer);
        launch.registry = registry;
        launch.open_registration = file.registry.open_registration;
        launch.resolver = resolver(file.resolver, self.foreign_resolver);
        launch.custody = match (self.master_key_file, self.passphrase) {
            (Some(file), _) => Custody::File(file),
            (None, Some(passphrase)) => Custody::Passphrase(SecretString::from(passphrase)),
            (None, None) => Custody::BesideTheData,
        };
        launch.tls = match (self.tls_certificate, self.tls_key) {
            (Some(certificates), Some(key)) => Some(Source::Given { certificates, key }),
            _ if self.tls_self_made => Some(Source::SelfMade),
            _ => None,
        };
        Ok(launch)
    }
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

async fn first_scenario(running: &Running) -> Result<(), Failure> {
    let operator = running.operator()?;
    let cast = Cast {
        issuer: operator.clone(),
        wallet: operator.clone(),
        verifier: operator,
    };
    let mut tell = |step: &scenario::StepTime| {
        output::say(&format!("  {:<18} {:>8.2} ms", step.name, step.ms))
    };
    output::say("immunization");
    let story = scenario::play(Scenario::Immunization, &cast, &mut tell).await?;
    demo::tell_people(&story);
    Ok(())
}

fn tell(running: &Running, data: &Path) {
    output::say("");
    output::say(&format!("  {}", running.origin));
    if running.first_start {
        let link = format!(
            "{}operator/sign-in?token={}",
            running.origin,
            running.operator_token.expose()
        );
        output::say(&format!("  sign in as the operator (shown once): {link}"));
    } else {
        let file = data.join("operator-token");
        output::say(&format!("  The operator's token is in {}.", file.display()));
    }
    output::say(&format!("  {}", running.custody));
    output::say("  Ctrl-C stops it.");
}

async fn until_told_to_go() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
        }
        Err(_) => {
            let _ = tokio::signal::ctrl_c().await;
        }
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
