//! How values fill the claims of a type.

use std::collections::BTreeMap;

use crate::date::is_full_date;
use regex_lite::{Regex, RegexBuilder};
use selfsame_credential::Format;
use selfsame_credential::path::{ClaimPath, Segment};
use selfsame_driver::{Error, Reason, Result};
use serde_json::{Map, Number, Value};

use crate::image::picture;
use crate::model::{ClaimKind, Disclosed, TypeClaim, TypeDefinition, text_of};

/// Maximum number of characters of a text without a limit of its own.
const TEXT_MAX: u32 = 100_000;
/// Maximum number of bytes of an image in a claim: in base64 it leaves room for other claims in an offer.
const IMAGE_BYTES_MAX: usize = 32 * 1024;
/// Maximum number of elements of a list.
const ELEMENTS_MAX: usize = 500;
/// Maximum size of a compiled pattern, in bytes.
const PATTERN_BYTES_MAX: usize = 256 * 1024;
/// One transparent pixel.
const PIXEL: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

impl TypeDefinition {
    /// The claims of a credential: those given, checked, and with `examples` the type's examples for the others.
    ///
    /// # Errors
    /// `BadRequest` for a claim that the type does not have, that does not fit, or that is missing.
    pub fn fill(&self, given: &Map<String, Value>, examples: bool) -> Result<Map<String, Value>> {
        let level = Level {
            claims: &self.claims,
            prefix: "",
        };
        level.refuse_unknown(given).map_err(|claim| {
            Error::bad_request("claim-unknown")
                .with("claim", &claim)
                .with("type", &self.id)
        })?;
        let mut filled = Map::new();
        let stated = self.claims.iter().filter(|claim| claim.derived.is_none());
        for claim in stated {
            let value = match at(given, &claim.path) {
                Some(value) => {
                    claim.check(value, &claim.path.join("."))?;
                    value.clone()
                }
                None if examples => claim.sample(),
                None if claim.required => return Err(missing(&claim.path.join("."))),
                None => continue,
            };
            put(&mut filled, &claim.path, value);
        }
        self.derive(given, &mut filled)?;
        Ok(filled)
    }

    /// The claims of a credential made from what is known of a person, checked. `sources` has the name of the person's
    /// claim for each path of the credential's, with dots between members; `address.country` is a member of a claim.
    ///
    /// # Errors
    /// As [`Self::fill`].
    pub fn fill_from_person(
        &self,
        sources: &BTreeMap<String, String>,
        person: &Map<String, Value>,
    ) -> Result<Map<String, Value>> {
        let parts = |path: &String| path.split('.').map(str::to_owned).collect::<Vec<_>>();
        let mut claims = Map::new();
        for (path, source) in sources {
            let value = person.get(source).or_else(|| at(person, &parts(source)));
            if let Some(value) = value.filter(|value| !value.is_null()) {
                put(&mut claims, &parts(path), value.clone());
            }
        }
        self.fill(&claims, false)
    }

    /// Adds the claims that follow from others. Without the claim that it follows from, such a claim is false.
    fn derive(&self, given: &Map<String, Value>, filled: &mut Map<String, Value>) -> Result<()> {
        for claim in &self.claims {
            let Some(derived) = &claim.derived else {
                continue;
            };
            let holds = derived.holds(at(filled, &derived.from).and_then(Value::as_str));
            let value = Value::Bool(holds);
            if at(given, &claim.path).is_some_and(|given| *given != value) {
                return Err(Error::bad_request("claim-derived")
                    .with("claim", &claim.path.join("."))
                    .with("from", &derived.from.join(".")));
            }
            put(filled, &claim.path, value);
        }
        Ok(())
    }

    /// The paths of what the holder of an SD-JWT VC may withhold: claims, members of objects, elements of lists.
    ///
    /// # Errors
    /// `Internal` for a path that is too long, which a checked type does not have.
    pub fn disclosable(&self) -> Result<Vec<ClaimPath>> {
        let mut paths = Vec::new();
        let at_top = Nested {
            prefix: &[],
            is_inner: false,
        };
        for claim in self.claims.iter().filter(|claim| claim.is_in_credential()) {
            at_top.disclosable(claim, &mut paths)?;
        }
        Ok(paths)
    }
}

/// The path to a claim within a credential of this format, which is not a mobile document.
///
/// # Errors
/// `Internal` for an empty path.
pub(crate) fn claim_path(path: &[String], format: Format) -> Result<ClaimPath> {
    let within = format.describe().subject_claim;
    ClaimPath::of_names(within.into_iter().chain(path.iter().map(String::as_str)))
        .map_err(Error::internal)
}

impl TypeClaim {
    /// Its example, or a value of its kind that fits it.
    #[must_use]
    pub fn sample(&self) -> Value {
        if let Some(example) = &self.example {
            return example.clone();
        }
        match self.kind {
            ClaimKind::Text => {
                let most = self.max_length.unwrap_or(TEXT_MAX) as usize;
                let name = match text_of(&self.label) {
                    "" => "Example",
                    label => label,
                };
                Value::from(name.chars().take(most).collect::<String>())
            }
            ClaimKind::Number => sample_number(self),
            ClaimKind::Date => Value::from("2000-01-31"),
            ClaimKind::Boolean => Value::Bool(true),
            ClaimKind::Image => Value::from(PIXEL),
            ClaimKind::Enumeration => {
                let first = self.values.first().map(|choice| choice.value.as_str());
                Value::from(first.unwrap_or_default())
            }
            ClaimKind::Object => {
                let mut object = Map::new();
                for inner in &self.claims {
                    put(&mut object, &inner.path, inner.sample());
                }
                Value::Object(object)
            }
            ClaimKind::List => {
                Value::Array(self.of.iter().map(|element| element.sample()).collect())
            }
        }
    }

    /// Checks a value.
    ///
    /// # Errors
    /// `BadRequest`, with the place of what does not fit.
    pub fn check(&self, value: &Value, place: &str) -> Result<()> {
        let fits = match self.kind {
            ClaimKind::Text => value.is_string(),
            ClaimKind::Number => value.is_number() && (!self.integer || is_whole(value)),
            ClaimKind::Date => value.as_str().is_some_and(is_full_date),
            ClaimKind::Boolean => value.is_boolean(),
            ClaimKind::Image => value.is_string(),
            ClaimKind::Enumeration => {
                let known = |text| self.values.iter().any(|choice| choice.value == text);
                value.as_str().is_some_and(known)
            }
            ClaimKind::Object => value.is_object(),
            ClaimKind::List => value.is_array(),
        };
        if !fits {
            return Err(Error::bad_request("claim-of-other-kind")
                .with("claim", place)
                .with_reason("kind", self.expected()));
        }
        match value {
            Value::String(text) if self.kind == ClaimKind::Text => self.check_text(text, place),
            Value::String(uri) if self.kind == ClaimKind::Image => {
                picture(uri, IMAGE_BYTES_MAX).map(|_| ()).map_err(|cause| {
                    Error::bad_request("claim-image")
                        .with("claim", place)
                        .because(cause)
                })
            }
            Value::Number(number) => self.check_number(number, place),
            Value::Object(members) => self.check_members(members, place),
            Value::Array(elements) => self.check_elements(elements, place),
            _ => Ok(()),
        }
    }

    fn expected(&self) -> Reason {
        match self.kind {
            ClaimKind::Number if self.integer => Reason::new("kind-integer"),
            ClaimKind::Enumeration => {
                let values = self.values.iter().map(|choice| choice.value.as_str());
                let values: Vec<&str> = values.take(20).collect();
                Reason::new("kind-one-of").with("values", &values.join(", "))
            }
            kind => kind.expected(),
        }
    }

    fn check_text(&self, text: &str, place: &str) -> Result<()> {
        let most = self.max_length.unwrap_or(TEXT_MAX);
        if text.chars().take(most as usize + 1).count() > most as usize {
            return Err(Error::bad_request("claim-long")
                .with("claim", place)
                .with("maximum", &most));
        }
        match self.pattern.as_deref().map(pattern) {
            None => Ok(()),
            Some(Some(pattern)) if pattern.is_match(text) => Ok(()),
            Some(_) => Err(Error::bad_request("claim-pattern").with("claim", place)),
        }
    }

    fn check_number(&self, number: &Number, place: &str) -> Result<()> {
        let value = number.as_f64().unwrap_or(f64::NAN);
        if let Some(min) = self.min.filter(|min| value < *min) {
            return Err(Error::bad_request("claim-small")
                .with("claim", place)
                .with("minimum", &min));
        }
        if let Some(max) = self.max.filter(|max| value > *max) {
            return Err(Error::bad_request("claim-great")
                .with("claim", place)
                .with("maximum", &max));
        }
        Ok(())
    }

    fn check_members(&self, members: &Map<String, Value>, place: &str) -> Result<()> {
        let level = Level {
            claims: &self.claims,
            prefix: place,
        };
        level
            .refuse_unknown(members)
            .map_err(|member| Error::bad_request("claim-member-unknown").with("member", &member))?;
        for inner in &self.claims {
            let place = format!("{place}.{}", inner.path.join("."));
            match at(members, &inner.path) {
                Some(value) => inner.check(value, &place)?,
                None if inner.required => return Err(missing(&place)),
                None => {}
            }
        }
        Ok(())
    }

    fn check_elements(&self, elements: &[Value], place: &str) -> Result<()> {
        if elements.len() > ELEMENTS_MAX {
            return Err(Error::bad_request("claim-elements")
                .with("claim", place)
                .with("maximum", &ELEMENTS_MAX));
        }
        let Some(of) = &self.of else {
            return Ok(());
        };
        let mut numbered = elements.iter().enumerate();
        numbered.try_for_each(|(number, element)| of.check(element, &format!("{place}[{number}]")))
    }
}

/// The claims beside each other, and the place where they are.
struct Level<'a> {
    claims: &'a [TypeClaim],
    prefix: &'a str,
}

impl Level<'_> {
    /// The first member that no claim describes, by its place.
    fn refuse_unknown(&self, given: &Map<String, Value>) -> std::result::Result<(), String> {
        self.look(given, &mut Vec::new())
    }

    fn look<'g>(
        &self,
        given: &'g Map<String, Value>,
        trail: &mut Vec<&'g str>,
    ) -> std::result::Result<(), String> {
        for (name, value) in given {
            trail.push(name);
            let is_claim = self
                .claims
                .iter()
                .any(|claim| claim.path.iter().eq(trail.iter()));
            let leads_on = self.claims.iter().any(|claim| {
                claim.path.len() > trail.len()
                    && claim.path.iter().zip(trail.iter()).all(|(a, b)| a == b)
            });
            match value {
                _ if is_claim => {}
                Value::Object(inner) if leads_on => self.look(inner, trail)?,
                _ => {
                    let place = trail.join(".");
                    return Err(match self.prefix {
                        "" => place,
                        prefix => format!("{prefix}.{place}"),
                    });
                }
            }
            trail.pop();
        }
        Ok(())
    }
}

/// Where claims are within the claims of a credential.
struct Nested<'a> {
    prefix: &'a [Segment],
    is_inner: bool,
}

impl Nested<'_> {
    fn disclosable(&self, claim: &TypeClaim, paths: &mut Vec<ClaimPath>) -> Result<()> {
        let names = claim.path.iter().cloned().map(Segment::Name);
        let own: Vec<Segment> = self.prefix.iter().cloned().chain(names).collect();
        if claim.is_selective(self.is_inner) {
            paths.push(ClaimPath::new(own.clone()).map_err(Error::internal)?);
        }
        let below = Nested {
            prefix: &own,
            is_inner: true,
        };
        for inner in &claim.claims {
            below.disclosable(inner, paths)?;
        }
        if let Some(of) = &claim.of {
            let elements: Vec<Segment> = own.iter().cloned().chain([Segment::All]).collect();
            let each = Nested {
                prefix: &elements,
                is_inner: true,
            };
            each.disclosable(of, paths)?;
        }
        Ok(())
    }
}

/// Takes the claims that only the issuer keeps out of the claims of a credential.
#[must_use]
pub fn split(definition: &TypeDefinition, claims: &mut Map<String, Value>) -> Map<String, Value> {
    let mut kept = Map::new();
    let never = |claim: &&TypeClaim| claim.disclosed == Some(Disclosed::Never);
    for claim in definition.claims.iter().filter(never) {
        if let Some(value) = take(claims, &claim.path) {
            put(&mut kept, &claim.path, value);
        }
    }
    kept
}

/// Removes the value at a path, and the objects that become empty by that.
fn take(object: &mut Map<String, Value>, path: &[String]) -> Option<Value> {
    let (first, rest) = path.split_first()?;
    if rest.is_empty() {
        return object.remove(first);
    }
    let inner = object.get_mut(first)?.as_object_mut()?;
    let taken = take(inner, rest);
    if inner.is_empty() {
        object.remove(first);
    }
    taken
}

/// The value at a path of member names.
#[must_use]
pub fn at<'a>(object: &'a Map<String, Value>, path: &[String]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    let value = object.get(first)?;
    if rest.is_empty() {
        Some(value)
    } else {
        at(value.as_object()?, rest)
    }
}

/// Puts a value at a path of member names; objects on the way are made.
pub fn put(object: &mut Map<String, Value>, path: &[String], value: Value) {
    let Some((first, rest)) = path.split_first() else {
        return;
    };
    if rest.is_empty() {
        object.insert(first.clone(), value);
    } else if let Value::Object(inner) = object
        .entry(first.clone())
        .or_insert_with(|| Value::Object(Map::new()))
    {
        put(inner, rest, value);
    }
}

/// A pattern as a regular expression that matches whole texts; none if it is not one, or too large.
pub(crate) fn pattern(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(&format!("^(?:{pattern})$"))
        .size_limit(PATTERN_BYTES_MAX)
        .build()
        .ok()
}

fn is_whole(value: &Value) -> bool {
    value.is_i64() || value.is_u64()
}

fn sample_number(claim: &TypeClaim) -> Value {
    let within = match (claim.min, claim.max) {
        (Some(min), _) if min > 0.0 => min,
        (_, Some(max)) if max < 0.0 => max,
        _ => 0.0,
    };
    if !claim.integer {
        return Value::from(within);
    }
    // A checked claim has a whole number between its bounds, which a number of 53 bits holds.
    let whole = if within > 0.0 {
        within.ceil()
    } else {
        within.floor()
    };
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the bounds are checked to be below 2^53"
    )]
    Value::from(whole as i64)
}

fn missing(claim: &str) -> Error {
    Error::bad_request("claim-missing").with("claim", claim)
}
