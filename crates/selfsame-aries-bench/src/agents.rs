//! The agents: three in one process, or foreign ones by the URLs of their admin APIs.

use std::net::TcpListener;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use selfsame_bench::Error;
use selfsame_bench::client::BenchClient;
use selfsame_bench::process::{ServerProcess, Usage, family, usage};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::AriesBench;
use crate::scenario::{Cast, IssuerMaterial, text};

/// The roles, whose agents have these names.
const ROLES: [&str; 3] = ["clinic", "pharmacy", "patient"];

/// The attributes of a vaccination, with the study's values.
const VACCINATION: [(&str, &str); 7] = [
    ("vaccine", "SARS-CoV2 - COVID 19"),
    ("manufacturer", "Pfizer"),
    ("lot", "123456"),
    ("date", "20211221"),
    ("vaccination_site_name", "UBS Porto Feliz"),
    ("vaccination_site_state", "SP"),
    ("vaccination_site_country", "BR"),
];

/// The attributes of a prescription, with the study's values.
const PRESCRIPTION: [(&str, &str); 5] = [
    ("medication_name", "Pantoprazol"),
    ("medication_dose", "40mg"),
    ("medication_quantity", "60"),
    ("cid", "G.888"),
    ("expiration", "20220901"),
];

/// What is issued in a run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// A vaccination, which is not revocable.
    Vaccination,
    /// A prescription that can be revoked, with a proof that it is not; by the size of its registries.
    Prescription(u32),
}

/// Foreign agents, by the URLs of their admin APIs.
#[derive(Clone, Debug)]
pub struct ForeignAgents {
    /// The issuer's. Its wallet has a public DID that may write to its ledger.
    pub issuer: String,
    /// The verifier's.
    pub verifier: String,
    /// The holder's.
    pub holder: String,
}

/// Agents that are ready for scenarios.
pub struct AriesStage {
    /// Their process; `None` for foreign ones.
    server: Option<ServerProcess>,
    /// The directory of its data.
    data: Option<PathBuf>,
    /// The agents with their material.
    pub cast: Cast,
}

impl AriesStage {
    /// Processor time and memory of all agents.
    pub fn usage(&self) -> Usage {
        let Some(server) = &self.server else {
            return Usage::default();
        };
        family(server.id())
            .into_iter()
            .map(usage)
            .fold(Usage::default(), |all, one| Usage {
                cpu_s: all.cpu_s + one.cpu_s,
                rss_mb: all.rss_mb + one.rss_mb,
                peak_mb: all.peak_mb + one.peak_mb,
            })
    }

    /// The bytes of the records and of the ledger on the disk.
    pub fn stored(&self) -> (u64, u64) {
        let Some(data) = &self.data else {
            return (0, 0);
        };
        let size = |name: &str| {
            let files = ["", "-wal"].map(|end| data.join(format!("{name}{end}")));
            files
                .iter()
                .filter_map(|file| file.metadata().ok())
                .map(|file| file.len())
                .sum()
        };
        (size("store.sqlite"), size("ledger.sqlite"))
    }
}

impl ForeignAgents {
    /// The foreign agents with a vaccination to issue.
    ///
    /// # Errors
    /// If they refuse.
    pub async fn stage(&self) -> Result<AriesStage, Error> {
        let [issuer, verifier, holder] =
            [&self.issuer, &self.verifier, &self.holder].map(|base| BenchClient::new(base));
        let material = material(&issuer, Kind::Vaccination).await?;
        Ok(AriesStage {
            server: None,
            data: None,
            cast: Cast {
                issuer,
                verifier,
                holder,
                material,
            },
        })
    }
}

impl AriesBench<'_> {
    /// Starts the agents, with their data in this directory, and publishes what is issued.
    ///
    /// # Errors
    /// If they can't be started or refuse.
    pub async fn stage(&self, name: &str, kind: Kind) -> Result<AriesStage, Error> {
        self.stage_with(name, kind, "").await
    }

    /// As [`Self::stage`], with these settings of each agent beside the usual ones.
    ///
    /// # Errors
    /// As [`Self::stage`].
    pub async fn stage_with(
        &self,
        name: &str,
        kind: Kind,
        further: &str,
    ) -> Result<AriesStage, Error> {
        let data = self.scratch.join(name);
        let mut settings = String::new();
        let mut admin = Vec::new();
        for role in ROLES {
            let (at, inbound) = (free()?, free()?);
            settings.push_str(&format!(
                "[[agents]]\norganisation = \"{role}\"\nlabel = \"{role}\"\nadmin = \"127.0.0.1:{at}\"\n\
                 admin_insecure_mode = true\ninbound = \"127.0.0.1:{inbound}\"\n\
                 endpoint = \"http://127.0.0.1:{inbound}\"\nauto_respond_credential_offer = true\n{further}",
            ));
            admin.push(BenchClient::new(&format!("http://127.0.0.1:{at}")));
        }
        let server = self.program.start(&data, &settings).await?;
        let [issuer, verifier, holder] = &admin[..] else {
            return Err(Error::Server("there are three roles".to_owned()));
        };
        let material = material(issuer, kind).await?;
        Ok(AriesStage {
            server: Some(server),
            cast: Cast {
                issuer: issuer.clone(),
                verifier: verifier.clone(),
                holder: holder.clone(),
                material,
            },
            data: Some(data),
        })
    }
}

/// A port that is free now.
fn free() -> Result<u16, Error> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// Publishes the schema and the credential definition, and says what is issued and proven.
pub async fn material(issuer: &BenchClient, kind: Kind) -> Result<IssuerMaterial, Error> {
    let (name, attributes) = match kind {
        Kind::Vaccination => ("vaccination", &VACCINATION[..]),
        Kind::Prescription(_) => ("prescription", &PRESCRIPTION[..]),
    };
    let names: Vec<&str> = attributes.iter().map(|(name, _)| *name).collect();
    let schema = json!({"schema_name": name, "schema_version": "1.0", "attributes": names});
    let schema = patient(issuer, "/schemas", schema).await?;
    let schema_id = text(&schema, "schema_id")?;
    let mut definition = json!({"schema_id": schema_id, "tag": name, "support_revocation": false});
    if let Kind::Prescription(size) = kind {
        definition["support_revocation"] = json!(true);
        definition["revocation_registry_size"] = json!(size);
    }
    let definition = patient(issuer, "/credential-definitions", definition).await?;
    let cred_def_id = text(&definition, "credential_definition_id")?;
    let request = request(kind, &schema_id);
    let value = |(name, value): &(&str, &str)| json!({"name": name, "value": value});
    Ok(IssuerMaterial {
        request,
        schema_id,
        cred_def_id,
        attributes: attributes.iter().map(value).collect(),
    })
}

/// Calls until the agent is there.
async fn patient(agent: &BenchClient, path: &str, body: Value) -> Result<Value, Error> {
    for _ in 0..50 {
        if let Ok(answer) = agent.post(path, "", &body).await {
            return Ok(answer);
        }
        sleep(Duration::from_millis(100)).await;
    }
    agent.post(path, "", &body).await
}

/// The study's presentation requests.
pub fn request(kind: Kind, schema_id: &str) -> Value {
    let of = |name: &str| json!({"name": name, "restrictions": [{"schema_id": schema_id}]});
    let with = |name: &str, value: &str| {
        let marker = format!("attr::{name}::value");
        json!({"name": name, "restrictions": [{"schema_id": schema_id, marker: value}]})
    };
    let atleast = |name: &str, bound: i32| {
        json!({"pred1": {
            "name": name, "p_type": ">=", "p_value": bound,
            "restrictions": [{"schema_id": schema_id}],
        }})
    };
    match kind {
        Kind::Vaccination => json!({
            "name": "Immunization", "nonce": "1", "version": "1.0",
            "requested_attributes": {
                "attr1": with("vaccine", "SARS-CoV2 - COVID 19"),
                "attr2": with("vaccination_site_country", "BR"),
                "attr3": of("manufacturer"),
            },
            "requested_predicates": atleast("date", 20_210_901),
        }),
        Kind::Prescription(_) => json!({
            "name": "Prescription", "nonce": "1", "version": "1.0",
            "requested_attributes": {
                "attr1": with("medication_name", "Pantoprazol"),
                "attr2": of("medication_dose"),
                "attr3": of("medication_quantity"),
            },
            "requested_predicates": atleast("expiration", 20_220_301),
            "non_revoked": {"to": seconds()},
        }),
    }
}

/// The time, in seconds since 1970.
#[expect(
    clippy::disallowed_methods,
    reason = "a proof of non-revocation is about now"
)]
fn seconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs() + 3600)
}
