//! The JSON-LD context of a type: it gives each term of a W3C credential of the type a URL (JSON-LD 1.1 §4.1).

use serde_json::{Map, Value, json};

use super::branch::{Branch, members};
use crate::model::{Addresses, ClaimKind, CredentialType, GENERAL_TYPE, TypeClaim, TypeDefinition};

const DATE: &str = "http://www.w3.org/2001/XMLSchema#date";

/// The context document.
pub(super) fn document(one: &CredentialType, addresses: &Addresses) -> Value {
    let mut context = terms(one, &addresses.context(), true);
    context.insert("@version".to_owned(), json!(1.1));
    json!({"@context": context})
}

/// The terms of a type, which may be defined again: a data model does so for the members of every credential.
pub(super) fn terms_below(one: &TypeDefinition, address: &str) -> Map<String, Value> {
    terms(one, address, false)
}

fn terms(one: &TypeDefinition, address: &str, is_protected: bool) -> Map<String, Value> {
    let terms = TermContext {
        address,
        is_protected,
        trail: String::new(),
    };
    let claims = one.claims.iter().filter(|claim| claim.is_in_credential());
    let mut context = terms.of(Branch::all(claims));
    for name in one.w3c_types().iter().filter(|name| *name != GENERAL_TYPE) {
        context.insert(name.clone(), format!("{address}#{name}").into());
    }
    context
}

struct TermContext<'a> {
    address: &'a str,
    /// Whether terms can't be defined again.
    is_protected: bool,
    /// The names that lead here, each with a dot.
    trail: String,
}

impl TermContext<'_> {
    /// The context of an object with these claims.
    fn of(&self, branches: Vec<Branch<'_>>) -> Map<String, Value> {
        let mut context = Map::new();
        if self.is_protected {
            context.insert("@protected".to_owned(), true.into());
        }
        for (name, branches) in members(branches) {
            let inner = TermContext {
                address: self.address,
                is_protected: self.is_protected,
                trail: format!("{}{name}.", self.trail),
            };
            let mut term = Map::new();
            term.insert(
                "@id".to_owned(),
                format!("{}#{}{name}", self.address, self.trail).into(),
            );
            match Branch::only(&branches) {
                Some(claim) => inner.describe(claim, &mut term),
                None => {
                    term.insert("@context".to_owned(), inner.of(branches).into());
                }
            }
            context.insert(name.to_owned(), term.into());
        }
        context
    }

    fn describe(&self, claim: &TypeClaim, term: &mut Map<String, Value>) {
        match claim.kind {
            ClaimKind::Date => {
                term.insert("@type".to_owned(), DATE.into());
            }
            ClaimKind::Object => {
                let inner = self.of(Branch::all(&claim.claims));
                term.insert("@context".to_owned(), inner.into());
            }
            ClaimKind::List => {
                term.insert("@container".to_owned(), "@list".into());
                if let Some(of) = &claim.of {
                    self.describe(of, term);
                }
            }
            ClaimKind::Text
            | ClaimKind::Number
            | ClaimKind::Boolean
            | ClaimKind::Image
            | ClaimKind::Enumeration => {}
        }
    }
}
