//! `selfsame present`: lets a wallet take an offer or answer a request, by its link, with a policy in place of a person.

use clap::Args;
use selfsame_app::view::wallet::{Answered, CardSummary, RequestPreview};
use selfsame_crypto::SecretString;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::cmd::Instance;
use crate::exit::{Answer, End, Failure};
use crate::output;

/// Let a wallet take an offer or answer a verifier's request.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame present 'openid4vp://?client_id=…' --email maja@example.org --password-file pw"
)]
pub struct Present {
    /// The link: `openid-credential-offer://…` to take, `openid4vp://…` to answer.
    link: String,
    /// The person's address.
    #[arg(long, env = "SELFSAME_EMAIL")]
    email: String,
    /// The file that holds the person's password.
    #[arg(long)]
    password_file: std::path::PathBuf,
    /// The transaction code of an offer.
    #[arg(long)]
    tx_code: Option<String>,
    /// Only show what would leave the wallet.
    #[arg(long)]
    preview: bool,
    #[command(flatten)]
    instance: Instance,
}

#[derive(Deserialize)]
struct Session {
    token: String,
}

#[derive(Deserialize, Serialize)]
struct Taken {
    items: Vec<CardSummary>,
}

impl Present {
    /// Takes or answers.
    pub async fn run(self) -> End {
        let anybody = self.instance.anybody()?;
        let password = crate::client::token_from(&self.password_file)?;
        let session: Session = anybody
            .post(
                "/api/wallet/sessions",
                &json!({"email": self.email, "password": password.expose()}),
            )
            .await?;
        let wallet = anybody.with_token(SecretString::new(session.token));
        if self.link.starts_with("openid-credential-offer:") {
            let body = json!({"offer": self.link, "tx_code": self.tx_code});
            let taken: Taken = wallet.post("/api/wallet/offers/accept", &body).await?;
            output::either(self.instance.json, &taken, |taken| {
                taken
                    .items
                    .iter()
                    .map(|card| {
                        format!("{}  {}  from {}", card.id, card.display.title, card.issuer)
                    })
                    .collect()
            });
            return Ok(Answer::Yes);
        }
        if self.preview {
            let preview: RequestPreview = wallet
                .post(
                    "/api/wallet/requests/preview",
                    &json!({"request": self.link}),
                )
                .await?;
            output::either(self.instance.json, &preview, preview_lines);
            return Ok(if preview.missing.is_empty() {
                Answer::Yes
            } else {
                Answer::No
            });
        }
        let body = json!({"request": self.link, "policy": "newest"});
        let answered: Answered = wallet.post("/api/wallet/requests/answer", &body).await?;
        output::either(self.instance.json, &answered, |answered| {
            let mut lines = vec![if answered.delivered {
                "shown".to_owned()
            } else {
                "the verifier did not take it".to_owned()
            }];
            lines.extend(
                answered
                    .redirect_uri
                    .clone()
                    .map(|uri| format!("go on at {uri}")),
            );
            lines
        });
        Ok(if answered.delivered {
            Answer::Yes
        } else {
            Answer::No
        })
    }
}

fn preview_lines(preview: &RequestPreview) -> Vec<String> {
    let mut lines = vec![format!("{} asks", preview.verifier.client_id)];
    for share in &preview.shares {
        let Some(choice) = share.choices.first() else {
            continue;
        };
        lines.push(format!("  {} from {}", choice.title, choice.issuer));
        lines.extend(
            choice
                .claims
                .iter()
                .map(|claim| format!("    {}: {}", claim.label, claim.value)),
        );
    }
    lines.extend(
        preview
            .missing
            .iter()
            .map(|missing| format!("  not in this wallet: {missing}")),
    );
    lines
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::environment(error.to_string())
    }
}
