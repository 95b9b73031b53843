//! `selfsame registry status`: queries nodes, verifies their answers, and reports what they prove.

use std::path::{Path, PathBuf};

use clap::Args;
use selfsame_crypto::SecretString;
use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::clock::Clock;
use selfsame_ledger::trust_root;
use selfsame_ledger::view::{Misbehaviour, NodeHealth};
use selfsame_proof::checkpoint;
use selfsame_proof::entries::ProvenEntries;
use selfsame_proof::read::{
    Bundle, Policy, Question, Relation, Report, TrustRoot, compare, compare_by_entry, judge,
};
use selfsame_proof::validators::{STATE_KEY, ValidatorSet};
use selfsame_registry::Genesis;
use serde::Serialize;
use url::Url;

use super::files::{self, replace};
use super::node_client::{Believed, Face};
use crate::client::token_from;
use crate::exit::{Answer, End, Failure};
use crate::settings::trust_root as pinned;
use crate::tls::Roots;
use crate::{address, output};

/// Maximum difference between clocks, in seconds.
const SKEW: u64 = 60;
/// Maximum age of the newest checkpoint of a network, in seconds, as for readers. On an idle network the age reaches 90
/// s: a header has the time of the votes before it, and the next block but one is 60 s later.
const FRESH: u64 = 120;
/// A node that is this many blocks behind is not merely a moment late.
const BEHIND: u64 = 10;

/// Show the status of a network's nodes, and what they prove.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame registry status network/node-1 network/node-2
         selfsame registry status https://registry.example/ --trust-root network/trust-root --json
         selfsame registry status https://registry.example/ --trust-root network/trust-root --advance
Exit code 1 if something is wrong: a node does not answer, proves nothing, is far behind or has trouble, the network has
stopped, a validator votes twice, or nodes prove two histories."
)]
pub struct Status {
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

/// The network according to its nodes.
#[derive(Default, Serialize)]
struct Shown {
    network: Option<String>,
    /// The validators of the newest state.
    validators: Vec<ShownValidator>,
    nodes: Vec<ShownNode>,
    /// The problems, in words; empty if there are none.
    wrong: Vec<String>,
}

#[derive(Serialize)]
struct ShownValidator {
    name: String,
    power: u64,
    /// Whether it signed the newest checkpoint.
    signed: bool,
}

#[derive(Serialize)]
struct ShownNode {
    node: String,
    /// Whether its answers are proven.
    verified: bool,
    /// Why they are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    #[serde(flatten)]
    standing: Option<Standing>,
    /// What only its operator may see.
    #[serde(skip_serializing_if = "Option::is_none")]
    own: Option<NodeHealth>,
}

/// The state of the network, as a node proves it.
#[derive(Clone, Serialize)]
pub struct Standing {
    /// The block of its newest checkpoint.
    pub height: u64,
    transactions: u64,
    time: String,
    age_s: u64,
    /// Blocks behind the node with the highest block.
    lag: u64,
    /// The checkpoint that proves it.
    #[serde(skip)]
    checkpoint: checkpoint::Standing,
    /// The validators that signed it.
    #[serde(skip)]
    pub signers: Vec<String>,
    /// The present validators, with their powers.
    #[serde(skip)]
    pub set: Vec<(String, u64)>,
}

impl Status {
    /// The trust root to verify with; `None` if `--advance` is to create it from the nodes' genesis.
    fn root(&self) -> Result<Option<TrustRoot>, Failure> {
        match self.trust_root.as_deref() {
            Some(file) if self.advance && !file.exists() => Ok(None),
            file => file.map(pinned).transpose(),
        }
    }

    /// Queries the nodes and prints the result.
    pub async fn run(self) -> End {
        let mut root = self.root()?;
        let believed: Believed = self.roots.read()?.into();
        too_many(&self.nodes, self.token_file.len())?;
        let (mut shown, mut newest) = (Shown::default(), None);
        let mut tokens = self.token_file.iter();
        let mut nodes = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            address::check(&url(node).map_err(|failure| failure.at(node))?)?;
            nodes.push((node.clone(), token(node, &mut tokens)?));
        }
        if root.is_none() {
            root = first_genesis(&self.nodes, &believed).await;
        }
        // All at once, since the network moves on while one of them is silent.
        let asked: Vec<_> = (nodes.into_iter())
            .map(|(node, token)| {
                tokio::spawn(shown_node(node, token, root.clone(), believed.clone()))
            })
            .collect();
        for node in asked {
            let (node, trust) = node
                .await
                .map_err(|error| Failure::ours(error.to_string()))?;
            newest = later(newest, trust);
            shown.nodes.push(node);
        }
        if let (true, Some(file), Some(trust)) = (self.advance, &self.trust_root, newest) {
            replace(file, &trust.to_bytes())?;
        }
        shown.network = root.map(|root| network_of(&root).to_owned());
        shown.compare();
        shown.complain();
        shown.wrong.extend(histories(&shown.nodes, &believed).await);
        output::either(self.json, &shown, lines);
        Ok(match shown.wrong.is_empty() {
            true => Answer::Yes,
            false => Answer::No,
        })
    }
}

/// A node's answers, and the trust root that they lead to.
async fn shown_node(
    node: String,
    token: Option<SecretString>,
    mut root: Option<TrustRoot>,
    believed: Believed,
) -> (ShownNode, Option<TrustRoot>) {
    let mut shown = ShownNode {
        node,
        verified: false,
        problem: None,
        standing: None,
        own: None,
    };
    let url = match url(&shown.node) {
        Ok(url) => url,
        Err(failure) => {
            shown.problem = Some(failure.message().to_owned());
            return (shown, None);
        }
    };
    // What a node proves is shown even if its health is unknown.
    let (own, asked) = tokio::join!(own(&url, token, &believed), ask(&url, &mut root, &believed));
    match own {
        Ok(own) => shown.own = own,
        Err(failure) => shown.problem = Some(failure.message().to_owned()),
    }
    match asked {
        Ok((standing, trust)) => {
            (shown.verified, shown.standing) = (true, Some(standing));
            (shown, trust)
        }
        Err(failure) => {
            shown.problem = Some(failure.message().to_owned());
            (shown, None)
        }
    }
}

/// The trust root from the genesis of the first of these nodes that responds.
async fn first_genesis(nodes: &[String], believed: &Believed) -> Option<TrustRoot> {
    let asked = nodes.iter().cloned().map(|node| {
        let believed = believed.clone();
        tokio::spawn(async move { genesis_of(&Face::new(&url(&node)?, &believed)?).await })
    });
    for node in asked.collect::<Vec<_>>() {
        if let Ok(Ok(root)) = node.await {
            return Some(root);
        }
    }
    None
}

async fn genesis_of(face: &Face) -> Result<TrustRoot, Failure> {
    let genesis = Genesis::from_bytes(&face.get("registry/genesis").await?)
        .map_err(|_| Failure::no("its genesis is malformed".to_owned()))?;
    Ok(trust_root(&genesis))
}

/// What a node shows only its operator.
async fn own(
    url: &Url,
    token: Option<SecretString>,
    believed: &Believed,
) -> Result<Option<NodeHealth>, Failure> {
    match token {
        Some(token) => Face::new(url, believed)?.health(token).await,
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
        return named.next().map(|file| token_from(file)).transpose();
    }
    // A node that was never started has no token, and does not respond either.
    Ok(files::token(Path::new(node)).ok())
}

impl Shown {
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
            .map(|(name, power)| ShownValidator {
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
async fn histories(nodes: &[ShownNode], believed: &Believed) -> Vec<String> {
    let proven = |node: &ShownNode| Some((node.node.clone(), node.standing.as_ref()?.checkpoint));
    let proven: Vec<_> = nodes.iter().filter_map(proven).collect();
    let Some((longest, last)) = proven.iter().max_by_key(|(_, at)| (at.size, at.height)) else {
        return Vec::new();
    };
    let mut wrong = Vec::new();
    for (node, at) in proven.iter().filter(|(node, _)| node != longest) {
        let proof = consistency(longest, at.size, last.size, believed).await;
        let (proof, problem) = match proof {
            Ok(proof) => (proof, String::new()),
            Err(failure) => (Vec::new(), format!(": {}", failure.message())),
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
        let face = Face::new(&url(node)?, believed)?;
        face.get(&format!("registry/log?numbers={next}")).await
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
) -> Result<Vec<[u8; 32]>, Failure> {
    if old == new {
        return Ok(Vec::new());
    }
    let path = format!("registry/consistency?old={old}&new={new}");
    let bytes = Face::new(&url(node)?, believed)?.get(&path).await?;
    Ok(bytes.as_chunks().0.to_vec())
}

fn is_url(node: &str) -> bool {
    node.starts_with("http://") || node.starts_with("https://")
}

fn url(node: &str) -> Result<Url, Failure> {
    if is_url(node) {
        return Url::parse(node).map_err(|error| Failure::environment(format!("{node}: {error}")));
    }
    if !Path::new(node).exists() {
        return Err(Failure::environment(
            "neither a node's folder nor a URL that begins with http:// or https://",
        ));
    }
    files::url_of(Path::new(node))
}

/// Verifies that a node is of the network of this trust root, or of its own genesis without one.
///
/// # Errors
/// Why it is not.
pub async fn proven(
    url: &Url,
    root: &mut Option<TrustRoot>,
    believed: &Believed,
) -> Result<(), Failure> {
    ask(url, root, believed).await.map(drop)
}

/// Reads the validators from a node, with all proofs; also returns the trust root that they lead to.
///
/// # Errors
/// If the node proves nothing under this root, or under its own genesis without one.
pub async fn ask(
    url: &Url,
    root: &mut Option<TrustRoot>,
    believed: &Believed,
) -> Result<(Standing, Option<TrustRoot>), Failure> {
    let face = Face::new(url, believed)?;
    let own = genesis_of(&face).await?;
    let root = root.get_or_insert_with(|| own.clone());
    if root.origin != own.origin {
        return Err(Failure::no(format!(
            "it is of network {}, not of {}",
            network_of(&own),
            network_of(root)
        )));
    }
    let now = Clock::default().now();
    let (bundle, report) = validators_of(&face, root.clone(), now).await?;
    let (true, Some(as_of), Some(set)) = (report.is_verified(), report.as_of, &bundle.value) else {
        return Err(Failure::no(broken(&report)));
    };
    let set = ValidatorSet::from_bytes(set)
        .map_err(|malformed| Failure::no(format!("its validators: {malformed}")))?;
    let trust = report.trust.clone();
    let standing = Standing {
        height: as_of.height,
        transactions: as_of.size,
        time: as_of.time.rfc3339(),
        age_s: now.seconds_since(as_of.time),
        lag: 0,
        checkpoint: as_of,
        signers: report.signers,
        set: set
            .validators()
            .iter()
            .map(|validator| (validator.name.clone(), validator.power))
            .collect(),
    };
    Ok((standing, trust))
}

/// A node's answer about the validators, verified. If there were more changes of the validators than one answer holds,
/// continues from the trust root it leads to.
async fn validators_of(
    face: &Face,
    mut root: TrustRoot,
    now: UnixTime,
) -> Result<(Bundle, Report), Failure> {
    let policy = Policy::genuine(SKEW);
    let question = Question {
        key: STATE_KEY,
        policy: &policy,
        now,
    };
    loop {
        let (key, from) = (base64url_encode(STATE_KEY), root.from_height);
        let path = format!("registry/read?key={key}&trusted_height={from}");
        let bundle = Bundle::from_bytes(&face.get(&path).await?)
            .map_err(|_| Failure::no("its answer is malformed".to_owned()))?;
        let report = judge(&bundle, &question, &root);
        match &report.leads_to {
            Some(next) if next.from_height > root.from_height => root = next.clone(),
            _ => return Ok((bundle, report)),
        }
    }
}

/// The trust root with the later validators, or with the later checkpoint if the validators are the same.
fn later(one: Option<TrustRoot>, other: Option<TrustRoot>) -> Option<TrustRoot> {
    let age = |root: &TrustRoot| (root.from_height, root.seen.map(|seen| seen.height));
    one.into_iter().chain(other).max_by_key(age)
}

fn network_of(root: &TrustRoot) -> &str {
    root.origin
        .strip_prefix("selfsame/")
        .unwrap_or(&root.origin)
}

fn broken(report: &Report) -> String {
    let rule = report.rules.iter().find(|rule| rule.passed == Some(false));
    rule.map_or_else(
        || "its answer proves nothing".to_owned(),
        |rule| format!("its answer breaks rule `{}`: {}", rule.name, rule.detail),
    )
}

fn lines(shown: &Shown) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(shown.network.iter().map(|name| format!("network  {name}")));
    for node in &shown.nodes {
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
    lines.extend(shown.validators.iter().map(|validator| {
        let mark = if validator.signed { "✓" } else { "✗" };
        format!("  {mark} {}  power {}", validator.name, validator.power)
    }));
    if !shown.validators.is_empty() {
        lines.push("  ✓ signed the newest checkpoint; a late validator may not have".to_owned());
    }
    lines.extend(shown.wrong.iter().map(|wrong| format!("wrong: {wrong}")));
    lines
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A standing with this age and height, for tests.
    pub fn standing((age_s, height): (u64, u64)) -> Standing {
        Standing {
            height,
            transactions: 1,
            time: String::new(),
            age_s,
            lag: 0,
            checkpoint: checkpoint::Standing {
                height,
                time: UnixTime(0),
                size: 1,
                log: [0; 32],
                state: [0; 32],
            },
            signers: Vec::new(),
            set: Vec::new(),
        }
    }

    fn node(name: &str, at: (u64, u64)) -> ShownNode {
        ShownNode {
            node: name.to_owned(),
            verified: true,
            problem: None,
            standing: Some(standing(at)),
            own: None,
        }
    }

    fn wrong(nodes: Vec<ShownNode>) -> Vec<String> {
        let mut shown = Shown {
            nodes,
            ..Shown::default()
        };
        shown.compare();
        shown.complain();
        shown.wrong
    }

    #[test]
    fn a_validator_that_votes_twice_is_wrong_however_many_nodes_say_so() {
        let told = |name: &str| ShownNode {
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
    fn a_trust_root_that_is_to_be_moved_on_may_have_to_be_made() {
        let folder = tempfile::tempdir().unwrap();
        let status = |advance| Status {
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
