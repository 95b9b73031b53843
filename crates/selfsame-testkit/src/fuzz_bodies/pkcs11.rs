//! PKCS#11 URIs, as settings and commands name tokens and keys.

use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;

use selfsame_pkcs11::TokenUri;

/// The longest text of an error. Programs show it in one line.
const SAID_MAX: usize = 300;

/// A URI of a token.
pub fn pkcs11_uri(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else {
        return false;
    };
    let uri = match text.parse::<TokenUri>() {
        Ok(uri) => uri,
        Err(error) => {
            let said = error.to_string();
            assert!(said.len() < SAID_MAX, "{said}");
            return false;
        }
    };
    assert!(uri.module.is_absolute());
    assert!(
        uri.pin_source
            .as_ref()
            .is_none_or(|file| file.is_absolute())
    );
    assert!(!uri.token.to_string().is_empty());
    assert_eq!(uri.key.is_empty(), uri.key.to_string().is_empty());
    // A value cannot end its attribute, so that another token or another file would be meant.
    let written = written(&uri);
    if written.len() <= text.len().saturating_mul(3) && written.len() <= 4_096 {
        assert_eq!(written.parse::<TokenUri>().ok(), Some(uri), "{written}");
    }
    true
}

/// The URI with every byte of a value in its percent-encoded form.
fn written(uri: &TokenUri) -> String {
    let text = |text: &Option<String>| text.as_ref().map(|text| text.as_bytes().to_vec());
    let path = [
        ("token", text(&uri.token.label)),
        ("serial", text(&uri.token.serial)),
        ("manufacturer", text(&uri.token.manufacturer)),
        ("model", text(&uri.token.model)),
        ("object", text(&uri.key.label)),
        ("id", uri.key.id.clone()),
    ];
    let file = |file: &std::path::Path| file.as_os_str().as_bytes().to_vec();
    let query = [
        ("module-path", Some(file(&uri.module))),
        ("pin-source", uri.pin_source.as_deref().map(file)),
    ];
    let (path, query) = (all(&path, ";"), all(&query, "&"));
    format!("pkcs11:{path}?{query}")
}

/// The attributes that are set.
fn all(attributes: &[(&str, Option<Vec<u8>>)], between: &str) -> String {
    let set = attributes.iter().filter_map(|(name, value)| {
        let mut attribute = format!("{name}=");
        for byte in value.as_ref()? {
            // Writing to a text does not fail.
            let _ = write!(attribute, "%{byte:02x}");
        }
        Some(attribute)
    });
    set.collect::<Vec<_>>().join(between)
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    [
        "pkcs11:token=clinic;object=issuer?module-path=/usr/lib/m.so&pin-source=/etc/pin",
        "pkcs11:token=The%20clinic;serial=ab12;manufacturer=m;model=x;object=issuer;id=%01%ff;type=private?module-path=/m.so&pin-source=file:///etc/pin",
        "PKCS11:serial=7?pin-source=file:/p&module-path=/%6d.so",
    ]
    .map(|seed| seed.as_bytes().to_vec())
    .into()
}
