//! The subcommands, one file each.

mod askar;
mod bench;
mod check;
mod config;
mod demo;
mod explain;
mod hsm;
pub mod registry;
mod restore;
mod shell;
mod size;
mod study;
mod tenant;
mod up;

use clap::{Parser, Subcommand};
use selfsame_anoncreds_commands::AnonCreds;
use selfsame_api_commands::{ApiCommand, Backup};
use selfsame_certificate_commands::CertificateCommand;
use selfsame_settings::ConfigCommand;
use selfsame_terminal::exit::End;
use selfsame_tls_commands::Tls;

use crate::settings::{HOOKS, Settings};

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
    #[command(flatten)]
    Api(ApiCommand),
    /// Run a scenario from issuance to refusal and print its verdicts.
    Demo(Box<demo::Demo>),
    /// Create and run a registry of several validators.
    Registry(registry::RegistryCommand),
    /// Connect with TLS 1.3, authenticated by DIDs and credentials.
    Tls(Tls),
    /// Back up a running instance.
    Backup(Backup),
    /// Restore a backup into a new data directory.
    Restore(restore::Restore),
    /// Move an organisation, with all its records and keys, to another instance or another back end.
    Tenant(Box<tenant::Tenant>),
    /// Explain what is in a file or a link, and what is wrong with it, offline.
    #[command(alias = "show")]
    Explain(explain::ExplainFile),
    /// Make and explain the certificates of mobile documents.
    Certificate(CertificateCommand),
    /// Check a settings file, before an instance is started with it.
    Config(ConfigCommand),
    /// Check a data directory for damage, while nothing runs on it.
    Check(check::Check),
    /// Run the steps of AnonCreds one by one, with messages in files or pipes.
    #[command(name = "anoncreds")]
    AnonCreds(AnonCreds),
    /// Look into a wallet of Askar, which other agents store their records in, and import it.
    Askar(askar::Askar),
    /// Look into a token of a hardware security module (PKCS#11), and make keys in it.
    Hsm(hsm::Hsm),
    /// Print the completions for a shell.
    Completions(shell::Completions),
    /// Write the manual pages of all commands.
    Manual(shell::Manual),
    /// Run benchmarks.
    Bench(bench::Bench),
    /// Run the five published studies again on this machine, and draw one report.
    Study(Box<study::StudyCommand>),
    /// Work out cores, memory and storage for the sign-ins of a number of people.
    Size(size::Size),
}

impl Cli {
    /// Runs the subcommand.
    pub async fn run(self) -> End {
        match self.verb {
            Verb::Api(command) => command.run().await,
            Verb::Up(up) => up.run().await,
            Verb::Demo(demo) => demo.run().await,
            Verb::Registry(registry) => registry.run().await,
            Verb::Tls(tls) => tls.run(HOOKS).await,
            Verb::Backup(backup) => backup.run().await,
            Verb::Restore(restore) => restore.run().await,
            Verb::Tenant(tenant) => tenant.run().await,
            Verb::Explain(explained) => explained.run(),
            Verb::Certificate(certificate) => certificate.run(),
            Verb::Config(config) => config.run::<Settings>(config::failures),
            Verb::Check(check) => check.run().await,
            Verb::AnonCreds(step) => step.run(),
            Verb::Askar(askar) => askar.run().await,
            Verb::Hsm(hsm) => hsm.run(),
            Verb::Completions(completions) => completions.run(),
            Verb::Manual(manual) => manual.run(),
            Verb::Bench(bench) => bench.run().await,
            Verb::Study(study) => study.run().await,
            Verb::Size(size) => size.run(),
        }
    }
}
