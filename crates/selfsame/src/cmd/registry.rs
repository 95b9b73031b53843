//! `selfsame registry`: creates networks of validators, runs their nodes, shows their status.

mod admit;
mod archive;
mod clock;
mod files;
mod init;
mod join;
mod node;
mod readiness;
mod status;
mod validators;

pub mod face;
pub mod loopback;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use selfsame_abci::Engine;

use crate::exit::{End, Failure};

/// Where `cargo xtask cometbft` installs the engine, in a checkout.
const BUILT: &str = "target/cometbft";

/// Make and run a registry of several validators.
#[derive(Args)]
#[command(after_help = "Example: selfsame registry init --validators 4 network
         selfsame registry node network/node-1
         selfsame registry status http://localhost:7390/

All steps: docs/network.md")]
pub struct Registry {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Make a network: a folder for each node, the trust root for readers, the key that governs.
    Init(init::Init),
    /// Run a node: both of its halves, and the registry's face over HTTP.
    Node(Box<node::Node>),
    /// Say how the nodes of a network are, and what they prove.
    Status(status::Status),
    /// Make the folder of a further node, which begins with a snapshot of the others' ledger.
    Join(Box<join::Join>),
    /// Admit a further node to one's own, or no longer.
    Admit(admit::Admit),
    /// Let a further node validate; its folder is made where it is not there.
    AddValidator(Box<validators::Add>),
    /// Let a node validate no longer.
    RemoveValidator(Box<validators::Remove>),
    /// Say whether an instance's own registry believes the clock, or vouch for the clock.
    Clock(clock::Clock),
    /// Write all that a registry holds into one file.
    Export(archive::Export),
    /// Read such a file into an empty directory, and judge every transaction of it.
    Import(archive::Import),
}

impl Registry {
    /// Runs the subcommand.
    pub async fn run(self) -> End {
        match self.verb {
            Verb::Init(init) => init.run().await,
            Verb::Node(node) => node.run().await,
            Verb::Status(status) => status.run().await,
            Verb::Join(join) => join.run().await,
            Verb::Admit(admit) => admit.run().await,
            Verb::AddValidator(add) => add.run().await,
            Verb::RemoveValidator(remove) => remove.run().await,
            Verb::Clock(clock) => clock.run().await,
            Verb::Export(export) => export.run().await,
            Verb::Import(import) => import.run().await,
        }
    }
}

/// Where the engine's program is.
#[derive(Args, Clone)]
pub struct EngineAt {
    /// CometBFT's program; unless told, it is looked for beside this program, in target/cometbft and on the PATH.
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
