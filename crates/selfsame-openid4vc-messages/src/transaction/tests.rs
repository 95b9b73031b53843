//! Tests of transaction data.

use serde_json::json;

use super::*;

fn payment() -> Value {
    json!({
        "type": "urn:selfsame:transaction:payment",
        "credential_ids": ["id"],
        "payee": "Harbour Shop",
        "amount": "12.50",
        "currency": "EUR",
    })
}

fn with(changes: Value) -> Value {
    let mut all = payment();
    for (name, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => drop(all.as_object_mut().unwrap().remove(name)),
            value => all[name] = value.clone(),
        }
    }
    all
}

fn sent(said: &Value) -> Result<Vec<AskedTransaction>, Error> {
    read(&json!([base64url_encode(said.to_string().as_bytes())]))
}

fn lines(said: &Value) -> Result<ShownTransaction, Error> {
    sent(said)?.remove(0).lines(&ready_types())
}

fn code<T: std::fmt::Debug>(result: Result<T, Error>) -> Option<&'static str> {
    result.unwrap_err().code()
}

#[test]
fn a_transaction_is_read_as_people_read_it() {
    let shown = lines(&payment()).unwrap();
    assert_eq!(shown.title, "Payment");
    let lines: Vec<(&str, &str)> = shown
        .lines
        .iter()
        .map(|line| (&*line.label, &*line.value))
        .collect();
    assert_eq!(
        lines,
        [
            ("To", "Harbour Shop"),
            ("Amount", "12.50"),
            ("Currency", "EUR")
        ]
    );
    let consent = json!({
        "type": "urn:selfsame:transaction:treatment-consent", "credential_ids": ["id"],
        "treatment": "Anaesthesia", "provider": "Clinic", "risks": true,
    });
    let shown = AskedTransaction::of(&consent).unwrap();
    let shown = shown.lines(&ready_types()).unwrap();
    assert_eq!(shown.lines.last().unwrap().value, "yes");
}

#[test]
fn a_type_of_the_settings_is_known_beside_the_ready_ones() {
    let own: TransactionType = serde_json::from_value(json!({
        "type": "https://land.example/sale", "title": "Sale of land",
        "members": [{"name": "plot", "label": "Plot"}],
    }))
    .unwrap();
    let sale = json!({"type": "https://land.example/sale", "credential_ids": ["id"], "plot": 7});
    assert_eq!(code(lines(&sale)), Some("invalid_transaction_data"));
    let shown = sent(&sale).unwrap().remove(0).lines(&known_types(&[own]));
    assert_eq!(shown.unwrap().lines[0].value, "7");
}

#[test]
fn unknown_types_and_members_and_what_cannot_be_shown_whole_are_refused() {
    for changes in [
        json!({"type": "urn:other"}),
        json!({"unknown": 1}),
        json!({"payee": null}),
        json!({"payee": ""}),
        json!({"payee": "two\nlines"}),
        json!({"payee": "hidden\u{0}"}),
        json!({"payee": "x".repeat(301)}),
        json!({"payee": {"name": "x"}}),
        json!({"payee": ["x"]}),
    ] {
        let refused = code(lines(&with(changes.clone())));
        assert_eq!(refused, Some("invalid_transaction_data"), "{changes}");
    }
}

#[test]
fn transaction_data_that_is_malformed_is_refused() {
    for changes in [
        json!({"type": null}),
        json!({"credential_ids": null}),
        json!({"credential_ids": []}),
        json!({"credential_ids": "id"}),
        json!({"transaction_data_hashes_alg": ["sha-512"]}),
        json!({"transaction_data_hashes_alg": []}),
        json!({"transaction_data_hashes_alg": "sha-256"}),
        json!({"payee": "x".repeat(9_000)}),
    ] {
        let refused = code(sent(&with(changes.clone())));
        assert_eq!(refused, Some("invalid_transaction_data"), "{changes}");
    }
    let one = base64url_encode(payment().to_string().as_bytes());
    for list in [
        json!([]),
        json!(one),
        json!([1]),
        json!(["%"]),
        json!([payment()]),
        json!(vec![one; 9]),
        json!([base64url_encode(
            b"{\"type\":\"a\",\"type\":\"b\",\"credential_ids\":[\"id\"]}"
        )]),
    ] {
        assert_eq!(
            code(read(&list)),
            Some("invalid_transaction_data"),
            "{list}"
        );
    }
}

#[test]
fn a_key_binding_states_the_hash_of_the_text_that_was_sent() {
    let transaction = AskedTransaction::of(&payment()).unwrap();
    let members = binding(&[&transaction]);
    let expected = base64url_encode(&sha256(transaction.raw.as_bytes()));
    assert_eq!(members[HASHES], json!([expected]));
    assert_eq!(members.get(HASHES_ALG), None);
    assert!(is_bound(&transaction, &members));
    let named = with(json!({"transaction_data_hashes_alg": ["sha-512", "sha-256"]}));
    let named = AskedTransaction::of(&named).unwrap();
    let members = binding(&[&named]);
    assert_eq!(members[HASHES_ALG], "sha-256");
    assert!(is_bound(&named, &members));
    assert!(binding(&[]).is_empty());
}

#[test]
fn a_binding_to_another_transaction_or_by_another_algorithm_authorises_nothing() {
    let one = AskedTransaction::of(&payment()).unwrap();
    let dearer = AskedTransaction::of(&with(json!({"amount": "1250"}))).unwrap();
    assert!(!is_bound(&dearer, &binding(&[&one])));
    assert!(!is_bound(&one, &Map::new()));
    let mut members = binding(&[&one]);
    members.insert(HASHES_ALG.to_owned(), json!("sha-512"));
    assert!(!is_bound(&one, &members));
    // The request names algorithms, so the binding has to say which one it used.
    let named = with(json!({"transaction_data_hashes_alg": ["sha-256"]}));
    let named = AskedTransaction::of(&named).unwrap();
    let mut members = binding(&[&named]);
    members.remove(HASHES_ALG);
    assert!(!is_bound(&named, &members));
}

#[test]
fn the_first_query_that_is_answered_authorises_a_transaction() {
    let one = AskedTransaction::of(&with(json!({"credential_ids": ["a", "b"]}))).unwrap();
    assert_eq!(one.authorised_by(&["b", "c"]), Some("b"));
    assert_eq!(one.authorised_by(&["b", "a"]), Some("a"));
    assert_eq!(one.authorised_by(&["c"]), None);
}
