//! Credential offers (OpenID4VCI 1.0 §4.1).

use std::collections::BTreeSet;

use selfsame_openid4vc_messages::offer::{CredentialOffer, MAX_DESCRIPTION};
use serde_json::{Value, json};
use url::Url;

use crate::mask::mask;
use crate::parameters::{LinkParameters, is_secure};
use crate::{ShownFile, ShownProblem};

pub use selfsame_openid4vc_messages::offer::{HAIP_SCHEME, SCHEME};

const FORMAT: &str = "credential-offer";
const TITLE: &str = "Credential offer";
/// The member of `grants` with the pre-authorized code.
const PRE_AUTHORIZED: &str = "urn:ietf:params:oauth:grant-type:pre-authorized_code";

/// The offer of a link.
pub fn of_link(parameters: &LinkParameters) -> ShownFile {
    let value = parameters.get("credential_offer");
    let reference = parameters.get("credential_offer_uri");
    match (value, reference) {
        (Some(text), None) => match serde_json::from_str(text) {
            Ok(offer) => of_json(text, offer),
            Err(_) => ShownFile::of(FORMAT, TITLE, Value::Null).with(vec![ShownProblem::new(
                "credential_offer is not JSON",
                "OpenID4VCI 1.0 §4.1.2",
            )]),
        },
        (None, Some(reference)) => {
            let content = json!({
                "credential_offer_uri": reference,
                "note": "the offer itself is at this address; nothing was fetched",
            });
            let is_secure = Url::parse(reference).is_ok_and(|url| is_secure(&url));
            let problems = match is_secure {
                true => Vec::new(),
                false => vec![ShownProblem::new(
                    "credential_offer_uri is not an https URL",
                    "OpenID4VCI 1.0 §4.1.3",
                )],
            };
            ShownFile::of(FORMAT, TITLE, content).with(problems)
        }
        (value, _) => {
            let what = match value {
                Some(_) => "the link has both credential_offer and credential_offer_uri",
                None => "the link has neither credential_offer nor credential_offer_uri",
            };
            let problem = ShownProblem::new(what, "OpenID4VCI 1.0 §4.1");
            // An offer that stands in the link has a code, which is masked only where the offer is read.
            let names: Vec<&String> = parameters.keys().collect();
            ShownFile::of(FORMAT, TITLE, json!({"parameters": names})).with(vec![problem])
        }
    }
}

/// An offer as JSON.
pub fn of_json(text: &str, offer: Value) -> ShownFile {
    let mut problems = rules(&offer);
    if problems.is_empty()
        && let Err(error) = CredentialOffer::parse(text.as_bytes())
    {
        problems.push(ShownProblem::new(
            error.to_string(),
            "OpenID4VCI 1.0 §4.1.1",
        ));
    }
    ShownFile::of(FORMAT, TITLE, mask(offer)).with(problems)
}

fn rules(offer: &Value) -> Vec<ShownProblem> {
    let mut problems = Vec::new();
    let mut add = |what: &str, paragraph| problems.push(ShownProblem::new(what, paragraph));
    match offer.get("credential_issuer").and_then(Value::as_str) {
        None => add("credential_issuer is missing", "OpenID4VCI 1.0 §4.1.1"),
        Some(issuer) => match Url::parse(issuer) {
            Ok(url) if is_secure(&url) && url.query().is_none() && url.fragment().is_none() => {}
            _ => add(
                "credential_issuer is not an https URL without query and fragment",
                "OpenID4VCI 1.0 §12.2.1",
            ),
        },
    }
    let ids = offer.get("credential_configuration_ids");
    match ids.and_then(Value::as_array).filter(|ids| !ids.is_empty()) {
        None => add(
            "credential_configuration_ids is missing or empty",
            "OpenID4VCI 1.0 §4.1.1",
        ),
        Some(ids) => {
            let distinct: BTreeSet<_> = ids.iter().filter_map(Value::as_str).collect();
            if distinct.len() != ids.len() {
                add(
                    "credential_configuration_ids has something that is no text, or the same one twice",
                    "OpenID4VCI 1.0 §4.1.1",
                );
            }
        }
    }
    problems.extend(grant_rules(offer));
    problems
}

/// What is wrong with the pre-authorized code grant, if the offer has it.
fn grant_rules(offer: &Value) -> Vec<ShownProblem> {
    let grants = offer.get("grants");
    let Some(grant) = grants.and_then(|grants| grants.get(PRE_AUTHORIZED)) else {
        return Vec::new();
    };
    let mut problems = Vec::new();
    let mut add = |what: &str| problems.push(ShownProblem::new(what, "OpenID4VCI 1.0 §4.1.1"));
    let code = grant.get("pre-authorized_code");
    if code.and_then(Value::as_str).is_none() {
        add("pre-authorized_code is missing");
    }
    let description = grant
        .pointer("/tx_code/description")
        .and_then(Value::as_str);
    if description.is_some_and(|text| text.chars().count() > MAX_DESCRIPTION) {
        add("the description of tx_code is longer than 300 characters");
    }
    let mode = grant.pointer("/tx_code/input_mode").and_then(Value::as_str);
    if mode.is_some_and(|mode| !["numeric", "text"].contains(&mode)) {
        add("input_mode of tx_code is neither numeric nor text");
    }
    problems
}
