//! How a type appears in the book, edited on its own: the member `book` of the type's draft.

use selfsame_book::BookMapping;
use selfsame_book::facts::BookFacts;
use selfsame_book_view::mapping::ChosenClaim;
use selfsame_driver::{Error, Reason, Result};
use selfsame_types::{ClaimKind, TypeClaim, TypeDefinition, TypeSummary, check};
use serde_json::{Map, Value};

use crate::books::Book;
use crate::loading::misfitting;

/// A type whose mapping is edited.
#[derive(Clone, Debug)]
pub struct EditedMapping {
    /// The draft of the type, or else its newest version, with the mapping.
    pub definition: TypeDefinition,
    /// Whether it is a draft.
    pub is_draft: bool,
}

/// What a mapping makes of the sample claims of its type.
#[derive(Clone, Debug)]
pub struct MappingPreview {
    /// What is wrong with the mapping; the places begin with `book`.
    pub refusals: Vec<Reason>,
    /// What should be better.
    pub advice: Vec<Reason>,
    /// The facts of the sample claims; `None` if the mapping makes none of them.
    pub facts: Option<BookFacts>,
    /// Why it makes none of them, if there is nothing else wrong with it.
    pub misfit: Option<Reason>,
    /// The sample claims that a reader of the book would see.
    pub shown: Map<String, Value>,
}

impl Book {
    /// A type, to edit its mapping.
    ///
    /// # Errors
    /// `NotFound`; `BadRequest` for a sample, which can't be changed.
    pub async fn edited(&self, type_id: &str) -> Result<EditedMapping> {
        let one = self.roles.own_types()?.one(type_id).await?;
        let sample = || Error::bad_request("type-sample").with("type", &type_id);
        if one.sample {
            return Err(sample());
        }
        let is_draft = one.has_draft;
        let definition = one.draft.or(one.definition).ok_or_else(sample)?;
        Ok(EditedMapping {
            definition,
            is_draft,
        })
    }

    /// Saves a mapping in the draft of a type, which is begun if there is none. `None` takes the type out of the book.
    ///
    /// # Errors
    /// As [`Self::edited`]; `BadRequest` for a mapping that is refused, with the place.
    pub async fn save_mapping(
        &self,
        type_id: &str,
        mapping: Option<BookMapping>,
    ) -> Result<TypeSummary> {
        let EditedMapping { definition, .. } = self.edited(type_id).await?;
        let definition = TypeDefinition {
            book: mapping.map(Box::new),
            ..definition
        };
        let types = self.roles.own_types()?;
        types.replace(type_id, &definition).await
    }
}

impl MappingPreview {
    /// Why the mapping can't be saved, or makes no entry of the sample claims.
    #[must_use]
    pub fn refusal(&self) -> Option<Reason> {
        self.refusals.first().or(self.misfit.as_ref()).cloned()
    }
}

impl EditedMapping {
    /// Its mapping, if it has one.
    #[must_use]
    pub fn mapping(&self) -> Option<&BookMapping> {
        self.definition.book.as_deref()
    }

    /// The claims of the type that can be a fact: the path and the label of each.
    #[must_use]
    pub fn claims(&self) -> Vec<ChosenClaim> {
        let mut all = Vec::new();
        for claim in self
            .definition
            .claims
            .iter()
            .filter(|one| one.is_in_credential())
        {
            facts_of(claim, &[], &mut all);
        }
        all
    }

    /// What this mapping would make of the sample claims of the type.
    #[must_use]
    pub fn preview(&self, mapping: &BookMapping) -> MappingPreview {
        let definition = TypeDefinition {
            book: Some(Box::new(mapping.clone())),
            ..self.definition.clone()
        };
        let found = check(&definition);
        let of_book = |reason: &Reason| {
            let place = reason.parameter("place").map(ToString::to_string);
            place.is_some_and(|place| place.starts_with("book."))
                || reason.id().starts_with("type-book-")
        };
        let refusals: Vec<Reason> = found.refusals.into_iter().filter(of_book).collect();
        let mut claims = Map::new();
        for claim in self
            .definition
            .claims
            .iter()
            .filter(|one| one.is_in_credential())
        {
            selfsame_types::fill::put(&mut claims, &claim.path, claim.sample());
        }
        let facts = mapping.facts(&claims);
        let misfit = facts.as_ref().err().filter(|_| refusals.is_empty());
        MappingPreview {
            misfit: misfit.map(|misfit| misfitting(*misfit).reason),
            refusals,
            advice: found.advice.into_iter().filter(of_book).collect(),
            facts: facts.ok(),
            shown: mapping.shown(&claims),
        }
    }
}

/// Adds the claim at a path and those within it, as far as each is one value.
fn facts_of(claim: &TypeClaim, above: &[String], all: &mut Vec<ChosenClaim>) {
    let path = [above, claim.path.as_slice()].concat();
    match claim.kind {
        ClaimKind::Object => {
            for inner in &claim.claims {
                facts_of(inner, &path, all);
            }
        }
        ClaimKind::List | ClaimKind::Image => {}
        _ => all.push(ChosenClaim {
            path,
            label: claim.name(),
        }),
    }
}
