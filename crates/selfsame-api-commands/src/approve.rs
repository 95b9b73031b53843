//! `selfsame approve`: lists the requests that wait for an approval, and approves or refuses one.

use clap::Args;
use selfsame_approvals::view::Approval;
use selfsame_driver::paging::Listing;
use selfsame_terminal::exit::{Answer, End};
use selfsame_terminal::output;
use serde_json::json;

use crate::called::{Instance, segment};

/// The address of the requests.
const PATH: &str = "/api/issuer/approvals";

/// List the requests for credentials that need an approval, and approve or refuse one.
///
/// A wallet has asked for each of them, and proven its keys. Once a request is approved, the wallet gets the credential when
/// it looks next; one that is refused is told so.
#[derive(Args)]
#[command(after_help = "Example: selfsame approve --list
         selfsame approve o0sT1kJ6…
         selfsame approve o0sT1kJ6… --refuse --reason 'Does not work here.'
         selfsame approve --list --state refused")]
pub struct Approve {
    /// The id of the request, as the list shows it.
    // Base64url (RFC 4648 §5) has a hyphen, which an id may begin with.
    #[arg(allow_hyphen_values = true, required_unless_present = "list")]
    id: Option<String>,
    /// List the requests in place of deciding about one.
    #[arg(long, conflicts_with_all = ["id", "refuse", "reason", "show"])]
    list: bool,
    /// Which requests to list: `waiting`, `approved`, `refused` or `issued`.
    #[arg(long, requires = "list", value_parser = ["waiting", "approved", "refused", "issued"], default_value = "waiting", value_name = "STATE")]
    state: String,
    /// Maximum number of entries of the list, 200 at most.
    #[arg(long, requires = "list", default_value_t = 50)]
    limit: usize,
    /// Show the request with what the credential will say, and decide nothing.
    #[arg(long, conflicts_with_all = ["refuse", "reason"])]
    show: bool,
    /// Refuse the request.
    #[arg(long)]
    refuse: bool,
    /// Why it is refused; for those who work here, and not sent to the wallet.
    #[arg(long, requires = "refuse", value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    instance: Instance,
}

impl Approve {
    /// Lists, shows or decides.
    pub async fn run(self) -> End {
        let operator = self.instance.operator()?;
        let Some(id) = &self.id else {
            let path = format!("{PATH}?state={}&limit={}", self.state, self.limit);
            let listed: Listing<Approval> = operator.get(&path).await?;
            output::either(self.instance.json, &listed, |listed| {
                listed.items.iter().map(line).collect()
            });
            return Ok(Answer::Yes);
        };
        let path = format!("{PATH}/{}", segment(id));
        let shown: Approval = match (self.show, self.refuse) {
            (true, _) => operator.get(&path).await?,
            (_, true) => {
                let body = json!({ "reason": self.reason });
                operator.post(&format!("{path}/refuse"), &body).await?
            }
            _ => {
                operator
                    .post(&format!("{path}/approve"), &json!({}))
                    .await?
            }
        };
        output::either(self.instance.json, &shown, |shown| {
            let mut lines = vec![line(shown)];
            if self.show {
                lines.extend(
                    shown
                        .claims
                        .iter()
                        .map(|(name, value)| format!("{name}: {value}")),
                );
            }
            lines
        });
        Ok(Answer::Yes)
    }
}

fn line(one: &Approval) -> String {
    let label = one.label.as_deref().unwrap_or_default();
    format!(
        "{}  {}  {}  asked {}  {label}",
        one.id,
        one.type_id,
        one.state.as_str(),
        one.asked
    )
}
