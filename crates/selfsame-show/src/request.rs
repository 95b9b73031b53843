//! Requests for presentations (OpenID4VP 1.0 §5): links, request objects, parameters as JSON.

use selfsame_crypto::jws::{Compact, Header};
use selfsame_crypto::time::UnixTime;
use selfsame_openid4vc::dcql::DcqlQuery;
use selfsame_openid4vc::wire::request::{ClientId, Parameters, Request, TYP};
use serde_json::{Map, Value, json};
use url::Url;

use crate::header::header;
use crate::mask::mask;
use crate::parameters::{LinkParameters, is_secure};
use crate::{MAX_BYTES, ShownFile, ShownProblem, token};

const FORMAT: &str = "presentation-request";
const TITLE: &str = "Presentation request";
/// Parameters of a link that are JSON (OpenID4VP 1.0 §5.1).
const OBJECTS: [&str; 3] = ["dcql_query", "client_metadata", "transaction_data"];

/// Whether a JWT is a request object.
pub fn is_request(header: &Header, claims: &Value) -> bool {
    header.is_of_type(TYP) || claims.get("response_type").is_some()
}

/// A request object.
pub fn of_object(head: &Header, claims: Value, now: UnixTime) -> ShownFile {
    let mut problems = token::times_of(&claims, now);
    if !head.is_of_type(TYP) {
        let what = "typ is not oauth-authz-req+jwt";
        problems.push(ShownProblem::new(what, "OpenID4VP 1.0 §5"));
    }
    let prefix = claims.get("client_id").and_then(Value::as_str);
    if prefix.is_some_and(|id| id.starts_with("redirect_uri:")) {
        let what = "a request of a redirect_uri client can't be signed";
        problems.push(ShownProblem::new(what, "OpenID4VP 1.0 §5.9.3"));
    }
    let shown = of_parameters(claims, problems);
    let content = json!({"header": header(head), "parameters": shown.content});
    ShownFile { content, ..shown }
}

/// The request of a link.
pub fn of_link(parameters: &LinkParameters, now: UnixTime) -> ShownFile {
    let (object, reference) = (parameters.get("request"), parameters.get("request_uri"));
    match (object, reference) {
        (Some(_), Some(_)) => {
            let what = "the link has both request and request_uri";
            let problem = ShownProblem::new(what, "RFC 9101 §5");
            ShownFile::of(FORMAT, TITLE, json!(parameters)).with(vec![problem])
        }
        (Some(object), None) => of_text(object, parameters, now),
        (None, Some(reference)) => by_reference(reference, parameters),
        (None, None) => {
            let mut problems = Vec::new();
            let mut members = Map::new();
            for (name, text) in parameters {
                let value = match OBJECTS.contains(&name.as_str()) {
                    false => text.as_str().into(),
                    true => serde_json::from_str(text).unwrap_or_else(|_| {
                        let what = format!("{name} is not JSON");
                        problems.push(ShownProblem::new(what, "OpenID4VP 1.0 §5.1"));
                        Value::Null
                    }),
                };
                members.insert(name.clone(), value);
            }
            of_parameters(Value::Object(members), problems)
        }
    }
}

fn by_reference(reference: &str, parameters: &LinkParameters) -> ShownFile {
    let mut problems = Vec::new();
    if !Url::parse(reference).is_ok_and(|url| is_secure(&url)) {
        let what = "request_uri is not an https URL";
        problems.push(ShownProblem::new(what, "RFC 9101 §5.2"));
    }
    let method = parameters.get("request_uri_method").map(String::as_str);
    if method.is_some_and(|method| !["get", "post"].contains(&method)) {
        let what = "request_uri_method is neither get nor post";
        problems.push(ShownProblem::new(what, "OpenID4VP 1.0 §5.1"));
    }
    problems.extend(client(parameters.get("client_id").map(String::as_str)));
    let content = json!({
        "parameters": parameters,
        "note": "the request itself is at request_uri; nothing was fetched",
    });
    ShownFile::of(FORMAT, TITLE, content).with(problems)
}

/// A request object within a link. The client identifiers of both must be the same.
fn of_text(object: &str, parameters: &LinkParameters, now: UnixTime) -> ShownFile {
    let token = Compact::parse_within(object, MAX_BYTES).ok();
    let claims = token.as_ref().and_then(|token| token.claims().ok());
    let (Some(token), Some(claims)) = (token, claims) else {
        let problem = ShownProblem::new("request is not a signed JWT", "RFC 9101 §4");
        return ShownFile::of(FORMAT, TITLE, json!(parameters)).with(vec![problem]);
    };
    let inner = claims.get("client_id").and_then(Value::as_str);
    let is_same = inner == parameters.get("client_id").map(String::as_str);
    let mut shown = of_object(&token.header, claims, now);
    if !is_same {
        let what = "client_id of the link is not that of the request object";
        shown.problems.push(ShownProblem::new(what, "RFC 9101 §5"));
    }
    shown
}

/// The parameters of a request.
pub fn of_parameters(parameters: Value, mut problems: Vec<ShownProblem>) -> ShownFile {
    let found = rules(&parameters);
    let is_clean = found.is_empty();
    problems.extend(found);
    if is_clean && let Some(what) = refused(&parameters) {
        problems.push(ShownProblem::new(what, "OpenID4VP 1.0 §5"));
    }
    ShownFile::of(FORMAT, TITLE, mask(parameters)).with(problems)
}

fn rules(parameters: &Value) -> Vec<ShownProblem> {
    let text = |name: &str| parameters.get(name).and_then(Value::as_str);
    let mut problems = client(text("client_id"));
    let mut add = |what: &str, paragraph| problems.push(ShownProblem::new(what, paragraph));
    match text("response_type") {
        Some("vp_token") => {}
        Some(_) => add("response_type is not vp_token", "OpenID4VP 1.0 §5.4"),
        None => add("response_type is missing", "RFC 6749 §3.1.1"),
    }
    match text("nonce") {
        Some(nonce) if selfsame_openid4vc_messages::is_url_safe(nonce) => {}
        Some(_) => add(
            "nonce has other than URL-safe characters",
            "OpenID4VP 1.0 §5.2",
        ),
        None => add("nonce is missing", "OpenID4VP 1.0 §5.2"),
    }
    if text("response_mode").is_some_and(|mode| mode.starts_with("direct_post")) {
        if text("response_uri").is_none() {
            add("response_uri is missing", "OpenID4VP 1.0 §8.2");
        }
        if text("redirect_uri").is_some() {
            add(
                "redirect_uri must not be present with direct_post",
                "OpenID4VP 1.0 §8.2",
            );
        }
    }
    match (parameters.get("dcql_query"), text("scope")) {
        (None, None) => add(
            "the request has neither dcql_query nor scope",
            "OpenID4VP 1.0 §5.1",
        ),
        (Some(_), Some(_)) => add(
            "the request has both dcql_query and scope",
            "OpenID4VP 1.0 §5.1",
        ),
        (Some(query), None) => {
            if let Err(error) = DcqlQuery::parse(query) {
                add(&error.to_string(), "OpenID4VP 1.0 §6");
            }
        }
        (None, Some(_)) => {}
    }
    problems
}

fn client(id: Option<&str>) -> Vec<ShownProblem> {
    let Some(id) = id else {
        return vec![ShownProblem::new("client_id is missing", "RFC 6749 §4.1.1")];
    };
    match ClientId::parse(id) {
        Ok(_) => Vec::new(),
        Err(error) => vec![ShownProblem::new(error.to_string(), "OpenID4VP 1.0 §5.9")],
    }
}

/// Why a wallet refuses the parameters, if it does.
fn refused(parameters: &Value) -> Option<String> {
    let id = parameters.get("client_id").and_then(Value::as_str)?;
    let client = ClientId::parse(id).ok()?;
    let read: Parameters = serde_json::from_value(parameters.clone()).ok()?;
    let refused = Request::check(read, &client).err()?;
    Some(refused.error.to_string())
}
