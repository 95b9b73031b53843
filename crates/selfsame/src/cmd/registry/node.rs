//! `selfsame registry node`: runs one node of a network until it is stopped.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use selfsame_abci::Home;
use selfsame_app::config::Roles;
use selfsame_network::files::{Serve, note_served};
use selfsame_terminal::exit::{Answer, End};
use selfsame_terminal::interrupt::{until_the_input_ends, until_told_or, until_told_to_go};
use selfsame_terminal::master_key::MasterKey;
use selfsame_terminal::output;
use url::Url;

use super::EngineAt;
use crate::instance::{Launch, Validating};
use crate::operator_token::OperatorToken;
use crate::tls::Certificate;

/// Run a node: its CometBFT process and the registry's HTTP interface.
#[derive(Args)]
#[command(after_help = "Example: selfsame registry node network/node-1
         selfsame registry node node-2 --origin https://registry.example:7390/ --tls-certificate chain.pem --tls-key key.pem")]
pub struct RunNode {
    /// The node's folder, as `selfsame registry init` created it.
    home: PathBuf,
    /// The address to serve HTTP on; default: the one in the folder.
    #[arg(long)]
    listen: Option<SocketAddr>,
    /// The public base of all URLs; default: the address listened on.
    #[arg(long)]
    origin: Option<Url>,
    #[command(flatten)]
    master_key: MasterKey,
    #[command(flatten)]
    token: OperatorToken,
    #[command(flatten)]
    certificate: Certificate,
    #[command(flatten)]
    engine: EngineAt,
    /// Stop when standard input ends, that is, with the parent process.
    #[arg(long, hide = true)]
    leashed: bool,
}

impl RunNode {
    /// Starts the node, prints its address, and runs it.
    pub async fn run(self) -> End {
        selfsame_terminal::log::start();
        let home = Home::open(&self.home)?;
        let listen = match self.listen {
            Some(listen) => listen,
            None => Serve::read(&self.home)?.listen,
        };
        let engine = self.engine.find().await?;
        let said = (home.name().to_owned(), home.genesis().network());
        let awaits_snapshot = home.awaits_snapshot();
        let mut launch = Launch::new(self.home.clone(), listen);
        launch.origin = self.origin;
        launch.roles = Roles {
            issuer: false,
            wallet: false,
            verifier: false,
            registry: true,
        };
        launch.node = Some(Validating { home, engine });
        launch.custody = self.master_key.custody(&launch.data)?;
        launch.token = self.token;
        launch.tls = self.certificate.source();
        launch.plain_anywhere = self.certificate.plain_anywhere();
        let running = launch.start().await?;
        note_served(&self.home, &running.origin)?;
        let (name, network) = said;
        output::say(&format!(
            "{name} of network {network} at {}",
            running.origin
        ));
        match (&running.token_file, &running.untold_token) {
            (Some(file), _) => output::say(&format!(
                "  Writing requires the token in {}.",
                file.display()
            )),
            (None, Some(token)) => output::say(&format!(
                "  Writing requires this token, shown only now: {}",
                token.expose()
            )),
            (None, None) => output::say("  Writing requires the token that was shown once."),
        }
        if awaits_snapshot {
            let home = self.home.display();
            output::say(&format!(
                "  It gets the ledger from the other nodes first; `selfsame registry status {home}` shows when that is done."
            ));
        }
        output::say("  Ctrl-C stops it.");
        if self.leashed {
            running
                .until(until_told_or(until_the_input_ends()?))
                .await?;
        } else {
            running.until(until_told_to_go()).await?;
        }
        Ok(Answer::Yes)
    }
}
