//! Conceals claims behind disclosures and decoys (RFC 9901 §4.2).

use std::collections::BTreeMap;

use selfsame_crypto::{ctx::Ctx, encoding::base64url_encode};
use serde_json::{Map, Value, json};

use crate::DigestAlgorithm;
use crate::path::{ClaimPath, Segment};
use crate::process::{DOTS, SD, SD_ALG};

/// Maximum nesting depth of claims to issue.
const MAX_DEPTH: usize = 30;

/// How claims are concealed.
#[derive(Clone, Copy, Debug)]
pub struct Concealment<'a> {
    /// The claims that the holder may withhold. A path below another one makes a recursive disclosure (§4.2.6). A path
    /// that leads to no claim has no effect.
    pub disclosable: &'a [ClaimPath],
    /// The number of decoy digests in every object and array that hides something (§4.2.5).
    pub decoys: usize,
    /// The digest algorithm.
    pub digest: DigestAlgorithm,
    /// The label of these claims among all that are concealed with one `Ctx`, so that no two have an equal salt.
    pub label: &'a str,
}

/// Claims with digests in place of what is concealed, and the disclosures.
#[derive(Clone, Debug)]
pub struct Concealed {
    /// The payload.
    pub payload: Map<String, Value>,
    /// The disclosures, base64url-encoded as they will be sent.
    pub disclosures: Vec<String>,
}

/// Why claims can't be concealed.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ConcealError {
    /// A claim is named `_sd`, `...` or `_sd_alg` (§4.1, rule 7).
    #[error("a claim has a name that SD-JWT reserves")]
    ReservedName,
    /// The claims nest too deeply.
    #[error("the claims nest too deeply")]
    TooDeep,
}

impl Concealment<'_> {
    /// Conceals claims. The salts come from `ctx`, so a step that runs again conceals alike.
    ///
    /// # Errors
    /// [`ConcealError`].
    pub fn of(&self, claims: &Map<String, Value>, ctx: &Ctx) -> Result<Concealed, ConcealError> {
        let mut root = Mark::default();
        for path in self.disclosable {
            root.add(path.segments());
        }
        let mut run = Run {
            way: self,
            ctx,
            disclosures: Vec::new(),
            drawn: 0,
        };
        let mut payload = run.object(claims, &[&root], 0)?;
        let disclosures = run.disclosures;
        if !disclosures.is_empty() || self.digest != DigestAlgorithm::default() {
            payload.insert(SD_ALG.to_owned(), Value::from(self.digest.as_str()));
        }
        Ok(Concealed {
            payload,
            disclosures,
        })
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
    way: &'a Concealment<'a>,
    ctx: &'a Ctx,
    disclosures: Vec<String>,
    drawn: u64,
}

impl Run<'_> {
    fn value(
        &mut self,
        value: &Value,
        marks: &[&Mark],
        depth: usize,
    ) -> Result<Value, ConcealError> {
        if depth > MAX_DEPTH {
            return Err(ConcealError::TooDeep);
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
    ) -> Result<Map<String, Value>, ConcealError> {
        let mut shown = Map::new();
        let mut digests = Vec::new();
        for (name, value) in members {
            if [SD, DOTS, SD_ALG].contains(&name.as_str()) {
                return Err(ConcealError::ReservedName);
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
            digests.extend((0..self.way.decoys).map(|_| self.decoy()));
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
    ) -> Result<Vec<Value>, ConcealError> {
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
        let decoys = if hides { self.way.decoys } else { 0 };
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
        let digest = self.way.digest.digest(disclosure.as_bytes());
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
        self.way.digest.digest(&self.ctx.random::<32>(&label))
    }

    fn label(&mut self, purpose: &str) -> String {
        self.drawn = self.drawn.saturating_add(1);
        format!("sd-jwt/{}/{purpose}/{}", self.way.label, self.drawn)
    }
}
