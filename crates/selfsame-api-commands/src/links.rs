//! `selfsame sign-in` and `selfsame invite`: links that work once.

use clap::Args;
use selfsame_app::view::instance::SignInLink;
use selfsame_terminal::exit::{Answer, End};
use selfsame_terminal::output;
use selfsame_wallet::view::Invitation;
use serde_json::json;

use crate::called::Instance;

/// Print a link that signs in the operator's browser.
///
/// The link works once, within ten minutes. Until it is used, anyone who has it can sign in.
#[derive(Args)]
#[command(after_help = "Example: selfsame sign-in --token-file data/operator-token")]
pub struct SignIn {
    #[command(flatten)]
    instance: Instance,
}

/// Print an invitation: a link with which one person can make a wallet, where wallets are made by invitation.
///
/// The link works once, within a week. Until it is used, anyone who has it can make a wallet.
#[derive(Args)]
#[command(after_help = "Example: selfsame invite --token-file data/operator-token")]
pub struct Invite {
    #[command(flatten)]
    instance: Instance,
}

impl SignIn {
    /// Requests the link and prints it.
    pub async fn run(self) -> End {
        let operator = self.instance.operator()?;
        let link: SignInLink = operator.post("/api/operator/links", &json!({})).await?;
        output::either(self.instance.json, &link, |link| vec![link.url.clone()]);
        Ok(Answer::Yes)
    }
}

impl Invite {
    /// Requests the link and prints it.
    pub async fn run(self) -> End {
        let operator = self.instance.operator()?;
        let made: Invitation = operator.post("/api/wallet/invitations", &json!({})).await?;
        output::either(self.instance.json, &made, |made| vec![made.link.clone()]);
        Ok(Answer::Yes)
    }
}
