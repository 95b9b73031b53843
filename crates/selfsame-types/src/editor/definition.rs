//! The definition that a form describes: what the form shows, upon what it was made from.

use std::collections::BTreeMap;

use selfsame_credential::Format;

use super::rows::{ClaimRow, default_disclosed, line};
use super::{DEFAULT_COLORS, Languages, TextPair, TypeForm};
use crate::formats::TypeFormats;
use crate::model::{ClaimKind, EnumerationValue, Labels, TypeClaim, TypeDefinition};

impl TypeForm {
    /// The definition. It can have refusals, which [`check`](crate::check()) finds.
    #[must_use]
    pub fn definition(&self) -> TypeDefinition {
        let base = &self.base;
        let texts = Texts::of(self);
        let rows: Vec<&ClaimRow> = self.rows.iter().filter(|row| !row.is_blank()).collect();
        let claims = rows.iter().map(|row| texts.claim(row, &base.claims));
        let mut card = base.card.clone();
        let [background, text] = DEFAULT_COLORS;
        set_color(
            &mut card.background_color,
            &self.background_color,
            background,
        );
        set_color(&mut card.text_color, &self.text_color, text);
        card.icon = Some(self.icon.clone()).filter(|icon| !icon.is_empty());
        if let Some(logo) = &mut card.logo {
            texts.set(&mut logo.alt_text, &self.logo_text);
        }
        let mut made = TypeDefinition {
            id: self.id.clone(),
            validity_days: self.validity_days.parse().unwrap_or_default(),
            revocable: self.revocable,
            suspendable: self.suspendable,
            single_use: self.single_use,
            formats: self.chosen_formats(),
            claims: claims.collect(),
            card,
            ..base.clone()
        };
        texts.set(&mut made.title, &self.title);
        texts.set(&mut made.description, &self.description);
        self.follow_names(&rows, &mut made);
        made
    }

    /// No formats if all for people are chosen, no other, and the definition names none.
    fn chosen_formats(&self) -> TypeFormats {
        let people = Format::of_any_type().eq(self.formats.issued.iter().copied());
        let is_all = people && !self.formats.anoncreds;
        match self.base.formats.is_empty() && is_all {
            true => TypeFormats::default(),
            false => self.formats.clone(),
        }
    }

    /// Lets the card's front, the typical requests, what fills claims and derived claims name the claims as they are named now.
    fn follow_names(&self, rows: &[&ClaimRow], made: &mut TypeDefinition) {
        let of_row = |row: &&ClaimRow| {
            let old = row.made_from(&self.base.claims)?;
            Some((old.path.clone(), path(&row.name)))
        };
        let now: BTreeMap<Vec<String>, Vec<String>> = rows.iter().filter_map(of_row).collect();
        let follow = |paths: &[Vec<String>]| -> Vec<Vec<String>> {
            paths
                .iter()
                .filter_map(|old| now.get(old).cloned())
                .collect()
        };
        for request in &mut made.requests {
            request.claims = follow(&request.claims);
        }
        if let Some(declared) = &mut made.prerequisites {
            declared.fills.retain_mut(|fill| {
                let path = now.get(&fill.claim);
                path.map(|path| fill.claim.clone_from(path)).is_some()
            });
        }
        if let Some(book) = &mut made.book {
            book.follow(&now);
        }
        let derived = made
            .claims
            .iter_mut()
            .filter_map(|claim| claim.derived.as_mut());
        for derived in derived {
            if let Some(path) = now.get(&derived.from) {
                derived.from = path.clone();
            }
        }
        let chosen = rows.iter().filter(|row| row.is_on_front);
        let chosen: Vec<Vec<String>> = chosen.map(|row| path(&row.name)).collect();
        let mut front = follow(&self.base.card.front);
        front.retain(|path| chosen.contains(path));
        let added = chosen.into_iter().filter(|path| !front.contains(path));
        let added: Vec<_> = added.collect();
        front.extend(added);
        made.card.front = front;
    }
}

fn set_color(color: &mut Option<String>, chosen: &str, default: &str) {
    let is_default = color.is_none() && (chosen.is_empty() || chosen.eq_ignore_ascii_case(default));
    if !is_default {
        *color = Some(chosen.to_owned()).filter(|chosen| !chosen.is_empty());
    }
}

fn path(name: &str) -> Vec<String> {
    match name {
        "" => Vec::new(),
        name => name.split('.').map(|part| part.trim().to_owned()).collect(),
    }
}

/// The languages of the texts, before and after the change.
struct Texts<'a> {
    before: Languages,
    first: &'a str,
    second: &'a str,
}

impl<'a> Texts<'a> {
    fn of(form: &'a TypeForm) -> Self {
        Self {
            before: Languages::of(&form.base),
            first: &form.language,
            second: &form.second_language,
        }
    }

    /// Replaces the texts in the form's languages. Those in further languages stay.
    fn set(&self, labels: &mut Labels, texts: &TextPair) {
        labels.retain(|language| !self.before.has(language));
        for (language, text) in [(self.second, &texts.second), (self.first, &texts.first)] {
            if !language.is_empty() && !text.is_empty() {
                labels.insert(language, text);
            }
        }
    }

    /// The claim of a row; `beside` are those among which it was.
    fn claim(&self, row: &ClaimRow, beside: &[TypeClaim]) -> TypeClaim {
        let old = row.made_from(beside);
        let mut claim = match old {
            Some(old) if old.kind == row.kind => old.clone(),
            Some(old) => TypeClaim {
                label: old.label.clone(),
                help: old.help.clone(),
                ..TypeClaim::new(Vec::new(), row.kind)
            },
            None => TypeClaim::new(Vec::new(), row.kind),
        };
        claim.path = path(&row.name);
        self.set(&mut claim.label, &row.label);
        claim.required = row.required;
        if claim.disclosed.is_some() || row.disclosed != default_disclosed(row.is_inner) {
            claim.disclosed = Some(row.disclosed);
        }
        self.fill(&mut claim, row);
        // An example that no longer fits would be refused at a place that the form doesn't show.
        let fits = |example| claim.check(example, "example").is_ok();
        if !claim.example.as_ref().is_none_or(fits) {
            claim.example = None;
        }
        claim
    }

    /// Sets what belongs to the kind.
    fn fill(&self, claim: &mut TypeClaim, row: &ClaimRow) {
        match row.kind {
            ClaimKind::Enumeration => {
                let lines = row
                    .values
                    .lines()
                    .map(str::trim)
                    .filter(|line| !line.is_empty());
                claim.values = lines.map(|text| self.value(text, &claim.values)).collect();
            }
            // The form shows the claims of an object, but not those of an object within it.
            ClaimKind::Object if !row.is_inner => {
                let members = row.members.iter().filter(|member| !member.is_blank());
                claim.claims = members
                    .map(|member| self.claim(member, &claim.claims))
                    .collect();
            }
            ClaimKind::List => {
                let of = claim.of.take().filter(|of| of.kind == row.of);
                claim.of = Some(of.unwrap_or_else(|| Box::new(TypeClaim::new(Vec::new(), row.of))));
            }
            _ => {}
        }
    }

    /// The value of a line, `value` or `value = label`.
    fn value(&self, text: &str, old: &[EnumerationValue]) -> EnumerationValue {
        if let Some(same) = old.iter().find(|choice| line(choice) == text) {
            return same.clone();
        }
        let (value, label) = text.split_once(" = ").unwrap_or((text, ""));
        let known = old.iter().find(|choice| choice.value == value);
        let mut label_of = known.map(|choice| choice.label.clone()).unwrap_or_default();
        match label.trim() {
            "" => label_of.retain(|language| language != self.first),
            label => label_of.insert(self.first, label),
        }
        EnumerationValue {
            value: value.trim().to_owned(),
            label: label_of,
        }
    }
}
