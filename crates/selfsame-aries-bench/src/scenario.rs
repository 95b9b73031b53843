//! The 14 calls of the scenario.

use std::time::{Duration, Instant};

use selfsame_bench::Error;
use selfsame_bench::client::BenchClient;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::think::Thinking;

/// The pauses after which a call is repeated that asks for something another agent has not sent yet. They grow by a
/// half, so a step may be measured up to a half longer than it took.
const POLLED_FIRST: Duration = Duration::from_millis(4);
const POLLED_LAST: Duration = Duration::from_millis(50);
/// For how long such a call is repeated.
const POLLED_FOR: Duration = Duration::from_secs(30);
/// How many credentials that can answer are asked for where one of them is meant.
const COUNT_MAX: usize = 1_000;
/// The names of the formats in which an agent may have stored a credential.
const INDY: &str = "indy";
const ANONCREDS: &str = "anoncreds";

/// What is issued and proven.
#[derive(Clone, Debug)]
pub struct IssuerMaterial {
    /// The identifier of the schema.
    pub schema_id: String,
    /// The identifier of the credential definition.
    pub cred_def_id: String,
    /// What the issuer offers.
    pub offered: StoryOffer,
    /// The presentation request.
    pub request: Value,
}

/// What the issuer offers.
#[derive(Clone, Debug)]
pub enum StoryOffer {
    /// These attributes.
    Attributes(Value),
    /// The examples of this type of its organisation.
    Type(&'static str),
}

/// The agents of a scenario.
#[derive(Clone)]
pub struct Cast {
    /// The admin API of the issuer.
    pub issuer: BenchClient,
    /// The admin API of the verifier.
    pub verifier: BenchClient,
    /// The admin API of the holder.
    pub holder: BenchClient,
    /// What is issued and proven.
    pub material: IssuerMaterial,
}

/// The time of each call of a scenario; those before the one that failed.
pub struct Walked {
    /// The times, in the order of the calls.
    pub times: Vec<Duration>,
    /// Why the scenario ended early.
    pub failed: Option<Error>,
    /// The issuer's identifier of the exchange, for a revocation.
    pub cred_ex_id: String,
}

/// One scenario under way.
struct AriesWalk<'a> {
    cast: &'a Cast,
    thinking: Option<Thinking>,
    times: Vec<Duration>,
    /// The values that calls hand on.
    cred_ex_id: String,
    /// The holder's identifier of the credential, if its agent tells.
    stored: Option<String>,
}

/// What a scenario with a revocation found.
pub struct Proven {
    /// The time of each call, in their order: those of the scenario, the revocation, those of the second proof.
    pub times: Vec<Duration>,
    /// Whether the verifier accepted the second proof. A holder that refuses to make it counts as no.
    pub is_accepted: bool,
}

impl Cast {
    /// Goes through the scenario, with pauses or without.
    pub async fn walk(&self, thinking: Option<Thinking>) -> Walked {
        let mut walk = AriesWalk {
            cast: self,
            thinking,
            times: Vec::with_capacity(14),
            cred_ex_id: String::new(),
            stored: None,
        };
        let failed = walk.all().await.err();
        Walked {
            times: walk.times,
            failed,
            cred_ex_id: walk.cred_ex_id,
        }
    }

    /// Goes through the scenario, revokes the credential, and proves again to a verifier that asks for a state of now.
    ///
    /// # Errors
    /// The first call that fails.
    pub async fn walk_and_revoke(&self, now: impl Fn() -> Value) -> Result<Proven, Error> {
        let mut walk = AriesWalk {
            cast: self,
            thinking: None,
            times: Vec::new(),
            cred_ex_id: String::new(),
            stored: None,
        };
        walk.all().await?;
        let body = json!({"cred_ex_id": walk.cred_ex_id, "publish": true});
        walk.post(&self.issuer, "/revocation/revoke", body).await?;
        let again = Self {
            material: IssuerMaterial {
                request: now(),
                ..self.material.clone()
            },
            ..self.clone()
        };
        let mut second = AriesWalk {
            cast: &again,
            thinking: None,
            times: walk.times,
            cred_ex_id: walk.cred_ex_id,
            stored: walk.stored,
        };
        let is_accepted = match second.prove().await {
            Ok(is_accepted) => is_accepted,
            // A holder need not send a proof that can't hold.
            Err(Error::Call { what, .. }) if what.ends_with("/send-presentation") => false,
            Err(error) => return Err(error),
        };
        Ok(Proven {
            times: second.times,
            is_accepted,
        })
    }
}

impl AriesWalk<'_> {
    async fn all(&mut self) -> Result<(), Error> {
        let cast = self.cast;
        let (issuer, holder) = (&cast.issuer, &cast.holder);
        let (inviter, invitee) = self.connect(issuer).await?;
        let (path, offer) = cast.material.offer(&inviter);
        let issued = self.post(issuer, &path, offer).await?;
        let thread = text(&issued, "thread_id")?;
        self.cred_ex_id = text(&issued, "cred_ex_id")?;
        let path = format!("/issue-credential-2.0/records?connection_id={invitee}");
        let held = |found: &Value| {
            let results = found["results"].as_array()?;
            let mut records = results.iter().map(|one| &one["cred_ex_record"]);
            let record = records
                .find(|one| one["thread_id"] == thread && one["state"] == "credential-received");
            record?["cred_ex_id"].as_str().map(str::to_owned)
        };
        let credential = self.until(holder, &path, held).await?;
        let path = format!("/issue-credential-2.0/records/{credential}/store");
        let stored = self.post(holder, &path, json!({})).await?;
        let mut formats = [INDY, ANONCREDS].iter();
        let stored = formats.find_map(|name| stored[*name]["cred_id_stored"].as_str());
        self.stored = stored.map(str::to_owned);
        match self.prove().await? {
            true => Ok(()),
            false => Err(unexpected(
                "verify-presentation",
                "the proof is not accepted",
            )),
        }
    }

    /// The eight calls of a proof. Returns whether the verifier accepts it.
    async fn prove(&mut self) -> Result<bool, Error> {
        let cast = self.cast;
        let (verifier, holder) = (&cast.verifier, &cast.holder);
        let (inviter, invitee) = self.connect(verifier).await?;
        let request = json!({
            "comment": "",
            "connection_id": inviter,
            "presentation_request": {"indy": cast.material.request},
            "trace": false,
        });
        let asked = self
            .post(verifier, "/present-proof-2.0/send-request", request)
            .await?;
        let (thread, asked) = (text(&asked, "thread_id")?, text(&asked, "pres_ex_id")?);
        let path = format!("/present-proof-2.0/records?connection_id={invitee}");
        let received = |found: &Value| {
            let mut records = found["results"].as_array()?.iter();
            let record = records.find(|one| one["thread_id"] == thread);
            record?["pres_ex_id"].as_str().map(str::to_owned)
        };
        let proof = self.until(holder, &path, received).await?;
        let referent = self.eligible(&proof).await?;
        let path = format!("/present-proof-2.0/records/{proof}/send-presentation");
        let presentation = cast.material.presentation(&referent);
        self.post(holder, &path, presentation).await?;
        self.validate(&asked).await
    }

    /// Three calls: an invitation, its receipt, its acceptance. Returns both sides' identifiers of the connection.
    async fn connect(&mut self, inviter: &BenchClient) -> Result<(String, String), Error> {
        let holder = &self.cast.holder;
        let path = "/connections/create-invitation?alias=Pacientes&auto_accept=true";
        let invited = self.post(inviter, path, json!({})).await?;
        let path = "/connections/receive-invitation";
        let invitation = invited["invitation"].clone();
        let received = self.post(holder, path, invitation).await?;
        let invitee = text(&received, "connection_id")?;
        let path = format!("/connections/{invitee}/accept-invitation");
        self.post(holder, &path, Value::Null).await?;
        Ok((text(&invited, "connection_id")?, invitee))
    }

    /// The holder's first credential that can answer. Where credentials are revoked it is the one of this scenario: users
    /// share the holder's agent, and another user's may be revoked by now.
    async fn eligible(&mut self, proof: &str) -> Result<String, Error> {
        let holder = &self.cast.holder;
        let is_asked = !self.cast.material.request["non_revoked"].is_null();
        let own = self.stored.clone().filter(|_| is_asked);
        let count = if own.is_some() { COUNT_MAX } else { 5 };
        let path = format!("/present-proof-2.0/records/{proof}/credentials?count={count}");
        let first = |found: &Value| {
            let all = found.as_array()?.iter();
            let mut referents = all.map(|one| &one["cred_info"]["referent"]);
            let first = match &own {
                Some(own) => referents.find(|one| **one == own.as_str())?,
                None => referents.next()?,
            };
            first.as_str().map(str::to_owned)
        };
        self.until(holder, &path, first).await
    }

    /// The verifier validates the presentation, once it is there.
    async fn validate(&mut self, asked: &str) -> Result<bool, Error> {
        let verifier = &self.cast.verifier;
        self.pause().await;
        let began = now();
        let path = format!("/present-proof-2.0/records/{asked}");
        let mut polling = Polling::new(began);
        while verifier.get(&path, "").await?["state"] != "presentation-received" {
            polling.wait(&path).await?;
        }
        let path = format!("{path}/verify-presentation");
        let judged = verifier.post(&path, "", &json!({})).await?;
        self.times.push(began.elapsed());
        Ok(judged["verified"] == "true")
    }

    async fn post(&mut self, agent: &BenchClient, path: &str, body: Value) -> Result<Value, Error> {
        self.pause().await;
        let began = now();
        let answer = agent.post(path, "", &body).await?;
        self.times.push(began.elapsed());
        Ok(answer)
    }

    /// Repeats a call until it finds something. A user who pauses calls once more at most by chance.
    async fn until<T>(
        &mut self,
        agent: &BenchClient,
        path: &str,
        found: impl Fn(&Value) -> Option<T>,
    ) -> Result<T, Error> {
        self.pause().await;
        let began = now();
        let mut polling = Polling::new(began);
        loop {
            let answer = agent.get(path, "").await?;
            if let Some(found) = found(&answer) {
                self.times.push(began.elapsed());
                return Ok(found);
            }
            polling.wait(path).await?;
        }
    }

    async fn pause(&mut self) {
        let step = self.times.len();
        if let Some(thinking) = &mut self.thinking {
            let pause = thinking.before(step);
            sleep(pause).await;
        }
    }
}

impl IssuerMaterial {
    /// The attributes, if the issuer names them.
    pub fn attributes(&self) -> &Value {
        match &self.offered {
            StoryOffer::Attributes(attributes) => attributes,
            StoryOffer::Type(_) => &Value::Null,
        }
    }

    /// The call that offers it on a connection.
    fn offer(&self, connection_id: &str) -> (String, Value) {
        match &self.offered {
            StoryOffer::Attributes(attributes) => {
                let body = json!({
                    "auto_remove": true,
                    "comment": "",
                    "connection_id": connection_id,
                    "credential_preview": {
                        "@type": "issue-credential/2.0/credential-preview",
                        "attributes": attributes,
                    },
                    "filter": {"indy": {"cred_def_id": self.cred_def_id}},
                    "trace": false,
                });
                ("/issue-credential-2.0/send".to_owned(), body)
            }
            StoryOffer::Type(id) => {
                let body = json!({
                    "auto_remove": true, "connection_id": connection_id, "examples": true,
                });
                (format!("/credential-types/{id}/send"), body)
            }
        }
    }

    /// The answer to the request with this credential alone.
    fn presentation(&self, referent: &str) -> Value {
        let names = |of: &str| {
            let asked = self.request[of].as_object();
            asked.into_iter().flatten().map(|(name, _)| name.clone())
        };
        let attributes = names("requested_attributes");
        let attribute = |name| (name, json!({"cred_id": referent, "revealed": true}));
        let predicates = names("requested_predicates");
        let predicate = |name| (name, json!({"cred_id": referent}));
        json!({"indy": {
            "requested_attributes": attributes.map(attribute).collect::<serde_json::Map<_, _>>(),
            "requested_predicates": predicates.map(predicate).collect::<serde_json::Map<_, _>>(),
            "self_attested_attributes": {},
            "trace": false,
        }})
    }
}

/// A call that is repeated until it finds something.
struct Polling {
    until: Instant,
    pause: Duration,
}

impl Polling {
    fn new(began: Instant) -> Self {
        Self {
            until: began + POLLED_FOR,
            pause: POLLED_FIRST,
        }
    }

    async fn wait(&mut self, path: &str) -> Result<(), Error> {
        if now() > self.until {
            return Err(unexpected(path, "it does not come"));
        }
        sleep(self.pause).await;
        self.pause = (self.pause * 3 / 2).min(POLLED_LAST);
        Ok(())
    }
}

#[expect(clippy::disallowed_methods, reason = "time is what is measured")]
pub fn now() -> Instant {
    Instant::now()
}

fn unexpected(what: &str, why: &str) -> Error {
    Error::Call {
        what: what.to_owned(),
        why: why.to_owned(),
    }
}

/// A text member of an answer.
pub fn text(answer: &Value, member: &str) -> Result<String, Error> {
    let found = answer[member].as_str().map(str::to_owned);
    found.ok_or_else(|| unexpected(member, "the answer does not have it"))
}
