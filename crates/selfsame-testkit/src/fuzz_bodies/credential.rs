//! Properties of status lists and DCQL queries.

use std::{collections::BTreeMap, str};

use selfsame_credential::{
    Format,
    status::{Bits, List, MAX_LIST_BYTES, Reference, StatusError, Width},
};
use selfsame_crypto::{
    encoding::base64url_encode,
    json::{self, Limits},
    jws,
    time::UnixTime,
};
use selfsame_openid4vc::dcql::{Candidate, DcqlQuery, check, select};
use serde_json::{Value, json};

use super::parts;

const URI: &str = "https://issuer.example/status";
const NOW: UnixTime = UnixTime(1_800_000_000);

/// A status list and the references to it: the list is never longer than the limit, has no entry beyond its end, and
/// references read back as themselves. The input is a token (JWT or CWT), the payload of one, or the list inside before
/// compression.
pub fn status_list(data: &[u8]) -> bool {
    let mut read = list(data);
    let mut parts = parts(data);
    let payload = json::parse(parts.next().unwrap_or_default(), &Limits::default());
    if let Ok(payload) = payload {
        for typ in ["statuslist+jwt", "vc+jwt"] {
            read |= list(&token(typ, &payload));
        }
        read |= references(&payload);
    }
    for bits in [1, 2, 4, 8] {
        let compressed = base64url_encode(data);
        let payload = json!({
            "sub": URI, "iat": NOW.0, "status_list": {"bits": bits, "lst": compressed},
        });
        read |= list(&token("statuslist+jwt", &payload));
    }
    bits(data);
    read
}

fn token(typ: &str, payload: &Value) -> Vec<u8> {
    let header = json!({"alg": "EdDSA", "typ": typ});
    let unsigned = jws::Unsigned::new(&header, payload);
    unsigned.finish(b"signature").into_bytes()
}

fn list(body: &[u8]) -> bool {
    let Ok(list) = List::parse(URI, None, body, NOW) else {
        return false;
    };
    let most = u64::try_from(MAX_LIST_BYTES).expect("it is small") * 8;
    assert!(list.len() <= most, "the limit holds");
    assert_eq!(list.get(list.len()), Err(StatusError::OutOfRange));
    assert_eq!(list.get(u64::MAX), Err(StatusError::OutOfRange));
    if let Some(last) = list.len().checked_sub(1) {
        assert!(list.get(last).is_ok(), "the last entry is there");
    }
    let elsewhere = Reference::token("https://elsewhere.example/status", 0);
    assert_eq!(list.status(&elsewhere), Err(StatusError::WrongSubject));
    true
}

fn references(claims: &Value) -> bool {
    let token = Reference::in_jwt_claims(claims).ok().flatten();
    if let Some(reference) = &token {
        let again = json!({"status": reference.to_value()});
        assert_eq!(
            Reference::in_jwt_claims(&again).as_ref(),
            Ok(&Some(reference.clone()))
        );
    }
    let entries = Reference::in_credential(claims).unwrap_or_default();
    token.is_some() || !entries.is_empty()
}

/// Any bytes are valid statuses; setting each status to its own value changes nothing.
fn bits(data: &[u8]) {
    for width in [Width::One, Width::Two, Width::Four, Width::Eight] {
        let before = Bits::from_bytes(width, data.to_vec()).expect("it is short");
        let mut after = before.clone();
        for index in 0..after.len().min(64) {
            let value = after.get(index).expect("it is in the list");
            after.set(index, value).expect("it is in the list");
        }
        assert_eq!(after, before);
    }
}

/// A DCQL query and, after a zero byte, a credential's claims: the query reads back as itself, a wallet reveals only
/// places that exist, and a verifier accepts a wallet's selection.
pub fn dcql(data: &[u8]) -> bool {
    let mut parts = parts(data);
    let mut part = || json::parse(parts.next().unwrap_or_default(), &Limits::default());
    let (Ok(query), claims) = (part(), part()) else {
        return false;
    };
    let Ok(query) = DcqlQuery::parse(&query) else {
        return false;
    };
    let written = serde_json::to_value(&query).expect("a query can be written");
    assert_eq!(DcqlQuery::parse(&written).as_ref(), Ok(&query));
    let claims = claims.unwrap_or(Value::Null);
    let held: Vec<_> = Format::ALL
        .into_iter()
        .map(|format| (format, candidate(format, &query, &claims)))
        .collect();
    let selection = select(&query, &held);
    for found in &selection.queries {
        assert_eq!(found.matches.is_empty(), found.mismatch.is_some());
        for one in &found.matches {
            for place in &one.reveal {
                assert_eq!(place.select(&claims).len(), 1, "{place} is one place");
            }
        }
    }
    let choice = selection.first_choice(true);
    assert_eq!(choice.is_some(), selection.is_satisfiable());
    let answer = choice.unwrap_or_default().into_iter().map(|(id, one)| {
        let sent = candidate(one.id, &query, &claims);
        (id.to_owned(), vec![Some(sent)])
    });
    let answer: BTreeMap<_, _> = answer.collect();
    let satisfied = check(&query, &answer).is_ok();
    assert_eq!(satisfied, selection.is_satisfiable());
    true
}

/// A credential that has every type the query names.
fn candidate<'a>(format: Format, query: &DcqlQuery, claims: &'a Value) -> Candidate<'a> {
    let mut types = Vec::new();
    for credential in query.credentials() {
        let meta = serde_json::to_value(&credential.meta).expect("it can be written");
        let lists = [&meta["vct_values"], &meta["type_values"]];
        types.extend(lists.into_iter().flat_map(strings));
    }
    Candidate {
        format,
        types,
        claims,
        withheld: None,
        holder_bound: true,
        authority_keys: vec![b"authority".to_vec()],
    }
}

fn strings(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(elements) => elements.iter().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}
