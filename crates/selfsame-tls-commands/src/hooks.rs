//! What the program does with files for its TLS commands.

use std::path::Path;

use selfsame_core::config::{ResolverConfig, TrustConfig};
use selfsame_ledger::config::{Pin, RegistryNode, STANDSTILL, WitnessQuorum};
use selfsame_proof::read::TrustRoot;
use selfsame_terminal::exit::Failure;

/// What the program does with files for its TLS commands.
#[derive(Clone, Copy)]
pub struct Hooks {
    /// Reads from a settings file how DIDs are resolved.
    pub read_settings: fn(&Path) -> Result<ResolutionSettings, Failure>,
    /// Reads the trust root of a registry's network.
    pub read_trust_root: fn(&Path) -> Result<TrustRoot, Failure>,
    /// Creates a directory that only its owner can read, or makes a suitable one private.
    pub take_directory: fn(&Path) -> Result<(), Failure>,
}

/// How DIDs are resolved, by a settings file.
pub struct ResolutionSettings {
    /// The trusted parties, and the origins that may be private.
    pub trust: TrustConfig,
    /// The resolvers for DIDs that a node can't resolve itself.
    pub resolver: ResolverConfig,
    /// The registry. An error in it counts only if the command line names no registry.
    pub registry: Result<NamedRegistry, Failure>,
    /// How long, in seconds, a network is read while it makes no new block.
    pub standstill: u64,
    /// The witnesses that must have cosigned the registry's checkpoints. An error counts only if there is a registry.
    pub witnesses: Result<WitnessQuorum, Failure>,
}

/// A registry in other processes.
#[derive(Default)]
pub struct NamedRegistry {
    /// Its nodes; empty if there is no registry.
    pub nodes: Vec<RegistryNode>,
    /// The network that they must be of.
    pub pin: Option<Pin>,
}

impl Default for ResolutionSettings {
    fn default() -> Self {
        Self {
            trust: TrustConfig::default(),
            resolver: ResolverConfig::default(),
            registry: Ok(NamedRegistry::default()),
            standstill: STANDSTILL,
            witnesses: Ok(WitnessQuorum::default()),
        }
    }
}
