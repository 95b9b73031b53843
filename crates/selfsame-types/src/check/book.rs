//! Checks of how a type appears in a credential book.

use selfsame_book::mapping::{IDS_MAX, is_id, is_kind};
use selfsame_driver::Reason;

use super::{Checked, many};
use crate::model::{ClaimKind, TypeClaim, TypeDefinition};

/// Maximum number of names, addresses and so on, of each.
const EACH_MAX: usize = 20;

pub(super) fn check(definition: &TypeDefinition, found: &mut Checked) {
    let Some(book) = &definition.book else {
        return;
    };
    for (place, count) in [
        ("book.names", book.names.len()),
        ("book.addresses", book.addresses.len()),
        ("book.attributes", book.attributes.len()),
        ("book.relationships", book.relationships.len()),
        ("book.cardinality", book.cardinality.len()),
    ] {
        if count > EACH_MAX {
            found.refuse(many(place, EACH_MAX));
            return;
        }
    }
    for (place, ids) in [
        ("book.anoncreds.schemas", &book.anoncreds.schemas),
        ("book.anoncreds.definitions", &book.anoncreds.definitions),
    ] {
        if ids.len() > IDS_MAX {
            found.refuse(many(place, IDS_MAX));
        } else if !ids.iter().all(|id| is_id(id)) {
            found.refuse(Reason::new("type-book-anoncreds").with("place", place));
        }
    }
    for (place, kind) in book.kinds() {
        if !is_kind(kind) {
            found.refuse(Reason::new("type-book-kind").with("place", &format!("book.{place}")));
        }
    }
    for (place, path) in book.claims() {
        let place = format!("book.{place}");
        if path.is_empty() {
            found.refuse(Reason::new("type-book-unnamed").with("place", &place));
            continue;
        }
        let claim = within(&definition.claims, path);
        let Some(claim) = claim.filter(|claim| claim.is_in_credential()) else {
            let named: String = path.join(".").chars().take(80).collect();
            found.refuse(
                Reason::new("type-claim-named")
                    .with("place", &place)
                    .with("claim", &named),
            );
            continue;
        };
        if !fits(claim, &place) {
            found.refuse(Reason::new("type-book-claim").with("place", &place));
        }
        if place == "book.topic.source_id" && !claim.required {
            found.refuse(Reason::new("type-book-source").with("place", &place));
        }
    }
    if book.names.is_empty() && book.topic.founds {
        found.advice.push(Reason::new("type-book-nameless"));
    }
}

/// Whether a claim can be the fact at this place: one line of text, or a date where one is needed.
fn fits(claim: &TypeClaim, place: &str) -> bool {
    match (claim.kind, place) {
        (ClaimKind::Date | ClaimKind::Text, "book.effective_date" | "book.expiry_date") => true,
        (_, "book.effective_date" | "book.expiry_date") => false,
        (ClaimKind::Object | ClaimKind::List | ClaimKind::Image, _) => false,
        _ => true,
    }
}

/// The claim at this path among these claims and those within them.
fn within<'a>(claims: &'a [TypeClaim], path: &[String]) -> Option<&'a TypeClaim> {
    claims.iter().find_map(|claim| {
        let rest = path.strip_prefix(claim.path.as_slice())?;
        match (rest, claim.path.as_slice()) {
            (_, []) => None,
            ([], _) => Some(claim),
            (rest, _) => within(&claim.claims, rest),
        }
    })
}
