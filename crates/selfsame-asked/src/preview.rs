//! What a query would show a holder, found with sample cards: a credential of each type, filled with its examples.

use std::sync::Arc;

use selfsame_credential::format::Profile;
use selfsame_credential::single_use::HANDLE;
use selfsame_credential::{ClaimPath, Format};
use selfsame_driver::Reason;
use selfsame_openid4vc::dcql::{
    Candidate, CredentialQuery, Match, Mismatch, QueryMatches, Selection, select,
};
use selfsame_types::fill::{at, split};
use selfsame_types::{CredentialType, TypeClaim, TypeSet};
use serde_json::{Map, Value, json};

use crate::compile::CompiledRequest;
use crate::shown::{AskedClaim, AskedCredential, AskedSet, RequestCheck};

/// Maximum number of characters of an example.
const EXAMPLE_MAX: usize = 60;

/// A credential of a type in one format, filled with the type's examples.
pub(crate) struct SampleCard {
    pub one: Arc<CredentialType>,
    pub format: Format,
    claims: Value,
}

/// What this request would show a holder, and which sample cards answer it.
#[must_use]
pub fn preview(compiled: &CompiledRequest, types: &TypeSet) -> RequestCheck {
    let names = compiled.query.type_names();
    let is_asked = |one: &CredentialType| {
        let own = one.query_names();
        own.iter().any(|name| names.contains(name.as_str()))
    };
    // Only cards of the types that are asked for: a verifier can have hundreds of types.
    let cards = sample_cards(types, is_asked);
    let held: Vec<(usize, Candidate<'_>)> = cards
        .iter()
        .map(SampleCard::candidate)
        .enumerate()
        .collect();
    let selection = select(&compiled.query, &held);
    let asked = compiled.query.credentials().iter();
    let credentials = asked.map(|query| Asked {
        query,
        found: selection.query(&query.id),
        cards: &cards,
        types,
    });
    RequestCheck {
        dcql_query: serde_json::to_value(&compiled.query).unwrap_or_default(),
        answerable: selection.is_satisfiable(),
        credentials: credentials.map(|asked| asked.view(compiled)).collect(),
        sets: sets(compiled),
        advice: advice(&selection).into_iter().collect(),
    }
}

fn sets(compiled: &CompiledRequest) -> Vec<AskedSet> {
    let sets = compiled.query.requirements().into_iter();
    let view = sets.map(|set| AskedSet {
        required: set.required,
        options: set.options,
    });
    view.collect()
}

fn advice(selection: &Selection<usize>) -> Option<Reason> {
    let unanswerable = || Reason::new("saved-unanswerable");
    (!selection.is_satisfiable()).then(unanswerable)
}

pub(crate) fn sample_cards(
    types: &TypeSet,
    is_asked: impl Fn(&CredentialType) -> bool,
) -> Vec<SampleCard> {
    let mut cards = Vec::new();
    for one in types.issued().filter(|one| is_asked(one)) {
        let Ok(mut filled) = one.fill(&Map::new(), true) else {
            continue;
        };
        let _kept_by_issuer = split(one, &mut filled);
        let formats = Format::of_people();
        for format in formats.filter(|format| one.is_issued_as(*format)) {
            cards.push(SampleCard {
                one: one.clone(),
                format,
                claims: credential(one, format, &filled),
            });
        }
    }
    cards
}

/// What a query sees of a credential: an SD-JWT VC's processed payload, or a W3C credential.
fn credential(one: &CredentialType, format: Format, filled: &Map<String, Value>) -> Value {
    if format.describe().profile == Profile::Mdoc {
        let mut claims = json!({"docType": one.doctype});
        for claim in one.claims.iter().filter(|claim| claim.is_in_credential()) {
            if let (Some(value), [name]) = (at(filled, &claim.path), claim.path.as_slice()) {
                claims[one.namespace_of(claim)][name] = value.clone();
            }
        }
        return claims;
    }
    let Some(subject) = format.describe().subject_claim else {
        let mut claims = filled.clone();
        claims.insert("vct".to_owned(), json!(one.vct));
        if one.single_use {
            claims.insert(HANDLE.to_owned(), json!("…"));
        }
        return Value::Object(claims);
    };
    json!({"type": one.w3c_types(), subject: filled})
}

impl SampleCard {
    pub fn candidate(&self) -> Candidate<'_> {
        Candidate {
            format: self.format,
            types: self.one.types_in(self.format),
            claims: &self.claims,
            withheld: None,
            holder_bound: true,
            authority_keys: Vec::new(),
        }
    }

    /// What leaves the wallet: what is asked for, and what everyone sees.
    fn leaving(&self, chosen: &Match<usize>) -> Vec<AskedClaim> {
        let leaves = |claim: &&TypeClaim| {
            let path = self.one.path_in(&claim.path, self.format).ok();
            let is_asked = path.is_some_and(|path| chosen.reveal.iter().any(|at| meets(at, &path)));
            claim.is_in_credential() && (chosen.whole || is_asked || !claim.is_selective(false))
        };
        let known = self.one.claims.iter().filter(leaves);
        let mut lines: Vec<AskedClaim> = known.map(|claim| self.line(claim)).collect();
        let handle = ClaimPath::of_names([HANDLE]);
        if handle.is_ok_and(|handle| chosen.reveal.contains(&handle)) {
            lines.push(AskedClaim {
                label: "The right to use it up".to_owned(),
                example: None,
            });
        }
        lines
    }

    fn line(&self, claim: &TypeClaim) -> AskedClaim {
        let value = claim.sample();
        let text = match &value {
            Value::String(text) if text.starts_with("data:") => None,
            Value::String(text) => Some(text.clone()),
            Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
            _ => None,
        };
        AskedClaim {
            label: claim.name(),
            example: text.filter(|text| text.chars().nth(EXAMPLE_MAX).is_none()),
        }
    }
}

/// Whether one place contains the other.
fn meets(one: &ClaimPath, other: &ClaimPath) -> bool {
    let (one, other) = (one.segments(), other.segments());
    one.starts_with(other) || other.starts_with(one)
}

/// A credential query, and the sample cards that answer it.
struct Asked<'a> {
    query: &'a CredentialQuery,
    found: Option<&'a QueryMatches<usize>>,
    cards: &'a [SampleCard],
    types: &'a TypeSet,
}

impl Asked<'_> {
    fn view(&self, compiled: &CompiledRequest) -> AskedCredential {
        let matches = self.found.map_or(&[][..], |found| &found.matches);
        let cards = matches
            .iter()
            .filter_map(|chosen| Some((chosen, self.cards.get(chosen.id)?)));
        let cards: Vec<_> = cards.collect();
        let first = cards.first();
        let names = self.query.type_names();
        let issuers = names
            .iter()
            .filter_map(|name| compiled.issuers.get(*name))
            .flatten();
        let mismatch = self.found.and_then(|found| found.mismatch.as_ref());
        AskedCredential {
            query: self.query.id.clone(),
            title: self.title(&names),
            format: self.query.format.clone(),
            whole: first.is_some_and(|(chosen, _)| chosen.whole),
            claims: match first {
                Some((chosen, card)) => card.leaving(chosen),
                None => self.claims(),
            },
            issuers: issuers.cloned().collect(),
            answered_by: cards.iter().map(|(_, card)| card.one.id.clone()).collect(),
            reason: mismatch.map(|mismatch| self.why(mismatch)),
        }
    }

    fn title(&self, names: &[&str]) -> String {
        let is_it = |one: &&Arc<CredentialType>| {
            let own = one.query_names();
            names.iter().any(|name| own.iter().any(|own| own == name))
        };
        match self.types.issued().find(is_it) {
            Some(one) => one.name().to_owned(),
            None => names.first().unwrap_or(&"").to_string(),
        }
    }

    /// The claims as the query names them.
    fn claims(&self) -> Vec<AskedClaim> {
        let claims = self.query.claims.iter();
        let lines = claims.map(|claim| AskedClaim {
            label: claim.path.to_string(),
            example: None,
        });
        lines.collect()
    }

    /// Whether there are sample cards of its type, in whatever format.
    fn is_known(&self) -> bool {
        let names = self.query.type_names();
        let is_it = |card: &SampleCard| {
            let own = card.one.query_names();
            names.iter().any(|name| own.iter().any(|own| own == name))
        };
        self.cards.iter().any(is_it)
    }

    fn why(&self, mismatch: &Mismatch) -> Reason {
        match mismatch {
            Mismatch::Format if !self.is_known() => Reason::new("sample-type"),
            Mismatch::Format => Reason::new("sample-format").with("format", &self.query.format),
            Mismatch::Type => Reason::new("sample-type"),
            Mismatch::Authority => Reason::new("sample-authority"),
            Mismatch::HolderBinding => Reason::new("sample-holder"),
            Mismatch::Claims(paths) => {
                let paths: Vec<String> = paths.iter().map(ToString::to_string).collect();
                Reason::new("sample-claims").with("claims", &paths.join(", "))
            }
        }
    }
}
