//! Which claims of a credential the book does not show, and the credential without those that can be withheld.

use selfsame_book::BookMapping;
use selfsame_credential::format::Format;
use selfsame_credential::{ClaimPath, Held};
use serde_json::{Map, Value};

/// Members of a credential that are not about its topic (SD-JWT VC §3.2.2.2; RFC 7519 §4.1).
const NOT_CLAIMS: [&str; 12] = [
    "_sd",
    "_sd_alg",
    "aud",
    "cnf",
    "exp",
    "iat",
    "iss",
    "jti",
    "nbf",
    "status",
    "vct",
    "vct#integrity",
];

/// The first claim of a credential that the book does not show.
pub(crate) fn unmapped_claim(held: &Held, mapping: &BookMapping) -> Option<String> {
    let all = held.claims();
    // In a format without a subject, a claim of this name is one like all others.
    let subject = match held.format.describe().subject_claim {
        Some(_) => all.get("credentialSubject").unwrap_or(all),
        None => all,
    };
    let claims = mapping.claims();
    let paths: Vec<&[String]> = claims.iter().map(|(_, path)| &path[..]).collect();
    match subject.as_object() {
        Some(members) => hidden(members, &paths, &mut Vec::new()),
        None => Some("credentialSubject".to_owned()),
    }
}

/// A credential that shows no claim but those that the book shows. `None` if it has others that can't be withheld: the
/// book must not keep it then.
pub(crate) fn limited(raw: &str, mapping: &BookMapping) -> Option<String> {
    let format = Format::guess(raw);
    let held = Held::parse(raw, format).ok()?;
    let within = format.describe().subject_claim;
    let paths = mapping.claims().into_iter().map(|(_, path)| {
        let names = within.into_iter().chain(path.iter().map(String::as_str));
        ClaimPath::of_names(names)
    });
    let paths: Vec<ClaimPath> = paths.collect::<Result<_, _>>().ok()?;
    let kept = match held.disclosing(&paths) {
        Some(disclosing) => disclosing.ok()?,
        None => held,
    };
    match unmapped_claim(&kept, mapping) {
        None => Some(kept.raw),
        Some(_) => None,
    }
}

/// The first claim that no path leads to.
fn hidden<'a>(
    members: &'a Map<String, Value>,
    paths: &[&[String]],
    above: &mut Vec<&'a str>,
) -> Option<String> {
    for (name, value) in members {
        let is_outermost = above.is_empty();
        if is_outermost && (NOT_CLAIMS.contains(&name.as_str()) || name == "id") {
            continue;
        }
        above.push(name);
        let leads_here = |path: &&[String]| path.iter().eq(above.iter());
        let found = match value.as_object() {
            _ if paths.iter().any(leads_here) => None,
            Some(inner) => hidden(inner, paths, above),
            None => Some(above.join(".")),
        };
        above.pop();
        if found.is_some() {
            return found;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use selfsame_crypto::encoding::base64url_encode;
    use serde_json::json;

    use super::*;

    /// An SD-JWT without disclosures. It is read and not verified, so its signature is none.
    fn read(claims: &Value) -> Held {
        let part = |value: &Value| base64url_encode(value.to_string().as_bytes());
        let header = json!({"alg": "ES256"});
        let signature = base64url_encode(&[1; 64]);
        let raw = format!("{}.{}.{signature}~", part(&header), part(claims));
        Held::parse(&raw, Format::guess(&raw)).unwrap()
    }

    #[test]
    fn a_claim_that_has_the_name_of_a_subject_does_not_cover_others() {
        let mapping: BookMapping = serde_json::from_value(json!({
            "topic": {"type": "registration", "source_id": ["credentialSubject", "number"]},
        }))
        .unwrap();
        let mut claims = json!({
            "iss": "https://a.example", "vct": "https://a.example/registration",
            "credentialSubject": {"number": "1"},
        });
        assert_eq!(unmapped_claim(&read(&claims), &mapping), None);
        claims["director"] = json!("Ada");
        let hidden = unmapped_claim(&read(&claims), &mapping);
        assert_eq!(hidden.as_deref(), Some("director"));
    }

    #[test]
    fn only_claims_of_the_mapping_are_presented() {
        let path = |text: &str| text.split('.').map(str::to_owned).collect::<Vec<_>>();
        let paths = [path("number"), path("address.city")];
        let paths: Vec<&[String]> = paths.iter().map(|path| &path[..]).collect();
        let first = |claims: Value| hidden(claims.as_object().unwrap(), &paths, &mut Vec::new());
        for shown in [
            json!({}),
            json!({"iss": "did:example:1", "iat": 1, "vct": "x", "number": "1"}),
            json!({"number": {"any": "thing"}, "address": {"city": "Victoria"}}),
        ] {
            assert_eq!(first(shown.clone()), None, "{shown}");
        }
        for (kept, claim) in [
            (json!({"director": "Ada"}), "director"),
            (json!({"sub": "did:example:ada"}), "sub"),
            (
                json!({"address": {"city": "Victoria", "street": "1 Main"}}),
                "address.street",
            ),
            (json!({"address": {"iat": 1}}), "address.iat"),
            (json!({"address": "1 Main Street, Victoria"}), "address"),
            (json!({"address": ["1 Main Street"]}), "address"),
        ] {
            assert_eq!(first(kept.clone()).as_deref(), Some(claim), "{kept}");
        }
    }
}
