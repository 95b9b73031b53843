//! `selfsame registry admit`: which other nodes a node connects to.

use std::path::PathBuf;

use clap::Args;
use selfsame_abci::Home;
use serde::Serialize;

use crate::exit::{Answer, End, Failure};
use crate::output;

/// Admit a further node to this one, or no longer; a node speaks to no others, and a running one knows at once.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame registry admit network/node-1 5f1c…e07b@10.0.0.5:26656

`selfsame registry join` prints what to give. Each operator admits a new node to the own one."
)]
pub struct Admit {
    /// The folder of the node that shall speak to it.
    home: PathBuf,
    /// The other node, as its operator was told by `join`: `NAME@IP:PORT`.
    node: String,
    /// Admit it no longer; a running node starts its engine again, which ends the connection with it.
    #[arg(long)]
    remove: bool,
    /// Print one JSON object in place of lines for people.
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
