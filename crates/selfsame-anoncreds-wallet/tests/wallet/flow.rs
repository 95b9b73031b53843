//! What holders keep, find and show.

use std::collections::BTreeMap;

use selfsame_anoncreds_wallet::matching::CredentialsWanted;
use selfsame_anoncreds_wallet::{ChosenCredentials, ShownAttribute, ShownPredicate};
use selfsame_driver::clock::Clock;
use selfsame_driver::paging::Paging;
use serde_json::json;

use crate::world::{FakeRegistry, Party, adult, bytes};

const ATTRIBUTES: [&str; 3] = ["name", "born", "blood group"];

struct Three {
    issuer: Party,
    holder: Party,
    verifier: Party,
    cred_def_id: String,
}

async fn three() -> Three {
    let registry = FakeRegistry::new(Clock::default());
    let issuer = Party::new(&registry, "clinic").await;
    Three {
        cred_def_id: issuer.defines(&ATTRIBUTES, None).await,
        holder: Party::new(&registry, "alice").await,
        verifier: Party::new(&registry, "bank").await,
        issuer,
    }
}

impl Three {
    async fn issues(&self, name: &str, born: &str) -> String {
        let values = [("name", name), ("born", born), ("blood group", "A+")];
        self.issuer
            .issues(&self.holder, &self.cred_def_id, &values)
            .await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credential_is_issued_found_shown_and_verified() {
    let three = three().await;
    let id = three.issues("Alice", "1990").await;
    let info = three.holder.anoncreds.credential(&three.holder.tenant, &id);
    let info = info.await.unwrap();
    assert_eq!(info.attrs["blood group"], "A+");
    assert_eq!(info.cred_def_id, three.cred_def_id);
    assert_eq!((info.rev_reg_id, info.cred_rev_id), (None, None));

    let request = adult(&three.cred_def_id);
    let presentation = three.holder.answers(&request).await.unwrap();
    let shown = &presentation["requested_proof"]["revealed_attrs"]["who"];
    assert_eq!(shown["raw"], "Alice");
    let (is_valid, messages) = three.verifier.finds(&request, &presentation).await;
    assert!(is_valid && messages.is_empty(), "{messages:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn groups_hidden_values_and_own_statements_are_told_apart() {
    let three = three().await;
    let cred_id = three.issues("Alice", "1990").await;
    let request = json!({
        "name": "all", "version": "1.0", "nonce": "77",
        "requested_attributes": {
            "both": {"names": ["name", "blood group"], "non_revoked": {"to": 4_000_000_000_u64}},
            "hidden": {"name": "born"},
            "own": {"name": "phone"},
        },
        "non_revoked": {"to": 4_000_000_000_u64},
    });
    let shown = |revealed| ShownAttribute {
        cred_id: cred_id.clone(),
        revealed,
        timestamp: None,
    };
    let requested = [("both", shown(true)), ("hidden", shown(false))];
    let requested = requested.map(|(referent, shown)| (referent.to_owned(), shown));
    let chosen = ChosenCredentials {
        requested_attributes: BTreeMap::from(requested),
        requested_predicates: BTreeMap::new(),
        self_attested_attributes: BTreeMap::from([("own".to_owned(), "12345".to_owned())]),
    };
    let presentation = three.holder.shows(&bytes(&request), &chosen).await.unwrap();
    let proof = &presentation["requested_proof"];
    assert_eq!(
        proof["revealed_attr_groups"]["both"]["values"]["name"]["raw"],
        "Alice"
    );
    assert_eq!(proof["self_attested_attrs"]["own"], "12345");
    let (is_valid, messages) = three.verifier.finds(&request, &presentation).await;
    assert!(is_valid, "{messages:?}");
    assert_eq!(
        messages,
        ["RMV_RFNT_NRI::both", "UNRVL_ATTR::hidden", "RMV_GLB_NRI"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_controller_says_of_a_predicate_is_read_with_revealed_and_without() {
    let said = json!({
        "requested_predicates": {"a": {"cred_id": "x", "revealed": true}, "b": {"cred_id": "x"}},
    });
    let read: ChosenCredentials = serde_json::from_value(said).unwrap();
    let shown = ShownPredicate {
        cred_id: "x".to_owned(),
        timestamp: None,
    };
    assert_eq!(read.requested_predicates["a"], shown);
    assert_eq!(read.requested_predicates["b"], shown);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wallet_is_searched_by_tags_and_page_by_page() {
    let three = three().await;
    let (holder, tenant) = (&three.holder.anoncreds, &three.holder.tenant);
    for (name, born) in [("Alice", "1990"), ("Bob", "2015"), ("Carol", "1980")] {
        three.issues(name, born).await;
    }
    let names = async |query: serde_json::Value| {
        let (mut names, mut after) = (Vec::new(), None);
        loop {
            let limit = Some(1);
            let paging = Paging { after, limit };
            let found = holder.credentials(tenant, &query, &paging).await.unwrap();
            names.extend(found.items.into_iter().map(|one| one.attrs["name"].clone()));
            match found.next {
                Some(next) => after = Some(next),
                None => return names,
            }
        }
    };
    assert_eq!(names(json!({})).await, ["Carol", "Bob", "Alice"]);
    assert_eq!(names(json!({"attr::name::value": "Bob"})).await, ["Bob"]);
    let either = json!({"$or": [{"attr::name::value": "Alice"}, {"attr::born::value": "1980"},
        {"attr::name::value": "Carol"}]});
    assert_eq!(names(either).await, ["Carol", "Alice"]);
    let other = json!({"cred_def_id": three.cred_def_id, "$not": {"attr::name::value": "Bob"}});
    assert_eq!(names(other).await, ["Carol", "Alice"]);
    assert!(names(json!({"schema_name": "other"})).await.is_empty());

    let request = bytes(&adult(&three.cred_def_id));
    let none = BTreeMap::new();
    let wanted = |most| CredentialsWanted {
        referents: &[],
        extra: &none,
        most,
    };
    let newest = holder.matching(tenant, &request, &wanted(1)).await.unwrap();
    let [newest] = &newest[..] else {
        panic!("one is wanted");
    };
    assert_eq!(newest.cred_info.attrs["name"], "Carol");
    assert_eq!(newest.presentation_referents.len(), 2);
    let found = holder
        .matching(tenant, &request, &wanted(10))
        .await
        .unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|one| {
            (
                one.cred_info.attrs["name"].as_str(),
                one.presentation_referents.len(),
            )
        })
        .collect();
    // Bob is too young: only the name can be shown.
    assert_eq!(found, [("Carol", 2), ("Bob", 1), ("Alice", 2)]);
    let extra = BTreeMap::from([("who".to_owned(), json!({"attr::name::value": "Alice"}))]);
    let who = ["who".to_owned()];
    let wanted = CredentialsWanted {
        referents: &who,
        extra: &extra,
        most: 10,
    };
    let found = holder.matching(tenant, &request, &wanted).await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].presentation_referents, ["who"]);

    let alice = &found[0].cred_info.referent;
    holder.remove_credential(tenant, alice).await.unwrap();
    assert_eq!(names(json!({})).await, ["Carol", "Bob"]);
    let gone = holder.credential(tenant, alice).await.unwrap_err();
    assert_eq!(gone.reason.id(), "anoncreds-credential-absent");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_link_secret_is_made_however_many_ask_for_it_first() {
    let three = three().await;
    let ids = (0..8).map(|number| {
        let born = (1990 + number).to_string();
        let three = &three;
        async move { three.issues("Alice", &born).await }
    });
    let mut asked = Vec::new();
    for id in ids {
        asked.push(id);
    }
    let ids = futures_util::future::join_all(asked).await;
    // A proof from several credentials verifies only if one secret is in all of them.
    let attributes = ids.iter().enumerate().map(|(place, _)| {
        let asked = json!({"name": "name", "restrictions": [{"cred_def_id": three.cred_def_id}]});
        (format!("a{place}"), asked)
    });
    let request = json!({
        "name": "all", "version": "1.0", "nonce": "77",
        "requested_attributes": serde_json::Map::from_iter(attributes),
    });
    let shown = ids.iter().enumerate().map(|(place, id)| {
        let shown = ShownAttribute {
            cred_id: id.clone(),
            revealed: true,
            timestamp: None,
        };
        (format!("a{place}"), shown)
    });
    let chosen = ChosenCredentials {
        requested_attributes: shown.collect(),
        ..ChosenCredentials::default()
    };
    let presentation = three.holder.shows(&bytes(&request), &chosen).await.unwrap();
    assert_eq!(presentation["identifiers"].as_array().unwrap().len(), 8);
    assert!(three.verifier.finds(&request, &presentation).await.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credential_with_many_or_long_attributes_is_found_by_each_of_them() {
    let registry = FakeRegistry::new(Clock::default());
    let issuer = Party::new(&registry, "clinic").await;
    let holder = Party::new(&registry, "alice").await;
    let names: Vec<String> = (0..40).map(|number| format!("finding {number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let many = issuer.defines(&names, None).await;
    let values: Vec<_> = names.iter().map(|name| (*name, "1990")).collect();
    let wide = issuer.issues(&holder, &many, &values).await;
    let three = three().await;
    let photo = "x".repeat(5_000);
    let values = [
        ("name", photo.as_str()),
        ("born", "1990"),
        ("blood group", "A+"),
    ];
    let long = three
        .issuer
        .issues(&three.holder, &three.cred_def_id, &values);
    let long = long.await;
    let found = async |party: &Party, query: serde_json::Value| {
        let paging = Paging::longest();
        let found = party.anoncreds.credentials(&party.tenant, &query, &paging);
        let found = found.await.unwrap().items.into_iter();
        found.map(|info| info.referent).collect::<Vec<_>>()
    };
    for query in [
        json!({"attr::finding 39::marker": "1"}),
        json!({"attr::finding 0::value": "1990"}),
        json!({"cred_def_id": many}),
        json!({"attr::finding 7::value": {"$in": ["1989", "1990"]}}),
    ] {
        assert_eq!(
            found(&holder, query.clone()).await,
            [wide.as_str()],
            "{query}"
        );
    }
    let other = json!({"attr::finding 0::value": "1991"});
    assert!(found(&holder, other).await.is_empty());
    let query = json!({"attr::name::value": photo});
    assert_eq!(found(&three.holder, query).await, [long]);
    let question = json!({
        "name": "one", "version": "1.0", "nonce": "77",
        "requested_attributes": {"one": {"name": "finding 20"}},
        "requested_predicates": {
            "two": {"name": "finding 21", "p_type": "<", "p_value": 1991},
        },
    });
    let presentation = holder.answers(&question).await.unwrap();
    let (is_valid, messages) = issuer.finds(&question, &presentation).await;
    assert!(is_valid, "{messages:?}");
}
