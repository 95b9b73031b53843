//! `selfsame present`: has a wallet accept an offer or answer a request, by a policy in place of a person's consent.

use clap::Args;
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::output;
use selfsame_wallet::view::{Answered, CardSummary, OfferPreview, RequestPreview};
use serde::{Deserialize, Serialize};
use serde_json::json;
use url::form_urlencoded;

use crate::client::Client;
use crate::wallet::WalletOwner;

const THE_LINK: &str =
    "quote the whole link: it begins with openid-credential-offer:// or openid4vp://";
const ITS_CODE: &str =
    "the issuer sends the transaction code separately from the link; pass it with --tx-code";
/// Parameters of complete links, by value or by reference: an offer (OpenID4VCI 1.0 §4.1), a request (RFC 9101 §5.1) or
/// its query (OpenID4VP 1.0 §5.1). A link that the shell has cut off has none of them.
const WHOLE: [&str; 5] = [
    "credential_offer",
    "credential_offer_uri",
    "request",
    "request_uri",
    "dcql_query",
];

/// Accept a credential offer or answer a presentation request.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame present 'openid4vp://?client_id=…' --email maja@example.org --password-file pw"
)]
pub struct Present {
    /// The link: `openid-credential-offer://…` to accept, `openid4vp://…` to answer.
    link: String,
    /// The transaction code of an offer.
    #[arg(long)]
    tx_code: Option<String>,
    /// Only show what would be accepted or disclosed.
    #[arg(long)]
    preview: bool,
    #[command(flatten)]
    owner: WalletOwner,
}

#[derive(Deserialize, Serialize)]
struct Taken {
    items: Vec<CardSummary>,
}

impl Present {
    /// Accepts the offer, or answers the request.
    pub async fn run(self) -> End {
        let offers = ["openid-credential-offer:", "haip-vci:"];
        let done = if offers.iter().any(|scheme| self.link.starts_with(scheme)) {
            self.offered().await
        } else if self.link.contains("://") {
            self.asked().await
        } else {
            Err(Failure::environment("this is not a link"))
        };
        if is_whole(&self.link) {
            done
        } else {
            done.map_err(|failure| failure.or_hint(THE_LINK))
        }
    }

    async fn offered(&self) -> End {
        let wallet = self.owner.wallet().await?;
        if self.preview {
            let body = json!({"offer": self.link});
            let preview: OfferPreview = wallet.post("/api/wallet/offers/preview", &body).await?;
            output::either(self.owner.instance.json, &preview, offer_lines);
            return Ok(Answer::Yes);
        }
        let body = json!({"offer": self.link, "tx_code": self.tx_code});
        let taken: Result<Taken, Failure> = wallet.post("/api/wallet/offers/accept", &body).await;
        let taken = match taken {
            Ok(taken) => taken,
            Err(failure) if self.tx_code.is_none() && self.asks_for_code(&wallet).await => {
                return Err(failure.or_hint(ITS_CODE));
            }
            Err(failure) => return Err(failure),
        };
        output::either(self.owner.instance.json, &taken, |taken| {
            let line = |card: &CardSummary| {
                format!("{}  {}  from {}", card.id, card.display.title, card.issuer)
            };
            taken.items.iter().map(line).collect()
        });
        Ok(Answer::Yes)
    }

    async fn asked(&self) -> End {
        let wallet = self.owner.wallet().await?;
        if self.preview {
            let body = json!({"request": self.link});
            let preview: RequestPreview =
                wallet.post("/api/wallet/requests/preview", &body).await?;
            output::either(self.owner.instance.json, &preview, preview_lines);
            return Ok(if preview.answerable {
                Answer::Yes
            } else {
                Answer::No
            });
        }
        let body = json!({"request": self.link, "policy": "newest"});
        let answered: Answered = wallet.post("/api/wallet/requests/answer", &body).await?;
        output::either(self.owner.instance.json, &answered, answered_lines);
        Ok(if answered.delivered {
            Answer::Yes
        } else {
            Answer::No
        })
    }

    /// Whether the offer, if it can be read, asks for a transaction code.
    async fn asks_for_code(&self, wallet: &Client) -> bool {
        let body = json!({"offer": self.link});
        let preview: Result<OfferPreview, Failure> =
            wallet.post("/api/wallet/offers/preview", &body).await;
        preview.is_ok_and(|preview| preview.tx_code.is_some())
    }
}

/// Whether the link has one of the parameters it needs.
fn is_whole(link: &str) -> bool {
    let query = link.split_once('?').map_or("", |(_, query)| query);
    form_urlencoded::parse(query.as_bytes()).any(|(name, _)| WHOLE.contains(&&*name))
}

fn offer_lines(preview: &OfferPreview) -> Vec<String> {
    let known = if preview.trusted {
        "trusted here"
    } else {
        "not trusted here"
    };
    let mut lines = vec![format!("{} offers ({known})", preview.issuer)];
    for one in &preview.credentials {
        lines.push(format!("  {} as {}", one.display.title, one.format));
        lines.push(format!("    {}", one.claims.join(", ")));
    }
    if preview.tx_code.is_some() {
        lines.push("  a transaction code is required: --tx-code".to_owned());
    }
    lines
}

fn answered_lines(answered: &Answered) -> Vec<String> {
    let mut lines = vec![if answered.delivered {
        "shown".to_owned()
    } else {
        "the verifier refused the answer: it does not verify there, or the request was already answered or has expired"
            .to_owned()
    }];
    let on = answered.redirect_uri.iter();
    lines.extend(on.map(|uri| format!("continue at {uri}")));
    lines
}

fn preview_lines(preview: &RequestPreview) -> Vec<String> {
    let mut lines = vec![format!("{} asks", preview.verifier.client_id)];
    lines.extend(preview.remarks.iter().map(|remark| format!("  {remark}")));
    for share in &preview.shares {
        let Some(choice) = share.choices.first() else {
            continue;
        };
        if !share.preselected {
            lines.push(format!(
                "  not needed: {} from {}",
                choice.title, choice.issuer
            ));
            continue;
        }
        lines.push(format!("  {} from {}", choice.title, choice.issuer));
        lines.extend(
            choice
                .claims
                .iter()
                .filter(|claim| !claim.technical)
                .map(|claim| format!("    {}: {}", claim.label, claim.in_full())),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_whole_with_what_it_is_for_and_not_where_a_shell_cut_it() {
        for whole in [
            "openid-credential-offer://?credential_offer=%7B%7D",
            "openid-credential-offer://?credential_offer_uri=https%3A%2F%2Fissuer.example%2Foffer",
            "openid4vp://?client_id=x&request_uri=https%3A%2F%2Fverifier.example%2Frequest",
            "https://wallet.example/?client_id=x&dcql_query=%7B%7D",
        ] {
            assert!(is_whole(whole), "{whole}");
        }
        for cut in ["hello", "openid4vp://?client_id=x", "openid4vp://"] {
            assert!(!is_whole(cut), "{cut}");
        }
    }
}
