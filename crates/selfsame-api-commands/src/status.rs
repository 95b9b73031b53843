//! `selfsame status`: shows the status of a running instance.

use clap::Args;
use selfsame_app::view::instance::InstanceStatus;
use selfsame_terminal::exit::{Answer, End};
use selfsame_terminal::output;

use crate::called::Instance;

/// Show the status of a running instance.
#[derive(Args)]
#[command(after_help = "Example: selfsame status --json")]
pub struct Status {
    #[command(flatten)]
    instance: Instance,
}

impl Status {
    /// Requests the status and prints it.
    pub async fn run(self) -> End {
        let status: InstanceStatus = self.instance.operator()?.get("/api/status").await?;
        output::either(self.instance.json, &status, lines);
        Ok(Answer::Yes)
    }
}

fn lines(status: &InstanceStatus) -> Vec<String> {
    let mut lines = vec![
        format!("{} {}", status.origin, status.roles.join(", ")),
        format!("version {} up {} s", status.version, status.uptime_s),
    ];
    lines.extend(
        status
            .issuer
            .iter()
            .map(|issuer| format!("issuer   {issuer}")),
    );
    let others = status
        .issuer_dids
        .iter()
        .filter(|did| status.did.as_ref() != Some(did));
    let dids = status.did.iter().chain(others);
    lines.extend(dids.map(|did| format!("did      {did}")));
    lines.extend(
        status
            .network
            .iter()
            .map(|network| format!("network  {network}")),
    );
    lines.push(format!("commits  {}", status.commits));
    lines.push(format!(
        "outbox   {} waiting, {} given up",
        status.outbox_waiting, status.outbox_dead
    ));
    lines
}
