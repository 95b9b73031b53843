//! Everything that is sent is shown: compares the credentials' texts with the lines for the person.

use proptest::prelude::*;
use selfsame_credential::Format;
use selfsame_crypto::encoding::{base64url_decode, base64url_encode};
use selfsame_crypto::jws::Unsigned;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyHandle, KeyType, PrivateKey};
use serde_json::json;

use super::super::Look;
use super::*;

const HOLDER: &str = "did:jwk:holder";

fn card(format: Format, raw: String) -> (CardRecord, Held) {
    let held = Held::parse(&raw, format).unwrap();
    let issuer = held.issuer().unwrap_or_default().to_owned();
    let card = CardRecord {
        id: "card".to_owned(),
        format,
        raw,
        key: None,
        kid: None,
        issuer,
        types: Vec::new(),
        look: Look::default(),
        added: UnixTime(0),
        expires: None,
        asked_types: Vec::new(),
        authorities: Vec::new(),
        seen: None,
    };
    (card, held)
}

fn jwt(header: &Value, payload: &Value) -> String {
    Unsigned::new(header, payload).finish(&[0; 64])
}

/// Labels for paths through all members of a card of these texts, some shorter, some with wildcards, as an issuer could
/// choose them that wants something to leave the wallet unseen.
fn labelled((card, held): &mut (CardRecord, Held), chosen: &[Vec<usize>]) {
    let header = json!({ "header": held.header().other });
    let beside = held.beside().map(|beside| json!(beside));
    let roots = [Some(held.claims().clone()), beside, Some(header)];
    let mut paths = Vec::new();
    for root in roots.iter().flatten() {
        trails(root, &mut Vec::new(), &mut paths);
    }
    let label = |(number, choice): (usize, &Vec<usize>)| {
        let mut path = paths.get(choice[0] % paths.len())?.clone();
        path.truncate(choice[1] % path.len() + 1);
        for place in &choice[2..] {
            if let Some(segment) = path.get_mut(*place) {
                *segment = Segment::All;
            }
        }
        Some((ClaimPath::new(path).ok()?, format!("label {number}")))
    };
    card.look.labels = chosen.iter().enumerate().filter_map(label).collect();
}

fn trails(value: &Value, trail: &mut Vec<Segment>, found: &mut Vec<Vec<Segment>>) {
    let inner: Vec<(Segment, &Value)> = match value {
        Value::Object(members) => {
            let named = |(name, value): (&String, _)| (Segment::Name(name.clone()), value);
            members.iter().map(|(n, v)| named((n, v))).collect()
        }
        Value::Array(elements) => {
            let places = elements.iter().enumerate();
            places.map(|(at, v)| (Segment::Index(at), v)).collect()
        }
        _ => Vec::new(),
    };
    for (segment, value) in inner {
        trail.push(segment);
        found.push(trail.clone());
        trails(value, trail, found);
        trail.pop();
    }
}

/// Every name and every value that leaves with these disclosures without being shown to the person, with its place.
fn unseen((card, held): &(CardRecord, Held), reveal: &[ClaimPath]) -> Vec<String> {
    let lines = card.lines_with(held, reveal).unwrap();
    let leaving = match held.sd_jwt() {
        Some(sd_jwt) => sd_jwt.present(reveal).unwrap().unbound(),
        None => card.raw.clone(),
    };
    let (jwt, disclosures) = leaving.split_once('~').unwrap_or((&leaving, ""));
    let mut sent = Vec::new();
    for part in jwt.split('.').take(2) {
        leaves(&read(part), "", &mut sent);
    }
    for disclosure in disclosures.split('~').filter(|text| !text.is_empty()) {
        leaves(&read(disclosure), "disclosed", &mut sent);
    }
    let seen = |text: &str| {
        lines.iter().any(|line| {
            let path = json!(line.path).to_string();
            let columns = json!(line.table.as_ref().map(|table| &table.paths)).to_string();
            [&line.label, &line.value, &path, &columns]
                .iter()
                .any(|shown| shown.contains(text))
        })
    };
    // A boolean is identified by its name, in a line of its own or among others.
    let answered = |name: &str, word: &str| {
        let within = format!("{name}: {word}");
        lines.iter().any(|line| {
            let path = json!(line.path).to_string();
            let in_column = line.table.as_ref().is_some_and(|table| {
                let columns = table.paths.iter().zip(0..);
                let mut named =
                    columns.filter(|(path, _)| path.last().is_some_and(|last| last == name));
                named
                    .any(|(_, column): (_, usize)| table.rows.iter().any(|row| row[column] == word))
            });
            in_column || line.value.contains(&within) || (line.value == word && path.contains(name))
        })
    };
    let is_seen = |(at, text): &(String, String)| match text.as_str() {
        "yes" | "no" => answered(at.rsplit('/').next().unwrap(), text),
        text => seen(text),
    };
    let unseen = sent.into_iter().filter(|leaf| !is_seen(leaf));
    unseen.map(|(at, text)| format!("{at}: {text}")).collect()
}

fn read(part: &str) -> Value {
    serde_json::from_slice(&base64url_decode(part).unwrap()).unwrap()
}

/// Values to look for: unique names and texts, unique numbers, and booleans under a unique name.
fn leaves(value: &Value, at: &str, found: &mut Vec<(String, String)>) {
    let mut told = |text: &str| found.push((at.to_owned(), text.to_owned()));
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                if name.starts_with("told") {
                    found.push((at.to_owned(), name.clone()));
                }
                leaves(value, &format!("{at}/{name}"), found);
            }
        }
        Value::Array(elements) => {
            let name = at.rsplit('/').next().unwrap();
            for value in elements {
                leaves(value, &format!("{at}[]/{name}"), found);
            }
        }
        Value::String(text) if text.starts_with("told") => told(text),
        Value::Number(number) if number.as_u64() > Some(UNIQUE) => told(&number.to_string()),
        Value::Bool(is) if at.contains("/told") => told(if *is { "yes" } else { "no" }),
        _ => {}
    }
}

/// Larger than all other numbers in the credentials of these tests.
const UNIQUE: u64 = 1 << 60;

fn unique() -> impl Strategy<Value = String> {
    any::<u64>().prop_map(|number| format!("told{number}"))
}

/// Any JSON an issuer could put anywhere: every name, text and number in it is unique.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        unique().prop_map(Value::from),
        (UNIQUE + 1..u64::MAX).prop_map(Value::from),
        (unique(), any::<bool>()).prop_map(|(name, is)| json!({ name: is })),
    ];
    leaf.prop_recursive(5, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map(unique(), inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// An issuer's choice of labels: which of all places, how much of the path, wildcards in place of which steps.
fn labels() -> impl Strategy<Value = Vec<Vec<usize>>> {
    prop::collection::vec(prop::collection::vec(0..400_usize, 2..4), 0..8).prop_map(|mut all| {
        for choice in &mut all {
            choice[2..].iter_mut().for_each(|place| *place %= 4);
        }
        all
    })
}

/// Texts, booleans and numbers together, under one name.
fn with(anything: &Value, mut members: Value) -> Value {
    members["toldmember"] = anything.clone();
    members
}

fn disclosure(content: &Value) -> (String, String) {
    let encoded = base64url_encode(content.to_string().as_bytes());
    let digest = base64url_encode(&selfsame_crypto::hash::sha256(encoded.as_bytes()));
    (encoded, digest)
}

#[test]
fn what_is_not_revealed_stays_hidden_by_its_label_and_each_list_has_one_line() {
    let disclosures = [
        disclosure(&json!(["salt", "given_name", "Maja"])),
        disclosure(&json!(["salt", "number", "17"])),
        disclosure(&json!(["salt", "doses", [{"lot": "A", "date": "2026-01-01"}]])),
    ];
    let digests: Vec<&String> = disclosures.iter().map(|(_, digest)| digest).collect();
    let payload = json!({"iss": "https://issuer.example", "vct": "urn:example", "_sd": digests});
    let sent: Vec<&str> = disclosures.iter().map(|(text, _)| text.as_str()).collect();
    let raw = format!(
        "{}~{}~",
        jwt(&json!({"alg": "ES256", "typ": "dc+sd-jwt"}), &payload),
        sent.join("~")
    );
    let (mut card, held) = card(Format::SdJwtVc, raw);
    let path = |path: Value| ClaimPath::parse(&path).unwrap();
    card.look.labels = vec![
        (path(json!(["doses"])), "Doses".to_owned()),
        (path(json!(["doses", null, "date"])), "Day".to_owned()),
        (path(json!(["doses", null, "lot"])), "Lot".to_owned()),
        (path(json!(["given_name"])), "Given name".to_owned()),
    ];
    let shown = card.lines_with(&held, &[path(json!(["number"]))]).unwrap();
    assert_eq!(card.hidden(&held, &shown), ["Doses", "Given name"]);
    let all = card.all_lines(&held);
    let table = all[0].table.as_ref().unwrap();
    assert_eq!(table.columns, ["Day", "Lot"]);
    assert_eq!(all[0].value, "Day: 2026-01-01 · Lot: A");
    assert_eq!(
        all.iter()
            .filter(|line| line.value.contains("2026-01-01"))
            .count(),
        1
    );
}

proptest! {
    #[test]
    fn all_that_an_sd_jwt_vc_sends_is_shown(
        anything in anything(),
        labels in labels(),
        revealed in prop::collection::vec(any::<bool>(), 4),
    ) {
        let (element, at_element) = disclosure(&json!(["salt", anything]));
        let within = json!({ "always": anything, "list": [{ "...": at_element }, anything] });
        let (inner, at_inner) = disclosure(&json!(["salt", "toldinner", within]));
        let nested = json!({ "_sd": [at_inner], "toldbeside": anything });
        let (outer, at_outer) = disclosure(&json!(["salt", "toldouter", nested]));
        let (flat, at_flat) = disclosure(&json!(["salt", "toldflat", anything]));
        let payload = json!({
            "iss": "https://issuer.example", "vct": "urn:example", "iat": 1, "nbf": 1, "exp": 2,
            "sub": anything, "name": anything, "secret": anything, "_sd": [at_outer, at_flat],
            "cnf": with(&anything, json!({
                "jwk": with(&anything, json!({ "kid": "toldkid", "alg": anything, "use": anything })),
                "kid": "toldotherkid",
            })),
            "status": with(&anything, json!({
                "status_list": with(&anything, json!({ "idx": 1, "uri": "https://issuer.example/1" })),
            })),
            "single_use": with(&anything, json!({ "digest": "tolddigest" })),
        });
        let header = with(&anything, json!({
            "alg": "ES256", "typ": "dc+sd-jwt", "cty": "toldcty", "secret": anything,
        }));
        let raw = format!("{}~{element}~{inner}~{outer}~{flat}~", jwt(&header, &payload));
        let mut card = card(Format::SdJwtVc, raw);
        labelled(&mut card, &labels);
        let paths = [
            &["toldouter"][..], &["toldouter", "toldinner"], &["toldouter", "toldinner", "list"], &["toldflat"],
        ];
        let chosen = paths.iter().zip(revealed).filter(|(_, chosen)| *chosen);
        let reveal: Vec<ClaimPath> = chosen
            .map(|(path, _)| ClaimPath::of_names(path.iter().copied()).unwrap())
            .collect();
        prop_assert_eq!(unseen(&card, &reveal), Vec::<String>::new());
    }

    #[test]
    fn all_that_a_w3c_credential_sends_is_shown(anything in anything(), labels in labels()) {
        let credential = json!({
            "@context": ["https://www.w3.org/ns/credentials/v2", "https://e.example/told", anything],
            "id": "told_id", "type": ["VerifiableCredential", "toldtype"], "name": anything,
            "description": "told_description", "evidence": [anything], "holderAddress": anything,
            "issuer": with(&anything, json!({ "id": "did:example:issuer" })),
            "validFrom": "2020-01-01T00:00:00Z",
            "credentialSubject": with(&anything, json!({ "id": HOLDER })),
            "credentialSchema": with(&anything, json!({ "id": "toldschema", "type": "toldschematype" })),
            "termsOfUse": anything,
        });
        let header = with(&anything, json!({ "alg": "ES256", "typ": "vc+jwt", "secret": anything }));
        let mut two = card(Format::VcJwt, jwt(&header, &credential));
        labelled(&mut two, &labels);
        prop_assert_eq!(unseen(&two, &[]), Vec::<String>::new());

        let mut one = credential;
        one["@context"] = json!(["https://www.w3.org/2018/credentials/v1", anything]);
        let payload = with(&anything, json!({
            "vc": one, "iss": "did:example:issuer", "sub": HOLDER, "jti": "told_id", "secret": anything,
        }));
        let mut one = card(Format::JwtVcJson, jwt(&header, &payload));
        labelled(&mut one, &labels);
        prop_assert_eq!(unseen(&one, &[]), Vec::<String>::new());
    }
}

#[test]
fn a_name_for_a_claim_hides_nothing_of_the_header_or_beside_the_credential() {
    let header = json!({ "alg": "ES256", "told": "in the header" });
    let vc = json!({
        "@context": ["https://www.w3.org/2018/credentials/v1"], "type": ["VerifiableCredential"],
        "issuer": "did:example:issuer", "credentialSubject": { "id": HOLDER },
    });
    let payload = json!({ "vc": vc, "iss": "did:example:issuer", "secret": "beside it" });
    let (mut card, held) = card(Format::JwtVcJson, jwt(&header, &payload));
    for path in [
        json!(["header"]),
        json!(["header", "told"]),
        json!(["secret"]),
    ] {
        let path = ClaimPath::parse(&path).unwrap();
        card.look.labels.push((path, "A name".to_owned()));
    }
    let lines = card.all_lines(&held);
    let values: Vec<&str> = lines.iter().map(|line| line.value.as_str()).collect();
    assert_eq!(values, ["beside it", "in the header"]);
}

#[test]
fn what_every_credential_has_makes_no_line() {
    let key = PrivateKey::generate(KeyType::P256).unwrap();
    let mut jwk = serde_json::to_value(key.public().to_jwk()).unwrap();
    jwk["kid"] = json!(KeyHandle::of(key.public()).as_str());
    let payload = json!({
        "iss": "https://issuer.example", "vct": "urn:example", "iat": 1, "nbf": 1, "exp": 2,
        "cnf": { "jwk": jwk },
        "status": { "status_list": { "idx": 1, "uri": "https://issuer.example/1" } },
        "given_name": "Ada",
    });
    let header = json!({ "alg": "ES256", "typ": "dc+sd-jwt" });
    let (mut sd_jwt, held) = card(Format::SdJwtVc, jwt(&header, &payload) + "~");
    sd_jwt.key = Some(KeyHandle::of(key.public()));
    let labels = |card: &CardRecord, held: &Held| -> Vec<String> {
        let lines = card.all_lines(held);
        lines.into_iter().map(|line| line.label).collect()
    };
    assert_eq!(labels(&sd_jwt, &held), ["given_name"]);
    // Nothing is known about a key that is not the card's own.
    sd_jwt.key = None;
    assert_eq!(labels(&sd_jwt, &held).len(), 6);
    let credential = json!({
        "@context": ["https://www.w3.org/ns/credentials/v2"],
        "type": ["VerifiableCredential", "AllergiesCredential"], "issuer": { "id": "did:example:issuer" },
        "validFrom": "2020-01-01T00:00:00Z", "validUntil": "2030-01-01T00:00:00Z",
        "credentialStatus": { "id": "https://e.example/1#2", "type": "BitstringStatusListEntry",
            "statusPurpose": "revocation", "statusListIndex": "2",
            "statusListCredential": "https://e.example/1" },
        "credentialSubject": { "id": HOLDER, "given_name": "Ada" },
    });
    let (vc, held) = card(Format::VcJwt, jwt(&json!({ "alg": "ES256" }), &credential));
    assert_eq!(labels(&vc, &held), ["credentialSubject.given_name"]);
}

#[test]
fn what_belongs_to_the_protocol_is_marked_unless_it_needs_no_line_at_all() {
    let integrity = "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
    let lines = |integrity: &str| {
        let payload = json!({
            "iss": "https://issuer.example", "vct": "urn:example", "vct#integrity": integrity,
            "aka_vcts": ["urn:other"], "given_name": "Ada",
        });
        let header = json!({ "alg": "ES256", "typ": "dc+sd-jwt" });
        let (card, held) = card(Format::SdJwtVc, jwt(&header, &payload) + "~");
        let lines = card.all_lines(&held).into_iter();
        lines
            .map(|line| (line.label, line.technical))
            .collect::<Vec<_>>()
    };
    let line = |label: &str, technical| (label.to_owned(), technical);
    let expected = [
        line("aka_vcts[0]", true),
        line("given_name", false),
        line("vct", true),
    ];
    assert_eq!(lines(integrity), expected);
    // What is no hash may say something about a person.
    let told = line("vct#integrity", true);
    assert!(lines("sha256-Ada").contains(&told));
    let credential = json!({
        "@context": ["https://www.w3.org/ns/credentials/v2", "https://e.example/context"],
        "type": ["VerifiableCredential"], "issuer": "did:example:issuer", "evidence": "told",
        "credentialSchema": { "id": "https://e.example/schema", "type": "JsonSchema" },
        "credentialSubject": { "id": HOLDER, "given_name": "Ada" },
    });
    let (vc, held) = card(Format::VcJwt, jwt(&json!({ "alg": "ES256" }), &credential));
    let (technical, claims): (Vec<_>, Vec<_>) = vc
        .all_lines(&held)
        .into_iter()
        .partition(|line| line.technical);
    let values = |lines: &[ClaimLine]| {
        lines
            .iter()
            .map(|line| line.value.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(values(&claims), ["Ada", "told"]);
    assert_eq!(
        values(&technical),
        ["https://e.example/context", "https://e.example/schema"]
    );
}
