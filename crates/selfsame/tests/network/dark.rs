//! Nodes of a network are shut down one by one while the scenarios run: each step says what can't be done, and why.

use serde_json::{Value, json};

use crate::http::Api;
use crate::instance::Instance;
use crate::processes::{Network, ends_with, json as story, scenario, until, walks};
use crate::rig::{get, person, post, text};
use crate::turn;

#[test]
fn nodes_are_shut_down_one_by_one_and_each_step_says_what_cannot_be_done_and_why() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let (mut network, instance) = Network::with_instance(folder.path(), &[0, 1, 2, 3]);
    let (origin, token) = (instance.origin.to_string(), instance.token_file());
    walks(&origin, &token);

    // One may go.
    network.nodes[3].take().unwrap().stop();
    walks(&origin, &token);
    let pharmacy = Pharmacy::of(&instance);
    pharmacy.prescribe();

    // With two gone nothing can be written. What needs no write goes on, to the verdict of a revoked credential.
    network.nodes[2].take().unwrap().stop();
    let walked = story(&mut scenario("immunization", &origin, &token));
    assert_eq!(walked["after_revocation"], "revoked");
    let said = ends_with(3, &mut scenario("prescription", &origin, &token));
    assert!(
        said.contains("step `create_pharmacy_did` can't be done"),
        "{said}"
    );
    assert!(
        said.contains("too few validators may be reachable"),
        "{said}"
    );
    assert!(said.contains("it is kept and will be sent again"), "{said}");
    // A use that the registry has not taken is no use yet, and says so.
    let spending = pharmacy.spend();
    let shown = pharmacy.request(&spending);
    assert_eq!(shown["spending"]["state"], "pending", "{shown}");
    assert_eq!(shown["verdict"], Value::Null, "{shown}");

    // With the last but one gone reads are still proven; with all gone there is nobody to ask.
    network.nodes[1].take().unwrap().stop();
    let walked = story(&mut scenario("immunization", &origin, &token));
    assert_eq!(walked["verdict"], "valid");
    network.nodes[0].take().unwrap().stop();
    let said = ends_with(3, &mut scenario("prescription", &origin, &token));
    assert!(
        said.contains("step `create_pharmacy_did` can't be done"),
        "{said}"
    );
    assert!(said.contains("the registry can't be reached"), "{said}");

    // Back again: what waited is written once, and everything goes on.
    for node in [0, 1, 2] {
        network.start_node(node);
    }
    until("the use that waited is made", || {
        pharmacy.request(&spending)["spending"]["state"] == "done"
    });
    assert_eq!(pharmacy.request(&spending)["verdict"]["outcome"], "valid");
    until("the node that is asked first writes again", || {
        let new = json!({"method": "selfsame"});
        let made = pharmacy.operator.send("POST", "/api/dids", Some(&new));
        made.unwrap().is_success()
    });
    walks(&origin, &token);
    drop(instance);
    network.nodes[3] = None;
    network.stop();
}

/// A doctor, a pharmacy that may dispense in his name, and a person, all at one instance.
struct Pharmacy {
    operator: Api,
    person: Api,
    did: String,
}

impl Pharmacy {
    fn of(instance: &Instance) -> Self {
        let operator = instance.operator();
        let did = text(
            &post(&operator, "/api/dids", &json!({"method": "selfsame"})),
            "did",
        );
        let lets = json!({"to": did, "action": "consume", "templates": ["prescription"]});
        post(&operator, "/api/issuer/delegations", &lets);
        let person = person(&operator.with_token(""), "erika");
        Self {
            operator,
            person,
            did,
        }
    }

    /// The wallet has one.
    fn prescribe(&self) {
        let new = json!({"template": "prescription", "examples": true});
        let offer = post(&self.operator, "/api/issuer/offers", &new);
        let taken = json!({"offer": text(&offer, "uri")});
        post(&self.person, "/api/wallet/offers/accept", &taken);
    }

    /// It is shown to be used up; the request.
    fn spend(&self) -> String {
        let ask = json!({"template": "prescription", "spend": true, "spender": self.did});
        let request = post(&self.operator, "/api/verifier/requests", &ask);
        let answer = json!({"request": text(&request, "uri"), "policy": "newest"});
        let answered = self
            .person
            .send("POST", "/api/wallet/requests/answer", Some(&answer));
        // The wallet may be told that the verifier has not finished; what it sent is kept there.
        answered.unwrap();
        text(&request, "id")
    }

    fn request(&self, id: &str) -> Value {
        get(&self.operator, &format!("/api/verifier/requests/{id}"))
    }
}
