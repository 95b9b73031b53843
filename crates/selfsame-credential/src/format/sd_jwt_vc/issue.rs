//! Issuing an SD-JWT VC: hiding claims behind disclosures and decoys (RFC 9901 §4.2).

use std::collections::BTreeMap;

use selfsame_crypto::{Jwk, ctx::Ctx, encoding::base64url_encode};
use serde_json::{Map, Value, json};

use super::describe::NEVER_DISCLOSED;
use crate::{
    evidence::{Evidence, Step},
    format::sd_jwt_form::TYP,
    path::{ClaimPath, Segment},
    sd_jwt::{
        DigestAlgorithm,
        process::{DOTS, SD, SD_ALG},
    },
    signer::{Signer, Unsigned},
};

/// Maximum nesting depth of claims to issue.
const MAX_DEPTH: usize = 30;

/// The content of an SD-JWT VC to issue.
#[derive(Clone, Debug)]
pub struct Issue {
    /// All claims, not hidden.
    pub claims: Map<String, Value>,
    /// The claims that the holder may withhold. A path below another one makes a recursive disclosure (§4.2.6). A path
    /// that leads to no claim has no effect.
    pub disclosable: Vec<ClaimPath>,
    /// The number of decoy digests in every object and array that hides something (§4.2.5).
    pub decoys: usize,
    /// The holder's key (§4.1.2).
    pub cnf: Option<Jwk>,
    /// The digest algorithm.
    pub digest: DigestAlgorithm,
    /// The issuer's key.
    pub signer: Signer,
    /// The label of this credential among all that are made with one `Ctx`, so that no two have an equal salt.
    pub label: String,
}

/// Why claims can't be issued.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum IssueError {
    /// A claim is named `_sd`, `...` or `_sd_alg` (§4.1, rule 7).
    #[error("a claim has a name that SD-JWT reserves")]
    ReservedName,
    /// A claim that a verifier must always see would be selectively disclosable (SD-JWT VC §2.2.2.3).
    #[error("iss, nbf, exp, cnf, vct, aka_vcts and status must not be selectively disclosable")]
    NeverDisclosed,
    /// The type is missing (SD-JWT VC §2.2.2.1).
    #[error("the claim vct is missing or not a string")]
    Type,
    /// The claims nest too deeply.
    #[error("the claims nest too deeply")]
    TooDeep,
    /// The claims contain `cnf`, although the holder's key is given separately.
    #[error("the claims must not contain cnf, which is set from the holder's key")]
    Confirmation,
}

/// An SD-JWT without its issuer's signature.
#[derive(Clone, Debug)]
pub struct Draft {
    unsigned: Unsigned,
    disclosures: Vec<String>,
}

impl Draft {
    /// The bytes that the issuer signs.
    pub fn signing_input(&self) -> &[u8] {
        self.unsigned.signing_input()
    }

    /// The disclosures, base64url-encoded as they will be sent.
    pub fn disclosures(&self) -> &[String] {
        &self.disclosures
    }

    /// The SD-JWT, with its signature.
    pub fn finish(self, signature: &[u8]) -> String {
        with_disclosures(&self.unsigned.finish(signature), &self.disclosures)
    }

    /// The SD-JWT if its signature is in the evidence, otherwise the need for the signature.
    pub fn step(self, evidence: &Evidence) -> Step<String> {
        match self.unsigned.step(evidence) {
            Step::Done(jwt) => Step::Done(with_disclosures(&jwt, &self.disclosures)),
            Step::Needs(needs) => Step::Needs(needs),
        }
    }
}

fn with_disclosures(jwt: &str, disclosures: &[String]) -> String {
    let mut text = jwt.to_owned();
    for disclosure in disclosures {
        text.push('~');
        text.push_str(disclosure);
    }
    text.push('~');
    text
}

impl Issue {
    /// Hides the selectively disclosable claims. The salts come from `ctx`, so a step that runs again makes an equal
    /// draft.
    pub fn draft(self, ctx: &Ctx) -> Result<Draft, IssueError> {
        self.check()?;
        let mut root = Mark::default();
        for path in &self.disclosable {
            root.add(path.segments());
        }
        let mut run = Run {
            issue: &self,
            ctx,
            disclosures: Vec::new(),
            drawn: 0,
        };
        let mut payload = run.object(&self.claims, &[&root], 0)?;
        let disclosures = run.disclosures;
        if !disclosures.is_empty() || self.digest != DigestAlgorithm::default() {
            payload.insert(SD_ALG.to_owned(), Value::from(self.digest.as_str()));
        }
        if let Some(key) = &self.cnf {
            payload.insert("cnf".to_owned(), json!({ "jwk": key.to_value() }));
        }
        let unsigned = Unsigned::new(&self.signer, TYP, &Value::Object(payload));
        Ok(Draft {
            unsigned,
            disclosures,
        })
    }

    fn check(&self) -> Result<(), IssueError> {
        if !self.claims.get("vct").is_some_and(Value::is_string) {
            return Err(IssueError::Type);
        }
        if self.cnf.is_some() && self.claims.contains_key("cnf") {
            return Err(IssueError::Confirmation);
        }
        let first_names = self
            .disclosable
            .iter()
            .filter_map(|path| path.segments().first());
        for first in first_names {
            if matches!(first, Segment::Name(name) if NEVER_DISCLOSED.contains(&name.as_str())) {
                return Err(IssueError::NeverDisclosed);
            }
        }
        Ok(())
    }
}

/// The disclosable paths as a tree.
#[derive(Default)]
struct Mark {
    hide: bool,
    below: BTreeMap<Segment, Mark>,
}

impl Mark {
    fn add(&mut self, segments: &[Segment]) {
        match segments.split_first() {
            None => self.hide = true,
            Some((first, rest)) => self.below.entry(first.clone()).or_default().add(rest),
        }
    }
}

fn below<'m>(marks: &[&'m Mark], segments: &[Segment]) -> Vec<&'m Mark> {
    let steps = marks
        .iter()
        .flat_map(|mark| segments.iter().map(|step| mark.below.get(step)));
    steps.flatten().collect()
}

struct Run<'a> {
    issue: &'a Issue,
    ctx: &'a Ctx,
    disclosures: Vec<String>,
    drawn: u64,
}

impl Run<'_> {
    fn value(&mut self, value: &Value, marks: &[&Mark], depth: usize) -> Result<Value, IssueError> {
        if depth > MAX_DEPTH {
            return Err(IssueError::TooDeep);
        }
        match value {
            Value::Object(members) => Ok(Value::Object(self.object(members, marks, depth)?)),
            Value::Array(elements) => Ok(Value::Array(self.array(elements, marks, depth)?)),
            plain => Ok(plain.clone()),
        }
    }

    fn object(
        &mut self,
        members: &Map<String, Value>,
        marks: &[&Mark],
        depth: usize,
    ) -> Result<Map<String, Value>, IssueError> {
        let mut shown = Map::new();
        let mut digests = Vec::new();
        for (name, value) in members {
            if [SD, DOTS, SD_ALG].contains(&name.as_str()) {
                return Err(IssueError::ReservedName);
            }
            let marks = below(marks, &[Segment::Name(name.clone())]);
            let value = self.value(value, &marks, depth.saturating_add(1))?;
            if marks.iter().any(|mark| mark.hide) {
                let salt = self.salt();
                digests.push(self.disclose(&json!([salt, name, value])));
            } else {
                shown.insert(name.clone(), value);
            }
        }
        if !digests.is_empty() {
            digests.extend((0..self.issue.decoys).map(|_| self.decoy()));
            // §4.2.4.1: the order must not reveal the order of the claims.
            digests.sort_unstable();
            shown.insert(SD.to_owned(), Value::from(digests));
        }
        Ok(shown)
    }

    fn array(
        &mut self,
        elements: &[Value],
        marks: &[&Mark],
        depth: usize,
    ) -> Result<Vec<Value>, IssueError> {
        let mut shown = Vec::with_capacity(elements.len());
        let mut hides = false;
        for (index, value) in elements.iter().enumerate() {
            let marks = below(marks, &[Segment::Index(index), Segment::All]);
            let value = self.value(value, &marks, depth.saturating_add(1))?;
            if marks.iter().any(|mark| mark.hide) {
                hides = true;
                let salt = self.salt();
                let digest = self.disclose(&json!([salt, value]));
                shown.push(json!({ DOTS: digest }));
            } else {
                shown.push(value);
            }
        }
        let decoys = if hides { self.issue.decoys } else { 0 };
        for _ in 0..decoys {
            let label = self.label("place");
            let bound = u64::try_from(shown.len())
                .unwrap_or(u64::MAX)
                .saturating_add(1);
            let place = usize::try_from(self.ctx.below(&label, bound)).unwrap_or(0);
            let decoy = self.decoy();
            shown.insert(place.min(shown.len()), json!({ DOTS: decoy }));
        }
        Ok(shown)
    }

    /// §4.2.1, §4.2.2: the base64url of the array. Its digest goes into the payload.
    fn disclose(&mut self, content: &Value) -> String {
        let disclosure = base64url_encode(&selfsame_crypto::json::to_bytes(content));
        let digest = self.issue.digest.digest(disclosure.as_bytes());
        self.disclosures.push(disclosure);
        digest
    }

    /// §9.3: 128 random bits.
    fn salt(&mut self) -> String {
        let label = self.label("salt");
        base64url_encode(&self.ctx.random::<16>(&label))
    }

    fn decoy(&mut self) -> String {
        let label = self.label("decoy");
        self.issue.digest.digest(&self.ctx.random::<32>(&label))
    }

    fn label(&mut self, purpose: &str) -> String {
        self.drawn = self.drawn.saturating_add(1);
        format!("sd-jwt/{}/{purpose}/{}", self.issue.label, self.drawn)
    }
}
