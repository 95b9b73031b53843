//! The nodes of a network are stopped one by one while the scenarios run: each step reports what is not possible, and
//! why.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};
use url::Url;

use crate::http::Api;
use crate::instance::Instance;
use crate::processes::{Network, ends_with, json as story, scenario, selfsame, until, walks};
use crate::rig::{get, person, post, text};
use crate::turn;

#[test]
fn nodes_are_shut_down_one_by_one_and_each_step_says_what_cannot_be_done_and_why() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let (mut network, instance) = Network::with_instance(folder.path(), &[0, 1, 2, 3]);
    let (origin, token) = (instance.origin.to_string(), instance.token_file());
    walks(&origin, &token);

    // One node may be lost.
    network.nodes[3].take().unwrap().stop();
    walks(&origin, &token);
    let pharmacy = Pharmacy::of(&instance);
    pharmacy.prescribe();

    // With two nodes lost nothing can be written. Everything that needs no write works, including the verdict on a
    // revoked credential.
    network.nodes[2].take().unwrap().stop();
    let walked = story(&mut scenario("immunization", &origin, &token));
    assert_eq!(walked["after_revocation"], "revoked");
    let said = cannot_write(&origin, &token, "too few validators may be reachable");
    assert!(
        said.contains("it is stored and will be sent again"),
        "{said}"
    );
    // A use that the registry has not accepted does not count yet, and the answer says so.
    let spending = pharmacy.spend();
    let shown = pharmacy.request(&spending);
    assert_eq!(shown["spending"]["state"], "pending", "{shown}");
    assert_eq!(shown["verdict"], Value::Null, "{shown}");

    // With one node left, reads are still proven; with none left, there is no node to read from.
    network.nodes[1].take().unwrap().stop();
    let walked = story(&mut scenario("immunization", &origin, &token));
    assert_eq!(walked["verdict"], "valid");
    network.nodes[0].take().unwrap().stop();
    cannot_write(&origin, &token, "the registry can't be reached");

    // The nodes return: pending writes are made once, and everything works again.
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
    ends_with_one_log(network, instance, &pharmacy);
}

/// The end of the scenario that has to write. A node waits ten seconds for its block before it reports why there is
/// none. On a busy machine the client may give up earlier, so it tries again.
#[track_caller]
fn cannot_write(origin: &str, token: &Path, why: &str) -> String {
    let mut said = String::new();
    for _ in 0..5 {
        said = ends_with(2, &mut scenario("prescription", origin, token));
        assert!(said.contains("step `create_pharmacy_did` failed"), "{said}");
        if said.contains(why) {
            return said;
        }
    }
    panic!("not a word of {why}: {said}");
}

/// Pending writes are made too: each of the DIDs is in the log once, and the pending use is one use. With the last node
/// back, all nodes have that log, and one app hash.
fn ends_with_one_log(mut network: Network, instance: Instance, pharmacy: &Pharmacy) {
    let dids = || {
        let all = get(&pharmacy.operator, "/api/dids")["items"].clone();
        let of_registry = |did: &&Value| text(did, "did").starts_with("did:selfsame:");
        let all = all.as_array().unwrap().iter();
        all.filter(of_registry).cloned().collect::<Vec<_>>()
    };
    let times_made = |did: &Value, log: &[Value]| {
        let made = |entry: &&Value| entry["kind"] == "create_did" && entry["subject"] == did["did"];
        log.iter().filter(made).count()
    };
    until("what was kept is written", || {
        let log = log_of(&network, 0);
        dids().iter().all(|did| times_made(did, &log) > 0)
    });
    let dids = dids();
    assert!(dids.len() >= 3, "{dids:?}");
    drop(instance);
    network.start_node(3);
    until("all have the same log", || {
        let shown = network.status();
        let sizes: Vec<_> = (0..4_usize)
            .map(|at| &shown["nodes"][at]["transactions"])
            .collect();
        sizes.iter().all(|size| size.is_u64() && *size == sizes[0])
    });
    let log = log_of(&network, 3);
    let hashes: BTreeSet<_> = log.iter().map(|entry| text(entry, "hash")).collect();
    assert_eq!(hashes.len(), log.len(), "nothing is in it twice");
    assert!(
        dids.iter().all(|did| times_made(did, &log) == 1),
        "{dids:?}"
    );
    let used = |entry: &&Value| entry["kind"] == "consume" && entry["author"] == pharmacy.did;
    assert_eq!(log.iter().filter(used).count(), 1);
    network.stop();
    let app_hash = |node| {
        let mut export = selfsame();
        export.args(["registry", "export", "--json"]);
        export.arg(network.home(node));
        let file = network.folder.join(format!("{node}.export"));
        story(export.arg(file))["app_hash"].clone()
    };
    let app_hashes: Vec<_> = (0..4).map(app_hash).collect();
    assert_eq!(app_hashes, vec![app_hashes[0].clone(); 4]);
}

/// All transactions in a node's log.
fn log_of(network: &Network, node: usize) -> Vec<Value> {
    let token = std::fs::read_to_string(network.home(node).join("operator-token")).unwrap();
    let node = Api::new(&Url::parse(&network.url(node)).unwrap(), &token);
    let mut log = Vec::new();
    loop {
        let from = log.len() + 1;
        let page = get(
            &node,
            &format!("/api/registry/entries?first={from}&count=200"),
        );
        match page["items"].as_array().unwrap().as_slice() {
            [] => return log,
            more => log.extend_from_slice(more),
        }
    }
}

/// A doctor, a pharmacy that may dispense on the doctor's behalf, and a person, all at one instance.
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
        let lets = json!({"to": did, "action": "consume", "types": ["prescription"]});
        post(&operator, "/api/issuer/delegations", &lets);
        let person = person(&operator.with_token(""), "erika");
        Self {
            operator,
            person,
            did,
        }
    }

    /// Gives the wallet a prescription.
    fn prescribe(&self) {
        let new = json!({"type": "prescription", "examples": true});
        let offer = post(&self.operator, "/api/issuer/offers", &new);
        let taken = json!({"offer": text(&offer, "uri")});
        post(&self.person, "/api/wallet/offers/accept", &taken);
    }

    /// Shows the prescription to be used up; returns the request.
    fn spend(&self) -> String {
        let ask = json!({"type": "prescription", "spend": true, "spender": self.did});
        let request = post(&self.operator, "/api/verifier/requests", &ask);
        let answer = json!({"request": text(&request, "uri"), "policy": "newest"});
        let answered = self
            .person
            .send("POST", "/api/wallet/requests/answer", Some(&answer));
        // The wallet may get the answer that the verifier has not finished; the verifier keeps what it sent.
        answered.unwrap();
        text(&request, "id")
    }

    fn request(&self, id: &str) -> Value {
        get(&self.operator, &format!("/api/verifier/requests/{id}"))
    }
}
