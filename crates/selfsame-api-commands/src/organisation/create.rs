//! `selfsame organisation create`: creates an organisation.

use clap::Args;
use selfsame_core::organisation::view::{NewOrganisation, OrganisationView};
use selfsame_terminal::exit::{Answer, End};
use selfsame_terminal::output;

use super::one;
use crate::called::Instance;

/// Create an organisation with a key, a DID, addresses and records of its own.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame organisation create acme --title 'Acme Corporation'
         selfsame organisation create clinic --title 'Clinic at the Lake' --host id.clinic.example

With --host, its addresses are https://id.clinic.example/issuer and so on. Before, let a DNS
record of that name lead to the instance, and give it a certificate under [[tls.hosts]] or to the
proxy (docs/organisations.md)."
)]
pub struct OrganisationCreation {
    /// Its name in addresses: lower-case letters, digits, and single hyphens between them.
    name: String,
    /// Its name for people.
    #[arg(long)]
    title: String,
    /// A host name of its own, which its identifiers name; it can't be changed later. Default: none, and its addresses
    /// stand below /o/NAME of the instance.
    #[arg(long)]
    host: Option<String>,
    /// The method of its DID; default: `selfsame` with a registry, else `jwk`.
    #[arg(long)]
    did_method: Option<String>,
    /// It only issues credentials.
    #[arg(long, conflicts_with = "verifier_only")]
    issuer_only: bool,
    /// It only asks for presentations.
    #[arg(long)]
    verifier_only: bool,
    /// It does not issue the sample types, only its own.
    #[arg(long)]
    no_samples: bool,
    #[command(flatten)]
    instance: Instance,
}

impl OrganisationCreation {
    /// Creates it.
    pub async fn run(self) -> End {
        let new = NewOrganisation {
            name: self.name,
            title: self.title,
            issuer: !self.verifier_only,
            verifier: !self.issuer_only,
            samples: !self.no_samples,
            did_method: self.did_method,
            host: self.host,
        };
        let operator = self.instance.operator()?;
        let created: OrganisationView = operator.post("/api/organisations", &new).await?;
        output::either(self.instance.json, &created, one);
        Ok(Answer::Yes)
    }
}
