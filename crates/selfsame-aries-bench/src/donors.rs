//! A question that a presentation answers with yes or no: may this person give blood to A+? Nothing else is shown.

use std::time::Duration;

use selfsame_bench::Error;
use selfsame_bench::client::BenchClient;
use serde::Serialize;
use serde_json::{Map, Value, json};
use tokio::time::sleep;

use crate::scenario::{now, text};

/// The laboratory's credential type that has the answer, and its attribute: 1 for yes, 0 for no.
pub const DONOR_TYPE: &str = "blood-report";
const ATTRIBUTE: &str = "can_give_to.a_pos";
/// What is asked, for people.
const QUESTION: &str = "May this person give blood to A+?";
/// The name of the predicate in the request.
const REFERENT: &str = "may_give";
/// How often an agent is asked for what another one sends, and for how long.
const POLLED_EVERY: Duration = Duration::from_millis(4);
const POLLED_FOR: Duration = Duration::from_secs(30);

/// The agents of the story, by the URLs of their admin APIs.
#[derive(Clone, Debug)]
pub struct DonorAgents {
    /// The laboratory's, whose organisation has published the type.
    pub laboratory: String,
    /// The hospital's, which asks.
    pub hospital: String,
    /// The people, who answer offers by themselves.
    pub donors: Vec<Donor>,
}

/// A person who is asked.
#[derive(Clone, Debug)]
pub struct Donor {
    /// The person's name.
    pub name: &'static str,
    /// What the laboratory found.
    pub blood_group: &'static str,
    /// The admin API of the person's agent.
    pub admin: String,
}

/// The question with its answers.
#[derive(Clone, Debug, Serialize)]
pub struct DonorStory {
    /// What was asked.
    pub question: &'static str,
    /// The answer of each person.
    pub answers: Vec<DonorAnswer>,
}

/// The answer of a person.
#[derive(Clone, Debug, Serialize)]
pub struct DonorAnswer {
    /// The person's name.
    pub name: &'static str,
    /// What the laboratory found.
    pub blood_group: &'static str,
    /// The answer that the hospital has: `true` with a proof, `false` if the person can't make one.
    pub may_give: bool,
    /// The values that the hospital saw.
    pub revealed: usize,
    /// Milliseconds from the request to the answer.
    pub ms: f64,
}

/// Both sides' identifiers of a connection.
struct Met {
    inviters: String,
    invitees: String,
}

/// Has the laboratory issue each person a report, and the hospital ask each of them.
///
/// # Errors
/// The first call that fails.
pub async fn ask_donors(agents: &DonorAgents) -> Result<DonorStory, Error> {
    let [laboratory, hospital] =
        [&agents.laboratory, &agents.hospital].map(|url| BenchClient::new(url));
    let about = laboratory
        .get(&format!("/credential-types/{DONOR_TYPE}"), "")
        .await?;
    let cred_def_id = text(&about, "cred_def_id")?;
    let mut answers = Vec::new();
    for donor in &agents.donors {
        let holder = BenchClient::new(&donor.admin);
        report(&laboratory, &holder, donor.blood_group).await?;
        let began = now();
        let answer = asked(&hospital, &holder, &cred_def_id).await?;
        answers.push(DonorAnswer {
            name: donor.name,
            blood_group: donor.blood_group,
            may_give: answer.may_give,
            revealed: answer.revealed,
            ms: (began.elapsed().as_secs_f64() * 1e5).round() / 1e2,
        });
    }
    let question = QUESTION;
    Ok(DonorStory { question, answers })
}

/// The laboratory issues a report with this blood group, which the person keeps.
async fn report(
    laboratory: &BenchClient,
    holder: &BenchClient,
    blood_group: &str,
) -> Result<(), Error> {
    let met = meet(laboratory, holder).await?;
    let body = json!({
        "connection_id": met.inviters,
        "claims": {"blood_group": blood_group},
        "examples": true,
    });
    let path = format!("/credential-types/{DONOR_TYPE}/send");
    let sent = laboratory.post(&path, "", &body).await?;
    let thread = text(&sent, "thread_id")?;
    let path = format!(
        "/issue-credential-2.0/records?connection_id={}",
        met.invitees
    );
    let received = |found: &Value| {
        let mut records = found["results"]
            .as_array()?
            .iter()
            .map(|one| &one["cred_ex_record"]);
        let record = records.find(|one| one["thread_id"] == thread.as_str())?;
        let id = record["cred_ex_id"].as_str()?.to_owned();
        (record["state"] == "credential-received").then_some(id)
    };
    let id = until(holder, &path, received).await?;
    let path = format!("/issue-credential-2.0/records/{id}/store");
    holder.post(&path, "", &json!({})).await?;
    Ok(())
}

/// What the hospital knows after it has asked.
struct HeardAnswer {
    may_give: bool,
    revealed: usize,
}

/// The hospital asks. A person who can't make the proof says so.
async fn asked(
    hospital: &BenchClient,
    holder: &BenchClient,
    cred_def_id: &str,
) -> Result<HeardAnswer, Error> {
    let met = meet(hospital, holder).await?;
    let predicate = json!({
        "name": ATTRIBUTE, "p_type": ">=", "p_value": 1,
        "restrictions": [{"cred_def_id": cred_def_id}],
    });
    let body = json!({
        "connection_id": met.inviters,
        "presentation_request": {"anoncreds": {
            "name": QUESTION, "version": "1.0",
            "requested_attributes": {},
            "requested_predicates": {REFERENT: predicate},
        }},
    });
    let sent = hospital
        .post("/present-proof-2.0/send-request", "", &body)
        .await?;
    answered(holder, &met, &text(&sent, "thread_id")?).await?;
    let path = format!("/present-proof-2.0/records/{}", text(&sent, "pres_ex_id")?);
    let ended = |record: &Value| match record["state"].as_str()? {
        "presentation-received" => Some(true),
        "abandoned" => Some(false),
        _ => None,
    };
    if !until(hospital, &path, ended).await? {
        return Ok(HeardAnswer {
            may_give: false,
            revealed: 0,
        });
    }
    let judged = format!("{path}/verify-presentation");
    let judged = hospital.post(&judged, "", &json!({})).await?;
    Ok(HeardAnswer {
        may_give: judged["verified"] == "true",
        revealed: revealed(&judged["by_format"]["pres"]["anoncreds"]),
    })
}

/// The person proves it, or ends the exchange.
async fn answered(holder: &BenchClient, met: &Met, thread: &str) -> Result<(), Error> {
    let path = format!("/present-proof-2.0/records?connection_id={}", met.invitees);
    let received = |found: &Value| {
        let mut records = found["results"].as_array()?.iter();
        let record = records.find(|one| one["thread_id"] == thread)?;
        record["pres_ex_id"].as_str().map(str::to_owned)
    };
    let id = until(holder, &path, received).await?;
    let path = format!("/present-proof-2.0/records/{id}");
    let fit = holder
        .get(&format!("{path}/credentials?count=5"), "")
        .await?;
    let Some(credential) = fit[0]["cred_info"]["referent"].as_str() else {
        let path = format!("{path}/problem-report");
        holder
            .post(&path, "", &json!({"description": "no"}))
            .await?;
        return Ok(());
    };
    let body = json!({"anoncreds": {
        "requested_attributes": {},
        "requested_predicates": {REFERENT: {"cred_id": credential}},
        "self_attested_attributes": {},
    }});
    let path = format!("{path}/send-presentation");
    holder.post(&path, "", &body).await?;
    Ok(())
}

/// The number of values that a presentation shows.
fn revealed(presentation: &Value) -> usize {
    let proofs = presentation["proof"]["proofs"].as_array();
    let shown = proofs.into_iter().flatten();
    let shown = shown.map(|one| &one["primary_proof"]["eq_proof"]["revealed_attrs"]);
    shown.filter_map(Value::as_object).map(Map::len).sum()
}

/// Connects two agents.
async fn meet(inviter: &BenchClient, invitee: &BenchClient) -> Result<Met, Error> {
    let path = "/connections/create-invitation?auto_accept=true";
    let invited = inviter.post(path, "", &json!({})).await?;
    let path = "/connections/receive-invitation?auto_accept=true";
    let received = invitee.post(path, "", &invited["invitation"]).await?;
    Ok(Met {
        inviters: text(&invited, "connection_id")?,
        invitees: text(&received, "connection_id")?,
    })
}

/// Repeats a call until it finds something.
async fn until<T>(
    agent: &BenchClient,
    path: &str,
    found: impl Fn(&Value) -> Option<T>,
) -> Result<T, Error> {
    let until = now() + POLLED_FOR;
    loop {
        if let Some(found) = found(&agent.get(path, "").await?) {
            return Ok(found);
        }
        if now() > until {
            return Err(Error::Call {
                what: path.to_owned(),
                why: "it does not come".to_owned(),
            });
        }
        sleep(POLLED_EVERY).await;
    }
}
