//! `selfsame person` and `selfsame key`: who works for an organisation.

use clap::{Args, Subcommand, ValueEnum};
use selfsame_driver::paging::Listing;
use selfsame_operators::view::{CreatedKey, KeyView, OperatorInvitation, PersonView};
use selfsame_operators::{OperatorRole, Right};
use selfsame_terminal::exit::{Answer, End};
use selfsame_terminal::output;
use serde_json::json;

use crate::called::{Instance, NamedRecord};

/// Invite people, and change and end their roles in an organisation (docs/people.md).
#[derive(Args)]
#[command(after_help = "Example: selfsame person invite --role issuer")]
pub struct Person {
    #[command(subcommand)]
    verb: PersonVerb,
}

#[derive(Subcommand)]
enum PersonVerb {
    /// Print a link with which one person joins the organisation.
    #[command(after_help = "Example: selfsame person invite --role issuer --role auditor")]
    Invite {
        #[command(flatten)]
        roles: GivenRoles,
        #[command(flatten)]
        instance: Instance,
    },
    /// List the people who work for the organisation.
    #[command(after_help = "Example: selfsame person list --organisation acme")]
    List {
        #[command(flatten)]
        instance: Instance,
    },
    /// Give a person roles in place of the present ones.
    #[command(after_help = "Example: selfsame person roles q2eQ… --role auditor")]
    Roles {
        #[command(flatten)]
        roles: GivenRoles,
        #[command(flatten)]
        named: NamedRecord,
    },
    /// End a person's work for the organisation.
    #[command(after_help = "Example: selfsame person remove q2eQ…")]
    Remove {
        #[command(flatten)]
        named: NamedRecord,
    },
}

#[derive(Args)]
struct GivenRoles {
    /// A role; may be repeated.
    #[arg(long = "role", value_enum, required = true)]
    roles: Vec<RoleName>,
}

/// A role that a person can have.
#[derive(Clone, Copy, ValueEnum)]
enum RoleName {
    /// Runs the instance: creates organisations, appoints people, makes backups.
    Administrator,
    /// Runs the organisation, with every right in it.
    Owner,
    /// Issues credentials and changes their status.
    Issuer,
    /// Asks for presentations and sees the claims that people show.
    Verifier,
    /// Reads the audit trail and the settings.
    Auditor,
}

impl GivenRoles {
    fn roles(&self) -> Vec<OperatorRole> {
        let role = |role: &RoleName| match role {
            RoleName::Administrator => OperatorRole::Administrator,
            RoleName::Owner => OperatorRole::Owner,
            RoleName::Issuer => OperatorRole::Issuer,
            RoleName::Verifier => OperatorRole::Verifier,
            RoleName::Auditor => OperatorRole::Auditor,
        };
        self.roles.iter().map(role).collect()
    }
}

impl Person {
    /// Does what the verb says.
    pub async fn run(self) -> End {
        match self.verb {
            PersonVerb::Invite { roles, instance } => {
                let new = json!({"roles": roles.roles()});
                let operator = instance.operator()?;
                let invited: OperatorInvitation =
                    operator.post("/api/people/invitations", &new).await?;
                output::either(instance.json, &invited, |invited| {
                    vec![
                        invited.link.clone(),
                        "The link works once, within a week. Give it to one person.".to_owned(),
                    ]
                });
            }
            PersonVerb::List { instance } => {
                let path = "/api/people?limit=200";
                let listed: Listing<PersonView> = instance.operator()?.get(path).await?;
                output::either(instance.json, &listed, |listed| {
                    listed.items.iter().map(person_line).collect()
                });
            }
            PersonVerb::Roles { roles, named } => {
                let path = format!("{}/roles", named.path("/api/people"));
                let new = json!({"roles": roles.roles()});
                let changed: PersonView = named.instance.operator()?.put(&path, &new).await?;
                output::either(named.instance.json, &changed, |changed| {
                    vec![person_line(changed)]
                });
            }
            PersonVerb::Remove { named } => {
                let path = named.path("/api/people");
                named.instance.operator()?.delete::<()>(&path).await?;
                output::either(named.instance.json, &json!({"removed": named.id}), |_| {
                    vec![format!("{} has no rights any more", named.id)]
                });
            }
        }
        Ok(Answer::Yes)
    }
}

fn person_line(person: &PersonView) -> String {
    let roles = person.roles.iter().map(|role| role.as_str());
    let roles = roles.collect::<Vec<_>>().join(", ");
    format!(
        "{}  {}  {roles}  since {}",
        person.id, person.email, person.since
    )
}

/// Create, list and revoke API keys (docs/people.md).
#[derive(Args)]
#[command(after_help = "Example: selfsame key create admissions --scope issuer:write")]
pub struct ApiKeys {
    #[command(subcommand)]
    verb: KeyVerb,
}

#[derive(Subcommand)]
enum KeyVerb {
    /// Create an API key and print it; it is not shown again.
    #[command(
        after_help = "Example: selfsame key create admissions --scope issuer:write --days 30"
    )]
    Create {
        /// What the key is for.
        name: String,
        /// A right, such as `issuer:write`; may be repeated.
        #[arg(long = "scope", required = true, value_parser = Right::parse)]
        scopes: Vec<Right>,
        /// Days until it expires.
        #[arg(long)]
        days: Option<u64>,
        #[command(flatten)]
        instance: Instance,
    },
    /// List the API keys.
    #[command(after_help = "Example: selfsame key list")]
    List {
        #[command(flatten)]
        instance: Instance,
    },
    /// Revoke an API key at once.
    #[command(after_help = "Example: selfsame key revoke 9f86d081884c7d65")]
    Revoke {
        #[command(flatten)]
        named: NamedRecord,
    },
}

impl ApiKeys {
    /// Does what the verb says.
    pub async fn run(self) -> End {
        match self.verb {
            KeyVerb::Create {
                name,
                scopes,
                days,
                instance,
            } => {
                let new = json!({"name": name, "scopes": scopes, "days": days});
                let created: CreatedKey = instance.operator()?.post("/api/keys", &new).await?;
                output::either(instance.json, &created, |created| {
                    vec![
                        created.key.clone(),
                        format!("It expires at {}.", created.kept.expires),
                        "Give it to the program now: it is not shown again.".to_owned(),
                    ]
                });
            }
            KeyVerb::List { instance } => {
                let path = "/api/keys?limit=200";
                let listed: Listing<KeyView> = instance.operator()?.get(path).await?;
                output::either(instance.json, &listed, |listed| {
                    listed.items.iter().map(key_line).collect()
                });
            }
            KeyVerb::Revoke { named } => {
                let path = named.path("/api/keys");
                named.instance.operator()?.delete::<()>(&path).await?;
                output::either(named.instance.json, &json!({"revoked": named.id}), |_| {
                    vec![format!("{} is revoked", named.id)]
                });
            }
        }
        Ok(Answer::Yes)
    }
}

fn key_line(key: &KeyView) -> String {
    let scopes = key.scopes.iter().map(ToString::to_string);
    let scopes = scopes.collect::<Vec<_>>().join(" ");
    let used = key.used.as_deref().unwrap_or("never");
    format!(
        "{}  {}  {scopes}  expires {}  last used {used}",
        key.id, key.name, key.expires
    )
}
