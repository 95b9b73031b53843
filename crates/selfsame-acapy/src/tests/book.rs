//! AnonCreds in a credential book: received by the agent, shown to anybody, verified, proven on demand, revoked, erased.

use http::Method;
use selfsame_book_role::{Book, Search};
use selfsame_driver::paging::Paging;
use selfsame_types::TypeDefinition;
use serde_json::{Value, json};

use super::connecting::connected;
use super::study::awaited;
use super::world::{Agent, World};

const NUMBER: &str = "BC0001";
const TYPE: &str = "registration";

/// A registry that issues, a book that its organisation keeps, and a verifier.
struct Register {
    world: World,
    definition: String,
    /// The exchange of the only credential, as the issuer has it.
    sent: Value,
}

impl Register {
    fn registry(&self) -> &Agent {
        &self.world.agents[0]
    }

    fn keeper(&self) -> &Agent {
        &self.world.agents[1]
    }

    fn verifier(&self) -> &Agent {
        &self.world.agents[2]
    }

    fn book(&self) -> Book {
        let app = &self.world.app;
        app.book_of(app.main().clone())
    }

    /// What the book answers, as JSON.
    async fn topics(&self, words: &str) -> Value {
        let book = self.book();
        let parameters = [("q", words), ("revoked", "any")].into_iter();
        let search = Search::of(parameters).unwrap();
        serde_json::to_value(book.search(&search).await.unwrap()).unwrap()
    }

    /// The identifier of the only entry, once the book has it.
    async fn entry(&self) -> String {
        let book = self.book();
        for _ in 0..3_000 {
            let found = self.topics(NUMBER).await;
            if let Some(topic) = found["results"][0]["id"].as_i64() {
                let sets = book.sets(topic, None).await.unwrap();
                let credentials = sets[0].credentials.as_ref().unwrap();
                return credentials[0].credential_id.clone();
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        panic!("{:?}", book.refused(&Paging::default()).await);
    }

    async fn verdict(&self, entry: &str) -> Value {
        let book = self.book();
        serde_json::to_value(book.verify(entry).await.unwrap()).unwrap()
    }
}

/// The registry's definition, and the type of the keeper that names it.
async fn world(received: bool, is_trusted: bool) -> Register {
    world_with(received, is_trusted, false).await
}

/// The same; `answers` says whether the keeper's agent answers all requests by itself.
async fn world_with(received: bool, is_trusted: bool, answers: bool) -> Register {
    let world = World::with(&["registries", "main", "bank"], |settings| {
        let is_keeper = settings.organisation == "main";
        settings.terms.settings.auto_respond_presentation_request = is_keeper && answers;
        settings.terms.settings.auto_respond_credential_offer = is_keeper;
        settings.terms.settings.auto_store_credential = is_keeper;
        settings.terms.settings.auto_verify_presentation = true;
        settings.terms.settings.preserve_exchange_records = true;
    })
    .await;
    let registry = &world.agents[0];
    let schema = json!({
        "schema_name": "registration.registries", "schema_version": "1.0",
        "attributes": ["number", "Legal_name", "since", "director"],
    });
    let schema = registry.post("/schemas", &schema.to_string()).await;
    let body = json!({
        "schema_id": schema["schema_id"], "tag": "registration",
        "support_revocation": true, "revocation_registry_size": 10,
    });
    let path = "/credential-definitions";
    let made = registry.post(path, &body.to_string()).await;
    let definition = made["credential_definition_id"].clone();
    let definition = definition.as_str().unwrap().to_owned();

    let issuer = world.app.main().issuer().unwrap().clone();
    let kept: TypeDefinition = serde_json::from_value(json!({
        "id": TYPE,
        "title": {"en": "Registration"},
        "claims": [
            {"path": ["number"], "kind": "text", "required": true},
            {"path": ["legal_name"], "kind": "text", "required": true},
            {"path": ["since"], "kind": "date"},
            {"path": ["director"], "kind": "text"},
        ],
        "book": {
            "topic": {"type": "registration.registries.ca", "source_id": ["number"]},
            "names": [{"type": "entity_name", "claim": ["legal_name"]}],
            "effective_date": ["since"],
            "anoncreds": {"received": received, "definitions": [definition]},
        },
    }))
    .unwrap();
    issuer.types().replace(TYPE, &kept).await.unwrap();
    world.app.publish_type(&issuer, TYPE).await.unwrap();
    if is_trusted {
        trust(&world).await;
    }
    let sent = issue(&world, &definition, [NUMBER, "Blue Whale Ltd."]).await;
    Register {
        world,
        definition,
        sent,
    }
}

/// The keeper's verifier trusts the registry.
async fn trust(world: &World) {
    let registry = world.app.agent_of("registries").unwrap();
    let registry = world.app.agent_issuer(&registry).await.unwrap();
    let verifier = world.app.main().verifier().unwrap().clone();
    for name in registry.names() {
        let new = json!({"issuer": name, "name": "Registry"});
        let new = serde_json::from_value(new).unwrap();
        verifier.trust().trust(&new).await.unwrap();
    }
}

/// Issues a registration with this number and name.
async fn issue(world: &World, definition: &str, named: [&str; 2]) -> Value {
    let [number, legal_name] = named;
    let [registry, keeper, ..] = &world.agents[..] else {
        panic!("three agents");
    };
    let [issuers, holders] = connected(registry, keeper).await;
    let value = |name: &str, value: &str| json!({"name": name, "value": value});
    let body = json!({
        "connection_id": issuers,
        "credential_preview": {"attributes": [
            value("number", number), value("Legal_name", legal_name),
            value("since", "19980401"), value("director", "Ada Lovelace"),
        ]},
        "filter": {"anoncreds": {"cred_def_id": definition}},
    });
    let path = "/issue-credential-2.0/send";
    let sent = registry.post(path, &body.to_string()).await;
    let path = format!("/issue-credential-2.0/records?connection_id={holders}");
    awaited(keeper, &path, |one| {
        one["cred_ex_record"]["state"] == "done"
    })
    .await;
    sent
}

/// A request for these attributes of the registration.
fn request(definition: &str, names: &[&str]) -> Value {
    json!({
        "name": "Who is it?", "version": "1.0",
        "requested_attributes": {"all": {
            "names": names,
            "restrictions": [{"cred_def_id": definition}],
        }},
        "requested_predicates": {},
    })
}

/// The link of a verifier's invitation with a request for these attributes, and where its exchange is.
async fn invited(register: &Register, names: &[&str], more: Value) -> [String; 2] {
    invited_to(register, request(&register.definition, names), more).await
}

/// The same with this request.
async fn invited_to(register: &Register, request: Value, more: Value) -> [String; 2] {
    let body = json!({"presentation_request": {"anoncreds": request}});
    let path = "/present-proof-2.0/create-request";
    let made = register.verifier().post(path, &body.to_string()).await;
    let id = made["pres_ex_id"].as_str().unwrap().to_owned();
    let mut body = json!({"attachments": [{"id": id, "type": "present-proof"}]});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    let path = "/out-of-band/create-invitation";
    let made = register.verifier().post(path, &body.to_string()).await;
    let link = made["invitation_url"].as_str().unwrap().to_owned();
    [link, format!("/present-proof-2.0/records/{id}")]
}

#[tokio::test]
async fn a_credential_that_is_received_is_entered_shown_and_verified_and_its_revocation_is_noticed()
{
    let register = world(true, true).await;
    let entry = register.entry().await;
    let book = register.book();
    let shown = book.credential(&entry).await.unwrap();
    assert_eq!(
        Value::Object(shown.raw_data),
        json!({"number": NUMBER, "legal_name": "Blue Whale Ltd.", "since": "1998-04-01"})
    );
    assert_eq!(shown.effective_date, "1998-04-01T00:00:00Z");
    assert_eq!(shown.credential_def_id, Some(register.definition.clone()));

    let verdict = register.verdict(&entry).await;
    assert_eq!(verdict["has_credential"], true);
    assert_eq!(verdict["verdict"]["outcome"], "valid", "{verdict}");
    assert_eq!(verdict["verdict"]["rules"][1]["passed"], true);

    // What is there already is not entered again.
    let held = register.keeper().get("/credentials").await;
    let referent = held["results"][0]["referent"].clone();
    let new = json!({"credentials": [referent, referent]});
    let new = serde_json::from_value(new).unwrap();
    let again = book.enter_held(&new).await.unwrap();
    assert_eq!(again.len(), 1);
    assert!(
        !again[0].new && again[0].credential_id == entry,
        "{again:?}"
    );

    let body = json!({"cred_ex_id": register.sent["cred_ex_id"], "publish": true});
    let body = body.to_string();
    register.registry().post("/revocation/revoke", &body).await;
    for _ in 0..3_000 {
        register.world.app.note_revoked().await.unwrap();
        if register.topics(NUMBER).await["results"][0]["revoked"] == true {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert!(book.credential(&entry).await.unwrap().revoked);
    let verdict = register.verdict(&entry).await;
    assert_eq!(verdict["verdict"]["outcome"], "revoked", "{verdict}");
}

#[tokio::test]
async fn an_erased_entry_takes_its_credential_with_it_and_does_not_come_back() {
    let register = world(true, true).await;
    let entry = register.entry().await;
    let book = register.book();
    let held = register.keeper().get("/credentials").await;
    let referent = held["results"][0]["referent"].as_str().unwrap().to_owned();
    book.erase(&entry, "court order 7").await.unwrap();
    let held = register.keeper().get("/credentials").await;
    assert_eq!(held["results"], json!([]), "{held}");
    assert_eq!(register.topics(NUMBER).await["total"], 0);
    let new = serde_json::from_value(json!({"credentials": [referent]})).unwrap();
    assert!(book.enter_held(&new).await.is_err());
    // Its registry has no entry of this book any more; to look at it does no harm.
    register.world.app.note_revoked().await.unwrap();
    let refused = book.verify(&entry).await.unwrap_err();
    assert_eq!(refused.reason.id(), "book-entry-erased");
}

#[tokio::test]
async fn a_credential_of_an_issuer_that_is_not_trusted_waits_with_the_reason() {
    let register = world(true, false).await;
    let book = register.book();
    let mut refused = Vec::new();
    for _ in 0..3_000 {
        refused = book.refused(&Paging::default()).await.unwrap().items;
        if !refused.is_empty() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0].type_id, TYPE);
    assert_eq!(refused[0].because.id(), "book-not-valid");
    assert_eq!(register.topics(NUMBER).await["total"], 0);
    let id = refused[0].credential_id.clone();
    assert!(book.enter_refused(&id).await.is_err());
    trust(&register.world).await;
    let entered = book.enter_refused(&id).await.unwrap();
    assert!(entered.new && entered.credential_id == id, "{entered:?}");
    assert_eq!(register.entry().await, id);
}

#[tokio::test]
async fn what_no_type_says_is_not_entered_unless_it_is_handed_in() {
    let register = world(false, true).await;
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!(register.topics(NUMBER).await["total"], 0);
    let book = register.book();
    let held = register.keeper().get("/credentials").await;
    let referent = held["results"][0]["referent"].clone();
    let unknown = json!({"credentials": [referent, "nobody"]});
    let unknown = serde_json::from_value(unknown).unwrap();
    let refused = book.enter_held(&unknown).await.unwrap_err();
    assert_eq!(refused.reason.id(), "book-row", "{refused}");
    assert_eq!(register.topics(NUMBER).await["total"], 0);
    let new = serde_json::from_value(json!({"credentials": [referent]})).unwrap();
    let entered = book.enter_held(&new).await.unwrap();
    assert!(entered[0].new);
    let verdict = register.verdict(&entered[0].credential_id).await;
    assert_eq!(verdict["verdict"]["outcome"], "valid", "{verdict}");
}

#[tokio::test]
async fn a_request_is_answered_by_itself_if_the_policy_says_so_and_all_of_it_is_public() {
    let register = world(true, true).await;
    register.entry().await;
    let book = register.book();
    let [verifiers, keepers] = connected(register.verifier(), register.keeper()).await;
    // Each version of the protocol: where it is asked, the members of the body and of the record, and the last state.
    let asked = async |version: &str, names: &[&str]| {
        let request = request(&register.definition, names);
        let (body, member) = match version {
            "/present-proof" => (
                json!({"connection_id": verifiers, "proof_request": request}),
                "presentation_exchange_id",
            ),
            _ => (
                json!({"connection_id": verifiers, "presentation_request": {"indy": request}}),
                "pres_ex_id",
            ),
        };
        let path = format!("{version}/send-request");
        let sent = register.verifier().post(&path, &body.to_string()).await;
        let path = format!("{version}/records?connection_id={keepers}");
        let came = awaited(register.keeper(), &path, |one| {
            one["thread_id"] == sent["thread_id"]
        });
        came.await;
        format!("{version}/records/{}", sent[member].as_str().unwrap())
    };
    let versions = ["/present-proof-2.0", "/present-proof"];
    for version in versions {
        let path = asked(version, &["number"]).await;
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        let waits = register.verifier().get(&path).await;
        assert_eq!(waits["verified"], Value::Null, "{waits}");
    }
    let policy = json!({"proofs_by_agent": true});
    let policy = serde_json::from_value(policy).unwrap();
    book.set_policy(policy).await.unwrap();
    for version in versions {
        let path = asked(version, &["number", "legal_name"]).await;
        let is_judged = |one: &Value| one["verified"] == "true";
        let judged = register.verifier().until(&path, is_judged).await;
        assert!(judged.to_string().contains("Blue Whale"), "{judged}");
        assert!(!judged.to_string().contains("Lovelace"), "{judged}");
        // The book does not show the director.
        let path = asked(version, &["number", "director"]).await;
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        let waits = register.verifier().get(&path).await;
        assert_eq!(waits["verified"], Value::Null, "{waits}");
        let path = format!("{version}/records?connection_id={keepers}");
        let listed = register.keeper().get(&path).await;
        let states = listed["results"].as_array().unwrap().iter();
        let waiting = states.filter(|one| {
            let state = one["state"].as_str().unwrap();
            state.replace('_', "-") == "request-received"
        });
        assert_eq!(waiting.count(), 2, "{listed}");
    }
}

#[tokio::test]
async fn anybody_has_an_entry_proven_to_a_verifier_whose_invitation_they_bring() {
    let register = world(true, true).await;
    let entry = register.entry().await;
    let book = register.book();
    let [link, _] = invited(&register, &["number"], json!({})).await;
    let refused = book.prove(&entry, &link).await.unwrap_err();
    assert_eq!(refused.reason.id(), "book-proof-agent-off");
    let policy = serde_json::from_value(json!({"proofs_by_agent": true})).unwrap();
    book.set_policy(policy).await.unwrap();

    let [link, path] = invited(&register, &["number", "legal_name"], json!({})).await;
    book.prove(&entry, &link).await.unwrap();
    let is_judged = |one: &Value| one["verified"] == "true";
    register.verifier().until(&path, is_judged).await;
    // The same link once more leaves nothing behind either, whatever comes of it.
    drop(book.prove(&entry, &link).await);
    let kept = register.keeper().get("/out-of-band/records").await;
    assert_eq!(kept["results"], json!([]), "{kept}");

    let [hidden, _] = invited(&register, &["director"], json!({})).await;
    let exchange = json!({"handshake_protocols": ["https://didcomm.org/didexchange/1.1"]});
    let [connecting, _] = invited(&register, &["number"], exchange).await;
    for (link, expected) in [
        (hidden.as_str(), "book-proof-agent-unfit"),
        (connecting.as_str(), "book-proof-invitation"),
        ("openid4vp://?client_id=x", "book-proof-invitation"),
        ("", "book-proof-invitation"),
    ] {
        let refused = book.prove(&entry, link).await.unwrap_err();
        assert_eq!(refused.reason.id(), expected, "{link}");
    }
    // The revocation registry had no state then, so that nothing can be made. Why is told to the agent's controllers alone.
    let mut early = request(&register.definition, &["number"]);
    early["non_revoked"] = json!({"to": 1});
    let [link, _] = invited_to(&register, early, json!({})).await;
    let refused = book.prove(&entry, &link).await.unwrap_err();
    let expected = selfsame_driver::Reason::new("book-proof-agent-failed");
    assert_eq!(refused.reason, expected);
    let exchanges = register.keeper().get("/present-proof-2.0/records").await;
    let mut exchanges = exchanges["results"].as_array().unwrap().iter();
    assert!(exchanges.any(|one| one["error_msg"].is_string()));
    let none = register
        .keeper()
        .send(Method::GET, "/out-of-band/records", "");
    assert_eq!(none.await.json()["results"], json!([]));
}

#[tokio::test]
async fn an_agent_that_answers_all_requests_answers_one_that_is_brought_with_the_entry_alone() {
    let register = world_with(false, true, true).await;
    let book = register.book();
    let held = register.keeper().get("/credentials").await;
    let referent = held["results"][0]["referent"].clone();
    let new = serde_json::from_value(json!({"credentials": [referent]})).unwrap();
    let entered = book.enter_held(&new).await.unwrap();
    let policy = serde_json::from_value(json!({"proofs_by_agent": true})).unwrap();
    book.set_policy(policy).await.unwrap();
    // A newer one would answer as well, and is not in the book.
    issue(
        &register.world,
        &register.definition,
        ["BC0002", "Orca Ltd."],
    )
    .await;
    let [link, path] = invited(&register, &["number", "legal_name"], json!({})).await;
    book.prove(&entered[0].credential_id, &link).await.unwrap();
    let is_judged = |one: &Value| one["verified"] == "true";
    let judged = register.verifier().until(&path, is_judged).await;
    assert!(judged.to_string().contains("Blue Whale"), "{judged}");
    assert!(!judged.to_string().contains("Orca"), "{judged}");
}
