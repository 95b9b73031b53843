//! Texts: tokens, and bytes in an encoding.

use selfsame_credential::{Format, Held, sd_jwt::SdJwt};
use selfsame_crypto::encoding::{base64_decode, base64url_decode, hex_decode};
use selfsame_crypto::jws::Compact;
use selfsame_crypto::time::UnixTime;
use serde_json::{Value, json};

use crate::header::header;
use crate::mask::mask;
use crate::{MAX_BYTES, NotShown, ShownFile, bytes, request, status, token};

/// What this text is. It contains ASCII alone and is not empty.
pub fn explain(text: &str, now: UnixTime) -> Result<ShownFile, NotShown> {
    if text.contains('~') {
        return held(text, now).map_or_else(|| sd_jwt(text, now), Ok);
    }
    if text.matches('.').count() == 2 && text.starts_with("ey") {
        return jwt(text, now);
    }
    let encoded: String = text.split_ascii_whitespace().collect();
    // Hexadecimal is base64url as well; what is CBOR by the first reading is meant so.
    let decoded = [
        hex_decode(&encoded).ok(),
        base64url_decode(&encoded).ok(),
        base64_decode(&encoded).ok(),
    ];
    let mut shown = decoded.iter().flatten().map(|one| bytes::show(one));
    match shown.find(|shown| *shown != Err(NotShown::Unknown)) {
        Some(shown) => shown,
        None => bytes::show(text.as_bytes()),
    }
}

/// A credential as its issuer signed it, in one of the formats of texts.
pub(crate) fn held(text: &str, now: UnixTime) -> Option<ShownFile> {
    let read = Format::of_people().filter_map(|format| Held::parse(text, format).ok());
    // A wallet reads what an issuer gives it; a JWT without a type is no credential.
    let held = { read }.find(|held| !held.types().is_empty())?;
    let description = held.format.describe();
    let mut content = json!({"header": header(held.header()), "claims": held.claims()});
    let members = content.as_object_mut()?;
    if let Some(beside) = held.beside() {
        members.insert("beside".to_owned(), beside.clone().into());
    }
    if let Some(sd_jwt) = held.sd_jwt() {
        members.insert("disclosures".to_owned(), disclosures(sd_jwt));
        members.insert("undisclosed".to_owned(), token::undisclosed(sd_jwt).into());
    }
    let mut problems = token::times(held.validity(), now);
    if let Some(sd_jwt) = held.sd_jwt() {
        problems.extend(token::sd_jwt_vc(sd_jwt));
    }
    Some(ShownFile::of(description.name, description.title, content).with(problems))
}

/// An SD-JWT of another type, or one that a holder presents.
fn sd_jwt(text: &str, now: UnixTime) -> Result<ShownFile, NotShown> {
    let malformed = |reason: String| NotShown::Malformed {
        title: "an SD-JWT",
        reason,
    };
    let read = SdJwt::parse(text).map_err(|error| malformed(error.to_string()))?;
    let processed = read.process();
    let processed = processed.map_err(|error| malformed(error.to_string()))?;
    let binding = read.key_binding();
    let format = match binding {
        Some(_) => "sd-jwt+kb",
        None => "sd-jwt",
    };
    let mut problems = token::times_of(&processed.claims, now);
    problems.extend(token::sd_jwt_vc(&read));
    if let Some(binding) = binding {
        problems.extend(token::key_binding(&read, binding.claims()));
    }
    let content = json!({
        "header": header(&read.jwt().header),
        "claims": processed.claims,
        "disclosures": disclosures(&read),
        "undisclosed": token::undisclosed(&read),
        "key_binding": binding.map(|binding| binding.claims()),
    });
    Ok(ShownFile::of(format, "SD-JWT", content).with(problems))
}

/// The disclosures; those of array elements have no name.
fn disclosures(sd_jwt: &SdJwt) -> Value {
    let disclosures = sd_jwt.disclosures().iter();
    disclosures
        .map(|one| json!({"name": one.name(), "value": one.value()}))
        .collect()
}

fn jwt(text: &str, now: UnixTime) -> Result<ShownFile, NotShown> {
    let malformed = |reason: String| NotShown::Malformed {
        title: "a JWT",
        reason,
    };
    let token = Compact::parse_within(text, MAX_BYTES);
    let token = token.map_err(|error| malformed(error.to_string()))?;
    let claims = token
        .claims()
        .map_err(|error| malformed(error.to_string()))?;
    if let Some(shown) = status::explain(text, &token.header, &claims, now) {
        return Ok(shown);
    }
    if request::is_request(&token.header, &claims) {
        return Ok(request::of_object(&token.header, claims, now));
    }
    if let Some(shown) = held(text, now) {
        return Ok(shown);
    }
    let problems = token::times_of(&claims, now);
    let content = json!({"header": header(&token.header), "claims": mask(claims)});
    Ok(ShownFile::of("jwt", "JWT", content).with(problems))
}
