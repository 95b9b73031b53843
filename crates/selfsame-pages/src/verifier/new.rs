//! The form of a request: which claims of a type, of whom, and what for.

use std::sync::Arc;

use askama::Template;
use selfsame_catalogue::{Language, sentence};
use selfsame_credential::Format;
use selfsame_credential::single_use::HANDLE;
use selfsame_driver::{Error, Reason, Result};
use selfsame_openid::view::verifier::NewRequest;
use selfsame_types::CredentialType;
use selfsame_types::model::text_of;

use crate::{Frame, WrongField, WrongFields};

/// The claims of one type, to choose from.
#[derive(Template)]
#[template(path = "verifier_new.html")]
pub struct NewRequestPage {
    frame: Frame,
    one: Arc<CredentialType>,
    title: String,
    claims: Vec<ClaimChoice>,
    formats: Vec<(&'static str, &'static str)>,
    typed: TypedRequest,
    asks_handle: bool,
    handle: &'static str,
    requester: Requester,
    wrong: WrongFields,
}

/// The verifier that requests.
pub struct Requester {
    /// Its DID, to which an issuer delegates the use of credentials.
    pub did: String,
    /// Whether it can use up credentials; it then does unless the person unticks it.
    pub can_spend: bool,
    /// Whether it has a certificate to sign with.
    pub has_certificate: bool,
}

/// What is typed into the form.
#[derive(Debug)]
pub struct TypedRequest {
    /// The claims that are ticked, with `/` between the names of a path.
    pub claims: Vec<String>,
    /// The format.
    pub format: String,
    /// How the verifier identifies itself.
    pub prefix: String,
    /// Maximum age of the status, in seconds; empty for the configured one.
    pub age: String,
    /// What the request is for.
    pub purpose: String,
    /// Whether a single-use credential is used up.
    pub spend: bool,
    /// Whether the wallet is in this browser.
    pub same_device: bool,
    /// Whether the wallet encrypts its answer.
    pub encrypted: bool,
}

impl TypedRequest {
    /// What a form has in its fields, by their names, and the claims that are ticked.
    pub fn of<'f>(field: impl Fn(&str) -> Option<&'f str>, claims: &[String]) -> Self {
        let text = |name| field(name).unwrap_or_default().to_owned();
        let is_ticked = |name| field(name) == Some("true");
        Self {
            claims: claims.to_vec(),
            format: text("format"),
            prefix: text("client_id_prefix"),
            age: text("max_status_age"),
            purpose: text("purpose"),
            spend: is_ticked("spend"),
            same_device: is_ticked("same_device"),
            encrypted: is_ticked("encrypted"),
        }
    }

    /// The request for a credential of this type.
    ///
    /// # Errors
    /// `BadRequest` for an age that is no number.
    pub fn request(&self, type_id: &str) -> Result<NewRequest> {
        let text = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        let paths = self.claims.iter();
        let paths = paths.map(|name| name.split('/').map(str::to_owned).collect());
        let age = text(&self.age).map(|age| age.parse()).transpose();
        Ok(NewRequest {
            type_id: Some(type_id.to_owned()),
            format: text(&self.format),
            claims: Some(paths.collect()),
            client_id_prefix: text(&self.prefix),
            same_device: self.same_device,
            response_mode: self.encrypted.then(|| "direct_post.jwt".to_owned()),
            purpose: text(&self.purpose),
            // Empty for the configured age.
            max_status_age: age.map_err(|_| Error::bad_request("status-age-malformed"))?,
            spend: self.spend,
            ..NewRequest::default()
        })
    }
}

/// A claim that can be requested.
struct ClaimChoice {
    name: String,
    label: String,
    chosen: bool,
}

impl NewRequestPage {
    /// The page of this type, with the claims chosen that are typical.
    pub fn of(frame: Frame, one: Arc<CredentialType>, requester: Requester) -> Self {
        let typical = one.typical_request();
        let title = text_of(&typical.title).to_owned();
        let typed = TypedRequest {
            claims: typical.claims.iter().map(|path| path.join("/")).collect(),
            format: Format::DEFAULT.as_str().to_owned(),
            prefix: "decentralized_identifier".to_owned(),
            age: "0".to_owned(),
            purpose: title.clone(),
            spend: one.single_use && requester.can_spend,
            same_device: false,
            encrypted: false,
        };
        let formats = Format::of_people().map(|format| (format.as_str(), format.describe().title));
        let page = Self {
            frame: frame.titled(&title),
            one,
            title,
            claims: Vec::new(),
            formats: formats.collect(),
            typed,
            asks_handle: false,
            handle: HANDLE,
            requester,
            wrong: WrongFields::default(),
        };
        page.chosen()
    }

    /// The form with what was typed and what is wrong with it, beside its field if it is about one.
    pub fn refused(self, typed: TypedRequest, reason: &Reason) -> Self {
        let field = match reason.id() {
            "claim-not-of-type" | "claims-unchosen" => "claims",
            "credential-not-single-use" => "spend",
            "format-unsupported" => "format",
            "client-prefix-unsupported" | "verifier-certificate-absent" => "prefix",
            "status-age-malformed" => "age",
            _ => "",
        };
        let told = sentence(Language::English, reason);
        let page = Self {
            frame: self.frame.failed(&self.title),
            typed,
            wrong: WrongField {
                field: field.into(),
                told,
            }
            .into(),
            ..self
        };
        page.chosen()
    }

    /// With the claims ticked that were typed.
    fn chosen(mut self) -> Self {
        let is_chosen = |name: &str| self.typed.claims.iter().any(|claim| claim == name);
        let claims = self.one.claims.iter();
        let choices = claims
            .filter(|claim| claim.is_in_credential())
            .map(|claim| {
                let name = claim.path.join("/");
                ClaimChoice {
                    chosen: is_chosen(&name),
                    label: claim.name(),
                    name,
                }
            });
        let choices = choices.collect();
        self.asks_handle = is_chosen(HANDLE);
        self.claims = choices;
        self
    }
}

#[cfg(test)]
mod tests {
    use selfsame_types::TypeSet;

    use super::*;

    fn form_of(id: &str, can_spend: bool) -> NewRequestPage {
        let types = TypeSet::of_samples("urn:selfsame:credential:");
        let one = types.find(id).unwrap().clone();
        let requester = Requester {
            did: "did:selfsame:net:pharmacy".to_owned(),
            can_spend,
            has_certificate: false,
        };
        NewRequestPage::of(Frame::of_visitor(), one, requester)
    }

    #[test]
    fn a_credential_for_one_use_is_used_up_unless_the_box_is_unticked() {
        let shown = |id, can_spend| form_of(id, can_spend).render().unwrap();
        let ticked = r#"name="spend" value="true" checked"#;
        assert!(shown("prescription", true).contains(ticked));
        assert!(!shown("prescription", false).contains("name=\"spend\""));
        assert!(!shown("immunization", true).contains("name=\"spend\""));
    }

    #[test]
    fn what_was_typed_is_kept_and_what_is_wrong_stands_beside_its_field() {
        let typed = TypedRequest {
            claims: vec!["identifier".to_owned(), HANDLE.to_owned()],
            format: "vc+jwt".to_owned(),
            prefix: "redirect_uri".to_owned(),
            age: "60".to_owned(),
            purpose: "Counter <7>".to_owned(),
            spend: true,
            same_device: true,
            encrypted: true,
        };
        let page = form_of("prescription", true);
        let page = page.refused(typed, &Reason::new("credential-not-single-use"));
        let page = page.render().unwrap();
        for kept in [
            r#"value="identifier" checked"#,
            r#"value="single_use_handle" checked"#,
            r#"value="vc+jwt" selected"#,
            r#"value="redirect_uri" selected"#,
            r#"value="60" selected"#,
            "Counter &#60;7&#62;",
            r#"name="same_device" value="true" checked"#,
            r#"name="encrypted" value="true" checked"#,
            r#"id="spend-problem""#,
        ] {
            assert!(page.contains(kept), "{kept}: {page}");
        }
        let ticked = page.matches(r#"name="claim""#).count();
        let unticked = page.split(r#"name="claim""#).skip(1);
        let unticked = unticked.filter(|rest| !rest.split('>').next().unwrap().contains("checked"));
        assert_eq!(ticked - unticked.count(), 2, "only these claims: {page}");
    }
}
