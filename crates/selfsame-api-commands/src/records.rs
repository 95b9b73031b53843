//! `selfsame offer`, `credential`, `delegation` and `request`: what an issuer and a verifier have, and single steps on
//! it.

use clap::{Args, Subcommand};
use selfsame_driver::paging::Listing;
use selfsame_openid::view::issuer::{Delegation, IssuedCredential, Offer, OfferState};
use selfsame_openid::view::verifier::{VerificationRequest, VerificationStatus};
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::{output, qr};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::called::{Instance, NamedRecord};
use crate::client::AllItems;

/// List and show credential offers; `selfsame issue` creates them.
#[derive(Args)]
#[command(after_help = "Example: selfsame offer list")]
pub struct OfferRecords {
    #[command(subcommand)]
    verb: ShownVerb,
}

/// List and show issued credentials; `selfsame revoke` changes their status.
#[derive(Args)]
#[command(after_help = "Example: selfsame credential list")]
pub struct CredentialRecords {
    #[command(subcommand)]
    verb: ShownVerb,
}

#[derive(Subcommand)]
enum ShownVerb {
    /// List them, newest first.
    #[command(after_help = "Example: selfsame offer list --limit 10")]
    List {
        #[command(flatten)]
        listed: Listed,
    },
    /// Show one.
    #[command(after_help = "Example: selfsame credential show 5Zr…")]
    Show {
        #[command(flatten)]
        named: NamedRecord,
    },
}

#[derive(Args)]
struct Listed {
    /// Maximum number of entries, 200 at most.
    #[arg(long, default_value_t = 50)]
    limit: usize,
    #[command(flatten)]
    instance: Instance,
}

impl Listed {
    async fn print<T: DeserializeOwned + Serialize>(
        self,
        path: &str,
        line: fn(&T) -> String,
    ) -> Result<(), Failure> {
        let path = format!("{path}?limit={}", self.limit);
        let listed: Listing<T> = self.instance.operator()?.get(&path).await?;
        output::either(self.instance.json, &listed, |listed| {
            listed.items.iter().map(line).collect()
        });
        Ok(())
    }
}

impl NamedRecord {
    async fn show<T: DeserializeOwned + Serialize>(
        self,
        path: &str,
        line: fn(&T) -> String,
    ) -> Result<(), Failure> {
        let path = self.path(path);
        let found: T = self.instance.operator()?.get(&path).await?;
        output::either(self.instance.json, &found, |found| vec![line(found)]);
        Ok(())
    }
}

impl ShownVerb {
    async fn run<T: DeserializeOwned + Serialize>(self, path: &str, line: fn(&T) -> String) -> End {
        match self {
            Self::List { listed } => listed.print(path, line).await?,
            Self::Show { named } => named.show(path, line).await?,
        }
        Ok(Answer::Yes)
    }
}

impl OfferRecords {
    /// Does what the verb says.
    pub async fn run(self) -> End {
        let path = "/api/issuer/offers";
        let named = match self.verb {
            ShownVerb::Show { named } => named,
            list => return list.run(path, offer_line).await,
        };
        let instance = &named.instance;
        let offer: Offer = instance.operator()?.get(&named.path(path)).await?;
        output::either(instance.json, &offer, |offer| vec![offer_line(offer)]);
        if !instance.json && offer.state == OfferState::Open {
            output::say(&offer.uri);
            qr::show(&offer.uri);
        }
        Ok(Answer::Yes)
    }
}

impl CredentialRecords {
    /// Does what the verb says.
    pub async fn run(self) -> End {
        self.verb
            .run("/api/issuer/credentials", credential_line)
            .await
    }
}

fn offer_line(offer: &Offer) -> String {
    let label = offer.label.as_deref().unwrap_or_default();
    format!(
        "{}  {}  {}  until {}  {label}",
        offer.id,
        offer.type_id,
        offer.state.as_str(),
        offer.expires
    )
}

fn credential_line(issued: &IssuedCredential) -> String {
    let label = issued.label.as_deref().unwrap_or_default();
    format!(
        "{}  {}  {}  issued {}  {label}",
        issued.id,
        issued.type_id,
        word(&issued.status),
        issued.issued
    )
}

/// Let others use up or revoke credentials of this issuer, and withdraw that.
#[derive(Args)]
#[command(after_help = "Example: selfsame delegation list")]
pub struct Delegations {
    #[command(subcommand)]
    verb: DelegationVerb,
}

#[derive(Subcommand)]
enum DelegationVerb {
    /// Delegate to a DID of the issuer's registry.
    #[command(
        after_help = "Example: selfsame delegation add did:selfsame:… --action consume --type prescription"
    )]
    Add {
        /// The delegate's DID.
        did: String,
        /// What the delegate may do: `consume` or `revoke`.
        #[arg(long)]
        action: String,
        /// The id of a type whose credentials it covers; may be repeated.
        #[arg(long = "type", required = true)]
        types: Vec<String>,
        /// When it ends, RFC 3339; default 90 days from now.
        #[arg(long)]
        until: Option<String>,
        #[command(flatten)]
        instance: Instance,
    },
    /// List the delegations.
    #[command(after_help = "Example: selfsame delegation list")]
    List {
        #[command(flatten)]
        instance: Instance,
    },
    /// Withdraw a delegation.
    #[command(after_help = "Example: selfsame delegation withdraw 5Zr…")]
    Withdraw {
        #[command(flatten)]
        named: NamedRecord,
    },
}

impl Delegations {
    /// Does what the verb says.
    pub async fn run(self) -> End {
        let path = "/api/issuer/delegations";
        match self.verb {
            DelegationVerb::Add {
                did,
                action,
                types,
                until,
                instance,
            } => {
                let new = json!({"to": did, "action": action, "types": types, "until": until});
                let given: Delegation = instance.operator()?.post(path, &new).await?;
                output::either(instance.json, &given, |given| vec![delegation_line(given)]);
            }
            DelegationVerb::List { instance } => {
                let listed: AllItems<Delegation> = instance.operator()?.all(path).await?;
                output::either(instance.json, &listed, |listed| {
                    listed.items.iter().map(delegation_line).collect()
                });
            }
            DelegationVerb::Withdraw { named } => {
                let path = named.path(path);
                let withdrawn: Delegation = named.instance.operator()?.delete(&path).await?;
                output::either(named.instance.json, &withdrawn, |withdrawn| {
                    vec![delegation_line(withdrawn)]
                });
            }
        }
        Ok(Answer::Yes)
    }
}

fn delegation_line(delegation: &Delegation) -> String {
    format!(
        "{}  {}  {} {}  until {}  {}",
        delegation.id,
        delegation.to,
        delegation.action,
        delegation.types.join(", "),
        delegation.until,
        delegation.state.as_str()
    )
}

/// Create, list, show and recheck presentation requests; `selfsame verify --ask` creates one and waits.
#[derive(Args)]
#[command(after_help = "Example: selfsame request create --type immunization")]
pub struct Requests {
    #[command(subcommand)]
    verb: RequestVerb,
}

#[derive(Subcommand)]
enum RequestVerb {
    /// Create a request and print its link.
    #[command(
        after_help = "Example: selfsame request create --dcql query.json --purpose 'Check-in'"
    )]
    Create {
        /// The id of a type, to request a credential of it.
        #[arg(long = "type", required_unless_present = "dcql")]
        type_id: Option<String>,
        /// The format to request with --type.
        #[arg(long, requires = "type_id")]
        format: Option<String>,
        /// A file with a DCQL query (OpenID4VP 1.0 §6).
        #[arg(long, conflicts_with = "type_id")]
        dcql: Option<std::path::PathBuf>,
        /// What the request is for.
        #[arg(long)]
        purpose: Option<String>,
        #[command(flatten)]
        instance: Instance,
    },
    /// List the requests, newest first.
    #[command(after_help = "Example: selfsame request list")]
    List {
        #[command(flatten)]
        listed: Listed,
    },
    /// Show a request with its verdict.
    #[command(after_help = "Example: selfsame request show 5Zr…")]
    Show {
        #[command(flatten)]
        named: NamedRecord,
    },
    /// Judge an answered request again, by the present status of its credentials.
    #[command(after_help = "Example: selfsame request recheck 5Zr…")]
    Recheck {
        #[command(flatten)]
        named: NamedRecord,
    },
}

impl Requests {
    /// Does what the verb says.
    pub async fn run(self) -> End {
        let path = "/api/verifier/requests";
        match self.verb {
            RequestVerb::Create {
                type_id,
                format,
                dcql,
                purpose,
                instance,
            } => {
                let dcql = dcql.map(|file| query(&file)).transpose()?;
                let new = json!({"type": type_id, "format": format, "dcql_query": dcql, "purpose": purpose});
                let created: VerificationRequest = instance.operator()?.post(path, &new).await?;
                output::either(instance.json, &created, |created| {
                    vec![created.uri.clone(), format!("request  {}", created.id)]
                });
            }
            RequestVerb::List { listed } => listed.print(path, request_line).await?,
            RequestVerb::Show { named } => named.show(path, request_line).await?,
            RequestVerb::Recheck { named } => {
                let path = format!("{}/recheck", named.path(path));
                let operator = named.instance.operator()?;
                let checked: VerificationStatus = operator.post(&path, &json!({})).await?;
                output::either(named.instance.json, &checked, |checked| {
                    vec![request_line(checked)]
                });
            }
        }
        Ok(Answer::Yes)
    }
}

fn query(file: &std::path::Path) -> Result<Value, Failure> {
    let at = |error: String| Failure::environment(format!("{}: {error}", file.display()));
    let text = std::fs::read(file).map_err(|error| at(error.to_string()))?;
    serde_json::from_slice(&text).map_err(|error| at(format!("not JSON: {error}")))
}

fn request_line(request: &VerificationStatus) -> String {
    let outcome = request.verdict.as_ref();
    let outcome = outcome.map_or_else(|| word(&request.state), |verdict| word(&verdict.outcome));
    let reference = request.reference.as_deref().unwrap_or_default();
    format!(
        "{}  {}  {outcome}  created {}  {reference}",
        request.id, request.title, request.created
    )
}

/// The name of a state on the wire.
fn word(state: &impl Serialize) -> String {
    let value = serde_json::to_value(state).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}
