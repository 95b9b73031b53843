//! Puts disclosed claims in their places (RFC 9901 §7.1, steps 3 to 5), in one pass over the payload.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use crate::path::{ClaimPath, Segment};
use crate::{Disclosure, DisclosureContent};

/// Maximum nesting depth of the processed claims, including recursive disclosures.
const MAX_DEPTH: usize = 32;

/// Maximum total length, in bytes, of the paths of all disclosed claims and of arrays with gaps. A long name appears
/// once in the payload, but in the path of everything below it.
const MAX_PATH_BYTES: usize = 4 << 20;

/// The member that lists the digests of an object's hidden members.
pub const SD: &str = "_sd";
/// The member that contains the digest of a hidden array element.
pub const DOTS: &str = "...";
/// The member that names the digest algorithm.
pub const SD_ALG: &str = "_sd_alg";

/// The Processed SD-JWT Payload, and the place of each disclosure.
#[derive(Clone, Debug)]
pub struct Processed {
    /// The claims, with disclosed claims in place and everything else removed.
    pub claims: Value,
    /// For each disclosure, in the order received, its place.
    pub places: Vec<DisclosurePlace>,
    /// The positions of missing array elements.
    pub withheld: Withheld,
}

/// Array elements that were not disclosed: elements behind them have lower indexes than in the signed array.
#[derive(Clone, Debug, Default)]
pub struct Withheld(HashMap<Vec<Segment>, Vec<usize>>);

impl Withheld {
    /// The number of missing elements, including decoys, before a present one, by its array's path and its position.
    pub fn before(&self, array: &[Segment], position: usize) -> usize {
        let counts = self.0.get(array).and_then(|counts| counts.get(position));
        counts.copied().unwrap_or_default()
    }
}

/// The place of a disclosure.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DisclosurePlace {
    /// The path of the disclosed claim.
    pub path: ClaimPath,
    /// The index of the disclosure whose value contains this one's digest; `None` if that is the issuer's payload.
    pub parent: Option<usize>,
}

/// Why the disclosures do not match the payload.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq, thiserror::Error)]
pub enum ProcessError {
    /// Step 4: a digest is in more than one place.
    #[error("a digest is embedded more than once")]
    DuplicateDigest,
    /// Step 5: a disclosure matches no digest, or was sent twice.
    #[error("a disclosure is not referenced by any digest")]
    Unreferenced,
    /// Steps 3.c.ii.1 and 3.c.iii.1: the disclosure of a property is used for an element, or the reverse.
    #[error("a disclosure has the wrong number of elements for its place")]
    Shape,
    /// Step 3.c.ii.2: a disclosed claim is named `_sd`, `...` or `_sd_alg`.
    #[error("a disclosed claim has a reserved name")]
    ReservedName,
    /// Step 3.c.ii.3: a disclosed claim already exists.
    #[error("a disclosed claim exists already at its level")]
    Collision,
    /// §4.1: `_sd`, `...` or `_sd_alg` is used for something other than digests.
    #[error("`_sd`, `...` or `_sd_alg` is not used as specified")]
    Malformed,
    /// The claims nest too deeply.
    #[error("the claims nest too deeply")]
    TooDeep,
    /// The paths of the disclosed claims exceed the limit.
    #[error("the disclosed claims are below names that are too long")]
    TooLarge,
}

/// Processes a payload with these disclosures. Each is used at most once, so the work is linear.
pub(crate) fn process(
    payload: &Value,
    disclosures: &[Disclosure],
) -> Result<Processed, ProcessError> {
    let mut run = Run {
        disclosures,
        by_digest: HashMap::with_capacity(disclosures.len()),
        seen: HashSet::new(),
        places: vec![None; disclosures.len()],
        withheld: Withheld::default(),
        trail: Vec::new(),
        path_bytes: MAX_PATH_BYTES,
    };
    for (index, disclosure) in disclosures.iter().enumerate() {
        if run.by_digest.insert(disclosure.digest(), index).is_some() {
            return Err(ProcessError::Unreferenced);
        }
    }
    let claims = run.top(payload)?;
    let places = run.places.into_iter().collect::<Option<Vec<_>>>();
    Ok(Processed {
        claims,
        places: places.ok_or(ProcessError::Unreferenced)?,
        withheld: run.withheld,
    })
}

struct Run<'a> {
    disclosures: &'a [Disclosure],
    by_digest: HashMap<&'a str, usize>,
    seen: HashSet<&'a str>,
    places: Vec<Option<DisclosurePlace>>,
    withheld: Withheld,
    trail: Vec<Segment>,
    /// The rest of the limit.
    path_bytes: usize,
}

impl<'a> Run<'a> {
    /// The payload itself, the only object in which `_sd_alg` has a meaning (§4.1.1).
    fn top(&mut self, payload: &'a Value) -> Result<Value, ProcessError> {
        let members = payload.as_object().ok_or(ProcessError::Malformed)?;
        let mut claims = Map::new();
        for (name, value) in members.iter().filter(|(name, _)| *name != SD_ALG) {
            self.member(&mut claims, name, value, None)?;
        }
        self.hidden_members(members, &mut claims, None)?;
        Ok(Value::Object(claims))
    }

    fn value(&mut self, value: &'a Value, parent: Option<usize>) -> Result<Value, ProcessError> {
        if self.trail.len() > MAX_DEPTH {
            return Err(ProcessError::TooDeep);
        }
        match value {
            Value::Object(members) => {
                let mut claims = Map::new();
                for (name, value) in members {
                    self.member(&mut claims, name, value, parent)?;
                }
                self.hidden_members(members, &mut claims, parent)?;
                Ok(Value::Object(claims))
            }
            Value::Array(elements) => self.array(elements, parent),
            plain => Ok(plain.clone()),
        }
    }

    fn member(
        &mut self,
        claims: &mut Map<String, Value>,
        name: &'a str,
        value: &'a Value,
        parent: Option<usize>,
    ) -> Result<(), ProcessError> {
        match name {
            SD => Ok(()),
            DOTS | SD_ALG => Err(ProcessError::Malformed),
            _ => {
                self.trail.push(Segment::Name(name.to_owned()));
                let value = self.value(value, parent)?;
                self.trail.pop();
                claims.insert(name.to_owned(), value);
                Ok(())
            }
        }
    }

    /// Step 3.c.ii, for every digest in the `_sd` of an object.
    fn hidden_members(
        &mut self,
        members: &'a Map<String, Value>,
        claims: &mut Map<String, Value>,
        parent: Option<usize>,
    ) -> Result<(), ProcessError> {
        let digests = match members.get(SD) {
            None => return Ok(()),
            Some(Value::Array(digests)) => digests,
            Some(_) => return Err(ProcessError::Malformed),
        };
        for digest in digests {
            let Some(index) = self.disclosed(digest)? else {
                continue;
            };
            let Some(DisclosureContent::Property { name, value }) = self.content(index) else {
                return Err(ProcessError::Shape);
            };
            if [SD, DOTS, SD_ALG].contains(&name.as_str()) {
                return Err(ProcessError::ReservedName);
            }
            if claims.contains_key(name) {
                return Err(ProcessError::Collision);
            }
            self.trail.push(Segment::Name(name.clone()));
            self.place(index, parent)?;
            let value = self.value(value, Some(index))?;
            self.trail.pop();
            claims.insert(name.clone(), value);
        }
        Ok(())
    }

    /// Steps 3.c.iii and 3.d, for every element of an array.
    fn array(
        &mut self,
        elements: &'a [Value],
        parent: Option<usize>,
    ) -> Result<Value, ProcessError> {
        let mut shown = Vec::with_capacity(elements.len());
        let mut missing = Vec::with_capacity(elements.len());
        let mut missed = 0;
        for element in elements {
            self.trail.push(Segment::Index(shown.len()));
            match hidden_element(element)? {
                None => shown.push(self.value(element, parent)?),
                Some(digest) => {
                    if let Some(index) = self.disclosed(digest)? {
                        let Some(DisclosureContent::Element { value }) = self.content(index) else {
                            return Err(ProcessError::Shape);
                        };
                        self.place(index, parent)?;
                        shown.push(self.value(value, Some(index))?);
                    } else {
                        missed = usize::saturating_add(missed, 1);
                    }
                }
            }
            if missing.len() < shown.len() {
                missing.push(missed);
            }
            self.trail.pop();
        }
        if missing.last().is_some_and(|missed| *missed > 0) {
            self.charge()?;
            self.withheld.0.insert(self.trail.clone(), missing);
        }
        Ok(Value::Array(shown))
    }

    /// The disclosure for an embedded digest; `None` for a decoy or a withheld claim.
    fn disclosed(&mut self, digest: &'a Value) -> Result<Option<usize>, ProcessError> {
        let digest = digest.as_str().ok_or(ProcessError::Malformed)?;
        if !self.seen.insert(digest) {
            return Err(ProcessError::DuplicateDigest);
        }
        Ok(self.by_digest.get(digest).copied())
    }

    fn content(&self, index: usize) -> Option<&'a DisclosureContent> {
        self.disclosures
            .get(index)
            .map(|disclosure| &disclosure.content)
    }

    fn place(&mut self, index: usize, parent: Option<usize>) -> Result<(), ProcessError> {
        self.charge()?;
        let path = ClaimPath::new(self.trail.clone()).map_err(|_| ProcessError::TooDeep)?;
        if let Some(place) = self.places.get_mut(index) {
            *place = Some(DisclosurePlace { path, parent });
        }
        Ok(())
    }

    /// Subtracts the length of the current path from the limit for all paths.
    fn charge(&mut self) -> Result<(), ProcessError> {
        let length = |segment: &Segment| match segment {
            Segment::Name(name) => name.len(),
            Segment::Index(_) | Segment::All => 0,
        };
        let taken = self.trail.iter().map(length).fold(0, usize::saturating_add);
        let left = self.path_bytes.checked_sub(taken);
        self.path_bytes = left.ok_or(ProcessError::TooLarge)?;
        Ok(())
    }
}

/// The digest, if this array element is of the form `{"...": digest}`, which has no other member (§4.2.4.2).
fn hidden_element(element: &Value) -> Result<Option<&Value>, ProcessError> {
    match element.as_object() {
        Some(members) => match members.get(DOTS) {
            None => Ok(None),
            Some(digest) if members.len() == 1 => Ok(Some(digest)),
            Some(_) => Err(ProcessError::Malformed),
        },
        None => Ok(None),
    }
}
