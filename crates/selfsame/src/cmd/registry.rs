//! `selfsame registry`: creates networks of validators, runs their nodes, shows their status.

mod admit;
mod archive;
mod init;
mod join;
mod node;
mod status;
mod validators;

pub mod loopback;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use selfsame_abci::Engine;
use selfsame_api_commands::ClockOfRegistry;
use selfsame_terminal::exit::{End, Failure};

/// Where `cargo xtask cometbft` installs the engine, in a checkout.
const BUILT: &str = "target/cometbft";

/// Create and run a registry of several validators.
#[derive(Args)]
#[command(after_help = "Example: selfsame registry init --validators 4 network
         selfsame registry node network/node-1
         selfsame registry status http://localhost:7390/

All steps: docs/network.md")]
pub struct RegistryCommand {
    #[command(subcommand)]
    verb: RegistryVerb,
}

#[derive(Subcommand)]
enum RegistryVerb {
    /// Create a network: a folder for each node, the trust root for readers, the trustee's key.
    Init(init::Init),
    /// Run a node: its CometBFT process and the registry's HTTP interface.
    Node(Box<node::RunNode>),
    /// Show the status of a network's nodes, and what they prove.
    Status(status::NodesStatus),
    /// Create the folder of a further node, which begins with a snapshot of the other nodes' ledger.
    Join(Box<join::Join>),
    /// Admit another node as a peer, or stop admitting it.
    Admit(admit::Admit),
    /// Add a node to the validators; its folder is created if it does not exist.
    AddValidator(Box<validators::Add>),
    /// Remove a node from the validators.
    RemoveValidator(Box<validators::Remove>),
    /// Show whether an instance's own registry trusts the clock, or confirm the clock.
    Clock(ClockOfRegistry),
    /// Export a whole registry into one file.
    Export(archive::Export),
    /// Import an exported registry into an empty directory, and verify every transaction.
    Import(archive::Import),
}

impl RegistryCommand {
    /// Runs the subcommand.
    pub async fn run(self) -> End {
        match self.verb {
            RegistryVerb::Init(init) => init.run().await,
            RegistryVerb::Node(node) => node.run().await,
            RegistryVerb::Status(status) => status.run().await,
            RegistryVerb::Join(join) => join.run().await,
            RegistryVerb::Admit(admit) => admit.run().await,
            RegistryVerb::AddValidator(add) => add.run().await,
            RegistryVerb::RemoveValidator(remove) => remove.run().await,
            RegistryVerb::Clock(clock) => clock.run().await,
            RegistryVerb::Export(export) => export.run().await,
            RegistryVerb::Import(import) => import.run().await,
        }
    }
}

/// Where the engine's program is.
#[derive(Args, Clone)]
pub struct EngineAt {
    /// CometBFT's program; default: the one next to this program, in target/cometbft or on the PATH.
    #[arg(long, env = "SELFSAME_COMETBFT", value_name = "FILE")]
    engine: Option<PathBuf>,
    /// Where programs are.
    #[arg(long, env = "PATH", hide = true, hide_env_values = true)]
    path: Option<OsString>,
}

impl EngineAt {
    /// The engine, if it is installed and of the supported release.
    ///
    /// # Errors
    /// If not, with the documented step to install it.
    pub async fn find(&self) -> Result<Engine, Failure> {
        if let Some(program) = &self.engine {
            return Ok(Engine::at(program).await?);
        }
        let own = std::env::current_exe().ok();
        let beside = own.iter().filter_map(|program| program.parent());
        // In a checkout this program is in target/debug or target/release.
        let built = beside
            .clone()
            .filter_map(Path::parent)
            .map(|target| target.join("cometbft"));
        let mut folders: Vec<PathBuf> = beside.clone().map(Path::to_owned).collect();
        folders.extend(built);
        folders.push(PathBuf::from(BUILT));
        folders.extend(self.path.iter().flat_map(std::env::split_paths));
        Ok(Engine::find(folders).await?)
    }
}
