//! Issuing a credential on a connection: its definition is chosen, its attributes are filled in, and it is offered.

use selfsame_agent::issue::{IssueWhat, NamedFilter, NewCredentialOffer};
use selfsame_agent::{ExchangeBegin, Wishes};
use selfsame_agent_pages::WrongEntry;
use selfsame_agent_pages::issue::{AttributeField, IssueContent, IssueForm};
use selfsame_anoncreds_wallet::Publication;
use selfsame_anoncreds_wallet::single_use::HANDLE;
use selfsame_aries::exchange::{Preview, PreviewAttribute};
use selfsame_aries::formats::CredentialFilter;
use selfsame_driver::{Error, Result};
use selfsame_http::error::Handled;
use selfsame_http::extract::{Form, Query};
use selfsame_pages::Frame;

use crate::here::AgentHere;
use crate::offered::{ChoiceQuery, ExchangeChoice, refused, schema_name};
use crate::shown;

/// The format and the version of the protocol in which credentials are offered.
const FORMAT: &str = "anoncreds";
const MAJOR: u16 = 2;
const TITLE: &str = "Issue a credential";
/// The characters of a value.
const VALUE_MAX: usize = 2_000;

/// The choice of a definition, or the form of one.
pub async fn page(agent: AgentHere, frame: Frame, Query(asked): Query<ChoiceQuery>) -> Handled {
    let choice = ExchangeChoice::on(&agent, &asked.connection).await?;
    let form = match asked.definition.is_empty() {
        true => None,
        false => Some(form(own(&choice, &asked.definition)?)),
    };
    let content = content(&agent, &frame, choice, form);
    shown::page(frame, TITLE, &content)
}

/// Shows what is about to be offered, offers it, or shows the form again.
pub async fn act(agent: AgentHere, frame: Frame, sent: Form) -> Handled {
    let choice = ExchangeChoice::on(&agent, sent.needed("connection")?).await?;
    let mut filled = filled(own(&choice, sent.needed("definition")?)?, &sent);
    match sent.one("act") {
        Some("change") => filled.wrong = WrongEntry::default(),
        _ if filled.wrong.is_any() => {}
        Some("offer") => match offer(&agent, &choice.connection_id, &filled).await {
            Ok(id) => return shown::led(&format!("/agent/issuing/{id}")),
            Err(error) => filled.wrong = refused("form", error)?,
        },
        _ => filled.is_preview = true,
    }
    let is_refused = filled.wrong.is_any();
    let content = content(&agent, &frame, choice, Some(filled));
    match is_refused {
        true => shown::refused(frame, TITLE, &content),
        false => shown::page(frame, TITLE, &content),
    }
}

fn own<'a>(choice: &'a ExchangeChoice, id: &str) -> Result<&'a Publication> {
    let absent = || Error::not_found("anoncreds-object-absent").with("id", id);
    choice.definition(id).ok_or_else(absent)
}

fn content(
    agent: &AgentHere,
    frame: &Frame,
    choice: ExchangeChoice,
    form: Option<IssueForm>,
) -> IssueContent {
    IssueContent {
        base: agent.base(frame),
        definitions: choice.shown(),
        connection_id: choice.connection_id,
        peer: choice.peer,
        chosen: form,
    }
}

/// The empty form of a definition.
fn form(of: &Publication) -> IssueForm {
    let names = of.schema.attr_names.iter();
    let named = names.filter(|name| *name != HANDLE).enumerate();
    let fields = named.map(|(number, name)| AttributeField {
        field: format!("value-{number}"),
        name: name.clone(),
        value: String::new(),
    });
    IssueForm {
        definition: of.definition_id.clone().unwrap_or_default(),
        name: schema_name(of),
        fields: fields.collect(),
        has_handle: of.schema.attr_names.iter().any(|name| name == HANDLE),
        ..IssueForm::default()
    }
}

/// The form as it was sent, with what is wrong first.
fn filled(of: &Publication, sent: &Form) -> IssueForm {
    let mut form = form(of);
    form.comment = sent.one("comment").unwrap_or_default().to_owned();
    for one in &mut form.fields {
        one.value = sent.one(&one.field).unwrap_or_default().to_owned();
    }
    let wrong = form.fields.iter().find_map(|one| {
        let told = match one.value.chars().count() {
            0 => "write a value",
            length if length > VALUE_MAX => "this is longer than 2,000 characters",
            _ => return None,
        };
        Some(WrongEntry::of(&one.field, told, None))
    });
    form.wrong = wrong.unwrap_or_default();
    form
}

/// Offers the credential. Returns the identifier of the exchange.
async fn offer(agent: &AgentHere, connection: &str, form: &IssueForm) -> Result<String> {
    let begin = ExchangeBegin {
        connection_id: Some(connection.to_owned()),
        major: MAJOR,
        wishes: Wishes {
            auto_issue: Some(true),
            ..Wishes::default()
        },
    };
    let what = IssueWhat::Offer(Some(new_offer(form)));
    let issuing = agent.agents().issuing();
    let begun = issuing.begin(&agent.tenant, &begin, what).await?;
    let id = begun["cred_ex_id"].as_str().map(str::to_owned);
    id.ok_or_else(|| Error::internal("a new exchange has no identifier"))
}

fn new_offer(form: &IssueForm) -> NewCredentialOffer {
    let attribute = |one: &AttributeField| PreviewAttribute {
        name: one.name.clone(),
        mime_type: None,
        value: one.value.clone(),
    };
    NewCredentialOffer {
        preview: Preview {
            attributes: form.fields.iter().map(attribute).collect(),
        },
        filters: vec![NamedFilter {
            format: FORMAT.to_owned(),
            filter: CredentialFilter {
                cred_def_id: Some(form.definition.clone()),
                ..CredentialFilter::default()
            },
        }],
        comment: Some(form.comment.clone()).filter(|comment| !comment.is_empty()),
        replacement_id: None,
    }
}
