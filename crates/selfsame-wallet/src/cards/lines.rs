//! Lists for the person what leaves the wallet with a card: every member of the credential at any depth, except those
//! that every credential has and whose values say nothing about a person.

use crate::technical::{CredentialPart, KnownFacts, Technical};
use selfsame_credential::path::Segment;
use selfsame_credential::single_use::HANDLE;
use selfsame_credential::{ClaimPath, Held};
use selfsame_driver::{Error, Result};
use selfsame_types::samples;
use serde_json::{Map, Value};

use super::CardRecord;
use crate::view::ClaimLine;

/// Each value down to this depth has a line of its own; deeper values share one line.
const DEEPEST: usize = 24;

impl CardRecord {
    /// All claims that the card reveals if these selectively disclosable ones are revealed: first the claims that the
    /// issuer's metadata names, in its order, then everything else in the credential, its JWT and the JWT's header. So
    /// nothing leaves the wallet unseen because it has no label.
    pub fn lines_with(&self, held: &Held, reveal: &[ClaimPath]) -> Result<Vec<ClaimLine>> {
        match held.disclosing(reveal) {
            Some(shown) => Ok(self.all_lines(&shown.map_err(Error::internal)?)),
            None => Ok(self.all_lines(held)),
        }
    }

    /// All claims of the credential.
    pub fn all_lines(&self, held: &Held) -> Vec<ClaimLine> {
        let known = KnownFacts {
            issuer: &self.issuer,
            key: self.key.as_ref(),
            kid: self.kid.as_deref(),
            is_type: samples::is_w3c_type,
        };
        let named: Vec<ClaimPath> = self.look.lines().cloned().collect();
        let mut further = Further {
            card: self,
            technical: Technical::of(held, known),
            part: CredentialPart::Claims,
            lines: self.lines(held, &named),
        };
        if let Some(claims) = held.claims().as_object() {
            further.members(claims, &mut Vec::new());
        }
        further.part = CredentialPart::Beside;
        if let Some(beside) = held.beside() {
            further.members(beside, &mut Vec::new());
        }
        further.part = CredentialPart::Header;
        let mut header = vec![Segment::Name("header".to_owned())];
        further.members(&held.header().other, &mut header);
        further.lines
    }

    /// The labels of the claims of the card that these lines do not show.
    pub fn hidden(&self, held: &Held, shown: &[ClaimLine]) -> Vec<String> {
        if !held.format.describe().discloses_selectively {
            return Vec::new();
        }
        let mut hidden: Vec<String> = Vec::new();
        for line in self.all_lines(held) {
            let is_shown = shown.iter().any(|other| other.path == line.path);
            let is_handle = line.path == [HANDLE];
            if !is_shown && !is_handle && !line.technical && !hidden.contains(&line.label) {
                hidden.push(line.label);
            }
        }
        hidden
    }

    /// Whether a label covers everything at and below `trail`, a path through the claims.
    fn is_named(&self, trail: &[Segment]) -> bool {
        self.look.labels.iter().any(|(path, _)| {
            let named = path.segments();
            let fits = |(named, at): (&Segment, &Segment)| {
                named == at || (*named == Segment::All && matches!(at, Segment::Index(_)))
            };
            named.len() <= trail.len() && named.iter().zip(trail).all(fits)
        })
    }
}

/// Collects the lines for values without a label.
struct Further<'a> {
    card: &'a CardRecord,
    technical: Technical<'a>,
    /// The part of the credential being listed. Labels are for claims only: other parts have none, whatever path is
    /// named.
    part: CredentialPart,
    lines: Vec<ClaimLine>,
}

impl Further<'_> {
    fn members(&mut self, members: &Map<String, Value>, trail: &mut Vec<Segment>) {
        for (name, value) in members {
            trail.push(Segment::Name(name.clone()));
            self.value(value, trail);
            trail.pop();
        }
    }

    fn value(&mut self, value: &Value, trail: &mut Vec<Segment>) {
        if self.part == CredentialPart::Claims && self.card.is_named(trail) {
            return;
        }
        match value {
            Value::Object(members) if !members.is_empty() && trail.len() < DEEPEST => {
                self.members(members, trail);
            }
            Value::Array(elements) if !elements.is_empty() && trail.len() < DEEPEST => {
                for (index, value) in elements.iter().enumerate() {
                    trail.push(Segment::Index(index));
                    self.value(value, trail);
                    trail.pop();
                }
            }
            value if self.technical.is(self.part, trail, value) => {}
            value => {
                let technical = self.technical.is_protocol(self.part, trail);
                let path = ClaimPath::new(trail.clone()).ok();
                self.lines.extend(path.map(|path| ClaimLine {
                    technical,
                    ..self.card.line(&path, value)
                }));
            }
        }
    }
}

#[cfg(test)]
mod tests;
