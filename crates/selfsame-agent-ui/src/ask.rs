//! Asking for a proof on a connection: by a definition, of which is chosen what is shown, or by a request that is pasted.

use selfsame_agent::present::{NamedRequest, NewProofRequest, ProofWhat};
use selfsame_agent::{ExchangeBegin, Wishes};
use selfsame_agent_pages::WrongEntry;
use selfsame_agent_pages::ask::{AskContent, AskForm, AskedAttribute, RELATIONS, TypedPredicate};
use selfsame_crypto::json::{self, Limits};
use selfsame_driver::{Error, Result};
use selfsame_http::error::Handled;
use selfsame_http::extract::{Form, Query};
use selfsame_pages::Frame;
use serde_json::{Map, Value, json};

use crate::here::AgentHere;
use crate::offered::{ChoiceQuery, ExchangeChoice, refused, schema_name};
use crate::shown;

/// The format and the version of the protocol in which proofs are asked for.
const FORMAT: &str = "anoncreds";
const MAJOR: u16 = 2;
const TITLE: &str = "Ask for a proof";
/// The members of a request that say what is to be proven.
const ASKING: [&str; 2] = ["requested_attributes", "requested_predicates"];

/// What was chosen, typed or pasted, and why it is refused.
#[derive(Default)]
struct AskState {
    form: Option<AskForm>,
    typed: String,
    pasted: String,
    wrong: WrongEntry,
}

/// The choice of a definition, or the form of one.
pub async fn page(agent: AgentHere, frame: Frame, Query(asked): Query<ChoiceQuery>) -> Handled {
    let choice = ExchangeChoice::on(&agent, &asked.connection).await?;
    let mut state = AskState::default();
    if !asked.definition.is_empty() {
        match form(&agent, &choice, &asked.definition).await {
            Ok(form) => state.form = Some(form),
            Err(error) => {
                state.wrong = refused("definition", error)?;
                state.typed = asked.definition;
            }
        }
    }
    again(&agent, frame, choice, state)
}

/// Asks for what was chosen or pasted, or shows the form again.
pub async fn act(agent: AgentHere, frame: Frame, sent: Form) -> Handled {
    let choice = ExchangeChoice::on(&agent, sent.needed("connection")?).await?;
    let state = match sent.one("request") {
        Some(pasted) => match ask(&agent, &choice, read(pasted)).await {
            Ok(id) => return shown::led(&format!("/agent/proofs/{id}")),
            Err(error) => AskState {
                pasted: pasted.to_owned(),
                wrong: refused("request", error)?,
                ..AskState::default()
            },
        },
        None => match chosen(&agent, &choice, &sent).await? {
            Ok(id) => return shown::led(&format!("/agent/proofs/{id}")),
            Err(form) => AskState {
                form: Some(form),
                ..AskState::default()
            },
        },
    };
    again(&agent, frame, choice, state)
}

fn again(agent: &AgentHere, frame: Frame, choice: ExchangeChoice, state: AskState) -> Handled {
    let is_refused =
        state.wrong.is_any() || state.form.as_ref().is_some_and(|form| form.wrong.is_any());
    let content = AskContent {
        base: agent.base(&frame),
        definitions: choice.shown(),
        connection_id: choice.connection_id,
        peer: choice.peer,
        chosen: state.form,
        typed: state.typed,
        pasted: state.pasted,
        wrong: state.wrong,
    };
    match is_refused {
        true => shown::refused(frame, TITLE, &content),
        false => shown::page(frame, TITLE, &content),
    }
}

/// The form of a definition of anybody, with nothing chosen.
async fn form(agent: &AgentHere, choice: &ExchangeChoice, id: &str) -> Result<AskForm> {
    if let Some(own) = choice.definition(id) {
        let form = empty(schema_name(own), &own.schema.attr_names);
        return Ok(of(id, own.revocable, form));
    }
    let definition = agent.anoncreds().credential_definition(id).await?;
    let schema = agent.anoncreds().schema(&definition.schema_id).await?;
    let name = format!("{} {}", schema.name, schema.version);
    let is_revocable = definition.value["revocation"].is_object();
    Ok(of(id, is_revocable, empty(name, &schema.attributes)))
}

fn of(definition: &str, is_revocable: bool, form: AskForm) -> AskForm {
    AskForm {
        definition: definition.to_owned(),
        is_revocable,
        unrevoked: is_revocable,
        ..form
    }
}

/// The form of a schema.
fn empty(name: String, attributes: &[String]) -> AskForm {
    let attribute = |name: &String| AskedAttribute {
        name: name.clone(),
        is_asked: false,
    };
    AskForm {
        purpose: name.clone(),
        name,
        attributes: attributes.iter().map(attribute).collect(),
        ..AskForm::default()
    }
}

/// Asks for what the form chooses. Returns the identifier of the exchange, or the form with what is wrong.
async fn chosen(
    agent: &AgentHere,
    choice: &ExchangeChoice,
    sent: &Form,
) -> Handled<std::result::Result<String, AskForm>> {
    let mut form = form(agent, choice, sent.needed("definition")?).await?;
    fill(&mut form, sent);
    if let Some(wrong) = wrong(&form) {
        form.wrong = wrong;
        return Ok(Err(form));
    }
    let now = agent.anoncreds().shared().clock.now();
    match ask(agent, choice, Ok(request(&form, now.0))).await {
        Ok(id) => Ok(Ok(id)),
        Err(error) => {
            form.wrong = refused("form", error)?;
            Ok(Err(form))
        }
    }
}

/// Puts what was sent into a form.
fn fill(form: &mut AskForm, sent: &Form) {
    let typed = |field| sent.one(field).unwrap_or_default().to_owned();
    for one in &mut form.attributes {
        one.is_asked = sent.all("show").contains(&one.name);
    }
    form.unrevoked = sent.checked("unrevoked");
    form.purpose = typed("purpose");
    form.predicate = TypedPredicate {
        attribute: typed("attribute"),
        relation: typed("relation"),
        number: typed("number"),
    };
}

/// What is wrong first with what was chosen.
fn wrong(form: &AskForm) -> Option<WrongEntry> {
    let at = |field, told| Some(WrongEntry::of(field, told, None));
    let TypedPredicate {
        attribute,
        relation,
        number,
    } = &form.predicate;
    let is_known = |name: &str| form.attributes.iter().any(|one| one.name == name);
    if form.purpose.is_empty() {
        return at("purpose", "say what it is for");
    }
    if attribute.is_empty() {
        return match (
            number.is_empty(),
            form.attributes.iter().any(|one| one.is_asked),
        ) {
            (false, _) => at("attribute", "choose the attribute that the number is for"),
            (true, false) => at("show", "choose what is to be shown or proven"),
            (true, true) => None,
        };
    }
    let is_relation = RELATIONS.iter().any(|(sign, _)| sign == relation);
    if !is_known(attribute) || !is_relation {
        return at(
            "attribute",
            "choose an attribute and a relation of the list",
        );
    }
    match number.parse::<i32>() {
        Ok(_) => None,
        Err(_) => at("number", "write a whole number of at most 2,147,483,647"),
    }
}

/// The request of a form that has nothing wrong, as of now.
fn request(form: &AskForm, now: u64) -> Value {
    let restrictions = json!([{ "cred_def_id": form.definition }]);
    let asked = form.attributes.iter().filter(|one| one.is_asked);
    let names: Vec<&str> = asked.map(|one| one.name.as_str()).collect();
    let (mut attributes, mut predicates) = (Map::new(), Map::new());
    if !names.is_empty() {
        let shown = json!({ "names": names, "restrictions": restrictions });
        attributes.insert("shown".to_owned(), shown);
    }
    let predicate = &form.predicate;
    if let Ok(number) = predicate.number.parse::<i32>() {
        let proven = json!({
            "name": predicate.attribute, "p_type": predicate.relation, "p_value": number,
            "restrictions": restrictions,
        });
        predicates.insert("proven".to_owned(), proven);
    }
    let mut request = json!({
        "name": form.purpose,
        "version": "1.0",
        "requested_attributes": attributes,
        "requested_predicates": predicates,
    });
    if form.is_revocable && form.unrevoked {
        request["non_revoked"] = json!({ "from": now, "to": now });
    }
    request
}

/// A request that was pasted.
///
/// # Errors
/// `BadRequest` if it is no JSON, or asks for nothing.
fn read(pasted: &str) -> Result<Value> {
    let unread = |detail: &dyn std::fmt::Display| {
        Error::bad_request("body-invalid").with("detail", &detail.to_string())
    };
    let request: Value =
        json::parse_as(pasted.as_bytes(), &Limits::default()).map_err(|error| unread(&error))?;
    let asks = |member: &str| {
        request[member]
            .as_object()
            .is_some_and(|one| !one.is_empty())
    };
    match ASKING.into_iter().any(asks) {
        true => Ok(request),
        false => Err(unread(
            &"it has neither requested_attributes nor requested_predicates",
        )),
    }
}

/// Sends a request. Returns the identifier of the exchange.
async fn ask(agent: &AgentHere, choice: &ExchangeChoice, request: Result<Value>) -> Result<String> {
    let asked = NewProofRequest {
        requests: vec![NamedRequest {
            format: FORMAT.to_owned(),
            request: request?,
        }],
        ..NewProofRequest::default()
    };
    let begin = ExchangeBegin {
        connection_id: Some(choice.connection_id.clone()),
        major: MAJOR,
        wishes: Wishes {
            auto_verify: Some(true),
            ..Wishes::default()
        },
    };
    let what = ProofWhat::Request(Some(asked));
    let proving = agent.agents().proving();
    let begun = proving.begin(&agent.tenant, &begin, what).await?;
    let id = begun["pres_ex_id"].as_str().map(str::to_owned);
    id.ok_or_else(|| Error::internal("a new exchange has no identifier"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form() -> AskForm {
        let attribute = |name: &str, is_asked| AskedAttribute {
            name: name.to_owned(),
            is_asked,
        };
        AskForm {
            definition: "d1".to_owned(),
            purpose: "Age".to_owned(),
            attributes: vec![attribute("name", true), attribute("age", false)],
            ..AskForm::default()
        }
    }

    fn predicate(attribute: &str, relation: &str, number: &str) -> AskForm {
        let predicate = TypedPredicate {
            attribute: attribute.to_owned(),
            relation: relation.to_owned(),
            number: number.to_owned(),
        };
        AskForm {
            predicate,
            ..form()
        }
    }

    #[test]
    fn what_is_chosen_is_asked_for_of_one_definition() {
        let form = AskForm {
            is_revocable: true,
            unrevoked: true,
            ..predicate("age", ">=", "18")
        };
        assert!(wrong(&form).is_none());
        let of = json!([{"cred_def_id": "d1"}]);
        let expected = json!({
            "name": "Age", "version": "1.0",
            "requested_attributes": {"shown": {"names": ["name"], "restrictions": of}},
            "requested_predicates": {"proven": {
                "name": "age", "p_type": ">=", "p_value": 18, "restrictions": of,
            }},
            "non_revoked": {"from": 77, "to": 77},
        });
        assert_eq!(request(&form, 77), expected);
    }

    #[test]
    fn each_wrong_choice_is_told_at_its_field() {
        let nothing = AskForm {
            attributes: Vec::new(),
            ..form()
        };
        let unnamed = AskForm {
            purpose: String::new(),
            ..form()
        };
        for (form, field) in [
            (nothing, "show"),
            (unnamed, "purpose"),
            (predicate("", ">=", "18"), "attribute"),
            (predicate("shoe size", ">=", "18"), "attribute"),
            (predicate("age", "=", "18"), "attribute"),
            (predicate("age", ">=", ""), "number"),
            (predicate("age", ">=", "3000000000"), "number"),
        ] {
            assert_eq!(wrong(&form).unwrap().field, field);
        }
        assert!(wrong(&form()).is_none());
    }

    #[test]
    fn a_pasted_request_that_asks_for_nothing_is_refused() {
        for refused in [
            "",
            "[]",
            "{}",
            "{\"requested_attributes\": {}}",
            "{\"a\":1,\"a\":2}",
        ] {
            assert!(read(refused).is_err(), "{refused}");
        }
        assert!(read("{\"requested_attributes\": {\"a\": {\"name\": \"a\"}}}").is_ok());
    }
}
