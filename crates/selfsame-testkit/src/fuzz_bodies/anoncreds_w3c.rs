//! AnonCreds in W3C's form: credentials, presentations and attachments.

use selfsame_anoncreds_w3c::{IssuedBy, attachment, credential, presentation};
use selfsame_crypto::json::{self, Limits};
use selfsame_crypto::time::UnixTime;
use serde_json::Value;

const CREDENTIAL: &[u8] =
    include_bytes!("../../../../vectors/anoncreds/w3c/qualified_credential.json");
const PRESENTATION: &[u8] = include_bytes!("../../../../vectors/anoncreds/w3c/predicate.json");

/// A credential is the same after both conversions. A presentation names its credentials, and an attachment is read or
/// refused.
pub fn anoncreds_w3c(data: &[u8]) -> bool {
    let attached = attachment::offered_definition(data).is_ok()
        | attachment::own_request_of(data).is_ok()
        | attachment::credential_of(data).is_ok();
    let Ok(value) = json::parse(data, &Limits::default()) else {
        return attached;
    };
    same(&value) | presentation::credentials(&value).is_ok() | attached
}

fn same(form: &Value) -> bool {
    let Ok(own) = credential::from_w3c(form) else {
        return false;
    };
    let issued = IssuedBy {
        issuer: &own.issuer,
        at: UnixTime(0),
    };
    let again = credential::to_w3c(&own.json, issued).expect("a credential has the form");
    let again = credential::from_w3c(&again).expect("the form is read");
    assert_eq!(again.json, own.json);
    true
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    vec![CREDENTIAL.to_vec(), PRESENTATION.to_vec()]
}
