//! The subcommands, one file each.

mod anoncreds;
mod backup;
mod bench;
mod check;
mod credential_type;
mod demo;
mod did;
mod issue;
mod links;
mod organisation;
mod present;
pub mod registry;
mod restore;
mod revoke;
mod status;
mod up;
mod verify;
mod webhook;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use selfsame_core::organisation::OrganisationName;
use selfsame_crypto::SecretString;
use selfsame_driver::data_directory::token_from;
use selfsame_terminal::address;
use selfsame_terminal::exit::{End, Failure};
use selfsame_tls_commands::Tls;
use url::Url;

use crate::client::Client;
use crate::settings::HOOKS;
use crate::tls::Roots;

/// Issue, hold, present, verify and revoke verifiable credentials.
///
/// Exit codes: 0 success or yes, 1 a negative answer, 2 wrong usage or environment, 3 internal error.
#[derive(Parser)]
#[command(
    name = "selfsame",
    version,
    after_help = "Example: selfsame up        starts everything on loopback and prints its address"
)]
pub struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Start an instance: issuer, wallet, verifier and registry, or some of them.
    Up(Box<up::Up>),
    /// Create, show, change and suspend organisations.
    Organisation(organisation::Organisation),
    /// Run a scenario from issuance to refusal and print its verdicts.
    Demo(demo::Demo),
    /// Create, show, resolve, update and deactivate DIDs.
    Did(did::Did),
    /// Create a credential offer.
    Issue(issue::IssueOffer),
    /// Accept a credential offer or answer a presentation request.
    Present(present::Present),
    /// Verify a credential, or request one and wait for the verdict.
    Verify(verify::Verify),
    /// Revoke, suspend or reinstate a credential.
    Revoke(revoke::Revoke),
    /// Send events to another program.
    Webhook(webhook::Webhook),
    /// Create and run a registry of several validators.
    Registry(registry::RegistryCommand),
    /// Create, check, publish, show and retire credential types.
    #[command(name = "type")]
    Type(credential_type::CredentialTypes),
    /// Connect with TLS 1.3, authenticated by DIDs and credentials.
    Tls(Tls),
    /// Show the status of a running instance.
    Status(status::Status),
    /// Print a link that signs in the operator's browser.
    SignIn(links::SignIn),
    /// Print an invitation: a link with which one person can make a wallet.
    Invite(links::Invite),
    /// Back up a running instance.
    Backup(backup::Backup),
    /// Restore a backup into a new data directory.
    Restore(restore::Restore),
    /// Check a data directory for damage, while nothing runs on it.
    Check(check::Check),
    /// Run the steps of AnonCreds one by one, with messages in files or pipes.
    #[command(name = "anoncreds")]
    AnonCreds(anoncreds::AnonCreds),
    /// Run benchmarks.
    Bench(bench::Bench),
}

impl Cli {
    /// Runs the subcommand.
    pub async fn run(self) -> End {
        match self.verb {
            Verb::Up(up) => up.run().await,
            Verb::Demo(demo) => demo.run().await,
            Verb::Did(did) => did.run().await,
            Verb::Organisation(organisation) => organisation.run().await,
            Verb::Issue(issue) => issue.run().await,
            Verb::Present(present) => present.run().await,
            Verb::Verify(verify) => verify.run().await,
            Verb::Revoke(revoke) => revoke.run().await,
            Verb::Webhook(webhook) => webhook.run().await,
            Verb::Registry(registry) => registry.run().await,
            Verb::Type(types) => types.run().await,
            Verb::Tls(tls) => tls.run(HOOKS).await,
            Verb::Status(status) => status.run().await,
            Verb::SignIn(sign_in) => sign_in.run().await,
            Verb::Invite(invite) => invite.run().await,
            Verb::Backup(backup) => backup.run().await,
            Verb::Restore(restore) => restore.run(),
            Verb::Check(check) => check.run().await,
            Verb::AnonCreds(step) => step.run(),
            Verb::Bench(bench) => bench.run().await,
        }
    }
}

/// The instance to call, and the token for it.
#[derive(Args, Clone)]
pub struct Instance {
    /// The instance's base URL.
    #[arg(
        long,
        env = "SELFSAME_INSTANCE",
        default_value = "http://localhost:7380/",
        value_parser = address::parse
    )]
    pub instance: Url,
    /// The operator's token; safer in the environment than on the command line.
    #[arg(long, env = "SELFSAME_TOKEN", hide_env_values = true)]
    pub token: Option<String>,
    /// The file that holds the operator's token.
    #[arg(long, default_value = "data/operator-token")]
    pub token_file: PathBuf,
    /// The trusted certificates.
    #[command(flatten)]
    pub roots: Roots,
    /// The organisation to act for; default: the first one of the instance.
    #[arg(long, env = "SELFSAME_ORGANISATION", value_parser = OrganisationName::parse)]
    pub organisation: Option<OrganisationName>,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub json: bool,
}

impl Instance {
    /// A client that acts as the operator.
    pub fn operator(&self) -> Result<Client, Failure> {
        let token = match &self.token {
            Some(token) if !token.trim().is_empty() => SecretString::new(token.clone()),
            // An empty variable counts as unset.
            _ => token_from(&self.token_file)?,
        };
        let client = Client::new(self.instance.clone(), Some(token), self.roots.read()?)?;
        Ok(match &self.organisation {
            Some(name) if !name.is_main() => client.of_organisation(name.as_str()),
            _ => client,
        })
    }

    /// A client without a token.
    pub fn anybody(&self) -> Result<Client, Failure> {
        Client::new(self.instance.clone(), None, self.roots.read()?)
    }
}

/// Escapes a text as one path segment of a URL.
pub fn segment(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
