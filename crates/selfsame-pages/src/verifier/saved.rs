//! The page of a saved request for its verifier: the form, what a person is shown, the link and the button.

pub mod editor;

use askama::Template;
use selfsame_asked::shown::RequestCheck;
use selfsame_credential::Format;
use selfsame_driver::{Reason, Value};
use selfsame_openid::view::saved::SavedRequest;
use selfsame_types::TypeSet;

use super::asked::{AskedGroup, groups};
use crate::{Frame, qr};
use editor::{AlternativeRow, RequestForm};

/// The page of a saved request.
#[derive(Template)]
#[template(path = "saved_edit.html")]
pub struct SavedRequestPage {
    frame: Frame,
    heading: String,
    action: String,
    is_new: bool,
    is_open: bool,
    version: String,
    form: RequestForm,
    questions: Vec<QuestionView>,
    problems: Vec<ProblemLine>,
    notice: Option<&'static str>,
    found: Option<RequestCheck>,
    asked: Vec<AskedGroup>,
    compiled: String,
    link: Option<String>,
    qr: String,
    snippet: String,
}

/// What is known of a saved request that is changed.
pub struct EditedRequest<'a> {
    /// The form.
    pub form: RequestForm,
    /// The request as it is saved, unless it is new.
    pub saved: Option<&'a SavedRequest>,
    /// The version that the form was made from.
    pub version: Option<u64>,
    /// The types to choose from.
    pub types: &'a TypeSet,
    /// What is wrong.
    pub problems: Vec<Reason>,
    /// What the check found.
    pub found: Option<RequestCheck>,
    /// What was done.
    pub notice: Option<&'static str>,
}

/// Something that is wrong, and the field that it is about.
struct ProblemLine {
    field: String,
    text: String,
}

/// A question of the form.
struct QuestionView {
    key: String,
    optional: bool,
    alternatives: Vec<AlternativeView>,
}

/// An alternative of the form.
struct AlternativeView {
    question: String,
    key: String,
    shown: String,
    types: Vec<FormChoice>,
    claims: Vec<FormChoice>,
    formats: Vec<FormChoice>,
}

/// Something to choose.
struct FormChoice {
    value: String,
    label: String,
    chosen: bool,
}

impl SavedRequestPage {
    /// The page of this request.
    pub fn of(frame: Frame, edited: EditedRequest<'_>) -> Self {
        let saved = edited.saved;
        let heading = saved.map_or("New saved request", |saved| &saved.definition.title);
        let place = saved.map_or("new", |saved| &saved.definition.name);
        let found = edited.found;
        let compiled = found.as_ref().map(|found| &found.dcql_query);
        let link = saved.map(|saved| saved.link.clone());
        let questions = edited.form.questions.iter().map(|question| QuestionView {
            key: question.key.clone(),
            optional: question.optional,
            alternatives: question
                .alternatives
                .iter()
                .map(|one| alternative(one, &question.key, edited.types))
                .collect(),
        });
        Self {
            heading: heading.to_owned(),
            action: format!("{}/verifier/saved/{place}", frame.here),
            is_new: saved.is_none(),
            is_open: saved.is_some_and(|saved| saved.definition.enabled),
            version: edited
                .version
                .map_or_else(String::new, |version| version.to_string()),
            questions: questions.collect(),
            problems: edited.problems.iter().map(problem).collect(),
            notice: edited.notice,
            asked: found.as_ref().map(groups).unwrap_or_default(),
            compiled: compiled
                .and_then(|query| serde_json::to_string_pretty(query).ok())
                .unwrap_or_default(),
            found,
            qr: link.as_deref().map(qr::svg).unwrap_or_default(),
            snippet: link
                .as_deref()
                .map(|link| snippet(link, heading))
                .unwrap_or_default(),
            link,
            form: edited.form,
            frame: frame.titled(heading),
        }
    }
}

/// The lines that embed the button in a page. The script is at the root of the link's origin.
fn snippet(link: &str, title: &str) -> String {
    let script = url::Url::parse(link).and_then(|link| link.join("/embed.js"));
    let script = script.map(String::from).unwrap_or_default();
    let title = title.replace('&', "&amp;").replace('<', "&lt;");
    format!(
        "<script type=\"module\" src=\"{script}\"></script>\n<selfsame-request src=\"{link}\" reference=\"order-17\">{title}</selfsame-request>"
    )
}

fn problem(reason: &Reason) -> ProblemLine {
    let place = match reason.parameter("place") {
        Some(Value::Text(place)) => place.as_str(),
        _ => "",
    };
    let question = place.strip_prefix("questions[");
    let question = question.and_then(|rest| rest.split(']').next()?.parse::<usize>().ok());
    let field = match (question, place.split(['.', '[']).next(), reason.id()) {
        (Some(index), ..) => format!("question-{}", index.saturating_add(1)),
        (_, Some(field @ ("title" | "purpose" | "origins")), _) => field.to_owned(),
        (_, Some("policy"), _) => "issuers".to_owned(),
        (.., "status-age-malformed") => "max_status_age".to_owned(),
        (.., id) if id.starts_with("saved-name") => "name".to_owned(),
        _ => "query".to_owned(),
    };
    ProblemLine {
        field,
        text: crate::text::sentence(&selfsame_catalogue::english(reason)),
    }
}

fn alternative(one: &AlternativeRow, question: &str, types: &TypeSet) -> AlternativeView {
    let of_type = types.newest(&one.type_id);
    let mut of_types: Vec<FormChoice> = types
        .issued()
        .map(|known| FormChoice {
            value: known.id.clone(),
            label: known.name().to_owned(),
            chosen: known.id == one.type_id,
        })
        .collect();
    if !of_types.iter().any(|choice| choice.chosen) {
        of_types.insert(0, unknown(&one.type_id));
    }
    let known = of_type.map_or(&[][..], |of_type| &of_type.claims);
    let known = known.iter().filter(|claim| claim.is_in_credential());
    let mut claims: Vec<FormChoice> = known
        .map(|claim| FormChoice {
            value: claim.path.join("/"),
            label: claim.name(),
            chosen: one.claims.contains(&claim.path),
        })
        .collect();
    // What the type does not have (any more) stays visible, so that it can be taken out.
    for path in &one.claims {
        let value = path.join("/");
        if !claims.iter().any(|choice| choice.value == value) {
            claims.push(unknown(&value));
        }
    }
    let others = Format::of_people().filter(|format| !one.formats.contains(format));
    let formats = one.formats.iter().copied().chain(others);
    AlternativeView {
        question: question.to_owned(),
        key: one.key.clone(),
        shown: one.shown.clone(),
        types: of_types,
        claims,
        formats: formats
            .map(|format| FormChoice {
                value: format.to_string(),
                label: format.describe().title.to_owned(),
                chosen: one.formats.contains(&format),
            })
            .collect(),
    }
}

/// A value that is chosen and not known.
fn unknown(value: &str) -> FormChoice {
    FormChoice {
        value: value.to_owned(),
        label: value.to_owned(),
        chosen: true,
    }
}
