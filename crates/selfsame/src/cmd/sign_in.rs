//! `selfsame sign-in`: a link that signs the operator's browser in.

use clap::Args;
use selfsame_app::view::instance::SignInLink;
use serde_json::json;

use crate::cmd::Instance;
use crate::exit::{Answer, End};
use crate::output;

/// Print a link that signs the operator's browser in.
///
/// The link is good once, for ten minutes. Until it is used, whoever has it can sign in.
#[derive(Args)]
#[command(after_help = "Example: selfsame sign-in --token-file data/operator-token")]
pub struct SignIn {
    #[command(flatten)]
    instance: Instance,
}

impl SignIn {
    /// Asks for the link and prints it.
    pub async fn run(self) -> End {
        let operator = self.instance.operator()?;
        let link: SignInLink = operator.post("/api/operator/links", &json!({})).await?;
        output::either(self.instance.json, &link, |link| vec![link.url.clone()]);
        Ok(Answer::Yes)
    }
}
