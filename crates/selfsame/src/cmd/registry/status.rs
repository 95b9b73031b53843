//! `selfsame registry status`: queries nodes, verifies their answers, and reports what they prove.

use std::path::{Path, PathBuf};

use clap::Args;
use selfsame_crypto::SecretString;
use selfsame_driver::data_directory::token_from;
use selfsame_network::files::trust_root;
use selfsame_network::standing::{is_url, url_of};
use selfsame_network::status::{AskedNode, NetworkStatus, query};
use selfsame_network::{Believed, files};
use selfsame_proof::read::TrustRoot;
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::{address, output};

use selfsame_api_commands::Roots;

/// Show the status of a network's nodes, and what they prove.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame registry status network/node-1 network/node-2
         selfsame registry status https://registry.example/ --trust-root network/trust-root --json
         selfsame registry status https://registry.example/ --trust-root network/trust-root --advance
Exit code 1 if something is wrong: a node does not answer, proves nothing, is far behind or has trouble, the network has
stopped, a validator votes twice, or nodes prove two histories."
)]
pub struct NodesStatus {
    /// Nodes: their base URLs, or their folders on this machine.
    #[arg(required = true, value_name = "URL|HOME")]
    nodes: Vec<String>,
    /// The trust root to verify with; default: the genesis of the first node that answers, unverified.
    #[arg(long, value_name = "FILE")]
    trust_root: Option<PathBuf>,
    /// Update the trust root in that file to what the answers prove: the present validators, the newest checkpoint. A
    /// missing file is created from the genesis of the first node that answers.
    #[arg(long, requires = "trust_root")]
    advance: bool,
    /// The file that holds a node's operator token, with which the node reports why it does not take part. For the
    /// nodes given as URLs, in their order; a folder on this machine contains its own token.
    #[arg(long, value_name = "FILE")]
    token_file: Vec<PathBuf>,
    #[command(flatten)]
    roots: Roots,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

impl NodesStatus {
    /// The trust root to verify with; `None` if `--advance` is to create it from the nodes' genesis.
    fn root(&self) -> Result<Option<TrustRoot>, Failure> {
        match self.trust_root.as_deref() {
            Some(file) if self.advance && !file.exists() => Ok(None),
            file => Ok(file.map(trust_root).transpose()?),
        }
    }

    /// Queries the nodes and prints the result.
    pub async fn run(self) -> End {
        let root = self.root()?;
        let believed: Believed = self.roots.read()?.into();
        too_many(&self.nodes, self.token_file.len())?;
        let mut tokens = self.token_file.iter();
        let mut nodes = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            address::check(&url_of(node).map_err(|error| error.at(node))?)?;
            nodes.push(AskedNode {
                node: node.clone(),
                token: token(node, &mut tokens)?,
            });
        }
        let queried = query(nodes, root, &believed).await?;
        if let (true, Some(file), Some(trust)) = (self.advance, &self.trust_root, queried.trust) {
            files::replace(file, &trust.to_bytes())?;
        }
        let status = queried.status;
        output::either(self.json, &status, lines);
        Ok(match status.wrong.is_empty() {
            true => Answer::Yes,
            false => Answer::No,
        })
    }
}

/// Refuses more tokens than nodes given as URLs: a node is missing, or a token is at another's place.
fn too_many(nodes: &[String], tokens: usize) -> Result<(), Failure> {
    let urls = nodes.iter().filter(|node| is_url(node)).count();
    match tokens > urls {
        true => Err(Failure::environment(format!(
            "--token-file is given {tokens} times, for {urls} nodes given as URLs"
        ))
        .hint("name the files in the order of the URLs; a folder on this machine has its own")),
        false => Ok(()),
    }
}

/// The operator's token of a node: from its folder, or the next one named.
fn token<'f>(
    node: &str,
    named: &mut impl Iterator<Item = &'f PathBuf>,
) -> Result<Option<SecretString>, Failure> {
    if is_url(node) {
        return Ok(named.next().map(|file| token_from(file)).transpose()?);
    }
    // A node that was never started has no token, and does not respond either.
    Ok(files::token(Path::new(node)).ok())
}

fn lines(status: &NetworkStatus) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(status.network.iter().map(|name| format!("network  {name}")));
    for node in &status.nodes {
        let stored = node
            .own
            .as_ref()
            .map_or_else(String::new, |own| format!(", {} blocks stored", own.height));
        lines.push(match &node.standing {
            Some(standing) => format!(
                "{}  height {}, {} transactions, {} s old{stored}{}",
                node.node,
                standing.height,
                standing.transactions,
                standing.age_s,
                match standing.lag {
                    0 => String::new(),
                    lag => format!(", {lag} blocks behind"),
                }
            ),
            None => format!("{}  proves nothing{stored}", node.node),
        });
    }
    lines.extend(status.validators.iter().map(|validator| {
        let mark = if validator.signed { "✓" } else { "✗" };
        format!("  {mark} {}  power {}", validator.name, validator.power)
    }));
    if !status.validators.is_empty() {
        lines.push("  ✓ signed the newest checkpoint; a late validator may not have".to_owned());
    }
    lines.extend(status.wrong.iter().map(|wrong| format!("wrong: {wrong}")));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trust_root_that_is_to_be_moved_on_may_have_to_be_made() {
        let folder = tempfile::tempdir().unwrap();
        let status = |advance| NodesStatus {
            nodes: Vec::new(),
            trust_root: Some(folder.path().join("new")),
            advance,
            token_file: Vec::new(),
            roots: Roots::default(),
            json: false,
        };
        assert!(matches!(status(true).root(), Ok(None)));
        assert!(status(false).root().is_err(), "one to judge by is there");
    }

    #[test]
    fn there_is_a_node_for_each_token() {
        let nodes = ["https://a.example/".to_owned(), "node-1".to_owned()];
        assert!(too_many(&nodes, 0).is_ok());
        assert!(too_many(&nodes, 1).is_ok());
        assert!(too_many(&nodes, 2).is_err());
    }
}
