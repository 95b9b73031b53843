//! The editor of how a type appears in the book.

use askama::Template;
use selfsame_book::BookMapping;
use selfsame_book::editor::{ADDRESS_PARTS, field_at, value_of};
use selfsame_book::mapping::{AddressMapping, ClaimNames};
use selfsame_book_view::mapping::{ChosenClaim, PreviewedMapping};
use selfsame_catalogue::{Language, sentence};
use selfsame_driver::Reason;

/// Lines of an address that the form offers beside those that are used.
const MORE_LINES: usize = 2;

/// The editor of a mapping.
#[derive(Template)]
#[template(path = "mapping.html")]
pub struct MappingContent {
    here: String,
    form: String,
    type_id: String,
    title: String,
    is_in_book: bool,
    notice: Option<&'static str>,
    sections: Vec<FormSection>,
    claims: Vec<ClaimChoice>,
    problems: Vec<PlacedProblem>,
    advice: Vec<String>,
    preview: PreviewedMapping,
}

/// What the editor is made of.
pub struct EditorParts<'a> {
    /// What the paths of the organisation's pages begin with.
    pub here: String,
    /// The token of the session's forms.
    pub form: String,
    /// The id of the type.
    pub type_id: &'a str,
    /// The title of the type.
    pub title: &'a str,
    /// The claims of the type that a fact can be: the path and the label of each.
    pub claims: Vec<ChosenClaim>,
    /// The mapping as it is edited.
    pub mapping: &'a BookMapping,
    /// Whether the draft has a mapping.
    pub is_in_book: bool,
    /// What is told above the form.
    pub notice: Option<&'static str>,
    /// What the mapping makes of the sample claims.
    pub preview: PreviewedMapping,
    /// Whether what is wrong is told: not before anything was sent.
    pub is_judged: bool,
}

/// A claim to choose.
struct ClaimChoice {
    value: String,
    label: String,
}

/// What is wrong with a field.
struct PlacedProblem {
    field: String,
    text: String,
}

/// A part of the form.
struct FormSection {
    id: &'static str,
    title: &'static str,
    help: &'static str,
    rows: Vec<FormRow>,
    wrong: Option<String>,
}

/// Fields that belong together.
struct FormRow {
    legend: String,
    fields: Vec<MappingField>,
}

/// A field.
struct MappingField {
    id: String,
    label: String,
    content: FieldContent,
    wrong: Option<String>,
}

impl MappingField {
    fn is_checked(&self) -> bool {
        matches!(self.content, FieldContent::Check(true))
    }
}

/// What a field holds.
enum FieldContent {
    Text(String),
    Lines(String),
    Claim(String),
    Check(bool),
}

impl MappingContent {
    /// The editor of this mapping.
    #[must_use]
    pub fn of(parts: EditorParts<'_>) -> Self {
        let refusals = match parts.is_judged {
            true => parts.preview.refusals.as_slice(),
            false => &[],
        };
        let problems: Vec<PlacedProblem> = refusals.iter().map(PlacedProblem::of).collect();
        let sections = sections(parts.mapping);
        Self {
            sections: sections.map(|one| one.marked(&problems)).collect(),
            claims: choices(&parts),
            advice: parts.preview.advice.iter().map(told).collect(),
            here: parts.here,
            form: parts.form,
            type_id: parts.type_id.to_owned(),
            title: parts.title.to_owned(),
            is_in_book: parts.is_in_book,
            notice: parts.notice.filter(|_| problems.is_empty()),
            preview: parts.preview,
            problems,
        }
    }

    /// Whether something is wrong that has to change.
    #[must_use]
    pub fn is_failed(&self) -> bool {
        !self.problems.is_empty()
    }
}

/// The claims to choose from, and those that the mapping names and the type does not have.
fn choices(parts: &EditorParts<'_>) -> Vec<ClaimChoice> {
    let own = parts.claims.iter();
    let mut choices: Vec<ClaimChoice> = own
        .map(|one| ClaimChoice {
            value: value_of(&one.path),
            label: format!("{} ({})", one.label, one.path.join(".")),
        })
        .collect();
    for (_, path) in parts.mapping.claims() {
        let value = value_of(path);
        if !path.is_empty() && !choices.iter().any(|one| one.value == value) {
            choices.push(ClaimChoice {
                value,
                label: format!("{} (no claim of the type)", path.join(".")),
            });
        }
    }
    choices
}

fn told(reason: &Reason) -> String {
    let told = sentence(Language::English, reason);
    match told.hint {
        Some(hint) => format!("{}; {hint}", told.text),
        None => told.text,
    }
}

impl PlacedProblem {
    /// The sentence, with the name of the field in the place of its place in a file.
    fn of(reason: &Reason) -> Self {
        let place = reason.parameter("place").map(ToString::to_string);
        let place = place.unwrap_or_default();
        let text = told(reason);
        let field = match (place.as_str(), reason.id()) {
            ("", "book-source-id") => "topic.source_id".to_owned(),
            ("", _) => "topic".to_owned(),
            (place, _) => field_at(place),
        };
        let text = match place.is_empty() {
            true => text,
            false => text
                .replace(&format!("`{place}`"), &named(&field))
                .replace(&place, &named(&field)),
        };
        Self { field, text }
    }
}

/// What people call a field: `Names 1, claim` for `names.0.claim`.
fn named(field: &str) -> String {
    let mut parts = field.split('.');
    let head = parts.next().unwrap_or_default();
    let head = match head {
        "topic" => "Topic".to_owned(),
        "names" => "Name".to_owned(),
        "addresses" => "Address".to_owned(),
        "attributes" => "Further fact".to_owned(),
        "relationships" => "Relationship".to_owned(),
        "cardinality" => "What tells credentials apart".to_owned(),
        "effective_date" => "Holds from".to_owned(),
        "expiry_date" => "Holds until".to_owned(),
        "inactive" => "No longer active".to_owned(),
        "anoncreds" => "AnonCreds".to_owned(),
        other => other.to_owned(),
    };
    let rest = parts.map(|part| match part.parse::<usize>() {
        Ok(row) => format!(" {}", row.saturating_add(1)),
        Err(_) => format!(
            ", {}",
            part.replace('_', " ").replace("source id", "number")
        ),
    });
    rest.fold(head, |named, part| named + &part)
}

impl FormSection {
    /// The section with what is wrong beside its fields.
    fn marked(mut self, problems: &[PlacedProblem]) -> Self {
        let found = |field: &str| {
            let one = problems.iter().find(|one| one.field == field);
            one.map(|one| one.text.clone())
        };
        self.wrong = found(self.id);
        for field in self.rows.iter_mut().flat_map(|row| &mut row.fields) {
            let of_address = field.id.strip_suffix(".civic_address.0");
            let of_address = of_address.map(|row| format!("{row}.civic_address"));
            field.wrong = found(&field.id).or_else(|| found(&of_address?));
        }
        self
    }
}

fn field(id: impl Into<String>, label: impl Into<String>, content: FieldContent) -> MappingField {
    MappingField {
        id: id.into(),
        label: label.into(),
        content,
        wrong: None,
    }
}

fn text(id: impl Into<String>, label: &str, value: &str) -> MappingField {
    field(id, label, FieldContent::Text(value.to_owned()))
}

fn claim(
    id: impl Into<String>,
    label: impl Into<String>,
    path: Option<&ClaimNames>,
) -> MappingField {
    let chosen = path.filter(|path| !path.is_empty());
    let chosen = chosen.map(|path| value_of(path)).unwrap_or_default();
    field(id, label, FieldContent::Claim(chosen))
}

fn check(id: impl Into<String>, label: &str, is_set: bool) -> MappingField {
    field(id, label, FieldContent::Check(is_set))
}

/// One row for each of these, and an empty one.
fn rows<T>(
    all: &[T],
    name: &str,
    row: impl Fn(usize, Option<&T>) -> Vec<MappingField>,
) -> Vec<FormRow> {
    (0..=all.len())
        .map(|number| FormRow {
            legend: format!("{name} {}", number.saturating_add(1)),
            fields: row(number, all.get(number)),
        })
        .collect()
}

fn sections(mapping: &BookMapping) -> impl Iterator<Item = FormSection> {
    let section = |id, title, help, rows| FormSection {
        id,
        title,
        help,
        rows,
        wrong: None,
    };
    [
        section(
            "topic",
            "Topic",
            "What a credential is about, and whether the book has each one that you issue.",
            vec![topic(mapping)],
        ),
        section(
            "names",
            "Names",
            "By these, people find the topic.",
            rows(&mapping.names, "Name", |row, one| {
                vec![
                    text(
                        format!("names.{row}.type"),
                        "Type",
                        one.map_or("", |one| &one.kind),
                    ),
                    claim(
                        format!("names.{row}.claim"),
                        "Claim",
                        one.map(|one| &one.claim),
                    ),
                ]
            }),
        ),
        section(
            "addresses",
            "Addresses",
            "Each is put together from claims.",
            rows(&mapping.addresses, "Address", address),
        ),
        section(
            "attributes",
            "Further facts",
            "Those that are facets filter a search.",
            attributes(mapping),
        ),
        section(
            "relationships",
            "Relationships",
            "Other topics to which the topic is related.",
            relationships(mapping),
        ),
        section(
            "cardinality",
            "History",
            "Credentials about one topic in which all of these claims are equal replace one another.",
            rows(&mapping.cardinality, "Claim", |row, one| {
                vec![claim(format!("cardinality.{row}"), "Claim", one)]
            }),
        ),
        section(
            "dates",
            "Dates and state",
            "Without dates, a credential holds from when it was issued, without end.",
            vec![dates(mapping)],
        ),
        anoncreds(mapping),
    ]
    .into_iter()
}

fn topic(mapping: &BookMapping) -> FormRow {
    let topic = &mapping.topic;
    FormRow {
        legend: "Topic".to_owned(),
        fields: vec![
            text(
                "topic.type",
                "Type, such as registration.registries.ca",
                &topic.kind,
            ),
            claim(
                "topic.source_id",
                "Claim with its number or name",
                Some(&topic.source_id),
            ),
            check(
                "topic.founds",
                "It can be the first credential about a topic",
                topic.founds,
            ),
            check(
                "automatic",
                "Enter each credential when it is issued: the book is public",
                mapping.automatic,
            ),
        ],
    }
}

fn address(row: usize, one: Option<&AddressMapping>) -> Vec<MappingField> {
    let lines: &[ClaimNames] = one.map_or(&[], |one| &one.civic_address);
    let part = |name: &str| match (name, one) {
        (_, None) => None,
        ("addressee", Some(one)) => one.addressee.as_ref(),
        ("city", Some(one)) => one.city.as_ref(),
        ("province", Some(one)) => one.province.as_ref(),
        ("postal_code", Some(one)) => one.postal_code.as_ref(),
        (_, Some(one)) => one.country.as_ref(),
    };
    let street = (0..lines.len().saturating_add(MORE_LINES)).map(|line| {
        let label = format!("Line {}", line.saturating_add(1));
        claim(
            format!("addresses.{row}.civic_address.{line}"),
            label,
            lines.get(line),
        )
    });
    let parts = ADDRESS_PARTS
        .into_iter()
        .map(|(name, label)| claim(format!("addresses.{row}.{name}"), label, part(name)));
    street.chain(parts).collect()
}

fn attributes(mapping: &BookMapping) -> Vec<FormRow> {
    rows(&mapping.attributes, "Fact", |row, one| {
        vec![
            text(
                format!("attributes.{row}.type"),
                "Type",
                one.map_or("", |one| &one.kind),
            ),
            claim(
                format!("attributes.{row}.claim"),
                "Claim",
                one.map(|one| &one.claim),
            ),
            check(
                format!("attributes.{row}.facet"),
                "A facet",
                one.is_some_and(|one| one.facet),
            ),
        ]
    })
}

fn relationships(mapping: &BookMapping) -> Vec<FormRow> {
    rows(&mapping.relationships, "Relationship", |row, one| {
        vec![
            text(
                format!("relationships.{row}.relation"),
                "What the topic is to the other, such as owned_by",
                one.map_or("", |one| &one.relation),
            ),
            text(
                format!("relationships.{row}.type"),
                "Type of the other topic",
                one.map_or("", |one| &one.kind),
            ),
            claim(
                format!("relationships.{row}.source_id"),
                "Claim with its number or name",
                one.map(|one| &one.source_id),
            ),
        ]
    })
}

fn dates(mapping: &BookMapping) -> FormRow {
    let inactive = mapping.inactive.as_ref();
    let values = inactive.map(|one| one.values.join("\n"));
    FormRow {
        legend: "Dates and state".to_owned(),
        fields: vec![
            claim(
                "effective_date",
                "Holds from",
                mapping.effective_date.as_ref(),
            ),
            claim("expiry_date", "Holds until", mapping.expiry_date.as_ref()),
            claim(
                "inactive.claim",
                "Claim that says that the topic is no longer active",
                inactive.map(|one| &one.claim),
            ),
            field(
                "inactive.values",
                "Its values that say so, one a line",
                FieldContent::Lines(values.unwrap_or_default()),
            ),
        ],
    }
}

fn anoncreds(mapping: &BookMapping) -> FormSection {
    let own = &mapping.anoncreds;
    let lines = |id: &str, label: &str, ids: &[String]| {
        field(id, label, FieldContent::Lines(ids.join("\n")))
    };
    let row = FormRow {
        legend: "AnonCreds".to_owned(),
        fields: vec![
            lines(
                "anoncreds.schemas",
                "Identifiers of schemas, one a line",
                &own.schemas,
            ),
            lines(
                "anoncreds.definitions",
                "Identifiers of credential definitions, one a line",
                &own.definitions,
            ),
            check(
                "anoncreds.received",
                "Enter each one that your agent receives: the book is public",
                own.received,
            ),
        ],
    };
    FormSection {
        id: "anoncreds",
        title: "AnonCreds",
        help: "Which AnonCreds credentials of others are of this type. Those of your own schema of the type always are.",
        rows: vec![row],
        wrong: None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn mapping() -> BookMapping {
        serde_json::from_value(json!({
            "topic": {"type": "registration", "source_id": ["number"]},
            "names": [{"type": "bad name", "claim": ["name"]}],
            "addresses": [{"civic_address": [["line"]]}],
        }))
        .unwrap()
    }

    fn chosen(name: &str, label: &str) -> ChosenClaim {
        ChosenClaim {
            path: vec![name.to_owned()],
            label: label.to_owned(),
        }
    }

    fn page(refusals: Vec<Reason>) -> String {
        let mapping = mapping();
        let content = MappingContent::of(EditorParts {
            here: "/o/acme".to_owned(),
            form: "token".to_owned(),
            type_id: "registration",
            title: "<i>Registration</i>",
            claims: vec![chosen("number", "Number"), chosen("name", "Name \"x\"")],
            mapping: &mapping,
            is_in_book: true,
            notice: Some("Saved."),
            preview: PreviewedMapping {
                refusals,
                ..PreviewedMapping::default()
            },
            is_judged: true,
        });
        content.render().unwrap()
    }

    #[test]
    fn a_refusal_stands_at_its_field_and_names_it() {
        let kind = Reason::new("type-book-kind").with("place", "book.names[0].type");
        let claim = Reason::new("type-claim-named")
            .with("place", "book.addresses[0].civic_address")
            .with("claim", "line");
        let page = page(vec![kind, claim]);
        assert!(page.contains("href=\"#names.0.type\""), "{page}");
        assert!(page.contains("Name 1, type: a name of 1 to 128"), "{page}");
        assert!(
            page.contains("aria-describedby=\"wrong-names.0.type\""),
            "{page}"
        );
        assert!(
            page.contains("aria-describedby=\"wrong-addresses.0.civic_address.0\""),
            "{page}"
        );
        assert!(!page.contains("Saved."), "{page}");
        assert!(!page.contains("<i>Registration"), "{page}");
    }

    #[test]
    fn a_mapping_without_refusals_is_shown_with_a_row_more_than_it_has() {
        let page = page(Vec::new());
        assert!(page.contains("Saved."), "{page}");
        assert!(page.contains("name=\"names.1.type\""), "{page}");
        assert!(!page.contains("name=\"names.2.type\""), "{page}");
        assert!(page.contains("line (no claim of the type)"), "{page}");
        assert!(page.contains("[&#34;number&#34;]\" selected"), "{page}");
    }
}
