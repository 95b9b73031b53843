//! JSON-LD contexts: what the terms of a document mean. They are code: none is fetched, and those that would make a
//! part of a document meaningless are changed so that this is found, or refused.

mod bundled;
mod checked;
mod protected;
mod pruned;
mod scoped;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, OnceLock};

use selfsame_crypto::json;
use serde_json::{Map, Value};

use crate::{IntegrityError, LIMITS};

use bundled::BUNDLED;

pub(crate) use checked::{UNDEFINED, check_local, is_keyword_like, vocabulary};
pub(crate) use pruned::UsedNames;
pub(crate) use scoped::ScopedTypes;

/// Contexts of one document, at most: each costs as much as a small document.
pub(crate) const OF_DOCUMENT_MAX: usize = 16;

/// The known contexts, by URL.
#[derive(Clone, Debug)]
pub struct Contexts(Arc<KnownContexts>);

type KnownContexts = HashMap<String, KnownContext>;

#[derive(Clone, Debug)]
struct KnownContext {
    context: Value,
    scoped: ScopedTypes,
    /// The names to which its terms refer.
    references: UsedNames,
}

/// A context that an operator adds.
#[derive(Clone, Copy, Debug)]
pub struct OwnContext<'a> {
    /// Its URL, as documents name it.
    pub url: &'a str,
    /// What is served there.
    pub text: &'a [u8],
}

/// The contexts of this process, once they are settled.
static OF_PROCESS: OnceLock<Contexts> = OnceLock::new();

static OF_W3C: LazyLock<Contexts> = LazyLock::new(|| {
    let mut known = KnownContexts::new();
    for one in &BUNDLED {
        // A test reads each of them, so none is left out here.
        let _ = add(&mut known, one.url, one.text.as_bytes());
    }
    Contexts(Arc::new(known))
});

impl Contexts {
    /// The contexts of W3C's specifications: credentials of versions 1 and 2, Data Integrity, status lists, keys.
    pub fn bundled() -> Self {
        OF_W3C.clone()
    }

    /// The contexts of this process: the bundled ones, and those that were added at its start.
    pub fn known() -> Self {
        OF_PROCESS.get_or_init(Self::bundled).clone()
    }

    /// Makes these the contexts of this process, unless others are. What a URL means is settled before the first
    /// document is read, and never changes: each part of the process must read a document alike.
    ///
    /// Returns whether these are its contexts now.
    #[must_use]
    pub fn settle(self) -> bool {
        let settled = OF_PROCESS.get_or_init(|| self.clone());
        settled.0.len() == self.0.len()
            && self.0.iter().all(|(url, one)| {
                let same = settled.0.get(url);
                same.is_some_and(|same| same.context == one.context)
            })
    }

    /// The bundled contexts and these.
    ///
    /// # Errors
    /// [`IntegrityError::Transformation`] if one uses what is not supported, [`IntegrityError::Json`] if it is not
    /// JSON within the bounds, [`IntegrityError::Malformed`] if it has no `@context` or the URL of another,
    /// [`IntegrityError::UnknownContext`] if it names one that does not stand before it,
    /// [`IntegrityError::ProtectedTerm`] if it defines a term otherwise that a data model protects.
    pub fn with(own: &[OwnContext<'_>]) -> Result<Self, IntegrityError> {
        let mut known = Self::bundled().0.as_ref().clone();
        for one in own {
            if known.contains_key(one.url) {
                return Err(IntegrityError::Malformed("the URL of a context"));
            }
            add(&mut known, one.url, one.text)?;
            let added = known.get(one.url);
            let again = added.and_then(|added| protected::redefined(&known, &added.context));
            if let Some(term) = again {
                return Err(IntegrityError::ProtectedTerm(term.to_owned()));
            }
        }
        Ok(Self(Arc::new(known)))
    }

    /// Whether a context is known.
    pub fn knows(&self, url: &str) -> bool {
        self.0.contains_key(url)
    }

    /// Whether a known context defines a term for the whole of a document.
    pub fn defines(&self, url: &str, term: &str) -> bool {
        let known = self.0.get(url);
        known.is_some_and(|known| defines(&known.context, term))
    }

    /// Checks that every context of a document is known or stands in it. Where JSON is signed, the contexts are signed
    /// as text alone, and an unknown one could mean anything.
    ///
    /// # Errors
    /// [`IntegrityError::UnknownContext`] with the first one that is not, [`IntegrityError::Malformed`] if there is
    /// none, [`IntegrityError::ProtectedTerm`] if one in the document defines a term otherwise that its data model
    /// protects: it is no JSON-LD then (JSON-LD 1.1 §4.1.11, VCDM 2.0 §1.3).
    pub fn check(&self, document: &Map<String, Value>) -> Result<(), IntegrityError> {
        let malformed = IntegrityError::Malformed("@context");
        let context = document.get("@context").ok_or(malformed.clone())?;
        let several = match context {
            Value::Array(several) => several.as_slice(),
            one => std::slice::from_ref(one),
        };
        for one in several {
            match one {
                Value::String(url) if self.knows(url) => {}
                Value::String(url) => return Err(IntegrityError::UnknownContext(url.clone())),
                Value::Object(_) => {}
                _ => return Err(malformed),
            }
        }
        match protected::redefined_within(&self.0, document) {
            Some(term) => Err(IntegrityError::ProtectedTerm(term.to_owned())),
            None => Ok(()),
        }
    }

    /// The text of a context as it is processed for a document that uses these names.
    pub(crate) fn text(&self, url: &str, names: &UsedNames) -> Option<Vec<u8>> {
        let known = self.0.get(url)?;
        let context = pruned::pruned(&known.context, &[names, &known.references]);
        Some(json::to_bytes(&serde_json::json!({ "@context": context })))
    }

    /// The types that have a context of their own in a known context.
    pub(crate) fn scoped(&self, url: &str) -> Option<&ScopedTypes> {
        self.0.get(url).map(|known| &known.scoped)
    }
}

fn defines(context: &Value, term: &str) -> bool {
    match context {
        Value::Array(several) => several.iter().any(|one| defines(one, term)),
        Value::Object(members) => members.contains_key(term),
        _ => false,
    }
}

fn add(known: &mut KnownContexts, url: &str, text: &[u8]) -> Result<(), IntegrityError> {
    let document = json::parse(text, &LIMITS)?;
    let context = document.get("@context");
    let context = context.ok_or(IntegrityError::Malformed("@context"))?;
    let mut scoped = ScopedTypes::default();
    let checked = checked::without_gaps(context, &mut scoped)?;
    for other in checked::named(context) {
        let unknown = || IntegrityError::UnknownContext(other.to_owned());
        scoped.add_all(&known.get(other).ok_or_else(unknown)?.scoped);
    }
    let one = KnownContext {
        references: UsedNames::of_terms(&checked),
        context: checked,
        scoped,
    };
    known.insert(url.to_owned(), one);
    Ok(())
}

#[cfg(test)]
mod tests;
