//! `selfsame registry admit`: which other nodes a node connects to.

use std::path::PathBuf;

use clap::Args;
use selfsame_abci::Home;
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::output;
use serde::Serialize;

/// Admit a peer, or stop admitting it. A node connects only to admitted peers; a running node applies this at once.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame registry admit network/node-1 5f1c…e07b@10.0.0.5:26656

`selfsame registry join` prints the peer's address. Each operator admits a new node on their own node."
)]
pub struct Admit {
    /// The folder of the node that admits the peer.
    home: PathBuf,
    /// The other node, as `join` printed it for its operator: `NAME@IP:PORT`.
    node: String,
    /// Stop admitting it; a running node restarts its engine, which ends the connection.
    #[arg(long)]
    remove: bool,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Said {
    node: String,
    admitted: bool,
}

impl Admit {
    /// Admits the peer, or dismisses it.
    pub async fn run(self) -> End {
        let home = Home::open(&self.home)?;
        match self.remove {
            false => home.admit(&self.node)?,
            true if !home.dismiss(&self.node)? => {
                return Err(Failure::no(format!("{} was not admitted", self.node)));
            }
            true => {}
        }
        let said = Said {
            node: self.node,
            admitted: !self.remove,
        };
        output::either(self.json, &said, |said| {
            let done = match said.admitted {
                true => "is admitted by",
                false => "is no longer admitted by",
            };
            vec![format!("{} {done} {}", said.node, home.name())]
        });
        Ok(Answer::Yes)
    }
}
