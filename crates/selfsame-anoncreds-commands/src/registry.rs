//! The steps of revocation: registry, status lists.

use std::path::PathBuf;

use clap::Args;
use selfsame_anoncreds::cl::revocation::IssuedAtStart;
use selfsame_anoncreds::format::{
    CredentialDefinition, CredentialDefinitionId, RevocationRegistryId, RevocationStatusList,
};
use selfsame_anoncreds::issuer::{self, Issuer};
use selfsame_anoncreds_roles::RoleError;
use selfsame_anoncreds_roles::issuer::{IndexChange, RegistryKeeper, open_registry};
use selfsame_terminal::exit::Failure;
use selfsame_terminal::output;

use crate::failure::failed;
use crate::files;

/// Create a revocation registry and its tails file.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame anoncreds rev-reg --cred-def-private cred-def.private --cred-def-id did:web:issuer.example/cred-def/1 --size 1000 --tails tails.bin --private rev-reg.private < cred-def.json > rev-reg.json"
)]
pub struct NewRegistry {
    /// The definition's file; default: standard input.
    #[arg(long, value_name = "FILE")]
    cred_def: Option<PathBuf>,
    /// The file of the definition's private keys.
    #[arg(long, value_name = "FILE")]
    cred_def_private: PathBuf,
    /// The identifier under which the definition is published.
    #[arg(long)]
    cred_def_id: String,
    /// A tag that distinguishes registries of one definition.
    #[arg(long, default_value = "default")]
    tag: String,
    /// The number of indices; one more than the number of credentials it can hold.
    #[arg(long, value_parser = clap::value_parser!(u32).range(2..))]
    size: u32,
    /// A new file for the tails, which every holder needs.
    #[arg(long, value_name = "FILE")]
    tails: PathBuf,
    /// The location where holders will find the tails; default: the file's path.
    #[arg(long, value_name = "URL")]
    location: Option<String>,
    /// A new file for the registry's private key.
    #[arg(long, value_name = "FILE")]
    private: PathBuf,
}

/// Create the first status list of a registry.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame anoncreds status-list --cred-def-private cred-def.private --rev-reg rev-reg.json --rev-reg-id did:web:issuer.example/rev-reg/1 --private rev-reg.private < cred-def.json > list.json"
)]
pub struct NewList {
    /// The definition's file; default: standard input.
    #[arg(long, value_name = "FILE")]
    cred_def: Option<PathBuf>,
    #[command(flatten)]
    keys: Keys,
    /// The identifier under which the registry is published.
    #[arg(long)]
    rev_reg_id: String,
    /// Mark all indices as revoked until a later list issues them.
    #[arg(long)]
    on_demand: bool,
}

/// Create the next status list, with credentials revoked or issued again.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame anoncreds revoke --cred-def cred-def.json --cred-def-private cred-def.private --rev-reg rev-reg.json --private rev-reg.private --index 7 < list.json > later-list.json"
)]
pub struct Revoke {
    /// The file of the newest status list; default: standard input.
    #[arg(long, value_name = "FILE")]
    status_list: Option<PathBuf>,
    /// The definition's file.
    #[arg(long, value_name = "FILE")]
    cred_def: PathBuf,
    #[command(flatten)]
    keys: Keys,
    /// An index to revoke; may be repeated.
    #[arg(long, required_unless_present = "issue", value_parser = files::index)]
    index: Vec<u32>,
    /// An index to issue, or to issue again; may be repeated.
    #[arg(long, value_name = "INDEX", value_parser = files::index)]
    issue: Vec<u32>,
}

/// The files of a registry, and the time of its list.
#[derive(Args)]
struct Keys {
    /// The file of the definition's private keys.
    #[arg(long, value_name = "FILE")]
    cred_def_private: PathBuf,
    /// The registry's file.
    #[arg(long, value_name = "FILE")]
    rev_reg: PathBuf,
    /// The file of the registry's private key.
    #[arg(long, value_name = "FILE")]
    private: PathBuf,
    /// The list's time in seconds since 1970; default: now.
    #[arg(long, value_name = "SECONDS", value_parser = files::seconds)]
    timestamp: Option<u64>,
}

impl NewRegistry {
    /// Makes the registry, writes its tails, stores its secret and prints it.
    pub fn run(self) -> Result<(), Failure> {
        files::must_be_new(&self.private)?;
        files::must_be_new(&self.tails)?;
        let definition: CredentialDefinition = files::read_or_pipe(self.cred_def.as_ref())?;
        let issuer =
            Issuer::new(definition, &files::read(&self.cred_def_private)?).map_err(failed)?;
        let location = self
            .location
            .unwrap_or_else(|| self.tails.display().to_string());
        let new = issuer::NewRegistry {
            cred_def_id: &CredentialDefinitionId::new(self.cred_def_id).map_err(failed)?,
            tag: &self.tag,
            size: self.size,
            tails_location: &location,
        };
        let opened = open_registry(&issuer, &new, &files::ctx()).map_err(failed)?;
        std::fs::write(&self.tails, &opened.tails)
            .map_err(|error| Failure::environment(format!("{}: {error}", self.tails.display())))?;
        files::keep(&self.private, &opened.private)?;
        files::print(&opened.definition)
    }
}

impl NewList {
    /// Makes the first list and prints it.
    pub fn run(self) -> Result<(), Failure> {
        let definition: CredentialDefinition = files::read_or_pipe(self.cred_def.as_ref())?;
        let keeper = self.keys.read(definition)?;
        let first = if self.on_demand {
            IssuedAtStart::OnDemand
        } else {
            IssuedAtStart::ByDefault
        };
        let id = RevocationRegistryId::new(self.rev_reg_id).map_err(failed)?;
        files::print(
            &keeper
                .first_list(&id, first, self.keys.timestamp())
                .map_err(failed)?,
        )
    }
}

impl Revoke {
    /// Makes the next list and prints it.
    pub fn run(self) -> Result<(), Failure> {
        let list: RevocationStatusList = files::read_or_pipe(self.status_list.as_ref())?;
        let keeper = self.keys.read(files::read(&self.cred_def)?)?;
        let change = IndexChange {
            issued: self.issue.into_iter().collect(),
            revoked: self.index.into_iter().collect(),
            timestamp: self.keys.timestamp(),
        };
        let next =
            keeper.next_list(&list, change).map_err(|error| {
                match error {
            RoleError::Refused(error) => failed(error).hint(
                "indices begin at 1 and end below --size; --index revokes one, --issue issues one",
            ),
            other => failed(other),
        }
            })?;
        if !next.is_changed {
            output::complain("selfsame: only the time is new: each index already had this status");
        }
        files::print(&next.list)
    }
}

impl Keys {
    fn read(&self, definition: CredentialDefinition) -> Result<RegistryKeeper, Failure> {
        Ok(RegistryKeeper {
            issuer: Issuer::new(definition, &files::read(&self.cred_def_private)?)
                .map_err(failed)?,
            definition: files::read(&self.rev_reg)?,
            private: files::read(&self.private)?,
        })
    }

    fn timestamp(&self) -> u64 {
        self.timestamp.unwrap_or_else(|| files::ctx().now().0)
    }
}
