//! What people see of files and links.

use selfsame_crypto::time::UnixTime;
use serde_json::Value;

/// A file or a link whose content is explained.
pub fn explain(data: &[u8]) -> bool {
    let Ok(shown) = selfsame_show::explain(data, UnixTime(1_800_000_000)) else {
        return false;
    };
    for line in shown.lines() {
        assert!(!line.chars().any(char::is_control), "{line:?}");
    }
    if shown.format == "credential-offer" {
        assert_masked(&shown.content);
    }
    true
}

/// A code that takes a credential is nowhere to be seen.
fn assert_masked(value: &Value) {
    match value {
        Value::Array(all) => all.iter().for_each(assert_masked),
        Value::Object(members) => {
            for (name, value) in members {
                if name == "pre-authorized_code" && value.is_string() {
                    assert_eq!(value, "(masked)");
                }
                assert_masked(value);
            }
        }
        _ => {}
    }
}
