//! `selfsame tls identity`: a node's identity: its DID, its key, its credential.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Subcommand};
use selfsame_app::App;
use selfsame_app::view::node::NodeIdentity;
use selfsame_core::view::NewDid;
use selfsame_store::Store;
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::master_key::MasterKey;
use selfsame_terminal::{log, output};

use crate::hooks::Hooks;
use crate::node::{World, create, kept};

/// Create, show, update and deactivate this node's identity; fetch its credential.
///
/// A node's folder is private to its owner, and its keys are sealed, as in an instance's data directory.
#[derive(Args)]
#[command(after_help = "Example: selfsame tls identity new --identity node
         selfsame issue machine --claim service=telemetry --claim dns=telemetry.example.org
         selfsame tls identity fetch 'openid-credential-offer://…' --identity node")]
pub struct Identity {
    #[command(subcommand)]
    verb: IdentityVerb,
}

#[derive(Subcommand)]
enum IdentityVerb {
    /// Create the node's DID and its key.
    #[command(
        after_help = "Example: selfsame tls identity new --identity node --method selfsame \\
             --registry http://localhost:7380/ --registry-token-file data/operator-token"
    )]
    New {
        /// `key` or `jwk`, whose key is in the DID and never changes, or `selfsame`, which is kept in a registry.
        #[arg(long, default_value = "key")]
        method: String,
        /// `Ed25519` or `P-256`.
        #[arg(long, default_value = "Ed25519")]
        kind: String,
        #[command(flatten)]
        folder: Folder,
    },
    /// Show the node's DID and its credential.
    #[command(
        after_help = "Example: selfsame tls identity show --identity node --json
Exit code 1 if its DID is deactivated."
    )]
    Show {
        #[command(flatten)]
        folder: Folder,
    },
    /// Give the DID a new key. A credential that is bound to the previous key is removed.
    #[command(after_help = "Example: selfsame tls identity update --identity node \\
             --registry http://localhost:7380/ --registry-token-file data/operator-token")]
    Update {
        #[command(flatten)]
        folder: Folder,
    },
    /// Deactivate the DID permanently: it no longer authenticates this node.
    #[command(
        after_help = "Example: selfsame tls identity deactivate --identity node \\
             --registry http://localhost:7380/ --registry-token-file data/operator-token"
    )]
    Deactivate {
        #[command(flatten)]
        folder: Folder,
    },
    /// Accept an issuer's offer (OpenID4VCI): the credential is bound to the node's key and presented from now on.
    #[command(
        after_help = "Example: selfsame tls identity fetch 'openid-credential-offer://…' --identity node \\
             --trust-origin http://localhost:7380/ --registry http://localhost:7380/"
    )]
    Fetch {
        /// The offer: `openid-credential-offer://…`.
        offer: String,
        /// The transaction code, if the issuer requires one.
        #[arg(long)]
        tx_code: Option<String>,
        #[command(flatten)]
        folder: Folder,
    },
}

#[derive(Args)]
struct Folder {
    /// The folder of the node's identity.
    #[arg(long, value_name = "FOLDER", env = "SELFSAME_IDENTITY")]
    identity: PathBuf,
    #[command(flatten)]
    master_key: MasterKey,
    #[command(flatten)]
    world: World,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

impl Folder {
    async fn create(&self, hooks: Hooks) -> Result<Arc<App>, Failure> {
        self.start(
            create(&self.identity, &self.master_key, hooks).await?,
            hooks,
        )
        .await
    }

    async fn open(&self, hooks: Hooks) -> Result<Arc<App>, Failure> {
        self.start(kept(&self.identity, &self.master_key).await?, hooks)
            .await
    }

    async fn start(&self, store: Store, hooks: Hooks) -> Result<Arc<App>, Failure> {
        let app = self.world.open(store, hooks)?.await?;
        // Unfinished work continues, such as a write to the registry.
        app.start().await?;
        Ok(app)
    }

    /// Words the hint with the options of this command, where an instance has settings.
    fn failed(&self, error: selfsame_driver::Error) -> Failure {
        let failure = Failure::from(error);
        let is_of_settings = failure
            .what_to_do()
            .is_some_and(|hint| hint.contains("[registry]"));
        match is_of_settings {
            true => failure.hint(REGISTRY),
            false => failure,
        }
    }

    /// The failure for an offer that was not accepted, worded in the same way.
    fn not_taken(&self, error: selfsame_driver::Error) -> Failure {
        let failure = Failure::from(error);
        if failure.message().contains("https address") {
            return failure.hint(
                "name an issuer that is private or on this machine with --trust-origin, such as \
                 http://localhost:7380/; nothing was sent to it",
            );
        }
        match self.world.has_registry() {
            false if failure.message().contains("can't be reached") => failure.hint(
                "if its DID is a did:selfsame, name the registry that resolves it with --registry URL, and ask the \
                 issuer for a new offer",
            ),
            _ => failure,
        }
    }
}

const REGISTRY: &str = "name the registry and the file with its operator token: --registry URL --registry-token-file FILE";

impl Identity {
    /// Runs the subcommand.
    pub async fn run(self, hooks: Hooks) -> End {
        log::start();
        let (folder, identity) = match self.verb {
            IdentityVerb::New {
                method,
                kind,
                folder,
            } => {
                let app = folder.create(hooks).await?;
                let kind = Some(kind);
                let made = app.node()?.create(&NewDid { method, kind }).await;
                app.stop().await;
                let made = made.map_err(|error| folder.failed(error))?;
                (folder, made)
            }
            IdentityVerb::Show { folder } => {
                let app = folder.open(hooks).await?;
                let shown = app.node()?.show().await;
                app.stop().await;
                (folder, shown?)
            }
            IdentityVerb::Update { folder } => {
                let app = folder.open(hooks).await?;
                let rotated = app.node()?.rotate().await;
                app.stop().await;
                let rotated = rotated.map_err(|error| folder.failed(error))?;
                (folder, rotated)
            }
            IdentityVerb::Deactivate { folder } => {
                let app = folder.open(hooks).await?;
                let ended = app.node()?.deactivate().await;
                app.stop().await;
                let ended = ended.map_err(|error| folder.failed(error))?;
                output::either(folder.json, &ended, lines);
                return Ok(Answer::Yes);
            }
            IdentityVerb::Fetch {
                offer,
                tx_code,
                folder,
            } => {
                let app = folder.open(hooks).await?;
                let taken = app.node()?.take(&offer, tx_code).await;
                app.stop().await;
                let taken = taken.map_err(|error| folder.not_taken(error))?;
                (folder, taken)
            }
        };
        output::either(folder.json, &identity, lines);
        Ok(match identity.state.as_str() {
            "deactivated" => Answer::No,
            _ => Answer::Yes,
        })
    }
}

fn lines(identity: &NodeIdentity) -> Vec<String> {
    let mut lines = vec![format!(
        "{}  {}  key {}",
        identity.did, identity.state, identity.key
    )];
    match &identity.credential {
        Some(credential) => lines.push(format!(
            "  {}  {}  from {}  until {}",
            credential.types.join(", "),
            credential.format,
            credential.issuer,
            credential.expires.as_deref().unwrap_or("further notice")
        )),
        None => lines.push("  no credential yet".to_owned()),
    }
    lines
}
