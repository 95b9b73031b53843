//! A type as the fields of a form that people change: its texts in two languages, its claims as rows, its card.
//!
//! What the form doesn't show stays as it is in the definition that the form was made from, which travels with it.

mod definition;
mod problems;
mod read;
mod rows;

use selfsame_driver::Reason;

use crate::formats::TypeFormats;
use crate::image::{CARD_IMAGE_BYTES_MAX, data_uri};
use crate::import::slug;
use crate::model::{CardImage, Labels, TypeDefinition};

pub use problems::FieldProblem;
pub use read::SentFields;
pub use rows::ClaimRow;

/// The colours that a card without colours of its own has.
pub const DEFAULT_COLORS: [&str; 2] = ["#56657a", "#ffffff"];

/// A text in the two languages of the form.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TextPair {
    /// In the first language.
    pub first: String,
    /// In the second one.
    pub second: String,
}

/// The form of a type.
#[derive(Clone, Debug)]
pub struct TypeForm {
    /// The definition that the form was made from.
    pub base: TypeDefinition,
    /// The id.
    pub id: String,
    /// The first language.
    pub language: String,
    /// The second language; empty without one.
    pub second_language: String,
    /// The title.
    pub title: TextPair,
    /// The description.
    pub description: TextPair,
    /// The claims.
    pub rows: Vec<ClaimRow>,
    /// For how many days a credential is valid.
    pub validity_days: String,
    /// Whether a credential can be revoked.
    pub revocable: bool,
    /// Whether a credential can be suspended.
    pub suspendable: bool,
    /// Whether a credential is single-use.
    pub single_use: bool,
    /// The formats that are chosen.
    pub formats: TypeFormats,
    /// The background colour of the card.
    pub background_color: String,
    /// The text colour of the card.
    pub text_color: String,
    /// The pictogram of the card.
    pub icon: String,
    /// The text alternative of the logo.
    pub logo_text: TextPair,
}

impl TypeForm {
    /// The form of a definition.
    #[must_use]
    pub fn of(base: &TypeDefinition) -> Self {
        let languages = Languages::of(base);
        let pair = |labels: &Labels| languages.pair(labels);
        let card = &base.card;
        let [background, text] = DEFAULT_COLORS;
        let color =
            |own: &Option<String>, default: &str| own.clone().unwrap_or_else(|| default.to_owned());
        let formats = TypeFormats {
            issued: base.formats.offered().collect(),
            anoncreds: base.formats.anoncreds,
        };
        Self {
            id: base.id.clone(),
            title: pair(&base.title),
            description: pair(&base.description),
            rows: rows::of(base, &languages),
            validity_days: base.validity_days.to_string(),
            revocable: base.revocable,
            suspendable: base.suspendable,
            single_use: base.single_use,
            formats,
            background_color: color(&card.background_color, background),
            text_color: color(&card.text_color, text),
            icon: base.icon().to_owned(),
            logo_text: card
                .logo
                .as_ref()
                .map(|logo| pair(&logo.alt_text))
                .unwrap_or_default(),
            language: languages.first,
            second_language: languages.second,
            base: base.clone(),
        }
    }

    /// The form of a new type: one claim to begin with.
    #[must_use]
    pub fn empty() -> Self {
        let mut form = Self::of(&TypeDefinition::empty());
        form.rows.push(ClaimRow::new("0", false));
        form
    }

    /// The form of a new type that begins as a copy of another one, without what names the other one.
    #[must_use]
    pub fn copy_of(other: &TypeDefinition) -> Self {
        Self::of(&TypeDefinition {
            id: String::new(),
            vct: None,
            w3c_types: Vec::new(),
            doctype: None,
            ..other.clone()
        })
    }

    /// Puts a file into the place of the logo.
    ///
    /// # Errors
    /// Why the file can't be the logo.
    pub fn set_logo(&mut self, file: &[u8]) -> Result<(), Reason> {
        let uri = data_uri(file, CARD_IMAGE_BYTES_MAX)?;
        let alt_text = self.base.card.logo.take().map(|logo| logo.alt_text);
        self.base.card.logo = Some(CardImage {
            uri,
            alt_text: alt_text.unwrap_or_default(),
        });
        Ok(())
    }

    /// Takes the logo off the card.
    pub fn remove_logo(&mut self) {
        self.base.card.logo = None;
        self.logo_text = TextPair::default();
    }

    /// Names what has a label and no name: the type by its title, and each claim by its label.
    pub fn suggest_names(&mut self) {
        if self.id.is_empty() {
            self.id = slug(&self.title.first);
        }
        for row in &mut self.rows {
            row.suggest_name();
        }
    }

    /// The parts of the definition that the form doesn't show.
    #[must_use]
    pub fn kept(&self) -> Vec<&'static str> {
        let base = &self.base;
        let languages = Languages::of(base);
        let is_other = |labels: &Labels| labels.keys().any(|key| !languages.has(key));
        [
            ("`vct`", base.vct.is_some()),
            ("`w3c_types`", !base.w3c_types.is_empty()),
            ("`extends`", base.extends.is_some()),
            ("`doctype`", base.doctype.is_some()),
            ("`requests`", !base.requests.is_empty()),
            ("`prerequisites`", base.prerequisites.is_some()),
            ("`book`", base.book.is_some()),
            (
                "the card’s background image",
                base.card.background.is_some(),
            ),
            (
                "further languages",
                is_other(&base.title) || is_other(&base.description),
            ),
        ]
        .into_iter()
        .filter_map(|(name, is_there)| is_there.then_some(name))
        .collect()
    }
}

/// The two languages of a form.
pub(crate) struct Languages {
    first: String,
    second: String,
}

impl Languages {
    /// English or the title's first language, and the next language of any text that the form shows.
    fn of(base: &TypeDefinition) -> Self {
        let first = match (base.title.get("en"), base.title.keys().next()) {
            (None, Some(language)) => language,
            _ => "en",
        };
        let of_claims = base.claims.iter().flat_map(|claim| {
            let inner = claim.claims.iter().map(|inner| &inner.label);
            std::iter::once(&claim.label).chain(inner)
        });
        let texts = [&base.title, &base.description]
            .into_iter()
            .chain(of_claims);
        let mut others = texts
            .flat_map(|labels| labels.keys())
            .filter(|key| *key != first);
        let second = others.next().unwrap_or_default().to_owned();
        let first = first.to_owned();
        Self { first, second }
    }

    fn has(&self, language: &str) -> bool {
        language == self.first || language == self.second
    }

    fn pair(&self, labels: &Labels) -> TextPair {
        let of = |language: &str| labels.get(language).unwrap_or_default().to_owned();
        TextPair {
            first: of(&self.first),
            second: of(&self.second),
        }
    }
}

#[cfg(test)]
mod tests;
