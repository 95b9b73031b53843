//! `selfsame organisation erase`: the erasure of an organisation, once its name is typed again.

use std::io::{self, BufRead as _};

use clap::Args;
use selfsame_core::organisation::view::{ErasureForecast, ErasureOrder, OrganisationView};
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::output;

use super::{one, path};
use crate::called::Instance;

/// Erase an organisation for good (docs/organisations.md).
///
/// The instance removes what the organisation has of people at once. For a time it keeps what verifiers need to check
/// the credentials that the organisation issued; then it destroys that too, with the keys.
#[derive(Args)]
#[command(after_help = "Example: selfsame organisation erase acme")]
pub(super) struct Erase {
    /// Its name.
    name: String,
    /// Do not ask for the name again.
    #[arg(long)]
    yes: bool,
    /// Keep nothing for verifiers, also of an organisation that is erased already: all credentials that it issued become
    /// unverifiable at once.
    #[arg(long)]
    now: bool,
    #[command(flatten)]
    instance: Instance,
}

impl Erase {
    pub(super) async fn run(self) -> End {
        let operator = self.instance.operator()?;
        let place = path(&self.name);
        let confirm = match self.yes {
            true => self.name.clone(),
            false => {
                let forecast: ErasureForecast = operator.get(&format!("{place}/erasure")).await?;
                told(&self.name, self.now, &forecast)
                    .iter()
                    .for_each(|line| output::complain(line));
                typed()?
            }
        };
        let order = ErasureOrder {
            confirm,
            now: self.now,
        };
        let erased: OrganisationView = operator.post(&format!("{place}/erase"), &order).await?;
        output::either(self.instance.json, &erased, one);
        Ok(Answer::Yes)
    }
}

/// What the erasure does, in words.
fn told(name: &str, now: bool, forecast: &ErasureForecast) -> Vec<String> {
    let count = match (forecast.valid_credentials, forecast.and_more) {
        (1, false) => "1 credential that it issued is valid now".to_owned(),
        (count, true) => format!("at least {count} credentials that it issued are valid now"),
        (count, false) => format!("{count} credentials that it issued are valid now"),
    };
    let when = match now {
        true => "all its credentials become unverifiable at once".to_owned(),
        false => format!(
            "verifiers can check its credentials until {}; then all become unverifiable",
            forecast.until
        ),
    };
    vec![
        format!(
            "{name} will issue and verify nothing any more, and its people and API keys lose all rights"
        ),
        format!("{count}; {when}"),
        "this can't be undone; type the name of the organisation to erase it:".to_owned(),
    ]
}

fn typed() -> Result<String, Failure> {
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    match read.map_err(|error| Failure::environment(format!("standard input: {error}")))? {
        0 => Err(Failure::environment("the name was not typed")
            .hint("type the name of the organisation, or use --yes")),
        _ => Ok(line.trim().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_becomes_unverifiable_and_when_is_said_before_the_name_is_asked() {
        let forecast = ErasureForecast {
            until: "2027-02-25T10:00:00Z".to_owned(),
            valid_credentials: 12,
            and_more: false,
            last_expires: None,
        };
        let told_of = |now| told("acme", now, &forecast).join("\n");
        assert!(
            told_of(false)
                .contains("12 credentials that it issued are valid now; verifiers can check")
        );
        assert!(told_of(false).contains("until 2027-02-25T10:00:00Z"));
        assert!(told_of(true).contains("unverifiable at once"));
    }
}
