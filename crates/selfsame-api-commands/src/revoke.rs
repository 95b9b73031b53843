//! `selfsame revoke`: revokes, suspends or reinstates a credential.

use clap::Args;
use selfsame_openid::view::issuer::IssuedCredential;
use selfsame_terminal::exit::{Answer, End};
use selfsame_terminal::output;
use serde_json::json;

use crate::called::{Instance, segment};

/// Revoke, suspend or reinstate a credential.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame revoke 5Zr…   (the issuer's list of credentials shows the id)"
)]
pub struct Revoke {
    /// The credential's id in the issuer's list.
    // Base64url (RFC 4648 §5) has a hyphen, which an id may begin with.
    #[arg(allow_hyphen_values = true)]
    id: String,
    /// Suspend the credential; this can be undone.
    #[arg(long, conflicts_with = "reinstate")]
    suspend: bool,
    /// End a suspension.
    #[arg(long)]
    reinstate: bool,
    #[command(flatten)]
    instance: Instance,
}

impl Revoke {
    /// Sets the status.
    pub async fn run(self) -> End {
        let status = match (self.suspend, self.reinstate) {
            (true, _) => "suspended",
            (_, true) => "valid",
            _ => "revoked",
        };
        let path = format!("/api/issuer/credentials/{}/status", segment(&self.id));
        let issued: IssuedCredential = self
            .instance
            .operator()?
            .put(&path, &json!({"status": status}))
            .await?;
        output::either(self.instance.json, &issued, |issued| {
            vec![format!("{} {} is {status}", issued.type_id, issued.id)]
        });
        Ok(Answer::Yes)
    }
}
