//! The headers of tokens.

use selfsame_crypto::jws::Header;
use serde_json::{Map, Value};

use crate::certificate::certificate_of;

/// What a header says, certificates by their names.
pub fn header(header: &Header) -> Value {
    let mut members = Map::new();
    members.insert("alg".to_owned(), header.alg.as_str().into());
    let texts = [("typ", &header.typ), ("kid", &header.kid)];
    for (name, value) in texts {
        members.extend(
            value
                .iter()
                .map(|value| (name.to_owned(), value.as_str().into())),
        );
    }
    if let Some(chain) = &header.x5c {
        let chain = chain.iter().map(|certificate| certificate_of(certificate));
        members.insert("x5c".to_owned(), chain.collect());
    }
    Value::Object(members)
}
