//! What of a message is kept: what is known to be harmless. A secret that nobody can guess becomes a digest, tokens and
//! credentials are decoded, and every other value becomes its length. A member that nobody thought of is hidden.

use selfsame_crypto::encoding::base64url_decode;
use serde_json::{Map, Value, json};

use crate::rules::WireRules;
use crate::texts::{TEXT_MAX, address, cut, digest, hidden, unseen};

/// The longest name of a member that is kept, in characters.
const NAME_MAX: usize = 120;
/// Members of an object and items of a list that are kept.
pub(crate) const MEMBERS_MAX: usize = 40;
/// The longest identifier that is kept as it is.
const SHORT_MAX: usize = 20;
/// How deep a message is looked into.
const DEPTH_MAX: usize = 10;
/// The longest token that is looked into, in bytes.
const TOKEN_MAX: usize = 256 * 1024;
/// A request for a presentation: a message of the protocol in a signature (RFC 9101 §10.8).
const REQUEST: &str = "oauth-authz-req+jwt";

/// A message without what is secret.
pub(crate) fn message(value: &Value, rules: WireRules) -> Value {
    below(value, rules, 0)
}

fn below(value: &Value, rules: WireRules, depth: usize) -> Value {
    match value {
        _ if depth >= DEPTH_MAX => hidden(value),
        Value::Object(members) => object(members, rules, depth),
        Value::Array(items) => list(items, |item| below(item, rules, depth.saturating_add(1))),
        other => hidden(other),
    }
}

fn object(members: &Map<String, Value>, rules: WireRules, depth: usize) -> Value {
    let mut kept = Map::new();
    for (name, value) in members.iter().take(MEMBERS_MAX) {
        let shown = member(name, value, rules, depth);
        kept.insert(self::name(name), shown);
    }
    if let Some(more @ 1..) = members.len().checked_sub(MEMBERS_MAX) {
        kept.insert("…".to_owned(), json!(format!("{more} more members")));
    }
    Value::Object(kept)
}

/// The name of a member, as it is kept. What can't be a name may be a value in the wrong place.
pub(crate) fn name(name: &str) -> String {
    let is_of_names = |one: char| one.is_alphanumeric() || " _-.:/#@+$".contains(one);
    let is_name = name.chars().take(NAME_MAX.saturating_add(1)).count() <= NAME_MAX
        && name.chars().all(is_of_names);
    match is_name {
        true => name.to_owned(),
        false => unseen(name),
    }
}

/// The value of a member, by the member's name.
pub(crate) fn member(name: &str, value: &Value, rules: WireRules, depth: usize) -> Value {
    let deeper = depth.saturating_add(1);
    match value {
        // Only a request is one: an issuer writes the headers of its credentials as it likes.
        Value::String(text) if rules.decodes(name) && name == "request" => request(text),
        _ if rules.decodes(name) => decoded(value, deeper),
        // What a query is called is short; what is long leads to something.
        Value::String(id) if name == "id" && id.len() > SHORT_MAX => json!(digest(id)),
        _ if rules.is_address(name) => each(value, &address),
        _ if rules.digests(name) => each(value, &|text| json!(digest(text))),
        _ if rules.may_keep(name, value) => plain(value, deeper),
        Value::Array(digests) if name == "_sd" => json!(format!("{} digests", digests.len())),
        Value::Object(_) | Value::Array(_) if rules.enters(name) => below(value, rules, deeper),
        other => hidden(other),
    }
}

/// A value that is kept: a text, a number, and lists of these.
fn plain(value: &Value, depth: usize) -> Value {
    match value {
        Value::String(text) => json!(cut(text, TEXT_MAX)),
        Value::Array(items) if depth < DEPTH_MAX => {
            list(items, |item| plain(item, depth.saturating_add(1)))
        }
        Value::Number(_) | Value::Bool(_) | Value::Null => value.clone(),
        Value::Array(_) | Value::Object(_) => hidden(value),
    }
}

/// Each text of a value by `shown`; what is no text is hidden.
fn each(value: &Value, shown: &impl Fn(&str) -> Value) -> Value {
    let one = |value: &Value| match value {
        Value::String(text) => shown(text),
        other => hidden(other),
    };
    match value {
        Value::Array(items) => list(items, one),
        other => one(other),
    }
}

fn list(items: &[Value], shown: impl Fn(&Value) -> Value) -> Value {
    let mut kept: Vec<Value> = items.iter().take(MEMBERS_MAX).map(shown).collect();
    if let Some(more @ 1..) = items.len().checked_sub(MEMBERS_MAX) {
        kept.push(json!(format!("{more} more")));
    }
    Value::Array(kept)
}

/// A value that has tokens in it: a token, a list of them, or an object whose members are such.
fn decoded(value: &Value, depth: usize) -> Value {
    match value {
        Value::String(text) => token(text),
        Value::Array(items) if depth < DEPTH_MAX => {
            list(items, |item| decoded(item, depth.saturating_add(1)))
        }
        // `vp_token` has the presentations by the ids of the queries (OpenID4VP 1.0 §8.1).
        Value::Object(members) if depth < DEPTH_MAX && members.values().all(Value::is_array) => {
            let members = members.iter().take(MEMBERS_MAX);
            let deeper = depth.saturating_add(1);
            let each = members.map(|(id, value)| (name(id), decoded(value, deeper)));
            Value::Object(each.collect())
        }
        other => hidden(other),
    }
}

/// A request for a presentation as what it asks for; any other token as what it says.
pub(crate) fn request(text: &str) -> Value {
    if text.len() > TOKEN_MAX {
        return json!(unseen(text));
    }
    let header = json_of(text.split('.').next().unwrap_or_default());
    let is_request = header.is_some_and(|header| header["typ"] == REQUEST);
    let told = is_request
        .then(|| compact(text, WireRules::Protocol))
        .flatten();
    told.map_or_else(|| token(text), Value::Object)
}

/// A token as what it says.
pub(crate) fn token(text: &str) -> Value {
    if text.len() > TOKEN_MAX {
        return json!(unseen(text));
    }
    let mut parts = text.split('~');
    let first = parts.next().unwrap_or_default();
    let Some(mut told) = compact(first, WireRules::Claims) else {
        return json!(unseen(text));
    };
    let mut rest: Vec<&str> = parts.collect();
    if rest.is_empty() {
        return Value::Object(told);
    }
    let binding = rest.pop().filter(|last| !last.is_empty());
    let disclosures = rest.iter().take(MEMBERS_MAX);
    let shown: Vec<String> = disclosures.map(|one| digest(one)).collect();
    told.insert("disclosures".to_owned(), json!(shown));
    if let Some(more @ 1..) = rest.len().checked_sub(MEMBERS_MAX) {
        told.insert("further disclosures".to_owned(), json!(more));
    }
    if let Some(binding) = binding {
        let told_binding = compact(binding, WireRules::Claims);
        let told_binding = told_binding.map_or_else(|| json!(unseen(binding)), Value::Object);
        told.insert("key binding".to_owned(), told_binding);
    }
    Value::Object(told)
}

/// A compact serialization: three parts are signed (RFC 7515 §7.1), five are encrypted (RFC 7516 §7.1).
fn compact(text: &str, rules: WireRules) -> Option<Map<String, Value>> {
    let parts: Vec<&str> = text.split('.').collect();
    let mut told = Map::new();
    match parts.as_slice() {
        [header, payload, signature] => {
            let header = json_of(header)?;
            told.insert("header".to_owned(), message(&header, WireRules::Header));
            let payload = match json_of(payload) {
                Some(payload) => claims(&payload, rules),
                None => json!(unseen(payload)),
            };
            told.insert("payload".to_owned(), payload);
            told.insert("signature".to_owned(), json!(digest(signature)));
        }
        [header, _, _, cipher, _] => {
            let header = json_of(header)?;
            told.insert("header".to_owned(), message(&header, WireRules::Header));
            let told_cipher = format!("encrypted, {} characters", cipher.len());
            told.insert("content".to_owned(), json!(told_cipher));
        }
        _ => return None,
    }
    Some(told)
}

/// What a token says. The issuer of a presentation is its holder, who is a person.
fn claims(payload: &Value, rules: WireRules) -> Value {
    let mut told = message(payload, rules);
    let is_held = payload.get("vp").is_some() || payload["type"] == "VerifiablePresentation";
    if let (true, Some(issuer)) = (is_held, told.get_mut("iss")) {
        *issuer = hidden(&payload["iss"]);
    }
    told
}

fn json_of(part: &str) -> Option<Value> {
    let bytes = base64url_decode(part).ok()?;
    let value: Value = serde_json::from_slice(&bytes).ok()?;
    value.is_object().then_some(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use selfsame_crypto::encoding::base64url_encode;

    use super::*;

    #[test]
    fn a_member_that_nobody_thought_of_is_hidden_with_all_that_is_below_it() {
        let told = message(
            &json!({"surprise": {"name": "Maja"}, "married": true, "age": 42, "format": "dc+sd-jwt"}),
            WireRules::Protocol,
        );
        assert_eq!(told["surprise"], "hidden, 1 members");
        assert_eq!(
            (&told["married"], &told["age"]),
            (&json!("hidden"), &json!("hidden"))
        );
        assert_eq!(told["format"], "dc+sd-jwt");
    }

    #[test]
    fn what_can_be_no_name_is_hidden_and_the_name_of_a_person_is_no_parameter() {
        let message_of = |name: &str| message(&json!({ name: "Maja" }), WireRules::Protocol);
        for name in ["{\"code\":\"secret\"}", "a=secret", &"secret".repeat(99)] {
            let told = message_of(name).to_string();
            assert!(!told.contains("secret"), "{told}");
        }
        for name in ["Příjmení", "https://claims.example/age#1", "given name"] {
            assert!(message_of(name)[name].is_string(), "{name}");
        }
        assert_eq!(message_of("name")["name"], "hidden, 4 characters");
    }

    #[test]
    fn a_secret_becomes_a_digest_only_if_nobody_can_guess_it() {
        let code = "Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4";
        let told = message(
            &json!({"code": code, "tx_code": "4711", "nonce": "1"}),
            WireRules::Protocol,
        );
        assert!(told["code"].as_str().unwrap().starts_with("SHA-256 "));
        assert_eq!(told["tx_code"], "hidden, 4 characters");
        assert_eq!(told["nonce"], "hidden, 1 characters");
    }

    #[test]
    fn claims_of_a_person_are_names_alone() {
        let told = message(
            &json!({"email": "maja@example.org", "iss": "https://e.example"}),
            WireRules::Person,
        );
        assert_eq!(told["email"], "hidden, 16 characters");
        assert_eq!(told["iss"], "hidden, 17 characters");
    }

    #[test]
    fn what_is_long_or_deep_is_cut() {
        let mut deep = json!("secret");
        for _ in 0..100 {
            deep = json!({ "claims": deep });
        }
        assert!(
            !message(&deep, WireRules::Protocol)
                .to_string()
                .contains("secret")
        );
        let many: Map<String, Value> = (0..500).map(|n| (format!("m{n}"), json!(n))).collect();
        let told = message(&Value::Object(many), WireRules::Protocol);
        assert_eq!(told["…"], "460 more members");
    }

    fn anything() -> impl Strategy<Value = Value> {
        let leaf = any::<u32>().prop_map(|n| json!(format!("marked{n}")));
        leaf.prop_recursive(6, 40, 5, |inner| {
            let names = prop::sample::select(vec!["email", "address", "values", "identifier", "x"]);
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                prop::collection::btree_map(names, inner, 0..4).prop_map(|members| {
                    let named = members
                        .into_iter()
                        .map(|(name, value)| (name.to_owned(), value));
                    Value::Object(named.collect())
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_value_of_a_member_that_is_not_named_is_kept(value in anything()) {
            for rules in [WireRules::Protocol, WireRules::Header, WireRules::Claims, WireRules::Person] {
                prop_assert!(!message(&value, rules).to_string().contains("marked"));
            }
        }
    }

    fn part(value: &Value) -> String {
        base64url_encode(value.to_string().as_bytes())
    }

    fn signed(header: &Value, payload: &Value) -> String {
        format!(
            "{}.{}.{}",
            part(header),
            part(payload),
            base64url_encode(&[7; 64])
        )
    }

    #[test]
    fn a_credential_shows_its_issuer_and_type_and_none_of_its_claims() {
        let header = json!({"alg": "ES256", "typ": "dc+sd-jwt", "x5c": ["abc"]});
        let payload = json!({
            "iss": "https://issuer.example", "vct": "urn:card", "exp": 7, "_sd": ["a", "b"],
            "family_name": "Musterfrau", "status": {"status_list": {"idx": 4711, "uri": "https://issuer.example/1"}},
            "cnf": {"jwk": {"kty": "EC", "x": "holders-key"}}, "sub": "did:example:maja",
        });
        let disclosure = base64url_encode(br#"["c2FsdHNhbHRzYWx0","given_name","Maja"]"#);
        let bound = signed(
            &json!({"typ": "kb+jwt", "alg": "ES256"}),
            &json!({"nonce": "n", "aud": "x509_hash:abc"}),
        );
        let told = token(&format!(
            "{}~{disclosure}~{bound}",
            signed(&header, &payload)
        ));
        assert_eq!(told["payload"]["vct"], "urn:card");
        assert_eq!(told["payload"]["_sd"], "2 digests");
        assert_eq!(told["key binding"]["header"]["typ"], "kb+jwt");
        assert!(
            told["disclosures"][0]
                .as_str()
                .unwrap()
                .starts_with("SHA-256")
        );
        let text = told.to_string();
        for secret in [
            "Musterfrau",
            "Maja",
            "4711",
            "holders-key",
            "did:example:maja",
            &disclosure,
        ] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
        assert!(
            text.contains("family_name") && !text.contains("given_name"),
            "{text}"
        );
    }

    #[test]
    fn the_holder_of_a_presentation_is_not_named() {
        let payload = json!({"iss": "https://maja.example", "vp": {"holder": "did:x"}, "aud": "https://v.example"});
        let told = token(&signed(&json!({"alg": "ES256"}), &payload));
        assert!(!told.to_string().contains("maja"), "{told}");
        assert_eq!(told["payload"]["aud"], "https://v.example/");
    }

    #[test]
    fn a_request_shows_what_is_asked_for_and_no_values() {
        let payload = json!({
            "client_id": "x509_hash:abc", "nonce": "a-nonce-that-nobody-can-guess",
            "dcql_query": {"credentials": [{"id": "card", "format": "dc+sd-jwt",
                "claims": [{"path": ["city"], "values": ["Prague"]}]}]},
        });
        let text = signed(&json!({"typ": REQUEST, "alg": "ES256"}), &payload);
        let told = request(&text);
        let query = &told["payload"]["dcql_query"]["credentials"][0];
        assert_eq!(query["claims"][0]["path"][0], "city");
        assert_eq!(query["claims"][0]["values"], "hidden, 1 items");
        assert!(!told.to_string().contains("a-nonce"), "{told}");
        // A credential that says it is a request is none.
        let claims = signed(
            &json!({"typ": REQUEST, "alg": "ES256"}),
            &json!({"name": "Maja"}),
        );
        let told = message(&json!({ "credential": claims }), WireRules::Protocol);
        assert!(!told.to_string().contains("Maja"), "{told}");
    }

    #[test]
    fn an_encrypted_response_says_how_and_how_much() {
        let header = part(&json!({"alg": "ECDH-ES", "enc": "A128GCM"}));
        let told = token(&format!("{header}..aaaa.bbbbbb.cc"));
        assert_eq!(told["content"], "encrypted, 6 characters");
        assert_eq!(told["header"]["enc"], "A128GCM");
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic_and_no_claim_is_kept(text in ".{0,200}", claim in "[a-z]{12}") {
            let _ = token(&text);
            let payload = json!({"note": format!("marked {claim}"), "other": {"iss": format!("marked {claim}")}});
            let told = token(&signed(&json!({"alg": "ES256"}), &payload));
            prop_assert!(!told.to_string().contains("marked"));
        }
    }
}
