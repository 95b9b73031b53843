//! Two agents of one instance, worked with by their pages: an invitation is made and accepted by its link, a credential
//! is issued and revoked, and the pages show what happened on the wire.

use std::time::Duration;

use serde_json::{Value, json};
use url::Url;

use crate::{
    browser::{Browser, Scheme},
    http::Request,
    instance::Instance,
    port::free_port,
    walk::Desk,
};

/// How often an agent is asked whether something has happened, and the pause between two questions.
const LOOKS: usize = 600;
const PAUSE: Duration = Duration::from_millis(100);

/// The settings of two agents, and where the admin API of the first one listens.
pub struct Agents {
    pub settings: String,
    admin: Url,
}

impl Agents {
    /// An agent of the organisation that every instance has, and one of a pharmacy, which takes what it is offered.
    pub fn of_clinic_and_pharmacy() -> Self {
        let [admin, inbound, other_admin, other_inbound] = [(); 4].map(|()| free_port());
        let settings = format!(
            "[[agents]]\nlabel = \"Clinic\"\nadmin = \"127.0.0.1:{admin}\"\n\
             admin_insecure_mode = true\ninbound = \"127.0.0.1:{inbound}\"\n\
             preserve_exchange_records = true\n\
             [[agents]]\norganisation = \"pharmacy\"\nlabel = \"Pharmacy at the Lake\"\n\
             admin = \"127.0.0.1:{other_admin}\"\nadmin_insecure_mode = true\n\
             inbound = \"127.0.0.1:{other_inbound}\"\npreserve_exchange_records = true\n\
             auto_respond_credential_offer = true\nauto_store_credential = true\n\
             auto_respond_presentation_request = true\n"
        );
        let admin = format!("http://127.0.0.1:{admin}/");
        Self {
            settings,
            admin: admin.parse().expect("an address"),
        }
    }

    /// A call of the first agent's admin API, which must succeed. It waits on a thread of its own.
    async fn call(&self, method: &'static str, path: &str, body: &Value) -> Value {
        let url = self.admin.join(path).expect("an address");
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        let called = move || {
            let request = Request::new(method, &url).body("application/json", body);
            let reply = request.send().expect("an answer");
            let text = String::from_utf8_lossy(&reply.body).into_owned();
            assert_eq!(reply.status, 200, "{method} {url}: {text}");
            serde_json::from_str(&text).expect("JSON")
        };
        tokio::task::spawn_blocking(called).await.expect("a call")
    }

    /// The first result of a list that fits, once there is one.
    async fn awaited(&self, path: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let mut listed = Value::Null;
        for _ in 0..LOOKS {
            listed = self.call("GET", path, &Value::Null).await;
            let results = listed["results"].as_array().into_iter().flatten();
            if let Some(found) = results.into_iter().find(|one| fits(one)) {
                return found.clone();
            }
            tokio::time::sleep(PAUSE).await;
        }
        panic!("{path}: {listed}");
    }

    /// Publishes a revocable definition, issues a credential by it to the only peer, and asks for a proof of it.
    async fn issue_and_verify(&self) {
        let names = ["drug", "dose", "refills"];
        let schema =
            json!({"schema_name": "prescription", "schema_version": "1.0", "attributes": names});
        let schema = self.call("POST", "/schemas", &schema).await;
        let definition = json!({
            "schema_id": schema["schema_id"],
            "support_revocation": true,
            "revocation_registry_size": 10,
        });
        let path = "/credential-definitions";
        let definition = self.call("POST", path, &definition).await;
        let definition = &definition["credential_definition_id"];
        let ready = |one: &Value| one["rfc23_state"] == "completed";
        let connection = self.awaited("/connections", ready).await["connection_id"].clone();
        let issue = json!({
            "connection_id": connection,
            "credential_preview": {
                "@type": "issue-credential/2.0/credential-preview",
                "attributes": [
                    {"name": "drug", "value": "Amoxicillin"},
                    {"name": "dose", "value": "500 mg"},
                    {"name": "refills", "value": "3"},
                ],
            },
            "filter": {"anoncreds": {"cred_def_id": definition}},
        });
        self.call("POST", "/issue-credential-2.0/send", &issue)
            .await;
        let done = |one: &Value| one["cred_ex_record"]["state"] == "done";
        self.awaited("/issue-credential-2.0/records", done).await;
        let ask = json!({
            "connection_id": connection,
            "auto_verify": true,
            "presentation_request": {"anoncreds": {
                "name": "What was prescribed",
                "version": "1.0",
                "requested_attributes": {"drug": {"name": "drug", "restrictions": [{"cred_def_id": definition}]}},
                "requested_predicates": {},
            }},
        });
        let path = "/present-proof-2.0/send-request";
        self.call("POST", path, &ask).await;
        let done = |one: &Value| one["state"] == "done";
        self.awaited("/present-proof-2.0/records", done).await;
    }
}

impl Desk<'_> {
    /// Connects the two agents by their pages: the clinic makes an invitation, and the pharmacy accepts its link. Returns
    /// the address of the invitation.
    async fn connect_agents(&self) -> String {
        let Self(_, browser) = self;
        let invitation = self.make_invitation().await;
        let link = browser.value("#link").await;
        assert!(link.contains("?oob="), "{link}");
        let connection = self.accept_invitation(&link).await;
        for _ in 0..LOOKS {
            if browser.sees("connected", Duration::ZERO).await {
                break;
            }
            tokio::time::sleep(PAUSE).await;
            browser.open(&connection).await;
        }
        browser.press("Send a ping").await;
        browser.expect("The ping is on its way.").await;
        browser.press("Ask what it can do").await;
        browser.expect("What it can do").await;
        browser.press("What it can do").await;
        browser.expect("issue-credential/2.0").await;
        invitation
    }

    /// The clinic makes an invitation. Returns its address, whose page is open.
    async fn make_invitation(&self) -> String {
        let Self(instance, browser) = self;
        browser.open(&instance.page("agent")).await;
        browser.expect("No connections yet.").await;
        browser.press("Make an invitation").await;
        browser.set("#alias", "The pharmacy").await;
        browser.press("Make the invitation").await;
        browser.expect("Show or send it").await;
        browser.attribute(".qr svg", "viewBox").await;
        browser.address().await
    }

    /// The pharmacy pastes a text that is no invitation, and then the link of one. Returns the address of the connection.
    async fn accept_invitation(&self, link: &str) -> String {
        let Self(instance, browser) = self;
        let address = instance.page("o/pharmacy/agent/invitations");
        browser.open(&address).await;
        browser.set("#invitation", "no invitation at all").await;
        browser.press("Accept the invitation").await;
        browser.expect("Paste the whole link").await;
        // Chromium logs the status of the refusal.
        browser.errors().await;
        browser.open(&instance.page("o/pharmacy/agent")).await;
        browser.press("accept one").await;
        browser.set("#invitation", link).await;
        browser.press("Accept the invitation").await;
        browser.expect("About the peer").await;
        let connection = browser.address().await;
        assert!(connection.contains("/o/pharmacy/agent/connections/"));
        connection
    }
}

impl Desk<'_> {
    /// Issues a credential by the form at this address, which tells what is wrong and shows what is about to be offered.
    async fn issue_by_pages(&self, form: &str) {
        let Self(_, browser) = self;
        browser.open(form).await;
        browser.fill("drug", "Ibuprofen").await;
        browser.fill("dose", "   ").await;
        browser.fill("refills", "2").await;
        browser.press("Look at it first").await;
        browser.expect("Write a value.").await;
        assert_eq!(browser.value("#value-0").await, "Ibuprofen");
        // Chromium logs the status of the refusal.
        browser.errors().await;
        browser.fill("dose", "200 mg").await;
        browser.set("#comment", "Twice a day").await;
        browser.press("Look at it first").await;
        browser
            .expect("This is what The pharmacy is offered.")
            .await;
        browser.expect("Twice a day").await;
        browser.press("Change it").await;
        browser.fill("dose", "400 mg").await;
        browser.press("Look at it first").await;
        browser.expect("400 mg").await;
        browser.press("Offer it").await;
        browser.expect("Issuing of a credential").await;
        self.reload_until("done").await;
    }

    /// Asks by the form at this address for an attribute and a predicate of that credential.
    async fn ask_by_pages(&self, form: &str) {
        let Self(_, browser) = self;
        browser.open(form).await;
        browser.fill("Number", "2").await;
        browser.press("Ask for it").await;
        let told = "Choose the attribute that the number is for.";
        browser.expect(told).await;
        browser.pick("#attribute", "refills").await;
        browser.fill("Number", "two").await;
        browser.press("Ask for it").await;
        browser.expect("Write a whole number").await;
        browser.errors().await;
        browser.fill("Number", "2").await;
        browser.tick("drug").await;
        browser.press("Ask for it").await;
        browser.expect("Proof").await;
        self.reload_until("Accepted").await;
    }

    /// Asks by a text at this address, after one that is no request.
    async fn ask_with_a_text(&self, choice: &str) {
        let Self(_, browser) = self;
        browser.open(choice).await;
        browser.set("#request", "a drug, please").await;
        browser.press("Send the request").await;
        browser.expect("A request that you have").await;
        assert_eq!(browser.value("#request").await, "a drug, please");
        browser.errors().await;
        let request = json!({
            "name": "Dose", "version": "1.0", "requested_predicates": {},
            "requested_attributes": {"dose": {"name": "dose"}},
        });
        let label = "Presentation request of AnonCreds, JSON";
        browser.fill(label, &request.to_string()).await;
        browser.press("Send the request").await;
        browser.expect("Proof").await;
        self.reload_until("Accepted").await;
    }

    /// Opens the page again until it shows this text.
    async fn reload_until(&self, text: &str) {
        let Self(_, browser) = self;
        let address = browser.address().await;
        for _ in 0..LOOKS {
            if browser.sees(text, Duration::ZERO).await {
                return;
            }
            tokio::time::sleep(PAUSE).await;
            browser.open(&address).await;
        }
        browser.expect(text).await;
    }
}

/// The pages of two agents that have connected, issued and verified, by name and address.
pub async fn pages(desk: &Desk<'_>, agents: &Agents) -> Vec<(&'static str, String)> {
    let Desk(instance, browser) = desk;
    let invitation = desk.connect_agents().await;
    agents.issue_and_verify().await;
    let mut pages = vec![
        ("agent", instance.page("agent")),
        ("agent-search", instance.page("agent?q=nobody&state=ended")),
        ("agent-invitations", instance.page("agent/invitations")),
        ("agent-invitation", invitation),
        ("agent-issuing", instance.page("agent/issuing")),
        ("agent-proofs", instance.page("agent/proofs")),
        ("agent-registries", instance.page("agent/registries")),
    ];
    for (name, list, link, shows) in [
        (
            "agent-connection",
            "agent",
            "The pharmacy",
            "About the peer",
        ),
        (
            "agent-exchange",
            "agent/issuing",
            "The pharmacy",
            "issue-credential",
        ),
        ("agent-proof", "agent/proofs", "The pharmacy", "Accepted"),
        (
            "agent-registry",
            "agent/registries",
            "Registry 1",
            "Agent and ledger",
        ),
    ] {
        browser.open(&instance.page(list)).await;
        browser.press_about(link).await;
        browser.expect(shows).await;
        pages.push((name, browser.address().await));
    }
    let connection = found(&pages, "agent-connection");
    for (name, link, shows, chosen) in [
        (
            "agent-issue",
            "Issue a credential",
            "can be revoked",
            "agent-issue-form",
        ),
        (
            "agent-ask",
            "Ask for a proof",
            "A request that you have",
            "agent-ask-form",
        ),
    ] {
        browser.open(&connection).await;
        browser.press(link).await;
        browser.expect(shows).await;
        pages.push((name, browser.address().await));
        browser.press_about("prescription 1.0").await;
        browser.expect("The pharmacy").await;
        pages.push((chosen, browser.address().await));
    }
    pages
}

/// The address of the page with this name.
fn found(pages: &[(&'static str, String)], name: &str) -> String {
    let found = pages.iter().find(|(page, _)| *page == name);
    found.expect("the page").1.clone()
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn two_agents_are_connected_issued_to_shown_on_the_wire_and_revoked_by_their_pages() {
    let agents = Agents::of_clinic_and_pharmacy();
    let instance = Instance::with(&agents.settings).await;
    let browser = Browser::start(Scheme::Light).await;
    let desk = Desk::open(&instance, &browser).await;
    let pages = pages(&desk, &agents).await;
    let address = |name: &str| found(&pages, name);

    browser.open(&address("agent-exchange")).await;
    for message in [
        "offer-credential",
        "request-credential",
        "issue-credential",
        "ack",
    ] {
        browser.expect(message).await;
    }
    let seen = "for (const one of document.querySelectorAll('.wire details')) one.open = true; return document.querySelector('.wire').innerText";
    let wire = browser.evaluate(seen).await;
    let wire = wire.as_str().expect("a text");
    assert!(wire.contains("\"value\": \"Amoxicillin\""), "{wire}");
    assert!(wire.contains("hidden, ") && wire.contains(" kB"), "{wire}");
    let digits = wire.split(|letter: char| !letter.is_ascii_digit());
    let longest = digits.map(str::len).max();
    assert!(longest.is_some_and(|digits| digits < 20), "{wire}");

    browser.open(&address("agent-proof")).await;
    assert_eq!(
        browser
            .attribute("[data-verified]", "data-verified")
            .await
            .as_deref(),
        Some("true")
    );
    browser.expect("Amoxicillin").await;

    browser.open(&address("agent-registries")).await;
    browser.expect("1 of 9, next: place 2").await;
    browser.open(&address("agent-registry")).await;
    browser.press_about("Revoke…").await;
    browser.press_about("Revoke it").await;
    browser
        .expect("The credential is revoked, and the ledger has it.")
        .await;
    browser
        .expect("The ledger has the same as this agent: 1 revoked.")
        .await;
    desk.issue_by_pages(&address("agent-issue-form")).await;
    desk.ask_by_pages(&address("agent-ask-form")).await;
    desk.ask_with_a_text(&address("agent-ask")).await;
    browser.open(&address("agent-connection")).await;
    browser.set("#text", "Your <prescription> is ready.").await;
    browser.press("Send the message").await;
    browser.expect("Your <prescription> is ready.").await;
    browser.open(&address("agent")).await;
    browser.fill("Search by name", "PHARM").await;
    browser.press("Search").await;
    browser.press("The pharmacy").await;
    browser.press("Remove the connection").await;
    browser.press("Remove it").await;
    browser.expect("No connections yet.").await;
    browser.expect_no_errors().await;
}
