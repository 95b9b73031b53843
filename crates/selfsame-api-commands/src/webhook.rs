//! `selfsame webhook`: where events are sent, and the deliveries that wait or were given up.

use clap::{Args, Subcommand, ValueEnum};
use selfsame_driver::paging::Listing;
use selfsame_terminal::exit::{Answer, End};
use selfsame_terminal::output;
use selfsame_webhooks::{CreatedEndpoint, EndpointView, EventReplay, Replayed, WebhookDelivery};
use serde_json::json;

use crate::called::{Instance, segment};
use crate::client::AllItems;

/// Send events to another program (docs/webhooks.md).
#[derive(Args)]
#[command(after_help = "Example: selfsame webhook add https://receiver.example/hook")]
pub struct Webhook {
    #[command(subcommand)]
    verb: WebhookVerb,
}

#[derive(Subcommand)]
enum WebhookVerb {
    /// Create a webhook and print its secret, which is not shown again.
    #[command(
        after_help = "Example: selfsame webhook add https://receiver.example/hook --type credential.issued"
    )]
    Add(Add),
    /// List the webhooks.
    #[command(after_help = "Example: selfsame webhook list")]
    List(Listed),
    /// Remove a webhook with its deliveries.
    #[command(after_help = "Example: selfsame webhook remove 5Zr…")]
    Remove(OneWebhook),
    /// Give a webhook a new secret and print it. The former one signs too for a day.
    #[command(after_help = "Example: selfsame webhook rotate 5Zr…")]
    Rotate(OneWebhook),
    /// Send a test message.
    #[command(after_help = "Example: selfsame webhook test 5Zr…")]
    Test(OneWebhook),
    /// List the deliveries that wait or were given up.
    #[command(after_help = "Example: selfsame webhook deliveries 5Zr… --state failed")]
    Deliveries(Deliveries),
    /// Send events again, from a cursor or a time.
    #[command(after_help = "Example: selfsame webhook replay 5Zr… --since 2026-01-31T12:00:00Z")]
    Replay(Again),
}

#[derive(Args)]
struct Add {
    /// Where events are sent.
    url: String,
    /// What the webhook is for.
    #[arg(long, default_value = "")]
    description: String,
    /// A type of event that is sent; may be repeated. Default: all types.
    #[arg(long = "type")]
    types: Vec<String>,
    #[command(flatten)]
    instance: Instance,
}

#[derive(Args)]
struct Listed {
    #[command(flatten)]
    instance: Instance,
}

#[derive(Args)]
struct OneWebhook {
    /// The webhook's id.
    #[arg(allow_hyphen_values = true)]
    id: String,
    #[command(flatten)]
    instance: Instance,
}

/// The state of the deliveries to list.
#[derive(Clone, Copy, ValueEnum)]
enum Wanted {
    /// Those that are sent, or sent again later.
    Pending,
    /// Those that were given up.
    Failed,
}

#[derive(Args)]
struct Deliveries {
    /// Which deliveries.
    #[arg(long, value_enum, default_value = "pending")]
    state: Wanted,
    #[command(flatten)]
    named: OneWebhook,
}

#[derive(Args)]
struct Again {
    /// The `cursor` of the last message that the receiver has.
    #[arg(long, conflicts_with = "since", required_unless_present = "since")]
    after: Option<String>,
    /// A time, RFC 3339.
    #[arg(long)]
    since: Option<String>,
    #[command(flatten)]
    named: OneWebhook,
}

impl Webhook {
    /// Does what the verb says.
    pub async fn run(self) -> End {
        match self.verb {
            WebhookVerb::Add(add) => add.run().await,
            WebhookVerb::List(list) => list.run().await,
            WebhookVerb::Remove(named) => named.remove().await,
            WebhookVerb::Rotate(named) => named.rotate().await,
            WebhookVerb::Test(named) => named.test().await,
            WebhookVerb::Deliveries(deliveries) => deliveries.run().await,
            WebhookVerb::Replay(again) => again.run().await,
        }
    }
}

impl Add {
    async fn run(self) -> End {
        let types = (!self.types.is_empty()).then_some(self.types);
        let new = json!({"url": self.url, "description": self.description, "types": types});
        let operator = self.instance.operator()?;
        let created: CreatedEndpoint = operator.post("/api/webhooks", &new).await?;
        output::either(self.instance.json, &created, with_secret);
        Ok(Answer::Yes)
    }
}

impl Listed {
    async fn run(self) -> End {
        let operator = self.instance.operator()?;
        let listed: AllItems<EndpointView> = operator.all("/api/webhooks").await?;
        output::either(self.instance.json, &listed, |listed| {
            listed.items.iter().map(line).collect()
        });
        Ok(Answer::Yes)
    }
}

impl OneWebhook {
    fn path(&self, rest: &str) -> String {
        format!("/api/webhooks/{}{rest}", segment(&self.id))
    }

    async fn remove(self) -> End {
        let operator = self.instance.operator()?;
        operator.delete::<()>(&self.path("")).await?;
        output::either(self.instance.json, &json!({"removed": self.id}), |_| {
            vec![format!("{} is removed", self.id)]
        });
        Ok(Answer::Yes)
    }

    async fn rotate(self) -> End {
        let operator = self.instance.operator()?;
        let rotated: CreatedEndpoint = operator.post(&self.path("/rotate"), &json!({})).await?;
        output::either(self.instance.json, &rotated, with_secret);
        Ok(Answer::Yes)
    }

    async fn test(self) -> End {
        let operator = self.instance.operator()?;
        let sent: WebhookDelivery = operator.post(&self.path("/test"), &json!({})).await?;
        output::either(self.instance.json, &sent, |sent| {
            vec![format!("{} waits to be sent", sent.id)]
        });
        Ok(Answer::Yes)
    }
}

impl Deliveries {
    async fn run(self) -> End {
        let state = match self.state {
            Wanted::Pending => "pending",
            Wanted::Failed => "failed",
        };
        let Self { named, .. } = self;
        let path = named.path(&format!("/deliveries?state={state}&limit=200"));
        let listed: Listing<WebhookDelivery> = named.instance.operator()?.get(&path).await?;
        output::either(named.instance.json, &listed, |listed| {
            listed.items.iter().map(delivery_line).collect()
        });
        Ok(Answer::Yes)
    }
}

impl Again {
    async fn run(self) -> End {
        let Self {
            after,
            since,
            named,
        } = self;
        let replay = match after {
            Some(cursor) => EventReplay::After(cursor),
            None => EventReplay::Since(since.unwrap_or_default()),
        };
        let operator = named.instance.operator()?;
        let replayed: Replayed = operator.post(&named.path("/replay"), &replay).await?;
        output::either(named.instance.json, &replayed, |replayed| {
            vec![format!("{} events are sent again", replayed.deliveries)]
        });
        Ok(Answer::Yes)
    }
}

fn with_secret(created: &CreatedEndpoint) -> Vec<String> {
    vec![
        format!("webhook  {}", created.endpoint.id),
        format!("secret   {}", created.secret.expose()),
        "Give the secret to the receiver now: it is not shown again.".to_owned(),
    ]
}

fn line(endpoint: &EndpointView) -> String {
    let state = match &endpoint.disabled_because {
        Some(reason) => format!("disabled: {reason}"),
        None => "enabled".to_owned(),
    };
    format!("{}  {}  {state}", endpoint.id, endpoint.url)
}

fn delivery_line(delivery: &WebhookDelivery) -> String {
    let last = delivery.last.as_ref().map(ToString::to_string);
    format!(
        "{}  {}  attempts {}  next {}  {}",
        delivery.id,
        delivery.subject,
        delivery.attempts,
        delivery.next.as_deref().unwrap_or("never"),
        last.unwrap_or_default()
    )
}
