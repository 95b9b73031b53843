//! Publishing and issuing, as ACA-Py's controllers do.

use serde_json::{Value, json};

use crate::admin::{AdminApi, in_path, text};
use crate::connecting::Connected;

/// What an issuer has published.
pub struct Published {
    pub schema: String,
    pub definition: String,
}

/// What a credential says: each attribute with its value.
pub type Said = [(&'static str, &'static str)];

/// A vaccination of the healthcare study.
pub const VACCINATION: &Said = &[
    ("vaccine", "SARS-CoV2 - COVID 19"),
    ("date", "20211205"),
    ("manufacturer", "Pfizer"),
    ("vaccination_site_country", "BR"),
];

/// A prescription of the study.
pub const PRESCRIPTION: &Said = &[
    ("medication_name", "Pantoprazol"),
    ("medication_dose", "40mg"),
    ("medication_quantity", "60"),
    ("cid", "G.888"),
    ("expiration", "20220901"),
];

/// The name under which an agent knows a format of attachments: `indy` or `anoncreds`.
pub type FormatName = &'static str;

/// Publishes the schema and the credential definition of what credentials say, by the addresses for AnonCreds.
#[track_caller]
pub fn publish(issuer: &AdminApi, did: &str, said: &Said, revocable: bool) -> Published {
    let names: Vec<&str> = said.iter().map(|(name, _)| *name).collect();
    let schema = json!({
        "issuerId": did, "name": names[0], "version": "1.0", "attrNames": names,
    });
    let made = issuer.post("/anoncreds/schema", &json!({ "schema": schema }));
    let schema = text(&made["schema_state"]["schema_id"]);
    let body = json!({
        "credential_definition": {"issuerId": did, "schemaId": schema, "tag": "crossed"},
        "options": {"support_revocation": revocable, "revocation_registry_size": 8},
    });
    let made = issuer.post("/anoncreds/credential-definition", &body);
    let made = &made["credential_definition_state"];
    assert_eq!(made["state"], "finished", "{made}");
    Published {
        schema,
        definition: text(&made["credential_definition_id"]),
    }
}

/// Waits until a definition has a registry whose places can be given out.
#[track_caller]
pub fn await_registry(issuer: &AdminApi, published: &Published) {
    let id = in_path(&published.definition);
    let path = format!("/anoncreds/revocation/active-registry/{id}");
    issuer.until(&path, |_| true);
}

/// The identifiers of the exchange that issued a credential.
pub struct Issued {
    pub issuers: String,
    pub holders: String,
}

/// Calls 4 to 6 of the study's plans, for holders that request by themselves or do not.
#[track_caller]
pub fn issue(
    issuer: &AdminApi,
    holder: &AdminApi,
    connected: &Connected,
    offer: &Offer<'_>,
) -> Issued {
    let sent = issuer.post("/issue-credential-2.0/send", &offer.body(connected));
    let thread = text(&sent["thread_id"]);
    let records = format!(
        "/issue-credential-2.0/records?connection_id={}",
        connected.invitees
    );
    let of_thread = |one: &Value| one["cred_ex_record"]["thread_id"] == thread.as_str();
    let offered = holder.awaited(&records, of_thread);
    let holders = text(&offered["cred_ex_record"]["cred_ex_id"]);
    let path = format!("/issue-credential-2.0/records/{holders}");
    if offered["cred_ex_record"]["state"] == "offer-received" && !offer.is_requested {
        holder.post(&format!("{path}/send-request"), &Value::Null);
    }
    holder.until(&path, |one| {
        one["cred_ex_record"]["state"] == "credential-received"
    });
    holder.post(&format!("{path}/store"), &Value::Null);
    Issued {
        issuers: text(&sent["cred_ex_id"]),
        holders,
    }
}

/// Waits until the issuer has heard that the credential is stored.
#[track_caller]
pub fn await_done(issuer: &AdminApi, issued: &Issued) {
    let path = format!("/issue-credential-2.0/records/{}", issued.issuers);
    issuer.until(&path, |one| one["cred_ex_record"]["state"] == "done");
}

/// A credential to offer.
pub struct Offer<'a> {
    pub published: &'a Published,
    pub said: &'a Said,
    pub format: FormatName,
    /// Whether the holder requests what it is offered by itself.
    pub is_requested: bool,
    pub auto_remove: bool,
}

impl Offer<'_> {
    fn body(&self, connected: &Connected) -> Value {
        let attributes = self.said.iter();
        let attributes = attributes.map(|(name, value)| json!({"name": name, "value": value}));
        json!({
            "auto_remove": self.auto_remove,
            "comment": "crossed",
            "connection_id": connected.inviters,
            "credential_preview": {
                "@type": "issue-credential/2.0/credential-preview",
                "attributes": attributes.collect::<Vec<_>>(),
            },
            "filter": {self.format: {
                "cred_def_id": self.published.definition,
                "schema_id": self.published.schema,
            }},
            "trace": false,
        })
    }
}

/// Revokes what an exchange issued, and publishes it.
#[track_caller]
pub fn revoke(issuer: &AdminApi, path: &str, issued: &Issued, further: &Value) {
    let mut body = json!({"cred_ex_id": issued.issuers, "publish": true});
    for (name, value) in further.as_object().unwrap() {
        body[name] = value.clone();
    }
    issuer.post(path, &body);
}
