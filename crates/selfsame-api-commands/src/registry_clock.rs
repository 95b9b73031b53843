//! `selfsame registry clock`: whether an instance's own registry trusts the clock of its machine.

use clap::Args;
use selfsame_catalogue::english;
use selfsame_ledger_view::RegistryClock;
use selfsame_terminal::exit::{Answer, End};
use selfsame_terminal::output;

use crate::called::Instance;

const PATH: &str = "/api/registry/clock";

/// Show whether an instance's own registry trusts the clock of its machine, or confirm that clock.
#[derive(Args)]
#[command(after_help = "Example: selfsame registry clock
         selfsame registry clock --confirm
Exit code 1 if the clock is not trusted: nothing is written until it is.")]
pub struct ClockOfRegistry {
    /// Confirm the time that the clock shows now. Check first that it is right: the time of a block is permanent.
    #[arg(long)]
    confirm: bool,
    #[command(flatten)]
    instance: Instance,
}

impl ClockOfRegistry {
    /// Requests the state, or confirms the clock.
    ///
    /// # Errors
    /// What the instance refuses, and what keeps the command from calling it.
    pub async fn run(self) -> End {
        let operator = self.instance.operator()?;
        let clock: RegistryClock = match self.confirm {
            true => operator.post(PATH, &serde_json::json!({})).await?,
            false => operator.get(PATH).await?,
        };
        output::either(self.instance.json, &clock, lines);
        Ok(match clock.doubt {
            None => Answer::Yes,
            Some(_) => Answer::No,
        })
    }
}

fn lines(clock: &RegistryClock) -> Vec<String> {
    let mut lines = vec![format!("the clock shows {}", clock.clock)];
    match &clock.doubt {
        None => lines.push("the registry trusts it".to_owned()),
        Some(doubt) => {
            lines.push(format!("the registry trusts {}", clock.believed));
            lines.push(english(doubt));
            lines.push("if the clock is right: selfsame registry clock --confirm".to_owned());
        }
    }
    lines
}
