//! The pages of an organisation's credential types: the list, the editor with its live card, and one type.

mod editor;

use askama::Template;
use selfsame_catalogue::english;
use selfsame_driver::Reason;
use selfsame_types::model::{Addresses, AnonCredsObjects, Disclosed, PublishingState, TypeState};
use selfsame_types::{CredentialType, TypeClaim, TypeDefinition, TypeSet, TypeSummary, file};

use crate::Frame;
use crate::look::CardLook;
use crate::text::sentence;

pub use editor::{EditedType, TypeEditorPage};

/// All types.
#[derive(Template)]
#[template(path = "types.html")]
pub struct TypesPage {
    frame: Frame,
    issuer: String,
    done: Option<&'static str>,
    own: Vec<TypeLine>,
    samples: Vec<TypeLine>,
}

/// The types of an organisation.
pub struct TypeLists<'a> {
    /// All, as they are listed.
    pub all: &'a [TypeSummary],
    /// The published ones.
    pub published: &'a TypeSet,
    /// The drafts.
    pub drafts: &'a [TypeDefinition],
    /// The name of the issuer.
    pub issuer: &'a str,
    /// What was done before.
    pub done: Option<&'a str>,
}

/// A type in the list.
struct TypeLine {
    id: String,
    title: String,
    look: CardLook,
    state: &'static str,
    version: Option<u32>,
    has_draft: bool,
    formats: String,
    kind: &'static str,
}

impl TypesPage {
    /// The page of these types.
    pub fn of(frame: Frame, lists: &TypeLists<'_>) -> Self {
        let line = |one: &TypeSummary| {
            let draft = lists.drafts.iter().find(|draft| draft.id == one.id);
            let published = lists.published.newest(&one.id).map(|one| &*one.definition);
            let definition = published.or(draft)?;
            Some(TypeLine {
                id: one.id.clone(),
                title: one.title.clone(),
                look: CardLook::of_type(definition),
                state: one.state.as_str(),
                version: one.version,
                has_draft: one.has_draft && one.version.is_some(),
                formats: formats(definition),
                kind: first_format(definition),
            })
        };
        let of = |sample: bool| {
            let those = lists.all.iter().filter(|one| one.sample == sample);
            those.filter_map(line).collect()
        };
        Self {
            issuer: lists.issuer.to_owned(),
            done: match lists.done {
                Some("deleted") => Some("The draft was deleted."),
                _ => None,
            },
            own: of(false),
            samples: of(true),
            frame: frame.titled("Credential types"),
        }
    }
}

/// The title of AnonCreds among formats.
const ANONCREDS_TITLE: &str = "AnonCreds";

/// The titles of the formats that a type is issued in.
fn formats(definition: &TypeDefinition) -> String {
    let formats = &definition.formats;
    if formats.is_empty() {
        return "all formats for wallets".to_owned();
    }
    let issued = formats.issued.iter().map(|format| format.describe().title);
    let anoncreds = formats.anoncreds.then_some(ANONCREDS_TITLE);
    issued.chain(anoncreds).collect::<Vec<_>>().join(", ")
}

/// The title of the format that a card of a type has first.
fn first_format(definition: &TypeDefinition) -> &'static str {
    let first = definition.formats.offered().next();
    first.map_or(ANONCREDS_TITLE, |format| format.describe().title)
}

/// One type.
#[derive(Template)]
#[template(path = "types_view.html")]
pub struct TypePage {
    frame: Frame,
    issuer: String,
    done: Option<&'static str>,
    one: TypeSummary,
    definition: TypeDefinition,
    look: CardLook,
    kind: &'static str,
    formats: String,
    claims: Vec<TypeClaimRow>,
    versions: Vec<VersionLine>,
    advice: Vec<String>,
    toml: String,
}

/// A type and what is published of it.
pub struct ShownType<'a> {
    /// The type.
    pub one: TypeSummary,
    /// Its versions, the newest first.
    pub versions: Vec<&'a CredentialType>,
    /// The name of the issuer.
    pub issuer: &'a str,
    /// What was done before.
    pub done: Option<&'a str>,
}

/// A claim in the table.
struct TypeClaimRow {
    path: String,
    label: String,
    kind: String,
    required: bool,
    disclosed: &'static str,
}

/// A published version.
struct VersionLine {
    version: u32,
    state: &'static str,
    vct: String,
    addresses: Option<Addresses>,
    has_logo: bool,
}

impl TypePage {
    /// The page of this type.
    pub fn of(frame: Frame, shown: ShownType<'_>) -> Self {
        let one = shown.one;
        let definition = one.definition.clone().or_else(|| one.draft.clone());
        let definition =
            definition.unwrap_or_else(|| selfsame_types::editor::TypeForm::empty().base);
        let mut claims = Vec::new();
        for claim in &definition.claims {
            list(claim, &[], &mut claims);
        }
        Self {
            frame: frame.titled(definition.name()),
            issuer: shown.issuer.to_owned(),
            done: match shown.done {
                Some("saved") => Some("The draft is saved."),
                Some("published") if definition.formats.offered().next().is_none() => {
                    Some("The type is published.")
                }
                Some("published") => Some("The type is published: it can be offered now."),
                Some("retired") => Some("The type is retired: nothing more is issued of it."),
                _ => None,
            },
            look: CardLook::of_type(&definition),
            kind: first_format(&definition),
            formats: formats(&definition),
            claims,
            versions: shown.versions.into_iter().map(VersionLine::of).collect(),
            advice: one.advice.iter().map(english).collect(),
            toml: text_of(&definition),
            one,
            definition,
        }
    }

    /// Whether the organisation can change it.
    fn is_own(&self) -> bool {
        !self.one.sample
    }

    /// Whether it can be retired.
    fn is_issued(&self) -> bool {
        self.one.state == TypeState::Published
    }

    /// Whether credentials of it can be offered.
    fn is_offered(&self) -> bool {
        self.is_issued() && self.definition.formats.offered().next().is_some()
    }

    /// What happens with its objects for AnonCreds, for people.
    fn anoncreds_told(&self, objects: &AnonCredsObjects) -> String {
        match (objects.state, &objects.reason) {
            (PublishingState::Publishing, _) => "Its keys are made, which takes some seconds, and the registry is called until it answers. Load this page again to see whether it is done.".to_owned(),
            (PublishingState::Published, _) => "The registry has the schema and the credential definition; the private key is stored here, sealed.".to_owned(),
            (PublishingState::Failed, None) => "They could not be published.".to_owned(),
            (PublishingState::Failed, Some(reason)) => {
                format!("They could not be published. {}", sentence(&english(reason)))
            }
        }
    }

    /// The number of the version that the draft would become.
    fn next_version(&self) -> u32 {
        self.one
            .version
            .map_or(1, |version| version.saturating_add(1))
    }
}

impl VersionLine {
    fn of(one: &CredentialType) -> Self {
        Self {
            version: one.version,
            state: one.state.as_str(),
            vct: one.vct.clone(),
            addresses: one.served.as_ref().map(|served| served.addresses.clone()),
            // Without a logo, the pictogram is served as one.
            has_logo: one.card.logo.is_some() || !one.icon().is_empty(),
        }
    }
}

/// Adds a claim and what is within it to the table.
fn list(claim: &TypeClaim, before: &[&str], rows: &mut Vec<TypeClaimRow>) {
    let own = claim.path.iter().map(String::as_str);
    let path: Vec<&str> = before.iter().copied().chain(own).collect();
    let is_inner = !before.is_empty();
    let kind = match &claim.of {
        Some(of) => format!("list of {}", of.kind.as_str()),
        None => claim.kind.as_str().to_owned(),
    };
    rows.push(TypeClaimRow {
        path: path.join("."),
        label: claim.name(),
        kind,
        required: claim.required,
        disclosed: match claim.disclosed {
            Some(Disclosed::Never) => "never",
            _ if claim.is_selective(is_inner) => "selectively",
            _ => "always",
        },
    });
    let of = claim.of.iter().flat_map(|of| &of.claims);
    for inner in claim.claims.iter().chain(of) {
        list(inner, &path, rows);
    }
}

/// A definition as its file: TOML, or JSON for what TOML can't say.
fn text_of(definition: &TypeDefinition) -> String {
    let toml = file::to_toml(definition).or_else(|_| file::to_json(definition));
    toml.unwrap_or_default()
}

/// A list of reasons as texts.
fn told(reasons: &[Reason]) -> Vec<String> {
    reasons.iter().map(english).collect()
}
