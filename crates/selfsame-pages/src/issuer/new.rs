//! The form for an offer of one type: empty, filled with the type's examples, or as it was sent.

use std::sync::Arc;

use askama::Template;
use selfsame_catalogue::{Language, Sentence, sentence};
use selfsame_credential::Format;
use selfsame_driver::{Error, Reason, Result, Value};
use selfsame_openid::view::issuer::NewOffer;
use selfsame_types::CredentialType;
use selfsame_types::form::application::ShownApplication;
use selfsame_types::form::{self, FieldEntry, FormContent, FormField, SentForm};
use serde_json::Map;

use crate::{Frame, WrongField, WrongFields};

/// The field that says that the person signs in.
const BY_SIGN_IN: &str = "by_sign_in";
/// The field that says that somebody must approve the request.
const NEEDS_APPROVAL: &str = "needs_approval";
/// The field for the number of people in the form without claims.
const USES_THERE: &str = "sign-in-uses";

/// The form for an offer of one type.
#[derive(Template)]
#[template(path = "issuer_new.html")]
pub struct NewOfferPage {
    frame: Frame,
    one: Arc<CredentialType>,
    fields: Vec<FormField>,
    formats: Vec<(&'static str, &'static str)>,
    has_samples: bool,
    has_sign_in: bool,
    has_approval: bool,
    options: OfferOptions,
    wrong: WrongFields,
    /// The id of the application that the offer is made from.
    application: Option<String>,
    /// The titles of what was proven for it.
    proven: Vec<String>,
    /// The locked claims.
    locked: Vec<FilledLine>,
}

/// A claim that is filled in.
struct FilledLine {
    label: String,
    value: String,
}

/// What the form of an offer can be filled with.
#[derive(Clone, Copy)]
pub struct OfferForm<'a> {
    /// The formats that the issuer issues.
    pub formats: &'a [Format],
    /// Whether it may be filled with the examples of the type.
    pub has_samples: bool,
    /// Whether people get the type by signing in.
    pub has_sign_in: bool,
    /// Whether an offer needs an approval unless it says otherwise; absent if none can.
    pub approval: Option<bool>,
    /// What it shows.
    pub content: FormContent<'a>,
}

/// The options of an offer, as they are typed.
struct OfferOptions {
    format: String,
    uses: String,
    label: String,
    tx_code: bool,
    by_reference: bool,
    needs_approval: bool,
    /// Whether they are those of the form without claims.
    by_sign_in: bool,
}

impl OfferOptions {
    fn of(content: FormContent<'_>, approval: Option<bool>) -> Self {
        let FormContent::Sent(form) = content else {
            return Self {
                format: String::new(),
                uses: "1".to_owned(),
                label: String::new(),
                tx_code: false,
                by_reference: true,
                needs_approval: approval.unwrap_or_default(),
                by_sign_in: false,
            };
        };
        let text = |name: &str| form.one(name).unwrap_or_default().to_owned();
        Self {
            format: text("format"),
            uses: text("uses"),
            label: text("label"),
            tx_code: is_ticked(form, "tx_code"),
            by_reference: is_ticked(form, "by_reference"),
            needs_approval: is_ticked(form, NEEDS_APPROVAL),
            by_sign_in: is_ticked(form, BY_SIGN_IN),
        }
    }
}

/// What a form of an application says of the claims that it shows.
///
/// # Errors
/// `BadRequest` for a field that can't be read.
pub fn applied_claims(
    one: &CredentialType,
    application: &ShownApplication,
    form: &dyn SentForm,
) -> Result<Map<String, serde_json::Value>> {
    let mut shown = one.claims.clone();
    shown.retain(|claim| !application.locked.contains(&claim.path));
    form::read(&shown, form)
}

/// The offer of this type that a form describes.
///
/// # Errors
/// `BadRequest` for a field that can't be read.
pub fn offer_of(one: &CredentialType, form: &dyn SentForm) -> Result<NewOffer> {
    let uses = form.one("uses").map(str::parse).transpose();
    let by_sign_in = is_ticked(form, BY_SIGN_IN);
    let claims = match by_sign_in {
        // They are made from what is known of the person.
        true => Map::new(),
        false => form::read(&one.claims, form)?,
    };
    Ok(NewOffer {
        type_id: one.id.clone(),
        format: form.one("format").map(str::to_owned),
        claims,
        examples: false,
        uses: uses.map_err(|_| Error::bad_request("uses-malformed"))?,
        tx_code: is_ticked(form, "tx_code") && !by_sign_in,
        by_sign_in,
        needs_approval: (!by_sign_in).then(|| is_ticked(form, NEEDS_APPROVAL)),
        by_reference: is_ticked(form, "by_reference"),
        expires_in: None,
        label: form.one("label").map(str::to_owned),
    })
}

fn is_ticked(form: &dyn SentForm, name: &str) -> bool {
    form.one(name) == Some("true")
}

impl NewOfferPage {
    /// The form of this type, which can be issued in those formats that it allows.
    ///
    /// # Errors
    /// If the type's examples do not fit its claims.
    pub fn of(frame: Frame, one: Arc<CredentialType>, form: &OfferForm<'_>) -> Result<Self> {
        let formats = form.formats.iter().copied();
        let formats = formats.filter(|format| one.is_issued_as(*format));
        Ok(Self {
            frame: frame.titled(one.name()),
            fields: form::of(&one, form.content)?,
            formats: formats.map(described).collect(),
            has_samples: form.has_samples,
            has_sign_in: form.has_sign_in,
            has_approval: form.approval.is_some(),
            options: OfferOptions::of(form.content, form.approval),
            wrong: WrongFields::default(),
            application: None,
            proven: Vec::new(),
            locked: Vec::new(),
            one,
        })
    }

    /// The form of an application that was proven: without the locked claims.
    ///
    /// # Errors
    /// As [`Self::of`].
    pub fn applied(
        frame: Frame,
        one: Arc<CredentialType>,
        application: &ShownApplication,
        content: FormContent<'_>,
    ) -> Result<Self> {
        let form = OfferForm {
            formats: &[],
            has_samples: false,
            has_sign_in: false,
            approval: None,
            content,
        };
        let is_locked = |field: &FormField| {
            let names = application.locked.iter().map(|path| path.join("/"));
            let mut names = names.map(|name| format!("claim.{name}"));
            names.any(|name| field.name == name)
        };
        let filled = form::of(&one, FormContent::Claims(&application.claims))?;
        let lines = filled
            .into_iter()
            .filter(is_locked)
            .map(|field| FilledLine {
                label: field.label,
                value: field.value,
            });
        let proven = application.needs.iter().filter(|need| need.is_proven);
        let page = Self::of(frame, one, &form)?;
        Ok(Self {
            fields: page
                .fields
                .into_iter()
                .filter(|field| !is_locked(field))
                .collect(),
            application: Some(application.id.clone()),
            proven: proven.map(|need| need.title.clone()).collect(),
            locked: lines.collect(),
            ..page
        })
    }

    /// The form with what is wrong, beside its field if it is about one.
    pub fn refused(self, reason: &Reason) -> Self {
        let field = match reason.id() {
            "uses-malformed" | "offer-limits" if self.options.by_sign_in => USES_THERE.to_owned(),
            "uses-malformed" | "offer-limits" => "uses".to_owned(),
            "format-not-issued" => "format".to_owned(),
            _ => field_of(reason, &self.fields).unwrap_or_default(),
        };
        // The hints of these reasons are for commands and programs.
        let told = Sentence {
            hint: None,
            ..sentence(Language::English, reason)
        };
        Self {
            frame: self.frame.failed(self.one.name()),
            wrong: WrongField {
                field: field.into(),
                told,
            }
            .into(),
            ..self
        }
    }
}

impl NewOfferPage {
    /// Whether a field of this entry has to be corrected.
    fn is_wrong_in(&self, entry: &FieldEntry) -> bool {
        let mut fields = entry.fields.iter();
        fields.any(|field| self.wrong.is_at(&field.name))
    }
}

/// The name of the field that a reason is about: it names the claim, or the label of the field.
fn field_of(reason: &Reason, fields: &[FormField]) -> Option<String> {
    let text = |name| match reason.parameter(name)? {
        Value::Text(text) => Some(text.as_str()),
        Value::Reason(_) => None,
    };
    let labelled = |label| fields.iter().find(|field| field.label == label);
    match (text("claim"), text("label")) {
        (Some(place), _) => form::name_at(place, fields),
        (None, Some(label)) => labelled(label).map(|field| field.name.clone()),
        (None, None) => None,
    }
}

/// A format, and its description for people.
fn described(format: Format) -> (&'static str, &'static str) {
    (format.as_str(), format.describe().summary)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use selfsame_types::TypeSet;

    use super::*;

    struct Typed(BTreeMap<&'static str, &'static str>);

    impl SentForm for Typed {
        fn one(&self, name: &str) -> Option<&str> {
            self.0.get(name).copied()
        }
    }

    fn page(has_samples: bool, content: FormContent<'_>) -> NewOfferPage {
        let types = TypeSet::of_samples("urn:selfsame:credential:");
        let one = types.find("immunization").unwrap().clone();
        let form = OfferForm {
            formats: &Format::ALL,
            has_samples,
            has_sign_in: false,
            approval: None,
            content,
        };
        NewOfferPage::of(Frame::of_visitor(), one, &form).unwrap()
    }

    #[test]
    fn the_form_is_empty_and_one_button_fills_it_with_sample_data() {
        let empty = page(true, FormContent::Empty).render().unwrap();
        assert!(!empty.contains("Musterfrau"), "{empty}");
        let fill = r#"<form method="get" action="/issuer/new/immunization">"#;
        assert!(empty.contains(fill) && empty.contains("Fill with sample data"));
        let filled = page(true, FormContent::Examples).render().unwrap();
        assert!(filled.contains(r#"value="Musterfrau""#), "{filled}");
        let without = page(false, FormContent::Empty).render().unwrap();
        assert!(!without.contains("sample"), "{without}");
    }

    #[test]
    fn what_was_typed_is_kept_and_what_is_wrong_stands_beside_its_field() {
        let typed = Typed(BTreeMap::from([
            ("claim.patient/given_name", "Ida"),
            ("claim.patient/birth_date", "tomorrow"),
            ("uses", "0"),
            ("label", "Room 4"),
            ("tx_code", "true"),
            ("format", "vc+jwt"),
        ]));
        let shown = |reason: Reason| {
            let page = page(true, FormContent::Sent(&typed)).refused(&reason);
            page.render().unwrap()
        };
        let at_claim = shown(Reason::new("claim-missing").with("claim", "patient.birth_date"));
        for kept in [
            r#"value="Ida""#,
            r#"value="tomorrow""#,
            r#"value="Room 4""#,
            r#"name="tx_code" value="true" checked"#,
            r#"value="vc+jwt" selected"#,
            r#"id="claim.patient/birth_date-problem""#,
        ] {
            assert!(at_claim.contains(kept), "{kept}: {at_claim}");
        }
        assert!(!at_claim.contains(r#"name="by_reference" value="true" checked"#));
        let at_uses = shown(Reason::new("offer-limits"));
        assert!(at_uses.contains(r#"id="uses-problem""#), "{at_uses}");
        let label = Reason::new("field-of-other-kind").with("label", "Date of birth");
        let at_label = shown(label.with_reason("kind", Reason::text("date")));
        assert!(at_label.contains(r#"id="claim.patient/birth_date-problem""#));
        let above = shown(Reason::new("claims-too-large"));
        assert!(
            above.contains(r#"<p class="notice is-bad" role="alert""#),
            "{above}"
        );
    }

    #[test]
    fn an_offer_says_whether_it_needs_an_approval_where_one_can() {
        let types = TypeSet::of_samples("urn:selfsame:credential:");
        let one = types.find("immunization").unwrap().clone();
        let shown = |approval| {
            let form = OfferForm {
                formats: &Format::ALL,
                has_samples: false,
                has_sign_in: false,
                approval,
                content: FormContent::Empty,
            };
            let page = NewOfferPage::of(Frame::of_visitor(), one.clone(), &form);
            page.unwrap().render().unwrap()
        };
        let field = r#"name="needs_approval" value="true""#;
        assert!(!shown(None).contains(field));
        assert!(shown(Some(false)).contains(&format!("{field}>")));
        assert!(shown(Some(true)).contains(&format!("{field} checked>")));
        let ticked = Typed(BTreeMap::from([("needs_approval", "true")]));
        assert_eq!(offer_of(&one, &ticked).unwrap().needs_approval, Some(true));
        let other = Typed(BTreeMap::new());
        assert_eq!(offer_of(&one, &other).unwrap().needs_approval, Some(false));
        let signing_in = Typed(BTreeMap::from([("by_sign_in", "true")]));
        assert_eq!(offer_of(&one, &signing_in).unwrap().needs_approval, None);
    }

    #[test]
    fn a_type_that_people_get_by_signing_in_has_a_form_without_claims() {
        let types = TypeSet::of_samples("urn:selfsame:credential:");
        let one = types.find("immunization").unwrap().clone();
        let page = |content| {
            let form = OfferForm {
                formats: &Format::ALL,
                has_samples: false,
                has_sign_in: true,
                approval: None,
                content,
            };
            NewOfferPage::of(Frame::of_visitor(), one.clone(), &form).unwrap()
        };
        let shown = page(FormContent::Empty).render().unwrap();
        assert!(
            shown.contains(r#"name="by_sign_in" value="true""#),
            "{shown}"
        );
        let typed = Typed(BTreeMap::from([
            ("by_sign_in", "true"),
            ("by_reference", "true"),
            ("uses", "0"),
            ("label", "Room 4"),
            ("tx_code", "true"),
        ]));
        let new = offer_of(&one, &typed).unwrap();
        assert!(new.by_sign_in && new.claims.is_empty() && !new.tx_code);
        assert_eq!(new.label.as_deref(), Some("Room 4"));
        let wrong = page(FormContent::Sent(&typed)).refused(&Reason::new("offer-limits"));
        let wrong = wrong.render().unwrap();
        assert!(wrong.contains(r#"id="sign-in-uses-problem""#), "{wrong}");
        assert_eq!(wrong.matches("Room 4").count(), 1, "{wrong}");
    }
}
