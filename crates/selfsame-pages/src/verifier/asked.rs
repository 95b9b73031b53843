//! What a request asks for, in the words of the types: for the person who is asked and for the verifier.

use selfsame_asked::shown::{AskedCredential, RequestCheck};

/// A set of options, one of which is enough.
pub struct AskedGroup {
    /// Whether the request needs it.
    pub required: bool,
    /// The options, each a list of credentials.
    pub options: Vec<Vec<AskedCredential>>,
}

/// The groups of a request. Options that differ in their format alone are shown once.
pub fn groups(found: &RequestCheck) -> Vec<AskedGroup> {
    let credential = |id: &String| {
        found
            .credentials
            .iter()
            .find(|one| one.query == *id)
            .cloned()
    };
    let sets = found.sets.iter().map(|set| {
        let options = set.options.iter();
        let mut options: Vec<Vec<AskedCredential>> = options
            .map(|ids| ids.iter().filter_map(credential).collect())
            .collect();
        options.dedup_by(|one, other| looks_the_same(one, other));
        AskedGroup {
            required: set.required,
            options,
        }
    });
    sets.collect()
}

fn looks_the_same(one: &[AskedCredential], other: &[AskedCredential]) -> bool {
    let seen = |all: &[AskedCredential]| {
        let lines = all
            .iter()
            .map(|one| (one.title.clone(), one.claims.clone()));
        lines.collect::<Vec<_>>()
    };
    seen(one) == seen(other)
}
