//! `selfsame registry status`: asks nodes, believes none of them, and says what they prove.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use clap::Args;
use selfsame_app::clock::Clock;
use selfsame_app::registry::trust_root;
use selfsame_crypto::SecretString;
use selfsame_crypto::encoding::base64url_encode;
use selfsame_net::{Authorization, Body, Call, Method, Net, Request, Settings};
use selfsame_proof::read::{Bundle, Policy, Question, Report, TrustRoot, judge};
use selfsame_proof::validators::{STATE_KEY, ValidatorSet};
use selfsame_registry::{Genesis, Receipt};
use serde::Serialize;
use url::Url;

use super::files::Serve;
use crate::exit::{Answer, End, Failure};
use crate::master_key::write_private;
use crate::output;
use crate::settings::trust_root as pinned;

/// Seconds by which clocks may differ.
const SKEW: u64 = 60;

/// Say how the nodes of a network are, and what they prove.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame registry status network/node-1 network/node-2
         selfsame registry status https://registry.example/ --trust-root network/trust-root --json
         selfsame registry status https://registry.example/ --trust-root network/trust-root --advance
Exit code 1 if no node proves anything."
)]
pub struct Status {
    /// Nodes: their base URLs, or their folders on this machine.
    #[arg(required = true, value_name = "URL|HOME")]
    nodes: Vec<String>,
    /// The trust root to judge by; unless told, the genesis of the first node that answers is believed.
    #[arg(long, value_name = "FILE")]
    trust_root: Option<PathBuf>,
    /// Move the trust root in that file on to what the answers prove: the present validators, the newest checkpoint.
    #[arg(long, requires = "trust_root")]
    advance: bool,
    /// Print one JSON object in place of lines for people.
    #[arg(long)]
    json: bool,
}

/// A network as its nodes show it.
#[derive(Default, Serialize)]
struct Shown {
    network: Option<String>,
    /// The validators of the newest state.
    validators: Vec<ShownValidator>,
    nodes: Vec<ShownNode>,
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
    /// Whether what it says is proven.
    verified: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    #[serde(flatten)]
    standing: Option<Standing>,
}

#[derive(Clone, Serialize)]
struct Standing {
    height: u64,
    transactions: u64,
    time: String,
    age_s: u64,
    /// Blocks behind the node that is furthest.
    lag: u64,
    #[serde(skip)]
    signers: Vec<String>,
    #[serde(skip)]
    set: Vec<(String, u64)>,
}

impl Status {
    /// Asks and prints.
    pub async fn run(self) -> End {
        let mut root = self.trust_root.as_deref().map(pinned).transpose()?;
        let (mut shown, mut newest) = (Shown::default(), None);
        for node in &self.nodes {
            let asked = match url(node) {
                Ok(url) => ask(&url, &mut root).await,
                Err(failure) => Err(failure),
            };
            shown.nodes.push(match asked {
                Ok((standing, trust)) => {
                    newest = later(newest, trust);
                    ShownNode {
                        node: node.clone(),
                        verified: true,
                        problem: None,
                        standing: Some(standing),
                    }
                }
                Err(failure) => ShownNode {
                    node: node.clone(),
                    verified: false,
                    problem: Some(failure.message().to_owned()),
                    standing: None,
                },
            });
        }
        if let (true, Some(file), Some(trust)) = (self.advance, &self.trust_root, newest) {
            replace(file, &trust.to_bytes())?;
        }
        shown.network = root.map(|root| network_of(&root).to_owned());
        shown.compare();
        output::either(self.json, &shown, lines);
        let proven = shown.nodes.iter().any(|node| node.verified);
        Ok(if proven { Answer::Yes } else { Answer::No })
    }
}

impl Shown {
    /// Measures each node by the one that is furthest.
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
}

fn url(node: &str) -> Result<Url, Failure> {
    if node.starts_with("http://") || node.starts_with("https://") {
        return Url::parse(node).map_err(|error| Failure::environment(format!("{node}: {error}")));
    }
    Serve::read(Path::new(node))?.url()
}

/// Reads the validators from a node, with all that proves them.
async fn ask(
    url: &Url,
    root: &mut Option<TrustRoot>,
) -> Result<(Standing, Option<TrustRoot>), Failure> {
    let face = Face::new(url)?;
    let genesis = face.get("registry/genesis").await?;
    let genesis = Genesis::from_bytes(&genesis)
        .map_err(|_| Failure::no("its genesis is malformed".to_owned()))?;
    let own = trust_root(&genesis);
    let root = root.get_or_insert_with(|| own.clone());
    if root.origin != own.origin {
        return Err(Failure::no(format!(
            "it is of network {}, not of {}",
            network_of(&own),
            network_of(root)
        )));
    }
    let path = format!(
        "registry/read?key={}&trusted_height={}",
        base64url_encode(STATE_KEY),
        root.from_height
    );
    let bundle = Bundle::from_bytes(&face.get(&path).await?)
        .map_err(|_| Failure::no("its answer is malformed".to_owned()))?;
    let now = Clock::default().now();
    let policy = Policy {
        max_age: None,
        skew: SKEW,
        behind: 0,
        witnesses: Vec::new(),
        witnesses_needed: 0,
    };
    let question = Question {
        key: STATE_KEY,
        policy: &policy,
        now,
    };
    let report = judge(&bundle, &question, root);
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
        signers: report.signers,
        set: set
            .validators()
            .iter()
            .map(|validator| (validator.name.clone(), validator.power))
            .collect(),
    };
    Ok((standing, trust))
}

/// The one that knows the later validators, or the later checkpoint of the same.
fn later(one: Option<TrustRoot>, other: Option<TrustRoot>) -> Option<TrustRoot> {
    let age = |root: &TrustRoot| (root.from_height, root.seen.map(|seen| seen.height));
    one.into_iter().chain(other).max_by_key(age)
}

/// Puts a file in the place of another, whole or not at all.
fn replace(file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let new = file.with_extension("new");
    if new.exists() {
        std::fs::remove_file(&new)?;
    }
    write_private(&new, bytes)?;
    Ok(std::fs::rename(new, file)?)
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

/// What anybody may ask of a node.
pub struct Face {
    net: Net,
    url: Url,
}

impl Face {
    /// The node at this base URL.
    ///
    /// # Errors
    /// If no TLS can be had on this machine.
    pub fn new(url: &Url) -> Result<Self, Failure> {
        let settings = Settings {
            own_origins: vec![url.origin()],
            hosts: [("localhost".to_owned(), vec![IpAddr::from([127, 0, 0, 1])])].into(),
            ..Settings::default()
        };
        let net = Net::new(settings).map_err(|error| Failure::environment(error.to_string()))?;
        let url = url.clone();
        Ok(Self { net, url })
    }

    /// Hands a signed transaction in.
    ///
    /// # Errors
    /// What the registry refuses it for, or that it does not answer.
    pub async fn write(&self, bytes: &[u8], token: SecretString) -> Result<Receipt, Failure> {
        let url = self
            .url
            .join("registry/transactions")
            .map_err(|error| Failure::ours(error.to_string()))?;
        let call = Call {
            method: Method::Post,
            url: &url,
            body: Body::Bytes {
                content_type: "application/cbor".to_owned(),
                bytes: bytes.to_vec(),
            },
            authorization: Authorization::Bearer(token),
            request: Request::default(),
        };
        let response = self.net.call(call).await.map_err(|error| {
            Failure::environment(format!("{} does not answer: {error}", self.url))
        })?;
        if !response.is_success() {
            return Err(crate::client::refusal(response.status, &response.body));
        }
        serde_json::from_slice(&response.body)
            .map_err(|error| Failure::ours(format!("the receipt is malformed: {error}")))
    }

    /// What it answers at a path.
    ///
    /// # Errors
    /// If it answers with no success, or not at all.
    pub async fn get(&self, path: &str) -> Result<Vec<u8>, Failure> {
        let url = self
            .url
            .join(path)
            .map_err(|error| Failure::ours(format!("{path}: {error}")))?;
        let answer = self.net.get(&url, &Request::default()).await;
        let response = answer.map_err(|error| {
            Failure::environment(format!("it does not answer: {error}"))
                .hint("start it with `selfsame registry node`")
        })?;
        match response.is_success() {
            true => Ok(response.body.to_vec()),
            false => Err(Failure::no(format!("it answers {}", response.status))),
        }
    }
}

fn lines(shown: &Shown) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(shown.network.iter().map(|name| format!("network  {name}")));
    for node in &shown.nodes {
        lines.push(match (&node.standing, &node.problem) {
            (Some(standing), _) => format!(
                "{}  height {}, {} transactions, {} s old{}",
                node.node,
                standing.height,
                standing.transactions,
                standing.age_s,
                match standing.lag {
                    0 => String::new(),
                    lag => format!(", {lag} blocks behind"),
                }
            ),
            (None, problem) => format!("{}  {}", node.node, problem.as_deref().unwrap_or("")),
        });
    }
    lines.extend(shown.validators.iter().map(|validator| {
        let mark = if validator.signed { "✓" } else { "✗" };
        format!("  {mark} {}  power {}", validator.name, validator.power)
    }));
    if !shown.validators.is_empty() {
        lines.push("  ✓ signed the newest checkpoint; who is late by a moment did not".to_owned());
    }
    lines
}
