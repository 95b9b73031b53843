//! What leaves the wallet with a card, for the person who decides: every member of the credential, wherever it stands,
//! but for those that every credential has and whose values say nothing about a person.

use selfsame_credential::path::Segment;
use selfsame_credential::single_use;
use selfsame_credential::{ClaimPath, Format, Held};
use serde_json::{Map, Value};

use super::CardRecord;
use crate::view::wallet::ClaimLine;

/// A line for each value down to here; what lies deeper stands in one line.
const DEEPEST: usize = 24;
/// The members of a public key (RFC 7517 §4, RFC 7518 §6).
const KEY: [&str; 10] = [
    "kty", "crv", "x", "y", "n", "e", "alg", "use", "key_ops", "kid",
];
/// The members of a status entry (VCDM 1.1 §4.9, Bitstring Status List §2.1).
const STATUS_ENTRY: [&str; 5] = [
    "id",
    "type",
    "statusPurpose",
    "statusListIndex",
    "statusListCredential",
];

impl CardRecord {
    /// All claims that the card gives away: those that the issuer's metadata names, in its order, then whatever else the
    /// credential says, its JWT and the JWT's header, so that nothing leaves the wallet unseen for want of a name.
    pub fn all_lines(&self, held: &Held) -> Vec<ClaimLine> {
        let named: Vec<ClaimPath> = self
            .look
            .labels
            .iter()
            .map(|(path, _)| path.clone())
            .collect();
        let mut further = Further {
            card: self,
            holder: held.holder_did(),
            id: held.claims().get("id"),
            lines: self.lines(held, &named),
        };
        if let Some(claims) = held.claims().as_object() {
            further.members(claims, &mut Vec::new(), Further::is_technical);
        }
        if let Some(beside) = held.beside() {
            further.members(beside, &mut Vec::new(), Further::is_registered);
        }
        let mut header = vec![Segment::Name("header".to_owned())];
        further.members(&held.header().other, &mut header, |_, at, _| {
            matches!(at, [_, Segment::Name(name)] if ["cty", "x5t", "x5t#S256"].contains(&name.as_str()))
        });
        further.lines
    }

    /// Whether a name stands for all that is at and below `trail`.
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

/// Whether a value says nothing about a person, by where it stands.
type Technical<'a> = fn(&Further<'a>, &[Segment], &Value) -> bool;

/// Lines for what has no name.
struct Further<'a> {
    card: &'a CardRecord,
    holder: Option<&'a str>,
    /// The credential's own identifier, which is shown.
    id: Option<&'a Value>,
    lines: Vec<ClaimLine>,
}

impl<'a> Further<'a> {
    fn members(
        &mut self,
        members: &Map<String, Value>,
        trail: &mut Vec<Segment>,
        is_technical: Technical<'a>,
    ) {
        for (name, value) in members {
            trail.push(Segment::Name(name.clone()));
            self.value(value, trail, is_technical);
            trail.pop();
        }
    }

    fn value(&mut self, value: &Value, trail: &mut Vec<Segment>, is_technical: Technical<'a>) {
        if self.card.is_named(trail) {
            return;
        }
        match value {
            Value::Object(members) if !members.is_empty() && trail.len() < DEEPEST => {
                self.members(members, trail, is_technical);
            }
            Value::Array(elements) if !elements.is_empty() && trail.len() < DEEPEST => {
                for (index, value) in elements.iter().enumerate() {
                    trail.push(Segment::Index(index));
                    self.value(value, trail, is_technical);
                    trail.pop();
                }
            }
            value if is_technical(self, trail, value) => {}
            value => {
                let path = ClaimPath::new(trail.clone()).ok();
                self.lines
                    .extend(path.map(|path| self.card.line(&path, value)));
            }
        }
    }

    /// What every credential has, member by member: whatever else an issuer puts beside it is shown.
    fn is_technical(&self, trail: &[Segment], value: &Value) -> bool {
        let names = names(trail);
        let is_single = names.len() == trail.len();
        match (self.card.format, names.as_slice()) {
            (_, _) if value.is_object() || value.is_array() => false,
            (_, ["cnf", "jwk", member]) => is_single && KEY.contains(member),
            (Format::SdJwtVc, ["iss" | "iat" | "nbf" | "exp" | "vct"]) => is_single,
            (Format::SdJwtVc, ["status", "status_list", "idx" | "uri"]) => is_single,
            (Format::SdJwtVc, [single_use::CLAIM, "digest"]) => is_single,
            (Format::SdJwtVc, _) => false,
            (_, ["@context"]) => value
                .as_str()
                .is_some_and(|context| context.starts_with("https://")),
            (_, ["type"]) => true,
            (_, ["issuer"] | ["issuer", "id"]) => is_single,
            (_, ["issuanceDate" | "expirationDate" | "validFrom" | "validUntil"]) => is_single,
            (_, ["credentialStatus", member]) => STATUS_ENTRY.contains(member),
            (_, ["credentialSchema", "id" | "type"]) => true,
            // The key that the card is bound to, by the name that its proof has.
            (_, ["credentialSubject", "id"]) => value.as_str() == self.holder,
            _ => false,
        }
    }

    /// What a JWT has beside the credential (VCDM 1.1 §6.3.1), most of which repeats it.
    fn is_registered(&self, trail: &[Segment], value: &Value) -> bool {
        match names(trail).as_slice() {
            ["sub"] => value.as_str() == self.holder,
            ["jti"] => Some(value) == self.id,
            ["cnf", "jwk", member] => KEY.contains(member),
            ["status", "status_list", "idx" | "uri"] => true,
            [name] if trail.len() == 1 => {
                ["iss", "nbf", "exp", "iat"].contains(name) && !value.is_object()
            }
            _ => false,
        }
    }
}

/// The names of a trail, without the places in arrays.
fn names(trail: &[Segment]) -> Vec<&str> {
    trail.iter().filter_map(name).collect()
}

fn name(segment: &Segment) -> Option<&str> {
    match segment {
        Segment::Name(name) => Some(name),
        Segment::Index(_) | Segment::All => None,
    }
}

#[cfg(test)]
mod tests;
