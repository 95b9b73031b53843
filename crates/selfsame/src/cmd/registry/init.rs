//! `selfsame registry init`: creates a network and prints what to do with its files.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;
use selfsame_abci::{Distance, Home};
use selfsame_network::founding::{self, NewNetwork};
use selfsame_terminal::exit::{Answer, End};
use selfsame_terminal::master_key::MasterKey;
use selfsame_terminal::output;

use super::archive;

/// Create a network: a folder for each node, the trust root for readers, the trustee's key.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame registry init --validators 4 --name clinic network
         selfsame registry init --from data network     continues an instance's own registry
         selfsame registry init --host 10.0.0.1 --host 10.0.0.2 --host 10.0.0.3 --host 10.0.0.4 network"
)]
pub struct Init {
    #[command(flatten)]
    plan: InitPlan,
    /// Continue the registry of an instance, which must not be running: the network begins where its log ends.
    #[arg(long, value_name = "DATA")]
    from: Option<PathBuf>,
    /// The latency between the nodes: with `wan`, the engines wait longer for each other.
    #[arg(long, value_enum, default_value_t = NodeDistance::Lan)]
    profile: NodeDistance,
    #[command(flatten)]
    master_key: MasterKey,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

/// How far the nodes of a network are apart.
#[derive(Clone, Copy, clap::ValueEnum)]
enum NodeDistance {
    /// A few milliseconds, or tens of milliseconds.
    Lan,
    /// Up to half a second.
    Wan,
}

/// What network is to be made.
#[derive(Args)]
struct InitPlan {
    /// The number of validators; of four, one may fail, of seven two, of ten three.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=100))]
    validators: u16,
    /// The network's name, for people.
    #[arg(long, default_value = "registry")]
    name: String,
    /// The IP address of a node's machine, once for each validator; default: all run on this machine.
    #[arg(long = "host", value_name = "IP")]
    hosts: Vec<IpAddr>,
    /// The HTTP port of the first node; further nodes on the same machine get the ports after it.
    #[arg(long, default_value_t = 7390)]
    port: u16,
    /// The folder to create.
    directory: PathBuf,
}

impl Init {
    /// Creates the network and prints what to do with it.
    pub async fn run(self) -> End {
        let apart = self.plan.hosts.iter().any(|host| !host.is_loopback());
        let made = match &self.from {
            Some(data) => {
                let custody = self.master_key.custody(data)?;
                let continuation = self.plan.plan().continuation()?;
                let embedded = archive::embedded(data, &custody).await?;
                continuation.of(&embedded).await?
            }
            None => self.plan.plan().create()?,
        };
        if let NodeDistance::Wan = self.profile {
            for node in &made.nodes {
                Home::open(&node.home)?.set_distance(Distance::Far)?;
            }
        }
        output::either(self.json, &made, |made| lines(made, apart));
        Ok(Answer::Yes)
    }
}

impl InitPlan {
    fn plan(self) -> founding::FoundingPlan {
        founding::FoundingPlan {
            validators: self.validators,
            name: self.name,
            hosts: self.hosts,
            port: self.port,
            directory: self.directory,
        }
    }
}

fn lines(made: &NewNetwork, apart: bool) -> Vec<String> {
    let mut lines = vec![
        format!("network      {}", made.network),
        format!(
            "trust root   {}   readers pin it: [registry] trust_root",
            made.trust_root.display()
        ),
        format!(
            "trustee key  {}   changes the validators and the rules: keep it off the nodes' machines",
            made.trustee_key.display()
        ),
    ];
    if apart {
        lines.push(
            "Copy each folder to its machine, and remove it here: a validator's key must be on one machine only."
                .to_owned(),
        );
        lines.extend(made.nodes.iter().map(|node| {
            let home = node.home.display();
            format!("  {home} → {}", node.p2p.ip())
        }));
        lines.push("Then, on each machine:".to_owned());
    } else {
        lines.push("Next, each in a separate terminal:".to_owned());
    }
    lines.extend(made.nodes.iter().map(|node| {
        let tls = match apart {
            true => " --origin https://NAME:PORT/ --tls-certificate CHAIN.pem --tls-key KEY.pem",
            false => "",
        };
        format!("  selfsame registry node {}{tls}", node.home.display())
    }));
    lines
}
