//! Orders of many credentials.

use std::collections::BTreeSet;

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::connecting::connected;
use super::study::{Published, published};
use super::world::{Agent, World};

/// Rows that differ in their lot.
fn rows(connection: &str, count: usize) -> Vec<Value> {
    let row = |number: usize| {
        json!({
            "connection_id": connection,
            "reference": format!("patient {number}"),
            "attributes": {
                "vaccine": format!("lot {number}"),
                "date": "20211205",
                "manufacturer": "Pfizer",
                "vaccination_site_country": "BR",
            },
        })
    };
    (1..=count).map(row).collect()
}

fn order(published: &Published, rows: &[Value]) -> Value {
    json!({ "filter": {"anoncreds": {"cred_def_id": published.definition}}, "rows": rows })
}

/// An issuer, and a holder who takes what it is offered.
async fn two() -> World {
    World::with(&["clinic", "holder"], |settings| {
        let is_holder = settings.organisation == "holder";
        settings.terms.settings.auto_respond_credential_offer = is_holder;
        settings.terms.settings.auto_store_credential = is_holder;
    })
    .await
}

async fn ended(issuer: &Agent, given: &Value) -> Value {
    let path = format!(
        "/issue-credential-2.0/bulk/{}",
        given["bulk_id"].as_str().unwrap()
    );
    issuer
        .until(&path, |order| order["state"] != "running")
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn one_call_issues_a_credential_for_each_row() {
    let world = two().await;
    let [issuer, holder] = &world.agents[..] else {
        panic!("two agents");
    };
    let published = published(issuer, true).await;
    let [issuers, _] = connected(issuer, holder).await;
    // More than a chunk, and more than the registry of ten has room for.
    let body = order(&published, &rows(&issuers, 12)).to_string();
    let given = issuer.post("/issue-credential-2.0/bulk", &body).await;
    assert_eq!(given["total"], 12);
    let done = ended(issuer, &given).await;
    assert_eq!(done["state"], "done", "{done}");
    assert_eq!(
        (&done["issued"], &done["waiting"]),
        (&json!(12), &json!(0)),
        "{done}"
    );

    let held = holder.get("/credentials?limit=50").await;
    let lots = held["results"].as_array().unwrap().iter();
    let lots: BTreeSet<&str> = lots
        .map(|one| one["attrs"]["vaccine"].as_str().unwrap())
        .collect();
    assert_eq!(lots.len(), 12);

    let path = format!(
        "/issue-credential-2.0/bulk/{}/rows",
        given["bulk_id"].as_str().unwrap()
    );
    let shown = issuer.get(&path).await;
    let shown = shown["results"].as_array().unwrap();
    assert_eq!(shown[11]["reference"], "patient 12");
    let places = shown
        .iter()
        .map(|row| format!("{} {}", row["rev_reg_id"], row["cred_rev_id"]));
    assert_eq!(places.collect::<BTreeSet<_>>().len(), 12);
    // The order has all results, so the records of the exchanges are gone.
    let records = issuer.get("/issue-credential-2.0/records").await;
    assert_eq!(records["results"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_malformed_row_refuses_the_whole_order() {
    let world = two().await;
    let [issuer, holder] = &world.agents[..] else {
        panic!("two agents");
    };
    let published = published(issuer, false).await;
    let [issuers, _] = connected(issuer, holder).await;
    let mut all = rows(&issuers, 3);
    all[1]["attributes"].as_object_mut().unwrap().remove("date");
    all[2]["connection_id"] = json!("another's");
    let body = order(&published, &all).to_string();
    let reply = issuer
        .send(Method::POST, "/issue-credential-2.0/bulk", &body)
        .await;
    assert_eq!(reply.status, StatusCode::BAD_REQUEST);
    assert!(
        reply.body.contains("row 2: the attribute date is missing"),
        "{}",
        reply.body
    );
    assert!(
        reply.body.contains("row 3: its connection"),
        "{}",
        reply.body
    );
    let listed = issuer.get("/issue-credential-2.0/bulk").await;
    assert_eq!(listed["results"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_holder_who_does_not_answer_is_named_and_an_order_can_be_cancelled() {
    let world = World::of(&["clinic", "holder"]).await;
    let [issuer, holder] = &world.agents[..] else {
        panic!("two agents");
    };
    let published = published(issuer, false).await;
    let [issuers, _] = connected(issuer, holder).await;
    let mut body = order(&published, &rows(&issuers, 1));
    body["answer_within"] = json!(1);
    let given = issuer
        .post("/issue-credential-2.0/bulk", &body.to_string())
        .await;
    let done = ended(issuer, &given).await;
    assert_eq!(done["unanswered"], 1, "{done}");
    let path = format!(
        "/issue-credential-2.0/bulk/{}/rows",
        given["bulk_id"].as_str().unwrap()
    );
    let shown = issuer.get(&format!("{path}?state=unanswered")).await;
    assert_eq!(shown["results"][0]["row"], 1);
    // The offer stands: the holder may still answer it.
    let records = issuer.get("/issue-credential-2.0/records").await;
    assert_eq!(
        records["results"][0]["cred_ex_record"]["state"],
        "offer-sent"
    );

    body["answer_within"] = json!(3_600);
    let given = issuer
        .post("/issue-credential-2.0/bulk", &body.to_string())
        .await;
    let path = format!(
        "/issue-credential-2.0/bulk/{}",
        given["bulk_id"].as_str().unwrap()
    );
    let cancelled = issuer.send(Method::DELETE, &path, "").await.json();
    assert_eq!(cancelled["state"], "cancelled");
    assert_eq!(
        issuer.send(Method::DELETE, &path, "").await.status,
        StatusCode::BAD_REQUEST
    );
    // Another agent's orders are not found.
    assert_eq!(
        holder.send(Method::GET, &path, "").await.status,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_goes_on_after_a_restart_and_nothing_is_issued_twice() {
    let mut world = two().await;
    let published = published(&world.agents[0], false).await;
    let [issuers, _] = connected(&world.agents[0], &world.agents[1]).await;
    let body = order(&published, &rows(&issuers, 40)).to_string();
    let given = world.agents[0]
        .post("/issue-credential-2.0/bulk", &body)
        .await;
    for held in [1, 10] {
        let some = |listed: &Value| listed["results"].as_array().unwrap().len() >= held;
        world.agents[1].until("/credentials?limit=100", some).await;
        world.begin_work_again();
    }
    let [issuer, holder] = &world.agents[..] else {
        panic!("two agents");
    };
    let done = ended(issuer, &given).await;
    assert_eq!(
        (&done["issued"], &done["state"]),
        (&json!(40), &json!("done")),
        "{done}"
    );
    let held = holder.get("/credentials?limit=100").await;
    assert_eq!(held["results"].as_array().unwrap().len(), 40);
}
