//! `selfsame organisation logo` and `colour`: how an organisation looks.

use std::fs::File;
use std::path::{Path, PathBuf};

use clap::Args;
use selfsame_core::organisation::OrganisationName;
use selfsame_core::organisation::look::{LookChange, LookView};
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::output;
use selfsame_types::image::logo_uri;

use crate::called::Instance;
use crate::client::handed_in;

const ADDRESS: &str = "/api/look";

/// Give an organisation a logo, or remove it.
#[derive(Args)]
#[command(after_help = "Example: selfsame organisation logo acme acme.svg")]
pub struct Logo {
    /// The organisation's name in addresses.
    #[arg(value_parser = OrganisationName::parse)]
    name: OrganisationName,
    /// A PNG, JPEG, WebP or SVG of at most 64 KB.
    #[arg(required_unless_present = "remove", conflicts_with = "remove")]
    file: Option<PathBuf>,
    /// Remove the logo.
    #[arg(long)]
    remove: bool,
    #[command(flatten)]
    instance: Instance,
}

impl Logo {
    /// Runs the subcommand.
    pub async fn run(self) -> End {
        let file = self.file.as_deref();
        let logo = file.map_or_else(|| Ok(String::new()), read)?;
        let change = LookChange {
            logo: Some(logo),
            ..LookChange::default()
        };
        changed(&self.instance.of(self.name), &change).await
    }
}

/// Give an organisation a colour, or remove it.
#[derive(Args)]
#[command(after_help = "Example: selfsame organisation colour acme '#1f4e79'")]
pub struct Colour {
    /// The organisation's name in addresses.
    #[arg(value_parser = OrganisationName::parse)]
    name: OrganisationName,
    /// `#` and six hexadecimal digits.
    #[arg(required_unless_present = "remove", conflicts_with = "remove")]
    colour: Option<String>,
    /// Remove the colour.
    #[arg(long)]
    remove: bool,
    #[command(flatten)]
    instance: Instance,
}

impl Colour {
    /// Runs the subcommand.
    pub async fn run(self) -> End {
        let change = LookChange {
            colour: Some(self.colour.unwrap_or_default()),
            ..LookChange::default()
        };
        changed(&self.instance.of(self.name), &change).await
    }
}

fn read(path: &Path) -> Result<String, Failure> {
    let file = File::open(path).and_then(handed_in);
    let file =
        file.map_err(|error| Failure::environment(format!("{}: {error}", path.display())))?;
    Ok(logo_uri(&file)?)
}

async fn changed(instance: &Instance, change: &LookChange) -> End {
    let look: LookView = instance.operator()?.patch(ADDRESS, change).await?;
    output::either(instance.json, &look, |look| {
        let none = || "none".to_owned();
        vec![
            format!("logo    {}", look.logo.clone().unwrap_or_else(none)),
            format!("colour  {}", look.colour.clone().unwrap_or_else(none)),
        ]
    });
    Ok(Answer::Yes)
}
