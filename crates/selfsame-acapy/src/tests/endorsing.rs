//! In a network of mode `endorsed`, an author publishes through an endorser.

use http::{Method, StatusCode};
use selfsame_core::dids::{Author, Dids};
use selfsame_core::identity::KEY_FRAGMENT;
use selfsame_crypto::KeyHandle;
use selfsame_did::Did;
use selfsame_endorsement::EndorsementRole;
use selfsame_endorsement::protocol::{authored_of, endorsed_text};
use selfsame_registry::network::{Mode, Role};
use selfsame_registry::transaction::Signature;
use selfsame_registry::{Identifier, Operation, Rules};
use serde_json::{Value, json};

use super::connecting::connected;
use super::hearing::Controller;
use super::study::{Published, issued};
use super::world::{Agent, World};

const AUTHOR: &str = "TRANSACTION_AUTHOR";
const ENDORSER: &str = "TRANSACTION_ENDORSER";

/// An author, an endorser and a holder in a network of mode `endorsed`, in which the endorser alone has a role.
struct Network {
    world: World,
    /// The connection at the author and at the endorser.
    connections: [String; 2],
}

impl Network {
    /// Such a network. `by_themselves` tells whether both sides go on by themselves.
    async fn new(by_themselves: bool, controllers: &[&str]) -> Self {
        let names = ["author", "endorser", "holder"];
        let world = World::heard(&names, controllers, |settings| {
            let name = settings.organisation.clone();
            settings.terms.settings.auto_respond_credential_offer = name == "holder";
            settings.terms.settings.preserve_exchange_records = true;
            if !by_themselves {
                return;
            }
            let terms = &mut settings.endorsement;
            match name.as_str() {
                "author" => {
                    terms.role = EndorsementRole::Author;
                    terms.alias = Some("Pacientes".to_owned());
                    (terms.auto_request, terms.auto_write) = (true, true);
                    terms.auto_create_revocation = true;
                }
                "endorser" => {
                    terms.role = EndorsementRole::Endorser;
                    terms.auto_endorse = true;
                }
                _ => {}
            }
        })
        .await;
        let [author, endorser, _] = &world.agents[..] else {
            panic!("three agents");
        };
        let connections = connected(author, endorser).await;
        let did = public_did(endorser).await;
        govern(&world, &did).await;
        let [ours, theirs] = &connections;
        if !by_themselves {
            let role = "set-endorser-role?transaction_my_job";
            author
                .post(&format!("/transactions/{ours}/{role}={AUTHOR}"), "")
                .await;
            endorser
                .post(&format!("/transactions/{theirs}/{role}={ENDORSER}"), "")
                .await;
        }
        let info = format!("/transactions/{ours}/set-endorser-info?endorser_did={did}");
        assert_eq!(author.post(&info, "").await["endorser_did"], did);
        Self { world, connections }
    }

    fn agents(&self) -> [&Agent; 3] {
        let [author, endorser, holder] = &self.world.agents[..] else {
            panic!("three agents");
        };
        [author, endorser, holder]
    }

    /// Begins to publish a schema through the endorser. Gives the identifiers of the schema and of the transaction.
    async fn schema(&self, version: &str) -> [String; 2] {
        let [ours, _] = &self.connections;
        let path = format!("/schemas?create_transaction_for_endorser=true&conn_id={ours}");
        let made = self.agents()[0].post(&path, &schema(version)).await;
        assert_eq!(made["sent"]["schema"]["version"], version);
        [&made["sent"]["schema_id"], &made["txn"]["transaction_id"]].map(text)
    }

    /// Asks the endorser. Gives the transaction's identifier there.
    async fn requested(&self, id: &str) -> String {
        let [author, endorser, _] = self.agents();
        let path = format!("/transactions/create-request?tran_id={id}");
        let body = r#"{"expires_time":"2030-01-01T00:00:00Z"}"#;
        assert_eq!(author.post(&path, body).await["state"], "request_sent");
        let is_ours = |one: &Value| one["thread_id"] == id;
        let listed = |found: &Value| found["results"].as_array().unwrap().iter().any(is_ours);
        let found = endorser.until("/transactions", listed).await;
        let mut found = found["results"].as_array().unwrap().iter();
        let found = found.find(|one| is_ours(one)).unwrap();
        assert_eq!(found["state"], "request_received");
        assert_eq!(found["timing"]["expires_time"], "2030-01-01T00:00:00Z");
        text(&found["transaction_id"])
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

fn schema(version: &str) -> String {
    let names = [
        "vaccine",
        "date",
        "manufacturer",
        "vaccination_site_country",
    ];
    let body = json!({
        "schema_name": "vaccination", "schema_version": version, "attributes": names,
    });
    body.to_string()
}

fn at_schema(id: &str) -> String {
    format!("/schemas/{}", id.replace('/', "%2F"))
}

async fn public_did(agent: &Agent) -> String {
    text(&agent.get("/wallet/did/public").await["result"]["did"])
}

/// Makes this DID an endorser, and the network one of mode `endorsed`.
async fn govern(world: &World, endorser: &str) {
    let ledger = world.app.registry().unwrap().ledger().unwrap();
    let endorser = Did::parse(endorser).unwrap();
    let subject = Identifier::of_did(&endorser, ledger.machine().network()).unwrap();
    let rules = Rules {
        mode: Mode::Endorsed,
        ..*ledger.genesis().rules()
    };
    let role = Some(Role::Endorser);
    let change = vec![
        Operation::SetRole { subject, role },
        Operation::ChangeRules {
            from_height: ledger.head().unwrap().height + 2,
            rules,
        },
    ];
    decided(world, change).await;
}

/// Writes these operations as the trustee of the network.
pub async fn decided(world: &World, operations: Vec<Operation>) {
    let ledger = world.app.registry().unwrap().ledger().unwrap();
    let [trustee] = ledger.genesis().members() else {
        panic!("an embedded registry has one member");
    };
    let author = Author {
        tenant: selfsame_ledger::tenant().unwrap(),
        did: ledger.machine().did(trustee.id().unwrap()).unwrap(),
        key: KeyHandle::of(&trustee.key),
        fragment: KEY_FRAGMENT.to_owned(),
    };
    let dids = Dids::new(world.app.agents().anoncreds().shared().clone());
    let signed = dids.signed_together(&author, operations).await.unwrap();
    dids.write(&author, &signed).await.unwrap();
}

async fn state(agent: &Agent, id: &str, wanted: &str) -> Value {
    let path = format!("/transactions/{id}");
    agent.until(&path, |found| found["state"] == wanted).await
}

#[tokio::test]
async fn an_author_publishes_a_schema_that_its_endorser_signed_and_cannot_publish_alone() {
    let controller = Controller::start().await;
    let network = Network::new(false, &[&controller.url]).await;
    let [author, endorser, holder] = network.agents();
    let alone = author.send(Method::POST, "/schemas", &schema("0.9")).await;
    assert_eq!(alone.status, StatusCode::BAD_REQUEST, "{}", alone.body);
    let [schema, id] = network.schema("1.0").await;
    let again = network.schema("1.0").await;
    assert_eq!(again, [schema.clone(), id.clone()], "the same transaction");
    let shown = author.get(&format!("/transactions/{id}")).await;
    assert_eq!(shown["state"], "transaction_created");
    let early = format!("/transactions/{id}/write");
    let early = author.send(Method::POST, &early, "").await;
    assert_eq!(early.status, StatusCode::FORBIDDEN);

    let theirs = network.requested(&id).await;
    let shown = endorser.get(&format!("/transactions/{theirs}")).await;
    let asked: Value = serde_json::from_str(
        shown["messages_attach"][0]["data"]["json"]
            .as_str()
            .unwrap(),
    )
    .unwrap();
    assert_eq!(asked["operations"][0]["type"], "101");
    assert_eq!(asked["operations"][0]["data"]["name"], "vaccination");
    assert_eq!(asked["endorser"], public_did(endorser).await);
    // Only the other side endorses.
    let own = format!("/transactions/{id}/endorse");
    let own = author.send(Method::POST, &own, "").await;
    assert_eq!(own.status, StatusCode::FORBIDDEN);
    let other = public_did(holder).await;
    let other = format!("/transactions/{theirs}/endorse?endorser_did={other}");
    let other = endorser.send(Method::POST, &other, "").await;
    assert_eq!(other.status, StatusCode::BAD_REQUEST);

    let path = format!("/transactions/{theirs}/endorse");
    let endorsed = endorser.post(&path, "").await;
    assert_eq!(endorsed["state"], "transaction_endorsed");
    state(author, &id, "transaction_endorsed").await;
    let written = author.post(&format!("/transactions/{id}/write"), "").await;
    assert_eq!(written["state"], "transaction_acked");
    state(endorser, &theirs, "transaction_acked").await;
    let found = holder.get(&at_schema(&schema)).await;
    assert_eq!(found["schema"]["version"], "1.0");
    let states = [
        "transaction_created",
        "request_sent",
        "request_received",
        "transaction_endorsed",
        "transaction_acked",
    ];
    controller.hears("endorse_transaction", &states).await;
}

#[tokio::test]
async fn an_author_names_its_endorser_in_the_words_of_anoncreds_too() {
    let network = Network::new(false, &[]).await;
    let [author, endorser, _] = network.agents();
    let [ours, _] = &network.connections;
    let options = json!({
        "create_transaction_for_endorser": true, "endorser_connection_id": ours,
        "support_revocation": true, "revocation_registry_size": 10,
    });
    let publish = async |kind: &str, body: Value| {
        let path = format!("/anoncreds/{kind}");
        let made = author.post(&path, &body.to_string()).await;
        let id = text(&made["registration_metadata"]["txn"]["transaction_id"]);
        assert_eq!(made["job_id"], id);
        let theirs = network.requested(&id).await;
        endorser
            .post(&format!("/transactions/{theirs}/endorse"), "")
            .await;
        state(author, &id, "transaction_endorsed").await;
        let written = author.post(&format!("/transactions/{id}/write"), "").await;
        assert_eq!(written["state"], "transaction_acked");
        made
    };
    let issuer = public_did(author).await;
    let schema = json!({
        "issuerId": issuer, "name": "vaccination", "version": "1.0", "attrNames": ["vaccine"],
    });
    let body = json!({"schema": schema, "options": options});
    let made = publish("schema", body.clone()).await;
    let made = &made["schema_state"];
    assert_eq!((&made["state"], &made["schema"]), (&json!("wait"), &schema));
    let again = author.post("/anoncreds/schema", &body.to_string()).await;
    assert_eq!(
        again["schema_state"]["state"], "finished",
        "the ledger has it"
    );

    let definition = json!({"issuerId": issuer, "schemaId": made["schema_id"], "tag": "t"});
    let body = json!({"credential_definition": definition, "options": options});
    let made = publish("credential-definition", body).await;
    let definition = &made["credential_definition_state"]["credential_definition_id"];

    let registry = json!({
        "issuerId": issuer, "credDefId": definition, "tag": "t", "maxCredNum": 20,
    });
    let body = json!({"revocation_registry_definition": registry, "options": options});
    let made = publish("revocation-registry-definition", body).await;
    let made = &made["revocation_registry_definition_state"];
    let value = &made["revocation_registry_definition"]["value"];
    assert_eq!(
        (&made["state"], &value["maxCredNum"]),
        (&json!("wait"), &json!(20))
    );
    let id = text(&made["revocation_registry_definition_id"]);
    let path = format!("/revocation/registry/{}", id.replace('/', "%2F"));
    let shown = author
        .until(&path, |found| found["result"]["state"] == "active")
        .await;
    assert_eq!(shown["result"]["max_cred_num"], 20);

    let body = json!({"revocation_registry_definition": {
        "issuerId": issuer, "credDefId": definition, "tag": "t", "maxCredNum": 1,
    }});
    let path = "/anoncreds/revocation-registry-definition";
    let refused = author.send(Method::POST, path, &body.to_string()).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", refused.body);
}

#[tokio::test]
async fn an_author_whose_endorser_goes_on_by_itself_issues_a_credential_that_can_be_revoked() {
    let network = Network::new(true, &[]).await;
    let [author, _, holder] = network.agents();
    let made = author.post("/schemas", &schema("1.0")).await;
    let id = text(&made["txn"]["transaction_id"]);
    state(author, &id, "transaction_acked").await;
    let schema = text(&made["sent"]["schema_id"]);
    let body = json!({
        "schema_id": schema, "tag": "vaccination",
        "support_revocation": true, "revocation_registry_size": 10,
    });
    let body = body.to_string();
    let made = author.post("/credential-definitions", &body).await;
    let id = text(&made["txn"]["transaction_id"]);
    state(author, &id, "transaction_acked").await;
    let published = Published {
        schema,
        definition: text(&made["sent"]["credential_definition_id"]),
    };
    let issued = issued(author, holder, &published).await;
    let registry = &issued.stored["indy"]["rev_reg_id"];
    assert!(registry.is_string(), "{}", issued.stored);
    // The schema, the definition and two registries.
    let all_written = |found: &Value| {
        let found = found["results"].as_array().unwrap();
        let written = found
            .iter()
            .filter(|one| one["state"] == "transaction_acked");
        written.count() == 4
    };
    author.until("/transactions", all_written).await;
    let body = json!({ "cred_ex_id": issued.sent["cred_ex_id"], "publish": true });
    author.post("/revocation/revoke", &body.to_string()).await;
}

#[tokio::test]
async fn what_is_refused_or_taken_back_is_asked_for_again() {
    let network = Network::new(false, &[]).await;
    let [author, endorser, _] = network.agents();
    let [_, id] = network.schema("1.0").await;
    let theirs = network.requested(&id).await;
    let path = format!("/transactions/{theirs}/refuse");
    let refused = endorser.post(&path, "").await;
    assert_eq!(refused["state"], "transaction_refused");
    state(author, &id, "transaction_refused").await;
    let cancel = format!("/transactions/{id}/cancel");
    let late = author.send(Method::POST, &cancel, "").await;
    assert_eq!(late.status, StatusCode::BAD_REQUEST);
    let resent = author.post(&format!("/transaction/{id}/resend"), "").await;
    assert_eq!(resent["state"], "transaction_resent");
    state(endorser, &theirs, "transaction_resent_received").await;
    assert_eq!(
        author.post(&cancel, "").await["state"],
        "transaction_cancelled"
    );
    state(endorser, &theirs, "transaction_cancelled").await;
    let endorse = format!("/transactions/{theirs}/endorse");
    let cancelled = endorser.send(Method::POST, &endorse, "").await;
    assert_eq!(cancelled.status, StatusCode::BAD_REQUEST);
    author.post(&format!("/transactions/{id}/resend"), "").await;
    state(endorser, &theirs, "transaction_resent_received").await;
    endorser.post(&endorse, "").await;
    state(author, &id, "transaction_endorsed").await;
    let written = author.post(&format!("/transactions/{id}/write"), "").await;
    assert_eq!(written["state"], "transaction_acked");
}

#[tokio::test]
async fn the_registry_refuses_a_forged_endorsement_and_takes_the_true_one_after_it() {
    let network = Network::new(false, &[]).await;
    let [author, endorser, _] = network.agents();
    let [schema, id] = network.schema("1.0").await;
    let theirs = network.requested(&id).await;
    let shown = author.get(&format!("/transactions/{id}")).await;
    let asked = text(&shown["messages_attach"][0]["data"]["json"]);
    let forged = Signature::new(KEY_FRAGMENT, &[7; 64]).unwrap();
    let forged = authored_of(&asked).unwrap().endorsed(vec![forged]).unwrap();
    let message = json!({
        "@type": "https://didcomm.org/transactions/1.0/endorse",
        "@id": "forged",
        "transaction_id": id,
        "endorser_did": public_did(endorser).await,
        "signature_response": {
            "signature": { public_did(endorser).await: endorsed_text(&forged).unwrap() },
        },
    });
    let message = message.to_string();
    let message =
        selfsame_didcomm::Message::read(message.as_bytes(), selfsame_didcomm::Version::V1);
    let [ours, _] = &network.connections;
    let app = &network.world.app;
    let tenant = app.agent_of("author").unwrap();
    let endorsements = app.endorsements();
    let heard = endorsements.take(&tenant, ours, &message.unwrap()).await;
    let store = &app.agents().anoncreds().shared().store;
    store.commit(heard.unwrap().writes.unwrap()).await.unwrap();
    state(author, &id, "transaction_endorsed").await;
    let write = format!("/transactions/{id}/write");
    let refused = author.send(Method::POST, &write, "").await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", refused.body);
    let found = author.send(Method::GET, &at_schema(&schema), "").await;
    assert_ne!(found.status, StatusCode::OK);

    author.post(&format!("/transactions/{id}/cancel"), "").await;
    state(endorser, &theirs, "transaction_cancelled").await;
    author.post(&format!("/transactions/{id}/resend"), "").await;
    state(endorser, &theirs, "transaction_resent_received").await;
    endorser
        .post(&format!("/transactions/{theirs}/endorse"), "")
        .await;
    state(author, &id, "transaction_endorsed").await;
    let written = author.post(&write, "").await;
    assert_eq!(written["state"], "transaction_acked");
    author.get(&at_schema(&schema)).await;
}
