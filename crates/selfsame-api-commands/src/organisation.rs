//! `selfsame organisation`: the organisations that an instance hosts beside its first one.

mod create;
mod erase;
mod export;
mod look;
mod trust;

use clap::{Args, Subcommand, ValueEnum};
use selfsame_core::organisation::view::{OrganisationChange, OrganisationState, OrganisationView};
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::output;

use crate::called::{Instance, segment};
use crate::client::AllItems;

/// Create, show, change, suspend, export and erase organisations.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame organisation create acme --title 'Acme Corporation'
         selfsame organisation create clinic --title 'Clinic at the Lake' --host id.clinic.example
         selfsame organisation suspend acme"
)]
pub struct Organisation {
    #[command(subcommand)]
    verb: OrganisationVerb,
}

#[derive(Subcommand)]
enum OrganisationVerb {
    Create(create::OrganisationCreation),
    /// Show all organisations.
    #[command(after_help = "Example: selfsame organisation list --json")]
    List {
        #[command(flatten)]
        instance: Instance,
    },
    /// Show one organisation.
    #[command(after_help = "Example: selfsame organisation show acme")]
    Show {
        /// Its name.
        name: String,
        #[command(flatten)]
        instance: Instance,
    },
    /// Give an organisation another name for people.
    #[command(after_help = "Example: selfsame organisation rename acme --title 'Acme Group'")]
    Rename {
        /// Its name in addresses, which stays.
        name: String,
        /// Its new name for people.
        #[arg(long)]
        title: String,
        #[command(flatten)]
        instance: Instance,
    },
    /// Let an organisation issue the sample types or not.
    #[command(after_help = "Example: selfsame organisation samples acme off")]
    Samples {
        /// Its name.
        name: String,
        /// Whether it issues them.
        #[arg(value_enum)]
        samples: Switch,
        #[command(flatten)]
        instance: Instance,
    },
    /// Give an organisation a logo, or remove it.
    Logo(look::Logo),
    /// Give an organisation a colour, or remove it.
    Colour(look::Colour),
    /// Show and change which issuers the verifier of an organisation trusts.
    Trust(trust::OrganisationTrust),
    /// Suspend an organisation: it only serves what others need to verify the credentials that it issued.
    #[command(after_help = "Example: selfsame organisation suspend acme")]
    Suspend {
        /// Its name.
        name: String,
        #[command(flatten)]
        instance: Instance,
    },
    Export(export::OrganisationExport),
    Erase(erase::Erase),
    /// End the suspension of an organisation.
    #[command(after_help = "Example: selfsame organisation reinstate acme")]
    Reinstate {
        /// Its name.
        name: String,
        #[command(flatten)]
        instance: Instance,
    },
}

#[derive(Clone, Copy, Eq, PartialEq, ValueEnum)]
enum Switch {
    On,
    Off,
}

impl Organisation {
    /// Runs the subcommand.
    pub async fn run(self) -> End {
        match self.verb {
            OrganisationVerb::Create(create) => return create.run().await,
            OrganisationVerb::List { instance } => {
                let all: AllItems<OrganisationView> =
                    instance.operator()?.all("/api/organisations").await?;
                output::either(instance.json, &all, |all| {
                    all.items.iter().flat_map(one).collect()
                });
            }
            OrganisationVerb::Show { name, instance } => {
                let path = path(&name);
                let found: OrganisationView = instance.operator()?.get(&path).await?;
                output::either(instance.json, &found, one);
            }
            OrganisationVerb::Rename {
                name,
                title,
                instance,
            } => {
                let change = OrganisationChange {
                    title: Some(title),
                    ..OrganisationChange::default()
                };
                changed(&name, &change, &instance).await?;
            }
            OrganisationVerb::Samples {
                name,
                samples,
                instance,
            } => {
                let change = OrganisationChange {
                    samples: Some(samples == Switch::On),
                    ..OrganisationChange::default()
                };
                changed(&name, &change, &instance).await?;
            }
            OrganisationVerb::Logo(logo) => return logo.run().await,
            OrganisationVerb::Colour(colour) => return colour.run().await,
            OrganisationVerb::Trust(trust) => return trust.run().await,
            OrganisationVerb::Suspend { name, instance } => {
                changed(&name, &state(OrganisationState::Suspended), &instance).await?;
            }
            OrganisationVerb::Export(export) => return export.run().await,
            OrganisationVerb::Erase(erase) => return erase.run().await,
            OrganisationVerb::Reinstate { name, instance } => {
                changed(&name, &state(OrganisationState::Active), &instance).await?;
            }
        }
        Ok(Answer::Yes)
    }
}

fn state(state: OrganisationState) -> OrganisationChange {
    OrganisationChange {
        state: Some(state),
        ..OrganisationChange::default()
    }
}

async fn changed(
    name: &str,
    change: &OrganisationChange,
    instance: &Instance,
) -> Result<(), Failure> {
    let operator = instance.operator()?;
    let changed: OrganisationView = operator.patch(&path(name), change).await?;
    output::either(instance.json, &changed, one);
    Ok(())
}

fn path(name: &str) -> String {
    format!("/api/organisations/{}", segment(name))
}

fn one(organisation: &OrganisationView) -> Vec<String> {
    let OrganisationView {
        name,
        title,
        state,
        identifier,
        did,
        erasure,
        ..
    } = organisation;
    let mut lines = vec![
        format!("{name}  {}  {title}", state.as_str()),
        format!("  {identifier}  {did}"),
    ];
    lines.extend(erasure.as_ref().map(|erasure| match erasure.over {
        true => "  its keys and all its records are destroyed".to_owned(),
        false => format!("  verifiable until {}", erasure.until),
    }));
    lines
}
