//! The options that all commands have which call an instance.

use std::path::PathBuf;

use clap::Args;
use selfsame_core::organisation::OrganisationName;
use selfsame_crypto::SecretString;
use selfsame_driver::data_directory::token_from;
use selfsame_terminal::address;
use selfsame_terminal::exit::Failure;
use url::Url;

use crate::client::Client;
use crate::roots::Roots;

pub use crate::client::segment;

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

    /// The same instance, on behalf of this organisation.
    pub fn of(self, organisation: OrganisationName) -> Self {
        Self {
            organisation: Some(organisation),
            ..self
        }
    }

    /// A client without a token.
    pub fn anybody(&self) -> Result<Client, Failure> {
        Client::new(self.instance.clone(), None, self.roots.read()?)
    }
}

/// A record that a command names by its id.
#[derive(Args)]
pub struct NamedRecord {
    /// The id, as the list shows it.
    #[arg(allow_hyphen_values = true)]
    pub id: String,
    #[command(flatten)]
    pub instance: Instance,
}

impl NamedRecord {
    /// Its address among those at this path.
    pub fn path(&self, path: &str) -> String {
        format!("{path}/{}", segment(&self.id))
    }
}
