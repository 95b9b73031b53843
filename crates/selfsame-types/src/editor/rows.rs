//! The claims of a type as rows.

use super::{Languages, TextPair};
use crate::model::{ClaimKind, Disclosed, EnumerationValue, TypeClaim, TypeDefinition, text_of};

/// A claim of the form, or a claim within an object.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ClaimRow {
    /// What the names of its fields begin with.
    pub key: String,
    /// Its number among the claims beside it in the definition that the form was made from; empty for a new one.
    pub from: String,
    /// Whether it is within an object.
    pub is_inner: bool,
    /// The names on its path, with dots.
    pub name: String,
    /// Its label.
    pub label: TextPair,
    /// Its kind.
    pub kind: ClaimKind,
    /// The kind of the elements of a list.
    pub of: ClaimKind,
    /// The values of an enumeration, one a line.
    pub values: String,
    /// Whether every credential must have it.
    pub required: bool,
    /// Who sees it.
    pub disclosed: Disclosed,
    /// Whether it stands on the card's front.
    pub is_on_front: bool,
    /// The claims within it.
    pub members: Vec<ClaimRow>,
    /// What its definition says and the form doesn't show.
    pub kept: Vec<&'static str>,
}

impl ClaimRow {
    /// An empty row.
    #[must_use]
    pub fn new(key: &str, is_inner: bool) -> Self {
        Self {
            key: key.to_owned(),
            from: String::new(),
            is_inner,
            name: String::new(),
            label: TextPair::default(),
            kind: ClaimKind::Text,
            of: ClaimKind::Text,
            values: String::new(),
            required: false,
            disclosed: default_disclosed(is_inner),
            is_on_front: false,
            members: Vec::new(),
            kept: Vec::new(),
        }
    }

    /// Whether nothing was filled in.
    pub(super) fn is_blank(&self) -> bool {
        self.from.is_empty() && self.name.is_empty() && self.label.first.is_empty()
    }

    /// The claim that it was made from; `beside` are those among which it was.
    pub(super) fn made_from<'a>(&self, beside: &'a [TypeClaim]) -> Option<&'a TypeClaim> {
        beside.get(self.from.parse::<usize>().ok()?)
    }

    /// Lists what the claim that it was made from says beyond the form, if it still is of that kind.
    pub(super) fn tell_kept(&mut self, beside: &[TypeClaim]) {
        let claim = self.made_from(beside);
        if let Some(claim) = claim.filter(|claim| claim.kind == self.kind) {
            self.kept = kept(claim, self.is_inner);
        }
    }

    pub(super) fn suggest_name(&mut self) {
        if self.name.is_empty() {
            let word = |c: char| c.is_ascii_alphanumeric();
            let words = self
                .label
                .first
                .split(|c| !word(c))
                .filter(|part| !part.is_empty());
            let name = words.collect::<Vec<_>>().join("_").to_ascii_lowercase();
            self.name = name.chars().take(60).collect();
        }
        for member in &mut self.members {
            member.suggest_name();
        }
    }
}

pub(super) const fn default_disclosed(is_inner: bool) -> Disclosed {
    match is_inner {
        true => Disclosed::Always,
        false => Disclosed::Selectively,
    }
}

/// The rows of a definition.
pub(super) fn of(base: &TypeDefinition, languages: &Languages) -> Vec<ClaimRow> {
    let claims = base.claims.iter().enumerate();
    let row = |(number, claim): (usize, &TypeClaim)| {
        let mut row = row(claim, number, languages);
        row.is_on_front = base.card.front.contains(&claim.path);
        row
    };
    claims.map(row).collect()
}

fn row(claim: &TypeClaim, number: usize, languages: &Languages) -> ClaimRow {
    let mut row = ClaimRow {
        name: claim.path.join("."),
        label: languages.pair(&claim.label),
        kind: claim.kind,
        of: claim.of.as_ref().map_or(ClaimKind::Text, |of| of.kind),
        values: claim.values.iter().map(line).collect::<Vec<_>>().join("\n"),
        required: claim.required,
        disclosed: claim.disclosed.unwrap_or(default_disclosed(false)),
        kept: kept(claim, false),
        from: number.to_string(),
        ..ClaimRow::new(&number.to_string(), false)
    };
    if claim.kind == ClaimKind::Object {
        let members = claim.claims.iter().enumerate();
        let member = |(inner_number, inner): (usize, &TypeClaim)| ClaimRow {
            key: format!("{number}-{inner_number}"),
            is_inner: true,
            members: Vec::new(),
            disclosed: inner.disclosed.unwrap_or(default_disclosed(true)),
            kept: kept(inner, true),
            ..self::row(inner, inner_number, languages)
        };
        row.members = members.map(member).collect();
    }
    row
}

/// A value of an enumeration as its line.
pub(super) fn line(choice: &EnumerationValue) -> String {
    match text_of(&choice.label) {
        "" => choice.value.clone(),
        label => format!("{} = {label}", choice.value),
    }
}

fn kept(claim: &TypeClaim, is_inner: bool) -> Vec<&'static str> {
    let of = claim.of.as_deref();
    let of_object = of.is_some_and(|of| of.kind == ClaimKind::Object);
    let is_deep = is_inner && claim.kind == ClaimKind::Object;
    [
        ("a help text", !claim.help.is_empty()),
        ("a maximum length", claim.max_length.is_some()),
        ("a pattern", claim.pattern.is_some()),
        ("a least number", claim.min.is_some()),
        ("a greatest number", claim.max.is_some()),
        ("whole numbers only", claim.integer),
        ("what it is derived from", claim.derived.is_some()),
        ("an example", claim.example.is_some()),
        ("claims of its own", is_deep),
        ("the claims of each element", of_object),
    ]
    .into_iter()
    .filter_map(|(name, is_there)| is_there.then_some(name))
    .collect()
}
