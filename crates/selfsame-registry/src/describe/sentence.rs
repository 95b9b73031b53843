//! Describes an operation in a sentence for people.

use serde_json::Value;

/// A sentence about an operation. The subject is shown beside it, so the sentence does not repeat it.
#[must_use]
pub fn sentence(kind: &str, subject: &str, content: &Value) -> String {
    let text = |name: &str| content[name].as_str().unwrap_or_default();
    let number = |name: &str| content[name].as_u64().unwrap_or_default();
    let value = &content["value"];
    let of_value = |name: &str| value[name].as_str().unwrap_or_default();
    match kind {
        "create_did" => format!("Registers this DID, with {}.", keys(content)),
        "update_did" => format!(
            "Makes version {} of this DID, with {}.",
            number("version"),
            keys(content)
        ),
        "deactivate_did" => "Ends this DID for good.".to_owned(),
        "register_did" => "Registers somebody else's DID with the key it belongs to.".to_owned(),
        "set_role" => match content["role"].as_str() {
            Some(role) => format!("Makes this DID {}.", with_article(role)),
            None => "Takes this DID's role.".to_owned(),
        },
        "anchor_status" => format!(
            "Anchors the status list issued at {}: who is served another one can tell.",
            text("issued")
        ),
        "schema" => format!(
            "Publishes the schema {} {}, with {}.",
            of_value("name"),
            of_value("version"),
            counted(
                value["attrNames"].as_array().map_or(0, Vec::len),
                "attribute"
            )
        ),
        "credential_definition" => match content["successor_of"].as_str() {
            Some(_) => format!(
                "Publishes the credential definition {}, which succeeds another.",
                of_value("tag")
            ),
            None => format!("Publishes the credential definition {}.", of_value("tag")),
        },
        "revocation_registry" => {
            format!("Publishes the revocation registry {}.", of_value("tag"))
        }
        "revocation_entry" => revocation(content),
        "resource" => format!(
            "Publishes the resource {} of type {}.",
            text("name"),
            text("type")
        ),
        "delegate" => format!(
            "Lets {} {} its credentials of {} until {}.",
            text("to"),
            text("action"),
            counted(content["scope"].as_array().map_or(0, Vec::len), "type"),
            text("until")
        ),
        "withdraw_delegation" => format!("Withdraws the delegation {}.", text("name")),
        "consume" => format!("Uses up a credential of the type {}.", text("type")),
        "revoke" => format!("Revokes a credential of the type {}.", text("type")),
        _ => governed(kind, subject, content),
    }
}

/// The sentence for an operation that governs the network.
fn governed(kind: &str, subject: &str, content: &Value) -> String {
    match kind {
        "set_agreement" => match content
            .pointer("/agreement/version")
            .and_then(Value::as_str)
        {
            Some(version) => format!("Puts version {version} of the author agreement in force."),
            None => "Puts the author agreement out of force.".to_owned(),
        },
        "change_validators" => {
            let names = |members: &Value, name: fn(&Value) -> Option<&str>| {
                let members = members.as_array().into_iter().flatten();
                members.filter_map(name).collect::<Vec<_>>().join(", ")
            };
            let added = names(&content["add"], |one| one["name"].as_str());
            let removed = names(&content["remove"], Value::as_str);
            match (added.is_empty(), removed.is_empty()) {
                (false, true) => format!("Adds the validator {added}."),
                (true, _) => format!("Removes the validator {removed}."),
                (false, false) => format!("Adds the validator {added}, removes {removed}."),
            }
        }
        "change_rules" => format!(
            "Changes the rules from block {} on.",
            content["from_height"].as_u64().unwrap_or_default()
        ),
        "validator" => format!("The network began with the validator {subject}."),
        "member" => {
            let role = content["role"].as_str().unwrap_or_default();
            format!("The network began with this DID as {}.", with_article(role))
        }
        "first_rules" => "The rules the network began with.".to_owned(),
        other => other.replace('_', " "),
    }
}

fn revocation(content: &Value) -> String {
    let places = |name: &str| content[name].as_array().map_or(0, Vec::len);
    match (places("revoked"), places("issued")) {
        (revoked, 0) => format!("Revokes {}.", counted(revoked, "credential")),
        (0, issued) => format!("Makes {} valid again.", counted(issued, "credential")),
        (revoked, issued) => format!(
            "Revokes {}, makes {issued} valid again.",
            counted(revoked, "credential")
        ),
    }
}

fn keys(content: &Value) -> String {
    let count = |name: &str| content[name].as_array().map_or(0, Vec::len);
    match count("services") {
        0 => counted(count("keys"), "key"),
        services => format!(
            "{} and {}",
            counted(count("keys"), "key"),
            counted(services, "service")
        ),
    }
}

fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}

fn with_article(role: &str) -> String {
    match role {
        "endorser" => "an endorser".to_owned(),
        other => format!("a {other}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn operations_are_told_in_sentences() {
        let cases = [
            (
                "create_did",
                json!({"keys": [1]}),
                "Registers this DID, with 1 key.",
            ),
            (
                "update_did",
                json!({"version": 2, "keys": [1, 2], "services": [1]}),
                "Makes version 2 of this DID, with 2 keys and 1 service.",
            ),
            (
                "set_role",
                json!({"role": "endorser"}),
                "Makes this DID an endorser.",
            ),
            ("set_role", json!({"role": null}), "Takes this DID's role."),
            (
                "schema",
                json!({"value": {"name": "degree", "version": "1.0", "attrNames": ["a", "b"]}}),
                "Publishes the schema degree 1.0, with 2 attributes.",
            ),
            (
                "revocation_entry",
                json!({"revoked": [1, 2], "issued": []}),
                "Revokes 2 credentials.",
            ),
            (
                "change_validators",
                json!({"add": [{"name": "n5"}], "remove": ["n1"]}),
                "Adds the validator n5, removes n1.",
            ),
            (
                "set_agreement",
                json!({"agreement": null}),
                "Puts the author agreement out of force.",
            ),
        ];
        for (kind, content, expected) in cases {
            assert_eq!(sentence(kind, "did:example:a", &content), expected);
        }
    }
}
