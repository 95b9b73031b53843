//! The registry's pages, and von-network's addresses and response formats.

use http::StatusCode;
use selfsame_crypto::encoding::{base58_decode, base58_encode, base64_decode, hex_decode};
use selfsame_crypto::{KeyType, PrivateKey, PublicKey};
use selfsame_proof::cbor;
use selfsame_proof::log::{TreeHead, leaf_hash, verify_inclusion};
use serde_json::{Value, json};

use super::instance::{Answered, Instance, call, form, get, post};

fn parsed(answer: &Answered) -> Value {
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    assert_eq!(answer.header("access-control-allow-origin"), "*");
    serde_json::from_str(&answer.body).unwrap()
}

async fn read(instance: &Instance, path: &str) -> Value {
    parsed(&instance.call(get(path)).await)
}

const TRUSTEE: &str = "000000000000000000000000Trustee1";

async fn register(instance: &Instance, body: &Value) -> Answered {
    let asked = post("/register").bearer(&instance.token);
    instance.call(asked.json(&body.to_string())).await
}

#[tokio::test]
async fn a_did_is_registered_by_seed_or_by_key_and_answered_as_von_network_answers() {
    let instance = Instance::start().await;
    let body = json!({ "seed": TRUSTEE, "alias": "clinic", "role": "TRUST_ANCHOR" });
    let first = parsed(&register(&instance, &body).await);
    assert_eq!(first["seed"], TRUSTEE);
    assert_eq!(first["did"], "V4SGRU86Z58d6TV7PBUe6f");
    assert_eq!(
        first["verkey"],
        "GJ1SzoWzavQYfNL9XkaJdrQejfztN4XqdsiV4ct3LXKL"
    );
    let size = |ledger: Value| ledger["total"].as_u64().unwrap();
    let before = size(read(&instance, "/ledger/domain").await);
    // Again, and by its key: the DID is found, and nothing is written.
    let again = json!({ "did": first["did"], "verkey": first["verkey"] });
    assert_eq!(
        parsed(&register(&instance, &again).await)["seed"],
        Value::Null
    );
    assert_eq!(size(read(&instance, "/ledger/domain").await), before);

    let did = first["id"].as_str().unwrap();
    let resolved = instance.call(get(&format!("/1.0/identifiers/{did}"))).await;
    assert_eq!(resolved.status, StatusCode::OK, "{}", resolved.body);
    let found = read(
        &instance,
        "/ledger/domain?query=V4SGRU86Z58d6TV7PBUe6f&type=1",
    )
    .await;
    let results = found["results"].as_array().unwrap();
    let told: Vec<_> = results.iter().map(|one| &one["selfsame"]["kind"]).collect();
    assert_eq!(told, ["register_did", "set_role"]);
    assert_eq!(results[0]["txn"]["data"]["dest"], did);
    assert_eq!(results[0]["txn"]["data"]["verkey"], first["verkey"]);
    assert_eq!(results[1]["txn"]["data"]["role"], "101");
    let page = instance
        .call(get(&format!("/registry/object?id={did}")))
        .await;
    assert!(page.body.contains("Present, and proven"), "{}", page.body);
    assert!(page.body.contains(">endorser<"));
    // Without a role.
    let body = json!({ "seed": "clinic", "role": null });
    let plain = parsed(&register(&instance, &body).await);
    assert_eq!(plain["seed"], "clinic00000000000000000000000000");
}

#[tokio::test]
async fn only_the_operator_registers_unless_he_lets_everybody() {
    let body = json!({ "seed": TRUSTEE }).to_string();
    let closed = Instance::start().await;
    for asked in [post("/register"), post("/register").bearer("wrong")] {
        let answer = closed.call(asked.json(&body)).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{}", answer.body);
        assert!(answer.body.contains("open_registration"));
    }
    // A cookie of the operator's browser is not a token.
    let cookie = closed.operator_cookie().await;
    let answer = closed
        .call(post("/register").cookie(&cookie).json(&body))
        .await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    assert_eq!(read(&closed, "/status").await["register_new_dids"], false);

    let open = Instance::registering().await;
    assert_eq!(read(&open, "/status").await["register_new_dids"], true);
    let answer = open.call(post("/register").json(&body)).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    let steward = json!({ "seed": "another", "role": "STEWARD" }).to_string();
    let answer = open.call(post("/register").json(&steward)).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN, "{}", answer.body);
    let answer = open
        .call(post("/register").bearer(&open.token).json(&steward))
        .await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
}

#[tokio::test]
async fn a_did_of_half_a_key_stays_with_the_owner_of_the_key() {
    let open = Instance::registering().await;
    let owner = PrivateKey::generate(KeyType::Ed25519).unwrap();
    let id = selfsame_did::selfsame::indy_id_of(owner.public()).unwrap();
    let ask = async |key: &[u8], signature: Option<String>| {
        let asked = json!({ "did": id, "verkey": base58_encode(key), "role": null, "signature": signature });
        open.call(post("/register").json(&asked.to_string())).await
    };
    let stolen = [&owner.public().bytes()[..16], &[7; 16]].concat();
    for key in [&stolen[..], owner.public().bytes()] {
        let refused = ask(key, None).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", refused.body);
        assert!(refused.body.contains("signature"), "{}", refused.body);
    }
    let other = open
        .call(post("/register").json(r#"{"seed":"other"}"#))
        .await;
    let other = parsed(&other)["id"].as_str().unwrap().to_owned();
    let network = other.split(':').nth(2).unwrap();
    // docs/did-method.md §3.1.
    let consent = cbor::encode(|to| {
        to.array(3).text("selfsame/registration/1").text(network);
        to.bytes(&base58_decode(&id).unwrap());
    });
    let signature = owner.sign(&consent).unwrap();
    let signature = Some(base58_encode(&signature));
    let refused = ask(&stolen, signature.clone()).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", refused.body);
    let made = ask(owner.public().bytes(), signature).await;
    assert_eq!(made.status, StatusCode::OK, "{}", made.body);
    assert_eq!(parsed(&made)["did"], id);
}

#[tokio::test]
async fn what_cannot_be_registered_is_refused_with_a_hint() {
    let instance = Instance::start().await;
    let verkey = "GJ1SzoWzavQYfNL9XkaJdrQejfztN4XqdsiV4ct3LXKL";
    for wrong in [
        json!({}),
        json!({ "verkey": verkey }),
        json!({ "did": "V4SGRU86Z58d6TV7PBUe6f" }),
        json!({ "did": "LLLLLLLLLLLLLLLLLLLLLL", "verkey": verkey }),
        json!({ "did": "V4SGRU86Z58d6TV7PBUe6f", "verkey": "abc" }),
        json!({ "seed": "x".repeat(33) }),
        json!({ "seed": TRUSTEE, "role": "KING" }),
        json!({ "seed": TRUSTEE, "paymentAddress": "1" }),
    ] {
        let answer = register(&instance, &wrong).await;
        assert_eq!(
            answer.status,
            StatusCode::BAD_REQUEST,
            "{wrong}: {}",
            answer.body
        );
        assert!(!answer.body.contains(TRUSTEE), "a refusal shows no seed");
    }
    let answer = instance
        .call(
            post("/register")
                .bearer(&instance.token)
                .form("seed=x".to_owned()),
        )
        .await;
    assert_eq!(answer.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
}

#[tokio::test]
async fn ledgers_have_pages_totals_and_bounds_as_von_networks() {
    let instance = Instance::start().await;
    for seed in ["a", "b", "c"] {
        let body = json!({ "seed": seed, "role": null });
        parsed(&register(&instance, &body).await);
    }
    let all = read(&instance, "/ledger/domain").await;
    let total = all["total"].as_u64().unwrap();
    assert_eq!((&all["page"], &all["page_size"]), (&json!(1), &json!(100)));
    assert_eq!(
        (&all["first_index"], &all["last_index"]),
        (&json!(1), &json!(total))
    );
    assert_eq!(all["results"].as_array().unwrap().len() as u64, total);
    // The trustee of the genesis comes first, before the first transaction.
    assert_eq!(all["results"][0]["txnMetadata"]["seqNo"], 0);
    assert_eq!(all["results"][0]["txn"]["data"]["role"], "0");
    let second = read(&instance, "/ledger/domain?page=2&page_size=2").await;
    assert_eq!(
        (&second["first_index"], &second["last_index"]),
        (&json!(3), &json!(4))
    );
    assert_eq!(second["results"][0], all["results"][2]);
    let past = instance.call(get("/ledger/domain?page=99")).await;
    assert_eq!(past.status, StatusCode::NOT_FOUND);
    assert_eq!(past.body, r#"{"detail":"Invalid page."}"#);
    let pool = read(&instance, "/ledger/pool").await;
    assert_eq!(
        (&pool["total"], &pool["results"][0]["txn"]["type"]),
        (&json!(1), &json!("0"))
    );
    assert_eq!(
        pool["results"][0]["txn"]["data"]["data"]["alias"],
        "embedded"
    );
    let config = read(&instance, "/ledger/config?type=120").await;
    assert_eq!(config["results"][0]["txn"]["data"]["data"]["mode"], "open");
    for wrong in [
        "/ledger/audit",
        "/ledger/domain?page=0",
        "/ledger/domain?page_size=201",
        "/ledger/domain?type=NYM",
        "/ledger/domain?since=1",
        "/ledger/domain?query=x&page=90000",
        "/browse/sandbox",
        "/status?detail=1",
    ] {
        let answer = instance.call(get(wrong)).await;
        assert_eq!(
            answer.status,
            StatusCode::BAD_REQUEST,
            "{wrong}: {}",
            answer.body
        );
    }
    let hinted = instance.call(get("/ledger/domain?type=NYM")).await;
    assert!(
        hinted.body.contains("hint") && hinted.body.contains("1 NYM"),
        "{}",
        hinted.body
    );
    let text = instance.call(get("/ledger/pool/text")).await;
    assert!(text.body.starts_with("[0]  TYPE: NODE\n"), "{}", text.body);
}

#[tokio::test]
async fn a_transaction_is_found_by_number_and_by_hash_and_comes_with_its_proof() {
    let instance = Instance::start().await;
    parsed(&register(&instance, &json!({ "seed": "a" })).await);
    let last = read(&instance, "/status?validators=1").await["validators"][0]["Node_info"]["Metrics"]
        ["transaction-count"]["ledger"]
        .as_u64()
        .unwrap();
    assert!(last >= 3);
    let found = read(&instance, "/ledger/domain?query=register_did").await;
    let seq = found["results"][0]["txnMetadata"]["seqNo"]
        .as_u64()
        .unwrap();
    let hash = found["results"][0]["txnMetadata"]["txnId"]
        .as_str()
        .unwrap();
    let by_number = read(&instance, &format!("/ledger/domain/{seq}")).await;
    let by_hash = read(&instance, &format!("/ledger/domain/{hash}")).await;
    assert_eq!(by_number["txn"], by_hash["txn"]);
    let role = read(&instance, &format!("/ledger/domain/{seq}.2")).await;
    assert_eq!(role["selfsame"]["kind"], "set_role");

    // The proof in Indy's members is the log's own.
    let proof = read(&instance, &format!("/registry/inclusion/{seq}")).await;
    let leaf = leaf_hash(&base64_decode(proof["transaction"].as_str().unwrap()).unwrap());
    let hash_of = |text: &Value| -> [u8; 32] {
        base58_decode(text.as_str().unwrap())
            .unwrap()
            .try_into()
            .unwrap()
    };
    let path: Vec<_> = by_number["auditPath"]
        .as_array()
        .unwrap()
        .iter()
        .map(hash_of)
        .collect();
    let size = by_number["ledgerSize"].as_u64().unwrap();
    let root = hash_of(&by_number["rootHash"]);
    verify_inclusion(&leaf, seq - 1, TreeHead { size, root }, &path).unwrap();
    assert_eq!(hex_decode(proof["root"].as_str().unwrap()).unwrap(), root);
    for nothing in [
        format!("/ledger/pool/{seq}"),
        format!("/ledger/domain/{seq}.3"),
        "/ledger/domain/99999".to_owned(),
        "/ledger/domain/none".to_owned(),
        "/registry/inclusion/99999".to_owned(),
    ] {
        let answer = instance.call(get(&nothing)).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{nothing}");
    }
}

#[tokio::test]
async fn genesis_and_status_say_what_a_reader_needs() {
    let instance = Instance::start().await;
    let genesis = instance.call(get("/genesis")).await;
    let lines: Vec<Value> = genesis
        .body
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let bytes = base64_decode(lines[0]["genesis"].as_str().unwrap()).unwrap();
    let network = selfsame_did::selfsame::Network::of_genesis(&bytes);
    assert_eq!(lines[0]["network"], network.as_str());
    let types: Vec<_> = lines[1..].iter().map(|line| &line["txn"]["type"]).collect();
    assert_eq!(types, ["0", "1", "120"]);

    let status = read(&instance, "/status").await;
    assert_eq!(
        status,
        json!({
            "anonymous": false, "display_ledger_state": true, "init_error": null, "ready": true,
            "register_new_dids": false, "syncing": false,
        })
    );
    let status = read(&instance, "/status?validators=1").await;
    let one = &status["validators"][0];
    assert_eq!(one["Node_info"]["Name"], "embedded");
    assert_eq!(one["Pool_info"]["Reachable_nodes_count"], 1);
    let text = instance.call(get("/status/text")).await;
    assert!(text.body.starts_with("embedded\n\n{"), "{}", text.body);
}

#[tokio::test]
async fn a_search_leads_where_it_can_and_lists_what_it_finds() {
    let instance = Instance::start().await;
    let body = parsed(&register(&instance, &json!({ "seed": "a" })).await);
    let led = |answer: &Answered| (answer.status, answer.header("location").to_owned());
    let to = |path: &str| (StatusCode::SEE_OTHER, path.to_owned());
    let one = instance.call(get("/registry/search?q=1")).await;
    assert_eq!(led(&one), to("/registry/view/1"));
    let first = read(&instance, "/ledger/domain/1").await;
    let hash = first["txnMetadata"]["txnId"].as_str().unwrap();
    let one = instance
        .call(get(&format!("/registry/search?q={hash}")))
        .await;
    assert_eq!(led(&one), to("/registry/view/1"));
    let did = body["id"].as_str().unwrap();
    let found = instance
        .call(get(&format!("/registry/search?q={did}")))
        .await;
    assert!(found.body.contains("2 operations"), "{}", found.body);
    assert!(found.body.contains("Makes this DID an endorser."));
    let marked = instance
        .call(get(
            "/registry/search?q=%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        ))
        .await;
    assert!(!marked.body.contains("<script>alert"));
    for wrong in [
        "/registry/search?q=",
        "/registry/search?kind=nothing",
        "/registry/object?id=did:web:x",
    ] {
        let answer = instance.call(get(wrong)).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{wrong}");
    }
    let none = instance.call(get("/registry/blocks/99999")).await;
    assert_eq!(none.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn reading_needs_no_sign_in_and_changes_nothing() {
    let instance = Instance::start().await;
    for path in [
        "/registry",
        "/registry/validators",
        "/browse/domain",
        "/ledger/domain",
        "/genesis",
    ] {
        let answer = instance.call(get(path)).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.body);
        assert_eq!(answer.header("set-cookie"), "", "{path}");
        let answer = instance.call(call(http::Method::DELETE, path)).await;
        assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED, "{path}");
    }
}

#[tokio::test]
async fn a_process_whose_registry_is_elsewhere_leads_there() {
    let there = "https://registry.example";
    let instance = Instance::with_registry_at(there).await;
    for path in [
        "/registry",
        "/registry/object?id=rules",
        "/browse/domain?page=2",
    ] {
        let answer = instance.call(get(path)).await;
        assert_eq!(answer.status, StatusCode::TEMPORARY_REDIRECT, "{path}");
        assert_eq!(answer.header("location"), format!("{there}{path}"));
    }
    let start = instance.call(get("/")).await;
    assert!(start.body.contains(">Registry</a>"), "{}", start.body);
    let register = instance
        .call(post("/register").bearer(&instance.token))
        .await;
    assert_eq!(register.status, StatusCode::NOT_FOUND);
}

/// A key of Indy's sandbox, and its DID.
const KEY: (&str, &str) = (
    "GJ1SzoWzavQYfNL9XkaJdrQejfztN4XqdsiV4ct3LXKL",
    "V4SGRU86Z58d6TV7PBUe6f",
);

async fn submit(instance: &Instance, fields: &[(&str, &str)]) -> Answered {
    let sent = post("/registry/register").form(form(fields));
    instance.call(sent).await
}

#[tokio::test]
async fn anybody_registers_on_the_page_where_the_operator_lets_everybody() {
    let open = Instance::registering().await;
    let page = open.call(get("/registry/register")).await;
    for name in ["did", "verkey", "seed", "role"] {
        assert!(page.body.contains(&format!("name=\"{name}\"")), "{name}");
    }
    assert!(!page.body.contains("agreement"), "none is in force");
    let fields = [
        ("did", KEY.1),
        ("verkey", KEY.0),
        ("role", ""),
        ("seed", ""),
    ];
    // An Indy DID is half of its key; that proves no possession of the key.
    let half = submit(&open, &fields).await;
    assert_eq!(half.status, StatusCode::BAD_REQUEST, "{}", half.body);
    let key = PublicKey::from_raw(KeyType::Ed25519, &base58_decode(KEY.0).unwrap()).unwrap();
    let digest = selfsame_did::selfsame::id_of(&key);
    let fields = [("did", digest.as_str()), fields[1], fields[2], fields[3]];
    let made = submit(&open, &fields).await;
    assert_eq!(made.status, StatusCode::OK, "{}", made.body);
    assert!(
        made.body.contains("<h2 id=\"made\">Registered</h2>"),
        "{}",
        made.body
    );
    assert!(
        made.body.contains(&format!(":{digest}</a>")),
        "{}",
        made.body
    );
    let again = submit(&open, &fields).await;
    assert!(again.body.contains("Already registered"), "{}", again.body);

    // The error is shown beside what was typed; a seed is not repeated.
    let seed = "a seed that is longer than it may be, by far";
    let wrong = submit(&open, &[("seed", seed), ("did", "typed-before")]).await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST);
    assert!(
        wrong.body.contains("The seed is not valid"),
        "{}",
        wrong.body
    );
    assert!(wrong.body.contains("typed-before") && !wrong.body.contains(seed));
    let steward = submit(&open, &[("seed", "another"), ("role", "STEWARD")]).await;
    assert_eq!(steward.status, StatusCode::FORBIDDEN);
    let accepted = submit(&open, &[("seed", "third"), ("agreement", "1")]).await;
    assert_eq!(accepted.status, StatusCode::CONFLICT);
}

#[tokio::test]
async fn the_page_registers_no_did_where_only_the_operator_may() {
    let closed = Instance::start().await;
    let page = closed.call(get("/registry/register")).await;
    assert!(
        !page.body.contains("<form method=\"post\""),
        "{}",
        page.body
    );
    assert!(page.body.contains("open_registration"), "{}", page.body);
    let refused = submit(&closed, &[("seed", "x")]).await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
}
