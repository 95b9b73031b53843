//! `selfsame organisation trust`: the issuers that the verifier of an organisation trusts.

use clap::Args;
use selfsame_core::organisation::OrganisationName;
use selfsame_core::organisation::trust::{NewTrustedIssuer, TrustedIssuer};
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::output;

use crate::called::{Instance, segment};
use crate::client::{AllItems, Client};

const ADDRESS: &str = "/api/trust";

/// Show and change which issuers the verifier of an organisation trusts, in addition to those of the instance.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame organisation trust acme --add did:web:pharmacy.example --title 'Pharmacy at the Lake'
         selfsame organisation trust acme --remove did:web:pharmacy.example"
)]
pub struct OrganisationTrust {
    /// The organisation's name in addresses.
    #[arg(value_parser = OrganisationName::parse)]
    name: OrganisationName,
    /// Trust this issuer: a DID, a URL, or the name of a certificate.
    #[arg(
        long,
        value_name = "ISSUER",
        requires = "title",
        conflicts_with = "remove"
    )]
    add: Option<String>,
    /// The issuer's name for people.
    #[arg(long, requires = "add")]
    title: Option<String>,
    /// A type of credentials that is accepted from it; without any, every type is.
    #[arg(long = "type", requires = "add")]
    types: Vec<String>,
    /// Trust this issuer no longer.
    #[arg(long, value_name = "ISSUER")]
    remove: Option<String>,
    #[command(flatten)]
    instance: Instance,
}

impl OrganisationTrust {
    /// Runs the subcommand.
    pub async fn run(self) -> End {
        let instance = self.instance.of(self.name);
        let operator = instance.operator()?;
        if let Some(issuer) = self.add {
            let new = NewTrustedIssuer {
                issuer,
                name: self.title.unwrap_or_default(),
                types: self.types,
            };
            let _: TrustedIssuer = operator.post(ADDRESS, &new).await?;
        }
        if let Some(issuer) = self.remove {
            remove(&operator, &issuer).await?;
        }
        let list: AllItems<TrustedIssuer> = operator.all(ADDRESS).await?;
        output::either(instance.json, &list, |list| {
            list.items.iter().flat_map(lines).collect()
        });
        Ok(Answer::Yes)
    }
}

async fn remove(operator: &Client, issuer: &str) -> Result<(), Failure> {
    let list: AllItems<TrustedIssuer> = operator.all(ADDRESS).await?;
    let entry = list.items.into_iter().find(|entry| entry.issuer == issuer);
    let absent = || Failure::environment(format!("{issuer} is not on the list"));
    let entry = entry.ok_or_else(absent)?;
    let path = format!("{ADDRESS}/{}", segment(&entry.id));
    let _: serde_json::Value = operator.delete(&path).await?;
    Ok(())
}

fn lines(entry: &TrustedIssuer) -> Vec<String> {
    let types = match entry.types.is_empty() {
        true => "every type".to_owned(),
        false => entry.types.join(" "),
    };
    vec![
        format!("{}  {}", entry.issuer, entry.name),
        format!("  {types}"),
    ]
}
