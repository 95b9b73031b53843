//! Messages whose record is kept without their secrets.

use selfsame_crypto::encoding::base64url_encode;
use selfsame_wire::shown_body;
use serde_json::json;

const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";
/// A shorter text may stand in what is shown by itself.
const TOLD_MIN: usize = 12;

/// A media type, and a body after the first zero byte. The body is taken as a claim too, which is kept nowhere.
pub fn wire_message(data: &[u8]) -> bool {
    let at = data.iter().position(|byte| *byte == 0);
    let (media, body) = data.split_at(at.unwrap_or(data.len()));
    let body = body.get(1..).unwrap_or_default();
    let media = String::from_utf8_lossy(media);
    for media in [&*media, JSON, FORM, "application/jwt"] {
        let shown = shown_body(body, media).to_string();
        assert!(
            shown.len() <= body.len().saturating_mul(16) + 4_096,
            "{media}"
        );
    }
    let claim: String = String::from_utf8_lossy(body)
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    if claim.len() < TOLD_MIN {
        return false;
    }
    let part = |value: serde_json::Value| base64url_encode(value.to_string().as_bytes());
    let header = part(json!({"alg": "ES256", "typ": "dc+sd-jwt", "x5c": [claim]}));
    let payload =
        part(json!({"name": claim, "address": {"vct": claim}, "vct": "urn:x", "list": [claim]}));
    let disclosure = part(json!(["salt", "name", claim]));
    let token = format!("{header}.{payload}.{claim}~{disclosure}~");
    let message = json!({
        "surprise": claim, "tx_code": claim, "code": claim, "format": {"format": claim},
        "credentials": [{"credential": token}], "vp_token": {"a": [token]},
    });
    let shown = shown_body(message.to_string().as_bytes(), JSON).to_string();
    assert!(!shown.contains(&claim), "{shown}");
    let form = format!("surprise={claim}&code={claim}&client_secret={claim}&vp_token={token}");
    assert!(
        !shown_body(form.as_bytes(), FORM)
            .to_string()
            .contains(&claim)
    );
    true
}
