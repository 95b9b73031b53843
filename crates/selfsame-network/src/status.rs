//! The status of a network: what its nodes prove, compared, with its problems in words.

use selfsame_crypto::SecretString;
use selfsame_ledger::view::{Misbehaviour, NodeHealth};
use selfsame_proof::checkpoint;
use selfsame_proof::entries::ProvenEntries;
use selfsame_proof::read::{Relation, TrustRoot, compare, compare_by_entry};
use serde::Serialize;
use url::Url;

use crate::standing::{NodeStanding, ask, genesis_of, network_of, url_of};
use crate::{Believed, NetworkError, NodeClient};

/// Maximum age of the newest checkpoint of a network, in seconds, as for readers. On an idle network the age reaches 90
/// s: a header has the time of the votes before it, and the next block but one is 60 s later.
const FRESH: u64 = 120;
/// A node that is this many blocks behind is not merely a moment late.
const BEHIND: u64 = 10;

/// The network according to its nodes.
#[derive(Default, Serialize)]
pub struct NetworkStatus {
    /// The network's name in DIDs, if a trust root or a genesis says it.
    pub network: Option<String>,
    /// The validators of the newest state.
    pub validators: Vec<SeenValidator>,
    /// The nodes, in the order in which they were named.
    pub nodes: Vec<SeenNode>,
    /// The problems, in words; empty for a network without problems.
    pub wrong: Vec<String>,
}

/// A validator of the newest state.
#[derive(Serialize)]
pub struct SeenValidator {
    /// Its name.
    pub name: String,
    /// Its voting power.
    pub power: u64,
    /// Whether it signed the newest checkpoint.
    pub signed: bool,
}

/// A node, as it answers.
#[derive(Serialize)]
pub struct SeenNode {
    /// Its URL or its folder, as it was named.
    pub node: String,
    /// Whether its answers are proven.
    pub verified: bool,
    /// Why they are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// What it proves.
    #[serde(flatten)]
    pub standing: Option<NodeStanding>,
    /// What only its operator may see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own: Option<NodeHealth>,
}

/// A node to query.
pub struct AskedNode {
    /// Its base URL, or its folder on this machine.
    pub node: String,
    /// Its operator's token, with which it reports its health.
    pub token: Option<SecretString>,
}

/// What nodes say about their network.
pub struct Queried {
    /// The network according to them.
    pub status: NetworkStatus,
    /// The trust root that their answers lead to: the present validators, the newest checkpoint.
    pub trust: Option<TrustRoot>,
}

/// Queries nodes, and verifies their answers from this trust root; without one, from the genesis of the first node that
/// answers.
///
/// # Errors
/// If a query panicked.
pub async fn query(
    nodes: Vec<AskedNode>,
    mut root: Option<TrustRoot>,
    believed: &Believed,
) -> Result<Queried, NetworkError> {
    if root.is_none() {
        root = first_genesis(&nodes, believed).await;
    }
    // All at once, since the network moves on while one of them is silent.
    let asked: Vec<_> = (nodes.into_iter())
        .map(|asked| tokio::spawn(seen_node(asked, root.clone(), believed.clone())))
        .collect();
    let (mut status, mut newest) = (NetworkStatus::default(), None);
    for node in asked {
        let (node, trust) = node
            .await
            .map_err(|error| NetworkError::ours(error.to_string()))?;
        newest = later(newest, trust);
        status.nodes.push(node);
    }
    status.network = root.map(|root| network_of(&root).to_owned());
    status.compare();
    status.complain();
    let contradictions = histories(&status.nodes, believed).await;
    status.wrong.extend(contradictions);
    Ok(Queried {
        status,
        trust: newest,
    })
}
/// A node's answers, and the trust root that they lead to.
async fn seen_node(
    asked: AskedNode,
    mut root: Option<TrustRoot>,
    believed: Believed,
) -> (SeenNode, Option<TrustRoot>) {
    let AskedNode { node, token } = asked;
    let mut seen = SeenNode {
        node,
        verified: false,
        problem: None,
        standing: None,
        own: None,
    };
    let url = match url_of(&seen.node) {
        Ok(url) => url,
        Err(error) => {
            seen.problem = Some(error.message().to_owned());
            return (seen, None);
        }
    };
    // What a node proves is shown even if its health is unknown.
    let (own, asked) = tokio::join!(own(&url, token, &believed), ask(&url, &mut root, &believed));
    match own {
        Ok(own) => seen.own = own,
        Err(error) => seen.problem = Some(error.message().to_owned()),
    }
    match asked {
        Ok((standing, trust)) => {
            (seen.verified, seen.standing) = (true, Some(standing));
            (seen, trust)
        }
        Err(error) => {
            seen.problem = Some(error.message().to_owned());
            (seen, None)
        }
    }
}

/// The trust root from the genesis of the first of these nodes that responds.
async fn first_genesis(nodes: &[AskedNode], believed: &Believed) -> Option<TrustRoot> {
    let asked = nodes.iter().map(|asked| {
        let (node, believed) = (asked.node.clone(), believed.clone());
        tokio::spawn(async move { genesis_of(&NodeClient::new(&url_of(&node)?, &believed)?).await })
    });
    for node in asked.collect::<Vec<_>>() {
        if let Ok(Ok(root)) = node.await {
            return Some(root);
        }
    }
    None
}

/// What a node shows only its operator.
async fn own(
    url: &Url,
    token: Option<SecretString>,
    believed: &Believed,
) -> Result<Option<NodeHealth>, NetworkError> {
    match token {
        Some(token) => NodeClient::new(url, believed)?.health(token).await,
        None => Ok(None),
    }
}

/// What blocks record against a validator; each node with these blocks reports the same.
fn against(one: &Misbehaviour) -> String {
    let what = match one.kind.as_str() {
        "double_vote" => "voted for two blocks at one height",
        _ => "broke the network's protocol",
    };
    let (name, last, count) = (&one.validator, one.last_height, one.count);
    format!(
        "validator {name} {what}, last at height {last} ({count} times): its key is used twice, or was stolen; remove it"
    )
}

impl NetworkStatus {
    /// Computes how far each node is behind the one with the highest block.
    fn compare(&mut self) {
        let standings = self.nodes.iter().filter_map(|node| node.standing.as_ref());
        let Some(furthest) = standings.max_by_key(|standing| standing.height).cloned() else {
            return;
        };
        for standing in self
            .nodes
            .iter_mut()
            .filter_map(|node| node.standing.as_mut())
        {
            standing.lag = furthest.height.saturating_sub(standing.height);
        }
        self.validators = furthest
            .set
            .into_iter()
            .map(|(name, power)| SeenValidator {
                signed: furthest.signers.contains(&name),
                name,
                power,
            })
            .collect();
    }

    /// Lists the problems.
    fn complain(&mut self) {
        let standings = self.nodes.iter().filter_map(|node| node.standing.as_ref());
        let youngest = standings.map(|standing| standing.age_s).min();
        let mut wrong: Vec<_> = youngest
            .filter(|age| *age > FRESH)
            .map(|age| {
                format!(
                    "the network has stopped: its newest checkpoint is {age} s old, so too few validators take part"
                )
            })
            .into_iter()
            .collect();
        for node in &self.nodes {
            let name = &node.node;
            wrong.extend(
                node.problem
                    .iter()
                    .map(|problem| format!("{name}: {problem}")),
            );
            let lag = node.standing.as_ref().map_or(0, |standing| standing.lag);
            if lag >= BEHIND {
                wrong.push(format!("{name}: it is {lag} blocks behind"));
            }
            let trouble = node.own.as_ref().and_then(|own| own.trouble.as_ref());
            wrong.extend(trouble.map(|why| format!("{name}: it does not take part: {why}")));
            let evidence = node.own.iter().flat_map(|own| &own.misbehaviour);
            for one in evidence.map(against) {
                if !wrong.contains(&one) {
                    wrong.push(one);
                }
            }
        }
        self.wrong = wrong;
    }
}

/// Compares what each node proves with the node with the longest log; reports contradictions.
async fn histories(nodes: &[SeenNode], believed: &Believed) -> Vec<String> {
    let proven = |node: &SeenNode| Some((node.node.clone(), node.standing.as_ref()?.checkpoint));
    let proven: Vec<_> = nodes.iter().filter_map(proven).collect();
    let Some((longest, last)) = proven.iter().max_by_key(|(_, at)| (at.size, at.height)) else {
        return Vec::new();
    };
    let mut wrong = Vec::new();
    for (node, at) in proven.iter().filter(|(node, _)| node != longest) {
        let proof = consistency(longest, at.size, last.size, believed).await;
        let (proof, problem) = match proof {
            Ok(proof) => (proof, String::new()),
            Err(error) => (Vec::new(), format!(": {}", error.message())),
        };
        let relation = match compare(at, last, &proof) {
            Relation::Unproven => by_next_entry(longest, at, last, believed).await,
            relation => relation,
        };
        match relation {
            Relation::Same | Relation::Extends => {}
            Relation::Fork => wrong.push(format!(
                "{longest} and {node} prove two different histories, of heights {} and {}: keep the data of both nodes, and do not rely on either",
                last.height, at.height
            )),
            Relation::Unproven => wrong.push(format!(
                "{longest} does not prove that its history continues that of {node}{problem}"
            )),
        }
    }
    wrong
}

/// The relation that the first transaction beyond the shorter log shows, with the proof of its place.
async fn by_next_entry(
    node: &str,
    at: &checkpoint::Standing,
    last: &checkpoint::Standing,
    believed: &Believed,
) -> Relation {
    let next = at.size.saturating_add(1);
    let asked = async {
        let client = NodeClient::new(&url_of(node)?, believed)?;
        client.get(&format!("registry/log?numbers={next}")).await
    };
    let proven = asked.await.ok();
    let proven = proven.and_then(|bytes| ProvenEntries::from_bytes(&bytes).ok());
    let entry = proven.and_then(|proven| proven.entries.into_iter().next());
    entry.map_or(Relation::Unproven, |entry| {
        compare_by_entry(at, last, &entry)
    })
}

/// A node's proof that its log of `new` entries begins with that of `old` entries.
async fn consistency(
    node: &str,
    old: u64,
    new: u64,
    believed: &Believed,
) -> Result<Vec<[u8; 32]>, NetworkError> {
    if old == new {
        return Ok(Vec::new());
    }
    let path = format!("registry/consistency?old={old}&new={new}");
    let bytes = NodeClient::new(&url_of(node)?, believed)?
        .get(&path)
        .await?;
    Ok(bytes.as_chunks().0.to_vec())
}

/// The trust root with the later validators, or with the later checkpoint if the validators are the same.
fn later(one: Option<TrustRoot>, other: Option<TrustRoot>) -> Option<TrustRoot> {
    let age = |root: &TrustRoot| (root.from_height, root.seen.map(|seen| seen.height));
    one.into_iter().chain(other).max_by_key(age)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::standing::tests::standing;

    fn node(name: &str, at: (u64, u64)) -> SeenNode {
        SeenNode {
            node: name.to_owned(),
            verified: true,
            problem: None,
            standing: Some(standing(at)),
            own: None,
        }
    }

    fn wrong(nodes: Vec<SeenNode>) -> Vec<String> {
        let mut status = NetworkStatus {
            nodes,
            ..NetworkStatus::default()
        };
        status.compare();
        status.complain();
        status.wrong
    }

    #[test]
    fn a_validator_that_votes_twice_is_wrong_however_many_nodes_say_so() {
        let told = |name: &str| SeenNode {
            own: Some(NodeHealth {
                name: name.to_owned(),
                height: 30,
                trouble: None,
                misbehaviour: vec![Misbehaviour {
                    validator: "node-5".to_owned(),
                    kind: "double_vote".to_owned(),
                    count: 74,
                    first_height: 3,
                    last_height: 90,
                }],
            }),
            ..node(name, (FRESH, 30))
        };
        let wrong = wrong(vec![told("a"), told("b")]);
        assert_eq!(wrong.len(), 1, "{wrong:?}");
        assert!(wrong[0].contains("node-5 voted for two blocks at one height, last at height 90"));
    }

    #[test]
    fn a_network_that_goes_on_is_not_wrong_even_if_a_node_is_late_by_a_moment() {
        let none: [String; 0] = [];
        assert_eq!(
            wrong(vec![node("a", (FRESH, 30)), node("b", (95, 28))]),
            none
        );
    }

    #[test]
    fn a_network_that_stands_still_and_a_node_that_fell_behind_are() {
        let old = wrong(vec![node("a", (FRESH + 1, 30))]);
        assert!(old[0].contains("the network has stopped"), "{old:?}");
        let behind = wrong(vec![node("a", (1, 30)), node("b", (1, 30 - BEHIND))]);
        assert_eq!(behind, ["b: it is 10 blocks behind"]);
    }
}
