//! The processes: a provider, and the mock identity system behind it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use selfsame_bench::Error;
use selfsame_bench::client::BenchClient;
use selfsame_bench::process::{Program, ServerProcess, Usage};

use crate::party::SignedWith;
use crate::watch::{ProcessWatch, WatchedProcess};

/// What the mock identity system's addresses begin with.
pub const IDENTITIES: &str = "/v1/mock-identity-system";
/// The names of the processes.
const PROVIDER: &str = "provider";
const IDENTITY: &str = "identity system";

/// Each sign-in under way has a connection, and there are more of them than the usual limit.
const ROOM: &str = "[limits]\nconnections = 16384\n";

/// What a process used.
pub struct ProcessUsage {
    /// What it is.
    pub name: &'static str,
    /// Its processor time and memory.
    pub usage: Usage,
}

/// A provider with the identity system behind it.
pub struct StagedSignIns {
    provider: ServerProcess,
    identity: ServerProcess,
    data: PathBuf,
}

/// What a provider has written to the disk.
#[derive(Clone, Copy, Debug)]
pub struct WrittenBytes {
    /// The bytes of its records.
    pub records: u64,
    /// Those of its log.
    pub log: u64,
}

/// How the processes are started.
pub struct SignInStaging<'a> {
    /// The name of the provider's data.
    pub name: &'a str,
    /// The identity system.
    pub identity: IdentityStaging,
    /// The token with the provider's signing keys, if they are in one.
    pub token: Option<&'a str>,
}

/// How the identity system is started.
#[derive(Clone, Copy, Debug)]
pub struct IdentityStaging {
    /// How much later it answers to the calls that the study delays.
    pub delay: Duration,
    /// What it signs claims with.
    pub signed_with: SignedWith,
}

impl IdentityStaging {
    /// As the study has it, without its delay.
    pub const UNDELAYED: Self = Self {
        delay: Duration::ZERO,
        signed_with: SignedWith::Rsa,
    };
}

/// Starts the mock identity system, whose people stay from one start to the next.
///
/// # Errors
/// If it can't be started.
pub async fn identity_system(
    program: &Program,
    scratch: &Path,
    staging: IdentityStaging,
) -> Result<ServerProcess, Error> {
    let settings = format!(
        "[sign_in]\npeople = \"mock\"\n[sign_in.mock]\ndelay_ms = {}\nalgorithm = \"{}\"\n{ROOM}",
        staging.delay.as_millis(),
        staging.signed_with.algorithm()
    );
    program.start(&scratch.join("identities"), &settings).await
}

impl StagedSignIns {
    /// Starts both processes.
    ///
    /// # Errors
    /// If one can't be started.
    pub async fn start(
        program: &Program,
        scratch: &Path,
        staging: SignInStaging<'_>,
    ) -> Result<Self, Error> {
        let identity = identity_system(program, scratch, staging.identity).await?;
        // The server answers to its host name.
        let origin = identity.base.replace("127.0.0.1", "localhost");
        let in_token = staging.token.is_some();
        let token = staging
            .token
            .map(|uri| format!("[pkcs11]\ntoken = {uri:?}\nsessions = 8\n"));
        let token = token.unwrap_or_default();
        let settings = format!(
            "[sign_in]\npeople = \"mock\"\nesignet = true\npkcs11_keys = {in_token}\n[sign_in.mock]\n\
             url = \"{origin}{IDENTITIES}/\"\ntime_out = 20\n{token}{ROOM}"
        );
        let data = scratch.join(staging.name);
        let trusted = ["--trust-origin".to_owned(), origin];
        let provider = program.start_with(&data, &settings, &trusted).await?;
        Ok(Self {
            provider,
            identity,
            data,
        })
    }

    /// A client of the provider.
    pub fn client(&self) -> BenchClient {
        BenchClient::new(&self.provider.base)
    }

    /// The operator's token at the provider.
    pub fn operator(&self) -> &str {
        &self.provider.operator
    }

    /// Watches the processes from now on.
    pub fn watch(&self) -> ProcessWatch {
        ProcessWatch::begin(&self.processes().map(|(process, _)| process))
    }

    /// What each process used so far.
    pub fn used(&self) -> Vec<ProcessUsage> {
        let used = self.processes().map(|(process, usage)| ProcessUsage {
            name: process.name,
            usage,
        });
        used.into()
    }

    /// What the provider used so far.
    pub fn used_of_provider(&self) -> Usage {
        self.provider.usage()
    }

    /// What each process used since then, with its memory now.
    pub fn used_since(&self, before: &[ProcessUsage]) -> Vec<ProcessUsage> {
        let mut used = self.used();
        for (now, before) in used.iter_mut().zip(before) {
            now.usage.cpu_s -= before.usage.cpu_s;
        }
        used
    }

    /// What the provider has written so far.
    pub fn written(&self) -> WrittenBytes {
        let size = |name: &str| {
            let file = self.data.join(name).metadata();
            file.map_or(0, |file| file.len())
        };
        WrittenBytes {
            records: size("store.sqlite") + size("store.sqlite-wal"),
            log: size("log"),
        }
    }

    fn processes(&self) -> [(WatchedProcess, Usage); 2] {
        [(PROVIDER, &self.provider), (IDENTITY, &self.identity)].map(|(name, server)| {
            let id = server.id();
            (WatchedProcess { name, id }, server.usage())
        })
    }
}
